//! The paradox and its kin, held: against reference integrations, and the force's rate that decides.

use carom::body::{Body, State};
use carom::contact::Side;
use carom::flow::{DenseStep, Ending, Flow};
use carom::gap::gap;
use nalgebra::Vector3;

use super::{at, body, momentum, reference, run, smooth, state};

#[test]
fn paradoxes_are_held() {
    for case in reference()["cases"].as_array().unwrap() {
        let bodies: Vec<Body> = case["bodies"].as_array().unwrap().iter().map(body).collect();
        let states: Vec<State> = case["bodies"].as_array().unwrap().iter().map(state).collect();
        let flow = Flow::new(&bodies, &[], Vector3::zeros(), &[smooth([Side::Body(0), Side::Body(1)])]);
        let pieces = run(&flow, &states, 10.0);
        let last = pieces.last().unwrap();
        let number = |name: &str| case[name].as_f64().unwrap();
        let Ending::LiftOff { contact: 0, time_error } = last.ending else { panic!("{:?}", last.ending) };
        let slope = pieces[0].force_rate(0, 0.0);
        let impulse: f64 = pieces.iter().map(|p| p.impulse(0, p.until).normal).sum();
        println!(
            "{}: {} pieces, {:?} stages",
            case["name"],
            pieces.len(),
            pieces.iter().map(DenseStep::evaluations).sum::<u32>()
        );
        println!("  slope {slope:.15} lift-off {:.16} ± {time_error:.1e} impulse {impulse:.16}", last.until);
        // The reference's integral is the trapezoidal sum over 2000 intervals; ours is the integral.
        let force = |t: f64| pieces.iter().find(|p| t <= p.until).unwrap_or(last).force(0, t).normal;
        let trapezoids = |n: u32| {
            let h = last.until / f64::from(n);
            (1..n).map(|i| force(f64::from(i) * h)).sum::<f64>() * h
        };
        let energy = flow.energy(&states);
        let before = momentum(&bodies, &states);
        let (mut worst_gap, mut worst_energy, mut worst_momentum): (f64, f64, f64) = (0.0, 0.0, 0.0);
        for piece in &pieces {
            for i in 0..=40 {
                let t = piece.from + (piece.until - piece.from) * f64::from(i) / 40.0;
                let now = at(piece, 2, t);
                let found =
                    gap((&bodies[0].shape, &now[0].pose()), (&bodies[1].shape, &now[1].pose())).unwrap();
                worst_gap = worst_gap.max(found.gap.abs());
                worst_energy = worst_energy.max((flow.energy(&now) / energy - 1.0).abs());
                let after = momentum(&bodies, &now);
                worst_momentum = worst_momentum
                    .max((after[0] - before[0]).norm() / before[0].norm())
                    .max((after[1] - before[1]).norm() / before[1].norm());
            }
        }
        println!("  gap {worst_gap:.1e} energy {worst_energy:.1e} momentum {worst_momentum:.1e}");
        let mut worst: f64 = 0.0;
        let mut worst_force: f64 = 0.0;
        for row in case["table"].as_array().unwrap() {
            let t = row["time"].as_f64().unwrap();
            let Some(piece) = pieces.iter().find(|p| p.from <= t && t <= p.until) else { continue };
            worst_force = worst_force.max((piece.force(0, t).normal - row["force"].as_f64().unwrap()).abs());
            for (b, expected) in row["bodies"].as_array().unwrap().iter().enumerate() {
                let (found, expected) = (piece.at(b, t), state(expected));
                worst = worst
                    .max((found.position - expected.position).amax())
                    .max((found.velocity - expected.velocity).amax())
                    .max((found.angular_velocity - expected.angular_velocity).amax());
            }
        }
        for (piece, next) in pieces.iter().zip(&pieces[1..]) {
            // The closed form of λ' at a start, and the series before it: both sides of one instant.
            let (series, closed) = (piece.force_rate(0, piece.until), next.force_rate(0, next.from));
            println!("  λ' {closed:.6}: {:.1e}", series - closed);
            assert!((series - closed).abs() < 1e-9 * slope, "{series} {closed}");
        }
        println!("  table: states {worst:.1e}, forces {worst_force:.1e}");
        println!("  steps {:?}", pieces.iter().map(|p| p.until - p.from).collect::<Vec<_>>());
        // Richardson's extrapolation of the sums leaves h⁴.
        let integral = (4.0 * trapezoids(4000) - trapezoids(2000)) / 3.0;
        assert!((impulse - integral).abs() < 1e-13 * (1.0 + impulse), "{impulse} {integral}");
        assert!((slope / number("slope") - 1.0).abs() < 2e-14);
        assert!((last.until - number("lift_off")).abs() < 1e-11);
        if case["impulse"].is_number() {
            assert!((trapezoids(2000) - number("impulse")).abs() < 1e-15);
        }
        assert!(worst_gap < 1e-14 && worst_energy < 1e-14 && worst_momentum < 1e-14);
        assert!(worst < 1e-11 && worst_force < 1e-10);
    }
}

/// At a paradox neither force nor acceleration decides, and the force's rate does: backwards in time the same contact parts.
#[test]
fn a_paradox_is_marginal() {
    for case in reference()["cases"].as_array().unwrap() {
        let bodies: Vec<Body> = case["bodies"].as_array().unwrap().iter().map(body).collect();
        let mut states: Vec<State> = case["bodies"].as_array().unwrap().iter().map(state).collect();
        let flow = Flow::new(&bodies, &[], Vector3::zeros(), &[smooth([Side::Body(0), Side::Body(1)])]);
        let found = flow.holding(&states).unwrap();
        assert_eq!((found.holds[0], found.marginal[0]), (true, true));
        for state in &mut states {
            state.velocity = -state.velocity;
            state.angular_velocity = -state.angular_velocity;
        }
        let found = flow.holding(&states).unwrap();
        assert_eq!((found.holds[0], found.marginal[0]), (false, true));
        let piece = flow.advance(&states, 0.0, 1.0).unwrap();
        assert!(matches!(piece.ending, Ending::LiftOff { contact: 0, .. }) && piece.until == 0.0);
    }
}
