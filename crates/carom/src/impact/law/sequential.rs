//! One closing contact at a time, in a stated order, until none closes.
//!
//! Each contact by itself follows Newton's law, which for one smooth contact is Poisson's and Stronge's too. The
//! order is not decided by the rigid model; the outcome says when it matters. Some sequences (k < 1) never end:
//! they converge, and stop when what is left is rounding, or at the bound on the steps.

use super::{Resolution, Situation, complementarity};

pub(super) fn step(situation: &Situation) -> Option<Resolution> {
    let contact = situation.next_in_order(|_| true)?;
    let mut resolution = complementarity::newton(situation, &[contact]);
    resolution.single = Some(contact);
    Some(resolution)
}
