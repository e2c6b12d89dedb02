//! A contact: which bodies touch, where, along which normal, and how the surface responds; how it moves
//! ([`kinematics`](mod@kinematics), checked by [`series`]), and what kind it is ([`classify`](mod@classify)).

pub mod kinematics;

pub mod jet;

pub mod series;

pub mod coefficients;

pub mod classify;

pub mod moment;

pub mod neighbourhood;

pub mod contact_set;

pub mod feature;

pub mod paradox;

mod side;

use nalgebra::{Unit, Vector3};

pub use side::{Side, Surface};

/// A contact.
#[derive(Debug, Clone, PartialEq)]
pub struct Contact {
    /// Its name, as given or made of the two sides' names.
    pub name: String,
    /// The first and the second side; at least one is a body.
    pub sides: [Side; 2],
    /// Where they touch.
    pub point: Vector3<f64>,
    /// The unit normal, from the first to the second body; for a plane, the plane's own normal.
    pub normal: Unit<Vector3<f64>>,
    /// The coefficient of restitution.
    pub restitution: f64,
    /// How the surface answers.
    pub surface: Surface,
    /// Where the centre of each side's body stands for this contact, relative to its position: whole box lengths
    /// where an image touches in a periodic world, zero otherwise.
    pub images: [Vector3<f64>; 2],
}
