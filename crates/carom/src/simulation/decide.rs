//! Decides by accelerations what becomes of a contact that neither closes nor separates.
//!
//! Where free flight would let the bodies interpenetrate, now or, at a paradox, in the next moment, a workless normal force keeps the gap
//! at zero until the force returns to zero; or, as the scene asks, the bodies interpenetrate or the run stops.
//!
//! **One contact of free bodies** is decided by the first of g'' and g''' that exceeds its rounding. Where neither does, the gap in free
//! flight decides; a contact whose gap stays zero persists without a force and is monitored while the bodies move.
//!
//! **Several contacts**, and those of constrained bodies, are one problem, 0 ≤ λ ⟂ g'' ≥ 0
//! ([`Flow::holding`](crate::flow::Flow::holding)).
//! Where it leaves a contact undecided, and the rates of the forces do too, the motion with the other contacts active decides: a contact
//! that it would close becomes active as well, and one at which it leaves the gap zero persists without a force, monitored step by
//! step. Beside joints an undecided contact is active until it separates. Only where no force acts in a connected set of contacts is that
//! motion free flight.

use std::collections::BTreeMap;

use super::cluster::{Cluster, ClusterContact};
use super::dynamics::Dynamics;
use super::group::{FOREVER, flow_of, without_spin};
use super::pair::{Pair, PairSide, residue};
use super::persistent::Persistence;
use super::resolution::{ContactResolution, Outcome};
use crate::contact::Surface;
use crate::contact::classify::Type;
use crate::contact::kinematics::Kinematics;
use crate::flow::{Flow, Holding, Obstacle};
use crate::motion::Flight;
use crate::run::tolerances::PARADOX;
use crate::scene::model::OnParadox;

/// An acceleration that counts as zero at a contact of constrained or rough bodies, relative to what it is made of.
const NONE: f64 = 1e-9;

/// An event whose contacts are to be decided.
#[derive(Clone, Copy)]
pub(super) struct Decision<'a> {
    pub dynamics: &'a Dynamics,
    /// The contacts, with the states after the impact.
    pub cluster: &'a Cluster,
    pub t: f64,
}

impl Decision<'_> {
    /// What becomes of each contact. `leaving` is an active contact whose force has returned to zero.
    ///
    /// # Errors
    /// If the accelerations have no solution.
    pub fn resolutions(
        &self,
        closing: bool,
        leaving: Option<Pair>,
    ) -> Result<Vec<ContactResolution>, Obstacle> {
        let (dynamics, contacts) = (self.dynamics, &self.cluster.contacts);
        let mut resolutions = Vec::with_capacity(contacts.len());
        let mut resting: Vec<usize> = Vec::new();
        let mut after: Vec<Kinematics> = Vec::with_capacity(contacts.len());
        // What an impact leaves of a velocity is rounding of everything that it had to balance.
        let left = contacts.iter().map(|contact| residue(&contact.key.before)).fold(0.0, f64::max);
        for (k, contact) in contacts.iter().enumerate() {
            let now = self.cluster.kinematics_after(dynamics, k);
            let mut slow = contact.key.pair.velocity_threshold(&dynamics.world, &now).max(left);
            // An impact elsewhere does not open a persistent contact at less than the rest speed.
            if closing && !contact.key.new && contact.restitution < 1.0 && now.v > 0.0 {
                slow = slow.max(dynamics.rest_speed(&contact.key.pair));
            }
            let class = if closing { Type::Normal } else { Type::Separating };
            let mut resolution = if leaving == Some(contact.key.pair) {
                ContactResolution::new(Outcome::Separates, Type::Separating)
            } else if contact.key.rests || now.v.abs() <= slow {
                resting.push(k);
                ContactResolution::new(Outcome::Separates, Type::Graze)
            } else if now.v > 0.0 {
                ContactResolution::new(Outcome::Separates, class)
            } else {
                ContactResolution::new(Outcome::Closes, class)
            };
            let before = dynamics.contacts.get(&contact.key.pair);
            resolution.was_active = matches!(before, Some(Persistence::Active(_)));
            after.push(now);
            resolutions.push(resolution);
        }
        if let Some(k) = contacts.iter().position(|contact| leaving == Some(contact.key.pair))
            && self.only_slips(&resting, k, &after[k])?
        {
            resting.push(k);
            resting.sort_unstable();
        }
        if !resting.is_empty() {
            self.by_accelerations(&resting, &after, &mut resolutions)?;
        }
        for (contact, resolution) in contacts.iter().zip(&mut resolutions) {
            if contact.key.rests && contact.key.new && resolution.outcome == Outcome::Active {
                resolution.limit = self.limit(contact, resolution);
            }
        }
        Ok(resolutions)
    }

    /// Whether a rough contact whose force has returned to zero loses its grip only: without it, the bodies would interpenetrate.
    fn only_slips(&self, resting: &[usize], k: usize, now: &Kinematics) -> Result<bool, Obstacle> {
        let world = &self.dynamics.world;
        let contacts = &self.cluster.contacts;
        if world.contact_properties(contacts[k].sides).1 != Surface::Rough {
            return Ok(false);
        }
        let pairs: Vec<Pair> = core::iter::once(&k).chain(resting).map(|&i| contacts[i].key.pair).collect();
        let flow = self.flow(&self.cluster.numbers(), &pairs);
        let free = flow.acceleration_without(&self.cluster.after, 0)?;
        Ok(free < -NONE * now.magnitudes[1].max(world.gravity.norm()))
    }

    /// The motion with some contacts active, as the group that may come of it will have it: with the same steps, and the same slips
    /// stopped. Otherwise a contact could be let go here which that motion closes at once.
    fn flow(&self, bodies: &[u32], pairs: &[Pair]) -> Flow {
        let flow = flow_of(&self.dynamics.world, bodies, pairs, self.dynamics.time());
        flow.expecting(self.dynamics.expected(bodies, pairs))
    }

    /// When bounces that end here would have ended by themselves: 2v⁺/(|g''|(1−k)), a geometric series whose ratio is
    /// constant but for the change of g''.
    fn limit(&self, contact: &ClusterContact, resolution: &ContactResolution) -> Option<[f64; 2]> {
        let (restitution, _) = self.dynamics.world.contact_properties(contact.sides);
        let (g2, g3) = (resolution.g2?, resolution.g3?);
        let wait = 2.0 * restitution * contact.key.before.v.abs() / (g2.abs() * (1.0 - restitution));
        // An error of this impact's time is one of its speed, and so are those of the impacts before.
        let unsure = contact.key.error * (1.0 + restitution) / ((1.0 - restitution) * (1.0 - restitution));
        let error = wait * (wait * g3.abs() / g2.abs()).min(1.0) + unsure;
        (wait.is_finite() && error.is_finite()).then_some([wait, error])
    }

    /// Decides resting contacts by accelerations: those that would interpenetrate become active, those that open separate.
    fn by_accelerations(
        &self,
        resting: &[usize],
        after: &[Kinematics],
        resolutions: &mut [ContactResolution],
    ) -> Result<(), Obstacle> {
        for &k in resting {
            // The derivatives that a classification reports are those of free flight.
            (resolutions[k].g2, resolutions[k].g3) = (Some(after[k].g2), Some(after[k].g3));
        }
        if self.cluster.is_constrained(self.dynamics) || resting.len() > 1 {
            return self.several_by_accelerations(resting, after, resolutions);
        }
        let k = resting[0];
        let (contact, now, resolution) = (&self.cluster.contacts[k], &after[k], &mut resolutions[k]);
        let [_, none_2, none_3] = now.rounding;
        let paradox = now.g3 < -none_3.max(PARADOX * now.magnitudes[2]);
        if paradox && now.g2.abs() <= PARADOX * now.magnitudes[1] {
            self.at_paradox(contact, now, resolution);
        } else if now.g2 < -none_2 {
            resolution.outcome = Outcome::Active;
            resolution.class = resting_class(contact, Outcome::Active);
        } else if now.g2 > none_2 || now.g3 > none_3 {
            resolution.outcome = Outcome::Separates;
        } else if now.g3 < -none_3 {
            self.at_paradox(contact, now, resolution);
        } else {
            resolution.outcome = self.by_free_flight(contact);
            resolution.class = Type::Degenerate;
        }
        Ok(())
    }

    /// As above, for several contacts or those of constrained bodies.
    fn several_by_accelerations(
        &self,
        resting: &[usize],
        after: &[Kinematics],
        resolutions: &mut [ContactResolution],
    ) -> Result<(), Obstacle> {
        let contacts = &self.cluster.contacts;
        let holding = self.solve_complementarity(resting)?;
        let constrained: Vec<bool> =
            resting.iter().map(|&k| contacts[k].key.pair.is_constrained(&self.dynamics.world)).collect();
        let mut outcomes: Vec<Outcome> = Vec::with_capacity(resting.len());
        for (i, &k) in resting.iter().enumerate() {
            // Beside joints accelerations are known less well, and contacts that they leave undecided are active until they separate.
            let undecided = constrained[i] && holding.accelerations[i] <= NONE * after[k].magnitudes[1];
            let active = holding.holds[i] || undecided;
            outcomes.push(if active { Outcome::Active } else { Outcome::Separates });
        }
        for connected in self.connected(resting) {
            let rates = |i: usize| holding.rates[i];
            let forced = connected.iter().any(|&i| {
                let force = !holding.marginal[i] || rates(i) > 0.0 || constrained[i];
                outcomes[i] == Outcome::Active && force
            });
            if forced {
                let undecided = |&i: &usize| {
                    let marginal = holding.marginal[i] && rates(i) <= 0.0;
                    outcomes[i] == Outcome::Active && marginal && !constrained[i]
                };
                let undecided: Vec<usize> = connected.into_iter().filter(undecided).collect();
                self.by_grouped_motion(resting, &mut outcomes, undecided);
                continue;
            }
            // Where no force acts on a connected set of bodies they fly freely.
            let active: Vec<usize> =
                connected.into_iter().filter(|&i| outcomes[i] == Outcome::Active).collect();
            let flown: Vec<Outcome> =
                active.iter().map(|&i| self.by_free_flight(&contacts[resting[i]])).collect();
            if !flown.contains(&Outcome::Active) {
                for (&i, outcome) in active.iter().zip(flown) {
                    outcomes[i] = outcome;
                }
            }
        }
        for (&k, outcome) in resting.iter().zip(outcomes) {
            resolutions[k].outcome = outcome;
            resolutions[k].class = resting_class(&contacts[k], outcome);
        }
        Ok(())
    }

    /// Decides contacts that forces leave undecided by the motion with the other contacts active: the first that it closes becomes active
    /// too, and then the motion is computed again.
    fn by_grouped_motion(&self, resting: &[usize], outcomes: &mut [Outcome], mut undecided: Vec<usize>) {
        let (dynamics, world) = (self.dynamics, &self.dynamics.world);
        let contacts = &self.cluster.contacts;
        let bodies = self.cluster.numbers();
        let end = dynamics.end() - self.t;
        while !undecided.is_empty() {
            let mut is_undecided = vec![false; resting.len()];
            undecided.iter().for_each(|&i| is_undecided[i] = true);
            let active = (0..resting.len()).filter(|&i| outcomes[i] == Outcome::Active && !is_undecided[i]);
            let pairs: Vec<Pair> = active.map(|i| contacts[resting[i]].key.pair).collect();
            let flow = self.flow(&bodies, &pairs);
            let (still, _) = without_spin(world, &bodies, &pairs, &self.cluster.after);
            // Without a motion all of them are active.
            let Ok(step) = flow.advance(&still, 0.0, FOREVER) else { return };
            let span = step.until.min(end);
            let mut first: Option<(f64, usize)> = None;
            for &i in &undecided {
                let pair = &contacts[resting[i]].key.pair;
                let departure = if step.rests() {
                    None
                } else {
                    pair.gap_departure(world, span, |body, wait| step.at(self.cluster.place(body), wait))
                };
                outcomes[i] = match departure {
                    Some((wait, gap)) if gap < 0.0 => {
                        if first.is_none_or(|(soonest, _)| wait < soonest) {
                            first = Some((wait, i));
                        }
                        Outcome::Active
                    }
                    Some(_) => Outcome::Separates,
                    None => Outcome::Inactive,
                };
            }
            let Some((_, first)) = first else { return };
            undecided.retain(|&i| i != first);
        }
    }

    /// The resting contacts, by their places in the list, in sets that movable bodies or constraints connect.
    fn connected(&self, resting: &[usize]) -> Vec<Vec<usize>> {
        let world = &self.dynamics.world;
        let mut sets: Vec<Vec<usize>> = Vec::new();
        // Of each set, the one that it was merged into.
        let mut merged: Vec<usize> = Vec::new();
        let mut set_of: BTreeMap<usize, usize> = BTreeMap::new();
        for (i, &k) in resting.iter().enumerate() {
            let own = sets.len();
            merged.push(own);
            sets.push(vec![i]);
            let mut joined: Vec<usize> = Vec::new();
            for body in self.cluster.contacts[k].key.pair.movable(world) {
                // One number for all bodies of a constrained system.
                let body = match world.constraints.system(body) {
                    Some(system) => system.bodies.iter().copied().find(|&b| !world.bodies[b].fixed),
                    None => None,
                }
                .unwrap_or(body);
                if let Some(mut set) = set_of.insert(body, own) {
                    while merged[set] != set {
                        set = merged[set];
                    }
                    if set != own && !joined.contains(&set) {
                        joined.push(set);
                    }
                }
            }
            joined.sort_unstable();
            for set in joined {
                merged[set] = own;
                let places = core::mem::take(&mut sets[set]);
                sets[own].extend(places);
            }
        }
        sets.into_iter().filter(|places| !places.is_empty()).collect()
    }

    /// Decides a contact that no derivative decides by the gap in free flight: the first that exceeds rounding.
    fn by_free_flight(&self, contact: &ClusterContact) -> Outcome {
        let world = &self.dynamics.world;
        let pair = &contact.key.pair;
        let after = |body: usize| self.cluster.after[self.cluster.place(body)];
        let passage = pair.size(world) / pair.speed(world, after);
        if !passage.is_finite() {
            return Outcome::Inactive;
        }
        let flight = |body: usize| Flight::new(&world.bodies[body], &after(body), &world.gravity);
        let second = flight(pair.second as usize);
        let first = match pair.first {
            PairSide::Plane(_) => None,
            PairSide::Body(first) => Some(flight(first as usize)),
        };
        let state = |body: usize, wait: f64| match &first {
            Some(flight) if body != pair.second as usize => flight.at(wait),
            _ => second.at(wait),
        };
        let span = passage.min(self.dynamics.end() - self.t);
        match pair.gap_departure(world, span, state) {
            Some((_, gap)) if gap > 0.0 => Outcome::Separates,
            Some(_) => Outcome::Active,
            None => Outcome::Inactive,
        }
    }

    fn at_paradox(&self, contact: &ClusterContact, now: &Kinematics, resolution: &mut ContactResolution) {
        let world = &self.dynamics.world;
        let pair = &contact.key.pair;
        let speed = pair.speed(world, |body| self.cluster.after[self.cluster.place(body)]);
        let small = |x: f64, scale: f64| x <= 1e-8 * scale;
        resolution.class = if !small(now.w.norm(), speed / pair.size(world)) {
            Type::ParadoxMarginal
        } else if small(now.slip.norm(), speed) {
            Type::Paradox2bStar
        } else {
            Type::Paradox2b
        };
        resolution.force_slope = Some(-now.g3 / self.cluster.inverse_mass(self.dynamics, contact));
        resolution.outcome = match world.on_paradox {
            OnParadox::Hold => Outcome::Active,
            OnParadox::Pass => Outcome::Interpenetrates,
            OnParadox::Stop => Outcome::Stops,
        };
    }

    /// Which of several resting contacts are active: 0 ≤ λ ⟂ g'' ≥ 0 for all of them together.
    fn solve_complementarity(&self, resting: &[usize]) -> Result<Holding, Obstacle> {
        let world = &self.dynamics.world;
        let bodies = self.cluster.numbers();
        let pairs: Vec<Pair> = resting.iter().map(|&k| self.cluster.contacts[k].key.pair).collect();
        let flow = self.flow(&bodies, &pairs);
        let mut states = without_spin(world, &bodies, &pairs, &self.cluster.after).0;
        flow.project(&mut states)?;
        flow.holding(&states)
    }
}

/// The type of a contact that no impulse decides.
fn resting_class(contact: &ClusterContact, outcome: Outcome) -> Type {
    let fresh = contact.key.new && !contact.key.rests && contact.impulse == 0.0;
    match outcome {
        // Free flight would interpenetrate before and after: not a first contact, but one that persists.
        Outcome::Active if fresh => Type::Unrealizable,
        Outcome::Active => Type::Normal,
        Outcome::Separates => Type::Graze,
        _ => Type::Degenerate,
    }
}
