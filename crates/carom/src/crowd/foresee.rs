//! What an event will bring, before it happens: new courses, and when their next events are due.
//!
//! It depends on the bodies of the event and on their neighbours only, for one that moves also on who is at home near by, and
//! changes nothing. So the events to come can be worked out by several threads at once (`together`): what was foreseen is what
//! happens, if none of that has changed until then.

use super::cluster::Cluster;
use super::course::Spin;
use super::due::{Due, PLANE};
use super::home::Moved;
use super::kept::{Hot, Line, Path};
use super::predict::Parted;
use super::search::Sight;
use super::seen::{Changed, Seen};
use super::together::Wanted;
use super::touch::Met;
use super::{Cause, Crowd};
use crate::record::Recorder;

/// An event as foreseen.
#[derive(Debug, Clone, Default)]
pub(super) struct Foreseen {
    /// Whose it is, and when.
    pub event: Wanted,
    /// The round in which it was foreseen.
    pub round: u32,
    /// What there is to do; nothing where it could not be foreseen.
    pub outcome: Option<Outcome>,
    /// The next home of a body that moves.
    pub moved: Moved,
    /// The bodies of a contact.
    cluster: Cluster,
    /// Whether they close: they strike, then.
    closes: bool,
    /// Those of the cluster first.
    changed: Vec<Changed>,
    /// How those turn then.
    spins: Vec<Spin>,
    /// Who has which event next.
    dues: Vec<(u32, Due)>,
    sight: Sight,
}

/// What kind of event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A body looks anew.
    Look,
    /// A body leaves its neighbourhood.
    Move,
    /// Two touch, and strike or part.
    Touch,
}

/// Why a contact was not foreseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unforeseen {
    /// There is no gap between the two.
    Gapless,
    /// It has collapsed.
    Collapsed,
    /// The impact law has no answer.
    Lawless,
}

impl Foreseen {
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

impl Crowd {
    /// That a body looks anew.
    pub(super) fn foresee_look(&self, body: u32, t: f64, foreseen: &mut Foreseen) {
        foreseen.clear();
        self.without_due(body, foreseen);
        self.foresee_next(body, t, &[], foreseen);
        foreseen.outcome = Some(Outcome::Look);
    }

    /// That a body leaves its neighbourhood.
    pub(super) fn foresee_move(&self, body: u32, t: f64, foreseen: &mut Foreseen) {
        foreseen.clear();
        self.foresee_home(body as usize, t, &mut foreseen.moved);
        self.without_due(body, foreseen);
        let line = &mut foreseen.changed[0].hot.line;
        (line.position, line.since) = (foreseen.moved.place.home, t);
        let seen = Seen::with(self, &foreseen.changed, &foreseen.spins).moved(body as usize, &foreseen.moved);
        let due = seen.look(body as usize, t, &[], &mut foreseen.sight);
        foreseen.dues.extend(due.map(|due| (body, due)));
        foreseen.outcome = Some(Outcome::Move);
    }

    /// One contact by itself. Where others are close, it is not the whole truth.
    pub(super) fn foresee_touch(&self, met: &Met, t: f64, foreseen: &mut Foreseen) -> Result<(), Unforeseen> {
        foreseen.clear();
        self.take_in(&mut foreseen.cluster, met, t);
        let contact = self.encounter(met, t, &foreseen.cluster).ok_or(Unforeseen::Gapless)?;
        foreseen.cluster.contacts.push(contact);
        if self.has_collapsed(met, t, contact.approach) {
            return Err(Unforeseen::Collapsed);
        }
        let closes = self.closes(&contact, &foreseen.cluster);
        if closes && !foreseen.cluster.resolve(&self.world) {
            return Err(Unforeseen::Lawless);
        }
        foreseen.closes = closes;
        for k in 0..foreseen.cluster.bodies.len() {
            self.without_due(self.place[foreseen.cluster.bodies[k]], foreseen);
            if closes {
                self.foresee_course(k, t, foreseen);
            }
        }
        let normal = contact.found.normal;
        for k in 0..foreseen.cluster.bodies.len() {
            let body = self.place[foreseen.cluster.bodies[k]];
            let Met { first, second, image } = *met;
            let parted = if first == body {
                Parted { with: second, image, normal }
            } else {
                let image = if first >= PLANE { image } else { self.images.opposite(image) };
                Parted { with: first, image, normal: -normal }
            };
            self.foresee_next(body, t, &[parted], foreseen);
        }
        foreseen.outcome = Some(Outcome::Touch);
        Ok(())
    }

    /// A body whose event is taken.
    fn without_due(&self, body: u32, foreseen: &mut Foreseen) {
        let i = body as usize;
        let hot = Hot { due: f64::INFINITY, ..self.hot[i] };
        let path = if self.mixed { self.path[i] } else { Path::default() };
        foreseen.changed.push(Changed { body, hot, path, spin: None });
    }

    /// The course after it of one of a cluster, who is the last to have changed.
    fn foresee_course(&self, k: usize, t: f64, foreseen: &mut Foreseen) {
        let (before, after) = (&foreseen.cluster.before[k], &foreseen.cluster.after[k]);
        let Some(changed) = foreseen.changed.last_mut() else { return };
        let i = changed.body;
        if self.solid(i).is_fixed() {
            return;
        }
        changed.hot.line = Line { position: before.position, velocity: after.velocity, since: t };
        if before.angular_velocity != after.angular_velocity {
            changed.spin = Some(foreseen.spins.len());
            foreseen.spins.push(Spin::new(self.body(i), after, t));
        }
        if self.mixed {
            let spin = changed.spin.map_or_else(|| self.spins.of(i as usize), |at| foreseen.spins[at].of());
            let rate = changed.hot.line.velocity.norm() + spin.speed() * self.solid(i).lever;
            changed.path = Path { length: changed.path.at(t), rate, since: t };
        }
    }

    /// A body's next event, which is its partner's as well.
    fn foresee_next(&self, body: u32, t: f64, parted: &[Parted], foreseen: &mut Foreseen) {
        let seen = Seen::with(self, &foreseen.changed, &foreseen.spins);
        let Some(due) = seen.look(body as usize, t, parted, &mut foreseen.sight) else { return };
        foreseen.dues.push((body, due));
        for with in [body, due.with].into_iter().filter(|&with| with < PLANE) {
            if !foreseen.changed.iter().any(|changed| changed.body == with) {
                self.without_due(with, foreseen);
            }
            for changed in foreseen.changed.iter_mut().filter(|changed| changed.body == with) {
                changed.hot.due = due.time;
            }
        }
    }

    /// What was foreseen of one that looks anew happens.
    pub(super) fn look_as_foreseen(&mut self, body: u32, foreseen: &mut Foreseen) {
        self.clear_due(body);
        self.go_on_as_foreseen(foreseen);
        self.scratch.close.clear();
    }

    /// What was foreseen of one that moves happens.
    pub(super) fn move_as_foreseen(&mut self, body: u32, foreseen: &mut Foreseen) {
        self.settle_anew(body as usize, &foreseen.moved);
        self.go_on_as_foreseen(foreseen);
        self.scratch.close.clear();
    }

    /// What was foreseen of a contact happens, unless others touch at the same time.
    pub(super) fn touch_as_foreseen(
        &mut self,
        met: &Met,
        [sinks, soon]: [bool; 2],
        t: f64,
        foreseen: &mut Foreseen,
        recorder: &mut impl Recorder,
    ) {
        let closes = foreseen.closes;
        if closes
            && !foreseen.sight.close.is_empty()
            && self.settings.growth == 0.0
            && self.strike_together(met, t, recorder)
        {
            return;
        }
        for changed in foreseen.changed.drain(..foreseen.cluster.bodies.len()) {
            self.clear_due(changed.body);
            if closes && !self.solid(changed.body).is_fixed() {
                let i = changed.body as usize;
                self.hot[i].line = changed.hot.line;
                self.cold[i].last = t;
                if self.mixed {
                    self.path[i] = changed.path;
                }
                if let Some(at) = changed.spin {
                    self.spins.set(i, &foreseen.spins[at]);
                }
            }
        }
        if sinks && !closes {
            self.lose(self.sides(met), Cause::Unheld);
        }
        self.go_on_as_foreseen(foreseen);
        self.scratch.close.clear();
        if closes {
            self.counts.elastic += u64::from(soon);
            self.record(&foreseen.cluster, t, recorder);
            return;
        }
        self.ledger.see_gap(foreseen.cluster.contacts[0].found.gap, self.counts.events);
        self.counts.grazes += 1;
    }

    fn go_on_as_foreseen(&mut self, foreseen: &mut Foreseen) {
        self.counts.predictions += foreseen.dues.len() as u64;
        self.take_in_sight(&mut foreseen.sight);
        for (body, due) in foreseen.dues.drain(..) {
            self.schedule(body, due);
        }
    }
}
