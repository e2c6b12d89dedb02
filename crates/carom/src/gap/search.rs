//! The global maximum of f from a set of starts: first the direction of the other centre, and in deep overlap many more.

use nalgebra::Vector3;

use super::dual::{Ascent, Pair};
use super::{Found, Hint, Turned, mixed, primal};
use crate::shape::{Convex, unit};

/// The gap of a body and another, or a point; from a direction likely close to the answer, if there is one.
pub(super) fn search<A: Convex, B: Convex>(
    one: &Turned<A>,
    other: Option<&Turned<B>>,
    offset: &Vector3<f64>,
    hint: &Hint,
) -> Found {
    let pair = Pair { one, other, offset };
    let global = |found: &Found| is_global(&pair, found);
    let enough = |found: &Found| is_enough(&pair, found, hint);
    let mut wasted = 0;
    if let Some(points) = hint.points
        && pair.sharpest() > 2.0
    {
        let (found, steps) = polish(&pair, &points, f64::NEG_INFINITY, primal::HASTY);
        if let Some(found) = found.filter(enough) {
            return found;
        }
        wasted += steps;
    }
    if let Some(direction) = hint.normal.as_ref().map(unit).filter(|n| n.norm() > 0.5) {
        let found = arrive(&pair, &direction);
        if enough(&found) {
            return Found { iterations: found.iterations + wasted, ..found };
        }
        wasted += found.iterations;
    }
    let mut best = climb(&pair, &first_start(&pair));
    best.iterations += wasted;
    if global(&best) {
        return best;
    }
    let mut iterations = best.iterations;
    let starts = Starts::of(&pair);
    // A start that stops on a saddle or a kink is one of many: they are sharpened only if none does better.
    for from in [ascend::<A, B>, climb::<A, B>] {
        for start in starts.list() {
            let found = from(&pair, start);
            iterations += found.iterations;
            best = best.or_better(found, pair.rounding());
        }
        if !best.settled {
            best = finish(&pair, Found { iterations: 0, ..best });
            iterations += best.iterations;
        }
        if best.settled {
            break;
        }
    }
    Found { iterations, ..best }
}

/// Whether a maximum is the global one, by the module's guarantee: its ρ is only asked for in overlap.
fn is_global<A: Convex, B: Convex>(pair: &Pair<A, B>, found: &Found) -> bool {
    let rolling = || pair.one.rolling_radius() + pair.other.map_or(0.0, Turned::rolling_radius);
    found.settled && (found.gap >= 0.0 || found.gap > -rolling())
}

/// Whether a maximum will do.
fn is_enough<A: Convex, B: Convex>(pair: &Pair<A, B>, found: &Found, hint: &Hint) -> bool {
    is_global(pair, found) || (found.settled && found.gap < -hint.depth)
}

/// Where a search without hints starts: in the direction of the other centre.
fn first_start<A: Convex, B: Convex>(pair: &Pair<A, B>) -> Vector3<f64> {
    if *pair.offset == Vector3::zeros() { pair.one.axes.column(0).into_owned() } else { unit(pair.offset) }
}

/// What [`search`] finds, to the bit, if its first climb or polish arrives without help from [`mixed`]; nothing otherwise. Short enough for
/// many searches to run in step.
pub(super) fn search_at_once<A: Convex, B: Convex>(
    one: &Turned<A>,
    other: Option<&Turned<B>>,
    offset: &Vector3<f64>,
    hint: &Hint,
) -> Option<Found> {
    let pair = Pair { one, other, offset };
    if let Some(points) = hint.points
        && pair.sharpest() > 2.0
    {
        let (found, _) = primal::polish(&pair, &points, f64::NEG_INFINITY, primal::HASTY);
        return found.filter(|found| found.settled && is_enough(&pair, found, hint));
    }
    let direction = hint.normal.as_ref().map(unit).filter(|n| n.norm() > 0.5);
    // One climb for either: on a GPU a second would be a second one for all to wait for.
    let found = ascend_at_once(&pair, &direction.unwrap_or_else(|| first_start(&pair)))?;
    (is_global(&pair, &found) || (direction.is_some() && is_enough(&pair, &found, hint))).then_some(found)
}

/// The separating axes of two boxes, and how many of the fan's directions are climbed from.
const AXES: usize = 15;
const FROM_FAN: usize = 4;

/// The directions deep overlaps are searched from: the separating axes of two boxes, which is what bodies of large
/// exponent look like (the axes of both, and the cross products of one's with the other's), and the highest of a fixed
/// fan. Trying only the highest half of the axes is twice as fast and missed one deep overlap in 80 000.
///
/// Between bodies symmetric about their centres each is taken on the side of the other centre, because then
/// f(n) − f(−n) = 2 n·(c₂ − c₁); otherwise on both sides.
struct Starts {
    directions: [Vector3<f64>; 2 * (AXES + FROM_FAN)],
    count: usize,
}

impl Starts {
    fn of<A: Convex, B: Convex>(pair: &Pair<A, B>) -> Self {
        let axes = pair.one.axes;
        let others = pair.other.map_or(axes, |other| other.axes);
        let separating = |k: usize| match k {
            0..3 => axes.column(k).into_owned(),
            3..6 => others.column(k - 3).into_owned(),
            // Parallel axes have no cross product; either of them stands in.
            _ => {
                let (one, other) = (axes.column(k % 3), others.column(k / 3 - 2));
                one.cross(&other).try_normalize(1e-6).unwrap_or(one.into_owned())
            }
        };
        let symmetric =
            pair.one.shape.is_symmetric() && pair.other.is_none_or(|other| other.shape.is_symmetric());
        let mut starts = Self { directions: [Vector3::x(); 2 * (AXES + FROM_FAN)], count: 0 };
        let sides: &[f64] = if symmetric { &[0.0] } else { &[-1.0, 1.0] };
        for side in sides {
            let turned = |n: Vector3<f64>| {
                let backwards = if symmetric { n.dot(pair.offset) < 0.0 } else { *side < 0.0 };
                if backwards { -n } else { n }
            };
            starts.add::<AXES>(&highest(pair, (0..AXES).map(separating).map(turned)));
            starts.add::<FROM_FAN>(&highest(pair, (0..FAN).map(fan).map(turned)));
        }
        starts
    }

    fn add<const N: usize>(&mut self, directions: &[Vector3<f64>; N]) {
        self.directions[self.count..self.count + N].copy_from_slice(directions);
        self.count += N;
    }

    fn list(&self) -> &[Vector3<f64>] {
        &self.directions[..self.count]
    }
}

/// The N directions of the list where f is highest, the highest first.
fn highest<const N: usize, A: Convex, B: Convex>(
    pair: &Pair<A, B>,
    list: impl Iterator<Item = Vector3<f64>>,
) -> [Vector3<f64>; N] {
    let mut kept = [(f64::NEG_INFINITY, Vector3::x()); N];
    for n in list {
        let mut entry = (pair.value(&n), n);
        for slot in &mut kept {
            if entry.0 > slot.0 {
                core::mem::swap(&mut entry, slot);
            }
        }
    }
    kept.map(|(_, n)| n)
}

/// How many directions the fan has.
const FAN: u32 = 48;

/// Half a sphere of nearly even directions: a spiral that turns by the golden angle.
fn fan(k: u32) -> Vector3<f64> {
    let z = (f64::from(k) + 0.5) / f64::from(FAN);
    let turn = 2.399_963_229_728_653 * f64::from(k);
    let across = libm::sqrt(1.0 - z * z);
    Vector3::new(across * libm::cos(turn), across * libm::sin(turn), z)
}

/// From one direction to a maximum of f. Where the exponent is so large that edges look like kinks and the climb
/// stops on one, the bodies are rounded to a small exponent and sharpened again step by step.
fn climb<A: Convex, B: Convex>(pair: &Pair<A, B>, start: &Vector3<f64>) -> Found {
    let direct = arrive(pair, start);
    let sharpest = pair.sharpest();
    if direct.settled || sharpest <= ROUNDEST {
        return direct;
    }
    let mut iterations = direct.iterations;
    let mut exponent = ROUNDEST;
    let mut found = Found { normal: *start, ..direct };
    loop {
        let shapes =
            (pair.one.shape.rounded(exponent), pair.other.and_then(|other| other.shape.rounded(exponent)));
        let one = pair.one.replaced(shapes.0.as_ref().unwrap_or(pair.one.shape));
        let other = pair.other.map(|other| other.replaced(shapes.1.as_ref().unwrap_or(other.shape)));
        let rounded = Pair { one: &one, other: other.as_ref(), offset: pair.offset };
        let (polished, steps) = polish(&rounded, &found.points, f64::NEG_INFINITY, primal::PATIENT);
        iterations += steps;
        found = polished.unwrap_or_else(|| {
            let found = arrive(&rounded, &found.normal);
            iterations += found.iterations;
            found
        });
        if exponent >= sharpest {
            return Found { iterations, ..direct.or_better(found, pair.rounding()) };
        }
        exponent = (SHARPENING * exponent).min(sharpest);
    }
}

/// The exponent sharpening starts from, and its factor.
const ROUNDEST: f64 = 6.0;
const SHARPENING: f64 = 1.5;

/// From one direction to a maximum of f and, where the normal does not tell the points, on to them.
fn arrive<A: Convex, B: Convex>(pair: &Pair<A, B>, start: &Vector3<f64>) -> Found {
    let found = ascend(pair, start);
    if found.settled { found } else { finish(pair, found) }
}

/// What a climb or a polish came to, improved in coordinates that suit each body where that can be done.
fn finish<A: Convex, B: Convex>(pair: &Pair<A, B>, stopped: Found) -> Found {
    let (found, steps) = mixed::solve(pair, &stopped);
    let better = found.filter(|found| found.settled || found.residual < stopped.residual);
    // Solved, if not to the last digit.
    let found = better.map_or(stopped, |found| Found { settled: true, ..found });
    Found { iterations: stopped.iterations + steps, ..found }
}

/// By the points; where that ends above rounding, as beside a sharp tip, by what suits each body.
fn polish<A: Convex, B: Convex>(
    pair: &Pair<A, B>,
    from: &[Vector3<f64>; 2],
    least: f64,
    effort: primal::Effort,
) -> (Option<Found>, u32) {
    let (found, steps) = primal::polish(pair, from, least, effort);
    let Some(close) = found.filter(|found| !found.settled) else { return (found, steps) };
    let found = finish(pair, close);
    (Some(Found { settled: true, ..found }), found.iterations)
}

/// By the normal; then, for bodies with flats, by the points.
fn ascend<A: Convex, B: Convex>(pair: &Pair<A, B>, start: &Vector3<f64>) -> Found {
    let mut ascent = Ascent::new(pair, start);
    let mut iterations = 0;
    let mut next_try = if pair.sharpest() > 2.0 { FIRST_TRY } else { u32::MAX };
    loop {
        let before = ascent.steepness();
        let more = ascent.step();
        // Off the rings the normal arrives by itself; a climb that slows down is on its way to one.
        let slow = ascent.steps() >= next_try && ascent.steepness() > SHRINKING * before;
        if !more || slow {
            let found = ascent.found();
            if !more && found.settled {
                return Found { iterations: iterations + ascent.steps(), ..found };
            }
            let (found, steps) = polish(pair, &found.points, found.gap, primal::PATIENT);
            iterations += steps;
            if let Some(found) = found {
                return Found { iterations: iterations + ascent.steps(), ..found };
            }
            next_try = next_try.max(2 * ascent.steps());
        }
        if !more {
            return Found { iterations: iterations + ascent.steps(), ..ascent.found() };
        }
    }
}

/// As above, if that ends to rounding.
fn ascend_at_once<A: Convex, B: Convex>(pair: &Pair<A, B>, start: &Vector3<f64>) -> Option<Found> {
    let mut ascent = Ascent::new(pair, start);
    if pair.sharpest() <= 2.0 {
        while ascent.step() {}
        return Some(ascent.found()).filter(|found| found.settled);
    }
    let mut next_try = FIRST_TRY;
    loop {
        let before = ascent.steepness();
        let more = ascent.step();
        if more && !(ascent.steps() >= next_try && ascent.steepness() > SHRINKING * before) {
            continue;
        }
        let found = ascent.found();
        if !more && found.settled {
            return Some(found);
        }
        let (polished, _) = primal::polish(pair, &found.points, found.gap, primal::PATIENT);
        if polished.is_some() {
            return polished.filter(|found| found.settled);
        }
        if !more {
            return None;
        }
        next_try = next_try.max(2 * ascent.steps());
    }
}

/// A climb is slow when a step leaves more than this of the slope, but not in its first steps; after the points were
/// tried in vain, not before as many steps again.
const SHRINKING: f64 = 0.5;
const FIRST_TRY: u32 = 4;
