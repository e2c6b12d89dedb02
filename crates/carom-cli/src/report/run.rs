//! The result of `carom run` for people, on a screen however long the run was: what ended it and how it can go on, the audit and the
//! notes, then averages, the first and last events, the longest sustained contacts, the state at the end.

use std::io::{self, IsTerminal, Write};

use carom::observe::{Curve, Estimate, Observables, Quantity};
use carom::record::{Event, Kind};
use carom::run::{Stopped, Worst};
use carom::scene::instant::name;
use carom::scene::model::Scene;
use carom_answers::run::{End, LIMIT, Loop, smallest_gap, violation_in_words};

use super::generalized::list;
use super::table::{self, Cell, Header};
use super::{Style, beside, in_one_line, number, residual, vector};
use crate::commands::run::{Finished, Hold, TOLD};

/// Writes the whole result.
pub fn write(out: &mut dyn Write, run: &Finished, style: Style) -> io::Result<()> {
    style.write_title(out, run.scene().title.as_deref())?;
    if let Some(source) = &run.scene().source {
        writeln!(out, "({})", in_one_line(source))?;
    }
    if let Some((events, time)) = run.before.reached {
        writeln!(out, "Taken up at t = {} after {}.", number(time), count(events, "event"))?;
    }
    if run.running.end() == Some(End::Stopped(Stopped::Until)) {
        writeln!(out, "{} {}", happened(run), ended(run, style))?;
    } else {
        writeln!(out, "{}\n{}", ended(run, style), happened(run))?;
    }
    if run.running.engine.which() == Loop::Edmd {
        writeln!(out, "Run by the loop `edmd`, for very many bodies.")?;
    }
    writeln!(out, "{}", audit(run, style))?;
    list(out, style, "notes", run.notes.iter().cloned())?;
    if let Some(observer) = &run.running.engine.observer {
        observables(out, &observer.observables(), style)?;
    }
    events(out, run, style)?;
    holds(out, run, style)?;
    states(out, run, style)?;
    if let Some(derivatives) = run.running.derivatives() {
        super::derivatives::write(out, &derivatives, style)?;
    }
    // Nothing that differs from run to run, unless someone watches.
    if io::stdout().is_terminal() {
        performance(out, run)?;
    }
    if let Some((path, rows)) = run.folder {
        let mut parts = vec![(rows.events, "events"), (rows.samples, "samples")];
        parts.extend(rows.joint_impulses.map(|rows| (rows, "joint impulses")));
        parts.extend(rows.reactions.map(|rows| (rows, "reactions")));
        let parts: Vec<String> =
            parts.into_iter().map(|(rows, what)| format!("{} of {what}", count(rows, "row"))).collect();
        writeln!(out, "{}: {}", path.display(), parts.join(", "))?;
    }
    Ok(())
}

fn count(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// What happened.
fn happened(run: &Finished) -> String {
    let counts = run.running.engine.counts();
    if counts.events == 0 {
        return "No contacts occurred.".to_string();
    }
    let parts = [(counts.impacts, "impact"), (counts.grazes, "graze"), (counts.holds, "sustained contact")];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    let words: Vec<String> = parts.map(|(number, what)| count(number, what)).collect();
    let of = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
    format!("{}{of}.", capital(&count(counts.events, "event")))
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// How it ended.
fn ended(run: &Finished, style: Style) -> String {
    let time = number(run.running.engine.time());
    match run.running.end().unwrap_or(End::INTERRUPTED) {
        End::Stopped(Stopped::Until) => format!("The run reached its end at t = {time}."),
        End::Stopped(Stopped::MaxEvents) => style.alarm(&cut_off(run, &time)),
        End::Stopped(Stopped::Paradox) => {
            let stop = run.summary.last.back().or(run.summary.first.last());
            let who = stop.map_or_else(String::new, |event| format!(" of {}", pair(run.scene(), event)));
            format!("The run ended at a paradox{who}, as asked, at t = {time}.")
        }
        End::Stopped(Stopped::Interrupted) => {
            let how = match run.folder {
                Some((path, _)) => format!("`carom run --resume {}` goes on", path.display()),
                None => "nothing is kept to go on from; with `-o DIR`, `carom run --resume DIR` goes on".to_string(),
            };
            format!("The run was interrupted at t = {time}: {how}.")
        }
        End::Stopped(Stopped::Stalled) => style.alarm(&format!(
            "The run stalled at t = {time}: events accumulate there without end. The notes say what can be done."
        )),
        End::Stopped(Stopped::Failed) => style.alarm(&format!(
            "The run was lost at t = {time}: the motion could not be followed further. The notes say why, and what can be done."
        )),
        End::Violation(violation) => {
            let what = violation_in_words(run.scene(), &violation);
            style.alarm(&format!("The run was ended at t = {time} by its audit: {what}."))
        }
    }
}

/// A run that `max_events` cut off, with what would let it reach its end.
fn cut_off(run: &Finished, time: &str) -> String {
    let (engine, events) = (&run.running.engine, run.running.engine.counts().events as f64);
    let until = number(engine.until());
    let share = engine.time() / engine.until();
    let needed = if share > 0.0 { round_up(events / share) } else { f64::INFINITY };
    let more = if needed < 1e15 {
        format!("at this rate `--max-events {needed}` reaches its end")
    } else {
        "its events come too fast for it to reach its end".to_string()
    };
    let most = run.running.settings.max_events;
    format!("The run was cut off at t = {time} of {until} by max_events = {most}: {more}.")
}

/// The next larger number with two digits and zeros.
fn round_up(x: f64) -> f64 {
    let unit = 10.0_f64.powf((x.log10() - 1.0).floor()).max(1.0);
    (x / unit).ceil() * unit
}

fn pair(scene: &Scene, event: &Event) -> String {
    let [a, b] = event.sides.map(|side| name(scene, side));
    format!("{a} and {b}")
}

/// Of a long list, so many rows at either end.
const ENDS: usize = 4;

fn events(out: &mut dyn Write, run: &Finished, style: Style) -> io::Result<()> {
    let summary = run.summary;
    let mut rows: Vec<Option<&Event>> = summary.first.iter().map(Some).collect();
    if summary.rows > (2 * TOLD) as u64 {
        // Of a long list the first and the last, and a row that stands for the others.
        rows.truncate(ENDS);
        rows.push(None);
        rows.extend(summary.last.iter().skip(TOLD - ENDS).map(Some));
    } else {
        rows.extend(summary.last.iter().map(Some));
    }
    let shown = || rows.iter().flatten();
    let speed = shown().fold(0.0, |m: f64, e| m.max(e.approach.abs()).max(e.separation.abs()));
    let push = shown().fold(0.0, |m: f64, e| m.max(e.impulse.abs()));
    let energy = shown().fold(0.0, |m: f64, e| m.max(e.energy_before.abs()));
    let names = [
        "event",
        "time",
        "kind",
        "first",
        "second",
        "type",
        "approach",
        "separation",
        "impulse",
        "energy change",
    ];
    let header = Header::new(names, 2).sparing(&[5, 7, 9, 8, 6]);
    let title = if run.before.reached.is_some() { "events since" } else { "events" };
    table::write(out, style, title, header, rows.len(), |i| {
        let Some(event) = rows[i] else { return names.map(|_| "…".into()) };
        let change = event.energy_after - event.energy_before;
        [
            event.number.to_string().into(),
            event.time.to_string().into(),
            event.kind.name().into(),
            name(run.scene(), event.sides[0]).into(),
            name(run.scene(), event.sides[1]).into(),
            event.class.name().into(),
            beside(event.approach, speed).into(),
            beside(event.separation, speed).into(),
            beside(event.impulse, push).into(),
            Cell::from(beside(change, energy)).alarm_if(change > LIMIT * energy),
        ]
    })
}

/// The sustained contacts, the longest first where there are many.
fn holds(out: &mut dyn Write, run: &Finished, style: Style) -> io::Result<()> {
    let (summary, end) = (run.summary, run.running.engine.time());
    let mut holds: Vec<&Hold> = summary.holds.iter().collect();
    if holds.len() > HOLDS_TOLD {
        let length = |hold: &Hold| hold.end.as_ref().map_or(end, |end| end.time) - hold.begin.time;
        holds.sort_by(|a, b| length(b).total_cmp(&length(a)));
        holds.truncate(HOLDS_TOLD);
    }
    list(out, style, "sustained contacts", holds.iter().map(|hold| lasted(run.scene(), hold)))?;
    let more = summary.held - holds.len() as u64;
    if more > 0 { writeln!(out, "  … {more} more; --json has all") } else { Ok(()) }
}

/// The most sustained contacts told one by one.
const HOLDS_TOLD: usize = 5;

/// A contact that lasts, in words.
fn lasted(scene: &Scene, hold: &Hold) -> String {
    let Hold { begin, end } = hold;
    let (who, from) = (pair(scene, begin), number(begin.time));
    let until = end.as_ref().map_or_else(
        || ", to the end of the run".to_string(),
        |end| format!(" to t = {} (for {})", number(end.time), number(end.time - begin.time)),
    );
    let pushed = match end {
        Some(end) if end.kind == Kind::HoldEnd => format!("; the force gave ∫λ dt = {}", number(end.impulse)),
        _ => String::new(),
    };
    match begin.kind {
        Kind::PassBegin => {
            format!("{who} pass into one another ({}) from t = {from}{until}", begin.class.name())
        }
        Kind::Rest => {
            let limit = begin.limit.map_or_else(String::new, |[time, error]| {
                format!(", infinitely many, end at t = {time} (to {})", residual(error))
            });
            format!("the bounces of {who}{limit}: they stay in contact from t = {from}{until}{pushed}")
        }
        _ => {
            let slope = begin.force_slope.map_or_else(String::new, |slope| {
                format!(", by a force that begins with slope {}", number(slope))
            });
            format!("{who} stay in contact ({}) from t = {from}{until}{slope}{pushed}", begin.class.name())
        }
    }
}

/// Averages of a gas.
fn observables(out: &mut dyn Write, observables: &Observables, style: Style) -> io::Result<()> {
    if observables.blocks == 0 {
        return Ok(());
    }
    let of = format!("{} blocks of {}", observables.blocks, number(observables.block_time));
    write_estimates(out, &observables.estimates, &of, style)?;
    let diffusion = |curve: &Curve| {
        let error = curve.diffusion_error.map_or_else(String::new, |error| format!(" ± {}", residual(error)));
        curve.diffusion.map(|mean| format!("{}{error}", number(mean)))
    };
    if let (Some(a), Some(b)) = (diffusion(&observables.displacement), diffusion(&observables.velocities)) {
        writeln!(out, "  diffusion {a} from displacements, {b} from velocities")?;
    }
    let contact = observables.neighbours.as_ref().and_then(|neighbours| neighbours.compressibility);
    if let Some((contact, rate)) = contact.zip(observables.compressibility_from_rate) {
        let [contact, rate] = [contact, rate].map(number);
        writeln!(out, "  compressibility {contact} from g(r) at contact, {rate} from the collision rate")?;
    }
    Ok(())
}

/// Means and errors as a table.
pub fn write_estimates(
    out: &mut dyn Write,
    estimates: &[Estimate; Quantity::ALL.len()],
    of: &str,
    style: Style,
) -> io::Result<()> {
    let rows = known(estimates);
    let title = format!("averages (errors from {of})");
    table::write(out, style, &title, ["quantity", "mean", "error", "unit"], rows.len(), |row| {
        let (quantity, mean, error) = rows[row];
        let error = error.map_or_else(|| "-".to_string(), residual);
        [quantity.name().into(), number(mean).into(), error.into(), quantity.unit().into()]
    })
}

/// The quantities that have a mean, with it.
fn known(estimates: &[Estimate; Quantity::ALL.len()]) -> Vec<(Quantity, f64, Option<f64>)> {
    let known =
        |(quantity, estimate): (Quantity, &Estimate)| Some((quantity, estimate.mean?, estimate.error));
    Quantity::ALL.into_iter().zip(estimates).filter_map(known).collect()
}

/// With more bodies than this the states of only the first are told.
const MANY: usize = 12;

fn states(out: &mut dyn Write, run: &Finished, style: Style) -> io::Result<()> {
    let states = run.running.engine.states();
    let moving: Vec<usize> = (0..states.len()).filter(|&i| !run.scene().bodies[i].body.fixed).collect();
    let largest =
        |size: fn(&carom::body::State) -> f64| moving.iter().fold(0.0, |m: f64, &i| m.max(size(&states[i])));
    let place = largest(|state| state.position.amax());
    let speed = largest(|state| state.velocity.amax());
    let spin = largest(|state| state.angular_velocity.amax());
    let header = ["body", "position", "orientation", "velocity", "angular velocity"];
    let title = format!("at t = {}", number(run.running.engine.time()));
    let told = if moving.len() > MANY { ENDS } else { moving.len() };
    table::write(out, style, &title, header, told, |row| {
        let (body, state) = (&run.scene().bodies[moving[row]], &states[moving[row]]);
        let q = state.orientation.quaternion();
        let turn = [q.w, q.i, q.j, q.k].map(|x| beside(x, 1.0)).join(", ");
        [
            body.name.as_str().into(),
            vector(&state.position, place).into(),
            format!("[{turn}]").into(),
            vector(&state.velocity, speed).into(),
            vector(&state.angular_velocity, spin).into(),
        ]
    })?;
    if told < moving.len() {
        writeln!(out, "  … {} more; --json has all", moving.len() - told)?;
    }
    Ok(())
}

/// Relative errors up to this are those of any event.
const ROUNDING: f64 = 1e-13;

/// The worst values and where.
fn audit(run: &Finished, style: Style) -> String {
    let audit = run.running.engine.audit();
    let events = run.running.engine.counts().events;
    let say = |what: &str, worst: Worst, bad: bool| {
        let at = match worst {
            Worst { value: 0.0, .. } => String::new(),
            // What was seen after the last event.
            Worst { event, .. } if event >= events => " (at the end)".to_string(),
            Worst { event, .. } => format!(" (event {event})"),
        };
        let text = format!("{what} {}{at}", residual(worst.value));
        if bad { style.alarm(&text) } else { text }
    };
    let bad = |worst: Worst| worst.value.is_nan() || worst.value > LIMIT;
    let error = |what: &str, worst: Worst| (bad(worst), say(what, worst, bad(worst)));
    let mut parts = vec![error("energy", audit.energy_error_max), error("momentum", audit.linear_error_max)];
    parts.push(match audit.angular_error_max {
        Some(worst) => error("angular momentum", worst),
        None => (false, "angular momentum not conserved here".to_string()),
    });
    parts.push(error("restitution", audit.restitution_error_max));
    // What is checked of each event by itself is told where it is not rounding.
    for (what, worst) in [
        ("contact points", audit.points_error_max),
        ("impulses", audit.impulse_error_max),
        ("work", audit.work_error_max),
        ("pulling or closing", audit.unilateral_error_max),
    ] {
        if worst.value > ROUNDING || worst.value.is_nan() {
            parts.push(error(what, worst));
        }
    }
    parts.extend(audit.joint_error_max.map(|worst| error("joints", worst)));
    if audit.energy_gain_max.value > 0.0 {
        parts.push(error("energy gained", audit.energy_gain_max));
    }
    if let Some(gap) = smallest_gap(&audit) {
        let bad = audit.overlap_max.value > LIMIT;
        parts.push((bad, say("smallest gap", gap, bad)));
    }
    // What is beyond its limit stands first.
    parts.sort_by_key(|(bad, _)| !bad);
    let parts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    format!("audit  largest errors: {}", parts.join(", "))
}

fn performance(out: &mut dyn Write, run: &Finished) -> io::Result<()> {
    let counts = run.running.engine.counts();
    let rate = |count: u64| if run.wall_s > 0.0 { count as f64 / run.wall_s } else { 0.0 };
    write!(out, "took {:.2} s", run.wall_s)?;
    if counts.events > 0 {
        write!(
            out,
            ": {:.0} events/s, {:.1} searches and {:.1} gaps an event",
            rate(counts.events),
            counts.searches as f64 / counts.events as f64,
            counts.gaps as f64 / counts.events as f64
        )?;
    }
    writeln!(out)
}
