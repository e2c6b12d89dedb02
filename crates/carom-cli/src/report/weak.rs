//! The weak form of a run for people.

use std::io::{self, Write};

use carom_answers::weak::Document;

use super::{Style, number, residual, table};

/// Writes it.
pub fn write(out: &mut dyn Write, found: &Document, style: Style) -> io::Result<()> {
    style.write_title(out, found.title.as_deref())?;
    let (worst, left) = (residual(found.residual_max), found.left_out.len());
    writeln!(
        out,
        "The weak form holds to {worst} of its terms; {left} of {} impacts left out.",
        left + found.impacts.len()
    )?;
    let header = ["time", "half width", "test functions", "residual", "control"];
    table::write(out, style, "the weak form about each impact", header, found.impacts.len(), |i| {
        let impact = &found.impacts[i];
        [
            number(impact.time).into(),
            number(impact.window).into(),
            impact.functions.to_string().into(),
            residual(impact.residual).into(),
            residual(impact.control).into(),
        ]
    })
}
