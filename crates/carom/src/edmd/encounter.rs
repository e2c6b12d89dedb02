//! Contacts of an impact that is resolved from the states of its bodies, and whether they close.

use nalgebra::Vector3;

use super::contact_pair::ContactPair;
use super::next_event::PLANE;
use super::system::System;
use crate::collision;
use crate::contact::Side;
use crate::contact::kinematics::{Facing, Moving, kinematics};
use crate::motion::Derivatives;
use crate::run::tolerances::{GAP_ROUNDING, STILL};

/// An approach faster than this share of the speeds is no graze: however the bodies curve, the gap changes by more than rounding.
const GRAZING: f64 = 1e-5;

pub(super) type Encounter = collision::ClusterContact<ContactPair>;

pub(super) type Cluster = collision::Cluster<ContactPair>;

impl System {
    /// Adds the bodies of a pair to a cluster.
    pub fn add_bodies(&self, cluster: &mut Cluster, pair: &ContactPair, t: f64) {
        for i in [pair.first, pair.second] {
            if i >= PLANE {
                continue;
            }
            let body = self.particles.scene_index(i as usize);
            if !cluster.bodies.contains(&body) {
                let state = self.state(i as usize, t);
                cluster.bodies.push(body);
                cluster.before.push(state);
                cluster.after.push(state);
            }
        }
    }

    /// The contact of a pair whose bodies are in a cluster; `None` if the gap could not be computed.
    pub fn encounter(&self, pair: &ContactPair, t: f64, cluster: &Cluster) -> Option<Encounter> {
        let state = |i: u32| cluster.before[cluster.place(self.particles.scene_index(i as usize))];
        let found = self.gap_of(pair, t, &state)?;
        let [first, second] =
            if pair.first >= PLANE { [found.points[1], found.points[0]] } else { found.points };
        let shift = self.shift(pair.image);
        let there = state(pair.second);
        let arm = second - there.position - shift;
        let mut speed = found.normal.dot(&(there.velocity + there.angular_velocity.cross(&arm)));
        let mut extent = found.normal.dot(&arm);
        if pair.first < PLANE {
            let here = state(pair.first);
            let arm = first - here.position;
            speed -= found.normal.dot(&(here.velocity + here.angular_velocity.cross(&arm)));
            extent -= found.normal.dot(&arm);
        }
        let growing = -extent * self.settings.growth / self.scale_at(t);
        let approach = speed - growing;
        let response = self.response(pair, t);
        Some(Encounter {
            key: *pair,
            sides: self.sides(pair),
            image: self.neighbourhoods.images.boxes(pair.image),
            shift: *shift,
            found,
            restitution: response.restitution,
            surface: response.surface,
            growing,
            approach,
            separation: approach,
            impulse: 0.0,
            impulse_vector: Vector3::zeros(),
            by_joint: false,
        })
    }

    /// A bound on the speeds of the surfaces of a pair before an impact.
    pub fn surface_speed(&self, pair: &ContactPair, cluster: &Cluster) -> f64 {
        let of = |i: u32| {
            if i >= PLANE {
                return 0.0;
            }
            let i = i as usize;
            let state = &cluster.before[cluster.place(self.particles.scene_index(i))];
            let growth = self.settings.growth.abs();
            state.velocity.norm() + (state.angular_velocity.norm() + growth) * self.particles.radius(i)
        };
        of(pair.first) + of(pair.second)
    }

    /// Whether a contact closes by more than rounding, of its velocities and of its gap. Bodies that part by themselves before the gap has
    /// changed by its rounding graze.
    pub fn closes(&self, contact: &Encounter, cluster: &Cluster) -> bool {
        let speed = self.surface_speed(&contact.key, cluster);
        contact.approach < -STILL * speed
            && (contact.approach < -GRAZING * speed || !self.grazes(contact, cluster))
    }

    /// Whether g'² < 2 g'' times the rounding of the gap.
    #[cold]
    fn grazes(&self, contact: &Encounter, cluster: &Cluster) -> bool {
        if self.settings.growth != 0.0 {
            return false;
        }
        let moving = |body: usize, shift: &Vector3<f64>| {
            let (constants, mut state) = (&self.world.bodies[body], cluster.before[cluster.place(body)]);
            let derivatives = Derivatives::new(constants, &state, &self.world.gravity);
            state.position += shift;
            Moving { shape: &constants.shape, state, derivatives }
        };
        let [first, Side::Body(second)] = contact.sides else { return false };
        let first = match first {
            Side::Plane(k) => Facing::Plane(&self.world.planes[k]),
            Side::Body(body) => Facing::Body(moving(body, &Vector3::zeros())),
        };
        let g2 = kinematics(&first, &moving(second, &contact.shift), &contact.found).g2;
        let rounding = GAP_ROUNDING * (self.pair_size(&contact.key, 0.0) + contact.point().norm());
        contact.approach * contact.approach < 2.0 * rounding * g2
    }
}
