//! How a body moves now: freely, or held in a group; and where that puts it.

use nalgebra::Vector3;

use super::Simulation;
use super::queue::{Pair, PairSide};
use crate::body::State;
use crate::motion::Flight;

/// How a body moves now.
#[derive(Debug, Clone)]
pub(super) struct BodyMotion {
    pub course: Trajectory,
    /// The time, since the epoch, at which the course begins.
    pub since: f64,
    /// Goes up whenever the course changes.
    pub version: u32,
    /// How many boxes the body has been put back by, in all.
    pub boxes: [i32; 3],
}

/// A course.
#[derive(Debug, Clone)]
pub(super) enum Trajectory {
    /// Freely.
    Flight(Box<Flight>),
    /// In contact, as this member of this group.
    Held { group: u32, member: u32 },
}

impl Simulation {
    pub(super) fn states_at(&self, t: f64) -> Vec<State> {
        (0..self.motions.len()).map(|body| self.unwrapped(body, t)).collect()
    }

    /// A body's state, in the box where its course began.
    pub(super) fn state(&self, body: usize, t: f64) -> State {
        let motion = &self.motions[body];
        match &motion.course {
            Trajectory::Flight(flight) => flight.at(t - motion.since),
            Trajectory::Held { group, member } => self.held_state(*group, *member, t),
        }
    }

    pub(super) fn unwrapped(&self, body: usize, t: f64) -> State {
        let mut state = self.state(body, t);
        state.position -= self.world.boxes(self.motions[body].boxes);
        state
    }

    pub(super) fn versions(&self, pair: &Pair) -> [u32; 2] {
        let first = match pair.first {
            PairSide::Plane(_) => 0,
            PairSide::Body(body) => self.motions[body as usize].version,
        };
        [first, self.motions[pair.second as usize].version]
    }

    /// Sets a body on a free course from a state, put back into the box.
    pub(super) fn launch(&mut self, body: usize, state: &State, t: f64) {
        let flight = self.world.flight(body, state);
        let motion = &mut self.motions[body];
        motion.course = Trajectory::Flight(Box::new(flight));
        motion.since = t;
        motion.version = motion.version.wrapping_add(1);
        self.wrap(body);
    }

    /// Puts a flying body back into the box, by whole boxes, at the start of its course.
    pub(super) fn wrap(&mut self, body: usize) {
        let Some(lengths) = self.world.periodic else { return };
        // Tied bodies stay together, wherever that is.
        if self.world.constrained(body) {
            return;
        }
        let motion = &mut self.motions[body];
        let Trajectory::Flight(flight) = &motion.course else { return };
        let mut start = *flight.start();
        let mut moved = false;
        for i in 0..3 {
            if lengths[i] > 0.0 {
                let boxes = (start.position[i] / lengths[i]).floor();
                if boxes != 0.0 {
                    moved = true;
                    start.position[i] -= boxes * lengths[i];
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "boxes crossed are counted in 32 bits"
                    )]
                    let whole = boxes as i32;
                    motion.boxes[i] = motion.boxes[i].saturating_sub(whole);
                }
            }
        }
        if moved {
            let flight = self.world.flight(body, &start);
            motion.course = Trajectory::Flight(Box::new(flight));
        }
    }

    /// The displacement of the second body of a pair.
    pub(super) fn displacement(&self, pair: &Pair) -> Vector3<f64> {
        self.world.boxes(pair.image)
    }
}
