//! Motion under constraints.

pub mod gauss;
pub mod series;
