//! Walls of Lagrangian systems: impacts together and under every law, friction, rest, lift-off, grazing; and what users get wrong.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::contact::Surface;
use carom::impact::{Law, Options, Problem};
use carom::lagrange::{Counts, Event, Kind, Obstacle, Run, Scalar, Settings, System, Wall};
use carom::{Error, Fault};
use nalgebra::{dmatrix, dvector};

const G: f64 = 9.81;

/// A point in the plane with walls of its own: lines n·q ≥ c.
#[derive(Clone)]
struct Point {
    mass: [[f64; 2]; 2],
    pull: [f64; 2],
    lines: Vec<[f64; 3]>,
    walls: Vec<Wall>,
}

impl System<2> for Point {
    fn mass<S: Scalar>(&self, _: &[S; 2]) -> [[S; 2]; 2] {
        self.mass.map(|row| row.map(S::constant))
    }

    fn potential<S: Scalar>(&self, q: &[S; 2]) -> S {
        -(q[0] * self.pull[0] + q[1] * self.pull[1])
    }

    fn walls(&self) -> &[Wall] {
        &self.walls
    }

    fn gaps<S: Scalar>(&self, q: &[S; 2], gaps: &mut [S]) {
        for (gap, [x, y, c]) in gaps.iter_mut().zip(&self.lines) {
            *gap = q[0] * *x + q[1] * *y - *c;
        }
    }

    fn tangents<S: Scalar>(&self, wall: usize, _: &[S; 2], rows: &mut [[S; 2]]) {
        let [x, y, _] = self.lines[wall];
        rows[0] = [S::constant(y), S::constant(-x)];
    }
}

const UNIT: [[f64; 2]; 2] = [[1.0, 0.0], [0.0, 1.0]];

fn events<M: System<N>, const N: usize>(run: &mut Run<M, N>, until: f64) -> Vec<Event> {
    let mut events = Vec::new();
    run.to(until, |_, step| {
        events.extend(step.event.clone());
        events.len() < 2000
    })
    .unwrap();
    events
}

/// Into a corner of two walls at once, under every law: the engine's impact / the impact problem written by hand.
#[test]
fn a_corner_under_every_law() {
    let (mass, k) = ([[2.0, 0.5], [0.5, 1.0]], [0.9, 0.4]);
    let lines = vec![[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]];
    let walls = k.map(Wall::smooth).to_vec();
    let start = [-1.3, -0.7];
    for law in [Law::NewtonLcp, Law::Newton, Law::Poisson, Law::Sequential, Law::Reflection, Law::Decoupled] {
        let point = Point { mass, pull: [0.0; 2], lines: lines.clone(), walls: walls.clone() };
        let settings = Settings { impact: Options { law, ..Options::default() }, ..Settings::default() };
        // Both walls at t = 1.
        let mut run = Run::new(point, [1.3, 0.7], start, settings).unwrap();
        let mut first = None;
        run.to(2.0, |run, step| {
            first = step.event.clone().map(|event| (event, *run.velocity()));
            first.is_none()
        })
        .unwrap();
        let (event, after) = first.unwrap();
        assert!((event.time - 1.0).abs() < 1e-14 && event.certified);
        let Kind::Impact { walls, outcome, .. } = event.kind else { panic!("no impact") };
        assert_eq!(walls, [0, 1]);
        let problem = Problem {
            restitution: k.to_vec(),
            ..Problem::new(dmatrix![2.0, 0.5; 0.5, 1.0], dmatrix![1.0, 0.0; 0.6, 0.8], dvector![-1.3, -0.7])
        };
        let expected = problem.solve(&Options { law, ..Options::default() }).unwrap();
        for i in 0..2 {
            assert!((after[i] - expected.velocity[i]).abs() < 1e-14, "{law:?}");
            assert!((outcome.impulses[i] - expected.impulses[i]).abs() < 1e-13);
        }
    }
}

/// A sliding impact with friction: v_x⁺ = v_x − μ (1+k) |v_y|, and a rough one with its own coefficient along the tangent.
#[test]
fn friction_and_roughness_at_a_wall() {
    let floor = vec![[0.0, 1.0, 0.0]];
    let (k, mu) = (0.7, 0.2);
    let point =
        Point { mass: UNIT, pull: [0.0, -G], lines: floor.clone(), walls: vec![Wall::coulomb(k, mu, 1)] };
    let mut run = Run::new(point, [0.0, 1.0], [3.0, 0.0], Settings::default()).unwrap();
    let fall = (2.0 / G).sqrt();
    let hits = events(&mut run, 1.2 * fall);
    assert_eq!(hits.len(), 1);
    assert!((run.velocity()[0] - (3.0 - mu * (1.0 + k) * G * fall)).abs() < 1e-13);
    let wall = Wall { tangential_restitution: -0.5, ..Wall::rough(k, 1) };
    let point = Point { mass: UNIT, pull: [0.0, -G], lines: floor, walls: vec![wall] };
    let mut run = Run::new(point, [0.0, 1.0], [3.0, 0.0], Settings::default()).unwrap();
    events(&mut run, 1.2 * fall);
    assert!((run.velocity()[0] - 1.5).abs() < 1e-13);
    assert!(run.audit().energy < 1e-14);
}

/// At rest in a groove: both walls push, m g/(2 cos β) each, from the first moment on.
#[test]
fn rest_in_a_groove() {
    let (sin, cos) = (0.6, 0.8);
    let lines = vec![[sin, cos, 0.0], [-sin, cos, 0.0]];
    let walls = vec![Wall::smooth(0.5); 2];
    let point = Point { mass: [[2.0, 0.0], [0.0, 2.0]], pull: [0.0, -2.0 * G], lines, walls };
    let mut run = Run::new(point.clone(), [0.0; 2], [0.0; 2], Settings::default()).unwrap();
    assert!(matches!(run.opening().unwrap().kind, Kind::Touch { .. }));
    assert_eq!(run.held(), [0, 1]);
    let step = run.step(1.0).unwrap();
    let reactions = run.reactions(&step.piece, 0.5).unwrap();
    for (_, force) in reactions.walls {
        assert!((force[0] - 2.0 * G / (2.0 * cos)).abs() < 1e-12);
    }
    assert_eq!(events(&mut run, 5.0).len(), 0);
    assert!(run.position().iter().chain(run.velocity()).all(|x| x.abs() < 1e-14));
    // Dropped into it off the middle, it bounces and comes to rest there.
    let mut run = Run::new(point, [0.1, 1.0], [0.0; 2], Settings::default()).unwrap();
    let hits = events(&mut run, 20.0);
    println!("into the groove: {} events, rests at {:?}, {:?}", hits.len(), run.position(), run.audit());
    assert_eq!(run.held(), [0, 1]);
    assert!(run.position().iter().all(|x| x.abs() < 1e-11));
}

/// A point sliding off a dome of radius R, and the floor below it.
struct Dome {
    walls: [Wall; 2],
}

impl System<2> for Dome {
    fn mass<S: Scalar>(&self, _: &[S; 2]) -> [[S; 2]; 2] {
        UNIT.map(|row| row.map(S::constant))
    }

    fn potential<S: Scalar>(&self, q: &[S; 2]) -> S {
        q[1] * G
    }

    fn walls(&self) -> &[Wall] {
        &self.walls
    }

    fn gaps<S: Scalar>(&self, q: &[S; 2], gaps: &mut [S]) {
        gaps[0] = (q[0].powi(2) + q[1].powi(2)).sqrt() - 1.0;
        gaps[1] = q[1];
    }
}

/// It leaves where cos θ = ⅔ cos θ₀, and falls along a parabola to the floor.
#[test]
fn lift_off_from_a_dome() {
    for angle in [0.2f64, 0.7] {
        let dome = Dome { walls: [Wall::smooth(0.0), Wall::smooth(1.0)] };
        let mut run = Run::new(dome, [angle.sin(), angle.cos()], [0.0; 2], Settings::default()).unwrap();
        assert_eq!(run.held(), [0]);
        let mut seen = Vec::new();
        run.to(3.0, |run, step| {
            if let Some(event) = &step.event {
                let (q, v) = step.piece.at(event.time);
                seen.push((event.clone(), q, v, *run.velocity()));
            }
            seen.len() < 2
        })
        .unwrap();
        let (event, q, v, _) = &seen[0];
        assert_eq!(event.kind, Kind::LiftOff { wall: 0 });
        assert!(event.held.is_empty());
        let height = 2.0 / 3.0 * angle.cos();
        println!(
            "dome: leaves at {} (off by {:.1e}), time error {:.1e}",
            q[1],
            q[1] - height,
            event.time_error
        );
        assert!((q[1] - height).abs() < 1e-13);
        assert!((v[0].hypot(v[1]) - (2.0 * G * (angle.cos() - height)).sqrt()).abs() < 1e-13);
        let (hit, there, ..) = &seen[1];
        let Kind::Impact { walls, .. } = &hit.kind else { panic!("{hit:?}") };
        assert_eq!(walls, &[1]);
        let fall = (v[1] + (v[1] * v[1] + 2.0 * G * q[1]).sqrt()) / G;
        assert!((hit.time - event.time - fall).abs() < 1e-13, "{:e}", hit.time - event.time - fall);
        assert!((there[0] - q[0] - v[0] * fall).abs() < 1e-13 && hit.certified);
        assert!(run.audit().energy < 1e-13 && run.audit().depth < 1e-14, "{:?}", run.audit());
    }
}

/// Thrown against a force so that it just reaches the wall: touched without approach, and no impact.
#[test]
fn a_graze_is_no_impact() {
    let floor = vec![[0.0, 1.0, 0.0]];
    let point = Point { mass: UNIT, pull: [0.0, 2.0], lines: floor, walls: vec![Wall::smooth(0.5)] };
    let mut run = Run::new(point, [0.0, 1.0], [1.0, -2.0], Settings::default()).unwrap();
    for event in events(&mut run, 2.0) {
        assert!(matches!(event.kind, Kind::Touch { .. }), "{event:?}");
        assert!(event.held.is_empty());
    }
    assert!((run.position()[1] - 1.0).abs() < 1e-14 && (run.velocity()[1] - 2.0).abs() < 1e-14);
}

/// A pendulum with drag and a drive: the energy follows the work.
struct Driven;

impl System<1> for Driven {
    fn mass<S: Scalar>(&self, _: &[S; 1]) -> [[S; 1]; 1] {
        [[S::constant(1.0)]]
    }

    fn potential<S: Scalar>(&self, q: &[S; 1]) -> S {
        -q[0].cos() * G
    }

    fn force(&self, t: f64, _: &[f64; 1], v: &[f64; 1]) -> [f64; 1] {
        [1.5 * libm::cos(2.0 * t) - 0.2 * v[0]]
    }
}

#[test]
fn energy_follows_the_work_of_forces() {
    let mut run = Run::new(Driven, [0.4], [0.0], Settings::default()).unwrap();
    run.to(50.0, |_, _| true).unwrap();
    println!("driven: {:?}", run.audit());
    assert!(run.audit().energy < 1e-13);
}

/// A circle given twice, a point that a user may put anywhere, and whatever mass matrix.
#[derive(Clone)]
struct Circle {
    mass: [[f64; 2]; 2],
    apart: f64,
    scale: f64,
    wall: [Wall; 1],
}

impl Circle {
    fn good() -> Self {
        Self { mass: UNIT, apart: 0.0, scale: 1.0, wall: [Wall::smooth(0.5)] }
    }
}

impl System<2> for Circle {
    fn mass<S: Scalar>(&self, _: &[S; 2]) -> [[S; 2]; 2] {
        self.mass.map(|row| row.map(S::constant))
    }

    fn potential<S: Scalar>(&self, q: &[S; 2]) -> S {
        q[1] * G
    }

    fn counts(&self) -> Counts {
        Counts { holonomic: 2, ..Counts::default() }
    }

    fn holonomic<S: Scalar>(&self, q: &[S; 2], phi: &mut [S]) {
        phi[0] = q[0].powi(2) + q[1].powi(2) - 1.0;
        phi[1] = (q[0].powi(2) + q[1].powi(2)).sqrt() - 1.0 - self.apart;
    }

    fn walls(&self) -> &[Wall] {
        &self.wall
    }

    fn gaps<S: Scalar>(&self, q: &[S; 2], gaps: &mut [S]) {
        gaps[0] = q[0] + 0.3;
    }

    fn scales(&self) -> [f64; 2] {
        [1.0, self.scale]
    }
}

/// Redundant constraints are no obstacle: they share.
#[test]
fn a_constraint_given_twice() {
    let mut run = Run::new(Circle::good(), [1.0, 0.0], [0.0; 2], Settings::default()).unwrap();
    let hits = events(&mut run, 10.0);
    assert!(hits.len() > 5);
    let audit = run.audit();
    println!("twice: {audit:?}");
    assert!(audit.energy < 1e-12 && audit.position < 1e-14 && audit.velocity < 1e-14 && audit.depth < 1e-14);
}

/// Whatever is wrong with the input is an error that says where.
#[test]
fn mistakes_are_errors() {
    let good = Circle::good();
    let refused = |system: Circle, q: [f64; 2], v: [f64; 2], settings: Settings| -> Error {
        Run::new(system, q, v, settings).map(|_| ()).unwrap_err()
    };
    let (right, still) = ([1.0, 0.0], [0.0, 0.0]);
    let fault = |system: Circle| refused(system, right, still, Settings::default()).fault;
    let singular = Circle { mass: [[1.0, 1.0], [1.0, 1.0]], ..good.clone() };
    assert!(matches!(fault(singular), Fault::NotPositiveDefinite { .. }));
    let negative = Circle { mass: [[1.0, 0.0], [0.0, -1.0]], ..good.clone() };
    assert!(matches!(fault(negative), Fault::NotPositiveDefinite { .. }));
    let crooked = Circle { mass: [[1.0, 0.2], [0.0, 1.0]], ..good.clone() };
    assert!(matches!(fault(crooked), Fault::NotSymmetric { .. }));
    let unknown = Circle { mass: [[f64::NAN, 0.0], [0.0, 1.0]], ..good.clone() };
    assert!(matches!(fault(unknown), Fault::NotFinite { .. }));
    let contradictory = Circle { apart: 0.1, ..good.clone() };
    assert!(matches!(fault(contradictory), Fault::OffConstraint { .. } | Fault::NoMotion { .. }));
    let flat = Circle { scale: 0.0, ..good.clone() };
    assert!(matches!(fault(flat), Fault::Range { .. }));
    let lively = Circle { wall: [Wall::smooth(1.5)], ..good.clone() };
    assert!(matches!(fault(lively), Fault::Range { .. }));
    let odd = Wall { surface: Surface::Coulomb(0.3), ..Wall::smooth(0.5) };
    assert!(matches!(fault(Circle { wall: [odd], ..good.clone() }), Fault::Size { .. }));
    let placed = |q: [f64; 2], v: [f64; 2]| refused(good.clone(), q, v, Settings::default());
    assert!(matches!(placed([1.0, 0.1], still).fault, Fault::OffConstraint { .. }));
    assert!(matches!(placed([-1.0, 0.0], still).fault, Fault::BeyondWall { .. }));
    assert!(matches!(placed(right, [0.5, 0.0]).fault, Fault::ViolatesBilateral { .. }));
    assert!(matches!(placed([f64::NAN, 0.0], still).fault, Fault::NotFinite { .. }));
    assert!(matches!(placed(right, [f64::INFINITY, 0.0]).fault, Fault::NotFinite { .. }));
    for accuracy in [0.0, -1.0, f64::NAN, 1.0] {
        let settings = Settings { accuracy, ..Settings::default() };
        assert!(matches!(refused(good.clone(), right, still, settings).fault, Fault::Range { .. }));
    }
    for stages in [0, 5, 25, 1000] {
        let settings = Settings { stages, ..Settings::default() };
        assert!(matches!(refused(good.clone(), right, still, settings).fault, Fault::Size { .. }));
    }
    let mut run = Run::new(good, right, still, Settings::default()).unwrap();
    for until in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        assert_eq!(run.step(until).unwrap_err(), Obstacle::NotFinite);
    }
}

/// A mass that vanishes on the way, and a wall whose gap has no bound: values, not panics.
struct Fading;

impl System<1> for Fading {
    fn mass<S: Scalar>(&self, q: &[S; 1]) -> [[S; 1]; 1] {
        [[S::constant(1.0) - q[0]]]
    }

    fn force(&self, _: f64, _: &[f64; 1], _: &[f64; 1]) -> [f64; 1] {
        [1.0]
    }
}

#[test]
fn a_mass_that_vanishes_is_an_obstacle() {
    let mut run = Run::new(Fading, [0.0], [0.5], Settings::default()).unwrap();
    let obstacle = run.to(10.0, |_, _| true).unwrap_err();
    println!("{obstacle} at t = {}, x = {}", run.time(), run.position()[0]);
    assert!(
        matches!(obstacle, Obstacle::Mass { .. } | Obstacle::NotFinite | Obstacle::Rough),
        "{obstacle:?}"
    );
}

/// A gap with a quotient whose enclosure does not exist on the way, though its value does: x (x + 1), by way of x − 1.
struct Quotient {
    wall: [Wall; 1],
}

impl System<1> for Quotient {
    fn mass<S: Scalar>(&self, _: &[S; 1]) -> [[S; 1]; 1] {
        [[S::constant(1.0)]]
    }

    fn walls(&self) -> &[Wall] {
        &self.wall
    }

    fn gaps<S: Scalar>(&self, q: &[S; 1], gaps: &mut [S]) {
        gaps[0] = q[0] * ((q[0] - 1.0).powi(2) / (q[0] - 1.0) + 2.0);
    }
}

#[test]
fn a_gap_without_bounds_rests_on_its_series() {
    let mut run =
        Run::new(Quotient { wall: [Wall::smooth(1.0)] }, [1.5], [-1.0], Settings::default()).unwrap();
    let hits = events(&mut run, 2.0);
    assert_eq!(hits.len(), 1);
    assert!(run.audit().uncertified >= 1);
    assert!((hits[0].time - 1.5).abs() < 1e-14);
    assert!((run.position()[0] - 0.5).abs() < 1e-14);
}
