//! The point of a simplex nearest to the origin: of every face the foot of the origin, if it lies inside, and of these the nearest.

use nalgebra::{Matrix2, Vector2, Vector3};

use super::difference::Vertex;

/// Up to four points of the difference, with the weights of the nearest point.
#[derive(Clone, Copy)]
pub(super) struct Simplex {
    vertices: [Vertex; 4],
    weights: [f64; 4],
    count: usize,
}

impl Simplex {
    pub const EMPTY: Self = Self { vertices: [Vertex::NOTHING; 4], weights: [0.0; 4], count: 0 };

    pub fn vertices(&self) -> &[Vertex] {
        &self.vertices[..self.count]
    }

    pub fn push(&mut self, vertex: Vertex) {
        if self.count < 4 {
            self.vertices[self.count] = vertex;
            self.weights[self.count] = if self.count == 0 { 1.0 } else { 0.0 };
            self.count += 1;
        }
    }

    pub fn has(&self, vertex: &Vertex) -> bool {
        self.vertices().iter().any(|known| known.apart == vertex.apart)
    }

    /// The nearest point's parts of both bodies.
    pub fn points(&self) -> [Vector3<f64>; 2] {
        let mut sum = [Vector3::zeros(); 2];
        for (vertex, weight) in self.vertices().iter().zip(&self.weights) {
            for (sum, point) in sum.iter_mut().zip(&vertex.points) {
                *sum += point * *weight;
            }
        }
        sum
    }

    /// The nearest point; vertices that have no part in it are dropped. In a plane, `project` leaves what is along it.
    pub fn reduce(&mut self, project: impl Fn(&Vector3<f64>) -> Vector3<f64>) -> Vector3<f64> {
        let mut at = [Vector3::zeros(); 4];
        for (at, vertex) in at.iter_mut().zip(self.vertices()) {
            *at = project(&vertex.apart);
        }
        let mut best = (f64::INFINITY, 0_usize, [0.0; 4], Vector3::zeros());
        for chosen in 1..1_usize << self.count {
            let Some(weights) = foot(&at, chosen) else { continue };
            let mut point = Vector3::zeros();
            for (x, weight) in at.iter().zip(&weights) {
                point += x * *weight;
            }
            // A simplex with the origin inside has it as its nearest point.
            let square = if chosen.count_ones() == 4 { 0.0 } else { point.norm_squared() };
            if square < best.0 {
                best = (square, chosen, weights, point);
            }
        }
        let (_, chosen, weights, point) = best;
        let mut count = 0;
        for (i, weight) in weights.into_iter().enumerate().take(self.count) {
            if chosen & (1 << i) != 0 {
                self.vertices[count] = self.vertices[i];
                self.weights[count] = weight;
                count += 1;
            }
        }
        self.count = count;
        point
    }

    /// Whether the origin is inside.
    pub fn is_full(&self) -> bool {
        self.count == 4
    }
}

/// The barycentric coordinates of the foot of the origin on the chosen vertices' flat, if all are positive.
fn foot(at: &[Vector3<f64>; 4], chosen: usize) -> Option<[f64; 4]> {
    let mut index = [0; 4];
    let mut count = 0;
    for i in 0..4 {
        if chosen & (1 << i) != 0 {
            index[count] = i;
            count += 1;
        }
    }
    let first = at[index[0]];
    let edge = |k: usize| at[index[k]] - first;
    let mut weights = [0.0; 4];
    match count {
        1 => weights[index[0]] = 1.0,
        2 => {
            let e = edge(1);
            weights[index[1]] = -first.dot(&e) / e.norm_squared();
        }
        3 => {
            let (e, f) = (edge(1), edge(2));
            let cross = e.dot(&f);
            let gram = Matrix2::new(e.norm_squared(), cross, cross, f.norm_squared());
            let area = e.cross(&f).norm_squared();
            if area <= 1e-28 * gram.m11 * gram.m22 {
                return None;
            }
            let right = -Vector2::new(first.dot(&e), first.dot(&f));
            weights[index[1]] = (gram.m22 * right.x - gram.m12 * right.y) / area;
            weights[index[2]] = (gram.m11 * right.y - gram.m12 * right.x) / area;
        }
        _ => {
            let (e, f, g) = (edge(1), edge(2), edge(3));
            let volume = e.dot(&f.cross(&g));
            if volume.abs() <= 1e-14 * (e.norm() * f.norm() * g.norm()) {
                return None;
            }
            weights[index[1]] = -first.dot(&f.cross(&g)) / volume;
            weights[index[2]] = -first.dot(&g.cross(&e)) / volume;
            weights[index[3]] = -first.dot(&e.cross(&f)) / volume;
        }
    }
    let others: f64 = (1..count).map(|k| weights[index[k]]).sum();
    if count > 1 {
        weights[index[0]] = 1.0 - others;
    }
    // Not a number where two vertices coincide.
    (0..count).all(|k| weights[index[k]] > 0.0).then_some(weights)
}
