//! \[PVWZ\], figures 1 to 4: the contact with its letters, the figure eight, the example, the eight on the surface.

use carom::body::State;
use carom::contact::kinematics::Kinematics;
use carom::motion::Flight;
use carom::scene::model::Scene;
use carom_answers::classify::{Findings, Found, Request};
use nalgebra::{Matrix2, Vector2, Vector3};

use super::sketch::{BLUE, DARK, GREEN, GREY, ORANGE, PURPLE, Sheet, Sketch};
use super::{Figure, scene};
use crate::Failure;

pub fn figures() -> Result<Vec<Figure>, Failure> {
    let ellipses = scene("pvwz_two_ellipses.toml")?;
    let overlapping = scene("pvwz_overlapping.toml")?;
    let example = scene("paradox.toml")?;
    Ok(vec![
        ("pvwz_1", letters(&ellipses)?),
        ("pvwz_2", eight(&overlapping)?),
        ("pvwz_3", at_contact(&example)?),
        ("pvwz_4", on_the_surface(&overlapping)?),
    ])
}

fn found(scene: &Scene, span: Option<f64>) -> Result<Found, Failure> {
    let request = Request { neighbourhood: span.is_some(), span, ..Request::default() };
    let findings = Findings::of(scene, &request);
    findings.contacts.into_iter().next().ok_or_else(|| Failure::Other("the scene has no contact".to_string()))
}

/// Figure 1: the points and vectors, a little before the contact of two ellipses in the plane.
fn letters(scene: &Scene) -> Result<Sheet, Failure> {
    let k = found(scene, None)?.class.kinematics;
    let time = -0.3;
    let states: Vec<State> =
        scene.bodies.iter().map(|b| Flight::new(&b.body, &b.state, &Vector3::zeros()).at(time)).collect();
    // Places fixed to the bodies, where they are at that time.
    let carried = |body: usize, point: &Vector3<f64>| {
        let (then, now) = (&scene.bodies[body].state, &states[body]);
        now.position + now.orientation * then.orientation.inverse_transform_vector(&(point - then.position))
    };
    let (p, q) = (carried(0, &k.points[0]), carried(1, &k.points[1]));
    let turned = |body: usize, x: &Vector3<f64>| {
        states[body].orientation * scene.bodies[body].state.orientation.inverse_transform_vector(x)
    };
    let (n1, n2) = (turned(0, &k.normal), turned(1, &-k.normal));
    // A neighbour of Q on the second body: where the normal has turned by some thirty degrees.
    let shape = &scene.bodies[1].body.shape;
    let aside = nalgebra::Rotation3::from_axis_angle(&Vector3::z_axis(), 0.55) * -k.normal;
    let local = shape.support(&scene.bodies[1].state.orientation.inverse_transform_vector(&aside));
    let neighbour = states[1].position + states[1].orientation * local;
    let mut sketch = Sketch::new(
        "Two bodies before they touch",
        Vector3::z(),
        Vector3::y(),
        Vector3::new(0.7, 0.9, 0.0),
        3.5,
    );
    for (body, colour) in [(0, BLUE), (1, ORANGE)] {
        sketch.body(&scene.bodies[body].body.shape, &states[body], colour, 0.35);
    }
    let [c1, c2] = [states[0].position, states[1].position];
    sketch.dot(c1, BLUE, "1");
    sketch.dot(c2, ORANGE, "2");
    sketch.arrow(c1, p, BLUE, "");
    sketch.letter((c1 + p) * 0.5, (-4, 6), "p", BLUE);
    sketch.arrow(c2, q, ORANGE, "");
    sketch.letter((c2 + q) * 0.5, (8, -6), "q", ORANGE);
    sketch.dashed_arrow(p, p + n1 * 0.9, BLUE, "n₁");
    sketch.dashed_arrow(q, q + n2 * 0.9, ORANGE, "n₂");
    sketch.arrow(q, neighbour, GREEN, "");
    sketch.letter((q + neighbour) * 0.5, (0, -24), "ε", GREEN);
    sketch.arrow(p, neighbour, PURPLE, "");
    sketch.letter((p + neighbour) * 0.5, (4, 6), "δ", PURPLE);
    sketch.dot(p, BLUE, "");
    sketch.letter(p, (-8, 10), "P", BLUE);
    sketch.dot(q, ORANGE, "");
    sketch.letter(q, (-20, -18), "Q", ORANGE);
    sketch.dot(neighbour, GREEN, "Q+");
    Ok(Sheet(vec![sketch]))
}

/// K and w in the tangent plane, along w and across it.
fn plane(k: &Kinematics) -> ([Vector3<f64>; 2], Matrix2<f64>, Vector2<f64>) {
    let first = k.w.normalize();
    let basis = [first, k.normal.cross(&first)];
    let bend = k.curvature_1 + k.curvature_2;
    let entry = |i: usize, j: usize| basis[i].dot(&(bend * basis[j]));
    let matrix = Matrix2::new(entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1));
    (basis, matrix, Vector2::new(basis[0].dot(&k.w), basis[1].dot(&k.w)))
}

/// Figure 2: the curves (41) and (45) for both signs of t in one panel.
fn eight(scene: &Scene) -> Result<Sheet, Failure> {
    let time = 0.1;
    let contact = found(scene, Some(time))?;
    let k = &contact.class.kinematics;
    let (basis, bend, w) = plane(k);
    // (41) along ê: ε = −v_ε t/x_2ε, v_ε = w·ê, x_2ε = ½ê·Kê.
    let curve = |t: f64, part: f64| -> Vec<Vector3<f64>> {
        (0..=180)
            .map(|i| {
                let e = Vector2::new((f64::from(i) / 180.0 * 3.2).cos(), (f64::from(i) / 180.0 * 3.2).sin());
                let length = -part * w.dot(&e) / (0.5 * e.dot(&(bend * e))) * t;
                Vector3::new(e.x * length, e.y * length, 0.0)
            })
            .collect()
    };
    let deepest = bend.try_inverse().map_or_else(Vector2::zeros, |inverse| -(inverse * w));
    let reach = 2.6 * deepest.norm() * time;
    let mut sketch = Sketch::new(
        "Where the second body would enter: (41), and (45) dashed; grey: exactly, in free flight",
        Vector3::z(),
        Vector3::y(),
        Vector3::zeros(),
        reach,
    );
    for (t, colour, label) in [(time, ORANGE, "t > 0"), (-time, BLUE, "t < 0")] {
        let outline = curve(t, 1.0);
        let far = deepest * (2.0 * t);
        sketch.letter(Vector3::new(far.x, far.y, 0.0), (if t > 0.0 { -64 } else { 14 }, -8), label, colour);
        sketch.line(outline, colour, 2);
        sketch.dashed(curve(t, 0.5), colour);
        let place = deepest * t;
        sketch.dot(Vector3::new(place.x, place.y, 0.0), colour, "");
    }
    // The exact outlines in free flight, thin.
    if let Some(picture) = &contact.neighbourhood {
        for patch in
            picture.patches.iter().filter(|p| (p.time.abs() - time).abs() < 1e-9 && !p.outline.is_empty())
        {
            let turned = |x: &Vector2<f64>| {
                let place = picture.tangents[0] * x.x + picture.tangents[1] * x.y;
                Vector3::new(basis[0].dot(&place), basis[1].dot(&place), 0.0)
            };
            let mut outline: Vec<Vector3<f64>> = patch.outline.iter().map(turned).collect();
            outline.extend(outline.first().copied());
            sketch.line(outline, GREY, 1);
        }
    }
    let length = 0.35 * reach;
    let corner = Vector3::new(-0.9 * reach, -0.9 * reach, 0.0);
    sketch.arrow(corner, corner + Vector3::x() * length, DARK, "along w");
    sketch.arrow(corner, corner + Vector3::y() * length, DARK, "across w");
    sketch.dot(Vector3::zeros(), DARK, "");
    sketch.letter(Vector3::zeros(), (-6, 8), "Q", DARK);
    Ok(Sheet(vec![sketch]))
}

/// Figure 3: the example at contact, with p, q, ω₁, ω₂ and v₂.
fn at_contact(scene: &Scene) -> Result<Sheet, Failure> {
    let k = found(scene, None)?.class.kinematics;
    let [one, two] = [&scene.bodies[0], &scene.bodies[1]];
    let sketch = |title: &str, towards: Vector3<f64>| {
        let mut sketch = Sketch::new(title, towards, Vector3::z(), Vector3::new(0.6, 1.6, 0.6), 4.3);
        sketch.body(&one.body.shape, &one.state, BLUE, 0.4);
        sketch.body(&two.body.shape, &two.state, ORANGE, 0.4);
        let ([c1, c2], [p, q]) = ([one.state.position, two.state.position], k.points);
        sketch.arrow(c1, p, BLUE, "");
        sketch.letter((c1 + p) * 0.5, (-14, -12), "p", BLUE);
        sketch.arrow(c2, q, ORANGE, "");
        sketch.letter((c2 + q) * 0.5, (8, 2), "q", ORANGE);
        sketch.dashed_arrow(c1, c1 + one.state.angular_velocity * 0.6, BLUE, "ω₁");
        sketch.dashed_arrow(c2, c2 + two.state.angular_velocity * 1.6, ORANGE, "ω₂");
        sketch.arrow(c2, c2 + two.state.velocity * 0.7, GREEN, "v₂");
        sketch.dot(p, DARK, "");
        sketch.letter(p, (-2, 14), "P = Q", DARK);
        sketch
    };
    Ok(Sheet(vec![
        sketch("The example of Supplementary Data I", Vector3::new(0.9, -0.75, 0.35)),
        sketch("the same from above", Vector3::new(-0.5, -0.35, 1.0)),
    ]))
}

/// Figure 4: what would have entered at several times, on the second body's surface, from three sides.
fn on_the_surface(scene: &Scene) -> Result<Sheet, Failure> {
    let contact = found(scene, Some(0.16))?;
    let k = &contact.class.kinematics;
    let body = &scene.bodies[1];
    let Some(picture) = &contact.neighbourhood else { return Ok(Sheet(Vec::new())) };
    let q = k.points[1];
    // The second body's surface over a place of the tangent plane.
    let lifted = |x: &Vector2<f64>| -> Vector3<f64> {
        let foot = q + picture.tangents[0] * x.x + picture.tangents[1] * x.y;
        let outside = |c: f64| {
            let local = foot + k.normal * c - body.state.position;
            body.body.shape.gauge(&body.state.orientation.inverse_transform_vector(&local)) > 1.0
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if outside(middle) { low = middle } else { high = middle }
        }
        foot + k.normal * low
    };
    let extent = picture.patches.iter().flat_map(|p| &p.outline).map(|x| x.norm()).fold(0.0, f64::max);
    let side = 1.35 * extent;
    let outer = -k.normal;
    let [t1, t2] = picture.tangents;
    let views = [
        ("from body 1, along the normal", outer, t2),
        ("from the side", (outer * 0.45 + t1).normalize(), outer),
        ("from another side", (outer * 0.6 - t1 * 0.5 - t2 * 0.8).normalize(), outer),
    ];
    let sheets = views.map(|(title, towards, up)| {
        let mut sketch = Sketch::new(title, towards, up, q, 1.25 * side);
        const CELLS: i32 = 14;
        let at = |i: i32| side * (2.0 * f64::from(i) / f64::from(CELLS) - 1.0);
        for i in 0..CELLS {
            for j in 0..CELLS {
                let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
                sketch.sheet(corners.map(|(i, j)| lifted(&Vector2::new(at(i), at(j)))), ORANGE, 0.45);
            }
        }
        for patch in picture.patches.iter().filter(|p| !p.outline.is_empty()) {
            let mut outline: Vec<Vector3<f64>> = patch.outline.iter().map(&lifted).collect();
            outline.extend(outline.first().copied());
            sketch.line(outline, if patch.time > 0.0 { PURPLE } else { BLUE }, 2);
        }
        sketch.dot(q, DARK, "Q");
        sketch
    });
    let mut sheets: Vec<Sketch> = sheets.into();
    if let Some(first) = sheets.first_mut() {
        let corner = q - t2.cross(&outer) * side + t2 * (1.15 * side);
        first.letter(corner, (0, 0), "blue before, violet after", DARK);
    }
    Ok(Sheet(sheets))
}
