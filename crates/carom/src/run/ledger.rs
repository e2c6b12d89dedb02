//! The balance of a run: the energy and momentum that the bodies have against what the events say they should have.
//!
//! Energy changes by the work of each event. Momentum changes by gravity and by the impulses of planes and fixed
//! bodies; angular momentum about the origin likewise, where it is conserved at all: in an open world without gravity. The
//! ledger only adds up what events report, and compares the sum with the states.
//!
//! Each event is also audited by itself ([`crate::audit::event`]), and the gaps of all pairs by a search that is independent of
//! the engine ([`crate::audit::pairs`]): at every event and sample if bodies are few; otherwise at intervals and at the end. A pair that
//! touches and closes after an event must take part in another event before it overlaps; otherwise the engine has left it out.

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::world::World;
use crate::audit::event::{Check, Findings};
use crate::audit::pairs::{Near, Surroundings};
use crate::body::State;
use crate::contact::Side;

/// The worst value of a check, and its event.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Worst {
    /// The value.
    pub value: f64,
    /// The number of the event at or after which it was found.
    pub event: u64,
    /// The sides, if it belongs to one contact or pair.
    #[serde(default)]
    pub sides: Option<[Side; 2]>,
}

impl Worst {
    /// Notes a value if it is larger than the worst so far.
    pub fn note(&mut self, value: f64, event: u64) {
        self.note_of(value, event, None);
    }

    /// Notes a value of a contact or pair if it is larger.
    #[inline]
    pub fn note_of(&mut self, value: f64, event: u64, sides: Option<[Side; 2]>) {
        // A value that is not a number is the worst.
        if value > self.value || value.is_nan() {
            *self = Self { value, event, sides };
        }
    }
}

/// The audit of a run so far; every error relative to the size of what it is an error of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Audit {
    /// Energy of all bodies against the ledger.
    pub energy_error_max: Worst,
    /// Linear momentum of all bodies against the ledger.
    pub linear_error_max: Worst,
    /// Angular momentum about the origin against the ledger; `None` where it is not conserved.
    pub angular_error_max: Option<Worst>,
    /// The smallest gap of any pair.
    pub gap_min: f64,
    /// The event where it was found.
    pub gap_min_event: u64,
    /// The deepest overlap of a pair that may not interpenetrate; a length.
    #[serde(default)]
    pub overlap_max: Worst,
    /// How far contact points were off their surfaces and off each other, over the bodies' size.
    #[serde(default)]
    pub points_error_max: Worst,
    /// How far a body's change of momentum or angular momentum was off its impulses, over what they are made of.
    #[serde(default)]
    pub impulse_error_max: Worst,
    /// How far an event's change of kinetic energy was off its impulses' work, over the energy of its bodies.
    #[serde(default)]
    pub work_error_max: Worst,
    /// How far contacts pulled, left their friction cones, or kept closing, over impulses and speeds; where the law promises that they
    /// do not.
    #[serde(default)]
    pub unilateral_error_max: Worst,
    /// The worst |separation + k·approach| of single smooth contacts, over the approach.
    pub restitution_error_max: Worst,
    /// The most energy that an event gained, over the energy.
    pub energy_gain_max: Worst,
    /// How far bodies were off their joints, in position over their size and in velocity over their speed; `None` if there are
    /// no joints.
    pub joint_error_max: Option<Worst>,
    /// The impacts that were plastic because they were slow.
    #[serde(default)]
    pub rest: Rest,
    /// How often totals were compared.
    pub checks: u64,
    /// How often all pairs were searched for overlaps.
    #[serde(default)]
    pub searches: u64,
    /// How many pairs those searches measured in all.
    #[serde(default)]
    pub pairs: u64,
}

/// Impacts slower than the rest speed, which are plastic.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rest {
    /// How many.
    pub count: u64,
    /// The energy that they would have given back, each by itself.
    pub energy: f64,
    /// The largest speed of approach.
    pub speed_max: f64,
}

/// A pair that touches and closes: it must take part in an event before it overlaps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Suspect {
    sides: [Side; 2],
    /// How fast it closes, over the speeds there.
    closing: f64,
    /// The time at which it overlaps at the latest.
    deadline: f64,
    event: u64,
}

/// An audit of all pairs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairAudit {
    /// The time of the run.
    pub time: f64,
    /// Events so far.
    pub event: u64,
    /// Whether pairs are audited at every event, so that they can be followed from one to the next.
    pub always: bool,
    /// Whether the law leaves no contact closing.
    pub unilateral: bool,
}

/// The totals that the bodies should have, and the audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    energy: f64,
    /// The size of the energies: of the kinetic energy, and of what potential energy has moved.
    energy_scale: f64,
    linear: [f64; 3],
    linear_scale: f64,
    angular: [f64; 3],
    angular_scale: f64,
    /// The speed of constrained bodies.
    joint_speed: f64,
    /// Absolute time of the last momentum entry.
    at: f64,
    /// The audit so far.
    pub audit: Audit,
    /// The bodies of the events since the last audit of all pairs.
    #[serde(skip)]
    pub involved: Vec<usize>,
    /// Pairs that must take part in an event soon.
    #[serde(default)]
    suspects: Vec<Suspect>,
}

/// A touching pair closes if it does so faster than this, over the speeds there: less is what contacts at rest have.
const CLOSING: f64 = 1e-6;

fn add(sum: &mut [f64; 3], change: &Vector3<f64>) {
    for (sum, change) in sum.iter_mut().zip(change.iter()) {
        *sum += change;
    }
}

impl Ledger {
    /// Opens the ledger.
    pub fn open(world: &World, states: &[State]) -> Self {
        let sum = world.energies(states);
        let conserved = world.periodic.is_none() && world.gravity == Vector3::zeros();
        Self {
            energy: sum.total(),
            energy_scale: if sum.kinetic == 0.0 {
                world.constrained_energy(states).max(world.weight())
            } else {
                sum.kinetic
            },
            linear: sum.momentum.into(),
            linear_scale: sum.scales[0],
            angular: sum.angular_momentum.into(),
            angular_scale: sum.scales[1],
            joint_speed: 0.0,
            at: 0.0,
            audit: Audit {
                energy_error_max: Worst::default(),
                linear_error_max: Worst::default(),
                angular_error_max: conserved.then(Worst::default),
                gap_min: f64::MAX,
                gap_min_event: 0,
                overlap_max: Worst::default(),
                points_error_max: Worst::default(),
                impulse_error_max: Worst::default(),
                work_error_max: Worst::default(),
                unilateral_error_max: Worst::default(),
                restitution_error_max: Worst::default(),
                energy_gain_max: Worst::default(),
                joint_error_max: (!world.joints.is_empty()).then(Worst::default),
                rest: Rest::default(),
                checks: 0,
                searches: 0,
                pairs: 0,
            },
            involved: Vec::new(),
            suspects: Vec::new(),
        }
    }

    /// The energy that the bodies should have.
    pub fn energy(&self) -> f64 {
        self.energy
    }

    /// Bodies are carried on by time steps, which take the place of events: pairs of theirs need not take part in any.
    pub fn excuse(&mut self, bodies: impl Fn(usize) -> bool) {
        let excused = |side: Side| matches!(side, Side::Body(body) if bodies(body));
        self.suspects.retain(|suspect| !suspect.sides.into_iter().any(excused));
    }

    /// Books what the rest speed took in an impact.
    pub fn book_rest(&mut self, rest: Rest) {
        let total = &mut self.audit.rest;
        total.count += rest.count;
        total.energy += rest.energy;
        total.speed_max = total.speed_max.max(rest.speed_max);
    }

    /// Books a change of energy by an event.
    pub fn book_energy(&mut self, change: f64, event: u64) {
        self.energy += change;
        if change > 0.0 {
            self.audit.energy_gain_max.note(change / self.energy_scale.max(f64::MIN_POSITIVE), event);
        }
    }

    /// Books the work of forces without a potential.
    pub fn book_work(&mut self, work: f64) {
        self.energy += work;
    }

    /// Books the energy that an event's impulses should have changed, and compares it with the change by the states.
    pub fn book_event_energy(&mut self, expected: f64, done: f64, event: u64) {
        self.energy += expected;
        let scale = self.energy_scale.max(f64::MIN_POSITIVE);
        self.audit.energy_error_max.note((done - expected).abs() / scale, event);
        self.audit.energy_gain_max.note(expected.max(0.0) / scale, event);
    }

    /// Notes a kinetic energy of bodies: the scale for errors of energies.
    pub fn note_kinetic_energy(&mut self, kinetic: f64) {
        self.energy_scale = self.energy_scale.max(kinetic);
    }

    /// Notes by how much an event changed the energy, by the states.
    pub fn note_gain(&mut self, done: f64, event: u64) {
        if done > 0.0 {
            self.audit.energy_gain_max.note(done / self.energy_scale.max(f64::MIN_POSITIVE), event);
        }
    }

    /// Books an external impulse, of a plane or a fixed body.
    pub fn book_impulse(&mut self, impulse: &Vector3<f64>, point: &Vector3<f64>) {
        add(&mut self.linear, impulse);
        add(&mut self.angular, &point.cross(impulse));
    }

    /// Notes a gap.
    #[inline]
    pub fn note_gap(&mut self, gap: f64, event: u64) {
        self.note_gap_of(gap, event, None);
    }

    #[inline]
    fn note_gap_of(&mut self, gap: f64, event: u64, sides: Option<[Side; 2]>) {
        self.note_interpenetration(gap, event);
        self.audit.overlap_max.note_of(-gap, event, sides);
    }

    /// Notes the gap of two bodies that interpenetrate, as the scene asks.
    #[inline]
    pub fn note_interpenetration(&mut self, gap: f64, event: u64) {
        if gap < self.audit.gap_min || gap.is_nan() {
            (self.audit.gap_min, self.audit.gap_min_event) = (gap, event);
        }
    }

    /// Notes the findings of an event's audit; `sides` are those of its contacts.
    pub fn note_findings(&mut self, findings: &Findings, sides: impl Fn(usize) -> [Side; 2], event: u64) {
        for (check, finding) in Check::ALL.into_iter().zip(findings.worst) {
            let worst = match check {
                Check::Points => &mut self.audit.points_error_max,
                Check::Momentum => &mut self.audit.impulse_error_max,
                Check::Work => &mut self.audit.work_error_max,
                Check::Restitution => &mut self.audit.restitution_error_max,
                Check::Unilateral => &mut self.audit.unilateral_error_max,
            };
            if finding.value > worst.value || finding.value.is_nan() {
                worst.note_of(finding.value, event, Some(sides(finding.contact)));
            }
        }
    }

    /// Audits the gaps of all pairs, except those that may overlap: joints keep them from colliding, or they interpenetrate as the
    /// scene asks.
    pub fn audit_pairs(
        &mut self,
        world: &World,
        around: &Surroundings,
        audit: PairAudit,
        may_overlap: impl Fn([Side; 2], &Vector3<f64>) -> bool,
    ) {
        let PairAudit { time, event, .. } = audit;
        let involved = std::mem::take(&mut self.involved);
        let was_involved = |side: Side| matches!(side, Side::Body(body) if involved.contains(&body));
        let unilateral = &mut self.audit.unilateral_error_max;
        self.suspects.retain(|suspect| {
            let over = time > suspect.deadline;
            let again = suspect.sides.into_iter().any(was_involved);
            if over && !again {
                unilateral.note_of(suspect.closing, suspect.event, Some(suspect.sides));
            }
            !over && !again
        });
        let mut suspects = std::mem::take(&mut self.suspects);
        let follows = audit.always && audit.unilateral;
        self.audit.searches += 1;
        let below = self.audit.gap_min;
        let measured = around.visit(below, may_overlap, |near| {
            self.note_gap_of(near.gap, event, Some(near.sides));
            if follows && near.sides.into_iter().any(was_involved) {
                suspects.extend(Suspect::of(world, around.states, near, audit));
            }
        });
        self.audit.pairs += measured;
        self.suspects = suspects;
        self.involved = involved;
        self.involved.clear();
    }

    /// Notes how far bodies of a size and speed are off their joints.
    pub fn note_joint(&mut self, position: f64, velocity: f64, [size, speed]: [f64; 2], event: u64) {
        if let Some(worst) = &mut self.audit.joint_error_max {
            // The largest speed so far: a pendulum has zero speed where it turns.
            self.joint_speed = self.joint_speed.max(speed);
            let relative = |error: f64, scale: f64| if error == 0.0 { 0.0 } else { error / scale };
            worst.note(relative(position, size), event);
            worst.note(relative(velocity, self.joint_speed), event);
        }
    }

    /// Takes momentum as it is, after external forces that the ledger does not integrate have acted.
    pub fn reopen_momentum(&mut self, world: &World, states: &[State], time: f64) {
        let sum = world.energies(states);
        (self.linear, self.angular, self.at) = (sum.momentum.into(), sum.angular_momentum.into(), time);
    }

    /// Compares the totals with the bodies, and returns their energy.
    pub fn check(&mut self, world: &World, states: &[State], time: f64, event: u64) -> f64 {
        let sum = world.energies(states);
        let mass: f64 = world.bodies.iter().filter(|body| !body.fixed).map(|body| body.mass).sum();
        add(&mut self.linear, &(world.gravity * (mass * (time - self.at))));
        self.at = time;
        self.energy_scale = self.energy_scale.max(sum.kinetic).max(sum.potential().abs());
        self.linear_scale = self.linear_scale.max(sum.scales[0]);
        self.angular_scale = self.angular_scale.max(sum.scales[1]);
        let relative = |error: f64, scale: f64| if error == 0.0 { 0.0 } else { error / scale };
        let audit = &mut self.audit;
        audit.energy_error_max.note(relative((sum.total() - self.energy).abs(), self.energy_scale), event);
        audit
            .linear_error_max
            .note(relative((sum.momentum - Vector3::from(self.linear)).norm(), self.linear_scale), event);
        if let Some(angular) = &mut audit.angular_error_max {
            angular.note(
                relative((sum.angular_momentum - Vector3::from(self.angular)).norm(), self.angular_scale),
                event,
            );
        }
        audit.checks += 1;
        sum.total()
    }
}

impl Suspect {
    /// A pair that touches, if it closes.
    fn of(world: &World, states: &[State], near: &Near, audit: PairAudit) -> Option<Self> {
        if near.gap.abs() > near.level {
            return None;
        }
        let (mut rate, mut speed) = (0.0, 0.0);
        for (side, image, sign) in [(near.sides[0], None, -1.0), (near.sides[1], Some(near.image), 1.0)] {
            let Side::Body(body) = side else { continue };
            let mut state = states[body];
            state.position += image.unwrap_or_default();
            rate += sign * near.normal.dot(&state.velocity_at(&near.point));
            speed += state.velocity.norm() + state.angular_velocity.norm() * world.radius[body];
        }
        // The speed that gravity gives within a gap of rounding says nothing.
        let slow = CLOSING * speed + 2.0 * (2.0 * near.level * world.gravity.norm()).sqrt();
        (rate < -slow).then(|| Self {
            sides: near.sides,
            closing: -rate / speed,
            deadline: audit.time + 4.0 * near.level / -rate,
            event: audit.event.saturating_sub(1),
        })
    }
}
