//! The impact problem in reduced coordinates: rows C at unit length in the kinetic metric.

use nalgebra::{DMatrix, DVector};

use crate::error::{Error, Fault, Place};
use crate::impact::options::{Options, TOLERANCES};
use crate::impact::problem::Problem;
use crate::metric::{Metric, Rows, Scratch, norm};

/// A problem prepared for the laws.
pub(super) struct System<'a> {
    pub problem: &'a Problem,
    pub metric: Metric,
    /// C with rows at unit length; rows blocked by the joints are empty.
    pub rows: Rows,
    /// |C_i|, zero for blocked rows: y_i = |C_i| ŷ_i and p_i = p̂_i / |C_i|.
    pub lengths: Vec<f64>,
    /// |N_i L⁻ᵀ|: the scale of rounding in y_i, per unit of √(2T).
    pub scales: Vec<f64>,
    pub blocked: Vec<bool>,
    /// The length of a unit row's rest below which it counts as dependent on others.
    pub tolerance: f64,
    /// The largest |N_i L⁻ᵀ| / |C_i|.
    pub amplification: f64,
    /// The velocity before the impact, projected if that was asked for.
    pub velocity: DVector<f64>,
    /// √(2T) before the impact.
    pub speed: f64,
    /// The part of each row: rows of different parts share no coordinate, not even by way of others.
    pub part: Vec<usize>,
    /// √(2T) of each part before the impact: what happens elsewhere sets no scale here.
    pub part_speeds: Vec<f64>,
    /// The part of each reduced coordinate that a row sees.
    column_part: Vec<usize>,
    /// The largest relative violation of the bilateral rows that a projection removed.
    pub projected: Option<f64>,
}

impl<'a> System<'a> {
    pub fn new(problem: &'a Problem, options: &Options) -> Result<Self, Error> {
        if let Some(fault) = problem.faults().into_iter().next() {
            return Err(fault);
        }
        if !TOLERANCES.contains(&options.tolerance) {
            let fault = Fault::Range { value: options.tolerance, expected: "from 1e-14 to 0.01" };
            return Err(Error::new(Place::field("tolerance"), fault));
        }
        let metric = Metric::new(&problem.mass, &problem.bilateral, options.tolerance)?;
        let (velocity, projected) = admissible_velocity(problem, options, &metric)?;
        let count = problem.contacts.nrows();
        let mut rows = Rows::new(metric.dimension());
        let mut lengths = Vec::with_capacity(count);
        let mut scales = Vec::with_capacity(count);
        let mut blocked = Vec::with_capacity(count);
        let mut scratch = Scratch::default();
        // What the joints take of a row is lost to rounding relative to the row's own scale.
        let mut amplification: f64 = 1.0;
        for i in 0..count {
            let scale = metric.reduce(problem.contacts.row(i).iter(), &mut rows, &mut scratch);
            let length = rows.last_length();
            if !representable(scale) {
                return Err(Error::new(Place::row("contacts", i), Fault::Unrepresentable));
            }
            let is_blocked = length <= options.tolerance * scale;
            blocked.push(is_blocked);
            scales.push(scale);
            if is_blocked {
                rows.scale_last(0.0);
                lengths.push(0.0);
            } else {
                rows.scale_last(1.0 / length);
                lengths.push(length);
                amplification = amplification.max(scale / length);
            }
        }
        let speed = norm(&metric.whiten(&velocity));
        let (part, part_speeds) = parts(problem, &metric, &velocity);
        let mut column_part = vec![part_speeds.len() - 1; rows.dimension];
        for (i, &part) in part.iter().enumerate() {
            rows.row(i).for_each(|(column, _)| column_part[column] = part);
        }
        let tolerance = options.tolerance.max(64.0 * f64::EPSILON * amplification);
        if !representable(speed) {
            return Err(Error::new(Place::field("velocity"), Fault::Unrepresentable));
        }
        Ok(Self {
            problem,
            metric,
            rows,
            lengths,
            scales,
            blocked,
            tolerance,
            amplification,
            velocity,
            speed,
            part,
            part_speeds,
            column_part,
            projected,
        })
    }

    /// The rows that can move.
    pub fn free_rows(&self) -> Vec<usize> {
        (0..self.lengths.len()).filter(|&i| !self.blocked[i]).collect()
    }

    /// y = N v of every row after the reduced velocity has changed by u.
    pub fn relative_velocity(&self, before: &[f64], u: &[f64]) -> Vec<f64> {
        before.iter().enumerate().map(|(i, y)| y + self.lengths[i] * self.rows.dot(i, u)).collect()
    }

    /// √(2T) of the part that a row belongs to.
    pub fn speed_of(&self, row: usize) -> f64 {
        self.part_speeds[self.part[row]]
    }

    /// The sizes of the velocities of each part, √(2T) before and the length of the change u since.
    pub fn sizes(&self, u: &[f64]) -> Vec<f64> {
        let mut squares = vec![0.0; self.part_speeds.len()];
        for (&part, u) in self.column_part.iter().zip(u) {
            squares[part] += u * u;
        }
        self.part_speeds.iter().zip(squares).map(|(speed, square): (_, f64)| speed + square.sqrt()).collect()
    }

    /// The rounding level of y_i when velocities of size √(2T) = `size` made it.
    pub fn noise(&self, row: usize, size: f64) -> f64 {
        // One level for all rows at unit length, so that rows against one another are judged alike.
        let scale = if self.blocked[row] { self.scales[row] } else { self.amplification * self.lengths[row] };
        16.0 * f64::EPSILON * scale * size
    }

    /// u = Σ |C_i| p_i ĉ_i.
    pub fn reduced_impulse(&self, rows: &[usize], impulses: &[f64]) -> Vec<f64> {
        let mut u = vec![0.0; self.rows.dimension];
        for (&i, p) in rows.iter().zip(impulses) {
            self.rows.add_to(i, p * self.lengths[i], &mut u);
        }
        u
    }

    /// W, r×r, of all rows.
    pub fn delassus(&self) -> DMatrix<f64> {
        let count = self.lengths.len();
        DMatrix::from_fn(count, count, |i, j| {
            // The same product both ways, so that W is symmetric to the bit.
            let (i, j) = (i.min(j), i.max(j));
            self.lengths[i] * self.lengths[j] * self.rows.inner(i, j)
        })
    }
}

/// The parts that the contact rows tie the blocks of coordinates to: the part of each row, and the √(2T) of each.
fn parts(problem: &Problem, metric: &Metric, velocity: &DVector<f64>) -> (Vec<usize>, Vec<f64>) {
    let squares = metric.block_squares(velocity);
    let block_of = metric.block_of();
    // Each block points to a block of a lower number in its part, or to itself.
    let mut leader: Vec<usize> = (0..squares.len()).collect();
    fn find(leader: &mut [usize], mut b: usize) -> usize {
        while leader[b] != b {
            leader[b] = leader[leader[b]];
            b = leader[b];
        }
        b
    }
    let mut first_block = Vec::with_capacity(problem.contacts.nrows());
    for row in problem.contacts.row_iter() {
        let mut first = None;
        for (j, &c) in row.iter().enumerate() {
            if c != 0.0 {
                let a = find(&mut leader, *first.get_or_insert(block_of[j]));
                let b = find(&mut leader, block_of[j]);
                leader[a.max(b)] = a.min(b);
            }
        }
        first_block.push(first);
    }
    let mut speeds: Vec<f64> = vec![0.0; squares.len() + 1];
    for (b, square) in squares.iter().enumerate() {
        speeds[find(&mut leader, b)] += square;
    }
    for speed in &mut speeds {
        *speed = speed.sqrt();
    }
    // A row without entries belongs to the last, empty part.
    let part = first_block.into_iter().map(|b| b.map_or(squares.len(), |b| find(&mut leader, b))).collect();
    (part, speeds)
}

/// Whether a length in the kinetic metric is zero or has a square, and an inverse square, in floating point.
fn representable(length: f64) -> bool {
    length == 0.0 || (1e-150..=1e150).contains(&length)
}

/// The velocity to start from, and the relative violation removed from it if a projection was asked for.
fn admissible_velocity(
    problem: &Problem,
    options: &Options,
    metric: &Metric,
) -> Result<(DVector<f64>, Option<f64>), Error> {
    let velocity = problem.velocity.clone();
    if problem.bilateral.nrows() == 0 {
        return Ok((velocity, None));
    }
    let speed = norm(&metric.whiten(&velocity));
    let lengths = metric.bilateral_lengths();
    if let Some(row) = lengths.iter().position(|&length| !representable(length)) {
        return Err(Error::new(Place::row("bilateral", row), Fault::Unrepresentable));
    }
    let residual = &problem.bilateral * &velocity;
    let mut worst = (0, 0.0, 0.0);
    for (i, (&residual, &length)) in residual.iter().zip(&lengths).enumerate() {
        let scale = length * speed;
        let relative = if scale > 0.0 { residual.abs() / scale } else { 0.0 };
        if relative > worst.1 || relative.is_nan() {
            worst = (i, relative, residual);
        }
    }
    if options.project {
        let projected = metric.project(&velocity);
        return Ok((projected, (worst.1 > 64.0 * f64::EPSILON).then_some(worst.1)));
    }
    if worst.1 > options.tolerance || worst.1.is_nan() {
        let fault =
            Fault::ViolatesBilateral { residual: worst.2, relative: worst.1, expected: options.tolerance };
        return Err(Error::new(Place::row("bilateral", worst.0), fault));
    }
    Ok((velocity, None))
}
