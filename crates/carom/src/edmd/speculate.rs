//! What an event will bring, before it happens: new courses, and when their next events are due.
//!
//! It depends on the bodies of the event and on their neighbours only, for one that moves also on who is at home near by, and
//! changes nothing. So the events to come can be worked out by several threads at once (`together`): what was speculative is what
//! happens, if none of that has changed until then.

use super::cluster::Cluster;
use super::contact_event::ContactPair;
use super::neighbourhood::Moved;
use super::next_event::{NextEvent, PLANE};
use super::overlay::{Changed, Overlay};
use super::parallel::Wanted;
use super::predict::Parted;
use super::rotation::Spin;
use super::search::Sight;
use super::storage::{Hot, Line, Path};
use super::{Cause, Edmd};
use crate::record::Recorder;

/// An event as speculative.
#[derive(Debug, Clone, Default)]
pub(super) struct SpeculativeEvent {
    /// Whose it is, and when.
    pub event: Wanted,
    /// The round in which it was speculative.
    pub round: u32,
    /// What there is to do; nothing where it could not be speculative.
    pub outcome: Option<Outcome>,
    /// The next home of a body that moves.
    pub moved: Moved,
    /// The bodies of a contact.
    cluster: Cluster,
    /// Whether they close: they resolve_contact, then.
    closes: bool,
    /// Those of the cluster first.
    changed: Vec<Changed>,
    /// How those turn then.
    spins: Vec<Spin>,
    /// Who has which event next.
    dues: Vec<(u32, NextEvent)>,
    sight: Sight,
}

/// What kind of event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A body looks anew.
    Look,
    /// A body leaves its neighbourhood.
    Move,
    /// Two touch, and resolve_contact or part.
    Touch,
}

/// Why a contact was not speculative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpeculationFailure {
    /// There is no gap between the two.
    Gapless,
    /// It has collapsed.
    Collapsed,
    /// The impact law has no answer.
    Lawless,
}

impl SpeculativeEvent {
    /// The bodies whose event it is.
    pub fn who(&self) -> impl Iterator<Item = u32> {
        let bodies = self.cluster.bodies.len().max(1);
        self.changed[..bodies].iter().map(|changed| changed.body)
    }

    /// Whether it would do the same as another.
    pub fn says_what(&self, other: &Self) -> bool {
        (&self.dues, &self.sight.marks, &self.moved.links, &self.cluster.after, self.closes)
            == (&other.dues, &other.sight.marks, &other.moved.links, &other.cluster.after, other.closes)
    }

    fn clear(&mut self) {
        (self.outcome, self.closes) = (None, false);
        self.moved.clear();
        self.cluster.clear();
        self.changed.clear();
        self.spins.clear();
        self.dues.clear();
        self.sight.clear();
    }
}

impl Edmd {
    /// That a body looks anew.
    pub(super) fn speculate_repredict(&self, body: u32, t: f64, speculative: &mut SpeculativeEvent) {
        speculative.clear();
        self.without_next_event(body, speculative);
        self.speculate_next(body, t, &[], speculative);
        speculative.outcome = Some(Outcome::Look);
    }

    /// That a body leaves its neighbourhood.
    pub(super) fn speculate_move(&self, body: u32, t: f64, speculative: &mut SpeculativeEvent) {
        speculative.clear();
        self.speculate_neighbourhood(body as usize, t, &mut speculative.moved);
        self.without_next_event(body, speculative);
        let line = &mut speculative.changed[0].hot.line;
        (line.position, line.since) = (speculative.moved.place.home, t);
        let seen = Overlay::with(self, &speculative.changed, &speculative.spins)
            .moved(body as usize, &speculative.moved);
        let due = seen.look(body as usize, t, &[], &mut speculative.sight);
        speculative.dues.extend(due.map(|due| (body, due)));
        speculative.outcome = Some(Outcome::Move);
    }

    /// One contact by itself. Where others are close, it is not the whole truth.
    pub(super) fn speculate_contact(
        &self,
        pair: &ContactPair,
        t: f64,
        speculative: &mut SpeculativeEvent,
    ) -> Result<(), SpeculationFailure> {
        speculative.clear();
        self.take_in(&mut speculative.cluster, pair, t);
        let contact = self.encounter(pair, t, &speculative.cluster).ok_or(SpeculationFailure::Gapless)?;
        speculative.cluster.contacts.push(contact);
        if self.has_collapsed(pair, t, contact.approach) {
            return Err(SpeculationFailure::Collapsed);
        }
        let closes = self.closes(&contact, &speculative.cluster);
        if closes && !speculative.cluster.resolve(&self.world) {
            return Err(SpeculationFailure::Lawless);
        }
        speculative.closes = closes;
        for k in 0..speculative.cluster.bodies.len() {
            self.without_next_event(self.place[speculative.cluster.bodies[k]], speculative);
            if closes {
                self.speculate_motion(k, t, speculative);
            }
        }
        let normal = contact.found.normal;
        for k in 0..speculative.cluster.bodies.len() {
            let body = self.place[speculative.cluster.bodies[k]];
            let ContactPair { first, second, image } = *pair;
            let parted = if first == body {
                Parted { with: second, image, normal }
            } else {
                let image = if first >= PLANE { image } else { self.images.opposite(image) };
                Parted { with: first, image, normal: -normal }
            };
            self.speculate_next(body, t, &[parted], speculative);
        }
        speculative.outcome = Some(Outcome::Touch);
        Ok(())
    }

    /// A body whose event is taken.
    fn without_next_event(&self, body: u32, speculative: &mut SpeculativeEvent) {
        let i = body as usize;
        let hot = Hot { due: f64::INFINITY, ..self.hot[i] };
        let path = if self.mixed { self.path[i] } else { Path::default() };
        speculative.changed.push(Changed { body, hot, path, spin: None });
    }

    /// The course after it of one of a cluster, who is the last to have changed.
    fn speculate_motion(&self, k: usize, t: f64, speculative: &mut SpeculativeEvent) {
        let (before, after) = (&speculative.cluster.before[k], &speculative.cluster.after[k]);
        let Some(changed) = speculative.changed.last_mut() else { return };
        let i = changed.body;
        if self.shape_class(i).is_fixed() {
            return;
        }
        changed.hot.line = Line { position: before.position, velocity: after.velocity, since: t };
        if before.angular_velocity != after.angular_velocity {
            changed.spin = Some(speculative.spins.len());
            speculative.spins.push(Spin::new(self.body(i), after, t));
        }
        if self.mixed {
            let spin =
                changed.spin.map_or_else(|| self.spins.of(i as usize), |at| speculative.spins[at].of());
            let rate = changed.hot.line.velocity.norm() + spin.speed() * self.shape_class(i).lever;
            changed.path = Path { length: changed.path.at(t), rate, since: t };
        }
    }

    /// A body's next event, which is its partner's as well.
    fn speculate_next(&self, body: u32, t: f64, parted: &[Parted], speculative: &mut SpeculativeEvent) {
        let seen = Overlay::with(self, &speculative.changed, &speculative.spins);
        let Some(due) = seen.look(body as usize, t, parted, &mut speculative.sight) else { return };
        speculative.dues.push((body, due));
        for with in [body, due.with].into_iter().filter(|&with| with < PLANE) {
            if !speculative.changed.iter().any(|changed| changed.body == with) {
                self.without_next_event(with, speculative);
            }
            for changed in speculative.changed.iter_mut().filter(|changed| changed.body == with) {
                changed.hot.due = due.time;
            }
        }
    }

    /// What was speculative of one that looks anew happens.
    pub(super) fn repredict_as_speculated(&mut self, body: u32, speculative: &mut SpeculativeEvent) {
        self.clear_next_event(body);
        self.go_on_as_speculated(speculative);
        self.scratch.close.clear();
    }

    /// What was speculative of one that moves happens.
    pub(super) fn move_as_speculated(&mut self, body: u32, speculative: &mut SpeculativeEvent) {
        self.settle_anew(body as usize, &speculative.moved);
        self.go_on_as_speculated(speculative);
        self.scratch.close.clear();
    }

    /// What was speculative of a contact happens, unless others touch at the same time.
    pub(super) fn resolve_as_speculated(
        &mut self,
        pair: &ContactPair,
        [sinks, soon]: [bool; 2],
        t: f64,
        speculative: &mut SpeculativeEvent,
        recorder: &mut impl Recorder,
    ) {
        let closes = speculative.closes;
        if closes
            && !speculative.sight.close.is_empty()
            && self.settings.growth == 0.0
            && self.resolve_cluster(pair, t, recorder)
        {
            return;
        }
        for changed in speculative.changed.drain(..speculative.cluster.bodies.len()) {
            self.clear_next_event(changed.body);
            if closes && !self.shape_class(changed.body).is_fixed() {
                let i = changed.body as usize;
                self.hot[i].line = changed.hot.line;
                self.cold[i].last = t;
                if self.mixed {
                    self.path[i] = changed.path;
                }
                if let Some(at) = changed.spin {
                    self.spins.set(i, &speculative.spins[at]);
                }
            }
        }
        if sinks && !closes {
            self.lose(self.sides(pair), Cause::Unsupported);
        }
        self.go_on_as_speculated(speculative);
        self.scratch.close.clear();
        if closes {
            self.counts.elastic += u64::from(soon);
            self.record(&speculative.cluster, t, recorder);
            return;
        }
        self.ledger.note_gap(speculative.cluster.contacts[0].found.gap, self.counts.events);
        self.counts.grazes += 1;
    }

    fn go_on_as_speculated(&mut self, speculative: &mut SpeculativeEvent) {
        self.counts.predictions += speculative.dues.len() as u64;
        self.take_in_sight(&mut speculative.sight);
        for (body, due) in speculative.dues.drain(..) {
            self.schedule(body, due);
        }
    }
}
