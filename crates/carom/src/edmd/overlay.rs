//! The crowd as it will be seen by those who look for their next events when some bodies have changed their courses, before
//! any of it has happened.

use core::ops::Deref;

use super::Edmd;
use super::neighbourhood::Moved;
use super::neighbours::Link;
use super::rotation::{Spin, SpinOf};
use super::storage::{Hot, Path};

/// A body that is about to change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Changed {
    pub body: u32,
    pub hot: Hot,
    pub path: Path,
    /// Where its turning is, if that changes.
    pub spin: Option<usize>,
}

/// A crowd, but for those who change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Overlay<'a> {
    crowd: &'a Edmd,
    changed: &'a [Changed],
    spins: &'a [Spin],
    /// The next home of one.
    moved: Option<(usize, &'a Moved)>,
}

impl<'a> Overlay<'a> {
    /// As it is.
    pub fn new(crowd: &'a Edmd) -> Self {
        Self { crowd, changed: &[], spins: &[], moved: None }
    }

    /// With changes.
    pub fn with(crowd: &'a Edmd, changed: &'a [Changed], spins: &'a [Spin]) -> Self {
        Self { crowd, changed, spins, moved: None }
    }

    /// With one at its next home.
    pub fn moved(self, body: usize, moved: &'a Moved) -> Self {
        Self { moved: Some((body, moved)), ..self }
    }

    #[inline(always)]
    fn change(&self, i: usize) -> Option<&'a Changed> {
        self.changed.iter().find(|changed| changed.body as usize == i)
    }

    #[inline(always)]
    pub fn hot(&self, i: usize) -> &'a Hot {
        self.change(i).map_or_else(|| &self.crowd.hot[i], |changed| &changed.hot)
    }

    #[inline(always)]
    pub fn path(&self, i: usize) -> &'a Path {
        self.change(i).map_or_else(|| &self.crowd.path[i], |changed| &changed.path)
    }

    #[inline(always)]
    pub fn spin(&self, i: usize) -> SpinOf<'a> {
        let changed = self.change(i).and_then(|changed| changed.spin);
        changed.map_or_else(|| self.crowd.spins.of(i), |at| self.spins[at].of())
    }
}

impl Overlay<'_> {
    fn home_of(&self, i: usize) -> Option<&Moved> {
        self.moved.and_then(|(body, moved)| (body == i).then_some(moved))
    }

    /// A body's neighbours.
    pub fn neighbours(&self, i: usize) -> &[Link] {
        self.home_of(i).map_or_else(|| self.crowd.links(i), |moved| &moved.links)
    }

    /// How far a body and the neighbours of its list must come before they can touch; of a list that is new, nothing is known.
    #[inline(always)]
    pub fn marks_of(&self, i: usize) -> Option<&[f32]> {
        self.home_of(i).is_none().then(|| self.crowd.lists.marks(self.crowd.cold[i].row))
    }

    /// Those who change.
    pub fn changed(&self) -> &[Changed] {
        self.changed
    }

    /// When a body leaves its neighbourhood.
    pub fn leaves_home(&self, i: usize, t: f64) -> f64 {
        let line = &self.hot(i).line;
        match self.home_of(i) {
            Some(Moved { place, .. }) => self.crowd.leaves_from(&place.home, place.reach, line, i, t),
            None => self.crowd.leaves(line, i, t),
        }
    }
}

/// What does not change.
impl Deref for Overlay<'_> {
    type Target = Edmd;

    #[inline(always)]
    fn deref(&self) -> &Edmd {
        self.crowd
    }
}
