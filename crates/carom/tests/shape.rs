//! Shapes: mass properties, the support function and the surface, against quadrature, known values and identities.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::shape::Shape;
use nalgebra::{Matrix3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

fn superellipsoid(semi_axes: [f64; 3], exponent: f64) -> Shape {
    Shape::Superellipsoid { semi_axes, exponent }
}

fn close(what: &str, got: f64, expected: f64, tolerance: f64) {
    let error = (got - expected).abs() / expected.abs().max(f64::MIN_POSITIVE);
    assert!(error <= tolerance, "{what}: {got:e}, expected {expected:e}, off by {error:.1e}");
}

fn direction(source: &mut ChaCha8Rng) -> Vector3<f64> {
    loop {
        let v = Vector3::from_fn(|_, _| source.random_range(-1.0..1.0));
        if v.norm() > 0.1 && v.norm() < 1.0 {
            return v.normalize();
        }
    }
}

fn shapes(source: &mut ChaCha8Rng) -> Vec<Shape> {
    let axes = |source: &mut ChaCha8Rng| [(); 3].map(|()| 10.0_f64.powf(source.random_range(-1.0..1.0)));
    let mut all = vec![Shape::Sphere { radius: 0.7 }, Shape::Ellipsoid { semi_axes: axes(source) }];
    all.extend([2.0, 2.2, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0, 100.0].map(|p| superellipsoid(axes(source), p)));
    all
}

#[test]
fn mass_properties_of_known_bodies() {
    let ball = Shape::Sphere { radius: 2.0 };
    close("ball volume", ball.volume(), 32.0 * std::f64::consts::PI / 3.0, 2e-16);
    close("ball inertia", ball.unit_inertia().x, 1.6, 2e-16);
    let ellipsoid = Shape::Ellipsoid { semi_axes: [1.0, 1.0, 2.0] };
    assert_eq!(ellipsoid.unit_inertia() * 500.0, Vector3::new(500.0, 500.0, 200.0));
    // Exponent two is the ellipsoid, to the bit.
    let same = superellipsoid([1.0, 1.0, 2.0], 2.0);
    assert_eq!(same.unit_inertia(), ellipsoid.unit_inertia());
    assert_eq!(same.volume(), ellipsoid.volume());
    assert_eq!(same.support(&Vector3::new(1.0, 2.0, 3.0)), ellipsoid.support(&Vector3::new(1.0, 2.0, 3.0)));
    // And just above it the Γ functions meet that value.
    let near = superellipsoid([1.0, 1.0, 2.0], 2.0 + 1e-15);
    close("Γ at two", near.unit_inertia().x, 1.0, 1e-14);
    close("Γ at two", near.volume(), ellipsoid.volume(), 1e-14);
    // [PVWZ], p = 4, axes (1, 2, 3): ⟨x²⟩/a² from its 40-digit value.
    let k = 0.274_167_948_626_678_2;
    let paper = superellipsoid([1.0, 2.0, 3.0], 4.0);
    close("paper I", (paper.unit_inertia() - Vector3::new(13.0, 10.0, 5.0) * k).norm() + 1.0, 1.0, 1e-14);
    close("paper V", paper.volume(), 38.891_924_110_718_29, 1e-14);
    // Towards the box: V = 8abc, ⟨x²⟩ = a²/3.
    let box_like = superellipsoid([1.0, 1.0, 1.0], 1e9);
    close("box volume", box_like.volume(), 8.0, 1e-8);
    close("box inertia", box_like.unit_inertia().x, 2.0 / 3.0, 1e-8);
    assert_eq!(Shape::Point.volume(), 0.0);
}

/// ∫∫∫ over one octant as nested slices: at x the section is a superellipse scaled by s = (1 − x^p)^{1/p}, of area s²A,
/// and second moments s⁴B. Tanh–sinh in each variable.
#[test]
fn mass_properties_are_those_of_quadrature() {
    let integral = |f: &dyn Fn(f64, f64) -> f64| {
        // f(x, 1 − x): the distance to the end is given apart, because 1 − x cancels there.
        let step = 1.0 / 64.0;
        (-350..=350).fold(0.0, |sum, k| {
            let t = f64::from(k) * step;
            let u = std::f64::consts::FRAC_PI_2 * t.sinh();
            let weight = std::f64::consts::FRAC_PI_2 * t.cosh() / (2.0 * u.cosh().powi(2));
            if weight == 0.0 || !weight.is_finite() {
                return sum;
            }
            let (x, rest) = (1.0 / (1.0 + (-2.0 * u).exp()), 1.0 / (1.0 + (2.0 * u).exp()));
            sum + f(x, rest) * weight * step
        })
    };
    for p in [2.0, 2.5, 3.0, 4.0, 6.0, 10.0, 20.0, 100.0, 1000.0] {
        let edge = |rest: f64| (-(p * (-rest).ln_1p()).exp_m1()).powf(1.0 / p);
        let area = integral(&|_, rest| edge(rest));
        let across = integral(&|x, rest| x * x * edge(rest));
        let volume = integral(&|_, rest| edge(rest).powi(2)) * area;
        let along = integral(&|x, rest| x * x * edge(rest).powi(2)) * area;
        let second = integral(&|_, rest| edge(rest).powi(4)) * across;
        let a = [1.3, 0.4, 2.1];
        let shape = superellipsoid(a, p);
        close(&format!("volume, p = {p}"), shape.volume(), 8.0 * a[0] * a[1] * a[2] * volume, 2e-14);
        for (k, what) in [(along / volume, "⟨x²⟩"), (second / volume, "⟨y²⟩")] {
            close(
                &format!("{what}, p = {p}"),
                shape.unit_inertia().z,
                k * (a[0] * a[0] + a[1] * a[1]),
                2e-14,
            );
        }
    }
}

#[test]
fn support_identities() {
    let mut source = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..200 {
        for shape in shapes(&mut source) {
            let n = direction(&mut source);
            let (height, point) = (shape.support_height(&n), shape.support(&n));
            close("h(n) / n·s(n)", n.dot(&point), height, 8e-15);
            close("h(λn) / λh(n)", shape.support_height(&(n * 1e200)), height * 1e200, 1e-15);
            assert!((shape.support(&(n * 1e-250)) - point).norm() <= 1e-14 * point.norm());
            assert_eq!(shape.support(&-n), -point);
            close("support lies on the surface", shape.gauge(&point), 1.0, 1e-14);
            assert!(shape.implicit(&point).abs() < 1e-11, "{shape:?}");
            assert!(shape.implicit(&(point * 0.99)) < 0.0 && shape.implicit(&(point * 1.01)) > 0.0);
            assert!(point.norm() <= shape.circumradius() * (1.0 + 1e-14));
            assert!(point.norm() >= shape.inradius() * (1.0 - 1e-14));
            // Convexity: no point of the body is higher than its support.
            let other = shape.support(&direction(&mut source));
            assert!(n.dot(&other) <= height * (1.0 + 1e-14));
            // The normal at the support is n, where the surface determines it.
            let bend = shape.curvature(&point);
            let error = (shape.normal(&point) - n).norm();
            assert!(error <= 1e-13 * (1.0 + bend.norm() * point.norm()), "{shape:?} {n:?} {error:e}");
            // A ball rolls inside: the least radius of curvature is no less than the rolling radius.
            assert!(bend.norm() * shape.rolling_radius() <= 1.5);
        }
    }
}

#[test]
fn support_is_the_highest_of_the_surface() {
    let mut source = ChaCha8Rng::seed_from_u64(2);
    for shape in shapes(&mut source) {
        let n = direction(&mut source);
        // The surface by rays: parameters other than the normal.
        let best = (0..200_000).fold(0.0_f64, |best, _| {
            let ray = direction(&mut source).component_mul(&shape.support(&Vector3::new(1.0, 1.0, 1.0)));
            best.max(n.dot(&(ray / shape.gauge(&ray))))
        });
        let height = shape.support_height(&n);
        assert!(best <= height * (1.0 + 1e-14) && best >= height * 0.99, "{shape:?}: {best} / {height}");
    }
}

/// ∇h = s, ∇²h = ∇s by central differences, and on the tangent plane ∇²h is the inverse of the curvature.
#[test]
fn derivatives_of_the_support_function() {
    let mut source = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..50 {
        for shape in shapes(&mut source) {
            let n = direction(&mut source);
            let hessian = shape.support_hessian(&n);
            let scale = hessian.norm();
            if n.amin() < 0.05 || scale > 1e3 {
                continue;
            }
            let step = 1e-6;
            let differences = Matrix3::from_columns(&[0, 1, 2].map(|i| {
                let mut e = Vector3::zeros();
                e[i] = step;
                (shape.support(&(n + e)) - shape.support(&(n - e))) / (2.0 * step)
            }));
            assert!((differences - hessian).norm() <= 1e-6 * scale.max(1.0), "{shape:?} {n:?}");
            assert!((hessian * n).norm() <= 1e-13 * scale);
            let identity = hessian * shape.curvature(&shape.support(&n));
            let tangent = Matrix3::identity() - n * n.transpose();
            let error = (identity - tangent).norm();
            assert!(error < 1e-10 * (1.0 + scale * shape.curvature(&shape.support(&n)).norm()), "{error:e}");
        }
    }
    // On a ring of a flat body the Hessian is held finite, and huge across the ring only.
    let hessian = superellipsoid([1.0, 1.0, 1.0], 4.0).support_hessian(&Vector3::new(0.6, 0.8, 0.0));
    assert!(hessian.iter().all(|x| x.is_finite()) && hessian.m33 > 1e9 && hessian.m11 < 1e3);
    assert!(superellipsoid([1.0, 1.0, 1.0], 4.0).curvature(&Vector3::x()).norm() == 0.0);
}

#[test]
fn extreme_axes_and_exponents() {
    let n = Vector3::new(0.3, -0.5, 0.7);
    for p in [2.0, 4.0, 20.0, 1000.0] {
        let one = superellipsoid([1.0, 2.0, 3.0], p);
        for scale in [1e-100, 1e100] {
            let shape = one.scaled(scale);
            close("h", shape.support_height(&n), one.support_height(&n) * scale, 1e-14);
            close("s", shape.support(&n).amax(), one.support(&n).amax() * scale, 1e-14);
            close("V", shape.volume() / scale / scale / scale, one.volume(), 1e-13);
            close("I", shape.unit_inertia().x / scale / scale, one.unit_inertia().x, 1e-13);
            close("R", shape.circumradius(), one.circumradius() * scale, 1e-14);
            close("∇²h", shape.support_hessian(&n).amax(), one.support_hessian(&n).amax() * scale, 1e-13);
            let x = one.support(&n);
            close("H", shape.curvature(&(x * scale)).amax(), one.curvature(&x).amax() / scale, 1e-12);
            close("gauge", shape.gauge(&(x * scale)), 1.0, 1e-13);
        }
        // Both extremes in one body.
        let needle = superellipsoid([1e-100, 1.0, 1e100], p);
        assert!(needle.support(&n).iter().all(|x| x.is_finite() && *x != 0.0));
        assert!(needle.support_hessian(&n).iter().all(|x| x.is_finite()));
        let tip = needle.osculate(&needle.support(&n));
        assert!(tip.normal.iter().chain(tip.curvature.iter()).all(|x| x.is_finite()));
    }
    let cube = superellipsoid([1.0; 3], 1000.0);
    close("cube corner", cube.circumradius(), 3.0_f64.powf(0.5 - 1e-3), 1e-14);
}

/// Spheres, ellipsoids and points of the [SP] cases: J = m · unit_inertia.
#[test]
fn inertia_of_the_published_ellipsoids() {
    let file: Value = serde_json::from_str(include_str!("../../../cases/laws/reference.json")).unwrap();
    let mut seen = 0;
    for case in file["cases"].as_array().unwrap() {
        let (Some(axes), Some(inertia)) =
            (case["inputs"]["semi_axes"].as_array(), case["expected"]["J"].as_array())
        else {
            continue;
        };
        let Some(mass) = case["inputs"]["m"].as_f64() else { continue };
        let semi_axes = [0, 1, 2].map(|i| axes[i].as_f64().unwrap());
        let unit = Shape::Ellipsoid { semi_axes }.unit_inertia();
        for i in 0..3 {
            close("J", unit[i] * mass, inertia[i].as_f64().unwrap(), 1e-15);
        }
        seen += 1;
    }
    assert!(seen >= 5, "{seen}");
}
