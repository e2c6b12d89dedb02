//! Types of contact for people.

use std::io::{self, Write};

use carom::contact::classify::Type;
use carom_answers::classify::{Findings, Found};

use super::table;
use super::{Style, number, residual, vector};

/// The most contacts shown one by one.
const SHOWN: usize = 10;

/// Writes every contact: its type in a sentence, what decides it, and the other numbers.
pub fn write(out: &mut dyn Write, found: &Findings, style: Style) -> io::Result<()> {
    let Findings { title, contacts, nearest, notes, .. } = found;
    style.write_title(out, title.as_deref())?;
    if contacts.is_empty() {
        match nearest {
            Some(([first, second], gap)) => {
                writeln!(out, "Nothing touches; {first} and {second} are nearest, {} apart.", number(*gap))?;
            }
            None => writeln!(out, "Nothing touches.")?,
        }
    }
    for contact in contacts.iter().take(SHOWN) {
        let [first, second] = &contact.bodies;
        writeln!(
            out,
            "{first} and {second}: {}. {}",
            contact.class.kind.name(),
            meaning(contact.class.kind)
        )?;
    }
    if contacts.len() > SHOWN {
        writeln!(out, "… {} more contacts; --json has all", contacts.len() - SHOWN)?;
    }
    for contact in contacts.iter().take(SHOWN) {
        write_contact(out, contact, style)?;
    }
    if !notes.is_empty() {
        writeln!(out, "\n{}", style.heading("notes"))?;
        for note in notes {
            writeln!(out, "  - {}", note.replace(char::is_control, " "))?;
        }
    }
    Ok(())
}

/// What a type means, in a sentence.
const fn meaning(kind: Type) -> &'static str {
    match kind {
        Type::Normal => "They close: an impulse.",
        Type::Separating => "They part.",
        Type::Graze => "They touch without approach and part again: no impulse.",
        Type::Unrealizable => {
            "Free flight has them overlap before and after: not a first contact, unless a force holds it."
        }
        Type::Paradox2b | Type::Paradox2bStar | Type::ParadoxMarginal => {
            "Nothing closes, so an impulse is nothing; yet free flight penetrates from here on."
        }
        Type::Degenerate => "The first three derivatives of the gap do not decide.",
    }
}

fn write_contact(out: &mut dyn Write, contact: &Found, style: Style) -> io::Result<()> {
    let class = &contact.class;
    let (k, scales, ratios) = (&class.kinematics, &class.scales, &class.ratios);
    // Exchanged, the bodies have w − Ku; the smaller of the two decides.
    let w = ratios.w * class.tolerances.rates * scales.turn;
    let rows = [
        ("v", "g'", k.v, ratios.v, scales.speed),
        ("g2", "g''", k.g2, ratios.g2, scales.acceleration),
        ("g3", "g'''", k.g3, ratios.g3, scales.jerk),
        ("slip", "|u|", k.slip.norm(), ratios.slip, scales.speed),
        ("w", "|w|", w, ratios.w, scales.turn),
    ];
    let title = contact.bodies.join("-");
    table::write(
        out,
        style,
        &title,
        ["quantity", "", "value", "is zero below", "and is"],
        rows.len(),
        |i| {
            let (name, symbol, value, ratio, scale) = rows[i];
            let zero = ratio.abs() <= 1.0;
            [
                name.into(),
                symbol.into(),
                if zero { "~0".into() } else { number(value).into() },
                residual(class.tolerances.rates * scale).into(),
                if zero { "zero" } else { "not zero" }.into(),
            ]
        },
    )?;
    let size = scales.length;
    let speed = scales.speed;
    let beside = |x: f64, scale: f64| super::beside(x, scale);
    for (name, text) in [
        ("point", vector(&k.points[1], size)),
        ("normal", vector(&k.normal, 1.0)),
        ("slip", vector(&k.slip, speed)),
        ("w", vector(&k.w, scales.turn)),
        ("a", beside(k.a, scales.acceleration)),
        ("threshold wᵀK⁻¹w", beside(k.threshold, scales.acceleration)),
        ("principal values of K", k.relative_curvature.map(number).join(", ")),
        ("n·M·n", number(contact.effective_inverse_mass)),
        ("gap left", residual(k.gap)),
    ] {
        writeln!(out, "  {name:>22}  {text}")?;
    }
    match class.nearest {
        Some(nearest) => writeln!(
            out,
            "  nearest other type: {}, with a tolerance {:.1e} times as {} (by {})",
            nearest.kind.name(),
            nearest.factor,
            if class.ratios.of(nearest.by).abs() > 1.0 { "large" } else { "small" },
            nearest.by.name()
        ),
        None => Ok(()),
    }
}
