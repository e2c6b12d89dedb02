//! Flight and gap together: bodies that fly freely, against gaps computed with 50 digits at many times.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod flying;

use carom::gap::gap;
use flying::{flight, vector};
use serde_json::Value;

#[test]
fn gaps_of_flying_bodies_equal_fifty_digit_ones() {
    let file: Value = serde_json::from_str(include_str!("../../../cases/contacts/free_flight.json")).unwrap();
    let (mut worst, mut worst_point, mut count) = (0.0_f64, 0.0_f64, 0);
    for case in file["cases"].as_array().unwrap() {
        let [first, second] = [0, 1].map(|k| flight(&case["bodies"][k]));
        for entry in case["gaps"].as_array().unwrap() {
            let t = entry["t"].as_f64().unwrap();
            let found = gap((&first.0, &first.1.at(t).pose()), (&second.0, &second.1.at(t).pose())).unwrap();
            let error = (found.gap - entry["gap"].as_f64().unwrap()).abs();
            assert!(error <= 2e-14, "{} at {t}: {:e} off by {error:e}", case["name"], found.gap);
            worst = worst.max(error);
            count += 1;
            if entry.get("points").is_some() {
                let off = (found.normal - vector(&entry["normal"])).norm();
                let points = (0..2).map(|k| (found.points[k] - vector(&entry["points"][k])).norm());
                worst_point = points.fold(worst_point.max(off), f64::max);
            }
        }
    }
    println!("{count} gaps: worst {worst:e}, points and normals {worst_point:e}");
    assert!(count > 60 && worst_point <= 1e-13, "{count} {worst_point:e}");
}
