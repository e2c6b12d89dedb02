//! carom: the reference engine for rigid-body impact.
//!
//! The library holds all the physics and does no input or output. In reading order, each module using only what
//! stands above it: [`error`], [`metric`] (the kinetic metric), [`shape`], [`body`], [`motion`] (a body's flight when
//! nothing touches it), [`gap`] (signed distance and contact points), [`toi`] (the first time the gap closes),
//! [`pairs`] (that of many pairs at once), [`joint`], [`contact`] (who touches whom, the gap's derivatives, the type of a
//! contact), [`impact`] (the impact problem, its laws and its outcome), [`flow`] (motion under constraints), [`lagrange`]
//! (systems in generalised coordinates), [`audit`] (checks a result from outside), [`scene`] (the file formats), [`record`]
//! (what a run produces), [`simulation`] (the loop), [`crowd`] (the same for very many bodies), [`fill`] (many bodies placed
//! at once), [`observe`] (what a gas does on average).
#![forbid(unsafe_code)]

pub mod error;
pub mod metric;

pub mod shape;

pub mod body;

pub mod motion;

pub mod gap;

pub mod toi;

pub mod pairs;

pub mod joint;

pub mod contact;

pub mod impact;

pub mod flow;

pub mod lagrange;

pub mod audit;

pub mod scene;

pub mod record;

pub mod simulation;

pub mod crowd;

pub mod fill;

pub mod observe;

pub use error::{Error, Fault, Place};
