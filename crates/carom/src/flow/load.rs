//! Forces besides gravity: constant ones, springs and dampers, drag, and a user's own.

use std::fmt;
use std::sync::Arc;

use nalgebra::Vector3;

use crate::body::State;

/// A force on a body, and a torque about its centre of mass; world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wrench {
    /// The force.
    pub force: Vector3<f64>,
    /// The torque about the centre of mass.
    pub torque: Vector3<f64>,
}

impl Wrench {
    /// None.
    #[must_use]
    pub fn zero() -> Self {
        Self { force: Vector3::zeros(), torque: Vector3::zeros() }
    }

    /// Adds a force at a point.
    pub fn push(&mut self, force: &Vector3<f64>, arm: &Vector3<f64>) {
        self.force += force;
        self.torque += arm.cross(force);
    }
}

/// Where a spring ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct End {
    /// The body, or the ground.
    pub body: Option<usize>,
    /// The point, in the body's axes from its centre; on the ground, in the world.
    pub point: Vector3<f64>,
}

/// A user's force: writes the wrench on every body at a time and states, adding to what is there. It must be as smooth as the
/// motion is to be exact.
pub type Custom = Arc<dyn Fn(f64, &[State], &mut [Wrench]) + Send + Sync>;

/// A force besides gravity.
#[derive(Clone)]
pub enum Load {
    /// A constant force at the centre of mass, and a constant torque.
    Constant {
        /// On which body.
        body: usize,
        /// What.
        wrench: Wrench,
    },
    /// A spring with a damper along it: k (l − l₀) + c l', pulling the ends together.
    Spring {
        /// Where it ends.
        ends: [End; 2],
        /// k.
        stiffness: f64,
        /// l₀.
        rest_length: f64,
        /// c.
        damping: f64,
    },
    /// Resistance: −b v and −β ω.
    Drag {
        /// On which body.
        body: usize,
        /// b.
        linear: f64,
        /// β.
        angular: f64,
    },
    /// A user's own.
    Custom(Custom),
}

impl fmt::Debug for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant { body, wrench } => {
                f.debug_struct("Constant").field("body", body).field("wrench", wrench).finish()
            }
            Self::Spring { ends, stiffness, rest_length, damping } => f
                .debug_struct("Spring")
                .field("ends", ends)
                .field("stiffness", stiffness)
                .field("rest_length", rest_length)
                .field("damping", damping)
                .finish(),
            Self::Drag { body, linear, angular } => f
                .debug_struct("Drag")
                .field("body", body)
                .field("linear", linear)
                .field("angular", angular)
                .finish(),
            Self::Custom(_) => f.write_str("Custom"),
        }
    }
}

/// An end of a spring now: its arm, place and velocity.
fn end_now(end: &End, states: &[State]) -> [Vector3<f64>; 3] {
    end.body.map_or([Vector3::zeros(), end.point, Vector3::zeros()], |b| {
        let state = &states[b];
        let arm = state.orientation * end.point;
        [arm, state.position + arm, state.velocity + state.angular_velocity.cross(&arm)]
    })
}

impl Load {
    /// Adds what it does at a time and states.
    pub(super) fn apply(&self, t: f64, states: &[State], wrenches: &mut [Wrench]) {
        match self {
            Self::Constant { body, wrench } => {
                wrenches[*body].force += wrench.force;
                wrenches[*body].torque += wrench.torque;
            }
            Self::Spring { ends, stiffness, rest_length, damping } => {
                let [one, two] = [&ends[0], &ends[1]].map(|end| end_now(end, states));
                let apart = two[1] - one[1];
                let length = apart.norm();
                // A spring of no length has no direction, and pulls nowhere.
                if length == 0.0 {
                    return;
                }
                let along = apart / length;
                let pull = stiffness * (length - rest_length) + damping * along.dot(&(two[2] - one[2]));
                for (end, [arm, ..], sign) in [(&ends[0], one, 1.0), (&ends[1], two, -1.0)] {
                    if let Some(body) = end.body {
                        wrenches[body].push(&(along * (sign * pull)), &arm);
                    }
                }
            }
            Self::Drag { body, linear, angular } => {
                wrenches[*body].force -= states[*body].velocity * *linear;
                wrenches[*body].torque -= states[*body].angular_velocity * *angular;
            }
            Self::Custom(custom) => custom(t, states, wrenches),
        }
    }

    /// Its potential energy: of springs and constant forces. A torque and what the user adds have none here.
    pub(super) fn potential(&self, states: &[State]) -> f64 {
        match self {
            Self::Constant { body, wrench } => -wrench.force.dot(&states[*body].position),
            Self::Spring { ends, stiffness, rest_length, .. } => {
                let [one, two] = [&ends[0], &ends[1]].map(|end| end_now(end, states)[1]);
                let stretch = (two - one).norm() - rest_length;
                0.5 * stiffness * stretch * stretch
            }
            Self::Drag { .. } | Self::Custom(_) => 0.0,
        }
    }

    /// The bodies that it names.
    pub(super) fn bodies(&self) -> [Option<usize>; 2] {
        match self {
            Self::Constant { body, .. } | Self::Drag { body, .. } => [Some(*body), None],
            Self::Spring { ends, .. } => [ends[0].body, ends[1].body],
            Self::Custom(_) => [None, None],
        }
    }
}
