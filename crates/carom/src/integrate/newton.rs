//! Newton's method for the stages of a step, where the fixed-point iteration does not converge:
//!
//! ```text
//! (I − h a_ij f'_j) δ = h Σ_j a_ij f_j − shift_i
//! ```
//!
//! with the derivatives at every stage by differences, so that the last digits come from f alone. Only the unknowns that the
//! rates depend on take part in the elimination. It makes room for itself: some hundred times the work of a plain step.
//!
//! Slip that sets out from nothing is the hard case: friction hangs on its direction alone, so f changes by its own size over a
//! change of the slip as small as the slip. The slip is an unknown of its own, good to its own last digits, and its nudges are
//! relative to itself; the first guess has friction keep the direction in which slip sets out.

use super::gauss::{Field, Gauss, Trial};

/// Differences for derivatives, relative to the scales: large beside rounding.
const NUDGE: f64 = 1e-10;

/// The same for unknowns of which the direction counts, relative to their own length.
const SLIGHT: f64 = 1e-7;

/// Directions are sought to this.
const POINTED: f64 = 1e-13;

/// Changes below this, relative to all that moves, are not checked for what they leave: rounding would refuse them.
const SURE: f64 = 1e-9;

/// Newton's steps.
const MOST_NEWTON: u32 = 20;

/// Halvings of one step.
const MOST_HALVINGS: u32 = 8;

impl Gauss {
    /// Finds the stage rates for one length.
    pub(crate) fn settle_by_newton<F: Field>(
        &mut self,
        field: &mut F,
        from: f64,
        start: &[f64],
        length: f64,
        scales: &[f64],
        iterations: &mut u32,
    ) -> Trial<F::Obstacle> {
        let (s, n, m) = (self.stages, start.len(), field.coupled());
        let size = s * m;
        let directions = field.directions();
        let mut matrix = vec![0.0; size * size];
        let mut right = vec![0.0; size];
        let mut missed = vec![0.0; size];
        let mut jacobian = vec![0.0; m * m];
        let mut nudged = vec![0.0; n];
        // From the rates that keep directions, or the constant rate.
        field.soften(true);
        let softened = self.settle(field, from, start, length, scales, None, iterations);
        field.soften(false);
        if !matches!(softened, Trial::Settled) {
            if let Err(o) = field.rate(from, start, &mut nudged) {
                return Trial::Obstacle(o);
            }
            for i in 0..s {
                let share = 0.5 * length * (self.nodes[i] + 1.0);
                for d in 0..n {
                    self.shifts[i * n + d] = share * nudged[d];
                }
            }
        }
        let (mut last, mut last_turn, mut merit) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        for round in 0..MOST_NEWTON {
            *iterations += 1;
            // What is left of the equations here; a step that leaves more than there was is halved.
            let mut reach: f64 = 0.0;
            for halving in 0..=MOST_HALVINGS {
                if let Err(o) = self.stage_rates(field, from, start, length) {
                    return Trial::Obstacle(o);
                }
                let mut rest: f64 = 0.0;
                for i in 0..s {
                    for d in 0..n {
                        let sum: f64 = (0..s).map(|j| self.matrix[i * s + j] * self.rates[j * n + d]).sum();
                        let next = sum * length;
                        reach = reach.max(next.abs() / scales[d]);
                        if d < m {
                            missed[i * m + d] = next - self.shifts[i * n + d];
                            rest += (missed[i * m + d] / scales[d]) * (missed[i * m + d] / scales[d]);
                        } else {
                            self.shifts[i * n + d] = next;
                        }
                    }
                }
                if halving == MOST_HALVINGS {
                    return Trial::Unsettled;
                }
                if rest <= merit || last <= SURE * reach {
                    merit = rest;
                    right.copy_from_slice(&missed);
                    break;
                }
                let part = libm::ldexp(1.0, -1 - halving.cast_signed());
                for i in 0..s {
                    for d in 0..m {
                        self.shifts[i * n + d] -= part * right[i * m + d];
                    }
                }
            }
            matrix.fill(0.0);
            for j in 0..s {
                for d in 0..n {
                    self.state[d] = start[d] + self.shifts[j * n + d];
                }
                let t = from + 0.5 * length * (self.nodes[j] + 1.0);
                for k in 0..m {
                    let kept = self.state[k];
                    let nudge = if directions.contains(&k) {
                        SLIGHT * span(&self.state, k - (k - directions.start) % 3)
                    } else {
                        NUDGE * scales[k]
                    };
                    self.state[k] = kept + nudge;
                    let step = self.state[k] - kept;
                    if step == 0.0 {
                        for d in 0..m {
                            jacobian[d * m + k] = 0.0;
                        }
                        continue;
                    }
                    if let Err(o) = field.rate(t, &self.state, &mut nudged) {
                        return Trial::Obstacle(o);
                    }
                    self.state[k] = kept;
                    for d in 0..m {
                        jacobian[d * m + k] = (nudged[d] - self.rates[j * n + d]) / step;
                    }
                }
                for i in 0..s {
                    let weight = -length * self.matrix[i * s + j];
                    // In units of the scales, so that pivots compare what is alike.
                    for d in 0..m {
                        for k in 0..m {
                            matrix[(i * m + d) * size + j * m + k] =
                                weight * (jacobian[d * m + k] * scales[k] / scales[d]);
                        }
                    }
                }
            }
            for i in 0..size {
                matrix[i * size + i] += 1.0;
                right[i] /= scales[i % m];
            }
            if !eliminate(&mut matrix, &mut right) {
                return Trial::Unsettled;
            }
            for i in 0..size {
                right[i] *= scales[i % m];
            }
            let (mut change, mut turn): (f64, f64) = (0.0, 0.0);
            for i in 0..s {
                for d in 0..m {
                    let moved = right[i * m + d].abs() / scales[d];
                    change = if moved <= change { change } else { moved };
                    self.shifts[i * n + d] += right[i * m + d];
                }
                for d in 0..n {
                    self.state[d] = start[d] + self.shifts[i * n + d];
                }
                for k in directions.clone().step_by(3) {
                    turn = turn.max(span(&right, i * m + k) / span(&self.state, k));
                }
            }
            if !change.is_finite() || change > 1e6 {
                return Trial::Unsettled;
            }
            let arrived = change <= 16.0 * f64::EPSILON * reach
                || (round > 3 && change > 0.5 * last && change < 1e-13 * reach);
            if arrived && (turn <= POINTED || turn > 0.25 * last_turn) {
                // The rates belong to the stages before this last, negligible change.
                return Trial::Settled;
            }
            (last, last_turn) = (change, turn);
        }
        Trial::Unsettled
    }

    /// The rates at the stages as they stand.
    fn stage_rates<F: Field>(
        &mut self,
        field: &mut F,
        from: f64,
        start: &[f64],
        length: f64,
    ) -> Result<(), F::Obstacle> {
        let n = start.len();
        for j in 0..self.stages {
            for d in 0..n {
                self.state[d] = start[d] + self.shifts[j * n + d];
            }
            let t = from + 0.5 * length * (self.nodes[j] + 1.0);
            field.rate(t, &self.state, &mut self.rates[j * n..(j + 1) * n])?;
        }
        Ok(())
    }
}

/// The length of three numbers from a place on.
fn span(x: &[f64], from: usize) -> f64 {
    libm::sqrt(x[from..from + 3].iter().map(|x| x * x).sum())
}

/// Solves a dense system in place by elimination with pivoting; false where it is singular.
fn eliminate(matrix: &mut [f64], right: &mut [f64]) -> bool {
    let n = right.len();
    for k in 0..n {
        let mut best = (k, matrix[k * n + k].abs());
        for i in k + 1..n {
            let size = matrix[i * n + k].abs();
            if size > best.1 {
                best = (i, size);
            }
        }
        if best.1.is_nan() || best.1 == 0.0 {
            return false;
        }
        if best.0 != k {
            let (upper, lower) = matrix.split_at_mut(best.0 * n);
            upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
            right.swap(k, best.0);
        }
        let (upper, lower) = matrix.split_at_mut((k + 1) * n);
        let pivot = &upper[k * n + k..];
        for i in 0..n - k - 1 {
            let row = &mut lower[i * n + k..(i + 1) * n];
            let factor = row[0] / pivot[0];
            if factor != 0.0 {
                for (x, p) in row.iter_mut().zip(pivot) {
                    *x -= factor * p;
                }
                right[k + 1 + i] -= factor * right[k];
            }
        }
    }
    for k in (0..n).rev() {
        let row = &matrix[k * n..(k + 1) * n];
        let sum: f64 = row[k + 1..].iter().zip(&right[k + 1..]).map(|(a, x)| a * x).sum();
        right[k] = (right[k] - sum) / row[k];
    }
    true
}
