//! The options that say how an impact is resolved, shared by the commands that resolve one.

use carom::audit::Audit;
use carom::impact::coulomb::Termination;
use carom::impact::{Law, Options, Order, Outcome, Status, TOLERANCES};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::Verdict;

/// How to resolve an impact.
#[derive(Debug, clap::Args)]
pub struct LawArguments {
    /// The impact law, instead of the file's
    #[arg(long, value_name = "NAME", value_parser = law_parser())]
    pub law: Option<Law>,

    #[command(flatten)]
    pub rest: RestArguments,
}

/// The same without the law itself.
#[derive(Debug, Default, clap::Args)]
pub struct RestArguments {
    /// How a contact with Coulomb friction ends, instead of the file's
    #[arg(long, value_name = "NAME", value_parser = termination_parser())]
    pub termination: Option<Termination>,

    /// The order of contacts taken one at a time: given, reversed, fastest, or their numbers as in 0,2,1
    #[arg(long, value_parser = parse_order)]
    pub order: Option<Order>,

    /// The tolerance of rank, consistency and admissibility, relative to the data; from 1e-14 to 0.01
    #[arg(long, value_name = "X", value_parser = parse_tolerance)]
    pub tolerance: Option<f64>,

    /// Project the velocity on the joints first, instead of refusing one that violates them
    #[arg(long)]
    pub project: bool,

    /// Exit with 3 also when the result is not admissible or the steps ran out
    #[arg(long)]
    pub strict: bool,
}

impl RestArguments {
    /// What the command line says goes before what the file says; the order is the caller's to check.
    pub fn adjust(&self, options: &mut Options) {
        options.termination = self.termination.unwrap_or(options.termination);
        options.tolerance = self.tolerance.unwrap_or(options.tolerance);
        options.project = self.project;
    }

    /// How the command ends.
    pub fn verdict(&self, outcome: &Outcome, audit: Option<&Audit>) -> Verdict {
        if audit.is_some_and(|audit| !audit.passed) {
            return Verdict::AuditFailed;
        }
        let exhausted = outcome.status == Status::StepsExhausted;
        if !outcome.consistent || (self.strict && (!outcome.admissible || exhausted)) {
            Verdict::NoAnswer
        } else {
            Verdict::Done
        }
    }
}

fn law_parser() -> impl TypedValueParser<Value = Law> {
    PossibleValuesParser::new(Law::ALL.map(Law::name))
        .map(|name| Law::from_name(&name).unwrap_or(Law::NewtonLcp))
}

fn termination_parser() -> impl TypedValueParser<Value = Termination> {
    PossibleValuesParser::new(Termination::ALL.map(Termination::name))
        .map(|name| Termination::from_name(&name).unwrap_or_default())
}

fn parse_order(text: &str) -> Result<Order, String> {
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

fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(tolerance) if TOLERANCES.contains(&tolerance) => Ok(tolerance),
        _ => Err(format!("expected a number from {:e} to {}", TOLERANCES.start(), TOLERANCES.end())),
    }
}
