//! The options of a question: which values they take, said once for every way to ask.

use crate::InputError;

/// The numbers that an option takes.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    holds: fn(f64) -> bool,
    /// In words, to go after “expected”.
    pub expected: &'static str,
}

impl Range {
    /// Those for which a condition holds.
    pub(crate) const fn new(holds: fn(f64) -> bool, expected: &'static str) -> Self {
        Self { holds, expected }
    }

    /// Whether a number is one of them.
    pub fn contains(&self, x: f64) -> bool {
        (self.holds)(x)
    }

    /// A number of them as a user wrote it, or what was expected.
    pub fn parse(&self, text: &str) -> Result<f64, String> {
        let x = text.parse().ok().filter(|&x| self.contains(x));
        x.ok_or_else(|| match meant(text) {
            Some(meant) => format!("expected {}, perhaps {meant}: {}", self.expected, slip(text)),
            None => format!("expected {}", self.expected),
        })
    }

    /// Refuses a value of an option that is not among them.
    pub fn check(&self, option: &str, value: f64) -> Result<(), InputError> {
        if self.contains(value) {
            Ok(())
        } else {
            Err(InputError::of_value(option, &value.to_string(), self.expected))
        }
    }

    /// As above, for an optional value.
    pub fn check_some(&self, option: &str, value: Option<f64>) -> Result<(), InputError> {
        value.map_or(Ok(()), |value| self.check(option, value))
    }
}

/// How close, relative to the sizes of two bodies, counts as touching.
pub const TOUCHING: Range = Range::new(|x| (0.0..=0.1).contains(&x), "a number from 0 to 0.1");

/// The usual tolerance of touching, as people write it.
pub const TOUCHING_SHOWN: &str = "1e-9";

/// The usual tolerance of rates that count as zero, likewise.
pub const RATES_SHOWN: &str = "1e-9";

/// A time that may be negative.
pub const TIME: Range = Range::new(f64::is_finite, "a finite number");

/// A time that something ends at.
pub const END: Range = Range::new(|x| x.is_finite() && x > 0.0, "a finite time greater than 0");

/// A length of time greater than zero.
pub const SPAN: Range = Range::new(|x| x.is_finite() && x > 0.0, "a time greater than 0");

/// A length of time that may be zero.
pub const DELAY: Range = Range::new(|x| x.is_finite() && x >= 0.0, "a time of 0 or more");

/// A number that is not negative.
pub const NOT_NEGATIVE: Range = Range::new(|x| x.is_finite() && x >= 0.0, "a finite number, at least 0");

/// The number that somebody wrote with a decimal comma or a Unicode minus.
fn meant(text: &str) -> Option<String> {
    let text = text.trim();
    let plain = text.replacen(['\u{2212}', '\u{2013}'], "-", 1).replacen(',', ".", 1);
    (plain != text && plain.parse::<f64>().is_ok_and(f64::is_finite)).then_some(plain)
}

/// What is wrong with a number that [`meant`] can put right.
fn slip(text: &str) -> &'static str {
    if text.contains(',') {
        "a comma is no decimal point"
    } else {
        "that is not the minus sign of the keyboard, `-`"
    }
}

/// The whole numbers that an option takes: from one up.
#[derive(Debug, Clone, Copy)]
pub struct Count {
    /// The largest.
    pub most: u64,
}

impl Count {
    fn expected(self) -> String {
        match self.most {
            u64::MAX => "a whole number, at least 1".to_string(),
            most => format!("a whole number, from 1 to {most}"),
        }
    }

    /// A number of them as a user wrote it, or what was expected.
    pub fn parse<T: TryFrom<u64>>(self, text: &str) -> Result<T, String> {
        let count = text.parse().ok().filter(|count| (1..=self.most).contains(count));
        count.and_then(|count| T::try_from(count).ok()).ok_or_else(|| format!("expected {}", self.expected()))
    }

    /// Refuses a value of an option that is not among them.
    pub fn check(self, option: &str, value: u64) -> Result<(), InputError> {
        if (1..=self.most).contains(&value) {
            Ok(())
        } else {
            Err(InputError::of_value(option, &value.to_string(), &self.expected()))
        }
    }

    /// As above, for an optional value.
    pub fn check_some(self, option: &str, value: Option<usize>) -> Result<(), InputError> {
        value.map_or(Ok(()), |value| self.check(option, value as u64))
    }
}

/// How many of something that has no upper bound.
pub const AT_LEAST_ONE: Count = Count { most: u64::MAX };

/// How many threads work on a run.
pub const THREADS: Count = Count { most: 1024 };

/// How many copies of a run there are.
pub const REPLICAS: Count = Count { most: 1_000_000 };

#[cfg(test)]
mod tests {
    use super::{NOT_NEGATIVE, RATES_SHOWN, TIME, TOUCHING_SHOWN};
    use carom::contact::classify::Tolerances;
    use carom::scene::instant;

    #[test]
    fn defaults_are_shown_as_they_are() {
        assert_eq!(TOUCHING_SHOWN.parse(), Ok(instant::TOUCHING));
        assert_eq!(RATES_SHOWN.parse(), Ok(Tolerances::default().rates));
    }

    #[test]
    fn slips_of_the_pen_are_put_right() {
        let said = |text: &str| NOT_NEGATIVE.parse(text).unwrap_err();
        assert!(said("2,5").ends_with("perhaps 2.5: a comma is no decimal point"), "{}", said("2,5"));
        assert_eq!(said("two"), "expected a finite number, at least 0");
        assert_eq!(said("-1"), "expected a finite number, at least 0");
        let said = TIME.parse("\u{2212}3").unwrap_err();
        assert!(said.contains("perhaps -3: that is not the minus sign"), "{said}");
    }
}
