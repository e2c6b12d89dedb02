//! The screw view of an impact: inertances g_ij, wrenches, Plücker coordinates of each contact's normal, and what joints
//! restrict and leave.
//!
//! A contact's normal is a line: direction n, moment r × n about the world's origin. Its wrench on a body is the
//! same about the body's centre of mass. The inertances are the Delassus matrix of the normals.
//!
//! For a body whose joints are all to the ground, in \[DPS\]'s letters, twists (ω, v) and wrenches (force, moment) being
//! taken at its centre of mass in world axes:
//!
//! ```text
//! S      a column for each row of its joints        Q      a column for each freedom: Sᵀη Q = 0
//! M_red = QᵀηMQ                                     G_i = U_iᵀηQ M_red⁻¹ QᵀηU_i,   Σ G_i = [g_ij]
//! ξ      the impulses of the joints' rows
//! ```
//!
//! U_i has the contacts' wrenches on the body, with their signs. Q is reduced so that each column has one component, an
//! angular one where there is a choice, that is 1 in it and 0 in the others. Bodies tied to other bodies have no such
//! matrices of their own.

use carom::contact::Side;
use carom::impact::Options;
use carom::scene::instant::name;
use nalgebra::DMatrix;
use serde::Serialize;

use super::{Prepared, Solved};

/// The screws of a scene's contacts and joints.
#[derive(Debug, Clone, Serialize)]
pub struct Screws {
    /// g_ij of the contact normals.
    pub inertances: Vec<Vec<f64>>,
    /// Each contact's line and wrenches.
    pub contacts: Vec<Line>,
    /// What joints restrict and leave, body by body.
    pub bodies: Vec<Tied>,
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

/// A body that is free or tied to the ground. Matrices by columns where they have six rows, else by rows.
#[derive(Debug, Clone, Serialize)]
pub struct Tied {
    /// The body's name.
    pub name: String,
    /// The restrictions: force, then moment.
    #[serde(rename = "S")]
    pub restrictions: Vec<[f64; 6]>,
    /// The motions left free, a basis: angular velocity, then velocity.
    #[serde(rename = "Q")]
    pub free_motions: Vec<[f64; 6]>,
    /// The mass matrix of the free motions.
    #[serde(rename = "M_red")]
    pub reduced_mass: Vec<Vec<f64>>,
    /// Its part of the inertances.
    #[serde(rename = "G")]
    pub inertances: Vec<Vec<f64>>,
    /// The impulses of the restrictions.
    #[serde(rename = "xi")]
    pub impulses: Vec<f64>,
}

impl Screws {
    /// The screws of a solved scene.
    pub fn of(solved: &Solved) -> Self {
        let prepared = solved.prepared;
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
        let tied_to_another =
            |body: usize| instant.joints.iter().any(|j| j.bodies.len() > 1 && j.bodies.contains(&body));
        let bodies = (0..instant.bodies.len())
            .filter(|&body| !tied_to_another(body))
            .filter_map(|body| tied(solved, body, &normals));
        Self { inertances, contacts: contacts.collect(), bodies: bodies.collect() }
    }
}

/// One body's matrices; none of a fixed one.
fn tied(solved: &Solved, body: usize, normals: &[usize]) -> Option<Tied> {
    let Prepared { instant, assembly, .. } = solved.prepared;
    let problem = &assembly.problem;
    let at = assembly.coordinates[body]?;
    let joints: Vec<usize> =
        (0..instant.joints.len()).filter(|&k| instant.joints[k].bodies == [body]).collect();
    let rows: Vec<usize> = joints.iter().flat_map(|&k| assembly.joint_rows[k].clone()).collect();
    let own = |rows: &[usize], matrix: &DMatrix<f64>| {
        DMatrix::from_fn(rows.len(), 6, |i, j| matrix[(rows[i], at + j)])
    };
    let restrictions = own(&rows, &problem.bilateral);
    let contacts = own(normals, &problem.contacts);
    let free_motions = free_motions(&restrictions);
    let mass = problem.mass.view((at, at), (6, 6));
    let reduced = free_motions.transpose() * mass * &free_motions;
    let lines = &contacts * &free_motions;
    let inverse = reduced.clone().try_inverse();
    let inertances = inverse.map(|inverse| &lines * inverse * lines.transpose());
    let listed = |m: &DMatrix<f64>| m.row_iter().map(|row| row.iter().copied().collect()).collect();
    // A row on (v, ω) is a wrench; a column of velocities (v, ω) becomes a twist (ω, v).
    let wrench = |i: usize| std::array::from_fn(|j| restrictions[(i, j)]);
    let twist = |i: usize| std::array::from_fn(|j| free_motions[((j + 3) % 6, i)]);
    Some(Tied {
        name: solved.scene().bodies[body].name.clone(),
        restrictions: (0..restrictions.nrows()).map(wrench).collect(),
        free_motions: (0..free_motions.ncols()).map(twist).collect(),
        reduced_mass: listed(&reduced),
        inertances: inertances.map_or_else(Vec::new, |g| listed(&g)),
        impulses: joints.iter().flat_map(|&k| solved.result.joints[k].impulse.clone()).collect(),
    })
}

/// Entries below this, relative to the largest, count as zero.
const NONE: f64 = 1e-10;

/// A basis of what rows on (v, ω) leave, as columns: the rows are solved for velocities first, so that the free components
/// are angular ones where there is a choice.
fn free_motions(rows: &DMatrix<f64>) -> DMatrix<f64> {
    let mut reduced = rows.clone();
    let floor = NONE * reduced.amax();
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    for columns in [0..3, 3..6] {
        loop {
            let open =
                |&(i, j): &(usize, usize)| !pivots.iter().any(|&(row, column)| row == i || column == j);
            let places = columns.clone().flat_map(|j| (0..reduced.nrows()).map(move |i| (i, j)));
            let best = places.filter(open).max_by(|&a, &b| reduced[a].abs().total_cmp(&reduced[b].abs()));
            let Some((row, column)) = best.filter(|&place| reduced[place].abs() > floor) else { break };
            let scale = reduced[(row, column)];
            let solved = reduced.row(row) / scale;
            reduced.set_row(row, &solved);
            for i in (0..reduced.nrows()).filter(|&i| i != row) {
                let part = reduced[(i, column)];
                let rest = reduced.row(i) - &solved * part;
                reduced.set_row(i, &rest);
            }
            pivots.push((row, column));
        }
    }
    let free: Vec<usize> =
        [3, 4, 5, 0, 1, 2].into_iter().filter(|j| !pivots.iter().any(|(_, column)| column == j)).collect();
    DMatrix::from_fn(6, free.len(), |j, k| {
        if j == free[k] {
            1.0
        } else {
            pivots.iter().find(|(_, column)| *column == j).map_or(0.0, |&(row, _)| {
                let entry = -reduced[(row, free[k])];
                if entry.abs() <= floor { 0.0 } else { entry }
            })
        }
    })
}
