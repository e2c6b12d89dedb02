//! What a group does at an instant, without a step: the accelerations that its joints leave, and how far it is off its joints; and
//! what the forces that have no potential did along a step.

use nalgebra::Vector3;

use super::rows::Row;
use super::system::{Correction, Level, System};
use super::{DenseStep, Flow, Obstacle, Part, STAGES};
use crate::body::State;
use crate::integrate::gauss::Gauss;
use crate::integrate::series::MOST_TERMS;
use crate::motion::Derivatives;

/// What is not known.
const UNKNOWN: Vector3<f64> = Vector3::new(f64::NAN, f64::NAN, f64::NAN);

impl Flow {
    /// The accelerations of all bodies at states on the rows; their rates are not known here, and not numbers.
    ///
    /// # Errors
    ///
    /// An obstacle where the rows contradict each other or a contact has no surface.
    pub fn accelerations(&self, states: &[State]) -> Result<Vec<Derivatives>, Obstacle> {
        let mut system = self.standing_at(states)?;
        system.balance(Level::Acceleration)?;
        let of = |b: usize| {
            let placed = &system.placed[b];
            if placed.slot.is_none() {
                let zero = Vector3::zeros();
                return Derivatives {
                    acceleration: zero,
                    jerk: zero,
                    angular_acceleration: zero,
                    angular_jerk: zero,
                };
            }
            let (acceleration, torque) = system.reaction(b);
            let turn = placed.axes * placed.axes.tr_mul(&torque).component_div(&self.bodies[b].inertia);
            Derivatives {
                acceleration: placed.acceleration + acceleration / system.pace,
                jerk: UNKNOWN,
                angular_acceleration: placed.spin_rate + turn / system.pace,
                angular_jerk: UNKNOWN,
            }
        };
        Ok((0..self.bodies.len()).map(of).collect())
    }

    /// How far states are off each joint: in position, the largest residual of its rows; in velocity, the largest along them.
    ///
    /// # Errors
    ///
    /// An obstacle where a rolling body has no surface.
    pub fn joint_errors(&self, states: &[State]) -> Result<Vec<Correction>, Obstacle> {
        let system = self.standing_at(states)?;
        let along = |line: &Row| {
            let parts = line.bodies.iter().zip(&line.parts);
            parts.fold(0.0, |sum, (body, [linear, angular])| {
                body.map_or(sum, |b| {
                    let state = &system.placed[b].state;
                    sum + linear.dot(&state.velocity) + angular.dot(&state.angular_velocity)
                })
            })
        };
        let of = |part: &Part| {
            let lines = match *part {
                Part::Tie(k) => system.first_tie_line[k]..system.first_tie_line[k + 1],
                // The normal and two tangents.
                Part::Contact(i) => system.first_line[i]..system.first_line[i] + 3,
            };
            let most = |m: f64, x: f64| if x.is_nan() { x } else { m.max(x.abs()) };
            let lines = &system.lines[lines];
            Correction {
                position: lines.iter().filter_map(|line| line.residual).fold(0.0, most),
                velocity: lines.iter().map(along).fold(0.0, most),
            }
        };
        Ok(self.joints.iter().map(of).collect())
    }

    /// How many of the rows depend on the others at states, at unit length in the kinetic metric; none where they are not known.
    #[must_use]
    pub fn dependent_rows(&self, states: &[State]) -> usize {
        let Ok(mut system) = self.standing_at(states) else { return 0 };
        system.lenient = true;
        system.balance(Level::Velocity).map_or(0, |()| system.balance.count() - system.balance.rank)
    }

    /// The work of forces that have no potential, from a piece's start to a time within. The integrand is as smooth as the
    /// motion, and the rule that of the step.
    #[must_use]
    pub fn load_work(&self, piece: &DenseStep, until: f64) -> f64 {
        if self.loads.iter().all(super::Load::is_conservative) {
            return 0.0;
        }
        let length = until.min(piece.until) - piece.from;
        let mut values = [0.0; MOST_TERMS];
        let gauss = Gauss::new(STAGES);
        let stages = gauss.stages();
        for (value, node) in values.iter_mut().zip(gauss.nodes()) {
            let t = piece.from + 0.5 * (1.0 + node) * length;
            let states: Vec<State> = (0..self.bodies.len()).map(|b| piece.at(b, t)).collect();
            *value = self.loads.iter().map(|load| load.power(t, &states)).sum();
        }
        let mut series = [0.0; MOST_TERMS];
        gauss.analyse(&values[..stages], &mut series);
        // The first coefficient is the mean.
        series[0] * length
    }

    fn standing_at(&self, states: &[State]) -> Result<System<'_>, Obstacle> {
        let mut system = System::new(self, self.modes_without_friction());
        system.place(states);
        system.find_flats(&[]);
        system.touch()?;
        Ok(system)
    }
}
