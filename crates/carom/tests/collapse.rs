//! Impacts without end, against closed forms: where bounces have their limit, and which restitution lets bodies collapse.
//!
//! Two contacts that strike in turn, with c² = W₁₂²/(W₁₁W₂₂) of their rows: each round is a linear map whose determinant is k² and whose
//! eigenvalues are real exactly if (1 + k)² c² ≥ 4k. Then the directions settle and the impacts never end; otherwise they turn until
//! neither contact closes. Known as: two marbles and a wall, c² = ½, k = 3 − 2√2; three marbles, c² = ¼, k = 7 − 4√3 (J. Bernu and R.
//! Mazighi, *One-dimensional bounce of inelastically colliding marbles on a wall*, J. Phys. A 23, 1990; S. McNamara and W. R. Young,
//! *Inelastic collapse and clumping in a one-dimensional granular medium*, Phys. Fluids A 4, 1992). For n marbles against a wall the former
//! give k = tan²(π/4 (1 − 1/n)), and 2n without one are that by symmetry.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::f64::consts::{FRAC_PI_4, SQRT_2};
use std::fmt::Write as _;

use carom::audit;
use carom::impact::{Friction, Law, Note, Options, Problem, Status};
use carom::record::{Kind, Memory};
use carom::run::Stopped;
use carom::simulation::Simulation;
use nalgebra::{DMatrix, DVector};
use running::{run, scene};

const GRAVITY: f64 = 9.81;

/// Balls of radius one half along x, by mass, position and velocity, with some planes.
fn line(restitution: f64, until: f64, more: &str, balls: &[[f64; 3]]) -> String {
    let mut text = format!(
        "carom = 1\nrun = {{ until = {until}, sample = 0, rest_speed = 0 }}\nsurface.restitution = {restitution:?}\n{more}"
    );
    for (i, [mass, position, velocity]) in balls.iter().enumerate() {
        let _ = write!(
            text,
            "[[body]]\nname = \"b{i}\"\nshape = {{ sphere = {{ radius = 0.5 }} }}\nmass = {mass:?}\n\
             position = [{position:?}, 0, 0]\nvelocity = [{velocity:?}, 0, 0]\n"
        );
    }
    text
}

/// Runs to the end, exactly: nothing is stepped, and the audit is clean.
fn exact(text: &str) -> (Simulation, Memory) {
    let (simulation, memory) = run(&scene(text));
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}\n{text}", simulation.failure());
    assert!(simulation.stepped().is_empty(), "{:?}\n{text}", simulation.stepped());
    let audit = simulation.audit();
    let errors = [audit.energy_error_max, audit.linear_error_max, audit.unilateral_error_max];
    let mut errors = errors.into_iter().chain(audit.angular_error_max);
    assert!(errors.all(|error| error.value < 1e-12), "{audit:?}\n{text}");
    assert!(audit.overlap_max.value < 1e-12, "{audit:?}\n{text}");
    for event in &memory.events {
        let gained = event.energy_after - event.energy_before;
        assert!(gained <= 1e-13 * event.energy_before.abs().max(event.energy_after.abs()), "{event:?}");
    }
    (simulation, memory)
}

/// The velocities along x at the end.
fn speeds(simulation: &Simulation) -> Vec<f64> {
    simulation.states().iter().map(|state| state.velocity.x).collect()
}

fn spread(simulation: &Simulation) -> f64 {
    let speeds = speeds(simulation);
    speeds.iter().fold(0.0, |m: f64, v| m.max((v - speeds[0]).abs()))
}

/// Restitution below which n marbles collapse on a wall.
fn critical(n: f64) -> f64 {
    (FRAC_PI_4 * (1.0 - 1.0 / n)).tan().powi(2)
}

#[test]
fn three_marbles_collapse_below_the_critical_restitution() {
    let k = critical(1.5);
    assert!((k - (7.0 - 4.0 * 3.0_f64.sqrt())).abs() < 1e-15);
    let balls = [[1.0, 0.0, 1.0], [1.0, 1.6, 0.0], [1.0, 3.0, 0.0]];
    for below in [0.05 / k, 0.5, 0.9, 0.99] {
        let (simulation, _) = exact(&line(k * below, 10.0, "", &balls));
        assert!(
            speeds(&simulation).iter().all(|v| (v - 1.0 / 3.0).abs() < 1e-6),
            "{below}: {:?}",
            speeds(&simulation)
        );
        // All three touch from then on.
        let x: Vec<f64> = simulation.states().iter().map(|state| state.position.x).collect();
        assert!((x[1] - x[0] - 1.0).abs() < 1e-6 && (x[2] - x[1] - 1.0).abs() < 1e-6, "{x:?}");
    }
    for above in [1.2, 1.5, 2.0, 5.0] {
        let (simulation, _) = exact(&line(k * above, 10.0, "", &balls));
        assert!(spread(&simulation) > 1e-8, "{above}: {:?}", speeds(&simulation));
    }
}

/// Four come together symmetrically, as two do on a wall.
#[test]
fn two_marbles_on_a_wall_collapse_as_four_do() {
    let k = critical(2.0);
    assert!((k - (3.0 - 2.0 * SQRT_2)).abs() < 1e-15);
    let wall = "[[plane]]\nname = \"wall\"\nnormal = [1, 0, 0]\noffset = 0\n";
    for (share, collapses) in [(0.5, true), (0.98, true), (1.3, false), (2.0, false)] {
        let (simulation, _) = exact(&line(share * k, 6.0, wall, &[[1.0, 0.8, 0.0], [1.0, 2.2, -1.0]]));
        let rests = speeds(&simulation).iter().all(|v| v.abs() < 1e-6);
        assert_eq!(rests, collapses, "{share}: {:?}", speeds(&simulation));
        let four = [[1.0, -2.2, 1.0], [1.0, -0.8, 0.0], [1.0, 0.8, 0.0], [1.0, 2.2, -1.0]];
        let (simulation, _) = exact(&line(share * k, 6.0, "", &four));
        assert_eq!(spread(&simulation) < 1e-6, collapses, "{share}: {:?}", speeds(&simulation));
    }
}

/// A ball that flies into a wedge strikes its walls in turn; their normals enclose an angle with cosine −c. Below the critical
/// restitution it stays at the edge, above it comes out again.
#[test]
fn a_ball_between_converging_walls() {
    for half in [0.2_f64, 0.35, 0.6] {
        let cosine = (2.0 * half).cos();
        // (1 + k)² c² = 4k, the smaller root.
        let b = 2.0 / (cosine * cosine) - 1.0;
        let k = b - (b * b - 1.0).sqrt();
        let (s, c) = half.sin_cos();
        let text = |k: f64| {
            format!(
                "carom = 1\nrun = {{ until = 60, sample = 0 }}\nsurface.restitution = {k:?}\n\
                 [[plane]]\nname = \"upper\"\nnormal = [{s:?}, {:?}, 0]\noffset = 0\n\
                 [[plane]]\nname = \"lower\"\nnormal = [{s:?}, {c:?}, 0]\noffset = 0\n\
                 [[body]]\nname = \"b\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 2\n\
                 position = [3, 0.1, 0]\nvelocity = [-1, 0.15, 0]\n",
                -c
            )
        };
        for share in [0.3, 0.9, 0.99] {
            let (simulation, _) = exact(&text(share * k));
            let state = simulation.states()[0];
            assert!(state.velocity.norm() < 1e-6, "{half} {share}: {:?}", state.velocity);
            // It touches both walls: r/sin of half the angle from the edge.
            assert!((state.position.x - 0.1 / s).abs() < 1e-6 && state.position.y.abs() < 1e-6, "{state:?}");
        }
        let (simulation, _) = exact(&text(1.5 * k));
        assert!(simulation.states()[0].velocity.x > 1e-6, "{half}: {:?}", simulation.states()[0]);
    }
}

/// Without loss the way into the wedge and out of it is a straight line, unfolded at each wall.
#[test]
fn a_wedge_unfolds() {
    let half = 0.23_f64;
    let (s, c) = half.sin_cos();
    let text = |until: f64| {
        format!(
            "carom = 1\nrun = {{ until = {until}, sample = 0 }}\n\
             [[plane]]\nname = \"upper\"\nnormal = [{s:?}, {:?}, 0]\noffset = 0\n\
             [[plane]]\nname = \"lower\"\nnormal = [{s:?}, {c:?}, 0]\noffset = 0\n\
             [[body]]\nname = \"b\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 2\nposition = [3, 0.1, 0]\n\
             velocity = [-1, 0.15, 0]\n",
            -c
        )
    };
    // The centre moves in a wedge whose edge is moved in by the radius.
    let edge = 0.1 / s;
    let (start, velocity) = ([3.0 - edge, 0.1], [-1.0, 0.15]);
    for until in [1.0, 2.0, 2.5, 3.0, 4.0, 8.0] {
        let (simulation, memory) = exact(&text(until));
        let (x, y) = (start[0] + velocity[0] * until, start[1] + velocity[1] * until);
        let (distance, angle) = (x.hypot(y), y.atan2(x));
        let turn = (angle + half).rem_euclid(4.0 * half) - half;
        let folded = if turn > half { 2.0 * half - turn } else { turn };
        let position = simulation.states()[0].position;
        let expected = [edge + distance * folded.cos(), distance * folded.sin()];
        let off = (position.x - expected[0]).hypot(position.y - expected[1]);
        assert!(off < 1e-11, "{until}: {position:?} {expected:?}");
        let crossed = ((angle + half) / (2.0 * half)).floor().abs();
        assert!(
            (memory.events.len() as f64 - crossed).abs() < 0.5,
            "{until}: {} {crossed}",
            memory.events.len()
        );
    }
}

/// A fall and bounces: t (1 + k)/(1 − k) after a fall of time t they are over.
fn over(fall: f64, k: f64) -> f64 {
    fall * (1.0 + k) / (1.0 - k)
}

/// When contacts came to rest, and when the bounces that were left out would have been over.
fn rests(memory: &Memory) -> Vec<(f64, f64)> {
    let of = memory.events.iter().filter(|event| event.kind == Kind::Rest);
    of.map(|event| (event.time, event.limit.map_or(f64::NAN, |[time, _]| time))).collect()
}

/// In a corner of two perpendicular walls a smooth ball bounces on each by itself.
#[test]
fn a_ball_in_a_corner_comes_to_rest_on_both_walls() {
    let (k, tilt) = (0.6, 0.4_f64);
    let (gx, gz) = (GRAVITY * tilt.sin(), GRAVITY * tilt.cos());
    let (x, z) = (1.3, 0.9);
    let text = format!(
        "carom = 1\nworld.gravity = [{:?}, 0, {:?}]\nrun = {{ until = 6, sample = 0 }}\nsurface.restitution = {k}\n\
         [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\noffset = 0\n[[plane]]\nname = \"wall\"\nnormal = [1, 0, 0]\noffset = 0\n\
         [[body]]\nname = \"b\"\nshape = {{ sphere = {{ radius = 0.2 }} }}\nmass = 1.5\nposition = [{:?}, 0, {:?}]\n",
        -gx,
        -gz,
        x + 0.2,
        z + 0.2
    );
    let (simulation, memory) = exact(&text);
    let state = simulation.states()[0];
    assert!(state.velocity.norm() < 1e-12 && (state.position.x - 0.2).abs() < 1e-12, "{state:?}");
    let mut expected = [over((2.0 * z / gz).sqrt(), k), over((2.0 * x / gx).sqrt(), k)];
    expected.sort_by(f64::total_cmp);
    let found = rests(&memory);
    assert_eq!(found.len(), 2, "{found:?}");
    for ((_, limit), expected) in found.iter().zip(expected) {
        assert!((limit - expected).abs() < 1e-9, "{limit}, {expected}");
    }
}

/// In a groove, straight down the middle, both walls are struck at once, and it is as on a floor.
#[test]
fn a_ball_in_a_groove_bounces_as_on_a_floor() {
    let (k, fall) = (0.7, 0.8);
    let text = format!(
        "carom = 1\nworld.gravity = [0, 0, -{GRAVITY}]\nrun = {{ until = 6, sample = 0 }}\nsurface.restitution = {k}\n\
         [[plane]]\nname = \"left\"\nnormal = [0.6, 0, 0.8]\noffset = 0\n[[plane]]\nname = \"right\"\nnormal = [-0.6, 0, 0.8]\noffset = 0\n\
         [[body]]\nname = \"b\"\nshape = {{ sphere = {{ radius = 0.2 }} }}\nmass = 1.5\nposition = [0, 0, {:?}]\n",
        0.25 + fall
    );
    let (simulation, memory) = exact(&text);
    let state = simulation.states()[0];
    assert!(state.velocity.norm() < 1e-12 && (state.position.z - 0.25).abs() < 1e-12, "{state:?}");
    let expected = over((2.0 * fall / GRAVITY).sqrt(), k);
    let found = rests(&memory);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|(_, limit)| (limit - expected).abs() < 1e-9), "{found:?} {expected}");
}

/// A ball bounces on another that lies on the floor as on the floor: the one that lies cannot give way.
#[test]
fn a_ball_on_a_ball_on_the_floor() {
    for (below, above, k) in [(1.0, 1.0, 0.5), (0.01, 1.0, 0.8), (100.0, 1.0, 0.9)] {
        let fall = 0.6;
        let text = format!(
            "carom = 1\nworld.gravity = [0, 0, -{GRAVITY}]\nrun = {{ until = 8, sample = 0 }}\nsurface.restitution = {k}\n\
             [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\noffset = 0\n\
             [[body]]\nname = \"a\"\nshape = {{ sphere = {{ radius = 0.5 }} }}\nmass = {below}\nposition = [0, 0, 0.5]\n\
             [[body]]\nname = \"b\"\nshape = {{ sphere = {{ radius = 0.25 }} }}\nmass = {above}\nposition = [0, 0, {:?}]\n",
            1.25 + fall
        );
        let (simulation, memory) = exact(&text);
        let states = simulation.states();
        assert!(states.iter().all(|state| state.velocity.norm() < 1e-12), "{states:?}");
        assert!((states[1].position.z - 1.25).abs() < 1e-12);
        let expected = over((2.0 * fall / GRAVITY).sqrt(), k);
        let found = rests(&memory);
        assert_eq!(found.len(), 1, "{found:?}");
        // Bounces of 1e-12 of the size are left out.
        let left = 2.0 * (2.0 * GRAVITY * 0.75e-12).sqrt() / (GRAVITY * (1.0 - k));
        assert!((0.0..left).contains(&(expected - found[0].0)), "{found:?} {expected}");
    }
}

/// A light ball between the floor and a heavy one that falls on it. With W of the floor 1/m and of the two 1/m + 1/M, c² = M/(M + m): if it
/// is large enough the ball bounces without end while the gap goes to zero, and then the heavy one stands.
#[test]
fn a_ball_squeezed_by_a_heavy_one_is_one_impact() {
    let text = |k: f64, light: f64| {
        format!(
            "carom = 1\nworld.gravity = [0, 0, -{GRAVITY}]\nrun = {{ until = 1, sample = 0 }}\nsurface.restitution = {k:?}\n\
             [[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\noffset = 0\n\
             [[body]]\nname = \"light\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = {light:?}\nposition = [0, 0, 0.15]\n\
             [[body]]\nname = \"heavy\"\nshape = {{ sphere = {{ radius = 0.3 }} }}\nmass = 100\nposition = [0, 0, 0.7]\n\
             velocity = [0, 0, -3]\n"
        )
    };
    for (k, light) in [(0.9, 0.001), (0.5, 0.001), (0.99, 1e-4), (0.5, 1.0)] {
        assert!((1.0 + k) * (1.0 + k) * 100.0 / (100.0 + light) > 4.0 * k);
        let (simulation, memory) = exact(&text(k, light));
        let states = simulation.states();
        assert!(states.iter().all(|state| state.velocity.norm() < 1e-10), "{k} {light}: {states:?}");
        assert!((states[1].position.z - 0.5).abs() < 1e-10, "{states:?}");
        assert!(memory.events.len() < 10_000, "{}", memory.events.len());
    }
}

/// Two rows of a problem whose impacts never end: what is left is the plastic impact of both, whatever the law that takes them in turn.
#[test]
fn an_endless_cascade_has_its_limit() {
    // A light mass between a wall and a heavy one.
    for (heavy, k) in [(1e5, 0.9), (1e6, 0.95), (1e3, 0.5)] {
        let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, heavy]));
        let rows = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, -1.0, 1.0]);
        let velocity = DVector::from_vec(vec![3.0, -1.0]);
        let problem = Problem::new(mass, rows, velocity).with_restitution(k);
        for law in [Law::NewtonLcp, Law::Sequential, Law::Reflection] {
            let outcome = problem.solve(&Options { law, ..Options::default() }).unwrap();
            assert_eq!(outcome.status, Status::Resolved, "{heavy} {k} {law}");
            // Rounding is that of the kinetic energy, whose root goes with that of the mass.
            let rounding = 3e-14 * f64::sqrt(heavy);
            assert!(
                outcome.velocity.iter().all(|v| v.abs() < rounding),
                "{heavy} {k} {law}: {:?}",
                outcome.velocity
            );
            // The wall takes all of the momentum.
            let all = heavy - 3.0;
            assert!((outcome.impulses[0] / all - 1.0).abs() < rounding);
            assert!((outcome.impulses[1] / heavy - 1.0).abs() < rounding);
            assert!(outcome.admissible && outcome.energy.change < 0.0);
            if outcome.steps.iter().any(|step| step.limit) {
                assert!(outcome.notes.iter().any(|note| matches!(note, Note::Endless { .. })));
            }
            let checked = audit::audit(&problem, &outcome);
            assert!(checked.passed, "{checked:?}");
        }
    }
}

/// The same with Coulomb friction in a wedge: contacts are taken in turn without end, and in the limit neither closes.
#[test]
fn an_endless_sequence_with_friction_has_its_limit() {
    // A disc in a wedge, pressed by a heavy mass from above: x, z, turn of the disc, z of the mass.
    let (s, c) = (0.6, 0.8);
    let row = |n: [f64; 2]| [n[0], n[1], 0.0, 0.0];
    let tangent = |n: [f64; 2]| [-n[1], n[0], 1.0, 0.0];
    let rows: Vec<f64> =
        [row([s, c]), tangent([s, c]), row([-s, c]), tangent([-s, c]), [0.0, -1.0, 0.0, 1.0]].concat();
    for (heavy, k) in [(1e3, 0.0), (1e5, 0.0), (1e3, 0.5)] {
        let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, 0.5, heavy]));
        let velocity = DVector::from_vec(vec![0.3, -0.2, 0.4, -3.0]);
        let mut problem =
            Problem::new(mass, DMatrix::from_row_slice(5, 4, &rows), velocity).with_restitution(k);
        problem.friction =
            [0, 2].map(|normal| Friction { normal, tangent: vec![normal + 1], coefficient: 0.3 }).to_vec();
        let outcome = problem.solve(&Options::default()).unwrap();
        assert_eq!(outcome.status, Status::Resolved, "{heavy} {k}: {:?}", outcome.notes);
        for row in [0, 2, 4] {
            let rounding = 1e-13 * 3.0 * f64::sqrt(heavy);
            assert!(outcome.separation[row] > -rounding, "{heavy} {k}: {:?}", outcome.separation);
            assert!(outcome.impulses[row] >= 0.0);
        }
        for row in [0, 2] {
            assert!(outcome.impulses[row + 1].abs() <= 0.3 * outcome.impulses[row] * (1.0 + 1e-9));
        }
        assert!(outcome.energy.change <= 0.0);
        let checked = audit::audit(&problem, &outcome);
        assert!(checked.passed, "{heavy} {k}: {checked:?}");
    }
}
