//! Where two bodies touch that have flats and edges: the corners of the region that they share.
//!
//! What faces the normal n of the gap is a corner, an edge, a generator of a side, or a flat: a convex polygon across n, of one,
//! two or more corners. A round flat counts as a polygon of sixteen, one of them where the relative turning closes the gap fastest
//! and one opposite. The contact set is the set of corners of the intersection of both polygons (Sutherland and Hodgman 1974): several
//! contacts of one pair and one impact. The forces of a rigid region of contact have the same resultants as forces at its corners, so that
//! an impact law sees all it can do; how they share the impulse is not unique.
//!
//! At a plane the region is all that lies on it of the body. Where an edge crosses an edge, or a corner or a smooth body touches
//! anything, the set is the one point of the gap.

use nalgebra::{Isometry3, Vector2, Vector3};

use crate::gap::Gap;
use crate::shape::{Shape, Sharp, tangents};

/// One side of a gap.
#[derive(Debug, Clone, Copy)]
pub enum Touching<'a> {
    /// A body at a pose.
    Body(&'a Shape, &'a Isometry3<f64>),
    /// A plane, which comes first.
    Plane,
}

/// Corners of a round flat.
const ROUND: u32 = 16;

type Polygon = Vec<Vector2<f64>>;

/// The contacts of two sides from their gap: the gap itself, or one at each corner of the region they share. What lies within the
/// slack of the planes that part the bodies counts as on them; `turning` is the angular velocity of the second side relative to
/// the first.
#[must_use]
pub fn contact_set(
    first: Touching,
    second: (&Shape, &Isometry3<f64>),
    found: &Gap,
    slack: f64,
    turning: &Vector3<f64>,
) -> Vec<Gap> {
    let n = found.normal;
    let basis = tangents(&n);
    // The gap closes fastest against n×ω.
    let closing = n.cross(turning);
    let flat = |x: &Vector3<f64>| Vector2::new(basis[0].dot(x), basis[1].dot(x));
    let facing = |(shape, pose): (&Shape, &Isometry3<f64>), n: &Vector3<f64>| -> Polygon {
        let Some((sharp, _)) = shape.sharp() else { return Vec::new() };
        let local = pose.rotation.inverse_transform_vector(n);
        let along = pose.rotation.inverse_transform_vector(&closing);
        let corners = exposed(&sharp, &local, slack, &along);
        corners.iter().map(|x| flat(&(pose.translation.vector + pose.rotation * x))).collect()
    };
    let region = match first {
        Touching::Plane => facing(second, &-n),
        Touching::Body(shape, pose) => {
            let (one, two) = (facing((shape, pose), &n), facing(second, &-n));
            match (one.len(), two.len()) {
                (0 | 1, _) | (_, 0 | 1) => Vec::new(),
                (2, 2) => overlap(&one, &two, slack),
                (2, _) => clipped(one, &two),
                _ => clipped(two, &one),
            }
        }
    };
    let corners = distinct(region, slack);
    if corners.len() < 2 {
        return vec![*found];
    }
    let heights = found.points.map(|point| n.dot(&point));
    let lifted = |x: &Vector2<f64>, height: f64| basis[0] * x.x + basis[1] * x.y + n * height;
    corners.iter().map(|x| Gap { points: heights.map(|height| lifted(x, height)), ..*found }).collect()
}

/// The corners of what faces n, in order about it.
fn exposed(sharp: &Sharp, n: &Vector3<f64>, slack: f64, along: &Vector3<f64>) -> Vec<Vector3<f64>> {
    let hidden = |reach: f64, n: f64| 2.0 * reach * n.abs() <= slack;
    let support = sharp.support(n);
    let rho = n.x.hypot(n.y);
    let round = |radius: f64, z: f64| -> Vec<Vector3<f64>> {
        let start = along.y.atan2(along.x);
        let corner = |k: u32| {
            let (sin, cos) = libm::sincos(start + core::f64::consts::TAU * f64::from(k) / f64::from(ROUND));
            Vector3::new(radius * cos, radius * sin, z)
        };
        (0..ROUND).map(corner).collect()
    };
    match *sharp {
        Sharp::Point => vec![Vector3::zeros()],
        Sharp::Box(a) => {
            let free: Vec<usize> = (0..3).filter(|&i| hidden(a[i], n[i])).collect();
            let sides: &[[f64; 2]] = match free.len() {
                0 => &[[0.0; 2]],
                1 => &[[-1.0, 0.0], [1.0, 0.0]],
                _ => &[[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]],
            };
            let at = |signs: &[f64; 2]| {
                let mut corner = support;
                for (&i, sign) in free.iter().zip(signs) {
                    corner[i] = a[i] * sign;
                }
                corner
            };
            sides.iter().map(at).collect()
        }
        Sharp::Polyhedron(polyhedron) => {
            let basis = tangents(n);
            hull_of(polyhedron.exposed(n, slack).collect(), &basis, slack)
        }
        Sharp::Cylinder { radius, half_length } => {
            if radius > 0.0 && hidden(radius, rho) {
                return round(radius, half_length.copysign(n.z));
            }
            if half_length == 0.0 || !hidden(half_length, n.z) {
                return vec![support];
            }
            [-half_length, half_length].map(|z| Vector3::new(support.x, support.y, z)).to_vec()
        }
        Sharp::Cone { radius, base, tip } => {
            if n.z < 0.0 && hidden(radius, rho) {
                return round(radius, base);
            }
            let side = (radius * rho + (base - tip) * n.z).abs() <= slack;
            if !side || rho == 0.0 {
                return vec![support];
            }
            vec![Vector3::new(radius * n.x / rho, radius * n.y / rho, base), Vector3::z() * tip]
        }
    }
}

/// The convex outline of points that lie in a plane but for the slack, in order (Andrew's chains): those of two or more faces that
/// are all but level count as one.
fn hull_of(points: Vec<Vector3<f64>>, basis: &[Vector3<f64>; 2], slack: f64) -> Vec<Vector3<f64>> {
    let mut flat: Vec<(Vector2<f64>, Vector3<f64>)> =
        points.iter().map(|x| (Vector2::new(basis[0].dot(x), basis[1].dot(x)), *x)).collect();
    flat.sort_by(|(a, _), (b, _)| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    flat.dedup_by(|(a, _), (b, _)| (*a - *b).norm() <= slack);
    if flat.len() < 3 {
        return flat.into_iter().map(|(_, x)| x).collect();
    }
    let mut outline: Vec<(Vector2<f64>, Vector3<f64>)> = Vec::with_capacity(2 * flat.len());
    let mut chain = |points: &mut dyn Iterator<Item = &(Vector2<f64>, Vector3<f64>)>| {
        let start = outline.len();
        for point in points {
            while let [.., (a, _), (b, _)] = &outline[start..]
                && cross(&(b - a), &(point.0 - b)) <= slack * (b - a).norm().max((point.0 - b).norm())
            {
                outline.pop();
            }
            outline.push(*point);
        }
        outline.pop();
    };
    chain(&mut flat.iter());
    chain(&mut flat.iter().rev());
    outline.into_iter().map(|(_, x)| x).collect()
}

fn cross(a: &Vector2<f64>, b: &Vector2<f64>) -> f64 {
    a.x * b.y - a.y * b.x
}

/// What a convex polygon leaves of a polygon or a segment.
fn clipped(mut rest: Polygon, by: &Polygon) -> Polygon {
    let middle = by.iter().sum::<Vector2<f64>>() / f64::from(u32::try_from(by.len()).unwrap_or(u32::MAX));
    for k in 0..by.len() {
        let (from, to) = (by[k], by[(k + 1) % by.len()]);
        let edge = to - from;
        let side = if cross(&edge, &(middle - from)) < 0.0 { -1.0 } else { 1.0 };
        let inside = |x: &Vector2<f64>| side * cross(&edge, &(x - from));
        let mut next = Polygon::with_capacity(rest.len() + 1);
        for i in 0..rest.len() {
            // A segment is a polygon of two equal edges.
            let (a, b) = (rest[i], rest[(i + 1) % rest.len()]);
            let (at_a, at_b) = (inside(&a), inside(&b));
            if at_a >= 0.0 {
                next.push(a);
            }
            if (at_a > 0.0 && at_b < 0.0) || (at_a < 0.0 && at_b > 0.0) {
                next.push(a + (b - a) * (at_a / (at_a - at_b)));
            }
        }
        rest = next;
    }
    rest
}

/// What two segments share that lie on one line; nothing where they cross.
fn overlap(one: &Polygon, two: &Polygon, slack: f64) -> Polygon {
    let line = one[1] - one[0];
    let length = line.norm();
    if two.iter().any(|x| cross(&line, &(x - one[0])).abs() > slack * length) {
        return Polygon::new();
    }
    let place = |x: &Vector2<f64>| (x - one[0]).dot(&line) / length;
    let (a, b) = (place(&two[0]), place(&two[1]));
    let (low, high) = (a.min(b).max(0.0), a.max(b).min(length));
    if low > high {
        Polygon::new()
    } else {
        vec![one[0] + line * (low / length), one[0] + line * (high / length)]
    }
}

/// Without corners that are within the slack of others.
fn distinct(polygon: Polygon, slack: f64) -> Polygon {
    let mut kept = Polygon::new();
    for x in polygon {
        if kept.iter().all(|known| (x - known).norm() > slack) {
            kept.push(x);
        }
    }
    kept
}
