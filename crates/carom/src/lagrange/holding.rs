//! Which of the walls that are touched at rest are held: those that push.
//!
//! ```text
//! 0 ≤ λ  ⟂  g'' ≥ 0
//! ```
//!
//! on the accelerations, by the least-index method (K. G. Murty 1974, *Note on a Bard-type scheme*): with one set of walls held, the
//! first that would pull, or that would be entered, changes sides. It ends wherever the rows are independent; where they are not
//! it nearly always does, and otherwise that is an [`Obstacle`].

use super::dynamics::{Dynamics, dot};
use super::{Obstacle, System};
use crate::contact::Surface;

/// Accelerations below this, relative to the motion's, count as zero.
const STILL: f64 = 1e-11;

/// Changes of sides before it is given up.
const MOST_CHANGES: u32 = 1000;

impl<M: System<N>, const N: usize> Dynamics<M, N> {
    /// Holds those of the walls given that push, and no other.
    pub fn hold(&mut self, t: f64, q: &[f64; N], v: &[f64; N], touched: &[usize]) -> Result<(), Obstacle> {
        self.held.clear();
        if touched.is_empty() {
            return Ok(());
        }
        let mut holds = vec![false; touched.len()];
        for _ in 0..MOST_CHANGES {
            self.held.clear();
            self.held.extend((0..touched.len()).filter(|&i| holds[i]).map(|i| touched[i]));
            self.prepare(t, q, v)?;
            for i in 0..self.held.len() {
                let wall = self.held[i];
                self.add_wall(wall, self.sticks(wall), q, v);
            }
            let a = self.balance_rows()?;
            let tempo = self.tempo(v, &a);
            let mut wrong = None;
            let mut place = 0;
            for (i, &wall) in touched.iter().enumerate() {
                let [gradient, bend] = self.gap_rows(wall);
                let level = STILL * self.reach(&gradient) * tempo * tempo;
                let amiss = if holds[i] {
                    let row = self.row_of(place);
                    place += 1;
                    let response: f64 = self.balance.response(row);
                    self.multiplier(row) * response < -level
                } else {
                    dot(&gradient, &a) + dot(&bend, v) < -level
                };
                if amiss {
                    wrong = Some(i);
                    break;
                }
            }
            let Some(i) = wrong else {
                let rubs = |&&wall: &&usize| matches!(self.walls[wall].surface, Surface::Coulomb(_));
                return match self.held.iter().find(rubs) {
                    Some(&wall) => Err(Obstacle::Friction { wall }),
                    None => Ok(()),
                };
            };
            holds[i] = !holds[i];
        }
        Err(Obstacle::Undecided)
    }
}
