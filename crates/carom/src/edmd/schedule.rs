//! Predicting a body's next event and entering it into the queue.

use super::calendar::QueueEntry;
use super::next_event::{NextEvent, PLANE};
use super::overlay::Overlay;
use super::predict::Parted;
use super::search::Findings;
use super::{Cause, Edmd, index};

impl Edmd {
    /// Predicts a body's next event, and schedules it. Neighbours in `parted` have just been touched and part.
    #[inline]
    pub(super) fn predict(&mut self, i: usize, t: f64, parted: &[Parted]) {
        self.monitor.counts.predictions += 1;
        let system = &self.system;
        let is_general =
            system.particles.nonspherical || system.settings.growth != 0.0 || !system.world.planes.is_empty();
        if !is_general {
            let (quadratics, close) = (&mut self.buffers.quadratics, &mut self.buffers.close);
            let next = match system.particles.common_radius {
                Some(_) => system.next_sphere_event::<true>(i, t, parted, quadratics, close),
                None => system.next_sphere_event::<false>(i, t, parted, quadratics, close),
            };
            if let Some(next) = next {
                self.schedule(i, next);
            }
            return;
        }
        let mut findings = std::mem::take(&mut self.buffers.findings);
        let next = Overlay::new(system).next_event(i, t, parted, &mut findings);
        self.take_findings(&mut findings);
        self.buffers.findings = findings;
        if let Some(next) = next {
            self.schedule(i, next);
        }
    }

    /// Takes what a prediction found besides the next event.
    pub(super) fn take_findings(&mut self, findings: &mut Findings) {
        let counts = &mut self.monitor.counts;
        counts.searches += std::mem::take(&mut findings.searches);
        counts.gaps += std::mem::take(&mut findings.gaps);
        let deepest = std::mem::take(&mut findings.deepest_overlap);
        if deepest > 0.0 {
            self.monitor.ledger.note_gap(-deepest, counts.events);
        }
        let lists = &mut self.system.neighbourhoods.lists;
        for bound in findings.displacement_bounds.drain(..) {
            let list = self.system.particles.event_data[bound.body as usize].list;
            lists.set_displacement_bound(list, bound.entry, bound.path_length);
        }
        self.buffers.close.append(&mut findings.close);
        if let Some((body, partner, image)) = findings.failed.take() {
            let pair = self.system.pair(body as usize, partner, image);
            self.fail(&pair, Cause::Search);
        }
    }

    /// Gives a body a next event, and its partner the same.
    #[inline]
    pub(super) fn schedule(&mut self, i: usize, event: NextEvent) {
        self.set_next_event(i, event);
        if event.partner < PLANE {
            let image = self.system.opposite(event.image);
            self.set_next_event(event.partner as usize, NextEvent { partner: index(i), image, ..event });
        }
    }

    /// Gives a body a next event, and enters it into the queue.
    #[inline]
    pub(super) fn set_next_event(&mut self, i: usize, event: NextEvent) {
        self.system.particles.set_next_event(i, event);
        self.changes.mark_body(i);
        let entry = QueueEntry { time: event.time, body: index(i), partner: event.partner };
        self.queue.insert(entry, &self.system.particles.kinematics);
    }

    /// Takes a body's next event away.
    #[inline]
    pub(super) fn clear_next_event(&mut self, i: usize) {
        self.system.particles.set_next_event(i, NextEvent::NEVER);
        self.changes.mark_body(i);
    }

    /// Rebuilds the queue for the present events.
    pub(super) fn rebuild_queue(&mut self) {
        let event_data = &self.system.particles.event_data[..];
        let kinematics = &self.system.particles.kinematics;
        self.queue.rebuild(self.system.clock.now, kinematics, |i| event_data[i].partner);
    }
}
