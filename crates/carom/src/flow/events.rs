//! What ends a piece early: a force that returns to zero, friction that no longer suffices, slip that comes to rest.
//!
//! The integral of each contact's force is one of the unknowns; the force itself is that unknown's rate, a Legendre series.
//! Its first fall below zero is found from bounds on its bend, so that no short dip is missed, and polished by Newton's
//! method on the force at the state itself. What friction has left, (μλ)² − f², and the slip along its first direction go the same
//! way, as the polynomials through their values at the step's nodes.

use super::sizes::{ROUNDING, Sizes};
use super::system::System;
use super::{Ending, Flow, Mode, Obstacle};
use crate::contact::Surface;
use crate::integrate::gauss::{Field, Gauss, Leg};
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
        for i in 0..self.loose {
            let watches = match (system.modes[i], self.contacts[i].surface) {
                (Mode::Stick, Surface::Coulomb(_)) => [Some(Watch::LiftOff(i)), Some(Watch::Slip(i))],
                (Mode::Slip { .. }, _) => [Some(Watch::LiftOff(i)), Some(Watch::Stick(i))],
                _ => [Some(Watch::LiftOff(i)), None],
            };
            for watch in watches.into_iter().flatten() {
                if let Some((time, ending)) = self.event(system, gauss, leg, sizes, watch)?
                    && first.is_none_or(|first| time < first.0)
                {
                    first = Some((time, ending));
                }
            }
        }
        Ok(first)
    }

    /// Where in a leg something watched first falls below zero, if it does.
    fn event(
        &self,
        system: &mut System,
        gauss: &mut Gauss,
        leg: &Leg,
        sizes: &Sizes,
        watch: Watch,
    ) -> Result<Option<(f64, Ending)>, Obstacle> {
        let extras = system.extras();
        let mut y = vec![0.0; self.unknowns(extras)];
        let mut rate = y.clone();
        let (Watch::LiftOff(contact) | Watch::Slip(contact) | Watch::Stick(contact)) = watch;
        // How much one unit of force moves the gap: from the rows at the step's start.
        system.rate(leg.from, leg.start(), &mut rate)?;
        let row = system.balance.row(system.first_line[contact]);
        let response: f64 = row.iter().map(|c| c * c).sum();
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
            Watch::Slip(_) => force_noise * force_noise.max(system.force(contact).0.abs()),
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
                *value = self.watched(system, leg, watch, t, &mut y, &mut rate)?;
            }
            let stages = gauss.stages();
            gauss.analyse(&values[..stages], &mut series);
            stages
        };
        // Below its last coefficients the series says nothing.
        let noise = rounding + 4.0 * (series[terms - 1].abs() + series[terms - 2].abs());
        let Some(x) = first_fall(&series[..terms], noise) else { return Ok(None) };
        let slope_at = |t: f64| {
            let x = 2.0 * ((t - leg.from) / leg.length) - 1.0;
            sum_and_slope(&series[..terms], x).1 * 2.0 / leg.length
        };
        let mut time = leg.time(x).max(leg.from);
        if x > -1.0 {
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

    /// What is watched, at a time within a step.
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
            Watch::LiftOff(i) => system.force(i).0,
            Watch::Slip(i) => {
                let (pushing, friction) = system.force(i);
                let coefficient = match self.contacts[i].surface {
                    Surface::Coulomb(coefficient) => coefficient,
                    Surface::Smooth | Surface::Rough => f64::INFINITY,
                };
                let limit = coefficient * pushing;
                limit * limit - friction.norm_squared()
            }
            Watch::Stick(i) => match system.modes[i] {
                Mode::Slip { along, .. } => system.slip(i).dot(&along),
                Mode::Smooth | Mode::Stick => 0.0,
            },
        })
    }
}
