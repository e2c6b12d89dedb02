//! Results for people: tables and sentences.

pub mod classify;
pub mod compare;
pub mod derivatives;
pub mod gap;
pub mod generalized;
pub mod paper;
pub mod replicas;
pub mod run;
pub mod scatter;
pub mod screws;
pub mod solve;
pub mod sweep;
mod table;
pub mod toi;
pub mod weak;

use std::io::{self, IsTerminal, Write};

use carom_answers::words::{beside, number, residual, vector};

/// Colours, or none, and how wide a line may be.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    colour: bool,
    /// The most characters of a table's line, if there is a limit.
    width: Option<usize>,
}

/// No terminal is taken to be narrower than this.
const NARROWEST: usize = 40;

impl Style {
    /// Colours if standard output is a terminal and the user has not asked for none. Tables are as wide as the terminal, or as
    /// `COLUMNS` says; with `wide`, as in a file, they have no limit.
    pub fn of_stdout(wide: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let asked = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
        let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = if wide { None } else { asked().or_else(|| if terminal { measured() } else { None }) };
        Self { colour: terminal && !refused, width: width.map(|width: usize| width.max(NARROWEST)) }
    }

    /// Without colours.
    #[cfg(test)]
    pub const fn plain(width: Option<usize>) -> Self {
        Self { colour: false, width }
    }

    /// What the user calls the problem, first of all.
    pub fn write_title(self, out: &mut dyn Write, title: Option<&str>) -> io::Result<()> {
        title.map_or(Ok(()), |title| writeln!(out, "{}", self.heading(&in_one_line(title))))
    }

    /// For what should not be overlooked: gains and violations.
    fn alarm(self, text: &str) -> String {
        self.paint("31", text)
    }

    fn heading(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}

/// A user's words without what would break the line or command the terminal.
fn in_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// The size of a list's largest entry.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

/// Row numbers, shortened.
fn row_list(rows: &[usize]) -> String {
    const SHOWN: usize = 8;
    let mut words: Vec<String> = rows.iter().take(SHOWN).map(usize::to_string).collect();
    if rows.len() > SHOWN {
        words.push(format!("… {} more", rows.len() - SHOWN));
    }
    words.join(", ")
}

/// Numbers, shortened.
fn number_list(values: &[f64]) -> String {
    const SHOWN: usize = 8;
    let scale = largest(values);
    let mut words: Vec<String> = values.iter().take(SHOWN).map(|&x| beside(x, scale)).collect();
    if values.len() > SHOWN {
        words.push(format!("… {} more", values.len() - SHOWN));
    }
    words.join(", ")
}
