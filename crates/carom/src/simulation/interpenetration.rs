//! Bodies that pass into one another at a paradox, as asked, until they are apart again.

use super::Simulation;
use super::queue::{Due, Pair};
use super::resolution::{ContactResolution, Outcome};
use crate::contact::classify::Type;
use crate::record::Recorder;

impl Simulation {
    /// Bodies that overlap, as asked, are apart again at some time: looks for it, and notes how deep they are.
    pub(super) fn await_exit(&mut self, pair: Pair, t: f64) {
        let end = self.clock.local(self.settings.until);
        let speed = self.speed(&pair, |body| self.state(body, t));
        let step = self.size(&pair) / speed / 64.0;
        if step <= 0.0 || !step.is_finite() {
            return;
        }
        let Some((exit, deepest)) = self.exit_of(&pair, t, end, step) else { return };
        self.ledger.see_passing(deepest, self.counts.events);
        let Some(exit) = exit else { return };
        self.push(exit, Due::Part(pair), self.versions(&pair));
    }

    /// When an overlap ends, by steps and bisection, and the deepest gap seen before.
    fn exit_of(&self, pair: &Pair, t: f64, end: f64, step: f64) -> Option<(Option<f64>, f64)> {
        let gap_at = |time: f64| self.gap_between(pair, |body| self.state(body, time)).map(|found| found.gap);
        let (mut low, mut deepest) = (t, 0.0_f64);
        let mut high = loop {
            if low >= end {
                return Some((None, deepest));
            }
            let time = low + step;
            let gap = gap_at(time)?;
            deepest = deepest.min(gap);
            // In its first moments an overlap may be too shallow to be seen.
            if gap > 0.0 && low > t {
                break time;
            }
            low = time;
        };
        loop {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                return Some((Some(high), deepest));
            }
            if gap_at(middle)? > 0.0 { high = middle } else { low = middle }
        }
    }

    /// Bodies that had passed into one another are apart.
    pub(super) fn exit(&mut self, pair: Pair, t: f64, recorder: &mut impl Recorder) {
        self.standing.remove(&pair);
        let cluster = self.cluster(t, &[(pair, f64::EPSILON * self.clock.length)]);
        self.advance_clock(t);
        let mut resolution = ContactResolution::new(Outcome::Parts, Type::Separating);
        resolution.exits = true;
        let resolutions = vec![resolution; cluster.contacts.len()];
        self.record(&cluster, false, &resolutions, t, recorder);
        self.search_parting(pair, t);
        self.audit_now_and_then();
    }
}
