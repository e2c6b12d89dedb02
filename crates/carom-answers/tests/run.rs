//! A run as a value: stepped, interrupted, taken up again.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::record::Memory;
use carom::run::Stopped;
use carom_answers::run::{Changes, End, Frames, Loop, Running, Snapshot};
use carom_answers::{Input, Subject, Verdict};

/// A ball between two walls, two units apart: at the walls at t = 0.9, 2.7, 4.5, …
const SHUTTLE: &str = "carom = 1
[[body]]
name = 'ball'
shape = { sphere = { radius = 0.1 } }
mass = 1
velocity = [1, 0, 0]
[[plane]]
name = 'left'
normal = [1, 0, 0]
offset = -1
[[plane]]
name = 'right'
normal = [-1, 0, 0]
offset = -1
[run]
until = 9
sample = 0.5
";

const GAS: &str = "carom = 1
[[fill]]
name = 'gas'
count = 40
shape = { ellipsoid = { semi_axes = [0.8, 0.5, 0.4] } }
mass = 1
packing_fraction = 0.3
seed = 3
equilibrate = 2
[run]
until = 1
sample = 0.25
";

fn subject(text: &str) -> Subject {
    Input::of_text("scene", text.to_string(), None).scene().unwrap()
}

fn begin(text: &str, changes: Changes) -> Running {
    Running::begin(subject(text), changes, |_| true).unwrap()
}

#[test]
fn events_come_one_at_a_time_and_the_document_holds_them() {
    let mut running = begin(SHUTTLE, Changes::default());
    let mut memory = Memory::default();
    assert_eq!(running.end(), None);
    let mut steps = 0;
    while running.step(&mut memory) {
        steps += 1;
        assert!(memory.events.len() <= steps);
    }
    assert_eq!(running.end(), Some(End::Stopped(Stopped::Until)));
    assert!(!running.step(&mut memory));
    let times: Vec<f64> = memory.events.iter().map(|event| event.time).collect();
    assert_eq!(times.len(), 5);
    for (k, time) in times.iter().enumerate() {
        assert!((time - 0.9 - 1.8 * k as f64).abs() < 1e-14, "{time}");
    }
    let mut frames = Frames::new(1);
    let frames: Vec<_> = memory.samples.iter().filter_map(|sample| frames.take(sample)).collect();
    assert_eq!(frames.len(), 19);
    assert_eq!((frames[3].time, frames[3].states.len()), (1.5, 1));
    let whole = running.document("1.0", 0.5, running.notes()).with(&running.scene, &memory, true);
    let document = serde_json::to_value(whole).unwrap();
    assert_eq!(document["version"], "1.0");
    assert_eq!(document["performance"]["events_per_s"], 10.0);
    assert_eq!(document["events"].as_array().unwrap().len(), 5);
    // Samples at events too: before and after.
    assert_eq!(document["samples"].as_array().unwrap().len(), 19 + 2 * 5);
    assert_eq!(document["events"][1]["bodies"], serde_json::json!(["left", "ball"]));
}

#[test]
fn a_run_can_be_ended_and_taken_up() {
    for text in [SHUTTLE, GAS] {
        let mut whole = Memory::default();
        let mut running = begin(text, Changes::default());
        while running.step(&mut whole) {}
        let expected = running.engine.states();

        let mut memory = Memory::default();
        let mut running = begin(text, Changes::default());
        assert!(running.step(&mut memory) && running.step(&mut memory));
        running.interrupt();
        assert!(!running.step(&mut memory));
        assert_eq!(running.end(), Some(End::INTERRUPTED));
        assert_eq!(running.end().unwrap().verdict(), Verdict::Done);
        let text_of = serde_json::to_string(&running.engine.snapshot()).unwrap();
        let snapshot: Snapshot = serde_json::from_str(&text_of).unwrap();
        let again = Running::resume(subject(text), running.settings, &snapshot, running.unbounded());
        let mut again = again.unwrap().unwrap();
        while again.step(&mut memory) {}
        assert_eq!(again.engine.states(), expected);
        assert_eq!(memory, whole);
        // Another scene's snapshot does not fit this one.
        let other = subject(if text == GAS { SHUTTLE } else { GAS });
        assert!(Running::resume(other, running.settings, &snapshot, 0).unwrap().is_none());
    }
}

#[test]
fn fills_are_placed_with_a_say_of_the_caller() {
    let mut stages = 0;
    let running = Running::begin(subject(GAS), Changes::default(), |_| {
        stages += 1;
        true
    });
    assert_eq!(running.unwrap().engine.which(), Loop::Edmd);
    assert!(stages > 0);
    let error = Running::begin(subject(GAS), Changes::default(), |_| false).err().unwrap();
    assert!(error.diagnostics[0].message.contains("was interrupted"));
    // Copies differ in their seeds.
    let first = |replica| begin(GAS, Changes { replica, ..Changes::default() }).scene.bodies[0].state;
    assert_eq!(first(1), first(1));
    assert_ne!(first(0), first(1));
}

#[test]
fn changes_go_before_the_scene() {
    let changes = Changes { until: Some(3.0), sample: Some(0.0), max_events: Some(1), ..Changes::default() };
    let mut running = begin(SHUTTLE, changes);
    let mut memory = Memory::default();
    while running.step(&mut memory) {}
    assert_eq!(running.end(), Some(End::Stopped(Stopped::MaxEvents)));
    assert_eq!(memory.events.len(), 1);
    let mut running = begin(SHUTTLE, Changes { until: Some(0.5), ..Changes::default() });
    while running.step(&mut ()) {}
    assert_eq!((running.engine.time(), running.engine.counts().events), (0.5, 0));
}
