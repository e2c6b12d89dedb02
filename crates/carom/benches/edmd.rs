//! Event-driven molecular dynamics: collisions per second of a few thousand to a million spheres, ellipsoids and superellipsoids, and bytes
//! per body.
//!
//! `cargo bench -p carom --bench edmd`, or `-- --bench NAME` for the rows whose shape begins with NAME. Each row starts on a face-centred
//! lattice, stretched like the shape, with Maxwell's velocities, and runs for a while before it is measured. At 0.49 spheres are then a
//! crystal that melts slowly; a fluid of that density costs the same.
//!
//! `-- --bench turns` runs few and many spheres in turns, `-- --bench threads` one system by one thread and by two, `-- --bench halves` two
//! systems at once. Without `--bench` every row runs for a moment with few bodies, as a test.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

#[path = "../tests/worlds/mod.rs"]
mod worlds;

use std::time::Instant;

use carom::edmd::{Edmd, Settings};
use carom::shape::Shape;

/// Shape, lattice cells along an edge, packing fraction, collisions per body before and during the measurement.
type Row = (&'static str, Shape, u32, f64, [u64; 2]);

/// The processor time of this thread in seconds, where the system reports it: on a busy machine wall time depends on other processes.
fn processor_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(1e-9 * nanoseconds)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let measured = arguments.iter().any(|argument| argument == "--bench");
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-'));
    let sphere = Shape::Sphere { radius: 0.5 };
    let ellipsoid = Shape::Ellipsoid { semi_axes: [1.0, 0.5, 0.5] };
    let flat = Shape::Ellipsoid { semi_axes: [0.5, 1.0, 1.0] };
    let pillow = Shape::Superellipsoid { semi_axes: [1.0, 0.5, 0.5], exponent: 4.0 };
    let rows: [Row; 12] = [
        ("sphere", sphere, 10, 0.1, [50, 200]),
        ("sphere", sphere, 10, 0.3, [50, 200]),
        ("sphere", sphere, 10, 0.49, [50, 400]),
        ("sphere", sphere, 40, 0.49, [10, 20]),
        ("sphere", sphere, 60, 0.49, [8, 8]),
        ("sphere", sphere, 63, 0.49, [5, 5]),
        ("ellipsoid 2:1", ellipsoid, 10, 0.3, [10, 10]),
        ("ellipsoid 2:1", ellipsoid, 10, 0.5, [10, 10]),
        ("ellipsoid 1:2", flat, 10, 0.5, [10, 10]),
        ("ellipsoid 2:1", ellipsoid, 30, 0.5, [2, 2]),
        ("superellipsoid 4", pillow, 10, 0.3, [2, 3]),
        ("superellipsoid 4", pillow, 10, 0.5, [2, 3]),
    ];
    println!(
        "shape             bodies  packing  collisions/s   ns each  predictions  searches   gaps  moves  bytes/body"
    );
    for (name, shape, cells, packing, [before, during]) in rows {
        let row = format!("{name} {} {packing}", 4 * cells * cells * cells);
        if wanted.is_some_and(|wanted| !row.starts_with(wanted.as_str())) {
            continue;
        }
        let cells = if measured { cells } else { 2 };
        let (world, states) = worlds::lattice(cells, shape, packing, 1);
        let bodies = states.len() as u64;
        let mut edmd = Edmd::new(world, &states, Settings::default()).unwrap();
        drop(states);
        let [before, during] = if measured { [before * bodies, during * bodies] } else { [100, 100] };
        assert_eq!(edmd.advance(f64::MAX, before, &mut ()), None);
        let start = edmd.counts();
        let (began, worked) = (Instant::now(), processor_time());
        assert_eq!(edmd.advance(f64::MAX, during, &mut ()), None);
        let elapsed = began.elapsed().as_secs_f64();
        let seconds = worked.zip(processor_time()).map_or(elapsed, |(from, to)| to - from);
        let end = edmd.counts();
        let collisions = (end.collisions - start.collisions) as f64;
        let each = |count: fn(&carom::run::Counts) -> u64| (count(&end) - count(&start)) as f64 / collisions;
        println!(
            "{name:<17}{bodies:>7}{packing:>9.2}{:>14.0}{:>10.0}{:>13.2}{:>10.2}{:>7.2}{:>7.3}{:>12.0}",
            collisions / seconds,
            1e9 * seconds / collisions,
            each(|counts| counts.predictions),
            each(|counts| counts.searches),
            each(|counts| counts.gaps),
            each(|counts| counts.moves),
            edmd.bytes() as f64 / bodies as f64,
        );
        let audit = edmd.audit();
        assert!(audit.energy_error_max.value < 1e-10 && audit.gap_min > -1e-12, "{audit:?}");
    }
    if wanted.is_none_or(|wanted| "turns".starts_with(wanted.as_str())) {
        turns(if measured { [10, 60] } else { [2, 3] });
    }
    if wanted.is_none_or(|wanted| "threads".starts_with(wanted.as_str())) {
        for (name, shape, cells, collisions) in [
            ("ellipsoid 2:1", ellipsoid, 10, 40_000),
            ("ellipsoid 2:1", ellipsoid, 30, 60_000),
            ("superellipsoid 4", pillow, 10, 12_000),
        ] {
            let [cells, collisions] = if measured { [cells, collisions] } else { [7, 100] };
            threads(name, shape, cells, collisions);
        }
    }
    if wanted.is_none_or(|wanted| "halves".starts_with(wanted.as_str())) {
        halves(if measured { [48, 8] } else { [2, 1] });
    }
}

/// How much more a collision costs in a large system of spheres than in a small one. On a shared machine the speed of memory changes from
/// minute to minute, so the two run in turns.
fn turns(cells: [u32; 2]) {
    let mut systems = cells.map(|cells| {
        let (world, states) = worlds::lattice(cells, Shape::Sphere { radius: 0.5 }, 0.49, 1);
        let mut edmd = Edmd::new(world, &states, Settings::default()).unwrap();
        assert_eq!(edmd.advance(f64::MAX, 8 * states.len() as u64, &mut ()), None);
        edmd
    });
    let mut nanoseconds = [const { Vec::new() }; 2];
    for _ in 0..40 {
        for (edmd, times) in systems.iter_mut().zip(&mut nanoseconds) {
            let most = if cells[0] < 10 { 10_u32 } else { 40_000 };
            let began = Instant::now();
            assert_eq!(edmd.advance(f64::MAX, u64::from(most), &mut ()), None);
            times.push(1e9 * began.elapsed().as_secs_f64() / f64::from(most));
        }
    }
    let mut ratios: Vec<f64> =
        nanoseconds[0].iter().zip(&nanoseconds[1]).map(|(few, many)| many / few).collect();
    let middle = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let [few, many] = nanoseconds.each_mut().map(middle);
    println!(
        "{} spheres {few:.0} ns a collision, {} {many:.0} ns, medians of 40 turns; median ratio {:.2}",
        4 * cells[0].pow(3),
        4 * cells[1].pow(3),
        middle(&mut ratios)
    );
}

/// One system by one thread and by two, in turns, in wall time.
fn threads(name: &str, shape: Shape, cells: u32, collisions: u32) {
    let (world, states) = worlds::lattice(cells, shape, 0.5, 1);
    let mut edmd = Edmd::new(world, &states, Settings::default()).unwrap();
    let most = u64::from(collisions);
    assert_eq!(edmd.advance(f64::MAX, 2 * most, &mut ()), None);
    let mut seconds = [0.0; 2];
    for _ in 0..4 {
        for threads in [1, 2] {
            edmd.set_threads(threads);
            let began = Instant::now();
            assert_eq!(edmd.advance(f64::MAX, most / 4, &mut ()), None);
            seconds[threads - 1] += began.elapsed().as_secs_f64();
        }
    }
    let [alone, parallel] = seconds.map(|seconds| f64::from(collisions) / seconds);
    println!(
        "{name}, {} bodies: {alone:.0} collisions/s by one thread, {parallel:.0} by two, {:.2} times",
        states.len(),
        parallel / alone
    );
}

/// An upper bound of the gain of two cores for one system of spheres: two independent systems of half the size at once.
fn halves([cells, during]: [u32; 2]) {
    let run = || {
        let (world, states) = worlds::lattice(cells, Shape::Sphere { radius: 0.5 }, 0.49, 1);
        let bodies = states.len() as u64;
        let mut edmd = Edmd::new(world, &states, Settings::default()).unwrap();
        assert_eq!(edmd.advance(f64::MAX, u64::from(during) * bodies, &mut ()), None);
        let began = Instant::now();
        assert_eq!(edmd.advance(f64::MAX, u64::from(during) * bodies, &mut ()), None);
        (u64::from(during) * bodies) as f64 / began.elapsed().as_secs_f64()
    };
    let alone = run();
    let both: f64 = std::thread::scope(|scope| {
        let threads = [scope.spawn(run), scope.spawn(run)];
        threads.map(|thread| thread.join().unwrap()).iter().sum()
    });
    println!(
        "halves of {} spheres: {alone:.0} collisions/s one alone, {both:.0} two at once, {:.2} times",
        8 * cells * cells * cells,
        both / alone
    );
}
