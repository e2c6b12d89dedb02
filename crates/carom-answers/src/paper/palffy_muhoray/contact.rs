//! The contact of two bodies, by the library and by series that share nothing with its closed forms.

use carom::body::{Body, State};
use carom::contact::classify::{Classification, Tolerances, classify};
use carom::contact::coefficients::{Coefficients, Model, coefficients, model, slope};
use carom::contact::jet::Jet;
use carom::contact::kinematics::{Facing, Moving};
use carom::contact::series::{Path, gap_series};
use carom::gap::{Gap, gap};
use carom::motion::{Derivatives, Flight};
use carom::shape::Shape;
use nalgebra::{Matrix3, Vector3};

use super::super::scenes::{Case, File};
use crate::InputError;

/// The two bodies of a scene that touch, and what kind of contact they make.
pub struct Contact {
    pub case: Case,
    pub bodies: [(Body, State); 2],
    pub at: Gap,
    pub class: Classification,
}

/// Stands for a point of the second body: a ball about it, of which the gap is the point's distance less this.
const RADIUS: f64 = 0.5;

impl Contact {
    pub fn read(file: File) -> Result<Self, InputError> {
        let case = Case::read(file)?;
        let found = match case.prepared.instant.bodies.as_slice() {
            [one, two] => {
                gap((&one.0.shape, &one.1.pose()), (&two.0.shape, &two.1.pose())).map(|at| ([*one, *two], at))
            }
            _ => None,
        };
        let Some((bodies, at)) = found else {
            return Err(InputError::of_unreadable(file.0.to_string(), "expected two bodies that touch"));
        };
        let class = classify_in_order(&bodies, &at);
        Ok(Self { case, bodies, at, class })
    }

    pub fn coefficients(&self, direction: &Vector3<f64>) -> Coefficients {
        let [one, two] = &self.bodies;
        coefficients(&Facing::Body(moving(one)), &moving(two), &self.at, direction)
    }

    /// The quadratic model's coefficients along a direction across the normal.
    pub fn model(&self, direction: &Vector3<f64>) -> Option<Model> {
        let [one, two] = &self.bodies;
        model(&Facing::Body(moving(one)), &moving(two), &self.at, direction)
    }

    /// a⃗.
    pub fn slope(&self) -> Vector3<f64> {
        let [one, two] = &self.bodies;
        slope(&Facing::Body(moving(one)), &moving(two), &self.at)
    }

    /// The same contact with the bodies exchanged.
    pub fn exchanged(&self) -> Classification {
        let [one, two] = self.bodies;
        let at = Gap { normal: -self.at.normal, points: [self.at.points[1], self.at.points[0]], ..self.at };
        classify_in_order(&[two, one], &at)
    }

    /// The bodies' paths in free flight.
    pub fn paths<const N: usize>(&self) -> [Path<N>; 2] {
        self.bodies.each_ref().map(|(body, state)| Path::new(body, state, &Vector3::zeros()))
    }

    /// The gap's Taylor coefficients.
    pub fn series<const N: usize>(&self) -> [f64; N] {
        let paths = self.paths::<N>();
        let [one, two] = &self.bodies;
        gap_series((&one.0.shape, &paths[0]), (&two.0.shape, &paths[1]), &self.at)
            .map_or([f64::NAN; N], |jet| jet.0)
    }

    /// The Taylor coefficients of the distance of Q, fixed to the second body, to the first body.
    pub fn series_of_point<const N: usize>(&self) -> [f64; N] {
        let [one, two] = self.paths::<N>();
        let centre = self.followed(&two, &self.at.points[1]);
        let axes =
            core::array::from_fn(|i| core::array::from_fn(|j| Jet::constant(if i == j { 1.0 } else { 0.0 })));
        let ball = Path { position: centre, axes };
        let points = [self.at.points[0], self.at.points[0] - self.at.normal * RADIUS];
        let at = Gap { gap: -RADIUS, points, ..self.at };
        gap_series((&self.bodies[0].0.shape, &one), (&Shape::Sphere { radius: RADIUS }, &ball), &at).map_or(
            [f64::NAN; N],
            |mut jet| {
                jet.0[0] += RADIUS;
                jet.0
            },
        )
    }

    /// A place of the second body, given in the world at the start, as it moves.
    fn followed<const N: usize>(&self, path: &Path<N>, place: &Vector3<f64>) -> [Jet<N>; 3] {
        let state = &self.bodies[1].1;
        let local = state.orientation.inverse_transform_vector(&(place - state.position));
        moved(path, &local)
    }

    /// F₁ of (23) at a neighbour of Q as a series in time: n₁·δ + ½ δ·H₁·δ with n₁ and H₁ fixed to the first body.
    fn quadratic<const N: usize>(&self, neighbour: &Vector3<f64>) -> Jet<N> {
        let [one, two] = self.paths::<N>();
        let k = &self.class.kinematics;
        let place = self.followed(&two, &(self.at.points[1] + neighbour));
        let state = &self.bodies[0].1;
        let to_body = |x: &Vector3<f64>| state.orientation.inverse_transform_vector(x);
        let (p, n) = (to_body(&k.arms[0]), to_body(&k.normal));
        let axes = *state.orientation.to_rotation_matrix().matrix();
        let h = axes.transpose() * k.curvature_1 * axes;
        // δ in the first body's axes.
        let delta: [Jet<N>; 3] = core::array::from_fn(|j| {
            (0..3).fold(Jet::constant(-p[j]), |sum, i| sum + one.axes[i][j] * (place[i] - one.position[i]))
        });
        let mut sum = Jet::constant(0.0);
        for i in 0..3 {
            sum = sum + delta[i] * n[i];
            for j in 0..3 {
                sum = sum + delta[i] * delta[j] * (0.5 * h[(i, j)]);
            }
        }
        sum
    }

    /// (27) and (28) by series: the coefficients of 1, ε, …, ε⁴ in F₁, Ḟ₁ and F̈₁ of (23) at t = 0, along a unit
    /// direction; and j.
    pub fn expanded(&self, direction: &Vector3<f64>) -> ([[f64; 5]; 3], f64) {
        let k = &self.class.kinematics;
        let h = 0.5 * direction.dot(&(k.curvature_2 * direction));
        let at = |e: f64| self.quadratic::<4>(&(direction * e + k.normal * (h * e * e)));
        let [a, b, c, d, e] = [-2.0, -1.0, 0.0, 1.0, 2.0].map(at);
        let polynomials = core::array::from_fn(|order| {
            let factorial = if order == 2 { 2.0 } else { 1.0 };
            polynomial([a, b, c, d, e].map(|jet| factorial * jet.0[order]))
        });
        (polynomials, 6.0 * c.0[3])
    }

    /// K⁻¹ on the tangent plane, zero along n.
    pub fn inverse_curvature(&self) -> Matrix3<f64> {
        let k = &self.class.kinematics;
        let along = k.normal * k.normal.transpose();
        (k.curvature_1 + k.curvature_2 + along)
            .try_inverse()
            .map_or_else(Matrix3::zeros, |inverse| inverse - along)
    }

    /// The unit direction of w, and the one across it.
    pub fn directions(&self) -> [Vector3<f64>; 2] {
        let k = &self.class.kinematics;
        let first = k.w.normalize();
        [first, k.normal.cross(&first)]
    }

    /// The exact distance to the first body, at time t of free flight, of the second body's surface point that stands
    /// off Q by ε along a tangent direction.
    pub fn distance(&self, direction: &Vector3<f64>, e: f64, t: f64) -> f64 {
        let k = &self.class.kinematics;
        let (body, state) = &self.bodies[1];
        let h = 0.5 * direction.dot(&(k.curvature_2 * direction));
        let local = |c: f64| {
            let x = k.points[1] + direction * e + k.normal * c;
            state.orientation.inverse_transform_vector(&(x - state.position))
        };
        // Along the normal to the surface, by secants from where the curvature puts it.
        let height = |c: f64| body.shape.implicit(&local(c));
        let (mut c, mut last) = (h * e * e, 1.1 * h * e * e);
        for _ in 0..20 {
            let (now, before) = (height(c), height(last));
            if now == before {
                break;
            }
            (last, c) = (c, c - now * (c - last) / (now - before));
        }
        let flights = self.bodies.each_ref().map(|(body, state)| Flight::new(body, state, &Vector3::zeros()));
        let there = flights[1].at(t);
        let place = State::at(there.position + there.orientation * local(c));
        let ball = Shape::Sphere { radius: RADIUS };
        let one = (&self.bodies[0].0.shape, &flights[0].at(t).pose());
        gap(one, (&ball, &place.pose())).map_or(f64::NAN, |found| found.gap + RADIUS)
    }

    /// Along a direction, relative to the distance of Q itself: where the distance vanishes besides at Q, and where
    /// and how far it is least, found about an expected place of the latter.
    pub fn dip(&self, direction: &Vector3<f64>, t: f64, expected: f64) -> Dip {
        let own = self.distance(direction, 0.0, t);
        let at = |e: f64| self.distance(direction, e, t) - own;
        let [low, middle, high] = [at(0.0), at(expected), at(2.0 * expected)];
        let (bend, tilt) = (0.5 * (high + low) - middle, 0.5 * (high - low));
        let off = -0.5 * tilt / bend;
        // Secants to the root that is not Q.
        let (mut e, mut last) = (2.0 * expected, 2.1 * expected);
        for _ in 0..20 {
            let (now, before) = (at(e), at(last));
            if now == before {
                break;
            }
            (last, e) = (e, e - now * (e - last) / (now - before));
        }
        Dip { root: e, place: expected * (1.0 + off), depth: middle + 0.5 * tilt * off }
    }
}

/// What [`Contact::dip`] finds.
pub struct Dip {
    pub root: f64,
    pub place: f64,
    pub depth: f64,
}

/// A place of a body, in its axes, as it moves.
pub fn moved<const N: usize>(path: &Path<N>, local: &Vector3<f64>) -> [Jet<N>; 3] {
    core::array::from_fn(|i| (0..3).fold(path.position[i], |sum, j| sum + path.axes[i][j] * local[j]))
}

/// The coefficients of the polynomial of degree four with these values at −2, …, 2.
fn polynomial([a, b, c, d, e]: [f64; 5]) -> [f64; 5] {
    let (odd, far_odd) = (0.5 * (d - b), 0.5 * (e - a));
    let (even, far_even) = (0.5 * (d + b) - c, 0.5 * (e + a) - c);
    let (third, fourth) = ((far_odd - 2.0 * odd) / 6.0, (far_even - 4.0 * even) / 12.0);
    [c, odd - third, even - fourth, third, fourth]
}

pub fn moving((body, state): &(Body, State)) -> Moving<'_> {
    let derivatives = Derivatives::new(body, state, &Vector3::zeros());
    Moving { shape: &body.shape, state: *state, derivatives }
}

pub fn classify_in_order(bodies: &[(Body, State); 2], at: &Gap) -> Classification {
    classify(&Facing::Body(moving(&bodies[0])), &moving(&bodies[1]), at, Tolerances::default())
}

/// What is rounding beside the terms it is a sum of is zero.
pub fn settled(x: f64, scale: f64) -> f64 {
    if x.abs() <= 1e-14 * scale { 0.0 } else { x }
}

pub fn settled_vector(x: &Vector3<f64>, scale: f64) -> Vec<f64> {
    x.iter().map(|x| settled(*x, scale)).collect()
}

/// The sign of a number that is settled.
pub fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}
