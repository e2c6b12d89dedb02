//! Gaps for people.

use std::io::{self, Write};

use carom_answers::gap::Answer;
use nalgebra::Vector3;

use super::table::{self, Cell, Header};
use super::{Style, number, vector};

/// Writes the gaps, the nearest pair in a sentence first.
pub fn write(out: &mut dyn Write, answer: &Answer, style: Style) -> io::Result<()> {
    let Answer { title, time: t, pairs } = answer;
    style.write_title(out, title.as_deref())?;
    let when = if *t == 0.0 { String::new() } else { format!(" after free flight to t = {}", number(*t)) };
    let nearest = pairs.iter().reduce(|a, b| if b.gap < a.gap { b } else { a });
    match nearest {
        None => writeln!(out, "No pair has a gap.")?,
        Some(pair) => {
            let [first, second] = &pair.bodies;
            let (how, size) =
                if pair.gap < 0.0 { ("overlap by", -pair.gap) } else { ("are apart by", pair.gap) };
            writeln!(
                out,
                "{first} and {second} {how} {}{when}, the least of {} pairs.",
                number(size),
                pairs.len()
            )?;
        }
    }
    let header = Header::new(["first", "second", "gap", "normal", "on first", "on second"], 2);
    table::write(out, style, "gaps", header, pairs.len(), |i| {
        let pair = &pairs[i];
        let place = |x: &[f64; 3]| vector(&Vector3::from(*x), 1.0);
        [
            pair.bodies[0].as_str().into(),
            displaced(&pair.bodies[1], pair.image).into(),
            Cell::from(number(pair.gap)).alarm_if(pair.gap < 0.0),
            place(&pair.normal).into(),
            place(&pair.points[0]).into(),
            place(&pair.points[1]).into(),
        ]
    })
}

/// A body's name, with where its image is.
pub fn displaced(name: &str, image: Option<[f64; 3]>) -> String {
    match image {
        Some(image) if image != [0.0; 3] => format!("{name} at {}", vector(&Vector3::from(image), 1.0)),
        _ => name.to_string(),
    }
}
