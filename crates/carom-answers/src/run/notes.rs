//! What else is to be said of a run, in sentences.

use carom::contact::Side;
use carom::flow::Obstacle;
use carom::observe::Quantity;
use carom::run::{Cause, Failure, Stopped};
use carom::scene::instant::name;
use carom::scene::model::{Fill, Scene, Start};
use carom::shape::Shape;
use carom::simulation::{RollingDemand, SingularPassages};

use super::engine::Loop;
use super::limits::{Limited, Violation};
use super::settings::Trouble;
use super::{End, Running};
use crate::start::{springs_without_direction, tied_overlaps};
use crate::words::{number, residual};

/// Friction below this is rounding.
const ROLLS_ANYWHERE: f64 = 1e-9;

impl Running {
    /// What else is to be said of the run so far.
    pub fn notes(&self) -> Vec<String> {
        let (scene, engine) = (&*self.scene, &self.engine);
        let mut notes: Vec<String> =
            self.failed().into_iter().chain(self.lost()).chain(self.stalled()).collect();
        notes.extend(tied_overlaps(scene));
        notes.extend(springs_without_direction(scene));
        let dependent = engine.dependent_rows();
        if dependent > 0 {
            notes.push(format!(
                "{dependent} of the joints' rows depend on the others: the rigid model does not determine all reactions and joint impulses, and those given are of least norm"
            ));
        }
        notes.extend(engine.rolling_demands().iter().flat_map(|demand| rolling(scene, demand)));
        notes.extend(engine.singular_passages().iter().map(|passages| singular(scene, passages)));
        notes.extend(self.stepped());
        notes.extend(self.rest());
        notes.extend(self.elastic());
        notes.extend(self.cooling());
        notes.extend(self.averages().map(str::to_string));
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

    /// What was carried on by time steps.
    fn stepped(&self) -> Option<String> {
        let intervals = self.engine.stepped();
        let steps: u64 = intervals.iter().map(|interval| interval.steps).sum();
        let time: f64 = intervals.iter().map(|interval| interval.until - interval.from).sum();
        let gap = intervals.iter().map(|interval| interval.gap_min).fold(f64::INFINITY, f64::min);
        let first = intervals.first()?;
        let bodies = first.bodies.iter().map(|&body| name(&self.scene, Side::Body(body as usize)));
        let bodies: Vec<&str> = bodies.take(4).collect();
        let more = if first.bodies.len() > 4 { ", …" } else { "" };
        let overlap = if gap < 0.0 {
            format!("; the deepest overlap of their contacts was {}", residual(-gap))
        } else {
            String::new()
        };
        Some(format!(
            "{} of the {} simulated seconds are approximate: the exact motion had no continuation there, and bodies were carried on by {steps} time steps, first {}{more} from t = {}{overlap}; `stepped` in the JSON lists the intervals, and `on_trouble = \"stop\"` ends the run instead",
            number(time),
            number(self.engine.time()),
            bodies.join(", "),
            number(first.from)
        ))
    }

    /// What the rest speed took.
    fn rest(&self) -> Option<String> {
        let rest = self.engine.audit().rest;
        (rest.count > 0).then(|| {
            format!(
                "{} impacts slower than the rest speed, at most {} m/s, were taken as plastic; that took {} J",
                rest.count,
                number(rest.speed_max),
                residual(rest.energy)
            )
        })
    }

    /// What the audit found wrong.
    fn failed(&self) -> Option<String> {
        let violation = self.limits.failure(&self.engine.audit())?;
        let words = violation_in_words(&self.scene, &violation);
        Some(format!("the audit fails: {words}; do not trust what follows"))
    }

    /// Where the motion could not be followed, unless the run was meant to end there.
    fn lost(&self) -> Option<String> {
        if self.end == Some(End::Stopped(Stopped::Paradox)) {
            return None;
        }
        let Failure { time, sides, cause } = self.engine.failure()?;
        let [first, second] = sides.map(|side| name(&self.scene, side));
        let what = match cause {
            Cause::Constrained(_) if first == second => format!("the motion of {first}"),
            Cause::Constrained(_) => format!("the motion of {first}, {second} and what they are tied to"),
            _ => format!("the contact of {first} and {second}"),
        };
        let (time, cause_words) = (number(time), because(cause));
        Some(format!("lost at t = {time}: {what}, because {cause_words}; {}", self.after_loss(cause)))
    }

    /// What can be done where a motion was lost.
    fn after_loss(&self, cause: Cause) -> String {
        let steps = match self.settings.on_trouble {
            Trouble::Stop if self.settings.strict => {
                "without `strict` the bodies are carried on by time steps from there"
            }
            Trouble::Stop => "`on_trouble = \"step\"` carries the bodies on by time steps from there",
            Trouble::Step => "what was run until there stands",
        };
        match cause {
            Cause::Unsupported => "`--loop simulation` can".to_string(),
            Cause::Law => format!("`carom compare` shows what other laws make of it, and {steps}"),
            Cause::Search => format!("{steps}, and lower speeds or sizes nearer each other can be followed"),
            Cause::PersistentContact(_) | Cause::Constrained(_) => steps.to_string(),
        }
    }

    /// What can be done where events accumulate without end.
    fn stalled(&self) -> Option<String> {
        if self.end != Some(End::Stopped(Stopped::Stalled)) {
            return None;
        }
        let settings = &self.settings;
        let mut ways = Vec::new();
        if self.engine.which() == Loop::Edmd {
            let most = "a longer `contact_time` makes collisions that follow one another too soon elastic";
            ways.extend([most, "`--loop simulation` lets bodies come to rest on one another"]);
        } else {
            if settings.strict {
                ways.push("without `strict` the bodies are carried on by time steps from there");
            } else if settings.on_trouble == Trouble::Stop {
                ways.push("`on_trouble = \"step\"` carries the bodies on by time steps from there");
            }
            ways.push(match settings.rest_speed {
                Some(0.0) => "a `rest_speed` above 0 takes slow impacts as plastic, and lets bouncing end",
                _ => "a greater `rest_speed` takes more of the slow impacts as plastic",
            });
        }
        Some(format!(
            "stalled at t = {}: events accumulate there without end, as where bodies bounce ever faster; {}",
            number(self.engine.time()),
            ways.join("; ")
        ))
    }

    /// Collisions that were made elastic.
    fn elastic(&self) -> Option<String> {
        let (elastic, impacts) = (self.engine.counts().elastic, self.engine.counts().impacts);
        if elastic == 0 {
            return None;
        }
        let ball = |shape: &Shape| matches!(shape, Shape::Sphere { .. } | Shape::Point);
        let all_balls = self.scene.bodies.iter().all(|body| ball(&body.body.shape));
        let rest = if 2 * elastic > impacts && !all_balls {
            "; with so large a share, bodies probably should come to rest on one another: `--loop simulation` holds such contacts"
        } else {
            ""
        };
        Some(format!(
            "{elastic} of {impacts} collisions followed another of the same body within {} and were made elastic, so that collisions do not accumulate without end{rest}",
            number(self.settings.contact_time.unwrap_or(0.0))
        ))
    }

    /// What the averages of a gas leave out.
    fn averages(&self) -> impl Iterator<Item = &'static str> {
        let (scene, observer) = (&*self.scene, &self.engine.observer);
        let measured = observer.as_ref().is_some_and(|observer| !observer.blocks().is_empty());
        let lattice = |fill: &Fill| fill.start == Start::Lattice && fill.equilibrate.is_none();
        let walls = !scene.planes.is_empty() || scene.bodies.iter().any(|body| body.body.fixed);
        let begins = (measured && scene.fills.iter().any(lattice)).then_some(
            "the averages begin on the lattice, which is no equilibrium: `equilibrate` in the fill lets the bodies collide before the run",
        );
        let among = (observer.is_some() && walls).then_some(
            "compressibility and pressure are those of the collisions among the bodies: what planes and fixed bodies bear is left out",
        );
        begins.into_iter().chain(among)
    }

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

/// What rolling without slip needs.
fn rolling(scene: &Scene, demand: &RollingDemand) -> impl Iterator<Item = String> + use<> {
    let (joint, time) = (&scene.joints[demand.joint].name, number(demand.time));
    let friction = if demand.coefficient.is_infinite() {
        Some(format!(
            "{joint}: rolling without slip needs an infinite friction coefficient at t = {time}, where the normal force passes zero and friction does not"
        ))
    } else {
        // In full, so that it can be compared with a coefficient.
        (demand.coefficient > ROLLS_ANYWHERE).then(|| {
            let coefficient = demand.coefficient;
            format!(
                "{joint}: rolling without slip needs a friction coefficient of {coefficient} at t = {time}"
            )
        })
    };
    let grip = demand.pulls.map(|time| {
        format!(
            "{joint}: rolling without slip and without lift-off needs friction at t = {}, where the plane does not push; no surface can provide it",
            number(time)
        )
    });
    friction.into_iter().chain(grip)
}

/// The singular configurations that a linkage passed.
fn singular(scene: &Scene, passages: &SingularPassages) -> String {
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
    format!(
        "the linkage of {linkage} passes {when}, where branches of its motion meet: the branch taken is the one that continues the motion smoothly"
    )
}

/// What the audit found wrong, where, between whom, by how much and with which limit.
pub fn violation_in_words(scene: &Scene, violation: &Violation) -> String {
    let what = match violation.quantity {
        Limited::Finite => "a value is not finite",
        Limited::Energy => "the energy differs from what the impulses' work makes it",
        Limited::Linear => "the momentum differs from what the impulses make it",
        Limited::Angular => "the angular momentum differs from what the impulses make it",
        Limited::Points => "a contact point is off its surface",
        Limited::Impulse => "a body's momentum does not change by its impulses",
        Limited::Work => "the energy does not change by the impulses' work",
        Limited::Restitution => "the separation is not that of the restitution",
        Limited::Unilateral => "a contact pulls, leaves its friction cone or keeps closing",
        Limited::EnergyGain => "an event gains energy",
        Limited::Joint => "bodies are off their joints",
        Limited::Gap => "bodies overlap",
    };
    let who = violation.sides.map_or_else(String::new, |sides| {
        let [first, second] = sides.map(|side| name(scene, side));
        format!(", {first} and {second}")
    });
    let how = violation.value.map_or_else(String::new, |value| {
        let (quantity, limit) = (violation.quantity.name(), residual(violation.limit));
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
            "the search for their next contact makes no progress: they move too fast, or magnitudes are too far apart"
        }
        Cause::Law => "the impact law has no answer there",
        Cause::Unsupported => {
            "they touch without approach and would sink into each other, and the loop `edmd` cannot hold contacts"
        }
        Cause::PersistentContact(obstacle) | Cause::Constrained(obstacle) => obstacle_in_words(obstacle),
    }
}

/// What stands in the way of a motion under constraints.
pub(super) fn obstacle_in_words(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::NoSurface { .. } => "one of them has no surface to rest on",
        Obstacle::Rocking { .. } => "it rocks on a flat, where the force is infinite",
        Obstacle::Contradiction => "the contacts at rest ask for accelerations that contradict each other",
        Obstacle::Jam => "no friction force is consistent with the motion there, or none was found",
        Obstacle::NotFinite => "the motion exceeds the range of 64-bit floats",
        Obstacle::Rough => "the held motion cannot be integrated there, however short the step",
        Obstacle::Endless => {
            "its steps are so short beside the time asked for that the run would not finish: the forces or speeds are too great"
        }
        Obstacle::Interrupted => "the run was interrupted",
    }
}
