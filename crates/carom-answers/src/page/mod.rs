//! What the page of `carom view` asks and is told: checks of a text, runs as a stream of chunks, and closer looks at their events.
//!
//! [`Request`] begins a run within the page's bounds, [`PageRecorder`] makes chunks of it, and [`EventLook`] answers questions about one
//! event. The server only passes these on; on the page's side they are in `viewer/src/protocol.ts`.

mod checkpoints;
pub mod chunk;
mod header;
mod look;
mod recorder;

use carom::scene::model::Scene;
use carom::scene::{Diagnostic, Format};
use serde::{Deserialize, Serialize};

use crate::run::{Changes, Running, on_paradox};
use crate::{Input, InputError};

pub use checkpoints::{Checkpoints, Repetition};
pub use look::{EventLook, GapCurve};
pub use recorder::{BodyStates, EventContact, Flushed, PageRecorder, whole_stream};

/// The longest text that the page may send, in bytes.
pub const LONGEST: usize = 8 << 20;

/// The most bodies of a run in the page.
const MOST_BODIES: usize = 100_000;

/// The most bytes of frames that a run may make.
const MOST_FRAMES: f64 = 256e6;

/// What the page asks to run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    text: String,
    until: Option<f64>,
    sample: Option<f64>,
    max_events: Option<usize>,
    on_paradox: Option<String>,
}

impl Request {
    /// Begins the run, with an interval of samples that keeps its frames within bounds.
    pub fn begin(self) -> Result<Running, InputError> {
        let Self { text, until, sample, max_events, .. } = self;
        let on_paradox = self.on_paradox.as_deref().map(on_paradox).transpose()?;
        let subject = Input::of_text("scene", text, None).scene()?;
        let scene = &subject.scene;
        let bodies = bodies(scene);
        if bodies > MOST_BODIES {
            let message = format!("{bodies} bodies are more than the page shows: at most {MOST_BODIES}");
            return Err(InputError::of_option(None, &message, None));
        }
        let asked = sample.unwrap_or(scene.run.sample);
        let sample = Some(thinned(asked, until.unwrap_or(scene.run.until), bodies));
        let changes = Changes { until, sample, max_events, on_paradox, ..Changes::default() };
        Running::begin(subject, changes, |_| true)
    }
}

/// The bodies of a scene, with those of its fills.
fn bodies(scene: &Scene) -> usize {
    scene.bodies.len() + scene.fills.iter().map(|fill| fill.count).sum::<usize>()
}

/// The interval of samples that keeps the frames within bounds: a multiple of the one asked for.
fn thinned(sample: f64, until: f64, bodies: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a length in bytes")]
    let bytes = until / sample * chunk::frame_length(bodies) as f64;
    if sample > 0.0 && bytes > MOST_FRAMES { sample * (bytes / MOST_FRAMES).ceil() } else { sample }
}

/// A scene of the gallery.
#[derive(Debug, Serialize)]
pub struct Exhibit {
    /// The name of its file, without the extension.
    pub id: &'static str,
    /// Its title.
    pub title: String,
    /// Its point, in a sentence.
    pub point: String,
    /// The scene.
    pub text: &'static str,
}

impl Exhibit {
    /// A scene in TOML whose first line is a comment that states its point; `None` if it is not.
    pub fn of(id: &'static str, text: &'static str) -> Option<Self> {
        let point = text.lines().next()?.strip_prefix('#')?.trim().to_string();
        let title = Input::of_text(id, text.to_string(), Some(Format::Toml)).scene().ok()?.scene.title;
        Some(Self { id, title: title.unwrap_or_else(|| id.to_string()), point, text })
    }
}

/// The scenes of the gallery as they were when this was built, by name.
const GALLERY: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/gallery.rs"));

/// All scenes of the gallery: what no other engine shows comes first, the rest by name.
pub fn gallery() -> Vec<Exhibit> {
    let mut exhibits: Vec<Exhibit> = GALLERY.iter().filter_map(|&(id, text)| Exhibit::of(id, text)).collect();
    exhibits.sort_by_key(|exhibit| exhibit.id != "paradox");
    exhibits
}

/// The verdict on a text.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Check {
    /// It is a scene.
    Sound {
        /// True.
        ok: bool,
        /// Its title.
        title: Option<String>,
        /// How many bodies it has.
        bodies: usize,
        /// What is worth a word.
        warnings: Vec<Marked>,
    },
    /// It is not, or cannot be run as asked.
    Faulty {
        /// False.
        ok: bool,
        /// What is wrong.
        diagnostics: Vec<Marked>,
    },
}

impl Check {
    /// The verdict on a text.
    pub fn of(text: String) -> Self {
        match Input::of_text("scene", text, None).scene() {
            Ok(subject) => {
                let (text, bodies) = (&subject.input.text, bodies(&subject.scene));
                let warnings = subject.scene.warnings.iter().map(|w| Marked::of(text, w)).collect();
                Self::Sound { ok: true, bodies, warnings, title: subject.scene.title }
            }
            Err(error) => Self::failed(&error),
        }
    }

    /// What is wrong with a text or a request.
    pub fn failed(error: &InputError) -> Self {
        let text = error.text().unwrap_or_default();
        Self::Faulty {
            ok: false,
            diagnostics: error.diagnostics.iter().map(|d| Marked::of(text, d)).collect(),
        }
    }
}

/// A diagnostic with its place as an editor counts: lines and characters from one.
#[derive(Debug, Serialize)]
pub struct Marked {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    path: Option<String>,
    message: String,
    expected: Option<String>,
}

impl Marked {
    fn of(text: &str, diagnostic: &Diagnostic) -> Self {
        let marked = text.get(diagnostic.span.clone()).unwrap_or_default();
        let lines = marked.matches('\n').count();
        let tail = marked.rsplit('\n').next().unwrap_or_default().chars().count();
        Self {
            line: diagnostic.line,
            column: diagnostic.column,
            end_line: diagnostic.line + lines,
            end_column: if lines == 0 { diagnostic.column + tail } else { tail + 1 },
            path: diagnostic.field.clone(),
            message: diagnostic.message.clone(),
            expected: diagnostic.expected.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{GALLERY, gallery};

    #[test]
    fn every_scene_of_the_gallery_has_its_point() {
        let exhibits = gallery();
        assert_eq!(exhibits.len(), GALLERY.len());
        assert!(exhibits.len() >= 12);
        assert!(exhibits.iter().all(|exhibit| exhibit.point.len() > 20 && !exhibit.title.is_empty()));
    }
}
