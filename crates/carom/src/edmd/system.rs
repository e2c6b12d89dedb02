//! The physical system: bodies, their neighbourhoods and the world around them. Prediction and speculation read it and change nothing.

use nalgebra::Vector3;

use super::lists::Neighbour;
use super::neighbourhood::{Neighbourhoods, NewNeighbourhood, Reference};
use super::next_event::{NextEvent, PLANE};
use super::settings::Settings;
use super::spheres;
use super::storage::{Particles, Trajectory};
use crate::body::{Body, State};
use crate::run::{Clock, World};

/// Bodies and neighbourhoods, with the constants of the run.
#[derive(Debug, Clone)]
pub(super) struct System {
    pub world: World,
    pub settings: Settings,
    pub clock: Clock,
    pub particles: Particles,
    pub neighbourhoods: Neighbourhoods,
}

impl System {
    /// Bodies in these states, without neighbourhoods.
    pub fn new(world: World, states: &[State], settings: Settings) -> Self {
        let mut system = Self {
            particles: Particles::new(&world, states),
            neighbourhoods: Neighbourhoods::empty(),
            clock: Clock::start(),
            settings: Settings { growth: settings.growth.max(0.0), ..settings },
            world,
        };
        system.clock.length = system.epoch_length();
        system
    }

    /// The time of the latest event, or of the end.
    pub fn time(&self) -> f64 {
        self.clock.epoch + self.clock.now
    }

    /// The bodies' size at a time, over that at the start.
    #[inline(always)]
    pub fn scale_at(&self, t: f64) -> f64 {
        1.0 + self.settings.growth * (self.clock.epoch + t)
    }

    /// A body's constants.
    pub fn body(&self, i: usize) -> &Body {
        &self.world.bodies[self.particles.scene_index(i)]
    }

    /// A body's state at a time, in the periodic box where it is stored.
    pub fn state(&self, i: usize, t: f64) -> State {
        let trajectory = self.particles.trajectory(i);
        let (orientation, angular_velocity) = self.particles.rotations.get(i).at(self.body(i), t);
        State { position: trajectory.at(t), orientation, velocity: trajectory.velocity, angular_velocity }
    }

    /// The states of all bodies at the present time, in the scene's order; positions continue beyond the walls of a periodic box.
    pub fn states_into(&self, states: &mut Vec<State>) {
        states.clear();
        states.extend(self.particles.places.iter().map(|&i| {
            let mut state = self.state(i as usize, self.clock.now);
            state.position += self.neighbourhoods.images.displacement(self.particles.boxes[i as usize]);
            state
        }));
    }

    /// A body's neighbours.
    #[inline(always)]
    pub fn neighbours(&self, i: usize) -> &[Neighbour] {
        self.neighbourhoods.of(&self.particles, i)
    }

    /// The displacement of an image.
    #[inline(always)]
    pub fn shift(&self, image: u16) -> &Vector3<f64> {
        self.neighbourhoods.images.shift(image)
    }

    /// The image of the first body as seen from the second.
    #[inline(always)]
    pub fn opposite(&self, image: u16) -> u16 {
        self.neighbourhoods.images.opposite(image)
    }

    /// Whether the partner of a body's event has the same event.
    #[inline]
    pub fn is_mutual(&self, i: usize, event: &NextEvent) -> bool {
        if event.partner >= PLANE {
            return true;
        }
        let theirs = self.particles.next_event(event.partner as usize);
        theirs.partner as usize == i
            && theirs.time == event.time
            && theirs.image == self.opposite(event.image)
    }

    /// When a body leaves its neighbourhood along a trajectory.
    #[inline(always)]
    pub fn exit_time(&self, trajectory: &Trajectory, i: usize, t: f64) -> f64 {
        let data = &self.particles.event_data[i];
        self.exit_time_from(&data.reference_position, data.neighbourhood_radius, trajectory, i, t)
    }

    /// As above, for a reference position that the body is about to take.
    #[inline(always)]
    pub fn exit_time_from(
        &self,
        reference_position: &Vector3<f64>,
        neighbourhood_radius: f64,
        trajectory: &Trajectory,
        i: usize,
        t: f64,
    ) -> f64 {
        let radius = self.particles.radius(i);
        let allowed = neighbourhood_radius - radius * self.scale_at(t);
        let shrinking = radius * self.settings.growth;
        let displacement = trajectory.at(t) - reference_position;
        t + spheres::exit_time(&displacement, &trajectory.velocity, allowed, shrinking)
    }

    /// The reference position that a body takes if it leaves its neighbourhood at a time.
    pub fn reference_at(&self, i: usize, t: f64) -> Reference {
        self.neighbourhoods.reference_at(&self.particles, i, t, self.scale_at(t))
    }

    /// The neighbourhood that a body will have if it leaves its own at a time.
    pub fn find_neighbourhood(&self, i: usize, t: f64, new: &mut NewNeighbourhood) {
        new.reference = self.reference_at(i, t);
        self.neighbourhoods.find(&self.particles, &self.world, i, self.scale_at(t), new, |_| true);
    }

    /// Makes all neighbour lists from the reference positions, and begins the surface paths.
    pub fn rebuild_lists(&mut self, t: f64) {
        let scale = self.scale_at(t);
        self.particles.start_paths(t);
        self.neighbourhoods.rebuild(&mut self.particles, &self.world, scale);
    }

    /// Stores a body at a reference position.
    pub fn set_reference(&mut self, i: usize, reference: &Reference) {
        let particles = &mut self.particles;
        for (boxes, outside) in particles.boxes[i].iter_mut().zip(reference.outside) {
            *boxes = boxes.saturating_add(outside);
        }
        let trajectory = &mut particles.kinematics[i].trajectory;
        (trajectory.position, trajectory.since) = (reference.position, reference.since);
        let data = &mut particles.event_data[i];
        data.reference_position = reference.position;
        data.neighbourhood_radius = reference.neighbourhood_radius;
    }

    /// The length of an epoch: a power of two near a fixed number of times in which a body passes its own size.
    pub fn epoch_length(&self) -> f64 {
        let particles = &self.particles;
        let (mut radius, mut square, mut count) = (0.0, 0.0, 0.0);
        for i in 0..particles.len() {
            let class = particles.class(i);
            if !class.can_collide || class.is_fixed() {
                continue;
            }
            let spin = particles.rotations.get(i).speed() * particles.radius(i);
            radius += particles.radius(i);
            square += particles.trajectory(i).velocity.norm_squared() + spin * spin;
            count += 1.0;
        }
        let speed = (square / count).sqrt();
        let passage = radius / count / speed;
        if !(passage.is_finite() && passage > 0.0) {
            return 1.0;
        }
        Clock::length_for(passage)
    }

    /// Bytes allocated for the bodies.
    pub fn bytes(&self) -> usize {
        let each = size_of::<Body>() + size_of::<f64>();
        self.particles.len() * each + self.particles.bytes() + self.neighbourhoods.bytes()
    }
}
