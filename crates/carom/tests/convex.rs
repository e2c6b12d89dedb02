//! Bodies by the trait `Convex`: an egg, bodies given about another point than their centre, and bodies that give no more
//! than they must. Their gap and their mass properties, against the built-in shapes, closed forms, sampling and
//! identities.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../examples/egg/egg.rs"]
mod egg;

use carom::body::{Body, State};
use carom::gap::{Gap, gap, gap_near, gap_to_plane};
use carom::motion::Flight;
use carom::shape::{Convex, HalfSpace, MassProperties, Shape, mass_properties};
use carom::toi::{Meeting, Moving, Window, first_contact};
use egg::Egg;
use nalgebra::{Isometry3, Matrix3, Translation3, Unit, UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A shape about another point, in other axes: x = R y + c, with x in the shape's own axes and y in these. Everything
/// that has a default is left to it.
#[derive(Debug, Clone, Copy)]
struct Elsewhere {
    shape: Shape,
    centre: Vector3<f64>,
    turn: UnitQuaternion<f64>,
}

impl Elsewhere {
    /// The pose of the shape itself where this is at a pose: their surfaces coincide.
    fn pose(&self, pose: &Isometry3<f64>) -> Isometry3<f64> {
        pose * Isometry3::from_parts(self.centre.into(), self.turn).inverse()
    }
}

impl Convex for Elsewhere {
    fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        self.turn.inverse_transform_vector(&(self.shape.support(&(self.turn * n)) - self.centre))
    }

    fn support_hessian(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        let axes = self.turn.to_rotation_matrix().into_inner();
        axes.transpose() * self.shape.support_hessian(&(self.turn * n)) * axes
    }

    fn circumradius(&self) -> f64 {
        self.shape.circumradius() + self.centre.norm()
    }

    fn inradius(&self) -> f64 {
        self.shape.inradius() - self.centre.norm()
    }

    fn exponent(&self) -> f64 {
        Convex::exponent(&self.shape)
    }
}

/// A cube, which has corners: no body of the trait's kind. Over a face its support point is a corner, never the foot.
struct Cube;

impl Convex for Cube {
    fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        n.map(|x| 1.0_f64.copysign(x))
    }

    fn support_hessian(&self, _: &Vector3<f64>) -> Matrix3<f64> {
        Matrix3::zeros()
    }

    fn circumradius(&self) -> f64 {
        3.0_f64.sqrt()
    }

    fn inradius(&self) -> f64 {
        1.0
    }
}

/// Points that were not found are told: the gap is a lower bound, its residual what is wrong, and a search in time goes no
/// further.
#[test]
fn points_that_were_not_found_are_told() {
    let ball = Shape::Sphere { radius: 0.5 };
    let poses = [Isometry3::identity(), Isometry3::translation(0.3, 0.2, 3.0)];
    let found = gap((&Cube, &poses[0]), (&ball, &poses[1])).unwrap();
    let apart = found.points[1] - found.points[0] - found.normal * found.gap;
    assert!(found.gap <= 1.5 + 1e-14 && found.residual > 0.1, "{found:?}");
    assert!((apart.norm() - found.residual).abs() < 1e-14, "{found:?}");
    let state = |position: Vector3<f64>, velocity: Vector3<f64>| State {
        position,
        orientation: UnitQuaternion::identity(),
        velocity,
        angular_velocity: Vector3::zeros(),
    };
    let body = Body { shape: ball, mass: 1.0, inertia: Vector3::repeat(0.1), fixed: false };
    let flights = [(Vector3::zeros(), Vector3::zeros()), (Vector3::new(0.3, 0.2, 3.0), -Vector3::z())]
        .map(|(position, velocity)| Flight::new(&body, &state(position, velocity), &Vector3::zeros()));
    let search = first_contact(
        Moving::new(&Cube, &flights[0]),
        Moving::new(&ball, &flights[1]),
        Window::new(0.0, 3.0),
    );
    assert!(matches!(search.meeting, Meeting::Undecided(time) if time < 1.5), "{search:?}");
}

struct Source(ChaCha8Rng);

impl Source {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    fn direction(&mut self) -> Vector3<f64> {
        loop {
            let v = Vector3::from_fn(|_, _| self.between(-1.0, 1.0));
            if v.norm() > 0.1 && v.norm() < 1.0 {
                return v.normalize();
            }
        }
    }

    fn turn(&mut self) -> UnitQuaternion<f64> {
        UnitQuaternion::from_scaled_axis(self.direction() * self.between(0.0, 3.1))
    }

    fn pose(&mut self, far: f64) -> Isometry3<f64> {
        Isometry3::from_parts(Translation3::from(self.direction() * far), self.turn())
    }

    fn shape(&mut self, exponent: f64) -> Shape {
        Shape::Superellipsoid { semi_axes: [(); 3].map(|()| self.between(0.5, 2.0)), exponent }
    }

    fn elsewhere(&mut self, exponent: f64) -> Elsewhere {
        let shape = self.shape(exponent);
        let centre = self.direction() * (self.between(0.0, 0.8) * shape.inradius());
        Elsewhere { shape, centre, turn: self.turn() }
    }

    fn egg(&mut self) -> Egg {
        loop {
            let egg = Egg::new(1.0, self.between(-0.3, 0.4), self.between(-0.15, 0.15));
            if let Some(egg) = egg {
                return egg;
            }
        }
    }
}

fn size(found: &Gap, bodies: [f64; 2]) -> f64 {
    bodies[0].max(bodies[1]).max(found.gap.abs())
}

// ---------------------------------------------------------------------------------------------------------
// The surface from the support function alone

#[test]
fn the_surface_by_default_is_the_shape_s_own() {
    let mut source = Source(ChaCha8Rng::seed_from_u64(21));
    let mut worst = [0.0_f64; 4];
    for k in 0..4000 {
        let exponent = [2.0, 2.5, 4.0][k % 3];
        let shape = source.shape(exponent);
        let bare = Elsewhere { shape, centre: Vector3::zeros(), turn: UnitQuaternion::identity() };
        let x = source.direction();
        let (own, found) = (shape.osculate(&x), bare.osculate(&x));
        worst[0] = worst[0].max((own.point - found.point).norm());
        worst[1] = worst[1].max((own.normal - found.normal).norm());
        // Next to a flat the Hessian is huge in one direction, and its inverse loses the digits of the other.
        if exponent == 2.0 {
            worst[2] = worst[2].max((own.curvature - found.curvature).norm() / own.curvature.norm());
        }
        worst[3] = worst[3].max((shape.gauge(&x) - bare.gauge(&x)).abs());
    }
    println!(
        "point {:.1e}, normal {:.1e}, curvature {:.1e}, gauge {:.1e}",
        worst[0], worst[1], worst[2], worst[3]
    );
    assert!(worst[0] < 4e-15 && worst[1] < 1e-13 && worst[2] < 1e-13 && worst[3] < 4e-15, "{worst:?}");
}

// ---------------------------------------------------------------------------------------------------------
// Mass properties

fn apart(found: &MassProperties, volume: f64, centre: &Vector3<f64>, inertia: &Matrix3<f64>) -> f64 {
    let size = inertia.trace();
    ((found.volume - volume).abs() / volume)
        .max((found.centre - centre).norm() / size.sqrt())
        .max((found.unit_inertia - inertia).norm() / size)
}

#[test]
fn mass_properties_of_the_shapes() {
    for (exponent, bound) in [
        (2.0, 4e-15),
        (2.5, 1e-14),
        (3.0, 1e-14),
        (4.0, 4e-15),
        (6.0, 4e-15),
        (7.3, 1e-14),
        (10.0, 1e-14),
        (20.0, 1e-14),
    ] {
        for semi_axes in [[1.3, 0.4, 2.1], [0.01, 1.0, 0.3]] {
            let shape = Shape::Superellipsoid { semi_axes, exponent };
            let found = mass_properties(&shape, 1e-13);
            let inertia = Matrix3::from_diagonal(&shape.unit_inertia());
            let error = apart(&found, shape.volume(), &Vector3::zeros(), &inertia);
            println!("exponent {exponent}: off by {error:.1e}, said {:.1e}", found.error);
            assert!(error <= bound && found.error <= 1e-13, "{exponent}: {error:e}, said {:e}", found.error);
        }
    }
}

/// A shape about another point, in other axes: V, the centre and the inertia are the shape's, moved.
#[test]
fn mass_properties_move_with_the_body() {
    let mut source = Source(ChaCha8Rng::seed_from_u64(22));
    let mut worst = 0.0_f64;
    for _ in 0..6 {
        let body = source.elsewhere(2.0);
        let found = mass_properties(&body, 1e-13);
        let axes = body.turn.to_rotation_matrix().into_inner();
        let inertia = axes.transpose() * Matrix3::from_diagonal(&body.shape.unit_inertia()) * axes;
        let centre = body.turn.inverse_transform_vector(&-body.centre);
        worst = worst.max(apart(&found, body.shape.volume(), &centre, &inertia));
        let (moments, turn) = found.principal();
        let axes = turn.to_rotation_matrix().into_inner();
        let again = axes * Matrix3::from_diagonal(&moments) * axes.transpose();
        assert!((again - found.unit_inertia).norm() < 1e-14 * moments.z);
        let mut expected: [f64; 3] = body.shape.unit_inertia().into();
        expected.sort_by(f64::total_cmp);
        assert!((moments - Vector3::from(expected)).norm() < 1e-13 * moments.z);
    }
    println!("moved bodies: {worst:.1e}");
    assert!(worst < 1e-14, "{worst:e}");
}

/// The egg's moments are integrals of polynomials in w: V = (2π/3)∫f r₁r₂ dw with r₁, r₂ its radii of curvature, and
/// likewise with the surface point s = (√(1−w²)(f − w f'), w(f − w f') + f').
#[test]
fn mass_properties_of_an_egg() {
    let (a, b, c) = (1.0, 0.3, 0.12);
    let egg = Egg::new(a, b, c).unwrap();
    let integral = |value: &dyn Fn(f64, f64, f64, f64) -> f64| {
        // Boole's rule on a fine grid: the polynomials are of degree 20 at most, and smooth on this scale.
        let count = 4000;
        let term = |k: u32| {
            let w = f64::from(k) / f64::from(count) * 2.0 - 1.0;
            let (f, slope) = (a + b * w * w + c * w * w * w, 2.0 * b * w + 3.0 * c * w * w);
            let round = f - w * slope;
            let along = round + (1.0 - w * w) * (2.0 * b + 6.0 * c * w);
            let weight = match k {
                _ if k == 0 || k == count => 7.0,
                _ if k.is_multiple_of(4) => 14.0,
                _ if k % 4 == 2 => 12.0,
                _ => 32.0,
            };
            weight * value(f * round * along, (1.0 - w * w) * round * round, w * round + slope, w)
        };
        (0..=count).map(term).sum::<f64>() * 4.0 / 45.0 / f64::from(count) * std::f64::consts::TAU
    };
    let volume = integral(&|cone, _, _, _| cone / 3.0);
    let height = integral(&|cone, _, z, _| cone * z / 4.0) / volume;
    let across = integral(&|cone, rr, _, _| cone * rr / 10.0) / volume;
    let along = integral(&|cone, _, z, _| cone * z * z / 5.0) / volume - height * height;
    let errors = [
        egg.volume / volume - 1.0,
        egg.shift() - height,
        egg.unit_inertia.x / (across + along) - 1.0,
        egg.unit_inertia.y / (across + along) - 1.0,
        egg.unit_inertia.z / (2.0 * across) - 1.0,
    ];
    println!("egg: {errors:?}");
    assert!(errors.iter().all(|error| error.abs() < 1e-13), "{errors:?}");
}

/// What is asked for is what one gets, and the error that is said bounds the true one.
#[test]
fn accuracy_is_a_ladder() {
    let shape = Shape::Superellipsoid { semi_axes: [1.0, 2.0, 3.0], exponent: 2.5 };
    let inertia = Matrix3::from_diagonal(&shape.unit_inertia());
    for accuracy in [1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13] {
        let found = mass_properties(&shape, accuracy);
        let error = apart(&found, shape.volume(), &Vector3::zeros(), &inertia);
        println!("asked {accuracy:.0e}: said {:.1e}, is {error:.1e}", found.error);
        assert!(found.error <= accuracy && error <= found.error.max(2e-15));
    }
}

// ---------------------------------------------------------------------------------------------------------
// The gap

/// Apart and overlapping, shallow and deep: a body about another point has the gap of the shape itself.
#[test]
fn the_gap_does_not_depend_on_the_point_a_body_is_given_about() {
    let mut source = Source(ChaCha8Rng::seed_from_u64(23));
    // The surface of flat bodies by their support function alone takes long, and longest in deep overlap.
    for (exponents, count, bound) in
        [([2.0, 2.0], 400, 2e-15), ([2.0, 4.0], 60, 2e-15), ([2.5, 4.0], 60, 2e-15), ([4.0, 6.0], 60, 1e-14)]
    {
        let mut worst = 0.0_f64;
        for k in 0..count {
            let bodies = [0, 1].map(|i| source.elsewhere(exponents[i]));
            let poses = [source.pose(0.0), source.pose([1.0, 2.0, 5.0][k % 3])];
            let found = gap((&bodies[0], &poses[0]), (&bodies[1], &poses[1])).unwrap();
            let own = [0, 1].map(|i| bodies[i].pose(&poses[i]));
            let expected = gap((&bodies[0].shape, &own[0]), (&bodies[1].shape, &own[1])).unwrap();
            let error = (found.gap - expected.gap).abs()
                / size(&expected, [bodies[0].circumradius(), bodies[1].circumradius()]);
            worst = worst.max(error);
            assert!(error < bound, "{error:e}: {found:?} {expected:?} {bodies:?} {poses:?}");
            // Against a ball and a plane, the body with an extent first or second.
            let ball = Shape::Sphere { radius: 0.4 };
            let found = gap((&ball, &poses[0]), (&bodies[1], &poses[1])).unwrap();
            let expected = gap((&bodies[1].shape, &own[1]), (&ball, &poses[0])).unwrap();
            assert!((found.gap - expected.gap).abs() < 4.0 * bound * size(&expected, [1.0; 2]));
            let plane = HalfSpace { normal: Unit::new_normalize(source.direction()), offset: 0.3 };
            let found = gap_to_plane(&bodies[0], &poses[0], &plane);
            let expected = gap_to_plane(&bodies[0].shape, &own[0], &plane);
            assert!((found.gap - expected.gap).abs() < 4.0 * bound * size(&expected, [1.0; 2]));
        }
        println!("exponents {exponents:?}: {worst:.1e}");
    }
}

/// Swap, move, mirror, warm start; and no direction is higher than the gap.
#[test]
fn eggs() {
    let mut source = Source(ChaCha8Rng::seed_from_u64(24));
    let eggs: Vec<Egg> = (0..12).map(|_| source.egg()).collect();
    let mut worst = [0.0_f64; 6];
    let mut deepest = 0.0_f64;
    for k in 0..1200 {
        let (first, second) = (&eggs[k % 12], &eggs[k / 12 % 12]);
        let poses = [source.pose(0.0), source.pose([0.0, 0.7, 1.8, 2.3, 9.0][k % 5])];
        let found = gap((first, &poses[0]), (second, &poses[1])).unwrap();
        let size = size(&found, [first.circumradius(), second.circumradius()]);
        deepest = deepest.min(found.gap);
        let note = |slot: &mut f64, error: f64| *slot = slot.max(error / size);
        let swapped = gap((second, &poses[1]), (first, &poses[0])).unwrap();
        note(&mut worst[0], (swapped.gap - found.gap).abs());
        let motion = source.pose(3.0);
        let moved = gap((first, &(motion * poses[0])), (second, &(motion * poses[1]))).unwrap();
        note(&mut worst[1], (moved.gap - found.gap).abs());
        // The mirror image in x of an egg about z is an egg, turned by the mirrored quaternion.
        let mirrored = poses.map(|pose| {
            let (t, q) = (pose.translation.vector, pose.rotation.quaternion());
            let turn = nalgebra::Quaternion::new(q.w, q.i, -q.j, -q.k);
            Isometry3::from_parts(Translation3::new(-t.x, t.y, t.z), UnitQuaternion::from_quaternion(turn))
        });
        let reflected = gap((first, &mirrored[0]), (second, &mirrored[1])).unwrap();
        note(&mut worst[2], (reflected.gap - found.gap).abs());
        let near = found.normal + source.direction() * 0.1;
        let warm = gap_near((first, &poses[0]), (second, &poses[1]), &near).unwrap();
        note(&mut worst[3], (warm.gap - found.gap).abs());
        note(&mut worst[4], (found.points[1] - found.points[0] - found.normal * found.gap).norm());
        let value = |n: &Vector3<f64>| {
            let local = |i: usize, n: Vector3<f64>| poses[i].rotation.inverse_transform_vector(&n);
            let apart = poses[1].translation.vector - poses[0].translation.vector;
            n.dot(&apart) - first.support_height(&local(0, *n)) - second.support_height(&local(1, -n))
        };
        note(&mut worst[5], highest(&mut source, &value) - found.gap);
    }
    println!(
        "swap {:.1e}, move {:.1e}, mirror {:.1e}, warm {:.1e}, Q − P − g n {:.1e}",
        worst[0], worst[1], worst[2], worst[3], worst[4]
    );
    println!("sampling beats it by {:.1e}; deepest {deepest:.3}", worst[5]);
    assert!(deepest < -1.5 && worst.iter().all(|error| *error < 4e-15), "{deepest} {worst:?}");
}

/// The highest of sampled directions, refined by a pattern search.
fn highest(source: &mut Source, value: &dyn Fn(&Vector3<f64>) -> f64) -> f64 {
    let mut best: Vec<(f64, Vector3<f64>)> =
        (0..400).map(|_| source.direction()).map(|n| (value(&n), n)).collect();
    best.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut most = f64::NEG_INFINITY;
    for (mut height, mut n) in best.into_iter().take(4) {
        let mut step = 0.1;
        for _ in 0..250 {
            let next = (n + source.direction() * step).normalize();
            let other = value(&next);
            (height, n, step) =
                if other > height { (other, next, step * 1.5) } else { (height, n, step * 0.85) };
        }
        most = most.max(height);
    }
    most
}
