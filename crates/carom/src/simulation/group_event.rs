//! Events of groups: a dense-output step ends, a contact separates because its force has returned to zero, a rolling joint begins to
//! slip.

use super::Simulation;
use super::formation::{Component, GroupFailure};
use super::groups::History;
use super::pair::Pair;
use super::persistent::Persistence;
use crate::flow::{Ending, Mode, Obstacle};
use crate::record::Recorder;
use crate::watch::Task;

impl Simulation {
    /// Forms a group, and predicts the end of its first step.
    pub(super) fn form_group(
        &mut self,
        component: Component,
        history: &History,
        t: f64,
    ) -> Result<(), GroupFailure> {
        let bodies = component.bodies.clone();
        self.begin_work(Task::Motion, &bodies, t);
        let pairs: Vec<Pair> = component.contacts.iter().map(|(pair, _)| *pair).collect();
        let formed = self.dynamics.form_group(component, history, t);
        let (number, change) = formed.map_err(|obstacle| GroupFailure::new(&bodies, &pairs, obstacle))?;
        self.books.ledger.book_energy(change, self.books.counts.events);
        let group = self.dynamics.groups.named(number);
        self.books.book_stopped_slips(group);
        self.books.unbalanced |= group.is_external(&self.dynamics.world);
        self.predictor.push_step_end(&self.dynamics, number);
        Ok(())
    }

    /// Handles the end of a group's step: a contact separates, or the group goes on with its next step.
    pub(super) fn step_end_event(&mut self, number: u32, recorder: &mut impl Recorder) {
        let Some(group) = self.dynamics.groups.get(number) else { return };
        let t = group.end();
        if group.stepping.is_some() {
            return self.time_step_end(number, recorder);
        }
        if let Ending::LiftOff { contact, time_error } = group.step.ending {
            let pair = group.pairs[contact];
            let cluster = self.gather(t, &[(pair, time_error)]);
            self.advance_clock(t);
            self.resolve_event(cluster, t, Some(pair), recorder);
            return;
        }
        self.begin_work(Task::Motion, &group.bodies, t);
        self.books.book_work(&mut self.dynamics, number, t);
        self.books.note_drift(&self.dynamics, number);
        let clock = &mut self.dynamics.clock;
        clock.now = clock.now.max(t);
        let advanced = if self.dynamics.groups.makes_headway(&self.dynamics.clock, self.dynamics.until) {
            self.dynamics.advance_group(number)
        } else {
            Err(Obstacle::Endless)
        };
        let Some(group) = self.dynamics.groups.get(number) else { return };
        if let Err(obstacle) = advanced {
            let GroupFailure { sides, cause } = GroupFailure::new(&group.bodies, &group.pairs, obstacle);
            let bodies: Vec<usize> = group.bodies.iter().map(|&body| body as usize).collect();
            return self.trouble(&bodies, t, sides, cause);
        }
        self.books.book_stopped_slips(group);
        let bodies = group.bodies.clone();
        self.predictor.push_step_end(&self.dynamics, number);
        for body in bodies.into_iter().map(|body| body as usize) {
            if !self.dynamics.world.bodies[body].fixed {
                self.predictor.predict_body(&self.dynamics, &mut self.books, body, t, &[]);
                for (pair, persistence) in self.dynamics.contacts.of(body) {
                    if persistence == Persistence::Inactive {
                        self.predictor.monitor(&self.dynamics, pair, t);
                    }
                }
            }
        }
        self.release_slipping(t, recorder);
    }

    /// Releases the rolling joints whose contacts begin to slip where a step begins.
    pub(super) fn release_slipping(&mut self, t: f64, recorder: &mut impl Recorder) {
        let slips = |pair: &&Pair| {
            let mode = self.dynamics.active(pair).and_then(|(group, k)| group.step.modes().get(k));
            matches!(mode, Some(Mode::Slip { .. }))
        };
        let slipping: Vec<Pair> = self.dynamics.rolling.keys().filter(slips).copied().collect();
        for pair in slipping {
            self.dynamics.rolling.remove(&pair);
            let cluster = self.gather(t, &[(pair, 0.0)]);
            let Some(contact) = cluster.contacts.iter().find(|contact| contact.key.pair == pair) else {
                continue;
            };
            self.advance_clock(t);
            self.books.record_slip(&self.dynamics, &cluster, contact, t, recorder);
        }
    }
}
