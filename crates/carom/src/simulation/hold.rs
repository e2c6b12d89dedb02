//! Contacts that last: held by a force, touching without one, or passed through.
//!
//! A contact that neither closes nor parts is decided by the accelerations: where free flight would let the bodies sink
//! into one another, now or, at a paradox, in the next moment, a workless normal force keeps them touching until it
//! returns to zero. Bodies that hold on to one another, directly or through others, are a group and are moved together
//! by [`crate::flow`].

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use super::queue::{Due, Pair, Party};
use super::snapshot::StateRecord;
use super::touch::{Cluster, Encounter};
use super::world::World;
use super::{Course, Simulation, Stopped};
use crate::body::State;
use crate::contact::kinematics::Kinematics;
use crate::record::{Kind, Recorder};
use crate::scene::model::OnParadox;

/// How a contact lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Standing {
    /// By a force, in this group.
    Held(u32),
    /// Without any force, and nothing drives it apart or together.
    Neutral,
    /// The bodies overlap, as asked.
    Passing,
}

/// What becomes of a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It opens.
    Parts,
    /// It closes again at once: the law left it closing.
    Closes,
    /// A force holds it.
    Holds,
    /// It stays without a force.
    Stays,
    /// The bodies pass into one another.
    Passes,
    /// The run ends here.
    Stops,
}

/// What was decided of a contact, and why.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verdict {
    pub fate: Fate,
    /// Whether it stood before, and was held.
    pub was_held: bool,
    pub class: &'static str,
    pub g2: Option<f64>,
    pub g3: Option<f64>,
    pub force_slope: Option<f64>,
    /// The time until bounces end, with its error.
    pub limit: Option<[f64; 2]>,
}

impl Verdict {
    fn new(fate: Fate, class: &'static str) -> Self {
        Self { fate, was_held: false, class, g2: None, g3: None, force_slope: None, limit: None }
    }

    /// Whether the pair goes on apart.
    pub fn parts(&self) -> bool {
        self.fate == Fate::Parts
    }

    /// Whether the pair needs no search while it lasts.
    pub fn stands(&self) -> bool {
        matches!(self.fate, Fate::Holds | Fate::Stays | Fate::Passes)
    }

    /// What is to be recorded of a contact.
    pub fn kinds(&self, contact: &Encounter, closing: bool) -> impl Iterator<Item = (Kind, &'static str)> {
        let struck = closing && (contact.impulse != 0.0 || (contact.new && contact.before.v < 0.0));
        let blow = if contact.rests { Kind::Rest } else { Kind::Impact };
        let begins = !self.was_held && !contact.rests;
        let then = match self.fate {
            Fate::Parts if self.was_held => Some(Kind::HoldEnd),
            Fate::Parts if !closing && self.class == "graze" => Some(Kind::Graze),
            Fate::Holds if begins => Some(Kind::HoldBegin),
            Fate::Passes => Some(Kind::PassBegin),
            Fate::Stops => Some(Kind::Stop),
            _ => None,
        };
        let struck = struck.then_some((blow, "normal"));
        struck.into_iter().chain(then.map(|kind| (kind, self.class)))
    }
}

/// The second derivative of a gap that is none, over the accelerations at hand, and the third over theirs.
const NONE: f64 = 1e-9;

impl Simulation {
    /// The contacts that stand at a body, passing ones not.
    pub(super) fn standing_of(&self, body: usize) -> Vec<Pair> {
        let concerns = |pair: &Pair| {
            pair.second as usize == body || matches!(pair.first, Party::Body(first) if first as usize == body)
        };
        let here = |(pair, standing): (&Pair, &Standing)| {
            (concerns(pair) && *standing != Standing::Passing).then_some(*pair)
        };
        self.standing.iter().filter_map(here).collect()
    }

    /// What becomes of each contact of a cluster, with the states after.
    pub(super) fn settle(&mut self, cluster: &mut Cluster, closing: bool) -> Vec<Verdict> {
        let mut verdicts = Vec::with_capacity(cluster.contacts.len());
        let mut resting: Vec<usize> = Vec::new();
        let mut after: Vec<Kinematics> = Vec::with_capacity(cluster.contacts.len());
        for (k, contact) in cluster.contacts.iter().enumerate() {
            let now = self.kinematics_of(&contact.pair, cluster, &cluster.after, &contact.found);
            let speed = self.speed(&contact.pair, |body| {
                let at = cluster.place(body);
                let (a, b) = (&cluster.before[at], &cluster.after[at]);
                if a.velocity.norm() > b.velocity.norm() { *a } else { *b }
            });
            let slow = self.slow(&contact.pair, &now, speed);
            let class = if closing { "normal" } else { "separating" };
            let mut verdict = if contact.rests || now.v.abs() <= slow {
                resting.push(k);
                Verdict::new(Fate::Parts, "graze")
            } else if now.v > 0.0 {
                Verdict::new(Fate::Parts, class)
            } else {
                Verdict::new(Fate::Closes, class)
            };
            verdict.was_held = matches!(self.standing.get(&contact.pair), Some(Standing::Held(_)));
            after.push(now);
            verdicts.push(verdict);
        }
        if !resting.is_empty() {
            self.weigh(cluster, &resting, &after, &mut verdicts);
        }
        for (contact, verdict) in cluster.contacts.iter().zip(&mut verdicts) {
            if contact.rests && verdict.fate == Fate::Holds {
                verdict.limit = self.limit(contact, verdict);
            }
        }
        verdicts
    }

    /// When bounces that end here would have ended by themselves: 2v⁺/(|g''|(1−k)), a geometric series whose ratio is
    /// constant but for the change of g''.
    fn limit(&self, contact: &Encounter, verdict: &Verdict) -> Option<[f64; 2]> {
        let (restitution, _) = self.world.answer(Self::sides(&contact.pair));
        let (g2, g3) = (verdict.g2?, verdict.g3?);
        let wait = 2.0 * restitution * contact.before.v.abs() / (g2.abs() * (1.0 - restitution));
        let error = wait * (wait * g3.abs() / g2.abs()).min(1.0) + contact.error;
        (wait.is_finite() && error.is_finite()).then_some([wait, error])
    }

    /// Lets accelerations decide: what would sink is held, what opens parts.
    fn weigh(
        &mut self,
        cluster: &Cluster,
        resting: &[usize],
        after: &[Kinematics],
        verdicts: &mut [Verdict],
    ) {
        let answers = self.accelerations(cluster, resting);
        for (&k, (force, g2)) in resting.iter().zip(answers) {
            let (contact, now) = (&cluster.contacts[k], &after[k]);
            let verdict = &mut verdicts[k];
            // The numbers of the classification are those of free flight.
            (verdict.g2, verdict.g3) = (Some(now.g2), Some(now.g3));
            let scale = self.scales(cluster, contact);
            let pushed = force > 0.0 && now.g2 < -NONE * scale[0];
            if pushed || (force > 0.0 && g2.abs() <= NONE * scale[0] && resting.len() > 1) {
                verdict.fate = Fate::Holds;
                verdict.class = if contact.new && !contact.rests && contact.impulse == 0.0 { "unrealizable" } else { "normal" };
            } else if g2 > NONE * scale[0] {
                verdict.fate = Fate::Parts;
            } else if now.g3 < -NONE * scale[1] && resting.len() == 1 {
                self.at_paradox(cluster, contact, now, verdict);
            } else if now.g3 > NONE * scale[1] && resting.len() == 1 {
                verdict.fate = Fate::Parts;
            } else {
                verdict.fate = Fate::Stays;
                verdict.class = "degenerate";
            }
        }
    }

    fn at_paradox(&self, cluster: &Cluster, contact: &Encounter, now: &Kinematics, verdict: &mut Verdict) {
        let speed = self.speed(&contact.pair, |body| cluster.after[cluster.place(body)]);
        let small = |x: f64, scale: f64| x <= 1e-8 * scale;
        verdict.class = if !small(now.w.norm(), speed / self.size(&contact.pair)) {
            "paradox_marginal"
        } else if small(now.slip.norm(), speed) {
            "paradox_2b_star"
        } else {
            "paradox_2b"
        };
        verdict.force_slope = Some(-now.g3 / self.inverse_mass(cluster, contact));
        verdict.fate = match self.world.on_paradox {
            OnParadox::Hold => Fate::Holds,
            OnParadox::Pass => Fate::Passes,
            OnParadox::Stop => Fate::Stops,
        };
    }

    /// n·M·n of a contact.
    fn inverse_mass(&self, cluster: &Cluster, contact: &Encounter) -> f64 {
        let second = contact.pair.second as usize;
        let mut there = cluster.after[cluster.place(second)];
        there.position += self.displacement(&contact.pair);
        let points = contact.before.points;
        let other = Some((&self.world.bodies[second], &there));
        match contact.pair.first {
            Party::Plane(_) => effective_inverse_mass([None, other], &points, &contact.found.normal),
            Party::Body(first) => {
                let first = first as usize;
                let one = Some((&self.world.bodies[first], &cluster.after[cluster.place(first)]));
                effective_inverse_mass([one, other], &points, &contact.found.normal)
            }
        }
    }

    /// The sizes of second and third derivatives at a contact, for what counts as none.
    fn scales(&self, cluster: &Cluster, contact: &Encounter) -> [f64; 2] {
        let speed = self.speed(&contact.pair, |body| cluster.after[cluster.place(body)]);
        let size = self.size(&contact.pair);
        let rate = speed / size;
        let acceleration = speed * rate + self.world.gravity.norm();
        [acceleration, acceleration * rate]
    }
}
