//! Encounters that do not stay a sequence of a few impacts: run from their start by the general engine, until the balls about the bodies are
//! apart and recede.

use super::Scattering;
use super::encounter::Encounter;
use super::sample::End;
use crate::body::State;
use crate::record::{Event, Recorder};
use crate::scene::model::RunSettings;
use crate::simulation::Simulation;

/// The most events of one encounter.
const MOST_EVENTS: usize = 100_000;

/// The encounter is looked at after times that double, at most so often: bodies that are still together then stay unresolved.
const LOOKS: i32 = 16;

/// Sums the moments of impulses.
#[derive(Default)]
struct Virial(f64);

impl Recorder for Virial {
    fn events(&mut self, events: &[Event]) {
        self.0 += events.iter().map(|event| event.impulse_vector.dot(&event.between)).sum::<f64>();
    }

    fn samples(&mut self, _: &[crate::record::Sample]) {}

    fn wants_states(&self) -> bool {
        false
    }
}

impl Scattering {
    /// Runs a sample anew by the general engine.
    pub(super) fn continued(&self, encounter: &mut Encounter) {
        let Encounter { sample, speed, .. } = encounter;
        let start = sample.before;
        sample.continued = true;
        sample.end = End::Unresolved;
        (sample.impacts, sample.after) = (0, start);
        (sample.virial, sample.work, sample.audit_error) = (0.0, 0.0, 0.0);
        // The first look comes when bodies that miss have parted.
        let first = 4.0 * self.setup.reach / *speed;
        let settings = RunSettings {
            until: first * f64::exp2(f64::from(LOOKS)),
            max_events: MOST_EVENTS,
            sample: 0.0,
            record_events: false,
            ..RunSettings::default()
        };
        let Ok(mut simulation) = Simulation::new(self.world.clone(), &start, settings) else { return };
        let mut virial = Virial::default();
        for look in 0..LOOKS {
            let pause = first * f64::exp2(f64::from(look));
            while simulation.step_to(pause, &mut virial) {}
            let &[one, two] = &simulation.states()[..] else { return };
            sample.after = [one, two];
            if simulation.stopped().is_some() {
                break;
            }
            if self.are_apart(&sample.after) {
                sample.end = End::Parted;
                break;
            }
        }
        let counts = simulation.counts();
        sample.impacts = u32::try_from(counts.impacts).unwrap_or(u32::MAX);
        sample.virial = virial.0;
        let audit = simulation.audit();
        sample.audit_error = [audit.impulse_error_max, audit.points_error_max, audit.restitution_error_max]
            .into_iter()
            .map(|worst| worst.value)
            .fold(0.0, f64::max);
        // Bodies that roll on each other lose what their impacts lost: the run's ledger has the rest.
        let energy = |states: &[State; 2]| -> f64 {
            (0..2).map(|i| self.world.bodies[i].kinetic_energy(&states[i])).sum()
        };
        let change = energy(&sample.after) - energy(&start);
        sample.work = change + audit.energy_error_max.value * energy(&start);
        if sample.impacts == 0 && sample.end == End::Parted && counts.grazes == 0 && counts.holds == 0 {
            sample.end = End::Missed;
            sample.contact_time = None;
            sample.ahead = 0.0;
        }
    }

    /// Whether the balls about the bodies are apart and recede.
    fn are_apart(&self, states: &[State; 2]) -> bool {
        let x = states[1].position - states[0].position;
        let v = states[1].velocity - states[0].velocity;
        x.norm() > self.setup.reach && x.dot(&v) > 0.0
    }
}
