//! A run that is watched: it says what it works on, and ends within an event when asked.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use carom::record::Memory;
use carom::run::Stopped;
use carom::watch::{Task, Watch};
use running::{scene, start};

/// Balls with friction that fall on a floor and on one another.
fn heap(restitution: f64) -> String {
    let mut text = format!(
        "carom = 1\nworld.gravity = [0, 0, -9.81]\nrun = {{ until = 0.3, sample = 0 }}\n\
         surface = {{ restitution = {restitution}, kind = {{ coulomb = 0.4 }} }}\n[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n"
    );
    for (i, [x, y, z]) in
        [[0.0, 0.0, 0.1], [0.2, 0.0, 0.1], [0.1, 0.18, 0.1], [0.1, 0.06, 0.4]].iter().enumerate()
    {
        let _ = write!(
            text,
            "[[body]]\nname = \"b{i}\"\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1\nposition = [{x}, {y}, {z}]\n"
        );
    }
    text
}

/// A watch that wants the end from its n-th question on, and counts those that came after.
fn after(n: u64) -> (Watch, Arc<AtomicU64>) {
    let count = Arc::new(AtomicU64::new(0));
    let asked = count.clone();
    (Watch::new(move |_| asked.fetch_add(1, Ordering::Relaxed) >= n), count)
}

#[test]
fn a_run_ends_wherever_it_is_asked_to() {
    let scene = scene(&heap(0.3));
    let whole = {
        let (watch, count) = after(u64::MAX);
        let mut simulation = start(&scene);
        simulation.set_watch(&watch);
        assert_eq!(simulation.run(&mut Memory::default(), |_| true), Stopped::Until);
        assert!(!simulation.gave_up());
        count.load(Ordering::Relaxed)
    };
    // Long steps ask many times.
    assert!(whole > 100, "{whole}");
    let mut within = 0;
    for share in 0..10 {
        let n = whole * share / 10;
        let (watch, count) = after(n);
        let mut simulation = start(&scene);
        simulation.set_watch(&watch);
        let mut memory = Memory::default();
        assert_eq!(simulation.run(&mut memory, |_| true), Stopped::Interrupted, "{n}");
        assert!(simulation.failure().is_none(), "{n}");
        // Once it has heard, it asks only what does nothing.
        let more = count.load(Ordering::Relaxed) - n;
        assert!(more < 50, "{n}: {more}");
        for state in simulation.states() {
            assert!(state.position.iter().chain(state.velocity.iter()).all(|x| x.is_finite()));
            assert!(state.position.z > 0.1 - 1e-12, "{n}: {state:?}");
        }
        if simulation.gave_up() {
            within += 1;
            simulation.go_on(usize::MAX);
            assert!(!simulation.step(&mut memory), "it cannot go on from there");
        }
    }
    // Most of the time is spent within steps.
    assert!(within >= 4, "{within}");
}

/// Who watches changes nothing, and sees impacts and motions.
#[test]
fn a_watch_sees_what_is_done_and_changes_no_bit() {
    let scene = scene(&heap(0.5));
    let seen = Arc::new([const { AtomicU64::new(0) }; 4]);
    let counts = seen.clone();
    let watch = Watch::new(move |watch| {
        let work = watch.work();
        assert!(work.bodies <= 4 && work.body < 4 && (0.0..=0.3).contains(&work.time));
        let place = match work.task {
            Task::Start => 0,
            Task::Impact => 1,
            Task::Motion => 2,
            Task::TimeStep => 3,
        };
        counts[place].fetch_add(1, Ordering::Relaxed);
        false
    });
    let mut watched = start(&scene);
    watched.set_watch(&watch);
    watched.run(&mut Memory::default(), |_| true);
    let mut alone = start(&scene);
    alone.run(&mut Memory::default(), |_| true);
    assert_eq!(watched.states(), alone.states());
    assert!(seen[1].load(Ordering::Relaxed) > 0 && seen[2].load(Ordering::Relaxed) > 20);
}
