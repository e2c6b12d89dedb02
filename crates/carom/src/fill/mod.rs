//! Fills: many bodies at once, placed without overlap and with the velocities of a temperature.
//!
//! [`place`] turns a scene with fills into one with their bodies: the scene's own bodies first, then those of each fill in turn, called
//! `name[0]`, `name[1]`, … A lattice start puts them on a lattice. A random start inserts them at random while they are small, grows them to
//! their size (Lubachevsky and Stillinger 1990), and lets them collide until no trace of the growth is left. Velocities are drawn last, so
//! that they have the temperature to rounding: velocities and positions of hard bodies are independent in equilibrium.
//!
//! Meanwhile the scene's own bodies are fixed where the scene has them. The same scene and seeds give the same bytes.

mod chacha;
pub(crate) mod freedom;
mod growth;
mod lattice;
pub(crate) mod random;
pub(crate) mod region;
pub(crate) mod seed;
pub mod theory;
mod velocities;

use nalgebra::Vector3;

use crate::body::{Body, State};
use crate::gap::gap_to_plane;
use crate::scene::model::{Fill, Scene, SceneBody, Start};
use crate::shape::Shape;
use crate::toi::periodic::Periodic;
use random::Random;
use region::Region;
use velocities::Species;

/// Why the bodies of the fills could not be placed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unplaced {
    /// The box is open along this axis, and no two planes bound it.
    Open {
        /// 0, 1 or 2.
        axis: usize,
    },
    /// The box is too short for the bodies of this fill: one could touch its own image.
    BoxTooShort {
        /// The fill.
        fill: usize,
        /// The least length that would do.
        least: f64,
    },
    /// No lattice has room for all bodies.
    Crowded {
        /// The largest packing fraction of all fills together that a lattice reaches.
        reached: f64,
        /// The packing fraction asked for.
        wanted: f64,
    },
    /// The bodies jam before they reach their size.
    Jammed {
        /// The packing fraction of all fills together at which they jammed.
        reached: f64,
        /// The packing fraction asked for.
        wanted: f64,
    },
    /// The motion of the bodies while they were placed could not be followed.
    Failed,
    /// The caller ended the placement.
    Interrupted,
}

/// A stage of the placement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stage {
    /// The bodies grow.
    Growing {
        /// The packing fraction at present.
        packing: f64,
        /// The packing fraction wanted.
        wanted: f64,
    },
    /// The bodies collide until they are in equilibrium.
    Equilibrating {
        /// The fraction of the collisions wanted that have been made.
        share: f64,
    },
}

/// Collisions per body that equilibrate a random start, unless the fill gives another number.
pub const EQUILIBRATION: f64 = 50.0;

/// The scene with the bodies of its fills, at rest at the origin, and with the box that the fills define: what a run needs if the states
/// come from elsewhere.
#[must_use]
pub fn populate(scene: &Scene) -> Scene {
    let mut scene = scene.clone();
    scene.periodic = region::lengths(&scene);
    for fill in std::mem::take(&mut scene.fills) {
        let body = constants(&fill);
        scene.bodies.extend((0..fill.count).map(|i| SceneBody {
            name: format!("{}[{i}]", fill.name),
            body,
            state: State::at(Vector3::zeros()),
            body_spin: None,
        }));
        scene.fills.push(fill);
    }
    scene
}

fn constants(fill: &Fill) -> Body {
    Body { shape: fill.shape, mass: fill.mass, inertia: fill.shape.unit_inertia() * fill.mass, fixed: false }
}

/// The scene with the bodies of its fills, placed and moving. `proceed` is told the stage, and ends the placement by returning false.
///
/// # Errors
/// Why the bodies could not be placed.
pub fn place(scene: &Scene, proceed: &mut dyn FnMut(Stage) -> bool) -> Result<Scene, Unplaced> {
    place_by(scene, 1, proceed)
}

/// [`place`] with several threads, to the same result.
///
/// # Errors
/// Why the bodies could not be placed.
pub fn place_by(
    scene: &Scene,
    threads: usize,
    proceed: &mut dyn FnMut(Stage) -> bool,
) -> Result<Scene, Unplaced> {
    let mut filled = populate(scene);
    // Only a region that is filled has to be bounded.
    if scene.fills.is_empty() {
        return Ok(filled);
    }
    let Some(region) = Region::of(&filled)? else { return Ok(filled) };
    for (fill, species) in scene.fills.iter().enumerate() {
        let least = 2.0 * species.shape.circumradius();
        if (0..3).any(|i| region.periodic[i] && region.lengths[i] <= least) {
            return Err(Unplaced::BoxTooShort { fill, least });
        }
    }
    let mut random = Random::new(combined_seed(scene), 0);
    let gas = Gas { scene: &filled, ordinary: scene.bodies.len(), region, threads };
    let lattice = scene.fills.iter().all(|fill| fill.start == Start::Lattice);
    let mut states = match lattice {
        true => gas.on_lattice(&mut random)?,
        false => growth::grow(&gas, &mut random, proceed)?,
    };
    let share = scene.fills.iter().map(equilibration).fold(0.0, f64::max);
    if share > 0.0 {
        growth::equilibrate(&gas, &mut states, share, &mut random, proceed)?;
    }
    let mut streams: Vec<Random> =
        scene.fills.iter().zip(1..).map(|(fill, stream)| Random::new(fill.seed, stream)).collect();
    velocities::draw(&gas.species(), scene.surface.kind, &mut states, &mut streams);
    for (body, state) in filled.bodies[scene.bodies.len()..].iter_mut().zip(states) {
        body.state = state;
    }
    Ok(filled)
}

fn equilibration(fill: &Fill) -> f64 {
    fill.equilibrate.unwrap_or(match fill.start {
        Start::Lattice => 0.0,
        Start::Random => EQUILIBRATION,
    })
}

/// One seed from those of all fills (the finaliser of SplitMix64 between them; Steele, Lea and Flood 2014).
fn combined_seed(scene: &Scene) -> u64 {
    scene.fills.iter().fold(0, |seed: u64, fill| {
        let mut z = seed.wrapping_add(fill.seed).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// What is to be placed, and where.
#[derive(Debug, Clone, Copy)]
struct Gas<'a> {
    /// The scene with all bodies.
    pub scene: &'a Scene,
    /// The number of the scene's own bodies, which come first.
    pub ordinary: usize,
    /// The region to be filled.
    pub region: Region,
    /// The number of threads.
    pub threads: usize,
}

/// The most lattices, each with more sites, that are tried if the scene's own bodies are in the way.
const MAX_LATTICES: usize = 60;

impl Gas<'_> {
    /// The species of the fills.
    fn species(&self) -> Vec<Species> {
        let species =
            |fill: &Fill| Species { body: constants(fill), count: fill.count, temperature: fill.temperature };
        self.scene.fills.iter().map(species).collect()
    }

    /// The number of bodies to be placed.
    fn count(&self) -> usize {
        self.scene.fills.iter().map(|fill| fill.count).sum()
    }

    /// The packing fraction of all fills together.
    fn packing(&self) -> f64 {
        self.scene.fills.iter().map(region::volume).sum::<f64>() / self.region.volume()
    }

    /// The states of the fills' bodies, at rest on a lattice. Different bodies are distributed at random.
    fn on_lattice(&self, random: &mut Random) -> Result<Vec<State>, Unplaced> {
        let mut shapes: Vec<Shape> = Vec::new();
        for fill in &self.scene.fills {
            if !shapes.contains(&fill.shape) {
                shapes.push(fill.shape);
            }
        }
        let count = self.count();
        let mut wanted = count;
        for _ in 0..MAX_LATTICES {
            let lattice =
                lattice::fit(&shapes, wanted, &self.region).map_err(|factor| Unplaced::Crowded {
                    reached: self.packing() * factor * factor * factor,
                    wanted: self.packing(),
                })?;
            let mut positions = lattice.positions(&self.region);
            let all = positions.len();
            positions.retain(|position| shapes.iter().all(|shape| self.is_clear(shape, position)));
            if positions.len() >= count {
                let mixed = self.scene.fills.len() > 1 || positions.len() > count;
                if mixed {
                    random.shuffle(&mut positions);
                }
                positions.truncate(count);
                if self.scene.fills.len() == 1 {
                    // Neighbours in space should be neighbours in memory.
                    positions
                        .sort_by(|a, b| a.iter().partial_cmp(b.iter()).unwrap_or(std::cmp::Ordering::Equal));
                }
                return Ok(positions.into_iter().map(State::at).collect());
            }
            wanted = (all + 1).max(wanted + wanted.div_ceil(50) + (count - positions.len()) / 2);
        }
        Err(Unplaced::Crowded { reached: 0.0, wanted: self.packing() })
    }

    /// Whether a body at a position, with the orientation of the lattice, is clear of the scene's own bodies and planes.
    fn is_clear(&self, shape: &Shape, position: &Vector3<f64>) -> bool {
        let pose = State::at(*position).pose();
        let planes = self.scene.planes.iter().map(|plane| gap_to_plane(shape, &pose, &plane.half_space).gap);
        let lengths =
            Vector3::from_fn(|i, _| if self.region.periodic[i] { self.region.lengths[i] } else { 0.0 });
        let others =
            self.scene.bodies[..self.ordinary].iter().filter(|other| other.body.shape != Shape::Point);
        let bodies = others.map(|other| {
            let other = (&other.body.shape, &other.state.pose());
            Periodic { lengths }.nearest(other, (shape, &pose)).map_or(-1.0, |(gap, _)| gap.gap)
        });
        planes.chain(bodies).all(|gap| gap > 0.0)
    }
}
