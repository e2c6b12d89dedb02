//! The expanding polytope: in the difference of two bodies that overlap, grown where it is next to the origin.
//!
//! It lies inside the difference, so that its face next to the origin bounds the depth from below; the support plane of that
//! face's normal bounds it from above.

use nalgebra::Vector3;

use super::difference::{Difference, Vertex};
use super::simplex::Simplex;
use crate::shape::{Convex, tangents, unit};

const VERTICES: usize = 96;
const FACES: usize = 2 * VERTICES;

/// How many faces are offered at once.
const OFFERED: usize = 6;

/// A flatter tetrahedron than this, in units of the size, is taken for flat.
const FLAT: f64 = 1e-12;

#[derive(Clone, Copy)]
struct Face {
    corners: [usize; 3],
    /// Outwards.
    normal: Vector3<f64>,
    /// Of its plane from the origin; infinite for a face without area.
    distance: f64,
}

pub(super) struct Polytope {
    vertices: [Vector3<f64>; VERTICES],
    vertex_count: usize,
    faces: [Face; FACES],
    face_count: usize,
    /// Strictly inside.
    inside: Vector3<f64>,
    steps: u32,
    is_full: bool,
}

impl Polytope {
    /// From the simplex that an approach ended with; a normal, where the difference is flat across it.
    pub fn new<A: Convex, B: Convex>(
        pair: &Difference<A, B>,
        simplex: &Simplex,
    ) -> Result<Self, Vector3<f64>> {
        let mut corners = [Vector3::zeros(); 4];
        let mut count = 0;
        for Vertex { apart, .. } in simplex.vertices() {
            corners[count] = *apart;
            count += 1;
        }
        while count < 4 {
            let edge = |k: usize| corners[k] - corners[0];
            let directions = match count {
                1 => [Vector3::x(), Vector3::y(), Vector3::z()],
                2 => {
                    let [u, v] = tangents(&unit(&edge(1)));
                    [u, v, unit(&(u + v))]
                }
                _ => [unit(&edge(1).cross(&edge(2))); 3],
            };
            // The farthest to either side, of all directions.
            let mut best = (FLAT, Vector3::zeros());
            for n in directions {
                for n in [n, -n] {
                    let found = pair.vertex(&n).apart;
                    let away = (found - corners[0]).dot(&n).abs();
                    if away > best.0 {
                        best = (away, found);
                    }
                }
            }
            if best.0 <= FLAT {
                return Err(directions[0]);
            }
            corners[count] = best.1;
            count += 1;
        }
        let nothing = Face { corners: [0; 3], normal: Vector3::zeros(), distance: f64::INFINITY };
        let mut polytope = Self {
            vertices: [Vector3::zeros(); VERTICES],
            vertex_count: 4,
            faces: [nothing; FACES],
            face_count: 0,
            inside: (corners[0] + corners[1] + corners[2] + corners[3]) * 0.25,
            steps: 0,
            is_full: false,
        };
        polytope.vertices[..4].copy_from_slice(&corners);
        for corners in [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]] {
            polytope.add(corners);
        }
        Ok(polytope)
    }

    fn add(&mut self, corners: [usize; 3]) {
        let [a, b, c] = corners.map(|k| self.vertices[k]);
        let mut normal = unit(&(b - a).cross(&(c - a)));
        if normal.dot(&(a - self.inside)) < 0.0 {
            normal = -normal;
        }
        let distance = if normal == Vector3::zeros() { f64::INFINITY } else { normal.dot(&a) };
        self.faces[self.face_count] = Face { corners, normal, distance };
        self.face_count += 1;
    }

    fn nearest(&self) -> usize {
        let faces = &self.faces[..self.face_count];
        let mut best = 0;
        for (k, face) in faces.iter().enumerate() {
            if face.distance < faces[best].distance {
                best = k;
            }
        }
        best
    }

    /// On until the face next to the origin is within a closeness of its support plane, or there is no more room. Returns the
    /// distance of that face, a lower bound of the depth.
    pub fn grow<A: Convex, B: Convex>(&mut self, pair: &Difference<A, B>, closeness: f64) -> f64 {
        loop {
            let Face { normal, distance, .. } = self.faces[self.nearest()];
            let vertex = pair.vertex(&-normal).apart;
            self.steps += 1;
            if normal.dot(&vertex) - distance <= closeness.max(pair.slack) {
                return distance;
            }
            if self.vertex_count == VERTICES || !self.expand(&vertex, pair.slack) {
                self.is_full = true;
                return distance;
            }
        }
    }

    /// Takes away the faces that a point sees and joins it to their outline; false where there is no room.
    fn expand(&mut self, point: &Vector3<f64>, slack: f64) -> bool {
        // The directed edges of the faces that are seen, those of the outline once.
        let mut edges = [[0; 2]; FACES];
        let mut count = 0;
        let mut kept = 0;
        let mut seen_any = false;
        let before = (self.faces, self.face_count);
        for k in 0..self.face_count {
            let face = self.faces[k];
            let sees = face.distance.is_finite()
                && face.normal.dot(&(point - self.vertices[face.corners[0]])) > 0.25 * slack;
            if !sees {
                self.faces[kept] = face;
                kept += 1;
                continue;
            }
            seen_any = true;
            let [a, b, c] = face.corners;
            for edge in [[a, b], [b, c], [c, a]] {
                let same = |other: &[usize; 2]| *other == edge || *other == [edge[1], edge[0]];
                if let Some(known) = edges[..count].iter().position(same) {
                    count -= 1;
                    edges[known] = edges[count];
                } else if count < FACES {
                    edges[count] = edge;
                    count += 1;
                } else {
                    (self.faces, self.face_count) = before;
                    return false;
                }
            }
        }
        if !seen_any || kept + count > FACES {
            (self.faces, self.face_count) = before;
            return false;
        }
        self.face_count = kept;
        let new = self.vertex_count;
        self.vertices[new] = *point;
        self.vertex_count += 1;
        for [a, b] in edges.into_iter().take(count) {
            self.add([a, b, new]);
        }
        true
    }

    /// The directions f is highest in, as far as the polytope tells: those of the nearest faces, up to a distance. Faces beyond
    /// are not offered, but for the first.
    pub fn nearest_normals(&self, distance: f64) -> impl Iterator<Item = Vector3<f64>> {
        let mut offered = [(f64::INFINITY, Vector3::zeros()); OFFERED];
        for face in &self.faces[..self.face_count] {
            let mut entry = (face.distance, -face.normal);
            for slot in &mut offered {
                if entry.0 < slot.0 {
                    core::mem::swap(slot, &mut entry);
                }
            }
        }
        let first = offered[0].0;
        offered
            .into_iter()
            .filter(move |slot| slot.0 <= distance.max(first) && slot.0.is_finite())
            .map(|slot| slot.1)
    }

    pub fn is_full(&self) -> bool {
        self.is_full
    }

    pub fn steps(&self) -> u32 {
        self.steps
    }
}
