//! carom: the reference engine for rigid-body impact.
#![forbid(unsafe_code)]

pub mod error;
pub mod impact;

pub use error::{Error, Fault, Place};
