//! The picture of the chapter: what the error of one impact costs, as SVG.
//!
//! Both axes are decades. A line joins the steps of an engine's ladder; carom is a point.

use super::scene::Request;
use super::{Failure, Results, distance, table};

const PROBE: &str = "tumbling";
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 20.0;
const RIGHT: f64 = 120.0;
const BOTTOM: f64 = 50.0;
const COLOURS: [&str; 7] = ["#c0392b", "#2471a3", "#1e8449", "#b9770e", "#7d3c98", "#616a6b", "#117a65"];

/// A point: the logarithms of the cost and of the error.
type Point = (f64, f64);

/// Draws the error of the probe's motion over the time that an engine takes for a second of it.
pub fn draw(requests: &[Request], results: &Results) -> Result<String, Failure> {
    let request = requests.iter().find(|request| request.probe == PROBE);
    let request = request.ok_or_else(|| format!("there is no probe {PROBE}"))?;
    let exact = table::answer(&results.exact, request)?;
    let mut lines: Vec<(&str, Vec<Point>)> = Vec::new();
    for engine in &results.engines {
        let mut points = Vec::new();
        for run in &table::answer(engine, request)?.runs {
            let error = distance(request, exact, run)?.max(f64::EPSILON);
            points.push(((run.wall_s / request.until).log10(), error.log10()));
        }
        lines.push((&engine.engine, points));
    }
    let all = || lines.iter().flat_map(|(_, points)| points);
    let across = decades(all().map(|point| point.0));
    let up = decades(all().map(|point| point.1));
    let place = |(cost, error): Point| {
        let x = LEFT + (cost - across.0) / (across.1 - across.0) * (WIDTH - LEFT - RIGHT);
        let y = TOP + (up.1 - error) / (up.1 - up.0) * (HEIGHT - TOP - BOTTOM);
        (x, y)
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    let mut grid = |from: Point, to: Point, label: String, anchor: &str, shift: Point| {
        let ((x1, y1), (x2, y2)) = (place(from), place(to));
        svg += &format!("<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"#ddd\"/>\n");
        let (x, y) = (x1 + shift.0, y1 + shift.1);
        svg += &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#444\">{label}</text>\n"
        );
    };
    let mut cost = across.0;
    while cost <= across.1 {
        grid((cost, up.0), (cost, up.1), format!("1e{cost}"), "middle", (0.0, 18.0));
        cost += 1.0;
    }
    let mut error = up.0;
    while error <= up.1 {
        grid((across.0, error), (across.1, error), format!("1e{error}"), "end", (-8.0, 4.0));
        error += 2.0;
    }
    let middle = LEFT + (WIDTH - LEFT - RIGHT) / 2.0;
    svg += &format!(
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">seconds taken for a simulated second</text>\n\
         <text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\">error of the motion after the impact</text>\n",
        HEIGHT - 8.0,
        TOP + (HEIGHT - TOP - BOTTOM) / 2.0
    );
    for ((name, points), colour) in lines.iter().zip(COLOURS.iter().cycle()) {
        let places: Vec<Point> = points.iter().map(|&point| place(point)).collect();
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        svg += &format!(
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n",
            path.join("L")
        );
        for (x, y) in &places {
            svg += &format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>\n");
        }
        if let Some((x, y)) = places.last() {
            let (x, y) = (x + 9.0, y + 4.0);
            svg += &format!("<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\">{name}</text>\n");
        }
    }
    Ok(svg + "</svg>\n")
}

/// The whole decades that hold all values, an even number of them below.
fn decades(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    ((low / 2.0).floor() * 2.0, high.ceil())
}
