//! A scattering for people.

use std::io::{self, Write};

use carom::scatter::Estimate;
use carom_answers::run::LIMIT;
use carom_answers::scatter::{Answer, EncounterDocument};

use super::generalized::list;
use super::table::{self, Cell};
use super::{Style, number, residual};

/// Rows of the histogram that are shown.
const ANGLES: usize = 10;

/// Writes the quantities, the angles and the audit.
pub fn write(out: &mut dyn Write, answer: &Answer, style: Style) -> io::Result<()> {
    let kernel = &answer.kernel;
    style.write_title(out, answer.title())?;
    writeln!(
        out,
        "{} of {} samples hit, on a disc of radius {}.",
        kernel.hits,
        kernel.samples,
        number(answer.scattering().reach())
    )?;
    let rows: Vec<(&str, Estimate, &str)> = [
        ("cross section", Some(kernel.cross_section), "m²"),
        ("rate", Some(kernel.rate), "m³/s"),
        ("for diffusion, ∫(1 − cos χ) dσ", kernel.diffusion_cross_section, "m²"),
        ("for viscosity, ∫sin²χ dσ", kernel.viscosity_cross_section, "m²"),
        ("impacts of a hit", kernel.impacts, ""),
        ("energy lost, of all before", kernel.energy_loss, ""),
        ("energy into spins, of all before", kernel.exchange, ""),
        ("drag, of the relative velocity", kernel.drag, ""),
        ("mean angle χ", kernel.mean_angle, "rad"),
        ("second virial coefficient", kernel.second_virial_coefficient, "m³"),
    ]
    .into_iter()
    .filter_map(|(name, estimate, unit)| Some((name, estimate?, unit)))
    .collect();
    table::write(out, style, "kernel", ["quantity", "mean", "error", "unit"], rows.len(), |i| {
        let (name, estimate, unit) = rows[i];
        [name.into(), Cell::from(number(estimate.mean)), residual(estimate.error).into(), unit.into()]
    })?;
    let merged = kernel.angle.len() / ANGLES;
    table::write(out, style, "angles", ["cos χ from", "to", "hits", "dσ/dΩ"], ANGLES, |i| {
        let bins = &kernel.angle[i * merged..(i + 1) * merged];
        let count: u64 = bins.iter().map(|bin| bin.count).sum();
        let mean =
            bins.iter().map(|bin| bin.differential_cross_section.mean).sum::<f64>() / bins.len() as f64;
        let ends = [bins[0].cos_from, bins[merged - 1].cos_to];
        [number(ends[0]).into(), number(ends[1]).into(), count.to_string().into(), number(mean).into()]
    })?;
    list(out, style, "notes", answer.notes().into_iter())?;
    let audit = &kernel.audit;
    let worst = format!(
        "energy {}, momentum {}, angular momentum {}, single impacts {}",
        residual(audit.energy_error_max),
        residual(audit.linear_error_max),
        residual(audit.angular_error_max),
        residual(audit.impact_error_max)
    );
    let worst = if audit.is_within(LIMIT) { worst } else { style.alarm(&worst) };
    writeln!(out, "\naudit  largest errors: {worst}")?;
    writeln!(out, "hash {:016x}", kernel.hash)?;
    writeln!(out, "{} samples/s, {} s", number(answer.rate().round()), number(answer.wall_s))
}

/// Writes one sample.
pub fn write_encounter(out: &mut dyn Write, encounter: &EncounterDocument, style: Style) -> io::Result<()> {
    let [y, z] = encounter.impact_parameter;
    let [first, second] = encounter.bodies;
    writeln!(
        out,
        "Sample {}: {first} and {second}, {}; impact parameter {}.",
        encounter.sample,
        match encounter.end {
            "missed" => "which miss each other".to_string(),
            "parted" => format!("which meet in {} impacts and part", encounter.impacts),
            _ => "which could not be followed until they part".to_string(),
        },
        number(y.hypot(z))
    )?;
    if let Some(angle) = encounter.angle {
        writeln!(out, "Scattered by {} rad.", number(angle))?;
    }
    let impacts = &encounter.sequence;
    table::write(out, style, "impacts", ["time", "impulse"], impacts.len(), |i| {
        let [x, y, z] = impacts[i].impulse;
        [number(impacts[i].time).into(), number(x.hypot(y).hypot(z)).into()]
    })
}
