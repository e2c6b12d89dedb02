//! The next event of a sphere of fixed size among spheres: the earliest of its contacts and of its leaving its neighbourhood.
//!
//! Contacts that come after the partner's own event are left out: when that event comes, the partner predicts its contact with this body
//! again.

use nalgebra::Vector3;
use wide::f64x2;

use super::index;
use super::lists::Neighbour;
use super::next_event::NextEvent;
use super::spheres;
use super::storage::RelativeMotions;
use super::system::System;

/// A neighbour that a body has just touched and parts from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parted {
    pub partner: u32,
    pub image: u16,
    /// The normal towards it; not needed for spheres.
    pub normal: Vector3<f64>,
}

pub(super) fn has_parted(parted: &[Parted], neighbour: &Neighbour) -> bool {
    parted.iter().any(|parted| parted.partner == neighbour.partner && parted.image == neighbour.image)
}

/// Pairs that touch within rounding: body, neighbour, image.
pub(super) type ClosePairs = Vec<(u32, u32, u16)>;

/// A gap below this share of the size may be a contact at present.
pub(super) const CLOSE: f64 = 1e-11;

/// Neighbours are looked at in chunks of as many as a word has bits.
pub(super) const WORD: usize = 64;

/// The quadratics of two neighbours; see [`spheres`].
#[derive(Debug, Clone, Copy, Default)]
struct Quadratics {
    x_dot_v: [f64; 2],
    v_squared: [f64; 2],
    clearance: [f64; 2],
}

/// A buffer for the quadratics of a chunk of neighbours.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuadraticBuffer([Quadratics; WORD / 2]);

impl Default for QuadraticBuffer {
    fn default() -> Self {
        Self([Quadratics::default(); WORD / 2])
    }
}

impl System {
    /// The next event of a sphere among spheres of fixed size; `EQUAL` if all have the same radius. `None` if the body cannot collide.
    ///
    /// First the neighbours that come too late are sorted out, two at a time and without branches that are hard to predict, so that the
    /// memory of all neighbours is requested at once. Then the roots of the few that are left are computed. Too late is after the body has
    /// left its neighbourhood, or after the neighbour's own event. Neighbours in `parted` have just been touched; others that touch within
    /// rounding are added to `close`.
    #[inline]
    pub fn next_sphere_event<const EQUAL: bool>(
        &self,
        i: usize,
        t: f64,
        parted: &[Parted],
        QuadraticBuffer(buffer): &mut QuadraticBuffer,
        close: &mut ClosePairs,
    ) -> Option<NextEvent> {
        let particles = &self.particles;
        if !particles.class(i).can_collide {
            return None;
        }
        let kinematics = &particles.kinematics[..];
        let own = kinematics[i].trajectory;
        let mut best = NextEvent::leave(self.exit_time(&own, i, t));
        let own_radius = particles.radius(i);
        let radius = |other: Neighbour| {
            if EQUAL { own_radius } else { particles.radii[other.partner as usize] }
        };
        let both = f64x2::splat;
        let (now, horizon) = (both(t), both(best.time - t));
        let [here, velocity] = [own.at(t), own.velocity].map(|x| [0, 1, 2].map(|k| both(x[k])));
        for neighbours in self.neighbours(i).chunks(WORD) {
            let mut late = 0;
            let mut look = |at: usize, two: [Neighbour; 2], quadratics: &mut Quadratics| {
                let bodies = two.map(|other| &kinematics[other.partner as usize]);
                let shifts = two.map(|other| self.shift(other.image));
                let relative = RelativeMotions::new(bodies, shifts, now, &here, &velocity);
                let [x_dot_v, v_squared, x_squared] = relative.products();
                let sum = both(own_radius) + f64x2::new(two.map(radius));
                let sum_squared = sum * sum;
                let clearance = x_squared - sum_squared;
                let horizon = horizon.fast_min(relative.event_time - now);
                let later = spheres::pairs_touch_later(x_dot_v, v_squared, clearance, horizon);
                let far = clearance.simd_gt(both(CLOSE) * sum_squared);
                late |= u64::from((later & far).to_bitmask()) << (2 * at);
                *quadratics = Quadratics {
                    x_dot_v: x_dot_v.to_array(),
                    v_squared: v_squared.to_array(),
                    clearance: clearance.to_array(),
                };
            };
            let (twos, rest) = neighbours.as_chunks::<2>();
            for (at, (two, quadratics)) in twos.iter().zip(buffer.iter_mut()).enumerate() {
                look(at, *two, quadratics);
            }
            // The last of an odd number is looked at twice.
            if let [last] = rest {
                look(twos.len(), [*last; 2], &mut buffer[twos.len()]);
            }
            let mut left = !late & (!0 >> (WORD - neighbours.len()));
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                left &= left - 1;
                let neighbour = neighbours[at];
                let quadratics = &buffer[at / 2];
                let [x_dot_v, v_squared, clearance] =
                    [&quadratics.x_dot_v, &quadratics.v_squared, &quadratics.clearance]
                        .map(|two| two[at % 2]);
                let sum = own_radius + radius(neighbour);
                if clearance <= CLOSE * (sum * sum) && !has_parted(parted, &neighbour) {
                    close.push((index(i), neighbour.partner, neighbour.image));
                }
                let time = t + spheres::fixed_contact_time(x_dot_v, v_squared, clearance);
                if time < best.time
                    && time < kinematics[neighbour.partner as usize].event_time
                    && !has_parted(parted, &neighbour)
                {
                    let Neighbour { partner, image, .. } = neighbour;
                    best = NextEvent { time, partner, image, sinks: false };
                }
            }
        }
        Some(best)
    }
}
