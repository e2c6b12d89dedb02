//! Two bodies thrown at each other, many times: cross-sections and collision kernels.
//!
//! In the frame of their centre of mass two bodies approach along x, the second moving relative to the first with speed g. With the
//! orientations uniform, and the impact parameter uniform on the disc of radius B = R₁ + R₂ (the circumradii) that holds every hit, a
//! share p of the samples hits, and
//!
//! ```text
//! σ = π B² p,        dσ/dΩ,  σ ⟨…⟩ over the hits: the collision kernel
//! ```
//!
//! An encounter begins while the centres are 2B apart along the beam. It is followed through its first contact, found with the certificate
//! of [`crate::toi`], through the impact by the law chosen, and on until the bodies part for good: two convex bodies may meet again
//! and again.
//!
//! **Ensembles.** The relative speed is given, or is that of the collisions of a gas at temperature T, f(g) ∝ g³ exp(−μg²/2T): every hit is
//! then as likely as in the gas, and means over hits are means over its collisions. Spins have a given size and a uniform direction, or
//! Maxwell's distribution in the spins that impacts can change.
//!
//! **Two ways on.** Contacts that approach are resolved here: smooth ones in closed form, rough ones and those with friction by the same
//! functions that the impact solver calls (`strike`). An encounter that does not stay a sequence of a few impacts (bodies that roll on each
//! other, impacts that accumulate) is run from its start by [`crate::simulation`] (`continued`); elastic smooth bodies hardly ever need it.
//!
//! **Same bits.** Sample i depends on the seed and on i alone. Samples are taken in blocks of one size and summed in order, so that all
//! results are the same bits for any number of threads, and those of an interrupted run are those of a run of fewer samples.

mod beam;
mod brief;
mod continued;
mod encounter;
mod follow;
mod kernel;
mod matrix;
mod moments;
mod sample;
mod setup;
mod smooth;
mod strike;
#[cfg(test)]
mod tests;
mod totals;
pub mod words;
pub mod worth;

use rayon::prelude::*;

use crate::body::Body;
use crate::contact::{Side, Surface};
use crate::fill::seed::key;
use crate::run::World;
use crate::scene::model::{ScatterSettings, Scene};
use crate::shape::Shape;

pub use beam::mean_speed;
pub use encounter::{Encounter, Impact, Step};
pub use kernel::{AngleBin, Kernel};
pub use matrix::scattering_matrix;
pub use moments::{Estimate, Moments};
pub use sample::{End, Sample};
pub use setup::Setup;
use setup::inverse_mass;
pub use totals::{Audit, BINS, Totals};

/// Samples of a block.
pub const BLOCK: u64 = 1024;

/// Blocks that a thread takes before progress is reported.
const BLOCKS: u64 = 16;

/// Why a scene is no scattering of two bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsuited {
    /// There are not two bodies.
    Bodies,
    /// A body has no extent.
    Point(usize),
    /// Both bodies are immovable.
    Fixed,
    /// Gravity acts.
    Gravity,
    /// The world is periodic.
    Periodic,
    /// Something else is there: a plane, a joint, a load, a contact or a fill.
    Other(&'static str),
}

/// Two bodies and their beam.
#[derive(Debug, Clone)]
pub struct Scattering {
    world: World,
    settings: ScatterSettings,
    setup: Setup,
}

impl Scattering {
    /// The scattering of a scene's two bodies. Where they are in the scene, and how they move, is not used.
    ///
    /// # Errors
    /// If there is anything else in the scene.
    pub fn new(scene: &Scene) -> Result<Self, Unsuited> {
        let others = [
            ("plane", scene.planes.is_empty()),
            ("joint", scene.joints.is_empty()),
            ("load", scene.loads.is_empty()),
            ("contact", scene.contacts.is_empty()),
            ("fill", scene.fills.is_empty()),
        ];
        if let Some((name, _)) = others.into_iter().find(|(_, empty)| !empty) {
            return Err(Unsuited::Other(name));
        }
        let [first, second] = &scene.bodies[..] else { return Err(Unsuited::Bodies) };
        let bodies = [first.body, second.body];
        if let Some(body) = bodies.iter().position(|body| body.shape == Shape::Point) {
            return Err(Unsuited::Point(body));
        }
        if bodies.iter().all(|body| body.fixed) {
            return Err(Unsuited::Fixed);
        }
        if scene.gravity.amax() != 0.0 {
            return Err(Unsuited::Gravity);
        }
        if scene.periodic.is_some() {
            return Err(Unsuited::Periodic);
        }
        let mut scene = scene.clone();
        for body in &mut scene.bodies {
            body.body_spin = None;
        }
        let (world, _) = World::of(&scene);
        let (restitution, surface) = world.surface.of([Side::Body(0), Side::Body(1)]);
        let inverse_mass: f64 = bodies.iter().map(inverse_mass).sum();
        let setup = Setup {
            bodies,
            translation: scene.scatter.translation,
            spin: scene.scatter.spin,
            key: key(scene.scatter.seed),
            restitution,
            surface,
            unilateral: world.options.law.promises_admissible(),
            reach: bodies.iter().map(|body| body.shape.circumradius()).sum(),
            reduced_mass: inverse_mass.recip(),
        };
        Ok(Self { world, settings: scene.scatter, setup })
    }

    /// The two bodies.
    #[must_use]
    pub fn bodies(&self) -> [&Body; 2] {
        self.setup.bodies()
    }

    /// All that samples are made of.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The beam.
    #[must_use]
    pub fn settings(&self) -> &ScatterSettings {
        &self.settings
    }

    /// The coefficient of restitution.
    #[must_use]
    pub fn restitution(&self) -> f64 {
        self.setup.restitution
    }

    /// The surface.
    #[must_use]
    pub fn surface(&self) -> Surface {
        self.setup.surface
    }

    /// B, the radius of the disc of impact parameters.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.setup.reach
    }

    /// μ, the reduced mass.
    #[must_use]
    pub fn reduced_mass(&self) -> f64 {
        self.setup.reduced_mass
    }

    /// Samples `from` to `until` on all threads of rayon's pool, block by block in order. `rows` receives every block's samples where they are
    /// `wanted`; `go_on` hears how many are done, and says whether to go on.
    ///
    /// # Errors
    /// That of `rows`.
    pub fn run<E>(
        &self,
        wanted: bool,
        mut rows: impl FnMut(&[Sample]) -> Result<(), E>,
        mut go_on: impl FnMut(u64) -> bool,
    ) -> Result<Totals, E> {
        let samples = self.settings.samples;
        let mut totals = Totals::new();
        let round = BLOCKS * rayon::current_num_threads() as u64 * BLOCK;
        let mut from = 0;
        while from < samples {
            let until = samples.min(from.saturating_add(round));
            let starts: Vec<u64> = (from..until).step_by(usize::try_from(BLOCK).unwrap_or(1)).collect();
            let blocks: Vec<(Totals, Vec<Sample>)> = starts
                .into_par_iter()
                .map(|start| self.block(start, until.min(start + BLOCK), wanted))
                .collect();
            for (block, samples) in blocks {
                totals.merge(&block);
                if wanted {
                    rows(&samples)?;
                }
            }
            from = until;
            if from < samples && !go_on(from) {
                break;
            }
        }
        Ok(totals)
    }

    /// One block, with its samples if they are wanted.
    fn block(&self, from: u64, until: u64, wanted: bool) -> (Totals, Vec<Sample>) {
        let (mut totals, mut samples) = (Totals::new(), Vec::new());
        for number in from..until {
            let sample = self.sample(number);
            totals.add(&self.setup, &sample);
            if wanted {
                samples.push(sample);
            }
        }
        (totals, samples)
    }
}
