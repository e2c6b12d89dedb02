//! Random starts: bodies are inserted at random while they are small, grow to their size while they collide (Lubachevsky and Stillinger,
//! J. Stat. Phys. 60 (1990) 561), and then collide until no trace of the growth is left.
//!
//! All sizes are s times the final ones. The unit of time is that in which a body of the mean mass crosses the mean circumradius at the
//! thermal speed; s grows at the rate `FAST` at first. Growing bodies push each other apart, which heats them, so velocities are drawn
//! again after every period of a few collisions per body. If a period is short, the system is dense, and the growth rate is halved, down to
//! `SLOW`, because slow growth packs more densely. The system is jammed if the growth is slow and collisions are so frequent that s hardly
//! grows any more.
//!
//! If the bounding spheres of the bodies can be inserted at full size, nothing has to grow.

use nalgebra::Vector3;

use super::random::Random;
use super::theory::estimated_rate;
use super::velocities::{self, Species};
use super::{Gas, Stage, Unplaced};
use crate::body::State;
use crate::contact::Surface;
use crate::edmd::{Edmd, Settings};
use crate::run::{Stopped, World};
use crate::scene::model::{Scene, SurfaceRules};
use crate::shape::{HalfSpace, Shape};

/// The growth rate at first, and the least, in final sizes per unit of time.
const FAST: f64 = 0.1;
const SLOW: f64 = 0.003;

/// A period shorter than this, in units of time, halves the growth rate: Z is above a hundred.
const DENSE: f64 = 0.05;

/// A period shorter than this at the slowest growth means that the system is jammed: Z is some thousands.
const JAMMED: f64 = 1e-3;

/// The packing fraction of bounding spheres that random insertion reaches easily.
const LOOSE: f64 = 0.2;

/// Attempts to insert one body before all are inserted again at a smaller size.
const MAX_ATTEMPTS: usize = 10_000;

/// The smallest size tried, relative to the final one.
const SMALLEST: f64 = 1e-3;

/// Collisions per body between two drawings of velocities.
const PERIOD: u64 = 10;

/// The most collisions between two calls of `proceed`: less than a second's work.
const CHUNK: u64 = 20_000;

/// By how much the bodies grow beyond their size, so that none touch at the start.
const ROOM: f64 = 1e-9;

/// By how much sizes are reduced at each drawing of velocities, so that bodies that have just collided are apart.
const SHRINK: f64 = 1e-12;

/// How long after the last collision the states are taken, in mean times between two collisions of a body.
const APART: f64 = 0.1;

/// The longest time that bodies collide, relative to the estimated time of their collisions.
const PATIENCE: f64 = 10.0;

/// Grows the bodies of the fills to their full size. Returns their states, without overlap.
pub(super) fn grow(
    gas: &Gas<'_>,
    random: &mut Random,
    proceed: &mut dyn FnMut(Stage) -> bool,
) -> Result<Vec<State>, Unplaced> {
    let wanted = gas.packing();
    let (mut size, mut states) = insert(gas, random).ok_or(Unplaced::Jammed { reached: 0.0, wanted })?;
    let full = 1.0 + ROOM;
    let species = thermal_species(gas);
    let mut rate = FAST;
    while size < full {
        let packing = wanted * size * size * size;
        if !proceed(Stage::Growing { packing, wanted }) {
            return Err(Unplaced::Interrupted);
        }
        let settings = Settings { max_events: u64::MAX, growth: rate / size, contact_time: 0.0 };
        let mut edmd = start(gas, size, &mut states, &species, random, settings)?;
        let mut grown = |edmd: &Edmd| {
            let size = size * edmd.size();
            proceed(Stage::Growing { packing: wanted * size * size * size, wanted })
        };
        let collisions = PERIOD * bodies(gas).div_ceil(2);
        let ended = advance(&mut edmd, (full - size) / rate, collisions, &mut grown)?;
        take_states(gas, &edmd, &mut states);
        size = match ended {
            Some(Stopped::Until) => full,
            None => size * edmd.size() * (1.0 - SHRINK),
            Some(_) => return Err(Unplaced::Failed),
        };
        let period = edmd.time();
        if size < full && period < JAMMED && rate <= SLOW {
            return Err(Unplaced::Jammed { reached: packing, wanted });
        }
        if period < DENSE {
            rate = (0.5 * rate).max(SLOW);
        }
    }
    Ok(states)
}

/// Lets the bodies collide elastically, each this many times on average.
pub(super) fn equilibrate(
    gas: &Gas<'_>,
    states: &mut Vec<State>,
    collisions: f64,
    random: &mut Random,
    proceed: &mut dyn FnMut(Stage) -> bool,
) -> Result<(), Unplaced> {
    let species = thermal_species(gas);
    let constants: Vec<_> = gas.scene.bodies[gas.ordinary..].iter().map(|body| body.body).collect();
    let temperature = species.first().map_or(1.0, |one| one.temperature);
    let rate = estimated_rate(&constants, gas.region.volume(), temperature);
    let until = PATIENCE * collisions / rate;
    let count = bodies(gas);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    #[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
    let all = (0.5 * collisions * count as f64).ceil() as u64;
    let settings = Settings { max_events: u64::MAX, growth: 0.0, contact_time: 0.0 };
    let mut edmd = start(gas, 1.0, states, &species, random, settings)?;
    let mut made = 0;
    while made < all {
        #[expect(clippy::cast_precision_loss, reason = "a fraction to be shown")]
        let share = made as f64 / all as f64;
        if !proceed(Stage::Equilibrating { share }) {
            return Err(Unplaced::Interrupted);
        }
        let chunk = CHUNK.min(all - made);
        match edmd.advance(until, chunk, &mut ()) {
            None => made += chunk,
            // So dilute that no bodies meet: there is nothing to equilibrate.
            Some(Stopped::Until) => break,
            Some(_) => return Err(Unplaced::Failed),
        }
    }
    // Right after a collision two bodies touch.
    if edmd.advance(edmd.time() + APART / rate, u64::MAX, &mut ()) != Some(Stopped::Until) {
        return Err(Unplaced::Failed);
    }
    take_states(gas, &edmd, states);
    Ok(())
}

/// Runs as [`Edmd::advance`] does, and asks from time to time whether to proceed.
fn advance(
    edmd: &mut Edmd,
    until: f64,
    most: u64,
    proceed: &mut dyn FnMut(&Edmd) -> bool,
) -> Result<Option<Stopped>, Unplaced> {
    let mut left = most;
    loop {
        let chunk = CHUNK.min(left);
        let ended = edmd.advance(until, chunk, &mut ());
        left -= chunk;
        if ended.is_some() || left == 0 {
            return Ok(ended);
        }
        if !proceed(edmd) {
            return Err(Unplaced::Interrupted);
        }
    }
}

fn bodies(gas: &Gas<'_>) -> u64 {
    gas.count() as u64
}

/// The fills, at the temperature at which a body of the mean mass crosses the mean circumradius in the unit of time.
#[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
fn thermal_species(gas: &Gas<'_>) -> Vec<Species> {
    let mut species = gas.species();
    let count = gas.count() as f64;
    let mean = |of: &dyn Fn(&Species) -> f64| {
        species.iter().map(|one| of(one) * one.count as f64).sum::<f64>() / count
    };
    let (mass, radius) = (mean(&|one| one.body.mass), mean(&|one| one.body.shape.circumradius()));
    species.iter_mut().for_each(|one| one.temperature = mass * radius * radius);
    species
}

/// A run of all bodies, at a size relative to the final one, with new velocities; the scene's own bodies are fixed.
fn start(
    gas: &Gas<'_>,
    size: f64,
    states: &mut [State],
    species: &[Species],
    random: &mut Random,
    settings: Settings,
) -> Result<Edmd, Unplaced> {
    let mut streams: Vec<Random> = species.iter().map(|_| Random::new(random.bits(), 0)).collect();
    velocities::draw(species, Surface::Smooth, states, &mut streams);
    let mut scene = Scene {
        gravity: Vector3::zeros(),
        surface: SurfaceRules::default(),
        joints: Vec::new(),
        contacts: Vec::new(),
        ..gas.scene.clone()
    };
    for (i, body) in scene.bodies.iter_mut().enumerate() {
        body.body.shape = body.body.shape.scaled(size);
        match i.checked_sub(gas.ordinary) {
            Some(number) => body.state = states[number],
            None => {
                body.body.fixed = true;
                body.body.mass = f64::INFINITY;
                body.body.inertia = Vector3::repeat(f64::INFINITY);
                (body.state.velocity, body.state.angular_velocity) = (Vector3::zeros(), Vector3::zeros());
            }
        }
    }
    let (world, states) = World::of(&scene);
    let mut edmd = Edmd::new(world, &states, settings).map_err(|_| Unplaced::Failed)?;
    edmd.set_threads(gas.threads);
    Ok(edmd)
}

/// Takes the states of the fills' bodies from a run, with positions in the box.
fn take_states(gas: &Gas<'_>, edmd: &Edmd, states: &mut Vec<State>) {
    edmd.states_into(states);
    states.drain(..gas.ordinary);
    let region = &gas.region;
    for state in states.iter_mut() {
        for i in (0..3).filter(|&i| region.periodic[i]) {
            state.position[i] -= region.lengths[i] * (state.position[i] / region.lengths[i]).floor();
        }
    }
}

/// Inserts the bounding spheres of the bodies one by one at random positions without overlap. Returns the size, relative to the final one,
/// at which they fit, and the states, with random orientations.
fn insert(gas: &Gas<'_>, random: &mut Random) -> Option<(f64, Vec<State>)> {
    let shapes: Vec<Shape> =
        gas.scene.fills.iter().flat_map(|fill| std::iter::repeat_n(fill.shape, fill.count)).collect();
    let sphere = |shape: &Shape| 4.0 / 3.0 * core::f64::consts::PI * shape.circumradius().powi(3);
    let filled: f64 = shapes.iter().map(sphere).sum::<f64>() / gas.region.volume();
    let mut size = libm::cbrt(LOOSE / filled).min(1.0 + ROOM);
    // The largest first: they are the hardest to insert.
    let mut order: Vec<usize> = (0..shapes.len()).collect();
    order.sort_by(|&i, &j| shapes[j].circumradius().total_cmp(&shapes[i].circumradius()));
    while size > SMALLEST {
        if let Some(places) = insert_at(gas, &shapes, &order, size, random) {
            let turned =
                |position: Vector3<f64>| State { orientation: random.orientation(), ..State::at(position) };
            return Some((size, places.into_iter().map(turned).collect()));
        }
        size *= 0.8;
    }
    None
}

fn insert_at(
    gas: &Gas<'_>,
    shapes: &[Shape],
    order: &[usize],
    size: f64,
    random: &mut Random,
) -> Option<Vec<Vector3<f64>>> {
    let region = &gas.region;
    let ordinary = &gas.scene.bodies[..gas.ordinary];
    let largest = shapes
        .iter()
        .chain(ordinary.iter().map(|other| &other.body.shape))
        .fold(0.0, |radius: f64, shape| radius.max(size * shape.circumradius()));
    let mut grid = Grid::new(region.lengths, 2.0 * largest, shapes.len());
    for other in ordinary.iter().filter(|other| other.body.shape != Shape::Point) {
        grid.put(other.state.position - region.low, size * other.body.shape.circumradius());
    }
    let mut places = vec![Vector3::zeros(); shapes.len()];
    for &number in order {
        let radius = size * shapes[number].circumradius();
        let clear =
            |planes: &[HalfSpace], x: &Vector3<f64>| planes.iter().all(|plane| plane.height(x) > radius);
        let planes: Vec<HalfSpace> = gas.scene.planes.iter().map(|plane| plane.half_space).collect();
        let place = (0..MAX_ATTEMPTS).find_map(|_| {
            let x = Vector3::from_fn(|i, _| random.uniform() * region.lengths[i]);
            let free = clear(&planes, &(region.low + x))
                && grid.near(&x).all(|(other, their_radius)| {
                    let sum = their_radius + radius;
                    region.shortest(other - x).norm_squared() > sum * sum
                });
            free.then_some(x)
        })?;
        grid.put(place, radius);
        places[number] = region.low + place;
    }
    Some(places)
}

/// Spheres by the cell of their centre.
struct Grid {
    lengths: Vector3<f64>,
    cells: [usize; 3],
    spheres: Vec<Vec<(Vector3<f64>, f64)>>,
}

impl Grid {
    /// With cells at least `least` long, and not many more than there are bodies.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped, and not negative")]
    #[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
    fn new(lengths: Vector3<f64>, least: f64, count: usize) -> Self {
        let most = libm::cbrt(count as f64).ceil().max(1.0);
        let cells = [0, 1, 2].map(|i| (lengths[i] / least).floor().clamp(1.0, 4.0 * most) as usize);
        Self { lengths, cells, spheres: vec![Vec::new(); cells.iter().product()] }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "folded into the region first"
    )]
    #[expect(clippy::cast_precision_loss, reason = "cells along an axis")]
    fn cell(&self, x: &Vector3<f64>) -> [usize; 3] {
        [0, 1, 2].map(|i| {
            let fraction = x[i] / self.lengths[i];
            let fraction = fraction - fraction.floor();
            ((fraction * self.cells[i] as f64) as usize).min(self.cells[i] - 1)
        })
    }

    fn number(&self, [x, y, z]: [usize; 3]) -> usize {
        (x * self.cells[1] + y) * self.cells[2] + z
    }

    fn put(&mut self, x: Vector3<f64>, radius: f64) {
        let number = self.number(self.cell(&x));
        self.spheres[number].push((x, radius));
    }

    /// The spheres in the cells around a point; some of them twice if there are fewer than three cells along an axis.
    fn near(&self, x: &Vector3<f64>) -> impl Iterator<Item = (Vector3<f64>, f64)> + '_ {
        let cell = self.cell(x);
        (0..27usize).flat_map(move |k| {
            let shift = [k / 9, k / 3 % 3, k % 3];
            let next = [0, 1, 2].map(|i| (cell[i] + self.cells[i] + shift[i] - 1) % self.cells[i]);
            self.spheres[self.number(next)].iter().copied()
        })
    }
}
