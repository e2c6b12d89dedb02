//! The account of a run: counts, the ledger with its audit, and why the run stopped.
//!
//! Totals are checked against the ledger, and the gaps of all pairs by a search that does not use the neighbour lists.

use std::borrow::Cow;

use super::encounter::{Cluster, Encounter};
use super::system::System;
use crate::audit::pairs::Surroundings;
use crate::body::{Body, State};
use crate::collision::{AuditContext, EventContext};
use crate::contact::Side;
use crate::record::{Event, Kind, Recorder};
use crate::run::ledger::PairAudit;
use crate::run::{Cause, Counts, Failure, Ledger, Stopped};

/// Up to this many bodies all pairs are checked after every event.
const SMALL: usize = 16;

/// Collisions per body between checks of all pairs, at samples and otherwise.
const PAIR_CHECK_AT_SAMPLES: u64 = 4;
const PAIR_CHECK: u64 = 64;

/// Collisions per body between checks of the totals, and between reorderings of the bodies.
const TOTALS_CHECK: u64 = 16;
const REORDERING: u64 = 200;

/// Collisions and grazes after which the clock must have advanced, by this share of an epoch.
const CLOCK_CHECK: u64 = 20_000;
const STALLED: f64 = 1e-13;

/// Counts, ledger and status.
#[derive(Debug, Clone)]
pub(super) struct Monitor {
    pub ledger: Ledger,
    pub counts: Counts,
    /// The number of collisions at the last reordering, the last check of the totals and the last check of all pairs.
    pub reordered_at: u64,
    pub totals_checked_at: u64,
    pub pairs_checked_at: u64,
    /// The number of collisions and grazes, and the time, when the clock was last checked.
    pub clock_checked_at: (u64, f64),
    pub stopped: Option<Stopped>,
    pub failure: Option<Failure>,
}

/// Whether there are so few bodies that all pairs are checked after every event.
#[inline(always)]
pub(super) fn is_small(system: &System) -> bool {
    system.particles.len() <= SMALL
}

impl Monitor {
    pub fn new(ledger: Ledger) -> Self {
        Self {
            ledger,
            counts: Counts::default(),
            reordered_at: 0,
            totals_checked_at: 0,
            pairs_checked_at: 0,
            clock_checked_at: (0, 0.0),
            stopped: None,
            failure: None,
        }
    }

    /// Stops the run because collisions accumulate.
    pub fn stall(&mut self) {
        self.stopped.get_or_insert(Stopped::Stalled);
    }

    /// Stops the run because a motion or contact cannot be followed.
    pub fn fail(&mut self, time: f64, sides: [Side; 2], cause: Cause) {
        if self.stopped.is_none() {
            self.stopped = Some(Stopped::Failed);
            self.failure = Some(Failure { time, sides, cause });
        }
    }

    /// Whether the totals should be checked.
    #[inline(always)]
    pub fn is_totals_check_due(&self, system: &System) -> bool {
        self.counts.collisions - self.totals_checked_at >= TOTALS_CHECK * system.particles.len() as u64
    }

    /// Whether the bodies should be reordered; if so, they count as reordered.
    pub fn is_reordering_due(&mut self, system: &System) -> bool {
        let is_due = self.counts.collisions - self.reordered_at >= REORDERING * system.particles.len() as u64;
        if is_due {
            self.reordered_at = self.counts.collisions;
        }
        is_due
    }

    /// Checks the bodies' energy and momentum against the ledger.
    pub fn check_totals(&mut self, system: &System) {
        let mut states = Vec::with_capacity(system.particles.len());
        system.states_into(&mut states);
        self.ledger.check(&system.world, &states, system.time(), self.counts.events);
    }

    /// The checks of a run that goes on: the totals, and from time to time all pairs.
    #[cold]
    pub fn check(&mut self, system: &System) {
        self.totals_checked_at = self.counts.collisions;
        self.check_totals(system);
        self.check_pairs_after(PAIR_CHECK, system);
    }

    /// Checks the gaps of all pairs where the bodies are now.
    #[cold]
    pub fn check_pairs(&mut self, system: &System) {
        let t = system.clock.now;
        let world = &system.world;
        // Positions as they are stored, in the box: these have more digits.
        let states: Vec<State> =
            system.particles.places.iter().map(|&i| system.state(i as usize, t)).collect();
        let scale = system.scale_at(t);
        let grows = system.settings.growth != 0.0;
        let grown = |body: &Body| Body { shape: body.shape.scaled(scale), ..*body };
        let (bodies, radii) = if grows {
            let radii = world.radius.iter().map(|radius| radius * scale).collect();
            (Cow::Owned(world.bodies.iter().map(grown).collect()), Cow::Owned(radii))
        } else {
            (Cow::Borrowed(&world.bodies), Cow::Borrowed(&world.radius))
        };
        let around = Surroundings {
            bodies: &bodies[..],
            radii: &radii[..],
            states: &states,
            planes: &world.planes,
            periodic: world.periodic,
        };
        let look = PairAudit {
            time: system.time(),
            event: self.counts.events,
            always: is_small(system) && !grows,
            unilateral: world.options.law.promises_admissible(),
        };
        self.ledger.audit_pairs(world, &around, look, |_, _| false);
        self.pairs_checked_at = self.counts.collisions;
    }

    /// Checks all pairs at a sample, unless the bodies are many and have hardly moved since the last check.
    pub fn check_pairs_at_sample(&mut self, system: &System) {
        self.check_pairs_after(PAIR_CHECK_AT_SAMPLES, system);
    }

    /// Checks all pairs of a small system, or if each body has had this many collisions since the last check.
    fn check_pairs_after(&mut self, collisions: u64, system: &System) {
        let next = self.pairs_checked_at + collisions * system.particles.len() as u64;
        if is_small(system) || self.counts.collisions >= next {
            self.check_pairs(system);
        }
    }

    /// Stops the run if the clock has not advanced in many collisions.
    #[inline(always)]
    pub fn check_clock(&mut self, system: &System) {
        if self.counts.collisions + self.counts.grazes - self.clock_checked_at.0 >= CLOCK_CHECK {
            self.check_clock_now(system);
        }
    }

    #[cold]
    fn check_clock_now(&mut self, system: &System) {
        let time = system.time();
        if time - self.clock_checked_at.1 < STALLED * system.clock.length {
            self.stall();
        }
        self.clock_checked_at = (self.counts.collisions + self.counts.grazes, time);
    }

    /// Checks an impact by the states before and after, and takes its energy into the ledger.
    pub fn audit_impact(&mut self, system: &System, cluster: &Cluster, t: f64) {
        let (event, few) = (self.counts.events, is_small(system));
        let audited = AuditContext { event, size: system.scale_at(t), impact: true, few };
        cluster.audit(&system.world, &mut self.ledger, audited);
    }

    /// Audits, counts and records an impact.
    pub fn record_impact(
        &mut self,
        system: &System,
        cluster: &Cluster,
        t: f64,
        recorder: &mut impl Recorder,
    ) {
        let energy_before = self.ledger.energy();
        let number = self.counts.events;
        self.audit_impact(system, cluster, t);
        // The time is that of a contact that closes; one that merely touches may have done so before.
        let closing = cluster.contacts.iter().filter(|contact| system.closes(contact, cluster));
        let bound = |contact: &Encounter| {
            (system.gap_rounding(&contact.key, t) + contact.found.gap.abs()) / -contact.approach
        };
        let told = EventContext {
            number,
            time: system.clock.epoch + t,
            time_error: closing.map(bound).fold(0.0, f64::max),
            energies: [energy_before, self.ledger.energy()],
        };
        cluster.book_external(&system.world, &mut self.ledger);
        for contact in &cluster.contacts {
            self.ledger.note_gap(contact.found.gap, number);
        }
        // A contact that merely touches takes part, and is recorded if it has an impulse.
        let is_recorded = |contact: &&Encounter| contact.impulse != 0.0 || system.closes(contact, cluster);
        let event = |contact: &Encounter| cluster.event(contact, Kind::Impact, &told);
        let count = match &cluster.contacts[..] {
            [contact] => {
                recorder.events(&[event(contact)]);
                1
            }
            contacts => {
                let events: Vec<Event> = contacts.iter().filter(is_recorded).map(event).collect();
                recorder.events(&events);
                events.len() as u64
            }
        };
        self.counts.collisions += count;
        self.counts.events += count.min(1);
        self.counts.impacts += count.min(1);
    }
}
