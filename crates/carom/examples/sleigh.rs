//! Chaplygin's sleigh: a knife edge, which no function of the position expresses, turns a sleigh until it runs straight.
//! `cargo run --release -p carom --example sleigh`.
//!
//! With q² = a² + J/m the edge's velocity v and the spin ω follow v = V tanh τ, ω = (V/q) sech τ, τ = aVt/q² + τ₀.

use carom::lagrange::{Counts, Obstacle, Run, Scalar, Settings, System};

/// A sleigh: where its centre is and which way it points, (x, y, θ).
pub struct Sleigh {
    /// m.
    pub mass: f64,
    /// J about the centre.
    pub inertia: f64,
    /// a, from the edge ahead to the centre.
    pub arm: f64,
}

impl System<3> for Sleigh {
    fn mass<S: Scalar>(&self, _: &[S; 3]) -> [[S; 3]; 3] {
        let [m, j, zero] = [self.mass, self.inertia, 0.0].map(S::constant);
        [[m, zero, zero], [zero, m, zero], [zero, zero, j]]
    }

    fn counts(&self) -> Counts {
        Counts { nonholonomic: 1, ..Counts::default() }
    }

    fn nonholonomic<S: Scalar>(&self, q: &[S; 3], rows: &mut [[S; 3]]) {
        // Across the edge, at the edge: −x' sin θ + y' cos θ − a θ' = 0.
        let (sin, cos) = q[2].sin_cos();
        rows[0] = [-sin, cos, S::constant(-self.arm)];
    }
}

impl Sleigh {
    /// v and ω of the closed form.
    #[must_use]
    pub fn exact(&self, speed: f64, tau: f64, t: f64) -> (f64, f64) {
        let square = self.arm * self.arm + self.inertia / self.mass;
        let tau = self.arm * speed * t / square + tau;
        (speed * libm::tanh(tau), speed / square.sqrt() / libm::cosh(tau))
    }
}

/// Follows the sleigh from backwards to forwards; the largest differences from the closed form: velocities, reaction of the edge
/// (m a ω² … which is m(v ω + a ω')), and energy.
///
/// # Errors
///
/// The obstacle that the motion runs into; it never does.
pub fn follow(print: bool) -> Result<[f64; 3], Box<dyn std::error::Error>> {
    let (speed, tau) = (1.4, -2.0);
    let sleigh = Sleigh { mass: 1.7, inertia: 0.3, arm: 0.25 };
    let (v, spin) = sleigh.exact(speed, tau, 0.0);
    let mut run = Run::new(sleigh, [0.0; 3], [v, 0.25 * spin, spin], Settings::default())?;
    let mut worst = [0.0_f64; 3];
    if print {
        println!("     t        along the edge                  spin      off by    reaction");
    }
    let mut next = 0.0;
    run.to(20.0, |run, step| {
        while next <= step.piece.until {
            let (q, v) = step.piece.at(next);
            let (sin, cos) = libm::sincos(q[2]);
            let along = v[0] * cos + v[1] * sin;
            let sleigh = run.system();
            let (exact, spin) = sleigh.exact(speed, tau, next);
            let off = (along - exact).abs().max((v[2] - spin).abs());
            // Newton across the edge: m (a ω' + v ω) with ω' = −m a v ω/(J + m a²).
            let (m, j, a) = (sleigh.mass, sleigh.inertia, sleigh.arm);
            let across = m * exact * spin * (1.0 - m * a * a / (j + m * a * a));
            let reaction = run.reactions(&step.piece, next).map(|r| r.nonholonomic[0]).unwrap_or(f64::NAN);
            worst[0] = worst[0].max(off);
            worst[1] = worst[1].max((reaction - across).abs());
            if print {
                println!("{next:>6.1}{along:>22.16}{:>22.16}{off:>12.1e}{reaction:>12.6}", v[2]);
            }
            next += 2.0;
        }
        true
    })
    .map_err(|obstacle: Obstacle| obstacle.to_string())?;
    worst[2] = run.audit().energy;
    Ok(worst)
}

/// Prints the table.
///
/// # Errors
///
/// None, in fact.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("Chaplygin's sleigh against its closed form");
    let [off, reaction, energy] = follow(true)?;
    println!("velocities off by {off:.1e}, reaction by {reaction:.1e}, energy by {energy:.1e}");
    Ok(())
}
