//! First times of impact for people.

use std::io::{self, Write};

use carom_answers::toi::Answer;
use nalgebra::Vector3;

use super::gap::displaced;
use super::table::{self, Cell};
use super::{Style, number, residual, vector};

/// Writes the times, the first of all in a sentence first.
pub fn write(out: &mut dyn Write, answer: &Answer, style: Style) -> io::Result<()> {
    let Answer { title, until, pairs } = answer;
    style.write_title(out, title.as_deref())?;
    let first = pairs
        .iter()
        .filter_map(|pair| pair.time.map(|time| (time, pair)))
        .reduce(|a, b| if b.0 < a.0 { b } else { a });
    match first {
        None => writeln!(out, "Nothing meets before t = {}.", number(*until))?,
        Some((time, pair)) => {
            let [a, b] = &pair.bodies;
            let how = match pair.kind {
                Some("graze") => "graze each other",
                Some("normal") | None => "meet",
                Some(_) => "touch without approach, and free flight would let them overlap,",
            };
            writeln!(
                out,
                "{a} and {b} {how} at t = {time} (to {}).",
                residual(pair.time_error.unwrap_or_default())
            )?;
        }
    }
    let header = ["first", "second", "time", "error at most", "type", "approach", "point"];
    table::write(out, style, "first contacts", header, pairs.len(), |i| {
        let pair = &pairs[i];
        let or_dash = |value: Option<String>| Cell::from(value.unwrap_or_else(|| "-".to_string()));
        [
            pair.bodies[0].as_str().into(),
            displaced(&pair.bodies[1], pair.image).into(),
            or_dash(pair.time.map(|t| t.to_string())),
            or_dash(pair.time_error.map(residual)),
            or_dash(pair.kind.map(str::to_string)),
            or_dash(pair.approach.map(number)),
            or_dash(pair.point.map(|p| vector(&Vector3::from(p), 1.0))),
        ]
    })
}
