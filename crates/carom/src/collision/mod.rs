//! Collisions, for both engines: a [`Cluster`] of bodies and contacts is resolved by the impact law (`resolve`), audited by the states
//! before and after (`audit`), and reported as events (`event`).
//!
//! An engine gathers the simultaneous contacts of its queue, and keeps with each contact its own data (the *key*). Everything else about a
//! collision is here. Two closed forms are special cases of the impact solver, and tests compare them with it: one smooth contact of
//! two free bodies ([`crate::impact::pair`]), and two smooth spheres (`spheres`).

mod audit;
mod event;
mod resolve;
pub(crate) mod spheres;
#[cfg(test)]
pub(crate) mod spoiled;
#[cfg(test)]
mod tests;

use nalgebra::Vector3;

use crate::body::State;
use crate::contact::{Side, Surface};
use crate::gap::Gap;
use crate::record::JointImpulse;

pub(crate) use audit::AuditContext;
pub(crate) use event::EventContext;

/// Up to this many bodies a linear search is faster.
const FEW: usize = 8;

/// A contact of a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClusterContact<K> {
    /// The engine's own data.
    pub key: K,
    /// The sides, by their numbers in the scene; a plane is the first.
    pub sides: [Side; 2],
    /// Which image of the second body, in whole boxes, and how far that is displaced.
    pub image: [i32; 3],
    pub shift: Vector3<f64>,
    /// The gap, its normal and its points.
    pub found: Gap,
    pub restitution: f64,
    pub surface: Surface,
    /// The rate at which growing bodies close the gap by themselves.
    pub growing: f64,
    /// The rate of the gap before and after.
    pub approach: f64,
    pub separation: f64,
    /// The impulse along the normal, and on the second body.
    pub impulse: f64,
    pub impulse_vector: Vector3<f64>,
    /// Whether a joint of the cluster carries that impulse.
    pub by_joint: bool,
}

/// The bodies and contacts of one collision, with the states before and after.
#[derive(Debug, Clone)]
pub(crate) struct Cluster<K> {
    /// The bodies, by their numbers in the scene.
    pub bodies: Vec<usize>,
    pub before: Vec<State>,
    pub after: Vec<State>,
    pub contacts: Vec<ClusterContact<K>>,
    /// The joints' impulses.
    pub joints: Vec<JointImpulse>,
}

impl<K> Default for Cluster<K> {
    fn default() -> Self {
        Self {
            bodies: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            contacts: Vec::new(),
            joints: Vec::new(),
        }
    }
}

impl<K> Cluster<K> {
    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.before.clear();
        self.after.clear();
        self.contacts.clear();
        self.joints.clear();
    }

    /// A body's place in the cluster, if it is there. Many bodies are found fast if they are in ascending order.
    pub fn find(&self, body: usize) -> Option<usize> {
        if self.bodies.len() > FEW
            && let Ok(place) = self.bodies.binary_search(&body)
        {
            return Some(place);
        }
        self.bodies.iter().position(|&b| b == body)
    }

    /// The place of a body that is in the cluster, as those of its contacts are.
    pub fn place(&self, body: usize) -> usize {
        self.find(body).unwrap_or(0)
    }

    /// A side by its place in the cluster.
    fn local(&self, side: Side) -> Side {
        match side {
            Side::Body(body) => Side::Body(self.place(body)),
            Side::Plane(k) => Side::Plane(k),
        }
    }

    /// From the centre of a contact's first body to that of its second's image; zero for a plane.
    fn between(&self, contact: &ClusterContact<K>) -> Vector3<f64> {
        match contact.sides {
            [Side::Body(first), Side::Body(second)] => {
                let position = |body: usize| self.before[self.place(body)].position;
                position(second) + contact.shift - position(first)
            }
            _ => Vector3::zeros(),
        }
    }
}

impl<K> ClusterContact<K> {
    /// Where the impulse acts: on the body at a plane, in the middle between two bodies.
    pub fn point(&self) -> Vector3<f64> {
        match self.sides[0] {
            Side::Plane(_) => self.found.points[0],
            Side::Body(_) => (self.found.points[0] + self.found.points[1]) * 0.5,
        }
    }

    /// The closest points on the first side and on the second; the gap to a plane has the body's point first.
    pub fn ends(&self) -> [Vector3<f64>; 2] {
        let [one, two] = self.found.points;
        match self.sides[0] {
            Side::Plane(_) => [two, one],
            Side::Body(_) => [one, two],
        }
    }
}
