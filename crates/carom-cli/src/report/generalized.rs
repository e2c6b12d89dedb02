//! The result of `carom generalized` for people: the verdict first, then the numbers behind it.

use std::io::{self, Write};

use carom::audit::Audit;
use carom::impact::coulomb::Mode;
use carom::impact::{Outcome, Problem, Status, Surface};
use carom_answers::generalized::Answer;

use super::table::{self, Cell, SHOWN};
use super::{Style, beside, largest, number, number_list, residual, row_list};

/// Writes the whole result.
pub fn write(out: &mut dyn Write, answer: &Answer, style: Style) -> io::Result<()> {
    let Answer { title, outcome, audit, request, .. } = answer;
    style.write_title(out, title.as_deref())?;
    writeln!(out, "{}", verdict(outcome, style))?;
    contacts(out, &request.problem, outcome, style)?;
    velocities(out, outcome, style)?;
    steps(out, outcome, style)?;
    friction(out, outcome, &|row| format!("row {row}"), style)?;
    demand(out, outcome, style)?;
    indeterminacy(out, outcome, style)?;
    energy(out, outcome, style)?;
    writeln!(out, "{}", flags(outcome, style))?;
    list(out, style, "notes", outcome.notes.iter().map(ToString::to_string))?;
    writeln!(out, "\n{}", audit_line(audit, style))
}

/// What happened, in one sentence.
fn verdict(outcome: &Outcome, style: Style) -> String {
    let (law, steps) = (outcome.law, outcome.steps.len());
    match outcome.status {
        Status::NoImpact => "No contact is closing: nothing happens.".to_string(),
        Status::Inconsistent => style.alarm(&format!(
            "The law {law} has no solution here: the numbers below are its least-squares surrogate."
        )),
        Status::StepsExhausted => {
            style.alarm(&format!("Not resolved: contacts still close after {steps} steps of the law {law}."))
        }
        Status::Resolved => {
            let loaded = outcome.impulses.iter().filter(|&&p| p != 0.0).count();
            let steps = if steps > 1 { format!(" in {steps} steps") } else { String::new() };
            let sentence = format!(
                "Resolved by the law {law}{steps}: {loaded} of {} contact row{} {} an impulse, and the kinetic energy {}.",
                outcome.impulses.len(),
                if outcome.impulses.len() == 1 { "" } else { "s" },
                if loaded == 1 { "carries" } else { "carry" },
                energy_in_words(outcome),
            );
            if outcome.admissible {
                sentence
            } else {
                format!("{sentence} {}", style.alarm("Not admissible."))
            }
        }
    }
}

pub(super) fn energy_in_words(outcome: &Outcome) -> String {
    let energy = outcome.energy;
    let size = energy.before.max(energy.after);
    // Below this it is rounding, of no interest in a sentence; the table has the number.
    if energy.change.abs() <= 1e-12 * size {
        return "is kept".to_string();
    }
    let verb = if energy.change < 0.0 { "falls" } else { "rises" };
    let share = if energy.before > 0.0 {
        format!(" ({:.2} %)", 100.0 * energy.change.abs() / energy.before)
    } else {
        String::new()
    };
    format!("{verb} by {}{share}", number(energy.change.abs()))
}

fn contacts(out: &mut dyn Write, problem: &Problem, outcome: &Outcome, style: Style) -> io::Result<()> {
    let kinds = kinds(problem);
    let header = ["row", "kind", "approach", "separation", "restitution", "impulse", "work"];
    let speed = largest(&outcome.approach).max(largest(&outcome.separation));
    let push = largest(&outcome.impulses);
    let energy = outcome.energy.before.max(outcome.energy.after);
    table::write(out, style, "contacts", header, outcome.impulses.len(), |i| {
        let unilateral = kinds[i].unilateral;
        let (impulse, separation) = (outcome.impulses[i], outcome.separation[i]);
        [
            i.to_string().into(),
            kinds[i].word.into(),
            beside(outcome.approach[i], speed).into(),
            Cell::from(beside(separation, speed))
                .alarm_if(unilateral && separation < -1e-9 * outcome.approach[i].abs()),
            kinds[i].restitution.map_or_else(|| "-".to_string(), number).into(),
            Cell::from(beside(impulse, push)).alarm_if(unilateral && impulse < -1e-9 * push),
            beside(outcome.work[i], energy).into(),
        ]
    })
}

/// What a contact row is.
#[derive(Clone, Copy)]
struct Kind {
    word: &'static str,
    unilateral: bool,
    restitution: Option<f64>,
}

fn kinds(problem: &Problem) -> Vec<Kind> {
    let restitution = problem.restitution.iter();
    let mut kinds: Vec<Kind> =
        restitution.map(|&e| Kind { word: "tangent", unilateral: false, restitution: Some(e) }).collect();
    for contact in problem.contact_list() {
        kinds[contact.normal] = Kind { word: "normal", unilateral: true, ..kinds[contact.normal] };
        if let Surface::Coulomb(_) = contact.surface {
            for row in contact.tangent {
                kinds[row] = Kind { word: "friction", unilateral: false, restitution: None };
            }
        }
    }
    kinds
}

fn velocities(out: &mut dyn Write, outcome: &Outcome, style: Style) -> io::Result<()> {
    let speed = largest(&outcome.velocity_before).max(largest(&outcome.velocity));
    table::write(out, style, "velocity", ["", "before", "after"], outcome.velocity.len(), |i| {
        [
            i.to_string().into(),
            beside(outcome.velocity_before[i], speed).into(),
            beside(outcome.velocity[i], speed).into(),
        ]
    })?;
    let impulses = &outcome.bilateral_impulses;
    let load = largest(impulses);
    table::write(out, style, "bilateral", ["row", "impulse"], impulses.len(), |i| {
        [i.to_string().into(), beside(impulses[i], load).into()]
    })
}

/// A single step is the whole, which the contacts already show.
fn steps(out: &mut dyn Write, outcome: &Outcome, style: Style) -> io::Result<()> {
    let steps = &outcome.steps;
    if steps.len() < 2 {
        return Ok(());
    }
    let energy = outcome.energy.before.max(outcome.energy.after);
    let header = ["step", "rows", "impulses", "energy change"];
    table::write(out, style, "steps", header, steps.len(), |i| {
        let step = &steps[i];
        [
            (i + 1).to_string().into(),
            row_list(&step.rows).into(),
            number_list(&step.impulses).into(),
            beside(step.energy_change, energy).into(),
        ]
    })
}

pub(super) fn friction(
    out: &mut dyn Write,
    outcome: &Outcome,
    name: &dyn Fn(usize) -> String,
    style: Style,
) -> io::Result<()> {
    let phases: Vec<_> = outcome
        .friction
        .iter()
        .flat_map(|history| history.phases.iter().map(move |phase| (history, phase)))
        .collect();
    let header = ["contact", "phase", "motion", "from impulse", "to impulse", "ends by"];
    table::write(out, style, "friction", header, phases.len(), |i| {
        let (history, phase) = phases[i];
        let motion = match phase.mode {
            Mode::Slip => "slip",
            Mode::Jam => "jam",
            Mode::Stick => "stick",
            Mode::ReverseSlip => "reverse slip",
        };
        [
            name(history.normal).into(),
            if phase.restitution { "restitution" } else { "compression" }.into(),
            motion.into(),
            number(phase.from).into(),
            number(phase.to).into(),
            history.termination.name().into(),
        ]
    })?;
    Ok(())
}

fn demand(out: &mut dyn Write, outcome: &Outcome, style: Style) -> io::Result<()> {
    let demand = &outcome.friction_demand;
    let header = ["normal", "coefficient"];
    table::write(out, style, "friction that the rough contacts would need", header, demand.len(), |i| {
        let needed = demand[i].coefficient;
        [demand[i].normal.to_string().into(), Cell::from(number(needed)).alarm_if(needed > 1.0)]
    })
}

fn indeterminacy(out: &mut dyn Write, outcome: &Outcome, style: Style) -> io::Result<()> {
    let stresses = outcome.self_stresses.iter().map(|stress| {
        let mut text = format!("contacts [{}]", number_list(&stress.contacts));
        if !stress.bilateral.is_empty() {
            text.push_str(&format!(", bilateral [{}]", number_list(&stress.bilateral)));
        }
        text
    });
    list(
        out,
        style,
        "self-stresses (can be added to the impulses, as long as every contact pushes)",
        stresses,
    )?;
    let circuits = outcome
        .unequal_circuits
        .iter()
        .map(|circuit| format!("rows {}: {}", row_list(&circuit.rows), number_list(&circuit.restitution)));
    list(out, style, "dependent rows with unequal restitution", circuits)
}

pub(super) fn energy(out: &mut dyn Write, outcome: &Outcome, style: Style) -> io::Result<()> {
    let energy = outcome.energy;
    let change = beside(energy.change, energy.before.max(energy.after));
    let gained = energy.change > 1e-9 * energy.before.max(energy.after);
    writeln!(
        out,
        "\n{}  before {}, after {}, change {}",
        style.heading("kinetic energy"),
        number(energy.before),
        number(energy.after),
        if gained { style.alarm(&change) } else { change }
    )
}

pub(super) fn flags(outcome: &Outcome, style: Style) -> String {
    let rows = outcome.impulses.len();
    let say = |good: bool, yes: &str, no: &str| if good { yes.to_string() } else { style.alarm(no) };
    [
        format!("rank {} of {rows} contact rows", outcome.rank),
        say(outcome.velocity_unique, "velocities unique", "velocities not unique"),
        // Common and harmless: the velocities do not depend on it.
        if outcome.impulse_unique { "impulses unique" } else { "impulses not unique" }.to_string(),
        match (outcome.consistent, outcome.admissible) {
            (false, _) => style.alarm("inconsistent"),
            (true, false) => style.alarm("not admissible"),
            (true, true) => "consistent and admissible".to_string(),
        },
    ]
    .join("; ")
}

pub(super) fn audit_line(audit: &Audit, style: Style) -> String {
    let result = if audit.passed { "passed".to_string() } else { style.alarm("failed") };
    let complementarity = audit
        .complementarity_residual
        .map_or_else(String::new, |worst| format!(", complementarity {}", residual(worst)));
    let friction =
        audit.friction_residual.map_or_else(String::new, |worst| format!(", friction {}", residual(worst)));
    let contradiction =
        audit.contradiction.map_or_else(String::new, |what| format!("; {}", style.alarm(&what.to_string())));
    format!(
        "{}  {result}: residuals of momentum {}, bilateral rows {}, energy {}{complementarity}{friction}{contradiction}",
        style.heading("audit"),
        residual(audit.momentum_residual),
        residual(audit.bilateral_residual),
        residual(audit.energy_mismatch),
    )
}

/// A heading and its items, the first ones of a long list; nothing if there are none.
pub(super) fn list(
    out: &mut dyn Write,
    style: Style,
    title: &str,
    items: impl ExactSizeIterator<Item = String>,
) -> io::Result<()> {
    let count = items.len();
    if count > 0 {
        writeln!(out, "\n{}", style.heading(title))?;
    }
    for item in items.take(SHOWN) {
        writeln!(out, "  - {item}")?;
    }
    if count > SHOWN {
        writeln!(out, "  … {} more; --json has all", count - SHOWN)?;
    }
    Ok(())
}
