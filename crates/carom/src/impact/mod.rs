//! The impact problem and its outcome.
//!
//! Generalised velocity v, mass matrix G, bilateral rows A (A v = 0), contact rows N (y = N v, y < 0 closing),
//! impulses p ≥ 0 pushing. T1 to T8, cited throughout, stand in NOTATION.md:
//!
//! ```text
//! G (v⁺ − v⁻) = Nᵀ p + Aᵀ λ,   A v± = 0
//! v⁺ = v⁻ + G_A⁻¹ Nᵀ p,   y⁺ = y⁻ + W p,   W = N G_A⁻¹ Nᵀ
//! ΔT = ½ pᵀ (y⁻ + y⁺)
//! ```
//!
//! A [`Problem`] is solved by a [`Law`] into an [`Outcome`], which says besides the numbers whether they are
//! unique, consistent and admissible. Reading order: `problem`, `options`, `note`, `outcome`, `active` (the one numerical
//! engine), `system` (the problem in reduced coordinates), `determinacy`, `coulomb`, `law`, `resolve` (the loop), `report`
//! (what is true of its result), `solve`, `mechanism` (the problem in terms of bodies), `demand` (the friction that surfaces
//! would need). Two free bodies with one smooth contact have a closed form of their own in [`pair`].

pub(crate) mod active;
pub mod coulomb;
pub mod demand;
mod determinacy;
pub mod law;
pub mod mechanism;
mod note;
mod options;
mod outcome;
pub mod pair;
mod problem;
mod report;
mod resolve;
mod solve;
mod system;

pub use note::Note;
pub use options::*;
pub use outcome::*;
pub use problem::*;
