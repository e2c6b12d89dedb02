//! A collision, and who is told of it.

use nalgebra::Vector3;

use crate::contact::Side;

/// A collision, or a contact of several that collide at once.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Collision {
    /// The number of the impact, from zero; contacts of one impact share it, as they do the time and the energies.
    pub number: u64,
    /// When.
    pub time: f64,
    /// A bound on the error of the time.
    pub time_error: f64,
    /// Who; of two bodies the one of the smaller number is first, a plane is always first.
    pub sides: [Side; 2],
    /// Which image of the second, in whole boxes from where it is kept.
    pub image: [i32; 3],
    /// Where they touch.
    pub point: Vector3<f64>,
    /// From the first to the second.
    pub normal: Vector3<f64>,
    /// From the centre of the first to that of the second's image; from a plane, the way to the centre along the normal.
    pub between: Vector3<f64>,
    /// The gap as it was found: rounding.
    pub gap: f64,
    /// The rate of the gap before; negative.
    pub approach: f64,
    /// The rate of the gap after.
    pub separation: f64,
    /// The impulse along the normal.
    pub impulse: f64,
    /// The impulse on the second.
    pub impulse_vector: Vector3<f64>,
    /// The energy of all before.
    pub energy_before: f64,
    /// The energy of all after.
    pub energy_after: f64,
}

/// Who is told of collisions.
pub trait Watcher {
    /// A collision.
    fn collision(&mut self, collision: &Collision);
}

/// Nobody.
impl Watcher for () {
    #[inline(always)]
    fn collision(&mut self, _: &Collision) {}
}
