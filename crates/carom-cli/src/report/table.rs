//! A table with right-aligned columns.

use std::io::{self, Write};

use super::Style;

/// The most rows shown to people.
pub const SHOWN: usize = 20;

/// One cell.
pub struct Cell {
    text: String,
    alarm: bool,
}

impl Cell {
    /// The same cell, to be noticed if `condition` holds.
    pub fn alarm_if(mut self, condition: bool) -> Self {
        self.alarm = condition;
        self
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), alarm: false }
    }
}

/// Writes a heading and the table; of a long one its first rows. Rows are made only when shown.
pub fn write<const N: usize>(
    out: &mut dyn Write,
    style: Style,
    title: &str,
    header: [&str; N],
    count: usize,
    row: impl Fn(usize) -> [Cell; N],
) -> io::Result<()> {
    if count == 0 {
        return Ok(());
    }
    let rows: Vec<[Cell; N]> = (0..count.min(SHOWN)).map(row).collect();
    let width: [usize; N] = std::array::from_fn(|j| {
        rows.iter().map(|row| row[j].text.chars().count()).fold(header[j].chars().count(), usize::max)
    });
    writeln!(out, "\n{}", style.heading(title))?;
    let mut line = String::new();
    for (name, width) in header.iter().zip(width) {
        line.push_str(&format!("  {name:>width$}"));
    }
    writeln!(out, "{line}")?;
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(width) {
            let text = format!("  {:>width$}", cell.text);
            line.push_str(&if cell.alarm { style.alarm(&text) } else { text });
        }
        writeln!(out, "{line}")?;
    }
    if count > SHOWN {
        writeln!(out, "  … {} more; --json has all", count - SHOWN)?;
    }
    Ok(())
}
