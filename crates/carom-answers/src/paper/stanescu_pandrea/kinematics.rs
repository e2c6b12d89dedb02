//! Section 2: moments of inertia, Bryan angles and their rates, (1) to (22).

use carom::body::{bryan_angles, bryan_orientation};
use carom::motion::Derivatives;
use nalgebra::{Matrix3, Vector3};

use super::super::Row;
use super::super::scenes::{self, Case};
use super::{semi_axes, turn};
use crate::InputError;

/// By rows.
fn by_rows(m: &Matrix3<f64>) -> Vec<f64> {
    m.transpose().as_slice().to_vec()
}

/// The entries (1,2), (1,3), (2,3).
fn above(m: &Matrix3<f64>) -> [f64; 3] {
    [m[(0, 1)], m[(0, 2)], m[(1, 2)]]
}

/// The rotations ψ, θ, φ of (8) to (10).
fn turns([psi, theta, phi]: [f64; 3]) -> [Matrix3<f64>; 3] {
    let ((s1, c1), (s2, c2), (s3, c3)) = (psi.sin_cos(), theta.sin_cos(), phi.sin_cos());
    [
        Matrix3::new(1.0, 0.0, 0.0, 0.0, c1, -s1, 0.0, s1, c1),
        Matrix3::new(c2, 0.0, s2, 0.0, 1.0, 0.0, -s2, 0.0, c2),
        Matrix3::new(c3, -s3, 0.0, s3, c3, 0.0, 0.0, 0.0, 1.0),
    ]
}

/// Q by differences: the angular velocity, in body axes, of each angle's unit rate.
fn measured(angles: [f64; 3]) -> Matrix3<f64> {
    let step = 1e-5;
    let columns = [0, 1, 2].map(|i| {
        let shifted = |by: f64| {
            let mut shifted = angles;
            shifted[i] += by;
            *bryan_orientation(&shifted).to_rotation_matrix().matrix()
        };
        let rate = (shifted(step) - shifted(-step)) / (2.0 * step);
        let spin = shifted(0.0).transpose() * rate;
        // Differences are good to nine decimals.
        Vector3::new(spin[(2, 1)], spin[(0, 2)], spin[(1, 0)]).map(|x| (x * 1e9).round() * 1e-9)
    });
    Matrix3::from_columns(&columns)
}

pub fn rows() -> Result<Vec<Row>, InputError> {
    let mut rows = angles()?;
    rows.extend(rates()?);
    Ok(rows)
}

fn angles() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::TWO_OBLIQUE_PLANES)?;
    let angles = [0.3, -0.5, 0.8];
    let [psi, theta, phi] = turns(angles);
    let printed = phi.transpose() * theta.transpose();
    let right = Matrix3::from_columns(&[
        printed.column(0).into_owned(),
        phi.transpose().column(1).into_owned(),
        Vector3::z(),
    ]);
    Ok(vec![
        case.row("(8)–(11)", "[A], by rows")
            .printed("[ψ][θ][φ]", by_rows(&(psi * theta * phi)))
            .computed(by_rows(&turn(&case)))
            .agrees(),
        case.row("(12)", "{β} of the orientation")
            .printed("[ψ θ φ]ᵀ", angles)
            .computed(bryan_angles(&case.prepared.instant.bodies[0].1.orientation))
            .agrees(),
        case.row("(16)", "[Q], by rows")
            .printed("[φ]ᵀ[θ]ᵀ{u_ψ}{u_θ}{u_φ}]", by_rows(&printed))
            .computed(by_rows(&measured(angles)))
            .within(1e-9)
            .misprint(
                by_rows(&right),
                "[[φ]ᵀ[θ]ᵀ{u_ψ}, [φ]ᵀ{u_θ}, {u_φ}]: an opening bracket is missing, and the print is read without it",
            ),
    ])
}

fn rates() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::TWO_PLANES)?;
    let (body, state) = case.prepared.instant.bodies[0];
    let a = turn(&case);
    let spin = state.orientation.inverse_transform_vector(&state.angular_velocity);
    let angles = bryan_angles(&state.orientation);
    let rates = Vector3::from(state.bryan_rates().unwrap_or([f64::NAN; 3]));
    let root = 3f64.sqrt();
    let q = Matrix3::new(0.0, 1.0, 0.0, -0.5 * root, 0.0, 0.0, 0.5, 0.0, 1.0);
    let outer = state.angular_velocity.cross_matrix();
    let contact = &case.prepared.instant.contacts[0];
    let r = a.transpose() * (contact.point - state.position);
    let transposed = r.cross_matrix().transpose() * q * rates;
    // Euler's equations without moments.
    let [jx, jy, jz] = [body.inertia.x, body.inertia.y, body.inertia.z];
    let euler = [
        (jy - jz) * spin.y * spin.z / jx,
        (jz - jx) * spin.z * spin.x / jy,
        (jx - jy) * spin.x * spin.y / jz,
    ];
    let rate = Derivatives::new(&body, &state, &Vector3::zeros()).angular_acceleration;
    let axes = semi_axes(&case);
    let [x, y, z] = [axes.x * axes.x, axes.y * axes.y, axes.z * axes.z];
    let fifth = body.mass / 5.0;
    Ok(vec![
        case.row("(1)", "J_x, J_y, J_z")
            .printed(
                "m(b²+c²)/5, m(c²+a²)/5, m(a²+b²)/5",
                [fifth * (y + z), fifth * (z + x), fifth * (x + y)],
            )
            .computed(body.inertia.as_slice())
            .agrees(),
        case.row("(3)", "ω̇_x, ω̇_y, ω̇_z without moments")
            .printed("J_x ω̇_x − (J_y − J_z)ω_yω_z = M_x, and so on", euler)
            .computed((a.transpose() * rate).as_slice())
            .agrees(),
        case.row("(19)", "{ω} in body axes")
            .printed("[Q]{β̂}", (q * rates).as_slice())
            .computed(spin.as_slice())
            .agrees()
            .note("with [Q] corrected; a hat for the dot"),
        case.row("(19)", "{β̇} of the scene's motion")
            .computed(rates.as_slice())
            .beyond("[Q]⁻¹{ω}", [0.3 * 2.0 / root, 0.4, 0.2 - 0.3 / root]),
        case.row("(ix)", "ψ, θ, φ")
            .printed("45°, 30°, 90°", [45.0, 30.0, 90.0].map(f64::to_radians))
            .computed(angles)
            .agrees(),
        case.row("(20)", "entry (2,3) of [ω⁽⁰⁾]")
            .printed("−ω_z⁽⁰⁾", [-state.angular_velocity.z])
            .computed([outer[(1, 2)]])
            .misprint([-state.angular_velocity.x], "−ω_x⁽⁰⁾"),
        case.row("(20)", "ω_x⁽⁰⁾, ω_y⁽⁰⁾, ω_z⁽⁰⁾")
            .printed("ω_x, ω_y, ω_z", spin.as_slice())
            .computed(state.angular_velocity.as_slice())
            .wrong((a * spin).as_slice(), "{ω⁽⁰⁾} = [A]{ω}: the two are the same only along the axis of [A]"),
        case.row("(21)", "{Ṙ} of the touching point of OXZ")
            .printed("{Ṙ₀} + [A] + [r]ᵀ[Q]{β̇}", (state.velocity + transposed).as_slice())
            .computed(state.velocity_at(&contact.point).as_slice())
            .misprint(
                (state.velocity + a * transposed).as_slice(),
                "{Ṙ₀} + [A][r]ᵀ[Q]{β̇}, a product; evaluated here without the [A] that cannot be added",
            ),
        case.row("(22)", "entries (1,2), (1,3), (2,3) of [ω⁽⁰⁾]")
            .printed("[ω⁽⁰⁾][A][ω][A]ᵀ", above(&(outer * a * spin.cross_matrix() * a.transpose())))
            .computed(above(&outer))
            .misprint(
                above(&(a * spin.cross_matrix() * a.transpose())),
                "the sign of equality is missing: [ω⁽⁰⁾] = [A][ω][A]ᵀ",
            ),
    ])
}
