//! A picture that is an SVG or a PNG by the ending of its name, drawn by the same strokes.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Once;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

/// The colours of series, apart for eyes of every kind (after Okabe and Ito).
pub const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
];

/// The colour of a series.
pub fn colour(k: usize) -> RGBColor {
    COLOURS[k % COLOURS.len()]
}

/// Why a picture cannot be drawn.
pub type DrawError = String;

/// A picture on its way to a file.
pub enum Picture {
    /// Lines and letters.
    Svg(String),
    /// Dots: the size, and three bytes each.
    Png(u32, u32, Vec<u8>),
}

/// Draws something on a sheet of whatever kind.
pub trait Drawing {
    /// Draws it.
    fn on<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawError>;
}

impl Picture {
    /// A picture of the kind that a file's name asks for.
    pub fn new(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "svg" => Some(Self::Svg(String::new())),
            "png" => Some(Self::Png(0, 0, Vec::new())),
            _ => None,
        }
    }

    /// Draws on it, on white.
    pub fn draw(&mut self, (width, height): (u32, u32), drawing: &impl Drawing) -> Result<(), DrawError> {
        static FONT: Once = Once::new();
        FONT.call_once(|| {
            // A font that is known to be one: it cannot be refused.
            let _ = register_font("sans-serif", FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
        });
        match self {
            Self::Svg(text) => {
                let area = SVGBackend::with_string(text, (width, height)).into_drawing_area();
                finish(&area, drawing)
            }
            Self::Png(w, h, dots) => {
                (*w, *h) = (width, height);
                dots.resize(width as usize * height as usize * 3, 0);
                let area = BitMapBackend::with_buffer(dots, (width, height)).into_drawing_area();
                finish(&area, drawing)
            }
        }
    }

    /// Writes it, whole or not at all.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut name = path.as_os_str().to_os_string();
        name.push(".tmp");
        let unfinished = PathBuf::from(name);
        let written = match self {
            Self::Svg(text) => fs::write(&unfinished, text),
            Self::Png(width, height, dots) => encode(&unfinished, *width, *height, dots),
        };
        written.and_then(|()| fs::rename(&unfinished, path)).inspect_err(|_| {
            let _ = fs::remove_file(&unfinished);
        })
    }
}

fn encode(path: &Path, width: u32, height: u32, dots: &[u8]) -> io::Result<()> {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path)?), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(dots)?;
    writer.finish()?;
    Ok(())
}

fn finish<B: DrawingBackend>(area: &DrawingArea<B, Shift>, drawing: &impl Drawing) -> Result<(), DrawError> {
    area.fill(&WHITE).map_err(say)?;
    drawing.on(area)?;
    area.present().map_err(say)
}

/// An error in words.
pub fn say(error: impl std::fmt::Display) -> DrawError {
    error.to_string()
}
