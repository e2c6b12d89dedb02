//! What else is to be said of a resolved impact, in sentences that name contacts and bodies.

use carom::impact::Note;
use carom::scene::instant::name;
use nalgebra::Vector3;

use super::Solved;
use crate::start::tied_overlaps;
use crate::words::{number, vector};

impl Solved<'_> {
    /// The notes of the outcome, with contacts by name.
    pub fn notes(&self) -> Vec<String> {
        // What rough contacts need is said below, rolling joints included.
        let own = |note: &&Note| !matches!(note, Note::FrictionDemand { .. });
        let mut notes: Vec<String> =
            self.result.outcome.notes.iter().filter(own).map(|note| self.by_name(note)).collect();
        if self.prepared.instant.detected {
            notes.extend(self.detection_note());
        }
        notes.extend(tied_overlaps(self.scene()));
        let needed = self.demand.reported.iter().filter(|(_, needed)| *needed > 1.0);
        let these = if self.result.outcome.impulse_unique { "" } else { ", for the impulses given" };
        for (grip, needed) in needed {
            notes.push(if needed.is_finite() {
                format!(
                    "{} would need a friction coefficient of {}{these}; real surfaces seldom exceed 1",
                    self.grip(*grip),
                    number(*needed),
                )
            } else {
                format!(
                    "{} is loaded along the tangent without a normal push{these}: no friction does that",
                    self.grip(*grip)
                )
            });
        }
        if let Some(least) = self.demand.least
            && !self.demand.reported.is_empty()
        {
            notes.push(if least.is_finite() {
                format!(
                    "the impulses can be shared differently, but no sharing does with a friction coefficient below {least:.6}"
                )
            } else {
                "no sharing of the impulses lets every grip push: the floor or wall would have to pull".to_string()
            });
        }
        notes
    }

    /// Row numbers mean nothing to a user who wrote bodies: contacts are called by name.
    fn by_name(&self, note: &Note) -> String {
        match note {
            Note::PoissonNotUnique { other } => {
                return format!(
                    "Poisson's law does not determine the velocities: dependent contacts with unequal restitution share the compression in more than one way, and another way gives {}",
                    self.motions(other)
                );
            }
            Note::OrderMatters { other } => {
                return format!(
                    "the answer depends on the order of the contacts, which the rigid model does not decide; another order gives {}",
                    self.motions(other)
                );
            }
            _ => {}
        }
        note.describe(&|row| self.row_name(row))
    }

    /// Generalised velocities, by body; of many bodies the first.
    fn motions(&self, velocity: &[f64]) -> String {
        const SHOWN: usize = 3;
        let (scene, assembly) = (self.scene(), &self.prepared.assembly);
        let moving =
            scene.bodies.iter().zip(&assembly.coordinates).filter_map(|(body, at)| at.map(|at| (body, at)));
        let mut words: Vec<String> = moving
            .clone()
            .take(SHOWN)
            .map(|(body, at)| {
                let part = |at: usize| vector(&Vector3::from_column_slice(&velocity[at..at + 3]), 1.0);
                format!("{} velocity {}, angular velocity {}", body.name, part(at), part(at + 3))
            })
            .collect();
        if moving.clone().count() > SHOWN {
            words.push("…".to_string());
        }
        words.join("; ")
    }

    fn detection_note(&self) -> Option<String> {
        let scene = self.scene();
        self.prepared.instant.nearest.map(|(sides, gap)| {
            let [first, second] = sides.map(|side| name(scene, side));
            format!("nothing touches: the nearest are `{first}` and `{second}`, {} apart", number(gap))
        })
    }
}
