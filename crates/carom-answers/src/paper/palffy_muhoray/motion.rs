//! Euler's equations and Supplementary Data III: derivatives of a free body's motion, (5) and (79) to (87).

use carom::contact::series::Path;
use carom::motion::Derivatives;
use nalgebra::{Matrix3, Vector3};

use super::super::Row;
use super::super::scenes;
use super::collision::levi_civita;
use super::contact::{Contact, moved};
use crate::InputError;

pub fn rows() -> Result<Vec<Row>, InputError> {
    let contact = Contact::read(scenes::PARADOX)?;
    let case = &contact.case;
    let (body, state) = contact.bodies[0];
    let spin = state.angular_velocity;
    let derivatives = Derivatives::new(&body, &state, &Vector3::zeros());
    let path = Path::<4>::new(&body, &state, &Vector3::zeros());
    // The place P, its motion by the series.
    let rho = contact.class.kinematics.arms[0];
    let course = moved(&path, &state.orientation.inverse_transform_vector(&rho));
    let derivative = |order: usize| -> Vec<f64> {
        course.iter().map(|jet| jet.derivative(order).unwrap_or(f64::NAN)).collect()
    };
    // R J Rᵀ and its rate by the series, and the same of its inverse.
    let turned = |diagonal: &Vector3<f64>, order: usize| {
        let mut tensor = Matrix3::zeros();
        for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
            for k in 0..3 {
                tensor[(i, j)] += (path.axes[i][k] * path.axes[j][k] * diagonal[k]).0[order];
            }
        }
        tensor
    };
    let rates = [turned(&body.inertia, 1), turned(&body.inertia.map(f64::recip), 1)];
    let tensor = turned(&body.inertia, 0);
    let inverse = turned(&body.inertia.map(f64::recip), 0);
    // ω × I − I × ω by the components of footnote 5.
    let mut printed_rate = Matrix3::zeros();
    for (alpha, delta) in (0..9).map(|k| (k / 3, k % 3)) {
        for (beta, gamma) in (0..9).map(|k| (k / 3, k % 3)) {
            printed_rate[(alpha, delta)] +=
                levi_civita(alpha, beta, gamma) * spin[beta] * tensor[(gamma, delta)]
                    - tensor[(alpha, beta)] * spin[gamma] * levi_civita(delta, beta, gamma);
        }
    }
    let inverse_rate = -inverse * printed_rate * inverse;
    let turn = spin.cross_matrix();
    let inverse_rate_2 = turn * inverse - inverse * turn;
    let momentum = tensor * spin;
    let first = -inverse * spin.cross(&momentum);
    let second = -inverse_rate * spin.cross(&momentum)
        - inverse * first.cross(&momentum)
        - inverse * spin.cross(&(printed_rate * spin))
        - inverse * spin.cross(&(tensor * first));
    let velocity = state.velocity + spin.cross(&rho);
    let acceleration = first.cross(&rho) + spin * spin.dot(&rho) - rho * spin.norm_squared();
    let jerk = second.cross(&rho) + spin * (2.0 * first.dot(&rho)) - rho * (3.0 * first.dot(&spin))
        + first * spin.dot(&rho)
        - spin.cross(&rho) * spin.norm_squared();
    let upper =
        |m: &Matrix3<f64>| [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].map(|(i, j)| m[(i, j)]).to_vec();
    let size = momentum.norm() * spin.norm();
    Ok(vec![
        case.row("(5), (81)", "ω̇ of body 1")
            .printed("−I⁻¹·(ω×(I·ω))", first.as_slice())
            .computed(derivatives.angular_acceleration.as_slice())
            .agrees(),
        case.row("(82)", "İ of body 1, upper triangle by rows")
            .printed("ω×I − I×ω, the products as in footnote 5", upper(&printed_rate))
            .computed(upper(&rates[0]))
            .among(size)
            .agrees(),
        case.row("(84)", "(I⁻¹)˙ of body 1, upper triangle by rows")
            .printed("−I⁻¹ İ I⁻¹", upper(&inverse_rate))
            .computed(upper(&rates[1]))
            .agrees(),
        case.row("(85)", "(I⁻¹)˙ of body 1, upper triangle by rows")
            .printed("ω×I⁻¹ − I⁻¹×ω", upper(&inverse_rate_2))
            .computed(upper(&rates[1]))
            .agrees(),
        case.row("(79)", "velocity of P")
            .printed("ṙ_c + ω×ρ", velocity.as_slice())
            .computed(derivative(1))
            .agrees(),
        case.row("(80), (83)", "acceleration of P")
            .printed("ω̇×ρ + (ω·ρ)ω − ω²ρ", acceleration.as_slice())
            .computed(derivative(2))
            .agrees(),
        case.row("(86)", "jerk of P")
            .printed("ω̈×ρ + 2(ω̇·ρ)ω − 3(ω̇·ω)ρ + (ω·ρ)ω̇ − ω²ω×ρ", jerk.as_slice())
            .computed(derivative(3))
            .agrees()
            .note("the left side, in the text at hand, has two dots for three"),
        case.row("(87)", "ω̈ of body 1")
            .printed("−(I⁻¹)˙·(ω×I·ω) − I⁻¹·(ω̇×I·ω) − I⁻¹·(ω×İ·ω) − I⁻¹·(ω×I·ω̇)", second.as_slice())
            .computed(derivatives.angular_jerk.as_slice())
            .agrees(),
    ])
}
