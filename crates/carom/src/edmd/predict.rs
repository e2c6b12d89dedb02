//! A body's next event: the earliest of its contacts with neighbours, and of its leaving its neighbourhood.
//!
//! Contacts that come after the partner's own event are left out: when that event comes, the partner looks at this body
//! again.

use nalgebra::Vector3;
use wide::f64x2;

use super::neighbours::Link;
use super::next_event::{NextEvent, PLANE};
use super::overlay::Overlay;
use super::search::Sight;
use super::speculate::SpeculativeEvent;
use super::spheres;
use super::storage::Two;
use super::{Cause, Edmd, index};

/// Room for lists, kept for reuse.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    pub sight: Sight,
    pub speculative: SpeculativeEvent,
    /// Neighbours that a body touches within rounding: body, neighbour, image.
    pub close: Vec<(u32, u32, u16)>,
    pairs: [Pair; WORD / 2],
}

/// Two neighbours that are looked at together: what [`spheres::root`] asks of each.
#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    towards: [f64; 2],
    square: [f64; 2],
    apart: [f64; 2],
}

/// As many neighbours as a word has bits.
pub(super) const WORD: usize = 64;

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

impl Edmd {
    /// Finds a body's next event, and sets it. Neighbours in `parted` have just been touched and part.
    #[inline]
    pub(super) fn predict(&mut self, i: usize, t: f64, parted: &[Parted]) {
        self.counts.predictions += 1;
        if !self.mixed && self.settings.growth == 0.0 && self.world.planes.is_empty() {
            return match self.equal {
                Some(_) => self.predict_spheres::<true>(i, t, parted),
                None => self.predict_spheres::<false>(i, t, parted),
            };
        }
        let mut sight = std::mem::take(&mut self.scratch.sight);
        let due = Overlay::new(self).look(i, t, parted, &mut sight);
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
            self.ledger.note_gap(-deepest, self.counts.events);
        }
        for mark in sight.marks.drain(..) {
            self.lists.mark(self.cold[mark.body as usize].row, mark.at, mark.way);
        }
        self.scratch.close.append(&mut sight.close);
        if let Some((body, with, image)) = sight.lost.take() {
            let pair = self.pair(body as usize, with, image);
            self.lose(self.sides(&pair), Cause::Search);
        }
    }

    /// Balls of fixed size among themselves. First those that come too late are put aside, two at a time and without a branch
    /// that could be guessed wrong, so that the memory of all neighbours is asked for at once; then the roots of the few that
    /// are left. Too late is after the body has left home, or after the neighbour's own event.
    #[inline]
    fn predict_spheres<const EQUAL: bool>(&mut self, i: usize, t: f64, parted: &[Parted]) {
        if !self.shape_class(index(i)).can_collide {
            return;
        }
        let hot = &self.hot[..];
        let own = hot[i].line;
        let mut best = NextEvent::home(self.leaves(&own, i, t));
        let own_radius = self.radius(i);
        let radius = |link: Link| if EQUAL { own_radius } else { self.radii[link.with as usize] };
        let both = f64x2::splat;
        let (now, horizon) = (both(t), both(best.time - t));
        let [here, velocity] = [own.at(t), own.velocity].map(|x| [0, 1, 2].map(|k| both(x[k])));
        let pairs = &mut self.scratch.pairs;
        for links in self.lists.of(self.cold[i].row).chunks(WORD) {
            let mut late = 0;
            let mut look = |at: usize, two: [Link; 2], pair: &mut Pair| {
                let hot = two.map(|link| &hot[link.with as usize]);
                let shifts = two.map(|link| self.images.shift(link.image));
                let seen = Two::seen(hot, shifts, now, &here, &velocity);
                let [towards, square, distance] = seen.products();
                let sum = both(own_radius) + f64x2::new(two.map(radius));
                let size = sum * sum;
                let apart = distance - size;
                let horizon = horizon.fast_min(seen.due - now);
                let later = spheres::both_later(towards, square, apart, horizon);
                let far = apart.simd_gt(both(CLOSE) * size);
                late |= u64::from((later & far).to_bitmask()) << (2 * at);
                *pair =
                    Pair { towards: towards.to_array(), square: square.to_array(), apart: apart.to_array() };
            };
            let (twos, rest) = links.as_chunks::<2>();
            for (at, (two, pair)) in twos.iter().zip(pairs.iter_mut()).enumerate() {
                look(at, *two, pair);
            }
            // Of an odd number the last stands for two.
            if let [last] = rest {
                look(twos.len(), [*last; 2], &mut pairs[twos.len()]);
            }
            let mut wanted = !late & (!0 >> (WORD - links.len()));
            while wanted != 0 {
                let at = wanted.trailing_zeros() as usize;
                wanted &= wanted - 1;
                let link = links[at];
                let pair = &pairs[at / 2];
                let [towards, square, apart] =
                    [&pair.towards, &pair.square, &pair.apart].map(|two| two[at % 2]);
                let sum = own_radius + radius(link);
                if apart <= CLOSE * (sum * sum) && !has_parted(parted, link.with, link.image) {
                    self.scratch.close.push((index(i), link.with, link.image));
                }
                let time = t + spheres::root(towards, square, apart);
                if time < best.time
                    && time < hot[link.with as usize].due
                    && !has_parted(parted, link.with, link.image)
                {
                    best = NextEvent { time, with: link.with, image: link.image, sinks: false };
                }
            }
        }
        self.schedule(index(i), best);
    }

    /// Sets an event, for both bodies of a pair.
    #[inline]
    pub(super) fn schedule(&mut self, body: u32, due: NextEvent) {
        self.set_next_event(body, due);
        if due.with < PLANE {
            let image = self.images.opposite(due.image);
            self.set_next_event(due.with, NextEvent { with: body, image, ..due });
        }
    }
}
