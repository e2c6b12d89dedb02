//! Newton's method for the stages of a step, where the fixed-point iteration does not converge:
//!
//! ```text
//! (I − h a_ij f'_j) δ = h Σ_j a_ij f_j − shift_i
//! ```
//!
//! with the derivatives at every stage by differences, so that the last digits come from f alone. The matrix is factorised again only when
//! the iteration slows down.
//!
//! Only the unknowns that make f stiff take part in the elimination; the others follow by fixed-point iteration. Slip is the common case:
//! friction depends on its direction alone, so f changes by its own size over a change of the slip as small as the slip. The slip is an
//! unknown of its own, good to its own last digits, and its nudges are relative to itself; the first guess has friction keep the direction
//! in which slip sets out. Where nothing is known of what is stiff, all unknowns that the rates depend on take part, if they are few.

use core::ops::Range;

use nalgebra::{DMatrix, DVector, Dyn, LU};

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
const MOST_NEWTON: u32 = 40;

/// Halvings of one step.
const MOST_HALVINGS: u32 = 8;

/// The residual may grow by this factor where other unknowns move along.
const MOVED_ALONG: f64 = 16.0;

/// A step that shrinks by less than this asks for new derivatives.
const SLOW: f64 = 0.1;

/// The most equations that are eliminated at once: beyond that shorter steps are less work.
const MOST_EQUATIONS: usize = 800;

/// How far the iteration has come.
struct Progress {
    /// The last change, relative to the scales, and the last turn of a direction.
    change: f64,
    turn: f64,
    /// The sum of squares of what was left of the equations.
    merit: f64,
    /// How far the stages are from the start, relative to the scales.
    reach: f64,
}

impl Gauss {
    /// Finds the stage rates for one length, with Newton's method for the stiff unknowns.
    pub(crate) fn settle_by_newton<F: Field>(
        &mut self,
        field: &mut F,
        from: f64,
        start: &[f64],
        length: f64,
        scales: &[f64],
        iterations: &mut u32,
    ) -> Trial<F::Obstacle> {
        let directions = field.directions();
        let stiff = if directions.is_empty() { 0..field.coupled() } else { directions };
        if stiff.len() * self.stages > MOST_EQUATIONS {
            return Trial::Unsettled;
        }
        self.settle_stiff(field, from, start, length, scales, &stiff, iterations)
    }

    /// The same with given unknowns as the stiff ones.
    #[expect(clippy::too_many_arguments, reason = "one trial of one step: all of it varies")]
    fn settle_stiff<F: Field>(
        &mut self,
        field: &mut F,
        from: f64,
        start: &[f64],
        length: f64,
        scales: &[f64],
        stiff: &Range<usize>,
        iterations: &mut u32,
    ) -> Trial<F::Obstacle> {
        if let Err(o) = self.guess(field, from, start, length, scales, iterations) {
            return Trial::Obstacle(o);
        }
        let mut step = DVector::zeros(self.stages * stiff.len());
        let mut factors: Option<LU<f64, Dyn, Dyn>> = None;
        let infinite = f64::INFINITY;
        let mut progress = Progress { change: infinite, turn: infinite, merit: infinite, reach: 0.0 };
        for round in 0..MOST_NEWTON {
            *iterations += 1;
            let moved =
                match self.residual(field, from, start, length, scales, stiff, &mut step, &mut progress) {
                    Ok(Some(moved)) => moved,
                    Ok(None) => return Trial::Unsettled,
                    Err(o) => return Trial::Obstacle(o),
                };
            let decomposition = match factors.take() {
                Some(factors) => factors,
                None => match self.factorise(field, from, start, length, scales, stiff) {
                    Ok(factors) => {
                        *iterations += u32::try_from(stiff.len()).unwrap_or(u32::MAX / 2);
                        factors
                    }
                    Err(o) => return Trial::Obstacle(o),
                },
            };
            if !decomposition.solve_mut(&mut step) {
                return Trial::Unsettled;
            }
            let [change, turn] = self.apply(field, start, scales, stiff, &mut step);
            let change = change.max(moved);
            if !change.is_finite() || change > 1e6 {
                return Trial::Unsettled;
            }
            let arrived = change <= 16.0 * f64::EPSILON * progress.reach
                || (round > 3 && change > 0.5 * progress.change && change < 1e-13 * progress.reach);
            if arrived && (turn <= POINTED || turn > 0.25 * progress.turn) {
                // The rates belong to the stages before this last, negligible change.
                return Trial::Settled;
            }
            if change < SLOW * progress.change || round == 0 {
                factors = Some(decomposition);
            }
            (progress.change, progress.turn) = (change, turn);
        }
        Trial::Unsettled
    }

    /// The stages to begin with: from the rates that keep directions, or the constant rate.
    fn guess<F: Field>(
        &mut self,
        field: &mut F,
        from: f64,
        start: &[f64],
        length: f64,
        scales: &[f64],
        iterations: &mut u32,
    ) -> Result<(), F::Obstacle> {
        let n = start.len();
        field.soften(true);
        let softened = self.settle(field, from, start, length, scales, None, iterations);
        field.soften(false);
        if !matches!(softened, Trial::Settled) {
            let mut rate = vec![0.0; n];
            field.rate(from, start, &mut rate)?;
            for i in 0..self.stages {
                let share = 0.5 * length * (self.nodes[i] + 1.0);
                for d in 0..n {
                    self.shifts[i * n + d] = share * rate[d];
                }
            }
        }
        Ok(())
    }

    /// What is left of the stiff equations here; the other unknowns are moved, and by how much is returned. A last step that
    /// leaves more than there was is halved; none where that does not help.
    #[expect(clippy::too_many_arguments, reason = "one trial of one step: all of it varies")]
    fn residual<F: Field>(
        &mut self,
        field: &mut F,
        from: f64,
        start: &[f64],
        length: f64,
        scales: &[f64],
        stiff: &Range<usize>,
        step: &mut DVector<f64>,
        progress: &mut Progress,
    ) -> Result<Option<f64>, F::Obstacle> {
        let (s, n, width) = (self.stages, start.len(), stiff.len());
        let along = if width < field.coupled() { MOVED_ALONG } else { 1.0 };
        let judged = field.judged();
        let mut missed = DVector::zeros(step.len());
        for halving in 0..MOST_HALVINGS {
            self.stage_rates(field, from, start, length)?;
            let (mut rest, mut moved): (f64, f64) = (0.0, 0.0);
            for i in 0..s {
                for d in 0..n {
                    let sum: f64 = (0..s).map(|j| self.matrix[i * s + j] * self.rates[j * n + d]).sum();
                    let next = sum * length;
                    progress.reach = progress.reach.max(next.abs() / scales[d]);
                    let off = next - self.shifts[i * n + d];
                    if stiff.contains(&d) {
                        missed[i * width + d - stiff.start] = off / scales[d];
                        rest += (off / scales[d]) * (off / scales[d]);
                    } else {
                        self.shifts[i * n + d] = next;
                        // Integrals of rates follow from the others.
                        if d < judged && d < field.coupled() {
                            moved = moved.max(off.abs() / scales[d]);
                        }
                    }
                }
            }
            if rest <= along * progress.merit || progress.change <= SURE * progress.reach {
                progress.merit = rest;
                step.copy_from(&missed);
                return Ok(Some(moved));
            }
            let part = libm::ldexp(1.0, -1 - halving.cast_signed());
            for i in 0..s {
                for d in stiff.clone() {
                    self.shifts[i * n + d] -= part * step[i * width + d - stiff.start];
                }
            }
        }
        Ok(None)
    }

    /// I − h a_ij f'_j of the stiff unknowns, in units of the scales, so that pivots compare what is alike.
    fn factorise<F: Field>(
        &mut self,
        field: &mut F,
        from: f64,
        start: &[f64],
        length: f64,
        scales: &[f64],
        stiff: &Range<usize>,
    ) -> Result<LU<f64, Dyn, Dyn>, F::Obstacle> {
        let (s, n, width) = (self.stages, start.len(), stiff.len());
        let directions = field.directions();
        let mut matrix = DMatrix::identity(s * width, s * width);
        let mut nudged = vec![0.0; n];
        for j in 0..s {
            for d in 0..n {
                self.state[d] = start[d] + self.shifts[j * n + d];
            }
            let t = from + 0.5 * length * (self.nodes[j] + 1.0);
            field.rate(t, &self.state, &mut nudged)?;
            self.rates[j * n..(j + 1) * n].copy_from_slice(&nudged);
            for k in stiff.clone() {
                let kept = self.state[k];
                let nudge = if directions.contains(&k) {
                    SLIGHT * span(&self.state, k - (k - directions.start) % 3)
                } else {
                    NUDGE * scales[k]
                };
                self.state[k] = kept + nudge;
                let step = self.state[k] - kept;
                if step == 0.0 {
                    continue;
                }
                field.rate(t, &self.state, &mut nudged)?;
                self.state[k] = kept;
                for d in stiff.clone() {
                    let slope = (nudged[d] - self.rates[j * n + d]) / step * (scales[k] / scales[d]);
                    for i in 0..s {
                        matrix[(i * width + d - stiff.start, j * width + k - stiff.start)] -=
                            length * self.matrix[i * s + j] * slope;
                    }
                }
            }
        }
        Ok(matrix.lu())
    }

    /// Moves the stages by a step in units of the scales, which becomes one in units of the unknowns. Returns the largest change
    /// and the largest turn of a direction.
    fn apply<F: Field>(
        &mut self,
        field: &F,
        start: &[f64],
        scales: &[f64],
        stiff: &Range<usize>,
        step: &mut DVector<f64>,
    ) -> [f64; 2] {
        let (n, width) = (start.len(), stiff.len());
        let directions = field.directions();
        let (mut change, mut turn): (f64, f64) = (0.0, 0.0);
        for i in 0..self.stages {
            for d in stiff.clone() {
                let place = i * width + d - stiff.start;
                // Not a number must not pass for no change.
                let moved = step[place].abs();
                change = if moved <= change { change } else { moved };
                step[place] *= scales[d];
                self.shifts[i * n + d] += step[place];
            }
            for k in directions.clone().step_by(3) {
                let at = |d: usize| start[d] + self.shifts[i * n + d];
                let length = libm::sqrt((k..k + 3).map(|d| at(d) * at(d)).sum());
                turn = turn.max(span(step.as_slice(), i * width + k - stiff.start) / length);
            }
        }
        [change, turn]
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
