//! The program's commands, one file each.

pub mod check;
pub mod classify;
pub mod compare;
pub mod completions;
mod figures;
pub mod gap;
pub mod generalized;
mod input;
mod law;
pub mod man;
mod many;
pub mod new;
mod output;
pub mod paper;
pub mod paradox;
pub mod plot;
pub mod run;
pub mod scatter;
pub mod schema;
pub mod solve;
pub mod sweep;
pub mod toi;
pub mod view;
pub mod weak;
