//! How far two answers may be apart: what the rounding of the data does to them, and what rounding on the way does.
//!
//! A scene is made of drawn numbers, and what it must satisfy (bodies that touch, velocities that joints allow) follows from
//! them. So the same scene with every drawn number changed by a part δ of itself is a scene of the same kind, and the change of
//! an answer over δ is its condition κ: what a relative error ε of the data does to it is ε κ. An answer may be off by what
//! [`ROUNDINGS`] roundings of the data do, and as many roundings of numbers of the size of the scene.

use std::collections::BTreeMap;

use crate::answer::{Answer, Kind, Names, Quantity, Question, Unit};
use crate::draw::Draw;
use crate::frame::Frame;
use crate::scene::{Vector, World};

/// The roundings allowed: of some fifty numbers of a scene, each read, turned, scaled and printed, and of what is computed of them.
pub const ROUNDINGS: f64 = 500.0;

/// By how much the data are changed, one after the other if the first is too much.
const NUDGES: [f64; 2] = [1e-7, 1e-10];
/// Of an instant, where bodies that touch are not where they should be by as much: within what counts as touching.
const NUDGES_OF_AN_INSTANT: [f64; 2] = [1e-10, 1e-11];

/// An answer and how sensitive it is.
pub struct Sensitive {
    pub answer: Answer,
    condition: BTreeMap<String, f64>,
    pub scales: Scales,
}

/// The largest length, speed and mass of a scene.
#[derive(Debug, Clone, Copy)]
pub struct Scales {
    pub length: f64,
    pub speed: f64,
    pub mass: f64,
}

/// A scene and how sensitive its answer is.
pub struct Case {
    pub world: World,
    pub own: Sensitive,
}

impl Case {
    /// Draws a scene, asks, and asks again with nudged data. `None` if the answer is not the same in kind for data that
    /// differ by the smaller nudge: there it hangs on more digits than a test can ask for.
    pub fn draw(question: Question, seed: u64, make: &impl Fn(&mut Draw) -> World) -> Option<Self> {
        let world = make(&mut Draw::new(seed));
        let answer = question.ask(&world, &Names::new());
        let instant = matches!(question, Question::Solve | Question::Classify);
        let nudges = if instant { NUDGES_OF_AN_INSTANT } else { NUDGES };
        let own = Sensitive::of(answer, scales(&world), nudges, |which, nudge| {
            let mut draw = Draw::nudged(seed, which, nudge);
            let mut world = make(&mut draw);
            if instant && world.joints.is_empty() {
                world.bodies.iter_mut().for_each(|body| body.position += draw.vector(nudge));
            }
            question.ask(&world, &Names::new())
        })?;
        Some(Self { world, own })
    }

    /// What is different about the answer of another scene, which is this one in another frame.
    pub fn finding(
        &self,
        seed: u64,
        what: &str,
        (frame, other): (&Frame, &World),
        answer: &Answer,
        left_out: impl Fn(&str) -> bool,
    ) -> Option<Finding> {
        let differences = self.own.differences(frame, answer, ROUNDINGS, left_out);
        (!differences.is_empty()).then(|| Finding {
            seed,
            what: what.to_string(),
            differences,
            before: self.world.text(),
            after: other.text(),
        })
    }
}

impl Sensitive {
    /// Asks again with data that are nudged, by the first nudge at which the facts stay.
    pub fn of(
        answer: Answer,
        scales: Scales,
        nudges: [f64; 2],
        nudged: impl Fn(u64, f64) -> Answer,
    ) -> Option<Self> {
        for nudge in nudges {
            let others = [0, 1, 2].map(|which| nudged(which, nudge));
            if others.iter().all(|other| other.facts == answer.facts) {
                let condition = answer.quantities.iter().map(|(key, quantity)| {
                    let changes = others.iter().map(|other| {
                        let values = other.quantities.get(key).map_or(&[][..], |other| &other.values);
                        difference(quantity.kind, values, &quantity.values)
                    });
                    (key.clone(), changes.fold(0.0, f64::max) / nudge)
                });
                return Some(Self { condition: condition.collect(), answer, scales });
            }
        }
        None
    }

    /// The largest number of a unit that the scene's data make.
    pub fn size(&self, Unit(length, mass, time): Unit) -> f64 {
        let Scales { length: l, speed, mass: m } = self.scales;
        l.powi(length) * m.powi(mass) * (l / speed).powi(time)
    }

    /// How much the largest of what differs in a scene's end grows from what differs in its data.
    pub fn growth(&self) -> f64 {
        let of = |(key, quantity): (&String, &Quantity)| self.condition[key] / self.size(quantity.unit);
        self.answer.quantities.iter().map(of).fold(1.0, f64::max)
    }

    /// What is different about another answer, that should be this one in another frame, beyond a number of roundings. `left_out` are
    /// facts and quantities that may differ.
    pub fn differences(
        &self,
        frame: &Frame,
        other: &Answer,
        roundings: f64,
        left_out: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let mut found = Vec::new();
        for (key, fact) in &self.answer.facts {
            let there = other.facts.get(key);
            if !left_out(key) && there != Some(fact) {
                found.push(format!("{key}: {fact} became {}", there.map_or("nothing", String::as_str)));
            }
        }
        for (key, fact) in &other.facts {
            if !left_out(key) && !self.answer.facts.contains_key(key) {
                found.push(format!("{key}: {fact} is new"));
            }
        }
        // Far from the origin, or fast, the same numbers have fewer digits.
        let far = frame.shift.norm() / (frame.units.length * self.scales.length);
        let fast = frame.boost.norm() * frame.units.time / (frame.units.length * self.scales.speed);
        let roundings = roundings * (1.0 + far + fast);
        for (key, quantity) in &self.answer.quantities {
            if left_out(key) {
                continue;
            }
            let Some(there) = other.quantities.get(key) else {
                if !key.ends_with("in order") {
                    found.push(format!("{key} is not there"));
                }
                continue;
            };
            let Some(expected) = frame.carry(quantity) else { continue };
            let factor = frame.factor(quantity.unit);
            let error = difference(quantity.kind, &there.values, &expected);
            let largest = quantity.values.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let late = quantity.late + there.late / frame.units.time;
            let missed = self.size(quantity.unit) * late * self.scales.speed / self.scales.length;
            let local = largest * self.scales.length * quantity.sharpness;
            let rounding = roundings * (self.condition[key] + self.size(quantity.unit) + local);
            let allowed = (f64::EPSILON * rounding + missed + quantity.bound) * factor + there.bound;
            // Not a number is not within bounds.
            let within = error <= allowed;
            if !within {
                let (got, ratio) = (&there.values, error / allowed);
                found.push(format!(
                    "{key}: {expected:?} became {got:?}, off by {error:.2e}, {ratio:.1} times what rounding allows"
                ));
            }
        }
        found
    }
}

/// The largest difference of two lists; infinite where they are not alike.
fn difference(kind: Kind, a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() {
        return f64::INFINITY;
    }
    let apart = |sign: f64| a.iter().zip(b).map(|(a, b)| (a - sign * b).abs()).fold(0.0, f64::max);
    // A quaternion and its negative are the same turn.
    if kind == Kind::Orientation { apart(1.0).min(apart(-1.0)) } else { apart(1.0) }
}

/// A length, a speed and a mass that are the largest of the scene.
fn scales(world: &World) -> Scales {
    let mut length: f64 = 0.0;
    let mut speed: f64 = 0.0;
    let mut mass: f64 = 0.0;
    for body in &world.bodies {
        let reach = body.shape.reach().max(body.inertia.map_or(0.0, |i| (i.max() / body.mass).sqrt()));
        length = length.max(body.position.norm() + reach);
        speed = speed.max(body.velocity.norm() + body.spin.norm() * reach);
        mass = mass.max(body.mass);
    }
    let fall = world.gravity.norm() * world.until;
    Scales { length: length + speed * world.until.min(10.0), speed: speed.max(fall).max(1e-3), mass }
}

/// A test's finding, with everything that it takes to repeat it.
pub struct Finding {
    pub seed: u64,
    pub what: String,
    pub differences: Vec<String>,
    pub before: String,
    pub after: String,
}

/// Fails where something was found.
pub fn report(findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    let mut message = format!("{} of the answers changed\n", findings.len());
    for finding in findings.iter().take(SHOWN) {
        message += &format!("\nseed {}, {}:\n", finding.seed, finding.what);
        for difference in finding.differences.iter().take(SHOWN) {
            message += &format!("  {difference}\n");
        }
        message += &format!("scene: {}\nchanged: {}\n", finding.before, finding.after);
    }
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        *kinds.entry(finding.what.as_str()).or_default() += 1;
    }
    let all: Vec<String> =
        findings.iter().map(|finding| format!("{} {}", finding.seed, finding.what)).collect();
    panic!("{message}\n{}\n{kinds:?}", all.join("; "));
}

/// Enough to see what is wrong.
const SHOWN: usize = 6;

/// A direction along all planes, if there is one.
pub fn along_planes(world: &World, draw: &mut Draw) -> Option<Vector> {
    let mut direction = draw.direction();
    match world.planes.as_slice() {
        [] => {}
        [one] => {
            let n = one.normal.normalize();
            direction -= n * n.dot(&direction);
        }
        [one, two] => direction = one.normal.cross(&two.normal),
        _ => return None,
    }
    direction.try_normalize(1e-3)
}
