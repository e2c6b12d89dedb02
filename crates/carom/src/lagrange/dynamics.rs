//! The equations of motion of a system at an instant: what its functions give, differentiated, and solved for accelerations and
//! multipliers.
//!
//! With G = L Lᵀ and w = Lᵀ v the rows become C L⁻ᵀ, in which the mass matrix is the unit matrix:
//!
//! ```text
//! Lᵀ v' = L⁻¹ F + u,   F = Q − c − ∂V/∂q,   u = (C L⁻ᵀ)ᵀ λ,   C v' = −C' v
//! ```
//!
//! G and ∂G/∂q come from one evaluation of the mass matrix in dual numbers; ∇φ and (∇²φ v)·v from one of φ in dual numbers of
//! dual numbers, along v and in all directions. Rows stand in the order φ, A, and for each held wall its normal and, where it is
//! rough, its tangents.

use super::{Counts, Dual, Obstacle, Scalar, System, Wall};
use crate::contact::Surface;
use crate::integrate::balance::Balance;
use crate::integrate::gauss::Field;

/// Pivots below this, relative to the diagonal, count as zero.
const SINGULAR: f64 = 1e-13;

/// What rounding may do to a row that depends on others, relative to its terms.
const ROW_NOISE: f64 = 1e-9;

/// In all directions and along the motion.
type Twice<const N: usize> = Dual<Dual<f64, N>, 1>;

/// A system with room to work in.
#[derive(Debug, Clone)]
pub(super) struct Dynamics<M, const N: usize> {
    pub system: M,
    pub counts: Counts,
    pub walls: Vec<Wall>,
    pub scales: [f64; N],
    /// The walls that are held.
    pub held: Vec<usize>,
    pub balance: Balance,
    /// L, lower triangle.
    factor: [[f64; N]; N],
    pub mass: [[f64; N]; N],
    /// Q − c − ∂V/∂q.
    force: [f64; N],
    /// G⁻¹ F: what would be without reactions.
    free: [f64; N],
    /// Q · v.
    power: f64,
    /// All rows at the last instant, and C' v.
    pub rows: Vec<[f64; N]>,
    pub biases: Vec<f64>,
    /// φ and g of the held walls, along with the rows that have one.
    pub residuals: Vec<Option<f64>>,
    phi: Vec<Twice<N>>,
    gaps: Vec<Twice<N>>,
    lines: Vec<[Dual<f64, 1>; N]>,
}

impl<M: System<N>, const N: usize> Dynamics<M, N> {
    pub fn new(system: M) -> Self {
        let (counts, walls, scales) = (system.counts(), system.walls().to_vec(), system.scales());
        Self {
            system,
            counts,
            walls,
            scales,
            held: Vec::new(),
            balance: Balance::default(),
            factor: [[0.0; N]; N],
            mass: [[0.0; N]; N],
            force: [0.0; N],
            free: [0.0; N],
            power: 0.0,
            rows: Vec::new(),
            biases: Vec::new(),
            residuals: Vec::new(),
            phi: Vec::new(),
            gaps: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// G alone.
    pub fn mass_at(&mut self, q: &[f64; N]) -> Result<(), Obstacle> {
        self.mass = self.system.mass(q);
        self.factorise()
    }

    /// T + V.
    pub fn energies(&self, q: &[f64; N], v: &[f64; N]) -> [f64; 2] {
        let mass = self.system.mass(q);
        let mut twice = 0.0;
        for i in 0..N {
            for j in 0..N {
                twice += v[i] * mass[i][j] * v[j];
            }
        }
        [0.5 * twice, self.system.potential(q)]
    }

    /// Writes the gaps of all walls along a motion: in time, twice differentiated.
    pub fn gaps_along<S: Scalar>(
        &self,
        q: &[S; N],
        v: &[S; N],
        a: &[S; N],
        gaps: &mut Vec<Dual<Dual<S, 1>, 1>>,
    ) {
        let at = core::array::from_fn(|i| Dual {
            value: Dual { value: q[i], parts: [v[i]] },
            parts: [Dual { value: v[i], parts: [a[i]] }],
        });
        gaps.clear();
        gaps.resize(self.walls.len(), Dual::constant(0.0));
        self.system.gaps(&at, gaps);
    }

    /// The gap of a wall and its gradient.
    pub fn gap(&mut self, wall: usize, q: &[f64; N]) -> (f64, [f64; N]) {
        self.measure_gaps(q, &[0.0; N]);
        (self.gaps[wall].value.value, self.gaps[wall].value.parts)
    }

    /// The gradient of a wall's gap and ∇²g v, as last measured.
    pub fn gap_rows(&self, wall: usize) -> [[f64; N]; 2] {
        let gap = &self.gaps[wall];
        [gap.value.parts, gap.parts[0].parts]
    }

    /// A wall's gap, as last measured.
    pub fn gap_value(&self, wall: usize) -> f64 {
        self.gaps[wall].value.value
    }

    fn twice(q: &[f64; N], v: &[f64; N]) -> [Twice<N>; N] {
        core::array::from_fn(|i| Dual { value: Dual::variable(q[i], i), parts: [Dual::constant(v[i])] })
    }

    fn measure_gaps(&mut self, q: &[f64; N], v: &[f64; N]) {
        self.gaps.clear();
        self.gaps.resize(self.walls.len(), Twice::constant(0.0));
        self.system.gaps(&Self::twice(q, v), &mut self.gaps);
    }

    /// Adds a row that is the gradient of something.
    fn push_gradient(&mut self, of: &Twice<N>, v: &[f64; N]) {
        self.rows.push(of.value.parts);
        self.biases.push(dot(&of.parts[0].parts, v));
        self.residuals.push(Some(of.value.value));
    }

    /// Adds the rows in `lines`.
    fn push_lines(&mut self, v: &[f64; N]) {
        for line in &self.lines {
            self.rows.push(core::array::from_fn(|j| line[j].value));
            self.biases.push((0..N).map(|j| line[j].parts[0] * v[j]).sum());
            self.residuals.push(None);
        }
    }

    fn clear_lines(&mut self, count: usize) {
        self.lines.clear();
        self.lines.resize(count, [Dual::constant(0.0); N]);
    }

    /// Finds the rows of the constraints, with C' v.
    pub fn find_constraints(&mut self, q: &[f64; N], v: &[f64; N]) {
        self.rows.clear();
        self.biases.clear();
        self.residuals.clear();
        if self.counts.holonomic > 0 {
            self.phi.clear();
            self.phi.resize(self.counts.holonomic, Twice::constant(0.0));
            self.system.holonomic(&Self::twice(q, v), &mut self.phi);
            for i in 0..self.counts.holonomic {
                let phi = self.phi[i];
                self.push_gradient(&phi, v);
            }
        }
        if self.counts.nonholonomic > 0 {
            self.clear_lines(self.counts.nonholonomic);
            self.system.nonholonomic(&Self::along(q, v), &mut self.lines);
            self.push_lines(v);
        }
    }

    fn along(q: &[f64; N], v: &[f64; N]) -> [Dual<f64, 1>; N] {
        core::array::from_fn(|i| Dual { value: q[i], parts: [v[i]] })
    }

    /// Adds the rows of a wall: its normal, and its tangents if asked for.
    pub fn add_wall(&mut self, wall: usize, tangents: bool, q: &[f64; N], v: &[f64; N]) {
        let gap = self.gaps[wall];
        self.push_gradient(&gap, v);
        if tangents {
            self.clear_lines(self.walls[wall].tangents);
            self.system.tangents(wall, &Self::along(q, v), &mut self.lines);
            self.push_lines(v);
        }
    }

    /// The rows of the constraints alone, and the gaps ready for [`Self::add_wall`].
    pub fn find_open_rows(&mut self, q: &[f64; N], v: &[f64; N]) {
        self.find_constraints(q, v);
        self.measure_gaps(q, v);
    }

    /// All rows that hold.
    pub fn find_rows(&mut self, q: &[f64; N], v: &[f64; N]) {
        self.find_constraints(q, v);
        if self.held.is_empty() {
            return;
        }
        self.measure_gaps(q, v);
        for i in 0..self.held.len() {
            let wall = self.held[i];
            self.add_wall(wall, self.sticks(wall), q, v);
        }
    }

    /// Whether a wall holds its tangents too.
    pub fn sticks(&self, wall: usize) -> bool {
        self.walls[wall].surface == Surface::Rough
    }

    /// The place of a held wall's normal among the rows.
    pub fn row_of(&self, place: usize) -> usize {
        let before = self.held[..place].iter();
        let width = |&wall: &usize| 1 + if self.sticks(wall) { self.walls[wall].tangents } else { 0 };
        self.counts.holonomic + self.counts.nonholonomic + before.map(width).sum::<usize>()
    }

    /// G and F.
    fn find_forces(&mut self, t: f64, q: &[f64; N], v: &[f64; N]) {
        let at: [Dual<f64, N>; N] = core::array::from_fn(|i| Dual::variable(q[i], i));
        let mass = self.system.mass(&at);
        let potential = self.system.potential(&at);
        let given = self.system.force(t, q, v);
        self.power = dot(&given, v);
        for i in 0..N {
            self.force[i] = given[i] - potential.parts[i];
        }
        for i in 0..N {
            for j in 0..N {
                let entry = &mass[i][j];
                self.mass[i][j] = entry.value;
                // −c: the change of G v along the motion, and ½ v v ∂G.
                self.force[i] -= dot(&entry.parts, v) * v[j];
                let half = 0.5 * v[i] * v[j];
                for k in 0..N {
                    self.force[k] += half * entry.parts[k];
                }
            }
        }
    }

    fn factorise(&mut self) -> Result<(), Obstacle> {
        for j in 0..N {
            for i in j..N {
                let mut rest = self.mass[i][j];
                for k in 0..j {
                    rest -= self.factor[i][k] * self.factor[j][k];
                }
                if i == j {
                    let pivot = rest / self.mass[j][j];
                    if !rest.is_finite() {
                        return Err(Obstacle::NotFinite);
                    }
                    if !(pivot > SINGULAR && rest > 0.0) {
                        return Err(Obstacle::Mass { coordinate: j, pivot });
                    }
                    self.factor[j][j] = libm::sqrt(rest);
                } else {
                    self.factor[i][j] = rest / self.factor[j][j];
                }
            }
        }
        Ok(())
    }

    /// L⁻¹ x.
    fn down(&self, x: &[f64; N]) -> [f64; N] {
        let mut y = *x;
        for i in 0..N {
            for k in 0..i {
                y[i] -= self.factor[i][k] * y[k];
            }
            y[i] /= self.factor[i][i];
        }
        y
    }

    /// L⁻ᵀ x.
    fn up(&self, x: &[f64; N]) -> [f64; N] {
        let mut y = *x;
        for i in (0..N).rev() {
            for k in i + 1..N {
                y[i] -= self.factor[k][i] * y[k];
            }
            y[i] /= self.factor[i][i];
        }
        y
    }

    /// The shortest change in the kinetic metric by which the rows change as asked, and its multipliers in the balance. `noise`
    /// says what is rounding in a row, by its number and its length in the kinetic metric.
    fn answer(
        &mut self,
        keep: impl Fn(&Self, usize) -> Option<f64>,
        noise: impl Fn(&Self, usize, f64) -> f64,
    ) -> Result<[f64; N], Obstacle> {
        self.balance.clear(N);
        for i in 0..self.rows.len() {
            let Some(right) = keep(self, i) else { continue };
            let row = self.down(&self.rows[i]);
            let length = libm::sqrt(dot(&row, &row));
            let place = self.balance.count();
            self.balance.push().copy_from_slice(&row);
            self.balance.right[place] = right;
            self.balance.noise[place] = ROW_NOISE * right.abs() + noise(self, i, length);
        }
        self.balance.solve().map_err(|_| Obstacle::Contradiction)?;
        let change: [f64; N] = core::array::from_fn(|i| self.balance.change[i]);
        Ok(self.up(&change))
    }

    /// Accelerations and multipliers with the rows that there are; G, F and the rows are those of this instant.
    pub fn balance_rows(&mut self) -> Result<[f64; N], Obstacle> {
        let kinetic = self.down(&self.force);
        let free = self.up(&kinetic);
        self.free = free;
        if self.rows.is_empty() {
            return finite(free);
        }
        let terms = libm::sqrt(dot(&kinetic, &kinetic));
        let change = self.answer(
            |d, i| Some(-d.biases[i] - dot(&d.rows[i], &free)),
            |_, _, length| ROW_NOISE * length * terms,
        )?;
        finite(core::array::from_fn(|i| free[i] + change[i]))
    }

    /// Accelerations and multipliers.
    pub fn accelerate(&mut self, t: f64, q: &[f64; N], v: &[f64; N]) -> Result<[f64; N], Obstacle> {
        self.find_forces(t, q, v);
        self.factorise()?;
        self.find_rows(q, v);
        self.balance_rows()
    }

    /// G, F and the rows of constraints at an instant, for a caller that adds walls.
    pub fn prepare(&mut self, t: f64, q: &[f64; N], v: &[f64; N]) -> Result<(), Obstacle> {
        self.find_forces(t, q, v);
        self.factorise()?;
        self.find_open_rows(q, v);
        Ok(())
    }

    /// The multiplier of a row at the last instant.
    pub fn multiplier(&self, row: usize) -> f64 {
        self.balance.multipliers[row]
    }

    /// How far the rows are off: |φ| over what the coordinates' scales make of it, |C v| over what their speeds make of it.
    pub fn residuals(&self, v: &[f64; N], tempo: f64) -> [f64; 2] {
        let mut worst = [0.0_f64; 2];
        for (row, residual) in self.rows.iter().zip(&self.residuals) {
            let reach = self.reach(row);
            if reach > 0.0 {
                worst[0] = worst[0].max(residual.unwrap_or(0.0).abs() / reach);
                worst[1] = worst[1].max(dot(row, v).abs() / (reach * tempo));
            }
        }
        worst
    }

    /// What a row makes of the coordinates' scales.
    pub fn reach(&self, row: &[f64; N]) -> f64 {
        row.iter().zip(&self.scales).map(|(c, s)| c.abs() * s).sum()
    }

    /// The rate of the motion: what speeds and accelerations, with and without reactions, are beside the scales.
    pub fn tempo(&self, v: &[f64; N], a: &[f64; N]) -> f64 {
        let of = |i: usize| {
            let pull = a[i].abs().max(self.free[i].abs());
            (v[i].abs() / self.scales[i]).max(libm::sqrt(pull / self.scales[i]))
        };
        let tempo = (0..N).map(of).fold(0.0, f64::max);
        if tempo > 0.0 { tempo } else { 1.0 }
    }

    /// Puts a state on the rows that hold, positions first; the rows are left those of the result.
    pub fn project(&mut self, q: &mut [f64; N], v: &mut [f64; N]) -> Result<(), Obstacle> {
        self.mass_at(q)?;
        self.find_rows(q, v);
        if self.residuals.iter().any(Option::is_some) {
            let mut last = f64::INFINITY;
            for _ in 0..20 {
                let change = self.answer(
                    |d, i| d.residuals[i].map(|phi| -phi),
                    |d, i, _| ROW_NOISE * d.reach(&d.rows[i]),
                )?;
                let moved = (0..N).map(|i| change[i].abs() / self.scales[i]).fold(0.0, f64::max);
                if !moved.is_finite() {
                    return Err(Obstacle::NotFinite);
                }
                // Rounding has the last word.
                if moved >= 0.5 * last && moved < 1e-12 {
                    break;
                }
                for i in 0..N {
                    q[i] += change[i];
                }
                self.mass_at(q)?;
                self.find_rows(q, v);
                if moved <= 0.25 * f64::EPSILON {
                    break;
                }
                last = moved;
            }
        }
        if !self.rows.is_empty() {
            let speed = *v;
            let twice = dot(&core::array::from_fn(|i| dot(&self.mass[i], &speed)), &speed);
            let terms = libm::sqrt(twice.max(0.0));
            let change = self
                .answer(|d, i| Some(-dot(&d.rows[i], &speed)), |_, _, length| ROW_NOISE * length * terms)?;
            for i in 0..N {
                v[i] += change[i];
            }
        }
        Ok(())
    }
}

/// The unknowns are q, v and the work of Q.
impl<M: System<N>, const N: usize> Field for Dynamics<M, N> {
    type Obstacle = Obstacle;

    fn size(&self) -> usize {
        2 * N + 1
    }

    fn coupled(&self) -> usize {
        2 * N
    }

    fn rate(&mut self, t: f64, y: &[f64], rate: &mut [f64]) -> Result<(), Obstacle> {
        let (q, v) = halves(y);
        let a = self.accelerate(t, &q, &v)?;
        rate[..N].copy_from_slice(&v);
        rate[N..2 * N].copy_from_slice(&a);
        rate[2 * N] = self.power;
        Ok(())
    }
}

/// q and v of the unknowns.
pub(super) fn halves<const N: usize>(y: &[f64]) -> ([f64; N], [f64; N]) {
    (core::array::from_fn(|i| y[i]), core::array::from_fn(|i| y[N + i]))
}

pub(super) fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn finite<const N: usize>(a: [f64; N]) -> Result<[f64; N], Obstacle> {
    if a.iter().all(|x| x.is_finite()) { Ok(a) } else { Err(Obstacle::NotFinite) }
}
