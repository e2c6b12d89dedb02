//! Ellipsoids and superellipsoids as types of their own, with their sizes worked out beforehand: for loops that are compiled for one kind of
//! body. To the bit what [`Shape`] makes of the same body.

use nalgebra::{Matrix3, Vector3};

use super::{Convex, Osculation, Shape, ellipsoid, superellipsoid};

/// The sizes of a body that [`Convex`] asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizes {
    /// [`Convex::circumradius`].
    pub circumradius: f64,
    /// [`Convex::inradius`].
    pub inradius: f64,
    /// [`Convex::rolling_radius`].
    pub rolling_radius: f64,
    /// [`Convex::lever`].
    pub lever: f64,
    /// [`Convex::size`].
    pub size: f64,
}

impl Sizes {
    /// Of a shape.
    #[must_use]
    pub fn of(shape: &Shape) -> Self {
        Self {
            circumradius: shape.circumradius(),
            inradius: shape.inradius(),
            rolling_radius: shape.rolling_radius(),
            lever: shape.lever(),
            size: shape.size(),
        }
    }
}

/// Σ (x_i/a_i)² ≤ 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ellipsoid {
    /// a, b, c.
    pub semi_axes: [f64; 3],
    /// Its sizes.
    pub sizes: Sizes,
}

/// Σ |x_i/a_i|^p ≤ 1, p > 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Superellipsoid {
    /// a, b, c.
    pub semi_axes: [f64; 3],
    /// p.
    pub exponent: f64,
    /// Its sizes.
    pub sizes: Sizes,
}

/// A kind of body with a type of its own.
pub trait Single: Convex + Copy {
    /// A shape of this kind, with its sizes; none if it is of another.
    fn of(shape: &Shape, sizes: Sizes) -> Option<Self>;
}

impl Single for Ellipsoid {
    fn of(shape: &Shape, sizes: Sizes) -> Option<Self> {
        match *shape {
            Shape::Ellipsoid { semi_axes } => Some(Self { semi_axes, sizes }),
            Shape::Superellipsoid { semi_axes, exponent } if exponent <= 2.0 => {
                Some(Self { semi_axes, sizes })
            }
            _ => None,
        }
    }
}

impl Single for Superellipsoid {
    fn of(shape: &Shape, sizes: Sizes) -> Option<Self> {
        match *shape {
            Shape::Superellipsoid { semi_axes, exponent } if exponent > 2.0 => {
                Some(Self { semi_axes, exponent, sizes })
            }
            _ => None,
        }
    }
}

impl Convex for Ellipsoid {
    fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        ellipsoid::support(self.semi_axes, n)
    }

    fn support_hessian(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        ellipsoid::support_and_hessian(self.semi_axes, n).1
    }

    fn circumradius(&self) -> f64 {
        self.sizes.circumradius
    }

    fn inradius(&self) -> f64 {
        self.sizes.inradius
    }

    fn support_height(&self, n: &Vector3<f64>) -> f64 {
        ellipsoid::support_height(self.semi_axes, n)
    }

    #[inline(always)]
    fn support_and_hessian(&self, n: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        ellipsoid::support_and_hessian(self.semi_axes, n)
    }

    fn osculate(&self, x: &Vector3<f64>) -> Osculation {
        ellipsoid::osculate(self.semi_axes, x)
    }

    fn gauge(&self, x: &Vector3<f64>) -> f64 {
        super::length(&x.component_div(&Vector3::from(self.semi_axes)))
    }

    fn rolling_radius(&self) -> f64 {
        self.sizes.rolling_radius
    }

    fn lever(&self) -> f64 {
        self.sizes.lever
    }

    fn size(&self) -> f64 {
        self.sizes.size
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn superellipsoid(&self) -> Option<([f64; 3], f64)> {
        Some((self.semi_axes, 2.0))
    }
}

impl Convex for Superellipsoid {
    fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        superellipsoid::support(self.semi_axes, self.exponent, n)
    }

    fn support_hessian(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        superellipsoid::support_and_hessian(self.semi_axes, self.exponent, n).1
    }

    fn circumradius(&self) -> f64 {
        self.sizes.circumradius
    }

    fn inradius(&self) -> f64 {
        self.sizes.inradius
    }

    fn support_height(&self, n: &Vector3<f64>) -> f64 {
        superellipsoid::support_height(self.semi_axes, self.exponent, n)
    }

    fn support_and_hessian(&self, n: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        superellipsoid::support_and_hessian(self.semi_axes, self.exponent, n)
    }

    fn osculate(&self, x: &Vector3<f64>) -> Osculation {
        superellipsoid::osculate(self.semi_axes, self.exponent, x)
    }

    fn gauge(&self, x: &Vector3<f64>) -> f64 {
        superellipsoid::gauge(self.semi_axes, self.exponent, x)
    }

    fn rolling_radius(&self) -> f64 {
        self.sizes.rolling_radius
    }

    fn lever(&self) -> f64 {
        self.sizes.lever
    }

    fn size(&self) -> f64 {
        self.sizes.size
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn exponent(&self) -> f64 {
        self.exponent
    }

    fn superellipsoid(&self) -> Option<([f64; 3], f64)> {
        Some((self.semi_axes, self.exponent))
    }
}
