//! JSON Schemas: of the scene, for editors that complete from it, and of the documents that commands answer with.
//!
//! The fields of the documents are written down once, in `answers.txt`, with their types and meanings; a test holds that against the
//! documents of every example.

mod notation;

use serde_json::{Value, json};

use crate::InputError;
use notation::Notation;

/// The schema of a scene.
pub fn answer() -> Value {
    carom::scene::schema::schema()
}

/// The documents that have a schema, by the commands that print them.
pub const ANSWERS: [&str; 18] = [
    "solve",
    "compare",
    "classify",
    "gap",
    "toi",
    "run",
    "replicas",
    "sweep",
    "merge",
    "scatter",
    "encounter",
    "weak-form",
    "generalized",
    "paper",
    "paradox",
    "check",
    "new",
    "error",
];

/// The schema of a document that a command prints with `--json`.
pub fn of_answer(name: &str) -> Result<Value, InputError> {
    let notation = Notation::of(include_str!("answers.txt"));
    let Some((about, mut schema)) = notation.answer(name) else {
        return Err(InputError::of_value("answer", name, &ANSWERS.join(", ")));
    };
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(format!("carom {name}"));
    schema["description"] = json!(format!("{about} SI units; numbers that are not finite are null."));
    schema["$defs"] = Value::Object(notation.parts());
    Ok(schema)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::{ANSWERS, Notation, of_answer};

    #[test]
    fn every_answer_is_described() {
        let notation = Notation::of(include_str!("answers.txt"));
        assert_eq!(notation.names(), ANSWERS);
        for name in ANSWERS {
            let schema = of_answer(name).unwrap().to_string();
            assert!(!schema.contains("#/$defs/?") && !schema.contains("unknown type"), "{name}: {schema}");
        }
        assert!(of_answer("walk").is_err());
    }
}
