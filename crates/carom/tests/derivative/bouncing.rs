//! A bouncing ball, against the derivative of its closed form.

use carom::lagrange::{Dual, Scalar};

use crate::replay::Replay;

/// The height of the ball at a time, after so many bounces, and the time of the last of them.
fn height<S: Scalar>(
    [start, up, pull, restitution, radius, floor]: [S; 6],
    time: f64,
    bounces: usize,
) -> [S; 2] {
    let drop = start - radius - floor;
    let mut speed = (up * up + pull * drop * 2.0).sqrt();
    let mut last = (up + speed) / pull;
    for k in 0..bounces {
        if k > 0 {
            last = last + speed * 2.0 / pull;
        }
        speed = speed * restitution;
    }
    let left = -last + time;
    [floor + radius + (speed - pull * left * 0.5) * left, last]
}

#[test]
fn a_bouncing_ball_has_the_derivative_of_its_closed_form() {
    for (bounces, until) in [(1, 0.9), (2, 1.5), (5, 3.1), (10, 4.25)] {
        let numbers = [1.2, 0.3, 9.81, 0.83, 0.1, 0.05];
        let text = format!(
            "carom = 1\nworld = {{ gravity = [0, 0, -9.81] }}\nsurface = {{ restitution = 0.83 }}
             run = {{ until = {until}, sample = 0 }}
             [[body]]\nname = 'ball'\nshape = {{ sphere = {{ radius = 0.1 }} }}\nmass = 1
             position = [0, 0, 1.2]\nvelocity = [0.2, 0, 0.3]\n
             [[plane]]\nname = 'floor'\nnormal = [0, 0, 1]\noffset = 0.05"
        );
        let replay = Replay::of(&text);
        assert_eq!(replay.memory.events.len(), bounces, "{:?}", replay.memory.events);
        let paths = [
            "body.ball.position[2]",
            "body.ball.velocity[2]",
            "world.gravity[2]",
            "surface.restitution",
            "body.ball.shape.sphere.radius",
            "plane.floor.offset",
        ];
        let found = replay.derivatives(&paths);
        assert!(found.undefined.is_empty(), "{:?}", found.undefined);
        let variables = core::array::from_fn(|k| Dual::<f64, 6>::variable(numbers[k], k));
        let [z, last] = height(variables, until, bounces);
        assert!((z.value - replay.last[0].position.z).abs() < 1e-12);
        let states = found.states[0].as_ref().unwrap();
        let time = found.events.last().unwrap().time.as_ref().unwrap();
        for k in 0..6 {
            // Gravity points down.
            let sign = if k == 2 { -1.0 } else { 1.0 };
            let (expected, time_expected) = (sign * z.parts[k], sign * last.parts[k]);
            let tolerance = if bounces == 1 { 1e-14 } else { 1e-12 };
            let scale = expected.abs().max(1.0);
            assert!(
                (states[(2, k)] - expected).abs() <= tolerance * scale,
                "{bounces} {k}: {} {expected}",
                states[(2, k)]
            );
            assert!(
                (time[k] - time_expected).abs() <= tolerance * time_expected.abs().max(1.0),
                "{bounces} {k}"
            );
            // A smooth floor leaves the rest as it is.
            assert!(states[(0, k)] == 0.0 && states[(1, k)] == 0.0, "{bounces} {k}");
        }
    }
}

/// A ball comes back from a fixed one: z(T) = 2(R + r + z_post) − z₀ − v T at e = 1.
#[test]
fn a_fixed_body_has_a_place_and_a_size() {
    let text = "carom = 1\nrun = { until = 3, sample = 0 }
        [[body]]\nname = 'post'\nshape = { ellipsoid = { semi_axes = [0.4, 0.5, 0.3] } }\nfixed = true\nposition = [0, 0, 0.1]
        [[body]]\nname = 'ball'\nshape = { sphere = { radius = 0.2 } }\nmass = 1\nposition = [0, 0, 2]\nvelocity = [0, 0, -1]\n";
    let replay = Replay::of(text);
    let found = replay.derivatives(&[
        "body.post.position[2]",
        "body.post.shape.ellipsoid.semi_axes[2]",
        "body.ball.shape.sphere.radius",
        "body.ball.position[2]",
        "body.ball.velocity[2]",
        "body.ball.mass",
        "body.post.position[0]",
    ]);
    assert!(found.undefined.is_empty());
    let z = found.states[1].as_ref().unwrap().row(2).into_owned();
    for (found, expected) in z.iter().zip([2.0, 2.0, 2.0, -1.0, -3.0, 0.0, 0.0]) {
        assert!((found - expected).abs() < 1e-14, "{z}");
    }
    // Moved aside, the top of the post turns the ball away: the normal by K⁻¹, the speed by twice that.
    let x = found.states[1].as_ref().unwrap().column(6).into_owned();
    // The curvature of the post's top is c/a², that of the ball 1/r; K = 0.3/0.16 + 5, and the normal turns by H₁ H₂/K.
    let turn = -(0.3 / 0.16) * 5.0 / (0.3 / 0.16 + 5.0);
    assert!((x[6] - 2.0 * turn).abs() < 1e-13, "{x}");
}
