//! The world, the impact law and the run.

use std::fmt::Display;

use nalgebra::Vector3;

use super::super::diagnostic::Log;
use super::super::document::Value;
use super::super::fields::{self, names};
use super::super::model::{
    ImpactSettings, OnParadox, OnTrouble, RunSettings, ScatterSettings, Spin, Translation,
};
use super::super::reader::{self, Fields};
use crate::impact::Law;
use crate::impact::coulomb::Termination;

/// The periodic box as a scene gives it.
#[derive(Clone, Copy)]
pub(super) enum PeriodicBox {
    /// None is given, or one that is open in every direction.
    Absent,
    /// Its lengths; zero in an open direction.
    Given(Vector3<f64>),
}

impl PeriodicBox {
    /// Its lengths, if there is a box.
    pub const fn lengths(self) -> Option<Vector3<f64>> {
        match self {
            Self::Absent => None,
            Self::Given(lengths) => Some(lengths),
        }
    }
}

/// Gravity and the periodic box; `None` for one that could not be read.
pub(super) fn world(root: &Fields<'_>, log: &mut Log<'_>) -> (Option<Vector3<f64>>, Option<PeriodicBox>) {
    let Some(value) = root.get("world") else {
        return (Some(Vector3::zeros()), Some(PeriodicBox::Absent));
    };
    let Some(table) = Fields::of(value, &"world", &names(&fields::WORLD), |_| None, log) else {
        return (None, None);
    };
    let gravity = table.or("gravity", Vector3::zeros(), log, reader::vector);
    let periodic = table.or("periodic", PeriodicBox::Absent, log, |value, path, log| {
        let lengths = reader::not_negative_vector(value, path, log)?;
        Some(if lengths == Vector3::zeros() { PeriodicBox::Absent } else { PeriodicBox::Given(lengths) })
    });
    (gravity, periodic)
}

pub(super) fn impact(root: &Fields<'_>, log: &mut Log<'_>) -> Option<ImpactSettings> {
    let default = ImpactSettings::default();
    let Some(value) = root.get("impact") else { return Some(default) };
    let table = Fields::of(value, &"impact", &names(&fields::IMPACT), |_| None, log)?;
    let law = table.or("law", default.law, log, |value, path, log| {
        reader::choice(value, path, &Law::ALL.map(|law| (law.name(), law)), log)
    });
    let termination = table.or("termination", default.termination, log, |value, path, log| {
        reader::choice(value, path, &Termination::ALL.map(|end| (end.name(), end)), log)
    });
    Some(ImpactSettings { law: law?, termination: termination? })
}

pub(super) fn run(root: &Fields<'_>, log: &mut Log<'_>) -> Option<RunSettings> {
    let default = RunSettings::default();
    let Some(value) = root.get("run") else { return Some(default) };
    let table = Fields::of(value, &"run", &names(&fields::RUN), |_| None, log)?;
    let until = table.or("until", default.until, log, reader::not_negative);
    let max_events = table.or("max_events", default.max_events, log, events);
    let sample = table.or("sample", default.sample, log, reader::not_negative);
    let record_events = table.or("record_events", default.record_events, log, reader::boolean);
    let on_paradox = table.or("on_paradox", default.on_paradox, log, |value, path, log| {
        reader::choice(value, path, &OnParadox::ALL.map(|choice| (choice.name(), choice)), log)
    });
    let contact_time = table
        .or("contact_time", None, log, |value, path, log| reader::not_negative(value, path, log).map(Some));
    let rest_speed = table
        .or("rest_speed", None, log, |value, path, log| reader::not_negative(value, path, log).map(Some));
    let on_trouble = table.or("on_trouble", default.on_trouble, log, |value, path, log| {
        reader::choice(value, path, &OnTrouble::ALL.map(|choice| (choice.name(), choice)), log)
    });
    Some(RunSettings {
        rest_speed: rest_speed?,
        on_trouble: on_trouble?,
        until: until?,
        max_events: max_events?,
        sample: sample?,
        record_events: record_events?,
        on_paradox: on_paradox?,
        contact_time: contact_time?,
    })
}

pub(super) fn scatter(root: &Fields<'_>, log: &mut Log<'_>) -> Option<ScatterSettings> {
    let default = ScatterSettings::default();
    let Some(value) = root.get("scatter") else { return Some(default) };
    let table = Fields::of(value, &"scatter", &names(&fields::SCATTER), |_| None, log)?;
    let samples = table
        .or("samples", default.samples, log, |value, path, log| events(value, path, log).map(|n| n as u64));
    let seed = table.or("seed", default.seed, log, |value, path, log| {
        reader::whole(value, path, "a whole number, at least 0", log).map(|seed| seed as u64)
    });
    let translation = match table.at_most_one_of(&["speed", "temperature"], log) {
        None => Some(default.translation),
        Some((name, value)) => reader::positive(value, &table.path(name), log)
            .map(|x| if name == "speed" { Translation::Speed(x) } else { Translation::Temperature(x) }),
    };
    let spin = match table.at_most_one_of(&["spin", "spin_temperature"], log) {
        None => translation.map(|translation| match translation {
            Translation::Speed(_) => default.spin,
            Translation::Temperature(t) => Spin::Temperature(t),
        }),
        Some((name, value)) => reader::not_negative(value, &table.path(name), log)
            .map(|x| if name == "spin" { Spin::Speed(x) } else { Spin::Temperature(x) }),
    };
    Some(ScatterSettings { samples: samples?, seed: seed?, translation: translation?, spin: spin? })
}

fn events(value: &Value, path: &dyn Display, log: &mut Log<'_>) -> Option<usize> {
    let expected = "a whole number, at least 1";
    let events = reader::whole(value, path, expected, log)?;
    if events == 0 {
        log.report(value.span.clone(), path, "is zero", expected);
        return None;
    }
    Some(events)
}
