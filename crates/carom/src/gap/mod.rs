//! The gap: the signed distance of two bodies, with its normal and contact points.
//!
//! One definition serves bodies apart and bodies overlapping (theory, section 3):
//!
//! ```text
//! g = max over unit n of  f(n) = n·(c₂ − c₁) − h₁(R₁ᵀn) − h₂(R₂ᵀn)
//! ```
//!
//! the distance when positive, minus the depth of penetration (the shortest translation that parts the bodies) when
//! negative, smooth through zero. At the maximum the points P = c₁ + s₁(n), Q = c₂ − s₂(n) satisfy Q − P = g n.
//!
//! **How.** `dual` climbs f over the unit sphere by Newton steps within a trust region. Between quadrics (sphere,
//! ellipsoid) it ends with full accuracy by itself. Where an exponent exceeds two, f has infinite curvature on the
//! rings n_i = 0 and a point is not determined by a rounded normal; `primal` then solves Q − P = g n with the two surface
//! points as unknowns, in which everything is smooth. Should both stop on what looks like a kink (exponents far above
//! ten), the bodies are rounded and sharpened again step by step. Spheres and points are searched for by their centre,
//! and their radius is taken off in the end.
//!
//! **What is guaranteed.** Every f(n) is a lower bound of g, so a gap is never overstated beyond rounding. Where
//! Q − P = g n holds, with d = c₂ − c₁ = x + g n and x on the boundary of the sum K of the bodies, every unit n' has
//!
//! ```text
//! f(n') = n'·x − h_K(n') + g n·n' ≤ g − (1 − n·n')(ρ + g)
//! ```
//!
//! ρ being the sum of the rolling radii: a ball of radius ρ touches K at x from within. So the answer is the global
//! maximum whenever g > −ρ: always apart, touching, and in shallow overlap. Deeper, several local maxima can exist; the
//! best of the climbs from a fixed set of directions is taken, and that it is the global one rests on tests, not on
//! proof.
//!
//! The search stops after a bounded number of steps. Not proved is that it always arrives; in the tests it always did.

mod dual;
mod primal;

use nalgebra::{Isometry3, Matrix3, Vector3};

use crate::shape::{HalfSpace, Shape, length, unit};
use dual::{Ascent, Pair};

/// The gap between two bodies, or a body and a plane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The signed distance g; negative when overlapping.
    pub gap: f64,
    /// The unit normal, from the first body to the second; for a plane, the plane's own.
    pub normal: Vector3<f64>,
    /// The contact points in the world, on the first body and on the second; for a plane, on the body and on the
    /// plane.
    pub points: [Vector3<f64>; 2],
    /// How many Newton steps it took, over all starts; zero for a closed form.
    pub iterations: u32,
}

/// The gap between two bodies; `None` between two points, which have no normal when they meet.
///
/// Accurate to a few units of rounding of the larger of the bodies' sizes and their distance. The contact points are
/// as well determined as the geometry lets them: where both bodies are flat they may be anywhere on the flat, but
/// Q − P = g n all the same.
#[must_use]
pub fn gap(first: (&Shape, &Isometry3<f64>), second: (&Shape, &Isometry3<f64>)) -> Option<Gap> {
    let apart = second.1.translation.vector - first.1.translation.vector;
    let sizes = [first.0.circumradius(), second.0.circumradius()];
    let scale = sizes[0].max(sizes[1]);
    if scale == 0.0 {
        return None;
    }
    // Sizes near one, so that nothing below overflows; a power of two, so that nothing is rounded.
    let scale = power_of_two(scale.max(apart.amax()));
    let cores = [core_of(first, scale), core_of(second, scale)];
    let offset = apart / scale;
    let found = match (&cores[0].0, &cores[1].0) {
        (None, None) => between_centres(&offset),
        (Some(one), other) => search(one, other.as_ref(), &offset),
        // The body with an extent goes first; the mirror image has the same gap.
        (None, Some(other)) => search(other, None, &-offset).mirrored(),
    };
    Some(Gap {
        gap: (found.gap - cores[0].1 - cores[1].1) * scale,
        normal: found.normal,
        points: [
            first.1.translation.vector + (found.points[0] + found.normal * cores[0].1) * scale,
            second.1.translation.vector + (found.points[1] - found.normal * cores[1].1) * scale,
        ],
        iterations: found.iterations,
    })
}

/// The gap between a body and a half-space: g = n·c − offset − h(−Rᵀn), in closed form.
///
/// The normal is the plane's, from the plane into the free side; the points are the body's lowest point P and its foot
/// Q on the plane, so that **P − Q = g n**: the plane counts as what is pushed from.
#[must_use]
pub fn gap_to_plane(shape: &Shape, pose: &Isometry3<f64>, plane: &HalfSpace) -> Gap {
    let normal = *plane.normal;
    let centre = pose.translation.vector;
    let down = pose.rotation.inverse_transform_vector(&-normal);
    let gap = plane.height(&centre) - shape.support_height(&down);
    let lowest = centre + pose.rotation * shape.support(&down);
    Gap { gap, normal, points: [lowest, lowest - normal * gap], iterations: 0 }
}

/// A body turned but not placed: vectors from its centre, in world axes.
struct Turned {
    shape: Shape,
    axes: Matrix3<f64>,
}

impl Turned {
    /// The body with no exponent above p.
    fn rounded(&self, p: f64) -> Self {
        let shape = match self.shape {
            Shape::Superellipsoid { semi_axes, exponent } => {
                Shape::Superellipsoid { semi_axes, exponent: exponent.min(p) }
            }
            other => other,
        };
        Self { shape, axes: self.axes }
    }

    fn exponent(&self) -> f64 {
        if let Shape::Superellipsoid { exponent, .. } = self.shape { exponent } else { 2.0 }
    }

    fn height(&self, n: &Vector3<f64>) -> f64 {
        self.shape.support_height(&self.axes.tr_mul(n))
    }

    fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        self.axes * self.shape.support(&self.axes.tr_mul(n))
    }

    fn support_hessian(&self, n: &Vector3<f64>) -> Matrix3<f64> {
        self.axes * self.shape.support_hessian(&self.axes.tr_mul(n)) * self.axes.transpose()
    }
}

/// What a search returns: points from each body's own centre, radii of round bodies not yet taken off.
#[derive(Clone, Copy)]
struct Found {
    gap: f64,
    normal: Vector3<f64>,
    points: [Vector3<f64>; 2],
    iterations: u32,
    /// Whether Q − P = g n holds to rounding.
    settled: bool,
}

impl Found {
    /// The higher of two; of two as high to rounding, the one whose points fit.
    fn or_better(self, other: Self, rounding: f64) -> Self {
        let margin = if other.settled == self.settled { 0.0 } else { 16.0 * rounding };
        let margin = if other.settled { -margin } else { margin };
        if other.gap > self.gap + margin { other } else { self }
    }

    /// The same with the bodies exchanged.
    fn mirrored(self) -> Self {
        Self { normal: -self.normal, points: [self.points[1], self.points[0]], ..self }
    }
}

/// A body without the radius of a ball, and that radius: h(n) = h_core(n) + radius.
fn core_of((shape, pose): (&Shape, &Isometry3<f64>), scale: f64) -> (Option<Turned>, f64) {
    match *shape {
        Shape::Point => (None, 0.0),
        Shape::Sphere { radius } => (None, radius / scale),
        _ => {
            let axes = pose.rotation.to_rotation_matrix().into_inner();
            (Some(Turned { shape: shape.scaled(scale.recip()), axes }), 0.0)
        }
    }
}

/// Two centres. Concentric balls have the same depth in every direction: the x axis stands for all.
fn between_centres(offset: &Vector3<f64>) -> Found {
    let normal = if *offset == Vector3::zeros() { Vector3::x() } else { unit(offset) };
    Found { gap: length(offset), normal, points: [Vector3::zeros(); 2], iterations: 0, settled: true }
}

/// The gap of a body and another, or a point.
fn search(one: &Turned, other: Option<&Turned>, offset: &Vector3<f64>) -> Found {
    let pair = Pair { one, other, offset };
    let first = if *offset == Vector3::zeros() { one.axes.column(0).into_owned() } else { unit(offset) };
    let mut best = climb(&pair, &first);
    // ρ of the module's guarantee.
    let rolling = one.shape.rolling_radius() + other.map_or(0.0, |other| other.shape.rolling_radius());
    if best.settled && best.gap > -rolling {
        return best;
    }
    let mut iterations = best.iterations;
    let starts = starts(&pair);
    // A start that stops on a saddle or a kink is one of many: they are sharpened only if none does better.
    for from in [ascend, climb] {
        for start in &starts {
            let found = from(&pair, start);
            iterations += found.iterations;
            best = best.or_better(found, pair.rounding());
        }
        if best.settled {
            break;
        }
    }
    Found { iterations, ..best }
}

/// The separating axes of two boxes, and how many of the fan's directions are climbed from.
const AXES: usize = 15;
const FROM_FAN: usize = 4;

/// The directions deep overlaps are searched from, each on the side of the other centre, because
/// f(n) − f(−n) = 2 n·(c₂ − c₁): the separating axes of two boxes, which is what bodies of large exponent look like (the
/// axes of both, and the cross products of one's with the other's), and the highest of a fixed fan. Trying only the
/// highest half of the axes is twice as fast and missed one deep overlap in 80 000.
fn starts(pair: &Pair) -> [Vector3<f64>; AXES + FROM_FAN] {
    let axes = pair.one.axes;
    let others = pair.other.map_or(axes, |other| other.axes);
    let separating = |k: usize| match k {
        0..3 => axes.column(k).into_owned(),
        3..6 => others.column(k - 3).into_owned(),
        // Parallel axes have no cross product; either of them stands in.
        _ => {
            let (one, other) = (axes.column(k % 3), others.column(k / 3 - 2));
            one.cross(&other).try_normalize(1e-6).unwrap_or(one.into_owned())
        }
    };
    let from_axes: [_; AXES] = highest(pair, (0..AXES).map(separating));
    let from_fan: [_; FROM_FAN] = highest(pair, (0..FAN).map(fan));
    core::array::from_fn(|i| if i < AXES { from_axes[i] } else { from_fan[i - AXES] })
}

/// The N directions of the list, turned to the other centre, where f is highest, the highest first.
fn highest<const N: usize>(pair: &Pair, list: impl Iterator<Item = Vector3<f64>>) -> [Vector3<f64>; N] {
    let mut kept = [(f64::NEG_INFINITY, Vector3::x()); N];
    for n in list {
        let n = if n.dot(pair.offset) < 0.0 { -n } else { n };
        let mut entry = (pair.value(&n), n);
        for slot in &mut kept {
            if entry.0 > slot.0 {
                core::mem::swap(&mut entry, slot);
            }
        }
    }
    kept.map(|(_, n)| n)
}

/// How many directions the fan has.
const FAN: u32 = 48;

/// Half a sphere of nearly even directions: a spiral that turns by the golden angle.
fn fan(k: u32) -> Vector3<f64> {
    let z = (f64::from(k) + 0.5) / f64::from(FAN);
    let turn = 2.399_963_229_728_653 * f64::from(k);
    let across = libm::sqrt(1.0 - z * z);
    Vector3::new(across * libm::cos(turn), across * libm::sin(turn), z)
}

/// From one direction to a maximum of f. Where the exponent is so large that edges look like kinks and the climb
/// stops on one, the bodies are rounded to a small exponent and sharpened again step by step.
fn climb(pair: &Pair, start: &Vector3<f64>) -> Found {
    let direct = ascend(pair, start);
    let sharpest = pair.sharpest();
    if direct.settled || sharpest <= ROUNDEST {
        return direct;
    }
    let mut iterations = direct.iterations;
    let mut exponent = ROUNDEST;
    let mut found = Found { normal: *start, ..direct };
    loop {
        let one = pair.one.rounded(exponent);
        let other = pair.other.map(|other| other.rounded(exponent));
        let rounded = Pair { one: &one, other: other.as_ref(), offset: pair.offset };
        let (polished, steps) = primal::polish(&rounded, &Found { gap: f64::NEG_INFINITY, ..found });
        iterations += steps;
        found = polished.unwrap_or_else(|| {
            let found = ascend(&rounded, &found.normal);
            iterations += found.iterations;
            found
        });
        if exponent >= sharpest {
            return Found { iterations, ..direct.or_better(found, pair.rounding()) };
        }
        exponent = (SHARPENING * exponent).min(sharpest);
    }
}

/// The exponent sharpening starts from, and its factor.
const ROUNDEST: f64 = 6.0;
const SHARPENING: f64 = 1.5;

/// By the normal; then, for bodies with flats, by the points.
fn ascend(pair: &Pair, start: &Vector3<f64>) -> Found {
    let mut ascent = Ascent::new(pair, start);
    if pair.is_quadric() {
        while ascent.step() {}
        return ascent.found();
    }
    let mut iterations = 0;
    let mut next_try = FIRST_TRY;
    loop {
        let more = ascent.step();
        if !more || ascent.steps() >= next_try {
            let (found, steps) = primal::polish(pair, &ascent.found());
            iterations += steps;
            if let Some(found) = found {
                return Found { iterations: iterations + ascent.steps(), ..found };
            }
            next_try *= 2;
        }
        if !more {
            return Found { iterations: iterations + ascent.steps(), ..ascent.found() };
        }
    }
}

/// After how many dual steps the points are first tried; doubled after each failure.
const FIRST_TRY: u32 = 3;

/// Two unit vectors that complete a unit n to a right-handed frame (Duff et al. 2017), without branches in direction.
fn tangents(n: &Vector3<f64>) -> [Vector3<f64>; 2] {
    let sign = 1.0_f64.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    [
        Vector3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x),
        Vector3::new(b, sign + n.y * n.y * a, -n.y),
    ]
}

/// The power of two next below x > 0.
fn power_of_two(x: f64) -> f64 {
    let (_, exponent) = libm::frexp(x);
    libm::ldexp(1.0, exponent - 1)
}
