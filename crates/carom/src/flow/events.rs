//! What ends a piece early: a force that returns to zero, friction that no longer suffices, slip that comes to rest.
//!
//! The integral of each contact's force is one of the unknowns; the force itself is that unknown's rate, a Legendre series.
//! Its first fall below zero is found from bounds on its bend, so that no short dip is missed, and polished by Newton's
//! method on the force at the state itself. What friction has left, (μλ)² − f², and the slip along its first direction go the same
//! way, as the polynomials through their values at the step's nodes; forces and slips there are those of the step's own series, so that
//! watching costs no evaluation of the system.

use nalgebra::Vector3;

use super::sizes::{ROUNDING, Sizes};
use super::system::System;
use super::unknowns::PER_SLIP;
use super::{Ending, Flow, Mode, Obstacle};
use crate::contact::Surface;
use crate::integrate::gauss::{FEW, Field, Gauss, Leg};
use crate::integrate::series::{MOST_TERMS, first_fall, sum_and_slope};

/// What is watched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watch {
    LiftOff(usize),
    Slip(usize),
    Stick(usize),
}

impl Flow {
    /// The first change within a step, and where in its leg.
    pub(super) fn first_event(
        &self,
        system: &mut System,
        gauss: &mut Gauss,
        leg: &Leg,
        sizes: &Sizes,
    ) -> Result<Option<(f64, Ending)>, Obstacle> {
        let mut first: Option<(f64, Ending)> = None;
        let mut rate = vec![0.0; leg.start().len()];
        // The rows at the step's start, for what one unit of force does at each contact.
        system.rate(leg.from, leg.start(), &mut rate)?;
        let responses: Vec<[f64; 2]> = (0..self.loose)
            .map(|i| [system.balance.response(system.first_line[i]), system.force(i).0])
            .collect();
        for i in 0..self.loose {
            let watches = match (system.modes[i], self.contacts[i].surface) {
                (Mode::Stick, Surface::Coulomb(_)) => [Some(Watch::LiftOff(i)), Some(Watch::Slip(i))],
                (Mode::Slip { .. }, _) => [Some(Watch::LiftOff(i)), Some(Watch::Stick(i))],
                _ => [Some(Watch::LiftOff(i)), None],
            };
            for watch in watches.into_iter().flatten() {
                if let Some((time, ending)) = self.event(system, gauss, leg, sizes, watch, responses[i])?
                    && first.is_none_or(|first| time < first.0)
                {
                    first = Some((time, ending));
                }
            }
        }
        Ok(first)
    }

    /// Where in a leg something watched first falls below zero, if it does. `response` is how much one unit of the contact's force
    /// accelerates its gap at the start of the leg, and the force there.
    fn event(
        &self,
        system: &mut System,
        gauss: &mut Gauss,
        leg: &Leg,
        sizes: &Sizes,
        watch: Watch,
        [response, force]: [f64; 2],
    ) -> Result<Option<(f64, Ending)>, Obstacle> {
        let extras = system.extras();
        let (Watch::LiftOff(contact) | Watch::Slip(contact) | Watch::Stick(contact)) = watch;
        // By a clock, forces are times its pace.
        let (clocked, clock) = (system.clock, self.contact_unknown(0, 0));
        let pace_at = |place: f64| {
            let mut pace = [1.0];
            if clocked {
                leg.rate(place, clock..clock + 1, &mut pace);
            }
            pace[0].abs()
        };
        let slowest = if clocked { leg.series(clock).0.iter().map(|a| a.abs()).sum() } else { 1.0 };
        let force_noise = ROUNDING * sizes.acceleration * slowest / response;
        let rounding = match watch {
            Watch::LiftOff(_) => force_noise,
            Watch::Slip(_) => force_noise * force_noise.max(force.abs()),
            Watch::Stick(_) => system.still,
        };
        let mut series = [0.0; MOST_TERMS];
        let terms = if let Watch::LiftOff(_) = watch {
            let (found, terms) = leg.series(self.contact_unknown(extras, contact));
            series = found;
            terms
        } else {
            let mut values = [0.0; MOST_TERMS];
            for (i, value) in values.iter_mut().enumerate().take(gauss.stages()) {
                let t = leg.time(gauss.nodes()[i]);
                *value = self.watched_in_series(system, leg, watch, t);
            }
            let stages = gauss.stages();
            gauss.analyse(&values[..stages], &mut series);
            stages
        };
        // Below its last coefficients the series says nothing.
        let last = if terms < FEW { 0.0 } else { series[terms - 2].abs() };
        let noise = rounding + 4.0 * (series[terms - 1].abs() + last);
        let Some(x) = first_fall(&series[..terms], noise) else { return Ok(None) };
        let slope_at = |t: f64| {
            let x = 2.0 * ((t - leg.from) / leg.length) - 1.0;
            sum_and_slope(&series[..terms], x).1 * 2.0 / leg.length
        };
        let mut time = leg.time(x).max(leg.from);
        if x > -1.0 {
            let mut y = vec![0.0; self.unknowns(extras)];
            let mut rate = y.clone();
            for _ in 0..3 {
                let value = self.watched(system, leg, watch, time, &mut y, &mut rate)?;
                let next = (time - value / slope_at(time)).clamp(leg.from, leg.from + leg.length);
                let moved = (next - time).abs();
                if next.is_nan() || moved > 1e-3 * leg.length {
                    break;
                }
                time = next;
                if moved <= f64::EPSILON * time.abs() {
                    break;
                }
            }
        }
        let time_error = (rounding / slope_at(time).abs()).min(leg.length) * pace_at(time)
            + 4.0 * f64::EPSILON * (time.abs() + system.time.abs());
        let ending = match watch {
            Watch::LiftOff(_) => Ending::LiftOff { contact, time_error },
            Watch::Slip(_) => Ending::Slip { contact, time_error },
            Watch::Stick(_) => Ending::Stick { contact, time_error },
        };
        Ok(Some((time, ending)))
    }

    /// What is watched, at a time within a step, as the step's series tell it.
    fn watched_in_series(&self, system: &System, leg: &Leg, watch: Watch, t: f64) -> f64 {
        match watch {
            Watch::LiftOff(i) | Watch::Slip(i) => {
                let base = self.contact_unknown(system.extras(), i);
                let mut force = [0.0; 4];
                leg.rate(t, base..base + 4, &mut force);
                self.watched_force(watch, force[0], &Vector3::new(force[1], force[2], force[3]))
            }
            Watch::Stick(i) => {
                let Mode::Slip { along, .. } = system.modes[i] else { return 0.0 };
                let before = (0..i).filter(|&k| system.slides(k)).count();
                let base = system.first_slip() + before * PER_SLIP;
                let mut slip = [0.0; PER_SLIP];
                leg.at(t, base..base + PER_SLIP, &mut slip);
                Vector3::from(slip).dot(&along)
            }
        }
    }

    /// What is watched of a contact's force.
    fn watched_force(&self, watch: Watch, pushing: f64, friction: &Vector3<f64>) -> f64 {
        let Watch::Slip(i) = watch else { return pushing };
        let coefficient = match self.contacts[i].surface {
            Surface::Coulomb(coefficient) => coefficient,
            Surface::Smooth | Surface::Rough => f64::INFINITY,
        };
        let limit = coefficient * pushing;
        limit * limit - friction.norm_squared()
    }

    /// What is watched, at a time within a step, from the system there.
    fn watched(
        &self,
        system: &mut System,
        leg: &Leg,
        watch: Watch,
        t: f64,
        y: &mut [f64],
        rate: &mut [f64],
    ) -> Result<f64, Obstacle> {
        leg.at(t, 0..y.len(), y);
        system.rate(t, y, rate)?;
        Ok(match watch {
            Watch::LiftOff(i) | Watch::Slip(i) => {
                let (pushing, friction) = system.force(i);
                self.watched_force(watch, pushing, &friction)
            }
            Watch::Stick(i) => match system.modes[i] {
                Mode::Slip { along, .. } => system.slip(i).dot(&along),
                Mode::Smooth | Mode::Stick => 0.0,
            },
        })
    }
}
