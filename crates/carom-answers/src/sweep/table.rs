//! The table of a sweep.
//!
//! Columns: `sample`; what was varied, by its path or name; `stopped` (as a run's document has it, or `invalid`) and `reason`; `time`, `events`,
//! `impacts`, `energy_error_max`, `linear_error_max`, `gap_min`; of each body the final state, `ball.px` … `ball.wz`; and what is collected:
//! `first.time`, `first.kind`, `first.bodies` …; `ball.px.min`, `ball.px.max` …, `ball.speed.max`, `ball.spin.max`, `impulse.max`; the averages
//! of a gas and their errors, `compressibility`, `compressibility.error` …. What an invalid sample does not have is null.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field};
use carom::body::State;
use carom::observe::Quantity;
use carom::scene::model::Collect;

use super::collect::{Extrema, FirstEvent};
use super::{Finished, Row, Sweep, about};
use crate::tables::Columns;

/// What a sample that was no scene has under `stopped`.
pub const INVALID: &str = "invalid";

/// A count of a finished sample.
type Count = fn(&Finished) -> u64;

impl Sweep {
    /// The rows as a table.
    pub fn table(&self, rows: &[Row]) -> Result<RecordBatch, ArrowError> {
        let mut columns = Columns::new(rows);
        columns.whole("sample", |row| row.sample);
        for (k, name) in self.plan.columns().iter().enumerate() {
            columns.number(name, "", |row| row.numbers[k]);
        }
        columns.name("stopped", |row| row.result.as_ref().map_or(INVALID, |run| run.stopped));
        let reason = |row: &Row| match &row.result {
            Ok(run) => run.reason.clone(),
            Err(reason) => Some(reason.clone()),
        };
        let reasons: StringArray = rows.iter().map(reason).collect();
        columns.push(Field::new("reason", DataType::Utf8, true), Arc::new(reasons));
        fn run(row: &Row) -> Option<&Finished> {
            row.result.as_deref().ok()
        }
        columns.optional("time", "s", |row| run(row).map(|run| run.time));
        let counts: [(&str, Count); 2] = [("events", |run| run.events), ("impacts", |run| run.impacts)];
        for (name, of) in counts {
            let column: UInt64Array = rows.iter().map(|row| run(row).map(of)).collect();
            columns.push(Field::new(name, DataType::UInt64, true), Arc::new(column));
        }
        columns.optional("energy_error_max", "1", |row| run(row).map(|run| run.energy_error_max));
        columns.optional("linear_error_max", "1", |row| run(row).map(|run| run.linear_error_max));
        columns.optional("gap_min", "m", |row| run(row)?.gap_min);
        for (k, body) in self.bodies.iter().enumerate() {
            for (name, unit, of) in STATE {
                columns.optional(&format!("{body}.{name}"), unit, |row| run(row)?.states.get(k).map(of));
            }
        }
        if self.collects(Collect::FirstEvent) {
            first_event(&mut columns, rows, |row| run(row)?.first.as_ref());
        }
        if self.collects(Collect::Extrema) {
            for (k, body) in self.bodies.iter().enumerate() {
                for (name, unit, of) in EXTREMA {
                    columns.optional(&format!("{body}.{name}"), unit, |row| run(row)?.extrema.get(k).map(of));
                }
            }
            columns.optional("impulse.max", "N s", |row| run(row).map(|run| run.impulse));
        }
        if self.collects(Collect::Observables) {
            for (k, quantity) in Quantity::ALL.into_iter().enumerate() {
                let of = |row: &Row, i: usize| run(row)?.observables.and_then(|all| all[k][i]);
                columns.optional(quantity.name(), quantity.unit(), |row| of(row, 0));
                columns.optional(&format!("{}.error", quantity.name()), quantity.unit(), |row| of(row, 1));
            }
        }
        columns.table("sweep", &about(self))
    }
}

type Part<T> = (&'static str, &'static str, fn(&T) -> f64);

const STATE: [Part<State>; 13] = [
    ("px", "m", |s| s.position.x),
    ("py", "m", |s| s.position.y),
    ("pz", "m", |s| s.position.z),
    ("qw", "1", |s| s.orientation.w),
    ("qx", "1", |s| s.orientation.i),
    ("qy", "1", |s| s.orientation.j),
    ("qz", "1", |s| s.orientation.k),
    ("vx", "m/s", |s| s.velocity.x),
    ("vy", "m/s", |s| s.velocity.y),
    ("vz", "m/s", |s| s.velocity.z),
    ("wx", "rad/s", |s| s.angular_velocity.x),
    ("wy", "rad/s", |s| s.angular_velocity.y),
    ("wz", "rad/s", |s| s.angular_velocity.z),
];

const EXTREMA: [Part<Extrema>; 8] = [
    ("px.min", "m", |e| e.least[0]),
    ("px.max", "m", |e| e.greatest[0]),
    ("py.min", "m", |e| e.least[1]),
    ("py.max", "m", |e| e.greatest[1]),
    ("pz.min", "m", |e| e.least[2]),
    ("pz.max", "m", |e| e.greatest[2]),
    ("speed.max", "m/s", |e| e.speed),
    ("spin.max", "rad/s", |e| e.spin),
];

const FIRST: [Part<FirstEvent>; 9] = [
    ("first.time", "s", |e| e.time),
    ("first.point_x", "m", |e| e.point[0]),
    ("first.point_y", "m", |e| e.point[1]),
    ("first.point_z", "m", |e| e.point[2]),
    ("first.normal_x", "1", |e| e.normal[0]),
    ("first.normal_y", "1", |e| e.normal[1]),
    ("first.normal_z", "1", |e| e.normal[2]),
    ("first.approach", "m/s", |e| e.approach),
    ("first.impulse", "N s", |e| e.impulse),
];

fn first_event<'a>(
    columns: &mut Columns<'a, Row>,
    rows: &'a [Row],
    first: impl Fn(&'a Row) -> Option<&'a FirstEvent>,
) {
    let mut words = |name: &str, of: &dyn Fn(&'a FirstEvent) -> &'a str| {
        let kind = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let column: DictionaryArray<Int32Type> = rows.iter().map(|row| first(row).map(of)).collect();
        columns.push(Field::new(name, kind, true), Arc::new(column) as ArrayRef);
    };
    words("first.kind", &|event| event.kind);
    words("first.first", &|event| &event.sides[0]);
    words("first.second", &|event| &event.sides[1]);
    for (name, unit, of) in FIRST {
        let field = crate::tables::with_unit(Field::new(name, DataType::Float64, true), unit);
        let column: arrow_array::Float64Array = rows.iter().map(|row| first(row).map(of)).collect();
        columns.push(field, Arc::new(column));
    }
}
