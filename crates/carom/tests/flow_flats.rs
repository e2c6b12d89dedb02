//! Held contacts on the flats of superellipsoids: rocking across a ring, rolling along one, lying on a face. Figures are
//! printed; `cargo test --test flow_flats -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::body::{Body, State};
use carom::contact::{Side, Surface};
use carom::flow::{DenseStep, Ending, Flow, Held, Load, Wrench};
use carom::gap::gap_to_plane;
use carom::shape::{HalfSpace, Shape};
use nalgebra::{Unit, UnitQuaternion, Vector3};

const GRAVITY: f64 = 9.81;

fn solid(shape: Shape, mass: f64) -> Body {
    Body { shape, mass, inertia: shape.unit_inertia() * mass, fixed: false }
}

fn floor() -> HalfSpace {
    HalfSpace { normal: Unit::new_normalize(Vector3::z()), offset: 0.0 }
}

fn on_floor(body: Body, surface: Surface) -> Flow {
    let contact = Held::new([Side::Body(0), Side::Plane(0)], surface);
    Flow::new(&[body], &[floor()], Vector3::new(0.0, 0.0, -GRAVITY), &[contact])
}

/// The section of a superellipsoid in the plane of its rocking: axes a along the floor and c upright.
#[derive(Clone, Copy)]
struct Section {
    a: f64,
    c: f64,
    p: f64,
}

impl Section {
    /// The tilt, the height and its slope where the contact is at x = a X.
    fn at(&self, x: f64) -> [f64; 3] {
        let z = (1.0 - x.powf(self.p)).powf(1.0 / self.p);
        let tilt = (self.c / self.a * (x / z).powf(self.p - 1.0)).atan();
        let height = tilt.cos() * self.c * z + tilt.sin() * self.a * x;
        [tilt, height, tilt.cos() * self.a * x - tilt.sin() * self.c * z]
    }

    /// dθ/dX.
    fn tilting(&self, x: f64) -> f64 {
        let z = (1.0 - x.powf(self.p)).powf(1.0 / self.p);
        let r = self.c / self.a * (x / z).powf(self.p - 1.0);
        let rate = self.c / self.a * (self.p - 1.0) * x.powf(self.p - 2.0) * z.powf(1.0 - 2.0 * self.p);
        rate / (1.0 + r * r)
    }

    /// The period of ½(I + m h'²) θ'² + m g h = m g h₀ from rest at X₀, by X = X₀ sin φ and panels that close in on X = 0.
    fn period(&self, mass: f64, inertia: f64, from: f64) -> f64 {
        let (nodes, weights) = carom::integrate::series::gauss(31);
        // h₀ − h = ∫ h' dθ, which does not cancel.
        let fall = |phi: f64| {
            let mut sum = 0.0;
            let mut low = phi;
            while low < std::f64::consts::FRAC_PI_2 {
                let high = if low > 0.5 { std::f64::consts::FRAC_PI_2 } else { 2.0 * low };
                let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
                for (x, w) in nodes.iter().zip(&weights) {
                    let phi = middle + half * x;
                    let x = from * phi.sin();
                    sum += half * w * self.at(x)[2] * self.tilting(x) * from * phi.cos();
                }
                low = high;
            }
            sum
        };
        let integrand = |phi: f64| {
            let x = from * phi.sin();
            let [_, _, slope] = self.at(x);
            let square = (inertia + mass * slope * slope) / (2.0 * mass * GRAVITY * fall(phi));
            square.sqrt() * self.tilting(x) * from * phi.cos()
        };
        let mut sum = 0.0;
        let mut edges = vec![0.0];
        edges.extend((0..40).rev().map(|k| std::f64::consts::FRAC_PI_2 * 0.5f64.powi(k)));
        for edge in edges.windows(2) {
            let (middle, half) = (0.5 * (edge[0] + edge[1]), 0.5 * (edge[1] - edge[0]));
            for (x, w) in nodes.iter().zip(&weights) {
                sum += half * w * integrand(middle + half * x);
            }
        }
        4.0 * sum
    }
}

/// A run of pieces with what must be kept: the relative change of energy, the largest gap within, how many pieces.
struct Kept {
    energy: f64,
    gap: f64,
    pieces: u32,
    across: u32,
}

fn follow(flow: &Flow, start: &State, until: f64, mut look: impl FnMut(&DenseStep)) -> (DenseStep, Kept) {
    let energy = flow.energy(&[*start]);
    let mut kept = Kept { energy: 0.0, gap: 0.0, pieces: 0, across: 0 };
    let mut piece = flow.advance(&[*start], 0.0, until).unwrap();
    loop {
        kept.pieces += 1;
        kept.across += u32::from(piece.rolls_across_flat());
        for i in 1..=4 {
            let state = piece.at(0, piece.from + (piece.until - piece.from) * f64::from(i) / 4.0);
            kept.energy = kept.energy.max((flow.energy(&[state]) / energy - 1.0).abs());
            kept.gap = kept.gap.max(gap_to_plane(&flow.bodies()[0].shape, &state.pose(), &floor()).gap.abs());
        }
        look(&piece);
        if piece.ending != Ending::Step {
            return (piece, kept);
        }
        piece = flow.follow(&piece, until).unwrap();
    }
}

#[test]
fn rounded_boxes_rock_across_their_faces() {
    let periods = std::env::var("CAROM_PERIODS").map_or(10.0, |n| n.parse::<f64>().unwrap());
    for (p, from) in [
        (4.0, 0.7),
        (4.0, 0.2),
        (4.0, 1e-2),
        (4.0, 1e-3),
        (2.5, 0.6),
        (2.5, 0.01),
        (3.0, 0.5),
        (6.0, 0.6),
        (6.0, 0.1),
        (10.0, 0.8),
        (10.0, 0.3),
    ] {
        let semi_axes = [1.0, 0.8, 0.6];
        let body = solid(Shape::Superellipsoid { semi_axes, exponent: p }, 1.3);
        let section = Section { a: semi_axes[0], c: semi_axes[2], p };
        let [tilt, height, slope] = section.at(from);
        let period = section.period(body.mass, body.inertia.y, from);
        let flow = on_floor(body, Surface::Smooth);
        let start = State {
            orientation: UnitQuaternion::from_scaled_axis(Vector3::new(0.0, tilt, 0.0)),
            ..State::at(Vector3::new(0.2, -0.1, height))
        };
        let clock = std::time::Instant::now();
        let (last, kept) = follow(&flow, &start, periods * period, |_| {});
        let rate = body.mass * GRAVITY * slope / (body.mass * slope * slope + body.inertia.y);
        let late = last.end()[0].angular_velocity.y / rate / (periods * period);
        println!(
            "p {p} from {from} ({tilt:.1e}): period {period:.6}, late {late:.1e}, energy {:.1e}, gap {:.1e}, {} pieces ({} across), {:.2} s",
            kept.energy,
            kept.gap,
            kept.pieces,
            kept.across,
            clock.elapsed().as_secs_f64()
        );
        assert_eq!(last.ending, Ending::Until);
        // The orientation of the start is rounded: its tilt, and the period with it.
        let rounding = 1e-15 / tilt;
        assert!(late.abs() < 1e-13 + rounding, "{late:e}");
        assert!(kept.energy < 2e-14 && kept.gap < 1e-14 && kept.across > 0);
        let aside = last.end()[0].position - start.position;
        assert!(aside.x.abs() < 1e-12 && aside.y.abs() < 1e-12);
    }
}

/// Torques about the axis of rocking: the body tips from rest at a tilt δ beside its flat, away from it, and comes back to δ. There
/// the ring is missed by δ. Under ½(I + m h'²)θ'² + m g (h − h_δ) = M(θ − θ_δ).
#[test]
fn a_ring_is_missed_by_little() {
    let semi_axes = [1.0, 0.8, 0.6];
    for p in [2.5, 3.0, 4.0, 6.0, 10.0] {
        for miss in [1e-3, 1e-6, 1e-9, 1e-12, 0.0] {
            let body = solid(Shape::Superellipsoid { semi_axes, exponent: p }, 1.3);
            // A flat of a large exponent is nearly a plane, which takes more to tip.
            let torque = if p > 6.0 { 0.6 } else { 0.3 } * body.mass * GRAVITY * semi_axes[0];
            let wrench = Wrench { force: Vector3::zeros(), torque: Vector3::new(0.0, torque, 0.0) };
            let flow = on_floor(body, Surface::Smooth).with_loads(&[Load::Constant { body: 0, wrench }]);
            let height = body.shape.support_height(&Vector3::new(f64::sin(miss), 0.0, f64::cos(miss)));
            let start = State {
                orientation: UnitQuaternion::from_scaled_axis(Vector3::new(0.0, miss, 0.0)),
                ..State::at(Vector3::new(0.0, 0.0, height))
            };
            // The energy with the torque's potential, and the least tilt after the first swing.
            let tilt = |state: &State| 2.0 * f64::atan2(state.orientation.j, state.orientation.w);
            let total = |state: &State| flow.energy(&[*state]) - torque * tilt(state);
            let (mut piece, mut worst, mut least, mut greatest): (_, f64, f64, f64) =
                (flow.advance(&[start], 0.0, 10.0).unwrap(), 0.0, f64::INFINITY, 0.0);
            let mut turned_back = 0;
            let mut pieces = 0;
            while turned_back < 3 && pieces < 2000 {
                pieces += 1;
                let (before, after) =
                    (piece.start()[0].angular_velocity.y, piece.end()[0].angular_velocity.y);
                turned_back += u32::from(before < 0.0 && after >= 0.0);
                let end = &piece.end()[0];
                worst = worst.max((total(end) - total(&start)).abs() / (body.mass * GRAVITY));
                if pieces > 1 {
                    least = least.min(tilt(end));
                }
                greatest = greatest.max(tilt(end));
                piece = flow.follow(&piece, 10.0).unwrap();
            }
            println!(
                "p {p} missed by {miss:.0e}: {pieces} pieces, back within {:.1e}, energy {worst:.1e}",
                least - miss
            );
            assert_eq!(turned_back, 3);
            assert!(greatest > 1e-3 && worst < 1e-13 && least > miss - 1e-13);
        }
    }
}

/// Spinning, sliding and rocking in space over many rings: energy, horizontal momentum and the angular momentum about the
/// vertical; and the same way back.
#[test]
fn rounded_boxes_tumble_and_return() {
    for (p, seed) in [(2.5, 0.0), (3.0, 1.0), (4.0, 2.0), (4.0, 3.0), (6.0, 4.0), (10.0, 5.0)] {
        let body = solid(Shape::Superellipsoid { semi_axes: [1.0, 0.8, 0.6], exponent: p }, 1.3);
        let flow = on_floor(body, Surface::Smooth);
        let orientation = UnitQuaternion::from_scaled_axis(Vector3::new(0.13, 0.1 + 0.02 * seed, 0.3 * seed));
        let down = orientation.inverse_transform_vector(&-Vector3::z());
        let mut start = [State {
            orientation,
            velocity: Vector3::new(0.2, 0.1, 0.0),
            angular_velocity: Vector3::new(0.3, -0.2, 0.4 + 0.1 * seed),
            position: Vector3::new(0.0, 0.0, body.shape.support_height(&down)),
        }];
        flow.project(&mut start).unwrap();
        let start = start[0];
        let spun = |state: &State| body.momentum(state, &state.position).1.z;
        let (mut worst_momentum, mut worst_spin): (f64, f64) = (0.0, 0.0);
        let (last, kept) = follow(&flow, &start, 3.0, |piece| {
            let end = &piece.end()[0];
            worst_momentum = worst_momentum.max((end.velocity - start.velocity).xy().norm());
            worst_spin = worst_spin.max((spun(end) / spun(&start) - 1.0).abs());
        });
        assert_eq!(last.ending, Ending::Until);
        let end = last.end()[0];
        let back = State { velocity: -end.velocity, angular_velocity: -end.angular_velocity, ..end };
        let (last, _) = follow(&flow, &back, 3.0, |_| {});
        let found = last.end()[0];
        let off = (found.position - start.position).norm()
            + found.orientation.angle_to(&start.orientation)
            + (found.velocity + start.velocity).norm()
            + (found.angular_velocity + start.angular_velocity).norm();
        println!(
            "p {p}: energy {:.1e}, gap {:.1e}, momentum {worst_momentum:.1e}, spin {worst_spin:.1e}, back within {off:.1e}, {} pieces ({} across)",
            kept.energy, kept.gap, kept.pieces, kept.across
        );
        assert!(kept.across > 10);
        assert!(kept.energy < 1e-13 && kept.gap < 1e-14 && worst_momentum < 1e-13 && worst_spin < 1e-12);
        assert!(off < 1e-8, "{off:e}");
    }
}

/// A piece is bounded by what it says: |c(t₁) − c(t₀) − v(t₀)(t₁−t₀)| ≤ ½U(t₁−t₀)², and the like for spins, up to the rounding
/// of a gap.
#[test]
fn pieces_across_flats_are_bounded() {
    for p in [2.5, 4.0, 10.0] {
        let body = solid(Shape::Superellipsoid { semi_axes: [1.0, 0.8, 0.6], exponent: p }, 1.3);
        let flow = on_floor(body, Surface::Smooth);
        let orientation = UnitQuaternion::from_scaled_axis(Vector3::new(0.13, 0.1, 0.3));
        let down = orientation.inverse_transform_vector(&-Vector3::z());
        let start = State {
            orientation,
            angular_velocity: Vector3::new(0.3, -0.2, 0.4),
            position: Vector3::new(0.0, 0.0, body.shape.support_height(&down)),
            velocity: Vector3::zeros(),
        };
        let mut checked = 0;
        let mut start = [start];
        flow.project(&mut start).unwrap();
        follow(&flow, &start[0], 1.0, |piece| {
            let (bound, turning) = (piece.acceleration_bound(0), piece.turning_bound(0));
            let time = |i: u32| piece.from + (piece.until - piece.from) * f64::from(i) / 12.0;
            for i in 0..=12 {
                for j in 0..=12 {
                    let (a, b, step) = (piece.at(0, time(i)), piece.at(0, time(j)), time(j) - time(i));
                    let aside = (b.position - a.position - a.velocity * step).norm();
                    assert!(aside <= 0.5 * bound * step * step + 2e-15, "{aside:e} {bound:e} {step:e}");
                    let further = UnitQuaternion::from_scaled_axis(a.angular_velocity * step) * a.orientation;
                    let turned = further.angle_to(&b.orientation);
                    assert!(turned <= 0.5 * turning * step * step + 4e-15, "{turned:e} {turning:e} {step:e}");
                    checked += u32::from(piece.rolls_across_flat());
                }
            }
        });
        assert!(checked > 1000);
    }
}

/// What lies on its face lies there for ever, though its orientation is rounded; what slides and spins on it goes straight.
#[test]
fn a_rounded_box_lies_on_its_face() {
    for p in [2.5, 3.0, 4.0, 6.0, 10.0] {
        let body = solid(Shape::Superellipsoid { semi_axes: [1.0, 0.8, 0.6], exponent: p }, 1.3);
        for surface in [Surface::Smooth, Surface::Coulomb(0.5), Surface::Rough] {
            let flow = on_floor(body, surface);
            let orientation = UnitQuaternion::from_scaled_axis(Vector3::new(3e-17, -2e-17, 0.7));
            let start = State { orientation, ..State::at(Vector3::new(0.0, 0.0, 0.6)) };
            let piece = flow.advance(&[start], 0.0, 1e300).unwrap();
            assert!(piece.rests(), "{p} {surface:?}");
            assert!((piece.force(0, 1.0).normal - body.mass * GRAVITY).abs() < 1e-13);
        }
        let flow = on_floor(body, Surface::Smooth);
        let start = State {
            velocity: Vector3::new(0.5, 0.3, 0.0),
            angular_velocity: Vector3::new(0.0, 0.0, 2.0),
            orientation: UnitQuaternion::from_scaled_axis(Vector3::new(3e-17, -2e-17, 0.7)),
            ..State::at(Vector3::new(0.0, 0.0, 0.6))
        };
        let (last, kept) = follow(&flow, &start, 20.0, |piece| assert!(!piece.rolls_across_flat()));
        let end = last.end()[0];
        println!("p {p}: {} pieces", kept.pieces);
        assert!((end.position - start.position - start.velocity * 20.0).norm() < 1e-13);
        assert!((end.angular_velocity - start.angular_velocity).norm() < 1e-13);
        assert!((end.orientation * Vector3::z() - Vector3::z()).norm() < 1e-14);
    }
}

/// A body that rolls without slip along a ring, over its faces and edges, does not rock across it. Energy is kept, and what
/// friction it has does no work.
#[test]
fn a_rounded_box_rolls_along_a_ring() {
    for p in [3.0, 4.0, 6.0] {
        let body = solid(Shape::Superellipsoid { semi_axes: [1.0, 0.8, 0.9], exponent: p }, 1.3);
        let flow = on_floor(body, Surface::Rough);
        let mut start = [State {
            angular_velocity: Vector3::new(0.0, 2.4, 0.0),
            velocity: Vector3::new(2.4 * 0.9, 0.0, 0.0),
            ..State::at(Vector3::new(0.0, 0.0, 0.9))
        }];
        flow.project(&mut start).unwrap();
        let (mut aside, mut slip): (f64, f64) = (0.0, 0.0);
        let (last, kept) = follow(&flow, &start[0], 3.0, |piece| {
            let end = &piece.end()[0];
            aside = aside.max(end.position.y.abs()).max((end.orientation * Vector3::y()).z.abs());
            slip = slip.max(piece.drift.velocity);
        });
        println!(
            "p {p}: {:?} at {:.3}, turned {:.2}, energy {:.1e}, aside {aside:.1e}, {} pieces ({} across)",
            last.ending,
            last.until,
            last.end()[0].position.x,
            kept.energy,
            kept.pieces,
            kept.across
        );
        assert!(last.end()[0].position.x > 0.5 && kept.across > 0);
        assert!(kept.energy < 1e-13 && aside < 1e-14 && kept.gap < 1e-14);
    }
}

/// Large exponents: nearly flat faces, crossed by the clock in steps as short as it takes.
#[test]
fn boxes_of_large_exponents_keep_their_energy() {
    for p in [10.0, 20.0] {
        let body = solid(Shape::Superellipsoid { semi_axes: [1.0, 0.8, 0.6], exponent: p }, 1.3);
        let flow = on_floor(body, Surface::Smooth);
        let orientation = UnitQuaternion::from_scaled_axis(Vector3::new(0.13, 0.1, 0.3));
        let down = orientation.inverse_transform_vector(&-Vector3::z());
        let mut states = [State {
            orientation,
            angular_velocity: Vector3::new(0.3, -0.2, 0.4),
            ..State::at(Vector3::new(0.0, 0.0, body.shape.support_height(&down)))
        }];
        flow.project(&mut states).unwrap();
        let energy = flow.energy(&states);
        let mut piece = flow.advance(&states, 0.0, 1.0).unwrap();
        let (mut worst, mut across): (f64, u32) = (0.0, 0);
        loop {
            across += u32::from(piece.rolls_across_flat());
            worst = worst.max((flow.energy(piece.end()) / energy - 1.0).abs());
            if piece.ending != Ending::Step {
                break;
            }
            piece = flow.follow(&piece, 1.0).unwrap();
        }
        println!("p {p}: {:?}, {across} pieces across, energy {worst:.1e}", piece.ending);
        assert!(piece.ending == Ending::Until && across > 10 && worst < 1e-13);
    }
}

/// A rounded box that slides, sticks and rocks with friction: what is missing is what friction took, across its flats too.
#[test]
fn rounded_boxes_rub() {
    for (p, coefficient) in [(3.0, 0.3), (4.0, 0.5), (4.0, 0.1), (6.0, 0.3)] {
        let body = solid(Shape::Superellipsoid { semi_axes: [1.0, 0.8, 0.6], exponent: p }, 1.3);
        let flow = on_floor(body, Surface::Coulomb(coefficient));
        let orientation = UnitQuaternion::from_scaled_axis(Vector3::new(0.13, 0.1, 0.3));
        let down = orientation.inverse_transform_vector(&-Vector3::z());
        let mut states = [State {
            orientation,
            angular_velocity: Vector3::new(0.3, -0.2, 0.4),
            position: Vector3::new(0.0, 0.0, body.shape.support_height(&down)),
            velocity: Vector3::new(0.3, 0.2, 0.0),
        }];
        flow.project(&mut states).unwrap();
        let energy = flow.energy(&states);
        let mut piece = flow.advance(&states, 0.0, 0.5).unwrap();
        let (mut work, mut worst, mut pieces) = (0.0, 0.0f64, 0);
        loop {
            pieces += 1;
            work += piece.friction_work(0, piece.until);
            worst = worst.max((flow.energy(piece.end()) - energy - work).abs() / energy);
            if matches!(piece.ending, Ending::Until | Ending::LiftOff { .. }) {
                break;
            }
            piece = flow.follow(&piece, 0.5).unwrap();
        }
        println!(
            "p {p} μ {coefficient}: {:?} after {pieces} pieces, work {work:.3e}, off by {worst:.1e}",
            piece.ending
        );
        assert!(worst < 1e-13 && work < 0.0);
    }
}
