//! Convex bodies with flats, edges and corners: boxes, cylinders and cones, segments and discs among them.
//!
//! [`Sharp`] is what is left of such a body when its rounding is taken off. Its support function is piecewise smooth in the
//! direction n, and the pieces meet where an edge or a side faces n: along circles n·e = k of the unit sphere ([`Ring`]) and in
//! single points, the normals of faces.
//!
//! ```text
//! box       h = a|n₁| + b|n₂| + c|n₃|                 rings across the axes, six faces
//! cylinder  h = R √(n₁² + n₂²) + l|n₃|                a ring across the axis: its side; two faces
//! cone      h = max(R √(n₁² + n₂²) + z₀n₃, z₁n₃)      a ring about the axis: its side; one face
//! polyhedron  h = max n·v over its corners            a ring of each edge, of which an arc counts; its faces
//! ```
//!
//! With R = 0 a cylinder is a segment, with l = 0 a disc.

use nalgebra::{Matrix3, Vector3};

use super::{Polyhedron, length};

/// A body with flats, edges and corners, about any point on its axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sharp {
    /// A single point.
    Point,
    /// |x_i| ≤ a_i.
    Box([f64; 3]),
    /// x² + y² ≤ R², |z| ≤ l.
    Cylinder {
        /// R.
        radius: f64,
        /// l.
        half_length: f64,
    },
    /// From a disc of radius R at z = `base` up to a tip at z = `tip`.
    Cone {
        /// R.
        radius: f64,
        /// z₀.
        base: f64,
        /// z₁.
        tip: f64,
    },
    /// A polyhedron; its own rounding has no part in this.
    Polyhedron(Polyhedron),
}

/// Directions n·axis = cosine that an edge or a side faces. Along the circle the support function is n·anchor, up to a constant:
/// the radius of a cylinder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ring {
    /// A unit vector.
    pub axis: Vector3<f64>,
    /// k.
    pub cosine: f64,
    /// A point of the edge, or of the cylinder's axis.
    pub anchor: Vector3<f64>,
    /// How far from a direction asked for what the edge faces is, on the unit sphere.
    pub away: f64,
}

/// One, minus one, or zero for zero.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { 1.0_f64.copysign(x) }
}

/// The part of n across z as a unit vector, zero if there is none, and its length.
fn across(n: &Vector3<f64>) -> (Vector3<f64>, f64) {
    let rho = libm::hypot(n.x, n.y);
    if rho == 0.0 { (Vector3::zeros(), 0.0) } else { (Vector3::new(n.x / rho, n.y / rho, 0.0), rho) }
}

/// How far from the axis of a disc, at most, a direction sees a segment of it.
pub(crate) const ALL_BUT_ACROSS: f64 = 1e-6;

/// Of the points |x| ≤ R with x·out ≥ least, across z, the one farthest along a unit vector.
fn farthest_of_segment(radius: f64, out: &Vector3<f64>, least: f64, d: &Vector3<f64>) -> Vector3<f64> {
    if radius * d.dot(out) >= least {
        return d * radius;
    }
    let along = Vector3::new(-out.y, out.x, 0.0);
    let half = libm::sqrt((radius - least) * (radius + least));
    out * least + along * half.copysign(d.dot(&along))
}

impl Sharp {
    /// h(n) = max n·x.
    #[must_use]
    pub fn height(&self, n: &Vector3<f64>) -> f64 {
        match *self {
            Self::Point => 0.0,
            Self::Box([a, b, c]) => a * n.x.abs() + b * n.y.abs() + c * n.z.abs(),
            Self::Cylinder { radius, half_length } => {
                // A segment needs no root.
                let rim = if radius == 0.0 { 0.0 } else { radius * libm::hypot(n.x, n.y) };
                rim + half_length * n.z.abs()
            }
            Self::Cone { radius, base, tip } => (radius * libm::hypot(n.x, n.y) + base * n.z).max(tip * n.z),
            Self::Polyhedron(polyhedron) => polyhedron.height(n),
        }
    }

    /// A point with n·x = h(n): where there are several, the middle one.
    #[must_use]
    pub fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        match *self {
            Self::Point => Vector3::zeros(),
            Self::Box(a) => Vector3::from_fn(|i, _| a[i] * sign(n[i])),
            Self::Cylinder { radius, half_length } => {
                let out = if radius == 0.0 { Vector3::zeros() } else { across(n).0 * radius };
                out + Vector3::z() * (half_length * sign(n.z))
            }
            Self::Cone { radius, base, tip } => {
                let (out, rho) = across(n);
                let rim = out * radius + Vector3::z() * base;
                let apex = Vector3::z() * tip;
                match (radius * rho + base * n.z).total_cmp(&(tip * n.z)) {
                    core::cmp::Ordering::Less => apex,
                    core::cmp::Ordering::Equal => (rim + apex) * 0.5,
                    core::cmp::Ordering::Greater => rim,
                }
            }
            Self::Polyhedron(polyhedron) => polyhedron.support(n),
        }
    }

    /// ∇²h(n) where h is smooth, which leaves the rims of discs: R t tᵀ/√(n₁² + n₂²) with t around the axis. Zero where it is
    /// not.
    #[must_use]
    pub fn hessian(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        let rim = |radius: f64| {
            let (out, rho) = across(n);
            if rho == 0.0 || radius == 0.0 {
                return Matrix3::zeros();
            }
            let around = Vector3::new(-out.y, out.x, 0.0);
            around * around.transpose() * (radius / rho)
        };
        match *self {
            Self::Point | Self::Box(_) | Self::Polyhedron(_) => Matrix3::zeros(),
            Self::Cylinder { radius, .. } => rim(radius),
            Self::Cone { radius, base, tip } => {
                if radius * libm::hypot(n.x, n.y) + base * n.z > tip * n.z {
                    rim(radius)
                } else {
                    Matrix3::zeros()
                }
            }
        }
    }

    /// Of the points with n·x ≥ h(n) − slack, nearly, one that is farthest along d. They are the face that is exposed to n: a
    /// corner, an edge, a generator of the side, a flat.
    ///
    /// A disc that is all but across n exposes a point of its rim that rounding moves far along it. Where that is asked for, all
    /// of the disc within the slack counts, which is a segment of the circle.
    pub(crate) fn farthest_of_face(
        &self,
        n: &Vector3<f64>,
        slack: f64,
        segments: bool,
        d: &Vector3<f64>,
    ) -> Vector3<f64> {
        // A coordinate whose whole range is hidden in the slack is free.
        let either = |reach: f64, n: f64, d: f64| {
            if 2.0 * reach * n.abs() <= slack { reach * sign(d) } else { reach * sign(n) }
        };
        let disc = |radius: f64| {
            let (out, rho) = across(n);
            if 2.0 * radius * rho <= slack {
                across(d).0 * radius
            } else if segments && rho < ALL_BUT_ACROSS {
                farthest_of_segment(radius, &out, radius - slack / rho, &across(d).0)
            } else {
                out * radius
            }
        };
        match *self {
            Self::Point => Vector3::zeros(),
            Self::Box(a) => Vector3::from_fn(|i, _| either(a[i], n[i], d[i])),
            Self::Cylinder { radius, half_length } => {
                disc(radius) + Vector3::z() * either(half_length, n.z, d.z)
            }
            Self::Cone { radius, base, tip } => {
                let rho = libm::hypot(n.x, n.y);
                let (low, high) = (radius * rho + base * n.z, tip * n.z);
                let apex = Vector3::z() * tip;
                if low < high - slack {
                    return apex;
                }
                let rim = disc(radius) + Vector3::z() * base;
                if low > high + slack || d.dot(&rim) >= d.dot(&apex) { rim } else { apex }
            }
            Self::Polyhedron(polyhedron) => polyhedron.farthest_of_face(n, slack, d),
        }
    }

    /// The normals of faces within a distance of n on the unit sphere.
    pub(crate) fn each_face(&self, n: &Vector3<f64>, within: f64, mut visit: impl FnMut(Vector3<f64>)) {
        if let Self::Polyhedron(polyhedron) = self {
            return polyhedron.each_face(n, within, visit);
        }
        let mut near = |normal: Vector3<f64>| {
            if (normal - n).norm_squared() <= within * within {
                visit(normal);
            }
        };
        match *self {
            Self::Point => {}
            Self::Box(_) => {
                for i in 0..3 {
                    let mut normal = Vector3::zeros();
                    normal[i] = 1.0_f64.copysign(n[i]);
                    near(normal);
                }
            }
            // A segment has no ends that are flat.
            Self::Cylinder { radius, .. } => {
                if radius > 0.0 {
                    near(Vector3::z() * 1.0_f64.copysign(n.z));
                }
            }
            Self::Cone { .. } => near(-Vector3::z()),
            Self::Polyhedron(_) => {}
        }
    }

    /// The flat discs whose normals are within a distance of n: normal, centre and radius.
    pub(crate) fn each_disc(
        &self,
        n: &Vector3<f64>,
        within: f64,
        mut visit: impl FnMut(Vector3<f64>, Vector3<f64>, f64),
    ) {
        let (radius, bottom, top) = match *self {
            Self::Cylinder { radius, half_length } if radius > 0.0 => {
                (radius, -half_length, Some(half_length))
            }
            Self::Cone { radius, base, .. } => (radius, base, None),
            _ => return,
        };
        let side = Vector3::z() * 1.0_f64.copysign(n.z);
        if (side - n).norm_squared() <= within * within
            && let Some(height) = if n.z < 0.0 { Some(bottom) } else { top }
        {
            visit(side, Vector3::z() * height, radius);
        }
    }

    /// The rings within a distance of n on the unit sphere.
    pub(crate) fn each_ring(&self, n: &Vector3<f64>, within: f64, mut visit: impl FnMut(Ring)) {
        match *self {
            Self::Point => {}
            Self::Box(a) => {
                for i in 0..3 {
                    if n[i].abs() <= within {
                        let mut axis = Vector3::zeros();
                        axis[i] = 1.0;
                        let mut anchor = Vector3::from_fn(|k, _| a[k] * 1.0_f64.copysign(n[k]));
                        anchor[i] = 0.0;
                        visit(Ring { axis, cosine: 0.0, anchor, away: n[i].abs() });
                    }
                }
            }
            Self::Cylinder { half_length, .. } => {
                if half_length > 0.0 && n.z.abs() <= within {
                    let anchor = Vector3::zeros();
                    visit(Ring { axis: Vector3::z(), cosine: 0.0, anchor, away: n.z.abs() });
                }
            }
            Self::Cone { radius, base, tip } => {
                let cosine = radius / libm::hypot(radius, tip - base);
                if (n.z - cosine).abs() <= within {
                    let (anchor, away) = (Vector3::z() * tip, (n.z - cosine).abs());
                    visit(Ring { axis: Vector3::z(), cosine, anchor, away });
                }
            }
            Self::Polyhedron(polyhedron) => polyhedron.each_ring(n, within, visit),
        }
    }

    /// The point of the body nearest to x.
    #[must_use]
    pub fn nearest(&self, x: &Vector3<f64>) -> Vector3<f64> {
        match *self {
            Self::Point => Vector3::zeros(),
            Self::Box(a) => Vector3::from_fn(|i, _| x[i].clamp(-a[i], a[i])),
            Self::Cylinder { radius, half_length } => {
                let (out, rho) = across(x);
                out * rho.min(radius) + Vector3::z() * x.z.clamp(-half_length, half_length)
            }
            Self::Cone { radius, base, tip } => {
                let (out, rho) = across(x);
                let [r, z] = nearest_in_triangle(radius, base, tip, [rho, x.z]);
                out * r + Vector3::z() * z
            }
            Self::Polyhedron(polyhedron) => polyhedron.nearest(x).0,
        }
    }

    /// The gauge: the least t ≥ 0 for which x/t is in the body; infinite where there is none.
    #[must_use]
    pub fn gauge(&self, x: &Vector3<f64>) -> f64 {
        let over = |x: f64, a: f64| if x == 0.0 { 0.0 } else { x / a };
        match *self {
            Self::Point => {
                if *x == Vector3::zeros() {
                    0.0
                } else {
                    f64::INFINITY
                }
            }
            Self::Box(a) => (0..3).map(|i| over(x[i].abs(), a[i])).fold(0.0, f64::max),
            Self::Cylinder { radius, half_length } => {
                over(libm::hypot(x.x, x.y), radius).max(over(x.z.abs(), half_length))
            }
            Self::Cone { radius, base, tip } => {
                // On the side ρ (tip − base) + z R = tip R.
                let side = (libm::hypot(x.x, x.y) * (tip - base) + x.z * radius) / (tip * radius);
                side.max(x.z / base).max(0.0)
            }
            Self::Polyhedron(polyhedron) => polyhedron.gauge(x).0,
        }
    }

    /// The radius of the least ball about the origin that holds the body.
    #[must_use]
    pub fn circumradius(&self) -> f64 {
        match *self {
            Self::Point => 0.0,
            Self::Box(a) => length(&Vector3::from(a)),
            Self::Cylinder { radius, half_length } => libm::hypot(radius, half_length),
            Self::Cone { radius, base, tip } => tip.max(libm::hypot(radius, base)),
            Self::Polyhedron(polyhedron) => polyhedron.circumradius(),
        }
    }

    /// The radius of the largest ball about the origin inside.
    #[must_use]
    pub fn inradius(&self) -> f64 {
        match *self {
            Self::Point => 0.0,
            Self::Box([a, b, c]) => a.min(b).min(c),
            Self::Cylinder { radius, half_length } => radius.min(half_length),
            Self::Cone { radius, base, tip } => (-base).min(tip * radius / libm::hypot(radius, tip - base)),
            Self::Polyhedron(polyhedron) => polyhedron.inradius(),
        }
    }

    /// The same body, larger by a factor.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match *self {
            Self::Point => Self::Point,
            Self::Box(a) => Self::Box(a.map(|a| a * factor)),
            Self::Cylinder { radius, half_length } => {
                Self::Cylinder { radius: radius * factor, half_length: half_length * factor }
            }
            Self::Cone { radius, base, tip } => {
                Self::Cone { radius: radius * factor, base: base * factor, tip: tip * factor }
            }
            Self::Polyhedron(polyhedron) => Self::Polyhedron(polyhedron.scaled(factor)),
        }
    }
}

/// In the half-plane of a cone's axis: the point of the triangle (0, base), (R, base), (0, tip) nearest to (ρ, z), ρ ≥ 0.
fn nearest_in_triangle(radius: f64, base: f64, tip: f64, [rho, z]: [f64; 2]) -> [f64; 2] {
    let height = tip - base;
    let beyond = rho * height + (z - tip) * radius;
    if z >= base && beyond <= 0.0 {
        return [rho, z];
    }
    // Along the side from the rim to the tip.
    let square = radius * radius + height * height;
    let along = ((radius - rho) * radius + (z - base) * height) / square;
    if beyond > 0.0 && along > 0.0 {
        let along = along.min(1.0);
        return [radius * (1.0 - along), base + height * along];
    }
    [rho.min(radius), base]
}
