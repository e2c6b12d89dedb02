//! Friction at several contacts at once: forces within their cones, by relaxation.
//!
//! At contacts that touch, g = 0 and g' = 0, the forces (λ, f) and the accelerations (g'', u') of the contacts obey
//!
//! ```text
//! 0 ≤ λ ⟂ g'' ≥ 0,   |f| ≤ μλ,   f = −μλ u'/|u'| where u' ≠ 0      (contacts without slip)
//! 0 ≤ λ ⟂ g'' ≥ 0,   f = −μλ u/|u|                                  (contacts that slip)
//! ```
//!
//! Contact by contact, with the forces of the others as they are: the force that sticks if it is within its cone, else the fixed
//! point of
//!
//! ```text
//! F = proj_K(F − ρ (a + μ|u'| n)),     K = {|f| ≤ μλ},  F = (λ, f),  a = (g'', u')
//! ```
//!
//! (M. Jean and J. J. Moreau 1992, non-linear Gauss–Seidel; G. De Saxcé and Z.-Q. Feng 1998.) Joints are kept exactly, by
//! taking the rows across theirs. It starts from no force. Where forces are not unique the answer is one that pushes and stays within
//! its cones, if there is one; the exact solution then is the one nearest to it ([`balance`](crate::integrate::balance)). Where sliding friction
//! leaves no answer the relaxation does not settle, and those who ask find out by the exact solution.

use nalgebra::{Matrix3, Vector3};

use super::system::{Level, System};
use super::{Flow, Mode, Obstacle};
use crate::contact::Surface;
use crate::metric::{Rows, norm};

/// Rounds over all contacts.
const MOST_ROUNDS: u32 = 4000;

/// A change of forces that is none, relative to the largest.
const SETTLED: f64 = 1e-14;

/// Projections at one contact in one round.
const PROJECTIONS: u32 = 12;

/// A slip acceleration that is not negligible, relative to the accelerations at hand: what relaxation is trusted for.
const SLIPS: f64 = 1e-7;

/// Shares of their friction that contacts are asked to stick with, where forces are not unique.
const SHARES: [f64; 4] = [0.5, 0.8, 0.95, 0.99];

/// A row's rest below this, relative to its length, is blocked by joints.
const BLOCKED: f64 = 1e-10;

/// What relaxation found.
#[derive(Debug, Clone)]
pub(super) struct Relaxed {
    /// λ and the friction on the second side, of each contact.
    pub forces: Vec<(f64, Vector3<f64>)>,
    /// g'' of each.
    pub accelerations: Vec<f64>,
    /// u' of each that was without slip.
    pub slip_rates: Vec<Vector3<f64>>,
}

/// A contact in the relaxation: its first row, how many, and its friction.
#[derive(Debug, Clone, Copy)]
struct Block {
    contact: usize,
    first: usize,
    cone: Cone,
}

/// The forces that a contact may exert.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cone {
    /// One force, which pushes.
    Push,
    /// Friction up to μ.
    Limited(f64),
    /// Friction without limit.
    Unlimited,
}

/// Rows and pushes across those of joints, and what is asked of them.
struct Across {
    rows: Rows,
    pushes: Rows,
    right: Vec<f64>,
}

impl Flow {
    /// Relaxes the forces of a system that is placed and touched, with Coulomb contacts without slip in mode
    /// [`Mode::Stick`] and a share of their friction.
    pub(super) fn relax(&self, system: &mut System, share: f64) -> Result<Relaxed, Obstacle> {
        // Only its rows and right sides are used.
        let _ = system.balance(Level::Acceleration);
        let Across { rows, pushes, right } = self.across_joints(system);
        let mut blocks = Vec::with_capacity(self.loose);
        for i in 0..self.loose {
            let cone = match (system.modes[i], self.contacts[i].surface) {
                (Mode::Stick, Surface::Coulomb(coefficient)) => Cone::Limited(share * coefficient),
                (Mode::Stick, _) => Cone::Unlimited,
                _ => Cone::Push,
            };
            blocks.push(Block { contact: i, first: system.first_line[i], cone });
        }
        // What each contact's forces do to its own accelerations.
        let own = |block: &Block, i: usize, j: usize| {
            let mut push = vec![0.0; rows.dimension];
            pushes.add_to(block.first + j, 1.0, &mut push);
            rows.dot(block.first + i, &push)
        };
        let own: Vec<Response> = blocks
            .iter()
            .map(|block| match block.cone {
                Cone::Push => Response::of_normal(own(block, 0, 0)),
                Cone::Limited(_) | Cone::Unlimited => {
                    Response::new(Matrix3::from_fn(|i, j| own(block, i, j)))
                }
            })
            .collect();
        if own.iter().any(|own| own.normal() <= 0.0) {
            return Err(Obstacle::Jam);
        }
        let mut forces = vec![0.0; right.len()];
        // What the forces do, in unit-mass coordinates.
        let mut change = vec![0.0; rows.dimension];
        let rate = |change: &[f64], i: usize| rows.dot(i, change) - right[i];
        for _ in 0..MOST_ROUNDS {
            if self.watch.gives_up() {
                return Err(Obstacle::Interrupted);
            }
            let (mut moved, mut size): (f64, f64) = (0.0, 0.0);
            for (block, own) in blocks.iter().zip(&own) {
                let first = block.first;
                if matches!(block.cone, Cone::Push) {
                    let next = (forces[first] - rate(&change, first) / own.normal()).max(0.0);
                    moved = moved.max((next - forces[first]).abs());
                    pushes.add_to(first, next - forces[first], &mut change);
                    forces[first] = next;
                    size = size.max(next);
                    continue;
                }
                let force = Vector3::from_fn(|i, _| forces[first + i]);
                let now = Vector3::from_fn(|i, _| rate(&change, first + i));
                let next = own.answer(&now, &force, block.cone);
                moved = moved.max((next - force).norm());
                size = size.max(next.norm());
                for i in 0..3 {
                    pushes.add_to(first + i, next[i] - force[i], &mut change);
                    forces[first + i] = next[i];
                }
            }
            if moved <= SETTLED * size {
                break;
            }
        }
        let of = |block: &Block| {
            let tangent = |k: usize| system.lines[block.first + k].parts[1][0];
            if matches!(block.cone, Cone::Push) {
                (Vector3::zeros(), rate(&change, block.first), Vector3::zeros())
            } else {
                (
                    tangent(1) * forces[block.first + 1] + tangent(2) * forces[block.first + 2],
                    rate(&change, block.first),
                    tangent(1) * rate(&change, block.first + 1) + tangent(2) * rate(&change, block.first + 2),
                )
            }
        };
        let mut found = Relaxed {
            forces: vec![(0.0, Vector3::zeros()); self.contacts.len()],
            accelerations: vec![0.0; self.contacts.len()],
            slip_rates: vec![Vector3::zeros(); self.contacts.len()],
        };
        for block in &blocks {
            let (friction, acceleration, slip_rate) = of(block);
            found.forces[block.contact] = (forces[block.first], friction);
            found.accelerations[block.contact] = acceleration;
            found.slip_rates[block.contact] = slip_rate;
        }
        Ok(found)
    }

    /// The modes of contacts without slip that relaxation tells, and forces well within the friction of those that stick, as far
    /// as there are such.
    pub(super) fn settle_by_relaxing(&self, system: &mut System) -> Result<(), Obstacle> {
        let relaxed = self.relax(system, 1.0)?;
        let level = SLIPS * self.sizes(system).acceleration * system.pace;
        for i in 0..self.loose {
            if let (Mode::Stick, Surface::Coulomb(coefficient)) = (system.modes[i], self.contacts[i].surface)
            {
                let rate = relaxed.slip_rates[i];
                let limit = coefficient * relaxed.forces[i].0;
                if limit > 0.0 && rate.norm() > level && relaxed.forces[i].1.norm() > 0.999 * limit {
                    system.modes[i] = Mode::Slip { coefficient, along: rate / rate.norm() };
                }
            }
        }
        system.reference = relaxed.forces;
        if !(0..self.loose).any(|i| self.may_slip(system, i)) {
            return Ok(());
        }
        system.touch()?;
        for share in SHARES {
            let relaxed = self.relax(system, share)?;
            let slips = |i: usize| self.may_slip(system, i) && relaxed.slip_rates[i].norm() > level;
            if !(0..self.loose).any(slips) {
                system.reference = relaxed.forces;
                break;
            }
        }
        Ok(())
    }

    fn may_slip(&self, system: &System, i: usize) -> bool {
        system.modes[i] == Mode::Stick && matches!(self.contacts[i].surface, Surface::Coulomb(_))
    }

    /// The rows of contacts across those of joints, which hold whatever it takes.
    fn across_joints(&self, system: &System) -> Across {
        let balance = &system.balance;
        let contacts = if self.loose < self.contacts.len() {
            system.first_line[self.loose]
        } else {
            system.first_tie_line[0]
        };
        let dimension = balance.dimension();
        let (mut rows, mut pushes) = (Rows::new(dimension), Rows::new(dimension));
        let right = &balance.right[..contacts];
        if contacts == balance.count() {
            for i in 0..contacts {
                rows.push(balance.entries(i));
                pushes.push(balance.force_entries(i));
            }
            return Across { rows, pushes, right: right.to_vec() };
        }
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut kept = vec![0.0; dimension];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let along = |i: usize, x: &[f64]| balance.entries(i).map(|(column, c)| c * x[column]).sum::<f64>();
        let rest = |entries: &mut dyn Iterator<Item = (usize, f64)>, basis: &[Vec<f64>]| {
            let mut rest = vec![0.0; dimension];
            entries.for_each(|(column, c)| rest[column] = c);
            for _ in 0..2 {
                for q in basis {
                    let along = dot(q, &rest);
                    for (x, q) in rest.iter_mut().zip(q) {
                        *x -= along * q;
                    }
                }
            }
            rest
        };
        for i in contacts..balance.count() {
            let mut direction = rest(&mut balance.entries(i), &basis);
            let length = norm(&direction);
            if length <= BLOCKED * balance.length(i) {
                continue;
            }
            direction.iter_mut().for_each(|x| *x /= length);
            let further = (balance.right[i] - along(i, &kept)) / length;
            for (u, q) in kept.iter_mut().zip(&direction) {
                *u += further * q;
            }
            basis.push(direction);
        }
        for i in 0..contacts {
            rows.push(rest(&mut balance.entries(i), &basis).into_iter().enumerate());
            pushes.push(rest(&mut balance.force_entries(i), &basis).into_iter().enumerate());
        }
        let right = right.iter().enumerate().map(|(i, right)| right - along(i, &kept)).collect();
        Across { rows, pushes, right }
    }
}

/// What a contact's forces do to its own accelerations, normal first.
#[derive(Debug, Clone)]
pub(super) struct Response {
    matrix: Matrix3<f64>,
    inverse: Option<Matrix3<f64>>,
}

impl Response {
    pub fn new(matrix: Matrix3<f64>) -> Self {
        Self { inverse: matrix.try_inverse(), matrix }
    }

    /// That of a contact without friction.
    pub fn of_normal(normal: f64) -> Self {
        Self { matrix: Matrix3::from_diagonal(&Vector3::new(normal, 0.0, 0.0)), inverse: None }
    }

    /// What a normal force does along the normal.
    pub fn normal(&self) -> f64 {
        self.matrix[(0, 0)]
    }

    /// The force of the contact that answers its accelerations, which it has with the force `from`.
    pub fn answer(&self, now: &Vector3<f64>, from: &Vector3<f64>, cone: Cone) -> Vector3<f64> {
        let own = &self.matrix;
        let free = now - own * from;
        let limit = match cone {
            Cone::Limited(coefficient) => coefficient,
            Cone::Push | Cone::Unlimited => f64::INFINITY,
        };
        let sticks = self.inverse.map(|inverse| -(inverse * free));
        if let Some(force) = sticks.filter(|force| force.x >= 0.0 && across(force) <= limit * force.x) {
            return force;
        }
        if free.x >= 0.0 {
            return Vector3::zeros();
        }
        if limit.is_infinite() {
            return Vector3::new(-free.x / own[(0, 0)], 0.0, 0.0);
        }
        let pace = 1.0 / own.trace();
        let mut force = *from;
        for _ in 0..PROJECTIONS {
            let mut acceleration = own * force + free;
            acceleration.x += limit * across(&acceleration);
            let next = project(&(force - acceleration * pace), limit);
            let change = (next - force).norm_squared();
            force = next;
            if change <= SETTLED * SETTLED * force.norm_squared() {
                break;
            }
        }
        force
    }
}

/// The size of what is across the normal.
fn across(x: &Vector3<f64>) -> f64 {
    libm::sqrt(x.y * x.y + x.z * x.z)
}

/// The nearest point of the cone |f| ≤ μλ.
fn project(force: &Vector3<f64>, limit: f64) -> Vector3<f64> {
    let across = across(force);
    if across <= limit * force.x {
        return *force;
    }
    if limit * across <= -force.x {
        return Vector3::zeros();
    }
    let normal = (force.x + limit * across) / (1.0 + limit * limit);
    let share = limit * normal / across;
    Vector3::new(normal, force.y * share, force.z * share)
}

#[cfg(test)]
mod tests {
    use super::{Cone, Response, project};
    use nalgebra::{Matrix3, Vector3};

    #[test]
    fn a_point_beside_the_cone_is_put_on_it() {
        let found = project(&Vector3::new(1.0, 3.0, 4.0), 0.5);
        assert!((libm::hypot(found.y, found.z) - 0.5 * found.x).abs() < 1e-15);
        // What is left stands across the cone's side.
        let rest = Vector3::new(1.0, 3.0, 4.0) - found;
        assert!(rest.dot(&found).abs() < 1e-14);
        assert_eq!(project(&Vector3::new(-3.0, 0.1, 0.0), 0.5), Vector3::zeros());
    }

    #[test]
    fn a_block_on_an_incline() {
        // Unit mass, g_n = 1, pulled aside by 0.4 and by 0.2 with μ = 0.3.
        let own = Response::new(Matrix3::identity());
        let sticks = own.answer(&Vector3::new(-1.0, 0.2, 0.0), &Vector3::zeros(), Cone::Limited(0.3));
        assert!((sticks - Vector3::new(1.0, -0.2, 0.0)).norm() < 1e-15);
        let mut slides = Vector3::zeros();
        for _ in 0..100 {
            slides = own.answer(&(Vector3::new(-1.0, 0.4, 0.0) + slides), &slides, Cone::Limited(0.3));
        }
        assert!((slides - Vector3::new(1.0, -0.3, 0.0)).norm() < 1e-13);
    }
}
