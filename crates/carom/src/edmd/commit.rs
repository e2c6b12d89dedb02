//! Committing events as they were speculated.

use super::contact_pair::ContactPair;
use super::speculate::SpeculativeEvent;
use super::{Cause, Edmd};
use crate::record::Recorder;

impl Edmd {
    /// A body re-predicts.
    pub(super) fn commit_repredict(&mut self, i: usize, event: &mut SpeculativeEvent) {
        self.clear_next_event(i);
        self.commit_predictions(event);
        self.buffers.close.clear();
    }

    /// A body leaves its neighbourhood.
    pub(super) fn commit_leave(&mut self, i: usize, event: &mut SpeculativeEvent) {
        self.relocate(i, &event.moved);
        self.commit_predictions(event);
        self.buffers.close.clear();
    }

    /// Two sides touch; together with other contacts at the same time they are resolved as a cluster instead.
    pub(super) fn commit_contact(
        &mut self,
        pair: &ContactPair,
        [sinks, by_contact_time]: [bool; 2],
        t: f64,
        event: &mut SpeculativeEvent,
        recorder: &mut impl Recorder,
    ) {
        let closes = event.closes;
        if closes
            && !event.findings.close.is_empty()
            && self.system.settings.growth == 0.0
            && self.resolve_cluster(pair, t, recorder)
        {
            return;
        }
        for changed in event.changed.drain(..event.cluster.bodies.len()) {
            let i = changed.body as usize;
            self.clear_next_event(i);
            let particles = &mut self.system.particles;
            if closes && !particles.class(i).is_fixed() {
                particles.kinematics[i].trajectory = changed.kinematics.trajectory;
                particles.event_data[i].last_collision = t;
                if particles.nonspherical {
                    particles.surface_paths[i] = changed.surface_path;
                }
                if let Some(at) = changed.rotation {
                    particles.rotations.set(i, &event.rotations[at]);
                }
            }
        }
        if sinks && !closes {
            self.fail(pair, Cause::Unsupported);
        }
        self.commit_predictions(event);
        self.buffers.close.clear();
        let monitor = &mut self.monitor;
        if closes {
            monitor.counts.elastic += u64::from(by_contact_time);
            monitor.record_impact(&self.system, &event.cluster, t, recorder);
        } else {
            monitor.ledger.note_gap(event.cluster.contacts[0].found.gap, monitor.counts.events);
            monitor.counts.grazes += 1;
        }
    }

    fn commit_predictions(&mut self, event: &mut SpeculativeEvent) {
        self.monitor.counts.predictions += event.next_events.len() as u64;
        self.take_findings(&mut event.findings);
        for (body, next) in event.next_events.drain(..) {
            self.schedule(body as usize, next);
        }
    }
}
