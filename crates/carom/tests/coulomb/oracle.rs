//! An independent integrator: Runge–Kutta in Cartesian velocities, dp = |y_t| dτ, small steps.

use carom::impact::coulomb::Termination;
use nalgebra::{Matrix3, Vector3};

/// y, p_t, ∫ y_n dp, p.
pub type Course = [f64; 7];

pub struct Oracle {
    pub w: Matrix3<f64>,
    pub friction: f64,
}

impl Oracle {
    /// d(course)/dτ while sliding.
    pub fn rate(&self, x: &Course) -> Course {
        let speed = x[1].hypot(x[2]);
        let push = Vector3::new(speed, -self.friction * x[1], -self.friction * x[2]);
        let y = self.w * push;
        [y[0], y[1], y[2], push[1], push[2], x[0] * speed, speed]
    }

    pub fn step(&self, x: &Course, h: f64) -> Course {
        let add = |k: &Course, h: f64| -> Course { std::array::from_fn(|i| x[i] + h * k[i]) };
        let k1 = self.rate(x);
        let k2 = self.rate(&add(&k1, 0.5 * h));
        let k3 = self.rate(&add(&k2, 0.5 * h));
        let k4 = self.rate(&add(&k3, h));
        std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
    }

    /// The part of the step after which `goal` first reaches zero.
    pub fn cut(&self, x: &Course, h: f64, goal: impl Fn(&Course) -> f64) -> Course {
        let (mut low, mut high) = (0.0, h);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if goal(&self.step(x, middle)) < 0.0 { low = middle } else { high = middle }
        }
        self.step(x, high)
    }

    /// The friction per normal impulse after sliding has stopped, by bisection.
    pub fn rest_rate(&self) -> [f64; 2] {
        let (a, b, d) = (self.w[(1, 1)], self.w[(1, 2)], self.w[(2, 2)]);
        let (n1, n2) = (self.w[(0, 1)], self.w[(0, 2)]);
        let solve = |shift: f64, mu: f64| {
            let (a, b, d) = (mu * a + shift, mu * b, mu * d + shift);
            let det = a * d - b * b;
            [(d * n1 - b * n2) / det, (a * n2 - b * n1) / det]
        };
        let hold = solve(0.0, 1.0);
        if hold[0].hypot(hold[1]) <= self.friction {
            return [-hold[0], -hold[1]];
        }
        let (mut low, mut high) = (0.0, n1.hypot(n2));
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            let s = solve(middle, self.friction);
            if s[0].hypot(s[1]) > 1.0 { low = middle } else { high = middle }
        }
        solve(high, self.friction).map(|s| -self.friction * s)
    }

    /// The course at the end, and p_c; `None` if compression comes back, which this oracle does not follow.
    pub fn run(&self, y: &Vector3<f64>, e: f64, termination: Termination, h: f64) -> Option<(Course, f64)> {
        let mut x: Course = [y[0], y[1], y[2], 0.0, 0.0, 0.0, 0.0];
        let mut compression: Option<Course> = None;
        let goal = |x: &Course, compression: &Option<Course>| match compression {
            None => x[0],
            Some(c) => match termination {
                Termination::Newton => x[0] + e * y[0],
                Termination::Poisson => x[6] - (1.0 + e) * c[6],
                Termination::Stronge => x[5] - (1.0 - e * e) * c[5],
            },
        };
        while x[1].hypot(x[2]) > 1e-13 {
            let next = self.step(&x, h);
            if compression.is_some() && next[0] < 0.0 {
                return None;
            }
            if goal(&next, &compression) < 0.0 {
                x = next;
                continue;
            }
            x = self.cut(&x, h, |x| goal(x, &compression));
            match compression {
                Some(c) => return Some((x, c[6])),
                None => compression = Some(x),
            }
        }
        let rate = self.rest_rate();
        let slope = self.w * Vector3::new(1.0, rate[0], rate[1]);
        let go = |x: &Course, p: f64| -> Course {
            let work = x[5] + p * (x[0] + 0.5 * slope[0] * p);
            [
                x[0] + slope[0] * p,
                x[1] + slope[1] * p,
                x[2] + slope[2] * p,
                x[3] + rate[0] * p,
                x[4] + rate[1] * p,
                work,
                x[6] + p,
            ]
        };
        let c = match compression {
            Some(c) => c,
            None => {
                x = go(&x, -x[0] / slope[0]);
                x
            }
        };
        let left = match termination {
            Termination::Newton => (-e * y[0] - x[0]) / slope[0],
            Termination::Poisson => (1.0 + e) * c[6] - x[6],
            Termination::Stronge => {
                let left = (1.0 - e * e) * c[5] - x[5];
                ((x[0] * x[0] + 2.0 * slope[0] * left).sqrt() - x[0]) / slope[0]
            }
        };
        Some((go(&x, left), c[6]))
    }
}
