//! Torque-free rotation in closed form.
//!
//! Let M = Iω be the angular momentum in body axes. Axis 2 is the one of middle moment; axis 3 is the one M circles
//! about: that of the largest moment when M² > 2T I₂, of the smallest when M² < 2T I₂; it points so that M₃ ≥ 0, and axis
//! 1 completes a right-handed frame. Then (Euler; Jacobi 1849; Whittaker, *Analytical Dynamics*, §69)
//!
//! ```text
//! M = (A₁ cn u, √(1+n) A₁ sn u, A₃ dn u),    u = u₀ + p t
//! A₁² = M₁² + M₂²/(1+n)                      1+n = I₂(I₃−I₁) / I₁(I₃−I₂)
//! A₃² = M₃² + M₂² n/(1+n)                    m   = n A₁²/A₃²,   1−m = (M₃² − n M₁²)/A₃²
//! p   = A₃ (I₃−I₂)/(I₂I₃) √(1+n)
//! ```
//!
//! Every sum is of like signs but 1−m, the distance to the separatrix, which is taken in two-double arithmetic.
//!
//! The turn from body axes to axes with L along z is, in Euler's angles, R_z(φ) R_x(θ) R_z(ψ) with
//! M = |M| (sin θ sin ψ, sin θ cos ψ, cos θ): the body's M is mapped onto the constant world L whatever φ is, so the
//! angular momentum is kept by construction. The node's angle obeys
//!
//! ```text
//! φ' = |M| [1/I₃ + (1/I₁ − 1/I₃)/(1 + n sn²u)]
//! φ  = |M| [1/I₁ − (1/I₁ − 1/I₂) s] t + periodic(u) − periodic(u₀)
//! ```
//!
//! s from [`third_kind_share`](super::elliptic), the periodic part (period 2K in u) from the phase of a theta function.
//! The direction of (M₁, M₂), (cn u, √(1+n) sn u), has a limit where A₁ → 0, so the slightest wobble and none at all are
//! one formula. What has no circling axis, a sphere or a spin about one principal axis exactly, turns steadily.
//!
//! A body with two equal moments I, the third I₃ about its axis e, makes two steady turns: about L, and about e,
//!
//! ```text
//! R(t) = exp([L/I] t) R(0) exp([(1 − I₃/I) ω₃ e] t),    ω(t) = exp([L/I] t) ω(0)
//! ```

use core::f64::consts::PI;

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};

use super::elliptic::{Jacobi, Node, first_kind, reduced, third_kind_share};
use super::two::{Two, exact_product};

/// A wobble about a principal axis below this share of the spin counts as zero.
const LEAST_WOBBLE: f64 = 1e-140;

/// How a body turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rotation {
    /// About a fixed axis of the world, at a constant rate.
    Steady { orientation: UnitQuaternion<f64>, spin: Vector3<f64>, axis: Vector3<f64>, turns: Two },
    /// Two steady turns, of a body with two equal moments.
    Symmetric(Symmetric),
    /// Circling as the module says.
    Circling(Circling),
}

/// The two turns of a symmetric body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Symmetric {
    orientation: Quaternion<f64>,
    spin: Vector3<f64>,
    /// About the angular momentum: the direction, and turns per unit of time.
    about: Vector3<f64>,
    turns: Two,
    /// About the body's own axis likewise.
    axis: usize,
    own_turns: Two,
    /// The greatest |ω'|.
    spin_rate: f64,
}

/// The constants of one torque-free rotation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Circling {
    functions: Jacobi,
    node: Node,
    /// Half-periods per unit of time, p/2K.
    cells: Two,
    /// u₀/2K.
    start: f64,
    /// Turns of the node per unit of time.
    turns: Two,
    /// A₁, √(1+n) A₁, A₃ over |M|.
    amplitude: Vector3<f64>,
    /// √(1+n).
    stretch: f64,
    /// |M| over the moments of axes 1, 2, 3: what turns a direction of M into ω.
    spin: Vector3<f64>,
    /// From axes with L along z to the world.
    frame: Quaternion<f64>,
    /// From the body's axes to axes 1, 2, 3.
    axes: Quaternion<f64>,
    /// 1 − m.
    complement: f64,
}

/// The greatest |ω| and the greatest |ω̇| of a rotation, over all times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Extremes {
    pub spin: f64,
    pub spin_rate: f64,
}

impl Rotation {
    /// From the angular velocity in world axes; and in body axes where it is known there, which is then what is integrated.
    pub fn new(
        moments: &Vector3<f64>,
        orientation: &UnitQuaternion<f64>,
        spin: &Vector3<f64>,
        own: Option<&Vector3<f64>>,
    ) -> Self {
        let exact = own.unwrap_or(spin);
        let largest = exact.amax();
        if largest == 0.0 || moments.x == moments.y && moments.y == moments.z {
            return Self::steady(orientation, spin, exact);
        }
        // Powers of two, so that no square over- or underflows and no digit changes.
        let unit = binary_unit(largest);
        let body_spin = match own {
            Some(own) => [own.x, own.y, own.z].map(|component| Two::from(component / unit)),
            None => in_body_axes(orientation, &(spin / unit)),
        };
        let moments = moments / binary_unit(moments.amax());
        // Its square is the least distance to the separatrix that is told from none.
        if body_spin.iter().filter(|component| component.hi.abs() > LEAST_WOBBLE).count() < 2 {
            return Self::steady(orientation, spin, exact);
        }
        let lone = [0, 1, 2].into_iter().find(|&k| moments[(k + 1) % 3] == moments[(k + 2) % 3]);
        if let Some(axis) = lone {
            return Self::Symmetric(Symmetric::new(&moments, axis, (orientation, spin), &body_spin, unit));
        }
        match Circling::new(&moments, orientation, &body_spin, unit) {
            Some(circling) => Self::Circling(circling),
            None => Self::steady(orientation, spin, exact),
        }
    }

    /// About the axis of the angular velocity in the world, as fast as its exact components say in either axes.
    fn steady(orientation: &UnitQuaternion<f64>, spin: &Vector3<f64>, exact: &Vector3<f64>) -> Self {
        let largest = exact.amax();
        if largest == 0.0 {
            return Self::Steady {
                orientation: *orientation,
                spin: *spin,
                axis: Vector3::x(),
                turns: Two::ZERO,
            };
        }
        let unit = binary_unit(largest);
        let scaled = exact / unit;
        let square = |a: f64| exact_product(a, a);
        let speed = (square(scaled.x) + square(scaled.y) + square(scaled.z)).sqrt();
        let turns = (speed * Two::FRAC_1_PI).scaled(0.5 * unit);
        Self::Steady { orientation: *orientation, spin: *spin, axis: spin / unit / speed.hi, turns }
    }

    /// The orientation and the angular velocity in world axes at time t.
    pub fn at(&self, t: f64) -> (UnitQuaternion<f64>, Vector3<f64>) {
        match self {
            Self::Steady { orientation, spin, axis, turns } => {
                let (turn, _) = reduced(t, *turns, 0.0);
                let (s, c) = libm::sincos(PI * turn);
                let turned = Quaternion::from_parts(c, axis * s) * orientation.quaternion();
                (unit_quaternion(turned), *spin)
            }
            Self::Symmetric(symmetric) => symmetric.at(t),
            Self::Circling(circling) => circling.at(t),
        }
    }

    /// What rounding may turn the attitude by: that of a few products of quaternions, and of phases, which are kept in units of
    /// their period.
    pub fn rounding(&self) -> f64 {
        let periods = match self {
            Self::Steady { .. } | Self::Symmetric(_) => PI,
            Self::Circling(circling) => circling.functions.quarter_period(),
        };
        f64::EPSILON * (4.0 + 2.0 * periods)
    }

    /// After how long ω in body axes repeats; that of one turn where it is constant. `None` if nothing turns.
    pub fn period(&self) -> Option<f64> {
        let per_time = match self {
            Self::Steady { turns, .. } => turns.hi,
            Self::Symmetric(symmetric) => symmetric.own_turns.hi,
            // A period of sn and cn is two half-periods.
            Self::Circling(circling) => 0.5 * circling.cells.hi,
        };
        let period = per_time.abs().recip();
        period.is_finite().then_some(period)
    }

    pub fn extremes(&self) -> Extremes {
        match self {
            Self::Steady { spin, .. } => Extremes { spin: length(spin), spin_rate: 0.0 },
            Self::Symmetric(symmetric) => symmetric.extremes(),
            Self::Circling(circling) => circling.extremes(),
        }
    }
}

impl Symmetric {
    fn new(
        moments: &Vector3<f64>,
        axis: usize,
        (orientation, spin): (&UnitQuaternion<f64>, &Vector3<f64>),
        body_spin: &[Two; 3],
        unit: f64,
    ) -> Self {
        let ratio = Two::from(moments[axis]) / Two::from(moments[(axis + 1) % 3]);
        // L/I, in the body's axes.
        let mut precession = *body_spin;
        precession[axis] = ratio * body_spin[axis];
        let [a, b, c] = precession;
        let speed = (a * a + b * b + c * c).sqrt();
        let own = (Two::ONE - ratio) * body_spin[axis];
        let turns = |rate: Two| (rate * Two::FRAC_1_PI).scaled(0.5 * unit);
        let across = Vector3::new(a.hi, b.hi, c.hi);
        // |L/I × ω|, and of L/I only what differs from ω counts.
        let wobble = libm::hypot(across[(axis + 1) % 3], across[(axis + 2) % 3]);
        Self {
            orientation: *orientation.quaternion(),
            spin: *spin,
            about: orientation * (across / speed.hi),
            turns: turns(speed),
            axis,
            own_turns: turns(own),
            spin_rate: (own.hi * unit).abs() * (wobble * unit),
        }
    }

    #[inline]
    fn at(&self, t: f64) -> (UnitQuaternion<f64>, Vector3<f64>) {
        // Half angles; a sign of either is a sign of the quaternion.
        let turned = |turns: Two| {
            let (turn, _) = reduced(t, turns, 0.0);
            libm::sincos(PI * turn)
        };
        let ((s, c), (own_s, own_c)) = (turned(self.turns), turned(self.own_turns));
        let about = unit_quaternion(Quaternion::from_parts(c, self.about * s));
        let mut own = Vector3::zeros();
        own[self.axis] = own_s;
        let orientation = about.quaternion() * self.orientation * Quaternion::from_parts(own_c, own);
        (unit_quaternion(orientation), about * self.spin)
    }

    /// Both are the same at all times.
    fn extremes(&self) -> Extremes {
        let safe = 1.0 + 1e-14;
        Extremes { spin: safe * length(&self.spin), spin_rate: safe * self.spin_rate }
    }
}

impl Circling {
    /// Nothing where no axis can be told to be circled about; that is where rounding made the moments equal.
    fn new(
        moments: &Vector3<f64>,
        orientation: &UnitQuaternion<f64>,
        body_spin: &[Two; 3],
        unit: f64,
    ) -> Option<Self> {
        let [low, middle, high] = ascending(moments);
        let moment = |axis: usize| Two::from(moments[axis]);
        let momentum = |axis: usize| moment(axis) * body_spin[axis];
        // M² − 2T I₂ = I₃ω₃²(I₃−I₂) − I₁ω₁²(I₂−I₁): which of the outer axes M circles about.
        let lead = momentum(high) * body_spin[high] * (moment(high) - moment(middle));
        let trail = momentum(low) * body_spin[low] * (moment(middle) - moment(low));
        let about_high = moments[middle] == moments[low] || (lead - trail).hi > 0.0;
        let order = if about_high { [low, middle, high] } else { [high, middle, low] };
        let [i1, i2, i3] = order.map(moment);
        // Signs that make M₃ ≥ 0 and the axes right-handed.
        let third = if body_spin[order[2]].hi < 0.0 { -1.0 } else { 1.0 };
        let even = (order[0] + 1) % 3 == order[1];
        let signs = [if even { third } else { -third }, 1.0, third];
        let signed = |k: usize| momentum(order[k]).scaled(signs[k]);
        let [m1, m2, m3] = [0, 1, 2].map(signed);

        let outer = i3 - i1;
        let gap = i3 - i2;
        if gap.hi == 0.0 || outer.hi == 0.0 {
            return None;
        }
        let stretch_squared = (i2 * outer) / (i1 * gap);
        let n = (i3 * (i2 - i1)) / (i1 * gap);
        let first = m1 * m1 + m2 * m2 / stretch_squared;
        let last = m3 * m3 + m2 * m2 * (n / stretch_squared);
        let total = first + last;
        let (parameter, complement) = if n.hi == 0.0 || last.hi == 0.0 {
            (Two::ZERO, Two::ONE)
        } else {
            let complement = (m3 * m3 - n * m1 * m1) / last;
            // Below zero only by rounding, on the separatrix.
            (n * first / last, if complement.hi < 0.0 { Two::ZERO } else { complement })
        };
        let functions = Jacobi::prepared(parameter, complement);
        let (stretch, size) = (stretch_squared.sqrt(), total.sqrt());
        let rate = last.sqrt() * gap / (i2 * i3) * stretch;
        let share = third_kind_share(stretch, complement);
        let mean_rate = size * (Two::ONE / i1 - (i2 - i1) / (i1 * i2) * share);

        let (first_root, last_root) = (first.sqrt().hi, last.sqrt().hi);
        let start = if first_root == 0.0 {
            0.0
        } else {
            let (cosine, sine) = (m1.hi / first_root, m2.hi / (first_root * stretch.hi));
            let norm = libm::hypot(cosine, sine);
            let delta = if last_root == 0.0 { 1.0 } else { m3.hi / last_root };
            first_kind(cosine / norm, sine / norm, delta * delta, functions.quarter_period())
                * functions.cells().hi
        };
        // η with sc(η|1−m) = A₃/A₁, and δ = K' − η with sc(δ|1−m) = 1/√n; never one from the other.
        let tall = last_root / size.hi;
        let flat = first_root / size.hi;
        let near = tall * super::elliptic::carlson_rf(flat * flat, flat * flat * stretch_squared.hi, 1.0);
        let wide = (n / stretch_squared).hi;
        let far = super::elliptic::carlson_rf(wide, ((n + parameter) / stretch_squared).hi, 1.0) / stretch.hi;
        let node = Node::new(&functions, near, far);

        let mut rows = Matrix3::zeros();
        for k in 0..3 {
            rows[(k, order[k])] = signs[k];
        }
        let axes =
            *UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rows)).quaternion();
        let mut circling = Self {
            functions,
            node,
            cells: (rate * functions.cells()).scaled(unit),
            start,
            turns: (mean_rate * Two::FRAC_1_PI).scaled(0.5 * unit),
            amplitude: Vector3::new(flat, flat * stretch.hi, tall),
            stretch: stretch.hi,
            spin: Vector3::new((size / i1).hi, (size / i2).hi, (size / i3).hi) * unit,
            frame: Quaternion::identity(),
            axes,
            complement: complement.hi,
        };
        let (turned, _) = circling.at(0.0);
        circling.frame = orientation.quaternion() * turned.quaternion().conjugate();
        Some(circling)
    }

    fn at(&self, t: f64) -> (UnitQuaternion<f64>, Vector3<f64>) {
        let (cell, odd) = reduced(t, self.cells, self.start);
        let (turn, _) = reduced(t, self.turns, -0.5 * self.node.drift * cell);
        let swing = self.functions.swing(&self.node, cell);
        let sign = if odd { -1.0 } else { 1.0 };
        let (sn, cn) = (sign * swing.sn, sign * swing.cn);

        // Half angles of φ, ψ and θ; a sign of any is a sign of the quaternion.
        let (s, c) = libm::sincos(PI * turn);
        let [a, b] = half_angle(swing.node[0], swing.node[1]);
        let phi = [c * a - s * b, s * a + c * b];
        let across = self.stretch * sn;
        let psi = half_angle(across, cn);
        let level = self.amplitude.x * libm::sqrt(across * across + cn * cn);
        let upright = self.amplitude.z * swing.dn;
        let theta = half_angle(upright, level);
        let zxz = Quaternion::new(
            theta[0] * (phi[0] * psi[0] - phi[1] * psi[1]),
            theta[1] * (phi[0] * psi[0] + phi[1] * psi[1]),
            theta[1] * (phi[1] * psi[0] - phi[0] * psi[1]),
            theta[0] * (phi[1] * psi[0] + phi[0] * psi[1]),
        );
        let to_frame = self.frame * zxz;
        let direction = Vector3::new(self.amplitude.x * cn, self.amplitude.y * sn, upright);
        let spin = unit_quaternion(to_frame) * direction.component_mul(&self.spin);
        (unit_quaternion(to_frame * self.axes), spin)
    }

    /// |ω|² is linear and |ω̇|² quadratic in sn²u, which runs over all of [0, 1]: their maxima are exact.
    fn extremes(&self) -> Extremes {
        let square = |x: f64| x * x;
        let complement = self.complement;
        let spin = self.spin;
        let (a, b, c) = (square(self.amplitude.x), square(self.amplitude.y), square(self.amplitude.z));
        let at_start = a * square(spin.x) + c * square(spin.z);
        let at_quarter = b * square(spin.y) + c * complement * square(spin.z);
        // ω̇₁ = (M₂M₃)(1/I₃ − 1/I₂)/I₁ and so on.
        let k1 = b * c * square((spin.z - spin.y) * spin.x);
        let k2 = c * a * square((spin.x - spin.z) * spin.y);
        let k3 = a * b * square((spin.y - spin.x) * spin.z);
        // k₁ x(1−mx) + k₂ (1−x)(1−mx) + k₃ x(1−x)
        let m = 1.0 - complement;
        let rate = |x: f64| k1 * x * (1.0 - m * x) + (1.0 - x) * (k2 * (1.0 - m * x) + k3 * x);
        let bend = (k2 - k1) * m - k3;
        let slope = k1 - k2 * (1.0 + m) + k3;
        let summit = if bend < 0.0 { (-0.5 * slope / bend).clamp(0.0, 1.0) } else { 0.0 };
        let fastest = rate(0.0).max(rate(1.0)).max(rate(summit));
        // Rounded up beyond the errors of the few operations above.
        let safe = 1.0 + 1e-14;
        Extremes { spin: safe * libm::sqrt(at_start.max(at_quarter)), spin_rate: safe * libm::sqrt(fastest) }
    }
}

/// (cos, sin) of half the angle of (x, y), of either sign.
fn half_angle(x: f64, y: f64) -> [f64; 2] {
    let size = libm::sqrt(x * x + y * y);
    if size == 0.0 {
        return [1.0, 0.0];
    }
    // The sum without cancellation.
    let (a, b) = if x >= 0.0 { (size + x, y) } else { (y, size - x) };
    let norm = 1.0 / libm::sqrt(a * a + b * b);
    [a * norm, b * norm]
}

pub(super) fn unit_quaternion(q: Quaternion<f64>) -> UnitQuaternion<f64> {
    let square = q.w * q.w + q.i * q.i + q.j * q.j + q.k * q.k;
    UnitQuaternion::new_unchecked(q * (1.0 / libm::sqrt(square)))
}

fn length(v: &Vector3<f64>) -> f64 {
    let largest = v.amax();
    if largest == 0.0 {
        return 0.0;
    }
    let w = v / largest;
    largest * libm::sqrt(w.x * w.x + w.y * w.y + w.z * w.z) * (1.0 + 1e-15)
}

/// The power of two just above a positive number.
fn binary_unit(x: f64) -> f64 {
    let (_, exponent) = libm::frexp(x);
    libm::ldexp(1.0, exponent.clamp(-1000, 1000))
}

/// The indices of the moments, from the least to the largest.
fn ascending(moments: &Vector3<f64>) -> [usize; 3] {
    let mut order = [0, 1, 2];
    for (a, b) in [(0, 1), (1, 2), (0, 1)] {
        if moments[order[a]] > moments[order[b]] {
            order.swap(a, b);
        }
    }
    order
}

/// A world vector in the body's axes, to 32 digits, the quaternion being unit only to rounding.
fn in_body_axes(orientation: &UnitQuaternion<f64>, vector: &Vector3<f64>) -> [Two; 3] {
    let q = orientation.quaternion();
    let [w, x, y, z] = [q.w, q.i, q.j, q.k].map(Two::from);
    let [a, b, c] = [vector.x, vector.y, vector.z].map(Two::from);
    let square = w * w + x * x + y * y + z * z;
    let twice = |t: Two| t.scaled(2.0);
    let (ww, xx, yy, zz) = (w * w, x * x, y * y, z * z);
    [
        (ww + xx - yy - zz) * a + twice(x * y + w * z) * b + twice(x * z - w * y) * c,
        twice(x * y - w * z) * a + (ww - xx + yy - zz) * b + twice(y * z + w * x) * c,
        twice(x * z + w * y) * a + twice(y * z - w * x) * b + (ww - xx - yy + zz) * c,
    ]
    .map(|component| component / square)
}
