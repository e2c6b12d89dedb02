//! \[DPS\], figure 1: the two frames with their hinges, centres and contact points.

use carom::joint::Kind;
use nalgebra::Vector3;

use super::sketch::{BLUE, DARK, GREEN, ORANGE, PURPLE, Sheet, Sketch};
use super::{Figure, scene};
use crate::Failure;

pub fn figures() -> Result<Vec<Figure>, Failure> {
    let scene = scene("dps_hinged_frames.toml")?;
    let hinge = |k: usize| match &scene.joints[k].kind {
        Kind::Hinge { point, .. } => *point,
        _ => Vector3::zeros(),
    };
    let centre = |k: usize| scene.bodies[k].state.position;
    let points: Vec<Vector3<f64>> = scene.contacts.iter().map(|contact| contact.point).collect();
    let normals: Vec<Vector3<f64>> =
        scene.contacts.iter().map(|contact| contact.normal.into_inner()).collect();
    let [a1, a2, a3] = [points[0], points[1], points[2]];
    // The second frame is drawn a little in front of the first, which it touches.
    let front = Vector3::new(0.05, 0.0, 0.0);
    let mut sketch = Sketch::new(
        "Two frames on hinges",
        Vector3::new(1.0, 0.28, 0.3),
        Vector3::z(),
        Vector3::new(0.0, 0.35, 0.0),
        0.95,
    );
    let (o1, o2, c1, c2) = (hinge(0), hinge(1), centre(0), centre(1));
    let corner = Vector3::new(0.0, c2.y, a1.z);
    sketch.line(vec![o1, c1, a1], BLUE, 4);
    sketch.line(vec![c1, a3, a2], BLUE, 4);
    sketch.line(vec![o2, c2, corner, a1].into_iter().map(|x| x + front).collect(), ORANGE, 4);
    sketch.line(vec![c2, a2, a3].into_iter().map(|x| x + front).collect(), ORANGE, 4);
    for (o, colour, name) in [(o1, BLUE, "O₁"), (o2 + front, ORANGE, "O₂")] {
        sketch.dashed(vec![o - Vector3::z() * 0.22, o + Vector3::z() * 0.22], DARK);
        sketch.dot(o, colour, "");
        sketch.letter(o, (-10, 12), name, colour);
    }
    for (c, colour, name) in [(c1, BLUE, "C₁"), (c2 + front, ORANGE, "C₂")] {
        sketch.dot(c, colour, "");
        sketch.letter(c, (12, -20), name, colour);
    }
    for (k, (point, normal)) in points.iter().zip(&normals).enumerate() {
        let name = ["A₁", "A₂", "A₃"][k.min(2)];
        sketch.arrow(*point + front, *point + front + normal * 0.3, PURPLE, ["n₁", "n₂", "n₃"][k.min(2)]);
        sketch.dot(*point + front, PURPLE, "");
        sketch.letter(*point, (if k == 1 { 14 } else { -26 }, 2), name, PURPLE);
    }
    let below = Vector3::new(0.0, 0.0, -0.5);
    for (from, to, name) in [(o1, c1, "a₁"), (c1, c2, "a₄"), (c2, o2, "a₅")] {
        let foot = |x: Vector3<f64>| Vector3::new(0.0, x.y, 0.0) + below;
        sketch.line(vec![foot(from), foot(to)], GREEN, 1);
        sketch.line(vec![foot(from) - Vector3::z() * 0.02, foot(from) + Vector3::z() * 0.02], GREEN, 1);
        sketch.line(vec![foot(to) - Vector3::z() * 0.02, foot(to) + Vector3::z() * 0.02], GREEN, 1);
        sketch.letter((foot(from) + foot(to)) * 0.5, (-8, 6), name, GREEN);
    }
    for (from, to, name) in [(c1, a1, "a₂"), (c1, a3, "a₃")] {
        sketch.letter((from + to) * 0.5, (-24, -6), name, GREEN);
    }
    let origin = Vector3::new(0.0, -0.5, -0.35);
    sketch.frame(origin, &nalgebra::Matrix3::identity(), 0.2, ["", "i", "j", "k"], DARK);
    Ok(vec![("dps_1", Sheet(vec![sketch]))])
}
