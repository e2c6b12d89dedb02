//! Shapes with their constants, shared by all bodies of one kind: of one shape and one mass.
//!
//! What the search asks of a shape each time, its radii and its lever, takes powers to work out; here it is worked out once.

use std::collections::HashMap;

use nalgebra::{Matrix3, Vector3};

use super::index;
use crate::body::Body;
use crate::shape::{Convex, Osculation, Shape};

/// A shape with its constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ShapeClass {
    pub shape: Shape,
    /// Zero of what is fixed.
    pub inverse_mass: f64,
    /// Whether it is a ball.
    pub is_ball: bool,
    /// Whether it can touch anything.
    pub can_collide: bool,
    circumradius: f64,
    inradius: f64,
    rolling: f64,
    pub lever: f64,
    /// Of the ellipsoid with its semi-axes.
    pub squares: Vector3<f64>,
}

impl ShapeClass {
    pub fn is_fixed(&self) -> bool {
        self.inverse_mass == 0.0
    }

    fn new(shape: &Shape, inverse_mass: f64) -> Self {
        Self {
            shape: *shape,
            inverse_mass,
            is_ball: matches!(shape, Shape::Sphere { .. } | Shape::Point),
            can_collide: *shape != Shape::Point,
            circumradius: shape.circumradius(),
            inradius: shape.inradius(),
            rolling: shape.rolling_radius(),
            lever: shape.lever(),
            squares: match *shape {
                Shape::Point => Vector3::zeros(),
                Shape::Sphere { radius } => Vector3::repeat(radius * radius),
                Shape::Ellipsoid { semi_axes } | Shape::Superellipsoid { semi_axes, .. } => {
                    Vector3::from(semi_axes.map(|a| a * a))
                }
            },
        }
    }
}

/// The kinds among the bodies, and each body's.
pub(super) fn kinds(bodies: &[Body]) -> (Vec<ShapeClass>, Vec<u32>) {
    let mut shape_classes = Vec::new();
    let mut known = HashMap::new();
    let kinds = bodies
        .iter()
        .map(|body| {
            let inverse_mass = if body.fixed { 0.0 } else { body.mass.recip() };
            *known.entry((key(&body.shape), inverse_mass.to_bits())).or_insert_with(|| {
                shape_classes.push(ShapeClass::new(&body.shape, inverse_mass));
                index(shape_classes.len() - 1)
            })
        })
        .collect();
    (shape_classes, kinds)
}

/// The numbers of a shape, to the bit.
fn key(shape: &Shape) -> [u64; 5] {
    let numbers =
        |kind: u64, [a, b, c]: [f64; 3], p: f64| [kind, a.to_bits(), b.to_bits(), c.to_bits(), p.to_bits()];
    match *shape {
        Shape::Point => numbers(0, [0.0; 3], 0.0),
        Shape::Sphere { radius } => numbers(1, [radius; 3], 0.0),
        Shape::Ellipsoid { semi_axes } => numbers(2, semi_axes, 2.0),
        Shape::Superellipsoid { semi_axes, exponent } => numbers(3, semi_axes, exponent),
    }
}

impl Convex for ShapeClass {
    fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        self.shape.support(n)
    }

    fn support_hessian(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        self.shape.support_hessian(n)
    }

    fn circumradius(&self) -> f64 {
        self.circumradius
    }

    fn inradius(&self) -> f64 {
        self.inradius
    }

    fn support_height(&self, n: &Vector3<f64>) -> f64 {
        self.shape.support_height(n)
    }

    #[inline(always)]
    fn support_and_hessian(&self, n: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        self.shape.support_and_hessian(n)
    }

    #[inline(always)]
    fn osculate(&self, x: &Vector3<f64>) -> Osculation {
        self.shape.osculate(x)
    }

    fn gauge(&self, x: &Vector3<f64>) -> f64 {
        self.shape.gauge(x)
    }

    fn rolling_radius(&self) -> f64 {
        self.rolling
    }

    fn lever(&self) -> f64 {
        self.lever
    }

    fn ball(&self) -> Option<f64> {
        self.shape.ball()
    }

    fn size(&self) -> f64 {
        self.shape.size()
    }

    fn is_symmetric(&self) -> bool {
        self.shape.is_symmetric()
    }

    fn exponent(&self) -> f64 {
        self.shape.exponent()
    }

    fn superellipsoid(&self) -> Option<([f64; 3], f64)> {
        self.shape.superellipsoid()
    }

    fn rounded(&self, exponent: f64) -> Option<Self> {
        self.shape.rounded(exponent).map(|shape| Self::new(&shape, self.inverse_mass))
    }
}
