//! First contacts of many pairs, in parallel.
//!
//! Each search is by itself, so the answers are the same whatever the number of threads, and in the order of the
//! questions.

use rayon::prelude::*;

use crate::motion::Motion;
use crate::shape::{Convex, HalfSpace};
use crate::toi::periodic::Periodic;
use crate::toi::{Meeting, Moving, Search, Window, first_contact, first_contact_with_plane};

/// One question.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a, S, M> {
    /// The first body.
    pub first: Moving<'a, S, M>,
    /// What it may meet.
    pub other: Other<'a, S, M>,
    /// When.
    pub window: Window,
}

/// What a body may meet.
#[derive(Debug)]
pub enum Other<'a, S, M> {
    /// Another body.
    Body(Moving<'a, S, M>),
    /// Another body or any image of it.
    Images(Moving<'a, S, M>, Periodic),
    /// Its own images.
    OwnImages(Periodic),
    /// A plane.
    Plane(&'a HalfSpace),
}

impl<S, M> Clone for Other<'_, S, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, M> Copy for Other<'_, S, M> {}

/// A search that gives up is resumed where it stopped, until it has evaluated this many gaps in all.
const MOST_EVALUATIONS: u32 = 1_000_000;

impl<S: Convex, M: Motion> Query<'_, S, M> {
    /// The answer; undecided if it takes more than a million gaps, or the motion is not finite.
    #[must_use]
    pub fn first_contact(&self) -> Search {
        let mut window = self.window;
        let mut found = self.search(window);
        while let Meeting::Undecided(reached) = found.meeting
            && reached > window.from
            && found.evaluations < MOST_EVALUATIONS
        {
            // Nothing touches there.
            window = Window::new(reached, window.until);
            let next = self.search(window);
            let evaluations = found.evaluations.saturating_add(next.evaluations);
            found = Search { evaluations, at_start: found.at_start, ..next };
        }
        found
    }

    fn search(&self, window: Window) -> Search {
        match &self.other {
            Other::Body(second) => first_contact(self.first, *second, window),
            Other::Images(second, periodic) => periodic.first_contact(self.first, *second, window),
            Other::OwnImages(periodic) => periodic.first_contact_with_own(self.first, window),
            Other::Plane(plane) => first_contact_with_plane(self.first, plane, window),
        }
    }
}

/// The first contact of every pair, on all threads of rayon's pool.
#[must_use]
pub fn first_contacts<S: Convex + Sync, M: Motion + Sync>(queries: &[Query<S, M>]) -> Vec<Search> {
    queries.par_iter().map(Query::first_contact).collect()
}
