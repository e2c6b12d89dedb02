//! The JSON Schema of a scene, from which editors complete and explain.
//!
//! It describes the structure and the ranges. What it accepts may still be refused by the
//! [reader](super::file::read), which also knows names, inertias and boxes; what it rejects the reader refuses.

use serde_json::{Map, Value, json};

use super::fields::{self, Field};
use super::file::{MOST_BODIES, MOST_COLLISIONS, VERSION};
use super::model::{
    Collect, ImpactSettings, OnParadox, OnTrouble, RunSettings, ScatterSettings, Start, SurfaceRules,
};
use crate::impact::Law;
use crate::impact::coulomb::Termination;
use crate::shape::EXPONENTS;

/// The schema, draft 2020-12.
#[must_use]
pub fn schema() -> Value {
    let mut schema = object(&fields::SCENE, &["carom"], |name| match name {
        "carom" => json!({ "const": VERSION }),
        "world" => world(),
        "body" => list(body()),
        "plane" => list(plane()),
        "joint" => list(joint()),
        "load" => list(load()),
        "contact" => list(contact()),
        "fill" => list(fill()),
        "surface" => surface(),
        "impact" => impact(),
        "run" => run(),
        "sweep" => sweep(),
        "scatter" => scatter(),
        _ => json!({ "type": "string" }),
    });
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("carom scene");
    schema["description"] = json!(
        "Rigid bodies, joints and contacts, in SI units. The world frame is right-handed, and every vector is in \
         it unless it says otherwise."
    );
    schema["anyOf"] = json!([{ "required": ["body"] }, { "required": ["fill"] }]);
    schema["$defs"] = json!({
        "vector": {
            "type": "array", "items": { "type": "number" }, "minItems": 3, "maxItems": 3
        },
        "positive_vector": {
            "type": "array", "items": { "type": "number", "exclusiveMinimum": 0 }, "minItems": 3, "maxItems": 3
        },
        "name": { "type": "string", "minLength": 1 },
        "two_sides": {
            "type": "array", "items": { "$ref": "#/$defs/name" }, "minItems": 2, "maxItems": 2,
            "uniqueItems": true
        },
        "restitution": { "type": "number", "minimum": 0, "maximum": 1 },
        "surface_kind": surface_kind(),
        "shape": shape(),
    });
    schema
}

/// A table with these fields and no others; `of` gives the schema of each by its name.
fn object(fields: &[Field], required: &[&str], of: impl Fn(&str) -> Value) -> Value {
    let property = |&(name, meaning): &Field| {
        let mut schema = of(name);
        schema["description"] = json!(meaning);
        (name.to_string(), schema)
    };
    let properties: Map<String, Value> = fields.iter().map(property).collect();
    let mut object = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

/// A table with exactly one of these fields.
fn alternatives(fields: &[Field], of: impl Fn(&str) -> Value) -> Value {
    let alternative = |field: &Field| object(&[*field], &[field.0], &of);
    json!({ "oneOf": fields.iter().map(alternative).collect::<Vec<_>>() })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn with_default(mut schema: Value, default: Value) -> Value {
    schema["default"] = default;
    schema
}

/// Still read, and no longer written.
fn deprecated(mut schema: Value) -> Value {
    schema["deprecated"] = json!(true);
    schema
}

fn world() -> Value {
    object(&fields::WORLD, &[], |name| match name {
        "gravity" => with_default(reference("vector"), json!([0, 0, 0])),
        _ => json!({
            "type": "array", "items": { "type": "number", "minimum": 0 }, "minItems": 3, "maxItems": 3
        }),
    })
}

fn body() -> Value {
    let mut body = object(&fields::BODY, &["name", "shape"], |name| match name {
        "name" | "shape" => reference(name),
        "mass" | "density" => positive(),
        "inertia" => reference("positive_vector"),
        "orientation" => orientation(),
        "fixed" => json!({ "type": "boolean", "default": false }),
        _ => with_default(reference("vector"), json!([0, 0, 0])),
    });
    body["allOf"] = json!([
        { "not": { "required": ["mass", "density"] } },
        { "not": { "required": ["angular_velocity", "angular_velocity_body"] } },
        { "not": { "required": ["angular_velocity", "bryan_rates"] } },
        { "not": { "required": ["angular_velocity_body", "bryan_rates"] } },
        {
            "anyOf": [
                { "required": ["mass"] },
                { "required": ["density"] },
                { "required": ["fixed"], "properties": { "fixed": { "const": true } } }
            ]
        }
    ]);
    body
}

fn positive() -> Value {
    json!({ "type": "number", "exclusiveMinimum": 0 })
}

fn shape() -> Value {
    alternatives(&fields::SHAPE, |name| match name {
        "sphere" => object(&fields::SPHERE, &["radius"], |_| positive()),
        "ellipsoid" => object(&fields::ELLIPSOID, &["semi_axes"], |_| reference("positive_vector")),
        "superellipsoid" => object(&fields::SUPERELLIPSOID, &["semi_axes", "exponent"], |name| match name {
            "semi_axes" => reference("positive_vector"),
            _ => json!({
                "type": "number", "minimum": EXPONENTS.start(), "maximum": EXPONENTS.end()
            }),
        }),
        "box" => object(&fields::BOX, &["half_extents"], |name| match name {
            "half_extents" => reference("positive_vector"),
            _ => rounding(),
        }),
        "cylinder" => object(&fields::CYLINDER, &["radius", "half_length"], length_or_rounding),
        "capsule" => object(&fields::CAPSULE, &["radius", "half_length"], length_or_rounding),
        "cone" => object(&fields::CONE, &["radius", "height"], length_or_rounding),
        "disc" => object(&fields::DISC, &["radius"], length_or_rounding),
        "polyhedron" => polyhedron(),
        _ => object(&[], &[], |_| json!({})),
    })
}

fn polyhedron() -> Value {
    let mut polyhedron = object(&fields::POLYHEDRON, &[], |name| match name {
        "vertices" => json!({ "type": "array", "items": reference("vector"), "minItems": 4 }),
        "file" => json!({ "type": "string", "minLength": 1 }),
        "scale" => with_default(positive(), json!(1)),
        _ => rounding(),
    });
    polyhedron["oneOf"] = json!([{ "required": ["vertices"] }, { "required": ["file"] }]);
    polyhedron
}

fn length_or_rounding(name: &str) -> Value {
    if name == "rounding" { rounding() } else { positive() }
}

fn rounding() -> Value {
    json!({ "type": "number", "minimum": 0, "default": 0 })
}

fn orientation() -> Value {
    let quaternion = json!({
        "type": "array", "items": { "type": "number" }, "minItems": 4, "maxItems": 4,
        "description": "A unit quaternion [w, x, y, z]."
    });
    let mut schema = alternatives(&fields::ORIENTATION, |name| match name {
        "axes" => json!({
            "type": "array", "items": { "$ref": "#/$defs/vector" }, "minItems": 3, "maxItems": 3
        }),
        _ => reference("vector"),
    });
    if let Some(alternatives) = schema["oneOf"].as_array_mut() {
        alternatives.insert(0, quaternion);
    }
    with_default(schema, json!([1, 0, 0, 0]))
}

fn plane() -> Value {
    object(&fields::PLANE, &["name", "normal"], |name| match name {
        "name" => reference("name"),
        "normal" => reference("vector"),
        _ => json!({ "type": "number", "default": 0 }),
    })
}

fn joint() -> Value {
    object(&fields::JOINT, &["name", "bodies", "kind"], |name| match name {
        "name" => reference("name"),
        "bodies" => json!({
            "type": "array", "items": { "$ref": "#/$defs/name" }, "minItems": 1, "maxItems": 2,
            "uniqueItems": true
        }),
        _ => joint_kind(),
    })
}

fn joint_kind() -> Value {
    let vector = |_: &str| reference("vector");
    alternatives(&fields::JOINT_KIND, |name| match name {
        "hinge" => object(&fields::HINGE, &["point", "axis"], vector),
        "ball" => object(&fields::BALL, &["point"], vector),
        "slider" => object(&fields::SLIDER, &["axis"], vector),
        "weld" => object(&[], &[], vector),
        "rolling" => object(&fields::ROLLING, &["plane"], |_| reference("name")),
        "knife_edge" => object(&fields::KNIFE_EDGE, &["point", "normal"], vector),
        _ => json!({
            "type": "array", "minItems": 1,
            "items": { "type": "array", "items": { "type": "number" }, "minItems": 6, "maxItems": 12 }
        }),
    })
}

fn load() -> Value {
    object(&fields::LOAD, &["name", "kind"], |name| match name {
        "name" => reference("name"),
        _ => load_kind(),
    })
}

fn load_kind() -> Value {
    let field = |name: &str| match name {
        "body" => reference("name"),
        "bodies" => json!({
            "type": "array", "items": { "$ref": "#/$defs/name" }, "minItems": 1, "maxItems": 2
        }),
        "points" => json!({
            "type": "array", "items": { "$ref": "#/$defs/vector" }, "minItems": 2, "maxItems": 2
        }),
        "stiffness" | "length" => json!({ "type": "number", "minimum": 0 }),
        "damping" => json!({ "type": "number", "minimum": 0, "default": 0 }),
        _ => reference("vector"),
    };
    alternatives(&fields::LOAD_KIND, |name| match name {
        "force" => object(&fields::FORCE, &["body", "vector"], field),
        "torque" => object(&fields::TORQUE, &["body", "vector"], field),
        _ => object(&fields::SPRING, &["bodies", "points", "stiffness"], field),
    })
}

fn contact() -> Value {
    let mut contact = object(&fields::CONTACT, &["bodies", "point"], |name| match name {
        "name" | "restitution" => reference(name),
        "bodies" => reference("two_sides"),
        "kind" => reference("surface_kind"),
        "surface" => deprecated(reference("surface_kind")),
        _ => reference("vector"),
    });
    contact["not"] = json!({ "required": ["kind", "surface"] });
    contact
}

fn fill() -> Value {
    let mut fill = object(&fields::FILL, &["name", "count", "shape"], |name| match name {
        "name" | "shape" => reference(name),
        "count" => json!({ "type": "integer", "minimum": 1, "maximum": MOST_BODIES }),
        "mass" | "density" => positive(),
        "packing_fraction" => json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 }),
        "temperature" => json!({ "type": "number", "minimum": 0, "default": 1 }),
        "start" => json!({ "enum": Start::ALL.map(Start::name), "default": Start::Random.name() }),
        "equilibrate" => json!({ "type": "number", "minimum": 0, "maximum": MOST_COLLISIONS }),
        _ => json!({ "type": "integer", "minimum": 0, "default": 0 }),
    });
    fill["oneOf"] = json!([{ "required": ["mass"] }, { "required": ["density"] }]);
    fill
}

fn surface() -> Value {
    let default = SurfaceRules::default();
    let pair = object(&fields::SURFACE_PAIR, &["bodies"], |name| match name {
        "bodies" => reference("two_sides"),
        "restitution" => reference("restitution"),
        _ => reference("surface_kind"),
    });
    object(&fields::SURFACE, &[], |name| match name {
        "restitution" => with_default(reference("restitution"), json!(default.restitution)),
        "kind" => with_default(reference("surface_kind"), json!("smooth")),
        _ => list(pair.clone()),
    })
}

/// A name alone, or a coefficient under its name.
fn surface_kind() -> Value {
    let alternative = |&(name, meaning): &Field| match name {
        "coulomb" => object(&[(name, meaning)], &[name], |_| json!({ "type": "number", "minimum": 0 })),
        _ => json!({ "const": name, "description": meaning }),
    };
    json!({ "oneOf": fields::SURFACE_KIND.iter().map(alternative).collect::<Vec<_>>() })
}

fn impact() -> Value {
    let default = ImpactSettings::default();
    object(&fields::IMPACT, &[], |name| match name {
        "law" => json!({ "enum": Law::ALL.map(Law::name), "default": default.law.name() }),
        _ => {
            json!({ "enum": Termination::ALL.map(Termination::name), "default": default.termination.name() })
        }
    })
}

fn run() -> Value {
    let default = RunSettings::default();
    object(&fields::RUN, &[], |name| match name {
        "until" => json!({ "type": "number", "minimum": 0, "default": default.until }),
        "max_events" => json!({ "type": "integer", "minimum": 1, "default": default.max_events }),
        "sample" => json!({ "type": "number", "minimum": 0, "default": default.sample }),
        "record_events" => json!({ "type": "boolean", "default": default.record_events }),
        "contact_time" | "rest_speed" => json!({ "type": "number", "minimum": 0 }),
        "on_trouble" => {
            json!({ "enum": OnTrouble::ALL.map(OnTrouble::name), "default": default.on_trouble.name() })
        }
        _ => json!({ "enum": OnParadox::ALL.map(OnParadox::name), "default": default.on_paradox.name() }),
    })
}

fn scatter() -> Value {
    let default = ScatterSettings::default();
    let mut scatter = object(&fields::SCATTER, &[], |name| match name {
        "samples" => json!({ "type": "integer", "minimum": 1, "default": default.samples }),
        "seed" => json!({ "type": "integer", "minimum": 0, "default": default.seed }),
        "speed" | "temperature" => positive(),
        _ => json!({ "type": "number", "minimum": 0 }),
    });
    scatter["allOf"] = json!([
        { "not": { "required": ["speed", "temperature"] } },
        { "not": { "required": ["spin", "spin_temperature"] } }
    ]);
    scatter
}

fn sweep() -> Value {
    let names = Collect::ALL.map(Collect::name);
    object(&fields::SWEEP, &[], |name| match name {
        "samples" => json!({ "type": "integer", "minimum": 1 }),
        "seed" => json!({ "type": "integer", "minimum": 0, "default": 0 }),
        "collect" => list(json!({ "enum": names })),
        _ => list(vary()),
    })
}

fn vary() -> Value {
    let pair = json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
    let ways = ["uniform", "normal", "values", "grid", "direction", "orientation", "expression"];
    let mut vary = object(&fields::SWEEP_VARY, &[], |name| match name {
        "uniform" | "normal" => pair.clone(),
        "values" => json!({ "type": "array", "items": { "type": "number" }, "minItems": 1 }),
        "grid" => json!({ "type": "array", "items": { "type": "number" }, "minItems": 3, "maxItems": 3 }),
        "direction" => json!({ "type": "number", "minimum": 0 }),
        "orientation" => json!({ "enum": ["uniform"] }),
        _ => json!({ "type": "string", "minLength": 1 }),
    });
    vary["anyOf"] = json!([{ "required": ["path"] }, { "required": ["name"] }]);
    vary["oneOf"] = json!(ways.map(|way| json!({ "required": [way] })));
    vary
}
