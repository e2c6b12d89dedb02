//! The papers' own figures, drawn from the scenes: `carom paper NAME --figures DIR`.

mod dps;
mod pvwz;
mod sketch;
mod sp;

use std::fs;
use std::path::{Path, PathBuf};

use carom::scene::model::Scene;
use carom_answers::paper;

use super::plot::canvas::Picture;
use crate::Failure;
use sketch::Sheet;

/// A figure on its way: its name without an ending, and what is on it.
type Figure = (&'static str, Sheet);

/// Draws a paper's figures into a folder, and returns their files.
pub fn draw(paper: &paper::Paper, folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    let figures = match paper.name {
        "palffy-muhoray" => pvwz::figures()?,
        "stanescu-pandrea" => sp::figures()?,
        "dragna-pandrea-stanescu" => dps::figures()?,
        // [TZ] has none.
        _ => Vec::new(),
    };
    fs::create_dir_all(folder)
        .map_err(|error| Failure::Other(format!("cannot make {}: {error}", folder.display())))?;
    let mut files = Vec::new();
    for (name, sheet) in figures {
        let path = folder.join(format!("{name}.{ending}"));
        let fault = |error: String| Failure::Other(format!("cannot draw {}: {error}", path.display()));
        let mut picture = Picture::new(&path).ok_or_else(|| fault("neither .svg nor .png".to_string()))?;
        picture.draw(sheet.size(), &sheet).map_err(fault)?;
        picture.write(&path).map_err(|error| fault(error.to_string()))?;
        files.push(path);
    }
    Ok(files)
}

/// A scene of the papers.
fn scene(name: &str) -> Result<Scene, Failure> {
    Ok(paper::scene(name)?.scene)
}
