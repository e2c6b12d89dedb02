//! The thresholds by which a run decides: what touches, what is simultaneous, what is at rest. Each is relative to a
//! scale of the bodies concerned, so that no decision depends on units, and each says where its number comes from.
//!
//! Others that a reader may look for: ranks of an impact's rows have [`crate::impact::DEFAULT_TOLERANCE`]; bounds on times of impact are computed,
//! not assumed ([`crate::toi`]); the audit has limits of its own ([`crate::audit`]), on purpose; integrators stop at the rounding of
//! their unknowns ([`crate::integrate`]).

/// Rounding of a gap, over the sizes of its bodies and their distance from the origin: 180 ε. A gap is a difference of support functions
/// and positions, each the result of some dozens of operations.
pub(crate) const GAP_ROUNDING: f64 = 4e-14;

/// Contacts further apart in time than this, over the time in which a body passes its own size, are not simultaneous, however little
/// is known of their times. That is ten thousand times the rounding of a time.
pub(crate) const SIMULTANEOUS: f64 = 1e-10;

/// How close, over their size, two bodies count as touching where a run or an instant begins: users write positions with ten digits.
pub(crate) const TOUCHING: f64 = crate::scene::instant::TOUCHING;

/// A relative velocity below this, over the speeds that it is the difference of, is rounding: some 500 ε, for the impulses of a cluster
/// pass through several bodies.
pub(crate) const STILL: f64 = 1e-13;

/// What impacts and persistent contact leave of a velocity along a normal, in bounds of its rounding.
pub(crate) const RESIDUE: f64 = 16.0;

/// Bounces no higher than this, over the size of the bodies, have accumulated: 25 times the rounding of the gap that they open.
pub(crate) const ACCUMULATED: f64 = 1e-12;

/// What counts as no approach, and no second derivative, where the third would be a paradox: over the relative speeds, and what the
/// derivatives are made of. A paradox is a state of codimension two; data with nine digits can mean one.
pub(crate) const PARADOX: f64 = 1e-9;
