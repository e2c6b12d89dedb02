//! One encounter: from the start of the beam through every impact until the bodies part for good.
//!
//! How the first contact of two flights is found is for the caller to say: by the general search, or by a faster one that may give up. The same
//! goes for the impacts that are not smooth.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

use nalgebra::{Unit, Vector3};

use super::beam::APART;
use super::sample::{End, Sample};
use super::setup::{Setup, inverse_mass};
use crate::audit::event::{Event, Member, Struck, examine_two};
use crate::body::State;
use crate::contact::{Side, Surface};
use crate::motion::Flight;
use crate::toi::{Contact, Meeting, Touch, Window};

/// An impact of an encounter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Impact {
    /// Since the start.
    pub time: f64,
    /// Where.
    pub point: Vector3<f64>,
    /// From the first body to the second.
    pub normal: Vector3<f64>,
    /// The gap left there, rounding.
    pub gap: f64,
    /// The impulse on the second body.
    pub impulse: Vector3<f64>,
    /// The states just before and just after.
    pub before: [State; 2],
    /// Just after.
    pub after: [State; 2],
}

/// Impacts of one encounter before the general engine takes it over: where energy is lost they may be the first of infinitely many; where
/// none is, they are not, but a bound must be.
const MOST_IMPACTS: u32 = 40;
const MOST_ELASTIC_IMPACTS: u32 = 1000;

/// Where energy is lost, an impact slower than this share of the bodies' speeds is left to the general engine, which knows when one is to
/// be plastic.
const SLOW: f64 = 1e-4;

/// Of every so many samples the chord is looked for, where the bodies spin and it costs a search of its own.
const CHORD_EVERY: u64 = 16;

/// An encounter under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encounter {
    /// What came of it until now.
    pub sample: Sample,
    /// g.
    pub speed: f64,
    /// Since the start.
    pub time: f64,
}

/// What a step of an encounter came to.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one at a time, and it is taken apart at once")]
pub enum Step {
    /// An impact; there may be another.
    Impact(Impact),
    /// The bodies have parted, or missed each other.
    Over,
    /// This is not to be followed here.
    Left,
}

/// What comes next.
#[expect(clippy::large_enum_variant, reason = "one at a time, and it is taken apart at once")]
enum Next {
    Impact(Contact, [State; 2]),
    /// They do not meet again.
    Apart,
    /// It is not for this loop to say.
    Unclear,
}

impl Setup {
    /// A sample at its start.
    #[must_use]
    pub fn begin(&self, number: u64) -> Encounter {
        let beam = self.beam(number);
        let sample = Sample {
            number,
            end: End::Missed,
            impacts: 0,
            offset: beam.offset,
            before: beam.states,
            after: beam.states,
            contact_time: None,
            ahead: 0.0,
            chord: None,
            virial: 0.0,
            work: 0.0,
            audit_error: 0.0,
            continued: false,
        };
        Encounter { sample, speed: beam.speed, time: 0.0 }
    }

    /// On to the next impact. The first contact of two flights in a window is found by `search`, unless it gives up; what an impact does that is
    /// not smooth, from its normal and point, is found by `strike`.
    pub fn step(
        &self,
        encounter: &mut Encounter,
        search: &impl Fn(&[Flight; 2], Window) -> Option<Meeting>,
        strike: &impl Fn(&Unit<Vector3<f64>>, &Vector3<f64>, &[State; 2]) -> Option<([State; 2], Vector3<f64>)>,
    ) -> Step {
        let Encounter { sample, speed, time } = encounter;
        match self.next(&sample.after, sample.impacts > 0, *speed, time, search) {
            Next::Apart => Self::part(encounter),
            Next::Unclear => Step::Left,
            Next::Impact(contact, states) => self.meet(encounter, &contact, states, strike),
        }
    }

    /// The bodies do not meet again.
    pub fn part(encounter: &mut Encounter) -> Step {
        let sample = &mut encounter.sample;
        sample.end = if sample.is_hit() { End::Parted } else { End::Missed };
        Step::Over
    }

    /// They meet in these states.
    pub fn meet(
        &self,
        encounter: &mut Encounter,
        contact: &Contact,
        states: [State; 2],
        strike: &impl Fn(&Unit<Vector3<f64>>, &Vector3<f64>, &[State; 2]) -> Option<([State; 2], Vector3<f64>)>,
    ) -> Step {
        let Encounter { sample, speed, time } = encounter;
        if !sample.is_hit() {
            sample.contact_time = Some(*time);
            sample.ahead = self.ahead(*speed, *time);
        }
        let elastic = self.restitution == 1.0;
        let most = if elastic { MOST_ELASTIC_IMPACTS } else { MOST_IMPACTS };
        let slow = !elastic && -contact.approach <= SLOW * self.swiftness(&states, *speed);
        if slow || sample.impacts == most {
            return Step::Left;
        }
        let (normal, point) = (Unit::new_normalize(contact.normal), contact.point);
        let struck = match self.surface {
            Surface::Smooth => Some(self.smooth(&normal, &point, &states)),
            _ => strike(&normal, &point, &states),
        };
        let finite =
            |state: &State| state.velocity.iter().chain(state.angular_velocity.iter()).all(|x| x.is_finite());
        let Some((after, impulse)) = struck.filter(|(after, _)| after.iter().all(finite)) else {
            return Step::Left;
        };
        let impact =
            Impact { time: *time, point, normal: *normal, gap: contact.gap, impulse, before: states, after };
        self.book(&impact, sample);
        Step::Impact(impact)
    }

    /// What comes next for two bodies in these states, some after an impact. Moves the time on.
    fn next(
        &self,
        states: &[State; 2],
        parting: bool,
        speed: f64,
        time: &mut f64,
        search: &impl Fn(&[Flight; 2], Window) -> Option<Meeting>,
    ) -> Next {
        let flights = self.flights(states);
        let Some(mut window) = self.window(states, parting, speed) else { return Next::Unclear };
        let until = window.until;
        loop {
            match search(&flights, window) {
                Some(Meeting::Apart) => return Next::Apart,
                Some(Meeting::At(contact)) => match contact.touch {
                    Touch::Approaching => {
                        *time += contact.time;
                        return Next::Impact(contact, [0, 1].map(|i| flights[i].at(contact.time)));
                    }
                    Touch::Grazing if contact.time < until => {
                        window = Window::parting(contact.time, until);
                    }
                    Touch::Grazing => return Next::Apart,
                    Touch::Sinking => return Next::Unclear,
                },
                Some(Meeting::Overlapping(_) | Meeting::Undecided(_)) | None => return Next::Unclear,
            }
        }
    }

    /// The flights of two bodies from these states on.
    #[must_use]
    pub fn flights(&self, states: &[State; 2]) -> [Flight; 2] {
        [0, 1].map(|i| Flight::new(&self.bodies[i], &states[i], &Vector3::zeros()))
    }

    /// The time in which they may meet, if it is not too long to search.
    #[must_use]
    pub fn window(&self, states: &[State; 2], parting: bool, speed: f64) -> Option<Window> {
        let until = self.parted(states, speed)?;
        Some(if parting { Window::parting(0.0, until) } else { Window::new(0.0, until) })
    }

    /// The time from which on the balls about the bodies are apart for good; none if that is too far off to search.
    pub(super) fn parted(&self, states: &[State; 2], speed: f64) -> Option<f64> {
        /// Where bodies hardly part, the search ends after this many times B/g.
        const LONGEST: f64 = 1e4;
        /// The balls are apart by this share of their radii.
        const ROOM: f64 = 1e-9;
        let x = states[1].position - states[0].position;
        let v = states[1].velocity - states[0].velocity;
        let reach = self.reach * (1.0 + ROOM);
        let (along, square) = (x.dot(&v), v.norm_squared());
        // Outside the ball on the way out they are apart already; a short time serves the search.
        let root = along * along + square * (reach * reach - x.norm_squared()).max(0.0);
        let until = ((libm::sqrt(root) - along) / square).max(ROOM * self.reach / speed);
        (until <= LONGEST * self.reach / speed).then_some(until)
    }

    /// The scale of the bodies' speeds.
    fn swiftness(&self, states: &[State; 2], speed: f64) -> f64 {
        let tip = |i: usize| states[i].angular_velocity.norm() * self.bodies[i].shape.circumradius();
        speed + tip(0) + tip(1)
    }

    /// Adds an impact.
    fn book(&self, impact: &Impact, sample: &mut Sample) {
        let bodies = self.bodies();
        let members =
            [0, 1].map(|i| Member { body: bodies[i], before: impact.before[i], after: impact.after[i] });
        let half = impact.normal * (0.5 * impact.gap);
        let contact = Struck {
            sides: [Side::Body(0), Side::Body(1)],
            image: Vector3::zeros(),
            points: [impact.point - half, impact.point + half],
            normal: impact.normal,
            gap: impact.gap,
            impulse: impact.impulse,
            restitution: self.restitution,
            surface: self.surface,
            growing: 0.0,
        };
        let event = Event {
            members: &members,
            planes: &[],
            contacts: &[contact],
            joints: &[],
            size: 1.0,
            impact: true,
            unilateral: self.unilateral,
        };
        let findings = examine_two(&event);
        for finding in findings.worst {
            if finding.value > sample.audit_error || finding.value.is_nan() {
                sample.audit_error = finding.value;
            }
        }
        sample.impacts += 1;
        sample.after = impact.after;
        sample.virial += impact.impulse.dot(&(impact.before[1].position - impact.before[0].position));
        sample.work += event.expected_work();
    }

    /// How far before closest approach bodies that do not turn would touch. By symmetry they part as far behind it on average, so that twice
    /// its mean over the disc is the volume that the one excludes the other from.
    ///
    /// Nothing where it was not looked for, or not found.
    pub fn chord(
        &self,
        encounter: &Encounter,
        search: &impl Fn(&[Flight; 2], Window) -> Option<Meeting>,
    ) -> Option<f64> {
        let Encounter { sample, speed, .. } = encounter;
        if !self.spins() {
            return self.plain_chord(encounter);
        }
        if !self.wants_chord(sample.number) {
            return None;
        }
        let mut time = 0.0;
        match self.next(&sample.without_spin(), false, *speed, &mut time, search) {
            Next::Impact(..) => Some(self.ahead(*speed, time)),
            Next::Apart => Some(0.0),
            Next::Unclear => None,
        }
    }

    /// The chord where it takes no search: of bodies that do not turn.
    #[must_use]
    pub fn plain_chord(&self, encounter: &Encounter) -> Option<f64> {
        let sample = &encounter.sample;
        let known = !self.spins() && (sample.end != End::Unresolved || sample.is_hit());
        known.then_some(sample.ahead)
    }

    /// How far before their closest approach the centres are at a time, along the beam.
    #[must_use]
    pub fn ahead(&self, speed: f64, time: f64) -> f64 {
        APART * self.reach - speed * time
    }

    /// Whether the chord of a sample takes a search of its own.
    #[must_use]
    pub fn wants_chord(&self, number: u64) -> bool {
        self.spins() && number.is_multiple_of(CHORD_EVERY)
    }

    /// The relative change of the invariants of an encounter of two free bodies: linear momentum, angular momentum, and energy against the
    /// work of the impulses. Momenta of an immovable body are not known; zero then.
    pub(super) fn invariants(&self, sample: &Sample) -> [f64; 3] {
        let bodies = self.bodies();
        let origin = Vector3::zeros();
        let energy =
            |states: &[State; 2]| -> f64 { (0..2).map(|i| bodies[i].kinetic_energy(&states[i])).sum() };
        let energies = [energy(&sample.before), energy(&sample.after)];
        let lost = (energies[1] - energies[0] - sample.work).abs() / energies[0];
        if bodies.iter().any(|body| inverse_mass(body) == 0.0) {
            return [0.0, 0.0, lost];
        }
        let mut sums = [[Vector3::zeros(); 2]; 2];
        let mut sizes = [0.0; 2];
        for (sum, states) in sums.iter_mut().zip([&sample.before, &sample.after]) {
            for (body, state) in bodies.into_iter().zip(states) {
                let (linear, angular) = body.momentum(state, &origin);
                let spin = angular - state.position.cross(&linear);
                sum[0] += linear;
                sum[1] += angular;
                sizes[0] += linear.norm();
                sizes[1] += state.position.norm() * linear.norm() + spin.norm();
            }
        }
        let off = |k: usize| (sums[1][k] - sums[0][k]).norm() / sizes[k];
        [off(0), off(1), lost]
    }
}
