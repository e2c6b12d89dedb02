//! New reference positions: of a body that leaves its neighbourhood, and of all bodies when they are reordered.

use nalgebra::Vector3;

use super::contact_pair::ContactPair;
use super::grid::morton_order;
use super::neighbourhood::NewNeighbourhood;
use super::next_event::{NextEvent, PLANE, REPREDICT};
use super::storage::Trajectory;
use super::{Cause, Edmd, InvalidStart, index};
use crate::contact::Side;
use crate::run::tolerances::TOUCHING;

impl Edmd {
    /// A body leaves its neighbourhood: it gets a new list, and is put back into the box.
    pub(super) fn leave_neighbourhood(&mut self, i: usize, t: f64) {
        let mut new = std::mem::take(&mut self.buffers.event.moved);
        self.system.find_neighbourhood(i, t, &mut new);
        self.relocate(i, &new);
        self.buffers.event.moved = new;
        self.predict(i, t, &[]);
        self.buffers.close.clear();
    }

    /// Puts a body into its new neighbourhood.
    pub(super) fn relocate(&mut self, i: usize, new: &NewNeighbourhood) {
        self.monitor.counts.moves += 1;
        self.clear_next_event(i);
        let number = index(i);
        let changes = &mut self.changes;
        changes.mark_cell(self.system.neighbourhoods.grid.remove(i));
        for k in 0..self.system.neighbours(i).len() {
            let neighbour = self.system.neighbours(i)[k];
            if neighbour.partner < PLANE {
                let partner = neighbour.partner as usize;
                let image = self.system.opposite(neighbour.image);
                let list = &mut self.system.particles.event_data[partner].list;
                self.system.neighbourhoods.lists.remove(list, number, image);
                changes.mark_list(partner);
            }
        }
        self.system.particles.event_data[i].list.clear();
        self.system.set_reference(i, &new.reference);
        let (neighbourhoods, particles) = (&mut self.system.neighbourhoods, &mut self.system.particles);
        changes.mark_cell(neighbourhoods.grid.insert(i, &new.reference.position));
        for neighbour in &new.neighbours {
            neighbourhoods.add(particles, i, *neighbour);
            if neighbour.partner < PLANE {
                changes.mark_list(neighbour.partner as usize);
            }
        }
        if neighbourhoods.lists.is_fragmented() {
            neighbourhoods.lists.compact(particles.event_data.iter_mut().map(|data| &mut data.list));
        }
    }

    /// Sorts all bodies along a space-filling curve, takes their present positions as reference positions, and makes all lists. Next events
    /// remain: the old lists were valid up to them. But a body may leave its new neighbourhood sooner than it would have left the old one.
    #[cold]
    pub(super) fn reorder(&mut self) {
        self.changes.begin_round();
        let t = self.system.clock.now;
        let bodies = self.system.particles.len();
        // Images will get new numbers, so those of events are remembered as boxes.
        let event_boxes: Vec<[i32; 3]> = (0..bodies).map(|i| self.event_image(i)).collect();
        let scale = self.system.scale_at(t);
        let system = &mut self.system;
        system.neighbourhoods.choose_skin(&system.particles, &system.world, t, scale);
        let boxes = system.particles.boxes.clone();
        for i in 0..bodies {
            let (reference, trajectory) = (system.reference_at(i, t), *system.particles.trajectory(i));
            system.set_reference(i, &reference);
            // The trajectory continues from where it began.
            let position = trajectory.position - system.neighbourhoods.images.displacement(reference.outside);
            let trajectory = Trajectory { position, ..trajectory };
            system.particles.kinematics[i].trajectory = trajectory;
            system.particles.event_data[i].reference_position = trajectory.at(t);
        }
        self.renumber_images(&boxes, &event_boxes);
        let particles = &mut self.system.particles;
        let positions: Vec<Vector3<f64>> =
            particles.event_data.iter().map(|data| data.reference_position).collect();
        particles.reorder(&morton_order(&positions));
        self.system.rebuild_lists(t);
        for i in 0..bodies {
            let time = self.system.exit_time(self.system.particles.trajectory(i), i, t);
            let particles = &mut self.system.particles;
            if particles.class(i).can_collide && time < particles.kinematics[i].event_time {
                particles.set_next_event(i, NextEvent::leave(time));
            }
        }
        self.rebuild_queue();
    }

    /// By how many boxes the image of a body's event is displaced.
    fn event_image(&self, i: usize) -> [i32; 3] {
        let event = self.system.particles.next_event(i);
        if event.partner < PLANE { self.system.neighbourhoods.images.boxes(event.image) } else { [0; 3] }
    }

    /// Gives the images of events their new numbers after bodies were put back into the box. `before` are the bodies' boxes before that,
    /// `event_boxes` the displacements of the images.
    fn renumber_images(&mut self, before: &[[i32; 3]], event_boxes: &[[i32; 3]]) {
        let particles = &mut self.system.particles;
        let boxes = &particles.boxes;
        let moved = |body: usize| core::array::from_fn::<i32, 3, _>(|i| boxes[body][i] - before[body][i]);
        for (i, data) in particles.event_data.iter_mut().enumerate() {
            if data.partner >= PLANE {
                continue;
            }
            let (own, other) = (moved(i), moved(data.partner as usize));
            let boxes = core::array::from_fn(|k| event_boxes[i][k] + other[k] - own[k]);
            // If the image is not in the table, the body re-predicts at the time of the event.
            match self.system.neighbourhoods.images.number(boxes) {
                Some(image) => data.image = image,
                None => data.partner = REPREDICT,
            }
        }
    }

    /// The pairs that overlap at the start by more than counts as touching.
    pub(super) fn overlaps(&mut self) -> Vec<InvalidStart> {
        let mut invalid = Vec::new();
        let system = &self.system;
        let t = system.clock.now;
        for i in 0..system.particles.len() {
            for neighbour in system.neighbours(i) {
                if neighbour.partner < PLANE && neighbour.partner < index(i) {
                    continue;
                }
                let pair = system.pair(i, neighbour.partner, neighbour.image);
                let Some(gap) = system.near_gap(&pair, t, TOUCHING) else { continue };
                self.monitor.ledger.note_gap(gap, 0);
                let [first, second] = system.sides(&pair);
                let Side::Body(second) = second else { continue };
                if gap.is_nan() {
                    invalid.push(InvalidStart::Motion { body: second });
                } else if gap < -TOUCHING * system.pair_size(&pair, t) {
                    invalid.push(InvalidStart::Overlap { first, second, depth: -gap });
                }
            }
        }
        invalid.sort_by_key(|fault| match fault {
            InvalidStart::BoxTooShort { body } | InvalidStart::Motion { body } => (*body, 0),
            InvalidStart::Overlap { first: Side::Body(first), second, .. } => (*first, *second),
            InvalidStart::Overlap { first: Side::Plane(first), second, .. } => (*second, *first),
            // There are no joints here.
            _ => (0, 0),
        });
        invalid
    }

    /// Stops the run because a pair cannot be followed.
    pub(super) fn fail(&mut self, pair: &ContactPair, cause: Cause) {
        self.monitor.fail(self.system.time(), self.system.sides(pair), cause);
    }
}
