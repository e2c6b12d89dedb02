//! The screw view of an impact for people.

use std::io::{self, Write};

use carom_answers::solve::Screws;

use super::{Style, beside, largest, table, vector};

/// Writes them.
pub fn write(screws: &Screws, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let halves = |six: &[f64; 6]| {
        let part = |at: usize| nalgebra::Vector3::new(six[at], six[at + 1], six[at + 2]);
        [part(0), part(3)].map(|v| vector(&v, 1.0))
    };
    table::write(
        out,
        style,
        "contact lines",
        ["contact", "direction", "moment"],
        screws.contacts.len(),
        |i| {
            let [direction, moment] = halves(&screws.contacts[i].plucker);
            [screws.contacts[i].name.as_str().into(), direction.into(), moment.into()]
        },
    )?;
    let wrenches: Vec<_> =
        screws.contacts.iter().flat_map(|c| c.wrenches.iter().map(move |w| (&c.name, w))).collect();
    let header = ["contact", "on", "force", "moment"];
    table::write(out, style, "unit wrenches", header, wrenches.len(), |i| {
        let (contact, (body, six)) = wrenches[i];
        let [force, moment] = halves(six);
        [contact.as_str().into(), body.as_str().into(), force.into(), moment.into()]
    })?;
    let scale = screws.inertances.iter().flatten().fold(0.0, |m: f64, x| m.max(x.abs()));
    table::write(out, style, "inertances", ["contact", "g"], screws.inertances.len(), |i| {
        let row: Vec<String> = screws.inertances[i].iter().map(|&g| beside(g, scale)).collect();
        [screws.contacts[i].name.as_str().into(), row.join("  ").into()]
    })?;
    for body in &screws.bodies {
        let columns = [("S", &body.restrictions), ("Q", &body.free_motions)];
        let listed: Vec<_> =
            columns.iter().flat_map(|(letter, list)| list.iter().map(move |six| (*letter, six))).collect();
        let title = format!(
            "{}: restrictions S (force, moment) and free motions Q (angular velocity, velocity)",
            body.name
        );
        table::write(
            out,
            style,
            &title,
            ["of", "force or turning", "moment or velocity"],
            listed.len(),
            |i| {
                let (letter, six) = listed[i];
                let [first, second] = halves(six);
                [letter.into(), first.into(), second.into()]
            },
        )?;
        let matrices = [("M_red", &body.reduced_mass), ("G", &body.inertances)];
        let rows: Vec<_> =
            matrices.iter().flat_map(|(letter, rows)| rows.iter().map(move |row| (*letter, row))).collect();
        let title = format!("{}: reduced mass M_red and inertances G", body.name);
        table::write(out, style, &title, ["of", "row"], rows.len(), |i| {
            let (letter, row) = rows[i];
            let scale = largest(row);
            let row: Vec<String> = row.iter().map(|&g| beside(g, scale)).collect();
            [letter.into(), row.join("  ").into()]
        })?;
        if !body.impulses.is_empty() {
            let scale = largest(&body.impulses);
            let row: Vec<String> = body.impulses.iter().map(|&x| beside(x, scale)).collect();
            writeln!(out, "\n{}: ξ, the impulses of the restrictions: {}", body.name, row.join("  "))?;
        }
    }
    Ok(())
}
