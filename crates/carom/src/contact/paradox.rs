//! Finding a paradox: a contact of two given bodies at which nothing closes and free flight penetrates.
//!
//! At a contact of two free bodies g'' is a quadratic form in the velocities, since Euler's equations are, and g'''
//! a cubic one. So with the bodies placed to touch, and the velocities restricted to those with v = 0 and
//!
//! ```text
//! paradox_2b_star    u = 0, ω₂ = ω₁ + s n                    (w = 0)
//! paradox_2b         ω₂ = ω₁ + n×H₁u + s n                   (w = 0)
//! paradox_marginal   any u across n, ω₁, ω₂
//! ```
//!
//! one equation is left, g'' = 0. The form's eigenvalues tell whether it has negative values at all; between two
//! motions at which it has different signs Newton's method finds a zero; reversing all velocities changes the sign
//! of g''' and of nothing else, so one of the two ways round is a paradox unless g''' = 0 as well. What is found is
//! then certified by what knows nothing of derivatives: the exact gap along the exact flight, on both sides, and
//! the search for first contacts before.
//!
//! **Where none exists.** Two homogeneous ellipsoids have no `paradox_2b_star`: n·v̇ ≤ 0 at every surface point
//! of a free homogeneous ellipsoid, n its outward normal (\[PVWZ\]), so that a = n·(v̇_Q − v̇_P) ≥ 0, and no case is
//! left with a = 0 and g''' < 0. In the plane no shapes have one: without slip and with w = 0 the bodies
//! turn together, and a = ω² n·(c₂−c₁) > 0. Two balls have none of any type: their gap is the distance of the
//! centres, which move uniformly: g'' ≥ 0.

use core::f64::consts::TAU;

use nalgebra::{Quaternion, SMatrix, UnitQuaternion, Vector3};

use super::classify::{Classification, Tolerances, Type, classify};
use super::kinematics::{Facing, Kinematics, Moving, Tangent, kinematics};
use crate::body::{Body, State};
use crate::gap::{Gap, gap};
use crate::motion::{Derivatives, Flight};
use crate::shape::{Shape, unit};
use crate::toi::{self, Meeting, Window, first_contact};

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Quest {
    /// The two bodies.
    pub bodies: [Body; 2],
    /// The type, one of the three paradoxes.
    pub kind: Type,
    /// Whether the motion is to be in the plane of the bodies' first two axes.
    pub planar: bool,
    /// Where to start: the same seed gives the same answer.
    pub seed: u64,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Here is one.
    Found(Box<Paradox>),
    /// None exists, for this reason.
    Impossible(Impossibility),
    /// None was found at this many contacts.
    NotFound(u32),
}

/// Why there is no such paradox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Impossibility {
    /// A body is a point or fixed.
    #[error("a paradox is a contact of two free bodies with an extent")]
    NotFree,
    /// The type asked for is not a paradox.
    #[error("not a type of paradox")]
    NotAParadox,
    /// Both bodies are balls: g'' ≥ 0.
    #[error("the gap of two balls is that of their centres, which move uniformly: g'' is never negative")]
    Balls,
    /// In the plane, without slip and with w = 0: g'' > 0.
    #[error(
        "in the plane, without slip and with w = 0, the bodies turn together, and g'' = ω² n·(c₂−c₁) > 0"
    )]
    PlanarWithoutSlip,
    /// Two homogeneous ellipsoids without slip: g'' ≥ 0.
    #[error(
        "n·v̇ ≤ 0 all over a free homogeneous ellipsoid, so that without slip g'' ≥ 0 between two of them"
    )]
    EllipsoidsWithoutSlip,
    /// Superellipsoids in the plane: the type is degenerate.
    #[error(
        "superellipsoids of exponents above 2 are flat across their common plane: the type is degenerate"
    )]
    FlatAcrossThePlane,
}

/// A paradox with its proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Paradox {
    /// The states at the contact; the first body is unturned, at rest, at the origin.
    pub states: [State; 2],
    /// Its type and numbers.
    pub class: Classification,
    /// Why it is one.
    pub certificate: Certificate,
    /// How many contacts were tried.
    pub tries: u32,
}

/// Separated before, penetrating after if passed.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// Times before the contact, latest first, and the exact gap there: positive.
    pub before: Vec<(f64, f64)>,
    /// Times after it and the exact gap there, if the bodies fly on freely: negative.
    pub after: Vec<(f64, f64)>,
    /// From this time to the first of `before` nothing touches: certified by [`first_contact`].
    pub apart_since: f64,
}

/// The most contacts tried.
pub const MOST_TRIES: u32 = 20_000;

/// How many motions are tried at a contact that has some with g'' < 0.
const MOTIONS: u32 = 8;

/// How negative a value of the form g'' must be beside its greatest.
const INDEFINITE: f64 = 1e-4;

/// The gap, relative to the size, by which the certificate's first times are chosen: well above rounding.
const VISIBLE: f64 = 1e-9;

/// How large g''' must be beside its terms, so that the paradox is plain.
const PLAIN: f64 = 1e-3;

/// The least relative curvature, times the size: flatter contacts are left alone.
const FLATTEST: f64 = 0.05;

/// Looks for a paradox.
#[must_use]
pub fn find(quest: &Quest) -> Outcome {
    if let Some(reason) = impossible(quest) {
        return Outcome::Impossible(reason);
    }
    let mut source = Source(quest.seed);
    for tries in 1..=MOST_TRIES {
        let Some(place) = Place::new(quest, &mut source) else { continue };
        if let Some((states, class, certificate)) = place.solve(quest, &mut source) {
            return Outcome::Found(Box::new(Paradox { states, class, certificate, tries }));
        }
    }
    Outcome::NotFound(MOST_TRIES)
}

/// Why no such paradox exists, where that is proved.
#[must_use]
pub fn impossible(quest: &Quest) -> Option<Impossibility> {
    let exponent = |shape: &Shape| match *shape {
        Shape::Superellipsoid { exponent, .. } => exponent,
        _ => 2.0,
    };
    let homogeneous = |body: &Body| {
        let expected = body.shape.unit_inertia() * body.mass;
        (body.inertia - expected).amax() <= 1e-12 * expected.amax()
    };
    let balls = quest.bodies.iter().all(|b| matches!(b.shape, Shape::Sphere { .. }));
    let ellipsoids = quest.bodies.iter().all(|b| exponent(&b.shape) <= 2.0 && homogeneous(b));
    if quest.bodies.iter().any(|b| b.shape == Shape::Point || b.fixed) {
        Some(Impossibility::NotFree)
    } else if !quest.kind.is_paradox() {
        Some(Impossibility::NotAParadox)
    } else if balls {
        Some(Impossibility::Balls)
    } else if quest.kind == Type::Paradox2bStar && quest.planar {
        Some(Impossibility::PlanarWithoutSlip)
    } else if quest.kind == Type::Paradox2bStar && ellipsoids {
        Some(Impossibility::EllipsoidsWithoutSlip)
    } else if quest.planar && quest.bodies.iter().all(|b| exponent(&b.shape) > 2.0) {
        Some(Impossibility::FlatAcrossThePlane)
    } else {
        None
    }
}

/// Two bodies placed to touch.
struct Place<'a> {
    bodies: &'a [Body; 2],
    states: [State; 2],
    at: Gap,
    /// H₁ etc. of bodies at rest.
    still: Kinematics,
    /// Across n; in the plane the first lies in it.
    tangents: [Vector3<f64>; 2],
}

/// A motion in eight numbers: ω₁, then u along the tangents, then ω₂ or, where w = 0, its part along n.
type Motion = [f64; 8];

impl<'a> Place<'a> {
    fn new(quest: &'a Quest, source: &mut Source) -> Option<Self> {
        let [one, two] = &quest.bodies;
        let local = [one, two].map(|body| body.shape.osculate(&source.direction(quest.planar)));
        let n = local[0].normal;
        let turn = if quest.planar {
            let angle = |v: &Vector3<f64>| libm::atan2(v.y, v.x);
            about(&Vector3::z(), angle(&-n) - angle(&local[1].normal))
        } else {
            about(&n, source.below(TAU)) * between(&local[1].normal, &-n)?
        };
        let states = [
            State::at(Vector3::zeros()),
            State { orientation: turn, ..State::at(local[0].point - turn * local[1].point) },
        ];
        let at = gap((&one.shape, &states[0].pose()), (&two.shape, &states[1].pose()))?;
        let size = one.shape.circumradius() + two.shape.circumradius();
        let still = kinematics_of(&quest.bodies, &states, &at);
        let first = if quest.planar {
            unit(&Vector3::z().cross(&at.normal))
        } else {
            Tangent::new(&at.normal).basis[0]
        };
        let tangents = [first, at.normal.cross(&first)];
        let sound = at.gap.abs() <= 1e-12 * size && still.relative_curvature[0] * size >= FLATTEST;
        sound.then_some(Self { bodies: &quest.bodies, states, at, still, tangents })
    }

    /// The states with a motion, as the type restricts it.
    fn moving(&self, quest: &Quest, motion: &Motion) -> [State; 2] {
        let [a, b, c, d, e, f, g, h] = *motion;
        let n = self.at.normal;
        let flat = if quest.planar { Vector3::z() } else { Vector3::repeat(1.0) };
        let spin = Vector3::new(a, b, c).component_mul(&flat);
        let slides = if quest.kind == Type::Paradox2bStar { 0.0 } else { 1.0 };
        let across = if quest.planar { 0.0 } else { e };
        let u = (self.tangents[0] * d + self.tangents[1] * across) * (slides * self.arm());
        let other = if quest.kind == Type::ParadoxMarginal {
            Vector3::new(f, g, h).component_mul(&flat)
        } else {
            let along = if quest.planar { 0.0 } else { f };
            (spin + n.cross(&(self.still.curvature_1 * u)) + n * along).component_mul(&flat)
        };
        let [p, q] = self.still.arms;
        let mut states = self.states;
        states[0].angular_velocity = spin;
        states[1].angular_velocity = other;
        states[1].velocity = spin.cross(&p) + u - other.cross(&q);
        states
    }

    /// A length that turns spins into speeds.
    fn arm(&self) -> f64 {
        0.5 * (self.still.arms[0].norm() + self.still.arms[1].norm())
    }

    fn g2(&self, quest: &Quest, motion: &Motion) -> f64 {
        kinematics_of(self.bodies, &self.moving(quest, motion), &self.at).g2
    }

    /// g'' as a form in the motion: its values on the axes and their sums.
    fn form(&self, quest: &Quest) -> SMatrix<f64, 8, 8> {
        let axis = |i: usize| -> Motion { core::array::from_fn(|k| if k == i { 1.0 } else { 0.0 }) };
        let squares: [f64; 8] = core::array::from_fn(|i| self.g2(quest, &axis(i)));
        SMatrix::from_fn(|i, j| {
            if i == j {
                return squares[i];
            }
            let sum: Motion = core::array::from_fn(|k| if k == i || k == j { 1.0 } else { 0.0 });
            0.5 * (self.g2(quest, &sum) - squares[i] - squares[j])
        })
    }

    /// A motion with g'' = 0 that is a paradox of the type, certified.
    fn solve(&self, quest: &Quest, source: &mut Source) -> Option<([State; 2], Classification, Certificate)> {
        // Where the form has no negative value there is nothing to find.
        let form = self.form(quest).symmetric_eigen();
        let (lowest, least) = form.eigenvalues.argmin();
        if least >= -INDEFINITE * form.eigenvalues.amax() {
            return None;
        }
        let down: Motion = core::array::from_fn(|i| form.eigenvectors[(i, lowest)]);
        for _ in 0..MOTIONS {
            let up: Motion = core::array::from_fn(|_| source.below(2.0) - 1.0);
            let value = self.g2(quest, &up);
            if value <= 0.0 {
                continue;
            }
            let motion = self.root(quest, (down, self.g2(quest, &down)), (up, value));
            let forward = self.moving(quest, &motion);
            let reversed =
                |s: State| State { velocity: -s.velocity, angular_velocity: -s.angular_velocity, ..s };
            for states in [forward, forward.map(reversed)] {
                let class = classify_pair(self.bodies, &states, &self.at);
                let plain = class.kinematics.g3.abs() >= PLAIN * class.scales.jerk;
                if class.kind == quest.kind
                    && plain
                    && let Some(proof) = certify(self.bodies, &states, &class)
                {
                    return Some((states, class, proof));
                }
            }
        }
        None
    }

    /// g'' = 0 between two motions, by Newton's method kept between the signs: along a line g'' is a quadratic.
    fn root(&self, quest: &Quest, down: (Motion, f64), up: (Motion, f64)) -> Motion {
        let on_line =
            |part: f64| -> Motion { core::array::from_fn(|i| down.0[i] + part * (up.0[i] - down.0[i])) };
        let middle = self.g2(quest, &on_line(0.5));
        // Through the three values g'' = b x + a x² beyond the first.
        let a = 2.0 * (up.1 + down.1) - 4.0 * middle;
        let b = up.1 - down.1 - a;
        let (mut low, mut high, mut part) = (0.0, 1.0, 0.5);
        let mut best = (f64::INFINITY, part);
        for _ in 0..60 {
            let value = self.g2(quest, &on_line(part));
            if value.abs() < best.0 {
                best = (value.abs(), part);
            }
            if value < 0.0 {
                low = part
            } else {
                high = part
            }
            let step = part - value / (b + 2.0 * a * part);
            let next = if step > low && step < high { step } else { 0.5 * (low + high) };
            if next == part || value == 0.0 {
                break;
            }
            part = next;
        }
        on_line(best.1)
    }
}

fn moving<'a>(body: &'a Body, state: &State) -> Moving<'a> {
    let derivatives = Derivatives::new(body, state, &Vector3::zeros());
    Moving { shape: &body.shape, state: *state, derivatives }
}

fn kinematics_of(bodies: &[Body; 2], states: &[State; 2], at: &Gap) -> Kinematics {
    kinematics(&Facing::Body(moving(&bodies[0], &states[0])), &moving(&bodies[1], &states[1]), at)
}

fn classify_pair(bodies: &[Body; 2], states: &[State; 2], at: &Gap) -> Classification {
    let first = Facing::Body(moving(&bodies[0], &states[0]));
    classify(&first, &moving(&bodies[1], &states[1]), at, Tolerances::default())
}

/// The turn about a unit axis by an angle.
fn about(axis: &Vector3<f64>, angle: f64) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(Quaternion::from_parts(
        libm::cos(0.5 * angle),
        axis * libm::sin(0.5 * angle),
    ))
}

/// The shortest turn of one unit vector into another; `None` if they are opposite.
fn between(from: &Vector3<f64>, to: &Vector3<f64>) -> Option<UnitQuaternion<f64>> {
    let part = 1.0 + from.dot(to);
    (part > 1e-6).then(|| UnitQuaternion::new_normalize(Quaternion::from_parts(part, from.cross(to))))
}

/// The proof by the exact gap; none if it fails, as where the bodies meet earlier.
fn certify(bodies: &[Body; 2], states: &[State; 2], class: &Classification) -> Option<Certificate> {
    let zero = Vector3::zeros();
    let flights = [0, 1].map(|k| Flight::new(&bodies[k], &states[k], &zero));
    let gap_at = |t: f64| {
        gap((&bodies[0].shape, &flights[0].at(t).pose()), (&bodies[1].shape, &flights[1].at(t).pose()))
            .map(|found| found.gap)
    };
    let first = libm::cbrt(6.0 * VISIBLE * class.scales.length / class.kinematics.g3.abs());
    let mut certificate = Certificate { before: Vec::new(), after: Vec::new(), apart_since: 0.0 };
    let mut t = first;
    for _ in 0..4 {
        let (before, after) = (gap_at(-t)?, gap_at(t)?);
        if before <= 0.0 || after >= 0.0 {
            return None;
        }
        certificate.before.push((-t, before));
        certificate.after.push((t, after));
        t *= 2.0;
    }
    // At least as far back as the exact gaps, and a tenth of the time that the motion takes over the bodies' size.
    let since = -(0.1 * class.scales.length / class.scales.speed).max(t);
    let [one, two] = [0, 1].map(|k| toi::Moving::new(&bodies[k].shape, &flights[k]));
    let search = first_contact(one, two, Window::new(since, -first));
    certificate.apart_since = since;
    (search.meeting == Meeting::Apart).then_some(certificate)
}

/// Random numbers by SplitMix64 (Steele, Lea and Flood 2014).
struct Source(u64);

impl Source {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, x).
    fn below(&mut self, x: f64) -> f64 {
        // 53 bits, which a float holds.
        #[expect(clippy::cast_precision_loss, reason = "at most 53 bits")]
        let bits = (self.next() >> 11) as f64;
        x * bits * f64::EPSILON * 0.5
    }

    /// A unit vector; in the plane, one of it.
    fn direction(&mut self, planar: bool) -> Vector3<f64> {
        let angle = self.below(TAU);
        let z = if planar { 0.0 } else { self.below(2.0) - 1.0 };
        let r = libm::sqrt(1.0 - z * z);
        Vector3::new(r * libm::cos(angle), r * libm::sin(angle), z)
    }
}
