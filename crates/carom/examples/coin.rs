//! A coin that rolls round and round at a constant tilt, and one that wobbles. `cargo run --release -p carom --example coin`.
//!
//! In Euler's angles (heading φ, tilt θ of the axis from the vertical, turn ψ) with ω₃ = ψ' + φ' cos θ, steady precession needs
//!
//! ```text
//! (J₃ + m r²) ω₃ φ' sin θ − J₁ φ'² sin θ cos θ + m g r cos θ = 0
//! ```
//!
//! and takes the centre round a circle of radius r |ω₃/φ'|.

use carom::lagrange::{Counts, Run, Scalar, Settings, System};

/// A thin disk: centre (x, y) above the floor, and the angles (φ, θ, ψ).
pub struct Coin {
    /// m.
    pub mass: f64,
    /// r.
    pub radius: f64,
    /// g.
    pub gravity: f64,
}

impl Coin {
    /// Moments about a diameter and about the axis.
    fn inertia(&self) -> [f64; 2] {
        let square = self.mass * self.radius * self.radius;
        [0.25 * square, 0.5 * square]
    }

    /// ψ' of steady precession.
    #[must_use]
    pub fn steady(&self, tilt: f64, precession: f64) -> f64 {
        let [across, along] = self.inertia();
        let (sin, cos) = libm::sincos(tilt);
        let square = self.mass * self.radius * self.radius;
        let pull =
            across * precession * precession * sin * cos - self.mass * self.gravity * self.radius * cos;
        pull / ((along + square) * precession * sin) - precession * cos
    }

    /// The centre's velocity when it rolls.
    #[must_use]
    pub fn rolling(&self, [heading, tilt, _]: [f64; 3], [precession, fall, turn]: [f64; 3]) -> [f64; 2] {
        let (sh, ch) = libm::sincos(heading);
        let (st, ct) = libm::sincos(tilt);
        let spin = turn + precession * ct;
        [self.radius * (fall * st * sh - spin * ch), -self.radius * (fall * st * ch + spin * sh)]
    }
}

impl System<5> for Coin {
    fn mass<S: Scalar>(&self, q: &[S; 5]) -> [[S; 5]; 5] {
        let [across, along] = self.inertia();
        let (sin, cos) = q[3].sin_cos();
        let zero = S::constant(0.0);
        let mut mass = [[zero; 5]; 5];
        mass[0][0] = S::constant(self.mass);
        mass[1][1] = mass[0][0];
        mass[2][2] = sin.powi(2) * across + cos.powi(2) * along;
        mass[2][4] = cos * along;
        mass[4][2] = mass[2][4];
        mass[4][4] = S::constant(along);
        // The centre stands at r sin θ.
        mass[3][3] = cos.powi(2) * (self.mass * self.radius * self.radius) + across;
        mass
    }

    fn potential<S: Scalar>(&self, q: &[S; 5]) -> S {
        q[3].sin() * (self.mass * self.gravity * self.radius)
    }

    fn counts(&self) -> Counts {
        Counts { nonholonomic: 2, ..Counts::default() }
    }

    fn nonholonomic<S: Scalar>(&self, q: &[S; 5], rows: &mut [[S; 5]]) {
        let (sh, ch) = q[2].sin_cos();
        let (st, ct) = q[3].sin_cos();
        let r = self.radius;
        let [one, zero] = [1.0, 0.0].map(S::constant);
        rows[0] = [one, zero, ct * ch * r, -(st * sh) * r, ch * r];
        rows[1] = [zero, one, ct * sh * r, st * ch * r, sh * r];
    }

    fn scales(&self) -> [f64; 5] {
        [self.radius, self.radius, 1.0, 1.0, 1.0]
    }
}

/// Steady precession for ten rounds: how far the tilt, the heading and the centre's circle are off, and the energy.
///
/// # Errors
///
/// Where there is no such motion.
pub fn precess(tilt: f64, precession: f64) -> Result<[f64; 4], Box<dyn std::error::Error>> {
    let coin = Coin { mass: 0.02, radius: 0.15, gravity: 9.81 };
    let turn = coin.steady(tilt, precession);
    let angles = [0.0, tilt, 0.0];
    let rates = [precession, 0.0, turn];
    let [x, y] = coin.rolling(angles, rates);
    // From the centre of the circle: at φ = 0 the centre of the coin moves along x.
    let circle = coin.radius * (turn + precession * libm::cos(tilt)) / precession;
    let position = [0.0, circle, angles[0], angles[1], angles[2]];
    let velocity = [x, y, rates[0], rates[1], rates[2]];
    let mut run = Run::new(coin, position, velocity, Settings::default())?;
    let mut worst = [0.0_f64; 4];
    run.to(10.0 * core::f64::consts::TAU / precession.abs(), |_, step| {
        let t = step.piece.until;
        let (q, _) = step.piece.at(t);
        worst[0] = worst[0].max((q[3] - tilt).abs());
        worst[1] = worst[1].max((q[2] - precession * t).abs());
        worst[2] = worst[2].max((libm::hypot(q[0], q[1]) - circle.abs()).abs());
        true
    })?;
    worst[3] = run.audit().energy;
    Ok(worst)
}

/// A coin set rolling at a tilt that it does not keep, for some seconds: lowest and highest tilt, energy, slip left.
///
/// # Errors
///
/// The obstacle, if the coin falls flat.
pub fn wobble() -> Result<[f64; 4], Box<dyn std::error::Error>> {
    let coin = Coin { mass: 0.02, radius: 0.15, gravity: 9.81 };
    let (angles, rates) = ([0.3, 1.0, 0.0], [0.8, 0.0, -14.0]);
    let [x, y] = coin.rolling(angles, rates);
    let position = [0.0, 0.0, angles[0], angles[1], angles[2]];
    let velocity = [x, y, rates[0], rates[1], rates[2]];
    let mut run = Run::new(coin, position, velocity, Settings::default())?;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    run.to(20.0, |run, _| {
        low = low.min(run.position()[3]);
        high = high.max(run.position()[3]);
        true
    })?;
    Ok([low, high, run.audit().energy, run.audit().velocity])
}

/// Prints the tables.
///
/// # Errors
///
/// None, in fact.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("A coin in steady precession, ten rounds against the closed form\n");
    println!("  tilt  precession    tilt off  heading off   circle off      energy");
    for (tilt, precession) in [(1.3, 2.0), (0.8, 6.0), (0.3, 12.0)] {
        let [a, b, c, energy] = precess(tilt, precession)?;
        println!("{tilt:>6}{precession:>12}{a:>12.1e}{b:>13.1e}{c:>13.1e}{energy:>12.1e}");
    }
    let [low, high, energy, slip] = wobble()?;
    println!(
        "\nset rolling at another speed it wobbles between {low:.4} and {high:.4} rad; energy off by {energy:.1e}, slip {slip:.1e}"
    );
    Ok(())
}
