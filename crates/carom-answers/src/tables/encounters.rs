//! The samples of a scattering: one row for every encounter.
//!
//! Columns: `sample`, `end` (missed, parted, unresolved), `impacts`, `offset_y`, `offset_z` (the impact parameter), `speed` (relative, before),
//! `contact_time`, `angle`, `energy_before`, `energy_after`, `rotation_before`, `rotation_after`, `virial`, `general` (whether the general
//! engine took it over), and of both bodies the orientation and angular velocity before, `first.qw` … `second.wz`, and the velocities after,
//! `first.after.vx` … `second.after.wz`.

use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field};
use carom::scatter::{Sample, Scattering};

use super::{About, Columns};

/// The rows of some samples.
pub fn encounters(
    scattering: &Scattering,
    rows: &[Sample],
    about: &About,
) -> Result<RecordBatch, ArrowError> {
    let bodies = scattering.bodies();
    let rotation = |states: &[carom::body::State; 2]| -> f64 {
        let spin = |i: usize| {
            let still = carom::body::State { velocity: nalgebra::Vector3::zeros(), ..states[i] };
            bodies[i].kinetic_energy(&still)
        };
        spin(0) + spin(1)
    };
    let energy = |states: &[carom::body::State; 2]| -> f64 {
        (0..2).map(|i| bodies[i].kinetic_energy(&states[i])).sum()
    };
    let mut columns = Columns::new(rows);
    columns.whole("sample", |row| row.number);
    columns.name("end", |row| row.end.name());
    columns.whole("impacts", |row| u64::from(row.impacts));
    columns.numbers(["offset_y", "offset_z"], "m", |row| row.offset);
    columns.number("speed", "m/s", |row| row.relative_velocities()[0].norm());
    columns.optional("contact_time", "s", |row| row.contact_time);
    columns.number("angle", "rad", Sample::angle);
    columns.number("energy_before", "J", |row| energy(&row.before));
    columns.number("energy_after", "J", |row| energy(&row.after));
    columns.number("rotation_before", "J", |row| rotation(&row.before));
    columns.number("rotation_after", "J", |row| rotation(&row.after));
    columns.number("virial", "J", |row| row.virial);
    let general = BooleanArray::from_iter(rows.iter().map(|row| Some(row.continued)));
    columns.push(Field::new("general", DataType::Boolean, false), Arc::new(general));
    for (i, body) in ["first", "second"].into_iter().enumerate() {
        let named = |name: &str| format!("{body}.{name}");
        let [w, x, y, z] = ["qw", "qx", "qy", "qz"].map(named);
        columns.numbers([&*w, &x, &y, &z], "1", |row| {
            let q = row.before[i].orientation;
            [q.w, q.i, q.j, q.k]
        });
        let [x, y, z] = ["wx", "wy", "wz"].map(named);
        columns.numbers([&*x, &y, &z], "rad/s", |row| row.before[i].angular_velocity.into());
        let [x, y, z] = ["after.vx", "after.vy", "after.vz"].map(named);
        columns.numbers([&*x, &y, &z], "m/s", |row| row.after[i].velocity.into());
        let [x, y, z] = ["after.wx", "after.wy", "after.wz"].map(named);
        columns.numbers([&*x, &y, &z], "rad/s", |row| row.after[i].angular_velocity.into());
    }
    columns.table("encounters", about)
}
