//! One sample: the states before and after its encounter, and what happened in between.

use nalgebra::Vector3;

use super::setup::Setup;
use crate::body::State;

/// How an encounter ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The bodies do not touch.
    Missed,
    /// They touched, and have parted for good.
    Parted,
    /// They could not be followed until they parted: the search gave up, or they stay together.
    Unresolved,
}

impl End {
    /// Its name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missed => "missed",
            Self::Parted => "parted",
            Self::Unresolved => "unresolved",
        }
    }
}

/// A sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Its number.
    pub number: u64,
    /// How it ended.
    pub end: End,
    /// How many impacts there were.
    pub impacts: u32,
    /// The impact parameter: from the line of the first centre to that of the second, in the plane of y and z.
    pub offset: [f64; 2],
    /// The states at the start.
    pub before: [State; 2],
    /// The states after the last impact, or later if the sample was [continued](Self::continued); those at the start if there was none.
    pub after: [State; 2],
    /// The time of the first contact.
    pub contact_time: Option<f64>,
    /// How far before their closest approach the centres are at the first contact, along the beam.
    pub ahead: f64,
    /// The same for bodies that do not turn, where it was looked for: zero if they miss.
    pub chord: Option<f64>,
    /// Σ J·(c₂ − c₁) over the impacts, J the impulse on the second body.
    pub virial: f64,
    /// The change of the energy that the impulses should have made.
    pub work: f64,
    /// The worst finding of the audit of the impacts, relative.
    pub audit_error: f64,
    /// Whether it was run by the general engine.
    pub continued: bool,
}

/// What a sample is worth: momenta and energies in the frame of the centre of mass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Exchange {
    /// The relative velocities before and after.
    pub relative: [Vector3<f64>; 2],
    /// The energies of the relative motion before and after.
    pub translation: [f64; 2],
    /// The energies of the spins before and after.
    pub rotation: [f64; 2],
}

impl Sample {
    /// Whether the bodies touched.
    #[must_use]
    pub fn is_hit(&self) -> bool {
        self.contact_time.is_some()
    }

    /// The states at the start of bodies that do not turn.
    #[must_use]
    pub fn without_spin(&self) -> [State; 2] {
        self.before.map(|state| State { angular_velocity: Vector3::zeros(), ..state })
    }

    /// The relative velocities, second minus first, before and after.
    #[must_use]
    pub fn relative_velocities(&self) -> [Vector3<f64>; 2] {
        [&self.before, &self.after].map(|states| states[1].velocity - states[0].velocity)
    }

    /// The scattering angle χ between them.
    #[must_use]
    pub fn angle(&self) -> f64 {
        let [before, after] = self.relative_velocities();
        libm::atan2(before.cross(&after).norm(), before.dot(&after))
    }

    /// A number for the bits of what came of it.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let end = match self.end {
            End::Missed => 0,
            End::Parted => 1,
            End::Unresolved => 2,
        };
        let mut hash = Hash(self.number ^ 0x9e37_79b9_7f4a_7c15);
        hash.add(end);
        hash.add(u64::from(self.impacts));
        for x in self.offset {
            hash.add(x.to_bits());
        }
        hash.add(self.contact_time.map_or(0, f64::to_bits));
        for state in self.before.iter().chain(&self.after) {
            for x in state.orientation.coords.iter() {
                hash.add(x.to_bits());
            }
            for vector in [&state.position, &state.velocity, &state.angular_velocity] {
                vector.iter().for_each(|x| hash.add(x.to_bits()));
            }
        }
        hash.0
    }
}

/// A hash of words: each is added and mixed by the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
struct Hash(u64);

impl Hash {
    fn add(&mut self, word: u64) {
        let mut z = (self.0 ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = z ^ (z >> 31);
    }
}

impl Setup {
    /// The relative velocities and the energies of a sample.
    pub(super) fn exchange(&self, sample: &Sample) -> Exchange {
        let relative = sample.relative_velocities();
        let rotation = [&sample.before, &sample.after].map(|states| {
            let spin = |i: usize| {
                let (body, state) = (&self.bodies[i], &states[i]);
                if body.fixed {
                    return 0.0;
                }
                let spin = state.orientation.inverse_transform_vector(&state.angular_velocity);
                0.5 * spin.component_mul(&body.inertia).dot(&spin)
            };
            spin(0) + spin(1)
        });
        let translation = relative.map(|g| 0.5 * self.reduced_mass * g.norm_squared());
        Exchange { relative, translation, rotation }
    }
}
