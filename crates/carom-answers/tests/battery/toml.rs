//! A scene as readable TOML: lists of tables as sections, everything else in one line, in the order in which scenes are read.

use std::fmt::Write;

use serde_json::{Map, Value};

/// The order of the document's fields and of a body's; others follow.
const ORDER: [&str; 16] = [
    "carom",
    "title",
    "world",
    "surface",
    "impact",
    "run",
    "name",
    "bodies",
    "shape",
    "mass",
    "inertia",
    "position",
    "orientation",
    "plane",
    "body",
    "joint",
];

/// The text of a scene that is given as JSON.
pub fn text(scene: &Value) -> String {
    let empty = Map::new();
    let fields = ordered(scene.as_object().unwrap_or(&empty));
    let is_plain = |value: &Value| !value.is_object() && !is_list_of_tables(value);
    let mut text = String::new();
    for (key, value) in fields.iter().copied().filter(|(_, value)| is_plain(value)) {
        if !is_empty(value) {
            line(&mut text, key, value);
        }
    }
    for (key, value) in fields {
        if let Value::Object(table) = value {
            section(&mut text, &format!("[{key}]"), table);
        } else if let (Value::Array(tables), false) = (value, is_plain(value)) {
            for table in tables.iter().filter_map(Value::as_object) {
                section(&mut text, &format!("[[{key}]]"), table);
            }
        }
    }
    text
}

fn ordered(table: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let place = |key: &str| ORDER.iter().position(|known| *known == key).unwrap_or(ORDER.len());
    let mut fields: Vec<_> = table.iter().collect();
    fields.sort_by_key(|(key, _)| place(key));
    fields
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

fn is_list_of_tables(value: &Value) -> bool {
    value.as_array().and_then(|list| list.first()).is_some_and(Value::is_object)
}

fn section(text: &mut String, heading: &str, table: &Map<String, Value>) {
    let _ = writeln!(text, "\n{heading}");
    for (key, value) in ordered(table).into_iter().filter(|(_, value)| !is_empty(value)) {
        line(text, key, value);
    }
}

fn line(text: &mut String, key: &str, value: &Value) {
    let _ = writeln!(text, "{key} = {}", inline(value));
}

/// Strings and numbers are written alike in both languages.
fn inline(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        // A zero has no sign that a reader would miss.
        Value::Number(number) if number.as_f64() == Some(0.0) => "0.0".to_string(),
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            if fields.is_empty() { "{}".to_string() } else { format!("{{ {} }}", fields.join(", ")) }
        }
        other => other.to_string(),
    }
}
