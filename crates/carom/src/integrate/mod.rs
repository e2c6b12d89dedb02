//! What motion under constraints and in generalised coordinates are integrated with: Gauss collocation good to rounding all along a step
//! (`gauss`, its stages by fixed-point iteration or by Newton's method, `newton`), series in Legendre's polynomials (`series`),
//! multipliers of rows that may depend on one another (`balance`), and minima (`golden`).

pub(crate) mod balance;
pub mod gauss;
pub(crate) mod golden;
mod newton;
pub mod series;
