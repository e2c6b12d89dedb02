//! Section 2: the impulse of a smooth collision, (1) to (10), and the normal collisions of 3.2.1.

use carom::body::State;
use carom::contact::Surface;
use carom::contact::kinematics::{effective_inverse_mass, inverse_mass_tensor};
use carom::impact::coulomb::Termination;
use carom::impact::{Law, Options};
use nalgebra::{Matrix3, Vector3};

use super::super::Row;
use super::super::scenes;
use super::contact::{Contact, settled};
use crate::InputError;

/// The Levi-Civita symbol.
pub fn levi_civita(i: usize, j: usize, k: usize) -> f64 {
    match (i, j, k) {
        (0, 1, 2) | (1, 2, 0) | (2, 0, 1) => 1.0,
        (0, 2, 1) | (2, 1, 0) | (1, 0, 2) => -1.0,
        _ => 0.0,
    }
}

/// a × B × c by the components of footnote 3.
fn crossed(a: &Vector3<f64>, b: &Matrix3<f64>, c: &Vector3<f64>) -> Matrix3<f64> {
    let mut out = Matrix3::zeros();
    for (alpha, mu) in (0..9).map(|k| (k / 3, k % 3)) {
        for (beta, gamma) in (0..9).map(|k| (k / 3, k % 3)) {
            for (delta, nu) in (0..9).map(|k| (k / 3, k % 3)) {
                out[(alpha, mu)] += levi_civita(alpha, beta, gamma)
                    * a[beta]
                    * b[(gamma, delta)]
                    * levi_civita(mu, delta, nu)
                    * c[nu];
            }
        }
    }
    out
}

fn upper(m: &Matrix3<f64>) -> Vec<f64> {
    [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].map(|(i, j)| m[(i, j)]).to_vec()
}

pub fn rows() -> Result<Vec<Row>, InputError> {
    let contact = Contact::read(scenes::COLLISION)?;
    let mut case = contact.case;
    let [(one, before_1), (two, before_2)] = contact.bodies;
    let k = &contact.class.kinematics;
    let (n, [p, q]) = (k.normal, k.arms);
    let inertia = [one.world_inertia(&before_1.orientation), two.world_inertia(&before_2.orientation)];
    let inverse = inertia.map(|tensor| tensor.try_inverse().unwrap_or_else(Matrix3::zeros));
    let m = Matrix3::from_diagonal_element(one.mass.recip() + two.mass.recip())
        - crossed(&p, &inverse[0], &p)
        - crossed(&q, &inverse[1], &q);
    let nmn = n.dot(&(m * n));
    let approach = before_1.velocity_at(&k.points[0]) - before_2.velocity_at(&k.points[1]);
    let alpha = 2.0 * approach.dot(&n) / nmn;

    let result = case.solve(Law::Newton)?;
    let [after_1, after_2] = [result.states[0], result.states[1]];
    let poisson = case.solve(Law::Poisson)?;
    // Without friction the laws differ only in how the impact ends; here it ends by work done.
    case.prepared.instant.contacts[0].surface = Surface::Coulomb(0.0);
    let energetic = case.solve_with(&Options { termination: Termination::Stronge, ..Options::default() })?;

    let linear = [
        (after_1.velocity - before_1.velocity) * one.mass,
        (after_2.velocity - before_2.velocity) * two.mass,
    ];
    let angular = [
        inertia[0] * (after_1.angular_velocity - before_1.angular_velocity),
        inertia[1] * (after_2.angular_velocity - before_2.angular_velocity),
    ];
    let six = |a: &Vector3<f64>, b: &Vector3<f64>| vec![a.x, a.y, a.z, b.x, b.y, b.z];
    let energy = |a: &State, b: &State| {
        0.5 * one.mass * a.velocity.norm_squared()
            + 0.5 * two.mass * b.velocity.norm_squared()
            + 0.5 * a.angular_velocity.dot(&(inertia[0] * a.angular_velocity))
            + 0.5 * b.angular_velocity.dot(&(inertia[1] * b.angular_velocity))
    };
    let parting = after_1.velocity_at(&k.points[0]) - after_2.velocity_at(&k.points[1]);
    let expected = approach - m.tr_mul(&n) * (2.0 * approach.dot(&n) / nmn);
    let sides = [Some((&one, &before_1)), Some((&two, &before_2))];
    // The gap after the collision, by its own series.
    let later =
        Contact { bodies: [(one, after_1), (two, after_2)], case, at: contact.at, class: contact.class };
    let slope = later.series::<2>()[1];
    let case = &later.case;
    Ok(vec![
        case.row("(1), (2)", "m₁(v₁f − v₁i), m₂(v₂f − v₂i)")
            .printed("−αn₁, αn₁", six(&(n * -alpha), &(n * alpha)))
            .computed(six(&linear[0], &linear[1]))
            .agrees(),
        case.row("(3), (4)", "I₁(ω₁f − ω₁i), I₂(ω₂f − ω₂i)")
            .printed("−α p×n₁, α q×n₁", six(&(p.cross(&n) * -alpha), &(q.cross(&n) * alpha)))
            .computed(six(&angular[0], &angular[1]))
            .agrees(),
        case.row("(6)", "kinetic energy after")
            .printed("½m₁v₁ᵢ² + ½m₂v₂ᵢ² + ½ω₁ᵢ·I₁·ω₁ᵢ + ½ω₂ᵢ·I₂·ω₂ᵢ", [energy(&before_1, &before_2)])
            .computed([energy(&after_1, &after_2)])
            .agrees(),
        case.row("(7)", "α")
            .printed("2 (v_Pi − v_Qi)·n₁ / (n₁·M·n₁)", [alpha])
            .computed([result.contacts[0].impulse])
            .agrees()
            .note("elastic only; with a coefficient of restitution k the factor is 1+k"),
        case.row("(8)", "M, upper triangle by rows")
            .printed("(1/m₁ + 1/m₂) I − p×I₁⁻¹×p − q×I₂⁻¹×q, the products as in footnote 3", upper(&m))
            .computed(upper(&inverse_mass_tensor(sides, &k.points)))
            .agrees(),
        case.row("(8)", "n₁·M·n₁")
            .printed("n₁·M·n₁", [nmn])
            .computed([effective_inverse_mass(sides, &k.points, &n)])
            .agrees()
            .note("1/m₁ + 1/m₂ + (p×n)·I₁⁻¹(p×n) + (q×n)·I₂⁻¹(q×n)"),
        case.row("(9)", "v_Pf − v_Qf")
            .printed("(v_Pi − v_Qi)·[I − 2n₁n₁·M/(n₁·M·n₁)]", expected.as_slice())
            .computed(parting.as_slice())
            .agrees(),
        case.row("(10)", "(v_Pf − v_Qf)·n₁")
            .printed("−(v_Pi − v_Qi)·n₁", [-approach.dot(&n)])
            .computed([-result.contacts[0].separation])
            .agrees(),
        case.row("section 1", "impulse by the laws in velocities, impulses and energies")
            .printed("α of (7)", [alpha; 3])
            .computed([
                result.contacts[0].impulse,
                poisson.contacts[0].impulse,
                energetic.contacts[0].impulse,
            ])
            .agrees()
            .note("one smooth contact; with several contacts and unequal coefficients the laws part"),
        case.row("(53)", "rate of F₁ after the collision")
            .printed("v", [-parting.dot(&n)])
            .computed([settled(slope, k.v.abs())])
            .agrees(),
    ])
}
