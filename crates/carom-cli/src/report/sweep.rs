//! A sweep for people.

use std::io::{self, Write};

use carom_answers::run::LIMIT;
use carom_answers::sweep::{Call, Summary, Sweep};

use super::generalized::list;
use super::table;
use super::{Style, number, residual};

/// Writes how far it is, and what the table says.
pub fn write(out: &mut dyn Write, sweep: &Sweep, call: &Call, style: Style) -> io::Result<()> {
    style.write_title(out, sweep.title())?;
    let range = call.shard.range(sweep.samples());
    let of = match call.shard {
        carom_answers::sweep::Shard::WHOLE => String::new(),
        shard => format!(" of shard {}/{}", shard.number, shard.count),
    };
    let count = range.end - range.start;
    writeln!(out, "{} of {count} samples{of}, over {}.", call.done, sweep.plan().columns().join(", "))?;
    match (call.table, call.run) {
        (Some(path), 0) => writeln!(out, "{} was there already.", path.display())?,
        (Some(path), _) => writeln!(out, "Written to {}.", path.display())?,
        (None, _) => writeln!(out, "Ended in the midst; the same command goes on from there.")?,
    }
    if let Some(summary) = call.summary {
        write_summary(out, summary, style)?;
    }
    if call.run > 0 {
        #[expect(clippy::cast_precision_loss, reason = "shown")]
        let rate = call.run as f64 / call.wall_s;
        writeln!(out, "{} samples in {} s, {}/s", call.run, number(call.wall_s), number(rate.round()))?;
    }
    Ok(())
}

/// Writes what the table says as a whole.
pub fn write_summary(out: &mut dyn Write, summary: &Summary, style: Style) -> io::Result<()> {
    let stopped: Vec<(&String, &u64)> = summary.stopped.iter().collect();
    table::write(out, style, "how they ended", ["stopped", "samples"], stopped.len(), |i| {
        [stopped[i].0.as_str().into(), stopped[i].1.to_string().into()]
    })?;
    let told = summary.reasons.iter().map(|(sample, why)| format!("sample {sample}: {why}"));
    list(out, style, "the first that did not end as they should", told)?;
    let error = format!("energy {}", residual(summary.energy_error_max));
    let bad = summary.energy_error_max.is_nan() || summary.energy_error_max > LIMIT;
    let error = if bad { style.alarm(&error) } else { error };
    let gap = summary.gap_min.map_or_else(String::new, |gap| format!(", smallest gap {}", residual(gap)));
    writeln!(out, "\naudit  {} impacts; largest errors of all samples: {error}{gap}", summary.impacts)
}
