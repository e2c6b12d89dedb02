//! Pictures of a sweep: a histogram of one column, points of two, or a third in colours: a heat map where the first two make a grid.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::canvas::{DrawError, Drawing, colour, say};
use super::charts::{range, tick};

/// Bins of a histogram, at most.
const BINS: usize = 60;

/// The most points of a grid along one side.
const MOST_CELLS: usize = 1000;

/// The width of the bar that explains colours.
const BAR: i32 = 110;

/// What is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    labels: Vec<String>,
    content: Content,
}

#[derive(Debug, Clone, PartialEq)]
enum Content {
    /// The ends, and how many are in each of equal bins.
    Histogram((f64, f64), Vec<u64>),
    Points(Vec<[f64; 3]>),
    /// The places along x and y, and the means in the cells, row by row; not a number where there is nothing.
    Grid(Vec<f64>, Vec<f64>, Vec<f64>),
}

impl Chart {
    /// What suits one, two or three columns.
    pub fn of(labels: &[&str], columns: &[Vec<f64>]) -> Self {
        let labels = labels.iter().map(ToString::to_string).collect();
        let content = match columns {
            [x, y, value] => grid(x, y, value).unwrap_or_else(|| points(x, y, Some(value))),
            [x, y] => points(x, y, None),
            [x, ..] => histogram(x),
            [] => Content::Points(Vec::new()),
        };
        Self { labels, content }
    }

    /// Its kind in a word.
    pub fn kind(&self) -> &'static str {
        match (&self.content, self.labels.len()) {
            (Content::Histogram(..), _) => "histogram",
            (Content::Points(_), 3) => "coloured points",
            (Content::Points(_), _) => "points",
            (Content::Grid(..), _) => "heat map",
        }
    }

    fn label(&self, k: usize) -> &str {
        self.labels.get(k).map_or("samples", String::as_str)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "fewer bins than 2^53, and in range"
)]
fn histogram(x: &[f64]) -> Content {
    let finite = || x.iter().copied().filter(|x| x.is_finite());
    let (low, high) = range(finite(), 0.0);
    // Half the root of the number of samples, as many as can be told apart.
    let bins = ((finite().count() as f64).sqrt() / 2.0).clamp(5.0, BINS as f64) as usize;
    let mut counts = vec![0; bins];
    for x in finite() {
        let k = ((x - low) / (high - low) * bins as f64) as usize;
        counts[k.min(bins - 1)] += 1;
    }
    Content::Histogram((low, high), counts)
}

fn points(x: &[f64], y: &[f64], value: Option<&Vec<f64>>) -> Content {
    let value = |k: usize| value.and_then(|value| value.get(k)).copied().unwrap_or(0.0);
    let all = x.iter().zip(y).enumerate().map(|(k, (&x, &y))| [x, y, value(k)]);
    Content::Points(all.filter(|point| point.iter().all(|x| x.is_finite())).collect())
}

/// Means over the cells, if x and y take few values each.
fn grid(x: &[f64], y: &[f64], value: &[f64]) -> Option<Content> {
    let places = |numbers: &[f64]| {
        let mut all: Vec<f64> = numbers.iter().copied().filter(|x| x.is_finite()).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        ((2..=MOST_CELLS).contains(&all.len())).then_some(all)
    };
    let (columns, rows) = (places(x)?, places(y)?);
    if columns.len() * rows.len() > 2 * value.len() {
        return None;
    }
    let mut sums = vec![(0.0, 0.0); columns.len() * rows.len()];
    for ((x, y), value) in x.iter().zip(y).zip(value).filter(|(_, value)| value.is_finite()) {
        let at = |places: &[f64], x: f64| places.binary_search_by(|place| place.total_cmp(&x)).ok();
        if let (Some(i), Some(j)) = (at(&columns, *x), at(&rows, *y)) {
            let (sum, count) = &mut sums[j * columns.len() + i];
            *sum += value;
            *count += 1.0;
        }
    }
    let means = sums.into_iter().map(|(sum, count)| sum / count).collect();
    Some(Content::Grid(columns, rows, means))
}

/// The colour of a share from 0 to 1, dark to light (after viridis).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a colour is below 256")]
fn shade(share: f64) -> RGBColor {
    const STOPS: [[f64; 3]; 5] = [
        [68.0, 1.0, 84.0],
        [59.0, 82.0, 139.0],
        [33.0, 145.0, 140.0],
        [94.0, 201.0, 98.0],
        [253.0, 231.0, 37.0],
    ];
    // What is no number has the colour of the least.
    let share = if share.is_nan() { 0.0 } else { share };
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let k = (place as usize).min(STOPS.len() - 2);
    let part = place - k as f64;
    let mix = |i: usize| (STOPS[k][i] + (STOPS[k + 1][i] - STOPS[k][i]) * part).round() as u8;
    RGBColor(mix(0), mix(1), mix(2))
}

/// The edges between places: midway, and as far outside the first and the last.
fn edges(places: &[f64]) -> Vec<f64> {
    let n = places.len();
    let mut edges = Vec::with_capacity(n + 1);
    edges.push(places[0] - 0.5 * (places[1] - places[0]));
    edges.extend(places.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])));
    edges.push(places[n - 1] + 0.5 * (places[n - 1] - places[n - 2]));
    edges
}

impl Drawing for Chart {
    fn on<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), DrawError> {
        let coloured = self.labels.len() == 3;
        let width = i32::try_from(area.dim_in_pixel().0).unwrap_or(i32::MAX);
        let (main, bar) =
            if coloured { area.split_horizontally(width - BAR) } else { (area.clone(), area.clone()) };
        let values: Vec<f64> = match &self.content {
            Content::Points(points) => points.iter().map(|point| point[2]).collect(),
            Content::Grid(.., means) => means.clone(),
            Content::Histogram(..) => Vec::new(),
        };
        let (low, high) = range(values.into_iter(), 0.0);
        let share = |value: f64| (value - low) / (high - low);
        let (x, y) = self.ranges();
        let mut chart = ChartBuilder::on(&main)
            .margin(12)
            .x_label_area_size(42)
            .y_label_area_size(86)
            .build_cartesian_2d(x.0..x.1, y.0..y.1)
            .map_err(say)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(225, 225, 225))
            .x_desc(self.label(0))
            .y_desc(self.label(1))
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 15))
            .x_label_formatter(&|at| tick(*at, x.1 - x.0))
            .y_label_formatter(&|at| tick(*at, y.1 - y.0))
            .draw()
            .map_err(say)?;
        match &self.content {
            Content::Histogram((from, to), counts) => {
                let step = (to - from) / counts.len() as f64;
                let bar = |(k, &count): (usize, &u64)| {
                    let left = from + k as f64 * step;
                    Rectangle::new([(left, 0.0), (left + step, count as f64)], colour(0).filled())
                };
                chart.draw_series(counts.iter().enumerate().map(bar)).map_err(say)?;
            }
            Content::Points(points) => {
                let size = if points.len() > 5000 { 1 } else { 2 };
                let dot = |&[x, y, value]: &[f64; 3]| {
                    let colour = if coloured { shade(share(value)) } else { colour(0) };
                    Circle::new((x, y), size, colour.filled())
                };
                chart.draw_series(points.iter().map(dot)).map_err(say)?;
            }
            Content::Grid(columns, rows, means) => {
                let (xs, ys) = (edges(columns), edges(rows));
                let cells =
                    means.iter().enumerate().filter(|(_, mean)| mean.is_finite()).map(|(k, &mean)| {
                        let (i, j) = (k % columns.len(), k / columns.len());
                        Rectangle::new([(xs[i], ys[j]), (xs[i + 1], ys[j + 1])], shade(share(mean)).filled())
                    });
                chart.draw_series(cells).map_err(say)?;
            }
        }
        if coloured { self.explain(&bar, low, high) } else { Ok(()) }
    }
}

impl Chart {
    fn ranges(&self) -> ((f64, f64), (f64, f64)) {
        match &self.content {
            Content::Histogram(x, counts) => {
                let most = counts.iter().copied().max().unwrap_or(0).max(1);
                (*x, (0.0, 1.06 * most as f64))
            }
            Content::Points(points) => {
                let along = |i: usize| range(points.iter().map(|point| point[i]), 0.03);
                (along(0), along(1))
            }
            Content::Grid(columns, rows, _) => {
                let ends = |places: &[f64]| range(edges(places).into_iter(), 0.0);
                (ends(columns), ends(rows))
            }
        }
    }

    /// The bar beside the chart that says what the colours are.
    fn explain<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        low: f64,
        high: f64,
    ) -> Result<(), DrawError> {
        const STEPS: u32 = 100;
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(42)
            .right_y_label_area_size(60)
            .build_cartesian_2d(0.0..1.0, low..high)
            .map_err(say)?
            .set_secondary_coord(0.0..1.0, low..high);
        chart
            .configure_secondary_axes()
            .y_desc(self.label(2))
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 15))
            .y_label_formatter(&|at| tick(*at, high - low))
            .draw()
            .map_err(say)?;
        let step = |k: u32| {
            let at = |k: u32| low + (high - low) * f64::from(k) / f64::from(STEPS);
            let middle = (f64::from(k) + 0.5) / f64::from(STEPS);
            Rectangle::new([(0.0, at(k)), (1.0, at(k + 1))], shade(middle).filled())
        };
        chart.draw_series((0..STEPS).map(step)).map_err(say)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Chart, Content, edges, shade};

    #[test]
    fn what_suits_the_columns() {
        let x: Vec<f64> = (0..60).map(|k| f64::from(k % 6)).collect();
        let y: Vec<f64> = (0..60).map(|k| f64::from(k / 6 % 5)).collect();
        let value: Vec<f64> = x.iter().zip(&y).map(|(x, y)| 10.0 * x + y).collect();
        let chart = Chart::of(&["x", "y", "v"], &[x.clone(), y.clone(), value.clone()]);
        let Content::Grid(columns, rows, means) = &chart.content else { panic!("{chart:?}") };
        assert_eq!((columns.len(), rows.len(), means[6 * 2 + 3]), (6, 5, 32.0));
        let wild: Vec<f64> = (0..60).map(|k| f64::from(k).sin()).collect();
        assert_eq!(Chart::of(&["x", "y", "v"], &[wild, y.clone(), value]).kind(), "coloured points");
        let mut holes = x.clone();
        holes[7] = f64::NAN;
        let Content::Points(points) = Chart::of(&["x", "y"], &[holes.clone(), y]).content else { panic!() };
        assert_eq!(points.len(), 59);
        let Content::Histogram(ends, counts) = Chart::of(&["x"], &[holes]).content else { panic!() };
        assert_eq!((ends, counts.iter().sum::<u64>()), ((0.0, 5.0), 59));
    }

    #[test]
    fn colours_and_edges() {
        assert_eq!([shade(0.0), shade(1.0)].map(|c| (c.0, c.1, c.2)), [(68, 1, 84), (253, 231, 37)]);
        assert_eq!(shade(f64::NAN).0, 68);
        assert_eq!(edges(&[0.0, 1.0, 3.0]), [-0.5, 0.5, 2.0, 4.0]);
    }
}
