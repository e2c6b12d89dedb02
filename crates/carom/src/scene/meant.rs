//! What was probably meant: the names of other programs for a field, and the characters of other keyboards for a number.

use std::ops::Range;

/// Other names of fields, each beside those of this format, the likeliest first.
const NAMES: [(&str, &[&str]); 56] = [
    ("vel", &["velocity"]),
    ("v", &["velocity"]),
    ("v0", &["velocity"]),
    ("speed", &["velocity"]),
    ("linear_velocity", &["velocity"]),
    ("linvel", &["velocity"]),
    ("angvel", &["angular_velocity"]),
    ("ang_vel", &["angular_velocity"]),
    ("omega", &["angular_velocity"]),
    ("spin", &["angular_velocity"]),
    ("w", &["angular_velocity"]),
    ("pos", &["position"]),
    ("xyz", &["position"]),
    ("x", &["position"]),
    ("origin", &["position", "point", "offset"]),
    ("center", &["position", "point"]),
    ("centre", &["position", "point"]),
    ("com", &["position"]),
    ("quat", &["orientation"]),
    ("quaternion", &["orientation"]),
    ("rotation", &["orientation"]),
    ("rot", &["orientation"]),
    ("m", &["mass"]),
    ("weight", &["mass"]),
    ("rho", &["density"]),
    ("moments", &["inertia"]),
    ("diaginertia", &["inertia"]),
    ("geom", &["shape"]),
    ("geometry", &["shape"]),
    ("collider", &["shape"]),
    ("static", &["fixed"]),
    ("kinematic", &["fixed"]),
    ("immovable", &["fixed"]),
    ("id", &["name"]),
    ("g", &["gravity"]),
    ("box", &["periodic"]),
    ("e", &["restitution"]),
    ("cor", &["restitution"]),
    ("bounce", &["restitution"]),
    ("bounciness", &["restitution"]),
    ("elasticity", &["restitution"]),
    ("r", &["radius"]),
    ("axes", &["semi_axes", "axis"]),
    ("radii", &["semi_axes"]),
    ("end", &["until"]),
    ("t_end", &["until"]),
    ("tmax", &["until"]),
    ("duration", &["until"]),
    ("time", &["until"]),
    ("max_steps", &["max_events"]),
    ("interval", &["sample"]),
    ("n", &["count", "normal"]),
    ("phi", &["packing_fraction"]),
    ("k", &["stiffness"]),
    ("rest_length", &["length"]),
    ("solver", &["law"]),
];

/// What is said of a time step, wherever one is given.
const NO_STEP: &str = "no time step: a run goes from event to event, each at its exact time; `run.sample` is the interval of its output";

/// Names of time steps.
const STEPS: [&str; 7] = ["dt", "timestep", "time_step", "step", "step_size", "h", "substeps"];

/// What a key of another program stands for among these names: the name, if it is one of them, in backquotes.
pub(super) fn name_for(key: &str, names: &[&'static str]) -> Option<&'static str> {
    let key = key.to_ascii_lowercase();
    let (_, meant) = NAMES.iter().find(|(other, _)| *other == key)?;
    meant.iter().find_map(|name| names.iter().find(|known| *known == name).copied())
}

/// What to say of a key that no table has, because the program works otherwise.
pub(super) fn said_of(key: &str) -> Option<&'static str> {
    STEPS.iter().any(|step| key.eq_ignore_ascii_case(step)).then_some(NO_STEP)
}

/// A character or comma that stands where a number was meant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Slip {
    pub(super) span: Range<usize>,
    pub(super) message: String,
    pub(super) expected: String,
}

/// Characters that look like one of the formats, with that one.
const LOOKALIKES: [(char, &str, &str); 13] = [
    ('\u{2212}', "the Unicode minus sign", "-"),
    ('\u{2013}', "an en dash", "-"),
    ('\u{2014}', "an em dash", "-"),
    ('\u{2010}', "a Unicode hyphen", "-"),
    ('\u{2011}', "a Unicode hyphen", "-"),
    ('\u{ff0d}', "a full-width minus", "-"),
    ('\u{201c}', "a typographic quotation mark", "\""),
    ('\u{201d}', "a typographic quotation mark", "\""),
    ('\u{201e}', "a typographic quotation mark", "\""),
    ('\u{2018}', "a typographic quotation mark", "'"),
    ('\u{2019}', "a typographic quotation mark", "'"),
    ('\u{a0}', "a no-break space", " "),
    ('\u{202f}', "a no-break space", " "),
];

/// What was probably meant on the line where a text stops being of its language at `offset`.
pub(super) fn slip_at(text: &str, offset: usize) -> Option<Slip> {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    // Not of a document that is one line of many megabytes.
    let line = text.get(start..end).filter(|line| line.len() <= 4096)?;
    lookalike(line, start).or_else(|| decimal_comma(line, start))
}

/// The first character outside quotes and comments that only looks like what was meant.
fn lookalike(line: &str, start: usize) -> Option<Slip> {
    let mut quote = None;
    for (at, character) in line.char_indices() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None if character == '"' || character == '\'' => quote = Some(character),
            None if character == '#' => return None,
            None => {
                if let Some((_, what, meant)) = LOOKALIKES.iter().find(|(other, ..)| *other == character) {
                    let span = start + at..start + at + character.len_utf8();
                    let message = format!(
                        "`{character}` is {what} (U+{:04X}), which no number or text begins with",
                        u32::from(character)
                    );
                    let expected = if *meant == " " { "a space".to_string() } else { format!("`{meant}`") };
                    return Some(Slip { span, message, expected });
                }
            }
        }
    }
    None
}

/// A number with a decimal comma: digits, a comma, digits, as the whole of a value, such as `mass = 2,5`.
fn decimal_comma(line: &str, start: usize) -> Option<Slip> {
    let after = line.find(['=', ':'])? + 1;
    let value = line[after..].split('#').next()?.trim_end().trim_end_matches(',').trim();
    let (whole, part) = value.split_once(',')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = part.split_once(['e', 'E']).unwrap_or((part, "0"));
    let unsigned = |text: &str| text.trim_start_matches(['+', '-']).to_string();
    if !(digits(&unsigned(whole)) && digits(mantissa) && digits(&unsigned(exponent))) {
        return None;
    }
    let at = start + after + line[after..].find(value)?;
    let message = format!("`{value}` has a decimal comma, and a comma separates two values");
    Some(Slip { span: at..at + value.len(), message, expected: format!("a decimal point, `{whole}.{part}`") })
}

#[cfg(test)]
mod tests {
    use super::{LOOKALIKES, NAMES, name_for, said_of, slip_at};
    use crate::scene::fields;

    #[test]
    fn names_of_other_programs() {
        assert_eq!(name_for("vel", &["velocity", "position"]), Some("velocity"));
        assert_eq!(name_for("Vel", &["velocity"]), Some("velocity"));
        assert_eq!(name_for("vel", &["mass"]), None);
        assert_eq!(name_for("center", &["point", "axis"]), Some("point"));
        assert!(said_of("dt").is_some_and(|text| text.starts_with("no time step")));
        assert_eq!(said_of("density"), None);
        // Every name that something is said to stand for is one of the format, and no other name is one at its side.
        let known: Vec<&str> = [
            fields::names(&fields::SCENE).to_vec(),
            fields::names(&fields::WORLD).to_vec(),
            fields::names(&fields::BODY).to_vec(),
            fields::names(&fields::SPHERE).to_vec(),
            fields::names(&fields::ELLIPSOID).to_vec(),
            fields::names(&fields::PLANE).to_vec(),
            fields::names(&fields::HINGE).to_vec(),
            fields::names(&fields::SPRING).to_vec(),
            fields::names(&fields::FILL).to_vec(),
            fields::names(&fields::SURFACE).to_vec(),
            fields::names(&fields::IMPACT).to_vec(),
            fields::names(&fields::RUN).to_vec(),
        ]
        .concat();
        for (other, meant) in NAMES {
            assert!(meant.iter().all(|name| known.contains(name)), "{other}: {meant:?}");
            assert!(!meant.contains(&other), "{other}");
        }
    }

    #[test]
    fn decimal_commas() {
        let slip =
            |text: &str| slip_at(text, text.len()).map(|slip| (text[slip.span].to_string(), slip.expected));
        let meant =
            |comma: &str, point: &str| Some((comma.to_string(), format!("a decimal point, `{point}`")));
        assert_eq!(slip("mass = 2,5"), meant("2,5", "2.5"));
        assert_eq!(slip("a = 1\nmass = -2,5e-3 # kg"), meant("-2,5e-3", "-2.5e-3"));
        assert_eq!(slip("\"mass\": 2,5,"), meant("2,5", "2.5"));
        for text in ["mass = 2, 5", "mass = 2", "p = [1,5]", "mass = 2,x", "", "= ,5"] {
            assert_eq!(slip(text), None, "{text}");
        }
    }

    #[test]
    fn characters_that_look_alike() {
        for (character, _, meant) in LOOKALIKES {
            let text = format!("a = 1\nvelocity = [0, 0, {character}3]");
            let slip = slip_at(&text, 7).expect("a slip");
            assert_eq!(&text[slip.span.clone()], character.to_string());
            assert!(meant == " " || slip.expected == format!("`{meant}`"), "{slip:?}");
            assert!(slip_at(&format!("name = \"{character}\" ="), 3).is_none());
            assert!(slip_at(&format!("a = # {character}"), 3).is_none());
        }
        // Any offset in any text.
        for offset in 0..40 {
            let _ = slip_at("é = − 1\n“a” = 2,5", offset);
        }
    }
}
