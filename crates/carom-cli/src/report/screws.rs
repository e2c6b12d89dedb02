//! The screw view of an impact for people.

use std::io::{self, Write};

use carom_answers::solve::Screws;

use super::{Style, beside, table, vector};

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
    })
}
