//! The Taylor series of the gap of two flying bodies, to any order.
//!
//! The motion's series comes from Euler's equations coefficient by coefficient,
//!
//! ```text
//! ω_i' = (I_j − I_k)/I_i ω_j ω_k  in body axes,    q' = ½ q ω,    c = c₀ + v t + ½ g t²
//! ```
//!
//! and that of the gap from its defining conditions, with the closest points ξ₁, ξ₂ (body axes) and g as unknowns:
//!
//! ```text
//! F₁(ξ₁) = 0,   F₂(ξ₂) = 0,   x₂ − x₁ = g n,   n = R₁∇F₁/|∇F₁|,   R₂∇F₂ along n
//! ```
//!
//! Newton steps with the Jacobian at t = 0 gain one order each. It shares nothing with the closed forms of
//! [`kinematics`](super::kinematics) but the implicit function Σ|x_i/a_i|^p − 1, so that each checks the other; and
//! it goes on where they end.
//!
//! It fails, with `None`, where the closest points are not analytic in t: on a ring x_i = 0 of an exponent that is
//! not an even number, where both surfaces are flat, and for bodies with edges.

use nalgebra::{SMatrix, SVector, Vector3};

use super::jet::Jet;
use crate::body::{Body, State};
use crate::gap::Gap;
use crate::shape::{HalfSpace, Shape};

/// A vector of jets.
type Triple<const N: usize> = [Jet<N>; 3];

/// A body's pose as a series in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path<const N: usize> {
    /// The centre.
    pub position: Triple<N>,
    /// The body axes in the world, the first row of each first: x = c + R ξ with R by rows.
    pub axes: [Triple<N>; 3],
}

impl<const N: usize> Path<N> {
    /// Free flight from a state, under uniform gravity; a fixed body stays.
    #[must_use]
    pub fn new(body: &Body, state: &State, gravity: &Vector3<f64>) -> Self {
        let q = state.orientation.quaternion();
        let mut turn = [q.w, q.i, q.j, q.k].map(Jet::constant);
        let mut position: Triple<N> = core::array::from_fn(|i| Jet::constant(state.position[i]));
        if !body.fixed {
            for i in 0..3 {
                for (k, c) in [state.velocity[i], 0.5 * gravity[i]].into_iter().enumerate() {
                    if let Some(place) = position[i].0.get_mut(k + 1) {
                        *place = c;
                    }
                }
            }
            let spin = state.orientation.inverse_transform_vector(&state.angular_velocity);
            rotate(&mut turn, &body.inertia, &spin);
        }
        let [w, x, y, z] = turn;
        let twice = |a: Jet<N>| a * 2.0;
        let axes = [
            [w * w + x * x - y * y - z * z, twice(x * y - w * z), twice(x * z + w * y)],
            [twice(x * y + w * z), w * w - x * x + y * y - z * z, twice(y * z - w * x)],
            [twice(x * z - w * y), twice(y * z + w * x), w * w - x * x - y * y + z * z],
        ];
        Self { position, axes }
    }

    fn turned(&self, x: &Triple<N>) -> Triple<N> {
        core::array::from_fn(|i| dot(&self.axes[i], x))
    }

    fn turned_back(&self, x: &Triple<N>) -> Triple<N> {
        core::array::from_fn(|j| dot(&[self.axes[0][j], self.axes[1][j], self.axes[2][j]], x))
    }

    /// The pose at t = 0, at rest.
    fn frozen(&self) -> Path<2> {
        let still = |jet: Jet<N>| Jet::constant(jet.value());
        Path { position: self.position.map(still), axes: self.axes.map(|row| row.map(still)) }
    }
}

/// Fills in the quaternion's coefficients from the first.
fn rotate<const N: usize>(turn: &mut [Jet<N>; 4], inertia: &Vector3<f64>, spin: &Vector3<f64>) {
    let shares: [f64; 3] =
        core::array::from_fn(|i| (inertia[(i + 1) % 3] - inertia[(i + 2) % 3]) / inertia[i]);
    let mut rate: Triple<N> = core::array::from_fn(|i| Jet::constant(spin[i]));
    let mut order = 0.0;
    for k in 1..N {
        order += 1.0;
        // Products to the order k − 1, which is all that is known.
        let product = |a: &Jet<N>, b: &Jet<N>| (0..k).map(|j| a.0[j] * b.0[k - 1 - j]).sum::<f64>();
        let [w, x, y, z] = *turn;
        let [p, q, r] = rate;
        let next = [
            -product(&x, &p) - product(&y, &q) - product(&z, &r),
            product(&w, &p) + product(&y, &r) - product(&z, &q),
            product(&w, &q) + product(&z, &p) - product(&x, &r),
            product(&w, &r) + product(&x, &q) - product(&y, &p),
        ];
        for i in 0..4 {
            turn[i].0[k] = 0.5 * next[i] / order;
        }
        let faster = [product(&q, &r), product(&r, &p), product(&p, &q)];
        for i in 0..3 {
            rate[i].0[k] = shares[i] * faster[i] / order;
        }
    }
}

fn dot<const N: usize>(a: &Triple<N>, b: &Triple<N>) -> Jet<N> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Semi-axes and exponent; none for a point, nor for bodies with flats and edges.
fn implicit(shape: &Shape) -> Option<([f64; 3], f64)> {
    match *shape {
        Shape::Point => None,
        Shape::Sphere { radius } => Some(([radius; 3], 2.0)),
        Shape::Ellipsoid { semi_axes } => Some((semi_axes, 2.0)),
        Shape::Superellipsoid { semi_axes, exponent } => Some((semi_axes, exponent)),
        // Piecewise: no series goes on across an edge.
        Shape::Box { .. }
        | Shape::Cylinder { .. }
        | Shape::Capsule { .. }
        | Shape::Cone(_)
        | Shape::Disc { .. }
        | Shape::Polyhedron(_) => None,
    }
}

/// Σ|ξ_i/a_i|^p − 1 and its gradient over p.
fn surface<const N: usize>((a, p): ([f64; 3], f64), x: &Triple<N>) -> (Jet<N>, Triple<N>) {
    let share: Triple<N> = core::array::from_fn(|i| x[i] * a[i].recip());
    let power = share.map(|w| w.signed_power(p - 1.0));
    let value = dot(&share, &power) - Jet::constant(1.0);
    (value, core::array::from_fn(|i| power[i] * a[i].recip()))
}

/// ξ₁, ξ₂ and g.
type Unknowns<const N: usize> = [Jet<N>; 7];

struct Pair<'a> {
    surfaces: [([f64; 3], f64); 2],
    tangents: &'a [Vector3<f64>; 2],
}

impl Pair<'_> {
    /// What is left of the seven conditions.
    fn residual<const N: usize>(&self, paths: [&Path<N>; 2], z: &Unknowns<N>) -> Unknowns<N> {
        let [one, two] = [[z[0], z[1], z[2]], [z[3], z[4], z[5]]];
        let (level, gradient) = surface(self.surfaces[0], &one);
        let (other_level, other_gradient) = surface(self.surfaces[1], &two);
        let steep = dot(&gradient, &gradient).power(-0.5);
        let normal = paths[0].turned(&gradient).map(|g| g * steep);
        // The second body's normal, less its part along n, on two fixed directions.
        let facing = paths[1].turned(&other_gradient);
        let along = dot(&facing, &normal);
        let across: Triple<N> = core::array::from_fn(|i| facing[i] - along * normal[i]);
        let [x1, x2] = [paths[0].turned(&one), paths[1].turned(&two)];
        let apart = |i: usize| paths[1].position[i] + x2[i] - paths[0].position[i] - x1[i] - z[6] * normal[i];
        let on = |t: &Vector3<f64>| across[0] * t.x + across[1] * t.y + across[2] * t.z;
        [level, other_level, apart(0), apart(1), apart(2), on(&self.tangents[0]), on(&self.tangents[1])]
    }
}

/// The series of the gap of two bodies about the instant of their paths, from the gap there.
#[must_use]
pub fn gap_series<const N: usize>(
    first: (&Shape, &Path<N>),
    second: (&Shape, &Path<N>),
    at: &Gap,
) -> Option<Jet<N>> {
    let tangents = super::kinematics::Tangent::new(&at.normal).basis;
    let pair = Pair { surfaces: [implicit(first.0)?, implicit(second.0)?], tangents: &tangents };
    let paths = [first.1, second.1];
    let start = |k: usize| -> Triple<N> {
        let arm = core::array::from_fn(|i| Jet::constant(at.points[k][i] - paths[k].position[i].value()));
        paths[k].turned_back(&arm).map(|jet| Jet::constant(jet.value()))
    };
    let ([a, b, c], [d, e, f]) = (start(0), start(1));
    let mut z = [a, b, c, d, e, f, Jet::constant(at.gap)];

    let frozen = [&paths[0].frozen(), &paths[1].frozen()];
    let mut jacobian = SMatrix::<f64, 7, 7>::zeros();
    for j in 0..7 {
        let mut probe: Unknowns<2> = z.map(|jet| Jet::constant(jet.value()));
        probe[j].0[1] = 1.0;
        let column = pair.residual(frozen, &probe);
        for i in 0..7 {
            jacobian[(i, j)] = column[i].0[1];
        }
    }
    let inverse = jacobian.try_inverse()?;
    // One step an order, and two for the rounding of the first.
    for _ in 0..N + 2 {
        let residual = pair.residual(paths, &z);
        for k in 0..N {
            let step = inverse * SVector::<f64, 7>::from_fn(|i, _| residual[i].0[k]);
            for i in 0..7 {
                z[i].0[k] -= step[i];
            }
        }
    }
    z[6].0.iter().all(|c| c.is_finite()).then_some(z[6])
}

/// The series of the gap of a body and a plane, n·c − offset − h(−Rᵀn), from the support function
/// h = (Σ|a_i n_i|^q)^{1/q}, 1/p + 1/q = 1.
#[must_use]
pub fn gap_to_plane_series<const N: usize>(
    shape: &Shape,
    path: &Path<N>,
    plane: &HalfSpace,
) -> Option<Jet<N>> {
    let (a, p) = implicit(shape)?;
    let normal: Triple<N> = core::array::from_fn(|i| Jet::constant(plane.normal[i]));
    let q = p / (p - 1.0);
    let local = path.turned_back(&normal);
    let reach: Triple<N> = core::array::from_fn(|i| local[i] * a[i]);
    let powers = reach.map(|y| y.signed_power(q - 1.0));
    let height = dot(&reach, &powers).power(q.recip());
    let gap = dot(&normal, &path.position) - Jet::constant(plane.offset) - height;
    gap.0.iter().all(|c| c.is_finite()).then_some(gap)
}
