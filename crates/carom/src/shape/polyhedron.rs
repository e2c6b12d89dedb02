//! Convex polyhedra: h(n) = max n·v over the corners v.
//!
//! The numbers of a polyhedron are prepared once ([`hull`](crate::hull)) and live as long as the program, so that a shape is a
//! reference and a factor: it is copied like any other, and nothing here allocates. Every function goes through all corners, faces
//! or edges.
//!
//! An edge faces the directions of an arc of the unit sphere, from the normal of one of its faces to that of the other. At a body
//! of many edges only the arcs count that come near a direction, and of these the nearest.

use nalgebra::{UnitQuaternion, Vector3};

use super::sharp::Ring;
use super::unit;

/// A convex polyhedron about its centre of mass.
#[derive(Clone, Copy)]
pub struct Polyhedron {
    hull: &'static Hull,
    scale: f64,
}

/// What is known of a polyhedron; coordinates are about the centre of mass of the rounded body, in its own axes.
#[derive(Debug)]
pub(crate) struct Hull {
    /// Its place among all.
    pub number: u32,
    pub corners: &'static [Vector3<f64>],
    pub faces: &'static [Face],
    /// The corners of all faces, one face after another.
    pub outlines: &'static [u32],
    pub edges: &'static [Edge],
    pub circumradius: f64,
    pub inradius: f64,
    /// The radius of the ball it is grown by.
    pub rounding: f64,
    /// With its rounding.
    pub volume: f64,
    /// With its rounding.
    pub unit_inertia: Vector3<f64>,
    /// In the coordinates of the points it was made from.
    pub centre: Vector3<f64>,
    /// From its own axes to those of the points.
    pub turn: UnitQuaternion<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Face {
    /// Outwards.
    pub normal: Vector3<f64>,
    /// normal · x on it.
    pub height: f64,
    /// Where its outline begins, and how many corners it has; counterclockwise, seen from outside.
    pub outline: [u32; 2],
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edge {
    pub ends: [u32; 2],
    /// From the first end to the second.
    pub axis: Vector3<f64>,
    /// The normals of its faces.
    pub normals: [Vector3<f64>; 2],
}

/// The part of the surface that is nearest to a point outside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    /// The point is inside.
    Inside,
    Face,
    /// With its direction.
    Edge(Vector3<f64>),
    Corner,
}

/// Corners whose heights differ by no more than this many roundings of the size are as high.
const LEVEL: f64 = 2.0 * f64::EPSILON;

impl PartialEq for Polyhedron {
    /// Equal ones are kept once.
    fn eq(&self, other: &Self) -> bool {
        self.hull.number == other.hull.number && self.scale.to_bits() == other.scale.to_bits()
    }
}

impl core::fmt::Debug for Polyhedron {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Polyhedron")
            .field("number", &self.hull.number)
            .field("corners", &self.hull.corners.len())
            .field("rounding", &self.rounding())
            .field("scale", &self.scale)
            .finish()
    }
}

/// An index from its 32 bits.
const fn at(index: u32) -> usize {
    index as usize
}

impl Polyhedron {
    pub(crate) const fn of(hull: &'static Hull) -> Self {
        Self { hull, scale: 1.0 }
    }

    /// Its corners about the centre of mass, in its own axes.
    pub fn corners(&self) -> impl Iterator<Item = Vector3<f64>> {
        self.hull.corners.iter().map(move |corner| corner * self.scale)
    }

    /// Its faces: the outward unit normal, and the numbers of its corners, counterclockwise seen from outside.
    pub fn faces(&self) -> impl Iterator<Item = (Vector3<f64>, &'static [u32])> {
        self.hull.faces.iter().map(|face| (face.normal, self.outline(face)))
    }

    /// The numbers of the two corners of each edge.
    pub fn edges(&self) -> impl Iterator<Item = [u32; 2]> {
        self.hull.edges.iter().map(|edge| edge.ends)
    }

    /// The radius of the ball it is grown by.
    #[must_use]
    pub fn rounding(&self) -> f64 {
        self.hull.rounding * self.scale
    }

    /// Its centre of mass in the coordinates of the points it was made from.
    #[must_use]
    pub fn centre(&self) -> Vector3<f64> {
        self.hull.centre * self.scale
    }

    /// From its own axes to those of the points it was made from.
    #[must_use]
    pub const fn turn(&self) -> UnitQuaternion<f64> {
        self.hull.turn
    }

    /// Its number among all polyhedra of the program: equal ones have the same.
    #[must_use]
    pub const fn number(&self) -> u32 {
        self.hull.number
    }

    /// By how much it is larger than what it was made from.
    #[must_use]
    pub const fn scale(&self) -> f64 {
        self.scale
    }

    pub(super) fn volume(&self) -> f64 {
        self.hull.volume * self.scale * self.scale * self.scale
    }

    pub(super) fn unit_inertia(&self) -> Vector3<f64> {
        self.hull.unit_inertia * self.scale * self.scale
    }

    pub(super) fn circumradius(&self) -> f64 {
        self.hull.circumradius * self.scale
    }

    pub(super) fn inradius(&self) -> f64 {
        self.hull.inradius * self.scale
    }

    /// Not checked to stay in the range of numbers.
    #[must_use]
    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self { scale: self.scale * factor, ..*self }
    }

    pub(crate) const fn corner_count(&self) -> usize {
        self.hull.corners.len()
    }

    pub(crate) const fn edge_count(&self) -> usize {
        self.hull.edges.len()
    }

    pub(crate) const fn face_count(&self) -> usize {
        self.hull.faces.len()
    }

    /// A corner by its number.
    pub(crate) fn corner(&self, k: usize) -> Option<Vector3<f64>> {
        self.hull.corners.get(k).map(|corner| corner * self.scale)
    }

    /// The ends of an edge by its number.
    pub(crate) fn edge(&self, k: usize) -> Option<[Vector3<f64>; 2]> {
        let edge = self.hull.edges.get(k)?;
        Some(edge.ends.map(|end| self.hull.corners[at(end)] * self.scale))
    }

    /// The outward unit normal of a face by its number, and a point of it.
    pub(crate) fn face(&self, k: usize) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let face = self.hull.faces.get(k)?;
        Some((face.normal, face.normal * (face.height * self.scale)))
    }

    /// How far a point over a face lies within its outline: negative outside.
    pub(crate) fn margin_of_face(&self, k: usize, x: &Vector3<f64>) -> f64 {
        let Some(face) = self.hull.faces.get(k) else { return f64::NEG_INFINITY };
        let outline = self.outline(face);
        let corner = |i: usize| self.hull.corners[at(outline[i % outline.len()])] * self.scale;
        let within = |i: usize| {
            let (from, to) = (corner(i), corner(i + 1));
            unit(&face.normal.cross(&(to - from))).dot(&(x - from))
        };
        (0..outline.len()).map(within).fold(f64::INFINITY, f64::min)
    }

    fn outline(&self, face: &Face) -> &'static [u32] {
        let [from, count] = face.outline.map(at);
        &self.hull.outlines[from..from + count]
    }

    /// max n·v, in units of its scale.
    fn reach(&self, n: &Vector3<f64>) -> f64 {
        self.hull.corners.iter().fold(f64::NEG_INFINITY, |best, corner| best.max(n.dot(corner)))
    }

    pub(super) fn height(&self, n: &Vector3<f64>) -> f64 {
        self.reach(n) * self.scale
    }

    /// The middle of the corners that are highest.
    pub(super) fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        let least = self.reach(n) - LEVEL * self.hull.circumradius * n.amax();
        let (mut sum, mut count) = (Vector3::zeros(), 0.0);
        for corner in self.hull.corners.iter().filter(|corner| n.dot(corner) >= least) {
            sum += corner;
            count += 1.0;
        }
        if count == 0.0 { sum } else { sum * (self.scale / count) }
    }

    /// Of the corners with n·v ≥ h(n) − slack, the one farthest along d.
    pub(super) fn farthest_of_face(&self, n: &Vector3<f64>, slack: f64, d: &Vector3<f64>) -> Vector3<f64> {
        let least = self.reach(n) - slack / self.scale;
        let mut best = (f64::NEG_INFINITY, Vector3::zeros());
        for corner in self.hull.corners.iter().filter(|corner| n.dot(corner) >= least) {
            let along = d.dot(corner);
            if along > best.0 {
                best = (along, *corner);
            }
        }
        best.1 * self.scale
    }

    /// The corners with n·v ≥ h(n) − slack.
    pub(crate) fn exposed(&self, n: &Vector3<f64>, slack: f64) -> impl Iterator<Item = Vector3<f64>> {
        let least = self.reach(n) - slack / self.scale;
        let n = *n;
        self.hull
            .corners
            .iter()
            .filter(move |corner| n.dot(corner) >= least)
            .map(|corner| corner * self.scale)
    }

    pub(super) fn each_face(&self, n: &Vector3<f64>, within: f64, mut visit: impl FnMut(Vector3<f64>)) {
        for face in self.hull.faces {
            if (face.normal - n).norm_squared() <= within * within {
                visit(face.normal);
            }
        }
    }

    pub(super) fn each_ring(&self, n: &Vector3<f64>, within: f64, mut visit: impl FnMut(Ring)) {
        for edge in self.hull.edges {
            let [a, b] = &edge.normals;
            let along = edge.axis.dot(n).abs();
            // The circle is nearer than the arc.
            if along > within {
                continue;
            }
            let turn = a.cross(b);
            let faces = a.cross(n).dot(&turn) >= 0.0 && n.cross(b).dot(&turn) >= 0.0 && n.dot(&(a + b)) > 0.0;
            let away =
                if faces { along } else { libm::sqrt((a - n).norm_squared().min((b - n).norm_squared())) };
            if away <= within {
                let anchor = self.hull.corners[at(edge.ends[0])] * self.scale;
                visit(Ring { axis: edge.axis, cosine: 0.0, anchor, away });
            }
        }
    }

    /// The point nearest to x, and what it lies on.
    pub(super) fn nearest(&self, x: &Vector3<f64>) -> (Vector3<f64>, Part) {
        let local = x / self.scale;
        let mut best = (f64::INFINITY, local, Part::Inside);
        // A nearest point lies on a face that x is above of.
        for face in self.hull.faces {
            let above = face.normal.dot(&local) - face.height;
            if above > 0.0 {
                self.nearest_of_face(face, above, &local, &mut best);
            }
        }
        let (_, point, part) = best;
        (if part == Part::Inside { *x } else { point * self.scale }, part)
    }

    fn nearest_of_face(
        &self,
        face: &Face,
        above: f64,
        x: &Vector3<f64>,
        best: &mut (f64, Vector3<f64>, Part),
    ) {
        let foot = x - face.normal * above;
        let outline = self.outline(face);
        let mut inside = true;
        for (k, &corner) in outline.iter().enumerate() {
            let next = outline[(k + 1) % outline.len()];
            let [p, q] = [corner, next].map(|corner| self.hull.corners[at(corner)]);
            let edge = q - p;
            if edge.cross(&face.normal).dot(&(foot - p)) <= 0.0 {
                continue;
            }
            inside = false;
            let share = (foot - p).dot(&edge) / edge.norm_squared();
            let (point, part) = if share <= 0.0 {
                (p, Part::Corner)
            } else if share >= 1.0 {
                (q, Part::Corner)
            } else {
                (p + edge * share, Part::Edge(unit(&edge)))
            };
            let distance = (x - point).norm_squared();
            if distance < best.0 {
                *best = (distance, point, part);
            }
        }
        if inside && above * above < best.0 {
            *best = (above * above, foot, Part::Face);
        }
    }

    /// The gauge, with the normal of the face it is from.
    pub(super) fn gauge(&self, x: &Vector3<f64>) -> (f64, Vector3<f64>) {
        let mut best = (f64::NEG_INFINITY, Vector3::zeros());
        for face in self.hull.faces {
            let share = face.normal.dot(x) / face.height;
            if share > best.0 {
                best = (share, face.normal);
            }
        }
        (best.0.max(0.0) / self.scale, best.1)
    }
}
