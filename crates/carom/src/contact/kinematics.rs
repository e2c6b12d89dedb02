//! How a contact moves: the relative motion of two surfaces at their closest points, and the gap's derivatives g',
//! g'', g'''.
//!
//! Letters as in \[PVWZ\] and theory, section 3: n the unit normal from the first side to the second, P = x₁ and Q
//! = x₂ the closest points, x₂ − x₁ = g n, u = v_Q − v_P between the materials there, H₁ and H₂ the curvatures, K =
//! H₁ + H₂, and
//!
//! ```text
//! v = n·u,   w = n×(ω₂−ω₁) + H₁u,   a = n·(a_Q−a_P) + 2(ω₁×n)·u + u·H₁u
//! g' = v,    g'' = a − wᵀK⁻¹w   at g = 0, for any v
//! ```
//!
//! (across n; \[PVWZ\] eqs. 31 and 34, their 42 without its factor 2). What is computed holds at any gap, not only
//! at contact. The closest points move over the surfaces with velocities e₁, e₂ relative to the materials, and
//!
//! ```text
//! ṅ = ω₁×n + H₁e₁ = ω₂×n − H₂e₂,   u + e₂ − e₁ = g'n + g ṅ
//! (H₁ + H₂ + g H₂H₁) e₁ = (ω₂−ω₁)×n + H₂(u − g ω₁×n)   across n
//! ```
//!
//! At contact e₂ = −K⁻¹w and e₁ = u + e₂. The gap is the stationary value of n·(x₂ − x₁) over x₁ and x₂ on their
//! surfaces and n on the sphere. So an error δ in the path of (x₁, x₂, n) changes it by δ² only, and any path that
//! is right to first order in t gives the gap to third order. Taking geodesics, whose third-order term is D³d
//! ([`Shape::curvature_change`]), and the great circle of n:
//!
//! ```text
//! g''  = n·Δa + ṅ·u − e₂·(ω₂×n) + e₁·(ω₁×n)
//! g''' = n·Δj + 3n·[(ω̇₂× + ω₂×ω₂×)e₂ − (ω̇₁× + ω₁×ω₁×)e₁] + 3ṅ·[Δa + 2ω₂×e₂ − 2ω₁×e₁] − 3|ṅ|²v
//!        + D³d₁[e₁,e₁,e₁] + D³d₂[e₂,e₂,e₂]
//! ```
//!
//! with Δa, Δj the differences of the materials' accelerations and jerks at Q and P. Both are the same with the
//! sides exchanged. Expanded at contact the second is theory's formula in u, e, ṅ₁, n̈₁, Ḣ₁:
//! [`coefficients`](mod@super::coefficients).
//!
//! **Flats.** Where K is singular (a superellipsoid's ring or pole against a plane or another one) the contact
//! point is not determined along the flat. If w has no part along it, the point is taken to stay where it is: g''
//! is right, and g''' only while nothing starts to turn about the flat. If it has, the bodies rock: the gap falls
//! like −|t|^q with 1 < q < 2 and g'' is −∞. [`Fit`] says which.
//!
//! **What cancels is not formed.** A ball's spin moves its material and not its surface: g', g'' and g''' are those of a ball
//! that does not turn, so that n·Δa alone is left at a plane and n·Δa + |u|²/d (across n, d the distance of the centres) between
//! two balls. At a plane ṅ = 0 and e₂ = K⁻¹(ω₂×n): sliding along it has no part in any derivative. What is left may cancel:
//! [`Kinematics::magnitudes`] are the sums of the terms' sizes, and [`Kinematics::rounding`] bounds what rounding makes of each
//! sum, with the rounding of positions and velocities as given.
//!
//! **Assumptions.** Overlaps are shallower than the radii of curvature, and a point has no surface: its numbers are
//! not finite. Nothing here allocates.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

use crate::body::{Body, State};
use crate::gap::Gap;
use crate::motion::Derivatives;
use crate::shape::{Convex, HalfSpace, Shape, length};

/// A body in motion at an instant. The accelerations may be those of free flight or of any other motion.
#[derive(Debug, Clone, Copy)]
pub struct Moving<'a> {
    /// Its shape.
    pub shape: &'a Shape,
    /// Where it is and how it moves.
    pub state: State,
    /// What follows the velocities.
    pub derivatives: Derivatives,
}

/// What is on the first side.
#[derive(Debug, Clone, Copy)]
pub enum Facing<'a> {
    /// Another body.
    Body(Moving<'a>),
    /// A plane: at rest, flat, with its own normal.
    Plane(&'a HalfSpace),
}

/// How two surfaces fit at their closest points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// K is regular: the contact point and its velocity are determined.
    Curved,
    /// K is singular along a direction in which the normals do not turn apart.
    Flat,
    /// K is singular along a direction in which they do: g'' is −∞.
    Rocking,
}

/// The motion of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Kinematics {
    /// g, as given.
    pub gap: f64,
    /// n, from the first side to the second.
    pub normal: Vector3<f64>,
    /// P on the first side and Q on the second.
    pub points: [Vector3<f64>; 2],
    /// From each centre of mass to its point; zero for a plane.
    pub arms: [Vector3<f64>; 2],
    /// u = v_Q − v_P.
    pub relative_velocity: Vector3<f64>,
    /// u across n: the slip.
    pub slip: Vector3<f64>,
    /// v = n·u = g'.
    pub v: f64,
    /// a of \[PVWZ\] eq. 31. Not symmetric in the bodies; g'' is.
    pub a: f64,
    /// w of \[PVWZ\] eq. 34, across n.
    pub w: Vector3<f64>,
    /// H₁, in world axes; zero for a plane.
    pub curvature_1: Matrix3<f64>,
    /// H₂, in world axes.
    pub curvature_2: Matrix3<f64>,
    /// wᵀK⁻¹w, along flats where w has no part zero, else infinite.
    pub threshold: f64,
    /// g''.
    pub g2: f64,
    /// g''' .
    pub g3: f64,
    /// g'' without linear and angular accelerations: g'' = bias + row · (accelerations), see [`Kinematics::row`].
    pub bias: f64,
    /// ṅ.
    pub normal_rate: Vector3<f64>,
    /// e₁ and e₂, the velocities of the closest points over the two surfaces.
    pub rolling: [Vector3<f64>; 2],
    /// The principal values of K, least first.
    pub relative_curvature: [f64; 2],
    /// Whether K is regular.
    pub fit: Fit,
    /// The sizes of the terms of g', g'' and g''' together: what can cancel in them.
    pub magnitudes: [f64; 3],
    /// Bounds on the rounding of g', g'' and g''', that of the data included.
    pub rounding: [f64; 3],
}

/// The least relative curvature that is not flat, beside the other curvature and the inverse size.
const FLATTEST: f64 = 1e-14;

/// The least turn across a flat that counts, beside the spins and the slip over the size.
const STILL: f64 = 1e-12;

/// Rounding of a sum beside the sizes of its terms, each of them some ten operations on rounded data.
const FORWARD: f64 = 32.0 * f64::EPSILON;

/// One side: its motion at the contact point and its surface there, everything in world axes.
pub(super) struct Surface {
    velocity: Vector3<f64>,
    pub(super) spin: Vector3<f64>,
    pub(super) spin_rate: Vector3<f64>,
    arm: Vector3<f64>,
    /// The material's acceleration without that of the centre and without the angular acceleration's part: ω×(ω×r).
    centripetal: Vector3<f64>,
    pub(super) acceleration: Vector3<f64>,
    pub(super) jerk: Vector3<f64>,
    pub(super) curvature: Matrix3<f64>,
    /// 1/size; zero for a plane.
    sharpness: f64,
    /// What the centre does, and how far from the origin it is.
    centre: [Vector3<f64>; 3],
    place: f64,
    /// ω''.
    spin_bend: Vector3<f64>,
    is_ball: bool,
}

impl Surface {
    fn of_plane() -> Self {
        let zero = Vector3::zeros();
        Self {
            velocity: zero,
            spin: zero,
            spin_rate: zero,
            arm: zero,
            centripetal: zero,
            acceleration: zero,
            jerk: zero,
            curvature: Matrix3::zeros(),
            sharpness: 0.0,
            centre: [zero; 3],
            place: 0.0,
            spin_bend: zero,
            is_ball: false,
        }
    }

    fn of(body: &Moving, point: &Vector3<f64>, normal: &Vector3<f64>) -> Self {
        let Moving { shape, state, derivatives } = body;
        let (arm, spin) = (point - state.position, state.angular_velocity);
        let (rate, second) = (derivatives.angular_acceleration, derivatives.angular_jerk);
        let turning = spin.cross(&arm);
        let centripetal = spin.cross(&turning);
        let axes = state.orientation.to_rotation_matrix();
        let local = shape.curvature(&axes.inverse_transform_vector(&arm));
        // Across the common normal, which the surface's own meets to rounding.
        let tangent = Matrix3::identity() - normal * normal.transpose();
        let curvature = tangent * (axes.matrix() * local * axes.matrix().transpose()) * tangent;
        Self {
            velocity: state.velocity + turning,
            spin,
            spin_rate: rate,
            arm,
            centripetal,
            acceleration: derivatives.acceleration + rate.cross(&arm) + centripetal,
            // R‴Rᵀ = [ω″] + 2[ω′][ω] + [ω][ω′] + [ω]³.
            jerk: derivatives.jerk
                + second.cross(&arm)
                + rate.cross(&turning) * 2.0
                + spin.cross(&rate.cross(&arm))
                + spin.cross(&centripetal),
            curvature: (curvature + curvature.transpose()) * 0.5,
            sharpness: shape.circumradius().recip(),
            centre: [state.velocity, derivatives.acceleration, derivatives.jerk],
            place: length(&state.position),
            spin_bend: second,
            is_ball: shape.ball().is_some(),
        }
    }

    /// A ball that turns, without its turning, which moves its material and not its surface.
    fn gliding(&self) -> Option<Self> {
        let zero = Vector3::zeros();
        let turns = [self.spin, self.spin_rate, self.spin_bend] != [zero; 3];
        let [velocity, acceleration, jerk] = self.centre;
        (self.is_ball && turns).then_some(Self {
            velocity,
            acceleration,
            jerk,
            spin: zero,
            spin_rate: zero,
            spin_bend: zero,
            centripetal: zero,
            ..*self
        })
    }

    /// The sizes of what turning adds to the point's velocity, acceleration and jerk.
    fn turning_terms(&self) -> [f64; 3] {
        let (arm, spin) = (length(&self.arm), length(&self.spin));
        let (rate, bend) = (length(&self.spin_rate), length(&self.spin_bend));
        [spin * arm, (rate + spin * spin) * arm, (bend + 3.0 * rate * spin + spin * spin * spin) * arm]
    }

    /// (ω̇× + ω×ω×) e
    pub(super) fn turn(&self, e: &Vector3<f64>) -> Vector3<f64> {
        self.spin_rate.cross(e) + self.spin.cross(&self.spin.cross(e))
    }
}

impl Moving<'_> {
    /// `D³d[e,e,e]` of its surface at a contact point, for a tangent e, everything in world axes.
    #[must_use]
    pub fn curvature_change(&self, point: &Vector3<f64>, e: &Vector3<f64>) -> f64 {
        let to_body = |x: &Vector3<f64>| self.state.orientation.inverse_transform_vector(x);
        self.shape.curvature_change(&to_body(&(point - self.state.position)), &to_body(e))
    }
}

impl Facing<'_> {
    /// The same; zero for a plane.
    #[must_use]
    pub fn curvature_change(&self, point: &Vector3<f64>, e: &Vector3<f64>) -> f64 {
        match self {
            Self::Body(body) => body.curvature_change(point, e),
            Self::Plane(_) => 0.0,
        }
    }
}

/// The contact points and both sides there.
pub(super) fn surfaces(first: &Facing, second: &Moving, at: &Gap) -> ([Vector3<f64>; 2], [Surface; 2]) {
    // Of a plane's gap the body's point comes first.
    let (points, one) = match first {
        Facing::Body(body) => (at.points, Surface::of(body, &at.points[0], &at.normal)),
        Facing::Plane(_) => ([at.points[1], at.points[0]], Surface::of_plane()),
    };
    (points, [one, Surface::of(second, &points[1], &at.normal)])
}

/// The kinematics of a contact, or of two bodies near one, from the gap between them: that of
/// [`gap`](crate::gap::gap) with the bodies in the same order, or of [`gap_to_plane`](crate::gap::gap_to_plane).
#[must_use]
pub fn kinematics(first: &Facing, second: &Moving, at: &Gap) -> Kinematics {
    let n = at.normal;
    let (points, [one, two]) = surfaces(first, second, at);

    let u = two.velocity - one.velocity;
    let turn = [one.spin.cross(&n), two.spin.cross(&n)];
    let w = turn[0] - turn[1] + one.curvature * u;
    let a =
        n.dot(&(two.acceleration - one.acceleration)) + 2.0 * turn[0].dot(&u) + u.dot(&(one.curvature * u));

    let plane = Tangent::new(&n);
    let bend = plane.curvature(&(one.curvature + two.curvature));
    let material = Relative::new(&plane, [&one, &two], &bend, at);
    let threshold = if material.fit == Fit::Rocking {
        f64::INFINITY
    } else {
        plane.down(&w).dot(&(material.inverse * plane.down(&w)))
    };
    // The spin of a ball does not affect the gap.
    let gliding = [one.gliding(), two.gliding()];
    let rates = if gliding.iter().any(Option::is_some) {
        let [one, two] = [gliding[0].as_ref().unwrap_or(&one), gliding[1].as_ref().unwrap_or(&two)];
        Rates::new(first, second, &points, [one, two], &Relative::new(&plane, [one, two], &bend, at), &bend)
    } else {
        Rates::new(first, second, &points, [&one, &two], &material, &bend)
    };
    let Rates { v, bias, g2, g3, normal_rate, magnitudes, rounding } = rates;

    Kinematics {
        gap: at.gap,
        normal: n,
        points,
        arms: [one.arm, two.arm],
        relative_velocity: u,
        slip: material.slip,
        v,
        a,
        w,
        curvature_1: one.curvature,
        curvature_2: two.curvature,
        threshold,
        g2,
        g3,
        bias,
        normal_rate,
        rolling: material.rolling,
        relative_curvature: [bend.least, bend.most],
        fit: material.fit,
        magnitudes,
        rounding,
    }
}

/// How two surfaces move past each other at their closest points.
struct Relative {
    normal: Vector3<f64>,
    /// u across n.
    slip: Vector3<f64>,
    /// ω₁×n and ω₂×n.
    turn: [Vector3<f64>; 2],
    /// K⁻¹ along what is not flat.
    inverse: Matrix2<f64>,
    fit: Fit,
    /// e₁ and e₂.
    rolling: [Vector3<f64>; 2],
}

impl Relative {
    fn new(plane: &Tangent, [one, two]: [&Surface; 2], bend: &Principal, at: &Gap) -> Self {
        let n = at.normal;
        let u = two.velocity - one.velocity;
        let slip = u - n * n.dot(&u);
        let turn = [one.spin.cross(&n), two.spin.cross(&n)];
        let w = plane.down(&(turn[0] - turn[1] + one.curvature * u));
        let sharpest = one.sharpness.max(two.sharpness);
        let scale = (length(&turn[0]) + length(&turn[1])).max(length(&slip) * sharpest);
        let (inverse, fit) = bend.inverse(&w, FLATTEST * sharpest, STILL * scale);
        let rolling = rolling(plane, [one, two], &turn, &slip, at.gap, &inverse, fit);
        Self { normal: n, slip, turn, inverse, fit, rolling }
    }
}

/// The gap's derivatives, and the sizes of what they are made of.
struct Rates {
    v: f64,
    bias: f64,
    g2: f64,
    g3: f64,
    normal_rate: Vector3<f64>,
    magnitudes: [f64; 3],
    rounding: [f64; 3],
}

impl Rates {
    fn new(
        first: &Facing,
        second: &Moving,
        points: &[Vector3<f64>; 2],
        [one, two]: [&Surface; 2],
        relative: &Relative,
        bend: &Principal,
    ) -> Self {
        let Relative { normal: n, slip, turn, fit, rolling, .. } = relative;
        let [e1, e2] = rolling;
        let v = n.dot(&(two.velocity - one.velocity));
        let apart = two.acceleration - one.acceleration;
        let normal_rate = turn[0] + one.curvature * e1;
        let slide = [normal_rate.dot(slip), -e2.dot(&turn[1]), e1.dot(&turn[0])];
        let (bias, g2) = if *fit == Fit::Rocking {
            (f64::NEG_INFINITY, f64::NEG_INFINITY)
        } else {
            let slide: f64 = slide.iter().sum();
            (n.dot(&(two.centripetal - one.centripetal)) + slide, n.dot(&apart) + slide)
        };
        let bends = [first.curvature_change(&points[0], e1), second.curvature_change(&points[1], e2)];
        let g3 = n.dot(&(two.jerk - one.jerk))
            + 3.0 * n.dot(&(two.turn(e2) - one.turn(e1)))
            + 3.0 * normal_rate.dot(&(apart + (two.spin.cross(e2) - one.spin.cross(e1)) * 2.0))
            - 3.0 * normal_rate.norm_squared() * v
            + bends[0]
            + bends[1];

        let along = |x: &Vector3<f64>| n.component_mul(x).abs().sum();
        let turning = [one.turning_terms(), two.turning_terms()];
        let turning: [f64; 3] = core::array::from_fn(|k| turning[0][k] + turning[1][k]);
        let centres: [Vector3<f64>; 3] = core::array::from_fn(|k| two.centre[k] - one.centre[k]);
        let rate = length(&normal_rate);
        let magnitudes = [
            v.abs() + turning[0],
            along(&centres[1]) + turning[1] + slide.iter().map(|x| x.abs()).sum::<f64>(),
            along(&centres[2])
                + turning[2]
                + 3.0 * (length(&two.turn(e2)) + length(&one.turn(e1)))
                + 3.0
                    * rate
                    * (length(&apart) + 2.0 * (length(&two.spin.cross(e2)) + length(&one.spin.cross(e1))))
                + 3.0 * rate * rate * v.abs()
                + bends[0].abs()
                + bends[1].abs(),
        ];
        // A place is rounded as the coordinates are, and with it the normal of two bodies and the point on each. Along a plane
        // no place counts.
        let reach = one.place + two.place;
        let turns =
            if one.sharpness == 0.0 { 0.0 } else { reach * one.curvature.norm().min(two.curvature.norm()) };
        let blurred =
            if two.is_ball && one.sharpness == 0.0 { 0.0 } else { reach * two.sharpness.max(one.sharpness) };
        let steep = if bend.least > 0.0 { bend.most / bend.least } else { 1.0 };
        let moving = along(&two.centre[0]) + along(&one.centre[0]) + turns * length(slip);
        let rounding = [
            FORWARD * (moving + magnitudes[0] * (1.0 + blurred)),
            FORWARD * magnitudes[1] * (1.0 + blurred + steep),
            FORWARD * magnitudes[2] * (1.0 + blurred + steep * steep),
        ];
        Self { v, bias, g2, g3, normal_rate, magnitudes, rounding }
    }
}

impl Kinematics {
    /// The row of g'' on the accelerations: linear and angular of the first body, linear and angular of the second,
    /// −n, −p×n, n, q×n with the arms p and q. The same row gives g' from the velocities.
    #[must_use]
    pub fn row(&self) -> [Vector3<f64>; 4] {
        let [p, q] = &self.arms;
        [-self.normal, -p.cross(&self.normal), self.normal, q.cross(&self.normal)]
    }
}

/// M = (1/m₁ + 1/m₂) I − p×I₁⁻¹×p − q×I₂⁻¹×q of \[PVWZ\] eq. 8: the velocity of Q relative to P per unit of impulse at the
/// contact. A plane (`None`) and a fixed body have no part in it.
#[must_use]
pub fn inverse_mass_tensor(bodies: [Option<(&Body, &State)>; 2], points: &[Vector3<f64>; 2]) -> Matrix3<f64> {
    let share = |k: usize| match bodies[k] {
        Some((body, state)) if !body.fixed => {
            let axes = state.orientation.to_rotation_matrix();
            // The columns of [r] in body axes, so that the inertia is principal.
            let arm = axes.matrix().transpose() * (points[k] - state.position).cross_matrix();
            let turning = Matrix3::from_diagonal(&body.inertia.map(f64::recip)) * arm;
            Matrix3::from_diagonal_element(body.mass.recip()) + arm.transpose() * turning
        }
        _ => Matrix3::zeros(),
    };
    let tensor = share(0) + share(1);
    (tensor + tensor.transpose()) * 0.5
}

/// n·M·n = 1/m₁ + 1/m₂ + (p×n)·I₁⁻¹(p×n) + (q×n)·I₂⁻¹(q×n): the acceleration of the gap per unit of normal force,
/// \[PVWZ\] eq. 8 along the normal. A plane (`None`) and a fixed body have no part in it.
#[must_use]
pub fn effective_inverse_mass(
    bodies: [Option<(&Body, &State)>; 2],
    points: &[Vector3<f64>; 2],
    normal: &Vector3<f64>,
) -> f64 {
    let share = |k: usize| match bodies[k] {
        Some((body, state)) if !body.fixed => {
            let turn =
                state.orientation.inverse_transform_vector(&(points[k] - state.position).cross(normal));
            body.mass.recip() + turn.component_div(&body.inertia).dot(&turn)
        }
        _ => 0.0,
    };
    share(0) + share(1)
}

/// e₁ and e₂. On a flat the gap's own part is left out, which is rounding in contact.
fn rolling(
    plane: &Tangent,
    [one, two]: [&Surface; 2],
    turn: &[Vector3<f64>; 2],
    slip: &Vector3<f64>,
    gap: f64,
    inverse: &Matrix2<f64>,
    fit: Fit,
) -> [Vector3<f64>; 2] {
    // Along a plane the point keeps up with the body, however fast that slides.
    if fit == Fit::Curved && one.sharpness > 0.0 {
        let coupled = plane.matrix(&(one.curvature + two.curvature + two.curvature * one.curvature * gap));
        let side = turn[1] - turn[0] + two.curvature * (slip - turn[0] * gap);
        if let Some(solved) = coupled.try_inverse() {
            let e1 = plane.up(&(solved * plane.down(&side)));
            return [e1, e1 - slip + (turn[0] + one.curvature * e1) * gap];
        }
    }
    let e2 = -plane.up(&(inverse * plane.down(&(turn[0] - turn[1] + one.curvature * slip))));
    [e2 + slip, e2]
}

/// The tangent plane with a basis.
pub(super) struct Tangent {
    pub(super) basis: [Vector3<f64>; 2],
}

impl Tangent {
    /// Two unit vectors across n (Duff et al. 2017).
    pub(super) fn new(n: &Vector3<f64>) -> Self {
        let sign = 1.0_f64.copysign(n.z);
        let a = -1.0 / (sign + n.z);
        let b = n.x * n.y * a;
        Self {
            basis: [
                Vector3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x),
                Vector3::new(b, sign + n.y * n.y * a, -n.y),
            ],
        }
    }

    pub(super) fn down(&self, x: &Vector3<f64>) -> Vector2<f64> {
        Vector2::new(self.basis[0].dot(x), self.basis[1].dot(x))
    }

    fn up(&self, x: &Vector2<f64>) -> Vector3<f64> {
        self.basis[0] * x.x + self.basis[1] * x.y
    }

    pub(super) fn matrix(&self, m: &Matrix3<f64>) -> Matrix2<f64> {
        let [a, b] = [self.down(&(m * self.basis[0])), self.down(&(m * self.basis[1]))];
        Matrix2::from_columns(&[a, b])
    }

    /// A curvature in its principal axes.
    fn curvature(&self, m: &Matrix3<f64>) -> Principal {
        let m = self.matrix(m);
        let (mean, half, cross) = (0.5 * (m.m11 + m.m22), 0.5 * (m.m11 - m.m22), 0.5 * (m.m12 + m.m21));
        let spread = libm::hypot(half, cross);
        let angle = 0.5 * libm::atan2(cross, half);
        let axis = Vector2::new(libm::cos(angle), libm::sin(angle));
        Principal { least: mean - spread, most: mean + spread, axis }
    }
}

/// A symmetric matrix of two rows, by its principal values; the axis of the greater.
struct Principal {
    least: f64,
    most: f64,
    axis: Vector2<f64>,
}

impl Principal {
    /// K⁻¹, or the inverse along the directions that are not flat: below `flattest` a curvature counts as flat, and below `still`
    /// w along a flat counts as zero.
    fn inverse(&self, w: &Vector2<f64>, flattest: f64, still: f64) -> (Matrix2<f64>, Fit) {
        let across = Vector2::new(-self.axis.y, self.axis.x);
        let floor = flattest.max(FLATTEST * self.most);
        let mut inverse = Matrix2::zeros();
        let mut fit = Fit::Curved;
        for (value, axis) in [(self.most, &self.axis), (self.least, &across)] {
            if value > floor {
                inverse += axis * axis.transpose() / value;
            } else if w.dot(axis).abs() > still {
                fit = Fit::Rocking;
            } else if fit == Fit::Curved {
                fit = Fit::Flat;
            }
        }
        (inverse, fit)
    }
}
