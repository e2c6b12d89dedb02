//! A body that is not in the list: an egg against an ellipsoid. `cargo run --release -p carom --example egg`.

mod egg;

use carom::gap::{gap, gap_near};
use carom::shape::{Convex, Shape};
use egg::Egg;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

fn main() {
    let Some(egg) = Egg::new(1.0, 0.3, 0.12) else {
        println!("these numbers make no egg");
        return;
    };
    println!("volume {:.12}, centre of mass at {:+.12} along the axis", egg.volume, egg.shift());
    println!("moments of unit mass {:.12?}", <[f64; 3]>::from(egg.unit_inertia));
    println!("between balls of radius {:.6} and {:.6}", egg.inradius(), egg.circumradius());

    let ellipsoid = Shape::Ellipsoid { semi_axes: [0.5, 1.0, 1.5] };
    let place = |x: f64, turn: f64| {
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(1.0, 2.0, 0.5).normalize() * turn);
        Isometry3::from_parts(Translation3::new(x, 0.3, 0.2), turn)
    };
    let mut normal = Vector3::x();
    println!("\n  turn            gap  steps");
    for step in 0..8 {
        let turn = 0.2 * f64::from(step);
        let poses = [place(0.0, turn), place(2.1, -turn)];
        // The normal of the turn before is a good place to start from.
        let found = if step == 0 {
            gap((&egg, &poses[0]), (&ellipsoid, &poses[1]))
        } else {
            gap_near((&egg, &poses[0]), (&ellipsoid, &poses[1]), &normal)
        };
        if let Some(found) = found {
            normal = found.normal;
            println!("{turn:6.1} {:14.10} {:6}", found.gap, found.iterations);
        }
    }
}
