//! The event that reports a collision.

use super::{Cluster, ClusterContact};
use crate::contact::classify::Type;
use crate::record::{Event, Kind};

/// What the contacts of an event have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventContext {
    /// The number of the event.
    pub number: u64,
    /// The time, and a bound on its error.
    pub time: f64,
    pub time_error: f64,
    /// The energy of all bodies before and after.
    pub energies: [f64; 2],
}

impl<K> Cluster<K> {
    /// The report of a contact, without the fields that only some events have.
    #[inline]
    pub fn event(&self, contact: &ClusterContact<K>, kind: Kind, context: &EventContext) -> Event {
        Event {
            number: context.number,
            time: context.time,
            time_error: context.time_error,
            kind,
            sides: contact.sides,
            image: contact.image,
            point: contact.point(),
            normal: contact.found.normal,
            between: self.between(contact),
            gap: contact.found.gap,
            approach: contact.approach,
            separation: contact.separation,
            impulse: contact.impulse,
            impulse_vector: contact.impulse_vector,
            class: Type::Normal,
            g2: None,
            g3: None,
            force_slope: None,
            limit: None,
            joints: None,
            energy_before: context.energies[0],
            energy_after: context.energies[1],
        }
    }
}
