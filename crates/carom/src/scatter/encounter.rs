//! One encounter: from the start of the beam through every impact until the bodies part for good.

use nalgebra::Vector3;

use super::beam::{APART, Beam};
use super::sample::{End, Sample};
use super::{Scattering, inverse_mass};
use crate::audit::event::{Event, Member, Struck, examine};
use crate::body::State;
use crate::contact::Side;
use crate::motion::Flight;
use crate::pairs::{Other, Query};
use crate::scene::model::{Spin, Translation};
use crate::toi::{Contact, Meeting, Moving, Touch, Window};

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

/// What comes next.
#[expect(clippy::large_enum_variant, reason = "one at a time, and it is taken apart at once")]
enum Next {
    Impact(Contact, [State; 2]),
    /// They do not meet again.
    Apart,
    /// It is not for this loop to say.
    Unclear,
}

impl Scattering {
    /// A sample, by its number.
    #[must_use]
    pub fn sample(&self, number: u64) -> Sample {
        self.follow(number, |_| {})
    }

    /// As above, with the impacts, as far as they are resolved here: those of an encounter that is [continued](Sample::continued) by the
    /// general engine are not among them.
    #[must_use]
    pub fn impacts(&self, number: u64) -> (Sample, Vec<Impact>) {
        let mut impacts = Vec::new();
        let sample = self.follow(number, |impact| impacts.push(*impact));
        if sample.continued {
            impacts.clear();
        }
        (sample, impacts)
    }

    fn follow(&self, number: u64, mut tell: impl FnMut(&Impact)) -> Sample {
        let beam = self.beam(number);
        let mut sample = Sample {
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
        let elastic = self.restitution == 1.0;
        let most = if elastic { MOST_ELASTIC_IMPACTS } else { MOST_IMPACTS };
        let mut time = 0.0;
        loop {
            match self.next(&sample.after, sample.impacts > 0, beam.speed, &mut time) {
                Next::Apart => {
                    sample.end = if sample.is_hit() { End::Parted } else { End::Missed };
                    break;
                }
                Next::Impact(contact, states) => {
                    if !sample.is_hit() {
                        sample.contact_time = Some(time);
                        sample.ahead = APART * self.reach - beam.speed * time;
                    }
                    let slow = !elastic && -contact.approach <= SLOW * self.swiftness(&states, beam.speed);
                    if slow || sample.impacts == most {
                        self.continued(&beam, &mut sample);
                        break;
                    }
                    let Some(impact) = self.struck(&contact, &states, time) else {
                        self.continued(&beam, &mut sample);
                        break;
                    };
                    self.book(&impact, &mut sample);
                    tell(&impact);
                }
                Next::Unclear => {
                    self.continued(&beam, &mut sample);
                    break;
                }
            }
        }
        sample.chord = self.chord(&beam, &sample);
        sample
    }

    /// What comes next for two bodies in these states, some after an impact. Moves the time on.
    fn next(&self, states: &[State; 2], parting: bool, speed: f64, time: &mut f64) -> Next {
        let bodies = self.bodies();
        let gravity = Vector3::zeros();
        let flights = [0, 1].map(|i| Flight::new(bodies[i], &states[i], &gravity));
        let [first, second] = [0, 1].map(|i| Moving::new(&bodies[i].shape, &flights[i]));
        let Some(until) = self.parted(states, speed) else { return Next::Unclear };
        let mut window = if parting { Window::parting(0.0, until) } else { Window::new(0.0, until) };
        loop {
            match (Query { first, other: Other::Body(second), window }).first_contact().meeting {
                Meeting::Apart => return Next::Apart,
                Meeting::At(contact) => match contact.touch {
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
                Meeting::Overlapping(_) | Meeting::Undecided(_) => return Next::Unclear,
            }
        }
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
        let tip = |i: usize| states[i].angular_velocity.norm() * self.world.bodies[i].shape.circumradius();
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
            unilateral: self.world.options.law.promises_admissible(),
        };
        let findings = examine(&event);
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
    fn chord(&self, beam: &Beam, sample: &Sample) -> Option<f64> {
        if !self.spins() {
            return (sample.end != End::Unresolved || sample.is_hit()).then_some(sample.ahead);
        }
        if !sample.number.is_multiple_of(CHORD_EVERY) {
            return None;
        }
        let mut states = beam.states;
        for state in &mut states {
            state.angular_velocity = Vector3::zeros();
        }
        let mut time = 0.0;
        match self.next(&states, false, beam.speed, &mut time) {
            Next::Impact(..) => Some(APART * self.reach - beam.speed * time),
            Next::Apart => Some(0.0),
            Next::Unclear => None,
        }
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

    /// Whether all speeds are thermal at one temperature.
    #[must_use]
    pub fn is_thermal(&self) -> bool {
        match (self.settings.translation, self.settings.spin) {
            (Translation::Temperature(a), Spin::Temperature(b)) => a == b,
            _ => false,
        }
    }
}
