//! A parameter of a run as a direction: how the start, the bodies, the planes and the rules change with it.

use nalgebra::Vector3;

use super::change::{BodyChange, StateChange};

/// Which rule of the scene's surfaces: the number of a pair's, or nothing for the default.
pub type Rule = Option<usize>;

/// How everything that a run is made of changes, per unit of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// The states at the start, of some bodies.
    pub states: Vec<(usize, StateChange)>,
    /// The constants of some bodies.
    pub bodies: Vec<(usize, BodyChange)>,
    /// The normals (across themselves) and the offsets of some planes.
    pub planes: Vec<(usize, Vector3<f64>, f64)>,
    /// Gravity.
    pub gravity: Vector3<f64>,
    /// The restitution of some rules.
    pub restitution: Vec<(Rule, f64)>,
    /// The friction of some rules.
    pub friction: Vec<(Rule, f64)>,
    /// The time of the end.
    pub until: f64,
}

impl Direction {
    /// Nothing changes.
    #[must_use]
    pub fn none() -> Self {
        Self {
            states: Vec::new(),
            bodies: Vec::new(),
            planes: Vec::new(),
            gravity: Vector3::zeros(),
            restitution: Vec::new(),
            friction: Vec::new(),
            until: 0.0,
        }
    }

    /// One body's state changes.
    #[must_use]
    pub fn of_state(body: usize, change: StateChange) -> Self {
        Self { states: vec![(body, change)], ..Self::none() }
    }

    /// One body's constants change.
    #[must_use]
    pub fn of_body(body: usize, change: BodyChange) -> Self {
        Self { bodies: vec![(body, change)], ..Self::none() }
    }
}
