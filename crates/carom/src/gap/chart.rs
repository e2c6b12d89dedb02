//! Coordinates on a surface in which neither the point nor the normal is steep.
//!
//! Where a body is flat its normal says nothing about the point, and where it is sharp, as the tip of a needle, the
//! rounded point says nothing about the normal. A superellipsoid Σ|x_i/a_i|^p = 1 can be both at once, along an edge and
//! across it. With u_i = x_i/a_i,
//!
//! ```text
//! w_i = σ_i |u_i|^{p−1},   Σ u_i w_i = 1,   x_i = a_i u_i,   n ∝ (w_i/a_i)
//! ```
//!
//! and for large p the graph of w over u is shaped like an L. Minty's coordinate τ goes along u up to a knee, and along w
//! beyond it:
//!
//! ```text
//! τ = u where |u| ≤ u*,   τ = σ (u* + (|w| − w*)/s) beyond,   w* = u*^{p−1},   (p−1) u*^{p−2} = s = a_i/max a
//! ```
//!
//! It is continuously differentiable; per unit of τ neither x nor n, in proportion to the longest axis, changes by more than one
//! does. Whichever of u and w it goes along is kept, and changed by adding to it: so x and n keep the digits of every component.
//!
//! Other bodies have their normal for coordinates, or the ray through the point if they are flat somewhere.

use nalgebra::{Vector2, Vector3};

use super::Turned;
use crate::shape::{Convex, length, tangents, unit};

/// A place on a surface.
#[derive(Clone, Copy)]
pub(super) enum Chart {
    /// On a superellipsoid.
    Graph(Graph),
    /// By its outward unit normal.
    Normal(Vector3<f64>),
    /// By the ray that it lies on.
    Ray(Vector3<f64>),
}

/// A surface about a place, to first order in two coordinates; in world axes, from the body's centre.
#[derive(Clone, Copy)]
pub(super) struct Patch {
    pub point: Vector3<f64>,
    /// The outward unit normal.
    pub normal: Vector3<f64>,
    /// The derivatives of the point and of the normal.
    pub point_rates: [Vector3<f64>; 2],
    pub normal_rates: [Vector3<f64>; 2],
}

impl Chart {
    /// Near a normal; along flats, near a point from the centre.
    pub fn new<S: Convex>(body: &Turned<S>, normal: &Vector3<f64>, point: &Vector3<f64>) -> Option<Self> {
        match body.shape.superellipsoid() {
            Some((axes, exponent)) => {
                let local = [normal, point].map(|v| body.axes.tr_mul(v));
                Graph::new(axes.map(|a| a * body.unit), exponent, &local[0], &local[1]).map(Self::Graph)
            }
            None if body.shape.exponent() <= 2.0 => Some(Self::Normal(unit(normal))),
            None => Some(Self::Ray(*point)),
        }
    }

    pub fn patch<S: Convex>(&self, body: &Turned<S>) -> Patch {
        match self {
            Self::Graph(graph) => {
                let local = graph.patch();
                Patch {
                    point: body.axes * local.point,
                    normal: body.axes * local.normal,
                    point_rates: local.point_rates.map(|v| body.axes * v),
                    normal_rates: local.normal_rates.map(|v| body.axes * v),
                }
            }
            Self::Normal(normal) => {
                let (point, hessian) = body.facing(normal);
                let basis = tangents(normal);
                let point_rates = basis.map(|t| body.axes * (hessian * body.axes.tr_mul(&t)));
                Patch { point, normal: *normal, point_rates, normal_rates: basis }
            }
            Self::Ray(ray) => {
                let surface = body.osculate(ray);
                let basis = tangents(&surface.normal);
                let normal_rates = basis.map(|t| body.axes * (surface.curvature * body.axes.tr_mul(&t)));
                Patch { point: surface.point, normal: surface.normal, point_rates: basis, normal_rates }
            }
        }
    }

    /// How long a step is, of a scale on which the surface changes beyond recognition.
    pub fn strides<S: Convex>(&self, body: &Turned<S>, step: &Vector2<f64>) -> f64 {
        match self {
            Self::Graph(graph) => graph.strides(step),
            Self::Normal(_) => step.norm(),
            Self::Ray(_) => step.norm() / body.size,
        }
    }

    /// The place a step away; `None` where the step leaves all that is known of the surface.
    pub fn moved<S: Convex>(&self, body: &Turned<S>, step: &Vector2<f64>) -> Option<Self> {
        match self {
            Self::Graph(graph) => graph.moved(step).map(Self::Graph),
            Self::Normal(normal) => {
                let basis = tangents(normal);
                Some(Self::Normal(unit(&(normal + basis[0] * step.x + basis[1] * step.y))))
            }
            Self::Ray(ray) => {
                let surface = body.osculate(ray);
                let basis = tangents(&surface.normal);
                Some(Self::Ray(surface.point + basis[0] * step.x + basis[1] * step.y))
            }
        }
    }
}

/// A place on Σ|x_i/a_i|^p = 1, in the body's axes.
#[derive(Clone, Copy)]
pub(super) struct Graph {
    axes: [f64; 3],
    exponent: f64,
    knees: [Knee; 3],
    /// With their signs.
    u: [f64; 3],
    w: [f64; 3],
    /// Whether τ goes along u.
    flat: [bool; 3],
}

/// Where τ turns from u to w, and dw/dτ from there on.
#[derive(Clone, Copy)]
struct Knee {
    u: f64,
    w: f64,
    slope: f64,
}

impl Knee {
    /// Of an axis that is `thinness` times shorter than the longest. Close to an ellipsoid the graph has no flat part, and τ is
    /// along w.
    fn new(exponent: f64, thinness: f64) -> Self {
        let beyond = exponent - 2.0;
        let u =
            if beyond < 1e-8 { 0.0 } else { libm::exp((libm::log(thinness) - libm::log1p(beyond)) / beyond) };
        Self { u, w: u * thinness / (exponent - 1.0), slope: thinness }
    }

    /// |w| where |τ| is beyond the knee.
    fn beyond(&self, tau: f64) -> f64 {
        self.w + self.slope * (tau - self.u)
    }
}

impl Graph {
    fn new(axes: [f64; 3], exponent: f64, normal: &Vector3<f64>, point: &Vector3<f64>) -> Option<Self> {
        let longest = axes[0].max(axes[1]).max(axes[2]);
        let knees = axes.map(|a| Knee::new(exponent, a / longest));
        let y: [f64; 3] = core::array::from_fn(|i| axes[i] * normal[i]);
        let most = y[0].abs().max(y[1].abs()).max(y[2].abs());
        // Σ|w|^q = 1.
        let conjugate = exponent / (exponent - 1.0);
        let sum: f64 = y.iter().map(|y| libm::pow(y.abs() / most, conjugate)).sum();
        let height = most * libm::pow(sum, conjugate.recip());
        let w = y.map(|y| y / height);
        let flat = core::array::from_fn(|i| w[i].abs() < knees[i].w);
        let u = core::array::from_fn(|i| (point[i] / axes[i]).clamp(-knees[i].u, knees[i].u));
        Self { axes, exponent, knees, u, w, flat }.normalised()
    }

    /// Every u and w from those that are kept, the w that are kept multiplied so that Σ u w = 1.
    fn normalised(mut self) -> Option<Self> {
        let p = self.exponent;
        let conjugate = p / (p - 1.0);
        let (mut rest, mut sum) = (1.0, 0.0);
        for i in 0..3 {
            if self.flat[i] {
                self.w[i] = libm::pow(self.u[i].abs(), p - 1.0).copysign(self.u[i]);
                rest -= self.u[i] * self.w[i];
            } else {
                sum += libm::pow(self.w[i].abs(), conjugate);
            }
        }
        let factor = libm::pow(rest / sum, conjugate.recip());
        if !(rest > 0.0 && factor > 0.0 && factor.is_finite()) {
            return None;
        }
        for i in 0..3 {
            if !self.flat[i] {
                self.w[i] *= factor;
                self.u[i] = libm::pow(self.w[i].abs(), (p - 1.0).recip()).copysign(self.w[i]);
            }
        }
        Some(self)
    }

    /// du/dτ and dw/dτ.
    fn rates(&self) -> [[f64; 3]; 2] {
        let p = self.exponent;
        let bend = self.u.map(|u| (p - 1.0) * libm::pow(u.abs(), p - 2.0));
        let u = core::array::from_fn(|i| if self.flat[i] { 1.0 } else { self.knees[i].slope / bend[i] });
        let w = core::array::from_fn(|i| if self.flat[i] { bend[i] } else { self.knees[i].slope });
        [u, w]
    }

    /// Two changes of τ that keep Σ|u|^p: of one coordinate each, and of the one with the largest w.
    fn directions(&self, u_rates: &[f64; 3]) -> [Vector3<f64>; 2] {
        let [x, y, z] = self.w.map(f64::abs);
        let last = if x >= y && x >= z {
            0
        } else if y >= z {
            1
        } else {
            2
        };
        let own = self.w[last] * u_rates[last];
        [1, 2].map(|k| {
            let i = (last + k) % 3;
            let mut change = Vector3::zeros();
            change[i] = 1.0;
            change[last] = -(self.w[i] * u_rates[i] / own);
            change
        })
    }

    fn change(&self, step: &Vector2<f64>) -> Vector3<f64> {
        let directions = self.directions(&self.rates()[0]);
        directions[0] * step.x + directions[1] * step.y
    }

    /// The largest change of any u or w.
    fn strides(&self, step: &Vector2<f64>) -> f64 {
        let rates = self.rates();
        let change = self.change(step);
        (0..3).map(|i| change[i].abs() * rates[0][i].max(rates[1][i])).fold(0.0, f64::max)
    }

    fn moved(&self, step: &Vector2<f64>) -> Option<Self> {
        let change = self.change(step);
        let mut next = *self;
        for i in 0..3 {
            let knee = &self.knees[i];
            if self.flat[i] {
                let moved = self.u[i] + change[i];
                next.flat[i] = moved.abs() <= knee.u;
                next.u[i] = moved;
                next.w[i] = knee.beyond(moved.abs()).copysign(moved);
            } else {
                // Towards zero and across it there is the flat part between.
                let sign = 1.0_f64.copysign(self.w[i]);
                let moved = sign * self.w[i] + knee.slope * sign * change[i];
                let tau = knee.u + (moved - knee.w) / knee.slope;
                next.flat[i] = moved < knee.w && tau >= -knee.u;
                next.u[i] = sign * tau;
                next.w[i] = sign * if moved >= knee.w { moved } else { -knee.beyond(-tau) };
            }
        }
        next.normalised()
    }

    fn patch(&self) -> Patch {
        let least = self.axes[0].min(self.axes[1]).min(self.axes[2]);
        let thin = self.axes.map(|a| least / a);
        let rates = self.rates();
        let gradient = Vector3::from_fn(|i, _| self.w[i] * thin[i]);
        let steepness = length(&gradient);
        let normal = gradient / steepness;
        let directions = self.directions(&rates[0]);
        Patch {
            point: Vector3::from_fn(|i, _| self.axes[i] * self.u[i]),
            normal,
            point_rates: directions.map(|d| Vector3::from_fn(|i, _| self.axes[i] * rates[0][i] * d[i])),
            normal_rates: directions.map(|d| {
                let bent = Vector3::from_fn(|i, _| rates[1][i] * d[i] * thin[i]) / steepness;
                bent - normal * normal.dot(&bent)
            }),
        }
    }
}
