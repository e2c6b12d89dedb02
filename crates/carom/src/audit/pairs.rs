//! The gaps of all pairs, by a search that knows no list of a run.
//!
//! Bodies are sorted into cells as wide as the largest of them, or compared each with each where they are few; planes and the
//! images of a periodic box are included. Of a pair whose bounding balls are near enough the gap is bounded from below by
//!
//! ```text
//! g ≥ n·(c₂ − c₁) − h₁(n) − h₂(−n)        for every unit n
//! ```
//!
//! with the shapes' own support functions: along the line of centres, and where that does not part the two along the normal that
//! [`gap`] finds. So a pair is proved to be apart wherever the normal came from, and no overlap is missed because a normal was wrong.
//! The largest bodies are compared with all others, so that a few giants do not make the cells wide.

use nalgebra::Vector3;

use crate::body::{Body, State};
use crate::contact::Side;
use crate::gap::gap;
use crate::shape::{Convex, HalfSpace, Shape};

/// Where all bodies are.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The bodies.
    pub bodies: &'a [Body],
    /// Each body's circumradius.
    pub radii: &'a [f64],
    /// Their states.
    pub states: &'a [State],
    /// The planes.
    pub planes: &'a [HalfSpace],
    /// The lengths of a periodic box; zero is an open direction.
    pub periodic: Option<Vector3<f64>>,
}

/// Two that are near each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The sides: a plane or the body of the smaller number first.
    pub sides: [Side; 2],
    /// The displacement of the second in a periodic box.
    pub image: Vector3<f64>,
    /// A lower bound of their gap, and the gap itself to rounding.
    pub gap: f64,
    /// From the first to the second.
    pub normal: Vector3<f64>,
    /// Between the closest points.
    pub point: Vector3<f64>,
    /// What rounding leaves of the gap.
    pub level: f64,
}

/// Rounding of a gap, relative to sizes and distances; as in [`crate::toi`].
const ROUNDING: f64 = 4e-14;

/// Up to this many bodies, all pairs are compared.
const FEW: usize = 48;

/// At most this many of the largest bodies are compared with all others, if they are larger than the next by the factor below.
const GIANTS: usize = 16;
const LARGER: f64 = 2.0;

impl Surroundings<'_> {
    /// Visits the pairs that touch, and those whose gap is less than `below` and than that of all before; none that may overlap, by
    /// its sides and the displacement of the second. Returns how many pairs were looked at.
    pub fn visit(
        &self,
        below: f64,
        may_overlap: impl Fn([Side; 2], &Vector3<f64>) -> bool,
        mut see: impl FnMut(&Near),
    ) -> u64 {
        let (mut least, mut looked) = (below, 0);
        let mut tell = |near: Option<Near>, least: &mut f64| {
            if let Some(near) = near
                && (near.gap <= least.max(near.level) || near.gap.is_nan())
            {
                *least = least.min(near.gap);
                see(&near);
            }
        };
        let mut look = |i: usize, j: usize| {
            looked += 1;
            self.pair([i.min(j), i.max(j)], &may_overlap, &mut least, &mut tell);
        };
        let solid: Vec<usize> =
            (0..self.bodies.len()).filter(|&i| self.bodies[i].shape != Shape::Point).collect();
        if solid.len() <= FEW {
            for (k, &i) in solid.iter().enumerate() {
                solid[k + 1..].iter().for_each(|&j| look(i, j));
            }
        } else {
            self.visit_cells(solid.clone(), look);
        }
        for i in solid.into_iter().filter(|&i| !self.bodies[i].fixed) {
            for k in 0..self.planes.len() {
                looked += 1;
                if !may_overlap([Side::Plane(k), Side::Body(i)], &Vector3::zeros()) {
                    tell(self.at_plane(k, i, least), &mut least);
                }
            }
        }
        looked
    }

    /// The pairs that share a cell or are in neighbouring ones, each once.
    fn visit_cells(&self, mut solid: Vec<usize>, mut look: impl FnMut(usize, usize)) {
        solid.sort_by(|&i, &j| self.radii[j].total_cmp(&self.radii[i]));
        let giants = if self.radii[solid[0]] > LARGER * self.radii[solid[GIANTS]] { GIANTS } else { 0 };
        for (k, &i) in solid[..giants].iter().enumerate() {
            for &j in &solid[k + 1..] {
                look(i, j);
            }
        }
        let small = &solid[giants..];
        let grid = Cells::of(self, small);
        let mut next = vec![0_usize; grid.count() + 1];
        let cells: Vec<usize> = small.iter().map(|&i| grid.cell(&self.states[i].position)).collect();
        for &cell in &cells {
            next[cell + 1] += 1;
        }
        for cell in 0..grid.count() {
            next[cell + 1] += next[cell];
        }
        let (starts, mut members) = (next.clone(), vec![0; small.len()]);
        for (k, &cell) in cells.iter().enumerate() {
            members[next[cell]] = k;
            next[cell] += 1;
        }
        for (k, &cell) in cells.iter().enumerate() {
            grid.around(cell, |other| {
                for &l in &members[starts[other]..starts[other + 1]] {
                    if l > k {
                        look(small[k], small[l]);
                    }
                }
            });
        }
    }

    /// A pair of bodies, with all images that can be near.
    fn pair(
        &self,
        [i, j]: [usize; 2],
        may_overlap: &impl Fn([Side; 2], &Vector3<f64>) -> bool,
        least: &mut f64,
        tell: &mut impl FnMut(Option<Near>, &mut f64),
    ) {
        if self.bodies[i].fixed && self.bodies[j].fixed {
            return;
        }
        let mut look = |image: &Vector3<f64>| {
            if self.is_near(i, j, image, *least) && !may_overlap([Side::Body(i), Side::Body(j)], image) {
                tell(self.between(i, j, image, *least), least);
            }
        };
        let Some(lengths) = self.periodic else { return look(&Vector3::zeros()) };
        let apart = self.states[j].position - self.states[i].position;
        let reach = self.radii[i] + self.radii[j];
        // The nearest image along each axis, and the other one where the box is short.
        let (mut nearest, mut second) = (Vector3::zeros(), Vector3::zeros());
        for a in (0..3).filter(|&a| lengths[a] > 0.0) {
            nearest[a] = -libm::rint(apart[a] / lengths[a]);
            if 0.5 * lengths[a] <= reach {
                second[a] = if apart[a] + nearest[a] * lengths[a] > 0.0 { -1.0 } else { 1.0 };
            }
        }
        for choice in 0..8_u8 {
            let chosen = |a: usize| choice >> a & 1 == 1;
            if (0..3).any(|a| chosen(a) && second[a] == 0.0) {
                continue;
            }
            let whole = Vector3::from_fn(|a, _| nearest[a] + if chosen(a) { second[a] } else { 0.0 });
            look(&whole.component_mul(&lengths));
        }
    }

    /// What rounding leaves of the gap of two bodies.
    fn level(&self, i: usize, j: usize, image: &Vector3<f64>) -> f64 {
        let far = self.states[i].position.norm().max((self.states[j].position + image).norm());
        ROUNDING * (self.radii[i] + self.radii[j] + far)
    }

    /// Whether the bounding spheres of two bodies may be within that distance; true if it is NaN.
    fn is_near(&self, i: usize, j: usize, image: &Vector3<f64>, below: f64) -> bool {
        let apart = (self.states[j].position + image - self.states[i].position).norm();
        let away = apart - self.radii[i] - self.radii[j];
        away <= below || away <= self.level(i, j, image) || away.is_nan()
    }

    /// Two bodies; `None` if they are farther apart than that.
    fn between(&self, i: usize, j: usize, image: &Vector3<f64>, below: f64) -> Option<Near> {
        let (one, two) = (&self.states[i], &self.states[j]);
        let apart = two.position + image - one.position;
        let distance = apart.norm();
        let level = self.level(i, j, image);
        let cutoff = below.max(level);
        let near = |gap: f64, normal: Vector3<f64>, point: Vector3<f64>| Near {
            sides: [Side::Body(i), Side::Body(j)],
            image: *image,
            gap,
            normal,
            point,
            level,
        };
        if !distance.is_finite() {
            return Some(near(f64::NAN, Vector3::zeros(), one.position));
        }
        let line = if distance > 0.0 { apart / distance } else { Vector3::x() };
        let shapes = [&self.bodies[i].shape, &self.bodies[j].shape];
        if let (Some(first), Some(second)) = (shapes[0].ball(), shapes[1].ball()) {
            let gap = distance - first - second;
            return Some(near(gap, line, one.position + line * (first + 0.5 * gap)));
        }
        let bound = |n: &Vector3<f64>| {
            let height = |shape: &Shape, state: &State, n: Vector3<f64>| {
                shape.support_height(&state.orientation.inverse_transform_vector(&n))
            };
            n.dot(&apart) - height(shapes[0], one, *n) - height(shapes[1], two, -*n)
        };
        let along = bound(&line);
        if along > cutoff {
            return None;
        }
        let there = State { position: two.position + image, ..*two };
        let found = gap((shapes[0], &one.pose()), (shapes[1], &there.pose()))?;
        let across = bound(&found.normal);
        let point = (found.points[0] + found.points[1]) * 0.5;
        Some(if along > across { near(along, line, point) } else { near(across, found.normal, point) })
    }

    /// A body at a plane; `None` if it is farther than that.
    fn at_plane(&self, k: usize, i: usize, below: f64) -> Option<Near> {
        let (plane, state) = (&self.planes[k], &self.states[i]);
        let height = plane.height(&state.position);
        let level = ROUNDING * (self.radii[i] + state.position.norm());
        if height - self.radii[i] > below.max(level) {
            return None;
        }
        let normal = *plane.normal;
        let down = state.orientation.inverse_transform_vector(&-normal);
        let gap = height - self.bodies[i].shape.support_height(&down);
        let lowest = state.position + state.orientation * self.bodies[i].shape.support(&down);
        let sides = [Side::Plane(k), Side::Body(i)];
        Some(Near { sides, image: Vector3::zeros(), gap, normal, point: lowest, level })
    }
}

/// A grid of cells, none narrower than two of the largest bodies in it.
struct Cells {
    low: Vector3<f64>,
    lengths: Vector3<f64>,
    periodic: [bool; 3],
    counts: [usize; 3],
}

impl Cells {
    fn of(around: &Surroundings, bodies: &[usize]) -> Self {
        let place = |i: &usize| around.states[*i].position;
        let extreme = |start: f64, take: fn(f64, f64) -> f64| {
            bodies.iter().map(place).fold(Vector3::repeat(start), |m, x| m.zip_map(&x, take))
        };
        let (mut low, high) = (extreme(f64::INFINITY, f64::min), extreme(f64::NEG_INFINITY, f64::max));
        let mut lengths = high - low;
        let mut periodic = [false; 3];
        if let Some(period) = around.periodic {
            for a in (0..3).filter(|&a| period[a] > 0.0) {
                (low[a], lengths[a], periodic[a]) = (0.0, period[a], true);
            }
        }
        let reach = bodies.first().map_or(1.0, |&i| 2.0 * around.radii[i]) * (1.0 + 1e-9);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let most = 2.0 * libm::cbrt(bodies.len() as f64) + 1.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from one to a few thousand"
        )]
        let counts = [0, 1, 2].map(|a| (lengths[a] / reach).floor().clamp(1.0, most) as usize);
        Self { low, lengths, periodic, counts }
    }

    fn count(&self) -> usize {
        self.counts.iter().product()
    }

    fn cell(&self, x: &Vector3<f64>) -> usize {
        let [i, j, k] = [0, 1, 2].map(|a| {
            #[expect(clippy::cast_precision_loss, reason = "few cells")]
            let count = self.counts[a] as f64;
            let mut share = (x[a] - self.low[a]) / self.lengths[a];
            if self.periodic[a] {
                share -= share.floor();
            }
            // NaN goes into the first.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from zero to the count"
            )]
            let at = (share * count).clamp(0.0, count - 1.0) as usize;
            at
        });
        (i * self.counts[1] + j) * self.counts[2] + k
    }

    /// Visits a cell and its neighbours, each once.
    fn around(&self, cell: usize, mut visit: impl FnMut(usize)) {
        let [_, ny, nz] = self.counts;
        let [x, y, z] = [cell / (ny * nz), cell / nz % ny, cell % nz];
        let [xs, ys, zs] = [self.beside(0, x), self.beside(1, y), self.beside(2, z)];
        for x in xs.iter().flatten() {
            for y in ys.iter().flatten() {
                for z in zs.iter().flatten() {
                    visit((x * ny + y) * nz + z);
                }
            }
        }
    }

    /// A cell and those beside it along an axis.
    fn beside(&self, a: usize, at: usize) -> [Option<usize>; 3] {
        let count = self.counts[a];
        if count < 3 {
            return [0, 1, 2].map(|k| (k < count).then_some(k));
        }
        let wraps = self.periodic[a];
        let before = if at > 0 { Some(at - 1) } else { wraps.then_some(count - 1) };
        let after = if at + 1 < count { Some(at + 1) } else { wraps.then_some(0) };
        [before, Some(at), after]
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{UnitQuaternion, Vector3};

    use super::*;
    use crate::gap::gap_to_plane;
    use crate::toi::periodic::Periodic;

    /// Numbers between 0 and 1 (Steele, Lea and Flood 2014).
    struct Random(u64);

    impl Random {
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// The smallest gap of all pairs, images and planes, one after the other.
    fn by_force(around: &Surroundings) -> f64 {
        let lengths = around.periodic.unwrap_or_else(Vector3::zeros);
        let mut least = f64::INFINITY;
        for (i, body) in around.bodies.iter().enumerate() {
            let pose = around.states[i].pose();
            for plane in around.planes {
                least = least.min(gap_to_plane(&body.shape, &pose, plane).gap);
            }
            for (j, other) in around.bodies.iter().enumerate().skip(i + 1) {
                let there = around.states[j].pose();
                let found = Periodic { lengths }.nearest((&body.shape, &pose), (&other.shape, &there));
                least = found.map_or(least, |(gap, _)| least.min(gap.gap));
            }
        }
        least
    }

    #[test]
    fn no_overlap_escapes_the_search() {
        let mut random = Random(7);
        for case in 0..240 {
            let count = [3, 20, 60, 150][case % 4];
            let lengths = [[0.0; 3], [6.0, 7.0, 8.0], [6.0, 0.0, 9.0], [3.2, 3.1, 0.0]][case / 4 % 4];
            let lengths = Vector3::from(lengths);
            let giants = case % 5 == 0;
            let mut bodies = Vec::new();
            let mut states = Vec::new();
            for k in 0..count {
                let size = if giants && k == 0 { 1.4 } else { 0.05 + 0.2 * random.next() };
                let shape = match k % 3 {
                    0 => Shape::Sphere { radius: size },
                    1 => Shape::Ellipsoid { semi_axes: [size, 0.5 * size, 0.3 * size] },
                    _ => Shape::Superellipsoid { semi_axes: [size, 0.8 * size, 0.4 * size], exponent: 4.0 },
                };
                let inertia = shape.unit_inertia();
                bodies.push(Body { shape, mass: 1.0, inertia, fixed: false });
                let spread = if count > 50 { 12.0 } else { 4.0 };
                let mut state = State::at(Vector3::from_fn(|_, _| spread * random.next() - 2.0));
                let axis = Vector3::from_fn(|_, _| 6.0 * random.next() - 3.0);
                state.orientation = UnitQuaternion::from_scaled_axis(axis);
                states.push(state);
            }
            let planes = [HalfSpace {
                normal: nalgebra::Unit::new_normalize(Vector3::new(0.1, 0.2, 1.0)),
                offset: -2.2,
            }];
            let radii: Vec<f64> = bodies.iter().map(|body| body.shape.circumradius()).collect();
            let around = Surroundings {
                bodies: &bodies,
                radii: &radii,
                states: &states,
                planes: &planes,
                periodic: (lengths != Vector3::zeros()).then_some(lengths),
            };
            let (expected, mut found) = (by_force(&around), f64::INFINITY);
            // Many of them are not looked for farther than they reach.
            let below = if count > FEW { 0.0 } else { f64::MAX };
            around.visit(below, |_, _| false, |near| found = found.min(near.gap));
            if expected < 0.0 || below > 0.0 {
                // Deep overlaps have several local depths: the search states a bound.
                let slack = if expected < 0.0 { 0.3 * expected.abs() + 1e-12 } else { 1e-12 };
                assert!((found - expected).abs() <= slack, "case {case}: {found} against {expected}");
            } else {
                assert!(found > -1e-12, "case {case}: {found} against {expected}");
            }
        }
    }
}
