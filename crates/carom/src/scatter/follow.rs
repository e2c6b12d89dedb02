//! Samples followed to their end: what the closed forms leave goes to the impact solver, and what is no sequence of a few impacts to the general
//! engine.

use nalgebra::{Unit, Vector3};

use super::Scattering;
use super::encounter::{Encounter, Impact, Step};
use super::sample::Sample;
use crate::body::State;
use crate::motion::Flight;
use crate::pairs::{Other, Query};
use crate::scene::model::{Spin, Translation};
use crate::toi::{Meeting, Moving, Window};

impl Scattering {
    /// A sample, by its number.
    #[must_use]
    pub fn sample(&self, number: u64) -> Sample {
        self.follow(number, |_| {})
    }

    /// As above, with the impacts, as far as they are resolved here: those of an encounter that is [continued](Sample::continued) by the
    /// general engine are not among them.
    #[must_use]
    pub fn impacts(&self, number: u64) -> (Sample, Vec<Impact>) {
        let mut impacts = Vec::new();
        let sample = self.follow(number, |impact| impacts.push(*impact));
        if sample.continued {
            impacts.clear();
        }
        (sample, impacts)
    }

    fn follow(&self, number: u64, mut tell: impl FnMut(&Impact)) -> Sample {
        let mut encounter = self.setup.begin(number);
        let search = |flights: &[Flight; 2], window: Window| Some(self.meeting(flights, window));
        let strike = |normal: &Unit<Vector3<f64>>, point: &Vector3<f64>, states: &[State; 2]| {
            self.struck(normal, point, states)
        };
        loop {
            match self.setup.step(&mut encounter, &search, &strike) {
                Step::Impact(impact) => tell(&impact),
                Step::Over => break,
                Step::Left => {
                    self.continued(&mut encounter);
                    break;
                }
            }
        }
        let chord = self.setup.chord(&encounter, &search);
        let Encounter { sample, .. } = encounter;
        Sample { chord, ..sample }
    }

    fn meeting(&self, flights: &[Flight; 2], window: Window) -> Meeting {
        let bodies = self.setup.bodies();
        let [first, second] = [0, 1].map(|i| Moving::new(&bodies[i].shape, &flights[i]));
        Query { first, other: Other::Body(second), window }.first_contact().meeting
    }

    /// Whether all speeds are thermal at one temperature.
    #[must_use]
    pub fn is_thermal(&self) -> bool {
        match (self.settings.translation, self.settings.spin) {
            (Translation::Temperature(a), Spin::Temperature(b)) => a == b,
            _ => false,
        }
    }
}
