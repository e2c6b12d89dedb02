//! Derivatives of runs: against closed forms, against differences in 45 digits of computations that know nothing of the engine, against
//! differences of the engine, and against the identities that they obey.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bouncing;
#[path = "../count/mod.rs"]
mod count;
mod differences;
mod identities;
mod independent;
mod nowhere;
mod replay;
