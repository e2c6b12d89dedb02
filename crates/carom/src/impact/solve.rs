//! A problem solved: its outcome, its Delassus matrix, its projector.

use nalgebra::DMatrix;

use super::options::Options;
use super::outcome::Outcome;
use super::problem::Problem;
use super::report::report;
use super::resolve::Course;
use super::system::System;
use crate::error::{Error, Fault, Place};

impl Problem {
    /// Resolves the impact.
    ///
    /// ```
    /// use carom::impact::{Options, Problem};
    /// use nalgebra::{dmatrix, dvector};
    /// // A ball of mass 2 meets one of mass 1 at rest; y = v₂ − v₁.
    /// let problem = Problem::new(dmatrix![2.0, 0.0; 0.0, 1.0], dmatrix![-1.0, 1.0], dvector![3.0, 0.0])
    ///     .with_restitution(1.0);
    /// let outcome = problem.solve(&Options::default())?;
    /// assert!((outcome.velocity[0] - 1.0).abs() < 1e-15 && (outcome.velocity[1] - 4.0).abs() < 1e-15);
    /// # Ok::<(), carom::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the problem has no meaning: see [`Fault`]. What the law cannot decide is part of the outcome.
    pub fn solve(&self, options: &Options) -> Result<Outcome, Error> {
        let system = System::new(self, options)?;
        let contacts = self.contact_list();
        let loose: &[usize] = if contacts.len() > 1 { &self.tangential } else { &[] };
        let course = Course::run(&system, &contacts, loose, options, &options.order);
        let outcome = report(&system, &contacts, loose, options, course);
        if outcome_is_finite(&outcome) {
            Ok(outcome)
        } else {
            Err(Error::new(Place::field("mass"), Fault::Unrepresentable))
        }
    }

    /// The Delassus matrix W = N G_A⁻¹ Nᵀ of all contact rows; rows blocked by the joints are exactly zero.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn delassus(&self, options: &Options) -> Result<DMatrix<f64>, Error> {
        let system = System::new(self, options)?;
        finite(system.delassus())
    }

    /// The G-orthogonal projector P on the complement of ker A ∩ ker N (T1).
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    pub fn projector(&self, options: &Options) -> Result<DMatrix<f64>, Error> {
        let system = System::new(self, options)?;
        finite(system.metric.projector(&system.rows, &system.free_rows()))
    }
}

fn finite(matrix: DMatrix<f64>) -> Result<DMatrix<f64>, Error> {
    if matrix.iter().all(|x| x.is_finite()) {
        Ok(matrix)
    } else {
        Err(Error::new(Place::field("mass"), Fault::Unrepresentable))
    }
}

fn outcome_is_finite(outcome: &Outcome) -> bool {
    let lists = [
        &outcome.velocity,
        &outcome.impulses,
        &outcome.bilateral_impulses,
        &outcome.approach,
        &outcome.separation,
        &outcome.work,
    ];
    lists.iter().all(|list| list.iter().all(|x| x.is_finite()))
        && [outcome.energy.before, outcome.energy.after, outcome.energy.change].iter().all(|x| x.is_finite())
        && outcome.self_stresses.iter().all(|s| s.contacts.iter().chain(&s.bilateral).all(|x| x.is_finite()))
}
