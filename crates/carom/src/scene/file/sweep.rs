//! What a sweep varies.

use std::fmt::Display;

use super::super::diagnostic::Log;
use super::super::document::{Kind, Value};
use super::super::expression::Expression;
use super::super::fields::{self, names};
use super::super::model::{Collect, SweepSettings, Varied, Vary};
use super::super::reader::{self, Fields};
use super::each;

/// The ways to vary, in the order in which messages name them.
const WAYS: [&str; 7] = ["uniform", "normal", "values", "grid", "direction", "orientation", "expression"];

/// The most values of one grid.
const MOST_VALUES: usize = 10_000_000;

/// The names of the numbers varied so far, each with its place among them.
#[derive(Debug, Default)]
pub(in super::super) struct Known {
    names: Vec<(String, usize)>,
    count: usize,
}

impl Known {
    /// Those of some entries.
    pub(in super::super) fn of(entries: &[Vary]) -> Self {
        let mut known = Self::default();
        entries.iter().for_each(|vary| known.add(vary));
        known
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|(known, _)| known == name)
    }

    fn add(&mut self, vary: &Vary) {
        if let (Some(name), 1) = (&vary.name, vary.how.width()) {
            self.names.push((name.clone(), self.count));
        }
        for column in vary.columns() {
            if !self.has(&column) {
                self.names.push((column, self.count));
            }
            self.count += 1;
        }
    }
}

pub(super) fn sweep(root: &Fields<'_>, log: &mut Log<'_>) -> Option<SweepSettings> {
    let Some(value) = root.get("sweep") else { return Some(SweepSettings::default()) };
    let table = Fields::of(value, &"sweep", &names(&fields::SWEEP), |_| None, log)?;
    let whole = |value: &Value, path: &dyn Display, log: &mut Log<'_>| {
        reader::whole(value, path, "a whole number, at least 0", log).map(|x| x as u64)
    };
    let samples = table.or("samples", None, log, |value, path, log| {
        let samples = whole(value, path, log)?;
        if samples == 0 {
            log.report(value.span.clone(), path, "is zero", "a whole number, at least 1");
            return None;
        }
        Some(Some(samples))
    });
    let seed = table.or("seed", 0, log, whole);
    let collect = table.or("collect", Vec::new(), log, |value, path, log| {
        let list = reader::list(value, path, "a list of names", log)?;
        let one = |(i, value): (usize, &Value)| {
            let choices = Collect::ALL.map(|collect| (collect.name(), collect));
            reader::choice(value, &format_args!("{path}[{i}]"), &choices, log)
        };
        let found: Vec<Collect> = list.iter().enumerate().filter_map(one).collect();
        (found.len() == list.len()).then_some(found)
    });
    let mut known = Known::default();
    let vary = each(&table, "vary", log, |value, path, log| vary(value, path, &mut known, log));
    let vary: Option<Vec<Vary>> = vary.into_iter().collect();
    Some(SweepSettings { samples: samples?, seed: seed?, vary: vary?, collect: collect? })
}

/// One entry, which joins those that are known.
pub(super) fn vary(value: &Value, at: &str, known: &mut Known, log: &mut Log<'_>) -> Option<Vary> {
    let table = Fields::of(value, &at, &names(&fields::SWEEP_VARY), |_| None, log)?;
    let text = |name: &str, log: &mut Log<'_>| {
        table.or(name, None, log, |value, path, log| {
            let text = reader::string(value, path, log)?;
            if text.trim().is_empty() {
                log.report(value.span.clone(), path, "is empty", "a name");
                return None;
            }
            Some(Some(text.to_string()))
        })
    };
    let (path, name) = (text("path", log), text("name", log));
    if path == Some(None) && name == Some(None) {
        table.report(
            "has neither `path` nor `name`",
            "the path of a number of the scene, as \"body.ball.mass\"",
            log,
        );
        return None;
    }
    let (way, given) = table.one_of(&WAYS, "how it is varied, as `uniform = [0, 1]`", log)?;
    let how_path = table.path(way);
    let how = how(way, given, &how_path, known, log);
    let (path, name, how) = (path?, name?, how?);
    if path.is_none() && how.width() > 1 {
        table.report(
            format!("`{way}` needs a path"),
            "the path of a vector or an orientation of the scene",
            log,
        );
        return None;
    }
    let span = table.get("path").map_or(value.span.clone(), |path| path.span.clone());
    let vary = Vary { path, name, how, span };
    let twice = vary.columns().into_iter().chain(vary.name.clone()).find(|name| known.has(name));
    if let Some(twice) = twice {
        log.report(value.span.clone(), &at, format!("`{twice}` is varied already"), "each number once");
        return None;
    }
    known.add(&vary);
    Some(vary)
}

fn how(way: &str, value: &Value, path: &str, known: &Known, log: &mut Log<'_>) -> Option<Varied> {
    let two = |meaning: &'static str, log: &mut Log<'_>| {
        let numbers = reader::numbers(value, &path, Some((2, meaning)), log)?;
        Some([numbers[0], numbers[1]])
    };
    match way {
        "uniform" => {
            let [from, to] = two("from and to", log)?;
            if from > to || !(to - from).is_finite() {
                log.report(value.span.clone(), &path, "runs backwards", "[from, to] with from ≤ to");
                return None;
            }
            Some(Varied::Uniform([from, to]))
        }
        "normal" => {
            let [mean, deviation] = two("mean and standard deviation", log)?;
            if deviation < 0.0 {
                log.report(
                    value.span.clone(),
                    &path,
                    "has a negative deviation",
                    "[mean, deviation] with deviation ≥ 0",
                );
                return None;
            }
            Some(Varied::Normal([mean, deviation]))
        }
        "values" => {
            let values = reader::numbers(value, &path, None, log)?;
            if values.is_empty() {
                log.report(value.span.clone(), &path, "is empty", "at least one number");
                return None;
            }
            Some(Varied::Values(values))
        }
        "grid" => {
            let expected = "[from, to, count], with a whole count of at least 1";
            let numbers = reader::numbers(value, &path, Some((3, "from, to and count")), log)?;
            let count = value
                .at(2)
                .and_then(|count| reader::whole(count, &format_args!("{path}[2]"), expected, log))?;
            if !(1..=MOST_VALUES).contains(&count) {
                let span = value.at(2).map_or(value.span.clone(), |count| count.span.clone());
                log.report(
                    span,
                    &format_args!("{path}[2]"),
                    "is out of range",
                    format!("from 1 to {MOST_VALUES}"),
                );
                return None;
            }
            Some(Varied::Grid { from: numbers[0], to: numbers[1], count: count as u64 })
        }
        "direction" => reader::not_negative(value, &path, log).map(Varied::Direction),
        "orientation" => reader::choice(value, &path, &[("uniform", Varied::Orientation)], log),
        _ => {
            let Kind::String(text) = &value.kind else {
                return reader::wrong_kind(value, &path, "an expression in quotes", log);
            };
            let known: Vec<(&str, usize)> =
                known.names.iter().map(|(name, place)| (name.as_str(), *place)).collect();
            match Expression::parse(text, &known) {
                Ok(expression) => Some(Varied::Expression(expression)),
                Err(message) => {
                    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                    let expected = match &names[..] {
                        [] => "an expression of numbers varied above it".to_string(),
                        names => format!("an expression of {}", reader::listed(names)),
                    };
                    log.report(value.span.clone(), &path, message, expected);
                    None
                }
            }
        }
    }
}
