//! Sketches in space: surfaces, arrows, lines and letters, seen from one side without perspective.

use carom::body::State;
use carom::shape::Shape;
use nalgebra::{Matrix3, Vector3};
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::commands::plot::canvas::{DrawError, Drawing, say};

pub const BLUE: RGBColor = RGBColor(0, 114, 178);
pub const ORANGE: RGBColor = RGBColor(213, 94, 0);
pub const GREEN: RGBColor = RGBColor(0, 128, 96);
pub const PURPLE: RGBColor = RGBColor(150, 60, 130);
pub const DARK: RGBColor = RGBColor(40, 40, 40);
pub const GREY: RGBColor = RGBColor(140, 140, 145);

/// One view.
pub struct Sketch {
    /// Right, up and towards the eye, as rows.
    axes: Matrix3<f64>,
    middle: Vector3<f64>,
    reach: f64,
    title: String,
    facets: Vec<Facet>,
    strokes: Vec<Stroke>,
    letters: Vec<Letter>,
    dots: Vec<(Vector3<f64>, RGBColor)>,
}

/// A label at a place, with its offset in pixels.
struct Letter {
    at: Vector3<f64>,
    off: (i32, i32),
    text: String,
    colour: RGBColor,
}

/// What is drawn first, from back to front.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Backdrop,
    Body,
}

struct Facet {
    layer: Layer,
    corners: [Vector3<f64>; 4],
    facing: Vector3<f64>,
    colour: RGBColor,
    opacity: f64,
}

struct Stroke {
    points: Vec<Vector3<f64>>,
    colour: RGBColor,
    width: u32,
    dashed: bool,
    head: bool,
}

impl Sketch {
    /// From a direction, about a middle, so far to each side.
    pub fn new(
        title: &str,
        towards: Vector3<f64>,
        up: Vector3<f64>,
        middle: Vector3<f64>,
        reach: f64,
    ) -> Self {
        let back = towards.normalize();
        let right = up.cross(&back).normalize();
        let axes = Matrix3::from_rows(&[right.transpose(), back.cross(&right).transpose(), back.transpose()]);
        Self {
            axes,
            middle,
            reach,
            title: title.to_string(),
            facets: Vec::new(),
            strokes: Vec::new(),
            letters: Vec::new(),
            dots: Vec::new(),
        }
    }

    /// A body's surface, seen through.
    pub fn body(&mut self, shape: &Shape, state: &State, colour: RGBColor, opacity: f64) {
        const DIVISIONS: usize = 18;
        #[expect(clippy::cast_precision_loss, reason = "a few dozen")]
        let direction = |i: usize, j: usize| {
            let step = std::f64::consts::PI / DIVISIONS as f64;
            let ((st, ct), (sp, cp)) = ((step * i as f64).sin_cos(), (step * j as f64).sin_cos());
            Vector3::new(st * cp, st * sp, ct)
        };
        for i in 0..DIVISIONS {
            for j in 0..2 * DIVISIONS {
                let corners =
                    [direction(i, j), direction(i + 1, j), direction(i + 1, j + 1), direction(i, j + 1)];
                let facing = state.orientation * corners.iter().sum::<Vector3<f64>>().normalize();
                // What looks away is behind the rest of its body.
                if (self.axes * facing).z > -0.02 {
                    let place = |n: Vector3<f64>| state.position + state.orientation * shape.support(&n);
                    self.facets.push(Facet {
                        layer: Layer::Body,
                        corners: corners.map(place),
                        facing,
                        colour,
                        opacity,
                    });
                }
            }
        }
    }

    /// A flat piece, behind all bodies.
    pub fn sheet(&mut self, corners: [Vector3<f64>; 4], colour: RGBColor, opacity: f64) {
        let facing = (corners[1] - corners[0]).cross(&(corners[3] - corners[0]));
        let facing = facing.try_normalize(0.0).unwrap_or_else(Vector3::z);
        self.facets.push(Facet { layer: Layer::Backdrop, corners, facing, colour, opacity });
    }

    pub fn arrow(&mut self, from: Vector3<f64>, to: Vector3<f64>, colour: RGBColor, label: &str) {
        self.stroke(vec![from, to], colour, 2, false, true);
        self.letter(to, (7, -9), label, colour);
    }

    pub fn dashed_arrow(&mut self, from: Vector3<f64>, to: Vector3<f64>, colour: RGBColor, label: &str) {
        self.stroke(vec![from, to], colour, 2, true, true);
        self.letter(to, (7, -9), label, colour);
    }

    pub fn line(&mut self, points: Vec<Vector3<f64>>, colour: RGBColor, width: u32) {
        self.stroke(points, colour, width, false, false);
    }

    pub fn dashed(&mut self, points: Vec<Vector3<f64>>, colour: RGBColor) {
        self.stroke(points, colour, 1, true, false);
    }

    fn stroke(&mut self, points: Vec<Vector3<f64>>, colour: RGBColor, width: u32, dashed: bool, head: bool) {
        self.strokes.push(Stroke { points, colour, width, dashed, head });
    }

    pub fn dot(&mut self, at: Vector3<f64>, colour: RGBColor, label: &str) {
        self.dots.push((at, colour));
        self.letter(at, (7, 4), label, colour);
    }

    /// Letters beside a place, offset in pixels to the right and down.
    pub fn letter(&mut self, at: Vector3<f64>, off: (i32, i32), text: &str, colour: RGBColor) {
        if !text.is_empty() {
            self.letters.push(Letter { at, off, text: text.to_string(), colour });
        }
    }

    /// Three axes of a frame.
    pub fn frame(
        &mut self,
        origin: Vector3<f64>,
        axes: &Matrix3<f64>,
        length: f64,
        names: [&str; 4],
        colour: RGBColor,
    ) {
        for (i, name) in names.iter().skip(1).enumerate() {
            self.arrow(origin, origin + axes.column(i) * length, colour, name);
        }
        self.letter(origin, (-16, 6), names[0], colour);
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawError> {
        let (width, height) = area.dim_in_pixel();
        let (width, height) = (f64::from(width), f64::from(height));
        let scale = 0.5 * (width - 16.0).min(height - 44.0) / self.reach;
        let seen = |x: &Vector3<f64>| self.axes * (x - self.middle);
        #[expect(clippy::cast_possible_truncation, reason = "pixels")]
        let place = |x: &Vector3<f64>| {
            let s = seen(x);
            ((0.5 * width + scale * s.x).round() as i32, (0.5 * (height + 22.0) - scale * s.y).round() as i32)
        };
        let mut facets: Vec<_> = self.facets.iter().collect();
        let depth = |facet: &Facet| facet.corners.iter().map(|x| seen(x).z).sum::<f64>();
        facets.sort_by(|a, b| a.layer.cmp(&b.layer).then(depth(a).total_cmp(&depth(b))));
        let light = Vector3::new(-0.35, 0.65, 0.67);
        for facet in facets {
            let shade = 0.55 + 0.45 * (self.axes * facet.facing).dot(&light).abs();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a shade of a colour"
            )]
            let part = |c: u8| (f64::from(c) * shade + 255.0 * 0.25 * shade).clamp(0.0, 255.0) as u8;
            let tint = RGBColor(part(facet.colour.0), part(facet.colour.1), part(facet.colour.2));
            let corners: Vec<_> = facet.corners.iter().map(place).collect();
            area.draw(&Polygon::new(corners, tint.mix(facet.opacity).filled())).map_err(say)?;
        }
        for stroke in &self.strokes {
            let points: Vec<(i32, i32)> = stroke.points.iter().map(place).collect();
            let style = stroke.colour.stroke_width(stroke.width);
            if stroke.dashed {
                for piece in dashes(&points) {
                    area.draw(&PathElement::new(piece, style)).map_err(say)?;
                }
            } else {
                area.draw(&PathElement::new(points.clone(), style)).map_err(say)?;
            }
            if let (true, [.., before, end]) = (stroke.head, points.as_slice())
                && let Some(head) = head(*before, *end)
            {
                area.draw(&Polygon::new(head, stroke.colour.filled())).map_err(say)?;
            }
        }
        for (at, colour) in &self.dots {
            area.draw(&Circle::new(place(at), 4, colour.filled())).map_err(say)?;
        }
        for Letter { at, off: (right, down), text, colour } in &self.letters {
            let (x, y) = place(at);
            let font = ("sans-serif", 17).into_font().color(colour);
            area.draw(&Text::new(text.clone(), (x + right, y + down), font)).map_err(say)?;
        }
        let font = ("sans-serif", 15).into_font().color(&DARK);
        area.draw(&Text::new(self.title.clone(), (10, 8), font)).map_err(say)
    }
}

/// A path in pieces of six pixels with four between.
fn dashes(points: &[(i32, i32)]) -> Vec<Vec<(i32, i32)>> {
    let mut pieces = Vec::new();
    let mut walked = 0.0_f64;
    for pair in points.windows(2) {
        let ([(x0, y0), (x1, y1)], mut at) = ([pair[0], pair[1]], 0.0);
        let (dx, dy) = (f64::from(x1 - x0), f64::from(y1 - y0));
        let length = dx.hypot(dy);
        while at < length {
            let phase = (walked + at) % 10.0;
            let next = (at + if phase < 6.0 { 6.0 - phase } else { 10.0 - phase }).min(length);
            if phase < 6.0 {
                #[expect(clippy::cast_possible_truncation, reason = "pixels")]
                let point = |s: f64| {
                    (
                        (f64::from(x0) + dx * s / length).round() as i32,
                        (f64::from(y0) + dy * s / length).round() as i32,
                    )
                };
                pieces.push(vec![point(at), point(next)]);
            }
            at = if next > at { next } else { length };
        }
        walked += length;
    }
    pieces
}

/// An arrow's head; none on an arrow towards the eye.
fn head((x0, y0): (i32, i32), (x1, y1): (i32, i32)) -> Option<Vec<(i32, i32)>> {
    let (dx, dy) = (f64::from(x1 - x0), f64::from(y1 - y0));
    let length = dx.hypot(dy);
    if length < 6.0 {
        return None;
    }
    let (ux, uy) = (dx / length, dy / length);
    #[expect(clippy::cast_possible_truncation, reason = "pixels")]
    let corner = |back: f64, side: f64| {
        (
            (f64::from(x1) - ux * back - uy * side).round() as i32,
            (f64::from(y1) - uy * back + ux * side).round() as i32,
        )
    };
    Some(vec![(x1, y1), corner(11.0, 4.5), corner(11.0, -4.5)])
}

/// Sketches side by side.
pub struct Sheet(pub Vec<Sketch>);

impl Sheet {
    /// In pixels.
    pub fn size(&self) -> (u32, u32) {
        let across = u32::try_from(self.0.len()).unwrap_or(1).max(1);
        (if across == 1 { 620 } else { 430 * across }, if across == 1 { 560 } else { 440 })
    }
}

impl Drawing for Sheet {
    fn on<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawError> {
        for (panel, sketch) in area.split_evenly((1, self.0.len().max(1))).iter().zip(&self.0) {
            sketch.draw(panel)?;
        }
        Ok(())
    }
}
