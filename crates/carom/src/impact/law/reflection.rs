//! Generalised reflections (after Smith, Kaufman, Vouga, Tamstorf and Grinspun 2012): all contacts that close
//! now are resolved together, contacts that merely touch are left out, and again until none closes.
//!
//! A step with one coefficient k is v − (1+k) times the projection on the cone of the closing normals. With unequal
//! coefficients a step is the Newton-LCP on the closing contacts, which is the same for uniform k and never gains
//! energy.

use super::{Resolution, Situation, complementarity};

pub(super) fn step(situation: &Situation) -> Option<Resolution> {
    let closing = situation.closing_contacts();
    (!closing.is_empty()).then(|| complementarity::newton(situation, &closing))
}
