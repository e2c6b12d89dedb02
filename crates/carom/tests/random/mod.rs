//! Random impact problems, hard ones: dependent and blocked rows, zero rows, masses over twelve decades.

use carom::impact::Problem;
use carom::metric::Metric;
use nalgebra::{DMatrix, DVector};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub struct Source(pub ChaCha8Rng);

impl Source {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// In [low, high].
    pub fn pick(&mut self, low: usize, high: usize) -> usize {
        self.0.random_range(low..=high)
    }

    /// In (−1, 1).
    pub fn signed(&mut self) -> f64 {
        self.0.random_range(-1.0..1.0)
    }

    pub fn unit(&mut self) -> f64 {
        self.0.random_range(0.0..1.0)
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A symmetric positive definite matrix whose scales span `decades`: M = S R S with R well conditioned.
    pub fn mass(&mut self, n: usize, decades: f64) -> DMatrix<f64> {
        let scale: Vec<f64> = (0..n).map(|_| 10f64.powf(0.25 * decades * self.signed())).collect();
        if self.chance(0.5) {
            return DMatrix::from_fn(n, n, |i, j| if i == j { scale[i] * scale[i] } else { 0.0 });
        }
        let b = DMatrix::from_fn(n, n, |_, _| self.signed());
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let r = DMatrix::identity(n, n) + &b * b.transpose() / n as f64;
        DMatrix::from_fn(n, n, |i, j| scale[i] * r[(i.min(j), i.max(j))] * scale[j])
    }

    /// A row: new, or made of those before it, or zero.
    fn row(&mut self, earlier: &[DVector<f64>], n: usize) -> DVector<f64> {
        let small = |source: &mut Self| [-2.0, -1.0, 1.0, 2.0, 3.0][source.pick(0, 4)];
        match self.pick(0, 9) {
            0 if !earlier.is_empty() => &earlier[self.pick(0, earlier.len() - 1)] * small(self),
            1 | 2 if earlier.len() > 1 => {
                let (a, b) = (self.pick(0, earlier.len() - 1), self.pick(0, earlier.len() - 1));
                &earlier[a] * small(self) + &earlier[b] * small(self)
            }
            3 if self.chance(0.1) => DVector::zeros(n),
            4 => DVector::from_fn(n, |_, _| [0.0, 0.0, 1.0, -1.0][self.pick(0, 3)]),
            _ => DVector::from_fn(n, |_, _| self.signed()),
        }
    }

    /// A problem with smooth contacts; all coefficients of restitution equal if `uniform`.
    pub fn problem(&mut self, uniform: bool) -> Problem {
        let n = self.pick(1, 8);
        let decades = [0.0, 2.0, 12.0][self.pick(0, 2)];
        let mass = self.mass(n, decades);
        let mut joints: Vec<DVector<f64>> = Vec::new();
        for _ in 0..[0, 0, 1, 2, n / 2][self.pick(0, 4)] {
            let row = self.row(&joints, n);
            joints.push(row);
        }
        let mut rows: Vec<DVector<f64>> = Vec::new();
        for _ in 0..self.pick(1, 6) {
            let mut row = self.row(&rows, n);
            // Now and then a row that the joints block, or nearly the same row again on the unblocked side.
            if self.chance(0.15) && !joints.is_empty() {
                row = joints.iter().fold(DVector::zeros(n), |sum, joint| sum + joint * self.signed());
            }
            rows.push(row);
        }
        let matrix = |rows: &[DVector<f64>]| DMatrix::from_fn(rows.len(), n, |i, j| rows[i][j]);
        // Something must be left to move.
        while Metric::new(&mass, &matrix(&joints), 1e-10).unwrap().dimension() == 0 {
            joints.pop();
        }
        let bilateral = matrix(&joints);
        let contacts = matrix(&rows);
        // Either every coordinate with its share of the energy, or plain speeds.
        let equal_shares = self.chance(0.5);
        let velocity = DVector::from_fn(n, |i, _| {
            let share = if equal_shares { 1.0 / mass[(i, i)].sqrt() } else { 1.0 };
            self.signed() * share
        });
        let metric = Metric::new(&mass, &bilateral, 1e-10).unwrap();
        let mut velocity = metric.project(&velocity);
        // Mostly a genuine impact: the first contact that can move closes.
        let y = &contacts * &velocity;
        if self.chance(0.7) && y.iter().sum::<f64>() > 0.0 {
            velocity = -velocity;
        }
        let mut problem = Problem::new(mass, contacts, velocity);
        problem.bilateral = bilateral;
        let common = self.restitution();
        problem.restitution = (0..problem.contacts.nrows())
            .map(|_| if uniform { common } else { self.restitution() })
            .collect();
        problem
    }

    pub fn restitution(&mut self) -> f64 {
        [0.0, 1.0, 0.5, self.unit(), self.unit()][self.pick(0, 4)]
    }
}
