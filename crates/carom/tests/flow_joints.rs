//! Bodies tied by joints against their closed forms: pendulum, top, sleigh, rolling, springs, welds, loops. Figures are printed;
//! `cargo test --test flow_joints -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use carom::body::{Body, State};
use carom::contact::{Side, Surface};
use carom::flow::{DenseStep, End, Ending, Flow, Held, Load, Wrench};
use carom::integrate::gauss::{Demand, Field, Gauss};
use carom::joint::{Joint, Kind};
use carom::motion::Flight;
use carom::motion::elliptic::{Jacobi, carlson_rf};
use carom::shape::{HalfSpace, Shape};
use nalgebra::{Unit, UnitQuaternion, Vector3};

const G: f64 = 9.81;

fn down() -> Vector3<f64> {
    Vector3::new(0.0, 0.0, -G)
}

fn point(mass: f64, inertia: [f64; 3]) -> Body {
    Body { shape: Shape::Point, mass, inertia: Vector3::from(inertia), fixed: false }
}

fn joint(bodies: &[usize], kind: Kind) -> Joint {
    Joint { name: "joint".into(), bodies: bodies.to_vec(), kind }
}

fn hinge(at: Vector3<f64>, axis: Vector3<f64>) -> Kind {
    Kind::Hinge { point: at, axis: Unit::new_normalize(axis) }
}

/// Calls back for every piece until the time.
fn each(flow: &Flow, states: &[State], until: f64, mut look: impl FnMut(&DenseStep)) -> Vec<State> {
    let mut piece = flow.advance(states, 0.0, until).unwrap();
    loop {
        look(&piece);
        match piece.ending {
            Ending::Until => return piece.end().to_vec(),
            Ending::Step => piece = flow.follow(&piece, until).unwrap(),
            other => panic!("{other:?}"),
        }
    }
}

/// A hinged body has the period 4 √((J + m l²)/(m g l)) K(sin²(θ₀/2)).
#[test]
fn the_pendulum_against_the_elliptic_integral() {
    let (mass, length, inertia) = (1.3, 0.7, 0.05);
    let periods = std::env::var("CAROM_PERIODS").map_or(50.0, |n| n.parse::<f64>().unwrap());
    for angle in [0.3f64, 1.5, 2.8] {
        let body = point(mass, [0.04, inertia, 0.03]);
        let start = State {
            orientation: UnitQuaternion::from_scaled_axis(Vector3::new(0.0, -angle, 0.0)),
            ..State::at(Vector3::new(angle.sin(), 0.0, -angle.cos()) * length)
        };
        let flow = Flow::new(&[body], &[], down(), &[])
            .with_joints(&[joint(&[0], hinge(Vector3::zeros(), Vector3::y()))], &[start]);
        let k = (0.5 * angle).sin().powi(2);
        let total = inertia + mass * length * length;
        let period = 4.0 * (total / (mass * G * length)).sqrt() * carlson_rf(0.0, 1.0 - k, 1.0);
        let energy = flow.energy(&[start]);
        let (mut drift, mut off, mut worst_point, mut pieces): (f64, f64, f64, u32) = (0.0, 0.0, 0.0, 0);
        let mut once = None;
        let end = each(&flow, &[start], periods * period, |piece| {
            pieces += 1;
            off = off.max(piece.drift.position);
            let now = piece.end()[0];
            drift = drift.max((flow.energy(piece.end()) - energy).abs() / (mass * G * length));
            let pivot = now.position + now.orientation * Vector3::new(0.0, 0.0, length);
            worst_point = worst_point.max(pivot.norm());
            if piece.from < period && period <= piece.until {
                once = Some(piece.at(0, period));
            }
            // The reaction carries the weight and turns the body.
            let reaction = piece.reaction(0, piece.until);
            let bound = mass * (G + now.angular_velocity.norm_squared() * length) * 1.01;
            assert!(reaction.force.norm() <= bound + mass * G * 0.01);
        });
        // ω over its rate is how late it is.
        let rate = mass * G * length * angle.sin() / total;
        let [first, last] = [once.unwrap(), end[0]].map(|state| state.angular_velocity.y / rate);
        println!(
            "pendulum from {angle}: {pieces} pieces, late by {first:.1e} after one, {last:.1e} after {periods}; energy {drift:.1e}, drift in a step {off:.1e}, pivot {worst_point:.1e}"
        );
        assert!(first.abs() < 1e-13 * period, "{first:e}");
        assert!(last.abs() < 1e-12 * periods * period / (1.0 - k));
        assert!(drift < 1e-12 && off < 1e-13 && worst_point < 1e-15 * 10.0);
    }
}

/// The heavy symmetric top about a fixed point: u = cos θ follows u'² = (1−u²)(α − βu) − (b − au)², so that from its lower turning
/// point u₁, u = u₁ + (u₂ − u₁) sn²(½√(β(u₃−u₁)) t | (u₂−u₁)/(u₃−u₁)).
#[test]
fn the_heavy_top_nutates_as_its_closed_form() {
    let (mass, length, across, along) = (0.8, 0.3, 0.02, 0.015);
    let body = point(mass, [across, across, along]);
    let pivot = across + mass * length * length;
    for (angle, spin, precession) in [(0.6f64, 60.0, 0.0), (1.0, 40.0, 1.0), (1.2, 25.0, -2.0)] {
        let axis = Vector3::new(angle.sin(), 0.0, angle.cos());
        // At a turning point of θ: ω = φ' z + ψ' axis, with ω·axis = spin.
        let angular_velocity = Vector3::z() * precession + axis * (spin - precession * angle.cos());
        let orientation = UnitQuaternion::from_scaled_axis(Vector3::new(0.0, angle, 0.0));
        let position = axis * length;
        let start =
            State { position, orientation, velocity: angular_velocity.cross(&position), angular_velocity };
        let flow = Flow::new(&[body], &[], down(), &[])
            .with_joints(&[joint(&[0], Kind::Ball { point: Vector3::zeros() })], &[start]);
        // a = I₃ω₃/I, b = L_z/I, β = 2mgl/I, α = (2E − I₃ω₃²)/I with E counted from the pivot.
        let a = along * spin / pivot;
        let lz = (pivot * (1.0 - angle.cos().powi(2)) * precession) + along * spin * angle.cos();
        let b = lz / pivot;
        let beta = 2.0 * mass * G * length / pivot;
        let u0 = angle.cos();
        let alpha = precession.powi(2) * (1.0 - u0 * u0) + beta * u0;
        // The cubic βu³ − (α + a²)u² + (2ab − β)u + (α − b²) has the root u₀; the rest is a quadratic.
        let (c3, c2, c1) = (beta, -(alpha + a * a), 2.0 * a * b - beta);
        let (q1, q0) = (c2 + c3 * u0, c1 + (c2 + c3 * u0) * u0);
        let root = (q1 * q1 - 4.0 * c3 * q0).sqrt();
        let far = (-q1 + root) / (2.0 * c3);
        let other = q0 / (c3 * far);
        let (low, high) = (u0.min(other), u0.max(other));
        let rate = 0.5 * (beta * (far - low)).sqrt();
        let modulus = (high - low) / (far - low);
        let period = 2.0 * carlson_rf(0.0, 1.0 - modulus, 1.0) / rate;
        // From the upper turning point it is half a period behind.
        let shift = if u0 == low { 0.0 } else { 0.5 * period };
        let exact = |t: f64| {
            let [sn, ..] = Jacobi::new(modulus, 1.0 - modulus).at(rate * (t + shift));
            low + (high - low) * sn * sn
        };
        let (mut worst, mut momentum, mut pieces): (f64, f64, u32) = (0.0, 0.0, 0);
        let energy = flow.energy(&[start]);
        let mut drift: f64 = 0.0;
        each(&flow, &[start], 5.0 * period, |piece| {
            pieces += 1;
            for i in 0..=4 {
                let t = piece.from + (piece.until - piece.from) * f64::from(i) / 4.0;
                let now = piece.at(0, t);
                worst = worst.max((now.position.z / length - exact(t)).abs());
                let turned = body.world_inertia(&now.orientation) * now.angular_velocity;
                let total = now.position.cross(&(now.velocity * mass)) + turned;
                momentum = momentum.max((total.z / lz - 1.0).abs());
                drift = drift.max((flow.energy(&[now]) / energy - 1.0).abs());
            }
        });
        println!(
            "top from {angle}: nutation {:.4} to {:.4} rad, period {period:.5}, {pieces} pieces; cos θ off by {worst:.1e}, L_z {momentum:.1e}, energy {drift:.1e}",
            high.acos(),
            low.acos()
        );
        assert!(worst < 2e-13 && momentum < 1e-13 && drift < 1e-13);
    }
}

/// A ball, a shell and a ring of the same size on an incline: a = g sin β/(1 + J/mr²), from a joint.
#[test]
fn rolling_joints_on_an_incline() {
    let (slope, radius, mass): (f64, f64, f64) = (0.4, 0.3, 2.0);
    let normal = Unit::new_normalize(Vector3::new(slope.sin(), 0.0, slope.cos()));
    let downhill = Vector3::new(slope.cos(), 0.0, -slope.sin());
    let half_space = HalfSpace { normal, offset: 0.0 };
    for kappa in [0.4, 2.0 / 3.0, 0.9] {
        let inertia = Vector3::repeat(kappa * mass * radius * radius);
        let ball = Body { shape: Shape::Sphere { radius }, mass, inertia, fixed: false };
        let start = State::at(*normal * radius);
        let flow = Flow::new(&[ball], &[half_space], down(), &[])
            .with_joints(&[joint(&[0], Kind::Rolling { plane: 0, half_space })], &[start]);
        let until = 2.0;
        let friction = -kappa / (1.0 + kappa) * mass * G * slope.sin();
        let end = each(&flow, &[start], until, |piece| {
            let reaction = piece.reaction(0, 0.5 * (piece.from + piece.until));
            let expected = *normal * (mass * G * slope.cos()) + downhill * friction;
            assert!((reaction.force - expected).norm() < 1e-12 * mass * G);
        });
        let moved = downhill * (0.5 * G * slope.sin() / (1.0 + kappa) * until * until);
        assert!((end[0].position - start.position - moved).norm() < 1e-13 * moved.norm());
    }
    // A rolling joint does not lift off: pulled from the plane it pulls back.
    let ball = Body {
        shape: Shape::Sphere { radius },
        mass,
        inertia: Vector3::repeat(0.4 * mass * radius * radius),
        fixed: false,
    };
    let start = State::at(*normal * radius);
    let flow = Flow::new(&[ball], &[half_space], *normal * G, &[])
        .with_joints(&[joint(&[0], Kind::Rolling { plane: 0, half_space })], &[start]);
    each(&flow, &[start], 1.0, |piece| {
        assert!((piece.reaction(0, piece.until).force + *normal * (mass * G)).norm() < 1e-12);
    });
}

/// Chaplygin's sleigh: with q² = a² + J/m the knife's velocity v and the spin ω follow v = V tanh τ, ω = (V/q) sech τ,
/// τ = aVt/q² + τ₀.
#[test]
fn the_sleigh_against_its_closed_form() {
    let (mass, inertia, arm): (f64, f64, f64) = (1.7, 0.3, 0.25);
    let body = point(mass, [0.2, 0.25, inertia]);
    let (speed, first): (f64, f64) = (1.4, -2.0);
    let reach = (arm * arm + inertia / mass).sqrt();
    let exact = |t: f64| {
        let tau = arm * speed * t / (reach * reach) + first;
        (speed * tau.tanh(), speed / reach / tau.cosh())
    };
    let (v, spin) = exact(0.0);
    // The blade along x, the centre ahead of it by the arm.
    let start = State {
        velocity: Vector3::new(v, spin * arm, 0.0),
        angular_velocity: Vector3::new(0.0, 0.0, spin),
        ..State::at(Vector3::new(arm, 0.0, 0.0))
    };
    let edge = Kind::KnifeEdge { point: Vector3::zeros(), normal: Vector3::y_axis() };
    let flow = Flow::new(&[body], &[], Vector3::zeros(), &[]).with_joints(&[joint(&[0], edge)], &[start]);
    let energy = flow.energy(&[start]);
    let (mut worst, mut drift, mut beside, mut pieces): (f64, f64, f64, u32) = (0.0, 0.0, 0.0, 0);
    each(&flow, &[start], 20.0, |piece| {
        pieces += 1;
        for i in 0..=5 {
            let t = piece.from + (piece.until - piece.from) * f64::from(i) / 5.0;
            let now = piece.at(0, t);
            let knife =
                now.velocity + now.angular_velocity.cross(&(now.orientation * Vector3::new(-arm, 0.0, 0.0)));
            let (v, spin) = exact(t);
            worst = worst.max(((now.orientation * Vector3::x()).dot(&knife) - v).abs());
            worst = worst.max((now.angular_velocity.z - spin).abs());
            beside = beside.max((now.orientation * Vector3::y()).dot(&knife).abs());
            drift = drift.max((flow.energy(&[now]) / energy - 1.0).abs());
        }
    });
    println!(
        "sleigh: {pieces} pieces, off by {worst:.1e}, across the blade {beside:.1e}, energy {drift:.1e}"
    );
    assert!(worst < 1e-13 && beside < 1e-14 && drift < 1e-13);
}

/// A door on two hinges moves as on one; the second is redundant, and both share.
#[test]
fn redundant_hinges_share() {
    let body = point(2.0, [0.3, 0.4, 0.2]);
    let start = State::at(Vector3::new(0.5, 0.0, 0.1));
    let axis = Vector3::new(0.1, 0.0, 1.0);
    let gravity = Vector3::new(0.0, -3.0, -9.0);
    let base = Flow::new(&[body], &[], gravity, &[]);
    let one = base.clone().with_joints(&[joint(&[0], hinge(Vector3::zeros(), axis))], &[start]);
    let upper = axis * 0.7;
    let two = base.with_joints(
        &[joint(&[0], hinge(Vector3::zeros(), axis)), joint(&[0], hinge(upper, axis))],
        &[start],
    );
    let (mut forces, mut shares) = (Vec::new(), Vec::new());
    let single = each(&one, &[start], 5.0, |p| {
        if p.from == 0.0 {
            let r = p.reaction(0, 0.0);
            forces.push((r.force, r.torque));
        }
    });
    let double = each(&two, &[start], 5.0, |p| {
        assert!(p.drift.position < 1e-14);
        if p.from == 0.0 {
            shares = vec![p.reaction(0, 0.0), p.reaction(1, 0.0)];
        }
    });
    assert!((single[0].position - double[0].position).norm() < 1e-13);
    assert!((shares[0].force + shares[1].force - forces[0].0).norm() < 1e-13);
    assert!((shares[0].torque + shares[1].torque - forces[0].1).norm() < 1e-13);
    println!("hinges carry {:.4} and {:.4}", shares[0].force.norm(), shares[1].force.norm());
}

/// The double pendulum in angles, for the same motion by another route.
struct DoublePendulum {
    mass: [f64; 2],
    inertia: [f64; 2],
    /// To the first centre, to the second hinge, and from there to the second centre.
    arm: [f64; 3],
}

impl Field for DoublePendulum {
    type Obstacle = ();

    fn size(&self) -> usize {
        4
    }

    fn rate(&mut self, _: f64, y: &[f64], rate: &mut [f64]) -> Result<(), ()> {
        let [m1, m2] = self.mass;
        let [a, l, b] = self.arm;
        let (c, s) = ((y[0] - y[1]).cos(), (y[0] - y[1]).sin());
        let m11 = self.inertia[0] + m1 * a * a + m2 * l * l;
        let m22 = self.inertia[1] + m2 * b * b;
        let m12 = m2 * l * b * c;
        let f1 = -m2 * l * b * s * y[3] * y[3] - (m1 * a + m2 * l) * G * y[0].sin();
        let f2 = m2 * l * b * s * y[2] * y[2] - m2 * b * G * y[1].sin();
        let d = m11 * m22 - m12 * m12;
        rate.copy_from_slice(&[y[2], y[3], (f1 * m22 - f2 * m12) / d, (f2 * m11 - f1 * m12) / d]);
        Ok(())
    }
}

#[test]
fn the_double_pendulum_by_two_routes() {
    let (mass, inertia, arm) = ([1.0, 0.6], [0.05, 0.02], [0.4, 0.9, 0.3]);
    let bodies = [point(mass[0], [0.1, inertia[0], 0.1]), point(mass[1], [0.1, inertia[1], 0.1])];
    let angles = [1.9f64, -0.8];
    let direction = |x: f64| Vector3::new(x.sin(), 0.0, -x.cos());
    let turn = |x: f64| UnitQuaternion::from_scaled_axis(Vector3::new(0.0, -x, 0.0));
    let second = direction(angles[0]) * arm[1];
    let states = [
        State { orientation: turn(angles[0]), ..State::at(direction(angles[0]) * arm[0]) },
        State { orientation: turn(angles[1]), ..State::at(second + direction(angles[1]) * arm[2]) },
    ];
    let flow = Flow::new(&bodies, &[], down(), &[]).with_joints(
        &[joint(&[0], hinge(Vector3::zeros(), Vector3::y())), joint(&[1, 0], hinge(second, Vector3::y()))],
        &states,
    );
    let until = 3.0;
    let energy = flow.energy(&states);
    let (mut drift, mut off): (f64, f64) = (0.0, 0.0);
    let end = each(&flow, &states, until, |piece| {
        drift = drift.max((flow.energy(piece.end()) - energy).abs() / energy.abs());
        off = off.max(piece.drift.position);
    });
    let mut field = DoublePendulum { mass, inertia, arm };
    let mut gauss = Gauss::new(16);
    let (mut t, mut y, mut length) = (0.0, [angles[0], angles[1], 0.0, 0.0], 0.01);
    while t < until {
        let demand =
            Demand { accuracy: 1e-16, scales: &[1.0; 4], length, longest: until - t, implicit: false };
        let (leg, next) = gauss.step(&mut field, t, &y, &demand, None).unwrap();
        t = if leg.length == until - t { until } else { t + leg.length };
        let from = leg.from;
        leg.at(from + leg.length, 0..4, &mut y);
        length = next;
    }
    let expected = direction(y[0]) * arm[1] + direction(y[1]) * arm[2];
    let apart = (end[1].position - expected).norm();
    println!("double pendulum: routes differ by {apart:.1e}, energy {drift:.1e}, drift {off:.1e}");
    assert!(apart < 1e-11 && drift < 1e-13 && off < 1e-13);
    assert!((end[1].angular_velocity.y + y[3]).abs() < 1e-10);
}

/// A closed loop of four bars hinged in the plane: every hinge in space is more than the plane needs, and the whole keeps its energy.
#[test]
fn a_four_bar_linkage_keeps_its_energy() {
    let at = [[0.0, 0.0], [0.3, 0.8], [1.2, 0.9], [1.0, 0.0]].map(|[x, z]| Vector3::new(x, 0.0, z));
    let bar = |mass: f64| point(mass, [0.02, 0.05, 0.03]);
    let bodies = [bar(1.0), bar(1.5), bar(0.7)];
    let middle = |i: usize| State::at((at[i] + at[i + 1]) * 0.5);
    let states = [middle(0), middle(1), middle(2)];
    let joints = [
        joint(&[0], hinge(at[0], Vector3::y())),
        joint(&[1, 0], hinge(at[1], Vector3::y())),
        joint(&[2, 1], hinge(at[2], Vector3::y())),
        joint(&[2], hinge(at[3], Vector3::y())),
    ];
    let flow = Flow::new(&bodies, &[], down(), &[]).with_joints(&joints, &states);
    let energy = flow.energy(&states);
    let (mut drift, mut off, mut pieces): (f64, f64, u32) = (0.0, 0.0, 0);
    let end = each(&flow, &states, 4.0, |piece| {
        pieces += 1;
        drift = drift.max((flow.energy(piece.end()) / energy - 1.0).abs());
        off = off.max(piece.drift.position);
    });
    println!("four bars: {pieces} pieces, energy {drift:.1e}, drift {off:.1e}");
    assert!(drift < 1e-12 && off < 1e-13);
    assert!(end.iter().all(|s| s.position.y.abs() < 1e-13));
}

/// On a slider with a spring and a damper: x'' = −(k/m) x − (c/m) x'.
#[test]
fn a_spring_on_a_slider() {
    let (mass, stiffness) = (1.5, 60.0);
    let axis = Unit::new_normalize(Vector3::new(1.0, 2.0, -0.5));
    let body = point(mass, [0.1, 0.2, 0.3]);
    let start = State::at(*axis * 0.3);
    for damping in [0.0, 1.0] {
        let spring = Load::Spring {
            ends: [End { body: None, point: *axis * -2.0 }, End { body: Some(0), point: Vector3::zeros() }],
            stiffness,
            rest_length: 2.0,
            damping,
        };
        let flow = Flow::new(&[body], &[], down(), &[])
            .with_joints(&[joint(&[0], Kind::Slider { axis })], &[start])
            .with_loads(&[spring]);
        // Gravity along the axis moves the middle.
        let middle = mass * down().dot(&axis) / stiffness;
        let (decay, until) = (0.5 * damping / mass, 7.3);
        let rate = (stiffness / mass - decay * decay).sqrt();
        let exact = |t: f64| {
            let a = 0.3 - middle;
            middle + a * (-decay * t).exp() * ((rate * t).cos() + decay / rate * (rate * t).sin())
        };
        let mut worst: f64 = 0.0;
        each(&flow, &[start], until, |piece| {
            let t = 0.5 * (piece.from + piece.until);
            let now = piece.at(0, t);
            worst = worst.max((now.position - *axis * exact(t)).norm());
            assert!(now.angular_velocity.norm() < 1e-14);
            let load = down() * mass;
            let carried = *axis * load.dot(&axis) - load;
            assert!((piece.reaction(0, t).force - carried).norm() < 1e-12);
        });
        println!("spring with damping {damping}: off by {worst:.1e}");
        assert!(worst < 1e-13);
    }
}

/// Two bodies welded tumble as the one body they make.
#[test]
fn welded_bodies_fly_as_one() {
    let bodies = [point(1.0, [0.1, 0.12, 0.15]), point(2.0, [0.2, 0.1, 0.25])];
    let places = [Vector3::new(0.0, 0.0, -0.4), Vector3::new(0.0, 0.0, 0.2)];
    // Centre of mass at the origin; inertia of the whole by Steiner, already principal.
    let mut whole = point(3.0, [0.0; 3]);
    for (body, place) in bodies.iter().zip(&places) {
        let r2 = Vector3::new(place.z * place.z, place.z * place.z, 0.0) * body.mass;
        whole.inertia += body.inertia + r2;
    }
    let spin = Vector3::new(1.0, 0.6, 2.0);
    let drift = Vector3::new(0.3, 0.1, 2.0);
    let states = places.map(|place| State {
        velocity: drift + spin.cross(&place),
        angular_velocity: spin,
        ..State::at(place)
    });
    let one = State { velocity: drift, angular_velocity: spin, ..State::at(Vector3::zeros()) };
    let flow = Flow::new(&bodies, &[], down(), &[]).with_joints(&[joint(&[0, 1], Kind::Weld)], &states);
    let flight = Flight::new(&whole, &one, &down());
    let until = 10.0;
    let mut worst: f64 = 0.0;
    each(&flow, &states, until, |piece| {
        let t = piece.until;
        let exact = flight.at(t);
        for (b, place) in places.iter().enumerate() {
            let now = piece.at(b, t);
            worst = worst.max((now.position - exact.position - exact.orientation * place).norm());
            worst = worst.max((now.angular_velocity - exact.angular_velocity).norm());
        }
    });
    println!("weld: off by {worst:.1e}");
    assert!(worst < 1e-11);
}

/// A user's force: Kepler's, about the origin.
#[test]
fn a_users_force() {
    let body = point(2.0, [1.0, 1.0, 1.0]);
    let start = State { velocity: Vector3::new(0.0, 1.2, 0.3), ..State::at(Vector3::new(1.0, 0.0, 0.0)) };
    let pull = Load::Custom(Arc::new(|_, states: &[State], wrenches: &mut [Wrench]| {
        let r = states[0].position;
        wrenches[0].force -= r * (2.0 / r.norm().powi(3));
    }));
    let flow = Flow::new(&[body], &[], Vector3::zeros(), &[]).with_loads(&[pull]);
    let axis = 1.0 / (2.0 - start.velocity.norm_squared());
    let period = std::f64::consts::TAU * axis.powf(1.5);
    let end = each(&flow, &[start], period, |_| {});
    println!("orbit returns within {:.1e}", (end[0].position - start.position).norm());
    assert!((end[0].position - start.position).norm() < 1e-13);
}

/// A ball sliding on a smooth floor on a tether goes in a circle: the tether pulls m v²/R, the floor carries the weight.
#[test]
fn a_joint_and_a_contact_together() {
    let (radius, mass, reach, speed) = (0.2, 1.5, 1.3, 2.0);
    let shape = Shape::Sphere { radius };
    let ball = Body { shape, mass, inertia: shape.unit_inertia() * mass, fixed: false };
    let start = State {
        velocity: Vector3::new(0.0, speed, 0.0),
        angular_velocity: Vector3::new(0.0, 0.0, speed / reach),
        ..State::at(Vector3::new(reach, 0.0, radius))
    };
    let floor = HalfSpace { normal: Vector3::z_axis(), offset: 0.0 };
    let contact = Held::new([Side::Plane(0), Side::Body(0)], Surface::Smooth);
    let tether = joint(&[0], Kind::Ball { point: Vector3::new(0.0, 0.0, radius) });
    let flow = Flow::new(&[ball], &[floor], down(), &[contact]).with_joints(&[tether], &[start]);
    let found = flow.holding(&[start]).unwrap();
    // The tether alone keeps the height, so the two share the weight as they like; together they carry it.
    assert!(found.holds[0]);
    let end = each(&flow, &[start], 10.0, |piece| {
        let t = 0.5 * (piece.from + piece.until);
        let now = piece.at(0, t);
        let inward = -Vector3::new(now.position.x, now.position.y, 0.0) / reach;
        let reaction = piece.reaction(0, t);
        assert!((reaction.force.dot(&inward) - mass * speed * speed / reach).abs() < 1e-11);
        assert!((reaction.force.z + piece.force(0, t).normal - mass * G).abs() < 1e-11);
    });
    let turn = speed / reach * 10.0;
    assert!((end[0].position - Vector3::new(reach * turn.cos(), reach * turn.sin(), radius)).norm() < 1e-12);
}
