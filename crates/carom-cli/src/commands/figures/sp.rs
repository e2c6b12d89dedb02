//! \[SP\], figures 1 to 4: the ellipsoid in space, on a horizontal plane, on an oblique plane, on two planes.

use carom::scene::instant::{Instant, TOUCHING};
use carom::scene::model::Scene;
use nalgebra::{Matrix3, Vector3};

use super::sketch::{BLUE, DARK, GREEN, GREY, ORANGE, PURPLE, Sheet, Sketch};
use super::{Figure, scene};
use crate::Failure;

pub fn figures() -> Result<Vec<Figure>, Failure> {
    Ok(vec![
        ("sp_1", in_space(&scene("sp_two_oblique_planes.toml")?)),
        (
            "sp_2",
            on_planes(
                "On a horizontal plane",
                &scene("sp_horizontal_plane.toml")?,
                Vector3::new(0.75, -1.0, 0.4),
            )?,
        ),
        (
            "sp_3",
            on_planes(
                "On an oblique plane",
                &scene("sp_oblique_plane.toml")?,
                Vector3::new(1.0, 0.35, 0.45),
            )?,
        ),
        ("sp_4", on_planes("On two planes", &scene("sp_two_planes.toml")?, Vector3::new(0.85, 1.0, 0.5))?),
    ])
}

/// Figure 1: the fixed and the mobile frame, a point P, the resultant of the forces and its moment.
fn in_space(scene: &Scene) -> Sheet {
    let body = &scene.bodies[0];
    let state = carom::body::State { position: Vector3::new(1.6, 2.2, 2.0), ..body.state };
    let (c, turn) = (state.position, *state.orientation.to_rotation_matrix().matrix());
    let mut sketch =
        Sketch::new("The ellipsoid in space", Vector3::new(0.9, -0.7, 0.5), Vector3::z(), c * 0.62, 3.4);
    sketch.body(&body.body.shape, &state, BLUE, 0.4);
    sketch.frame(Vector3::zeros(), &Matrix3::identity(), 1.1, ["O", "X", "Y", "Z"], DARK);
    sketch.frame(c, &turn, 1.5, ["C", "x", "y", "z"], BLUE);
    let p = c + turn * body.body.shape.support(&Vector3::new(0.7, -0.6, 0.5));
    sketch.arrow(Vector3::zeros(), p, GREY, "");
    sketch.letter(p * 0.5, (4, 8), "R", GREY);
    sketch.arrow(c, p, PURPLE, "");
    sketch.letter((c + p) * 0.5, (4, 4), "r", PURPLE);
    sketch.dot(p, PURPLE, "P");
    sketch.arrow(c, c + Vector3::new(-0.5, 0.9, -1.5), ORANGE, "F");
    sketch.dashed_arrow(c, c + Vector3::new(-0.9, 1.0, 1.4), GREEN, "M");
    Sheet(vec![sketch])
}

/// Figures 2 to 4: the planes, the normals and the touching points.
fn on_planes(title: &str, scene: &Scene, towards: Vector3<f64>) -> Result<Sheet, Failure> {
    let body = &scene.bodies[0];
    let (c, turn) = (body.state.position, *body.state.orientation.to_rotation_matrix().matrix());
    let instant = Instant::of(scene, TOUCHING)
        .map_err(|_| Failure::Other("the scene is no instant of contact".to_string()))?;
    let mut sketch = Sketch::new(title, towards, Vector3::z(), c - Vector3::new(0.1, 0.1, 0.5), 3.3);
    for (k, plane) in scene.planes.iter().enumerate() {
        let half = &plane.half_space;
        let foot = c - half.normal.into_inner() * half.height(&c);
        let [t1, t2] = carom::joint::across(&half.normal).map(|t| t * 2.2);
        sketch.sheet(
            [t1 + t2, t1 - t2, -t1 - t2, t2 - t1].map(|corner| foot + corner),
            if k == 0 { GREY } else { GREEN },
            0.35,
        );
    }
    sketch.body(&body.body.shape, &body.state, BLUE, 0.45);
    sketch.frame(c, &turn, 1.4, ["C", "x", "y", "z"], BLUE);
    let several = instant.contacts.len() > 1;
    for (k, contact) in instant.contacts.iter().enumerate() {
        let name = |letter: &str| {
            if several { format!("{letter}{}", ["₁", "₂", "₃"][k.min(2)]) } else { letter.to_string() }
        };
        sketch.arrow(contact.point, contact.point + contact.normal.into_inner() * 1.1, ORANGE, &name("n"));
        sketch.dashed(vec![c, contact.point], PURPLE);
        sketch.dot(contact.point, PURPLE, "");
        sketch.letter(contact.point, (-24, 6), &name("P"), PURPLE);
    }
    // The fixed axes, beside everything.
    let corner = c + Vector3::new(1.9, -2.1, -1.4);
    sketch.frame(corner, &Matrix3::identity(), 0.8, ["", "X", "Y", "Z"], DARK);
    Ok(Sheet(vec![sketch]))
}
