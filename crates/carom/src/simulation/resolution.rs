//! What becomes of a contact that neither closes nor parts: the accelerations decide.
//!
//! Where free flight would let the bodies sink into one another, now or, at a paradox, in the next moment, a workless normal
//! force keeps them touching until it returns to zero (`held`); or, as asked, they pass (`pass`) or the run stops.
//!
//! **One contact of free bodies** is decided by the first of g'' and g''' that is more than its rounding. Where neither is, the gap in
//! free flight decides, and one that stays zero stands without any force; it is looked at again while the bodies move.
//!
//! **Several contacts**, and those of tied bodies, are one problem, 0 ≤ λ ⟂ g'' ≥ 0 ([`Flow::holding`](crate::flow::Flow::holding)).
//! Where it leaves a contact open, and the rates of the forces too, the motion with the others held decides: a contact that it would
//! close is held as well, and one at which it leaves the gap zero stands without a force, and is watched piece by piece (`watch`).
//! Beside joints what is left open is held until it parts. Only where no force acts in all that touches is that motion free flight.

use serde::{Deserialize, Serialize};

use super::Simulation;
use super::contact_event::{Cluster, Encounter, residue};
use super::group::{FOREVER, flow_of, without_spin};
use super::queue::{Pair, PairSide};
use crate::body::State;
use crate::contact::Surface;
use crate::contact::classify::Type;
use crate::contact::kinematics::{Kinematics, effective_inverse_mass};
use crate::flow::{Holding, Obstacle};
use crate::motion::Flight;
use crate::record::Kind;
use crate::run::index;
use crate::run::tolerances::PARADOX;
use crate::scene::model::OnParadox;

/// How a contact lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Persistence {
    /// By a force, in this group.
    Held(u32),
    /// Without any force, and nothing drives it apart or together.
    Neutral,
    /// The bodies overlap, as asked.
    Passing,
}

/// What becomes of a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
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
pub(super) struct ContactResolution {
    pub outcome: Outcome,
    /// Whether it stood before, and was held.
    pub was_held: bool,
    /// Whether the bodies had overlapped.
    pub exits: bool,
    pub class: Type,
    pub g2: Option<f64>,
    pub g3: Option<f64>,
    pub force_slope: Option<f64>,
    /// The time until bounces end, with its error.
    pub limit: Option<[f64; 2]>,
}

impl ContactResolution {
    pub fn new(outcome: Outcome, class: Type) -> Self {
        Self {
            outcome,
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
        self.outcome == Outcome::Parts
    }

    /// Whether the pair needs no search while it lasts.
    pub fn stands(&self) -> bool {
        matches!(self.outcome, Outcome::Holds | Outcome::Stays | Outcome::Passes)
    }

    /// What is to be recorded of a contact.
    pub fn kinds(&self, contact: &Encounter, closing: bool) -> impl Iterator<Item = (Kind, Type)> {
        let struck = closing
            && (contact.impulse != 0.0
                || contact.key.gripped
                || (contact.key.new && contact.key.before.v < 0.0));
        // What was held already has no bounces to end.
        let rests = contact.key.rests && !self.was_held && self.outcome == Outcome::Holds;
        let blow = if rests { Kind::Rest } else { Kind::Impact };
        let begins = !self.was_held && !rests;
        let then = match self.outcome {
            Outcome::Parts if self.exits => Some(Kind::PassEnd),
            Outcome::Parts if self.was_held => Some(Kind::HoldEnd),
            Outcome::Parts if !closing && self.class == Type::Graze => Some(Kind::Graze),
            Outcome::Holds if begins => Some(Kind::HoldBegin),
            Outcome::Passes => Some(Kind::PassBegin),
            Outcome::Stops => Some(Kind::Stop),
            _ => None,
        };
        let struck = struck.then_some((blow, Type::Normal));
        struck.into_iter().chain(then.map(|kind| (kind, self.class)))
    }
}

/// How often the time is halved at which a gap ceases to be zero.
const HALVINGS: u32 = 30;

/// An acceleration that leaves a contact of tied or rough bodies as it is, beside what it is made of.
const NONE: f64 = 1e-9;

impl Simulation {
    /// The contacts that stand at a body, passing ones not.
    pub(super) fn standing_of(&self, body: usize) -> Vec<Pair> {
        let concerns = |pair: &Pair| {
            pair.second as usize == body
                || matches!(pair.first, PairSide::Body(first) if first as usize == body)
        };
        let here = |(pair, standing): (&Pair, &Persistence)| {
            (concerns(pair) && *standing != Persistence::Passing).then_some(*pair)
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
    ) -> Result<Vec<ContactResolution>, Obstacle> {
        let mut resolutions = Vec::with_capacity(cluster.contacts.len());
        let mut resting: Vec<usize> = Vec::new();
        let mut after: Vec<Kinematics> = Vec::with_capacity(cluster.contacts.len());
        // What an impact leaves is rounding of all that it had to balance.
        let left = cluster.contacts.iter().map(|contact| residue(&contact.key.before)).fold(0.0, f64::max);
        for (k, contact) in cluster.contacts.iter().enumerate() {
            let now = self.kinematics_of(&contact.key.pair, cluster, &cluster.after, &contact.found);
            let slow = self.velocity_threshold(&contact.key.pair, &now).max(left);
            let class = if closing { Type::Normal } else { Type::Separating };
            let mut resolution = if leaving == Some(contact.key.pair) {
                ContactResolution::new(Outcome::Parts, Type::Separating)
            } else if contact.key.rests || now.v.abs() <= slow {
                resting.push(k);
                ContactResolution::new(Outcome::Parts, Type::Graze)
            } else if now.v > 0.0 {
                ContactResolution::new(Outcome::Parts, class)
            } else {
                ContactResolution::new(Outcome::Closes, class)
            };
            resolution.was_held = matches!(self.standing.get(&contact.key.pair), Some(Persistence::Held(_)));
            after.push(now);
            resolutions.push(resolution);
        }
        if let Some(k) = cluster.contacts.iter().position(|contact| leaving == Some(contact.key.pair))
            && self.only_slips(cluster, &resting, k, &after[k])?
        {
            resting.push(k);
            resting.sort_unstable();
        }
        if !resting.is_empty() {
            self.weigh(cluster, &resting, &after, &mut resolutions, t)?;
        }
        for (contact, resolution) in cluster.contacts.iter().zip(&mut resolutions) {
            if contact.key.rests && contact.key.new && resolution.outcome == Outcome::Holds {
                resolution.limit = self.limit(contact, resolution);
            }
        }
        Ok(resolutions)
    }

    /// Whether a rough contact that lets go loses its grip alone: free of it, the bodies would sink into one another.
    fn only_slips(
        &self,
        cluster: &Cluster,
        resting: &[usize],
        k: usize,
        now: &Kinematics,
    ) -> Result<bool, Obstacle> {
        let contact = &cluster.contacts[k];
        let (_, surface) = self.world.answer(Self::sides(&contact.key.pair));
        if surface != Surface::Rough {
            return Ok(false);
        }
        let bodies: Vec<u32> = cluster.bodies.iter().map(|&body| index(body)).collect();
        let others = resting.iter().map(|&i| cluster.contacts[i].key.pair);
        let pairs: Vec<Pair> = core::iter::once(contact.key.pair).chain(others).collect();
        let flow = flow_of(&self.world, &bodies, &pairs, self.time());
        let free = flow.acceleration_without(&cluster.after, 0)?;
        Ok(free < -NONE * now.magnitudes[1].max(self.world.gravity.norm()))
    }

    /// When bounces that end here would have ended by themselves: 2v⁺/(|g''|(1−k)), a geometric series whose ratio is
    /// constant but for the change of g''.
    fn limit(&self, contact: &Encounter, resolution: &ContactResolution) -> Option<[f64; 2]> {
        let (restitution, _) = self.world.answer(Self::sides(&contact.key.pair));
        let (g2, g3) = (resolution.g2?, resolution.g3?);
        let wait = 2.0 * restitution * contact.key.before.v.abs() / (g2.abs() * (1.0 - restitution));
        // An error of this impact's time is one of its speed, and so are those of the impacts before.
        let unsure = contact.key.error * (1.0 + restitution) / ((1.0 - restitution) * (1.0 - restitution));
        let error = wait * (wait * g3.abs() / g2.abs()).min(1.0) + unsure;
        (wait.is_finite() && error.is_finite()).then_some([wait, error])
    }

    /// Lets accelerations decide: what would sink is held, what opens parts. False where they have no answer.
    fn weigh(
        &self,
        cluster: &Cluster,
        resting: &[usize],
        after: &[Kinematics],
        resolutions: &mut [ContactResolution],
        t: f64,
    ) -> Result<(), Obstacle> {
        for &k in resting {
            // The numbers of the classification are those of free flight.
            (resolutions[k].g2, resolutions[k].g3) = (Some(after[k].g2), Some(after[k].g3));
        }
        let tied = cluster.bodies.iter().any(|&body| self.world.constrained(body));
        if tied || resting.len() > 1 {
            return self.weigh_several(cluster, resting, after, resolutions, t);
        }
        let k = resting[0];
        let (contact, now, resolution) = (&cluster.contacts[k], &after[k], &mut resolutions[k]);
        let [_, none_2, none_3] = now.rounding;
        let paradox = now.g3 < -none_3.max(PARADOX * now.magnitudes[2]);
        if paradox && now.g2.abs() <= PARADOX * now.magnitudes[1] {
            self.at_paradox(cluster, contact, now, resolution);
        } else if now.g2 < -none_2 {
            resolution.outcome = Outcome::Holds;
            resolution.class = Self::standing_class(contact, Outcome::Holds);
        } else if now.g2 > none_2 || now.g3 > none_3 {
            resolution.outcome = Outcome::Parts;
        } else if now.g3 < -none_3 {
            self.at_paradox(cluster, contact, now, resolution);
        } else {
            resolution.outcome = self.foresee(cluster, contact, t);
            resolution.class = Type::Degenerate;
        }
        Ok(())
    }

    /// The same for several contacts, or those of tied bodies.
    fn weigh_several(
        &self,
        cluster: &Cluster,
        resting: &[usize],
        after: &[Kinematics],
        resolutions: &mut [ContactResolution],
        t: f64,
    ) -> Result<(), Obstacle> {
        let holding = self.weigh_together(cluster, resting)?;
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(resting.len());
        for (i, &k) in resting.iter().enumerate() {
            let tied = self.movable(&cluster.contacts[k].key.pair).any(|body| self.world.constrained(body));
            // Beside joints accelerations are known less well, and contacts that they leave open are held until they part.
            let open = tied && holding.accelerations[i] <= NONE * after[k].magnitudes[1];
            outcomes.push(if holding.holds[i] || open { Outcome::Holds } else { Outcome::Parts });
        }
        // Where no force acts on any of the bodies that touch one another they fly freely.
        for together in self.touching(cluster, resting) {
            let forced = together.iter().any(|&i| {
                let contact = &cluster.contacts[resting[i]];
                outcomes[i] == Outcome::Holds
                    && (!holding.marginal[i]
                        || holding.rates[i] > 0.0
                        || self.movable(&contact.key.pair).any(|body| self.world.constrained(body)))
            });
            if forced {
                let open = |&i: &usize| {
                    outcomes[i] == Outcome::Holds && holding.marginal[i] && holding.rates[i] <= 0.0
                };
                let free = |&i: &usize| {
                    let pair = &cluster.contacts[resting[i]].key.pair;
                    !self.movable(pair).any(|body| self.world.constrained(body))
                };
                let open: Vec<usize> = together.into_iter().filter(open).filter(free).collect();
                self.follow_the_held(cluster, resting, &mut outcomes, open, t);
                continue;
            }
            let open: Vec<usize> = together.into_iter().filter(|&i| outcomes[i] == Outcome::Holds).collect();
            let flown: Vec<Outcome> =
                open.iter().map(|&i| self.foresee(cluster, &cluster.contacts[resting[i]], t)).collect();
            if !flown.contains(&Outcome::Holds) {
                for (&i, outcome) in open.iter().zip(flown) {
                    outcomes[i] = outcome;
                }
            }
        }
        for (&k, outcome) in resting.iter().zip(outcomes) {
            resolutions[k].outcome = outcome;
            resolutions[k].class = Self::standing_class(&cluster.contacts[k], outcome);
        }
        Ok(())
    }

    /// Contacts that forces leave open are decided by the motion with the others held: the first that it closes is held too, and then it
    /// is asked again.
    fn follow_the_held(
        &self,
        cluster: &Cluster,
        resting: &[usize],
        outcomes: &mut [Outcome],
        mut open: Vec<usize>,
        t: f64,
    ) {
        let bodies: Vec<u32> = cluster.bodies.iter().map(|&body| index(body)).collect();
        let end = self.clock.local(self.settings.until) - t;
        while !open.is_empty() {
            let held = (0..resting.len()).filter(|i| outcomes[*i] == Outcome::Holds && !open.contains(i));
            let pairs: Vec<Pair> = held.map(|i| cluster.contacts[resting[i]].key.pair).collect();
            let flow = flow_of(&self.world, &bodies, &pairs, self.time());
            let (still, _) = without_spin(&self.world, &bodies, &pairs, &cluster.after);
            // Without a motion to ask all of them are held.
            let Ok(piece) = flow.advance(&still, 0.0, FOREVER) else { return };
            let span = piece.until.min(end);
            let mut first: Option<(f64, usize)> = None;
            for &i in &open {
                let pair = &cluster.contacts[resting[i]].key.pair;
                let left = if piece.rests() {
                    None
                } else {
                    self.leaves_zero(pair, span, |body, wait| piece.at(cluster.place(body), wait))
                };
                outcomes[i] = match left {
                    Some((wait, gap)) if gap < 0.0 => {
                        if first.is_none_or(|(soonest, _)| wait < soonest) {
                            first = Some((wait, i));
                        }
                        Outcome::Holds
                    }
                    Some(_) => Outcome::Parts,
                    None => Outcome::Stays,
                };
            }
            let Some((_, first)) = first else { return };
            open.retain(|&i| i != first);
        }
    }

    /// The resting contacts in lots that share movable or tied bodies, by their places in the list.
    fn touching(&self, cluster: &Cluster, resting: &[usize]) -> Vec<Vec<usize>> {
        let members = |i: usize| -> Vec<usize> {
            let of = |body: usize| match self.world.constraints.system(body) {
                Some(system) => {
                    system.bodies.iter().copied().filter(|&b| !self.world.bodies[b].fixed).collect()
                }
                None => vec![body],
            };
            self.movable(&cluster.contacts[resting[i]].key.pair).flat_map(of).collect()
        };
        let mut lots: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for i in 0..resting.len() {
            let (mut bodies, mut places) = (members(i), vec![i]);
            let (joined, apart): (Vec<_>, Vec<_>) =
                lots.into_iter().partition(|(others, _)| others.iter().any(|body| bodies.contains(body)));
            lots = apart;
            for (more, theirs) in joined {
                bodies.extend(more);
                places.extend(theirs);
            }
            lots.push((bodies, places));
        }
        lots.into_iter().map(|(_, places)| places).collect()
    }

    /// The type of a contact that no impulse decides.
    fn standing_class(contact: &Encounter, outcome: Outcome) -> Type {
        let fresh = contact.key.new && !contact.key.rests && contact.impulse == 0.0;
        match outcome {
            // Free flight would overlap on both sides of now: no first contact, but a contact that stands.
            Outcome::Holds if fresh => Type::Unrealizable,
            Outcome::Holds => Type::Normal,
            Outcome::Parts => Type::Graze,
            _ => Type::Degenerate,
        }
    }

    /// Where no derivative decides, the gap in free flight does: the first that is more than rounding.
    fn foresee(&self, cluster: &Cluster, contact: &Encounter, t: f64) -> Outcome {
        let pair = &contact.key.pair;
        let speed = self.speed(pair, |body| cluster.after[cluster.place(body)]);
        let passage = self.size(pair) / speed;
        if !passage.is_finite() {
            return Outcome::Stays;
        }
        let flight = |body: usize| {
            Flight::new(&self.world.bodies[body], &cluster.after[cluster.place(body)], &self.world.gravity)
        };
        let second = flight(pair.second as usize);
        let first = match pair.first {
            PairSide::Plane(_) => None,
            PairSide::Body(first) => Some(flight(first as usize)),
        };
        let state = |body: usize, wait: f64| match &first {
            Some(flight) if body != pair.second as usize => flight.at(wait),
            _ => second.at(wait),
        };
        let span = passage.min(self.clock.local(self.settings.until) - t);
        match self.leaves_zero(pair, span, state) {
            Some((_, gap)) if gap > 0.0 => Outcome::Parts,
            Some(_) => Outcome::Holds,
            None => Outcome::Stays,
        }
    }

    /// When a gap that is zero now first differs from that by more than rounding on given motions, and what it is then; looked for at
    /// times that double, up to a span, and by halves in between.
    pub(super) fn leaves_zero(
        &self,
        pair: &Pair,
        span: f64,
        state: impl Fn(usize, f64) -> State,
    ) -> Option<(f64, f64)> {
        let at = |wait: f64| self.gap_between(pair, |body| state(body, wait));
        let now = at(0.0)?;
        let level = 4.0 * self.level(pair, &now.points[0]) + now.gap.abs();
        let (mut low, mut high) = (0.0, 1e-6 * span);
        let mut gap = loop {
            if !(high > low && high.is_finite()) {
                return None;
            }
            let gap = at(high)?.gap;
            if gap.abs() > level {
                break gap;
            }
            low = high;
            high = (2.0 * high).min(span);
        };
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let between = at(middle)?.gap;
            if between.abs() > level {
                (high, gap) = (middle, between);
            } else {
                low = middle;
            }
        }
        Some((high, gap))
    }

    fn at_paradox(
        &self,
        cluster: &Cluster,
        contact: &Encounter,
        now: &Kinematics,
        resolution: &mut ContactResolution,
    ) {
        let speed = self.speed(&contact.key.pair, |body| cluster.after[cluster.place(body)]);
        let small = |x: f64, scale: f64| x <= 1e-8 * scale;
        resolution.class = if !small(now.w.norm(), speed / self.size(&contact.key.pair)) {
            Type::ParadoxMarginal
        } else if small(now.slip.norm(), speed) {
            Type::Paradox2bStar
        } else {
            Type::Paradox2b
        };
        resolution.force_slope = Some(-now.g3 / self.inverse_mass(cluster, contact));
        resolution.outcome = match self.world.on_paradox {
            OnParadox::Hold => Outcome::Holds,
            OnParadox::Pass => Outcome::Passes,
            OnParadox::Stop => Outcome::Stops,
        };
    }

    /// Which of several resting contacts hold: 0 ≤ λ ⟂ g'' ≥ 0 for all of them together.
    fn weigh_together(&self, cluster: &Cluster, resting: &[usize]) -> Result<Holding, Obstacle> {
        let bodies: Vec<u32> = cluster.bodies.iter().map(|&body| index(body)).collect();
        let pairs: Vec<Pair> = resting.iter().map(|&k| cluster.contacts[k].key.pair).collect();
        let flow = flow_of(&self.world, &bodies, &pairs, self.time());
        let mut states = without_spin(&self.world, &bodies, &pairs, &cluster.after).0;
        flow.project(&mut states)?;
        flow.holding(&states)
    }

    /// n·M·n of a contact.
    pub(super) fn inverse_mass(&self, cluster: &Cluster, contact: &Encounter) -> f64 {
        let second = contact.key.pair.second as usize;
        let mut there = cluster.after[cluster.place(second)];
        there.position += self.displacement(&contact.key.pair);
        let points = contact.key.before.points;
        let other = Some((&self.world.bodies[second], &there));
        match contact.key.pair.first {
            PairSide::Plane(_) => effective_inverse_mass([None, other], &points, &contact.found.normal),
            PairSide::Body(first) => {
                let first = first as usize;
                let one = Some((&self.world.bodies[first], &cluster.after[cluster.place(first)]));
                effective_inverse_mass([one, other], &points, &contact.found.normal)
            }
        }
    }
}
