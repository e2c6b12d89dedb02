//! The results of a battery as a table, with the scenes that did not pass.

use std::fmt::Write;

use crate::judge::{Judged, Outcome};
use crate::kinds::{Case, Kind};

/// The deepest overlap, over the size of the smaller body.
const OVERLAP: f64 = 1e-9;

/// The most energy that may come of rounding in a run, over its scale.
const GAIN: f64 = 1e-11;

/// The most by which momentum may be out of balance.
const IMBALANCE: f64 = 1e-12;

/// A scene and the verdict on it.
pub struct Row {
    pub case: Case,
    pub judged: Judged,
}

impl Row {
    /// What is no number overlaps as well.
    pub fn overlaps(&self) -> bool {
        self.judged.gap < -OVERLAP || self.judged.gap.is_nan()
    }

    pub fn gains_energy(&self) -> bool {
        self.judged.gain > GAIN
    }

    pub fn loses_momentum(&self) -> bool {
        self.judged.imbalance > IMBALANCE
    }

    fn is(&self, outcome: Outcome) -> bool {
        self.judged.outcome == outcome
    }
}

/// A column: its heading, and whether it counts a row.
type Column = (&'static str, fn(&Row) -> bool);

const COLUMNS: [Column; 8] = [
    ("ended", |row| row.is(Outcome::Ended)),
    ("slow", |row| row.is(Outcome::Slow)),
    ("stalled", |row| row.is(Outcome::Stalled)),
    ("failed", |row| row.is(Outcome::Failed)),
    ("panicked", |row| row.is(Outcome::Panicked)),
    ("overlap", Row::overlaps),
    ("gain", Row::gains_energy),
    ("momentum", Row::loses_momentum),
];

/// The table by kind, and below it every scene that did not pass.
pub fn show(seed: u64, rows: &[Row]) -> String {
    let mut text = format!("\nbattery {seed}, {} scenes\n{:<10}{:>7}", rows.len(), "kind", "scenes");
    for (heading, _) in COLUMNS {
        let _ = write!(text, "{heading:>9}");
    }
    let _ = writeln!(text, "{:>9}{:>9}{:>9}", "stepped", "CPU s", "longest");
    for kind in Kind::ALL {
        let of_kind: Vec<&Row> = rows.iter().filter(|row| row.case.kind == kind).collect();
        if !of_kind.is_empty() {
            line(&mut text, kind.name(), &of_kind);
        }
    }
    line(&mut text, "all", &rows.iter().collect::<Vec<_>>());
    for (heading, counts) in &COLUMNS[1..] {
        for row in rows.iter().filter(|row| counts(row)) {
            let Row { case, judged } = row;
            let _ = writeln!(
                text,
                "{heading}: {} with {} bodies, {:.1} s: {}; energy +{:.0e}, momentum {:.0e}",
                case.file_name(),
                case.bodies,
                judged.cpu.as_secs_f64(),
                judged.words,
                judged.gain,
                judged.imbalance,
            );
        }
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "fewer scenes than 2^53")]
fn line(text: &mut String, name: &str, rows: &[&Row]) {
    let _ = write!(text, "{name:<10}{:>7}", rows.len());
    for (_, counts) in COLUMNS {
        let _ = write!(text, "{:>9}", rows.iter().filter(|row| counts(row)).count());
    }
    let cpu = rows.iter().map(|row| row.judged.cpu.as_secs_f64());
    let stepped: f64 = rows.iter().map(|row| row.judged.stepped).sum();
    let share = 100.0 * stepped / rows.len().max(1) as f64;
    let _ = writeln!(text, "{share:>8.2}%{:>9.1}{:>9.1}", cpu.clone().sum::<f64>(), cpu.fold(0.0, f64::max));
}
