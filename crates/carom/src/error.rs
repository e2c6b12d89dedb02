//! The library's error: input that has no meaning, and where it stands.
//!
//! A physical outcome (not unique, not admissible, inconsistent under a law) is a value, never an error. An
//! [`Error`] says which entry of the input is meaningless, what it is and what would be right, so that a front
//! end can point into the user's file.

use std::fmt;

/// Where in the input a fault stands: a field, and within it a row and a column where that applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The field's name in the file format, such as `mass`.
    pub field: &'static str,
    /// The row or entry within the field, from zero.
    pub row: Option<usize>,
    /// The column within the row, from zero.
    pub column: Option<usize>,
}

impl Place {
    /// The field as a whole.
    #[must_use]
    pub const fn field(field: &'static str) -> Self {
        Self { field, row: None, column: None }
    }

    /// One row or entry of the field.
    #[must_use]
    pub const fn row(field: &'static str, row: usize) -> Self {
        Self { field, row: Some(row), column: None }
    }

    /// One entry of a matrix.
    #[must_use]
    pub const fn entry(field: &'static str, row: usize, column: usize) -> Self {
        Self { field, row: Some(row), column: Some(column) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.field)?;
        for index in [self.row, self.column].into_iter().flatten() {
            write!(f, "[{index}]")?;
        }
        Ok(())
    }
}

/// Input that has no meaning: where, what is there, and what would be right.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct Error {
    /// The entry at fault.
    pub place: Place,
    /// What is wrong with it.
    pub fault: Fault,
}

impl Error {
    /// A fault at a place.
    #[must_use]
    pub const fn new(place: Place, fault: Fault) -> Self {
        Self { place, fault }
    }
}

/// What a contact row is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowRole {
    /// It is listed in `tangential`.
    #[error("a tangential row")]
    Tangential,
    /// The normal of a contact in `rough`.
    #[error("the normal of a rough contact")]
    RoughNormal,
    /// A tangent of a contact in `rough`.
    #[error("a tangent of a rough contact")]
    RoughTangent,
    /// The normal of a contact in `friction`.
    #[error("the normal of a contact with friction")]
    FrictionNormal,
    /// A tangent of a contact in `friction`.
    #[error("a tangent of a contact with friction")]
    FrictionTangent,
}

impl RowRole {
    /// Whether the row lies along a tangent.
    #[must_use]
    pub const fn is_tangent(self) -> bool {
        matches!(self, Self::Tangential | Self::RoughTangent | Self::FrictionTangent)
    }
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A number is NaN or infinite.
    #[error("{value} is not a finite number")]
    NotFinite {
        /// The number found.
        value: f64,
    },
    /// A list or matrix has the wrong number of entries.
    #[error("{found} {what}, expected {expected}")]
    Size {
        /// What is counted: `rows`, `columns`, `entries`.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The mass matrix has no rows.
    #[error("empty: a system needs at least one degree of freedom")]
    Empty,
    /// The mass matrix differs from its transpose.
    #[error("{value} differs from its mirror entry {mirror}: the mass matrix must be symmetric")]
    NotSymmetric {
        /// The entry.
        value: f64,
        /// The entry across the diagonal.
        mirror: f64,
    },
    /// The mass matrix has a direction without positive kinetic energy.
    #[error(
        "the mass matrix is not positive definite: pivot {pivot:e} in this row (relative to its diagonal), expected above {expected:e}"
    )]
    NotPositiveDefinite {
        /// The relative pivot of the Cholesky factorisation.
        pivot: f64,
        /// The smallest pivot accepted.
        expected: f64,
    },
    /// A number lies outside its range.
    #[error("{value} is out of range: expected {expected}")]
    Range {
        /// The number found.
        value: f64,
        /// The range, in words.
        expected: &'static str,
    },
    /// A row number points past the last row.
    #[error("row {index} does not exist: contacts has {rows} rows, numbered from 0")]
    NoSuchRow {
        /// The number found.
        index: usize,
        /// How many rows there are.
        rows: usize,
    },
    /// A row is given two roles, or the same role twice.
    #[error("row {index} is already {role}")]
    RowTaken {
        /// The row.
        index: usize,
        /// What it already is.
        role: RowRole,
    },
    /// Tangential rows tied to no normal, beside contacts with friction.
    #[error(
        "tangential rows beside contacts with friction must say which normal they belong to: tie them with `rough`"
    )]
    LooseTangents,
    /// The velocity does not satisfy the bilateral rows.
    #[error(
        "the velocity violates this row: A v = {residual:e} ({relative:e} of its scale, at most {expected:e} accepted); correct it, or project it first"
    )]
    ViolatesBilateral {
        /// The row's A v.
        residual: f64,
        /// The same relative to the largest value this row could take at this kinetic energy.
        relative: f64,
        /// The largest relative value accepted.
        expected: f64,
    },
    /// The position does not satisfy a holonomic constraint.
    #[error("the position violates this constraint: φ = {residual:e}, at most {expected:e} accepted")]
    OffConstraint {
        /// φ.
        residual: f64,
        /// The largest value accepted.
        expected: f64,
    },
    /// The position lies beyond a wall.
    #[error("the position lies beyond this wall: its gap is {gap:e}, expected none below zero")]
    BeyondWall {
        /// g.
        gap: f64,
    },
    /// No motion is possible from the given start.
    #[error("there is no motion from here: {why}")]
    NoMotion {
        /// What prevents it.
        why: String,
    },
    /// A result would overflow or lose all precision in floating point.
    #[error(
        "the result is not representable in floating point: the magnitudes of the input are too far apart; scale the units"
    )]
    Unrepresentable,
}
