//! What else is to be said of a run, in sentences.

use carom::contact::Side;
use carom::flow::Obstacle;
use carom::observe::Quantity;
use carom::run::{Cause, Stopped, Trouble};
use carom::scene::instant::name;
use carom::scene::model::{Fill, Scene, Start};
use carom::shape::Shape;

use super::limits::Violation;
use super::{End, Running};
use crate::start::{springs_without_direction, tied_overlaps};
use crate::words::{number, residual};

/// Friction below this is rounding.
const ROLLS_ANYWHERE: f64 = 1e-9;

impl Running {
    /// What else is to be said of the run so far.
    pub fn notes(&self) -> Vec<String> {
        let (scene, engine) = (&*self.scene, &self.engine);
        let mut notes = Vec::new();
        if let Some(violation) = self.limits.failure(&engine.audit()) {
            notes.push(format!(
                "the audit fails: {}; do not trust what follows",
                violation_in_words(scene, &violation)
            ));
        }
        let asked = self.end == Some(End::Stopped(Stopped::Paradox));
        if let Some(Trouble { time, sides, cause }) = engine.trouble().filter(|_| !asked) {
            let [first, second] = sides.map(|side| name(scene, side));
            let what = match cause {
                Cause::Tied(_) if first == second => format!("the motion of {first}"),
                Cause::Tied(_) => format!("the motion of {first}, {second} and what they are tied to"),
                _ => format!("the contact of {first} and {second}"),
            };
            notes.push(format!("lost at t = {}: {what}, because {}", number(time), because(cause)));
        }
        notes.extend(tied_overlaps(scene));
        notes.extend(springs_without_direction(scene));
        let dependent = engine.dependent_rows();
        if dependent > 0 {
            notes.push(format!(
                "{dependent} of the joints' rows depend on the others: the rigid model does not determine all reactions and joint impulses, and those given are of least norm"
            ));
        }
        for demand in engine.rolling_demands() {
            let joint = &scene.joints[demand.joint].name;
            if demand.coefficient.is_infinite() {
                notes.push(format!(
                    "{joint}: rolling without slip takes an infinite friction coefficient at t = {}, where the normal force passes zero and friction does not",
                    number(demand.time)
                ));
            } else if demand.coefficient > ROLLS_ANYWHERE {
                // In full, so that it can be compared with a coefficient.
                notes.push(format!(
                    "{joint}: rolling without slip takes a friction coefficient of {} at t = {}",
                    demand.coefficient,
                    number(demand.time)
                ));
            }
            if let Some(time) = demand.pulls {
                notes.push(format!(
                    "{joint}: rolling without slip and without lift-off takes a grip at t = {} where the plane does not push, which no surface gives",
                    number(time)
                ));
            }
        }
        for passages in engine.singular_passages() {
            let linkage = name(scene, Side::Body(passages.body));
            let when = if passages.count == 1 {
                format!("a singular configuration at t = {}", number(passages.first))
            } else {
                format!(
                    "{} singular configurations, the first at t = {}, the last at t = {}",
                    passages.count,
                    number(passages.first),
                    number(passages.last)
                )
            };
            notes.push(format!(
                "the linkage of {linkage} passes {when}, where branches of its motion meet: the branch taken is the one that continues the motion smoothly"
            ));
        }
        let elastic = engine.counts().elastic;
        if elastic > 0 {
            let impacts = engine.counts().impacts;
            let ball = |shape: &Shape| matches!(shape, Shape::Sphere { .. } | Shape::Point);
            let all_balls = scene.bodies.iter().all(|body| ball(&body.body.shape));
            let rest = if 2 * elastic > impacts && !all_balls {
                "; so many of them are of bodies that should come to rest on one another, and `--loop simulation` holds such contacts"
            } else {
                ""
            };
            notes.push(format!(
                "{elastic} of {impacts} collisions followed another of the same body within {} and were made elastic, so that collisions do not accumulate without end{rest}",
                number(self.settings.contact_time.unwrap_or(0.0))
            ));
        }
        notes.extend(self.cooling());
        let measured = engine.observer.as_ref().is_some_and(|observer| !observer.blocks().is_empty());
        let lattice = |fill: &Fill| fill.start == Start::Lattice && fill.equilibrate.is_none();
        if measured && scene.fills.iter().any(lattice) {
            notes.push(
                "the averages begin on the lattice, which is no equilibrium: `equilibrate` in the fill lets the bodies collide before the run"
                    .to_string(),
            );
        }
        let walls = !scene.planes.is_empty() || scene.bodies.iter().any(|body| body.body.fixed);
        if engine.observer.is_some() && walls {
            notes.push(
                "compressibility and pressure are those of the collisions among the bodies: what planes and fixed bodies bear is left out"
                    .to_string(),
            );
        }
        if !scene.contacts.is_empty() {
            notes.push(
                "the scene's explicit contacts have no effect: a run finds its contacts itself".to_string(),
            );
        }
        let unbounded = self.watch.unbounded;
        if unbounded > 0 {
            notes.push(format!(
                "{unbounded} derivatives of the gap (g2, g3, force_slope) are not finite, where a surface is flat or the force jumps; they are null in JSON"
            ));
        }
        notes
    }
}

impl Running {
    /// What averages mean in a gas that loses energy.
    fn cooling(&self) -> Option<String> {
        let rules = &self.scene.surface;
        if rules.restitution >= 1.0 && rules.pairs.iter().all(|pair| pair.restitution >= 1.0) {
            return None;
        }
        let blocks = self.engine.observer.as_ref()?.blocks();
        let quantity = Quantity::TemperatureTranslational;
        let place = Quantity::ALL.iter().position(|other| *other == quantity)?;
        let [first, last] = [blocks.first()?, blocks.last()?].map(|block| block.means[place]);
        let (first, last) = (first?, last?);
        (last < COOLED * first).then(|| {
            format!(
                "the gas cools, k_B T from {} in the first block of time to {} in the last: the averages are over a state that changes, and their errors say how much",
                number(first),
                number(last)
            )
        })
    }
}

/// What the audit found wrong, where, between whom, by how much and with which limit.
pub fn violation_in_words(scene: &Scene, violation: &Violation) -> String {
    let what = match violation.quantity {
        "finite" => "a value is not finite",
        "energy_error_max" => "the energy differs from what the impulses' work makes it",
        "linear_error_max" => "the momentum differs from what the impulses make it",
        "angular_error_max" => "the angular momentum differs from what the impulses make it",
        "points_error_max" => "a contact point is off its surface",
        "impulse_error_max" => "a body's momentum does not change by its impulses",
        "work_error_max" => "the energy does not change by the impulses' work",
        "restitution_error_max" => "the separation is not that of the restitution",
        "unilateral_error_max" => "a contact pulls, leaves its friction cone or keeps closing",
        "energy_gain_max" => "an event gains energy",
        "joint_error_max" => "bodies are off their joints",
        "gap_min" => "bodies overlap",
        other => other,
    };
    let who = violation.sides.map_or_else(String::new, |sides| {
        let [first, second] = sides.map(|side| name(scene, side));
        format!(", {first} and {second}")
    });
    let how = violation.value.map_or_else(String::new, |value| {
        let (quantity, limit) = (violation.quantity, residual(violation.limit));
        format!(": {quantity} is {}, and the limit {limit}", residual(value))
    });
    format!("{what} at event {}{who}{how}", violation.event)
}

/// A gas whose temperature falls to this share of itself has no averages that stay.
const COOLED: f64 = 0.9;

/// Why a motion could not be followed, in words.
fn because(cause: Cause) -> &'static str {
    match cause {
        Cause::Search => {
            "the search for their next touch does not come forward: too fast, or magnitudes too far apart"
        }
        Cause::Law => "the impact law has no answer there",
        Cause::Unheld => {
            "they touch without approach and would sink into each other, and the loop `crowd` holds no contact: `--loop simulation` does"
        }
        Cause::Hold(obstacle) | Cause::Tied(obstacle) => obstacle_in_words(obstacle),
    }
}

/// What stands in the way of a motion under constraints.
pub(super) fn obstacle_in_words(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::NoSurface { .. } => "one of them has no surface to be held at",
        Obstacle::Rocking { .. } => "it rocks on a flat, where the force is infinite",
        Obstacle::Contradiction => "the contacts at rest ask for accelerations that contradict each other",
        Obstacle::Jam => "no friction force is consistent with the motion there, or none was found",
        Obstacle::NotFinite => "the motion is more than floating point holds",
        Obstacle::Rough => "the held motion cannot be integrated there, however short the step",
        Obstacle::Endless => {
            "its steps are so short beside the time asked for that the run would not come to its end: the forces or speeds are too great"
        }
    }
}
