//! (36), the singular case, the introduction and the conclusion: whether there is a solution, and which.

use carom::impact::Law;
use nalgebra::{DMatrix, DVector};

use super::super::Row;
use super::super::scenes::{self, Case, approaches, count, impulses, separations};
use super::{Frames, computed_inertances, upper, vector};
use crate::InputError;

/// 1 for what is, 0 for what is not.
fn flag(is: bool) -> f64 {
    f64::from(u8::from(is))
}

fn diagonal(k: &[f64]) -> DMatrix<f64> {
    DMatrix::from_diagonal(&vector(k))
}

pub fn hinged() -> Result<Vec<Row>, InputError> {
    let mut case = Case::read(scenes::HINGED_FRAMES)?;
    let [n1, _, n3] = Frames::of(&case).normals;
    let g = case.inertances()?;
    let equal = case.solve(Law::NewtonLcp)?;
    let newton_equal = case.solve(Law::Newton)?;
    let stress = equal.outcome.self_stresses.first().map_or_else(Vec::new, |s| s.contacts.clone());
    // A self-stress has no length of its own.
    let scale = stress.first().map_or(1.0, |first| first / n3.x);
    let kernel = [n3.x * scale, 0.0, -n1.x * scale];
    let back: Vec<f64> = approaches(&equal).iter().map(|y| -0.6 * y).collect();

    case.set_restitution(&[0.6, 0.3, 0.6]);
    let newton = case.solve(Law::Newton)?;
    let poisson = case.solve(Law::Poisson)?;
    // Both by the pseudo-inverse: with k₁ = k₃ either has a solution, and the energy does not depend on which.
    let inverse = g.clone().pseudo_inverse(1e-10).unwrap_or_else(|_| DMatrix::zeros(3, 3));
    let before = vector(&approaches(&newton));
    let push = diagonal(&[1.6, 1.3, 1.6]);
    let change = |p: DVector<f64>| p.dot(&before) + 0.5 * p.dot(&(&g * &p));
    let by_poisson = change(-&push * &inverse * &before);
    let by_newton = change(-&inverse * &push * &before);
    let differ = poisson.outcome.energy.change - newton.outcome.energy.change;

    case.set_restitution(&[0.8, 0.5, 0.2]);
    let unequal = case.solve(Law::NewtonLcp)?;
    let equality = case.solve(Law::Newton)?;
    let larger: Vec<f64> = approaches(&unequal).iter().zip([0.8, 0.5, 0.8]).map(|(y, k)| -k * y).collect();
    Ok(vec![
        case.row("(36)", "rank of [G₁] + [G₂]")
            .printed("[[G₁] + [G₂]]⁻¹ = [h_ij]:", [3.0])
            .computed([count(equal.outcome.rank)])
            .wrong(
                [2.0],
                "two hinged bodies have two degrees of freedom: the rank is at most 2, and the inverse never exists",
            ),
        case.row("(36)", "det([G₁] + [G₂])")
            .computed([g.determinant()])
            .among(g.norm().powi(3))
            .beyond("zero for all lengths and directions:", [0.0]),
        case.row("(36)", "impulses that move nothing, to any multiple")
            .computed(stress)
            .beyond("(α₃, 0, −α₁)", kernel),
        case.row("(36)", "−v₁₂ₙ after, k = 0.6")
            .computed(separations(&newton_equal))
            .beyond("k₁ = k₃: solvable, velocities unique:", back),
        case.row("(36)", "Newton's law for k = (0.8, 0.5, 0.2): 1 if it has a solution")
            .computed([flag(equality.outcome.consistent)])
            .beyond("none for k₁ ≠ k₃:", [0.0]),
        case.row("(36)", "−v₁₂ₙ after by newton_lcp, k = (0.8, 0.5, 0.2)")
            .computed(separations(&unequal))
            .beyond("the larger of k₁, k₃ wins:", larger),
        case.row(
            "introduction",
            "change of energy by Poisson's less that by Newton's coefficient, k = (0.6, 0.3, 0.6)",
        )
        .printed("", [0.0])
        .computed([differ])
        .wrong(
            [by_poisson - by_newton],
            "the same for one contact, for one k for all, and for contacts that are not coupled",
        ),
    ])
}

pub fn singular() -> Result<Vec<Row>, InputError> {
    let mut case = Case::read(scenes::SINGULAR_FRAMES)?;
    let frames = Frames::of(&case);
    let a = frames.lengths()[0];
    let result = case.solve(Law::NewtonLcp)?;
    let blocked: Vec<f64> = result.outcome.blocked.iter().map(|row| count(row + 1)).collect();
    let back: Vec<f64> = approaches(&result).iter().map(|y| -0.5 * y).collect();
    let sum = result.contacts[0].impulse + result.contacts[2].impulse;
    let whole = case.inertances()?;
    let g = whole[(0, 0)];
    let needed = 1.5 * result.contacts[0].approach.abs() / g;
    // The paper's directions have the length √2, ours are unit vectors.
    let ours = [computed_inertances(&case, 0)? * 2.0, computed_inertances(&case, 1)? * 2.0];
    let total = |k: usize| frames.masses[k] * a * a + frames.inertias[k].z;
    let entry = [a * a / total(0), 9.0 * a * a / total(1)];
    let printed = |x: f64| [x, 0.0, x, 0.0, 0.0, x];
    let solvable = result.outcome.consistent && result.outcome.velocity_unique;

    case.set_restitution(&[0.8, 0.5, 0.3]);
    let unequal = case.solve(Law::NewtonLcp)?;
    let equality = case.solve(Law::Newton)?;
    let larger: Vec<f64> = approaches(&unequal).iter().map(|y| -0.8 * y).collect();
    Ok(vec![
        case.row("section 3", "[G₁] of the singular case, directions as printed, upper triangle by rows")
            .printed("1/(m₁a² + J_z1) ((a², 0, a²), (0, 0, 0), (a², 0, a²))", printed(entry[0]))
            .computed(upper(&ours[0]))
            .agrees(),
        case.row("section 3", "[G₂] of the singular case, directions as printed, upper triangle by rows")
            .printed("1/(m₂a² + J_z2) ((9a², 0, 9a²), (0, 0, 0), (9a², 0, 9a²))", printed(entry[1]))
            .computed(upper(&ours[1]))
            .agrees()
            .note("with C₂A₁ as it is; (26) as printed would give 16a², 12a², 9a²"),
        case.row("section 3", "det([G₁] + [G₂]) of the singular case")
            .printed("", [0.0])
            .computed([whole.determinant()])
            .among(whole.norm().powi(3))
            .narrow("given as an instance; it is zero for every two hinged bodies with three contacts"),
        case.row("section 4", "solutions of the singular case, k = 0.5: 1 if the velocities are determined")
            .printed("", [0.0])
            .computed([flag(solvable)])
            .wrong(
                [1.0],
                "solvable all the same when k₁ = k₃, with unique velocities; the impulses are not unique",
            ),
        case.row("section 3", "rank of [G₁] + [G₂]")
            .computed([count(result.outcome.rank)])
            .beyond("1 in the singular case, as the second contact is blocked:", [1.0]),
        case.row("section 3", "contact that the hinges block")
            .computed(blocked)
            .beyond("P₂ has no effect and is arbitrary; contact:", [2.0]),
        case.row("section 3", "P₁ + P₃, unit normals, k = 0.5")
            .computed([sum])
            .beyond("unique, though P₁ and P₃ are not: (1+k) v₁₂ₙ / g₁₁", [needed]),
        case.row("section 3", "−v₁₂ₙ after, k = 0.5")
            .computed(separations(&result))
            .beyond("−[K]{v₁₂ₙ⁰}", back),
        case.row("section 3", "Newton's law for k = (0.8, 0.5, 0.3): 1 if it has a solution")
            .computed([flag(equality.outcome.consistent)])
            .beyond("none for k₁ ≠ k₃:", [0.0]),
        case.row("section 3", "−v₁₂ₙ after by newton_lcp, k = (0.8, 0.5, 0.3)")
            .computed(separations(&unequal))
            .beyond("the larger of k₁, k₃ wins:", larger),
    ])
}

/// (11) where the inverse exists.
fn by_inverse(case: &Case, k: f64) -> Result<Vec<f64>, InputError> {
    let result = case.solve(Law::Newton)?;
    let push = vector(&approaches(&result)) * -(1.0 + k);
    let solved = case.inertances()?.lu().solve(&push);
    Ok(solved.map_or_else(Vec::new, |p| p.as_slice().to_vec()))
}

pub fn cylindrical() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::CYLINDRICAL_FRAMES)?;
    let outcome = case.solve(Law::NewtonLcp)?.outcome;
    let newton = case.solve(Law::Newton)?;
    let hinged = Case::read(scenes::HINGED_FRAMES)?;
    Ok(vec![
        case.row("section 3, (21), (22)", "restrictions of one joint")
            .printed(
                "columns of [S₁]:",
                [count(hinged.prepared.assembly.joint_rows[0].len())],
            )
            .computed([count(case.prepared.assembly.joint_rows[0].len())])
            .misprint(
                [4.0],
                "section 3 names the joints cylindrical; free to slide as well they would have four: they are revolute",
            ),
        case.row("(11)", "P on cylindrical joints, where the inverse exists, k = 0.6")
            .printed("[[G₁] + [G₂]]⁻¹[[I] + [K]]{v₁₂ₙ⁰}", by_inverse(&case, 0.6)?)
            .computed(impulses(&newton))
            .agrees()
            .note("P₃ pulls, which the paper does not examine; newton_lcp leaves A₃ alone"),
        case.row("(36)", "rank of [G₁] + [G₂] on cylindrical joints")
            .computed([count(outcome.rank)])
            .beyond("regular:", [3.0]),
    ])
}

pub fn spherical() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::SPHERICAL_FRAMES)?;
    let outcome = case.solve(Law::NewtonLcp)?.outcome;
    let newton = case.solve(Law::Newton)?;
    let g = case.inertances()?;
    let before = vector(&approaches(&newton));
    let inverse = g.try_inverse().unwrap_or_else(|| DMatrix::zeros(3, 3));
    let after = &before * 0.6;
    let change = -0.5 * (before.dot(&(&inverse * &before)) - after.dot(&(&inverse * &after)));
    Ok(vec![
        case.row("(36)", "rank of [G₁] + [G₂] on ball joints")
            .computed([count(outcome.rank)])
            .beyond("regular:", [3.0]),
        case.row("(11)", "P on ball joints, where the inverse exists, k = 0.6")
            .printed("[[G₁] + [G₂]]⁻¹[[I] + [K]]{v₁₂ₙ⁰}", by_inverse(&case, 0.6)?)
            .computed(impulses(&newton))
            .agrees(),
        case.row("abstract", "change of energy on ball joints, k = 0.6, promised and not printed")
            .computed([newton.outcome.energy.change])
            .beyond("−½({v₁₂ₙ⁰}ᵀG⁻¹{v₁₂ₙ⁰} − ([K]{v₁₂ₙ⁰})ᵀG⁻¹[K]{v₁₂ₙ⁰}), G = [G₁] + [G₂]", [change]),
    ])
}
