//! Numbers and vectors as sentences have them.

use nalgebra::Vector3;

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

/// The same among others of a size: what is only rounding beside them is `~0`, which the document has in full.
pub fn beside(x: f64, scale: f64) -> String {
    if x != 0.0 && x.abs() < 1e-13 * scale { "~0".to_string() } else { number(x) }
}

/// A residual: its size matters, not its digits.
pub fn residual(x: f64) -> String {
    if x == 0.0 { "0".to_string() } else { format!("{x:.1e}") }
}

/// A vector among others of a size.
pub fn vector(v: &Vector3<f64>, scale: f64) -> String {
    let part = |x: f64| beside(x, scale);
    format!("[{}, {}, {}]", part(v.x), part(v.y), part(v.z))
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
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
