//! The options that say how an impact is resolved, shared by the commands that resolve one.

use carom::impact::coulomb::Termination;
use carom::impact::{Law, Order};
use carom_answers::Resolution;
use carom_answers::resolution::{TOLERANCE, parse_order};
use clap::builder::{PossibleValuesParser, TypedValueParser};

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
#[derive(Debug, clap::Args)]
pub struct RestArguments {
    /// The rule by which an impact with Coulomb friction ends, instead of the file's
    #[arg(long, value_name = "NAME", value_parser = termination_parser())]
    pub termination: Option<Termination>,

    /// The order of contacts taken one at a time: given, reversed, fastest, or their numbers as in 0,2,1
    #[arg(long, value_parser = parse_order)]
    pub order: Option<Order>,

    /// The tolerance for rank, consistency and admissibility, relative to the data; from 1e-14 to 0.01
    #[arg(long, value_name = "X", value_parser = |text: &str| TOLERANCE.parse(text))]
    pub tolerance: Option<f64>,

    /// Replace a velocity that the joints forbid by the nearest one that they allow, instead of refusing it
    #[arg(long)]
    pub project: bool,

    /// Also exit with code 3 if the result is not admissible or the steps ran out
    #[arg(long)]
    pub strict: bool,
}

impl LawArguments {
    /// What the command line says.
    pub fn resolution(&self) -> Resolution {
        Resolution { law: self.law, ..self.rest.resolution() }
    }
}

impl RestArguments {
    /// What the command line says.
    pub fn resolution(&self) -> Resolution {
        Resolution {
            law: None,
            termination: self.termination,
            order: self.order.clone(),
            tolerance: self.tolerance,
            max_steps: None,
            project: self.project,
        }
    }
}

/// Takes a law by its name.
pub fn law_parser() -> impl TypedValueParser<Value = Law> {
    PossibleValuesParser::new(Law::ALL.map(Law::name))
        .map(|name| Law::from_name(&name).unwrap_or(Law::NewtonLcp))
}

fn termination_parser() -> impl TypedValueParser<Value = Termination> {
    PossibleValuesParser::new(Termination::ALL.map(Termination::name))
        .map(|name| Termination::from_name(&name).unwrap_or_default())
}
