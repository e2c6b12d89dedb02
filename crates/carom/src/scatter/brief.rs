//! Samples followed by the brief search alone, for machines on which many run in step: to the bit those of
//! [`Scattering::sample`](super::Scattering::sample), or nothing where that takes more.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

use super::encounter::{Encounter, Step};
use super::sample::Sample;
use super::setup::Setup;
use crate::motion::Flight;
use crate::shape::Convex;
use crate::toi::{Meeting, Moving, Window, first_contact_in_brief};

impl Setup {
    /// A sample, by its number; nothing where an impact is not smooth, or where a search gives up. The shapes are those of the bodies.
    #[must_use]
    pub fn sample_in_brief<A: Convex, B: Convex>(
        &self,
        number: u64,
        first: &A,
        second: &B,
    ) -> Option<Sample> {
        let search = |flights: &[Flight; 2], window: Window| brief(first, second, flights, window);
        let mut encounter = self.begin(number);
        loop {
            match self.step(&mut encounter, &search, &|_, _, _| None) {
                Step::Impact(_) => {}
                Step::Over => break,
                Step::Left => return None,
            }
        }
        let chord = self.chord(&encounter, &search);
        if chord.is_none() && self.wants_chord(number) {
            return None;
        }
        let Encounter { sample, .. } = encounter;
        Some(Sample { chord, ..sample })
    }
}

fn brief<A: Convex, B: Convex>(
    first: &A,
    second: &B,
    flights: &[Flight; 2],
    window: Window,
) -> Option<Meeting> {
    first_contact_in_brief(Moving::new(first, &flights[0]), Moving::new(second, &flights[1]), window)
}
