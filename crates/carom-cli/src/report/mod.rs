//! Results for people: tables and sentences.

pub mod classify;
pub mod compare;
pub mod gap;
pub mod generalized;
pub mod neighbourhood;
pub mod paper;
pub mod paradox;
pub mod run;
pub mod screws;
pub mod solve;
mod table;
pub mod toi;

use std::io::IsTerminal;

/// Colours, or none.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// Colours if standard output is a terminal and the user has not asked for none.
    pub fn of_stdout() -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { colour: std::io::stdout().is_terminal() && !refused }
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

/// A number for people: seven significant digits, no trailing zeros.
pub fn number(x: f64) -> String {
    if x == 0.0 {
        return "0".to_string();
    }
    if !x.is_finite() {
        return x.to_string();
    }
    let size = x.abs();
    if !(1e-4..1e7).contains(&size) {
        let text = format!("{x:.6e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(digits));
    }
    let decimals = match size {
        s if s >= 1e6 => 0,
        s if s >= 1e3 => 3,
        s if s >= 1.0 => 6,
        s if s >= 1e-2 => 8,
        _ => 10,
    };
    trimmed(&format!("{x:.decimals$}")).to_string()
}

/// The same among others of a size: what is only rounding beside them is `~0`, which --json has in full.
pub fn beside(x: f64, scale: f64) -> String {
    if x != 0.0 && x.abs() < 1e-13 * scale { "~0".to_string() } else { number(x) }
}

/// The size of a list's largest entry.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

/// A residual: its size matters, not its digits.
fn residual(x: f64) -> String {
    if x == 0.0 { "0".to_string() } else { format!("{x:.1e}") }
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
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

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.0 / 3.0, "-0.33333333"),
            (2.0 / 3.0 * 10.0, "6.666667"),
            (1e-300, "1e-300"),
            (1.25e300, "1.25e300"),
            (1234567.0, "1234567"),
            (12345.678, "12345.678"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(number(x), text);
        }
    }
}
