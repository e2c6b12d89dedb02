//! A body's next event: the earliest of its contacts with neighbours, and of its leaving its neighbourhood.
//!
//! Contacts that come after the partner's own event are left out: when that event comes, the partner looks at this body
//! again.

use nalgebra::Vector3;

use super::balls;
use super::due::{Due, PLANE};
use super::foresee::Foreseen;
use super::search::Sight;
use super::seen::Seen;
use super::{Cause, Crowd, index};

/// Room for lists, kept for reuse.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    pub sight: Sight,
    pub foreseen: Foreseen,
    /// Neighbours that a body touches within rounding: body, neighbour, image.
    pub close: Vec<(u32, u32, u16)>,
    near: Vec<Near>,
}

/// A ball that may be touched before a body leaves home.
#[derive(Debug, Clone, Copy, Default)]
struct Near {
    towards: f64,
    square: f64,
    apart: f64,
    /// The square of the sum of the radii.
    size: f64,
    /// Its place in the body's list.
    at: u32,
}

/// A neighbour that has just been touched and parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parted {
    pub with: u32,
    pub image: u16,
    /// The normal towards it; balls need none.
    pub normal: Vector3<f64>,
}

pub(super) fn has_parted(parted: &[Parted], with: u32, image: u16) -> bool {
    parted.iter().any(|parted| parted.with == with && parted.image == image)
}

/// A gap below this share of the size may be a contact now.
pub(super) const CLOSE: f64 = 1e-11;

impl Crowd {
    /// Finds a body's next event, and sets it. Neighbours in `parted` have just been touched and part.
    #[inline]
    pub(super) fn predict(&mut self, i: usize, t: f64, parted: &[Parted]) {
        self.counts.predictions += 1;
        if !self.mixed && self.settings.growth == 0.0 && self.world.planes.is_empty() {
            return match self.equal {
                Some(_) => self.predict_balls::<true>(i, t, parted),
                None => self.predict_balls::<false>(i, t, parted),
            };
        }
        let mut sight = std::mem::take(&mut self.scratch.sight);
        let due = Seen::new(self).look(i, t, parted, &mut sight);
        self.take_in_sight(&mut sight);
        self.scratch.sight = sight;
        if let Some(due) = due {
            self.schedule(index(i), due);
        }
    }

    /// Keeps what looking has found besides the next event.
    pub(super) fn take_in_sight(&mut self, sight: &mut Sight) {
        self.counts.searches += std::mem::take(&mut sight.searches);
        self.counts.gaps += std::mem::take(&mut sight.gaps);
        let deepest = std::mem::take(&mut sight.deepest);
        if deepest > 0.0 {
            self.ledger.see_gap(-deepest, self.counts.collisions);
        }
        for mark in sight.marks.drain(..) {
            self.lists.mark(self.cold[mark.body as usize].row, mark.at, mark.way);
        }
        self.scratch.close.append(&mut sight.close);
        if let Some((body, with, image)) = sight.lost.take() {
            let met = self.met(body as usize, with, image);
            self.lose(self.sides(&met), Cause::Search);
        }
    }

    /// Balls of fixed size among themselves. First those that come too late are put aside, without a branch that could be
    /// guessed wrong, so that the memory of all neighbours is asked for at once; then the roots of the few that are left.
    #[inline]
    fn predict_balls<const EQUAL: bool>(&mut self, i: usize, t: f64, parted: &[Parted]) {
        if !self.solid(index(i)).is_solid {
            return;
        }
        let hot = &self.hot[..];
        let own = hot[i].line;
        let here = own.at(t);
        let mut best = Due::home(self.leaves(&own, i, t));
        let horizon = best.time - t;
        let links = self.lists.of(self.cold[i].row);
        let own_radius = self.radius(i);
        let near = &mut self.scratch.near;
        if near.len() < links.len() + 1 {
            near.resize(links.len() + 1, Near::default());
        }
        let mut count = 0;
        for (at, link) in links.iter().enumerate() {
            let other = &hot[link.with as usize].line;
            let x = other.at(t) + self.images.shift(link.image) - here;
            let v = other.velocity - own.velocity;
            let sum = own_radius + if EQUAL { own_radius } else { self.radii[link.with as usize] };
            let (towards, square, size) = (x.dot(&v), v.norm_squared(), sum * sum);
            let apart = x.norm_squared() - size;
            near[count] = Near { towards, square, apart, size, at: index(at) };
            let wanted = !balls::later(towards, square, apart, horizon) | (apart <= CLOSE * size);
            count += usize::from(wanted);
        }
        for candidate in &near[..count] {
            let link = links[candidate.at as usize];
            let Near { towards, square, apart, size, .. } = *candidate;
            if apart <= CLOSE * size && !has_parted(parted, link.with, link.image) {
                self.scratch.close.push((index(i), link.with, link.image));
            }
            let time = t + balls::root(towards, square, apart);
            if time < best.time
                && time < hot[link.with as usize].due
                && !has_parted(parted, link.with, link.image)
            {
                best = Due { time, with: link.with, image: link.image, sinks: false };
            }
        }
        self.schedule(index(i), best);
    }

    /// Sets an event, for both bodies of a pair.
    #[inline]
    pub(super) fn schedule(&mut self, body: u32, due: Due) {
        self.set_due(body, due);
        if due.with < PLANE {
            let image = self.images.opposite(due.image);
            self.set_due(due.with, Due { with: body, image, ..due });
        }
    }
}
