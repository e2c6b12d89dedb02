//! What becomes of a contact that neither closes nor parts: the accelerations decide.
//!
//! Where free flight would let the bodies sink into one another, now or, at a paradox, in the next moment, a workless normal
//! force keeps them touching until it returns to zero (`held`); or, as asked, they pass (`pass`) or the run stops. Where
//! neither the second nor the third derivative of the gap says anything, the gap in free flight does, and one that stays zero
//! stands without any force.

use serde::{Deserialize, Serialize};

use super::Simulation;
use super::group::flow_of;
use super::predict::index;
use super::queue::{Pair, Party};
use super::touch::{Cluster, Encounter};
use crate::contact::Surface;
use crate::contact::kinematics::{Kinematics, effective_inverse_mass};
use crate::flow::{Holding, Obstacle};
use crate::motion::Flight;
use crate::record::Kind;
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
    /// Whether the bodies had overlapped.
    pub exits: bool,
    pub class: &'static str,
    pub g2: Option<f64>,
    pub g3: Option<f64>,
    pub force_slope: Option<f64>,
    /// The time until bounces end, with its error.
    pub limit: Option<[f64; 2]>,
}

impl Verdict {
    pub fn new(fate: Fate, class: &'static str) -> Self {
        Self {
            fate,
            was_held: false,
            exits: false,
            class,
            g2: None,
            g3: None,
            force_slope: None,
            limit: None,
        }
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
        // What was held already has no bounces to end.
        let rests = contact.rests && !self.was_held && self.fate == Fate::Holds;
        let blow = if rests { Kind::Rest } else { Kind::Impact };
        let begins = !self.was_held && !rests;
        let then = match self.fate {
            Fate::Parts if self.exits => Some(Kind::PassEnd),
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

    /// What becomes of each contact of a cluster, with the states after; none where accelerations have no answer.
    pub(super) fn settle(
        &self,
        cluster: &Cluster,
        closing: bool,
        leaving: Option<Pair>,
        t: f64,
    ) -> Result<Vec<Verdict>, Obstacle> {
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
            let mut verdict = if leaving == Some(contact.pair) {
                Verdict::new(Fate::Parts, "separating")
            } else if contact.rests || now.v.abs() <= slow {
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
        if let Some(k) = cluster.contacts.iter().position(|contact| leaving == Some(contact.pair))
            && self.only_slips(cluster, &resting, k)?
        {
            resting.push(k);
            resting.sort_unstable();
        }
        if !resting.is_empty() {
            self.weigh(cluster, &resting, &after, &mut verdicts, t)?;
        }
        for (contact, verdict) in cluster.contacts.iter().zip(&mut verdicts) {
            if contact.rests && contact.new && verdict.fate == Fate::Holds {
                verdict.limit = self.limit(contact, verdict);
            }
        }
        Ok(verdicts)
    }

    /// Whether a rough contact that lets go loses its grip alone: free of it, the bodies would sink into one another.
    fn only_slips(&self, cluster: &Cluster, resting: &[usize], k: usize) -> Result<bool, Obstacle> {
        let contact = &cluster.contacts[k];
        let (_, surface) = self.world.answer(Self::sides(&contact.pair));
        if surface != Surface::Rough {
            return Ok(false);
        }
        let bodies: Vec<u32> = cluster.bodies.iter().map(|&body| index(body)).collect();
        let others = resting.iter().map(|&i| cluster.contacts[i].pair);
        let pairs: Vec<Pair> = core::iter::once(contact.pair).chain(others).collect();
        let flow = flow_of(&self.world, &bodies, &pairs, self.time());
        let free = flow.acceleration_without(&cluster.after, 0)?;
        Ok(free < -NONE * self.scales(cluster, contact)[0])
    }

    /// When bounces that end here would have ended by themselves: 2v⁺/(|g''|(1−k)), a geometric series whose ratio is
    /// constant but for the change of g''.
    fn limit(&self, contact: &Encounter, verdict: &Verdict) -> Option<[f64; 2]> {
        let (restitution, _) = self.world.answer(Self::sides(&contact.pair));
        let (g2, g3) = (verdict.g2?, verdict.g3?);
        let wait = 2.0 * restitution * contact.before.v.abs() / (g2.abs() * (1.0 - restitution));
        // An error of this impact's time is one of its speed, and so are those of the impacts before.
        let unsure = contact.error * (1.0 + restitution) / ((1.0 - restitution) * (1.0 - restitution));
        let error = wait * (wait * g3.abs() / g2.abs()).min(1.0) + unsure;
        (wait.is_finite() && error.is_finite()).then_some([wait, error])
    }

    /// Lets accelerations decide: what would sink is held, what opens parts. False where they have no answer.
    fn weigh(
        &self,
        cluster: &Cluster,
        resting: &[usize],
        after: &[Kinematics],
        verdicts: &mut [Verdict],
        t: f64,
    ) -> Result<(), Obstacle> {
        for &k in resting {
            // The numbers of the classification are those of free flight.
            (verdicts[k].g2, verdicts[k].g3) = (Some(after[k].g2), Some(after[k].g3));
        }
        // Of tied bodies accelerations depend on their joints, and contacts that accelerations leave open are held until they part.
        let tied = cluster.bodies.iter().any(|&body| self.world.tied(body));
        if tied || resting.len() > 1 {
            let holding = self.weigh_together(cluster, resting)?;
            for (i, &k) in resting.iter().enumerate() {
                let scale = self.scales(cluster, &cluster.contacts[k]);
                verdicts[k].fate = if holding.holds[i] && !holding.marginal[i] {
                    Fate::Holds
                } else if holding.accelerations[i] > NONE * scale[0] {
                    Fate::Parts
                } else if tied {
                    Fate::Holds
                } else {
                    self.foresee(cluster, &cluster.contacts[k], t)
                };
                verdicts[k].class = Self::standing_class(&cluster.contacts[k], verdicts[k].fate);
            }
            return Ok(());
        }
        let k = resting[0];
        let (contact, now, verdict) = (&cluster.contacts[k], &after[k], &mut verdicts[k]);
        let scale = self.scales(cluster, contact);
        if now.g2 < -NONE * scale[0] {
            verdict.fate = Fate::Holds;
            verdict.class = Self::standing_class(contact, Fate::Holds);
        } else if now.g2 > NONE * scale[0] {
            verdict.fate = Fate::Parts;
        } else if now.g3 < -NONE * scale[1] {
            self.at_paradox(cluster, contact, now, verdict);
        } else if now.g3 > NONE * scale[1] {
            verdict.fate = Fate::Parts;
        } else {
            verdict.fate = self.foresee(cluster, contact, t);
            verdict.class = "degenerate";
        }
        Ok(())
    }

    /// The type of a contact that no impulse decides.
    fn standing_class(contact: &Encounter, fate: Fate) -> &'static str {
        let fresh = contact.new && !contact.rests && contact.impulse == 0.0;
        match fate {
            // Free flight would overlap on both sides of now: no first contact, but a contact that stands.
            Fate::Holds if fresh => "unrealizable",
            Fate::Holds => "normal",
            Fate::Parts => "graze",
            _ => "degenerate",
        }
    }

    /// Where no derivative decides, the gap in free flight does: the first that is more than rounding.
    fn foresee(&self, cluster: &Cluster, contact: &Encounter, t: f64) -> Fate {
        let pair = &contact.pair;
        let speed = self.speed(pair, |body| cluster.after[cluster.place(body)]);
        let passage = self.size(pair) / speed;
        if !passage.is_finite() {
            return Fate::Stays;
        }
        let level = 4.0 * self.level(pair, &contact.found.points[0]) + contact.found.gap.abs();
        let flight = |body: usize| {
            Flight::new(&self.world.bodies[body], &cluster.after[cluster.place(body)], &self.world.gravity)
        };
        let second = flight(pair.second as usize);
        let first = match pair.first {
            Party::Plane(_) => None,
            Party::Body(first) => Some(flight(first as usize)),
        };
        let mut wait = 1e-6 * passage;
        let end = self.clock.local(self.settings.until) - t;
        while wait < passage.min(end) {
            let state = |body: usize| match &first {
                Some(flight) if body != pair.second as usize => flight.at(wait),
                _ => second.at(wait),
            };
            let Some(found) = self.gap_between(pair, state) else { break };
            if found.gap > level {
                return Fate::Parts;
            }
            if found.gap < -level {
                return Fate::Holds;
            }
            wait *= 2.0;
        }
        Fate::Stays
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

    /// Which of several resting contacts hold: 0 ≤ λ ⟂ g'' ≥ 0 for all of them together.
    fn weigh_together(&self, cluster: &Cluster, resting: &[usize]) -> Result<Holding, Obstacle> {
        let bodies: Vec<u32> = cluster.bodies.iter().map(|&body| index(body)).collect();
        let pairs: Vec<Pair> = resting.iter().map(|&k| cluster.contacts[k].pair).collect();
        let flow = flow_of(&self.world, &bodies, &pairs, self.time());
        let mut states = cluster.after.clone();
        flow.project(&mut states)?;
        flow.holding(&states)
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
    pub(super) fn scales(&self, cluster: &Cluster, contact: &Encounter) -> [f64; 2] {
        let speed = self.speed(&contact.pair, |body| cluster.after[cluster.place(body)]);
        let size = self.size(&contact.pair);
        let rate = speed / size;
        let acceleration = speed * rate + self.world.gravity.norm();
        [acceleration, acceleration * rate]
    }
}
