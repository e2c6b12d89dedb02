//! Random starts: bodies thrown in small, grown to their size while they collide (Lubachevsky and Stillinger, J. Stat. Phys. 60
//! (1990) 561), and left to collide until the growth is forgotten.
//!
//! All sizes are s times the final ones. Time is in units of that in which a body of the mean mass crosses the mean
//! circumradius at the thermal speed; s grows at `FAST` at first. Growing bodies push each other apart, which heats them, so
//! velocities are drawn anew after every stint of a few collisions a body. Where a stint is short the bodies are crowded, and
//! the growth is slowed down by halves, to `SLOW`, for slow growth packs denser. They are jammed where the growth is slow
//! and collisions come so often that s hardly grows any more.
//!
//! Where no growth is needed, because balls about the bodies fit by chance, none happens.

use nalgebra::Vector3;

use super::random::Random;
use super::theory::estimated_rate;
use super::velocities::{self, Kind};
use super::{Gas, Stage, Unplaced};
use crate::body::State;
use crate::contact::Surface;
use crate::edmd::{Edmd, Settings};
use crate::run::{Stopped, World};
use crate::scene::model::{Scene, SurfaceRules};
use crate::shape::{HalfSpace, Shape};

/// How fast sizes grow at first and at least, in final sizes per unit of time.
const FAST: f64 = 0.1;
const SLOW: f64 = 0.003;

/// A stint shorter than this, in units of time, slows the growth down: Z is above a hundred.
const CROWDED: f64 = 0.05;

/// A stint shorter than this at the slowest growth is the end: Z is some thousands.
const JAMMED: f64 = 1e-3;

/// The packing fraction of circumscribed balls that chance fills without trouble.
const LOOSE: f64 = 0.2;

/// Throws for one body before all begin again, smaller.
const MOST_THROWS: usize = 10_000;

/// The smallest share of the final size that is tried.
const SMALLEST: f64 = 1e-3;

/// Collisions of each body between two drawings of velocities.
const STINT: u64 = 10;

/// Collisions at most between two looks at whether to go on: fewer than a second's.
const AT_A_TIME: u64 = 20_000;

/// By how much the bodies grow beyond their size, so that nobody touches at the start.
const ROOM: f64 = 1e-9;

/// By how much they are smaller, at each drawing, than they have grown to: those that just collided are then apart.
const SHRINK: f64 = 1e-12;

/// How long after their last collision the bodies are taken, in units of the mean time between a body's collisions.
const APART: f64 = 0.1;

/// The longest that bodies are left alone, in units of the time that their collisions should take by the estimate.
const PATIENCE: f64 = 10.0;

/// The states of all bodies of the fills at their full size, without overlap.
pub(super) fn grow(
    gas: &Gas<'_>,
    random: &mut Random,
    go_on: &mut dyn FnMut(Stage) -> bool,
) -> Result<Vec<State>, Unplaced> {
    let wanted = gas.packing();
    let (mut size, mut states) = throw(gas, random).ok_or(Unplaced::Jammed { reached: 0.0, wanted })?;
    let full = 1.0 + ROOM;
    let kinds = thermal_kinds(gas);
    let mut rate = FAST;
    while size < full {
        let packing = wanted * size * size * size;
        if !go_on(Stage::Growing { packing, wanted }) {
            return Err(Unplaced::Interrupted);
        }
        let settings = Settings { max_events: u64::MAX, growth: rate / size, contact_time: 0.0 };
        let mut crowd = start(gas, size, &mut states, &kinds, random, settings)?;
        let mut grown = |crowd: &Edmd| {
            let size = size * crowd.size();
            go_on(Stage::Growing { packing: wanted * size * size * size, wanted })
        };
        let stint = STINT * bodies(gas).div_ceil(2);
        let ended = advance(&mut crowd, (full - size) / rate, stint, &mut grown)?;
        settle(gas, &crowd, &mut states);
        size = match ended {
            Some(Stopped::Until) => full,
            None => size * crowd.size() * (1.0 - SHRINK),
            Some(_) => return Err(Unplaced::Lost),
        };
        let stint = crowd.time();
        if size < full && stint < JAMMED && rate <= SLOW {
            return Err(Unplaced::Jammed { reached: packing, wanted });
        }
        if stint < CROWDED {
            rate = (0.5 * rate).max(SLOW);
        }
    }
    Ok(states)
}

/// Lets the bodies collide so many times each, elastically.
pub(super) fn equilibrate(
    gas: &Gas<'_>,
    states: &mut Vec<State>,
    collisions: f64,
    random: &mut Random,
    go_on: &mut dyn FnMut(Stage) -> bool,
) -> Result<(), Unplaced> {
    let kinds = thermal_kinds(gas);
    let constants: Vec<_> = gas.scene.bodies[gas.ordinary..].iter().map(|body| body.body).collect();
    let temperature = kinds.first().map_or(1.0, |kind| kind.temperature);
    let rate = estimated_rate(&constants, gas.region.volume(), temperature);
    let until = PATIENCE * collisions / rate;
    let count = bodies(gas);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    #[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
    let all = (0.5 * collisions * count as f64).ceil() as u64;
    let settings = Settings { max_events: u64::MAX, growth: 0.0, contact_time: 0.0 };
    let mut crowd = start(gas, 1.0, states, &kinds, random, settings)?;
    let mut made = 0;
    while made < all {
        #[expect(clippy::cast_precision_loss, reason = "a share to be shown")]
        let share = made as f64 / all as f64;
        if !go_on(Stage::Equilibrating { share }) {
            return Err(Unplaced::Interrupted);
        }
        let stint = AT_A_TIME.min(all - made);
        match crowd.advance(until, stint, &mut ()) {
            None => made += stint,
            // So thin that nobody meets: there is nothing to forget.
            Some(Stopped::Until) => break,
            Some(_) => return Err(Unplaced::Lost),
        }
    }
    // Right after a collision two of them touch.
    if crowd.advance(crowd.time() + APART / rate, u64::MAX, &mut ()) != Some(Stopped::Until) {
        return Err(Unplaced::Lost);
    }
    settle(gas, &crowd, states);
    Ok(())
}

/// Advances a crowd as [`Edmd::advance`] does, and asks now and then whether to go on.
fn advance(
    crowd: &mut Edmd,
    until: f64,
    most: u64,
    go_on: &mut dyn FnMut(&Edmd) -> bool,
) -> Result<Option<Stopped>, Unplaced> {
    let mut left = most;
    loop {
        let some = AT_A_TIME.min(left);
        let ended = crowd.advance(until, some, &mut ());
        left -= some;
        if ended.is_some() || left == 0 {
            return Ok(ended);
        }
        if !go_on(crowd) {
            return Err(Unplaced::Interrupted);
        }
    }
}

fn bodies(gas: &Gas<'_>) -> u64 {
    gas.count() as u64
}

/// The fills at the temperature at which a body of mean mass crosses a mean circumradius in the unit of time.
#[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
fn thermal_kinds(gas: &Gas<'_>) -> Vec<Kind> {
    let mut kinds = gas.kinds();
    let count = gas.count() as f64;
    let mean = |of: &dyn Fn(&Kind) -> f64| kinds.iter().map(|k| of(k) * k.count as f64).sum::<f64>() / count;
    let (mass, radius) = (mean(&|kind| kind.body.mass), mean(&|kind| kind.body.shape.circumradius()));
    kinds.iter_mut().for_each(|kind| kind.temperature = mass * radius * radius);
    kinds
}

/// A crowd of all bodies at a share of their size with new velocities; the ordinary ones stand still.
fn start(
    gas: &Gas<'_>,
    size: f64,
    states: &mut [State],
    kinds: &[Kind],
    random: &mut Random,
    settings: Settings,
) -> Result<Edmd, Unplaced> {
    let mut streams: Vec<Random> = kinds.iter().map(|_| Random::new(random.bits(), 0)).collect();
    velocities::draw(kinds, Surface::Smooth, states, &mut streams);
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
    let mut crowd = Edmd::new(world, &states, settings).map_err(|_| Unplaced::Lost)?;
    crowd.set_threads(gas.threads);
    Ok(crowd)
}

/// Takes the states of the fills' bodies, put back into the box.
fn settle(gas: &Gas<'_>, crowd: &Edmd, states: &mut Vec<State>) {
    crowd.states_into(states);
    states.drain(..gas.ordinary);
    let region = &gas.region;
    for state in states.iter_mut() {
        for i in (0..3).filter(|&i| region.periodic[i]) {
            state.position[i] -= region.lengths[i] * (state.position[i] / region.lengths[i]).floor();
        }
    }
}

/// Throws balls about the bodies into the region one by one, none onto another: the share of the final size at which they fit,
/// and the states, turned at random.
fn throw(gas: &Gas<'_>, random: &mut Random) -> Option<(f64, Vec<State>)> {
    let shapes: Vec<Shape> =
        gas.scene.fills.iter().flat_map(|fill| std::iter::repeat_n(fill.shape, fill.count)).collect();
    let ball = |shape: &Shape| 4.0 / 3.0 * core::f64::consts::PI * shape.circumradius().powi(3);
    let taken: f64 = shapes.iter().map(ball).sum::<f64>() / gas.region.volume();
    let mut size = libm::cbrt(LOOSE / taken).min(1.0 + ROOM);
    // The largest first: they find room least easily.
    let mut order: Vec<usize> = (0..shapes.len()).collect();
    order.sort_by(|&i, &j| shapes[j].circumradius().total_cmp(&shapes[i].circumradius()));
    while size > SMALLEST {
        if let Some(places) = throw_at(gas, &shapes, &order, size, random) {
            let turned =
                |position: Vector3<f64>| State { orientation: random.orientation(), ..State::at(position) };
            return Some((size, places.into_iter().map(turned).collect()));
        }
        size *= 0.8;
    }
    None
}

fn throw_at(
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
        let place = (0..MOST_THROWS).find_map(|_| {
            let x = Vector3::from_fn(|i, _| random.uniform() * region.lengths[i]);
            let free = clear(&planes, &(region.low + x))
                && grid.near(&x).all(|(other, reach)| {
                    region.shortest(other - x).norm_squared() > (reach + radius) * (reach + radius)
                });
            free.then_some(x)
        })?;
        grid.put(place, radius);
        places[number] = region.low + place;
    }
    Some(places)
}

/// Balls by the cell that their centre is in.
struct Grid {
    lengths: Vector3<f64>,
    cells: [usize; 3],
    balls: Vec<Vec<(Vector3<f64>, f64)>>,
}

impl Grid {
    /// Cells at least `reach` long, about as many as there are bodies at most.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped, and not negative")]
    #[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
    fn new(lengths: Vector3<f64>, reach: f64, count: usize) -> Self {
        let most = libm::cbrt(count as f64).ceil().max(1.0);
        let cells = [0, 1, 2].map(|i| (lengths[i] / reach).floor().clamp(1.0, 4.0 * most) as usize);
        Self { lengths, cells, balls: vec![Vec::new(); cells.iter().product()] }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "folded into the region first"
    )]
    #[expect(clippy::cast_precision_loss, reason = "cells along an axis")]
    fn cell(&self, x: &Vector3<f64>) -> [usize; 3] {
        [0, 1, 2].map(|i| {
            let share = x[i] / self.lengths[i];
            let share = share - share.floor();
            ((share * self.cells[i] as f64) as usize).min(self.cells[i] - 1)
        })
    }

    fn number(&self, [x, y, z]: [usize; 3]) -> usize {
        (x * self.cells[1] + y) * self.cells[2] + z
    }

    fn put(&mut self, x: Vector3<f64>, radius: f64) {
        let number = self.number(self.cell(&x));
        self.balls[number].push((x, radius));
    }

    /// The balls in the cells around a place; some twice where there are fewer than three cells along an axis.
    fn near(&self, x: &Vector3<f64>) -> impl Iterator<Item = (Vector3<f64>, f64)> + '_ {
        let cell = self.cell(x);
        (0..27usize).flat_map(move |k| {
            let shift = [k / 9, k / 3 % 3, k % 3];
            let next = [0, 1, 2].map(|i| (cell[i] + self.cells[i] + shift[i] - 1) % self.cells[i]);
            self.balls[self.number(next)].iter().copied()
        })
    }
}
