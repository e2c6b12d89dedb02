//! One contact with Coulomb friction: published numbers, an independent integrator, and identities.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod oracle;
mod published;
mod random;
