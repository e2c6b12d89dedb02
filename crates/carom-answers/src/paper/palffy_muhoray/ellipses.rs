//! What type 2b* says of the plane, and two ellipses that slip.

use carom::body::{Body, State};
use carom::gap::Gap;
use carom::shape::Shape;
use nalgebra::{UnitQuaternion, Vector3};

use super::super::Row;
use super::super::scenes;
use super::contact::{Contact, classify_in_order, settled};
use crate::InputError;

/// How many planar contacts without slip the command looks at.
const SAMPLES: u32 = 2000;

pub fn rows() -> Result<Vec<Row>, InputError> {
    let contact = Contact::read(scenes::TWO_ELLIPSES)?;
    let case = &contact.case;
    let (k, s) = (&contact.class.kinematics, &contact.class.scales);
    let exact = contact.coefficients(&Vector3::zeros());
    let [t, _] = carom::joint::across(&nalgebra::Unit::new_normalize(k.normal));
    let (_, of_model) = contact.expanded(&t);
    let third = exact.j - exact.j_without_shape;
    Ok(vec![
        case.row("type 2b*", "contacts without slip in the plane with n₁·(v̇_Q − v̇_P) ≤ 0, of 2000 samples")
            .printed("n₁·(v̇_Q − v̇_P) < 0 in 2D:", [0.0])
            .computed([f64::from(planar())])
            .agrees()
            .note("said for v_Q − v_P = 0, where both bodies turn together and it is ω² n·(c₂ − c₁) > 0"),
        case.row("type 2b*", "v and g'' of two ellipses in the plane that slip, over their scales")
            .computed([settled(k.v, s.speed), settled(k.g2, s.acceleration)])
            .among(1.0)
            .beyond("zero both:", [0.0, 0.0]),
        case.row("type 2b*", "their g'''")
            .computed([k.g3])
            .beyond("by 50 digits, negative: a paradox of two ellipsoids, and in the plane", [-2.8362454088013966]),
        case.row("(18)–(20), (27)", "j where v_Q − v_P ≠ 0, v_ε = 0")
            .printed("d³/dt³ of (r−r_P)·n₁ + ½(r−r_P)·H₁·(r−r_P) at Q", [of_model])
            .computed([6.0 * contact.series_of_point::<4>()[3]])
            .within(1e-11)
            .wrong(
                [of_model + third],
                "the model (20) ends too soon: j has D³d₁[u,u,u] besides, u = v_Q − v_P, of a surface that is C³",
            )
            .note("no formula for j is printed; (23) is taken literally; section 2 asks for two derivatives of the surfaces"),
        case.row("(27)", "j of the model")
            .computed([of_model])
            .beyond("n·Δj + 3ṅ₁·Δa + 3n̈₁·u + 3u·H₁Δa + 3u·Ḣ₁u", [{
                let c = &exact;
                let u = k.slip;
                k.normal.dot(&c.relative_jerk)
                    + 3.0 * c.normal_rate.dot(&c.relative_acceleration)
                    + 3.0 * c.normal_acceleration.dot(&u)
                    + 3.0 * u.dot(&(k.curvature_1 * c.relative_acceleration))
                    + 3.0 * u.dot(&(c.curvature_rate * u))
            }]),
    ])
}

/// Of many pairs of ellipses and superellipses that touch in the plane and roll on each other without slip, the number
/// with a ≤ 0.
fn planar() -> u32 {
    let steps = [2.0_f64, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0].map(f64::sqrt);
    let mut found = 0;
    for i in 1..=SAMPLES {
        let [a, b, c, d, turn, direction, spin] = steps.map(|step| 2.0 * (f64::from(i) * step).fract() - 1.0);
        let shape = |semi_axes: [f64; 3]| {
            if i % 2 == 0 {
                Shape::Ellipsoid { semi_axes }
            } else {
                Shape::Superellipsoid { semi_axes, exponent: 4.0 }
            }
        };
        let shapes = [shape([a.exp(), b.exp(), 1.0]), shape([c.exp(), d.exp(), 1.0])];
        let (sine, cosine) = (3.0 * direction).sin_cos();
        let normal = Vector3::new(cosine, sine, 0.0);
        let angle = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 3.0 * turn);
        let p = shapes[0].support(&normal);
        let q = angle * shapes[1].support(&angle.inverse_transform_vector(&-normal));
        let omega = Vector3::z() * spin;
        let body = |shape: Shape| Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false };
        let first = State { angular_velocity: omega, ..State::at(Vector3::zeros()) };
        // One angular velocity and no slip: the second centre moves with the first body.
        let second = State {
            orientation: angle,
            velocity: omega.cross(&(p - q)),
            angular_velocity: omega,
            ..State::at(p - q)
        };
        let at = Gap { gap: 0.0, normal, points: [p, p], residual: 0.0, iterations: 0 };
        let class = classify_in_order(&[(body(shapes[0]), first), (body(shapes[1]), second)], &at);
        if class.kinematics.a <= 0.0 {
            found += 1;
        }
    }
    found
}
