//! The gap: the signed distance of two bodies, with its normal and contact points.
//!
//! One definition serves bodies apart and bodies overlapping (theory, section 3):
//!
//! ```text
//! g = max over unit n of  f(n) = n·(c₂ − c₁) − h₁(R₁ᵀn) − h₂(−R₂ᵀn)
//! ```
//!
//! the distance when positive, minus the depth of penetration (the shortest translation that parts the bodies) when
//! negative, smooth through zero. At the maximum the points P = c₁ + s₁(n), Q = c₂ + s₂(−n) satisfy Q − P = g n.
//!
//! **How.** `dual` climbs f over the unit sphere by Newton steps within a trust region. Where every curvature is
//! positive it ends with full accuracy by itself, and mostly so elsewhere. But where an exponent exceeds two, f has
//! infinite curvature on the rings n_i = 0, and a point is not determined by a rounded normal: a climb that slows down is
//! handed to `primal`, which solves Q − P = g n with the two surface points as unknowns, in which everything is smooth.
//! A slender body on a flat is too much for both: the flat's point does not follow from the normal, nor the normal from the
//! rounded point of a sharp tip. What neither ends to rounding is finished by `mixed`, in coordinates that suit each body
//! (`chart`). Should all stop on what looks like a kink (exponents far above ten), the bodies are rounded and sharpened again
//! step by step. Balls and points are searched for by their centre, and their radius is taken off in the end. Where a body has
//! flats, edges and corners, `sharp` finds which of them meet.
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
//! The search stops after a bounded number of steps. Not proved is that it always arrives; in the tests it always did. Every
//! answer carries what is left of Q − P − g n, [`Gap::residual`], and a search in time ends undecided where that is not small.
#![deny(clippy::disallowed_methods, clippy::std_instead_of_core, clippy::std_instead_of_alloc)]

mod chart;
mod dual;
mod mixed;
mod primal;
mod search;
mod sharp;

use nalgebra::{Isometry3, Matrix2, Matrix3, Vector3};

use crate::shape::{Convex, HalfSpace, Osculation, Sharp, length, unit};
use search::{search, search_at_once};

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
    /// |Q − P − g n|: rounding, or more where the search did not arrive. The points are then no contact points, and the gap
    /// is a lower bound. Both always lie on their surfaces.
    pub residual: f64,
}

/// The gap between two bodies; `None` between two points, which have no normal when they meet.
///
/// Accurate to a few units of rounding of the larger of the bodies' sizes and their distance. The contact points are
/// as well determined as the geometry lets them: where both bodies are flat they may be anywhere on the flat, but
/// Q − P = g n all the same.
#[must_use]
pub fn gap<A: Convex, B: Convex>(first: (&A, &Isometry3<f64>), second: (&B, &Isometry3<f64>)) -> Option<Gap> {
    Some(closest(first, second, &Hint::NOTHING)?.gap)
}

/// [`gap`], searched for from a normal that is likely close, such as that of an instant before; the same answer to
/// rounding, sooner.
///
/// Any vector will do. Where the search from there does not arrive, or arrives in an overlap deeper than the guarantee
/// above, the search starts over as [`gap`] does.
#[must_use]
pub fn gap_near<A: Convex, B: Convex>(
    first: (&A, &Isometry3<f64>),
    second: (&B, &Isometry3<f64>),
    normal: &Vector3<f64>,
) -> Option<Gap> {
    Some(closest(first, second, &Hint { normal: Some(*normal), ..Hint::NOTHING })?.gap)
}

/// A gap, with the curvature of both surfaces at its points, each in its body's own axes, where the search came by them.
pub(crate) struct Closest {
    pub gap: Gap,
    pub curvatures: Option<[Matrix3<f64>; 2]>,
}

/// What is known before a search.
#[derive(Clone, Copy)]
pub(crate) struct Hint {
    /// Likely close to the answer's.
    pub normal: Option<Vector3<f64>>,
    /// From each body's centre in world axes, likely close to the contact points. Where a body is flat its normal says
    /// little about the point, and these are much the better start.
    pub points: Option<[Vector3<f64>; 2]>,
    /// An overlap deeper than this, and than the guarantee above, need only be told to be one: the nearest local maximum
    /// will do, which bounds the gap from below.
    pub depth: f64,
}

impl Hint {
    pub const NOTHING: Self = Self { normal: None, points: None, depth: f64::INFINITY };
}

/// [`gap`] with what a search in time knows beforehand.
pub(crate) fn closest<A: Convex, B: Convex>(
    first: (&A, &Isometry3<f64>),
    second: (&B, &Isometry3<f64>),
    hint: &Hint,
) -> Option<Closest> {
    closest_of::<false, A, B>(first, second, hint)
}

/// As above, with the same bits, but only where the search arrives at once, as it nearly always does: nothing otherwise, and nothing where a
/// body has flats, edges or corners.
pub(crate) fn closest_at_once<A: Convex, B: Convex>(
    first: (&A, &Isometry3<f64>),
    second: (&B, &Isometry3<f64>),
    hint: &Hint,
) -> Option<Closest> {
    closest_of::<true, A, B>(first, second, hint)
}

fn closest_of<const AT_ONCE: bool, A: Convex, B: Convex>(
    first: (&A, &Isometry3<f64>),
    second: (&B, &Isometry3<f64>),
    hint: &Hint,
) -> Option<Closest> {
    let apart = second.1.translation.vector - first.1.translation.vector;
    let sizes = [first.0.size(), second.0.size()];
    let scale = sizes[0].max(sizes[1]);
    if scale == 0.0 {
        return None;
    }
    // Sizes near one, so that nothing below overflows; a power of two, so that nothing is rounded.
    let scale = power_of_two(scale.max(apart.amax()));
    let offset = apart / scale;
    let radii = [first.0.ball(), second.0.ball()].map(|ball| ball.map(|radius| radius / scale));
    let hint = Hint {
        depth: hint.depth / scale,
        points: hint.points.map(|points| points.map(|x| x / scale)),
        ..*hint
    };
    let sharp = [sharp_part(first.0), sharp_part(second.0)];
    if sharp.iter().flatten().any(|(sharp, _)| *sharp != Sharp::Point) {
        if AT_ONCE {
            return None;
        }
        return Some(between_sharp(first, second, sharp, &offset, scale, &hint));
    }
    let found = match radii {
        [Some(_), Some(_)] => between_centres(&offset),
        [None, None] => {
            let bodies = (Turned::new(first, sizes[0], scale), Turned::new(second, sizes[1], scale));
            search_of::<AT_ONCE, A, B>(&bodies.0, Some(&bodies.1), &offset, &hint)?
        }
        [None, Some(_)] => {
            let body = Turned::new(first, sizes[0], scale);
            search_of::<AT_ONCE, A, B>(&body, None, &offset, &hint)?
        }
        // The body with an extent goes first, and the bodies are exchanged again afterwards.
        [Some(_), None] => {
            let points = hint.points.map(|[one, other]| [other, one]);
            let hint = Hint { normal: hint.normal.map(|n| -n), points, ..hint };
            let body = Turned::new(second, sizes[1], scale);
            search_of::<AT_ONCE, B, A>(&body, None, &-offset, &hint)?.mirrored()
        }
    };
    let radii = radii.map(|radius| radius.unwrap_or(0.0));
    let curvatures = found.curvatures.map(|pair| pair.map(|curvature| curvature / scale));
    let gap = Gap {
        gap: (found.gap - radii[0] - radii[1]) * scale,
        normal: found.normal,
        points: [
            first.1.translation.vector + (found.points[0] + found.normal * radii[0]) * scale,
            second.1.translation.vector + (found.points[1] - found.normal * radii[1]) * scale,
        ],
        iterations: found.iterations,
        residual: found.residual * scale,
    };
    Some(Closest { gap, curvatures })
}

fn search_of<const AT_ONCE: bool, A: Convex, B: Convex>(
    one: &Turned<A>,
    other: Option<&Turned<B>>,
    offset: &Vector3<f64>,
    hint: &Hint,
) -> Option<Found> {
    if AT_ONCE { search_at_once(one, other, offset, hint) } else { Some(search(one, other, offset, hint)) }
}

/// A body as a sharp one grown by a ball, if it is that.
fn sharp_part<S: Convex>(shape: &S) -> Option<(Sharp, f64)> {
    shape.sharp().or_else(|| shape.ball().map(|radius| (Sharp::Point, radius)))
}

/// Two bodies of which one at least has flats, edges or corners, in units of the scale.
fn between_sharp<A: Convex, B: Convex>(
    first: (&A, &Isometry3<f64>),
    second: (&B, &Isometry3<f64>),
    sharp: [Option<(Sharp, f64)>; 2],
    offset: &Vector3<f64>,
    scale: f64,
    hint: &Hint,
) -> Closest {
    let axes = |pose: &Isometry3<f64>| pose.rotation.to_rotation_matrix().into_inner();
    let [one, two] = sharp.map(|part| part.map(|(sharp, _)| sharp));
    let one = sharp::Side::new(first.0, one, axes(first.1), scale);
    let two = sharp::Side::new(second.0, two, axes(second.1), scale);
    let roundings = sharp.map(|part| part.map_or(0.0, |(_, rounding)| rounding) / scale);
    let depth = hint.depth - roundings[0] - roundings[1];
    let found = sharp::search(&one, &two, offset, hint.normal.as_ref(), depth);
    let gap = Gap {
        gap: (found.gap - roundings[0] - roundings[1]) * scale,
        normal: found.normal,
        points: [
            first.1.translation.vector + (found.points[0] + found.normal * roundings[0]) * scale,
            second.1.translation.vector + (found.points[1] - found.normal * roundings[1]) * scale,
        ],
        iterations: found.iterations,
        residual: found.residual * scale,
    };
    Closest { gap, curvatures: None }
}

/// The gap between a body and a half-space: g = n·c − offset − h(−Rᵀn), in closed form.
///
/// The normal is the plane's, from the plane into the free side; the points are the body's lowest point P and its foot
/// Q on the plane, so that **P − Q = g n**: the plane counts as what is pushed from.
#[must_use]
pub fn gap_to_plane<S: Convex>(shape: &S, pose: &Isometry3<f64>, plane: &HalfSpace) -> Gap {
    let normal = *plane.normal;
    let centre = pose.translation.vector;
    let down = pose.rotation.inverse_transform_vector(&-normal);
    let gap = plane.height(&centre) - shape.support_height(&down);
    let lowest = centre + pose.rotation * shape.support(&down);
    Gap { gap, normal, points: [lowest, lowest - normal * gap], iterations: 0, residual: 0.0 }
}

/// A body turned but not placed, in units of a scale: vectors from its centre, in world axes.
struct Turned<'a, S> {
    shape: &'a S,
    axes: Matrix3<f64>,
    /// One over a power of two: nothing is rounded by it.
    unit: f64,
    scale: f64,
    /// In units of the scale.
    size: f64,
}

impl<'a, S: Convex> Turned<'a, S> {
    fn new((shape, pose): (&'a S, &Isometry3<f64>), size: f64, scale: f64) -> Self {
        let axes = pose.rotation.to_rotation_matrix().into_inner();
        let unit = scale.recip();
        Self { shape, axes, unit, scale, size: size * unit }
    }

    /// A relative of the same body at the same place.
    fn replaced(&self, shape: &'a S) -> Self {
        Self { shape, size: shape.size() * self.unit, ..*self }
    }

    fn rolling_radius(&self) -> f64 {
        self.shape.rolling_radius() * self.unit
    }

    fn height(&self, n: &Vector3<f64>) -> f64 {
        self.shape.support_height(&self.axes.tr_mul(n)) * self.unit
    }

    /// The support point, and the Hessian in the body's own axes.
    #[inline(always)]
    fn facing(&self, n: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
        let (point, hessian) = self.shape.support_and_hessian(&self.axes.tr_mul(n));
        (self.axes * (point * self.unit), hessian * self.unit)
    }

    /// The surface on the ray through x; the curvature in the body's own axes.
    #[inline(always)]
    fn osculate(&self, x: &Vector3<f64>) -> Osculation {
        let local = self.shape.osculate(&(self.axes.tr_mul(x) * self.scale));
        Osculation {
            point: self.axes * (local.point * self.unit),
            normal: self.axes * local.normal,
            curvature: local.curvature * self.scale,
        }
    }

    /// A symmetric matrix in the body's own axes, on the plane of two vectors of the world.
    fn form(&self, m: &Matrix3<f64>, basis: &[Vector3<f64>; 2]) -> Matrix2<f64> {
        let [u, v] = [self.axes.tr_mul(&basis[0]), self.axes.tr_mul(&basis[1])];
        let b = m * v;
        let cross = u.dot(&b);
        Matrix2::new(u.dot(&(m * u)), cross, cross, v.dot(&b))
    }

    /// How many bodies long a step is, or zero where it is clearly less than half of one.
    fn strides(&self, step: &Vector3<f64>) -> f64 {
        if step.norm() <= 0.5 * self.shape.inradius() * self.unit {
            return 0.0;
        }
        self.shape.gauge(&(self.axes.tr_mul(step) * self.scale))
    }
}

/// What a search returns: points from each body's own centre, radii of round bodies not yet taken off.
#[derive(Clone, Copy)]
struct Found {
    gap: f64,
    normal: Vector3<f64>,
    points: [Vector3<f64>; 2],
    iterations: u32,
    /// |Q − P − g n|
    residual: f64,
    /// Whether that is rounding.
    settled: bool,
    /// Of both bodies, in their own axes.
    curvatures: Option<[Matrix3<f64>; 2]>,
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
        let curvatures = self.curvatures.map(|[one, other]| [other, one]);
        Self { normal: -self.normal, points: [self.points[1], self.points[0]], curvatures, ..self }
    }
}

/// Two centres. Concentric balls have the same depth in every direction: the x axis stands for all.
fn between_centres(offset: &Vector3<f64>) -> Found {
    let normal = if *offset == Vector3::zeros() { Vector3::x() } else { unit(offset) };
    let points = [Vector3::zeros(); 2];
    Found {
        gap: length(offset),
        normal,
        points,
        iterations: 0,
        residual: 0.0,
        settled: true,
        curvatures: None,
    }
}

/// The power of two next below x > 0.
fn power_of_two(x: f64) -> f64 {
    let (_, exponent) = libm::frexp(x);
    libm::ldexp(1.0, exponent - 1)
}
