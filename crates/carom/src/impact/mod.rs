//! The impact problem and its outcome.

pub mod coulomb;
pub mod law;
mod outcome;
mod problem;

pub use law::Law;
pub use outcome::*;
pub use problem::*;
