//! How a body's surface, volume and moments change with its sizes: a radius, or semi-axes.
//!
//! ```text
//! h(n) = (Σ (a_i|n_i|)^q)^{1/q},  s = ∇h,    ∂s_i/∂a_k = q δ_ik s_i/a_i + (1−q) s_i s_k n_k/(a_k h)    at fixed n
//! ∂V/∂a_k = V/a_k,    I₁ = κ (a₂² + a₃²), cyclic:  ∂I_i/∂a_k = 2κ a_k,  i ≠ k
//! ```
//!
//! with 1/p + 1/q = 1; q = 2 of an ellipsoid. A sphere has one size, the first.

use nalgebra::{Matrix3, Vector3};

use crate::shape::Shape;

/// The derivative of the support point by the sizes, at a fixed normal, from the point and the unit normal in body axes.
pub(super) fn support_by_sizes(shape: &Shape, point: &Vector3<f64>, normal: &Vector3<f64>) -> Matrix3<f64> {
    let mut by_sizes = Matrix3::zeros();
    let (axes, q) = match *shape {
        Shape::Sphere { .. } => {
            by_sizes.set_column(0, normal);
            return by_sizes;
        }
        Shape::Ellipsoid { semi_axes } => (semi_axes, 2.0),
        Shape::Superellipsoid { semi_axes, exponent } => (semi_axes, exponent / (exponent - 1.0)),
        _ => return by_sizes,
    };
    let height = point.dot(normal);
    for k in 0..3 {
        let by_height = point[k] * normal[k] / (axes[k] * height);
        for i in 0..3 {
            by_sizes[(i, k)] = (1.0 - q) * point[i] * by_height;
        }
        by_sizes[(k, k)] += q * point[k] / axes[k];
    }
    by_sizes
}

/// ∂V by the sizes.
pub(super) fn volume_by_sizes(shape: &Shape) -> Vector3<f64> {
    let volume = shape.volume();
    match *shape {
        Shape::Sphere { radius } => Vector3::new(3.0 * volume / radius, 0.0, 0.0),
        Shape::Ellipsoid { semi_axes } | Shape::Superellipsoid { semi_axes, .. } => {
            Vector3::from(semi_axes.map(|a| volume / a))
        }
        _ => Vector3::zeros(),
    }
}

/// ∂I of the homogeneous body of unit mass by the sizes, a column for each.
pub(super) fn unit_inertia_by_sizes(shape: &Shape) -> Matrix3<f64> {
    let moments = shape.unit_inertia();
    match *shape {
        Shape::Sphere { radius } => {
            let mut by_sizes = Matrix3::zeros();
            by_sizes.set_column(0, &(moments * (2.0 / radius)));
            by_sizes
        }
        Shape::Ellipsoid { semi_axes: a } | Shape::Superellipsoid { semi_axes: a, .. } => {
            let share = moments.x / (a[1] * a[1] + a[2] * a[2]);
            Matrix3::from_fn(|i, k| if i == k { 0.0 } else { 2.0 * share * a[k] })
        }
        _ => Matrix3::zeros(),
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::Vector3;

    use super::{support_by_sizes, unit_inertia_by_sizes, volume_by_sizes};
    use crate::shape::Shape;

    #[test]
    fn sizes_against_differences() {
        let make: [&dyn Fn([f64; 3]) -> Shape; 3] = [
            &|a| Shape::Sphere { radius: a[0] },
            &|semi_axes| Shape::Ellipsoid { semi_axes },
            &|semi_axes| Shape::Superellipsoid { semi_axes, exponent: 3.5 },
        ];
        let axes = [0.7, 1.1, 1.9];
        let n = Vector3::new(0.3, -0.5, 0.8).normalize();
        for make in make {
            let shape = make(axes);
            let point = shape.support(&n);
            let by = support_by_sizes(&shape, &point, &n);
            let (volume, moments) = (volume_by_sizes(&shape), unit_inertia_by_sizes(&shape));
            for k in 0..3 {
                let moved = |h: f64| {
                    let mut axes = axes;
                    axes[k] += h;
                    make(axes)
                };
                // Fourth-order differences.
                let h = 1e-3;
                let slope = |f: &dyn Fn(&Shape) -> Vector3<f64>| {
                    let near = f(&moved(h)) - f(&moved(-h));
                    (near * 8.0 - (f(&moved(2.0 * h)) - f(&moved(-2.0 * h)))) / (12.0 * h)
                };
                assert!((slope(&|s| s.support(&n)) - by.column(k)).amax() < 1e-9, "{shape:?} {k}");
                assert!((slope(&|s| s.unit_inertia()) - moments.column(k)).amax() < 1e-9, "{shape:?} {k}");
                let volumes = slope(&|s| Vector3::repeat(s.volume()));
                assert!((volumes.x - volume[k]).abs() < 1e-8, "{shape:?} {k}");
            }
        }
    }
}
