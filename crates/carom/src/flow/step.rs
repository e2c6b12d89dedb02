//! A step of the group: from states on the contacts to a [`DenseStep`].

use nalgebra::Vector3;

use super::dense_step::{Anchor, Bounds, DenseStep, Ending};
use super::friction::STILL;
use super::sizes::Sizes;
use super::slips::STOPPED;
use super::system::{Correction, Level, System};
use super::time_transformation::{bound, place_of};
use super::unknowns::{PER_BODY, unpack};
use super::{Flow, Mode, Obstacle, Part, Points, STAGES};
use crate::body::State;
use crate::contact::{Side, Surface};
use crate::integrate::gauss::{Demand, Field, Gauss, Halt, Leg};
use crate::integrate::series::MOST_TERMS;
use crate::shape::unit;

/// How often a leg is made again to end on a ring.
const MOST_KINKS: u32 = 6;

/// Steps sought by fixed-point iteration are at most so long beside the time in which friction turns a slip around; where they could
/// be as much longer as this, Newton's method is the less work.
const FOLLOWED: f64 = 1.5;
const STIFF: f64 = 2.0;

/// The longest step by a clock that follows a slip: in it the slip changes by a factor of some e⁸.
const LONGEST_OF_SLIP: f64 = 8.0;

/// Friction below this share of its limit lets a contact go on sticking where forces are not unique.
const RESERVE: f64 = 0.995;

/// How often a leg is made again because one of its stages is close to a singular configuration, and by how much shorter.
const MOST_NARROWINGS: u32 = 12;
const NARROWER: f64 = 0.97;

/// How much the rounding of rates is magnified near a singular configuration, at first and at most: what is across the branch, and is
/// taken away where the step ends.
const MAGNIFIED: f64 = 100.0;
const MOST_MAGNIFIED: f64 = 1e6;

/// How much longer than the last a leg is near a singular configuration, so that it sets out on the branch of the last.
const GROWTH: f64 = 1.6;

/// A leg shorter than this beside what was asked for was hard to find.
const HARD: f64 = 0.5;

/// Legs shorter than this, beside a first guess, are not made shorter for a slip that turns.
const SHORTEST: f64 = 1e-11;

/// The length of a step with all stages, over the time in which bodies pass their size.
const FULL: f64 = 0.2;

/// Numbers of stages, and how long a step of the default accuracy is with each, beside one with all: the last coefficient of s stages
/// goes as the s-th power of the length. Fewer stages serve motions that are cut short.
const ORDERS: [(usize, f64); 6] = [(3, 2e-4), (4, 4e-3), (6, 0.025), (8, 0.1), (12, 0.5), (STAGES, 1.0)];

/// The number of stages for a step of a length, beside one with all.
fn stages_for(length: f64) -> usize {
    ORDERS.iter().find(|(_, reach)| length <= *reach).map_or(STAGES, |(stages, _)| *stages)
}

/// The number of stages after a step that nothing cut short, and how much longer the next one is for that.
fn more_stages(stages: usize) -> (usize, f64) {
    match ORDERS.iter().position(|(known, _)| *known == stages) {
        Some(k) if k + 1 < ORDERS.len() => (ORDERS[k + 1].0, ORDERS[k + 1].1 / ORDERS[k].1),
        _ => (STAGES, 1.0),
    }
}

/// What came of a step.
enum Stepped {
    Whole(Box<DenseStep>),
    /// Flats, by contact and axis, that carry more than they can.
    Overloaded(Vec<(usize, usize)>),
}

/// How a step is sought.
struct Plan {
    stages: usize,
    /// Where its leg begins: at the time, or at zero of the transformed time.
    outset: f64,
    /// A length that is short beside how the bodies move.
    first: f64,
    length: f64,
    longest: f64,
    /// The length without a kink to aim at, and whether there is one.
    natural: f64,
    aimed: bool,
    /// Whether its stages are sought by Newton's method.
    implicit: bool,
    /// Whether there may be singular configurations.
    loops: bool,
}

/// A step's leg.
struct Made {
    leg: Leg,
    next_length: f64,
    /// Whether a singular configuration is near, and where one was passed.
    near: bool,
    passage: Option<f64>,
}

/// Whether a step ran as the next one will: by the same clock, with the same slips and flats.
fn ran_alike(step: &DenseStep, system: &System, clock: Option<usize>) -> bool {
    step.clock == clock
        && (0..system.modes.len()).all(|i| step.slips[i].is_some() == system.slides(i))
        && (clock.is_none() || step.flats.iter().zip(&system.flats).all(|(a, b)| a.is_some() == b.is_some()))
}

impl Flow {
    /// Moves the group on from states at a time, at most until another: one step, ended early where a contact lets go or
    /// friction changes its mode.
    ///
    /// # Errors
    ///
    /// The obstacle, if there is no motion from here.
    pub fn advance(&self, states: &[State], from: f64, until: f64) -> Result<DenseStep, Obstacle> {
        self.advance_at(states, &Points::default(), from, until)
    }

    /// [`Flow::advance`] with what is known of contact points near flats: those of a [`DenseStep`] that led to these states in another
    /// group.
    ///
    /// # Errors
    ///
    /// The obstacle, if there is no motion from here.
    pub fn advance_at(
        &self,
        states: &[State],
        points: &Points,
        from: f64,
        until: f64,
    ) -> Result<DenseStep, Obstacle> {
        let mut system = System::new(self, self.modes_without_friction());
        system.time = from;
        let mut start = states.to_vec();
        system.place(&start);
        system.find_flats(&self.carried(points));
        self.slacken_moving(&mut system, &start)?;
        let given = system.project(&mut start)?;
        system.place(&start);
        // At the same points: velocities were put on the rows there, and the rounding of an orientation moves them far.
        let found = core::mem::take(&mut system.flats);
        system.find_flats(&found);
        system.modes = self.modes(&mut system, &start)?;
        self.stop_slow_slips(&mut system, &mut start)?;
        self.slacken(&mut system, &start)?;
        // Slower ones have been stopped, and what is left of them is rounding.
        let still = if self.loose > 1 { system.still.max(self.expected.rest_slip) } else { system.still };
        for (slip, touch) in system.slips.iter_mut().zip(&system.touches) {
            *slip = if touch.slip.norm() > still { touch.slip } else { Vector3::zeros() };
        }
        let unknowns = self.pack(&start);
        self.go(system, &start, &unknowns, [from, until], given, None, self.expected.time)
    }

    /// Goes on after a piece. After a change of friction it goes on in the new mode; after a lift-off the contact has to be
    /// left out first, by [`Flow::advance`] of another group.
    ///
    /// # Errors
    ///
    /// The obstacle, if there is no motion from here.
    pub fn follow(&self, piece: &DenseStep, until: f64) -> Result<DenseStep, Obstacle> {
        let mut system = System::new(self, piece.modes.clone());
        system.time = piece.until;
        system.reference.clone_from(&piece.reference);
        system.place(&piece.end);
        system.find_flats(&piece.flats);
        system.touch()?;
        let mut before = Some(piece);
        let mut start = piece.end.clone();
        // Slips that have come to rest: what rounding has left of them says nothing of where they go next.
        let mut stopped = vec![false; self.contacts.len()];
        match piece.ending {
            Ending::Stick { contact, .. } => {
                before = None;
                system.modes[contact] = Mode::Stick;
                stopped[contact] = true;
                // Others may come to rest with it.
                let over = (STOPPED * self.sizes(&system).speed).max(self.expected.rest_slip);
                for i in 0..self.contacts.len() {
                    if system.slides(i) && system.touches[i].slip.norm() <= over {
                        system.modes[i] = Mode::Stick;
                        stopped[i] = true;
                    }
                }
                for &slip in piece
                    .slips
                    .iter()
                    .zip(&stopped)
                    .filter_map(|(slip, &stops)| slip.as_ref().filter(|_| stops))
                {
                    let speed = slip.norm();
                    if speed > STOPPED * self.sizes(&system).speed {
                        system.stopped.count += 1;
                        system.stopped.speed_max = system.stopped.speed_max.max(speed);
                    }
                }
                self.stop_slips(&mut system, &mut start)?;
                system.modes = self.settle_friction(&mut system, &start)?;
            }
            Ending::Slip { contact, .. } => {
                before = None;
                let friction = piece.force(contact, piece.until).friction;
                if let Surface::Coulomb(coefficient) = self.contacts[contact].surface
                    && !self.shares(&mut system, piece, contact)?
                {
                    system.modes[contact] = Mode::Slip { coefficient, along: -unit(&friction) };
                }
            }
            Ending::Until | Ending::Step | Ending::LiftOff { .. } => {}
        }
        let given = system.project(&mut start)?;
        system.touch()?;
        let noise = STILL * self.sizes(&system).speed;
        for i in 0..self.contacts.len() {
            let Mode::Slip { along, .. } = &mut system.modes[i] else { continue };
            // The slip as it was carried is good to its own last digits; what velocities tell is the judge.
            let (carried, told) = (piece.slips[i], system.touches[i].slip);
            let slip = match carried {
                Some(_) if stopped[i] => Vector3::zeros(),
                Some(carried) if (carried - told).norm() <= noise => carried,
                Some(_) => told,
                None => Vector3::zeros(),
            };
            system.slips[i] = slip;
            if slip != Vector3::zeros() {
                *along = unit(&slip);
            }
        }
        let mut unknowns = piece.carried.clone();
        self.shift(&mut unknowns, &piece.end, &start);
        // After a change of mode the motion is as fast as it was before.
        let brief = (piece.clock.is_none() && piece.leg.stages() > 1).then_some(piece.next_length);
        self.go(system, &start, &unknowns, [piece.until, until], given, before, brief)
    }

    /// One step in given modes, expected to last for some `brief` time. Flats that lie may be found to carry more than they can; then it is
    /// made again without them.
    #[expect(clippy::too_many_arguments, reason = "one step: all of it varies")]
    fn go(
        &self,
        mut system: System,
        start: &[State],
        bodies: &[f64],
        [from, until]: [f64; 2],
        given: Correction,
        mut before: Option<&DenseStep>,
        brief: Option<f64>,
    ) -> Result<DenseStep, Obstacle> {
        let (mut start, mut bodies) = (start.to_vec(), bodies.to_vec());
        loop {
            let start = &mut start;
            system.place(start);
            system.touch()?;
            let sizes = self.sizes(&system);
            system.still = STILL * sizes.speed;
            (system.carries, system.lenient) = (true, false);
            system.tempo = sizes.speed / sizes.length;
            self.follow_turning_slips(&mut system, &sizes)?;
            if !system.flat_rows.is_empty() {
                system.touch()?;
                system.balance(Level::Acceleration)?;
                let overloaded = system.overloaded_flats();
                if !overloaded.is_empty() {
                    system.release_flats(&overloaded);
                    continue;
                }
            }
            if let Some((rested, leg)) = self.rest(&mut system, start, [from, until], &bodies, &sizes)? {
                return Ok(self.resting(system, rested, leg, given));
            }
            let flats = system.flats.clone();
            system.balance(Level::Acceleration)?;
            system.lenient = true;
            let piece = self.step(&mut system, start, &bodies, [from, until], given, &sizes, before, brief);
            let overloaded = match piece {
                Ok(Stepped::Whole(step)) => return Ok(*step),
                Ok(Stepped::Overloaded(flats)) => flats,
                Err(Obstacle::Rough) if self.bring_to_rest(&mut system, start, &sizes)? => {
                    bodies = self.pack(start);
                    before = None;
                    continue;
                }
                Err(obstacle) => return Err(obstacle),
            };
            system.flats = flats;
            system.place(start);
            system.touch()?;
            system.balance(Level::Acceleration)?;
            system.release_flats(&overloaded);
        }
    }

    /// One step with the flats that there are, or those of them that carry too much at its end.
    #[expect(clippy::too_many_arguments, reason = "one step: all of it varies")]
    fn step(
        &self,
        system: &mut System,
        start: &[State],
        bodies: &[f64],
        span: [f64; 2],
        given: Correction,
        sizes: &Sizes,
        before: Option<&DenseStep>,
        brief: Option<f64>,
    ) -> Result<Stepped, Obstacle> {
        let [from, until] = span;
        let clock = system.clock.then(|| self.contact_unknown(0, 0));
        let extras = system.extras();
        let mut y = vec![0.0; self.unknowns(extras)];
        y[..bodies.len()].copy_from_slice(bodies);
        system.pack_extras(&mut y);
        system.pack_kicks(&mut y);
        let before = before.filter(|step| ran_alike(step, system, clock));
        let plan = self.plan(system, &y, span, sizes, before, brief)?;
        let mut gauss = Gauss::new(plan.stages).with_patience(self.patience);
        let Made { leg, next_length, near, passage } =
            self.make_leg(system, &mut gauss, &y, plan, sizes, before)?;
        let (last, ending, bounds) = self.end_of_leg(system, &mut gauss, &leg, span, clock, sizes)?;
        system.place(start);
        let start_rates = system.force_rates()?;
        leg.at(last, 0..y.len(), &mut y);
        let end_time = match clock {
            _ if ending == Ending::Until => until,
            Some(clock) => (from + y[clock]).min(until),
            None => last.min(until),
        };
        if !system.flat_rows.is_empty() {
            let mut rate = vec![0.0; y.len()];
            system.rate(last, &y, &mut rate)?;
            let overloaded = system.overloaded_flats();
            if !overloaded.is_empty() {
                return Ok(Stepped::Overloaded(overloaded));
            }
        }
        system.place_unknowns(last, &y);
        let mut end = start.to_vec();
        self.unpack(&y, &mut end);
        let unprojected = end.clone();
        let drift = system.project(&mut end)?;
        let slips = (0..self.contacts.len()).map(|i| system.slides(i).then_some(system.slips[i])).collect();
        y.truncate(bodies.len());
        self.shift(&mut y, &unprojected, &end);
        Ok(Stepped::Whole(Box::new(DenseStep {
            from,
            until: end_time,
            ending,
            given,
            drift,
            leg,
            clock,
            last,
            loose: self.loose,
            flats: system.flats.clone(),
            slips,
            reference: system.reference.clone(),
            modes: system.modes.clone(),
            bodies: self.bodies.clone(),
            start: start.to_vec(),
            end,
            bounds,
            contact_base: self.contact_unknown(extras, 0),
            joints: self.joint_bases(extras),
            next_length,
            onto: system.onto,
            near,
            passage: passage.filter(|&t| t <= last),
            carried: y,
            start_rates,
            stopped: system.stopped,
        })))
    }

    /// How long a step may be, and how it is sought.
    fn plan(
        &self,
        system: &mut System,
        y: &[f64],
        [from, until]: [f64; 2],
        sizes: &Sizes,
        before: Option<&DenseStep>,
        brief: Option<f64>,
    ) -> Result<Plan, Obstacle> {
        let clocked = system.clock;
        let ahead = self.kink_ahead(system);
        let turning = system.slip_tempo.iter().any(|tempo| *tempo > 0.0);
        // The rounding of an acceleration moves a body by its square of the time: steps no longer than a fall over the
        // size keep that below the rounding of the size.
        let mut longest = if clocked && until > from {
            if turning { LONGEST_OF_SLIP } else { 1.0 }
        } else {
            (until - from).max(0.0).min(2.0 * libm::sqrt(sizes.length / sizes.acceleration))
        };
        let ordinary = FULL * sizes.length / sizes.speed;
        let first = if clocked { if turning { 1.0 } else { 0.1 } } else { ordinary };
        let outset = if clocked { 0.0 } else { from };
        let pace = self.slip_time(system, y, outset)?;
        let loops = self.may_be_singular(system);
        // A step with all stages, as motions like this one took it or as bodies pass their size.
        let full = self.expected.step.map_or(ordinary, |step| step.min(ordinary));
        let brief = brief.filter(|&time| !clocked && !loops && time < full);
        let (stages, mut length) = match (before, brief) {
            _ if clocked || loops => (STAGES, before.map_or(first.min(pace), |step| step.next_length)),
            (Some(step), _) => {
                let (stages, longer) = more_stages(step.leg.stages());
                (stages, step.next_length * longer)
            }
            (None, Some(time)) => (stages_for(time / full), time.min(pace)),
            (None, None) => (STAGES, full.min(pace)),
        };
        // Where slip begins its direction hangs on differences that the fixed-point iteration cannot follow.
        let begins = |i: usize| system.slides(i) && system.slips[i] == Vector3::zeros();
        let implicit = (0..self.contacts.len()).any(begins) || length.min(longest) > STIFF * pace;
        if !implicit {
            length = length.min(FOLLOWED * pace);
        }
        system.onto = loops && before.is_none_or(|step| step.near);
        system.magnified = if system.onto { MAGNIFIED } else { 1.0 };
        if let (true, Some(step)) = (system.onto, before) {
            length = length.min(GROWTH * step.leg.length);
        }
        let natural = length;
        let aimed = ahead.is_some_and(|ahead| ahead < length);
        if let Some(ahead) = ahead.filter(|&ahead| aimed && ahead > SHORTEST * first) {
            (length, longest) = (ahead, longest.min(ahead));
        }
        Ok(Plan { stages, outset, first, length, longest, natural, aimed, implicit, loops })
    }

    /// The leg of a step: made again, shorter or otherwise, until nothing is against it.
    fn make_leg(
        &self,
        system: &mut System,
        gauss: &mut Gauss,
        y: &[f64],
        plan: Plan,
        sizes: &Sizes,
        before: Option<&DenseStep>,
    ) -> Result<Made, Obstacle> {
        let Plan { stages, outset, first, mut length, mut longest, natural, aimed, implicit, loops } = plan;
        let scales = self.scales(sizes, system);
        let guess =
            before.map(|step| if system.clock { step.leg.moved(-step.last) } else { step.leg.clone() });
        let (mut near, mut passage, mut widest): (bool, Option<f64>, f64) = (false, None, 0.0);
        let (mut tries, mut kinks, mut narrowings) = (0, 0, 0);
        let (leg, mut next_length) = loop {
            let demand = Demand { accuracy: self.accuracy, scales: &scales, length, longest, implicit };
            let made = gauss.step(system, outset, y, &demand, guess.as_ref());
            let asked = length.min(longest);
            if loops && made.as_ref().map_or(true, |(leg, _)| leg.length < HARD * asked) {
                if !system.onto {
                    (system.onto, system.magnified) = (true, MAGNIFIED);
                    continue;
                }
                // Other lengths first, whose stages are elsewhere; then more of the rounding is taken as it comes.
                if narrowings < MOST_NARROWINGS {
                    narrowings += 1;
                    widest = widest.max(asked);
                    length = NARROWER * NARROWER * asked;
                    continue;
                }
                if system.magnified < MOST_MAGNIFIED {
                    system.magnified *= MAGNIFIED;
                    narrowings = 0;
                    length = widest;
                    continue;
                }
            }
            let (leg, next_length) = made.map_err(|halt| match halt {
                Halt::Obstacle(obstacle) => obstacle,
                Halt::Rough => Obstacle::Rough,
            })?;
            if loops {
                let survey = self.survey(system, gauss, &leg);
                if survey.passage.is_some() && !system.onto {
                    (system.onto, system.magnified) = (true, MAGNIFIED);
                    continue;
                }
                if survey.close && narrowings < MOST_NARROWINGS {
                    narrowings += 1;
                    length = NARROWER * leg.length;
                    longest = length;
                    continue;
                }
                (near, passage) = (survey.near, survey.passage);
            }
            if kinks < MOST_KINKS
                && let Some(place) = self.first_kink(system, &leg)
                && place - leg.from > SHORTEST * first
            {
                kinks += 1;
                (length, longest) = (place - leg.from, place - leg.from);
                continue;
            }
            if leg.length > SHORTEST * first && self.turns_about(system, gauss, &leg, sizes) {
                length = 0.6 * leg.length;
                longest = length;
                continue;
            }
            // A first step of a length guessed far too short is made again.
            tries += 1;
            if before.is_some()
                || stages < STAGES
                || tries > 2
                || leg.length >= longest
                || next_length < 1.8 * leg.length
            {
                break (leg, next_length);
            }
            length = next_length;
        };
        // What ends on a ring says nothing of how far a step may go beyond it.
        if aimed || kinks > 0 {
            next_length = next_length.max(natural);
        }
        Ok(Made { leg, next_length, near, passage })
    }

    /// Where in its leg a step ends, how, and bounds over it.
    fn end_of_leg(
        &self,
        system: &mut System,
        gauss: &mut Gauss,
        leg: &Leg,
        [from, until]: [f64; 2],
        clock: Option<usize>,
        sizes: &Sizes,
    ) -> Result<(f64, Ending, Vec<Bounds>), Obstacle> {
        let whole = leg.from + leg.length;
        let mut ending = Ending::Step;
        let (mut last, bounds) = if let Some(clock) = clock {
            let asked = place_of(leg, clock, until - from, whole);
            let (last, bounds) = self.cut(gauss, leg, asked);
            if last == asked && asked < whole {
                ending = Ending::Until;
            }
            (last, bounds)
        } else {
            if leg.length >= until - from {
                ending = Ending::Until;
            }
            (whole, self.bounds(gauss, leg))
        };
        if let Some((place, early)) = self.first_event(system, gauss, leg, sizes)?
            && place <= last
        {
            (last, ending) = (place, early);
        }
        if let Some((contact, time_error)) = self.comes_to_rest(system, leg, last, sizes) {
            ending = Ending::Stick { contact, time_error };
        }
        Ok((last, ending, bounds))
    }

    /// Whether a contact whose friction is exhausted can go on sticking because others, of which forces are not unique, take over;
    /// then they are those that relaxation finds.
    fn shares(&self, system: &mut System, piece: &DenseStep, contact: usize) -> Result<bool, Obstacle> {
        if self.loose < 2 || piece.until <= piece.from {
            return Ok(false);
        }
        let modes = system.modes.clone();
        self.settle_by_relaxing(system)?;
        let (pushing, friction) = system.reference[contact];
        let Surface::Coulomb(coefficient) = self.contacts[contact].surface else { return Ok(false) };
        let sticks = system.modes == modes && friction.norm() < RESERVE * coefficient * pushing;
        system.modes = modes;
        Ok(sticks)
    }

    /// Where each joint's reaction is found.
    pub(super) fn joint_bases(&self, extras: usize) -> Vec<Anchor> {
        let of = |part: &Part| match *part {
            Part::Tie(tie) => Anchor::Tie(self.tie_unknown(extras, tie)),
            Part::Contact(contact) => {
                let (plane, body) = match self.contacts[contact].sides {
                    [Side::Plane(plane), Side::Body(body)] => (plane, body),
                    _ => (0, 0),
                };
                Anchor::Rolling { contact, body, plane: self.planes[plane] }
            }
        };
        self.joints.iter().map(of).collect()
    }

    /// Bounds of every body's motion over a step.
    fn bounds(&self, gauss: &Gauss, leg: &Leg) -> Vec<Bounds> {
        let stages = gauss.stages();
        let mut slot = 0;
        let mut bounds = Vec::with_capacity(self.bodies.len());
        for body in &self.bodies {
            if body.fixed {
                bounds.push(Bounds { acceleration: 0.0, turning: 0.0 });
                continue;
            }
            let base = slot * PER_BODY;
            slot += 1;
            // ω and ω' at the nodes, component by component.
            let mut spins = [[0.0; MOST_TERMS]; 3];
            let mut rates = [[0.0; MOST_TERMS]; 3];
            let (mut y, mut dy) = ([0.0; PER_BODY], [0.0; PER_BODY]);
            for (i, &x) in gauss.nodes().iter().enumerate() {
                let t = leg.time(x);
                leg.at(t, base..base + PER_BODY, &mut y);
                leg.rate(t, base..base + PER_BODY, &mut dy);
                let state = unpack(&y, &body.inertia);
                let spin = state.angular_velocity;
                let momentum = Vector3::new(y[10], y[11], y[12]);
                let torque = Vector3::new(dy[10], dy[11], dy[12]) - spin.cross(&momentum);
                let local = state.orientation.inverse_transform_vector(&torque).component_div(&body.inertia);
                let rate = state.orientation * local;
                for k in 0..3 {
                    spins[k][i] = spin[k];
                    rates[k][i] = rate[k];
                }
            }
            let most = |values: &[[f64; MOST_TERMS]; 3]| {
                let mut series = [[0.0; MOST_TERMS]; 3];
                for k in 0..3 {
                    gauss.analyse(&values[k][..stages], &mut series[k]);
                }
                bound(&series, stages)
            };
            let (spin, rate) = (most(&spins), most(&rates));
            let velocity = [3, 4, 5].map(|k| leg.series(base + k).0);
            bounds.push(Bounds { acceleration: bound(&velocity, stages), turning: rate + spin * spin });
        }
        bounds
    }
}
