//! Curves over time, and phase portraits.

use carom::contact::Side;
use carom::record::Kind;
use carom::run::World;
use carom::scene::instant::name;
use carom::scene::model::Scene;
use carom_answers::gap;
use carom_answers::run::Frame;
use nalgebra::Vector3;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::Coordinate;
use super::canvas::{DrawError, Drawing, Picture, colour, say};
use super::track::Track;

/// The size of one chart.
pub const SIZE: (u32, u32) = (900, 500);

/// A curve with its name.
#[derive(Default)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// Whether each point stands by itself, on a stem from zero.
    pub stems: bool,
    /// Whether it stands behind the others, thin and without a name.
    pub faint: bool,
}

/// Axes with curves.
pub struct Chart {
    /// Above it.
    pub title: String,
    /// Below it.
    pub x: &'static str,
    /// Beside it.
    pub y: String,
    /// The curves.
    pub series: Vec<Series>,
    /// Times to mark.
    pub marks: Vec<f64>,
}

/// Charts one above the other.
pub struct Sheet(pub Vec<Chart>);

impl Drawing for Sheet {
    fn on<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawError> {
        for (panel, chart) in area.split_evenly((self.0.len(), 1)).iter().zip(&self.0) {
            chart.draw(panel)?;
        }
        Ok(())
    }
}

/// The least and the greatest of some numbers, with a margin; something to draw on where they are all the same.
pub fn range(values: impl Iterator<Item = f64>, margin: f64) -> (f64, f64) {
    let (low, high) = values
        .filter(|x| x.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if low > high {
        return (0.0, 1.0);
    }
    let width = high - low;
    // What differs by rounding alone is drawn as what it is: the same.
    let size = low.abs().max(high.abs());
    let width = if width > 1e-12 * size { width } else { size.max(1e-300) };
    (low - margin * width, high + margin * width)
}

impl Chart {
    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawError> {
        let points = || self.series.iter().flat_map(|series| series.points.iter());
        let (x0, x1) = range(points().map(|p| p.0), 0.0);
        let stems = self.series.iter().any(|series| series.stems);
        let zero = stems.then_some(0.0);
        let (y0, y1) = range(points().map(|p| p.1).chain(zero), 0.06);
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .caption(&self.title, ("sans-serif", 19))
            .x_label_area_size(38)
            .y_label_area_size(86)
            .build_cartesian_2d(x0..x1, y0..y1)
            .map_err(say)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(225, 225, 225))
            .x_desc(self.x)
            .y_desc(&self.y)
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 15))
            .x_label_formatter(&|x| tick(*x, x1 - x0))
            .y_label_formatter(&|y| tick(*y, y1 - y0))
            .draw()
            .map_err(say)?;
        let faint = RGBColor(190, 190, 190);
        let marks = self.marks.iter().filter(|&&t| t >= x0 && t <= x1);
        chart
            .draw_series(marks.map(|&t| PathElement::new(vec![(t, y0), (t, y1)], faint.stroke_width(1))))
            .map_err(say)?;
        let thin = self.series.iter().filter(|series| series.faint);
        let lines = thin.map(|series| PathElement::new(series.points.clone(), faint.stroke_width(1)));
        chart.draw_series(lines).map_err(say)?;
        for (k, series) in self.series.iter().filter(|series| !series.faint).enumerate() {
            let colour = colour(k);
            let drawn = if series.stems {
                let stem =
                    |&(x, y): &(f64, f64)| PathElement::new(vec![(x, 0.0), (x, y)], colour.stroke_width(2));
                chart.draw_series(series.points.iter().map(stem)).map_err(say)?
            } else {
                // A value that is not finite breaks the curve.
                let mut drawn = None;
                for piece in series.points.split(|(_, y)| !y.is_finite()) {
                    let line = LineSeries::new(piece.iter().copied(), colour.stroke_width(2));
                    drawn = Some(chart.draw_series(line).map_err(say)?);
                }
                match drawn {
                    Some(drawn) => drawn,
                    None => continue,
                }
            };
            drawn
                .label(&series.name)
                .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
        let named = || self.series.iter().filter(|series| !series.faint);
        if named().count() > 1 || named().next().is_some_and(|series| !series.name.is_empty()) {
            chart
                .configure_series_labels()
                .background_style(WHITE.mix(0.85))
                .border_style(RGBColor(200, 200, 200))
                .label_font(("sans-serif", 14))
                .position(corner(points(), (x0, x1), (y0, y1)))
                .draw()
                .map_err(say)?;
        }
        Ok(())
    }
}

/// The upper corner where the names of curves hide nothing: the right one, if both do or neither.
fn corner<'a>(
    points: impl Iterator<Item = &'a (f64, f64)>,
    (x0, x1): (f64, f64),
    (y0, y1): (f64, f64),
) -> SeriesLabelPosition {
    let mut taken = [false; 2];
    for (x, _) in points.filter(|(_, y)| *y > y1 - 0.25 * (y1 - y0)) {
        taken[0] |= *x < x0 + 0.25 * (x1 - x0);
        taken[1] |= *x > x1 - 0.25 * (x1 - x0);
    }
    if taken == [false, true] { SeriesLabelPosition::UpperLeft } else { SeriesLabelPosition::UpperRight }
}

/// A number at an axis, with the digits that its range needs.
pub fn tick(x: f64, width: f64) -> String {
    if x.abs() < 1e-9 * width {
        return "0".to_string();
    }
    let size = x.abs().max(width);
    if !(1e-3..1e5).contains(&size) {
        return format!("{x:.2e}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 12")]
    let decimals = (2.0 - width.log10()).ceil().clamp(0.0, 12.0) as usize;
    let text = format!("{x:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

fn title(scene: &Scene, what: &str) -> String {
    let title = scene.title.as_deref().unwrap_or_default();
    if title.is_empty() { what.to_string() } else { format!("{title}: {what}") }
}

/// The times of events, unless they are too many to tell apart.
fn marks(track: &Track) -> Vec<f64> {
    const MOST: usize = 200;
    let mut times: Vec<f64> = track.events.iter().map(|event| event.time).collect();
    times.dedup();
    if times.len() > MOST { Vec::new() } else { times }
}

/// Energies over time.
pub fn energies(
    picture: &mut Picture,
    size: Option<(u32, u32)>,
    scene: &Scene,
    track: &Track,
) -> Result<(), DrawError> {
    let (world, _) = World::of(scene);
    let mut curves = [const { Vec::new() }; 3];
    for frame in &track.frames {
        let energies = world.energies(&frame.states);
        let values = [energies.total(), energies.kinetic, energies.potential()];
        for (curve, energy) in curves.iter_mut().zip(values) {
            curve.push((frame.time, energy));
        }
    }
    let names = ["total", "kinetic", "potential"];
    let mut series: Vec<Series> = names
        .iter()
        .zip(curves)
        .map(|(name, points)| Series { name: (*name).to_string(), points, stems: false, faint: false })
        .collect();
    if scene.gravity == Vector3::zeros() && scene.loads.is_empty() {
        series.truncate(1);
        series[0].name = "kinetic".to_string();
    }
    let chart = Chart {
        title: title(scene, "energy"),
        x: "time in s",
        y: "energy in J".to_string(),
        series,
        marks: marks(track),
    };
    picture.draw(size.unwrap_or(SIZE), &Sheet(vec![chart]))
}

/// Gaps over time.
pub fn gaps(
    picture: &mut Picture,
    size: Option<(u32, u32)>,
    scene: &Scene,
    track: &Track,
    pairs: &[[Side; 2]],
) -> Result<(), DrawError> {
    let series = pairs.iter().map(|&pair| Series {
        name: pair.map(|side| name(scene, side)).join(" and "),
        points: track
            .frames
            .iter()
            .map(|frame| (frame.time, gap::between(scene, pair, |body| frame.states[body])))
            .collect(),
        stems: false,
        faint: false,
    });
    let chart = Chart {
        title: title(scene, "gaps"),
        x: "time in s",
        y: "gap in m".to_string(),
        series: series.collect(),
        marks: marks(track),
    };
    picture.draw(size.unwrap_or(SIZE), &Sheet(vec![chart]))
}

/// The forces that contacts and joints exert on bodies, and the impulses of events.
///
/// A force is the mean over a sampling interval, from the change of momentum less gravity and the impulses in between.
pub fn forces(
    picture: &mut Picture,
    size: Option<(u32, u32)>,
    scene: &Scene,
    track: &Track,
    bodies: &[usize],
) -> Result<(), DrawError> {
    let struck = |body: usize, from: f64, to: f64| -> Vector3<f64> {
        let first = track.events.partition_point(|event| event.time <= from);
        let inside = track.events[first..].iter().take_while(|event| event.time <= to);
        inside
            .filter(|event| matches!(event.kind, Kind::Impact | Kind::Rest))
            .map(|event| {
                let [one, two] = event.sides;
                let on = |side: Side| f64::from(u8::from(side == Side::Body(body)));
                event.impulse_vector * (on(two) - on(one))
            })
            .sum()
    };
    let force = bodies.iter().map(|&body| {
        let mass = scene.bodies[body].body.mass;
        let points = track.frames.windows(2).map(|frames| {
            let [one, two] = [&frames[0], &frames[1]];
            let wait = two.time - one.time;
            let change = (two.states[body].velocity - one.states[body].velocity) * mass;
            let push = change - struck(body, one.time, two.time) - scene.gravity * (mass * wait);
            (0.5 * (one.time + two.time), push.norm() / wait)
        });
        Series { name: scene.bodies[body].name.clone(), points: points.collect(), stems: false, faint: false }
    });
    let forces = Chart {
        title: title(scene, "forces of contacts, mean over each sample"),
        x: "time in s",
        y: "force in N".to_string(),
        series: force.collect(),
        marks: marks(track),
    };
    let impulses = track
        .events
        .iter()
        .filter(|event| matches!(event.kind, Kind::Impact | Kind::Rest))
        .map(|event| (event.time, event.impulse_vector.norm()));
    let (from, to) = track.span();
    let mut points: Vec<(f64, f64)> = impulses.collect();
    let mut sheets = vec![forces];
    if !points.is_empty() {
        // So that both panels have the same times.
        points.extend([(from, 0.0), (to, 0.0)]);
        sheets.push(Chart {
            title: "impulses".to_string(),
            x: "time in s",
            y: "impulse in N s".to_string(),
            series: vec![Series { name: String::new(), points, stems: true, faint: false }],
            marks: Vec::new(),
        });
    }
    let height = if sheets.len() > 1 { 700 } else { 350 };
    picture.draw(size.unwrap_or((SIZE.0, height)), &Sheet(sheets))
}

/// Velocities against positions, or the spin in the body's own frame over time.
pub fn phase(
    picture: &mut Picture,
    size: Option<(u32, u32)>,
    scene: &Scene,
    track: &Track,
    bodies: &[usize],
    coordinate: Coordinate,
) -> Result<(), DrawError> {
    let axis = match coordinate {
        Coordinate::X => 0,
        Coordinate::Y => 1,
        Coordinate::Z => 2,
        Coordinate::Spin => return spin(picture, size, scene, track, bodies),
    };
    let letter = ["x", "y", "z"][axis];
    let series = bodies.iter().map(|&body| {
        let at = |frame: &Frame| {
            let state = &frame.states[body];
            (state.position[axis], state.velocity[axis])
        };
        Series {
            name: scene.bodies[body].name.clone(),
            points: track.frames.iter().map(at).collect(),
            stems: false,
            faint: false,
        }
    });
    let chart = Chart {
        title: title(scene, "phase portrait"),
        x: ["x in m", "y in m", "z in m"][axis],
        y: format!("velocity along {letter} in m/s"),
        series: series.collect(),
        marks: Vec::new(),
    };
    picture.draw(size.unwrap_or((640, 600)), &Sheet(vec![chart]))
}

fn spin(
    picture: &mut Picture,
    size: Option<(u32, u32)>,
    scene: &Scene,
    track: &Track,
    bodies: &[usize],
) -> Result<(), DrawError> {
    let charts: Vec<Chart> = bodies
        .iter()
        .map(|&body| {
            let own = |frame: &Frame| {
                let state = &frame.states[body];
                state.orientation.inverse_transform_vector(&state.angular_velocity)
            };
            let series = (0..3).map(|i| Series {
                name: format!("about axis {}", i + 1),
                points: track.frames.iter().map(|frame| (frame.time, own(frame)[i])).collect(),
                stems: false,
                faint: false,
            });
            Chart {
                title: title(scene, &format!("spin of {} in its own frame", scene.bodies[body].name)),
                x: "time in s",
                y: "angular velocity in rad/s".to_string(),
                series: series.collect(),
                marks: marks(track),
            }
        })
        .collect();
    let height = 350 * u32::try_from(charts.len().max(1)).unwrap_or(1);
    picture.draw(size.unwrap_or((SIZE.0, height)), &Sheet(charts))
}
