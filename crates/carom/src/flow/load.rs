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
    /// A constant force at a point of a body.
    Push {
        /// On which body.
        body: usize,
        /// The point, in the body's axes from its centre.
        point: Vector3<f64>,
        /// The force.
        force: Vector3<f64>,
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
            Self::Push { body, point, force } => f
                .debug_struct("Push")
                .field("body", body)
                .field("point", point)
                .field("force", force)
                .finish(),
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
            Self::Push { body, point, force } => {
                wrenches[*body].push(force, &(states[*body].orientation * point));
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
    pub(crate) fn potential(&self, states: &[State]) -> f64 {
        match self {
            Self::Constant { body, wrench } => -wrench.force.dot(&states[*body].position),
            Self::Push { body, point, force } => {
                let state = &states[*body];
                -force.dot(&(state.position + state.orientation * point))
            }
            Self::Spring { ends, stiffness, rest_length, .. } => {
                let [one, two] = [&ends[0], &ends[1]].map(|end| end_now(end, states)[1]);
                let stretch = (two - one).norm() - rest_length;
                0.5 * stiffness * stretch * stretch
            }
            Self::Drag { .. } | Self::Custom(_) => 0.0,
        }
    }

    /// What it does to the energy besides through its potential: of dampers, drag, torques, and the user's own.
    pub(super) fn power(&self, t: f64, states: &[State]) -> f64 {
        match self {
            Self::Constant { body, wrench } => wrench.torque.dot(&states[*body].angular_velocity),
            Self::Push { .. } => 0.0,
            Self::Spring { ends, damping, .. } => {
                let [one, two] = [&ends[0], &ends[1]].map(|end| end_now(end, states));
                let apart = two[1] - one[1];
                let length = apart.norm();
                if length == 0.0 {
                    return 0.0;
                }
                let rate = apart.dot(&(two[2] - one[2])) / length;
                -damping * rate * rate
            }
            Self::Drag { body, linear, angular } => {
                let state = &states[*body];
                -linear * state.velocity.norm_squared() - angular * state.angular_velocity.norm_squared()
            }
            Self::Custom(custom) => {
                let mut wrenches = vec![Wrench::zero(); states.len()];
                custom(t, states, &mut wrenches);
                let power = |(state, wrench): (&State, &Wrench)| {
                    wrench.force.dot(&state.velocity) + wrench.torque.dot(&state.angular_velocity)
                };
                states.iter().zip(&wrenches).map(power).sum()
            }
        }
    }

    /// Whether all that it does has a potential.
    pub(super) fn is_conservative(&self) -> bool {
        match self {
            Self::Constant { wrench, .. } => wrench.torque == Vector3::zeros(),
            Self::Push { .. } => true,
            Self::Spring { damping, .. } => *damping == 0.0,
            Self::Drag { .. } | Self::Custom(_) => false,
        }
    }

    /// Whether it acts between bodies only, and leaves their momentum as it is.
    pub(crate) fn is_internal(&self) -> bool {
        matches!(self, Self::Spring { ends: [End { body: Some(_), .. }, End { body: Some(_), .. }], .. })
    }

    /// The same on bodies of other numbers; of a user's own the numbers are not known here.
    pub(crate) fn renumbered(&self, number: impl Fn(usize) -> usize) -> Self {
        let mut load = self.clone();
        match &mut load {
            Self::Constant { body, .. } | Self::Push { body, .. } | Self::Drag { body, .. } => {
                *body = number(*body);
            }
            Self::Spring { ends, .. } => {
                for end in ends {
                    end.body = end.body.map(&number);
                }
            }
            Self::Custom(_) => {}
        }
        load
    }

    /// The same on some of the bodies of a flow, whose time has another zero, if it is a user's own.
    pub(crate) fn among(&self, places: Vec<usize>, zero: f64) -> Self {
        let Self::Custom(force) = self else { return self.clone() };
        let force = force.clone();
        Self::Custom(Arc::new(move |t, states, wrenches| {
            let own: Vec<State> = places.iter().map(|&place| states[place]).collect();
            let mut sums = vec![Wrench::zero(); own.len()];
            force(zero + t, &own, &mut sums);
            for (&place, sum) in places.iter().zip(&sums) {
                wrenches[place].force += sum.force;
                wrenches[place].torque += sum.torque;
            }
        }))
    }

    /// The bodies that it names.
    pub(crate) fn bodies(&self) -> [Option<usize>; 2] {
        match self {
            Self::Constant { body, .. } | Self::Push { body, .. } | Self::Drag { body, .. } => {
                [Some(*body), None]
            }
            Self::Spring { ends, .. } => [ends[0].body, ends[1].body],
            Self::Custom(_) => [None, None],
        }
    }
}
