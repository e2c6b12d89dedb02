//! From a direction to the maxima of f nearby, each from the faces, edges and sides that could make one.

use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

use super::difference::Difference;
use super::face;
use crate::gap::Found;
use crate::shape::{ALL_BUT_ACROSS, Convex, Ring, tangents, unit};

/// How many roundings two exposed faces may be apart across the normal.
const SETTLED: f64 = 64.0;

/// How many rings of one body are looked at, those nearest to the direction; a box has three.
const RINGS: usize = 8;

const MOST_STEPS: u32 = 40;

/// The longest step of an angle.
const LONGEST: f64 = 0.4;

/// The best maximum of f that can be found from the features within a distance of a direction; not settled, if none of them
/// makes one.
pub(super) fn best_near<A: Convex, B: Convex>(
    pair: &Difference<A, B>,
    start: &Vector3<f64>,
    within: f64,
) -> Found {
    let found = best_of(pair, start, within, false);
    if found.settled {
        return found;
    }
    // Discs that are all but parallel.
    let loosely = best_of(pair, &found.normal, within, true);
    let better = if loosely.settled { loosely } else { found };
    Found { iterations: found.iterations + loosely.iterations, ..better }
}

fn best_of<A: Convex, B: Convex>(
    pair: &Difference<A, B>,
    start: &Vector3<f64>,
    within: f64,
    segments: bool,
) -> Found {
    let best = at(pair, start, segments);
    let mut search = Candidates { pair, start, segments, best, tried: 1 };
    if search.is_done() {
        return search.best;
    }
    pair.one.each_face(start, within, |normal| search.consider(normal));
    pair.two.each_face(&-start, within, |normal| search.consider(-normal));
    let mut rings = [Rings::NONE; 2];
    pair.one.each_ring(start, within, |ring| rings[0].add(ring));
    pair.two.each_ring(&-start, within, |ring| rings[1].add(ring.mirrored()));
    for one in rings[0].list() {
        for two in rings[1].list() {
            search.cross(one, two);
        }
    }
    for one in rings[0].list() {
        search.along(one, true);
    }
    for two in rings[1].list() {
        search.along(two, false);
    }
    if segments {
        search.rims();
    }
    search.anywhere();
    Found { iterations: search.tried, ..search.best }
}

/// f in one direction, with the points that face it.
pub(super) fn at<A: Convex, B: Convex>(pair: &Difference<A, B>, n: &Vector3<f64>, segments: bool) -> Found {
    let gap = pair.value(n);
    let (across, points) = face::apart(pair, n, segments);
    let left = (pair.offset + points[1] - points[0] - n * gap).norm();
    Found {
        gap,
        normal: *n,
        points,
        iterations: 1,
        residual: left,
        settled: across <= SETTLED * pair.slack,
        curvatures: None,
    }
}

impl Ring {
    /// The directions from the second body to the first instead.
    fn mirrored(self) -> Self {
        Self { axis: -self.axis, ..self }
    }
}

struct Rings {
    list: [Option<Ring>; RINGS],
    count: usize,
}

impl Rings {
    const NONE: Self = Self { list: [None; RINGS], count: 0 };

    fn add(&mut self, ring: Ring) {
        if self.count < RINGS {
            self.list[self.count] = Some(ring);
            self.count += 1;
            return;
        }
        // A polyhedron may have any number of edges.
        let mut farthest = (ring.away, None);
        for (k, known) in self.list.iter().enumerate() {
            if let Some(known) = known
                && known.away > farthest.0
            {
                farthest = (known.away, Some(k));
            }
        }
        if let (_, Some(k)) = farthest {
            self.list[k] = Some(ring);
        }
    }

    fn list(&self) -> impl Iterator<Item = &Ring> {
        self.list[..self.count].iter().flatten()
    }
}

struct Candidates<'a, A, B> {
    pair: &'a Difference<'a, A, B>,
    start: &'a Vector3<f64>,
    segments: bool,
    best: Found,
    tried: u32,
}

impl<A: Convex, B: Convex> Candidates<'_, A, B> {
    /// Whether no better one can be found: the gap is positive, and this is it.
    fn is_done(&self) -> bool {
        self.best.settled && self.best.gap > 0.0
    }

    fn consider(&mut self, n: Vector3<f64>) {
        if self.is_done() {
            return;
        }
        self.tried += 1;
        // A maximum is no lower than what is known.
        let value = self.pair.value(&n);
        if value.is_nan() || value < self.best.gap - 16.0 * self.pair.slack {
            return;
        }
        let found = at(self.pair, &n, self.segments);
        if (found.settled && !self.best.settled)
            || (found.settled == self.best.settled && found.gap > self.best.gap)
        {
            self.best = found;
        }
    }

    /// An edge or a side of each: where the rings cross.
    fn cross(&mut self, one: &Ring, two: &Ring) {
        let both = one.axis.cross(&two.axis);
        let square = both.norm_squared();
        if square < 1e-30 {
            return;
        }
        let cosine = one.axis.dot(&two.axis);
        // n = α e₁ + β e₂ + γ e₁×e₂
        let alpha = (one.cosine - two.cosine * cosine) / square;
        let beta = (two.cosine - one.cosine * cosine) / square;
        let flat = one.axis * alpha + two.axis * beta;
        let rest = 1.0 - flat.norm_squared();
        if rest < 0.0 {
            return;
        }
        let up = both * libm::sqrt(rest / square);
        let up = if up.dot(self.start) < 0.0 { -up } else { up };
        self.consider(unit(&(flat + up)));
    }

    /// Two discs that are all but parallel, and overlap in part: the normal is across both rims where they cross, and is not
    /// found by climbing, because rounding of the normal moves the points along the rims.
    fn rims(&mut self) {
        let one = self.pair.one.disc(self.start, ALL_BUT_ACROSS);
        let two = self.pair.two.disc(&-self.start, ALL_BUT_ACROSS);
        let (Some((axis, centre, radius)), Some((other_axis, other_centre, other_radius))) = (one, two)
        else {
            return;
        };
        let between = self.pair.offset + other_centre - centre;
        let lateral = between - axis * axis.dot(&between);
        let apart = lateral.norm();
        let along = 0.5 * (apart + (radius - other_radius) * (radius + other_radius) / apart);
        let square = (radius - along) * (radius + along);
        // Not a number for discs about one axis.
        if square.is_nan() || square <= 0.0 {
            return;
        }
        let (u, v) = (lateral / apart, axis.cross(&lateral) / apart);
        for side in [-1.0, 1.0] {
            let point = u * along + v * (side * libm::sqrt(square));
            let tangents = axis.cross(&point).cross(&other_axis.cross(&(point - lateral)));
            let n = unit(&tangents);
            self.consider(if n.dot(self.start) < 0.0 { -n } else { n });
        }
    }

    /// An edge or a side of one body against what is smooth of the other: the maximum along the ring.
    fn along(&mut self, ring: &Ring, of_first: bool) {
        if self.is_done() {
            return;
        }
        let e = ring.axis;
        let sine = libm::sqrt(((1.0 - ring.cosine) * (1.0 + ring.cosine)).max(0.0));
        let u = unit(&(self.start - e * e.dot(self.start)));
        if u == Vector3::zeros() || sine == 0.0 {
            return;
        }
        let v = e.cross(&u);
        let pair = self.pair;
        // Along the ring the radius of a cylinder is constant and drops out of the slopes.
        let slopes = |angle: f64| {
            let (sin, cos) = libm::sincos(angle);
            let (out, turn) = (u * cos + v * sin, v * cos - u * sin);
            let n = e * ring.cosine + out * sine;
            let (apart, hessian) = if of_first {
                let (point, hessian) = pair.two.support_and_hessian(&-n);
                (pair.offset + point - ring.anchor, hessian)
            } else {
                let (point, hessian) = pair.one.support_and_hessian(&n);
                (pair.offset + ring.anchor - point, hessian)
            };
            let first = sine * turn.dot(&apart);
            let second = -sine * out.dot(&apart) - sine * sine * turn.dot(&(hessian * turn));
            (n, first, second)
        };
        let mut angle = 0.0;
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut n = *self.start;
        for _ in 0..MOST_STEPS {
            let (here, first, second) = slopes(angle);
            n = here;
            self.tried += 1;
            if first > 0.0 {
                low = angle;
            } else {
                high = angle;
            }
            let newton = if second < 0.0 { -first / second } else { LONGEST.copysign(first) };
            let mut next = angle + newton.clamp(-LONGEST, LONGEST);
            if next <= low || next >= high {
                next = 0.5 * (low + high);
            }
            if !next.is_finite() || (next - angle).abs() <= 0.25 * f64::EPSILON || next.abs() > 3.0 {
                break;
            }
            angle = next;
        }
        self.consider(unit(&n));
    }

    /// Corners, rims and smooth bodies: Newton's method on the sphere.
    fn anywhere(&mut self) {
        if self.is_done() {
            return;
        }
        // Between discs that are all but parallel f is shaped like a sum of distances, and a step must not lose height.
        let mut n = if self.segments { self.best.normal } else { *self.start };
        let mut last = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            let (one, bend_one) = self.pair.one.support_and_hessian(&n);
            let (two, bend_two) = self.pair.two.support_and_hessian(&-n);
            let apart = self.pair.offset + two - one;
            self.tried += 1;
            let value = n.dot(&apart);
            let basis = tangents(&n);
            let slope = Vector2::new(basis[0].dot(&apart), basis[1].dot(&apart));
            let form = form(&(bend_one + bend_two), &basis) + Matrix2::from_diagonal_element(value);
            let step = match form.try_inverse() {
                Some(inverse) if form.trace() > 0.0 && form.determinant() > 0.0 => inverse * slope,
                _ => slope / apart.norm().max(f64::MIN_POSITIVE) * LONGEST,
            };
            let length = step.norm();
            if !length.is_finite() || length == 0.0 || (length <= 1e-12 && length >= last) {
                break;
            }
            last = length;
            let mut part = if length > LONGEST { LONGEST / length } else { 1.0 };
            let along = |part: f64| unit(&(n + (basis[0] * step.x + basis[1] * step.y) * part));
            if self.segments {
                while part * length > f64::EPSILON && self.pair.value(&along(part)) < self.pair.value(&n) {
                    part *= 0.5;
                }
            }
            n = along(part);
            if length <= 0.25 * f64::EPSILON {
                break;
            }
        }
        self.consider(n);
    }
}

fn form(m: &Matrix3<f64>, basis: &[Vector3<f64>; 2]) -> Matrix2<f64> {
    let [u, v] = basis;
    let b = m * v;
    let cross = u.dot(&b);
    Matrix2::new(u.dot(&(m * u)), cross, cross, v.dot(&b))
}
