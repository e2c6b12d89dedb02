//! The points of meshes that a scene names by files.
//!
//! The library reads no files. Whoever reads a scene asks which files it [names](wanted), reads their points, and hands them over; the hull
//! of a mesh is that of its points, so that only its corners need be kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::Vector3;

use super::diagnostic::Log;
use super::document::{self, Format, Kind, Value};
use crate::hull;

/// The points of a mesh, or why there are none: what is wrong, and what would be right.
type Read = Result<Arc<[[f64; 3]]>, [String; 2]>;

/// The points of meshes by the names that a scene gives their files, or why they could not be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meshes(BTreeMap<String, Read>);

impl Meshes {
    /// Adds a mesh. Of its points the corners of its hull are kept, or all where they have none.
    pub fn insert(&mut self, name: &str, points: Result<Vec<[f64; 3]>, [String; 2]>) {
        let kept = points.map(|points| {
            let vectors: Vec<Vector3<f64>> = points.iter().map(|&x| x.into()).collect();
            match hull::corners(&vectors) {
                Ok(corners) => corners.into_iter().map(|k| points[k]).collect(),
                Err(_) => points.into(),
            }
        });
        self.0.insert(name.to_string(), kept);
    }

    /// The points of a mesh, or why there are none.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub fn get(&self, name: &str) -> Result<&[[f64; 3]], [String; 2]> {
        match self.0.get(name) {
            Some(Ok(points)) => Ok(points),
            Some(Err(why)) => Err(why.clone()),
            None => Err([
                "names a file, and a text without a folder has no files".to_string(),
                "`vertices`, or a scene that is read from a file".to_string(),
            ]),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All that could be read, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[[f64; 3]])> {
        self.0.iter().filter_map(|(name, points)| Some((name.as_str(), points.as_deref().ok()?)))
    }
}

/// The files of meshes that a scene names, each once; none where the text cannot be read.
#[must_use]
pub fn wanted(text: &str, format: Format) -> Vec<String> {
    // Few scenes have any, and parsing takes as long as reading.
    if !text.contains("polyhedron") {
        return Vec::new();
    }
    let Some(root) = document::parse(text, format, &mut Log::new(text)) else { return Vec::new() };
    let mut names: Vec<String> = Vec::new();
    for list in ["body", "fill"] {
        let Some(Value { kind: Kind::Array(tables), .. }) = root.get(list) else { continue };
        for table in tables {
            let file = table.get("shape").and_then(|x| x.get("polyhedron")).and_then(|x| x.get("file"));
            if let Some(Value { kind: Kind::String(name), .. }) = file
                && !names.contains(name)
            {
                names.push(name.clone());
            }
        }
    }
    names
}
