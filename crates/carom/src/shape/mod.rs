//! Shapes, one file each: volume and inertia, the support function with its derivatives, the surface with its
//! normal and curvature, and sizes.
//!
//! Everything is in the body's principal axes about its centre of mass. Some bodies of [`Shape`] are Σ|x_i/a_i|^p ≤ 1 with
//! p ≥ 2: convex, smooth, and symmetric about the centre, so h(−n) = h(n). Axes from 1e-100 to 1e100 and exponents from
//! 2 to 1000 neither overflow nor lose digits. The others have flats, edges and corners, and may be rounded: a [`Sharp`] body
//! grown by a ball. Shapes are not checked here: axes and radii must be positive and finite. Other bodies come in by the trait
//! [`Convex`].
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

mod cone;
mod convex;
mod cuboid;
mod cylinder;
mod ellipsoid;
mod half_space;
mod mass;
mod polyhedron;
mod rounded;
mod sharp;
pub mod single;
mod sphere;
mod superellipsoid;
mod third;
mod turned;

use nalgebra::{Matrix3, Unit, Vector3};

pub use cone::Cone;
pub use convex::Convex;
pub use mass::{MassProperties, mass_properties};
pub use polyhedron::Polyhedron;
pub(crate) use polyhedron::{Edge, Face, Hull};
pub use sharp::Sharp;
pub(crate) use sharp::{ALL_BUT_ACROSS, Ring};

/// A body's shape, in its own principal axes about its centre of mass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// No extent: only explicit contacts and joints touch it.
    Point,
    /// A ball.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// Σ (x_i/a_i)² ≤ 1.
    Ellipsoid {
        /// a, b, c.
        semi_axes: [f64; 3],
    },
    /// Σ |x_i/a_i|^p ≤ 1, p ≥ 2.
    Superellipsoid {
        /// a, b, c.
        semi_axes: [f64; 3],
        /// p.
        exponent: f64,
    },
    /// |x_i| ≤ a_i, grown by a ball.
    Box {
        /// a, b, c.
        half_extents: [f64; 3],
        /// The radius of the ball, zero for none.
        rounding: f64,
    },
    /// x² + y² ≤ R², |z| ≤ l, grown by a ball.
    Cylinder {
        /// R.
        radius: f64,
        /// l.
        half_length: f64,
        /// The radius of the ball, zero for none.
        rounding: f64,
    },
    /// A segment along z grown by a ball.
    Capsule {
        /// The radius of the ball.
        radius: f64,
        /// Half the length of the segment.
        half_length: f64,
    },
    /// A cone about z with the tip up, about its centre of mass.
    Cone(Cone),
    /// A disc across z, without thickness unless rounded.
    Disc {
        /// Its radius.
        radius: f64,
        /// The radius of the ball it is grown by, zero for none.
        rounding: f64,
    },
    /// A convex polyhedron, grown by a ball, about its centre of mass.
    Polyhedron(Polyhedron),
}

/// The exponents that scenes may have: 2 is an ellipsoid, below it the surface is not smooth, and far above it is a box to
/// the last digit.
pub const EXPONENTS: core::ops::RangeInclusive<f64> = 2.0..=1000.0;

/// A surface to second order about one of its points, in body axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Osculation {
    /// The point.
    pub point: Vector3<f64>,
    /// The outward unit normal n.
    pub normal: Vector3<f64>,
    /// The second fundamental form H, positive semidefinite, H n = 0.
    pub curvature: Matrix3<f64>,
}

/// An immovable half-space, free where normal · x > offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfSpace {
    /// The outward unit normal.
    pub normal: Unit<Vector3<f64>>,
    /// normal · x on the surface.
    pub offset: f64,
}

impl Shape {
    /// The volume V: 4πabc/3 for an ellipsoid, 8abc Γ(1+1/p)³/Γ(1+3/p) for a superellipsoid.
    #[must_use]
    pub fn volume(&self) -> f64 {
        match self.kind() {
            Kind::Point => 0.0,
            Kind::Sphere(r) => sphere::volume(r),
            Kind::Ellipsoid(a) => ellipsoid::volume(a),
            Kind::Superellipsoid(a, p) => superellipsoid::volume(a, p),
            Kind::Rounded(sharp, rounding) => match sharp {
                Sharp::Point => sphere::volume(rounding),
                Sharp::Box(a) => cuboid::volume(a, rounding),
                Sharp::Cylinder { radius, half_length } => cylinder::volume(radius, half_length, rounding),
                Sharp::Cone { radius, base, tip } => cone::volume(radius, tip - base, rounding),
                Sharp::Polyhedron(polyhedron) => polyhedron.volume(),
            },
        }
    }

    /// The principal moments of inertia of the homogeneous body of unit mass: I₁ = ⟨x₂²⟩ + ⟨x₃²⟩, cyclic, with
    /// ⟨x_i²⟩ = a_i² Γ(3/p)Γ(1+3/p)/[Γ(1/p)Γ(1+5/p)], which is a_i²/5 for an ellipsoid.
    #[must_use]
    pub fn unit_inertia(&self) -> Vector3<f64> {
        match self.kind() {
            Kind::Point => Vector3::zeros(),
            Kind::Sphere(r) => sphere::unit_inertia(r),
            Kind::Ellipsoid(a) => ellipsoid::unit_inertia(a),
            Kind::Superellipsoid(a, p) => superellipsoid::unit_inertia(a, p),
            Kind::Rounded(sharp, rounding) => match sharp {
                Sharp::Point => sphere::unit_inertia(rounding),
                Sharp::Box(a) => cuboid::unit_inertia(a, rounding),
                Sharp::Cylinder { radius, half_length } => {
                    cylinder::unit_inertia(radius, half_length, rounding)
                }
                Sharp::Cone { radius, base, tip } => cone::unit_inertia(radius, tip - base, rounding),
                Sharp::Polyhedron(polyhedron) => polyhedron.unit_inertia(),
            },
        }
    }

    /// The support function h(n) = max n·x over the body, for any n; homogeneous of degree one, and even but for cones and
    /// polyhedra.
    /// h(n) = (Σ(a_i|n_i|)^q)^{1/q} with 1/p + 1/q = 1.
    #[must_use]
    pub fn support_height(&self, n: &Vector3<f64>) -> f64 {
        match self.kind() {
            Kind::Point => 0.0,
            Kind::Sphere(r) => r * length(n),
            Kind::Ellipsoid(a) => ellipsoid::support_height(a, n),
            Kind::Superellipsoid(a, p) => superellipsoid::support_height(a, p, n),
            Kind::Rounded(sharp, 0.0) => sharp.height(n),
            Kind::Rounded(sharp, rounding) => sharp.height(n) + rounding * length(n),
        }
    }

    /// The point of the body farthest along n, s(n) = ∇h(n); n of any length but zero. h(n) = n·s(n). The middle one of the
    /// farthest, where n is the normal of a flat, of an edge or of a generator of the side.
    #[must_use]
    pub fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        match self.kind() {
            Kind::Point => Vector3::zeros(),
            Kind::Sphere(r) => sphere::support(r, n),
            Kind::Ellipsoid(a) => ellipsoid::support(a, n),
            Kind::Superellipsoid(a, p) => superellipsoid::support(a, p, n),
            Kind::Rounded(sharp, rounding) => rounded::support(&sharp, rounding, n),
        }
    }

    /// The Hessian of the support function, ∇²h(n): symmetric, ∇²h n = 0, and on the tangent plane of a unit n the
    /// inverse of the curvature, its eigenvalues the principal radii.
    ///
    /// For p > 2 it is infinite wherever a component of n is zero, because the surface is flat across the ring
    /// x_i = 0. There the entry is held at a finite value of the order a²/(ε h): Newton steps in n then vanish across
    /// the ring instead of becoming no number. The curvature from [`Shape::curvature`] is smooth there. Flats and edges, which
    /// face one n and make h jump in its slope there, have no part in it.
    #[must_use]
    pub fn support_hessian(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        self.support_and_hessian(n).1
    }

    /// [`Shape::support`] and [`Shape::support_hessian`] at once, for little more than the first alone.
    #[must_use]
    #[inline(always)]
    pub fn support_and_hessian(&self, n: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        match self.kind() {
            Kind::Point => (Vector3::zeros(), Matrix3::zeros()),
            Kind::Sphere(r) => sphere::support_and_hessian(r, n),
            Kind::Ellipsoid(a) => ellipsoid::support_and_hessian(a, n),
            Kind::Superellipsoid(a, p) => superellipsoid::support_and_hessian(a, p, n),
            Kind::Rounded(sharp, rounding) => {
                (rounded::support(&sharp, rounding, n), rounded::hessian(&sharp, rounding, n))
            }
        }
    }

    /// The gauge ‖x‖ = (Σ|x_i/a_i|^p)^{1/p}: below one inside, one on the surface, homogeneous of degree one. x/‖x‖
    /// lies on the surface. Infinite for a point, except at zero, and beside a disc.
    #[must_use]
    pub fn gauge(&self, x: &Vector3<f64>) -> f64 {
        match self.kind() {
            Kind::Point => {
                if *x == Vector3::zeros() {
                    0.0
                } else {
                    f64::INFINITY
                }
            }
            Kind::Sphere(r) => length(&(x / r)),
            Kind::Ellipsoid(a) => length(&x.component_div(&Vector3::from(a))),
            Kind::Superellipsoid(a, p) => superellipsoid::gauge(a, p, x),
            Kind::Rounded(sharp, rounding) => rounded::gauge(&sharp, rounding, x),
        }
    }

    /// The implicit function F(x) = Σ|x_i/a_i|^p − 1, or ‖x‖² − 1 of bodies that are not such a sum: negative inside, zero on the
    /// surface. It overflows to infinity far outside a body of large exponent; [`Shape::gauge`] does not.
    #[must_use]
    pub fn implicit(&self, x: &Vector3<f64>) -> f64 {
        let exponent = if let Kind::Superellipsoid(_, p) = self.kind() { p } else { 2.0 };
        // ‖x‖^p − 1 without losing the digits of a point close to the surface.
        libm::expm1(exponent * libm::log(self.gauge(x)))
    }

    /// The outward unit normal at the surface point on the ray through x ≠ 0.
    #[must_use]
    pub fn normal(&self, x: &Vector3<f64>) -> Vector3<f64> {
        self.osculate(x).normal
    }

    /// The second fundamental form at the surface point on the ray through x ≠ 0: positive semidefinite, zero along
    /// the normal, H = P ∇²F P/|∇F|. Moving by a tangent t turns the normal by H t. Zero across the rings x_i = 0
    /// where p > 2.
    #[must_use]
    pub fn curvature(&self, x: &Vector3<f64>) -> Matrix3<f64> {
        self.osculate(x).curvature
    }

    /// The surface point on the ray through x ≠ 0, with [`Shape::normal`] and [`Shape::curvature`].
    #[must_use]
    #[inline(always)]
    pub fn osculate(&self, x: &Vector3<f64>) -> Osculation {
        match self.kind() {
            Kind::Point => sphere::osculate(0.0, x),
            Kind::Sphere(r) => sphere::osculate(r, x),
            Kind::Ellipsoid(a) => ellipsoid::osculate(a, x),
            Kind::Superellipsoid(a, p) => superellipsoid::osculate(a, p, x),
            Kind::Rounded(sharp, rounding) => rounded::osculate(&sharp, rounding, x),
        }
    }

    /// The radius of the smallest ball about the centre that holds the body: (Σ a_i^{2s})^{1/2s}, s = p/(p−2); the
    /// longest semi-axis for an ellipsoid.
    #[must_use]
    pub fn circumradius(&self) -> f64 {
        match self.kind() {
            Kind::Point => 0.0,
            Kind::Sphere(r) => r,
            Kind::Ellipsoid(a) => a[0].max(a[1]).max(a[2]),
            Kind::Superellipsoid(a, p) => superellipsoid::circumradius(a, p),
            Kind::Rounded(sharp, rounding) => sharp.circumradius() + rounding,
        }
    }

    /// The radius of the largest ball about the centre inside the body: the shortest semi-axis, unless it is a cone or a polyhedron.
    #[must_use]
    pub fn inradius(&self) -> f64 {
        match self.kind() {
            Kind::Point => 0.0,
            Kind::Sphere(r) => r,
            Kind::Ellipsoid(a) | Kind::Superellipsoid(a, _) => a[0].min(a[1]).min(a[2]),
            Kind::Rounded(sharp, rounding) => sharp.inradius() + rounding,
        }
    }

    /// A radius such that a ball of it rolls all over the inside of the surface (Blaschke): at most the least radius
    /// of curvature, min a²/max a, for an ellipsoid; a positive lower bound of it for a superellipsoid; the rounding of a body
    /// with edges.
    #[must_use]
    pub fn rolling_radius(&self) -> f64 {
        match self.kind() {
            Kind::Point => 0.0,
            Kind::Sphere(r) => r,
            Kind::Ellipsoid(a) => ellipsoid::rolling_radius(a),
            Kind::Superellipsoid(a, p) => superellipsoid::rolling_radius(a, p),
            Kind::Rounded(_, rounding) => rounding,
        }
    }

    /// The same shape, larger by a factor.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match *self {
            Self::Point => Self::Point,
            Self::Sphere { radius } => Self::Sphere { radius: radius * factor },
            Self::Ellipsoid { semi_axes } => Self::Ellipsoid { semi_axes: semi_axes.map(|a| a * factor) },
            Self::Superellipsoid { semi_axes, exponent } => {
                Self::Superellipsoid { semi_axes: semi_axes.map(|a| a * factor), exponent }
            }
            Self::Box { half_extents, rounding } => {
                Self::Box { half_extents: half_extents.map(|a| a * factor), rounding: rounding * factor }
            }
            Self::Cylinder { radius, half_length, rounding } => Self::Cylinder {
                radius: radius * factor,
                half_length: half_length * factor,
                rounding: rounding * factor,
            },
            Self::Capsule { radius, half_length } => {
                Self::Capsule { radius: radius * factor, half_length: half_length * factor }
            }
            Self::Cone(cone) => Self::Cone(cone.scaled(factor)),
            Self::Disc { radius, rounding } => {
                Self::Disc { radius: radius * factor, rounding: rounding * factor }
            }
            Self::Polyhedron(polyhedron) => Self::Polyhedron(polyhedron.scaled(factor)),
        }
    }

    /// The body as a sharp one grown by a ball, if it is that: all but ellipsoids and superellipsoids.
    #[must_use]
    pub fn sharp(&self) -> Option<(Sharp, f64)> {
        match *self {
            Self::Point => Some((Sharp::Point, 0.0)),
            Self::Sphere { radius } => Some((Sharp::Point, radius)),
            Self::Ellipsoid { .. } | Self::Superellipsoid { .. } => None,
            Self::Box { half_extents, rounding } => Some((Sharp::Box(half_extents), rounding)),
            Self::Cylinder { radius, half_length, rounding } => {
                Some((Sharp::Cylinder { radius, half_length }, rounding))
            }
            Self::Capsule { radius, half_length } => {
                Some((Sharp::Cylinder { radius: 0.0, half_length }, radius))
            }
            Self::Cone(cone) => Some((cone.sharp(), cone.rounding())),
            Self::Disc { radius, rounding } => Some((Sharp::Cylinder { radius, half_length: 0.0 }, rounding)),
            Self::Polyhedron(polyhedron) => Some((Sharp::Polyhedron(polyhedron), polyhedron.rounding())),
        }
    }

    /// Whether the body has flats, edges or corners, rounded or not: it can touch another in more than one point, feature by feature
    /// ([`crate::contact::feature`]).
    #[must_use]
    pub const fn has_flats(&self) -> bool {
        matches!(
            self,
            Self::Box { .. }
                | Self::Cylinder { .. }
                | Self::Capsule { .. }
                | Self::Cone(_)
                | Self::Disc { .. }
                | Self::Polyhedron(_)
        )
    }

    /// A superellipsoid of exponent two is computed as the ellipsoid it is, to the bit.
    fn kind(&self) -> Kind {
        match *self {
            Self::Point => Kind::Point,
            Self::Sphere { radius } => Kind::Sphere(radius),
            Self::Ellipsoid { semi_axes } => Kind::Ellipsoid(semi_axes),
            Self::Superellipsoid { semi_axes, exponent } if exponent <= 2.0 => Kind::Ellipsoid(semi_axes),
            Self::Superellipsoid { semi_axes, exponent } => Kind::Superellipsoid(semi_axes, exponent),
            Self::Box { half_extents, rounding } => Kind::Rounded(Sharp::Box(half_extents), rounding),
            Self::Cylinder { radius, half_length, rounding } => {
                Kind::Rounded(Sharp::Cylinder { radius, half_length }, rounding)
            }
            Self::Capsule { radius, half_length } => {
                Kind::Rounded(Sharp::Cylinder { radius: 0.0, half_length }, radius)
            }
            Self::Cone(cone) => Kind::Rounded(cone.sharp(), cone.rounding()),
            Self::Disc { radius, rounding } => {
                Kind::Rounded(Sharp::Cylinder { radius, half_length: 0.0 }, rounding)
            }
            Self::Polyhedron(polyhedron) => {
                Kind::Rounded(Sharp::Polyhedron(polyhedron), polyhedron.rounding())
            }
        }
    }
}

impl Convex for Shape {
    fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        self.support(n)
    }

    fn support_hessian(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        self.support_hessian(n)
    }

    fn circumradius(&self) -> f64 {
        self.circumradius()
    }

    fn inradius(&self) -> f64 {
        self.inradius()
    }

    fn support_height(&self, n: &Vector3<f64>) -> f64 {
        self.support_height(n)
    }

    #[inline(always)]
    fn support_and_hessian(&self, n: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        self.support_and_hessian(n)
    }

    #[inline(always)]
    fn osculate(&self, x: &Vector3<f64>) -> Osculation {
        self.osculate(x)
    }

    fn gauge(&self, x: &Vector3<f64>) -> f64 {
        self.gauge(x)
    }

    fn rolling_radius(&self) -> f64 {
        self.rolling_radius()
    }

    /// For an ellipsoid |s×n|² is the variance over the mean of a² under the weights n_i²: at most (max a − min a)².
    fn lever(&self) -> f64 {
        match self.kind() {
            Kind::Point | Kind::Sphere(_) => 0.0,
            Kind::Ellipsoid(_) => self.circumradius() - self.inradius(),
            // The rounding has no lever.
            Kind::Rounded(sharp, _) => {
                let (far, near) = (sharp.circumradius(), sharp.inradius());
                libm::sqrt((far - near) * (far + near))
            }
            Kind::Superellipsoid(..) => {
                let (far, near) = (self.circumradius(), self.inradius());
                libm::sqrt((far - near) * (far + near))
            }
        }
    }

    fn ball(&self) -> Option<f64> {
        match *self {
            Self::Point => Some(0.0),
            Self::Sphere { radius } => Some(radius),
            _ => None,
        }
    }

    /// The longest semi-axis, or half-length.
    fn size(&self) -> f64 {
        match *self {
            Self::Box { half_extents: [a, b, c], rounding } => a.max(b).max(c) + rounding,
            Self::Cylinder { radius, half_length, rounding } => radius.max(half_length) + rounding,
            Self::Capsule { radius, half_length } => radius + half_length,
            Self::Cone(_) | Self::Polyhedron(_) => self.circumradius(),
            Self::Disc { radius, rounding } => radius + rounding,
            Self::Point => 0.0,
            Self::Sphere { radius } => radius,
            Self::Ellipsoid { semi_axes: [a, b, c] } | Self::Superellipsoid { semi_axes: [a, b, c], .. } => {
                a.max(b).max(c)
            }
        }
    }

    fn is_symmetric(&self) -> bool {
        !matches!(self, Self::Cone(_) | Self::Polyhedron(_))
    }

    fn exponent(&self) -> f64 {
        if let Kind::Superellipsoid(_, p) = self.kind() { p } else { 2.0 }
    }

    fn superellipsoid(&self) -> Option<([f64; 3], f64)> {
        match self.kind() {
            Kind::Point => None,
            Kind::Sphere(r) => Some(([r; 3], 2.0)),
            Kind::Ellipsoid(a) => Some((a, 2.0)),
            Kind::Superellipsoid(a, p) => Some((a, p)),
            Kind::Rounded(..) => None,
        }
    }

    fn sharp(&self) -> Option<(Sharp, f64)> {
        self.sharp()
    }

    fn rounded(&self, exponent: f64) -> Option<Self> {
        match *self {
            Self::Superellipsoid { semi_axes, exponent: own } => {
                Some(Self::Superellipsoid { semi_axes, exponent: own.min(exponent) })
            }
            _ => None,
        }
    }
}

/// Which formulas a shape is computed by.
enum Kind {
    Point,
    Sphere(f64),
    Ellipsoid([f64; 3]),
    Superellipsoid([f64; 3], f64),
    Rounded(Sharp, f64),
}

/// P diag(d) P with P the projection across a unit n, written out.
#[inline(always)]
fn across(d: &Vector3<f64>, n: &Vector3<f64>) -> Matrix3<f64> {
    let bent = d.component_mul(n);
    let along = bent.dot(n);
    let half = bent - n * (0.5 * along);
    let entry = |i: usize, j: usize| -(half[i] * n[j] + half[j] * n[i]);
    let (xy, yz, zx) = (entry(0, 1), entry(1, 2), entry(2, 0));
    Matrix3::new(d.x + entry(0, 0), xy, zx, xy, d.y + entry(1, 1), yz, zx, yz, d.z + entry(2, 2))
}

/// |x| without overflow or underflow of the squares.
pub(crate) fn length(x: &Vector3<f64>) -> f64 {
    let scale = x.amax();
    if scale == 0.0 { 0.0 } else { libm::sqrt((x / scale).norm_squared()) * scale }
}

/// x/|x|, and zero for zero.
pub(crate) fn unit(x: &Vector3<f64>) -> Vector3<f64> {
    let scale = x.amax();
    if scale == 0.0 {
        return Vector3::zeros();
    }
    let y = x / scale;
    y / libm::sqrt(y.norm_squared())
}

/// Two unit vectors that complete a unit n to a right-handed frame (Duff et al. 2017), without branches in direction.
pub(crate) fn tangents(n: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let sign = 1.0_f64.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    [
        Vector3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x),
        Vector3::new(b, sign + n.y * n.y * a, -n.y),
    ]
}
