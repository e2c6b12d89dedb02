//! The notation of `answers.txt`, read into JSON Schema.

use serde_json::{Map, Value, json};

/// A line: how far in it stands, and what it says.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    depth: usize,
    text: &'a str,
}

/// The lines under one heading.
#[derive(Debug)]
struct Section<'a> {
    /// `answer` or `part`.
    kind: &'a str,
    name: &'a str,
    about: &'a str,
    lines: Vec<Line<'a>>,
}

/// The whole text.
#[derive(Debug)]
pub struct Notation<'a> {
    sections: Vec<Section<'a>>,
}

/// A table on its way to a schema.
#[derive(Debug, Default)]
struct Fields {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl Fields {
    fn schema(self) -> Value {
        let mut schema = json!({ "type": "object", "properties": self.properties });
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        schema
    }
}

impl<'a> Notation<'a> {
    /// Reads the text.
    pub fn of(text: &'a str) -> Self {
        let mut sections: Vec<Section> = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let words = line.trim_start();
            let depth = line.len() - words.len();
            if depth > 0 {
                if let Some(section) = sections.last_mut() {
                    section.lines.push(Line { depth, text: words });
                }
                continue;
            }
            let (kind, rest) = words.split_once(' ').unwrap_or((words, ""));
            let (name, about) = rest.split_once(' ').unwrap_or((rest, ""));
            sections.push(Section { kind, name, about, lines: Vec::new() });
        }
        Self { sections }
    }

    /// The names of the answers.
    #[cfg(test)]
    pub fn names(&self) -> Vec<&'a str> {
        self.sections.iter().filter(|section| section.kind == "answer").map(|section| section.name).collect()
    }

    /// What an answer is about, and its schema.
    pub fn answer(&self, name: &str) -> Option<(&'a str, Value)> {
        let section = self.find("answer", name)?;
        Some((section.about, self.table(&section.lines).schema()))
    }

    /// The parts that answers share, by name.
    pub fn parts(&self) -> Map<String, Value> {
        let parts = self.sections.iter().filter(|section| section.kind == "part");
        let schema = |section: &Section<'a>| match section.lines.as_slice() {
            [Line { text, .. }] if text.starts_with('=') => typed(text),
            lines => self.table(lines).schema(),
        };
        parts.map(|section| (section.name.to_string(), schema(section))).collect()
    }

    fn find(&self, kind: &str, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.kind == kind && section.name == name)
    }

    /// The fields of a table: the least indented lines, each with those below it.
    fn table(&self, lines: &[Line<'a>]) -> Fields {
        let mut fields = Fields::default();
        let mut rest = lines;
        while let Some((first, after)) = rest.split_first() {
            let below = after.iter().take_while(|line| line.depth > first.depth).count();
            let (children, next) = after.split_at(below);
            rest = next;
            if let Some(part) = first.text.strip_prefix('+') {
                let lines = self.find("part", part).map_or(&[][..], |section| section.lines.as_slice());
                let Fields { properties, required } = self.table(lines);
                fields.properties.extend(properties);
                fields.required.extend(required);
                continue;
            }
            let (head, words) = first.text.split_once(' ').unwrap_or((first.text, ""));
            let end = head.find(['~', '?', '[', '{']).unwrap_or(head.len());
            let (name, marks) = head.split_at(end);
            let (mut schema, meaning) = self.field(marks, words, children);
            schema["description"] = json!(meaning);
            fields.properties.insert(name.to_string(), schema);
            if !marks.contains('~') {
                fields.required.push(name.to_string());
            }
        }
        fields
    }

    /// A field's schema and meaning, from its marks, what stands after its name, and the lines below it.
    fn field(&self, marks: &str, words: &'a str, children: &[Line<'a>]) -> (Value, &'a str) {
        let marks = marks.trim_start_matches('~');
        let nullable = marks.starts_with('?');
        let form = marks.trim_start_matches('?');
        let entry = form.strip_prefix('{').and_then(|form| form.strip_suffix('}'));
        let (schema, meaning) = match entry {
            Some("") => {
                (json!({ "type": "object", "additionalProperties": self.table(children).schema() }), words)
            }
            Some(entry) => (json!({ "type": "object", "additionalProperties": typed(entry) }), words),
            None if form == "[]" => {
                (json!({ "type": "array", "items": self.table(children).schema() }), words)
            }
            None if form.starts_with('[') => {
                let items = typed(form.trim_start_matches('[').trim_end_matches(']'));
                (json!({ "type": "array", "items": items }), words)
            }
            None if !children.is_empty() => (self.table(children).schema(), words),
            None => {
                let (kind, meaning) = words.split_once(' ').unwrap_or((words, ""));
                (typed(kind), meaning)
            }
        };
        (if nullable { or_null(schema) } else { schema }, meaning)
    }
}

/// The schema of a type by its name.
fn typed(name: &str) -> Value {
    if let Some(name) = name.strip_suffix('?') {
        return or_null(typed(name));
    }
    if let Some(part) = name.strip_prefix('@') {
        return json!({ "$ref": format!("#/$defs/{part}") });
    }
    if let Some(words) = name.strip_prefix('=') {
        return json!({ "enum": words.split('|').collect::<Vec<_>>() });
    }
    let list = |items: Value| json!({ "type": "array", "items": items });
    let exactly = |items: Value, count: usize| json!({ "type": "array", "items": items, "minItems": count, "maxItems": count });
    let number = || json!({ "type": "number" });
    match name {
        "number" => number(),
        "integer" => json!({ "type": "integer" }),
        "boolean" => json!({ "type": "boolean" }),
        "string" => json!({ "type": "string" }),
        "any" => json!({}),
        "list" => json!({ "type": "array" }),
        "numbers" => list(number()),
        "integers" => list(json!({ "type": "integer" })),
        "strings" => list(json!({ "type": "string" })),
        "names" => exactly(json!({ "type": "string" }), 2),
        "vector" => exactly(number(), 3),
        "quaternion" => exactly(number(), 4),
        "vectors" => list(exactly(number(), 3)),
        "matrix" => list(list(number())),
        _ => json!({ "const": "unknown type" }),
    }
}

/// The same, or nothing.
fn or_null(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}
