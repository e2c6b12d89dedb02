//! A bead on a wire bent to a parabola, in one coordinate and in two with a constraint, against its period by quadrature.
//! `cargo run --release -p carom --example bead`.
//!
//! On y = ½ c x² from rest at x = A: T = 4 ∫₀^{π/2} √((1 + c²A² sin²u)/(c g)) du, an integrand so smooth and periodic that
//! the trapezium rule has all digits.

use carom::lagrange::{Counts, Run, Scalar, Settings, System, mass_of};

const GRAVITY: f64 = 9.81;

/// The wire, by the coordinate x alone.
pub struct Along {
    /// c.
    pub bend: f64,
}

impl System<1> for Along {
    fn mass<S: Scalar>(&self, q: &[S; 1]) -> [[S; 1]; 1] {
        // As a kinetic energy in x' and y' = c x x'.
        mass_of(|v: &[S; 1]| (v[0].powi(2) + (q[0] * v[0] * self.bend).powi(2)) * 0.5)
    }

    fn potential<S: Scalar>(&self, q: &[S; 1]) -> S {
        q[0].powi(2) * (0.5 * self.bend * GRAVITY)
    }
}

/// The wire as a constraint on (x, y).
pub struct Across {
    /// c.
    pub bend: f64,
}

impl System<2> for Across {
    fn mass<S: Scalar>(&self, _: &[S; 2]) -> [[S; 2]; 2] {
        mass_of(|v: &[S; 2]| (v[0].powi(2) + v[1].powi(2)) * 0.5)
    }

    fn potential<S: Scalar>(&self, q: &[S; 2]) -> S {
        q[1] * GRAVITY
    }

    fn counts(&self) -> Counts {
        Counts { holonomic: 1, ..Counts::default() }
    }

    fn holonomic<S: Scalar>(&self, q: &[S; 2], phi: &mut [S]) {
        phi[0] = q[1] - q[0].powi(2) * (0.5 * self.bend);
    }
}

/// The period from rest at a distance.
#[must_use]
pub fn period(bend: f64, far: f64) -> f64 {
    const POINTS: u32 = 400;
    let slope = bend * bend * far * far;
    let sum: f64 = (0..POINTS)
        .map(|k| {
            let sin = libm::sin(core::f64::consts::TAU * f64::from(k) / f64::from(POINTS));
            libm::sqrt((1.0 + slope * sin * sin) / (bend * GRAVITY))
        })
        .sum();
    core::f64::consts::TAU * sum / f64::from(POINTS)
}

/// How late the bead is after one period by either way, over the period; the energy and the constraint after many.
///
/// # Errors
///
/// None, in fact.
pub fn swing(bend: f64, far: f64, periods: f64) -> Result<[f64; 4], Box<dyn std::error::Error>> {
    let period = period(bend, far);
    // At the turning point the acceleration is −c g x/(1 + c²x²).
    let pull = bend * GRAVITY * far / (1.0 + bend * bend * far * far);
    let mut one = Run::new(Along { bend }, [far], [0.0], Settings::default())?;
    let mut two = Run::new(Across { bend }, [far, 0.5 * bend * far * far], [0.0; 2], Settings::default())?;
    one.to(period, |_, _| true)?;
    two.to(period, |_, _| true)?;
    let late = [one.velocity()[0] / (pull * period), two.velocity()[0] / (pull * period)];
    one.to(periods * period, |_, _| true)?;
    two.to(periods * period, |_, _| true)?;
    let energy = one.audit().energy.max(two.audit().energy);
    Ok([late[0].abs(), late[1].abs(), energy, two.audit().position])
}

/// Prints the table.
///
/// # Errors
///
/// None, in fact.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("A bead on the wire y = c x²/2 from rest at x = A, against its period\n");
    println!("     c     A        period  late in x  in (x, y)    energy, 100 periods    off the wire");
    for (bend, far) in [(1.0, 0.1), (1.0, 1.0), (3.0, 2.0)] {
        let [a, b, energy, off] = swing(bend, far, 100.0)?;
        let period = period(bend, far);
        println!("{bend:>6}{far:>6}{period:>14.10}{a:>11.1e}{b:>11.1e}{energy:>23.1e}{off:>16.1e}");
    }
    Ok(())
}
