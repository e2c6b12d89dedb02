//! The bodies themselves, at several times side by side: facets shaded by a light from above, the far ones first.

use carom::joint::Kind as JointKind;
use carom::scene::model::{LoadKind, Scene};
use carom::shape::Shape;
use carom_answers::run::Frame;
use nalgebra::{Matrix3, Point3, Vector3};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{DrawError, Drawing, Picture, colour, say};
use super::track::Track;

/// Draws a number of frames, evenly spaced in time.
pub fn draw(
    picture: &mut Picture,
    size: Option<(u32, u32)>,
    scene: &Scene,
    track: &Track,
    count: usize,
) -> Result<(), DrawError> {
    let (from, to) = track.span();
    let count = count.min(track.frames.len()).max(1);
    let chosen: Vec<&Frame> = (0..count)
        .filter_map(|k| {
            #[expect(clippy::cast_precision_loss, reason = "at most sixty")]
            let part = if count > 1 { k as f64 / (count - 1) as f64 } else { 0.0 };
            let time = from + part * (to - from);
            track.frames.iter().min_by(|a, b| (a.time - time).abs().total_cmp(&(b.time - time).abs()))
        })
        .collect();
    let across = count.min(6);
    let down = count.div_ceil(across);
    #[expect(clippy::cast_possible_truncation, reason = "at most sixty frames")]
    let default = (260 * across as u32, 300 * down as u32);
    let strip = Strip { scene, view: View::of(scene, &chosen), frames: chosen, grid: (down, across) };
    picture.draw(size.unwrap_or(default), &strip)
}

/// Where the eye is.
struct View {
    /// Right, up, and towards the eye, as rows.
    axes: Matrix3<f64>,
    centre: Vector3<f64>,
    reach: f64,
}

impl View {
    /// From above and to the side, wide enough for all bodies at all the times.
    fn of(scene: &Scene, frames: &[&Frame]) -> Self {
        let back = Vector3::new(0.55, -1.0, 0.45).normalize();
        let right = Vector3::z().cross(&back).normalize();
        let axes = Matrix3::from_rows(&[right.transpose(), back.cross(&right).transpose(), back.transpose()]);
        let mut low = Vector3::repeat(f64::INFINITY);
        let mut high = -low;
        for frame in frames {
            for (body, state) in scene.bodies.iter().zip(&frame.states) {
                let (at, radius) = (axes * folded(scene, &state.position), body.body.shape.circumradius());
                low = low.inf(&at.add_scalar(-radius));
                high = high.sup(&at.add_scalar(radius));
            }
            for end in ties(scene, frame).iter().flatten() {
                let at = axes * end;
                (low, high) = (low.inf(&at), high.sup(&at));
            }
        }
        let middle = (low + high) * 0.5;
        let reach = 0.5 * (high - low).xy().max();
        Self {
            axes,
            centre: middle,
            reach: if reach > 0.0 && reach.is_finite() { reach * 1.06 } else { 1.0 },
        }
    }

    fn see(&self, x: &Vector3<f64>) -> Vector3<f64> {
        (self.axes * x - self.centre) / self.reach
    }
}

/// A place put back into the periodic box.
fn folded(scene: &Scene, x: &Vector3<f64>) -> Vector3<f64> {
    let Some(lengths) = scene.periodic else { return *x };
    Vector3::from_fn(|i, _| if lengths[i] > 0.0 { x[i].rem_euclid(lengths[i]) } else { x[i] })
}

/// Of joints, and of the frames' borders.
const DARK: RGBColor = RGBColor(60, 60, 60);
const BORDER: RGBColor = RGBColor(205, 205, 210);

struct Strip<'a> {
    scene: &'a Scene,
    view: View,
    frames: Vec<&'a Frame>,
    grid: (usize, usize),
}

/// A piece of a surface as it is seen.
struct Facet {
    depth: f64,
    corners: [(f64, f64); 4],
    colour: RGBColor,
}

impl Strip<'_> {
    /// The planes that face the eye, so that all bodies are in front of them: a square of each about the middle of the view.
    fn planes(&self) -> impl Iterator<Item = [Vector3<f64>; 4]> + '_ {
        let view = &self.view;
        self.scene.planes.iter().filter_map(move |plane| {
            let half = &plane.half_space;
            let normal = half.normal.into_inner();
            if (view.axes * normal).z < 0.05 {
                return None;
            }
            let middle = view.axes.transpose() * view.centre;
            let foot = middle - normal * half.height(&middle);
            let [t1, t2] = carom::joint::across(&half.normal).map(|t| t * (0.92 * view.reach));
            Some([t1 + t2, t1 - t2, -t1 - t2, t2 - t1].map(|corner| view.see(&(foot + corner))))
        })
    }
}

/// A place that goes with a body from the scene's start, where a body is given; else it stays.
fn carried(scene: &Scene, frame: &Frame, body: Option<usize>, point: &Vector3<f64>) -> Vector3<f64> {
    let Some(body) = body else { return *point };
    let (then, now) = (&scene.bodies[body].state, &frame.states[body]);
    now.position + now.orientation * then.orientation.inverse_transform_vector(&(point - then.position))
}

/// The lines that show what is tied to what: from the middle of a body to the joint, and from end to end of a spring.
fn ties(scene: &Scene, frame: &Frame) -> Vec<[Vector3<f64>; 2]> {
    let mut lines = Vec::new();
    for joint in &scene.joints {
        let (JointKind::Hinge { point, .. } | JointKind::Ball { point } | JointKind::KnifeEdge { point, .. }) =
            &joint.kind
        else {
            continue;
        };
        let there = carried(scene, frame, joint.bodies.first().copied(), point);
        lines.extend(joint.bodies.iter().map(|&body| [frame.states[body].position, there]));
    }
    for load in &scene.loads {
        if let LoadKind::Spring { bodies, points, .. } = &load.kind {
            let end = |k: usize| carried(scene, frame, bodies[k], &points[k]);
            lines.push([end(0), end(1)]);
        }
    }
    lines
}

/// A place of the view, in pixels of its panel.
fn placed(x: &Vector3<f64>, (x0, y0, scale): (f64, f64, f64)) -> (f64, f64) {
    (x0 + scale * x.x, y0 - scale * x.y)
}

fn pixels(corners: [(f64, f64); 4]) -> Vec<(i32, i32)> {
    #[expect(clippy::cast_possible_truncation, reason = "pixels")]
    corners.iter().map(|(x, y)| (x.round() as i32, y.round() as i32)).collect()
}

impl Drawing for Strip<'_> {
    fn on<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawError> {
        for (panel, frame) in area.split_evenly(self.grid).iter().zip(&self.frames) {
            let (width, height) = panel.dim_in_pixel();
            let (width, height) = (f64::from(width), f64::from(height));
            let scale = 0.5 * (width - 10.0).min(height - 34.0);
            let frame_of = (0.5 * width, 0.5 * (height - 24.0), scale);
            for patch in self.planes() {
                let corners = pixels(patch.map(|x| placed(&x, frame_of)));
                panel.draw(&Polygon::new(corners, RGBColor(236, 236, 238).filled())).map_err(say)?;
            }
            let mut facets = Vec::new();
            for (k, body) in self.scene.bodies.iter().enumerate() {
                let state = &frame.states[k];
                let tint = if body.body.fixed { RGBColor(150, 150, 150) } else { colour(k) };
                let place = folded(self.scene, &state.position);
                surface(&body.body.shape, divisions(self.scene.bodies.len()), |x, n| {
                    let at = self.view.see(&(place + state.orientation * x));
                    let facing = self.view.axes * (state.orientation * n);
                    (at, facing)
                })
                .into_iter()
                .for_each(|(corners, facing)| {
                    // What looks away is behind the rest of its body.
                    if facing.z > -0.05 {
                        facets.push(facet(
                            &corners,
                            &facing,
                            tint,
                            (0.5 * width, 0.5 * (height - 24.0), scale),
                        ));
                    }
                });
            }
            facets.sort_by(|a, b| a.depth.total_cmp(&b.depth));
            for facet in &facets {
                panel.draw(&Polygon::new(pixels(facet.corners), facet.colour.filled())).map_err(say)?;
            }
            // Bodies without extent are dots.
            for (k, body) in
                self.scene.bodies.iter().enumerate().filter(|(_, b)| b.body.shape == Shape::Point)
            {
                let tint = if body.body.fixed { RGBColor(150, 150, 150) } else { colour(k) };
                let place = self.view.see(&folded(self.scene, &frame.states[k].position));
                let (x, y) = placed(&place, frame_of);
                #[expect(clippy::cast_possible_truncation, reason = "pixels")]
                let at = (x.round() as i32, y.round() as i32);
                panel.draw(&Circle::new(at, 5, tint.filled())).map_err(say)?;
            }
            for line in ties(self.scene, frame) {
                let ends = line.map(|x| placed(&self.view.see(&x), frame_of));
                #[expect(clippy::cast_possible_truncation, reason = "pixels")]
                let ends = ends.map(|(x, y)| (x.round() as i32, y.round() as i32));
                panel.draw(&PathElement::new(ends, DARK.stroke_width(2))).map_err(say)?;
                panel.draw(&Circle::new(ends[1], 3, DARK.filled())).map_err(say)?;
            }
            #[expect(clippy::cast_possible_truncation, reason = "pixels")]
            let corner = (width as i32 - 1, height as i32 - 1);
            panel.draw(&Rectangle::new([(0, 0), corner], BORDER)).map_err(say)?;
            let label = format!("t = {}", carom_answers::words::number(frame.time));
            #[expect(clippy::cast_possible_truncation, reason = "pixels")]
            let at = (8, (height - 22.0) as i32);
            panel.draw(&Text::new(label, at, ("sans-serif", 15).into_font())).map_err(say)?;
        }
        Ok(())
    }
}

/// How finely a body is drawn: the more of them, the coarser.
const fn divisions(bodies: usize) -> usize {
    match bodies {
        0..=4 => 28,
        5..=20 => 18,
        21..=200 => 10,
        _ => 6,
    }
}

fn facet(
    corners: &[Vector3<f64>; 4],
    facing: &Vector3<f64>,
    tint: RGBColor,
    frame: (f64, f64, f64),
) -> Facet {
    let light = Vector3::new(-0.35, 0.65, 0.67);
    let shade = 0.42 + 0.58 * facing.dot(&light).max(0.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a shade of a colour")]
    let part = |c: u8| (f64::from(c) * shade + 40.0 * (shade - 0.42)).clamp(0.0, 255.0) as u8;
    Facet {
        depth: corners.iter().map(|c| c.z).sum::<f64>() / 4.0,
        corners: corners.map(|c| placed(&c, frame)),
        colour: RGBColor(part(tint.0), part(tint.1), part(tint.2)),
    }
}

/// Facets of a body's surface with their normals, as `seen`: points of equal normals, so that edges are fine and flats are
/// not cut up.
fn surface(
    shape: &Shape,
    divisions: usize,
    seen: impl Fn(&Vector3<f64>, &Vector3<f64>) -> (Vector3<f64>, Vector3<f64>),
) -> Vec<([Vector3<f64>; 4], Vector3<f64>)> {
    use std::f64::consts::PI;
    if *shape == Shape::Point {
        return Vec::new();
    }
    #[expect(clippy::cast_precision_loss, reason = "a few dozen")]
    let direction = |i: usize, j: usize| {
        let (theta, phi) = (PI * i as f64 / divisions as f64, PI * j as f64 / divisions as f64);
        Point3::new(theta.sin() * phi.cos(), theta.sin() * phi.sin(), theta.cos()).coords
    };
    let mut facets = Vec::new();
    for i in 0..divisions {
        for j in 0..2 * divisions {
            let directions =
                [direction(i, j), direction(i + 1, j), direction(i + 1, j + 1), direction(i, j + 1)];
            let middle = (directions[0] + directions[1] + directions[2] + directions[3]).normalize();
            let (_, facing) = seen(&Vector3::zeros(), &middle);
            facets.push((directions.map(|n| seen(&shape.support(&n), &n).0), facing));
        }
    }
    facets
}
