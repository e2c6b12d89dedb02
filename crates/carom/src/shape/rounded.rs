//! Sharp bodies grown by a ball: h(n) = h₀(n) + r|n|, the surface at the distance r from the sharp body.
//!
//! Every piece of such a surface is flat, round or both. Across the coordinates in which a point lies beyond a box it is a part
//! of a ball. On a surface of revolution the curvature along the meridian is κ = 1/r at a corner of its profile and zero
//! elsewhere, that around the axis is n_ρ/ρ, and along a geodesic that starts with t = t_m m + t_a a the curvature t·H t changes by
//!
//! ```text
//! D³d[t,t,t] = 3 t_a² t_m (m_ρ/ρ)(κ − n_ρ/ρ)        (Clairaut: ρ sin α is constant)
//! ```
//!
//! Without rounding, edges and corners have no normal of their own, and the surface next to them is given.

use nalgebra::{Matrix3, Vector3};

use super::polyhedron::Part;
use super::{Osculation, Sharp, length, unit};

/// Rounds of Newton's method on the distance along a ray, which is convex.
const MOST_ROUNDS: u32 = 60;

/// A surface point with its normal, and how the surface bends there.
struct Bend {
    normal: Vector3<f64>,
    piece: Piece,
}

enum Piece {
    /// Bent like a ball of radius r in some directions, and straight in the others.
    Ball { out: Vector3<f64>, radius: f64 },
    /// Bent like a cylinder of radius r along an edge.
    Edge { axis: Vector3<f64>, radius: f64 },
    /// κ, with the unit vector out from the axis and the distance ρ from it.
    Turned { meridian: f64, out: Vector3<f64>, rho: f64 },
}

pub(super) fn support(sharp: &Sharp, rounding: f64, n: &Vector3<f64>) -> Vector3<f64> {
    let point = sharp.support(n);
    if rounding == 0.0 { point } else { point + unit(n) * rounding }
}

pub(super) fn hessian(sharp: &Sharp, rounding: f64, n: &Vector3<f64>) -> Matrix3<f64> {
    let hessian = sharp.hessian(n);
    if rounding == 0.0 {
        return hessian;
    }
    let axis = unit(n);
    hessian + (Matrix3::identity() - axis * axis.transpose()) * (rounding / n.dot(&axis))
}

/// ‖x‖: the surface point on the ray is x/‖x‖, at the distance r from the sharp body.
pub(super) fn gauge(sharp: &Sharp, rounding: f64, x: &Vector3<f64>) -> f64 {
    let far = length(x);
    if rounding == 0.0 || far == 0.0 {
        return sharp.gauge(x);
    }
    // The distance of t x̂ to the body is convex in t, so that Newton's method comes down to r from beyond.
    let ray = unit(x);
    let mut t = sharp.circumradius() + rounding;
    for _ in 0..MOST_ROUNDS {
        let away = ray * t - sharp.nearest(&(ray * t));
        let distance = length(&away);
        let step = (distance - rounding) * distance / away.dot(&ray);
        if step.is_nan() || step <= f64::EPSILON * t {
            break;
        }
        t -= step;
    }
    far / t
}

pub(super) fn osculate(sharp: &Sharp, rounding: f64, x: &Vector3<f64>) -> Osculation {
    let point = surface_point(sharp, rounding, x);
    let Bend { normal, piece } = bend(sharp, rounding, &point);
    let curvature = match piece {
        Piece::Ball { out, .. } if out == Vector3::zeros() => Matrix3::zeros(),
        Piece::Ball { out, radius } => {
            (Matrix3::from_diagonal(&out) - normal * normal.transpose()) * radius.recip()
        }
        Piece::Edge { axis, radius } => {
            let across = axis.cross(&normal);
            across * across.transpose() / radius
        }
        Piece::Turned { meridian, out, rho } => {
            let (along, around) = frame(&normal, &out);
            along * along.transpose() * meridian + around * around.transpose() * (normal.dot(&out) / rho)
        }
    };
    Osculation { point, normal, curvature }
}

/// `D³d[t,t,t]` at the surface point on the ray through x.
pub(super) fn curvature_change(sharp: &Sharp, rounding: f64, x: &Vector3<f64>, t: &Vector3<f64>) -> f64 {
    let Bend { normal, piece } = bend(sharp, rounding, &surface_point(sharp, rounding, x));
    let Piece::Turned { meridian, out, rho } = piece else { return 0.0 };
    let (along, around) = frame(&normal, &out);
    let turned = t.dot(&around);
    3.0 * turned * turned * t.dot(&along) * (along.dot(&out) / rho) * (meridian - normal.dot(&out) / rho)
}

/// The directions along the meridian and around the axis, both across the normal.
fn frame(normal: &Vector3<f64>, out: &Vector3<f64>) -> (Vector3<f64>, Vector3<f64>) {
    let around = Vector3::z().cross(out);
    (around.cross(normal), around)
}

/// The centre for a ray that leaves a body without thickness.
fn surface_point(sharp: &Sharp, rounding: f64, x: &Vector3<f64>) -> Vector3<f64> {
    let gauge = gauge(sharp, rounding, x);
    if gauge.is_finite() { x / gauge } else { Vector3::zeros() }
}

fn bend(sharp: &Sharp, rounding: f64, point: &Vector3<f64>) -> Bend {
    let away = point - sharp.nearest(point);
    let rounded = rounding > 0.0 && away != Vector3::zeros();
    let straight = |normal| Bend { normal, piece: Piece::Ball { out: Vector3::zeros(), radius: 1.0 } };
    let rho = libm::hypot(point.x, point.y);
    let out = if rho == 0.0 { Vector3::x() } else { Vector3::new(point.x / rho, point.y / rho, 0.0) };
    let turned = |normal: Vector3<f64>, corner: bool| {
        let meridian = if corner { rounding.recip() } else { 0.0 };
        if rho > 0.0 {
            return Bend { normal, piece: Piece::Turned { meridian, out, rho } };
        }
        // On the axis: a flat, or the round end of a capsule or a cone.
        let out = if corner { Vector3::repeat(1.0) } else { Vector3::zeros() };
        Bend { normal, piece: Piece::Ball { out, radius: rounding } }
    };
    match *sharp {
        Sharp::Point => {
            Bend { normal: unit(point), piece: Piece::Ball { out: Vector3::repeat(1.0), radius: rounding } }
        }
        Sharp::Box(a) if rounded => {
            let out = Vector3::from_fn(|i, _| if point[i].abs() > a[i] { 1.0 } else { 0.0 });
            let flat = out.sum() <= 1.0;
            let piece = Piece::Ball { out: if flat { Vector3::zeros() } else { out }, radius: rounding };
            Bend { normal: unit(&away), piece }
        }
        Sharp::Box(a) => {
            let share = Vector3::from_fn(|i, _| point[i].abs() / a[i]);
            let i = share.imax();
            let mut normal = Vector3::zeros();
            normal[i] = 1.0_f64.copysign(point[i]);
            straight(normal)
        }
        Sharp::Polyhedron(polyhedron) if rounded => {
            let normal = unit(&away);
            match polyhedron.nearest(point).1 {
                Part::Edge(axis) => Bend { normal, piece: Piece::Edge { axis, radius: rounding } },
                Part::Corner => {
                    Bend { normal, piece: Piece::Ball { out: Vector3::repeat(1.0), radius: rounding } }
                }
                Part::Face | Part::Inside => straight(normal),
            }
        }
        Sharp::Polyhedron(polyhedron) => straight(polyhedron.gauge(point).1),
        Sharp::Cylinder { radius, half_length } => {
            let (beside, beyond) = (rho > radius, point.z.abs() > half_length);
            if rounded {
                return turned(unit(&away), beyond && (beside || radius == 0.0));
            }
            if radius > 0.0 && rho * half_length >= point.z.abs() * radius && half_length > 0.0 {
                turned(out, false)
            } else {
                straight(Vector3::z() * 1.0_f64.copysign(point.z))
            }
        }
        Sharp::Cone { radius, base, tip } => {
            let nearest = sharp.nearest(point);
            let at = libm::hypot(nearest.x, nearest.y);
            let corner = nearest.z >= tip || (nearest.z <= base && at >= radius * (1.0 - 4.0 * f64::EPSILON));
            if rounded {
                return turned(unit(&away), corner);
            }
            let slant = libm::hypot(radius, tip - base);
            let side = rho * (tip - base) + point.z * radius >= tip * radius * (1.0 - 8.0 * f64::EPSILON);
            if side && point.z > base {
                turned((out * (tip - base) + Vector3::z() * radius) / slant, false)
            } else {
                straight(-Vector3::z())
            }
        }
    }
}
