//! Two bodies as one: the difference of the second, at its place, and the first. Its point next to the origin is the gap.

use nalgebra::{Matrix3, Vector3};

use crate::shape::{Convex, Ring, Sharp};

/// A body without its rounding, turned but not placed: vectors from its centre, in world axes, in units of a scale.
pub struct Side<'a, S> {
    form: Form<'a, S>,
    axes: Matrix3<f64>,
    unit: f64,
}

enum Form<'a, S> {
    /// In units of the scale.
    Sharp(Sharp),
    Smooth(&'a S),
}

/// A point of the difference: Q − P, with both.
#[derive(Clone, Copy)]
pub(super) struct Vertex {
    pub apart: Vector3<f64>,
    pub points: [Vector3<f64>; 2],
}

impl Vertex {
    pub const NOTHING: Self = Self {
        apart: Vector3::new(0.0, 0.0, 0.0),
        points: [Vector3::new(0.0, 0.0, 0.0), Vector3::new(0.0, 0.0, 0.0)],
    };
}

pub(super) struct Difference<'a, A, B> {
    pub one: &'a Side<'a, A>,
    pub two: &'a Side<'a, B>,
    /// From the first centre to the second.
    pub offset: &'a Vector3<f64>,
    /// The rounding of f, and of what faces a direction.
    pub slack: f64,
}

impl<'a, S: Convex> Side<'a, S> {
    /// Smooth if there is no sharp body.
    pub fn new(shape: &'a S, sharp: Option<Sharp>, axes: Matrix3<f64>, scale: f64) -> Self {
        let unit = scale.recip();
        let form = sharp.map_or(Form::Smooth(shape), |sharp| Form::Sharp(sharp.scaled(unit)));
        Self { form, axes, unit }
    }

    pub(super) fn height(&self, n: &Vector3<f64>) -> f64 {
        let n = self.axes.tr_mul(n);
        match &self.form {
            Form::Sharp(sharp) => sharp.height(&n),
            Form::Smooth(shape) => shape.support_height(&n) * self.unit,
        }
    }

    pub(super) fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        let n = self.axes.tr_mul(n);
        self.axes
            * match &self.form {
                Form::Sharp(sharp) => sharp.support(&n),
                Form::Smooth(shape) => shape.support(&n) * self.unit,
            }
    }

    /// The support point and ∇²h, where h is smooth.
    pub(super) fn support_and_hessian(&self, n: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        let n = self.axes.tr_mul(n);
        let (point, hessian) = match &self.form {
            Form::Sharp(sharp) => (sharp.support(&n), sharp.hessian(&n)),
            Form::Smooth(shape) => {
                let (point, hessian) = shape.support_and_hessian(&n);
                (point * self.unit, hessian * self.unit)
            }
        };
        (self.axes * point, self.axes * hessian * self.axes.transpose())
    }

    /// Of what is exposed to n within a slack, a point farthest along d.
    pub(super) fn farthest_of_face(
        &self,
        n: &Vector3<f64>,
        slack: f64,
        segments: bool,
        d: &Vector3<f64>,
    ) -> Vector3<f64> {
        let (n, d) = (self.axes.tr_mul(n), self.axes.tr_mul(d));
        self.axes
            * match &self.form {
                Form::Sharp(sharp) => sharp.farthest_of_face(&n, slack, segments, &d),
                Form::Smooth(shape) => shape.support(&n) * self.unit,
            }
    }

    pub(super) fn each_face(&self, n: &Vector3<f64>, within: f64, mut visit: impl FnMut(Vector3<f64>)) {
        if let Form::Sharp(sharp) = &self.form {
            sharp.each_face(&self.axes.tr_mul(n), within, |normal| visit(self.axes * normal));
        }
    }

    pub(super) fn each_ring(&self, n: &Vector3<f64>, within: f64, mut visit: impl FnMut(Ring)) {
        if let Form::Sharp(sharp) = &self.form {
            sharp.each_ring(&self.axes.tr_mul(n), within, |ring| {
                visit(Ring { axis: self.axes * ring.axis, anchor: self.axes * ring.anchor, ..ring });
            });
        }
    }

    /// The last flat disc whose normal is within a distance of n: normal, centre and radius.
    pub(super) fn disc(&self, n: &Vector3<f64>, within: f64) -> Option<(Vector3<f64>, Vector3<f64>, f64)> {
        let mut found = None;
        if let Form::Sharp(sharp) = &self.form {
            sharp.each_disc(&self.axes.tr_mul(n), within, |normal, centre, radius| {
                found = Some((self.axes * normal, self.axes * centre, radius));
            });
        }
        found
    }

    fn reach(&self) -> f64 {
        match &self.form {
            Form::Sharp(sharp) => sharp.circumradius(),
            Form::Smooth(shape) => shape.size() * self.unit,
        }
    }
}

impl<'a, A: Convex, B: Convex> Difference<'a, A, B> {
    pub fn new(one: &'a Side<'a, A>, two: &'a Side<'a, B>, offset: &'a Vector3<f64>) -> Self {
        let slack = 8.0 * f64::EPSILON * (one.reach() + two.reach() + offset.amax());
        Self { one, two, offset, slack }
    }

    /// f(n).
    pub fn value(&self, n: &Vector3<f64>) -> f64 {
        n.dot(self.offset) - self.one.height(n) - self.two.height(&-n)
    }

    /// The point of the difference that is least along n.
    pub fn vertex(&self, n: &Vector3<f64>) -> Vertex {
        self.joined(self.one.support(n), self.two.support(&-n))
    }

    /// Of what faces n, a point that is least along d.
    pub fn vertex_of_face(&self, n: &Vector3<f64>, segments: bool, d: &Vector3<f64>) -> Vertex {
        self.joined(
            self.one.farthest_of_face(n, self.slack, segments, d),
            self.two.farthest_of_face(&-n, self.slack, segments, &-d),
        )
    }

    fn joined(&self, p: Vector3<f64>, q: Vector3<f64>) -> Vertex {
        Vertex { apart: self.offset + q - p, points: [p, q] }
    }
}
