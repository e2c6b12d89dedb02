//! A contact: who takes part, and what it does.
//!
//! Two smooth balls are dealt with on the spot. Everything else goes by the states of the bodies (`cluster`): one smooth contact by
//! the closed form of [`crate::impact::pair`], any other by the impact solver (`blow`). Bodies that touch others at the same time,
//! within the error bounds of the times, make one impact with them, as in the simulation; whether there are any is seen
//! when the two look for their next events, and then the whole is resolved instead.
//!
//! While bodies grow, contacts are smooth and come one at a time.

use nalgebra::Vector3;

use super::due::{Due, PLANE};
use super::foresee::Foreseen;
use super::kept::Line;
use super::predict::Parted;
use super::solid::Solid;
use super::{COLLAPSED, Crowd, Stopped, index};
use crate::body::{Body, State};
use crate::collision::spheres::Spheres;
use crate::contact::classify::Type;
use crate::contact::{Side, Surface};
use crate::gap::{Gap, gap, gap_to_plane};
use crate::record::{Event, Kind, Recorder};

/// Rounding of a gap and of a relative velocity, relative to what they are differences of; as in the simulation.
pub(super) const ROUNDING: f64 = 4e-14;
pub(super) const STILL: f64 = 1e-13;

/// Two that meet: the first a body or a plane, the second a body of a larger number in the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Met {
    pub first: u32,
    pub second: u32,
    /// The image of the second.
    pub image: u16,
}

impl Crowd {
    /// A pair as it is told of: planes first, then smaller numbers.
    pub(super) fn met(&self, i: usize, with: u32, image: u16) -> Met {
        let number = index(i);
        if with >= PLANE || self.cold[with as usize].name < self.cold[i].name {
            let image = if with >= PLANE { image } else { self.images.opposite(image) };
            Met { first: with, second: number, image }
        } else {
            Met { first: number, second: with, image }
        }
    }

    pub(super) fn sides(&self, met: &Met) -> [Side; 2] {
        let body = |i: u32| Side::Body(self.cold[i as usize].name as usize);
        let first =
            if met.first >= PLANE { Side::Plane((met.first - PLANE) as usize) } else { body(met.first) };
        [first, body(met.second)]
    }

    /// The size of a pair.
    pub(super) fn size_of(&self, met: &Met, t: f64) -> f64 {
        let first = if met.first >= PLANE { 0.0 } else { self.radius(met.first as usize) };
        (first + self.radius(met.second as usize)) * self.size_at(t)
    }

    #[inline(always)]
    pub(super) fn inverse_mass(&self, i: u32) -> f64 {
        self.solid(i).inverse_mass
    }

    /// A body's shape and mass.
    #[inline(always)]
    pub(super) fn solid(&self, i: u32) -> &Solid {
        &self.solids[self.cold[i as usize].kind as usize]
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
    pub(super) fn near_gap(&self, met: &Met, t: f64, near: f64) -> Option<f64> {
        let second = self.hot[met.second as usize].line.at(t);
        let size = self.size_of(met, t);
        let away = if met.first >= PLANE {
            self.world.planes[(met.first - PLANE) as usize].height(&second) - size
        } else {
            let first = self.hot[met.first as usize].line.at(t);
            (second + self.images.shift(met.image) - first).norm() - size
        };
        if away > near * size {
            return None;
        }
        let balls = met.first >= PLANE || self.solid(met.first).is_ball;
        if balls && self.solid(met.second).is_ball {
            return Some(away);
        }
        let states = |i: u32| self.state(i as usize, t);
        self.gap_of(met, t, &states).map(|found| found.gap)
    }

    pub(super) fn gap_of(&self, met: &Met, t: f64, state: &impl Fn(u32) -> State) -> Option<Gap> {
        let grown = |i: u32| self.body(i).shape.scaled(self.size_at(t));
        let grows = self.settings.growth != 0.0;
        let mut second = state(met.second);
        if met.first >= PLANE {
            let plane = &self.world.planes[(met.first - PLANE) as usize];
            let pose = second.pose();
            return Some(if grows {
                gap_to_plane(&grown(met.second), &pose, plane)
            } else {
                gap_to_plane(self.solid(met.second), &pose, plane)
            });
        }
        second.position += self.images.shift(met.image);
        let (here, there) = (state(met.first).pose(), second.pose());
        if grows {
            gap((&grown(met.first), &here), (&grown(met.second), &there))
        } else {
            gap((self.solid(met.first), &here), (self.solid(met.second), &there))
        }
    }

    /// What rounding leaves of a gap.
    pub(super) fn level(&self, met: &Met, t: f64) -> f64 {
        ROUNDING * (self.size_of(met, t) + self.hot[met.second as usize].line.position.norm())
    }

    /// Restitution and surface of a contact now, and whether it is elastic only because it follows another too soon.
    #[inline]
    pub(super) fn answer(&self, met: &Met, t: f64) -> (f64, Surface, bool) {
        let (restitution, surface) = self.world.answer(self.sides(met));
        let surface = if self.settings.growth == 0.0 { surface } else { Surface::Smooth };
        let last = |i: u32| if i < PLANE { self.cold[i as usize].last } else { f64::NEG_INFINITY };
        let soon = self.settings.contact_time > 0.0
            && restitution < 1.0
            && t - last(met.first).max(last(met.second)) < self.settings.contact_time;
        (if soon { 1.0 } else { restitution }, surface, soon)
    }

    /// A pair touches.
    #[inline]
    pub(super) fn touch(
        &mut self,
        i: usize,
        due: &Due,
        foreseen: Option<&mut Foreseen>,
        recorder: &mut impl Recorder,
    ) {
        let t = due.time;
        let met = self.met(i, due.with, due.image);
        self.clock.now = self.clock.now.max(t);
        let (restitution, surface, soon) = self.answer(&met, t);
        if self.are_balls(&met) && surface == Surface::Smooth {
            self.strike_balls(&met, t, restitution, soon, recorder);
        } else {
            self.strike(&met, [due.sinks, soon], t, foreseen, recorder);
        }
    }

    /// Whether two balls meet.
    #[inline(always)]
    pub(super) fn are_balls(&self, met: &Met) -> bool {
        met.first < PLANE && self.solid(met.first).is_ball && self.solid(met.second).is_ball
    }

    /// Whether an approach is slower than anything but collapse makes it; that ends a run.
    #[inline(always)]
    pub(super) fn has_collapsed(&self, met: &Met, t: f64, approach: f64) -> bool {
        approach < 0.0 && -approach * self.clock.length < COLLAPSED * self.size_of(met, t)
    }

    /// Two smooth balls.
    #[inline]
    fn strike_balls(
        &mut self,
        met: &Met,
        t: f64,
        restitution: f64,
        soon: bool,
        recorder: &mut impl Recorder,
    ) {
        let (a, b) = (met.first as usize, met.second as usize);
        let (one, two) = (self.hot[a].line, self.hot[b].line);
        let radii = [self.radius(a), self.radius(b)];
        let (here, there) = (one.at(t), two.at(t));
        let x = there + self.images.shift(met.image) - here;
        let v = two.velocity - one.velocity;
        let square = x.norm_squared();
        let distance = square.sqrt();
        let growing = (radii[0] + radii[1]) * self.settings.growth;
        let inverse_masses = [self.inverse_mass(met.first), self.inverse_mass(met.second)];
        let spheres = Spheres { x, v, square, distance, growing, inverse_masses };
        let approach = spheres.approach();
        let gap = distance - (radii[0] + radii[1]) * self.size_at(t);
        self.clear_due(met.first);
        self.clear_due(met.second);
        let seen = [(met.second, met.image), (met.first, self.images.opposite(met.image))]
            .map(|(with, image)| Parted { with, image, normal: Vector3::zeros() });
        if self.has_collapsed(met, t, approach) {
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
        self.look_ahead(1); // The first of the two is over.
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
            if self.settings.growth == 0.0 && self.strike_together(met, t, recorder) {
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
        let kinetic = |inverse: f64, v: &Vector3<f64>| {
            if inverse > 0.0 { 0.5 * v.norm_squared() / inverse } else { 0.0 }
        };
        let change = kinetic(light, &velocities[0]) - kinetic(light, &one.velocity)
            + (kinetic(other, &velocities[1]) - kinetic(other, &two.velocity));
        let separation = normal.dot(&(velocities[1] - velocities[0])) - growing;
        let expected = 0.5 * impulse * ((1.0 - restitution) * approach + 2.0 * growing);
        let speed = v.norm() + growing;
        let number = self.counts.events;
        let energy_before = self.ledger.energy();
        self.ledger.take_energy_as(expected, change, number);
        self.ledger.see_gap(gap, number);
        let missed = (separation + restitution * approach).abs() / speed;
        let changes = [velocities[0] - one.velocity, velocities[1] - two.velocity];
        let audit = &mut self.ledger.audit;
        audit.restitution_error_max.note(missed, number);
        audit.points_error_max.note(gap.abs() / distance, number);
        // Squares: a root is taken of what is worse than before.
        let (worst, found) = (audit.impulse_error_max.value, spheres.unbalanced(&changes));
        if found > worst * worst * v.norm_squared() || found.is_nan() {
            audit.impulse_error_max.note(found.sqrt() / speed, number);
        }
        if self.is_few() {
            let names = [a, b].map(|i| self.cold[i].name as usize);
            self.ledger.struck.extend(names);
        }
        if light == 0.0 || other == 0.0 {
            let sign = if light == 0.0 { 1.0 } else { -1.0 };
            self.ledger.take_impulse(&(vector * sign), &(here + normal * (radii[0] * self.size_at(t))));
        }
        self.counts.collisions += 1;
        self.counts.events += 1;
        self.counts.impacts += 1;
        self.counts.elastic += u64::from(soon);
        recorder.events(&[Event {
            number,
            time: self.clock.epoch + t,
            time_error: (ROUNDING * (distance + here.norm()) + gap.abs()) / -approach,
            kind: Kind::Impact,
            sides: self.sides(met),
            image: self.images.boxes(met.image),
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
