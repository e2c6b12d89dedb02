//! How groups form, go on step by step, and dissolve.

use super::cluster::{Cluster, ClusterContact};
use super::dynamics::Dynamics;
use super::group::{FOREVER, Group, failing_sides, flow_of, without_spin};
use super::groups::History;
use super::motion::Trajectory;
use super::pair::Pair;
use super::persistent::Persistence;
use crate::body::State;
use crate::contact::Side;
use crate::flow::{Ending, Expected, Obstacle, Points};
use crate::run::{Cause, index};

/// After so many steps a flow starts again from its states, so that a snapshot need not repeat more steps than these.
const MOST_FOLLOWS: u32 = 64;

/// A group's first step is this many times as long as the groups of its bodies lasted; what is remembered of that falls by at most
/// this factor at a time, and by this one below the step at hand.
const LONGER: f64 = 3.0;
const SHORTER: f64 = 0.2;
const LEAST: f64 = 1e-3;

/// A first step is this much longer than the last one with all stages that its bodies' groups took.
const SIMILAR: f64 = 1.2;

/// The evaluations of stages that forming a group is worth, and the contacts of a group whose evaluations count as they are.
const FORMATION: u32 = 40;
const CONTACTS: u32 = 4;

/// The share that counts of the evaluations of a step that nothing has cut short.
const WHOLE: u32 = 40;

/// An active contact, with the slope with which its force begins where it begins at zero.
pub(super) type ActiveContact = (Pair, Option<f64>);

/// The bodies of a group to be formed, in ascending order, and its contacts.
pub(super) struct Component {
    pub bodies: Vec<u32>,
    pub states: Vec<State>,
    pub contacts: Vec<ActiveContact>,
}

/// A group that cannot be formed, or cannot go on.
pub(super) struct GroupFailure {
    pub sides: [Side; 2],
    pub cause: Cause,
}

impl GroupFailure {
    /// Contacts without a motion are one thing, joints and loads alone another.
    pub fn new(bodies: &[u32], pairs: &[Pair], obstacle: Obstacle) -> Self {
        let cause =
            if pairs.is_empty() { Cause::Constrained(obstacle) } else { Cause::PersistentContact(obstacle) };
        Self { sides: failing_sides(bodies, pairs), cause }
    }
}

/// The connected components of a cluster after an event: bodies that active contacts or constraints connect. Free bodies are in no component.
pub(super) fn components(dynamics: &Dynamics, cluster: &Cluster, active: &[ActiveContact]) -> Vec<Component> {
    let world = &dynamics.world;
    let mut contacts_at: Vec<Vec<usize>> = vec![Vec::new(); cluster.bodies.len()];
    for (k, (pair, _)) in active.iter().enumerate() {
        for body in pair.movable(world) {
            contacts_at[cluster.place(body)].push(k);
        }
    }
    let mut components = Vec::new();
    // The last component that each body was found to belong to. Immovable bodies belong to every component that they touch, and connect
    // nothing.
    let mut component_of: Vec<Option<usize>> = vec![None; cluster.bodies.len()];
    let mut taken = vec![false; active.len()];
    for seed in 0..cluster.bodies.len() {
        let body = cluster.bodies[seed];
        let grouped = world.constrained(body) || !contacts_at[seed].is_empty();
        if component_of[seed].is_some() || world.bodies[body].fixed || !grouped {
            continue;
        }
        let own = Some(components.len());
        component_of[seed] = own;
        let mut places = vec![seed];
        let mut contacts = Vec::new();
        let mut next = 0;
        while let Some(&place) = places.get(next) {
            next += 1;
            let mut add = |body: usize| {
                let place = cluster.place(body);
                if component_of[place] != own {
                    component_of[place] = own;
                    places.push(place);
                }
            };
            if let Some(system) = world.constraints.system(cluster.bodies[place]) {
                system.bodies.iter().copied().for_each(&mut add);
            }
            for &k in &contacts_at[place] {
                if !taken[k] {
                    taken[k] = true;
                    contacts.push(active[k]);
                    active[k].0.bodies().for_each(&mut add);
                }
            }
        }
        places.sort_unstable();
        contacts.sort_unstable_by_key(|(pair, _)| *pair);
        components.push(Component {
            bodies: places.iter().map(|&place| index(cluster.bodies[place])).collect(),
            states: places.iter().map(|&place| cluster.after[place]).collect(),
            contacts,
        });
    }
    components
}

/// What evaluations are worth in those of a group with [`CONTACTS`] contacts: the work of each grows with the contacts.
fn worth(evaluations: u32, contacts: usize) -> u32 {
    evaluations.saturating_mul(index(contacts).max(1)) / CONTACTS
}

impl Dynamics {
    /// The groups of a cluster's bodies and contacts; a group may be named more than once.
    pub fn groups_of(&self, cluster: &Cluster) -> Vec<u32> {
        let of_contact = |contact: &ClusterContact| match self.contacts.get(&contact.key.pair) {
            Some(Persistence::Active(number)) => Some(number),
            _ => None,
        };
        let of_body = |&body: &usize| match self.motions[body].trajectory {
            Trajectory::Grouped { group, .. } => Some(group),
            Trajectory::Flight(_) => None,
        };
        let of_contacts = cluster.contacts.iter().filter_map(of_contact);
        of_contacts.chain(cluster.bodies.iter().filter_map(of_body)).collect()
    }

    /// Forms a group. Returns its number, and by how much projecting the states onto the constraints changed the energy: rounding.
    pub fn form_group(
        &mut self,
        component: Component,
        history: &History,
        t: f64,
    ) -> Result<(u32, f64), Obstacle> {
        let Component { bodies, states, contacts } = component;
        let work = worth(FORMATION, contacts.len());
        self.count_work(&bodies, &states, t, work)?;
        let past = |pair: &Pair| history.contact(pair);
        let slopes =
            contacts.iter().map(|(pair, slope)| past(pair).map_or(*slope, |past| past.slope)).collect();
        let impulses = contacts.iter().map(|(pair, _)| past(pair).map_or(0.0, |past| past.impulse)).collect();
        let pairs: Vec<Pair> = contacts.iter().map(|(pair, _)| *pair).collect();
        let joints = self.world.joints_of(&bodies);
        let points = Points {
            contacts: pairs.iter().map(|pair| past(pair).and_then(|past| past.points)).collect(),
            joints: joints.iter().map(|joint| history.joint(*joint)).collect(),
        };
        let begun = self.clock.absolute(t);
        let expected = self.expected(&bodies, &pairs);
        let flow = flow_of(&self.world, &bodies, &pairs, begun).expecting(expected);
        let (still, spins) = without_spin(&self.world, &bodies, &pairs, &states);
        let step = flow.advance_at(&still, &points, 0.0, FOREVER)?;
        let change = flow.energy(step.start()) - flow.energy(&still) + step.stopped.energy;
        let number = self.groups.vacant();
        for (member, &body) in bodies.iter().enumerate() {
            if !self.world.bodies[body as usize].fixed {
                let motion = &mut self.motions[body as usize];
                motion.trajectory = Trajectory::Grouped { group: number, member: index(member) };
                motion.since = t;
            }
        }
        for pair in &pairs {
            self.contacts.insert(*pair, Persistence::Active(number));
        }
        let group = Group {
            joints,
            bodies,
            pairs,
            flow,
            zero: t,
            begun,
            origin: states,
            points,
            expected,
            follows: 0,
            step,
            spins,
            impulses,
            slopes,
            booked: 0.0,
            version: self.groups.next_version(),
            stepping: None,
        };
        self.groups.insert(number, group);
        Ok((number, change))
    }

    /// How long a group of some bodies is expected to last, and its steps to be, from those of their groups lately.
    pub fn expected(&self, bodies: &[u32], pairs: &[Pair]) -> Expected {
        let efforts = || bodies.iter().map(|&body| &self.motions[body as usize].effort);
        let lasted = efforts().filter_map(|effort| effort.lasted).min_by(f64::total_cmp);
        let step = efforts().filter_map(|effort| effort.step).min_by(f64::total_cmp);
        // One slip is followed to its stop; among several each stop may turn the others, without end.
        let several = pairs.len() > 1;
        let rest = pairs.iter().filter(|_| several).map(|pair| self.rest_speed(pair)).min_by(f64::total_cmp);
        Expected {
            time: lasted.map(|time| LONGER * time),
            step: step.map(|step| SIMILAR * step),
            rest_slip: rest.unwrap_or(0.0),
        }
    }

    /// Remembers how long a group lasted that ends at a time, and its steps.
    pub fn note_duration(&mut self, group: &Group, t: f64) {
        let length = group.step.until - group.step.from;
        for &body in &group.bodies {
            let effort = &mut self.motions[body as usize].effort;
            if let Some(step) = group.step.full_length() {
                effort.step = Some(step);
            }
            let lasted = &mut effort.lasted;
            let least = lasted.map_or(0.0, |before| SHORTER * before).max(LEAST * length);
            *lasted = Some((t - group.zero).max(least));
        }
    }

    /// Takes a group on to its next step, and marks its bodies' trajectories as changed.
    pub fn advance_group(&mut self, number: u32) -> Result<(), Obstacle> {
        let Some(group) = self.groups.get(number) else { return Ok(()) };
        let t = group.end();
        let (bodies, states) = (group.bodies.clone(), group.step.end().to_vec());
        // A step that nothing has cut short is slow at worst.
        let whole = group.step.ending == Ending::Step && group.step.full_length().is_some();
        let evaluations = group.step.evaluations() / if whole { WHOLE } else { 1 };
        let work = worth(evaluations, group.pairs.len());
        self.count_work(&bodies, &states, t, work)?;
        let Some(group) = self.groups.get_mut(number) else { return Ok(()) };
        for (k, sum) in group.impulses.iter_mut().enumerate() {
            *sum += group.step.impulse(k, group.step.until).normal;
        }
        // States alone do not determine where a contact point lies on a flat, nor that a contact has lost its grip.
        let determined = !group.flow.is_slack(&group.step) && !group.step.nears_flat();
        let restart = group.follows >= MOST_FOLLOWS && group.step.ending == Ending::Step && determined;
        let next = if restart {
            let states = group.states(t);
            group.expected = Expected { rest_slip: group.expected.rest_slip, ..Expected::default() };
            group.begun = self.clock.absolute(t);
            group.flow =
                flow_of(&self.world, &group.bodies, &group.pairs, group.begun).expecting(group.expected);
            let (still, spins) = without_spin(&self.world, &group.bodies, &group.pairs, &states);
            let step = group.flow.advance(&still, 0.0, FOREVER);
            (group.origin, group.spins, group.follows, group.zero) = (states, spins, 0, t);
            group.points = Points::default();
            step
        } else {
            group.follows += 1;
            group.flow.follow(&group.step, FOREVER)
        };
        (group.step, group.booked) = (next?, 0.0);
        for &body in &group.bodies {
            if !self.world.bodies[body as usize].fixed {
                self.motions[body as usize].change();
            }
        }
        let version = self.groups.next_version();
        if let Some(group) = self.groups.get_mut(number) {
            group.version = version;
        }
        Ok(())
    }
}
