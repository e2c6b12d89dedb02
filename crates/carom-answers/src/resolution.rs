//! How an impact is to be resolved, where that differs from what the text says; shared by the questions that resolve one.

use carom::audit::Audit;
use carom::impact::coulomb::Termination;
use carom::impact::{Law, Options, Order, Outcome, Status, TOLERANCES};

use crate::options::{AT_LEAST_ONE, Range};
use crate::{InputError, Verdict};

/// What goes before what the text says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resolution {
    /// The impact law.
    pub law: Option<Law>,
    /// How a contact with Coulomb friction ends.
    pub termination: Option<Termination>,
    /// The order of contacts taken one at a time. Numbers are those of a scene's contacts, or of the normals' rows of a
    /// problem given as matrices.
    pub order: Option<Order>,
    /// The tolerance of rank, consistency and admissibility.
    pub tolerance: Option<f64>,
    /// The most steps of a cascade or sequence.
    pub max_steps: Option<usize>,
    /// Whether the velocity is projected on the joints first.
    pub project: bool,
}

/// The tolerances accepted.
pub const TOLERANCE: Range = Range::new(|x| TOLERANCES.contains(&x), "a number from 1e-14 to 0.01");

impl Resolution {
    /// Changes the options, all but the order, which is the caller's to check.
    pub(crate) fn adjust(&self, options: &mut Options) -> Result<(), InputError> {
        TOLERANCE.check_some("tolerance", self.tolerance)?;
        AT_LEAST_ONE.check_some("max_steps", self.max_steps)?;
        options.law = self.law.unwrap_or(options.law);
        options.termination = self.termination.unwrap_or(options.termination);
        options.tolerance = self.tolerance.unwrap_or(options.tolerance);
        options.max_steps = self.max_steps.or(options.max_steps);
        options.project = self.project;
        Ok(())
    }
}

/// An order by its name, or by numbers as in `0,2,1`.
pub fn parse_order(text: &str) -> Result<Order, String> {
    match text {
        "given" => Ok(Order::Given),
        "reversed" => Ok(Order::Reversed),
        "fastest" => Ok(Order::Fastest),
        rows => rows
            .split(',')
            .map(|row| row.trim().parse())
            .collect::<Result<_, _>>()
            .map(Order::Rows)
            .map_err(|_| "expected given, reversed, fastest, or numbers as in 0,2,1".to_string()),
    }
}

/// The verdict on an outcome; with `strict`, one that is not admissible or ran out of steps is no answer either.
pub(crate) fn verdict(outcome: &Outcome, audit: Option<&Audit>, strict: bool) -> Verdict {
    if audit.is_some_and(|audit| !audit.passed) {
        return Verdict::AuditFailed;
    }
    let exhausted = outcome.status == Status::StepsExhausted;
    if !outcome.consistent || (strict && (!outcome.admissible || exhausted)) {
        Verdict::NoAnswer
    } else {
        Verdict::Done
    }
}

#[cfg(test)]
mod tests {
    use super::{TOLERANCE, TOLERANCES, parse_order};
    use carom::impact::Order;

    #[test]
    fn the_words_say_the_range() {
        let words = format!("a number from {:e} to {}", TOLERANCES.start(), TOLERANCES.end());
        assert_eq!(TOLERANCE.expected, words);
    }

    #[test]
    fn orders_are_names_or_numbers() {
        assert_eq!(parse_order("fastest"), Ok(Order::Fastest));
        assert_eq!(parse_order("0, 2,1"), Ok(Order::Rows(vec![0, 2, 1])));
        assert!(parse_order("0,,1").is_err());
    }
}
