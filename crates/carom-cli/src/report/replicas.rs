//! Copies of a run for people: how many there were and how they ended, their averages, the worst of their audits.

use std::io::{self, Write};
use std::path::Path;

use carom_answers::run::LIMIT;
use carom_answers::run::replicas::Pool;

use super::generalized::list;
use super::run::write_estimates;
use super::{Style, residual};

/// Notes of copies that are told; the document has all.
const NOTES: usize = 6;

/// What there is to report.
pub struct Together<'a> {
    /// The copies.
    pub pool: &'a Pool<'a>,
    /// How many were asked for.
    pub asked: u64,
    /// The folder of their folders.
    pub folder: Option<&'a Path>,
    /// The folder of the first that was interrupted.
    pub interrupted: Option<&'a Path>,
}

/// Writes the result of all copies.
pub fn write(out: &mut dyn Write, together: &Together, style: Style) -> io::Result<()> {
    let Together { pool, folder, .. } = together;
    style.write_title(out, pool.title)?;
    let (by, impacts) = (pool.which.name(), pool.impacts);
    let count = pool.count();
    let runs = if count == 1 { "run" } else { "runs" };
    writeln!(out, "{count} {runs} by the loop `{by}`, {impacts} impacts in all.")?;
    if !pool.interrupted.is_empty() || pool.count() < together.asked {
        writeln!(out, "{}", interruption(together))?;
    }
    write_estimates(out, &pool.estimates, "the spread of the runs", style)?;
    let told = pool.notes.iter().take(NOTES).map(|(number, note)| format!("copy {number}: {note}"));
    list(out, style, "notes", told)?;
    if pool.notes.len() > NOTES {
        writeln!(out, "  … {} more; --json has all", pool.notes.len() - NOTES)?;
    }
    let alarm = |text: String, bad: bool| if bad { style.alarm(&text) } else { text };
    let error = pool.energy_error;
    let mut audit = alarm(format!("energy {}", residual(error)), error.is_nan() || error > LIMIT);
    if let Some(gap) = pool.gap {
        audit += ", ";
        audit += &alarm(format!("smallest gap {}", residual(gap)), gap < -LIMIT);
    }
    writeln!(out, "\naudit  largest errors of all runs: {audit}")?;
    if let Some(folder) = folder {
        writeln!(out, "{}: run.json, and one folder per run", folder.display())?;
    }
    Ok(())
}

/// Says that some copies did not finish, and what to do about it.
fn interruption(together: &Together) -> String {
    let Together { pool, asked, interrupted, .. } = together;
    let missing = asked - pool.count();
    let mut parts = Vec::new();
    if !pool.interrupted.is_empty() {
        parts.push(format!("{} of them interrupted", pool.interrupted.len()));
    }
    if missing > 0 {
        parts.push(format!("{missing} more not begun"));
    }
    let how = interrupted.map_or_else(String::new, |folder| {
        format!(" `carom run --resume {}` goes on with the first.", folder.display())
    });
    format!("{}: the averages are of what was run.{how}", parts.join(", "))
}
