//! What varies, in one line: `body.ball.velocity[0]=uniform(0.5, 2)`.

use serde_json::{Map, Value, json};

/// What stands where nothing is right.
const EXPECTED: &str = "expected PATH=HOW, as surface.restitution=grid(0, 1, 11), with one of uniform(from, to), normal(mean, sd), \
                        values(x, y, …), grid(from, to, count), direction(length), orientation, expression(…)";

/// An entry like those of `[[sweep.vary]]`. What stands before the equals sign is a path if it has a dot, or else the name of a number that others
/// use.
pub fn parse_vary(text: &str) -> Result<Value, String> {
    let (path, how) = text.split_once('=').ok_or(EXPECTED)?;
    let (path, how) = (path.trim(), how.trim());
    let (way, inside) = match how.split_once('(') {
        Some((way, rest)) => (way.trim(), rest.strip_suffix(')').ok_or(EXPECTED)?.trim()),
        None => (how, ""),
    };
    if path.is_empty() {
        return Err(EXPECTED.to_string());
    }
    let numbers = || -> Result<Vec<Value>, String> {
        let number = |word: &str| -> Result<Value, String> {
            let word = word.trim();
            // Whole numbers stay whole: a count must be.
            if let Ok(whole) = word.parse::<u64>() {
                return Ok(json!(whole));
            }
            let number: Option<f64> = word.parse().ok().filter(|x: &f64| x.is_finite());
            number.map(|x| json!(x)).ok_or_else(|| format!("`{word}` is not a number; {EXPECTED}"))
        };
        inside.split(',').map(number).collect()
    };
    let value = match way {
        "uniform" | "normal" | "values" | "grid" => Value::Array(numbers()?),
        "direction" => match &numbers()?[..] {
            [length] => length.clone(),
            _ => return Err(EXPECTED.to_string()),
        },
        "orientation" if inside.is_empty() => json!("uniform"),
        "expression" => json!(inside),
        _ => return Err(format!("`{way}` is no way to vary; {EXPECTED}")),
    };
    let mut entry = Map::new();
    let key = if path.contains('.') { "path" } else { "name" };
    entry.insert(key.to_string(), json!(path));
    entry.insert(way.to_string(), value);
    Ok(Value::Object(entry))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse_vary;

    #[test]
    fn a_line_is_an_entry() {
        for (line, entry) in [
            (
                "body.a.velocity[0]=uniform(0.5, 2)",
                json!({ "path": "body.a.velocity[0]", "uniform": [0.5, 2] }),
            ),
            (
                "surface.restitution = grid(0, 1, 11)",
                json!({ "path": "surface.restitution", "grid": [0, 1, 11] }),
            ),
            ("angle=normal(-1, 0.1)", json!({ "name": "angle", "normal": [-1.0, 0.1] })),
            ("body.a.velocity=direction(3)", json!({ "path": "body.a.velocity", "direction": 3 })),
            (
                "body.a.orientation=orientation",
                json!({ "path": "body.a.orientation", "orientation": "uniform" }),
            ),
            (
                "run.until=expression(2 * (v + 1))",
                json!({ "path": "run.until", "expression": "2 * (v + 1)" }),
            ),
        ] {
            assert_eq!(parse_vary(line).unwrap(), entry);
        }
        for line in [
            "",
            "a.b",
            "a.b=",
            "=uniform(0, 1)",
            "a.b=uniform(0, x)",
            "a.b=uniform(0, 1",
            "a.b=poisson(1)",
            "a.b=direction(1, 2)",
        ] {
            assert!(parse_vary(line).unwrap_err().contains("PATH=HOW"), "{line}");
        }
    }
}
