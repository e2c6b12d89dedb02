//! Each question that can be asked of a scene, as a function from its text to an answer.
//!
//! An answer is a document that serialises, the same that the program prints with `--json`, with notes and an audit; or an
//! [`InputError`] with the places of what is wrong. There is no printing here, no command line and no terminal, and a file
//! only where a caller names one to [`Input::read`] or to [`folder`].
//!
//! ```
//! use carom_answers::{Input, Resolution, solve};
//!
//! let text = "carom = 1
//! [[body]]
//! name = 'ball'
//! shape = { sphere = { radius = 0.1 } }
//! mass = 2
//! position = [0, 0, 0.1]
//! velocity = [0, 0, -3]
//! [[plane]]
//! name = 'floor'
//! normal = [0, 0, 1]
//! [surface]
//! restitution = 0.5
//! ";
//! let subject = Input::of_text("ball.toml", text.to_string(), None).scene()?;
//! let prepared = solve::Prepared::of(subject, carom::scene::instant::TOUCHING)?;
//! let solved = prepared.solved(&Resolution::default())?;
//! assert!((solved.result.states[0].velocity.z - 1.5).abs() < 1e-15);
//! let document = serde_json::to_value(solved.document(false)).unwrap();
//! assert_eq!(document["law"], "newton_lcp");
//! # Ok::<(), carom_answers::InputError>(())
//! ```
//!
//! In reading order: [`words`], [`input_error`], [`mesh`] (the points of files), [`input`] (text and scene), [`options`] (what options take), [`resolution`]
//! (how an impact is resolved), [`overlap`] and [`rolling`] (bodies in impossible positions), [`start`] (messages on where bodies
//! start), [`touch`] (contacts without approach), then one module per question: [`solve`], [`compare`], [`classify`], [`gap`],
//! [`toi`], [`generalized`], [`paradox`], [`schema`], [`run`], [`weak`], [`check`],
//! [`scatter`], [`sweep`], [`paper`]; what a run records as [`tables`], its
//! [`folder`]; and what the [`page`] asks.

pub mod words;

pub mod input_error;

pub mod mesh;

pub mod input;

pub mod options;

pub mod resolution;

pub mod overlap;

pub mod rolling;

pub mod start;

pub mod touch;

pub mod solve;

pub mod compare;

pub mod classify;

pub mod gap;

pub mod toi;

pub mod generalized;

pub mod paradox;

pub mod schema;

pub mod run;

pub mod weak;

pub mod check;

pub mod scatter;

pub mod sweep;

pub mod paper;

pub mod tables;

pub mod folder;

pub mod page;

pub use input::{Input, Subject};
pub use input_error::InputError;
pub use resolution::Resolution;

/// The version of the answers, with the commit that they were built from: `carom --version`, and the `version` of documents.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("CAROM_COMMIT"), ")");

/// The verdict on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// There is an answer.
    Done,
    /// The physics has no answer under the chosen law.
    NoAnswer,
    /// The result does not pass its own audit: a fault of the engine.
    AuditFailed,
    /// The audit of a run found this quantity violated, and the run ended there.
    Violated(run::Limited),
}
