//! A contact: who takes part, and what it does.
//!
//! Two smooth balls are dealt with on the spot. Everything else goes by the states of the bodies (`cluster`): one smooth contact by
//! the closed form of [`crate::impact::pair`], any other by the impact solver (`blow`). Bodies that touch others at the same time,
//! within the error bounds of the times, make one impact with them, as in the simulation; whether there are any is seen
//! when the two look for their next events, and then the whole is resolved instead.
//!
//! While bodies grow, contacts are smooth and come one at a time.

use nalgebra::Vector3;

use super::next_event::{NextEvent, PLANE};
use super::predict::Parted;
use super::shape_class::ShapeClass;
use super::speculate::SpeculativeEvent;
use super::storage::Line;
use super::{COLLAPSED, Edmd, Stopped, index};
use crate::body::{Body, State};
use crate::collision::spheres::{SphereImpact, Spheres};
use crate::contact::classify::Type;
use crate::contact::{Side, Surface};
use crate::gap::{Gap, gap, gap_to_plane};
use crate::record::{Event, Kind, Recorder};
use crate::run::tolerances::{GAP_ROUNDING, STILL};

/// Two that meet: the first a body or a plane, the second a body of a larger number in the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ContactPair {
    pub first: u32,
    pub second: u32,
    /// The image of the second.
    pub image: u16,
}

impl Edmd {
    /// A pair as it is told of: planes first, then smaller numbers.
    pub(super) fn pair(&self, i: usize, with: u32, image: u16) -> ContactPair {
        let number = index(i);
        if with >= PLANE || self.cold[with as usize].name < self.cold[i].name {
            let image = if with >= PLANE { image } else { self.images.opposite(image) };
            ContactPair { first: with, second: number, image }
        } else {
            ContactPair { first: number, second: with, image }
        }
    }

    pub(super) fn sides(&self, pair: &ContactPair) -> [Side; 2] {
        let body = |i: u32| Side::Body(self.cold[i as usize].name as usize);
        let first =
            if pair.first >= PLANE { Side::Plane((pair.first - PLANE) as usize) } else { body(pair.first) };
        [first, body(pair.second)]
    }

    /// The size of a pair.
    pub(super) fn size_of(&self, pair: &ContactPair, t: f64) -> f64 {
        let first = if pair.first >= PLANE { 0.0 } else { self.radius(pair.first as usize) };
        (first + self.radius(pair.second as usize)) * self.size_at(t)
    }

    #[inline(always)]
    pub(super) fn inverse_mass(&self, i: u32) -> f64 {
        self.shape_class(i).inverse_mass
    }

    /// A body's shape and mass.
    #[inline(always)]
    pub(super) fn shape_class(&self, i: u32) -> &ShapeClass {
        &self.shape_classes[self.cold[i as usize].kind as usize]
    }

    /// A body's circumradius, at the size of the start.
    #[inline(always)]
    pub(super) fn radius(&self, i: usize) -> f64 {
        self.equal.unwrap_or_else(|| self.radii[i])
    }

    /// A body's number in the scene.
    #[inline(always)]
    pub(super) fn name(&self, i: u32) -> usize {
        self.cold[i as usize].name as usize
    }

    pub(super) fn body(&self, i: u32) -> &Body {
        &self.world.bodies[self.name(i)]
    }

    /// The gap of a pair at a time, if the balls about the two are nearer than so many sizes.
    pub(super) fn near_gap(&self, pair: &ContactPair, t: f64, near: f64) -> Option<f64> {
        let second = self.hot[pair.second as usize].line.at(t);
        let size = self.size_of(pair, t);
        let away = if pair.first >= PLANE {
            self.world.planes[(pair.first - PLANE) as usize].height(&second) - size
        } else {
            let first = self.hot[pair.first as usize].line.at(t);
            (second + self.images.shift(pair.image) - first).norm() - size
        };
        if away > near * size {
            return None;
        }
        let balls = pair.first >= PLANE || self.shape_class(pair.first).is_ball;
        if balls && self.shape_class(pair.second).is_ball {
            return Some(away);
        }
        let states = |i: u32| self.state(i as usize, t);
        self.gap_of(pair, t, &states).map(|found| found.gap)
    }

    pub(super) fn gap_of(&self, pair: &ContactPair, t: f64, state: &impl Fn(u32) -> State) -> Option<Gap> {
        let grown = |i: u32| self.body(i).shape.scaled(self.size_at(t));
        let grows = self.settings.growth != 0.0;
        let mut second = state(pair.second);
        if pair.first >= PLANE {
            let plane = &self.world.planes[(pair.first - PLANE) as usize];
            let pose = second.pose();
            return Some(if grows {
                gap_to_plane(&grown(pair.second), &pose, plane)
            } else {
                gap_to_plane(self.shape_class(pair.second), &pose, plane)
            });
        }
        second.position += self.images.shift(pair.image);
        let (here, there) = (state(pair.first).pose(), second.pose());
        if grows {
            gap((&grown(pair.first), &here), (&grown(pair.second), &there))
        } else {
            gap((self.shape_class(pair.first), &here), (self.shape_class(pair.second), &there))
        }
    }

    /// What rounding leaves of a gap.
    pub(super) fn level(&self, pair: &ContactPair, t: f64) -> f64 {
        GAP_ROUNDING * (self.size_of(pair, t) + self.hot[pair.second as usize].line.position.norm())
    }

    /// Restitution and surface of a contact now, and whether it is elastic only because it follows another too soon.
    #[inline]
    pub(super) fn answer(&self, pair: &ContactPair, t: f64) -> (f64, Surface, bool) {
        let (restitution, surface) = self.world.contact_properties(self.sides(pair));
        let surface = if self.settings.growth == 0.0 { surface } else { Surface::Smooth };
        let last = |i: u32| if i < PLANE { self.cold[i as usize].last } else { f64::NEG_INFINITY };
        let soon = self.settings.contact_time > 0.0
            && restitution < 1.0
            && t - last(pair.first).max(last(pair.second)) < self.settings.contact_time;
        (if soon { 1.0 } else { restitution }, surface, soon)
    }

    /// A pair touches.
    #[inline]
    pub(super) fn touch(
        &mut self,
        i: usize,
        due: &NextEvent,
        speculative: Option<&mut SpeculativeEvent>,
        recorder: &mut impl Recorder,
    ) {
        let t = due.time;
        let pair = self.pair(i, due.with, due.image);
        self.clock.now = self.clock.now.max(t);
        let (restitution, surface, soon) = self.answer(&pair, t);
        if self.are_spheres(&pair) && surface == Surface::Smooth {
            self.resolve_spheres(&pair, t, restitution, soon, recorder);
        } else {
            self.resolve_contact(&pair, [due.sinks, soon], t, speculative, recorder);
        }
    }

    /// Whether two balls meet.
    #[inline(always)]
    pub(super) fn are_spheres(&self, pair: &ContactPair) -> bool {
        pair.first < PLANE && self.shape_class(pair.first).is_ball && self.shape_class(pair.second).is_ball
    }

    /// Whether an approach is slower than anything but collapse makes it; that ends a run.
    #[inline(always)]
    pub(super) fn has_collapsed(&self, pair: &ContactPair, t: f64, approach: f64) -> bool {
        approach < 0.0 && -approach * self.clock.length < COLLAPSED * self.size_of(pair, t)
    }

    /// Two smooth balls.
    #[inline]
    fn resolve_spheres(
        &mut self,
        pair: &ContactPair,
        t: f64,
        restitution: f64,
        soon: bool,
        recorder: &mut impl Recorder,
    ) {
        let (a, b) = (pair.first as usize, pair.second as usize);
        let (one, two) = (self.hot[a].line, self.hot[b].line);
        let radii = [self.radius(a), self.radius(b)];
        let (here, there) = (one.at(t), two.at(t));
        let x = there + self.images.shift(pair.image) - here;
        let v = two.velocity - one.velocity;
        let square = x.norm_squared();
        let distance = square.sqrt();
        let growing = (radii[0] + radii[1]) * self.settings.growth;
        let inverse_masses = [self.inverse_mass(pair.first), self.inverse_mass(pair.second)];
        let spheres = Spheres { x, v, square, distance, growing, inverse_masses };
        let approach = spheres.approach();
        let gap = distance - (radii[0] + radii[1]) * self.size_at(t);
        self.clear_next_event(pair.first);
        self.clear_next_event(pair.second);
        let seen = [(pair.second, pair.image), (pair.first, self.images.opposite(pair.image))]
            .map(|(with, image)| Parted { with, image, normal: Vector3::zeros() });
        if self.has_collapsed(pair, t, approach) {
            self.stopped.get_or_insert(Stopped::Stalled);
            return;
        }
        if approach >= 0.0 {
            self.counts.grazes += 1;
            self.predict(a, t, &seen[..1]);
            self.predict(b, t, &seen[1..]);
            self.scratch.close.clear();
            return;
        }
        let [light, other] = inverse_masses;
        let (impulse, vector) = spheres.impulse(restitution);
        let normal = x / distance;
        let velocities = [one.velocity - vector * light, two.velocity + vector * other];
        self.hot[a].line = Line { position: here, velocity: velocities[0], since: t };
        self.hot[b].line = Line { position: there, velocity: velocities[1], since: t };
        let last = [self.cold[a].last, self.cold[b].last];
        (self.cold[a].last, self.cold[b].last) = (t, t);
        self.follow_path(a, t);
        self.follow_path(b, t);
        self.predict(a, t, &seen[..1]);
        self.prefetch(1); // The first of the two is over.
        self.predict(b, t, &seen[1..]);
        // An approach that is rounding of the velocities is no event.
        let squares = one.velocity.norm_squared() + two.velocity.norm_squared();
        let still = approach * approach <= 2.0 * STILL * STILL * squares;
        if !self.scratch.close.is_empty() && still {
            self.scratch.close.clear();
        } else if !self.scratch.close.is_empty() {
            // Others may touch at the same time: taken back, and looked at together.
            self.scratch.close.clear();
            let tried = [self.hot[a].line, self.hot[b].line];
            self.hot[a].line = Line { position: here, since: t, ..one };
            self.hot[b].line = Line { position: there, since: t, ..two };
            (self.cold[a].last, self.cold[b].last) = (last[0], last[1]);
            if self.settings.growth == 0.0 && self.resolve_cluster(pair, t, recorder) {
                return;
            }
            (self.hot[a].line, self.hot[b].line) = (tried[0], tried[1]);
            (self.cold[a].last, self.cold[b].last) = (t, t);
        }
        // It is turned round all the same, so that it does not come again.
        if still {
            self.counts.grazes += 1;
            return;
        }
        let number = self.counts.events;
        let energy_before = self.ledger.energy();
        let (before, growing) = ([one.velocity, two.velocity], spheres.growing);
        let separation = normal.dot(&(velocities[1] - velocities[0])) - growing;
        let found = SphereImpact { approach, separation, restitution, impulse, gap };
        spheres.audit(&mut self.ledger, &found, [&before, &velocities], number);
        if self.is_few() {
            let names = [a, b].map(|i| self.cold[i].name as usize);
            self.ledger.involved.extend(names);
        }
        if light == 0.0 || other == 0.0 {
            let sign = if light == 0.0 { 1.0 } else { -1.0 };
            self.ledger.book_impulse(&(vector * sign), &(here + normal * (radii[0] * self.size_at(t))));
        }
        self.counts.collisions += 1;
        self.counts.events += 1;
        self.counts.impacts += 1;
        self.counts.elastic += u64::from(soon);
        recorder.events(&[Event {
            number,
            time: self.clock.epoch + t,
            time_error: (GAP_ROUNDING * (distance + here.norm()) + gap.abs()) / -approach,
            kind: Kind::Impact,
            sides: self.sides(pair),
            image: self.images.boxes(pair.image),
            point: here + normal * (radii[0] * self.size_at(t) + 0.5 * gap),
            normal,
            between: x,
            gap,
            approach,
            separation,
            impulse,
            impulse_vector: vector,
            class: Type::Normal,
            g2: None,
            g3: None,
            force_slope: None,
            limit: None,
            joints: None,
            energy_before,
            energy_after: self.ledger.energy(),
        }]);
    }
}
