//! Hulls against what is known of them, and points that make none.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{Axes, Defect, corners};
use crate::shape::{Polyhedron, Shape, mass_properties};

fn number(source: &mut ChaCha8Rng) -> f64 {
    f64::from(source.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0
}

fn point(source: &mut ChaCha8Rng) -> Vector3<f64> {
    Vector3::from_fn(|_, _| number(source))
}

fn turn(source: &mut ChaCha8Rng) -> UnitQuaternion<f64> {
    UnitQuaternion::from_scaled_axis(point(source) * 3.0)
}

fn box_points(half: [f64; 3]) -> Vec<Vector3<f64>> {
    (0..8).map(|k| Vector3::from_fn(|i, _| if k >> i & 1 == 0 { -half[i] } else { half[i] })).collect()
}

fn principal(points: &[Vector3<f64>], rounding: f64) -> Polyhedron {
    Polyhedron::new(points, rounding, Axes::Principal).unwrap()
}

/// Every corner is below every face, and the outline of every face goes counterclockwise around it.
fn is_convex(body: &Polyhedron) {
    let corners: Vec<Vector3<f64>> = body.corners().collect();
    let size = Shape::Polyhedron(*body).circumradius();
    for (normal, outline) in body.faces() {
        let height = normal.dot(&corners[outline[0] as usize]);
        for corner in &corners {
            assert!(normal.dot(corner) - height <= 1e-13 * size);
        }
        for k in 0..outline.len() {
            let [a, b, c] = [0, 1, 2].map(|i| corners[outline[(k + i) % outline.len()] as usize]);
            assert!((b - a).cross(&(c - b)).dot(&normal) > 0.0);
        }
    }
    assert_eq!(corners.len() + body.faces().count(), body.edges().count() + 2);
}

/// A box is a polyhedron of eight corners: the same numbers from quite other formulas, turned and shifted, with grids of points on its
/// faces and edges, and with rounding.
#[test]
fn boxes_are_boxes() {
    let mut source = ChaCha8Rng::seed_from_u64(1);
    for case in 0..60 {
        let half: [f64; 3] = core::array::from_fn(|_| 0.2 + number(&mut source).abs());
        let rounding = [0.0, 0.1, 2.0][case % 3];
        let known = Shape::Box { half_extents: half, rounding };
        let mut points = box_points(half);
        if case % 2 == 1 {
            // On the faces and along the edges, and some inside.
            for corner in box_points([1.0; 3]) {
                for share in [Vector3::new(1.0, 0.3, -0.7), Vector3::new(0.1, 1.0, 1.0), Vector3::repeat(0.9)]
                {
                    points.push(corner.component_mul(&share).component_mul(&Vector3::from(half)));
                }
            }
        }
        let (turn, shift) = (turn(&mut source), point(&mut source));
        let placed: Vec<Vector3<f64>> = points.iter().map(|x| turn * x + shift).collect();
        let found = principal(&placed, rounding);
        is_convex(&found);
        assert_eq!(
            (found.corners().count(), found.faces().count(), found.edges().count()),
            (8, 6, 12),
            "{case}"
        );
        let shape = Shape::Polyhedron(found);
        assert!((found.centre() - shift).norm() < 1e-14);
        assert!((shape.volume() / known.volume() - 1.0).abs() < 1e-14, "{case}");
        let sorted = |mut moments: Vector3<f64>| {
            moments.as_mut_slice().sort_by(f64::total_cmp);
            moments
        };
        let error = (sorted(shape.unit_inertia()) - sorted(known.unit_inertia())).amax();
        assert!(error < 2e-14 * known.unit_inertia().amax(), "{case}: {error:e}");
        // Back to the axes of the points, the support is that of the box.
        for _ in 0..20 {
            let n = point(&mut source).normalize();
            let height = |n: &Vector3<f64>| shape.support_height(&(found.turn().inverse() * n));
            let known = known.support_height(&(turn.inverse() * n));
            assert!((height(&n) - known).abs() < 1e-14, "{case}");
        }
    }
}

/// A tetrahedron with three right angles at a corner: V = 1/6, centre ¼, ⟨x²⟩ = 3/80, ⟨xy⟩ = −1/80 about it.
#[test]
fn a_corner_of_a_cube_has_its_closed_form() {
    let points = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
    let given = Polyhedron::new(&points, 0.0, Axes::Given).unwrap();
    assert_eq!(given.turn(), UnitQuaternion::identity());
    assert!((given.centre() - Vector3::repeat(0.25)).amax() < 1e-16);
    let own = principal(&points, 0.0);
    assert!((Shape::Polyhedron(own).volume() - 1.0 / 6.0).abs() < 1e-16);
    let tensor =
        Matrix3::from_diagonal_element(0.075) + Matrix3::from_fn(|i, j| if i == j { 0.0 } else { 0.0125 });
    let turn: Rotation3<f64> = own.turn().to_rotation_matrix();
    let diagonal = Matrix3::from_diagonal(&Shape::Polyhedron(own).unit_inertia());
    assert!((turn.matrix() * diagonal * turn.matrix().transpose() - tensor).amax() < 1e-15);
    // The corners, turned back, are the points.
    for corner in own.corners() {
        let back = own.turn() * corner + own.centre();
        assert!(points.iter().any(|x| (x - back).norm() < 1e-15), "{back:?}");
    }
}

/// With rounding, against quadrature over directions, which converges slowly at seams and knows nothing of edges.
#[test]
fn moments_with_rounding_agree_with_quadrature() {
    let mut source = ChaCha8Rng::seed_from_u64(2);
    for case in 0..4 {
        let points: Vec<Vector3<f64>> = (0..[4, 5, 8, 12][case]).map(|_| point(&mut source)).collect();
        let body = Polyhedron::new(&points, 0.5, Axes::Principal).unwrap();
        is_convex(&body);
        let shape = Shape::Polyhedron(body);
        let found = mass_properties(&shape, 1e-6);
        assert!((found.volume / shape.volume() - 1.0).abs() < 3e-6, "{case}");
        assert!(found.centre.norm() < 3e-6, "{case}: {:?}", found.centre);
        let error = (found.unit_inertia - Matrix3::from_diagonal(&shape.unit_inertia())).amax();
        assert!(error < 3e-6, "{case}: {error:e}");
    }
}

/// Hulls of points on a sphere, and in a ball: convex, and every point inside.
#[test]
fn hulls_hold_their_points() {
    let mut source = ChaCha8Rng::seed_from_u64(3);
    for count in [4, 5, 10, 100, 1000] {
        for on_sphere in [false, true] {
            let points: Vec<Vector3<f64>> = (0..count)
                .map(|_| point(&mut source))
                .map(|x| if on_sphere { x.normalize() } else { x })
                .collect();
            let body = Polyhedron::new(&points, 0.0, Axes::Given).unwrap();
            is_convex(&body);
            assert!(!on_sphere || body.corners().count() == count);
            let kept: Vec<Vector3<f64>> = corners(&points).unwrap().iter().map(|&k| points[k]).collect();
            assert_eq!(kept.len(), body.corners().count());
            for (normal, outline) in body.faces() {
                let first: Vec<Vector3<f64>> = body.corners().collect();
                let height = normal.dot(&(first[outline[0] as usize] + body.centre()));
                assert!(points.iter().all(|x| normal.dot(x) - height < 1e-13));
            }
        }
    }
}

#[test]
fn equal_polyhedra_are_kept_once() {
    let points = box_points([0.125, 0.25, 0.5]);
    let first = principal(&points, 0.0);
    let mut mixed = points.clone();
    mixed.extend(points.iter().map(|x| x * 0.5));
    assert_eq!(first, principal(&mixed, 0.0));
    assert_ne!(first, principal(&points, 0.1));
    assert_eq!(Polyhedron::numbered(first.number()), Some(first));
    assert_eq!(Polyhedron::numbered(u32::MAX), None);
    let large = principal(&points.iter().map(|x| x * 1e40).collect::<Vec<_>>(), 0.0);
    let ratio = Shape::Polyhedron(large).volume() / Shape::Polyhedron(first).volume();
    assert!((ratio / 1e120 - 1.0).abs() < 1e-14);
}

#[test]
fn points_without_a_hull_are_refused() {
    let make = |points: &[[f64; 3]]| {
        let points: Vec<Vector3<f64>> = points.iter().map(|&x| x.into()).collect();
        Polyhedron::new(&points, 0.0, Axes::Principal).unwrap_err()
    };
    assert_eq!(make(&[]), Defect::TooFew(0));
    assert_eq!(make(&[[1.0; 3]; 9]), Defect::TooFew(1));
    assert_eq!(make(&[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), Defect::TooFew(3));
    assert_eq!(make(&[[0.0; 3], [1.0; 3], [2.0; 3], [3.0; 3]]), Defect::Straight);
    let square = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
    assert!(matches!(make(&square), Defect::Flat { .. }));
    assert_eq!(make(&[[0.0; 3], [f64::NAN, 0.0, 0.0]]), Defect::NotFinite(1));
    assert!(matches!(make(&[[0.0; 3], [1e60, 0.0, 0.0]]), Defect::Size(_)));
    let thin = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, 1e-6]];
    let thin: Vec<Vector3<f64>> = thin.iter().map(|&x| x.into()).collect();
    is_convex(&principal(&thin, 0.0));
}
