//! What happens where walls are touched: impact, rest or neither.
//!
//! All walls that are touched take part with all their rows, those that are held included: an impulse may go through them. The
//! [`impact`](crate::impact) knows the mass matrix, the rows of the constraints and those of the walls; it knows no coordinates.
//!
//! **Bounces that accumulate.** After an impact with y⁺ > 0 and g'' = −a < 0 the next one follows after 2y⁺/a, and all that follow, each
//! with k times the speed, after 2y⁺/(a(1−k)). Once a bounce is lower than [`LOWEST`] of the scales, nothing that it still
//! does is seen: the wall is held from there, with any other wall that the impact has lifted as little, and the time that the bounces would still take is stated.

use nalgebra::{DMatrix, DVector};

use super::crossing::ROUNDING;
use super::dynamics::{Dynamics, dot};
use super::run::{Accumulation, Kind};
use super::{Obstacle, System};
use crate::contact::Surface;
use crate::impact::{Friction, Options, Problem, Rough};

/// A bounce of this height, relative to what the scales make of a gap, is the last.
const LOWEST: f64 = 1e-12;

/// Speeds below this, relative to the motion's, count as zero.
const STILL: f64 = 1e-12;

/// What an impact did.
pub(super) struct Response {
    pub kind: Kind,
    /// By how much the kinetic energy changed.
    pub energy_change: f64,
    /// How long the shortest bounce now begun will last, by its first accelerations.
    pub flight: f64,
}

impl<M: System<N>, const N: usize> Dynamics<M, N> {
    /// Resolves what is touched at an instant: changes the velocity, says which walls are held from now on. `None` if nothing is
    /// touched.
    pub fn collide(
        &mut self,
        t: f64,
        q: &mut [f64; N],
        v: &mut [f64; N],
        reached: Option<(usize, f64)>,
        options: &Options,
    ) -> Result<Option<Response>, Obstacle> {
        let a = self.accelerate(t, q, v)?;
        let tempo = self.tempo(v, &a);
        self.find_open_rows(q, v);
        let late = reached.map_or(0.0, |(_, error)| error);
        let mut touched = Vec::new();
        for wall in 0..self.walls.len() {
            let [gradient, _] = self.gap_rows(wall);
            let level = 4.0 * ROUNDING * (self.reach(&gradient) + self.gap_value(wall).abs());
            if self.held.contains(&wall)
                || reached.is_some_and(|(first, _)| first == wall)
                || self.gap_value(wall) <= level + 2.0 * late * dot(&gradient, v).abs()
            {
                touched.push(wall);
            }
        }
        if touched.is_empty() {
            self.held.clear();
            return Ok(None);
        }
        let speed = |d: &Self, wall: usize, v: &[f64; N]| {
            let [gradient, _] = d.gap_rows(wall);
            (dot(&gradient, v), STILL * d.reach(&gradient) * tempo)
        };
        // What turns before it is deeper than rounding only grazes.
        let closing = |d: &Self, wall: usize, v: &[f64; N]| {
            let (y, still) = speed(d, wall, v);
            let [gradient, bend] = d.gap_rows(wall);
            let rise = dot(&gradient, &a) + dot(&bend, v);
            y < -still && !(rise > 0.0 && y * y <= 2.0 * rise * ROUNDING * d.reach(&gradient))
        };
        let mut outcome = None;
        let mut change = 0.0;
        if touched.iter().any(|&wall| closing(self, wall, v)) {
            let problem = self.problem(&touched, q, v);
            let solved = problem.solve(options).map_err(Obstacle::Impact)?;
            v.copy_from_slice(&solved.velocity);
            change = solved.energy.change;
            outcome = Some(solved);
        }
        // What rests on its wall, and then what bounces too low to be seen.
        let mut resting: Vec<usize> = Vec::new();
        for &wall in &touched {
            let (y, still) = speed(self, wall, v);
            if y <= still {
                resting.push(wall);
            }
        }
        self.hold(t, q, v, &resting)?;
        let mut accumulated = Vec::new();
        let mut flight = f64::INFINITY;
        if outcome.is_some() {
            let a = self.accelerate(t, q, v)?;
            self.find_open_rows(q, v);
            for &wall in &touched {
                let [gradient, bend] = self.gap_rows(wall);
                let (y, still) = speed(self, wall, v);
                let fall = -(dot(&gradient, &a) + dot(&bend, v));
                let k = self.walls[wall].restitution;
                if y > still && k < 1.0 && fall > 0.0 && y * y <= 2.0 * fall * LOWEST * self.reach(&gradient)
                {
                    accumulated.push(Accumulation { wall, remaining: 2.0 * y / (fall * (1.0 - k)) });
                    resting.push(wall);
                } else if y > still && fall > 0.0 {
                    flight = flight.min(2.0 * y / fall);
                }
            }
            if !accumulated.is_empty() {
                self.hold(t, q, v, &resting)?;
            }
        }
        let after = self.energies(q, v)[0];
        self.project(q, v)?;
        // What putting it to rest took, besides what the impact did.
        let taken = self.energies(q, v)[0] - after;
        let kind = match outcome {
            Some(outcome) => Kind::Impact { walls: touched, outcome: Box::new(outcome), accumulated },
            None => Kind::Touch { walls: touched },
        };
        Ok(Some(Response { kind, energy_change: change + taken, flight }))
    }

    /// The impact problem of all walls touched.
    fn problem(&mut self, touched: &[usize], q: &[f64; N], v: &[f64; N]) -> Problem {
        self.mass = self.system.mass(q);
        self.find_open_rows(q, v);
        let bilateral = self.rows.len();
        let (mut rough, mut friction, mut restitution) = (Vec::new(), Vec::new(), Vec::new());
        for &wall in touched {
            let normal = self.rows.len() - bilateral;
            let it = self.walls[wall];
            self.add_wall(wall, it.surface != Surface::Smooth, q, v);
            let tangent: Vec<usize> = (normal + 1..self.rows.len() - bilateral).collect();
            restitution.push(it.restitution);
            restitution.extend(tangent.iter().map(|_| it.tangential_restitution));
            match it.surface {
                Surface::Smooth => {}
                Surface::Rough => rough.push(Rough { normal, tangent }),
                Surface::Coulomb(coefficient) => friction.push(Friction { normal, tangent, coefficient }),
            }
        }
        let matrix = |rows: &[[f64; N]]| DMatrix::from_fn(rows.len(), N, |i, j| rows[i][j]);
        let mass = DMatrix::from_fn(N, N, |i, j| 0.5 * (self.mass[i][j] + self.mass[j][i]));
        Problem {
            mass,
            bilateral: matrix(&self.rows[..bilateral]),
            contacts: matrix(&self.rows[bilateral..]),
            velocity: DVector::from_column_slice(v),
            restitution,
            tangential: Vec::new(),
            rough,
            friction,
        }
    }
}
