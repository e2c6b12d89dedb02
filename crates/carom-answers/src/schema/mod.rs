//! The JSON Schema of the scene, for editors that complete from it.

use serde_json::Value;

/// The schema.
pub fn answer() -> Value {
    carom::scene::schema::schema()
}
