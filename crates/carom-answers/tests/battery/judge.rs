//! A scene's run under a limit of CPU time, and the verdict on it.
//!
//! Gaps and energies are computed here, of the states that the run gave at its samples and at its end: the run's own audit is
//! asked for the balance of momentum alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use carom::body::State;
use carom::gap::{gap, gap_to_plane};
use carom::record::{Event, Memory, Recorder, Sample};
use carom::run::Stopped;
use carom::scene::model::{LoadKind, Scene};
use carom_answers::Input;
use carom_answers::run::{Changes, End, Frame, Frames, Running, Sink};
use serde_json::Value;

use crate::kinds::Case;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// At the time asked for.
    Ended,
    /// It took more than its CPU time.
    Slow,
    /// Events without end at one time.
    Stalled,
    /// Otherwise, or it could not begin.
    Failed,
    /// By a panic.
    Panicked,
}

/// What was found of a scene.
pub struct Judged {
    pub outcome: Outcome,
    pub cpu: Duration,
    /// The smallest gap over the size of the smaller body, while nothing had been stepped.
    pub gap: f64,
    /// By how much the energy rose from one sample to a later one, over the energy's scale.
    pub gain: f64,
    /// The worst balance of momentum: linear, angular, and of the events' impulses.
    pub imbalance: f64,
    /// The share of the time that was stepped.
    pub stepped: f64,
    /// Why it failed, or what was worst.
    pub words: String,
}

impl Judged {
    fn new(outcome: Outcome, cpu: Duration, words: String) -> Self {
        Self { outcome, cpu, gap: f64::INFINITY, gain: 0.0, imbalance: 0.0, stepped: 0.0, words }
    }
}

/// Runs a scene for at most so long and judges it. A call that does not return in time is waited for, and counts as too slow.
pub fn judge(case: &Case, limit: Duration) -> Judged {
    let clock = Clock::new();
    let run = catch_unwind(AssertUnwindSafe(|| follow(case, limit, &clock)));
    run.unwrap_or_else(|_| Judged::new(Outcome::Panicked, clock.spent(), String::new()))
}

fn follow(case: &Case, limit: Duration, clock: &Clock) -> Judged {
    let begun = Input::of_text(&case.file_name(), case.text.clone(), None)
        .scene()
        .and_then(|subject| Running::begin(subject, Changes::default(), |_| true));
    let mut running = match begun {
        Ok(running) => running,
        Err(error) => {
            let words = error.diagnostics.first().map(|found| found.message.clone()).unwrap_or_default();
            return Judged::new(Outcome::Failed, clock.spent(), words);
        }
    };
    let scene = Arc::clone(&running.scene);
    let mut record = Record { frames: Frames::new(scene.bodies.len()), kept: Vec::new() };
    let mut looked = Instant::now();
    while running.step(&mut record) {
        // To ask for CPU time takes longer than to ask for the time.
        if looked.elapsed() > Duration::from_millis(20) {
            looked = Instant::now();
            if clock.spent() > limit {
                running.interrupt();
            }
        }
    }
    let cpu = clock.spent();
    let end = running.end().unwrap_or(End::INTERRUPTED);
    let outcome = match end {
        _ if cpu > limit => Outcome::Slow,
        End::Stopped(Stopped::Until) => Outcome::Ended,
        End::Stopped(Stopped::Interrupted) => Outcome::Slow,
        End::Stopped(Stopped::Stalled) => Outcome::Stalled,
        End::Stopped(_) | End::Violation(_) => Outcome::Failed,
    };
    let time = running.engine.time();
    record.kept.push(Frame { time, states: running.engine.states() });
    let document = running.document("", 0.0, running.notes()).with(&scene, &Memory::default(), false);
    let document = serde_json::to_value(document).unwrap_or_default();
    let (from, stepped) = stepped(&document["stepped"], scene.run.until);
    let audit = &document["audit"];
    let errors = ["linear_error_max", "angular_error_max", "impulse_error_max"];
    let exact = record.kept.iter().filter(|frame| frame.time < from);
    let (gap, words) = smallest_gap(&scene, exact);
    let failure = running.engine.failure().map(|failure| format!("{:?} at t = {time}", failure.cause));
    Judged {
        gap,
        gain: energy_gain(&scene, &record.kept),
        imbalance: errors.iter().filter_map(|name| audit[name].as_f64()).fold(0.0, f64::max),
        stepped,
        words: failure.unwrap_or_else(|| format!("{} at t = {time}; {words}", end.name())),
        ..Judged::new(outcome, cpu, String::new())
    }
}

/// The frames alone: states at events would be most of what is kept.
struct Record {
    frames: Frames,
    kept: Vec<Frame>,
}

impl Recorder for Record {
    fn events(&mut self, _: &[Event]) {}

    fn samples(&mut self, samples: &[Sample]) {
        self.kept.extend(samples.iter().filter_map(|sample| self.frames.take(sample)));
    }

    fn wants_states(&self) -> bool {
        false
    }
}

impl Sink for Record {}

/// When the first interval begins that was stepped, and the share of the time in any of them.
fn stepped(intervals: &Value, until: f64) -> (f64, f64) {
    let number = |interval: &Value, name: &str| interval[name].as_f64();
    let both = |interval: &Value| Some((number(interval, "from")?, number(interval, "until")?));
    let mut spans: Vec<(f64, f64)> = intervals.as_array().into_iter().flatten().filter_map(both).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let from = spans.first().map_or(f64::INFINITY, |span| span.0);
    let (mut covered, mut reached) = (0.0, 0.0_f64);
    for (begin, end) in spans {
        covered += (end - begin.max(reached)).max(0.0);
        reached = reached.max(end);
    }
    (from, covered / until)
}

/// The smallest gap of all pairs that can touch, over the smaller body's circumradius, and whose it is. Two bodies of one joint cannot.
fn smallest_gap<'a>(scene: &Scene, frames: impl Iterator<Item = &'a Frame>) -> (f64, String) {
    let shapes: Vec<_> = scene.bodies.iter().map(|body| body.body.shape).collect();
    let radius: Vec<f64> = shapes.iter().map(|shape| shape.circumradius()).collect();
    let mut least = (f64::INFINITY, String::new());
    let mut see = |gap: f64, names: [&str; 2], time: f64| {
        // What is no number stays.
        if gap < least.0 || gap.is_nan() {
            least = (gap, format!("gap {gap:.1e} of `{}` and `{}` at t = {time}", names[0], names[1]));
        }
    };
    for Frame { time, states } in frames {
        let poses: Vec<_> = states.iter().map(State::pose).collect();
        for (i, body) in scene.bodies.iter().enumerate() {
            for plane in &scene.planes {
                let found = gap_to_plane(&shapes[i], &poses[i], &plane.half_space).gap;
                see(found / radius[i], [&plane.name, &body.name], *time);
            }
            let joined = |j: usize| {
                scene.joints.iter().any(|joint| joint.bodies.contains(&i) && joint.bodies.contains(&j))
            };
            for j in (0..i).filter(|j| !joined(*j)) {
                let smaller = radius[i].min(radius[j]);
                let apart = (states[i].position - states[j].position).norm() - radius[i] - radius[j];
                if apart > 0.0 {
                    see(apart / smaller, [&scene.bodies[j].name, &body.name], *time);
                } else if let Some(found) = gap((&shapes[j], &poses[j]), (&shapes[i], &poses[i])) {
                    see(found.gap / smaller, [&scene.bodies[j].name, &body.name], *time);
                }
            }
        }
    }
    least
}

/// The most by which the energy rose after a sample, over the largest kinetic energy and the work of lifting all bodies by
/// their sizes.
fn energy_gain(scene: &Scene, frames: &[Frame]) -> f64 {
    let start: Vec<State> = scene.bodies.iter().map(|body| body.state).collect();
    let lift: f64 = scene.bodies.iter().map(|body| body.body.mass * body.body.shape.circumradius()).sum();
    let kinetic = |states: &[State]| -> f64 {
        let each = scene.bodies.iter().zip(states).map(|(body, state)| {
            let spin = state.orientation.inverse_transform_vector(&state.angular_velocity);
            let turning = spin.component_mul(&body.body.inertia).dot(&spin);
            0.5 * (body.body.mass * state.velocity.norm_squared() + turning)
        });
        each.sum()
    };
    let scale =
        frames.iter().map(|frame| kinetic(&frame.states)).fold(0.0, f64::max) + scene.gravity.norm() * lift;
    let mut least = f64::INFINITY;
    let mut gain = 0.0_f64;
    for frame in frames {
        let energy = kinetic(&frame.states) + potential(scene, &start, &frame.states);
        gain = gain.max(energy - least);
        least = least.min(energy);
    }
    if scale > 0.0 { gain / scale } else { gain }
}

/// That of gravity and springs.
fn potential(scene: &Scene, start: &[State], states: &[State]) -> f64 {
    let heights = scene.bodies.iter().zip(states);
    let lifted: f64 = heights.map(|(body, state)| -body.body.mass * scene.gravity.dot(&state.position)).sum();
    let springs = scene.loads.iter().map(|load| {
        let LoadKind::Spring { bodies, points, stiffness, length, .. } = load.kind else { return 0.0 };
        let ends = [0, 1].map(|k| match bodies[k] {
            None => points[k],
            Some(body) => {
                let fixed = start[body].orientation.inverse() * (points[k] - start[body].position);
                states[body].position + states[body].orientation * fixed
            }
        });
        let slack = length.unwrap_or_else(|| (points[1] - points[0]).norm());
        0.5 * stiffness * ((ends[1] - ends[0]).norm() - slack).powi(2)
    });
    lifted + springs.sum::<f64>()
}

/// The CPU time of this thread, where the system tells it; else the time on the wall.
struct Clock {
    begun: Instant,
    used: Option<Duration>,
}

impl Clock {
    fn new() -> Self {
        Self { begun: Instant::now(), used: Self::used() }
    }

    fn used() -> Option<Duration> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
    }

    fn spent(&self) -> Duration {
        match (self.used, Self::used()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => self.begun.elapsed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(text: &str) -> Scene {
        Input::of_text("scene", text.to_string(), None).scene().unwrap().scene
    }

    const BALLS: &str = "carom = 1
        world = { gravity = [0, 0, -10] }
        body = [
            { name = 'a', shape = { sphere = { radius = 1 } }, mass = 1, position = [0, 0, 1] },
            { name = 'b', shape = { sphere = { radius = 2 } }, mass = 1, position = [0, 0, 4] },
        ]
        plane = [{ name = 'floor', normal = [0, 0, 1] }]";

    fn frames(scene: &Scene, change: impl Fn(&mut State)) -> Vec<Frame> {
        let states: Vec<State> = scene.bodies.iter().map(|body| body.state).collect();
        let mut changed = states.clone();
        change(&mut changed[1]);
        vec![Frame { time: 0.0, states }, Frame { time: 1.0, states: changed }]
    }

    #[test]
    fn an_overlap_is_seen() {
        let scene = scene(&BALLS.replace("\n        ", "\n"));
        for sunk in [0.0, 1e-8, 0.5] {
            let frames = frames(&scene, |state| state.position.z -= sunk);
            let (gap, words) = smallest_gap(&scene, frames.iter());
            assert!((gap + sunk).abs() < 1e-14, "{gap}");
            assert_eq!(words.contains("`a` and `b` at t = 1"), sunk > 0.0, "{words}");
        }
        let lost = frames(&scene, |state| state.position.z = f64::NAN);
        assert!(smallest_gap(&scene, lost.iter()).0.is_nan());
    }

    #[test]
    fn energy_that_rises_is_seen() {
        let scene = scene(&BALLS.replace("\n        ", "\n"));
        let gain = |change: fn(&mut State)| energy_gain(&scene, &frames(&scene, change));
        assert_eq!(gain(|state| state.position.z -= 0.1), 0.0);
        assert!((gain(|state| state.position.z += 0.3) - 0.1).abs() < 1e-14);
        // A ball of mass 1 and radius 2 has the moment 8/5.
        assert!((gain(|state| state.angular_velocity.x = 1.0) - 0.8 / 30.8).abs() < 1e-14);
    }

    #[test]
    fn the_share_that_was_stepped_counts_no_time_twice() {
        let intervals = serde_json::json!([
            { "from": 2.0, "until": 3.0 }, { "from": 1.0, "until": 2.5 }, { "from": 4.0, "until": 4.5 },
        ]);
        assert_eq!(stepped(&intervals, 5.0), (1.0, 0.5));
        assert_eq!(stepped(&Value::Null, 5.0), (f64::INFINITY, 0.0));
    }
}
