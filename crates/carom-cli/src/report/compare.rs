//! The laws side by side for people.

use std::io::{self, Write};

use carom::impact::Note;
use carom_answers::compare::Comparison;
use carom_answers::solve::Solved;

use super::generalized::list;
use super::solve::nothing_touches;
use super::table::{self, Cell, Header};
use super::{Style, beside, in_one_line, number, vector};

/// Writes the comparison.
pub fn write(out: &mut dyn Write, comparison: &Comparison, style: Style) -> io::Result<()> {
    let (scene, solved) = (comparison.prepared.scene(), comparison.solved.as_slice());
    style.write_title(out, scene.title.as_deref())?;
    if let Some(source) = &scene.source {
        writeln!(out, "({})", in_one_line(source))?;
    }
    if comparison.prepared.instant.contacts.is_empty() {
        return writeln!(out, "{}", nothing_touches(comparison.prepared));
    }
    writeln!(out, "{}", summary(solved))?;
    laws(out, solved, style)?;
    contacts(out, solved, style)?;
    bodies(out, solved, style)?;
    // The same words under several laws stand once.
    let mut notes: Vec<(String, Vec<&str>)> = Vec::new();
    for s in solved {
        let law = s.result.outcome.law.name();
        for note in s.notes() {
            match notes.iter_mut().find(|(text, _)| *text == note) {
                Some((_, laws)) => laws.push(law),
                None => notes.push((note, vec![law])),
            }
        }
    }
    let items = notes.into_iter().map(|(text, laws)| {
        let who = if laws.len() == solved.len() { "all laws".to_string() } else { laws.join(", ") };
        format!("{who}: {text}")
    });
    list(out, style, "notes", items.collect::<Vec<_>>().into_iter())
}

/// Whether a law promises a restitution and misses it.
fn misses(solved: &Solved) -> bool {
    solved.result.outcome.notes.iter().any(|note| matches!(note, Note::RestitutionMissed { .. }))
}

/// Whether the laws agree, and which are in trouble.
fn summary(solved: &[Solved]) -> String {
    let reference = &solved[0].result;
    let speed = (2.0 * reference.outcome.energy.before).sqrt();
    let same = |s: &&Solved| {
        let apart = s.result.outcome.velocity.iter().zip(&reference.outcome.velocity);
        let size = reference.outcome.velocity.iter().fold(speed, |m: f64, v| m.max(v.abs()));
        apart.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) <= 1e-9 * size
    };
    let several = |s: &Solved| {
        s.result.outcome.notes.iter().any(|note| matches!(note, Note::SeveralWithFriction { .. }))
    };
    if solved.iter().all(several) {
        return "Several contacts meet at once and friction acts in them: under every law they are taken one at a time in the given order, so there is nothing to compare.".to_string();
    }
    let (miss, keep): (Vec<&Solved>, Vec<&Solved>) = solved.iter().partition(|s| misses(s));
    let (agree, differ): (Vec<&Solved>, Vec<&Solved>) = keep.into_iter().partition(same);
    let names =
        |list: &[&Solved]| list.iter().map(|s| s.result.outcome.law.name()).collect::<Vec<_>>().join(", ");
    let mut text = if differ.is_empty() {
        format!(
            "{} give the same velocities.",
            if miss.is_empty() { "All laws".to_string() } else { names(&agree) }
        )
    } else if agree.len() == 1 {
        format!("Every law differs from {}: the rigid model does not decide between them.", names(&agree))
    } else {
        format!(
            "{} give the same velocities; {} differ{}: the rigid model does not decide between them.",
            names(&agree),
            names(&differ),
            if differ.len() == 1 { "s" } else { "" },
        )
    };
    if !miss.is_empty() {
        text.push_str(&format!(" Missing the restitution asked for: {}.", names(&miss)));
    }
    let bad: Vec<&Solved> =
        solved.iter().filter(|s| !s.result.outcome.admissible || !s.result.outcome.consistent).collect();
    if !bad.is_empty() {
        text.push_str(&format!(" Not admissible here: {}.", names(&bad)));
    }
    text
}

fn laws(out: &mut dyn Write, solved: &[Solved], style: Style) -> io::Result<()> {
    let names =
        ["law", "energy change", "steps", "velocity", "impulses", "consistent", "restitution", "admissible"];
    let header = Header::new(names, 1).sparing(&[2, 4]);
    table::write(out, style, "laws", header, solved.len(), |i| {
        let outcome = &solved[i].result.outcome;
        let energy = outcome.energy;
        let size = energy.before.max(energy.after);
        let unique = |unique: bool| if unique { "unique" } else { "not unique" };
        [
            outcome.law.name().into(),
            Cell::from(beside(energy.change, size)).alarm_if(energy.change > 1e-9 * size),
            outcome.steps.len().to_string().into(),
            Cell::from(unique(outcome.velocity_unique)).alarm_if(!outcome.velocity_unique),
            unique(outcome.impulse_unique).into(),
            Cell::from(if outcome.consistent { "yes" } else { "NO" }).alarm_if(!outcome.consistent),
            Cell::from(if misses(&solved[i]) { "MISSED" } else { "-" }).alarm_if(misses(&solved[i])),
            Cell::from(if outcome.admissible { "yes" } else { "NO" }).alarm_if(!outcome.admissible),
        ]
    })
}

fn contacts(out: &mut dyn Write, solved: &[Solved], style: Style) -> io::Result<()> {
    let contacts = &solved[0].prepared.instant.contacts;
    for (k, contact) in contacts.iter().enumerate().take(table::SHOWN) {
        let title = format!(
            "{} (restitution {}, approach {})",
            contact.name,
            number(contact.restitution),
            number(solved[0].result.contacts[k].approach),
        );
        let speed = solved.iter().fold(0.0, |m: f64, s| {
            m.max(s.result.contacts[k].separation.abs()).max(s.result.contacts[k].approach.abs())
        });
        table::write(out, style, &title, ["law", "separation", "impulse"], solved.len(), |i| {
            let result = &solved[i].result.contacts[k];
            [
                solved[i].result.outcome.law.name().into(),
                Cell::from(beside(result.separation, speed)).alarm_if(result.separation < -1e-9 * speed),
                Cell::from(number(result.impulse)).alarm_if(result.impulse < -1e-12),
            ]
        })?;
    }
    Ok(())
}

fn bodies(out: &mut dyn Write, solved: &[Solved], style: Style) -> io::Result<()> {
    let prepared = solved[0].prepared;
    for (i, body) in prepared.scene().bodies.iter().enumerate().take(table::SHOWN) {
        if prepared.instant.bodies[i].0.fixed {
            continue;
        }
        let speed = solved.iter().fold(0.0, |m: f64, s| m.max(s.result.states[i].velocity.amax()));
        let spin = solved.iter().fold(0.0, |m: f64, s| m.max(s.result.states[i].angular_velocity.amax()));
        let header = ["law", "velocity", "angular velocity"];
        table::write(out, style, &body.name, header, solved.len(), |k| {
            let state = &solved[k].result.states[i];
            [
                solved[k].result.outcome.law.name().into(),
                vector(&state.velocity, speed).into(),
                vector(&state.angular_velocity, spin).into(),
            ]
        })?;
    }
    Ok(())
}
