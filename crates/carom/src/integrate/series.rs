//! Legendre series on [−1, 1]: Gauss's nodes and weights, sums, integrals, derivatives, and the first root.
//!
//! ```text
//! (k+1) P_{k+1} = (2k+1) x P_k − k P_{k−1}        ∫_{−1}^x P_k = (P_{k+1} − P_{k−1})/(2k+1),  k ≥ 1
//! P'_{k+1} = P'_{k−1} + (2k+1) P_k                |P_k| ≤ 1,  |P_k''| ≤ (k−1)k(k+1)(k+2)/8  on [−1, 1]
//! ```
//!
//! The last two bounds make a sum's values and bends certain from its coefficients alone, which is what the first root
//! rests on.

/// The most coefficients that a series may have here.
pub const MOST_TERMS: usize = 32;

/// P_0(x) … P_{n}(x), one more than asked for being room for integrals; entries above n + 1 are zero.
#[must_use]
pub fn legendre(x: f64, n: usize) -> [f64; MOST_TERMS + 1] {
    let mut p = [0.0; MOST_TERMS + 1];
    p[0] = 1.0;
    p[1] = x;
    let mut order = 1.0;
    for k in 1..n.min(MOST_TERMS) {
        p[k + 1] = ((2.0 * order + 1.0) * x * p[k] - order * p[k - 1]) / (order + 1.0);
        order += 1.0;
    }
    p
}

/// ∫_{−1}^x P_k for k below n.
#[must_use]
pub fn legendre_integrals(x: f64, n: usize) -> [f64; MOST_TERMS] {
    let p = legendre(x, n);
    let mut integral = [0.0; MOST_TERMS];
    integral[0] = x + 1.0;
    let mut odd = 3.0;
    for k in 1..n.min(MOST_TERMS) {
        integral[k] = (p[k + 1] - p[k - 1]) / odd;
        odd += 2.0;
    }
    integral
}

/// Gauss's n nodes and weights, ascending: the roots of P_n by Newton's method, w = 2/((1−x²) P_n'²).
#[must_use]
pub fn gauss(n: usize) -> (Vec<f64>, Vec<f64>) {
    let size = count(n);
    let mut nodes = vec![0.0; n];
    let mut weights = vec![0.0; n];
    for i in 0..n.div_ceil(2) {
        // Tricomi's first guess from the right end; Newton's method doubles its digits.
        let mut x = libm::cos(core::f64::consts::PI * (count(i) + 0.75) / (size + 0.5));
        if 2 * i + 1 == n {
            x = 0.0;
        }
        let slope_at = |x: f64, p: &[f64]| size * (p[n - 1] - x * p[n]) / ((1.0 - x) * (1.0 + x));
        for _ in 0..8 {
            let p = legendre(x, n);
            x -= p[n] / slope_at(x, &p);
        }
        let slope = slope_at(x, &legendre(x, n));
        let weight = 2.0 / ((1.0 - x) * (1.0 + x) * slope * slope);
        (nodes[n - 1 - i], weights[n - 1 - i]) = (x, weight);
        (nodes[i], weights[i]) = (-x, weight);
    }
    (nodes, weights)
}

/// A small number as a float, exactly.
pub(crate) fn count(n: usize) -> f64 {
    u32::try_from(n).map_or(f64::NAN, f64::from)
}

/// Σ a_k P_k(x).
#[must_use]
pub fn sum(a: &[f64], x: f64) -> f64 {
    let p = legendre(x, a.len());
    a.iter().zip(&p).map(|(a, p)| a * p).sum()
}

/// Σ a_k P_k(x) and its derivative.
#[must_use]
pub fn sum_and_slope(a: &[f64], x: f64) -> (f64, f64) {
    let p = legendre(x, a.len());
    let mut slopes = [0.0; MOST_TERMS + 1];
    let (mut value, mut slope, mut odd) = (0.0, 0.0, 1.0);
    for (k, a) in a.iter().enumerate() {
        value += a * p[k];
        slope += a * slopes[k];
        if k < MOST_TERMS {
            slopes[k + 1] = odd * p[k] + if k > 0 { slopes[k - 1] } else { 0.0 };
        }
        odd += 2.0;
    }
    (value, slope)
}

/// The first zero of a sum after x = −1, where it becomes negative; `None` if it never does. Values within `noise`
/// of zero right at the start count as zero, and the first value beyond decides: a sum that starts at zero and rises
/// goes on, one that falls has its root at −1.
///
/// From a place of positive value the tangent parabola of greatest bend is a lower bound, so its root is a safe step;
/// near a simple zero it is Newton's.
#[must_use]
pub fn first_fall(a: &[f64], noise: f64) -> Option<f64> {
    let mut bend = 0.0;
    for (k, a) in a.iter().enumerate() {
        let k = count(k);
        bend += a.abs() * ((k - 1.0) * k * (k + 1.0) * (k + 2.0) / 8.0).max(0.0);
    }
    let mut x = -1.0;
    if sum(a, x) <= noise {
        let mut away = f64::EPSILON;
        loop {
            let value = sum(a, -1.0 + away);
            if value < -noise {
                return Some(-1.0);
            }
            if value > noise {
                x = -1.0 + away;
                break;
            }
            // Zero all along: nothing falls.
            if away >= 2.0 {
                return None;
            }
            away = (2.0 * away).min(2.0);
        }
    }
    // Newton's steps near a root, and √(2 value/bend) at least: the bound is only a guard.
    for _ in 0..100_000 {
        let (value, slope) = sum_and_slope(a, x);
        if value <= 0.0 {
            return Some(x);
        }
        let root = libm::sqrt(slope * slope + 2.0 * bend * value);
        let step = if slope < 0.0 { 2.0 * value / (root - slope) } else { (slope + root) / bend };
        let next = x + step;
        if next >= 1.0 {
            return None;
        }
        if next <= x {
            return Some(x);
        }
        if next.is_nan() {
            return None;
        }
        x = next;
    }
    None
}
