//! The impact at a scene's instant.

mod document;
mod notes;
mod screws;

use carom::audit::{Audit, audit};
use carom::impact::demand::{Demand, Grip, demand};
use carom::impact::mechanism::{Assembly, BodyOutcome};
use carom::impact::{Options, Order};
use carom::scene::Diagnostic;
use carom::scene::instant::{Finding, Instant};
use carom::scene::model::Scene;

use crate::options::TOUCHING;
use crate::overlap::{self, Overlap};
use crate::resolution;
use crate::rolling::off_plane;
use crate::words::number;
use crate::{InputError, Resolution, Subject, Verdict};

pub use document::Document;
pub use screws::{Line, Screws, Tied};

/// A scene whose contacts are found.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The scene and its text.
    pub subject: Subject,
    /// The bodies, joints and contacts.
    pub instant: Instant,
    /// The same as rows.
    pub assembly: Assembly,
}

impl Prepared {
    /// Finds a scene's contacts; `touching` is how close, relative to the sizes of two bodies, counts as touching.
    pub fn of(subject: Subject, touching: f64) -> Result<Self, InputError> {
        TOUCHING.check("touching", touching)?;
        let instant = match Instant::of(&subject.scene, touching) {
            Ok(instant) => instant,
            Err(findings) => return Err(refuse(&subject, &findings)),
        };
        let assembly = instant.mechanism().assemble();
        Ok(Self { subject, instant, assembly })
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.subject.scene
    }

    /// The options of the scene and the question; an order by numbers is one of contacts.
    pub fn options(&self, resolution: &Resolution) -> Result<Options, InputError> {
        let impact = &self.subject.scene.impact;
        let mut options = Options { law: impact.law, termination: impact.termination, ..Options::default() };
        resolution.adjust(&mut options)?;
        if let Some(order) = &resolution.order {
            options.order = match order {
                Order::Rows(numbers) => Order::Rows(self.rows_of(numbers)?),
                other => other.clone(),
            };
        }
        Ok(options)
    }

    fn rows_of(&self, numbers: &[usize]) -> Result<Vec<usize>, InputError> {
        let count = self.assembly.contact_rows.len();
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        if sorted != (0..count).collect::<Vec<_>>() {
            let message = format!("is not an order of the {count} contacts");
            let expected = "every contact's number, from 0, once";
            return Err(InputError::of_option(Some("order"), &message, Some(expected)));
        }
        Ok(numbers.iter().map(|&k| self.assembly.contact_rows[k].start).collect())
    }

    /// Resolves the impact.
    pub fn solve(&self, options: &Options) -> Result<BodyOutcome, InputError> {
        let solved = self.instant.mechanism().solve(options);
        solved.map_err(|error| self.subject.input.error(vec![self.explain(&error)]))
    }

    /// Resolves the impact, with everything to be said about it.
    pub fn solved(&self, resolution: &Resolution) -> Result<Solved<'_>, InputError> {
        let options = self.options(resolution)?;
        Ok(Solved::new(self, self.solve(&options)?))
    }

    /// Points at the entry of the scene that the solver refuses.
    fn explain(&self, error: &carom::Error) -> Diagnostic {
        let mut path = String::new();
        let mut message = error.fault.to_string();
        let mut expected = String::new();
        if error.place.field == "bilateral"
            && let Some(row) = error.place.row
            && let Some(k) = self.assembly.joint_rows.iter().position(|rows| rows.contains(&row))
        {
            path = format!("joint[{k}]");
            if let carom::Fault::ViolatesBilateral { residual, relative, .. } = error.fault {
                message = format!(
                    "the velocities violate the joint `{}`: row {} of it is {} ({} of its scale), not 0",
                    self.subject.scene.joints[k].name,
                    row - self.assembly.joint_rows[k].start,
                    number(residual),
                    number(relative),
                );
                expected = "velocities that the joint allows, or the option `project` to take the nearest"
                    .to_string();
            }
        } else if error.place.field == "contacts"
            && let Some(row) = error.place.row
            && let Some(k) = self.assembly.contact_rows.iter().position(|rows| rows.contains(&row))
        {
            path = format!("contact[{k}]");
        }
        self.subject.source().explain(&path, &message, &expected)
    }
}

/// Points at what makes a scene no instant of impact.
fn refuse(subject: &Subject, findings: &[Finding]) -> InputError {
    let (scene, source) = (&subject.scene, subject.source());
    let overlaps = findings.iter().filter_map(|finding| match *finding {
        Finding::Overlap { first, second, depth } => Some(Overlap { first, second, depth }),
        _ => None,
    });
    let overlaps = overlap::explain(&source, scene, overlaps);
    let others = findings.iter().filter_map(|finding| match *finding {
        Finding::Overlap { .. } => None,
        Finding::Fill { fill } => {
            let message = "has no bodies yet at the scene's instant";
            let expected = "bodies with positions of their own";
            Some(source.explain(&format!("fill[{fill}]"), message, expected))
        }
        Finding::OffPlane { joint, gap } => Some(off_plane(&source, scene, joint, gap)),
    });
    subject.input.error(others.chain(overlaps).collect())
}

/// A scene with its result and everything said about it.
#[derive(Debug, Clone)]
pub struct Solved<'a> {
    /// The scene.
    pub prepared: &'a Prepared,
    /// The result.
    pub result: BodyOutcome,
    /// The friction that rough contacts and rolling joints would need.
    pub demand: Demand,
    /// The audit, where anything can move.
    pub audit: Option<Audit>,
}

impl<'a> Solved<'a> {
    /// Looks at a result from all sides.
    pub fn new(prepared: &'a Prepared, result: BodyOutcome) -> Self {
        let demand = demand(&prepared.instant.mechanism(), &prepared.assembly, &result.outcome);
        let problem = &prepared.assembly.problem;
        let audit = (!problem.velocity.is_empty()).then(|| audit(problem, &result.outcome));
        Self { prepared, result, demand, audit }
    }

    /// The verdict; with `strict`, a result that is not admissible or ran out of steps is no answer either.
    pub fn verdict(&self, strict: bool) -> Verdict {
        resolution::verdict(&self.result.outcome, self.audit.as_ref(), strict)
    }

    /// The scene.
    pub fn scene(&self) -> &'a Scene {
        self.prepared.scene()
    }

    /// The name of a grip.
    pub fn grip(&self, grip: Grip) -> String {
        match grip {
            Grip::Contact(k) => format!("contact {}", self.prepared.instant.contacts[k].name),
            Grip::Joint(k) => format!("joint {}", self.prepared.instant.joints[k].name),
        }
    }

    /// The contact that a row belongs to.
    pub fn row_name(&self, row: usize) -> String {
        let rows = &self.prepared.assembly.contact_rows;
        let Some(k) = rows.iter().position(|range| range.contains(&row)) else { return format!("row {row}") };
        let part = if row == rows[k].start { "" } else { " (tangent)" };
        format!("{}{part}", self.prepared.instant.contacts[k].name)
    }

    /// How many contacts carry an impulse.
    pub fn active(&self) -> usize {
        self.result.contacts.iter().filter(|c| c.impulse_vector.norm() > 0.0).count()
    }
}
