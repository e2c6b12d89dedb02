//! Averages of a gas in a box, measured while it runs.
//!
//! The run goes from one measurement to the next, a fixed time apart ([`Observer::next`]); in between, contributions of collisions are summed.
//! With N free bodies of translational energy K, over a time t
//!
//! ```text
//! Z = PV/(N k_B T) = 1 + Σ J·(c₂ − c₁)/(2 K t)        all collisions of two free bodies, J the impulse on the second
//! P = (2K + Σ J·(c₂ − c₁)/t)/(3V)
//! k_B T = 2K/(3N) along,  2K_r/(f N) about             f the active spins, those that collisions change
//! Γ = collisions of one body per time;   λ = ⟨|v|⟩/Γ
//! S = largest eigenvalue of ⟨(3 u uᵀ − 1)/2⟩, u the axis of a body
//! ```
//!
//! This holds for any mixture of masses and shapes (Erpenbeck and Wood 1977). Planes and fixed bodies exert external forces: their
//! collisions count in Γ, not in Z.
//!
//! **Blocks.** Time is divided into blocks of equal length. When there are 64 of them, they are merged in pairs, so that a run of any length
//! has 32 to 64 (fewer for a short run of very many bodies). A mean is taken over the whole time; its error is the standard error of the
//! block means, for λ of |v| − λΓ, so that a block without a collision needs no special treatment.
//!
//! All results depend on the times of measurement alone, not on where the run was interrupted. [`Record`] contains all data.

mod correlation;
mod histogram;
mod summary;

use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

use crate::body::State;
use crate::contact::Side;
use crate::fill::freedom::{AxisKind, active_count, axis_kind};
use crate::fill::region::Region;
use crate::fill::theory::{estimated_rate, sphere_diameter};
use crate::record::{Event, Kind, Recorder, Sample};
use crate::run::World;
use crate::shape::Shape;
use correlation::{Correlation, RATIO};
use histogram::Histogram;

pub use correlation::Curve;
pub use summary::{BlockMeans, Estimate, Neighbours, Observables, Quantity, pool};

/// When there are this many blocks, they are merged in pairs.
const MOST_BLOCKS: usize = 64;

/// The time between measurements, in units of the estimated mean time between two collisions of a body.
const INTERVAL: f64 = 0.5;

/// The fewest and the most measurements of a run, as estimated.
const FEWEST: f64 = 64.0;
const MOST: f64 = 1e5;

/// In a short run of very many bodies, measuring would take longer than the run. The fewest measurements are then those of this many bodies
/// in total, but enough for an error.
const FEWEST_BODIES: f64 = 2e6;
const FEWEST_OF_MANY: f64 = 12.0;

/// Pair distances are counted at one of this many measurements, first at the second number.
const DISTANCES_EVERY: u64 = 32;
const DISTANCES_FIRST: u64 = 8;

/// The sums of one block.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Block {
    /// The number of intervals measured.
    pub intervals: u64,
    /// Collisions.
    pub collisions: u64,
    /// The number of free bodies in those.
    sides: u64,
    /// Σ J·(c₂ − c₁).
    virial: f64,
    /// Sums of the means over each interval: K, K_r, |v| and S.
    means: Means,
}

/// Averages over all bodies at one time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Means {
    translational: f64,
    rotational: f64,
    speed: f64,
    order: f64,
}

impl Means {
    fn add(&mut self, other: &Self, factor: f64) {
        self.translational += factor * other.translational;
        self.rotational += factor * other.rotational;
        self.speed += factor * other.speed;
        self.order += factor * other.order;
    }
}

impl Block {
    fn merge(&mut self, other: &Self) {
        self.intervals += other.intervals;
        self.collisions += other.collisions;
        self.sides += other.sides;
        self.virial += other.virial;
        self.means.add(&other.means, 1.0);
    }
}

/// Everything measured so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The time between measurements.
    interval: f64,
    /// The number of the next measurement.
    measured: u64,
    /// One of this many measurements is made: all at first, fewer as a gas cools and collisions become rare.
    #[serde(default = "one")]
    every: u64,
    /// The means at the last measurement.
    last: Means,
    /// The sums since the last measurement.
    open: Block,
    /// The number of intervals in a block.
    span: u64,
    /// The current block.
    block: Block,
    /// The complete blocks.
    blocks: Vec<Block>,
    histogram: Option<Histogram>,
    correlation: Correlation,
}

fn one() -> u64 {
    1
}

/// The constants of a gas.
#[derive(Debug, Clone)]
struct Gas {
    /// The number of free bodies.
    count: f64,
    volume: f64,
    packing: f64,
    /// The number of active spins of all bodies.
    spins: f64,
    /// Which bodies are free.
    free: Vec<bool>,
    /// The body axis for the nematic order.
    axes: Vec<Option<usize>>,
    /// The diameter, if all free bodies are equal spheres.
    diameter: Option<f64>,
    mass: f64,
    /// Whether all impacts conserve energy.
    elastic: bool,
    region: Region,
}

/// Measures a run.
#[derive(Debug, Clone)]
pub struct Observer {
    gas: Gas,
    record: Record,
}

/// Pair distances are counted up to this many diameters.
const RANGE: f64 = 3.0;

impl Gas {
    fn of(world: &World) -> Option<Self> {
        // Joints and forces would contribute to the pressure.
        if !world.joints.is_empty() || !world.loads.is_empty() || world.gravity != Vector3::zeros() {
            return None;
        }
        let region = Region::between(world.periodic?, &world.planes).ok()?;
        let free = || world.bodies.iter().filter(|body| !body.fixed && body.shape != Shape::Point);
        let first = free().next()?;
        #[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
        let count = free().count() as f64;
        #[expect(clippy::cast_precision_loss, reason = "fewer bodies than 2^53")]
        let spins = free().map(|body| active_count(&body.shape, world.surface.kind)).sum::<usize>() as f64;
        let equal = free().all(|body| body.shape == first.shape && body.mass == first.mass);
        let are_spheres = equal && axis_kind(&first.shape) == AxisKind::Sphere;
        let axis = |shape: &Shape| match (axis_kind(shape), shape) {
            (AxisKind::Sphere, _) => None,
            (AxisKind::Revolution(axis), _) => Some(axis),
            (_, Shape::Ellipsoid { semi_axes } | Shape::Superellipsoid { semi_axes, .. }) => {
                (0..3).max_by(|&i, &j| semi_axes[i].total_cmp(&semi_axes[j]))
            }
            (_, Shape::Box { half_extents, .. }) => {
                (0..3).max_by(|&i, &j| half_extents[i].total_cmp(&half_extents[j]))
            }
            _ => None,
        };
        Some(Self {
            count,
            volume: region.volume(),
            packing: free().map(|body| body.shape.volume()).sum::<f64>() / region.volume(),
            spins,
            free: world.bodies.iter().map(|body| !body.fixed && body.shape != Shape::Point).collect(),
            axes: world.bodies.iter().map(|body| if body.fixed { None } else { axis(&body.shape) }).collect(),
            diameter: are_spheres.then(|| sphere_diameter(first.shape.volume())),
            mass: first.mass,
            elastic: world.surface.restitution == 1.0
                && world.surface.pairs.iter().all(|pair| pair.restitution == 1.0),
            region,
        })
    }

    fn means(&self, world: &World, states: &[State]) -> Means {
        let (mut means, mut order, mut axes) = (Means::default(), Matrix3::zeros(), 0.0);
        for (i, (body, state)) in world.bodies.iter().zip(states).enumerate() {
            if !self.free[i] {
                continue;
            }
            let square = state.velocity.norm_squared();
            means.translational += 0.5 * body.mass * square;
            means.speed += square.sqrt();
            if self.spins > 0.0 {
                let spin = state.orientation.inverse_transform_vector(&state.angular_velocity);
                means.rotational += 0.5 * spin.component_mul(&body.inertia).dot(&spin);
            }
            if let Some(axis) = self.axes[i] {
                let mut unit = Vector3::zeros();
                unit[axis] = 1.0;
                let u = state.orientation * unit;
                order += u * u.transpose();
                axes += 1.0;
            }
        }
        means.speed /= self.count;
        if axes > 0.0 {
            let tensor = order * (1.5 / axes) - Matrix3::identity() * 0.5;
            means.order = tensor.symmetric_eigenvalues().max();
        }
        means
    }
}

/// An estimate of the mean time between two collisions of a body; `None` without a box or free bodies.
#[must_use]
pub fn collision_time(world: &World, states: &[State]) -> Option<f64> {
    let gas = Gas::of(world)?;
    let temperature = gas.means(world, states).translational / (1.5 * gas.count);
    Some(1.0 / estimated_rate(&world.bodies, gas.volume, temperature))
}

impl Record {
    /// Of how many measurements one is made from now on: of more if the later half of the blocks has so few collisions that measuring would
    /// take longer than the run. Blocks still begin and end with a measurement.
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
    fn next_every(&self, count: f64) -> u64 {
        let coarser = RATIO * self.every;
        let late = &self.blocks[self.blocks.len() / 2..];
        let sides: u64 = late.iter().map(|block| block.sides).sum();
        let intervals: u64 = late.iter().map(|block| block.intervals).sum();
        let expected = INTERVAL * count * intervals as f64 / self.every as f64;
        let rare = (sides as f64) < expected / RATIO as f64;
        if rare && self.span.is_multiple_of(coarser) { coarser } else { self.every }
    }
}

impl Observer {
    /// Begins to measure a run that ends at `until` or after `most` collisions; `None` without a box or with fewer than two free bodies.
    #[must_use]
    pub fn new(world: &World, states: &[State], until: f64, most: u64) -> Option<Self> {
        let gas = Gas::of(world).filter(|gas| gas.count > 1.0)?;
        let means = gas.means(world, states);
        let temperature = means.translational / (1.5 * gas.count);
        let rate = estimated_rate(&world.bodies, gas.volume, temperature);
        let wanted = if rate > 0.0 { INTERVAL / rate } else { f64::INFINITY };
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let expected = if rate > 0.0 { until.min(2.0 * most as f64 / (gas.count * rate)) } else { until };
        let fewest = (FEWEST_BODIES / gas.count).clamp(FEWEST_OF_MANY, FEWEST);
        let interval = wanted.min(expected / fewest).max(expected / MOST);
        if !(interval > 0.0 && interval.is_finite()) {
            return None;
        }
        let size = gas.diameter.unwrap_or_else(|| {
            2.0 * world
                .bodies
                .iter()
                .filter(|b| !b.fixed)
                .fold(0.0, |r: f64, b| r.max(b.shape.circumradius()))
        });
        let record = Record {
            interval,
            measured: 1,
            every: 1,
            last: means,
            open: Block::default(),
            span: 1,
            block: Block::default(),
            blocks: Vec::new(),
            histogram: Histogram::new(&gas.region, size, RANGE),
            correlation: Correlation::new(world, states),
        };
        Some(Self { gas, record })
    }

    /// Continues from what was measured before; `None` if that does not belong to the world.
    #[must_use]
    pub fn resume(world: &World, record: Record) -> Option<Self> {
        let gas = Gas::of(world)?;
        (record.interval > 0.0 && record.correlation.fits(world)).then_some(Self { gas, record })
    }

    /// Everything measured so far.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The time of the next measurement.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "fewer measurements than 2^53")]
    pub fn next(&self) -> f64 {
        self.record.measured as f64 * self.record.interval
    }

    /// Measures the states at the time of [`Observer::next`].
    pub fn measure(&mut self, world: &World, states: &[State]) {
        let means = self.gas.means(world, states);
        let record = &mut self.record;
        let mut next = record.every;
        let mut open = std::mem::take(&mut record.open);
        open.intervals = record.every;
        #[expect(clippy::cast_precision_loss, reason = "fewer measurements than 2^53")]
        let half = 0.5 * record.every as f64;
        open.means.add(&record.last, half);
        open.means.add(&means, half);
        record.last = means;
        record.block.merge(&open);
        if record.block.intervals == record.span {
            record.blocks.push(std::mem::take(&mut record.block));
            if record.blocks.len() == MOST_BLOCKS {
                let pairs = record.blocks.chunks_exact(2).map(|pair| {
                    let mut merged = pair[0];
                    merged.merge(&pair[1]);
                    merged
                });
                record.blocks = pairs.collect();
                record.span *= 2;
                // Elastic bodies do not slow down.
                if !self.gas.elastic {
                    next = record.next_every(self.gas.count);
                }
            }
        }
        record.correlation.add(record.measured, record.every, states);
        if record.measured / record.every % DISTANCES_EVERY == DISTANCES_FIRST
            && let Some(histogram) = &mut record.histogram
        {
            let places = self.gas.free.iter().zip(states).filter(|(free, _)| **free);
            histogram.count(&self.gas.region, places.map(|(_, state)| state.position));
        }
        if next != record.every {
            record.correlation.discard_below(next);
        }
        record.every = next;
        record.measured += next;
    }
}

impl Observer {
    /// Counts a contact of an event, if it is an impact.
    #[inline]
    pub fn count_event(&mut self, event: &Event) {
        if !matches!(event.kind, Kind::Impact | Kind::Rest) || event.impulse == 0.0 {
            return;
        }
        let open = &mut self.record.open;
        open.collisions += 1;
        let free = |side: Side| matches!(side, Side::Body(i) if self.gas.free[i]);
        match event.sides.map(free) {
            [true, true] => {
                open.sides += 2;
                open.virial += event.impulse_vector.dot(&event.between);
            }
            [false, false] => {}
            _ => open.sides += 1,
        }
    }
}

/// Counts impacts. States are measured when the run stops for it.
impl Recorder for Observer {
    #[inline]
    fn events(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.count_event(event));
    }

    fn samples(&mut self, _: &[Sample]) {}

    fn wants_states(&self) -> bool {
        false
    }
}
