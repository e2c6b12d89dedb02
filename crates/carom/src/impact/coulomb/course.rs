//! The course of one impact: its state, and the phases whose rates are constant.

use super::curve::{Curve, Series};
use super::{Contact, Mode, NEGLIGIBLE, Phase, Termination, unit};

/// The most Taylor series one slip may take; a few tens are usual.
const MAX_SERIES: usize = 1000;

/// A sliding speed below this fraction of the approach's has stopped: it adds nothing above rounding.
const STOPPED: f64 = 1e-18;

/// A turn that moves the velocities by less than this fraction of the approach's is over.
const TURNED: f64 = 1e-17;

/// Within this angle of where a turn settles, Newton's method on the angle goes there at once.
const SETTLED: f64 = 1e-8;

/// A contact on its way through an impact.
#[derive(Debug, Clone)]
pub(super) struct Course {
    contact: Contact,
    termination: Termination,
    restitution: f64,
    /// −y_n⁻ > 0.
    approach: f64,
    /// The approach velocity, or what corresponds to it along the tangents where they are heavier.
    slow_speed: f64,
    /// p.
    pub(super) impulse: f64,
    /// The friction impulse.
    pub(super) friction: [f64; 2],
    /// y_n.
    pub(super) normal: f64,
    /// y_t.
    pub(super) slip: [f64; 2],
    /// p_c.
    pub(super) compression_impulse: f64,
    /// ∫ y_n dp up to the greatest compression, and since.
    pub(super) work: [f64; 2],
    pub(super) phases: Vec<Phase>,
    pub(super) locked: bool,
    /// Whether y_n ≥ 0.
    restituting: bool,
    ended: bool,
}

/// What ends a stretch of the normal impulse.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Event {
    /// Nothing: its rates end there.
    None,
    /// y_n rises to zero.
    Compressed,
    /// y_n falls to zero.
    Closing,
    /// The termination's rule is met.
    Ended,
}

impl Course {
    pub(super) fn new(
        contact: Contact,
        normal: f64,
        slip: [f64; 2],
        restitution: f64,
        termination: Termination,
    ) -> Self {
        Self {
            contact,
            termination,
            restitution,
            approach: -normal,
            slow_speed: -normal * contact.lightness().min(1.0),
            impulse: 0.0,
            friction: [0.0; 2],
            normal,
            slip,
            compression_impulse: 0.0,
            work: [0.0; 2],
            phases: Vec::with_capacity(4),
            locked: false,
            restituting: false,
            ended: false,
        }
    }

    /// Slide until it stops or the contact ends, then stick or slip from rest.
    pub(super) fn run(&mut self) {
        self.slide();
        if !self.ended {
            self.slip = [0.0; 2];
            let release = self.contact.release();
            self.follow_line(release.mode, release.friction_rate, release.normal_rate, f64::INFINITY);
        }
    }

    fn slide(&mut self) {
        for _ in 0..MAX_SERIES {
            let speed = self.slip[0].hypot(self.slip[1]);
            if self.ended || speed <= STOPPED * self.slow_speed {
                return;
            }
            let direction = unit(self.slip);
            if self.contact.friction == 0.0 {
                return self.slide_straight(direction, speed);
            }
            if let Some(direction) = self.settled_direction(direction, speed) {
                return self.slide_straight(direction, speed);
            }
            self.follow_curve(&Curve::new(&self.contact, direction, speed, self.normal));
        }
        // Past the bound on the series the direction is taken as settled, so that the passage always ends.
        if !self.ended {
            self.slide_straight(unit(self.slip), self.slip[0].hypot(self.slip[1]));
        }
    }

    /// The direction of the rest of the slip, if it is constant up to rounding.
    fn settled_direction(&self, direction: [f64; 2], speed: f64) -> Option<[f64; 2]> {
        let rates = self.contact.slip_rates(direction);
        let constant = !self.contact.turns(rates);
        if rates.turn_slope >= 0.0 {
            return constant.then_some(direction);
        }
        // Near a direction in which it settles, θ approaches like exp(turn_slope τ) and σ goes like
        // exp(speed τ), dp = σ dτ: on the way the velocities still change by scale ∫ angle dp.
        let angle = -rates.turn / rates.turn_slope;
        let scale = self.contact.slip_scale();
        let settling = -(rates.turn_slope + rates.speed);
        let keeps_its_sign = rates.speed.abs() >= 10.0 * scale * angle.abs() || angle.abs() <= f64::EPSILON;
        let settled = keeps_its_sign
            && settling > 0.0
            && scale * speed * angle.abs() <= TURNED * self.slow_speed * settling;
        // Even a turn below rounding is taken to its end: beside a heavy tangent a light one feels it.
        match (constant || settled, angle.abs() <= SETTLED) {
            (true, true) => Some(self.contact.settle(direction)),
            (true, false) if constant => Some(direction),
            _ => None,
        }
    }

    fn slide_straight(&mut self, direction: [f64; 2], speed: f64) {
        let rates = self.contact.slip_rates(direction);
        let mode = if rates.normal < 0.0 { Mode::Jam } else { Mode::Slip };
        // Without friction the rates are constant even where the slip turns, and it passes rest by.
        let passes_by = self.contact.friction == 0.0 && self.contact.turns(rates);
        // W ≥ 0 makes f ≤ (W_ns/W_nn) y_n' < y_n'/μ in a jam, which therefore ends whatever the rounding of f.
        let slowing = if rates.normal < 0.0 {
            (-rates.speed).max(-rates.normal / self.contact.friction)
        } else {
            -rates.speed
        };
        let idle = rates.normal.abs() <= NEGLIGIBLE * self.contact.normal
            && slowing <= NEGLIGIBLE * self.contact.slip_scale();
        let length = if slowing > 0.0 && !passes_by && !idle { speed / slowing } else { f64::INFINITY };
        self.follow_line(mode, direction.map(|x| -self.contact.friction * x), rates.normal, length);
    }

    /// Follows constant rates for a length of the normal impulse, or until the contact ends.
    fn follow_line(&mut self, mode: Mode, friction_rate: [f64; 2], normal_rate: f64, length: f64) {
        let held = length.is_infinite() && normal_rate <= NEGLIGIBLE * self.contact.normal;
        let normal_rate = if held { 0.0 } else { normal_rate };
        if held && self.normal.abs() <= NEGLIGIBLE * (self.approach + self.contact.normal * self.impulse) {
            return self.lock();
        }
        let slip_rate = self.contact.slip_rate(friction_rate);
        let mut left = length;
        // Compression, restitution and a second compression at most: constant rates have no more.
        for _ in 0..4 {
            let (step, event) = self.next_on_line(normal_rate, left);
            if step.is_infinite() {
                return self.lock();
            }
            let from = self.impulse;
            let work = step * (self.normal + 0.5 * normal_rate * step);
            self.impulse += step;
            self.normal += normal_rate * step;
            for i in 0..2 {
                self.friction[i] += friction_rate[i] * step;
                self.slip[i] += slip_rate[i] * step;
            }
            self.record(mode, from);
            self.add_work(work);
            self.meet(event);
            left -= step;
            if self.ended || event == Event::None {
                return;
            }
        }
    }

    /// The next event at a constant normal rate, and the impulse until it.
    fn next_on_line(&self, normal_rate: f64, left: f64) -> (f64, Event) {
        let zero = -self.normal / normal_rate;
        let mut next = (left, Event::None);
        if self.restituting {
            if normal_rate < 0.0 && zero <= next.0 {
                next = (zero, Event::Closing);
            }
            let end = match self.termination {
                Termination::Newton if normal_rate > 0.0 => (self.newton_goal() - self.normal) / normal_rate,
                Termination::Newton => f64::INFINITY,
                Termination::Poisson => self.poisson_goal() - self.impulse,
                Termination::Stronge => {
                    // y_n x + ½ y_n' x² = goal, the root that does not cancel.
                    let goal = self.stronge_goal();
                    let root = (self.normal * self.normal + 2.0 * normal_rate * goal).sqrt();
                    2.0 * goal / (self.normal + root)
                }
            };
            // A NaN (Stronge's rule out of reach, or nothing moves) is no event.
            if end <= next.0 {
                next = (end.max(0.0), Event::Ended);
            }
        } else if normal_rate > 0.0 && zero <= next.0 {
            next = (zero, Event::Compressed);
        }
        next
    }

    /// Follows one Taylor series to its end or to the first event on it.
    fn follow_curve(&mut self, curve: &Curve) {
        let mut from = 0.0;
        let (cuts, count) = curve.normal_turns(&self.contact);
        for &to in cuts[..count].iter().chain([&curve.span]) {
            let rising = curve.normal.at(to) >= curve.normal.at(from);
            let (x, event) = self.next_on_curve(curve, rising, from, to);
            let start = self.impulse;
            let distance = |series: &Series| series.at(x) - series.at(from);
            self.impulse += distance(&curve.impulse);
            self.friction[0] += distance(&curve.friction[0]);
            self.friction[1] += distance(&curve.friction[1]);
            self.normal = curve.normal.at(x);
            self.slip = curve.slip_at(x);
            self.record(if rising { Mode::Slip } else { Mode::Jam }, start);
            self.add_work(distance(&curve.work));
            self.meet(event);
            if event != Event::None {
                // The next series starts at the event, where y_n and the work are small and must stay exact.
                return;
            }
            from = to;
        }
    }

    /// The next event on a stretch of a series over which y_n is monotone.
    fn next_on_curve(&self, curve: &Curve, rising: bool, from: f64, to: f64) -> (f64, Event) {
        let crosses = (curve.normal.at(to) >= 0.0) == rising;
        if !self.restituting {
            return if rising && crosses {
                (curve.normal.root(0.0, from, to), Event::Compressed)
            } else {
                (to, Event::None)
            };
        }
        let next = if !rising && crosses {
            (curve.normal.root(0.0, from, to), Event::Closing)
        } else {
            (to, Event::None)
        };
        let (series, goal) = match self.termination {
            Termination::Newton => (&curve.normal, self.newton_goal()),
            Termination::Poisson => {
                (&curve.impulse, self.poisson_goal() - self.impulse + curve.impulse.at(from))
            }
            Termination::Stronge => (&curve.work, self.stronge_goal() + curve.work.at(from)),
        };
        if series.at(next.0) >= goal { (series.root(goal, from, next.0), Event::Ended) } else { next }
    }

    /// y_n at the end.
    fn newton_goal(&self) -> f64 {
        self.restitution * self.approach
    }

    /// p at the end; now, if a second compression went past it.
    fn poisson_goal(&self) -> f64 {
        ((1.0 + self.restitution) * self.compression_impulse).max(self.impulse)
    }

    /// The work still to be recovered.
    fn stronge_goal(&self) -> f64 {
        (-self.restitution * self.restitution * self.work[0] - self.work[1]).max(0.0)
    }

    /// Takes this as the greatest compression, unless an earlier one was greater.
    fn mark_compression(&mut self) {
        if self.compression_impulse == 0.0 || self.work[1] < 0.0 {
            self.compression_impulse = self.impulse;
            self.work = [self.work[0] + self.work[1], 0.0];
        }
    }

    fn add_work(&mut self, work: f64) {
        // In a second compression the work done since the first is given back before it counts as deeper.
        let second = self.compression_impulse > 0.0;
        self.work[usize::from(second)] += work;
    }

    fn meet(&mut self, event: Event) {
        match event {
            Event::None => {}
            Event::Compressed => {
                self.normal = 0.0;
                self.restituting = true;
                self.mark_compression();
                self.ended = self.restitution == 0.0;
            }
            Event::Closing => {
                self.normal = 0.0;
                self.restituting = false;
            }
            Event::Ended => {
                if self.termination == Termination::Newton {
                    self.normal = self.newton_goal();
                }
                self.ended = true;
            }
        }
    }

    /// Ends the contact where friction holds it.
    fn lock(&mut self) {
        if self.normal.abs() <= NEGLIGIBLE * (self.approach + self.contact.normal * self.impulse) {
            self.normal = 0.0;
        }
        if !self.restituting {
            self.mark_compression();
        }
        self.locked = true;
        self.ended = true;
    }

    /// Adds the stretch from an impulse to the current one; call before the event at its end is met.
    fn record(&mut self, mode: Mode, from: f64) {
        let (to, restitution) = (self.impulse, self.restituting);
        match self.phases.last_mut() {
            Some(last) if last.mode == mode && last.restitution == restitution => last.to = to,
            _ if to > from => self.phases.push(Phase { mode, from, to, restitution }),
            _ => {}
        }
    }
}
