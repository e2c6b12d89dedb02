//! Events per second of the event-driven simulation, and how the cost of an event grows with the number of bodies.
//!
//! `cargo bench -p carom --bench simulation`. One run, everything side by side: ellipsoids and superellipsoids in periodic
//! boxes at one density. The share of prediction is estimated from the number of gaps that searches evaluated and the time
//! of one gap between two poses, measured in the same run. Without `--bench` every case runs for a moment, as a test.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::time::Instant;

use carom::body::{Body, State};
use carom::gap::gap_near;
use carom::motion::Flight;
use carom::scene::model::RunSettings;
use carom::scene::{Format, file};
use carom::shape::Shape;
use carom::simulation::Simulation;

use carom::run::World;
use nalgebra::{UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Volume of the box per body, over the volume of a unit cube about a body of unit semi-axis.
const PITCH: f64 = 2.4;

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    println!("shape             bodies   events/s   us/event   searches   gaps   share of prediction");
    let ellipsoid = Shape::Ellipsoid { semi_axes: [1.0, 0.5, 0.5] };
    let pillow = Shape::Superellipsoid { semi_axes: [1.0, 0.5, 0.5], exponent: 4.0 };
    for (name, shape, counts) in [
        ("ellipsoid 2:1", ellipsoid, &[2_u32, 10, 100, 1000][..]),
        ("superellipsoid 4", pillow, &[2, 10, 100][..]),
    ] {
        let gap = time_of_gap(&shape);
        let mut first = None;
        for &count in counts {
            let events = if measured { 20_000.max(20 * count as usize) } else { 50 };
            let mut simulation = gas(count, &shape, events);
            let began = Instant::now();
            simulation.run(&mut (), |_| true);
            let seconds = began.elapsed().as_secs_f64();
            let counts = simulation.counts();
            let each = |n: u64| n as f64 / counts.events as f64;
            let cost = 1e6 * seconds / counts.events as f64;
            println!(
                "{name:<18}{count:>6}{:>11.0}{cost:>11.1}{:>11.1}{:>7.1}{:>18.0} %",
                counts.events as f64 / seconds,
                each(counts.searches),
                each(counts.gaps),
                100.0 * counts.gaps as f64 * gap / seconds,
            );
            let audit = simulation.audit();
            assert!(audit.energy_error_max.value < 1e-11 && audit.gap_min > -1e-12, "{audit:?}");
            if count >= 10 {
                let (least, cheapest) = *first.get_or_insert((count, cost));
                let growth = cost / cheapest;
                let allowed = f64::from(count).ln() / f64::from(least).ln();
                if count > least {
                    println!("                  x{growth:.2} the cost at {least} (log N: x{allowed:.2})");
                }
            }
        }
    }
}

/// Seconds for two poses and a gap from a normal close by, as a search evaluates them.
fn time_of_gap(shape: &Shape) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut draw = || Vector3::from_fn(|_, _| random.random_range(-1.0..1.0));
    let body = Body { shape: *shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false };
    let mut flight = |x: f64| {
        let state = State {
            position: Vector3::new(x, 0.2, 0.1),
            orientation: UnitQuaternion::from_scaled_axis(draw() * 3.0),
            velocity: draw(),
            angular_velocity: draw() * 2.0,
        };
        Flight::new(&body, &state, &Vector3::zeros())
    };
    let pairs: Vec<[Flight; 2]> = (0..200).map(|_| [flight(0.0), flight(2.2)]).collect();
    let began = Instant::now();
    let mut done = 0;
    for [one, two] in &pairs {
        let mut normal = Vector3::x();
        for k in 0..50 {
            let t = 0.001 * f64::from(k);
            let (a, b) = (one.at(t), two.at(t));
            if let Some(found) = gap_near((shape, &a.pose()), (shape, &b.pose()), &normal) {
                normal = black_box(found).normal;
            }
            done += 1;
        }
    }
    began.elapsed().as_secs_f64() / f64::from(done)
}

fn gas(count: u32, shape: &Shape, events: usize) -> Simulation {
    let mut random = ChaCha8Rng::seed_from_u64(u64::from(count));
    let length = PITCH * f64::from(count).cbrt().max(1.3);
    let text = "carom = 1\n[[body]]\nname = \"any\"\nshape = { point = {} }\nmass = 1\ninertia = [1, 1, 1]\n";
    let mut scene = file::read(text, Format::Toml).unwrap();
    scene.bodies.clear();
    scene.periodic = Some(Vector3::repeat(length));
    // Side by side along their short axes, every so many places of a lattice that has room for all.
    let (along, across) = ((length / 2.05).floor(), (length / 1.05).floor());
    let every = (along * across * across / f64::from(count)).floor();
    for k in 0..count {
        let place = f64::from(k) * every;
        let (x, y, z) = (place % along, (place / along).floor() % across, (place / along / across).floor());
        let mut draw = || Vector3::from_fn(|_, _| random.random_range(-1.0..1.0));
        scene.bodies.push(carom::scene::model::SceneBody {
            name: format!("b{k}"),
            body: Body { shape: *shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false },
            state: State {
                position: Vector3::new((x + 0.5) / along, (y + 0.5) / across, (z + 0.5) / across) * length,
                orientation: UnitQuaternion::identity(),
                velocity: draw(),
                angular_velocity: draw() * 2.0,
            },
            body_spin: None,
        });
    }
    let (world, states) = World::of(&scene);
    let settings = RunSettings { until: 1e9, max_events: events, sample: 0.0, ..RunSettings::default() };
    Simulation::new(world, &states, settings).unwrap()
}
