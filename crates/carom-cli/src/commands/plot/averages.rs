//! What a gas was measured to do: g(r), the mean-square displacement and the velocity autocorrelation, from the document of a
//! run, or of its copies, each as a thin line behind their mean.

use std::fs;
use std::path::Path;

use carom_answers::InputError;
use carom_answers::folder::RESULT;
use serde_json::Value;

use super::canvas::{DrawError, Picture};
use super::charts::{Chart, SIZE, Series, Sheet};
use crate::Failure;

/// A velocity autocorrelation has decayed after this many collisions of a body; what is beyond is drawn only if asked for.
const FALLEN: f64 = 16.0;

/// Which curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// The pair correlation function.
    Pairs,
    /// The mean-square displacement.
    Displacement,
    /// The velocity autocorrelation.
    Velocities,
}

impl Function {
    /// Its name in the document, and those of its columns.
    fn fields(self) -> [&'static str; 3] {
        match self {
            Self::Pairs => ["g_r", "r", "g"],
            Self::Displacement => ["msd", "time", "value"],
            Self::Velocities => ["vacf", "time", "value"],
        }
    }

    fn chart(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Pairs => ("pair correlation function", "distance in m", "g(r)"),
            Self::Displacement => ("mean-square displacement", "lag in s", "msd in m²"),
            Self::Velocities => ("velocity autocorrelation", "lag in s", "v(t)·v(0) on average, in m²/s²"),
        }
    }
}

/// The curves of a run's copies, or of the one run.
pub struct Curves {
    function: Function,
    title: Option<String>,
    copies: Vec<Vec<(f64, f64)>>,
}

impl Curves {
    /// Reads them from a folder, from one abscissa to another.
    pub fn read(
        folder: &Path,
        function: Function,
        from: Option<f64>,
        to: Option<f64>,
    ) -> Result<Self, Failure> {
        let refuse = |message: &str, expected: &str| {
            let message = format!("{} {message}", folder.display());
            Failure::from(InputError::of_option(None, &message, Some(expected)))
        };
        let file = folder.join(RESULT);
        let text = fs::read(&file)
            .map_err(|_| refuse("holds no run that has ended", "a folder that `carom run -o` wrote"))?;
        let document: Value = serde_json::from_slice(&text)
            .map_err(|error| Failure::Other(format!("{} cannot be read: {error}", file.display())))?;
        let runs =
            document["replicas"].as_array().map_or_else(|| vec![&document], |all| all.iter().collect());
        let mut copies: Vec<_> =
            runs.into_iter().filter_map(|run| curve(&run["observables"], function)).collect();
        for (points, rate) in &mut copies {
            let last = match (to, function, &rate) {
                (Some(to), _, _) => to,
                (None, Function::Velocities, Some(rate)) => FALLEN / *rate,
                (None, ..) => f64::INFINITY,
            };
            points.retain(|(x, _)| *x >= from.unwrap_or(f64::NEG_INFINITY) && *x <= last);
        }
        let copies: Vec<_> =
            copies.into_iter().map(|(points, _)| points).filter(|points| points.len() > 1).collect();
        if copies.is_empty() {
            let [name, ..] = function.fields();
            let expected = "a run in a periodic box, long enough to be measured, and a range within it";
            return Err(refuse(&format!("has no `observables.{name}` there"), expected));
        }
        let title = document["title"].as_str().map(str::to_string);
        Ok(Self { function, title, copies })
    }

    /// How many copies there are.
    pub fn count(&self) -> usize {
        self.copies.len()
    }

    /// The mean of the copies, as far as all of them go.
    pub fn mean(&self) -> Vec<(f64, f64)> {
        let shortest = self.copies.iter().map(Vec::len).min().unwrap_or(0);
        let count = self.copies.len() as f64;
        (0..shortest)
            .map(|i| (self.copies[0][i].0, self.copies.iter().map(|copy| copy[i].1).sum::<f64>() / count))
            .collect()
    }

    /// Draws them.
    pub fn draw(&self, picture: &mut Picture, size: Option<(u32, u32)>) -> Result<(), DrawError> {
        let (what, x, y) = self.function.chart();
        let title = self.title.as_ref().map_or_else(|| what.to_string(), |title| format!("{title}: {what}"));
        let many = self.copies.len() > 1;
        let faint =
            |points: &Vec<(f64, f64)>| Series { points: points.clone(), faint: true, ..Series::default() };
        let mut series: Vec<Series> = if many { self.copies.iter().map(faint).collect() } else { Vec::new() };
        let name = if many { format!("mean of {} runs", self.copies.len()) } else { String::new() };
        series.push(Series { name, points: self.mean(), ..Series::default() });
        let chart = Chart { title, x, y: y.to_string(), series, marks: Vec::new() };
        picture.draw(size.unwrap_or(SIZE), &Sheet(vec![chart]))
    }
}

/// Points of a function.
type Curve = Vec<(f64, f64)>;

/// The points of a curve, and the collisions of a body per time.
fn curve(observables: &Value, function: Function) -> Option<(Curve, Option<f64>)> {
    let [name, x, y] = function.fields();
    let column = |key: &str| observables[name][key].as_array();
    let numbers = column(x)?.iter().zip(column(y)?);
    let points = numbers.filter_map(|(x, y)| Some((x.as_f64()?, y.as_f64()?))).collect();
    Some((points, observables["collision_rate"]["mean"].as_f64()))
}
