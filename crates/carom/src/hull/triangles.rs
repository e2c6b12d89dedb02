//! The triangles of the convex hull of points: quickhull (Barber, Dobkin and Huhdanpaa 1996), with exact predicates (Shewchuk 1997).
//!
//! A triangle sees a point if the point is strictly on its outer side, which is decided without rounding. Then the triangles that see
//! a point are connected and their outline is one cycle, whatever lies in a plane or on a line: no tolerance is needed, and no case is
//! special. Points of equal coordinates see nothing of each other.

use std::collections::HashMap;

use nalgebra::Vector3;
use robust::{Coord3D, orient3d};

use super::{Defect, FLATTEST};

struct Triangle {
    /// Counterclockwise, seen from outside.
    corners: [usize; 3],
    /// Across the edge from corner k to the next.
    neighbours: [usize; 3],
    /// The points that it sees, of those not in the hull yet, each at one triangle; the farthest is the last.
    seen: Vec<usize>,
    is_alive: bool,
}

/// The triangles of the hull, as numbers of points, counterclockwise seen from outside.
pub(super) fn triangles(points: &[Vector3<f64>]) -> Result<Vec<[usize; 3]>, Defect> {
    let start = tetrahedron(points)?;
    let mut hull = Hull { points, triangles: Vec::new() };
    hull.begin(start);
    let mut waiting: Vec<usize> = (0..4).collect();
    while let Some(k) = waiting.pop() {
        if !hull.triangles[k].is_alive {
            continue;
        }
        if let Some(point) = hull.triangles[k].seen.pop() {
            let from = hull.triangles.len();
            hull.add(k, point)?;
            waiting.extend(from..hull.triangles.len());
        }
    }
    Ok(hull.triangles.iter().filter(|triangle| triangle.is_alive).map(|triangle| triangle.corners).collect())
}

/// Four corners of the hull that are plainly not in a plane.
fn tetrahedron(points: &[Vector3<f64>]) -> Result<[usize; 4], Defect> {
    let key = |x: &Vector3<f64>| [x.x, x.y, x.z];
    // An end in the order of x, then y, then z is a corner for certain.
    let first = (0..points.len())
        .min_by(|&i, &j| key(&points[i]).partial_cmp(&key(&points[j])).unwrap_or(std::cmp::Ordering::Equal))
        .ok_or(Defect::TooFew(0))?;
    let farthest = |measure: &dyn Fn(&Vector3<f64>) -> f64| {
        let mut best = (0.0, first);
        for (k, x) in points.iter().enumerate() {
            let far = measure(&(x - points[first])).abs();
            if far > best.0 {
                best = (far, k);
            }
        }
        best
    };
    let (extent, second) = farthest(&|x| x.norm());
    let along = (points[second] - points[first]) / extent;
    let (width, third) = farthest(&|x| x.cross(&along).norm());
    if width <= FLATTEST * extent {
        let different: std::collections::HashSet<[u64; 3]> =
            points.iter().take(1000).map(|x| key(x).map(|x| (x + 0.0).to_bits())).collect();
        return Err(if different.len() < 4 { Defect::TooFew(different.len()) } else { Defect::Straight });
    }
    let across = along.cross(&(points[third] - points[first])).normalize();
    let (thickness, fourth) = farthest(&|x| x.dot(&across));
    if thickness <= FLATTEST * extent {
        return Err(if points.len() < 4 {
            Defect::TooFew(points.len())
        } else {
            Defect::Flat { thickness, extent }
        });
    }
    Ok([first, second, third, fourth])
}

struct Hull<'a> {
    points: &'a [Vector3<f64>],
    triangles: Vec<Triangle>,
}

impl Hull<'_> {
    /// Whether a point is strictly on the outer side of three corners.
    fn sees(&self, corners: [usize; 3], point: usize) -> bool {
        let [a, b, c, p] = [corners[0], corners[1], corners[2], point].map(|k| {
            let Vector3 { data, .. } = &self.points[k];
            let [[x, y, z]] = data.0;
            Coord3D { x, y, z }
        });
        // Positive below the plane, where above is the side from which the corners go counterclockwise.
        orient3d(a, b, c, p) < 0.0
    }

    /// How far a point is beyond three corners, to rounding.
    fn beyond(&self, corners: [usize; 3], point: usize) -> f64 {
        let [a, b, c] = corners.map(|k| self.points[k]);
        (b - a).cross(&(c - a)).normalize().dot(&(self.points[point] - a))
    }

    fn begin(&mut self, [a, b, c, d]: [usize; 4]) {
        let (b, c) = if self.sees([a, b, c], d) { (c, b) } else { (b, c) };
        // Across the edges stand those of the faces that have them the other way round.
        let faces = [[a, b, c], [a, d, b], [b, d, c], [c, d, a]];
        let neighbours = [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]];
        for (corners, neighbours) in faces.into_iter().zip(neighbours) {
            self.triangles.push(Triangle { corners, neighbours, seen: Vec::new(), is_alive: true });
        }
        self.share(0..self.points.len(), 0);
    }

    /// Gives points to the first of the triangles from a number on that sees them.
    fn share(&mut self, points: impl IntoIterator<Item = usize>, from: usize) {
        let count = self.triangles.len() - from;
        let mut farthest = vec![f64::NEG_INFINITY; count];
        for point in points {
            let seen = (from..from + count).find(|&k| self.sees(self.triangles[k].corners, point));
            let Some(k) = seen else { continue };
            let far = self.beyond(self.triangles[k].corners, point);
            let list = &mut self.triangles[k].seen;
            list.push(point);
            if far > farthest[k - from] {
                farthest[k - from] = far;
            } else {
                let last = list.len() - 1;
                // The farthest stays last.
                if last > 0 {
                    list.swap(last, last - 1);
                }
            }
        }
    }

    /// Adds a point that a triangle sees: all triangles that see it give way to those that join it to their outline.
    fn add(&mut self, start: usize, point: usize) -> Result<(), Defect> {
        let mut visible = vec![start];
        self.triangles[start].is_alive = false;
        // The edges of the outline: two corners, and the triangle beyond.
        let mut outline = Vec::new();
        let mut next = 0;
        while next < visible.len() {
            let k = visible[next];
            next += 1;
            let Triangle { corners, neighbours, .. } = self.triangles[k];
            for (side, beyond) in neighbours.into_iter().enumerate() {
                if !self.triangles[beyond].is_alive {
                    continue;
                }
                if self.sees(self.triangles[beyond].corners, point) {
                    self.triangles[beyond].is_alive = false;
                    visible.push(beyond);
                } else {
                    outline.push((corners[side], corners[(side + 1) % 3], beyond));
                }
            }
        }
        let from = self.triangles.len();
        let begins: HashMap<usize, usize> =
            outline.iter().enumerate().map(|(k, &(a, ..))| (a, from + k)).collect();
        let ends: HashMap<usize, usize> =
            outline.iter().enumerate().map(|(k, &(_, b, _))| (b, from + k)).collect();
        if begins.len() != outline.len() || ends.len() != outline.len() {
            return Err(Defect::Unresolved);
        }
        for (k, &(a, b, beyond)) in outline.iter().enumerate() {
            let (Some(&after), Some(&before)) = (begins.get(&b), ends.get(&a)) else {
                return Err(Defect::Unresolved);
            };
            self.triangles.push(Triangle {
                corners: [a, b, point],
                neighbours: [beyond, after, before],
                seen: Vec::new(),
                is_alive: true,
            });
            let theirs = self.triangles[beyond].corners;
            if let Some(side) = (0..3).find(|&side| theirs[side] == b && theirs[(side + 1) % 3] == a) {
                self.triangles[beyond].neighbours[side] = from + k;
            }
        }
        let seen: Vec<usize> =
            visible.iter().flat_map(|&k| std::mem::take(&mut self.triangles[k].seen)).collect();
        self.share(seen, from);
        Ok(())
    }
}
