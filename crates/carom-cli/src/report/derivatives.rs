//! The derivatives of a run for people: a table for each body, and why others have none.

use std::io::{self, Write};

use carom_answers::run::{DerivativesEntry, StateRows};

use super::generalized::list;
use super::table;
use super::{Style, beside};

/// With more bodies than this the derivatives of only the first are told.
const MANY: usize = 4;

/// Writes them.
pub fn write(out: &mut dyn Write, found: &DerivativesEntry, style: Style) -> io::Result<()> {
    let known = found.states.iter().filter_map(|(name, rows)| Some((name, rows.as_ref()?)));
    for (name, rows) in known.clone().take(MANY) {
        body(out, found, name, rows, style)?;
    }
    let more = known.count().saturating_sub(MANY);
    if more > 0 {
        writeln!(out, "  … {more} more bodies; --json has all")?;
    }
    let none = found.undefined.iter().map(|entry| {
        let event = entry.event.map_or_else(String::new, |event| format!(" (event {event})"));
        format!("{} from t = {}{event}: {}", entry.bodies.join(", "), super::number(entry.time), entry.reason)
    });
    list(out, style, "no derivatives", none)
}

fn body(
    out: &mut dyn Write,
    found: &DerivativesEntry,
    name: &str,
    rows: &StateRows,
    style: Style,
) -> io::Result<()> {
    let parts = [&rows.position[..], &rows.orientation[..], &rows.velocity[..], &rows.angular_velocity[..]];
    let header = ["by", "position", "orientation", "velocity", "angular velocity"];
    let title = format!("derivatives of {name}");
    table::write(out, style, &title, header, found.parameters.len(), |row| {
        let cell = |part: &[Vec<f64>]| {
            let largest = part.iter().fold(0.0, |most: f64, numbers| most.max(numbers[row].abs()));
            let numbers: Vec<String> = part.iter().map(|numbers| beside(numbers[row], largest)).collect();
            format!("[{}]", numbers.join(", "))
        };
        let [position, orientation, velocity, spin] = parts.map(cell);
        [
            found.parameters[row].as_str().into(),
            position.into(),
            orientation.into(),
            velocity.into(),
            spin.into(),
        ]
    })
}
