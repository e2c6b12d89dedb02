//! What the questions say of a scene: facts, which must be the same in every version of it, and quantities, which change with it.

use std::collections::BTreeMap;

use carom::record::Memory;
use carom_answers::run::{Changes, Running};
use carom_answers::{Input, InputError, Resolution, classify, gap, solve, toi};
use serde::Serialize;
use serde_json::Value;

use crate::scene::World;

/// What a number is of: powers of length, mass and time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit(pub i32, pub i32, pub i32);

pub const NONE: Unit = Unit(0, 0, 0);
pub const LENGTH: Unit = Unit(1, 0, 0);
pub const TIME: Unit = Unit(0, 0, 1);
pub const SPEED: Unit = Unit(1, 0, -1);
pub const SPIN: Unit = Unit(0, 0, -1);
pub const IMPULSE: Unit = Unit(1, 1, -1);
pub const MOMENT: Unit = Unit(2, 1, -1);
pub const ENERGY: Unit = Unit(2, 1, -2);

/// How numbers change with the frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Scalar,
    Vector,
    /// Turns with a mirror as angular velocities do.
    Axial,
    /// A place at this time.
    Point(f64),
    Velocity,
    Orientation,
    /// A sum over all bodies: it knows the velocity of the frame, and who else there is.
    Total,
}

#[derive(Debug, Clone)]
pub struct Quantity {
    pub kind: Kind,
    pub unit: Unit,
    pub values: Vec<f64>,
    /// What the answer itself says that it may be off by.
    pub bound: f64,
    /// How sharp the surface is that it is said of, the inverse of its least radius of curvature: a contact point is a number of
    /// the scene's size, and its rounding is that many times as large on the surface.
    pub sharpness: f64,
    /// How late or early events may be that it follows from, by what they say themselves.
    pub late: f64,
}

#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub facts: BTreeMap<String, String>,
    pub quantities: BTreeMap<String, Quantity>,
}

/// What can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    Solve,
    Classify,
    Gap,
    Toi,
    Run,
}

/// The names of a scene, as they were before it was changed.
pub type Names = BTreeMap<String, String>;

impl Question {
    /// Asks it of a scene's text, as the program does. `names` leads from the scene's names to those of the answer.
    pub fn ask(self, world: &World, names: &Names) -> Answer {
        let document = self.document(world);
        let mut answer = Answer::default();
        let reader =
            &mut Reader { answer: &mut answer, names, sharpness: 0.0, stated: Stated::default(), late: 0.0 };
        match document {
            Err(error) => {
                let words: Vec<String> = error.diagnostics.iter().map(|d| d.message.clone()).collect();
                reader.notes("refused", words.iter().map(String::as_str));
            }
            Ok(document) => match self {
                Self::Solve => reader.solve(&document, world),
                Self::Classify => reader.classify(&document),
                Self::Gap => reader.gap(&document),
                Self::Toi => reader.toi(&document),
                Self::Run => reader.run(&document, world),
            },
        }
        answer
    }

    /// The document.
    pub fn document(self, world: &World) -> Result<Value, InputError> {
        let subject = Input::of_text("scene", world.text(), None).scene()?;
        Ok(match self {
            Self::Solve => {
                let prepared = solve::Prepared::of(subject, carom::scene::instant::TOUCHING)?;
                value(&prepared.solved(&Resolution::default())?.document(false))
            }
            Self::Classify => {
                let request = classify::Request {
                    tolerances: carom::contact::classify::Tolerances::default(),
                    neighbourhood: false,
                    span: None,
                };
                value(&classify::answer(&subject, &request)?.document())
            }
            Self::Gap => value(&gap::answer(&subject, world.at)?),
            Self::Toi => value(&toi::answer(&subject, None)?),
            Self::Run => {
                let mut running = Running::begin(subject, Changes::default(), |_| true)?;
                let mut memory = Memory::default();
                while running.step(&mut memory) {}
                let document = running.document("", 0.0, running.notes());
                value(&document.with(&running.scene, &memory, false))
            }
        })
    }
}

fn value(document: &impl Serialize) -> Value {
    serde_json::to_value(document).expect("a document is JSON")
}

struct Reader<'a> {
    answer: &'a mut Answer,
    names: &'a Names,
    /// Of the contact that is being read.
    sharpness: f64,
    stated: Stated,
    late: f64,
}

/// Two names in an order that does not depend on the scene's.
struct Pair {
    key: String,
    /// Whether the second comes first.
    swapped: bool,
}

impl Reader<'_> {
    fn name(&self, name: &Value) -> String {
        let name = name.as_str().expect("a name");
        self.names.get(name).cloned().unwrap_or_else(|| name.to_string())
    }

    fn pair(&self, bodies: &Value) -> Pair {
        let [first, second] = [&bodies[0], &bodies[1]].map(|name| self.name(name));
        let swapped = second < first;
        let key = if swapped { format!("{second}|{first}") } else { format!("{first}|{second}") };
        Pair { key, swapped }
    }

    fn fact(&mut self, key: &str, value: &Value) {
        self.answer.facts.insert(key.to_string(), value.to_string());
    }

    fn put(&mut self, key: &str, kind: Kind, unit: Unit, value: &Value) {
        self.put_within(key, kind, unit, value, 0.0);
    }

    fn put_within(&mut self, key: &str, kind: Kind, unit: Unit, value: &Value, bound: f64) {
        let mut values = Vec::new();
        flatten(value, &mut values);
        if values.is_empty() {
            self.fact(key, value);
        } else {
            let bound = bound + self.stated.bound(unit);
            let quantity = Quantity { kind, unit, values, bound, sharpness: self.sharpness, late: self.late };
            self.answer.quantities.insert(key.to_string(), quantity);
        }
    }

    /// A vector that points from the first to the second of a pair.
    fn put_between(&mut self, key: &str, pair: &Pair, unit: Unit, value: &Value) {
        let mut values = Vec::new();
        flatten(value, &mut values);
        if pair.swapped {
            values.iter_mut().for_each(|x| *x = -*x);
        }
        if values.is_empty() {
            self.fact(key, value);
        } else {
            let bound = self.stated.bound(unit);
            let quantity = Quantity {
                kind: Kind::Vector,
                unit,
                values,
                bound,
                sharpness: self.sharpness,
                late: self.late,
            };
            self.answer.quantities.insert(key.to_string(), quantity);
        }
    }

    /// Notes without their numbers, with the names as they were and words in order, so that lists of names may be in any.
    fn notes<'b>(&mut self, key: &str, notes: impl Iterator<Item = &'b str>) {
        let mut canonical: Vec<String> = notes
            .map(|note| {
                // The velocities that another order or sharing gives are a list of bodies, and one of many.
                let note = note.split(" gives ").next().unwrap_or(note);
                let mut words: Vec<String> = note
                    .split(|c: char| c.is_whitespace() || ",;:[]()`".contains(c))
                    .filter(|word| !word.is_empty())
                    .map(|word| self.word(word))
                    .collect();
                words.sort();
                words.join(" ")
            })
            .collect();
        canonical.sort();
        self.answer.facts.insert(key.to_string(), canonical.join("\n"));
    }

    /// A word of a note: a number, a name, two names in either order, or a word.
    fn word(&self, word: &str) -> String {
        let is_number = |word: &str| word.trim_end_matches(['.', '%']).parse::<f64>().is_ok() || word == "~0";
        if is_number(word) {
            return "#".to_string();
        }
        let old = |name: &str| self.names.get(name).cloned();
        if let Some(name) = old(word) {
            return name;
        }
        if let Some((first, second)) = word.split_once('-') {
            let mut both = [first, second].map(|name| old(name).unwrap_or_else(|| name.to_string()));
            both.sort();
            return both.join("-");
        }
        word.to_string()
    }

    fn solve(&mut self, document: &Value, world: &World) {
        self.stated = Stated::of(document, world);
        self.sharpness = sharpest(world);
        for key in [
            "rank",
            "contacts_active",
            "contacts_detected",
            "velocity_unique",
            "impulse_unique",
            "consistent",
            "admissible",
        ] {
            self.fact(key, &document[key]);
        }
        self.fact("status", &document["outcome"]["status"]);
        self.fact("steps", &steps(count(&document["outcome"]["steps"])).into());
        self.fact("self-stresses", &count(&document["outcome"]["self_stresses"]).into());
        self.fact("audit", &document["audit"]["passed"]);
        for (name, body) in entries(&document["bodies"]) {
            let name = self.name(&name.into());
            self.put(&format!("{name} velocity"), Kind::Velocity, SPEED, &body["velocity"]);
            self.put(&format!("{name} spin"), Kind::Axial, SPIN, &body["angular_velocity"]);
        }
        let detected = document["contacts_detected"] == true;
        for contact in items(&document["contacts"]) {
            let pair = self.pair(&contact["bodies"]);
            let key = if detected { pair.key.clone() } else { self.name(&contact["name"]) };
            self.fact(&format!("{key} determined"), &contact["determined"]);
            self.put(&format!("{key} point"), Kind::Point(0.0), LENGTH, &contact["point"]);
            self.put_between(&format!("{key} normal"), &pair, NONE, &contact["normal"]);
            for name in ["approach", "separation"] {
                self.put(&format!("{key} {name}"), Kind::Scalar, SPEED, &contact[name]);
            }
            for name in ["slip_before", "slip_after"] {
                self.put_between(&format!("{key} {name}"), &pair, SPEED, &contact[name]);
            }
            self.put(&format!("{key} impulse"), Kind::Scalar, IMPULSE, &contact["impulse"]);
            self.put_between(&format!("{key} impulse_vector"), &pair, IMPULSE, &contact["impulse_vector"]);
            self.put(&format!("{key} work"), Kind::Scalar, ENERGY, &contact["work"]);
        }
        for (name, joint) in entries(&document["joints"]) {
            let name = self.name(&name.into());
            self.fact(&format!("{name} determined"), &joint["determined"]);
            if joint["determined"] == true {
                self.put(&format!("{name} linear"), Kind::Vector, IMPULSE, &joint["linear"]);
                self.put(&format!("{name} angular"), Kind::Axial, MOMENT, &joint["angular"]);
            }
            self.put(&format!("{name} point"), Kind::Point(0.0), LENGTH, &joint["point"]);
        }
        for name in ["before", "after"] {
            self.put(&format!("energy {name}"), Kind::Total, ENERGY, &document["energy"][name]);
        }
        self.put("energy loss", Kind::Scalar, ENERGY, &document["energy"]["loss"]);
        self.notes("notes", items(&document["notes"]).iter().filter_map(Value::as_str));
    }

    fn classify(&mut self, document: &Value) {
        for contact in items(&document["contacts"]) {
            let pair = self.pair(&contact["bodies"]);
            let key = &pair.key;
            self.sharpness = contact["relative_curvature"][1].as_f64().unwrap_or(0.0);
            for name in ["type", "standing", "fit"] {
                self.fact(&format!("{key} {name}"), &contact[name]);
            }
            // Where nothing closes or parts, rounding has a say in which type is next.
            if contact["type"] == "normal" || contact["type"] == "separating" {
                self.fact(&format!("{key} nearest"), &contact["nearest_type"]["type"]);
            }
            let points = both(&contact["points"], pair.swapped);
            for (place, point) in ["first", "second"].iter().zip(points) {
                self.put(&format!("{key} {place} point"), Kind::Point(0.0), LENGTH, point);
            }
            self.put_between(&format!("{key} normal"), &pair, NONE, &contact["normal"]);
            self.put_between(&format!("{key} slip"), &pair, SPEED, &contact["slip"]);
            self.put_between(&format!("{key} normal_rate"), &pair, SPIN, &contact["normal_rate"]);
            for (name, unit) in [
                ("gap", LENGTH),
                ("v", SPEED),
                ("g2", Unit(1, 0, -2)),
                ("g3", Unit(1, 0, -3)),
                ("effective_inverse_mass", Unit(0, -1, 0)),
                ("relative_curvature", Unit(-1, 0, 0)),
            ] {
                self.put(&format!("{key} {name}"), Kind::Scalar, unit, &contact[name]);
            }
            for (name, unit) in
                [("length", LENGTH), ("speed", SPEED), ("turn", SPIN), ("acceleration", Unit(1, 0, -2))]
            {
                self.put(&format!("{key} scale of {name}"), Kind::Scalar, unit, &contact["scales"][name]);
            }
            // Those that are not the same with the bodies exchanged.
            if !pair.swapped {
                self.put(&format!("{key} a in order"), Kind::Scalar, Unit(1, 0, -2), &contact["a"]);
                let threshold = &contact["threshold"];
                self.put(&format!("{key} threshold in order"), Kind::Scalar, Unit(1, 0, -2), threshold);
                self.put(&format!("{key} w in order"), Kind::Vector, SPIN, &contact["w"]);
            }
        }
        self.sharpness = 0.0;
        self.put("nearest", Kind::Scalar, LENGTH, &document["nearest"]["gap"]);
        self.notes("notes", items(&document["notes"]).iter().filter_map(Value::as_str));
    }

    fn gap(&mut self, document: &Value) {
        let time = document["time"].as_f64().unwrap_or(0.0);
        for entry in items(&document["pairs"]) {
            let pair = self.pair(&entry["bodies"]);
            let key = &pair.key;
            self.put(&format!("{key} gap"), Kind::Scalar, LENGTH, &entry["gap"]);
            self.put_between(&format!("{key} normal"), &pair, NONE, &entry["normal"]);
            if entry["image"].is_null() {
                for (place, point) in ["first", "second"].iter().zip(both(&entry["points"], pair.swapped)) {
                    self.put(&format!("{key} {place} point"), Kind::Point(time), LENGTH, point);
                }
            }
        }
    }

    fn toi(&mut self, document: &Value) {
        for entry in items(&document["pairs"]) {
            let pair = self.pair(&entry["bodies"]);
            let key = &pair.key;
            self.fact(&format!("{key} type"), &entry["type"]);
            let error = entry["time_error"].as_f64().unwrap_or(0.0);
            self.put_within(&format!("{key} time"), Kind::Scalar, TIME, &entry["time"], error);
            self.put_between(&format!("{key} normal"), &pair, NONE, &entry["normal"]);
            let time = entry["time"].as_f64().unwrap_or(0.0);
            if entry["image"].is_null() {
                self.put(&format!("{key} point"), Kind::Point(time), LENGTH, &entry["point"]);
            }
            self.put(&format!("{key} approach"), Kind::Scalar, SPEED, &entry["approach"]);
        }
    }

    fn run(&mut self, document: &Value, world: &World) {
        self.sharpness = sharpest(world);
        let late = items(&document["events"]).iter().filter_map(|event| event["time_error"].as_f64());
        self.late = late.sum();
        self.fact("stopped", &document["stopped"]);
        self.fact("violation", &document["violation"]["quantity"]);
        for name in ["events", "impacts", "grazes", "holds"] {
            self.fact(name, &document["performance"][name]);
        }
        let end = document["time"].as_f64().unwrap_or(0.0);
        self.put("time", Kind::Scalar, TIME, &document["time"]);
        for (name, state) in entries(&document["final"]) {
            let name = self.name(&name.into());
            self.put(&format!("{name} position"), Kind::Point(end), LENGTH, &state["position"]);
            self.put(&format!("{name} orientation"), Kind::Orientation, NONE, &state["orientation"]);
            self.put(&format!("{name} velocity"), Kind::Velocity, SPEED, &state["velocity"]);
            self.put(&format!("{name} spin"), Kind::Axial, SPIN, &state["angular_velocity"]);
        }
        let mut told = BTreeMap::new();
        for event in items(&document["events"]) {
            let pair = self.pair(&event["bodies"]);
            // Who met whom for which time: nothing that simultaneous events could exchange.
            let times: &mut usize = told.entry(pair.key.clone()).or_default();
            let key = format!("{} {times}", pair.key);
            *times += 1;
            for name in ["kind", "type"] {
                self.fact(&format!("{key} {name}"), &event[name]);
            }
            let time = event["time"].as_f64().unwrap_or(0.0);
            self.put(&format!("{key} time"), Kind::Scalar, TIME, &event["time"]);
            self.put(&format!("{key} point"), Kind::Point(time), LENGTH, &event["point"]);
            self.put_between(&format!("{key} normal"), &pair, NONE, &event["normal"]);
            for name in ["approach", "separation"] {
                self.put(&format!("{key} {name}"), Kind::Scalar, SPEED, &event[name]);
            }
            self.put(&format!("{key} impulse"), Kind::Scalar, IMPULSE, &event["impulse"]);
            self.put_between(&format!("{key} impulse_vector"), &pair, IMPULSE, &event["impulse_vector"]);
            for (name, joint) in entries(&event["joints"]) {
                let name = self.name(&name.into());
                if joint["determined"] == true {
                    self.put(&format!("{key} {name} linear"), Kind::Vector, IMPULSE, &joint["linear"]);
                    self.put(&format!("{key} {name} angular"), Kind::Axial, MOMENT, &joint["angular"]);
                }
            }
        }
        self.notes("notes", items(&document["notes"]).iter().filter_map(Value::as_str));
    }
}

/// How many steps there were; of a sequence that goes on until rounding ends it only that.
pub fn steps(count: usize) -> String {
    if count > 8 { "many".to_string() } else { count.to_string() }
}

/// The inverse of the least thickness of a body: arms of contacts are differences of places in the world.
fn sharpest(world: &World) -> f64 {
    let thickness = |body: &crate::scene::Body| body.shape.semi_axes().min();
    world.bodies.iter().map(thickness).filter(|x| *x > 0.0).map(f64::recip).fold(0.0, f64::max)
}

/// What an impact says of its own rounding, relative to √(2T), as speeds and spins.
#[derive(Debug, Clone, Copy, Default)]
struct Stated {
    speed: f64,
    spin: f64,
}

impl Stated {
    fn of(document: &Value, world: &World) -> Self {
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        let motion =
            number(&document["outcome"]["rounding"]) * (2.0 * number(&document["energy"]["before"])).sqrt();
        let mut stated = Self::default();
        for body in world.bodies.iter().filter(|body| !body.fixed) {
            let axes = body.shape.semi_axes();
            // Of a homogeneous body at least that of the ellipsoid in it.
            let least = axes.norm_squared() - axes.max() * axes.max();
            let moment = body.inertia.map_or(body.mass * least / 5.0, |moments| moments.min());
            stated.spin = stated.spin.max(motion / moment.sqrt());
            let reach = body.shape.reach().max(body.position.norm());
            stated.speed = stated.speed.max(motion / body.mass.sqrt() + motion / moment.sqrt() * reach);
        }
        stated
    }

    fn bound(self, unit: Unit) -> f64 {
        match unit {
            SPEED => self.speed,
            SPIN => self.spin,
            _ => 0.0,
        }
    }
}

fn count(value: &Value) -> usize {
    items(value).len()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, entry)| (name.as_str(), entry))
}

/// Two values, in the other order if they are swapped.
fn both(values: &Value, swapped: bool) -> [&Value; 2] {
    if swapped { [&values[1], &values[0]] } else { [&values[0], &values[1]] }
}

/// All numbers of a value; `None` if one of its entries is not a number.
fn flatten(value: &Value, into: &mut Vec<f64>) {
    match value {
        Value::Number(x) => into.extend(x.as_f64()),
        Value::Array(items) => items.iter().for_each(|item| flatten(item, into)),
        _ => {}
    }
}
