//! Volume, centre of mass and inertia of a convex polyhedron grown by a ball of radius r, in closed form, part by part.
//!
//! ```text
//! inside    tetrahedra 0abc, D = a·(b×c), s = a+b+c:   V = D/6,  ∫x = D s/24,  ∫xxᵀ = D (aaᵀ + bbᵀ + ccᵀ + ssᵀ)/120
//! faces     prisms of height r on triangles
//! edges     sectors of cylinders: of length L and angle θ, from one face's normal to the other's
//! corners   sectors of balls: over the directions that a corner faces, a polygon of the unit sphere whose area Ω is
//!           2π less the angles of the faces there, and with the edges' directions e away from the corner, the angles θ and
//!           w = 2 sin(θ/2) × the direction halfway between the normals
//!           ∫u dω = −½ Σ θ e,   ∫uuᵀ dω = (Ω − Σ e wᵀ)/3        (Stokes)
//! ```

use core::f64::consts::TAU;

use nalgebra::{Matrix3, Vector3};

use super::Shell;

/// Of a homogeneous body of unit density.
pub(super) struct Moments {
    pub volume: f64,
    /// In the coordinates of the corners.
    pub centre: Vector3<f64>,
    /// The inertia tensor of unit mass about the centre of mass.
    pub unit_inertia: Matrix3<f64>,
}

/// ∫1, ∫x and ∫xxᵀ.
struct Sums {
    zeroth: f64,
    first: Vector3<f64>,
    second: Matrix3<f64>,
}

impl Sums {
    fn add(&mut self, zeroth: f64, first: Vector3<f64>, second: Matrix3<f64>) {
        self.zeroth += zeroth;
        self.first += first;
        self.second += second;
    }
}

fn square(x: &Vector3<f64>) -> Matrix3<f64> {
    x * x.transpose()
}

/// x yᵀ + y xᵀ
fn mixed(x: &Vector3<f64>, y: &Vector3<f64>) -> Matrix3<f64> {
    x * y.transpose() + y * x.transpose()
}

pub(super) fn moments(shell: &Shell, normals: &[Vector3<f64>], r: f64) -> Moments {
    // About a point inside, so that nothing cancels.
    let count = shell.corners.iter().map(|_| 1.0).sum::<f64>();
    let middle = shell.corners.iter().sum::<Vector3<f64>>() / count;
    let corner = |k: u32| shell.corners[k as usize] - middle;
    let mut sums = Sums { zeroth: 0.0, first: Vector3::zeros(), second: Matrix3::zeros() };
    for (outline, n) in shell.outlines.iter().zip(normals) {
        for k in 1..outline.len() - 1 {
            let [a, b, c] = [outline[0], outline[k], outline[k + 1]].map(corner);
            let s = a + b + c;
            let squares = square(&a) + square(&b) + square(&c) + square(&s);
            let d = a.dot(&b.cross(&c));
            sums.add(d / 6.0, s * (d / 24.0), squares * (d / 120.0));
            if r > 0.0 {
                let area = 0.5 * (b - a).cross(&(c - a)).dot(n);
                let m = s / 3.0;
                let second = squares * (area * r / 12.0)
                    + mixed(&m, n) * (0.5 * area * r * r)
                    + square(n) * (area * r * r * r / 3.0);
                sums.add(area * r, (m * r + n * (0.5 * r * r)) * area, second);
            }
        }
    }
    if r > 0.0 {
        rounded_edges(&mut sums, shell, normals, r, &corner);
    }
    let centre = sums.first / sums.zeroth;
    let about = sums.second / sums.zeroth - square(&centre);
    let about = (about + about.transpose()) * 0.5;
    Moments {
        volume: sums.zeroth,
        centre: centre + middle,
        unit_inertia: Matrix3::from_diagonal_element(about.trace()) - about,
    }
}

/// The sectors along the edges and at the corners.
fn rounded_edges(
    sums: &mut Sums,
    shell: &Shell,
    normals: &[Vector3<f64>],
    r: f64,
    corner: &impl Fn(u32) -> Vector3<f64>,
) {
    // Of the directions that each corner faces: Ω, ∫u and Σ e wᵀ.
    let mut faced = vec![(TAU, Vector3::zeros(), Matrix3::zeros()); shell.corners.len()];
    for outline in &shell.outlines {
        let place = |k: usize| corner(outline[k % outline.len()]);
        for k in 0..outline.len() {
            let here = place(k);
            let (u, v) = (place(k + 1) - here, place(k + outline.len() - 1) - here);
            faced[outline[k] as usize].0 -= libm::atan2(u.cross(&v).norm(), u.dot(&v));
        }
    }
    for (ends, sides) in &shell.edges {
        let [p, q] = ends.map(corner);
        let [a, b] = sides.map(|k| normals[k as usize]);
        let (length, e) = ((q - p).norm(), (q - p).normalize());
        let theta = libm::atan2(a.cross(&b).norm(), a.dot(&b));
        let half = (a + b).normalize();
        let (sine, across) = (libm::sin(0.5 * theta), half.cross(&e));
        let c = (p + q) * 0.5;
        let sector = 0.5 * theta * r * r;
        let d = half * (2.0 / 3.0 * r * r * r * sine);
        let line = (square(&p) + square(&q) + square(&(p + q))) * (length / 6.0);
        let turned = square(&half) * (0.5 * (theta + libm::sin(theta)))
            + square(&across) * (0.5 * (theta - libm::sin(theta)));
        let second = line * sector + (mixed(&c, &d) + turned * (0.25 * r * r * r * r)) * length;
        sums.add(length * sector, (c * sector + d) * length, second);
        let w = half * (2.0 * sine);
        for (k, away) in ends.iter().zip([e, -e]) {
            let (_, first, bent) = &mut faced[*k as usize];
            *first -= away * (0.5 * theta);
            *bent += away * w.transpose();
        }
    }
    for (k, (solid, first, bent)) in faced.iter().enumerate() {
        let v = corner(super::number(k));
        let second = (Matrix3::from_diagonal_element(*solid) - bent) / 3.0;
        let cube = r * r * r / 3.0;
        let fourth = 0.25 * r * r * r * r;
        sums.add(
            solid * cube,
            v * (solid * cube) + first * fourth,
            square(&v) * (solid * cube) + mixed(&v, first) * fourth + second * (0.2 * r * r * r * r * r),
        );
    }
}
