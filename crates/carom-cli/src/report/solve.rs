//! The result of `carom solve` for people: what happened in one sentence, then bodies, contacts, joints, energy.

use std::io::{self, Write};

use carom::contact::Surface;
use carom::impact::{Note, Status};
use carom::scene::instant::name;
use carom_answers::solve::{Prepared, Screws, Solved};
use nalgebra::Vector3;

use super::generalized::{audit_line, energy, energy_in_words, flags, friction, list};
use super::table::{self, Cell, Header};
use super::{Style, beside, in_one_line, number, screws, vector};

/// Writes the whole result.
pub fn write(out: &mut dyn Write, solved: &Solved, with_screws: bool, style: Style) -> io::Result<()> {
    let scene = solved.scene();
    style.write_title(out, scene.title.as_deref())?;
    if let Some(source) = &scene.source {
        writeln!(out, "({})", in_one_line(source))?;
    }
    writeln!(out, "{}", sentence(solved, style))?;
    bodies(out, solved, style)?;
    contacts(out, solved, style)?;
    joints(out, solved, style)?;
    steps(out, solved, style)?;
    friction(out, &solved.result.outcome, &|row| solved.row_name(row), style)?;
    grips(out, solved, style)?;
    undetermined(out, solved, style)?;
    if with_screws {
        screws::write(&Screws::of(solved), out, style)?;
    }
    energy(out, &solved.result.outcome, style)?;
    writeln!(out, "{}", flags(&solved.result.outcome, style))?;
    list(out, style, "notes", solved.notes().into_iter())?;
    if let Some(audit) = &solved.audit {
        writeln!(out, "\n{}", audit_line(audit, style))?;
    }
    Ok(())
}

/// What happened.
fn sentence(solved: &Solved, style: Style) -> String {
    let outcome = &solved.result.outcome;
    let law = outcome.law;
    let contacts = &solved.prepared.instant.contacts;
    match outcome.status {
        Status::NoImpact if contacts.is_empty() => nothing_touches(solved.prepared),
        Status::NoImpact => "Nothing is closing: no impact.".to_string(),
        Status::Inconsistent => style.alarm(&format!(
            "The law {law} has no solution here: the numbers below are its least-squares surrogate."
        )),
        Status::StepsExhausted => style.alarm(&format!(
            "Not resolved: contacts still close after {} steps of the law {law}.",
            outcome.steps.len()
        )),
        Status::Resolved => {
            let struck: Vec<&str> = contacts
                .iter()
                .zip(&solved.result.contacts)
                .filter(|(_, result)| result.impulse_vector.norm() > 0.0)
                .map(|(contact, _)| contact.name.as_str())
                .collect();
            let steps = outcome.steps.len();
            let together = if steps > 1 { "" } else { " together" };
            let what = match struck.as_slice() {
                [] => "No contact carries an impulse".to_string(),
                [one] => format!("{one} strikes"),
                [first, second] => format!("{first} and {second} strike{together}"),
                [first, rest @ ..] => format!("{first} and {} others strike{together}", rest.len()),
            };
            let steps = if steps > 1 { format!(" in {steps} steps") } else { String::new() };
            let end = if outcome.admissible {
                String::new()
            } else {
                format!(" {}", style.alarm("Not admissible."))
            };
            let several = outcome.notes.iter().any(|note| matches!(note, Note::SeveralWithFriction { .. }));
            let how = if several {
                "taken one at a time because of friction,".to_string()
            } else {
                format!("by the law {law}")
            };
            format!("{what}{steps}; {how} the kinetic energy {}.{end}", energy_in_words(outcome))
        }
    }
}

/// Says that there is no contact, and who is nearest to one.
pub(super) fn nothing_touches(prepared: &Prepared) -> String {
    let nearest = prepared.instant.nearest.map_or_else(String::new, |(sides, gap)| {
        let [first, second] = sides.map(|side| name(prepared.scene(), side));
        format!("; {first} and {second} are nearest, {} apart", number(gap))
    });
    format!("Nothing touches: no impact{nearest}.")
}

fn bodies(out: &mut dyn Write, solved: &Solved, style: Style) -> io::Result<()> {
    let (scene, instant) = (solved.scene(), &solved.prepared.instant);
    let moving: Vec<usize> = (0..scene.bodies.len()).filter(|&i| !instant.bodies[i].0.fixed).collect();
    let (mut speed, mut spin): (f64, f64) = (0.0, 0.0);
    for &i in &moving {
        for state in [&solved.result.before[i], &solved.result.states[i]] {
            speed = speed.max(state.velocity.amax());
            spin = spin.max(state.angular_velocity.amax());
        }
    }
    let header = Header::new(["body", "", "before", "after"], 2);
    table::write(out, style, "bodies", header, 2 * moving.len(), |row| {
        let i = moving[row / 2];
        let (before, after) = (&solved.result.before[i], &solved.result.states[i]);
        if row % 2 == 0 {
            [
                scene.bodies[i].name.as_str().into(),
                "velocity".into(),
                vector(&before.velocity, speed).into(),
                vector(&after.velocity, speed).into(),
            ]
        } else {
            [
                "".into(),
                "angular velocity".into(),
                vector(&before.angular_velocity, spin).into(),
                vector(&after.angular_velocity, spin).into(),
            ]
        }
    })
}

fn contacts(out: &mut dyn Write, solved: &Solved, style: Style) -> io::Result<()> {
    let (scene, instant) = (solved.scene(), &solved.prepared.instant);
    let results = &solved.result.contacts;
    let speed = results.iter().fold(0.0, |m: f64, c| m.max(c.approach.abs()).max(c.separation.abs()));
    let push = results.iter().fold(0.0, |m: f64, c| m.max(c.impulse_vector.amax()));
    let title = if instant.detected { "contacts (detected)" } else { "contacts" };
    let names =
        ["contact", "surface", "approach", "separation", "restitution", "impulse", "impulse on", "vector"];
    let header = Header::new(names, 1).sparing(&[1, 4]);
    table::write(out, style, title, header, results.len(), |i| {
        let (contact, result) = (&instant.contacts[i], &results[i]);
        let surface = match contact.surface {
            Surface::Smooth => "smooth".to_string(),
            Surface::Rough => "rough".to_string(),
            Surface::Coulomb(mu) => format!("friction {}", number(mu)),
        };
        let on = contact.moving_sides().find(|(_, sign, _)| *sign > 0.0);
        [
            contact.name.as_str().into(),
            surface.into(),
            beside(result.approach, speed).into(),
            Cell::from(beside(result.separation, speed)).alarm_if(result.separation < -1e-9 * speed),
            number(contact.restitution).into(),
            Cell::from(beside(result.impulse, push)).alarm_if(result.impulse < -1e-9 * push),
            on.map_or("-", |(body, _, _)| scene.bodies[body].name.as_str()).into(),
            vector(&result.impulse_vector, push).into(),
        ]
    })
}

fn joints(out: &mut dyn Write, solved: &Solved, style: Style) -> io::Result<()> {
    let (scene, instant) = (solved.scene(), &solved.prepared.instant);
    let results = &solved.result.joints;
    let force = results.iter().fold(0.0, |m: f64, j| m.max(j.linear.amax()));
    let moment = results.iter().fold(0.0, |m: f64, j| m.max(j.angular.amax()));
    let header = ["joint", "on", "impulse", "moment at the joint", "determined"];
    table::write(out, style, "joints", header, results.len(), |i| {
        let (joint, result) = (&instant.joints[i], &results[i]);
        [
            joint.name.as_str().into(),
            scene.bodies[joint.bodies[0]].name.as_str().into(),
            vector(&result.linear, force).into(),
            vector(&result.angular, moment.max(1e-3 * force)).into(),
            if result.determined { "yes" } else { "no" }.into(),
        ]
    })
}

fn grips(out: &mut dyn Write, solved: &Solved, style: Style) -> io::Result<()> {
    let demand = &solved.demand.reported;
    let title = "friction that a real surface would need";
    table::write(out, style, title, ["where", "coefficient"], demand.len(), |i| {
        let (grip, needed) = demand[i];
        [solved.grip(grip).into(), Cell::from(number(needed)).alarm_if(needed > 1.0)]
    })
}

/// The steps of a cascade or sequence; a single one is the whole, which the contacts already show.
fn steps(out: &mut dyn Write, solved: &Solved, style: Style) -> io::Result<()> {
    let outcome = &solved.result.outcome;
    if outcome.steps.len() < 2 {
        return Ok(());
    }
    let Prepared { instant, assembly, .. } = solved.prepared;
    let energy = outcome.energy.before.max(outcome.energy.after);
    let header = ["step", "normal impulses", "energy change"];
    table::write(out, style, "steps", header, outcome.steps.len(), |i| {
        let step = &outcome.steps[i];
        let parts = assembly.contact_rows.iter().zip(&instant.contacts).filter_map(|(rows, contact)| {
            let at = step.rows.iter().position(|&row| row == rows.start)?;
            (step.impulses[at] != 0.0).then(|| format!("{} {}", contact.name, number(step.impulses[at])))
        });
        let parts: Vec<String> = parts.collect();
        [
            (i + 1).to_string().into(),
            if parts.is_empty() { "-".to_string() } else { parts.join(", ") }.into(),
            beside(step.energy_change, energy).into(),
        ]
    })
}

/// The self-stresses, spoken in contacts and joints.
fn undetermined(out: &mut dyn Write, solved: &Solved, style: Style) -> io::Result<()> {
    let Prepared { instant, assembly, .. } = solved.prepared;
    let stresses = &solved.result.outcome.self_stresses;
    let items = stresses.iter().map(|stress| {
        let size = stress.bilateral.iter().chain(&stress.contacts).fold(0.0, |m: f64, x| m.max(x.abs()));
        let mut parts = Vec::new();
        for (k, contact) in instant.contacts.iter().enumerate() {
            let rows = assembly.contact_rows[k].clone().zip(&assembly.directions[k]);
            let sum = rows.fold(Vector3::zeros(), |sum, (row, axis)| sum + axis * stress.contacts[row]);
            if sum.norm() > 1e-12 * size {
                parts.push(format!("{} {}", contact.name, vector(&sum, size)));
            }
        }
        for (joint, rows) in instant.joints.iter().zip(&assembly.joint_rows) {
            let (mut force, mut moment) = (Vector3::zeros(), Vector3::zeros());
            for (row, parts) in rows.clone().zip(joint.rows(&instant.bodies)) {
                force += parts.first[0] * stress.bilateral[row];
                moment += parts.first[1] * stress.bilateral[row];
            }
            let arm = joint.point(&instant.bodies) - instant.bodies[joint.bodies[0]].1.position;
            moment -= arm.cross(&force);
            if force.norm().max(moment.norm()) > 1e-12 * size {
                let moment = if moment.norm() > 1e-12 * size {
                    format!(", moment {}", vector(&moment, size))
                } else {
                    String::new()
                };
                parts.push(format!("{} {}{moment}", joint.name, vector(&force, size)));
            }
        }
        parts.join("; ")
    });
    list(out, style, "undetermined (can be added to the impulses, as long as every contact pushes)", items)?;
    let circuits = &solved.result.outcome.unequal_circuits;
    let items = circuits.iter().map(|circuit| {
        let named = circuit.rows.iter().zip(&circuit.restitution).map(|(&row, k)| {
            let at = assembly.contact_rows.iter().position(|rows| rows.contains(&row));
            let contact = at.map_or("?", |k| instant.contacts[k].name.as_str());
            format!("{contact} {}", number(*k))
        });
        named.collect::<Vec<_>>().join(", ")
    });
    list(out, style, "dependent contacts with unequal restitution", items)?;
    Ok(())
}
