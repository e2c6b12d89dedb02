//! Section 3: the two frames, (19) to (41).

use carom::impact::Law;
use nalgebra::{DMatrix, SVector, Vector3};

use super::super::Row;
use super::super::scenes::{self, Case, approaches, count, impulses};
use super::screws::{carried, twist};
use super::{Frames, computed_inertances, upper, vector};
use crate::InputError;

pub fn rows() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::HINGED_FRAMES)?;
    let mut rows = places(&case);
    rows.extend(velocities(&case)?);
    rows.extend(hinge(&case)?);
    Ok(rows)
}

/// (19) to (28).
fn places(case: &Case) -> Vec<Row> {
    let frames = Frames::of(case);
    let [a1, a2, a3, a4, a5] = frames.lengths();
    let [c1, c2] = frames.centres;
    let [o1, o2] = frames.hinges;
    let [n1, n2, n3] = frames.normals;
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    let [x, _, z] = axes;
    let products = |o: Vector3<f64>, c: Vector3<f64>| [(o - c).cross(&x), (o - c).cross(&z)];
    let joint = |k: usize| {
        // The library's rows of a hinge: force, then moment, as columns of [S].
        let rows = case.prepared.assembly.joint_rows[k].clone();
        let a = &case.prepared.assembly.problem.bilateral;
        [a[(rows.start, 6 * k + 5)], a[(rows.start + 2, 6 * k + 3)]]
    };
    // The one twist that the hinge leaves, scaled to ω_z = 1.
    let left = |k: usize| {
        let inverse = case.constrained_inverse().unwrap_or_else(|_| DMatrix::zeros(12, 12));
        let turn = inverse[(6 * k + 5, 6 * k + 5)];
        vec![1.0, inverse[(6 * k, 6 * k + 5)] / turn]
    };
    let place = frames.points[0] - c2;
    let wrong_place = Vector3::new(a2, -a4, 0.0);
    vec![
        case.row("(19)", "C₁O₁ × i, C₁O₁ × k")
            .printed("−a₁k, −a₁i", [0.0, 0.0, -a1, -a1, 0.0, 0.0])
            .computed(products(o1, c1).map(|v| v.as_slice().to_vec()).concat())
            .misprint([0.0, 0.0, a1, -a1, 0.0, 0.0], "+a₁k; [S₁] of (21) has it right"),
        case.row("(20)", "C₂O₂ × i, C₂O₂ × k")
            .printed("−a₅k, a₅i", [0.0, 0.0, -a5, a5, 0.0, 0.0])
            .computed(products(o2, c2).map(|v| v.as_slice().to_vec()).concat())
            .agrees(),
        case.row("(21)", "[S₁]: entries (6,1), (4,3)")
            .printed("a₁, −a₁", [a1, -a1])
            .computed(joint(0))
            .agrees(),
        case.row("(21)", "[Q₁]: entries 3, 4").printed("1, −a₁", [1.0, -a1]).computed(left(0)).agrees(),
        case.row("(22)", "[S₂]: entries (6,1), (4,3)")
            .printed("−a₅, a₅", [-a5, a5])
            .computed(joint(1))
            .agrees(),
        case.row("(22)", "[Q₂]: entries 3, 4").printed("1, a₅", [1.0, a5]).computed(left(1)).agrees(),
        case.row("(23)", "C₁A₁ × n₁")
            .printed("a₂α₁j − a₂β₁i", [-a2 * n1.y, a2 * n1.x, 0.0])
            .computed(frames.moment(0, 0).as_slice())
            .agrees(),
        case.row("(24)", "C₁A₂ × n₂")
            .printed("(a₃β₂ + a₄γ₂)i − a₃α₂j − a₄α₂k", [a3 * n2.y + a4 * n2.z, -a3 * n2.x, -a4 * n2.x])
            .computed(frames.moment(0, 1).as_slice())
            .agrees(),
        case.row("(25)", "C₁A₃ × n₃")
            .printed("−a₃α₃j + a₃β₂i", [a3 * n2.y, -a3 * n3.x, 0.0])
            .computed(frames.moment(0, 2).as_slice())
            .misprint([a3 * n3.y, -a3 * n3.x, 0.0], "a₃β₃ for a₃β₂"),
        case.row("(26)", "C₂A₁")
            .printed("−a₄j + a₂i", wrong_place.as_slice())
            .computed(place.as_slice())
            .misprint([0.0, -a4, a2], "−a₄j + a₂k"),
        case.row("(26)", "C₂A₁ × n₁")
            .printed("−a₄γ₁i − a₂β₁j + (a₄α₁ + a₂β₁)k", [-a4 * n1.z, -a2 * n1.y, a4 * n1.x + a2 * n1.y])
            .computed(frames.moment(1, 0).as_slice())
            .misprint([-a2 * n1.y - a4 * n1.z, a2 * n1.x, a4 * n1.x], "−(a₂β₁ + a₄γ₁)i + a₂α₁j + a₄α₁k"),
        case.row("(27)", "C₂A₂ × n₂")
            .printed("−a₃j + a₃i", [a3, -a3, 0.0])
            .computed(frames.moment(1, 1).as_slice())
            .misprint([a3 * n2.y, -a3 * n2.x, 0.0], "−a₃α₂j + a₃β₂i"),
        case.row("(28)", "C₂A₃ × n₃")
            .printed("(a₃β₃ − a₄γ₃)i − a₃α₃j + a₄α₃k", [a3 * n3.y - a4 * n3.z, -a3 * n3.x, a4 * n3.x])
            .computed(frames.moment(1, 2).as_slice())
            .agrees()
            .note("C₃A₃ on the left is C₂A₃"),
    ]
}

/// (30) to (35).
fn velocities(case: &Case) -> Result<Vec<Row>, InputError> {
    let frames = Frames::of(case);
    let lengths = frames.lengths();
    let [a1, _, _, a4, a5] = lengths;
    let [w1, w2] = frames.turning;
    let result = case.solve(Law::NewtonLcp)?;
    let [one, two] = [0, 1].map(|k| twist(&result.before[k]));
    let own = |k: usize, i: usize| frames.normals[i].dot(&result.before[k].velocity_at(&frames.points[i]));
    let alpha = frames.normals.map(|n| n.x);
    let first = [0, 1, 2].map(|i| a1 * w1 * alpha[i] - w1 * frames.moment(0, i).z);
    let second = [0, 1, 2].map(|i| -a5 * w2 * alpha[i] - w2 * frames.moment(1, i).z);
    let with_u1 = [0, 1, 2].map(|i| -a5 * w2 * alpha[i] - w2 * frames.moment(0, i).z);
    let closing: Vec<f64> = approaches(&result).iter().map(|y| -y).collect();
    let (u, v) = (a1 * w1 + (a4 + a5) * w2, (a1 + a4) * w1 + a5 * w2);
    let inverse = case.constrained_inverse()?;
    let reduced = [1.0 / inverse[(5, 5)], 1.0 / inverse[(11, 11)]];
    // Which of the five lengths M₂red has.
    let square = (reduced[1] - frames.inertias[1].z) / frames.masses[1];
    let which = lengths.iter().position(|a| (a * a - square).abs() <= 1e-12).map_or(0, |i| i + 1);
    let ours = [computed_inertances(case, 0)? * reduced[0], computed_inertances(case, 1)? * reduced[1]];
    let c = [-a1 * alpha[0], -(a1 + a4) * alpha[1], -a1 * alpha[2]];
    let f = [(a4 + a5) * alpha[0], a5 * alpha[1], (a4 + a5) * alpha[2]];
    let dyad = |x: [f64; 3]| [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].map(|(i, j)| x[i] * x[j]);
    Ok(vec![
        case.row("(30)", "ω_z, v_x of body 1, of body 2")
            .printed("−ω₁₀, a₁ω₁₀, −ω₂₀, −a₅ω₂₀", [-w1, a1 * w1, -w2, -a5 * w2])
            .computed([one[2], one[3], two[2], two[3]])
            .agrees(),
        case.row("(31)", "{v_1n⁰}")
            .printed("a₁ω₁₀α_i − ω₁₀C_i", first)
            .computed([0, 1, 2].map(|i| own(0, i)))
            .agrees(),
        case.row("(31)", "{v_2n⁰} by its components")
            .printed("−a₅ω₂₀α_i − ω₂₀F_i", second)
            .computed([0, 1, 2].map(|i| own(1, i)))
            .agrees(),
        case.row("(31)", "{v_2n⁰} by its matrices")
            .printed("[U₁]ᵀ[η]{v⁰⁽²⁾}", with_u1)
            .computed([0, 1, 2].map(|i| own(1, i)))
            .misprint(second, "[U₂]ᵀ[η] for body 2"),
        case.row("(33)", "M₁red")
            .printed("m₁a₁² + J_z1", [frames.masses[0] * a1 * a1 + frames.inertias[0].z])
            .computed([reduced[0]])
            .agrees(),
        case.row("(33)", "index of the length in M₂red")
            .printed("m₂a₅₁² + J_z2:", [51.0])
            .computed([count(which)])
            .misprint([5.0], "m₂a₅² + J_z2 = 0.86"),
        case.row("(34)", "λ₁₁, λ₁₂, λ₁₃, λ₂₂, λ₂₃, λ₃₃")
            .computed(upper(&ours[0]))
            .beyond("c_ic_j, c = −(a₁α₁, (a₁+a₄)α₂, a₁α₃); not expanded in print", dyad(c)),
        case.row("(34)", "ν₁₁, ν₁₂, ν₁₃, ν₂₂, ν₂₃, ν₃₃")
            .computed(upper(&ours[1]))
            .beyond("f_if_j, f = ((a₄+a₅)α₁, a₅α₂, (a₄+a₅)α₃); not expanded in print", dyad(f)),
        case.row("(35)", "δ₁, δ₂, δ₃")
            .printed("{v_n⁰⁽¹⁾} − {v_n⁰⁽²⁾}", [0, 1, 2].map(|i| first[i] - second[i]))
            .computed(closing.clone())
            .agrees(),
        case.row("(35)", "δ₁, δ₂, δ₃ expanded").computed(closing).beyond(
            "(α₁U, α₂V, α₃U), U = a₁ω₁₀ + (a₄+a₅)ω₂₀, V = (a₁+a₄)ω₁₀ + a₅ω₂₀",
            [alpha[0] * u, alpha[1] * v, alpha[2] * u],
        ),
    ])
}

/// (38) to (41): the first hinge.
fn hinge(case: &Case) -> Result<Vec<Row>, InputError> {
    let frames = Frames::of(case);
    let [a1, a2, a3, a4, _] = frames.lengths();
    let (m, j) = (frames.masses[0], frames.inertias[0]);
    let result = case.solve(Law::NewtonLcp)?;
    let p = impulses(&result);
    let alpha = frames.normals.map(|n| n.x);
    let total = m * a1 * a1 + j.z;
    let c = [0, 1, 2].map(|i| frames.moment(0, i).z);
    let inverse = case.constrained_inverse()?;
    let problem = &case.prepared.assembly.problem;
    // The library's rows have the second body positive, so that the first gets the opposite.
    let moved = -(inverse.rows(0, 6) * problem.contacts.transpose());
    let third = [0, 1, 2].map(|i| (c[i] - a1 * alpha[i]) / total);
    let fourth = third.map(|x| -a1 * x);
    // The hinge's own rows: three forces at O, then moments about −y and x, to be those about x and y.
    let rows =
        problem.bilateral.rows(case.prepared.assembly.joint_rows[0].start, 5).columns(0, 6).into_owned();
    let order = DMatrix::from_row_slice(
        5,
        6,
        &(0..5)
            .flat_map(|i| {
                let (from, sign) = match i {
                    3 => (4, 1.0),
                    4 => (3, -1.0),
                    _ => (i, 1.0),
                };
                rows.row(from).iter().map(|x| sign * x).collect::<Vec<_>>()
            })
            .collect::<Vec<_>>(),
    );
    let mass = problem.mass.view((0, 0), (6, 6)).into_owned();
    let light = mass.try_inverse().unwrap_or_else(|| DMatrix::zeros(6, 6));
    let push = -problem.contacts.columns(0, 6).transpose() * vector(&p);
    let epsilon = &order * &light * &push;
    let l = (&order * &light * order.transpose()).try_inverse().unwrap_or_else(|| DMatrix::zeros(5, 5));
    let s = frames.restriction(0);
    let heavy = frames.mass(0).try_inverse().unwrap_or_else(nalgebra::SMatrix::zeros);
    let lines = frames.lines(0) * SVector::<f64, 3>::from_column_slice(&p);
    let printed_epsilon = s.transpose() * super::eta() * heavy * lines;
    let e = epsilon.as_slice();
    let by_41 = [
        l[(0, 0)] * e[0],
        l[(1, 1)] * e[1],
        l[(2, 2)] * e[2] + l[(2, 3)] * e[3],
        l[(3, 2)] * e[2] + l[(3, 3)] * e[3],
        l[(4, 4)] * e[4],
    ];
    let off = [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 4), (3, 4)];
    let expanded = [
        (j.z * (alpha[0] * p[0] + alpha[2] * p[2]) + (j.z - m * a1 * a4) * alpha[1] * p[1]) / total,
        (0..3).map(|i| frames.normals[i].y * p[i]).sum(),
        (0..3).map(|i| frames.normals[i].z * p[i]).sum(),
        a2 * alpha[0] * p[0] - a3 * alpha[1] * p[1] - a3 * alpha[2] * p[2],
    ];
    let found = carried(&result.joints[0]);
    Ok(vec![
        case.row("(38)", "rows 3 and 4 of [Q₁][M₁red]⁻¹[Q₁]ᵀ[η][U₁]")
            .printed("(C_i − a₁α_i), (−a₁C_i + a₁²α_i), over m₁a₁² + J_z1", [third, fourth].concat())
            .computed([
                moved[(5, 0)],
                moved[(5, 1)],
                moved[(5, 2)],
                moved[(0, 0)],
                moved[(0, 1)],
                moved[(0, 2)],
            ])
            .agrees(),
        case.row("(39)", "ε₁ to ε₅")
            .printed("[S₁]ᵀ[η][M₁]⁻¹[U₁]{P}", printed_epsilon.as_slice())
            .computed(e.to_vec())
            .agrees(),
        case.row("(40)", "L: (1,2) to (1,5), (2,3) to (2,5), (3,5), (4,5)")
            .printed("", [0.0; 9])
            .computed(off.map(|place| l[place]))
            .among(m)
            .agrees(),
        case.row("(40)", "L₁₁, L₂₂, L₃₃, L₃₄, L₄₄, L₅₅")
            .computed([(0, 0), (1, 1), (2, 2), (2, 3), (3, 3), (4, 4)].map(|place| l[place]))
            .beyond(
                "m₁J_z1/(J_z1 + m₁a₁²), m₁, m₁, m₁a₁, J_x1 + m₁a₁², J_y1; not expanded in print",
                [m * j.z / total, m, m, m * a1, j.x + m * a1 * a1, j.y],
            ),
        case.row("(41)", "{ξ₁}")
            .printed("L₁₁ε₁, L₂₂ε₂, L₃₃ε₃ + L₃₄ε₄, L₄₃ε₃ + L₄₄ε₄, L₅₅ε₅", by_41)
            .computed(found.clone())
            .agrees(),
        case.row("(41)", "ξ₁: the first, second, third and fifth")
            .computed([found[0], found[1], found[2], found[4]])
            .beyond(
                "[J_z1(α₁P₁+α₃P₃) + (J_z1−m₁a₁a₄)α₂P₂]/(J_z1+m₁a₁²), Σβ_iP_i, Σγ_iP_i, a₂α₁P₁ − a₃α₂P₂ − a₃α₃P₃",
                expanded,
            ),
    ])
}
