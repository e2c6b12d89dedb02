//! Shape classes: the shape and inverse mass that many bodies share, with the constants that searches need.
//!
//! Radii and lever arms take powers to compute; here they are computed once per class.

use std::collections::HashMap;

use nalgebra::{Matrix3, Vector3};

use super::index;
use crate::body::Body;
use crate::shape::{Convex, Osculation, Shape, Sharp};

/// A shape and an inverse mass, with constants derived from them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ShapeClass {
    pub shape: Shape,
    /// Zero if the body is fixed.
    pub inverse_mass: f64,
    /// Whether it is a sphere or a point.
    pub is_sphere: bool,
    /// Whether the body can touch anything; points cannot.
    pub can_collide: bool,
    circumradius: f64,
    inradius: f64,
    rolling_radius: f64,
    pub lever: f64,
    /// The squares of the semi-axes, or of half the extents.
    pub squared_semi_axes: Vector3<f64>,
}

impl ShapeClass {
    pub fn is_fixed(&self) -> bool {
        self.inverse_mass == 0.0
    }

    fn new(shape: &Shape, inverse_mass: f64) -> Self {
        Self {
            shape: *shape,
            inverse_mass,
            is_sphere: matches!(shape, Shape::Sphere { .. } | Shape::Point),
            can_collide: *shape != Shape::Point,
            circumradius: shape.circumradius(),
            inradius: shape.inradius(),
            rolling_radius: shape.rolling_radius(),
            lever: shape.lever(),
            squared_semi_axes: match *shape {
                Shape::Box { half_extents, rounding } => {
                    Vector3::from(half_extents.map(|a| (a + rounding) * (a + rounding)))
                }
                Shape::Cylinder { .. } | Shape::Capsule { .. } | Shape::Cone(_) | Shape::Disc { .. } => {
                    let reach =
                        |n: &Vector3<f64>| 0.5 * (shape.support_height(n) + shape.support_height(&-n));
                    let (wide, high) = (reach(&Vector3::x()), reach(&Vector3::z()));
                    // A disc without thickness has a direction too.
                    let high = high.max(1e-3 * wide);
                    Vector3::new(wide * wide, wide * wide, high * high)
                }
                Shape::Polyhedron(_) => Vector3::from_fn(|i, _| {
                    let mut n = Vector3::zeros();
                    n[i] = 1.0;
                    let reach = 0.5 * (shape.support_height(&n) + shape.support_height(&-n));
                    reach * reach
                }),
                Shape::Point => Vector3::zeros(),
                Shape::Sphere { radius } => Vector3::repeat(radius * radius),
                Shape::Ellipsoid { semi_axes } | Shape::Superellipsoid { semi_axes, .. } => {
                    Vector3::from(semi_axes.map(|a| a * a))
                }
            },
        }
    }
}

/// The shape classes of some bodies, and the class of each body.
pub(super) fn classify(bodies: &[Body]) -> (Vec<ShapeClass>, Vec<u32>) {
    let mut classes = Vec::new();
    let mut known = HashMap::new();
    let class_of = bodies
        .iter()
        .map(|body| {
            let inverse_mass = if body.fixed { 0.0 } else { body.mass.recip() };
            *known.entry((key(&body.shape), inverse_mass.to_bits())).or_insert_with(|| {
                classes.push(ShapeClass::new(&body.shape, inverse_mass));
                index(classes.len() - 1)
            })
        })
        .collect();
    (classes, class_of)
}

/// The parameters of a shape, bit by bit.
fn key(shape: &Shape) -> [u64; 5] {
    let numbers =
        |kind: u64, [a, b, c]: [f64; 3], p: f64| [kind, a.to_bits(), b.to_bits(), c.to_bits(), p.to_bits()];
    match *shape {
        Shape::Point => numbers(0, [0.0; 3], 0.0),
        Shape::Sphere { radius } => numbers(1, [radius; 3], 0.0),
        Shape::Ellipsoid { semi_axes } => numbers(2, semi_axes, 2.0),
        Shape::Superellipsoid { semi_axes, exponent } => numbers(3, semi_axes, exponent),
        Shape::Box { half_extents, rounding } => numbers(4, half_extents, rounding),
        Shape::Cylinder { radius, half_length, rounding } => numbers(5, [radius, half_length, 0.0], rounding),
        Shape::Capsule { radius, half_length } => numbers(6, [radius, half_length, 0.0], 0.0),
        Shape::Cone(cone) => numbers(7, [cone.radius(), cone.height(), 0.0], cone.rounding()),
        Shape::Disc { radius, rounding } => numbers(8, [radius, 0.0, 0.0], rounding),
        Shape::Polyhedron(polyhedron) => {
            numbers(9, [f64::from(polyhedron.number()), polyhedron.scale(), 0.0], 0.0)
        }
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
        self.rolling_radius
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

    fn sharp(&self) -> Option<(Sharp, f64)> {
        self.shape.sharp()
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
