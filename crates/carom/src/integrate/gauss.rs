//! Gauss–Legendre collocation with many stages: steps whose polynomial is the solution to rounding all along.
//!
//! ```text
//! y' = f(t, y):   u(t₀) = y₀,   u'(t₀ + c_i h) = f(t₀ + c_i h, u(t₀ + c_i h)),  i = 1 … s,  deg u = s
//! u'(t) = Σ_k a_k P_k(x),  x = 2(t−t₀)/h − 1,      a_k = (2k+1)/2 Σ_j w_j P_k(x_j) f_j
//! ```
//!
//! (Hairer, Lubich, Wanner, *Geometric Numerical Integration*, II.1 and IV.2.) The method is symmetric and keeps linear
//! and quadratic invariants: momentum, angular momentum, the length of a quaternion. Its end point is of order 2s, its
//! inside of order s + 1. Here the step is chosen by the inside: the last coefficients of u are asked to be below the
//! accuracy, so that u is good at any time within the step and costs one sum there; the end point then is far better
//! than asked for. Nothing is tabulated: nodes and weights come from Legendre's polynomials.
//!
//! The stages are found by fixed-point iteration from the constant rate, or from the previous step's polynomial
//! continued, until rounding stops it. It converges for steps well below the time scale of f, which this accuracy
//! demands anyway. Where it does not, even in much shorter steps (a stiff f, or one whose direction hangs on a small
//! difference, as friction does at the first moment of slip), Newton's method takes over, with differences for derivatives: some
//! hundred times the work, the same equations. Where f has no value the step is shortened too; in the end that is a [`Halt`],
//! a value.

use core::ops::Range;
use std::sync::OnceLock;

use super::series::{MOST_TERMS, count, gauss, legendre, legendre_integrals, sum_and_slope};

/// A right-hand side: f(t, y), or why there is none.
pub trait Field {
    /// What stands in the way where there is no rate.
    type Obstacle: Clone;

    /// How many unknowns there are.
    fn size(&self) -> usize;

    /// How many of the unknowns, from the first on, the rates depend on; the others are only integrated.
    fn coupled(&self) -> usize {
        self.size()
    }

    /// How many of the unknowns, from the first on, must be polynomials to the accuracy; the others may have poles.
    fn judged(&self) -> usize {
        self.size()
    }

    /// How much the rounding of rates is magnified beside that of sums of a few terms.
    fn magnified(&self) -> f64 {
        1.0
    }

    /// Whether Newton's method is worth its work where the fixed-point iteration fails.
    fn stiff(&self) -> bool {
        true
    }

    /// The unknowns of which, three by three, the direction counts, however short they are. None, unless there are such.
    fn directions(&self) -> Range<usize> {
        0..0
    }

    /// Leaves out, or takes back, what follows such directions: for a first guess.
    fn soften(&mut self, _on: bool) {}

    /// Writes the rate at a time and state.
    ///
    /// # Errors
    ///
    /// An obstacle where the rate does not exist.
    fn rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<(), Self::Obstacle>;
}

/// Why no step could be made.
#[derive(Debug, Clone, PartialEq)]
pub enum Halt<O> {
    /// The rate does not exist, at the start or however short the step.
    Obstacle(O),
    /// The iteration does not settle, or the coefficients do not fall, however short the step.
    Rough,
}

/// One step: the collocation polynomial.
#[derive(Debug, Clone, PartialEq)]
pub struct Leg {
    /// When it begins.
    pub from: f64,
    /// How long it is; negative backwards.
    pub length: f64,
    start: Vec<f64>,
    /// a_k of every unknown, k by k.
    rates: Vec<f64>,
    terms: usize,
    /// The greatest of the last coefficients of u, relative to the scales.
    pub tail: f64,
    /// How many iterations it took, over all lengths tried.
    pub iterations: u32,
}

impl Leg {
    /// Constant rates.
    #[must_use]
    pub fn straight(from: f64, length: f64, start: &[f64], rates: &[f64]) -> Self {
        let (start, rates) = (start.to_vec(), rates.to_vec());
        Self { from, length, start, rates, terms: 1, tail: 0.0, iterations: 0 }
    }

    /// The same with its times moved.
    #[must_use]
    pub fn moved(&self, by: f64) -> Self {
        Self { from: self.from + by, ..self.clone() }
    }

    /// x of a time.
    fn place(&self, t: f64) -> f64 {
        2.0 * ((t - self.from) / self.length) - 1.0
    }

    /// The number of its stages.
    #[must_use]
    pub fn stages(&self) -> usize {
        self.terms
    }

    /// The state at its start.
    #[must_use]
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// Some of the unknowns at a time. Times outside the step continue the polynomial, and lose digits.
    pub fn at(&self, t: f64, unknowns: Range<usize>, out: &mut [f64]) {
        let mut integral = legendre_integrals(self.place(t), self.terms);
        // x + 1 as it is, for steps that are long beside the time since their start.
        integral[0] = 2.0 * ((t - self.from) / self.length);
        let n = self.start.len();
        out.fill(0.0);
        // Small terms first.
        for k in (0..self.terms).rev() {
            let row = &self.rates[k * n + unknowns.start..k * n + unknowns.end];
            for (out, a) in out.iter_mut().zip(row) {
                *out += integral[k] * a;
            }
        }
        for (out, start) in out.iter_mut().zip(&self.start[unknowns]) {
            *out = start + 0.5 * self.length * *out;
        }
    }

    /// The rates of some unknowns at a time.
    pub fn rate(&self, t: f64, unknowns: Range<usize>, out: &mut [f64]) {
        let p = legendre(self.place(t), self.terms);
        let n = self.start.len();
        out.fill(0.0);
        for k in (0..self.terms).rev() {
            let row = &self.rates[k * n + unknowns.start..k * n + unknowns.end];
            for (out, a) in out.iter_mut().zip(row) {
                *out += p[k] * a;
            }
        }
    }

    /// The Legendre coefficients of one unknown's rate.
    #[must_use]
    pub fn series(&self, unknown: usize) -> ([f64; MOST_TERMS], usize) {
        let mut a = [0.0; MOST_TERMS];
        let n = self.start.len();
        for k in 0..self.terms {
            a[k] = self.rates[k * n + unknown];
        }
        (a, self.terms)
    }

    /// One unknown's rate and the rate of that, at a time.
    #[must_use]
    pub fn rate_and_slope(&self, t: f64, unknown: usize) -> (f64, f64) {
        let (a, terms) = self.series(unknown);
        let (value, slope) = sum_and_slope(&a[..terms], self.place(t));
        (value, slope * 2.0 / self.length)
    }

    /// The time at a place x of its series.
    #[must_use]
    pub fn time(&self, x: f64) -> f64 {
        self.from + 0.5 * self.length * (x + 1.0)
    }
}

/// The numbers of the method with s stages.
#[derive(Debug)]
struct Tableau {
    /// x_i in [−1, 1].
    nodes: Vec<f64>,
    /// ½∫_{−1}^{x_i} of the j-th Lagrange polynomial: u_i − y₀ = h Σ_j a_ij f_j.
    matrix: Vec<f64>,
    /// (2k+1)/2 w_j P_k(x_j): from stage rates to coefficients.
    analysis: Vec<f64>,
}

impl Tableau {
    fn new(s: usize) -> Self {
        let (nodes, weights) = gauss(s);
        let mut analysis = vec![0.0; s * s];
        for j in 0..s {
            let p = legendre(nodes[j], s);
            for k in 0..s {
                analysis[k * s + j] = (count(k) + 0.5) * weights[j] * p[k];
            }
        }
        let mut matrix = vec![0.0; s * s];
        for i in 0..s {
            let integral = legendre_integrals(nodes[i], s);
            for j in 0..s {
                matrix[i * s + j] =
                    0.5 * (0..s).rev().map(|k| integral[k] * analysis[k * s + j]).sum::<f64>();
            }
        }
        Self { nodes, matrix, analysis }
    }

    /// The tableau of s stages, computed once.
    fn of(s: usize) -> &'static Self {
        static ALL: [OnceLock<Tableau>; MOST_TERMS] = [const { OnceLock::new() }; MOST_TERMS];
        ALL[s].get_or_init(|| Self::new(s))
    }
}

/// The method, and room to work in: nothing is allocated while a step is sought, and one [`Leg`] when it is found.
#[derive(Debug, Clone)]
pub struct Gauss {
    pub(crate) stages: usize,
    /// x_i, a_ij and the analysis of the tableau.
    pub(crate) nodes: &'static [f64],
    pub(crate) matrix: &'static [f64],
    pub(crate) analysis: &'static [f64],
    pub(crate) rates: Vec<f64>,
    pub(crate) shifts: Vec<f64>,
    pub(crate) state: Vec<f64>,
    /// The rates at the start.
    pub(crate) first: Vec<f64>,
    /// Iterations over all lengths of one step, those that Newton's derivatives are worth included, after which it is given up.
    pub(crate) patience: u32,
}

/// How a step is to be made.
#[derive(Debug, Clone, Copy)]
pub struct Demand<'a> {
    /// The largest last coefficient accepted, relative to the scales.
    pub accuracy: f64,
    /// What counts as one, per unknown; positive.
    pub scales: &'a [f64],
    /// The first length to try; its sign is the direction.
    pub length: f64,
    /// The longest allowed.
    pub longest: f64,
    /// Newton's method from the first: for rates that the fixed-point iteration cannot follow.
    pub implicit: bool,
}

/// What came of one length.
pub(crate) enum Trial<O> {
    Settled,
    Unsettled,
    Obstacle(O),
}

/// Changes below this, relative to the scales, are rounding: the iteration has arrived.
const ARRIVED: f64 = 1e-17;

/// Changes below this may go on for ever: they round the state itself.
const LEAST: f64 = 1e-16;

/// With fewer stages than this the last coefficient alone is judged; from so many on the last two coefficients are judged, as those of even or odd order may vanish, and the middle ones tell what
/// is rounding.
pub(crate) const FEW: usize = 6;

/// Coefficients above this, relative to the scales, are never rounding.
const NOISE: f64 = 1e-13;

/// The same of what is only integrated, below which it is not judged: rows that nearly depend on one another magnify the rounding of their
/// forces, and not that of the motion.
const REACTIONS: f64 = 1e-11;

/// Iterations after which a step is given up.
const MOST_ITERATIONS: u32 = 60;

/// Rounds after which it is judged whether the iteration will arrive.
const SLOW_FROM: u32 = 6;

/// Lengths at which the fixed-point iteration may fail before Newton's method is tried.
const PATIENCE: u32 = 3;

/// Unknowns of Newton's method from which on its matrices are large.
const LARGE: usize = 200;

/// Halvings and fresh attempts of one step.
const MOST_TRIALS: u32 = 80;

impl Gauss {
    /// The method with s stages, 3 ≤ s ≤ 31.
    #[must_use]
    pub fn new(stages: usize) -> Self {
        let s = stages.clamp(3, MOST_TERMS - 1);
        let Tableau { nodes, matrix, analysis } = Tableau::of(s);
        Self {
            stages: s,
            nodes,
            matrix,
            analysis,
            rates: vec![],
            shifts: vec![],
            state: vec![],
            first: vec![],
            patience: u32::MAX,
        }
    }

    /// The same with steps that are given up, as [`Halt::Rough`], after a number of iterations over all lengths tried.
    #[must_use]
    pub fn with_patience(mut self, iterations: u32) -> Self {
        self.patience = iterations;
        self
    }

    /// The number of stages.
    #[must_use]
    pub fn stages(&self) -> usize {
        self.stages
    }

    /// The places x_i of the stages in [−1, 1].
    #[must_use]
    pub fn nodes(&self) -> &[f64] {
        self.nodes
    }

    /// Legendre coefficients of the polynomial through given values at the nodes.
    pub fn analyse(&self, values: &[f64], coefficients: &mut [f64]) {
        for (k, a) in coefficients.iter_mut().enumerate().take(self.stages) {
            let row = &self.analysis[k * self.stages..(k + 1) * self.stages];
            *a = row.iter().zip(values).map(|(w, f)| w * f).sum();
        }
    }

    /// One step from a state, as long as the accuracy allows, and the length to try next. `before`, the step that led
    /// here, gives the first guess.
    ///
    /// # Errors
    ///
    /// A [`Halt`] when no step of any length can be made.
    pub fn step<F: Field>(
        &mut self,
        field: &mut F,
        from: f64,
        start: &[f64],
        demand: &Demand,
        before: Option<&Leg>,
    ) -> Result<(Leg, f64), Halt<F::Obstacle>> {
        let (s, n) = (self.stages, start.len());
        self.rates.resize(s * n, 0.0);
        self.shifts.resize(s * n, 0.0);
        self.state.resize(n, 0.0);
        self.first.resize(n, 0.0);
        field.rate(from, start, &mut self.first).map_err(Halt::Obstacle)?;
        let sign = if demand.length < 0.0 { -1.0 } else { 1.0 };
        let mut length = sign * demand.length.abs().min(demand.longest.abs());
        let mut iterations = 0;
        let mut obstacle = None;
        let mut refusals = 0;
        for _ in 0..MOST_TRIALS {
            if from + length == from || iterations > self.patience {
                break;
            }
            // With little patience, shorter steps are less work than Newton's large matrices.
            let large = self.patience < u32::MAX && field.directions().len() * s > LARGE;
            let trial = if !large && (demand.implicit || (refusals >= PATIENCE && field.stiff())) {
                match self.settle_by_newton(field, from, start, length, demand.scales, &mut iterations) {
                    Trial::Unsettled => {
                        self.settle(field, from, start, length, demand.scales, None, &mut iterations)
                    }
                    trial => trial,
                }
            } else {
                self.settle(field, from, start, length, demand.scales, before, &mut iterations)
            };
            match trial {
                Trial::Settled => {}
                Trial::Unsettled => {
                    refusals += 1;
                    length *= 0.4;
                    continue;
                }
                Trial::Obstacle(o) => {
                    obstacle = Some(o);
                    length *= 0.4;
                    continue;
                }
            }
            let mut leg = Leg {
                from,
                length,
                start: start.to_vec(),
                rates: vec![0.0; s * n],
                terms: s,
                tail: 0.0,
                iterations,
            };
            self.transform(&mut leg.rates, n);
            let judged = field.judged();
            let moved = field.coupled().min(judged);
            let last = if s < FEW { s - 1..s } else { s - 2..s };
            leg.tail = tail(&leg, demand.scales, 0..moved, last.clone());
            let reactions = tail(&leg, demand.scales, moved..judged, last);
            let judged = if reactions > REACTIONS { judged } else { moved };
            if judged > moved {
                leg.tail = leg.tail.max(reactions);
            }
            if s >= FEW {
                // Coefficients that stay level from the middle on are the rounding of f, which no shorter step removes; half the
                // stages would have done.
                // Where rounding is magnified a few that stay level say it, and the step is as long as it can be.
                let level = if field.magnified() > 1.0 { s - 5 } else { s / 2 };
                let middle = tail(&leg, demand.scales, 0..judged, level..s - 2);
                if leg.tail < NOISE * field.magnified() && leg.tail >= 0.2 * middle {
                    leg.tail = leg.tail.min(demand.accuracy);
                    return Ok((leg, 2.0 * length));
                }
            }
            // u's last coefficient is of order h^s.
            let factor = libm::pow(demand.accuracy / leg.tail.max(1e-30), 1.0 / count(s));
            if leg.tail <= 4.0 * demand.accuracy {
                return Ok((leg, length * (0.95 * factor).clamp(0.3, 4.0)));
            }
            length *= (0.9 * factor).clamp(0.1, 0.9);
        }
        Err(obstacle.map_or(Halt::Rough, Halt::Obstacle))
    }

    /// Finds the stage rates for one length.
    #[expect(clippy::too_many_arguments, reason = "one trial of one step: all of it varies")]
    pub(crate) fn settle<F: Field>(
        &mut self,
        field: &mut F,
        from: f64,
        start: &[f64],
        length: f64,
        scales: &[f64],
        before: Option<&Leg>,
        iterations: &mut u32,
    ) -> Trial<F::Obstacle> {
        let (s, n) = (self.stages, start.len());
        match before.filter(|leg| leg.start.len() == n) {
            Some(leg) => {
                for i in 0..s {
                    let t = from + 0.5 * length * (self.nodes[i] + 1.0);
                    leg.rate(t, 0..n, &mut self.rates[i * n..(i + 1) * n]);
                }
            }
            None => {
                for row in self.rates.chunks_mut(n) {
                    row.copy_from_slice(&self.first);
                }
            }
        }
        self.shifts.fill(0.0);
        // What is only integrated follows: what changes there once the others have arrived is the rounding of rates.
        let (judged, magnified) = (field.coupled().min(field.judged()), field.magnified());
        let (mut last, mut before_last) = (f64::INFINITY, f64::INFINITY);
        for round in 0..MOST_ITERATIONS {
            *iterations += 1;
            let (mut change, mut size): (f64, f64) = (0.0, 0.0);
            for i in 0..s {
                self.state.fill(0.0);
                for j in 0..s {
                    let weight = self.matrix[i * s + j];
                    for (sum, rate) in self.state.iter_mut().zip(&self.rates[j * n..(j + 1) * n]) {
                        *sum += weight * rate;
                    }
                }
                for (d, shift) in self.shifts[i * n..(i + 1) * n].iter_mut().enumerate() {
                    let next = self.state[d] * length;
                    if d < judged {
                        let moved = (next - *shift).abs() / scales[d];
                        // Not a number must not pass for no change.
                        change = if moved <= change { change } else { moved };
                        size = size.max(next.abs() / scales[d]);
                    }
                    *shift = next;
                }
            }
            if !change.is_finite() {
                return Trial::Unsettled;
            }
            // Arrived, or as near as rounding lets it. No guess at the next change from the last two: the first ones fall
            // faster than those that follow.
            // The first change is from nothing and says nothing of the second.
            let shrinking = if round > 1 && last > 0.0 { change / last } else { 1.0 };
            if change <= ARRIVED
                || (shrinking > 0.5 && change <= 4.0 * f64::EPSILON * size)
                || (shrinking > 0.9 && change <= magnified * (256.0 * f64::EPSILON * size).max(LEAST))
            {
                return Trial::Settled;
            }
            // At the pace of the last two rounds it would not arrive: a shorter step is less work.
            if round > SLOW_FROM && before_last > 0.0 {
                let rounds = 0.5 * f64::from(MOST_ITERATIONS - round);
                let arrived = magnified * (256.0 * f64::EPSILON * size).max(LEAST);
                if change * libm::pow(change / before_last, rounds) > arrived {
                    return Trial::Unsettled;
                }
            }
            if round > 3 && (shrinking > 0.9 || change > 1e6) {
                return Trial::Unsettled;
            }
            (before_last, last) = (last, change);
            for i in 0..s {
                for d in 0..n {
                    self.state[d] = start[d] + self.shifts[i * n + d];
                }
                let t = from + 0.5 * length * (self.nodes[i] + 1.0);
                if let Err(o) = field.rate(t, &self.state, &mut self.rates[i * n..(i + 1) * n]) {
                    return Trial::Obstacle(o);
                }
            }
        }
        Trial::Unsettled
    }

    /// Stage rates to coefficients.
    fn transform(&self, coefficients: &mut [f64], n: usize) {
        let s = self.stages;
        for k in 0..s {
            let out = &mut coefficients[k * n..(k + 1) * n];
            for j in 0..s {
                let weight = self.analysis[k * s + j];
                for (out, f) in out.iter_mut().zip(&self.rates[j * n..(j + 1) * n]) {
                    *out += weight * f;
                }
            }
        }
    }
}

/// Coefficients of u, |a_k| h/(2k+1), of some unknowns at their greatest relative to the scales and to the change over the step: what
/// moves far is not asked for more digits than it has.
fn tail(leg: &Leg, scales: &[f64], unknowns: Range<usize>, terms: Range<usize>) -> f64 {
    let n = leg.start.len();
    let mut most: f64 = 0.0;
    for k in terms {
        let share = leg.length.abs() / (2.0 * count(k) + 1.0);
        for d in unknowns.clone() {
            let scale = scales[d] + leg.length.abs() * leg.rates[d].abs();
            let relative = leg.rates[k * n + d].abs() * share / scale;
            most = if relative <= most { most } else { relative };
        }
    }
    most
}
