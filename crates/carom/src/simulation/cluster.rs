//! The contacts of one event: those that are simultaneous and connected, with the persistent contacts of their bodies.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::Vector3;

use super::dynamics::Dynamics;
use super::pair::Pair;
use super::persistent::Persistence;
use crate::body::State;
use crate::collision;
use crate::contact::Side;
use crate::contact::kinematics::{Kinematics, effective_inverse_mass};
use crate::gap::Gap;

/// What this engine knows of a contact of a cluster.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub pair: Pair,
    /// Whether the contact has just come about.
    pub new: bool,
    /// The bound on the error of its time.
    pub error: f64,
    /// The kinematics before the event.
    pub before: Kinematics,
    /// Whether bounces end here.
    pub rests: bool,
    /// Whether its slip was stopped, without approach.
    pub gripped: bool,
    /// Whether it is a rolling joint that the impact made slip.
    pub slipped: bool,
    /// Whether its point leaves the face or the edge that it was on.
    pub leaves: bool,
}

pub(super) type ClusterContact = collision::ClusterContact<Key>;

pub(super) type Cluster = collision::Cluster<Key>;

/// A predicted contact, with the bound on the error of its time.
pub(super) type Predicted = (Pair, f64);

/// What belongs to one event while it is gathered.
#[derive(Default)]
struct Gathered {
    /// The movable bodies in the order in which they were found.
    bodies: Vec<usize>,
    known: BTreeSet<usize>,
    /// The contacts: whether each is new, and the bound on the error of its time.
    pairs: BTreeMap<Pair, (bool, f64)>,
}

impl Gathered {
    fn add_bodies(&mut self, bodies: impl IntoIterator<Item = usize>) {
        for body in bodies {
            if self.known.insert(body) {
                self.bodies.push(body);
            }
        }
    }

    fn add_contact(&mut self, dynamics: &Dynamics, pair: Pair, new: bool, error: f64) {
        self.pairs.entry(pair).or_insert((new, error));
        self.add_bodies(pair.movable(&dynamics.world));
    }
}

impl Cluster {
    /// Gathers the contacts that belong with the first of some simultaneous ones: through shared bodies, through constraints and through
    /// persistent contacts. Also returns the contacts that do not belong with it.
    pub fn gather(dynamics: &Dynamics, t: f64, simultaneous: &[Predicted]) -> (Self, Vec<Predicted>) {
        let world = &dynamics.world;
        let mut predicted_at: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (k, (pair, _)) in simultaneous.iter().enumerate() {
            for body in pair.movable(world) {
                predicted_at.entry(body).or_default().push(k);
            }
        }
        let mut gathered = Gathered::default();
        gathered.add_bodies(simultaneous[0].0.movable(world));
        let mut next = 0;
        while let Some(&body) = gathered.bodies.get(next) {
            next += 1;
            for &k in predicted_at.get(&body).map_or(&[][..], Vec::as_slice) {
                let (pair, error) = simultaneous[k];
                gathered.add_contact(dynamics, pair, true, error);
            }
            if let Some(system) = world.constraints.system(body) {
                let movable = system.bodies.iter().copied().filter(|&b| !world.bodies[b].fixed);
                gathered.add_bodies(movable);
            }
            // A pair that was predicted at this body is there already, and stays new.
            for (pair, persistence) in dynamics.contacts.of(body) {
                if persistence != Persistence::Interpenetrating {
                    gathered.add_contact(dynamics, pair, false, 0.0);
                }
            }
        }
        let apart = simultaneous.iter().filter(|(pair, _)| !gathered.pairs.contains_key(pair));
        let apart = apart.copied().collect();
        // Immovable bodies take part as well.
        let mut bodies = gathered.known;
        for &body in &gathered.bodies {
            bodies.extend(world.constraints.system(body).map_or(&[][..], |system| &system.bodies));
        }
        bodies.extend(gathered.pairs.keys().flat_map(Pair::bodies));
        let bodies: Vec<usize> = bodies.into_iter().collect();
        let before: Vec<State> = bodies.iter().map(|&body| dynamics.state(body, t)).collect();
        let mut cluster = Self { bodies, after: before.clone(), before, ..Self::default() };
        for (pair, (new, error)) in gathered.pairs {
            cluster.add_contact(dynamics, pair, new, error);
        }
        (cluster, apart)
    }

    /// Some movable bodies, with what constrains them, and contacts among them that are new.
    pub fn of(dynamics: &Dynamics, t: f64, movable: &BTreeSet<usize>, pairs: &[Pair]) -> Self {
        let mut bodies = movable.clone();
        for &body in movable {
            bodies.extend(dynamics.world.constraints.system(body).map_or(&[][..], |system| &system.bodies));
        }
        bodies.extend(pairs.iter().flat_map(Pair::bodies));
        let bodies: Vec<usize> = bodies.into_iter().collect();
        let before: Vec<State> = bodies.iter().map(|&body| dynamics.state(body, t)).collect();
        let mut cluster = Self { bodies, after: before.clone(), before, ..Self::default() };
        for &pair in pairs {
            cluster.add_contact(dynamics, pair, true, 0.0);
        }
        cluster
    }

    fn add_contact(&mut self, dynamics: &Dynamics, pair: Pair, new: bool, error: f64) {
        let world = &dynamics.world;
        let Some(found) = pair.gap(world, |body| self.before[self.place(body)]) else { return };
        let before = self.kinematics(dynamics, &pair, &self.before, &found);
        let (restitution, surface) = world.contact_properties(pair.sides());
        self.contacts.push(ClusterContact {
            sides: pair.sides(),
            image: pair.image,
            shift: pair.shift(world),
            found,
            restitution,
            surface,
            growing: 0.0,
            approach: before.v,
            separation: before.v,
            impulse: 0.0,
            impulse_vector: Vector3::zeros(),
            by_joint: dynamics.rolling.contains_key(&pair),
            key: Key {
                pair,
                new,
                error,
                before,
                rests: false,
                gripped: false,
                slipped: false,
                leaves: false,
            },
        });
    }

    /// The kinematics of a pair at states of the cluster's bodies.
    pub fn kinematics(&self, dynamics: &Dynamics, pair: &Pair, states: &[State], found: &Gap) -> Kinematics {
        dynamics.kinematics(pair, |body| states[self.place(body)], found)
    }

    /// The kinematics of a contact after the event.
    pub fn kinematics_after(&self, dynamics: &Dynamics, contact: usize) -> Kinematics {
        let contact = &self.contacts[contact];
        self.kinematics(dynamics, &contact.key.pair, &self.after, &contact.found)
    }

    /// The inverse of a contact's effective mass along its normal.
    pub fn inverse_mass(&self, dynamics: &Dynamics, contact: &ClusterContact) -> f64 {
        let bodies = &dynamics.world.bodies;
        let side = |side: Side, shift: Vector3<f64>| match side {
            Side::Plane(_) => None,
            Side::Body(body) => {
                let mut state = self.after[self.place(body)];
                state.position += shift;
                Some((&bodies[body], state))
            }
        };
        let first = side(contact.sides[0], Vector3::zeros());
        let second = side(contact.sides[1], contact.shift);
        let sides = [&first, &second].map(|side| side.as_ref().map(|(body, state)| (*body, state)));
        effective_inverse_mass(sides, &contact.key.before.points, &contact.found.normal)
    }

    /// Whether joints or loads act on one of the bodies.
    pub fn is_constrained(&self, dynamics: &Dynamics) -> bool {
        self.bodies.iter().any(|&body| dynamics.world.constrained(body))
    }

    /// The bodies' numbers, as groups have them.
    pub fn numbers(&self) -> Vec<u32> {
        self.bodies.iter().map(|&body| crate::run::index(body)).collect()
    }

    /// The largest speed of the bodies after the event, spin included.
    pub fn largest_speed(&self, dynamics: &Dynamics) -> f64 {
        let speed = |(&body, state): (&usize, &State)| {
            state.velocity.norm() + state.angular_velocity.norm() * dynamics.world.radius[body]
        };
        self.bodies.iter().zip(&self.after).map(speed).fold(0.0, f64::max)
    }
}
