//! Jacobi's elliptic functions, and the integrals that torque-free rotation needs.
//!
//! Everything is a ratio of theta functions (Whittaker and Watson, *Modern Analysis*, chapters 21 and 22; DLMF 20.7(viii),
//! 22.2). With z = πu/2K and the nome q = exp(−πK'/K),
//!
//! ```text
//! sn = θ₃/θ₂ θ₁(z)/θ₄(z)      cn = θ₄/θ₂ θ₂(z)/θ₄(z)      dn = θ₄/θ₃ θ₃(z)/θ₄(z)
//! ```
//!
//! For m ≤ ½ the nome is at most e^−π = 0.043 and four terms of each series reach rounding. For m > ½ Jacobi's imaginary
//! transformation turns the same ratios into series in the complementary nome q' = exp(−πK/K') ≤ e^−π with hyperbolic
//! functions of w = πu/2K', and they end as tanh and sech at m = 1. Both hold their digits up to their limit, so nothing
//! is lost near m = 0 or m = 1 as long as 1 − m is given beside m. The argument is first brought to |u| ≤ K by whole
//! half-periods 2K, in two-double arithmetic.
//!
//! The integral of the third kind enters as the phase of θ₁(z − iδ'), with period 2K; no integral is evaluated along the way.
//!
//! Not covered: m outside [0, 1]. 1 − m below 10⁻²⁸⁰ is taken as 10⁻²⁸⁰ (K = 324): m = 1 has no period.

use core::f64::consts::{FRAC_PI_2, PI};

use super::two::{Two, exact_product};

/// The least 1 − m: the square root and the nome stay normal numbers.
const LEAST_COMPLEMENT: f64 = 1e-280;

/// sn, cn and dn of one parameter m = k², prepared once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jacobi {
    /// Whether m > ½: series in the complementary nome.
    hyperbolic: bool,
    /// q for m ≤ ½, q' otherwise.
    nome: f64,
    /// −ln q' = πK/K'; used for m > ½.
    decay: f64,
    /// K'/K or, for m > ½, K/K'.
    aspect: f64,
    quarter_period: f64,
    /// 1/2K.
    cells: Two,
    /// The factors that make sn(K), cn(0) and dn(0) one.
    scale: [f64; 3],
}

/// The circular or hyperbolic functions of odd multiples of the argument that all the series share.
struct Waves {
    /// sin (2n+1)z; or, for m > ½, q'^(n²+n) 2 sinh((2n+1)w)/e^|w|.
    odd: [f64; 4],
    /// cos (2n+1)z; or, for m > ½, q'^(n²+n) 2 cosh((2n+1)w)/e^|w|.
    even: [f64; 4],
    sn: f64,
    cn: f64,
    dn: f64,
}

/// The elliptic functions, and the direction (cos, sin, of any length) of the periodic part of the node's angle.
pub(crate) struct Swing {
    pub sn: f64,
    pub cn: f64,
    pub dn: f64,
    pub node: [f64; 2],
}

impl Jacobi {
    /// Prepares the functions of parameter m = k² with its complement 1 − m, which near m = 1 carries what m cannot.
    ///
    /// Both lie in [0, 1] and sum to one.
    #[must_use]
    pub fn new(parameter: f64, complement: f64) -> Self {
        Self::prepared(Two::from(parameter), Two::from(complement))
    }

    pub(crate) fn prepared(parameter: Two, complement: Two) -> Self {
        let complement =
            if complement.hi < LEAST_COMPLEMENT { Two::from(LEAST_COMPLEMENT) } else { complement };
        // K = π/2M(1, k'), K' = π/2M(1, k) (DLMF 19.8.5).
        let mean = arithmetic_geometric_mean(complement.sqrt());
        // K' enters the nome only, where a double does.
        let other_mean = plain_mean(libm::sqrt(parameter.hi));
        let hyperbolic = parameter.hi > 0.5;
        let aspect = if hyperbolic { other_mean / mean.hi } else { mean.hi / other_mean };
        let decay = PI * aspect;
        let nome = libm::exp(-decay);
        let mut functions = Self {
            hyperbolic,
            nome,
            decay,
            aspect,
            quarter_period: FRAC_PI_2 / mean.hi,
            cells: mean * Two::FRAC_1_PI,
            scale: [1.0; 3],
        };
        let start = functions.waves(0.0);
        // sn(K) = 1 in closed form: θ₃/θ₂ or, transformed, θ₃'/θ₄'.
        let theta =
            |sign: f64| 1.0 + 2.0 * nome * (sign + nome * nome * nome * (1.0 + sign * power(nome, 5)));
        let sn = if hyperbolic {
            theta(1.0) / theta(-1.0)
        } else {
            theta(1.0) / (1.0 + nome * nome * (1.0 + power(nome, 4)))
        };
        functions.scale = [sn, 1.0 / start.cn, 1.0 / start.dn];
        functions
    }

    /// The quarter period K(m), the complete integral of the first kind.
    #[must_use]
    pub fn quarter_period(&self) -> f64 {
        self.quarter_period
    }

    /// Half-periods 2K per unit of the argument, 1/2K, to 32 digits.
    pub(crate) fn cells(&self) -> Two {
        self.cells
    }

    /// [sn u, cn u, dn u].
    #[must_use]
    pub fn at(&self, u: f64) -> [f64; 3] {
        let (cell, odd) = reduced(u, self.cells, 0.0);
        let waves = self.waves(cell);
        let sign = if odd { -1.0 } else { 1.0 };
        [sign * self.scale[0] * waves.sn, sign * self.scale[1] * waves.cn, self.scale[2] * waves.dn]
    }

    /// The functions and the node at u = 2K cell, |cell| ≤ ½.
    pub(crate) fn swing(&self, node: &Node, cell: f64) -> Swing {
        let waves = self.waves(cell);
        let mut direction = [0.0; 2];
        for n in (0..4).rev() {
            direction[0] += node.real[n] * waves.even[n];
            direction[1] += node.imaginary[n] * waves.odd[n];
        }
        Swing {
            sn: self.scale[0] * waves.sn,
            cn: self.scale[1] * waves.cn,
            dn: self.scale[2] * waves.dn,
            node: direction,
        }
    }

    fn waves(&self, cell: f64) -> Waves {
        if self.hyperbolic { self.hyperbolic_waves(cell) } else { self.circular_waves(cell) }
    }

    fn circular_waves(&self, cell: f64) -> Waves {
        let q = self.nome;
        let (s, c) = libm::sincos(PI * cell);
        // cos 2z, cos 4z, cos 6z and the odd multiples by Chebyshev's recurrence.
        let twice = 1.0 - 2.0 * s * s;
        let step = 2.0 * twice;
        let fourth = step * twice - 1.0;
        let sixth = step * fourth - twice;
        let s3 = (step + 1.0) * s;
        let c3 = (step - 1.0) * c;
        let (s5, c5) = (step * s3 - s, step * c3 - c);
        let (s7, c7) = (step * s5 - s3, step * c5 - c3);
        let q2 = q * q;
        let q4 = q2 * q2;
        let plain = 1.0 + 2.0 * q4 * fourth;
        let waving = 2.0 * q * (twice + q4 * q4 * sixth);
        let bottom = plain - waving;
        Waves {
            odd: [s, s3, s5, s7],
            even: [c, c3, c5, c7],
            sn: (s - q2 * (s3 - q4 * s5)) / bottom,
            cn: (c + q2 * (c3 + q4 * c5)) / bottom,
            dn: (plain + waving) / bottom,
        }
    }

    fn hyperbolic_waves(&self, cell: f64) -> Waves {
        let q = self.nome;
        // e = e^(−2|w|), g = q' e^(2|w|) ≤ 1: every term is scaled by e^(−|w|), so nothing overflows.
        let exponent = -2.0 * self.decay * cell.abs();
        let root = libm::exp(0.5 * exponent);
        let e = root * root;
        let short = if e < 0.5 { 1.0 - e } else { -libm::expm1(exponent) };
        let g = q / e;
        let sign = if cell < 0.0 { -1.0 } else { 1.0 };
        let e2 = e * e;
        let powers = [e, e2 * e, e2 * e2 * e, e2 * e2 * e2 * e];
        // 1 − e^(2n+1) by the geometric sum, exact at w = 0.
        let first = 1.0 + e + e2;
        let second = first + e2 * e * (1.0 + e);
        let third = second + e2 * e2 * e * (1.0 + e);
        let q2 = q * q;
        let q4 = q2 * q2;
        let weights = [1.0, q * g, q4 * g * g, q4 * q4 * q * g * g * g];
        let odd = [
            sign * short,
            sign * weights[1] * short * first,
            sign * weights[2] * short * second,
            sign * weights[3] * short * third,
        ];
        let even = [
            1.0 + powers[0],
            weights[1] * (1.0 + powers[1]),
            weights[2] * (1.0 + powers[2]),
            weights[3] * (1.0 + powers[3]),
        ];
        let bottom = even[0] + (even[1] + (even[2] + even[3]));
        let waving = (g + q * e) + q4 * q2 * (g * g * g + q2 * q * e2 * e);
        let rest = q2 * (g * g + q2 * e2);
        Waves {
            odd,
            even,
            sn: (odd[0] - (odd[1] - (odd[2] - odd[3]))) / bottom,
            cn: root * (1.0 - waving + rest) / bottom,
            dn: root * (1.0 + waving + rest) / bottom,
        }
    }
}

/// The integral of the third kind of characteristic −n ≤ 0, as an angle.
///
/// With n = m sc²(η|1−m) and δ = K' − η, Jacobi's formula (Whittaker and Watson 22.74) reads
///
/// ```text
/// ∫₀ᵘ c dv/(1 + n sn²v) = (mean rate) u + arg θ₁(z − iδ') − z + π/2,     c = √((1+n)(1+m/n)),  δ' = πδ/2K
/// ```
///
/// whose last three terms have period 2K: no integral is evaluated, only the direction of a short sum. For m > ½ the
/// same phase is arg θ₁(d + iw | q') − (πu/2K) η/K', d = πδ/2K'.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Node {
    real: [f64; 4],
    imaginary: [f64; 4],
    /// The part of the half-turn per cell to take off the direction's angle.
    pub drift: f64,
}

impl Node {
    /// From η and δ, η + δ = K'.
    pub fn new(functions: &Jacobi, near: f64, far: f64) -> Self {
        let mut node = Self { real: [0.0; 4], imaginary: [0.0; 4], drift: 1.0 };
        let mut sign = 1.0;
        if functions.hyperbolic {
            let complete = functions.quarter_period / functions.aspect;
            let angle = FRAC_PI_2 * far / complete;
            node.drift = near / complete;
            for n in 0..4 {
                let (sine, cosine) = libm::sincos((2 * n + 1) as f64 * angle);
                // q'^(n²) gⁿ is in the waves.
                node.real[n] = sign * sine;
                node.imaginary[n] = sign * cosine;
                sign = -sign;
            }
        } else {
            // q^(n²+n) cosh (2n+1)δ' / cosh δ' = q^(n²) Gⁿ (1 + E^(2n+1))/(1 + E), E = e^(−2δ'), G = q/E.
            let rate = PI / functions.quarter_period;
            let (e, g) = (libm::exp(-rate * far), libm::exp(-rate * near));
            let short = -libm::expm1(-rate * far);
            let (mut weight, mut power_of_e, mut sum) = (1.0, e, 1.0);
            for n in 0..4 {
                node.real[n] = sign * weight * short * sum / (1.0 + e);
                node.imaginary[n] = sign * weight * (1.0 + power_of_e) / (1.0 + e);
                // From n² to (n+1)².
                weight *= g * power(functions.nome, 2 * n + 1);
                sum += power_of_e * (1.0 + e);
                power_of_e *= e * e;
                sign = -sign;
            }
        }
        node
    }
}

/// rate·time + offset, less the nearest whole number; and whether that number is odd.
pub(crate) fn reduced(time: f64, rate: Two, offset: f64) -> (f64, bool) {
    let product = exact_product(time, rate.hi);
    let whole = nearest(product.hi);
    let rest = (product.hi - whole) + (offset + (product.lo + time * rate.lo));
    let carry = nearest(rest);
    let parity = 0.5 * (whole + carry);
    (rest - carry, parity != nearest(parity))
}

/// The nearest whole number, even of two. Signs cannot be guessed, so nothing branches on them.
#[inline(always)]
fn nearest(x: f64) -> f64 {
    // 3/2 · 2⁵²: next to it, numbers are whole.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    if x.abs() < 0.25 * WHOLE { (x + WHOLE) - WHOLE } else { libm::rint(x) }
}

/// The arithmetic-geometric mean of one and b in [0, 1], to 32 digits.
fn arithmetic_geometric_mean(b: Two) -> Two {
    let (mut mean, mut geometric) = (Two::ONE, b);
    if b.hi <= 0.0 {
        return Two::ZERO;
    }
    for _ in 0..24 {
        let difference = mean - geometric;
        let next = (mean + geometric).scaled(0.5);
        // Quadratic: one step more makes 10⁻¹⁷ into 10⁻³⁴.
        if difference.hi.abs() <= 1e-16 * mean.hi {
            return next;
        }
        geometric = (mean * geometric).sqrt();
        mean = next;
    }
    mean
}

/// The same to rounding.
fn plain_mean(b: f64) -> f64 {
    let (mut mean, mut geometric) = (1.0, b);
    if b <= 0.0 {
        return 0.0;
    }
    for _ in 0..24 {
        let next = 0.5 * (mean + geometric);
        if (mean - geometric).abs() <= 1e-8 * mean {
            return next;
        }
        geometric = libm::sqrt(mean * geometric);
        mean = next;
    }
    mean
}

/// The share s of the complete integral of the third kind,
/// Π(−n|m) = K (1 − n/(1+n) s), from √(1+n) and the complement 1 − m, to 32 digits (DLMF 19.8.7).
pub(crate) fn third_kind_share(root: Two, complement: Two) -> Two {
    let complement = if complement.hi < LEAST_COMPLEMENT { Two::from(LEAST_COMPLEMENT) } else { complement };
    let (mut mean, mut geometric, mut p) = (Two::ONE, complement.sqrt(), root);
    let (mut term, mut sum) = (Two::ONE, Two::ONE);
    // The term halves at least once a step: the bound is never the reason to stop.
    for _ in 0..120 {
        let product = mean * geometric;
        let square = p * p;
        let total = square + product;
        term = (term * (square - product) / total).scaled(0.5);
        sum = sum + term;
        if term.hi.abs() < 1e-33 {
            break;
        }
        p = total / (p + p);
        mean = (mean + geometric).scaled(0.5);
        geometric = product.sqrt();
    }
    sum.scaled(0.5)
}

/// Carlson's symmetric integral of the first kind,
/// R_F(x, y, z) = ½ ∫₀^∞ dt/√((t+x)(t+y)(t+z)), for arguments ≥ 0; infinite when two of them vanish.
///
/// By duplication (B. C. Carlson, "Numerical computation of real or complex elliptic integrals", Numerical Algorithms
/// 10, 1995, with his fifth-order series, DLMF 19.36.1), relative error about 10⁻¹⁵.
#[must_use]
pub fn carlson_rf(x: f64, y: f64, z: f64) -> f64 {
    let vanishing = [x, y, z].iter().filter(|a| **a <= 0.0).count();
    if vanishing > 1 {
        return f64::INFINITY;
    }
    let (mut x, mut y, mut z) = (x, y, z);
    // A step takes the root of the arguments' ratio while that is large and then a quarter of their spread: twenty for
    // the widest ratio of doubles.
    for _ in 0..60 {
        let mean = (x + y + z) / 3.0;
        let spread = (mean - x).abs().max((mean - y).abs()).max((mean - z).abs());
        // The neglected order is the spread's sixth power.
        if spread <= 1.5e-3 * mean {
            break;
        }
        let (a, b, c) = (libm::sqrt(x), libm::sqrt(y), libm::sqrt(z));
        let shift = a * b + b * c + c * a;
        x = 0.25 * (x + shift);
        y = 0.25 * (y + shift);
        z = 0.25 * (z + shift);
    }
    let mean = (x + y + z) / 3.0;
    let (dx, dy) = ((mean - x) / mean, (mean - y) / mean);
    let dz = -dx - dy;
    let (e2, e3) = (dx * dy - dz * dz, dx * dy * dz);
    (1.0 - e2 / 10.0 + e3 / 14.0 + e2 * e2 / 24.0 - 3.0 * e2 * e3 / 44.0) / libm::sqrt(mean)
}

/// The incomplete integral of the first kind F(φ|m) from the direction (cos φ, sin φ), a unit vector, and
/// dn² = 1 − m sin²φ, which the caller may know without cancellation. The angle is taken in (−π, π].
pub(crate) fn first_kind(cosine: f64, sine: f64, delta_squared: f64, quarter_period: f64) -> f64 {
    let inner = sine.abs() * carlson_rf(cosine * cosine, delta_squared, 1.0);
    let magnitude = if sine == 0.0 {
        if cosine < 0.0 { 2.0 * quarter_period } else { 0.0 }
    } else if cosine < 0.0 {
        2.0 * quarter_period - inner
    } else {
        inner
    };
    if sine < 0.0 { -magnitude } else { magnitude }
}

fn power(base: f64, exponent: usize) -> f64 {
    let mut product = 1.0;
    for _ in 0..exponent {
        product *= base;
    }
    product
}
