//! A collision as it is told.

use super::{Cluster, Encounter};
use crate::contact::classify::Type;
use crate::record::{Event, Kind};

/// What all contacts of an event share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    /// The number of the event.
    pub number: u64,
    /// When, and a bound on the error of that.
    pub time: f64,
    pub time_error: f64,
    /// The energy of all bodies before and after.
    pub energies: [f64; 2],
}

impl<K> Cluster<K> {
    /// A contact of the event; what only some events have is to be filled in.
    #[inline]
    pub fn event(&self, contact: &Encounter<K>, kind: Kind, told: &Told) -> Event {
        Event {
            number: told.number,
            time: told.time,
            time_error: told.time_error,
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
            energy_before: told.energies[0],
            energy_after: told.energies[1],
        }
    }
}
