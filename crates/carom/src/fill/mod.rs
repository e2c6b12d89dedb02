//! Fills: many bodies at once, placed without overlap and moved by a temperature.
//!
//! [`place`] turns a scene with fills into one with their bodies: the ordinary ones first, then those of each fill in
//! turn, called `name[0]`, `name[1]`, … A lattice start puts them on a lattice; a random start throws
//! them in small, grows them to their size (Lubachevsky and Stillinger 1990), and lets them collide until what
//! the growth made of them is forgotten. Velocities are drawn last, so they are those of the temperature to
//! rounding: between hard bodies velocities and places are independent in equilibrium.
//!
//! The ordinary bodies stand still meanwhile, where the scene has them. Same scene, same seeds, same bytes.

pub(crate) mod freedom;
mod growth;
mod lattice;
mod random;
pub(crate) mod region;
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
use velocities::Kind;

/// Why the bodies of fills have no places.
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
    /// No lattice has room for so many.
    Crowded {
        /// The largest packing fraction, of all fills together, that a lattice reaches.
        reached: f64,
        /// The packing fraction asked for.
        wanted: f64,
    },
    /// The bodies jam before they have their size.
    Jammed {
        /// The packing fraction, of all fills together, at which they did.
        reached: f64,
        /// The packing fraction asked for.
        wanted: f64,
    },
    /// The bodies' motion while they were placed could not be followed.
    Lost,
    /// Whoever asked for them ended it.
    Interrupted,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stage {
    /// The bodies grow, and have this packing fraction of the one wanted.
    Growing {
        /// Now.
        packing: f64,
        /// In the end.
        wanted: f64,
    },
    /// They collide, and have made this share of the collisions wanted.
    Equilibrating {
        /// From 0 to 1.
        share: f64,
    },
}

/// Collisions of each body that a random start makes before it begins, unless the fill says otherwise.
pub const EQUILIBRATION: f64 = 50.0;

/// The scene with the bodies of its fills, at rest at the origin, and with the box that they make: what a run needs to know
/// when the states come from elsewhere.
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

/// The scene with the bodies of its fills, placed and moving. `go_on` hears what is being done, and may end it.
///
/// # Errors
/// Why there are no places.
pub fn place(scene: &Scene, go_on: &mut dyn FnMut(Stage) -> bool) -> Result<Scene, Unplaced> {
    place_by(scene, 1, go_on)
}

/// [`place`] by so many threads, to the same result.
///
/// # Errors
/// Why there are no places.
pub fn place_by(
    scene: &Scene,
    threads: usize,
    go_on: &mut dyn FnMut(Stage) -> bool,
) -> Result<Scene, Unplaced> {
    let mut filled = populate(scene);
    // Only what is to be filled must be bounded.
    if scene.fills.is_empty() {
        return Ok(filled);
    }
    let Some(region) = Region::of(&filled)? else { return Ok(filled) };
    for (fill, kind) in scene.fills.iter().enumerate() {
        let least = 2.0 * kind.shape.circumradius();
        if (0..3).any(|i| region.periodic[i] && region.lengths[i] <= least) {
            return Err(Unplaced::BoxTooShort { fill, least });
        }
    }
    let mut random = Random::new(combined_seed(scene), 0);
    let gas = Gas { scene: &filled, ordinary: scene.bodies.len(), region, threads };
    let lattice = scene.fills.iter().all(|fill| fill.start == Start::Lattice);
    let mut states = match lattice {
        true => gas.on_lattice(&mut random)?,
        false => growth::grow(&gas, &mut random, go_on)?,
    };
    let share = scene.fills.iter().map(equilibration).fold(0.0, f64::max);
    if share > 0.0 {
        growth::equilibrate(&gas, &mut states, share, &mut random, go_on)?;
    }
    let mut streams: Vec<Random> =
        scene.fills.iter().zip(1..).map(|(fill, stream)| Random::new(fill.seed, stream)).collect();
    velocities::draw(&gas.kinds(), scene.surface.kind, &mut states, &mut streams);
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

/// One seed of all fills' (the finaliser of SplitMix64 between them; Steele, Lea and Flood 2014).
fn combined_seed(scene: &Scene) -> u64 {
    scene.fills.iter().fold(0, |seed: u64, fill| {
        let mut z = seed.wrapping_add(fill.seed).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// What there is to place, and where.
#[derive(Debug, Clone, Copy)]
struct Gas<'a> {
    /// The scene with all bodies.
    pub scene: &'a Scene,
    /// How many of them are ordinary.
    pub ordinary: usize,
    /// Where.
    pub region: Region,
    /// How many threads may work on it.
    pub threads: usize,
}

/// More lattices than this, each with more places, are not tried where others stand in the way.
const MOST_LATTICES: usize = 60;

impl Gas<'_> {
    /// The fills in terms of bodies.
    fn kinds(&self) -> Vec<Kind> {
        let kind =
            |fill: &Fill| Kind { body: constants(fill), count: fill.count, temperature: fill.temperature };
        self.scene.fills.iter().map(kind).collect()
    }

    /// How many bodies there are to place.
    fn count(&self) -> usize {
        self.scene.fills.iter().map(|fill| fill.count).sum()
    }

    /// The packing fraction of all fills together.
    fn packing(&self) -> f64 {
        self.scene.fills.iter().map(region::volume).sum::<f64>() / self.region.volume()
    }

    /// The states of the fills' bodies, at rest on a lattice; which body stands where is left to chance.
    fn on_lattice(&self, random: &mut Random) -> Result<Vec<State>, Unplaced> {
        let mut shapes: Vec<Shape> = Vec::new();
        for fill in &self.scene.fills {
            if !shapes.contains(&fill.shape) {
                shapes.push(fill.shape);
            }
        }
        let count = self.count();
        let mut wanted = count;
        for _ in 0..MOST_LATTICES {
            let lattice =
                lattice::fit(&shapes, wanted, &self.region).map_err(|factor| Unplaced::Crowded {
                    reached: self.packing() * factor * factor * factor,
                    wanted: self.packing(),
                })?;
            let mut places = lattice.places(&self.region);
            let all = places.len();
            places.retain(|place| shapes.iter().all(|shape| self.is_clear(shape, place)));
            if places.len() >= count {
                let mixed = self.scene.fills.len() > 1 || places.len() > count;
                if mixed {
                    random.shuffle(&mut places);
                }
                places.truncate(count);
                if self.scene.fills.len() == 1 {
                    // Neighbours in space are neighbours in memory.
                    places
                        .sort_by(|a, b| a.iter().partial_cmp(b.iter()).unwrap_or(std::cmp::Ordering::Equal));
                }
                return Ok(places.into_iter().map(State::at).collect());
            }
            wanted = (all + 1).max(wanted + wanted.div_ceil(50) + (count - places.len()) / 2);
        }
        Err(Unplaced::Crowded { reached: 0.0, wanted: self.packing() })
    }

    /// Whether an unturned body at a place overlaps none of the ordinary bodies and planes.
    fn is_clear(&self, shape: &Shape, place: &Vector3<f64>) -> bool {
        let pose = State::at(*place).pose();
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
