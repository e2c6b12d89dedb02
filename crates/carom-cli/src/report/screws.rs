//! The screw view of an impact: inertances g_ij, wrenches, Plücker coordinates of each contact's normal.
//!
//! A contact's normal is a line: direction n, moment r × n about the world's origin. Its wrench on a body is the
//! same about the body's centre of mass. The inertances are the Delassus matrix of the normals.

use std::io::{self, Write};

use carom::contact::Side;
use carom::impact::Options;
use carom::scene::instant::name;
use serde::Serialize;

use super::Style;
use super::table;
use crate::commands::solve::{Prepared, vector};

/// The screws of a scene's contacts.
#[derive(Serialize)]
pub struct Screws {
    /// g_ij of the contact normals.
    pub inertances: Vec<Vec<f64>>,
    /// Each contact's line and wrenches.
    pub contacts: Vec<Line>,
}

/// A contact's normal as a line.
#[derive(Serialize)]
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
        let Prepared { scene, instant, assembly, .. } = prepared;
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

    /// Writes them for people.
    pub fn write(&self, out: &mut dyn Write, style: Style) -> io::Result<()> {
        let halves = |six: &[f64; 6]| {
            let part = |at: usize| nalgebra::Vector3::new(six[at], six[at + 1], six[at + 2]);
            [part(0), part(3)].map(|v| vector(&v, 1.0))
        };
        table::write(
            out,
            style,
            "contact lines",
            ["contact", "direction", "moment"],
            self.contacts.len(),
            |i| {
                let [direction, moment] = halves(&self.contacts[i].plucker);
                [self.contacts[i].name.as_str().into(), direction.into(), moment.into()]
            },
        )?;
        let wrenches: Vec<_> =
            self.contacts.iter().flat_map(|c| c.wrenches.iter().map(move |w| (&c.name, w))).collect();
        let header = ["contact", "on", "force", "moment"];
        table::write(out, style, "unit wrenches", header, wrenches.len(), |i| {
            let (contact, (body, six)) = wrenches[i];
            let [force, moment] = halves(six);
            [contact.as_str().into(), body.as_str().into(), force.into(), moment.into()]
        })?;
        let scale = self.inertances.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
        table::write(out, style, "inertances", ["contact", "g"], self.inertances.len(), |i| {
            let row: Vec<String> = self.inertances[i].iter().map(|&g| super::beside(g, scale)).collect();
            [self.contacts[i].name.as_str().into(), row.join("  ").into()]
        })
    }
}
