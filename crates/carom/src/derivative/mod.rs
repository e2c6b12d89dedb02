//! The derivative of a run: of the states at its end and of its events, by the start and by every number of the scene.
//!
//! A run records a [`Tape`] while it goes on; the events decide which contacts act and how. The [`Chain`] replays it as linear maps:
//!
//! ```text
//! δx → flight → (δt, δx⁻ → R_x, saltation) → flight → … → δx(T)
//! ```
//!
//! The flight's derivative is exact (`flight`, `turning`), that of an impact includes the change of its time, of the contact point and
//! of the normal (`impact`), and the law's is taken on the phases that it goes through (`impulse`, `passage`). [`Chain::forward`] carries
//! [`Direction`]s along, one column for each; [`Chain::backward`] carries weights back. [`parameters`] makes directions of the paths of
//! a scene's numbers.
//!
//! **Where there is none.** At a graze, where several contacts meet at one time, at a paradox and where friction just holds, a run
//! has no derivative, and [`Undefined`] says so with its [`Cause`]: no number is given for what depends on it. Motions that are
//! not covered (persistent contacts, joints, loads, time steps) are named likewise.
//!
//! **Rounding.** Every result has a [`Rounding`]: what rounding has grown to on the way.

mod chain;
mod change;
mod direction;
mod flight;
mod impact;
mod impulse;
mod parameter;
mod passage;
mod rounding;
mod sizes;
mod tape;
mod turning;
mod undefined;

pub use chain::{Chain, Derivatives, EventDerivatives, Gradient, Undefined};
pub use change::{BodyChange, STATE, StateChange, quaternion_rows};
pub use direction::{Direction, Rule};
pub use parameter::{Parameter, WrongPath, parameters};
pub use rounding::Rounding;
pub use tape::Tape;
pub use undefined::Cause;
