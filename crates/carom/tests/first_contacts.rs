//! First contacts of random pairs against dense sampling: none missed, none late.
//!
//! `CAROM_PAIRS=1000000` tries that many pairs instead of 20 000.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod pairs;

use std::time::Instant;

use carom::toi::{Meeting, Moving, Touch, Window, first_contact_near};
use nalgebra::{UnitQuaternion, Vector3};
use pairs::{KINDS, Kind, Pair, sampled};
use rayon::prelude::*;

fn count(default: u64) -> u64 {
    std::env::var("CAROM_PAIRS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The rounding of a gap at most, for bodies and distances of order one.
const ROUNDING: f64 = 4e-14;

/// What one pair showed.
#[derive(Default, Clone, Copy)]
struct Seen {
    evaluations: u32,
    hit: bool,
    graze: bool,
    samples: u32,
    worst_error: f64,
}

fn check(pair: &Pair, seed: u64, kind: Kind) -> Option<Seen> {
    let search = pair.search(Window::new(0.0, pair.until));
    let mut seen = Seen { evaluations: search.evaluations, ..Seen::default() };
    let what = || format!("seed {seed}, {kind:?}: {search:?}");
    let end = match search.meeting {
        Meeting::At(contact) => {
            seen.hit = true;
            seen.graze = contact.touch != Touch::Approaching;
            let error = contact.time_error;
            assert!(contact.gap.abs() <= ROUNDING && contact.approach <= 1e-6, "{}", what());
            if contact.touch == Touch::Approaching {
                // Before it they are apart, and after it they overlap, by more than the error explains.
                let before = contact.time - 8.0 * error;
                assert!(before < 0.0 || pair.gap(before) > 0.0, "{}", what());
                assert!(pair.gap(contact.time + 8.0 * error) < 0.0, "{}", what());
            }
            if contact.approach < -1e-3 {
                seen.worst_error = error;
                assert!(error <= 1e-11, "{}", what());
            }
            contact.time - error
        }
        Meeting::Apart => pair.until,
        Meeting::Overlapping(depth) => {
            assert!((pair.gap(0.0) + depth).abs() < ROUNDING, "{}", what());
            return None;
        }
        Meeting::Undecided(t) => panic!("undecided at {t}: {}", what()),
    };
    let speed = pair.lipschitz(pair.until);
    let (least, samples) = sampled(|t| pair.gap(t), speed, 0.0, end, 1000.0);
    assert!(least >= -ROUNDING, "overlap {least:e} before the contact: {}", what());
    seen.samples = samples;
    Some(seen)
}

#[test]
fn none_is_missed_of_bodies_with_edges() {
    none_is_missed(count(20_000) / 4, Pair::edged);
}

#[test]
fn none_is_missed_of_polyhedra() {
    none_is_missed(count(20_000) / 10, Pair::of_polyhedra);
}

fn none_is_missed(count: u64, make: fn(u64, Kind) -> Pair) {
    for (number, kind) in KINDS.into_iter().enumerate() {
        let share = count / KINDS.len() as u64;
        let first = number as u64 * 100_000_000;
        let seen: Vec<Seen> = (first..first + share)
            .into_par_iter()
            .filter_map(|seed| check(&make(seed, kind), seed, kind))
            .collect();
        let mut gaps: Vec<u32> = seen.iter().filter(|s| s.hit).map(|s| s.evaluations).collect();
        gaps.sort_unstable();
        let worst = seen.iter().map(|s| s.worst_error).fold(0.0, f64::max);
        let median = gaps.get(gaps.len() / 2).copied().unwrap_or(0);
        println!(
            "{kind:?}: {} pairs, {} hits, gaps median {median}, time bound {worst:.1e}",
            seen.len(),
            gaps.len()
        );
        assert!(gaps.len() as u64 > share / 10);
    }
}

#[test]
fn none_is_missed_and_none_is_late() {
    let count = count(20_000);
    for (number, kind) in KINDS.into_iter().enumerate() {
        let started = Instant::now();
        let share = count / KINDS.len() as u64;
        let first = number as u64 * 100_000_000;
        let seen: Vec<Seen> = (first..first + share)
            .into_par_iter()
            .filter_map(|seed| check(&Pair::new(seed, kind), seed, kind))
            .collect();
        let mut gaps: Vec<u32> = seen.iter().filter(|s| s.hit).map(|s| s.evaluations).collect();
        gaps.sort_unstable();
        let samples: u64 = seen.iter().map(|s| u64::from(s.samples)).sum();
        println!(
            "{kind:?}: {} pairs, {} hits ({} without approach); gaps per hit: median {}, one in ten above {}, one in a hundred above {}, most {}; \
             error where v > 1e-3 at most {:.1e}; {:.0} samples each; {:.1} s",
            seen.len(),
            gaps.len(),
            seen.iter().filter(|s| s.graze).count(),
            gaps[gaps.len() / 2],
            gaps[gaps.len() * 9 / 10],
            gaps[gaps.len() * 99 / 100],
            gaps[gaps.len() - 1],
            seen.iter().map(|s| s.worst_error).fold(0.0, f64::max),
            samples as f64 / seen.len() as f64,
            started.elapsed().as_secs_f64(),
        );
        let hits = gaps.len() as f64 / seen.len() as f64;
        assert!(hits > 0.2 && hits < 0.98, "{kind:?}: {hits}");
    }
}

/// A search that is told a direction, good or bad, finds the same contact from any time before it, and none before that.
#[test]
fn a_direction_changes_no_answer() {
    let (mut found, mut spared) = (0, 0);
    for kind in KINDS {
        for seed in 0..count(20_000) / 40 {
            let pair = Pair::new(7_000_000_000 + seed, kind);
            if pair.plane.is_some() {
                continue;
            }
            let Meeting::At(contact) = pair.search(Window::new(0.0, pair.until)).meeting else { continue };
            if contact.touch != Touch::Approaching {
                continue;
            }
            let [first, second] = [0, 1].map(|k| Moving::new(pair.shape(k), &pair.flights[k]));
            for (before, tilt) in
                [(1.0, 0.0), (0.3, 0.2), (0.1, 0.01), (1e-2, 0.0), (1e-4, 1e-3), (1e-4, 2.0)]
            {
                let from = (contact.time - before).max(0.0);
                let direction = (contact.normal + Vector3::new(tilt, -tilt, 0.5 * tilt)) * 3.0;
                for (until, meets) in [
                    (0.5 * (from + contact.time), false),
                    (contact.time - 8.0 * contact.time_error, false),
                    (contact.time + 8.0 * contact.time_error, true),
                    (contact.time + 1e-3, true),
                    (contact.time + 1.0, true),
                ] {
                    if until <= from {
                        continue;
                    }
                    let search = first_contact_near(first, second, Window::new(from, until), Some(direction));
                    let what =
                        || format!("seed {seed}, {kind:?}, from {from} to {until}: {search:?} {contact:?}");
                    match search.meeting {
                        Meeting::At(again) => {
                            let errors = again.time_error + contact.time_error;
                            assert!(meets && (again.time - contact.time).abs() <= errors, "{}", what());
                            found += 1;
                        }
                        Meeting::Apart => {
                            assert!(!meets, "{}", what());
                            assert!(
                                search.at_start == f64::INFINITY
                                    || search.at_start <= pair.gap(from) + ROUNDING
                            );
                            spared += u32::from(search.evaluations == 0);
                        }
                        _ => panic!("{}", what()),
                    }
                }
            }
        }
    }
    println!("{found} found, {spared} seen apart without a gap");
    assert!(found > 1000 && spared > 1000);
}

/// An offset of the second body at which it just misses the first, and one at which it just does not, so close that
/// rounding decides between them.
fn edge(pair: &Pair, direction: &Vector3<f64>) -> Option<[f64; 2]> {
    let meets = |offset: f64| match pair
        .shifted(&(direction * offset))
        .search(Window::new(0.0, pair.until))
        .meeting
    {
        Meeting::At(_) => Some(true),
        Meeting::Apart => Some(false),
        _ => None,
    };
    let (mut hit, mut miss) = (0.0, 4.0);
    if !meets(hit)? || meets(miss)? {
        return None;
    }
    for _ in 0..60 {
        let middle: f64 = 0.5 * (hit + miss);
        if middle == hit || middle == miss {
            break;
        }
        if meets(middle)? { hit = middle } else { miss = middle }
    }
    Some([hit, miss])
}

/// The lowest gap near a time, seen closer and closer.
fn lowest(pair: &Pair, near: f64, width: f64) -> f64 {
    let (mut best, mut width) = ((f64::INFINITY, near), width);
    for _ in 0..7 {
        let middle = best.1;
        for k in -20..=20 {
            let t = (middle + width * f64::from(k) / 20.0).clamp(0.0, pair.until);
            let gap = pair.gap(t);
            if gap < best.0 {
                best = (gap, t);
            }
        }
        width *= 0.1;
    }
    best.0
}

/// Looks at a pair on the edge, and a little to either side of it; the most gaps it took on the edge, near it and
/// farther, and whether there was a graze.
fn look_about(seed: u64) -> Option<([u32; 3], bool)> {
    let kind = KINDS[usize::try_from(seed % 5).unwrap()];
    let pair = Pair::new(7_000_000_000 + seed, kind);
    // Across its way, so that it passes.
    let across = pair.bodies[1].1.velocity - pair.bodies[0].1.velocity;
    let direction = match &pair.plane {
        Some(plane) => *plane.normal,
        None => across.cross(&Vector3::new(0.3, -0.5, 0.8)).normalize(),
    };
    let window = Window::new(0.0, pair.until);
    let [hit, miss] = edge(&pair, &direction)?;
    // Not where they are about to meet when the window ends.
    let Meeting::At(edge) = pair.shifted(&(direction * hit)).search(window).meeting else {
        panic!("seed {seed}")
    };
    if edge.time > 0.99 * pair.until {
        return None;
    }
    let (mut most, mut grazed) = ([0; 3], false);
    for (slot, depth) in [(0, 0.0), (1, 1e-12), (1, 1e-9), (2, 1e-6), (2, 1e-3)] {
        for offset in [hit - depth, miss + depth] {
            let moved = pair.shifted(&(direction * offset));
            let search = moved.search(window);
            most[slot] = most[slot].max(search.evaluations);
            let what = || format!("seed {seed}, {kind:?}, {offset}: {search:?}");
            let speed = moved.lipschitz(pair.until);
            let end = match search.meeting {
                Meeting::At(contact) => {
                    assert!(contact.gap.abs() < ROUNDING, "{}", what());
                    if contact.touch == Touch::Grazing {
                        grazed = true;
                        // It parts, and is left.
                        let again = moved.search(Window::parting(contact.time, pair.until));
                        let end = match again.meeting {
                            Meeting::At(next) => {
                                assert!(
                                    next.time > contact.time + contact.time_error,
                                    "{} {again:?}",
                                    what()
                                );
                                next.time - next.time_error
                            }
                            Meeting::Apart => pair.until,
                            _ => panic!("{} {again:?}", what()),
                        };
                        let (least, _) = sampled(|t| moved.gap(t), speed, contact.time, end, 3000.0);
                        assert!(least >= -ROUNDING, "{least:e} {} {again:?}", what());
                    }
                    contact.time - contact.time_error
                }
                Meeting::Apart => {
                    let least = lowest(&moved, edge.time, 0.01);
                    assert!(least >= -ROUNDING, "overlap {least:e}: {}", what());
                    pair.until
                }
                _ => panic!("{}", what()),
            };
            let (least, _) = sampled(|t| moved.gap(t), speed, 0.0, end, 1000.0);
            assert!(least >= -ROUNDING, "overlap {least:e}: {}", what());
        }
    }
    Some((most, grazed))
}

#[test]
fn near_grazes_are_told_from_misses() {
    let count = (count(20_000) / 25).min(8000);
    let seen: Vec<([u32; 3], bool)> = (0..count).into_par_iter().filter_map(look_about).collect();
    let gaps = |k: usize| {
        let mut list: Vec<u32> = seen.iter().map(|(most, _)| most[k]).collect();
        list.sort_unstable();
        (list[list.len() / 2], list[list.len() - 1])
    };
    println!(
        "{} edges, {} of them grazed; gaps (median, most): at the edge {:?}, within 1e-9 {:?}, within 1e-3 {:?}",
        seen.len(),
        seen.iter().filter(|(_, grazed)| *grazed).count(),
        gaps(0),
        gaps(1),
        gaps(2)
    );
    assert!(seen.len() as u64 > count / 5);
}

/// How much the time of contact can change when turns and spins are rounded: what a small change does, by each number.
fn rounding_of_turns(pair: &Pair, time: f64) -> f64 {
    let change = 1e-9;
    let mut sum = 0.0;
    for k in 0..2 {
        for axis in 0..3 {
            for spin in [true, false] {
                let mut moved = pair.clone();
                let state = &mut moved.bodies[k].1;
                let mut by = Vector3::zeros();
                by[axis] = change;
                if spin {
                    state.angular_velocity += by * state.angular_velocity.norm();
                } else {
                    state.orientation = UnitQuaternion::from_scaled_axis(by) * state.orientation;
                }
                let moved = moved.shifted(&Vector3::zeros());
                if let Meeting::At(contact) = moved.search(Window::new(0.0, pair.until)).meeting {
                    sum += (contact.time - time).abs() / change;
                }
            }
        }
    }
    f64::EPSILON * sum
}

#[test]
fn a_turned_world_gives_the_same_times_within_their_errors() {
    // Turning changes every rounding, that of the data too, and nothing else: the times differ by no more.
    let count = count(20_000) / 10;
    let ratios: Vec<f64> = (0..count)
        .into_par_iter()
        .filter_map(|seed| {
            let pair = Pair::new(8_000_000_000 + seed, KINDS[usize::try_from(seed % 5).unwrap()]);
            let small = u32::try_from(seed % 1000).unwrap();
            let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.7, -1.1, 0.01 * f64::from(small)));
            let window = Window::new(0.0, pair.until);
            match (pair.search(window).meeting, pair.turned(&turn).search(window).meeting) {
                (Meeting::At(a), Meeting::At(b)) => {
                    let data = pair.rounding_of_data(a.time) / a.approach.abs();
                    let difference = (a.time - b.time).abs();
                    let allowed = a.time_error + b.time_error + data;
                    // Close to the separatrix a tumbling body makes much of little.
                    let turns =
                        if difference > 0.5 * allowed { rounding_of_turns(&pair, a.time) } else { 0.0 };
                    Some(difference / (allowed + turns))
                }
                (Meeting::Apart, Meeting::Apart) | (Meeting::Overlapping(_), Meeting::Overlapping(_)) => None,
                other => panic!("seed {seed}: {other:?}"),
            }
        })
        .collect();
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    let mut sorted = ratios.clone();
    sorted.sort_by(f64::total_cmp);
    println!(
        "{} hits; difference over errors and data: median {:.3}, most {worst:.3}",
        ratios.len(),
        sorted[sorted.len() / 2]
    );
    assert!(worst <= 1.0, "{worst}");
}
