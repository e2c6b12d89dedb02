//! Volume, centre of mass and inertia of any convex body, by quadrature over directions.
//!
//! From a point inside, the body is made of cones. With the surface point x(u) on the ray through Au, ρ = 1/‖Au‖ and
//! A = diag(half the extent along each axis), so that every ellipsoid is a ball:
//!
//! ```text
//! V = |A|/3 ∫ρ³ dω,   ∫x dV = |A|/4 ∫ρ⁴ Au dω,   ∫x xᵀ dV = |A|/5 ∫ρ⁵ (Au)(Au)ᵀ dω
//! ```
//!
//! Each of the eight octants is a square in the angles θ and φ, with Gauss and Legendre's rule of n × n points. Where the
//! surface is analytic the error falls exponentially with n; where it is not on the coordinate planes, as for
//! superellipsoids of odd or broken exponent p, like n^{−2p−4}, because the planes are edges of the squares. n is doubled
//! until two results agree.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use super::Convex;

/// What a homogeneous body of unit density weighs, and how its mass is spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MassProperties {
    /// The volume V.
    pub volume: f64,
    /// The centre of mass, from the point that the body is given about.
    pub centre: Vector3<f64>,
    /// The inertia tensor of unit mass about the centre of mass, in the axes that the body is given in.
    pub unit_inertia: Matrix3<f64>,
    /// By how much the last two results differ, relative to the body; larger than what was asked for where the most
    /// points were not enough.
    pub error: f64,
}

impl MassProperties {
    /// The principal moments of unit mass in rising order, and the turn from the principal axes to those of the body.
    #[must_use]
    pub fn principal(&self) -> (Vector3<f64>, UnitQuaternion<f64>) {
        let eigen = self.unit_inertia.symmetric_eigen();
        let mut order = [0, 1, 2];
        order.sort_unstable_by(|i, j| eigen.eigenvalues[*i].total_cmp(&eigen.eigenvalues[*j]));
        let [x, y] = [0, 1].map(|k| eigen.eigenvectors.column(order[k]).into_owned());
        let axes = Matrix3::from_columns(&[x, y, x.cross(&y)]);
        let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
        (Vector3::from_fn(|k, _| eigen.eigenvalues[order[k]]), turn)
    }
}

/// The first and the largest number of points along an edge of an octant.
const FEWEST: usize = 8;
const MOST: usize = 512;

/// The mass properties of a homogeneous body to a relative accuracy, 1e-14 at best. The body may be given about any point
/// inside, in any axes.
#[must_use]
pub fn mass_properties<S: Convex>(shape: &S, accuracy: f64) -> MassProperties {
    let mut points = FEWEST;
    let mut last = sums(shape, points);
    loop {
        points *= 2;
        let next = sums(shape, points);
        let error = next.difference(&last);
        // Not a number is as far as it gets.
        if error <= accuracy || error.is_nan() || points >= MOST {
            return next.properties(error);
        }
        last = next;
    }
}

/// ∫ρ³, ∫ρ⁴u and ∫ρ⁵uuᵀ, and A.
struct Sums {
    extent: Vector3<f64>,
    third: f64,
    fourth: Vector3<f64>,
    fifth: Matrix3<f64>,
}

impl Sums {
    /// In the coordinates where the body is about as wide as high: relative to the body.
    fn difference(&self, other: &Self) -> f64 {
        let third = (self.third - other.third).abs();
        let fourth = (self.fourth - other.fourth).amax();
        third.max(fourth).max((self.fifth - other.fifth).amax()) / self.third
    }

    fn properties(&self, error: f64) -> MassProperties {
        let a = &self.extent;
        let centre = self.fourth.component_mul(a) * (0.75 / self.third);
        let second = Matrix3::from_fn(|i, j| a[i] * a[j] * self.fifth[(i, j)] * (0.6 / self.third));
        let about_centre = second - centre * centre.transpose();
        MassProperties {
            volume: a.x * a.y * a.z * self.third / 3.0,
            centre,
            unit_inertia: Matrix3::from_diagonal_element(about_centre.trace()) - about_centre,
            error,
        }
    }
}

fn sums<S: Convex>(shape: &S, points: usize) -> Sums {
    let extent = Vector3::from_fn(|i, _| {
        let mut n = Vector3::zeros();
        n[i] = 1.0;
        0.5 * (shape.support_height(&n) + shape.support_height(&-n))
    });
    let mut rule = [(0.0, 0.0); MOST];
    let rule = &mut rule[..points];
    for (k, entry) in rule.iter_mut().enumerate() {
        *entry = gauss(k, points);
    }
    let quarter = core::f64::consts::FRAC_PI_4;
    let (mut third, mut fourth, mut fifth) = (0.0, Vector3::zeros(), Matrix3::zeros());
    for (x, weight) in rule.iter() {
        let theta = quarter * (1.0 + x);
        let (sin, cos) = (libm::sin(theta), libm::cos(theta));
        // Sums of sums: rounding grows with the edge, not with the square.
        let (mut row_third, mut row_fourth, mut row_fifth) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for (x, weight) in rule.iter() {
            let phi = quarter * (1.0 + x);
            let corner = Vector3::new(sin * libm::cos(phi), sin * libm::sin(phi), cos);
            for octant in 0..8 {
                let sign = |bit: u32| if octant & bit == 0 { 1.0 } else { -1.0 };
                let u = corner.component_mul(&Vector3::new(sign(1), sign(2), sign(4)));
                let rho = shape.gauge(&u.component_mul(&extent)).recip();
                let cone = weight * rho * rho * rho;
                row_third += cone;
                row_fourth += u * (cone * rho);
                row_fifth += u * u.transpose() * (cone * rho * rho);
            }
        }
        let strip = weight * sin * quarter * quarter;
        third += row_third * strip;
        fourth += row_fourth * strip;
        fifth += row_fifth * strip;
    }
    Sums { extent, third, fourth, fifth }
}

/// The place and weight of one of n points on [−1, 1], by Newton's method on the Legendre polynomial.
pub(super) fn gauss(k: usize, n: usize) -> (f64, f64) {
    let [k, order] = [k, n].map(small);
    // The angle of the root, to about 1/n⁴ (Tricomi); in the angle nothing cancels next to the ends.
    let mut angle = core::f64::consts::PI * (k + 0.75) / (order + 0.5);
    let mut slope = 0.0;
    for _ in 0..6 {
        let x = libm::cos(angle);
        let (mut before, mut value) = (1.0, x);
        for m in 2..=n {
            let m = small(m);
            (before, value) = (value, ((2.0 * m - 1.0) * x * value - (m - 1.0) * before) / m);
        }
        // dP/dangle = n (x P_n − P_{n−1})/sin(angle)
        let sin = libm::sin(angle);
        slope = order * (x * value - before) / sin;
        let step = value / slope;
        angle -= step;
        if step.abs() <= 1e-15 {
            break;
        }
    }
    // w = 2/((1 − x²) P'²) with P' in x: the sine of the angle is taken in already.
    (libm::cos(angle), 2.0 / (slope * slope))
}

/// A count no larger than [`MOST`] as a number.
fn small(count: usize) -> f64 {
    u16::try_from(count).map_or(f64::NAN, f64::from)
}
