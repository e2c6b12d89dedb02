//! Contacts that persist between events, by pair and by body.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::pair::Pair;

/// How a contact persists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Persistence {
    /// A contact force keeps the gap at zero; the bodies move in this group.
    #[serde(rename = "Held")]
    Active(u32),
    /// The gap stays at zero without a force.
    #[serde(rename = "Neutral")]
    Inactive,
    /// The bodies interpenetrate, as the scene asks.
    #[serde(rename = "Passing")]
    Interpenetrating,
}

/// The persistent contacts of a run.
#[derive(Debug, Clone)]
pub(super) struct PersistentContacts {
    contacts: BTreeMap<Pair, Persistence>,
    /// The pairs at each body.
    of_body: Vec<BTreeSet<Pair>>,
}

impl PersistentContacts {
    /// None yet, for a number of bodies.
    pub fn new(bodies: usize) -> Self {
        Self { contacts: BTreeMap::new(), of_body: vec![BTreeSet::new(); bodies] }
    }

    /// Adds a contact, or changes how it persists.
    pub fn insert(&mut self, pair: Pair, persistence: Persistence) {
        if self.contacts.insert(pair, persistence).is_none() {
            for body in pair.bodies() {
                self.of_body[body].insert(pair);
            }
        }
    }

    /// Removes a contact and returns how it persisted.
    pub fn remove(&mut self, pair: &Pair) -> Option<Persistence> {
        let removed = self.contacts.remove(pair);
        if removed.is_some() {
            for body in pair.bodies() {
                self.of_body[body].remove(pair);
            }
        }
        removed
    }

    /// How a contact persists, if it does.
    pub fn get(&self, pair: &Pair) -> Option<Persistence> {
        self.contacts.get(pair).copied()
    }

    /// Whether a contact persists.
    pub fn contains(&self, pair: &Pair) -> bool {
        self.contacts.contains_key(pair)
    }

    /// All contacts, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Pair, Persistence)> + '_ {
        self.contacts.iter().map(|(pair, persistence)| (*pair, *persistence))
    }

    /// The contacts at a body, in order.
    pub fn of(&self, body: usize) -> impl Iterator<Item = (Pair, Persistence)> + '_ {
        self.of_body[body].iter().map(|pair| (*pair, self.contacts[pair]))
    }
}
