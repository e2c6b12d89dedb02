//! The run of a system: steps, and what ends them.
//!
//! [`Run::step`] makes one step of [`gauss`](crate::integrate::gauss), looks for the first wall reached and the first that lets go, puts the state
//! there on its constraints, and resolves what is touched. [`Run::to`] repeats that until a time. The [`Audit`] keeps the account:
//! energy against its first value, the work of forces and what impacts took, and how far each step left its constraints.

use super::crossing::Search;
use super::dynamics::{Dynamics, halves};
use super::start::{check, check_settings, unfit};
use super::{Obstacle, Settings, System};
use crate::error::Error;
use crate::impact::Outcome;
use crate::integrate::gauss::{Demand, Field, Gauss, Halt, Leg};

/// Steps of no length in a row before the run is given up.
const MOST_STALLS: u32 = 100;

/// A system under way.
#[derive(Debug, Clone)]
pub struct Run<M, const N: usize> {
    dynamics: Dynamics<M, N>,
    gauss: Gauss,
    settings: Settings,
    time: f64,
    q: [f64; N],
    v: [f64; N],
    before: Option<Leg>,
    length: Option<f64>,
    opening: Option<Event>,
    audit: Audit,
    /// What the energy should be by the account.
    due: f64,
    first_potential: f64,
    energy_scale: f64,
    /// The largest difference from the account.
    energy_off: f64,
    stalls: u32,
}

/// Something that happens at an instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When.
    pub time: f64,
    /// A bound on the error of the time against the step's polynomial, and an estimate of the polynomial's own.
    pub time_error: f64,
    /// Whether it is proven for the step's polynomial that no wall was reached before, within the step. Not of a lift-off, whose
    /// time is a root of the multiplier's series.
    pub certified: bool,
    /// What.
    pub kind: Kind,
    /// The walls held from now on.
    pub held: Vec<usize>,
}

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Walls are struck.
    Impact {
        /// The walls touched, in the order of the outcome's contact rows.
        walls: Vec<usize>,
        /// What the law made of it.
        outcome: Box<Outcome>,
        /// The walls at which bounces have become too low to be seen.
        accumulated: Vec<Accumulation>,
    },
    /// Walls are touched without approach: they are held from now on if they push, and grazed otherwise.
    Touch {
        /// The walls.
        walls: Vec<usize>,
    },
    /// A held wall's multiplier returns to zero: it lets go.
    LiftOff {
        /// The wall.
        wall: usize,
    },
}

/// Bounces that accumulate, cut short.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accumulation {
    /// The wall.
    pub wall: usize,
    /// The time that all further bounces would have taken, 2y⁺/(a(1−k)).
    pub remaining: f64,
}

/// One step: its states at any time.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseStep<const N: usize> {
    /// When it begins.
    pub from: f64,
    /// When it ends.
    pub until: f64,
    /// How far its end was from φ = 0 and from C v = 0 before it was put back, relative to the scales.
    pub drift: [f64; 2],
    /// The walls held all along.
    pub held: Vec<usize>,
    leg: Leg,
    end: ([f64; N], [f64; N]),
}

impl<const N: usize> DenseStep<N> {
    /// Position and velocity at a time within; at its end, as put back on the constraints and before any impact.
    #[must_use]
    pub fn at(&self, t: f64) -> ([f64; N], [f64; N]) {
        if t >= self.until {
            return self.end;
        }
        let (mut q, mut v) = ([0.0; N], [0.0; N]);
        let t = t.max(self.from);
        self.leg.at(t, 0..N, &mut q);
        self.leg.at(t, N..2 * N, &mut v);
        (q, v)
    }

    /// The work of forces without potential, from the start to a time within.
    #[must_use]
    pub fn work(&self, t: f64) -> f64 {
        let mut work = [0.0];
        self.leg.at(t.clamp(self.from, self.until), 2 * N..2 * N + 1, &mut work);
        work[0]
    }

    /// How many times the stages were evaluated.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        self.leg.iterations
    }
}

/// What one call made of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<const N: usize> {
    /// The motion.
    pub piece: DenseStep<N>,
    /// What ended it, unless that was the accuracy or the time asked for.
    pub event: Option<Event>,
}

/// The reactions at an instant: multipliers of the rows, forces in the units of G v'/C.
#[derive(Debug, Clone, PartialEq)]
pub struct Reactions {
    /// Of φ.
    pub holonomic: Vec<f64>,
    /// Of A.
    pub nonholonomic: Vec<f64>,
    /// Of each held wall: its number, its normal, and its tangents where it is rough.
    pub walls: Vec<(usize, Vec<f64>)>,
}

/// The account of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Audit {
    /// The largest difference between the energy and its account (the first value, the work of forces, what impacts took),
    /// relative to the largest kinetic energy or change of potential so far.
    pub energy: f64,
    /// The furthest that a step left φ = 0 before it was put back, relative to the scales.
    pub position_drift: f64,
    /// The furthest that a step left C v = 0, likewise.
    pub velocity_drift: f64,
    /// The furthest from φ = 0 and held walls after being put back.
    pub position: f64,
    /// The furthest from C v = 0 after being put back.
    pub velocity: f64,
    /// The deepest that a wall was entered, relative to the scales, at the ends of steps.
    pub depth: f64,
    /// Steps.
    pub steps: u64,
    /// Right-hand sides evaluated for steps.
    pub evaluations: u64,
    /// Impacts.
    pub impacts: u64,
    /// Steps in which the search for walls relied on a series, as no bound was available.
    pub uncertified: u64,
}

impl<M: System<N>, const N: usize> Run<M, N> {
    /// A system at a position and with a velocity. What is touched there is resolved at once; see [`Run::opening`].
    ///
    /// # Errors
    ///
    /// When something has no meaning: numbers that are not finite, coefficients out of range, a mass matrix that is not symmetric
    /// or not positive definite, a position off its constraints or beyond a wall, a velocity that the constraints forbid.
    pub fn new(system: M, position: [f64; N], velocity: [f64; N], settings: Settings) -> Result<Self, Error> {
        check_settings(&settings)?;
        let mut dynamics = Dynamics::new(system);
        check(&mut dynamics, &position, &velocity, &settings)?;
        let (mut q, mut v) = (position, velocity);
        let time = settings.start;
        dynamics.project(&mut q, &mut v).map_err(unfit)?;
        let [kinetic, potential] = dynamics.energies(&q, &v);
        let mut run = Self {
            gauss: Gauss::new(settings.stages),
            dynamics,
            settings,
            time,
            q,
            v,
            before: None,
            length: None,
            opening: None,
            audit: Audit::default(),
            due: kinetic + potential,
            first_potential: potential,
            energy_scale: kinetic,
            energy_off: 0.0,
            stalls: 0,
        };
        run.opening = run.meet(None, true).map_err(unfit)?;
        Ok(run)
    }

    /// What was touched at the start, if anything was.
    #[must_use]
    pub fn opening(&self) -> Option<&Event> {
        self.opening.as_ref()
    }

    /// The time reached.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The position now.
    #[must_use]
    pub fn position(&self) -> &[f64; N] {
        &self.q
    }

    /// The velocity now, after whatever happens now.
    #[must_use]
    pub fn velocity(&self) -> &[f64; N] {
        &self.v
    }

    /// The walls held now.
    #[must_use]
    pub fn held(&self) -> &[usize] {
        &self.dynamics.held
    }

    /// The system.
    #[must_use]
    pub fn system(&self) -> &M {
        &self.dynamics.system
    }

    /// The account so far.
    #[must_use]
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// T + V of a state.
    #[must_use]
    pub fn energy(&self, q: &[f64; N], v: &[f64; N]) -> f64 {
        let [kinetic, potential] = self.dynamics.energies(q, v);
        kinetic + potential
    }

    /// The reactions at a time within a piece.
    ///
    /// # Errors
    ///
    /// The obstacle, where the equations of motion have no answer.
    pub fn reactions(&mut self, piece: &DenseStep<N>, t: f64) -> Result<Reactions, Obstacle> {
        let held = core::mem::replace(&mut self.dynamics.held, piece.held.clone());
        let (q, v) = piece.at(t);
        let answer = self.dynamics.accelerate(t, &q, &v);
        let dynamics = &self.dynamics;
        // Without rows nothing was solved for.
        let multiplier = |row: usize| if dynamics.rows.is_empty() { 0.0 } else { dynamics.multiplier(row) };
        let holonomic = dynamics.counts.holonomic;
        let first = holonomic + dynamics.counts.nonholonomic;
        let reactions = answer.map(|_| Reactions {
            holonomic: (0..holonomic).map(multiplier).collect(),
            nonholonomic: (holonomic..first).map(multiplier).collect(),
            walls: (0..piece.held.len())
                .map(|place| {
                    let wall = piece.held[place];
                    let row = dynamics.row_of(place);
                    let tangents = if dynamics.sticks(wall) { dynamics.walls[wall].tangents } else { 0 };
                    (wall, (row..=row + tangents).map(multiplier).collect())
                })
                .collect(),
        });
        self.dynamics.held = held;
        reactions
    }

    /// Steps until a time, showing each step to a function, which may end the run by answering false.
    ///
    /// # Errors
    ///
    /// The obstacle that the motion runs into.
    pub fn to(
        &mut self,
        until: f64,
        mut look: impl FnMut(&mut Self, &Step<N>) -> bool,
    ) -> Result<(), Obstacle> {
        while self.time < until {
            let step = self.step(until)?;
            if !look(self, &step) {
                break;
            }
        }
        Ok(())
    }

    /// One step, at most until a time.
    ///
    /// # Errors
    ///
    /// The obstacle, if there is no motion from here.
    pub fn step(&mut self, until: f64) -> Result<Step<N>, Obstacle> {
        if !(until > self.time && until.is_finite()) {
            return Err(Obstacle::NotFinite);
        }
        let from = self.time;
        let a = self.dynamics.accelerate(from, &self.q, &self.v)?;
        let tempo = self.dynamics.tempo(&self.v, &a);
        let leg = self.leg(from, until, tempo)?;
        let whole = if leg.length >= until - from { until } else { from + leg.length };
        let (end, ending) = self.ending(&leg, whole, tempo)?;
        let mut y = vec![0.0; 2 * N + 1];
        leg.at(end, 0..2 * N + 1, &mut y);
        (self.q, self.v) = halves(&y);
        self.time = end;
        // How far off, and back.
        self.dynamics.find_rows(&self.q, &self.v);
        let drift = self.dynamics.residuals(&self.v, tempo);
        self.dynamics.project(&mut self.q, &mut self.v)?;
        self.dynamics.find_rows(&self.q, &self.v);
        let left = self.dynamics.residuals(&self.v, tempo);
        self.due += y[2 * N];
        self.account(&leg, drift, left);
        let piece = DenseStep {
            from,
            until: end,
            drift,
            held: self.dynamics.held.clone(),
            leg,
            end: (self.q, self.v),
        };
        let event = match ending {
            Ending::None => None,
            Ending::Wall { wall, time_error, certified } => self.meet(Some((wall, time_error)), certified)?,
            Ending::LiftOff { place, time_error } => {
                let wall = self.dynamics.held.remove(place);
                let held = self.dynamics.held.clone();
                Some(Event { time: end, time_error, certified: false, kind: Kind::LiftOff { wall }, held })
            }
        };
        self.stalls = if end > from { 0 } else { self.stalls + 1 };
        if self.stalls > MOST_STALLS {
            return Err(Obstacle::Undecided);
        }
        self.before = event.is_none().then(|| piece.leg.clone());
        Ok(Step { piece, event })
    }

    /// One leg from here.
    fn leg(&mut self, from: f64, until: f64, tempo: f64) -> Result<Leg, Obstacle> {
        let mut y = vec![0.0; self.dynamics.size()];
        y[..N].copy_from_slice(&self.q);
        y[N..2 * N].copy_from_slice(&self.v);
        let mut scales = vec![0.0; y.len()];
        for i in 0..N {
            let speed = self.dynamics.scales[i] * tempo;
            scales[i] = self.dynamics.scales[i];
            scales[N + i] = speed;
            scales[2 * N] += self.dynamics.mass[i][i] * speed * speed;
        }
        // The rounding of an acceleration grows with the square of the time: not longer than some turns of the motion.
        let longest = (until - from).min(4.0 / tempo);
        let mut length = self.length.unwrap_or(0.2 / tempo);
        let mut tries = 0;
        loop {
            let demand = Demand {
                accuracy: self.settings.accuracy,
                scales: &scales,
                length,
                longest,
                implicit: false,
            };
            let before = self.before.as_ref();
            let (leg, next) = self.gauss.step(&mut self.dynamics, from, &y, &demand, before).map_err(
                |halt| match halt {
                    Halt::Obstacle(obstacle) => obstacle,
                    Halt::Rough => Obstacle::Rough,
                },
            )?;
            self.audit.evaluations +=
                u64::from(leg.iterations) * u64::try_from(self.gauss.stages()).unwrap_or(0);
            tries += 1;
            // A first step of a length guessed far too short is made again.
            if self.length.is_some() || tries > 2 || leg.length >= longest || next < 1.8 * leg.length {
                // A step cut short by the time asked for says little of the next.
                self.length = Some(if leg.length < length { next.max(length) } else { next });
                if leg.length < longest {
                    self.length = Some(next);
                }
                return Ok(leg);
            }
            length = next;
        }
    }

    /// Where a leg ends, and how.
    fn ending(&mut self, leg: &Leg, whole: f64, tempo: f64) -> Result<(f64, Ending), Obstacle> {
        if self.dynamics.walls.is_empty() {
            return Ok((whole, Ending::None));
        }
        let mut search = Search {
            dynamics: &mut self.dynamics,
            gauss: &self.gauss,
            leg,
            tempo,
            accuracy: self.settings.accuracy,
            certain: true,
        };
        let (mut end, mut ending) = (whole, Ending::None);
        for place in 0..search.dynamics.held.len() {
            if let Some((time, time_error)) = search.lift_off(place, end)?
                && time <= end
            {
                (end, ending) = (time, Ending::LiftOff { place, time_error });
            }
        }
        if let Some(found) = search.first(end) {
            let (wall, time_error, certified) = (found.wall, found.time_error, found.certified);
            (end, ending) = (found.time, Ending::Wall { wall, time_error, certified });
        }
        self.audit.uncertified += u64::from(!search.certain);
        Ok((end, ending))
    }

    /// Resolves what is touched now.
    fn meet(&mut self, reached: Option<(usize, f64)>, certified: bool) -> Result<Option<Event>, Obstacle> {
        if self.dynamics.walls.is_empty() {
            return Ok(None);
        }
        let options = &self.settings.impact;
        let Some(it) = self.dynamics.collide(self.time, &mut self.q, &mut self.v, reached, options)? else {
            return Ok(None);
        };
        self.due += it.energy_change;
        // A step much longer than the bounce would know it to the step's rounding, not to its own.
        self.length = self.length.map(|length| length.min(1.3 * it.flight));
        if matches!(it.kind, Kind::Impact { .. }) {
            self.audit.impacts += 1;
        }
        let time_error = reached.map_or(0.0, |(_, error)| error);
        let held = self.dynamics.held.clone();
        Ok(Some(Event { time: self.time, time_error, certified, kind: it.kind, held }))
    }

    fn account(&mut self, leg: &Leg, drift: [f64; 2], left: [f64; 2]) {
        let [kinetic, potential] = self.dynamics.energies(&self.q, &self.v);
        let (q, v) = halves(leg.start());
        let [first, _] = self.dynamics.energies(&q, &v);
        let scale = kinetic.max(first).max((potential - self.first_potential).abs());
        self.energy_scale = self.energy_scale.max(scale);
        let audit = &mut self.audit;
        audit.steps += 1;
        if self.energy_scale > 0.0 {
            self.energy_off = self.energy_off.max((kinetic + potential - self.due).abs());
            audit.energy = self.energy_off / self.energy_scale;
        }
        audit.position_drift = audit.position_drift.max(drift[0]);
        audit.velocity_drift = audit.velocity_drift.max(drift[1]);
        audit.position = audit.position.max(left[0]);
        audit.velocity = audit.velocity.max(left[1]);
        for wall in 0..self.dynamics.walls.len() {
            let (gap, gradient) = self.dynamics.gap(wall, &self.q);
            let reach = self.dynamics.reach(&gradient);
            if reach > 0.0 {
                self.audit.depth = self.audit.depth.max(-gap / reach);
            }
        }
    }
}

/// How a leg ends.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ending {
    None,
    Wall { wall: usize, time_error: f64, certified: bool },
    LiftOff { place: usize, time_error: f64 },
}
