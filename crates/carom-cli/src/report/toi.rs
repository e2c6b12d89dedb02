//! First times of impact for people.

use std::io::{self, Write};

use carom::contact::classify::Type;
use carom_answers::toi::{Answer, Pair};
use nalgebra::Vector3;

use super::gap::displaced;
use super::table::{self, Cell, Header};
use super::{Style, number, residual, vector};

/// Writes the times, the first of all in a sentence first.
pub fn write(out: &mut dyn Write, answer: &Answer, style: Style) -> io::Result<()> {
    let Answer { title, until, pairs } = answer;
    style.write_title(out, title.as_deref())?;
    let first = pairs
        .iter()
        .filter_map(|pair| pair.time.map(|time| (time, pair)))
        .reduce(|a, b| if b.0 < a.0 { b } else { a });
    let undecided = pairs.iter().filter(|pair| pair.undecided).count();
    match first {
        None if undecided > 0 => writeln!(
            out,
            "No pair is known to meet before t = {}; {undecided} of {} undecided.",
            number(*until),
            pairs.len()
        )?,
        None => writeln!(out, "Nothing meets before t = {}.", number(*until))?,
        Some((time, pair)) => {
            let [a, b] = &pair.bodies;
            let how = match pair.kind {
                Some(Type::Graze) => "graze each other",
                Some(Type::Normal) | None => "meet",
                Some(_) => "touch without approach, and free flight would let them overlap,",
            };
            writeln!(
                out,
                "{a} and {b} {how} at t = {time} (to {}).",
                residual(pair.time_error.unwrap_or_default())
            )?;
        }
    }
    let names = ["first", "second", "time", "error at most", "type", "approach", "point"];
    let header = Header::new(names, 2).sparing(&[6, 5]);
    table::write(out, style, "first contacts", header, pairs.len(), |i| {
        let pair = &pairs[i];
        let or_dash = |value: Option<String>| Cell::from(value.unwrap_or_else(|| "-".to_string()));
        [
            pair.bodies[0].as_str().into(),
            displaced(&pair.bodies[1], pair.image).into(),
            or_dash(pair.time.map(|t| t.to_string())),
            or_dash(pair.time_error.map(residual)),
            or_dash(pair.kind.map(Type::name).or(pair.undecided.then_some("undecided")).map(str::to_string)),
            or_dash(pair.approach.map(number)),
            or_dash(pair.point.map(|p| vector(&Vector3::from(p), 1.0))),
        ]
    })?;
    let notes: Vec<String> = pairs.iter().filter_map(note).collect();
    if !notes.is_empty() {
        writeln!(out, "\n{}", style.heading("notes"))?;
        for note in notes {
            writeln!(out, "  - {note}")?;
        }
    }
    Ok(())
}

/// What a row of the table does not tell.
fn note(pair: &Pair) -> Option<String> {
    let [a, b] = &pair.bodies;
    if pair.undecided {
        return Some(format!(
            "{a} and {b}: undecided; they do not meet before t = {}, where the search was given up after {} gaps. `carom gap --at {}` shows how near they are then: if they stay so near, they slide along each other, which `carom run` follows; otherwise a scene that begins there, or slower motion, can be searched further",
            pair.searched_until, pair.evaluations, pair.searched_until
        ));
    }
    let (first_zero, minimum) = (pair.first_zero?, pair.minimum?);
    let gap = if minimum.gap == 0.0 { "0".to_string() } else { format!("{:.1e}", minimum.gap) };
    Some(format!(
        "{a} and {b}: the gap is least, {gap}, at t = {}; within rounding it may be zero from t = {first_zero} on",
        minimum.time
    ))
}
