//! What an event decides of a contact.

use super::cluster::ClusterContact;
use crate::contact::classify::Type;
use crate::record::Kind;

/// How a contact goes on after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It separates.
    Separates,
    /// It closes again at once: the law left it closing.
    Closes,
    /// It persists, by a contact force.
    Active,
    /// It persists without a force.
    Inactive,
    /// The bodies interpenetrate, as the scene asks.
    Interpenetrates,
    /// The run ends here.
    Stops,
}

/// What an event decided of a contact, and why.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContactResolution {
    pub outcome: Outcome,
    /// Whether the contact was active before.
    pub was_active: bool,
    /// Whether the bodies had interpenetrated.
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
            was_active: false,
            exits: false,
            class,
            g2: None,
            g3: None,
            force_slope: None,
            limit: None,
        }
    }

    /// Whether the contact persists, so that the pair needs no search.
    pub fn persists(&self) -> bool {
        matches!(self.outcome, Outcome::Active | Outcome::Inactive | Outcome::Interpenetrates)
    }

    /// What is to be recorded of the contact.
    pub fn kinds(&self, contact: &ClusterContact, closing: bool) -> impl Iterator<Item = (Kind, Type)> {
        let impact = closing
            && (contact.impulse != 0.0
                || contact.key.gripped
                || (contact.key.new && contact.key.before.v < 0.0));
        // A contact that was active already has no bounces to end.
        let rests = contact.key.rests && !self.was_active && self.outcome == Outcome::Active;
        let kind = if rests { Kind::Rest } else { Kind::Impact };
        let begins = !self.was_active && !rests;
        let then = match self.outcome {
            Outcome::Separates if self.exits => Some(Kind::PassEnd),
            Outcome::Separates if self.was_active => Some(Kind::HoldEnd),
            Outcome::Separates if !closing && self.class == Type::Graze => Some(Kind::Graze),
            Outcome::Active if begins => Some(Kind::HoldBegin),
            Outcome::Interpenetrates => Some(Kind::PassBegin),
            Outcome::Stops => Some(Kind::Stop),
            _ => None,
        };
        let impact = impact.then_some((kind, Type::Normal));
        impact.into_iter().chain(then.map(|kind| (kind, self.class)))
    }
}
