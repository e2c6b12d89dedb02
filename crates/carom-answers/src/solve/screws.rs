//! The screw view of an impact: inertances g_ij, wrenches, Plücker coordinates of each contact's normal.
//!
//! A contact's normal is a line: direction n, moment r × n about the world's origin. Its wrench on a body is the
//! same about the body's centre of mass. The inertances are the Delassus matrix of the normals.

use carom::contact::Side;
use carom::impact::Options;
use carom::scene::instant::name;
use serde::Serialize;

use super::Prepared;

/// The screws of a scene's contacts.
#[derive(Debug, Clone, Serialize)]
pub struct Screws {
    /// g_ij of the contact normals.
    pub inertances: Vec<Vec<f64>>,
    /// Each contact's line and wrenches.
    pub contacts: Vec<Line>,
}

/// A contact's normal as a line.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// The contact's name.
    pub name: String,
    /// Plücker coordinates: direction, then moment about the origin.
    pub plucker: [f64; 6],
    /// The unit wrench on each moving body, about its centre of mass: force, then moment.
    pub wrenches: Vec<(String, [f64; 6])>,
}

impl Screws {
    /// The screws of a prepared scene.
    pub fn of(prepared: &Prepared) -> Self {
        let (scene, Prepared { instant, assembly, .. }) = (prepared.scene(), prepared);
        let normals: Vec<usize> = assembly.contact_rows.iter().map(|rows| rows.start).collect();
        let delassus = assembly.problem.delassus(&Options { project: true, ..Options::default() });
        let inertances = delassus.map_or_else(
            |_| Vec::new(),
            |w| normals.iter().map(|&i| normals.iter().map(|&j| w[(i, j)]).collect()).collect(),
        );
        let six = |a: nalgebra::Vector3<f64>, b: nalgebra::Vector3<f64>| [a.x, a.y, a.z, b.x, b.y, b.z];
        let contacts = instant.contacts.iter().map(|contact| {
            let n = contact.normal.into_inner();
            let wrenches = contact.moving_sides().map(|(body, sign, image)| {
                let arm = contact.point - instant.bodies[body].1.position - image;
                (name(scene, Side::Body(body)).to_string(), six(n * sign, arm.cross(&n) * sign))
            });
            Line {
                name: contact.name.clone(),
                plucker: six(n, contact.point.cross(&n)),
                wrenches: wrenches.collect(),
            }
        });
        Self { inertances, contacts: contacts.collect() }
    }
}
