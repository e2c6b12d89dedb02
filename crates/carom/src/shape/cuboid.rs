//! The mass properties of a box grown by a ball, part by part: the box, slabs on its faces, quarters of cylinders along its edges
//! and eighths of a ball at its corners.

use core::f64::consts::PI;

use nalgebra::Vector3;

/// V = 8abc + 8r(ab + bc + ca) + 2πr²(a + b + c) + 4πr³/3.
pub(super) fn volume([a, b, c]: [f64; 3], r: f64) -> f64 {
    8.0 * octant([a, b, c], r)
}

fn octant([a, b, c]: [f64; 3], r: f64) -> f64 {
    a * b * c + r * (a * b + b * c + c * a) + 0.25 * PI * r * r * (a + b + c) + PI / 6.0 * r * r * r
}

/// ⟨x²⟩ along each axis.
pub(super) fn mean_squares(a: [f64; 3], r: f64) -> [f64; 3] {
    let volume = octant(a, r);
    core::array::from_fn(|i| {
        let (x, y, z) = (a[i], a[(i + 1) % 3], a[(i + 2) % 3]);
        let face = y * z + r * (y + z) + 0.25 * PI * r * r;
        // Of the cap of height r on that face: ∫(x + ξ)² over slab, quarter cylinders and an eighth of a ball.
        let disc = |ring: f64, first: f64, second: f64| x * x * ring + 2.0 * x * first + second;
        let slab = y * z * disc(r, r * r / 2.0, r * r * r / 3.0);
        let quarters = (y + z) * disc(0.25 * PI * r * r, r * r * r / 3.0, PI / 16.0 * r * r * r * r);
        let eighth = disc(PI / 6.0 * r * r * r, PI / 16.0 * r * r * r * r, PI / 30.0 * r * r * r * r * r);
        (x * x * x / 3.0 * face + slab + quarters + eighth) / volume
    })
}

/// I₁ = ⟨x₂²⟩ + ⟨x₃²⟩, cyclic.
pub(super) fn unit_inertia(a: [f64; 3], r: f64) -> Vector3<f64> {
    // In units of the size, so that fifth powers stay in range.
    let size = a[0].max(a[1]).max(a[2]) + r;
    let [x, y, z] = mean_squares(a.map(|a| a / size), r / size);
    Vector3::new(y + z, z + x, x + y) * size * size
}
