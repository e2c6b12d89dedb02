//! The derivative of a passage through an impact with Coulomb friction.
//!
//! The phases of the passage are those of [`coulomb::pass`]; here each is followed again in [dual numbers](Dual) whose directions are
//! the inputs W, y, e, μ. In the variable τ of a slip, dp = σ dτ, with y_t = σ s, s = (cos θ, sin θ):
//!
//! ```text
//! σ' = σ f,   f = s·(W_tn − μ W_tt s),        s' = g s^⊥,   g = s^⊥·(W_tn − μ W_tt s)
//! p' = σ,   q' = −μ σ s,   y_n' = σ (W_nn − μ W_tn·s),   work' = y_n σ
//! ```
//!
//! polynomial, so that a step is one Taylor series with dual coefficients. A phase that ends by a condition F = 0 ends at
//! τ − F/F', whose dual part is the change of its end. A slip that stops ends as σ → 0, τ → ∞: its direction settles where
//! g = 0, and from there the rest has a closed form. Its change settles with it, though later, and is followed that far: also
//! where the slip itself goes straight, in a plane of symmetry, neighbours turn.
//!
//! **No derivative**: a contact that slips from rest, whose neighbours slide in every direction first; friction that just
//! holds. A contact that sticks from the start has one: what
//! it takes to stop a small slip is linear in it.

use nalgebra::{Matrix3, SMatrix, Vector3};

use super::impulse::{ENTRIES, INPUTS, Impulse};
use super::undefined::Cause;
use crate::impact::coulomb::{self, Mode, Phase, Termination};
use crate::lagrange::{Dual, Scalar};

type Number = Dual<f64, INPUTS>;

/// The order of the series.
const ORDER: usize = 20;

/// What the last term of a series may be beside the rest.
const LAST_TERM: f64 = 1e-18;

/// The most series of one passage.
const MOST: usize = 1000;

/// A slip below this, beside the approach, has stopped.
const STOPPED: f64 = 1e-17;

/// A slip at the start below this is none.
const NO_SLIP: f64 = 1e-12;

/// What a neighbour may still slide where a slip has stopped, beside how it differed at first.
const GATHERED: f64 = 1e-16;

/// Friction that is this near to what holds the contact just holds it, or just does not.
const JUST: f64 = 1e-10;

/// How a phase ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// y_n rises to zero.
    Compressed,
    /// y_n falls to zero.
    Closing,
    /// The termination's rule is met.
    Ended,
    /// The slip stops.
    Stopped,
    /// The rates change smoothly.
    Nothing,
}

/// The impulse of one contact with friction.
pub(super) fn impulse(
    w: &Matrix3<f64>,
    y: &Vector3<f64>,
    friction: f64,
    restitution: f64,
    termination: Termination,
) -> Result<Impulse, Cause> {
    let passage = coulomb::pass(w, y, friction, restitution, termination);
    if passage.locked || passage.phases.is_empty() {
        return Err(Cause::Degenerate);
    }
    // Powers of two, so that nothing is rounded.
    let unit = |x: f64| libm::exp2(libm::round(libm::log2(x)));
    let (velocity_unit, inertance_unit) = (unit(-y[0]), unit(w[(0, 0)]));
    let impulse_unit = velocity_unit / inertance_unit;
    let mut course =
        Course::new(&(w / inertance_unit), &(y / velocity_unit), friction, restitution, termination);
    course.run(&passage.phases, impulse_unit)?;

    let found = [course.impulse, course.friction[0], course.friction[1]];
    let value = Vector3::from(found.map(|x| x.value * impulse_unit));
    let slope = SMatrix::from_fn(|i, k| {
        let per_unit = match k {
            0..6 => inertance_unit,
            6..9 => velocity_unit,
            _ => 1.0,
        };
        found[i].parts[k] * impulse_unit / per_unit
    });
    Ok(Impulse { value, slope })
}

struct Course {
    w: [[Number; 3]; 3],
    restitution: Number,
    friction_coefficient: Number,
    termination: Termination,
    approach: Number,
    /// y_n.
    normal: Number,
    /// y_t while it sticks or slides from rest; zero but for its changes.
    slip: [Number; 2],
    /// s and σ.
    direction: [Number; 2],
    speed: Number,
    impulse: Number,
    friction: [Number; 2],
    compression_impulse: Number,
    compression_work: Number,
    /// Since the greatest compression.
    work: Number,
    compressed: bool,
    series: usize,
}

fn zero() -> Number {
    Number::constant(0.0)
}

fn dot(a: [Number; 2], b: [Number; 2]) -> Number {
    a[0] * b[0] + a[1] * b[1]
}

/// The largest of its parts.
fn largest_part(x: Number) -> f64 {
    x.parts.iter().fold(0.0, |most, part| part.abs().max(most))
}

fn slides(mode: Mode) -> bool {
    matches!(mode, Mode::Slip | Mode::Jam)
}

impl Course {
    fn new(
        w: &Matrix3<f64>,
        y: &Vector3<f64>,
        friction: f64,
        restitution: f64,
        termination: Termination,
    ) -> Self {
        let entry = |i: usize, j: usize| Number::variable(0.5 * (w[(i, j)] + w[(j, i)]), ENTRIES[i][j]);
        let velocity = |i: usize| Number::variable(y[i], 6 + i);
        let slip = [velocity(1), velocity(2)];
        Self {
            w: core::array::from_fn(|i| core::array::from_fn(|j| entry(i, j))),
            restitution: Number::variable(restitution, 9),
            friction_coefficient: Number::variable(friction, 10),
            termination,
            approach: -velocity(0),
            normal: velocity(0),
            slip,
            direction: [zero(); 2],
            speed: zero(),
            impulse: zero(),
            friction: [zero(); 2],
            compression_impulse: zero(),
            compression_work: zero(),
            work: zero(),
            compressed: false,
            series: 0,
        }
    }

    fn coupling(&self) -> [Number; 2] {
        [self.w[0][1], self.w[0][2]]
    }

    /// W_tt applied to a tangent.
    fn tangent(&self, x: [Number; 2]) -> [Number; 2] {
        [self.w[1][1] * x[0] + self.w[1][2] * x[1], self.w[1][2] * x[0] + self.w[2][2] * x[1]]
    }

    /// W_tt⁻¹ applied to a tangent.
    fn untangent(&self, x: [Number; 2]) -> [Number; 2] {
        let [a, b, d] = [self.w[1][1], self.w[1][2], self.w[2][2]];
        let determinant = a * d - b * b;
        [(d * x[0] - b * x[1]) / determinant, (a * x[1] - b * x[0]) / determinant]
    }

    fn run(&mut self, phases: &[Phase], unit: f64) -> Result<(), Cause> {
        let at_rest = libm::hypot(self.slip[0].value, self.slip[1].value) <= NO_SLIP;
        let mut sliding = slides(phases[0].mode) && !at_rest;
        if sliding {
            self.speed = dot(self.slip, self.slip).sqrt();
            self.direction = self.slip.map(|slip| slip / self.speed);
        } else {
            let first = phases.iter().find(|phase| !slides(phase.mode)).ok_or(Cause::Degenerate)?;
            self.stop_small_slip(first.mode)?;
        }
        for (k, phase) in phases.iter().enumerate() {
            if !sliding && slides(phase.mode) {
                // A slip that is none.
                continue;
            }
            let next = phases.get(k + 1);
            let end = match next {
                None => End::Ended,
                Some(next) if sliding && !slides(next.mode) => End::Stopped,
                Some(next) if next.restitution && !phase.restitution => End::Compressed,
                Some(next) if phase.restitution && !next.restitution => End::Closing,
                Some(_) => End::Nothing,
            };
            let turns = next.is_some_and(|next| next.restitution != phase.restitution);
            if end == End::Stopped && turns {
                return Err(Cause::Tie);
            }
            // What ends in compression ends with it: there is no restitution.
            let end = if end == End::Ended && !phase.restitution { End::Compressed } else { end };
            if sliding {
                if end != End::Nothing {
                    self.slide(end, phase.to / unit)?;
                }
            } else {
                self.follow_line(phase.mode, end)?;
            }
            if end == End::Stopped {
                sliding = false;
            }
            if end == End::Compressed && next.is_none() {
                self.restitute_first_order(phase.mode)?;
            }
        }
        Ok(())
    }

    /// A slip of no size that sticks: what it takes to stop it is linear in it.
    fn stop_small_slip(&mut self, mode: Mode) -> Result<(), Cause> {
        if mode != Mode::Stick {
            return Err(Cause::SlipFromRest);
        }
        let stop = self.untangent(self.slip);
        self.friction = stop.map(|x| -x);
        self.normal = self.normal - dot(self.coupling(), stop);
        Ok(())
    }

    /// The friction and normal rates where the contact sticks or slips from rest.
    fn release(&self, mode: Mode) -> Result<([Number; 2], Number), Cause> {
        let holding = self.untangent(self.coupling());
        let (needed, there) =
            (libm::hypot(holding[0].value, holding[1].value), self.friction_coefficient.value);
        if (needed - there).abs() <= JUST * there {
            return Err(Cause::StickLimit);
        }
        let rates = if mode == Mode::Stick {
            holding.map(|x| -x)
        } else {
            self.driven_direction().map(|x| -(x * self.friction_coefficient))
        };
        Ok((rates, self.w[0][0] + dot(self.coupling(), rates)))
    }

    /// The unit s with (μ W_tt + ρ) s = W_tn, ρ > 0.
    fn driven_direction(&self) -> [Number; 2] {
        let mu = self.friction_coefficient;
        let coupling = self.coupling();
        let [a, b, d] = [self.w[1][1], self.w[1][2], self.w[2][2]].map(|x| x * mu);
        let at = |rho: f64| {
            let (a, d) = (a.value + rho, d.value + rho);
            let determinant = a * d - b.value * b.value;
            let [x, y] = coupling.map(|x| x.value);
            [(d * x - b.value * y) / determinant, (a * y - b.value * x) / determinant]
        };
        let length = |rho: f64| {
            let [x, y] = at(rho);
            libm::hypot(x, y)
        };
        // |s| falls from above one; it is below one where ρ is |W_tn|.
        let (mut low, mut high) = (0.0, libm::hypot(coupling[0].value, coupling[1].value));
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if length(middle) > 1.0 { low = middle } else { high = middle }
        }
        let mut rho = Number::constant(0.5 * (low + high));
        let mut s = at(rho.value).map(Number::constant);
        // Newton's method in dual numbers: the first step gives the parts, the second their last digits.
        for _ in 0..2 {
            let (a, d) = (a + rho, d + rho);
            let lack = [coupling[0] - a * s[0] - b * s[1], coupling[1] - b * s[0] - d * s[1]];
            let excess = (Number::constant(1.0) - dot(s, s)) * 0.5;
            // M ds + s dρ = lack, s·ds = excess.
            let determinant = a * d - b * b;
            let solve =
                |x: [Number; 2]| [(d * x[0] - b * x[1]) / determinant, (a * x[1] - b * x[0]) / determinant];
            let (by_lack, by_rho) = (solve(lack), solve(s));
            let change = (dot(s, by_lack) - excess) / dot(s, by_rho);
            s = [0, 1].map(|i| s[i] + by_lack[i] - by_rho[i] * change);
            rho = rho + change;
        }
        s
    }

    /// Constant rates up to the end of a phase.
    fn follow_line(&mut self, mode: Mode, end: End) -> Result<(), Cause> {
        let (rates, normal_rate) = self.release(mode)?;
        let step = match end {
            End::Compressed => -self.normal / normal_rate,
            End::Ended => self.restitution_left(normal_rate),
            _ => return Err(Cause::Degenerate),
        };
        self.go(step, rates, normal_rate);
        self.meet(end);
        Ok(())
    }

    /// The impulse that is left of restitution at a constant rate of y_n.
    fn restitution_left(&self, normal_rate: Number) -> Number {
        match self.termination {
            Termination::Newton => (self.restitution * self.approach - self.normal) / normal_rate,
            Termination::Poisson => self.poisson_goal() - self.impulse,
            Termination::Stronge => {
                let goal = self.stronge_goal() - self.work;
                let root = (self.normal * self.normal + normal_rate * goal * 2.0).sqrt();
                goal * 2.0 / (self.normal + root)
            }
        }
    }

    fn poisson_goal(&self) -> Number {
        (self.restitution + 1.0) * self.compression_impulse
    }

    fn stronge_goal(&self) -> Number {
        -(self.restitution * self.restitution * self.compression_work)
    }

    fn go(&mut self, step: Number, rates: [Number; 2], normal_rate: Number) {
        self.work = self.work + step * (self.normal + normal_rate * step * 0.5);
        self.impulse = self.impulse + step;
        self.normal = self.normal + normal_rate * step;
        for i in 0..2 {
            self.friction[i] = self.friction[i] + rates[i] * step;
        }
    }

    /// Marks the end of compression, unless an earlier one was greater.
    fn meet(&mut self, end: End) {
        if end == End::Compressed && (!self.compressed || self.work.value < 0.0) {
            self.compression_work = self.compression_work + self.work;
            self.work = zero();
            self.compression_impulse = self.impulse;
            self.compressed = true;
        }
    }

    /// Where there is no restitution, what little of it would add: the end's change by e.
    fn restitute_first_order(&mut self, mode: Mode) -> Result<(), Cause> {
        let (rates, normal_rate) = if slides(mode) {
            let rates = self.direction.map(|x| -(x * self.friction_coefficient));
            (rates, self.w[0][0] + dot(self.coupling(), rates))
        } else {
            self.release(mode)?
        };
        let more = match self.termination {
            Termination::Newton => self.approach / normal_rate,
            Termination::Poisson => self.compression_impulse,
            Termination::Stronge => (-(self.compression_work * 2.0) / normal_rate).sqrt(),
        };
        self.go(self.restitution * more, rates, normal_rate);
        Ok(())
    }

    /// Slides to the end of a phase, which is near an impulse.
    fn slide(&mut self, end: End, near: f64) -> Result<(), Cause> {
        let scale = self.slip.iter().fold(1.0, |most: f64, slip| most.max(largest_part(*slip)));
        loop {
            self.series += 1;
            if self.series > MOST {
                return Err(Cause::Degenerate);
            }
            if end == End::Stopped {
                if self.settle() {
                    return Ok(());
                }
                // What neighbours slide across the slip decays like exp(−μ s^⊥·W_tt s^⊥ τ), however the slip itself does.
                let across = self.direction.map(|x| largest_part(x * self.speed));
                if self.speed.value <= STOPPED && across[0].max(across[1]) <= GATHERED * scale {
                    self.speed = zero();
                    return Ok(());
                }
            }
            let curve = Curve::new(self);
            if !(curve.span > 0.0 && curve.span.is_finite()) {
                return Err(Cause::Degenerate);
            }
            let reached = end != End::Stopped && self.impulse.value + curve.impulse.value(curve.span) >= near;
            let at = if reached {
                self.end_on(&curve, end, near - self.impulse.value)
            } else {
                Number::constant(curve.span)
            };
            self.direction = curve.direction.each_ref().map(|series| series.at(at));
            // Unit length to rounding, and so are its changes.
            let length = dot(self.direction, self.direction).sqrt();
            self.direction = self.direction.map(|x| x / length);
            self.speed = curve.speed.at(at);
            self.impulse = self.impulse + curve.impulse.at(at);
            for i in 0..2 {
                self.friction[i] = self.friction[i] + curve.friction[i].at(at);
            }
            self.normal = curve.normal.at(at);
            self.work = self.work + curve.work.at(at);
            if reached {
                self.meet(end);
                return Ok(());
            }
        }
    }

    /// Where on a series a phase ends that is known to end near an impulse.
    fn end_on(&self, curve: &Curve, end: End, near: f64) -> Number {
        let (series, goal) = match (end, self.termination) {
            (End::Ended, Termination::Newton) => (&curve.normal, self.restitution * self.approach),
            (End::Ended, Termination::Poisson) => (&curve.impulse, self.poisson_goal() - self.impulse),
            (End::Ended, Termination::Stronge) => (&curve.work, self.stronge_goal() - self.work),
            _ => (&curve.normal, zero()),
        };
        // The impulse rises with τ.
        let (mut low, mut high) = (0.0, curve.span);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if curve.impulse.value(middle) < near { low = middle } else { high = middle }
        }
        let mut at = 0.5 * (low + high);
        for _ in 0..3 {
            let next = at - (series.value(at) - goal.value) / series.slope(at);
            if next.is_finite() && (next - at).abs() <= 1e-6 * curve.span {
                at = next;
            }
        }
        let lack = series.at(Number::constant(at)) - goal;
        Number::constant(at) - lack / series.slope(at)
    }

    /// Goes to the end of a slip in closed form, if its direction has settled, with its changes.
    fn settle(&mut self) -> bool {
        let direction = self.direction;
        let (turn, turn_slope, speed_rate) = self.turning(direction);
        if turn_slope.value >= 0.0 || speed_rate.value >= 0.0 {
            return false;
        }
        let angle = -turn / turn_slope;
        let left = self.speed.value * (angle.value.abs() + largest_part(angle))
            + angle.value.abs() * largest_part(self.speed);
        let settling = -(turn_slope.value + speed_rate.value);
        if left > STOPPED * settling.min(1.0) {
            return false;
        }
        let mut settled = direction;
        for _ in 0..3 {
            let (turn, slope, _) = self.turning(settled);
            let angle = -turn / slope;
            let [c, s] = settled;
            let moved = [c - angle * s, s + angle * c];
            let length = dot(moved, moved).sqrt();
            settled = moved.map(|x| x / length);
        }
        let (_, _, speed_rate) = self.turning(settled);
        let rates = settled.map(|x| -(x * self.friction_coefficient));
        let normal_rate = self.w[0][0] + dot(self.coupling(), rates);
        self.go(-(self.speed / speed_rate), rates, normal_rate);
        self.speed = zero();
        true
    }

    /// g, dg/dθ and f along a direction.
    fn turning(&self, s: [Number; 2]) -> (Number, Number, Number) {
        let across = [-s[1], s[0]];
        let pull = self.tangent(s);
        let drive = [0, 1].map(|i| self.coupling()[i] - pull[i] * self.friction_coefficient);
        let stiffness = dot(across, self.tangent(across)) * self.friction_coefficient;
        (dot(across, drive), -dot(s, drive) - stiffness, dot(s, drive))
    }
}

/// A truncated Taylor series in τ.
#[derive(Clone, Copy)]
struct Series([Number; ORDER + 1]);

impl Series {
    fn zero() -> Self {
        Self([zero(); ORDER + 1])
    }

    fn product(&self, other: &Self, k: usize) -> Number {
        (0..=k).fold(zero(), |sum, m| sum + self.0[m] * other.0[k - m])
    }

    fn value(&self, x: f64) -> f64 {
        self.0.iter().rev().fold(0.0, |sum, term| sum * x + term.value)
    }

    fn slope(&self, x: f64) -> f64 {
        let mut order = ORDER as f64;
        let mut sum = 0.0;
        for term in self.0[1..].iter().rev() {
            sum = sum * x + order * term.value;
            order -= 1.0;
        }
        sum
    }

    fn at(&self, x: Number) -> Number {
        self.0.iter().rev().fold(zero(), |sum, term| sum * x + *term)
    }

    /// By how much a unit of τ may shrink for the last terms to be rounding beside the others, of the value and every part.
    fn rate(&self) -> f64 {
        let mut rate: f64 = 0.0;
        let part = |term: &Number, k: usize| if k == INPUTS { term.value } else { term.parts[k] }.abs();
        for k in 0..=INPUTS {
            let most = self.0[..ORDER - 1].iter().fold(0.0, |most: f64, term| most.max(part(term, k)));
            if most > 0.0 {
                for n in [ORDER - 1, ORDER] {
                    let share = part(&self.0[n], k) / (most * LAST_TERM);
                    rate = rate.max(libm::pow(share, (n as f64).recip()));
                }
            }
        }
        rate
    }
}

/// One stretch of a slip.
struct Curve {
    direction: [Series; 2],
    speed: Series,
    /// From zero, as friction and work.
    impulse: Series,
    friction: [Series; 2],
    normal: Series,
    work: Series,
    span: f64,
}

impl Curve {
    fn new(course: &Course) -> Self {
        let mu = course.friction_coefficient;
        let coupling = course.coupling();
        let (mut c, mut s, mut sigma) = (Series::zero(), Series::zero(), Series::zero());
        let (mut f, mut g) = (Series::zero(), Series::zero());
        let (mut p, mut q1, mut q2) = (Series::zero(), Series::zero(), Series::zero());
        let (mut y, mut work) = (Series::zero(), Series::zero());
        [c.0[0], s.0[0]] = course.direction;
        sigma.0[0] = course.speed;
        y.0[0] = course.normal;
        let (mut u, mut v) = (Series::zero(), Series::zero());
        let mut order = 0.0;
        for k in 0..ORDER {
            order += 1.0;
            // The drive (u, v) = W_tn − μ W_tt s.
            let pull = course.tangent([c.0[k], s.0[k]]);
            u.0[k] = -(pull[0] * mu);
            v.0[k] = -(pull[1] * mu);
            if k == 0 {
                u.0[0] = u.0[0] + coupling[0];
                v.0[0] = v.0[0] + coupling[1];
            }
            f.0[k] = c.product(&u, k) + s.product(&v, k);
            g.0[k] = c.product(&v, k) - s.product(&u, k);
            c.0[k + 1] = -(s.product(&g, k) / order);
            s.0[k + 1] = c.product(&g, k) / order;
            p.0[k + 1] = sigma.0[k] / order;
            q1.0[k + 1] = -(sigma.product(&c, k) * mu / order);
            q2.0[k + 1] = -(sigma.product(&s, k) * mu / order);
            work.0[k + 1] = y.product(&sigma, k) / order;
            sigma.0[k + 1] = sigma.product(&f, k) / order;
            y.0[k + 1] = course.w[0][0] * p.0[k + 1] + coupling[0] * q1.0[k + 1] + coupling[1] * q2.0[k + 1];
        }
        let rate = c.rate().max(s.rate()).max(sigma.rate()).max(y.rate());
        Self {
            direction: [c, s],
            speed: sigma,
            impulse: p,
            friction: [q1, q2],
            normal: y,
            work,
            span: if rate > 0.0 { 1.0 / rate } else { f64::INFINITY },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use nalgebra::{Matrix3, Vector3};
    use serde_json::Value;

    use super::impulse;
    use crate::derivative::undefined::Cause;
    use crate::impact::coulomb::{self, Mode, Termination};

    fn numbers(value: &Value) -> Vec<f64> {
        let number = |x: &Value| x.as_f64().unwrap_or_else(|| x.as_str().unwrap().parse().unwrap());
        value.as_array().unwrap().iter().map(number).collect()
    }

    fn matrix(x: &[f64]) -> Matrix3<f64> {
        Matrix3::new(x[0], x[1], x[2], x[1], x[3], x[4], x[2], x[4], x[5])
    }

    /// Slip, stick and jam under every termination against differences in 36 digits of `cases/derivatives/friction.py`.
    #[test]
    fn passages_agree_with_differences_in_36_digits() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases/derivatives/friction.json");
        let data: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let mut modes = std::collections::BTreeSet::new();
        let mut worst = 0.0_f64;
        for case in data["cases"].as_array().unwrap() {
            let x = numbers(&case["inputs"]);
            let (w, y) = (matrix(&x), Vector3::new(x[6], x[7], x[8]));
            let name = case["termination"].as_str().unwrap();
            let termination = Termination::ALL.into_iter().find(|t| t.name() == name).unwrap();
            let found = impulse(&w, &y, x[10], x[9], termination).unwrap();
            let value = numbers(&case["impulse"]);
            let size = value.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            for i in 0..3 {
                let error = (found.value[i] - value[i]).abs() / size;
                assert!(error < 1e-14, "{} {name}: {} {value:?}", case["name"], found.value);
            }
            let columns: Vec<Vec<f64>> =
                case["derivatives"].as_array().unwrap().iter().map(numbers).collect();
            let size = columns.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
            for (k, column) in columns.iter().enumerate() {
                for i in 0..3 {
                    let error = (found.slope[(i, k)] - column[i]).abs() / size;
                    worst = worst.max(error);
                    assert!(
                        error < 1e-12,
                        "{} {name} [{i}] by {k}: {} {}",
                        case["name"],
                        found.slope[(i, k)],
                        column[i]
                    );
                }
            }
            modes.extend(
                case["modes"].as_array().unwrap().iter().map(|mode| mode.as_str().unwrap().to_string()),
            );
        }
        println!("worst {worst:.1e}");
        assert_eq!(modes.into_iter().collect::<Vec<_>>(), ["jam", "slip", "stick"]);
    }

    /// Without restitution the derivative by e is that from above.
    #[test]
    fn a_plastic_impact_has_the_limit_of_its_neighbours() {
        let x = [2.0, 0.2, 0.1, 3.0, 0.3, 2.5, -1.0, 0.3, 0.2];
        let (w, y) = (matrix(&x), Vector3::new(x[6], x[7], x[8]));
        for termination in Termination::ALL {
            let at = |e: f64| impulse(&w, &y, 0.6, e, termination).unwrap();
            let (none, little) = (at(0.0), at(1e-7));
            assert!((none.slope - little.slope).amax() < 1e-5, "{termination:?}");
            let by_e = (little.value - none.value) / 1e-7;
            assert!((none.slope.column(9) - by_e).amax() < 1e-5, "{termination:?} {by_e}");
        }
    }

    /// A slip that stops in a plane and goes on the other way, against differences of the passage itself.
    #[test]
    fn a_slip_that_reverses_has_the_slopes_of_its_neighbours_in_the_plane() {
        let x = [2.0, 1.2, 0.0, 3.0, 0.0, 1.0, -1.0, -0.3, 0.0, 0.7, 0.2];
        let y = |x: &[f64]| Vector3::new(x[6], x[7], x[8]);
        for termination in Termination::ALL {
            let pass = |x: &[f64]| coulomb::pass(&matrix(x), &y(x), x[10], x[9], termination);
            let modes: Vec<Mode> = pass(&x).phases.iter().map(|phase| phase.mode).collect();
            assert!(modes.contains(&Mode::ReverseSlip), "{modes:?}");
            let found = impulse(&matrix(&x), &y(&x), x[10], x[9], termination).unwrap();
            for k in [0, 1, 3, 6, 7, 9, 10] {
                let moved = |by: f64| {
                    let mut x = x;
                    x[k] += by;
                    pass(&x).impulse
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let error = (found.slope.column(k) - slope).amax();
                assert!(error < 1e-8, "{termination:?} by {k}: {} {slope}", found.slope.column(k));
            }
        }
    }

    #[test]
    fn no_derivative_is_given_where_there_is_none() {
        let y = |slip: f64| Vector3::new(-1.0, slip, 0.0);
        let by = |w: &[f64], y: &Vector3<f64>, friction: f64| {
            impulse(&matrix(w), y, friction, 0.5, Termination::Stronge).map(|_| ())
        };
        // |W_tt⁻¹ W_tn| = 0.4.
        let w = [2.0, 1.2, 0.0, 3.0, 0.0, 2.0];
        assert_eq!(by(&w, &y(0.0), 0.3), Err(Cause::SlipFromRest));
        assert_eq!(by(&w, &y(-0.1), 0.4), Err(Cause::StickLimit));
        assert_eq!(by(&w, &y(0.0), 0.5), Ok(()));
        assert_eq!(by(&w, &y(0.1), 0.5), Ok(()));
        // Against the drive, along an axis that neighbours turn away from: what they slide across it decays all the same.
        let w = [2.0, 1.2, 0.0, 3.0, 0.0, 1.0];
        assert_eq!(by(&w, &y(-0.1), 0.1), Ok(()));
    }
}
