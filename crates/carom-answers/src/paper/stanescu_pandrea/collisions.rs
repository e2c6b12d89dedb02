//! (23) to (35), sections 3 to 5 and 7: what planes do to the ellipsoid.

use carom::body::bryan_orientation;
use carom::contact::{Contact, Side, Surface};
use carom::impact::coulomb::Termination;
use carom::impact::{Law, Options};
use carom::shape::Shape;
use nalgebra::{DMatrix, DVector, Matrix3, Unit, Vector3};

use super::super::Row;
use super::super::scenes::{self, Case, approaches, count, impulses, separations};
use super::turn;
use crate::InputError;

/// CP × n of a contact, in world axes.
fn arm(case: &Case, k: usize) -> Vector3<f64> {
    let contact = &case.prepared.instant.contacts[k];
    (contact.point - case.prepared.instant.bodies[0].1.position).cross(&contact.normal)
}

/// g_ij with the moments of inertia given, CP × n in body axes or in fixed ones.
fn inertance(case: &Case, (i, j): (usize, usize), inertia: &Vector3<f64>, in_body: bool) -> f64 {
    let (body, state) = &case.prepared.instant.bodies[0];
    let contacts = &case.prepared.instant.contacts;
    let [one, two] = [i, j].map(|k| {
        let arm = arm(case, k);
        if in_body { state.orientation.inverse_transform_vector(&arm) } else { arm }
    });
    contacts[i].normal.dot(&contacts[j].normal) / body.mass + one.dot(&two.component_div(inertia))
}

fn negated(values: &[f64]) -> Vec<f64> {
    values.iter().map(|x| -x).collect()
}

pub fn horizontal_plane() -> Result<Vec<Row>, InputError> {
    let mut case = Case::read(scenes::HORIZONTAL_PLANE)?;
    let (body, state) = case.prepared.instant.bodies[0];
    let a = turn(&case);
    let g = case.inertances()?[(0, 0)];
    let newton = case.solve(Law::Newton)?;
    let poisson = case.solve(Law::Poisson)?;
    let k = case.prepared.instant.contacts[0].restitution;
    let normal = case.prepared.instant.contacts[0].normal.into_inner();
    let point = case.prepared.instant.contacts[0].point;
    let before = newton.contacts[0].approach;
    let push = -(1.0 + k) * before / g;
    let moment = a.transpose() * arm(&case, 0);
    // M_c⁻¹ N: what a unit impulse does to (ω, v) in body axes.
    let printed =
        [moment.component_div(&body.inertia).as_slice(), (a.transpose() * normal / body.mass).as_slice()]
            .concat();
    let step = &newton.states[0];
    let change = [
        (a.transpose() * (step.angular_velocity - state.angular_velocity) / newton.contacts[0].impulse)
            .as_slice(),
        (a.transpose() * (step.velocity - state.velocity) / newton.contacts[0].impulse).as_slice(),
    ]
    .concat();
    // (23) with its plus sign.
    let by_23 = before + (1.0 + k) * before;
    // Without friction the laws differ only in how the impact ends; here it ends by work done.
    case.prepared.instant.contacts[0].surface = Surface::Coulomb(0.0);
    let energetic = case.solve_with(&Options { termination: Termination::Stronge, ..Options::default() })?;
    case.prepared.instant.contacts[0].surface = Surface::Smooth;
    // The same, leaving the plane.
    let motion = case.motion();
    case.set_motion(motion.map(|x| -x));
    let leaving = case.solve(Law::NewtonLcp)?.contacts[0].impulse;
    case.set_motion(motion);
    // And between the floor and a ceiling that it touches with its highest point.
    let mut ceiling = case.prepared.instant.contacts[0].clone();
    ceiling.point = state.position * 2.0 - point;
    ceiling.normal = -ceiling.normal;
    ceiling.name = "ceiling".to_string();
    case.prepared.instant.contacts.push(ceiling);
    let between = case.solve(Law::NewtonLcp)?;
    case.prepared.instant.contacts.pop();
    Ok(vec![
        case.row("(28)–(30)", "Δω, Δv in body axes per unit of impulse")
            .printed("[M_c]⁻¹{N}", printed)
            .computed(change)
            .agrees()
            .note("with {N} in body axes; the last row of (30) has, in the text at hand, seven entries"),
        case.row("(32)", "v_n before")
            .printed("{Ṙ}ᵀ{n}", [state.velocity_at(&point).dot(&normal)])
            .computed([before])
            .agrees()
            .note("{n} of (31) should be a column"),
        case.row("(34)", "g")
            .printed(
                "1/m + d²/J_x + e²/J_y + f²/J_z",
                [body.mass.recip() + moment.component_mul(&moment).component_div(&body.inertia).sum()],
            )
            .computed([g])
            .agrees()
            .note("with d, e, f in body axes and a unit normal"),
        case.row("(35)", "P").printed("−(1+k)v_n⁰/g", [push]).computed([newton.contacts[0].impulse]).agrees(),
        case.row("(23)", "v_n after")
            .printed("{v⁰} + (1+k)v_n⁰/g [M_c]⁻¹{N}", [by_23])
            .computed([newton.contacts[0].separation])
            .misprint([-k * before], "minus, as in (35): the plane pushes"),
        case.row("section 3, a)", "P where v_Z > 0")
            .printed("", [0.0])
            .computed([leaving])
            .among(push)
            .agrees(),
        case.row("section 7", "P by Newton's, Poisson's and the energetic coefficient, one contact")
            .printed("−(1+k)v_n⁰/g", [push; 3])
            .computed([
                newton.contacts[0].impulse,
                poisson.contacts[0].impulse,
                energetic.contacts[0].impulse,
            ])
            .agrees(),
        case.row(
            "section 7",
            "rank between two parallel planes, which the paper leaves out in part, of a tilted ellipsoid",
        )
        .computed([count(between.outcome.rank)])
        .beyond("2: unique all the same, two contacts that are not opposite", [2.0]),
    ])
}

pub fn two_planes() -> Result<Vec<Row>, InputError> {
    let mut case = Case::read(scenes::TWO_PLANES)?;
    let body = case.prepared.instant.bodies[0].0;
    let g = case.inertances()?;
    let both = |inertia: &Vector3<f64>| [(0, 0), (1, 1)].map(|pair| inertance(&case, pair, inertia, true));
    let fixed_axes = [0, 1].map(|i| inertance(&case, (i, i), &body.inertia, false));
    let in_body = [0, 1].map(|i| inertance(&case, (i, i), &body.inertia, true));
    let with_printed = both(&Vector3::new(200.0, 200.0, 100.0));
    let root = 238f64.sqrt();
    let exact = [271.0 / 68000.0, 11.0 / 2800.0];
    let coupled = case.solve(Law::Newton)?;
    let decoupled = case.solve(Law::Decoupled)?;
    let (energy, alone) = (coupled.outcome.energy, decoupled.outcome.energy);
    let before = approaches(&coupled);
    let solved = g.clone().lu().solve(&(DVector::from_vec(before.clone()) * -2.0)).unwrap_or_default();
    let ours = [g[(0, 0)], g[(1, 1)]];
    let orthogonal = positive_between_orthogonal_planes(&mut case);
    let mut case = Case::read(scenes::TWO_PLANES)?;
    case.set_restitution(&[0.8, 0.3]);
    let differ = difference(&case)?;
    Ok(vec![
        case.row("(26), (27)", "g₁, g₂")
            .printed("1/m + d²/J_x + e²/J_y + f²/J_z, CP×n = di + ej + fk along OX, OY, OZ", fixed_axes)
            .computed([g[(0, 0)], g[(1, 1)]])
            .wrong(in_body, "J is principal in body axes only: CP × n there, or J turned"),
        case.row("section 6", "g₁, g₂ with the printed J")
            .printed("1/m + d²/J_x + e²/J_y + f²/J_z, J = (200, 200, 100)", with_printed)
            .computed(ours)
            .misprint(exact, "271/68000, 11/2800 with J = (500, 500, 200)"),
        case.row("(23), (35)", "P₁, P₂ at k = 1, velocities of the scene")
            .printed("−(1+k_i)v_in⁰/g_i", impulses(&decoupled))
            .computed(impulses(&coupled))
            .wrong(solved.as_slice(), "the contacts act on each other: −[g_ij]⁻¹([I]+[K]){v_n⁰}"),
        case.row("(23)", "v_1n, v_2n after at k = 1, read with minus")
            .printed("{v⁰} + Σ(1+k_i)v_in⁰/g_i [M_c]⁻¹{N_i}", separations(&decoupled))
            .computed(separations(&coupled))
            .wrong(negated(&before), "each v_n returns with its sign changed; the sum misses it as g₁₂ ≠ 0"),
        case.row("(23)", "change of energy at k = 1, read with minus")
            .printed("{v⁰} + Σ(1+k_i)v_in⁰/g_i [M_c]⁻¹{N_i}", [alone.change])
            .computed([energy.change])
            .among(energy.before)
            .wrong(
                [0.0],
                "an elastic impact keeps the energy; 850 J are lost in this scene, with the example's body",
            ),
        case.row("section 7", "P by Poisson's less P by Newton's coefficient, k = (0.8, 0.3)")
            .printed("", [0.0, 0.0])
            .computed(differ.0)
            .wrong(
                differ.1,
                "equal for one contact, for one k for all, and for contacts that are not coupled",
            ),
        case.row("(34)", "g₁₂ with J = (500, 500, 200)")
            .computed([g[(0, 1)]])
            .beyond("−27√238/476000", [-27.0 * root / 476_000.0]),
        case.row("(34)", "positive g₁₂ between orthogonal planes, of 1000 attitudes")
            .computed([f64::from(orthogonal)])
            .beyond("none, of a homogeneous ellipsoid: (23) coupled pushes and gains nothing", [0.0]),
    ])
}

/// The impulses of Poisson's law less those of Newton's: by the library, and by the laws themselves, complementarity tried
/// out set by set.
fn difference(case: &Case) -> Result<(Vec<f64>, Vec<f64>), InputError> {
    let (newton, poisson) = (case.solve(Law::Newton)?, case.solve(Law::Poisson)?);
    let found = impulses(&poisson).iter().zip(impulses(&newton)).map(|(p, n)| p - n).collect();
    let g = case.inertances()?;
    let before = DVector::from_vec(approaches(&newton));
    let restitution = DVector::from_vec(case.prepared.assembly.problem.restitution.clone());
    let compression = complementary(&g, &before);
    let returned = restitution.component_mul(&compression);
    let more = complementary(&g, &(&before + &g * (&compression + &returned)));
    let by_poisson = compression + returned + more;
    let by_newton = g.lu().solve(&-restitution.add_scalar(1.0).component_mul(&before)).unwrap_or_default();
    Ok((found, (by_poisson - by_newton).as_slice().to_vec()))
}

/// 0 ≤ p ⟂ y + Wp ≥ 0, by trying every set of contacts.
fn complementary(w: &DMatrix<f64>, y: &DVector<f64>) -> DVector<f64> {
    let n = y.len();
    for set in 0..1_u32 << n {
        let active: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let part = w.select_rows(&active).select_columns(&active);
        let push = -y.select_rows(&active);
        let Some(solved) = (if active.is_empty() { Some(push) } else { part.lu().solve(&push) }) else {
            continue;
        };
        let mut p = DVector::zeros(n);
        for (k, &i) in active.iter().enumerate() {
            p[i] = solved[k];
        }
        let after = y + w * &p;
        let small = 1e-12 * y.amax();
        if p.min() >= 0.0 && after.min() >= -small {
            return p;
        }
    }
    DVector::from_element(n, f64::NAN)
}

/// Turns the body between the planes of a scene, and counts attitudes of a positive g₁₂.
fn positive_between_orthogonal_planes(case: &mut Case) -> u32 {
    let mut found = 0;
    let inertia = case.prepared.instant.bodies[0].0.inertia;
    for i in 0..1000 {
        let angles = [2.0_f64, 3.0, 5.0].map(|p| 6.3 * (f64::from(i) * p.sqrt()).fract());
        let instant = &mut case.prepared.instant;
        let (body, state) = &mut instant.bodies[0];
        state.orientation = bryan_orientation(&angles);
        for contact in &mut instant.contacts {
            let down = state.orientation.inverse_transform_vector(&-contact.normal.into_inner());
            contact.point = state.position + state.orientation * body.shape.support(&down);
        }
        if inertance(case, (0, 1), &inertia, true) > 1e-18 {
            found += 1;
        }
    }
    found
}

pub fn aligned() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::TWO_PLANES_ALIGNED)?;
    let coupled = case.solve(Law::Newton)?;
    let g = case.inertances()?;
    let before = approaches(&coupled);
    let alone: Vec<f64> =
        [(0, 0.8), (1, 0.3)].iter().map(|&(i, k)| -(1.0 + k) * before[i] / g[(i, i)]).collect();
    Ok(vec![
        case.row("(23), (35)", "P₁, P₂ where g₁₂ = 0, k = (0.8, 0.3)")
            .printed("−(1+k_i)v_in⁰/g_i", alone)
            .computed(impulses(&coupled))
            .agrees(),
    ])
}

pub fn one_leaving() -> Result<Vec<Row>, InputError> {
    let mut case = Case::read(scenes::TWO_PLANES_ONE_LEAVING)?;
    let both = case.solve(Law::NewtonLcp)?;
    // c.3: both leaving.
    let motion = case.motion();
    case.set_motion([Vector3::new(0.7, 1.5, 0.3), Vector3::zeros()]);
    let none = impulses(&case.solve(Law::NewtonLcp)?);
    case.set_motion(motion);
    // The same with the leaving contact left out, and what becomes of it.
    let leaving = case.prepared.instant.contacts.remove(1);
    let alone = case.solve(Law::NewtonLcp)?;
    let ignored = leaving.normal.dot(&alone.states[0].velocity_at(&leaving.point));
    // Two blows in turn, each elastic, until neither closes.
    let mut case = Case::read(scenes::TWO_PLANES_ONE_LEAVING)?;
    let in_turn = case.solve(Law::Sequential)?;
    case.set_motion(motion);
    Ok(vec![
        case.row("section 5, c.2", "v_n after of the contact that was leaving")
            .printed("(23) for n = 1 where v_Pj·n_j < 0, v_Pl·n_l ≥ 0", [ignored])
            .computed([both.contacts[1].separation])
            .wrong(
                [in_turn.contacts[1].separation],
                "the impulse at P_j closes it: it must be looked at again, and a second impact follows",
            ),
        case.row("section 5, c.3", "P₁, P₂ where both v_n ≥ 0")
            .printed("", [0.0, 0.0])
            .computed(none)
            .among(1.0)
            .agrees(),
    ])
}

pub fn two_oblique_planes() -> Result<Vec<Row>, InputError> {
    let mut case = Case::read(scenes::TWO_OBLIQUE_PLANES)?;
    let g = case.inertances()?;
    let inertia = case.prepared.instant.bodies[0].0.inertia;
    let between = inertance(&case, (0, 1), &inertia, true);
    let energy = case.solve(Law::Newton)?.outcome.energy;
    let gained = case.solve(Law::Decoupled)?.outcome.energy;
    let mut ranks = Vec::new();
    for shape in [
        Shape::Sphere { radius: 1.0 },
        Shape::Ellipsoid { semi_axes: [1.0, 1.0, 2.0] },
        Shape::Ellipsoid { semi_axes: [1.0, 1.5, 2.0] },
    ] {
        touch_eight_planes(&mut case, shape);
        ranks.push(count(case.solve(Law::NewtonLcp)?.outcome.rank));
    }
    Ok(vec![
        case.row("(23)", "change of energy at k = 1, read with minus")
            .printed("{v⁰} + Σ(1+k_i)v_in⁰/g_i [M_c]⁻¹{N_i}", [gained.change])
            .computed([energy.change])
            .among(energy.before)
            .wrong([0.0], "(23) gains energy where the contacts help each other"),
        case.row("(34)", "g₁₂ between oblique planes, which can be positive")
            .computed([g[(0, 1)]])
            .beyond("n₁·n₂/m + (CP₁×n₁)·J⁻¹(CP₂×n₂) in body axes", [between]),
        case.row(
            "section 7",
            "independent contacts of a sphere, a spheroid, an ellipsoid among eight planes",
        )
        .computed(ranks)
        .beyond("at most, a question that the paper leaves open:", [3.0, 5.0, 6.0]),
    ])
}

/// Gives the body another shape and eight planes around it, turned so that nothing is special.
fn touch_eight_planes(case: &mut Case, shape: Shape) {
    let instant = &mut case.prepared.instant;
    let (body, state) = &mut instant.bodies[0];
    body.shape = shape;
    body.inertia = shape.unit_inertia() * body.mass;
    let turn: Matrix3<f64> = *state.orientation.to_rotation_matrix().matrix();
    let touch = |i: u32| {
        let (a, b) = (f64::from(i) * 2.4, f64::from(i) * 0.77 + 0.4);
        let normal = Unit::new_normalize(Vector3::new(a.sin() * b.cos(), a.cos() * b.cos(), b.sin()));
        let point = state.position + turn * shape.support(&-turn.tr_mul(&normal));
        Contact {
            name: format!("{i}"),
            sides: [Side::Plane(0), Side::Body(0)],
            point,
            normal,
            restitution: 1.0,
            surface: Surface::Smooth,
            images: [Vector3::zeros(); 2],
        }
    };
    instant.contacts = (0..8).map(touch).collect();
}

pub fn corner() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::CORNER)?;
    let g = case.inertances()?;
    let coupled = case.solve(Law::Newton)?;
    let decoupled = case.solve(Law::Decoupled)?;
    let returned: Vec<f64> = approaches(&coupled).iter().zip([0.9, 0.5, 0.2]).map(|(y, k)| -k * y).collect();
    let inertia = case.prepared.instant.bodies[0].0.inertia;
    let pairs = [(0, 1), (0, 2), (1, 2)];
    let differ = difference(&case)?;
    Ok(vec![
        case.row("(23)", "v_n after at k = (0.9, 0.5, 0.2), read with minus")
            .printed("{v⁰} + Σ(1+k_i)v_in⁰/g_i [M_c]⁻¹{N_i}", separations(&decoupled))
            .computed(separations(&coupled))
            .wrong(
                returned,
                "by Newton's law each v_n returns −k times itself; (23) leaves two contacts closing",
            ),
        case.row("section 7", "P by Poisson's less P by Newton's coefficient, k = (0.9, 0.5, 0.2)")
            .printed("", [0.0; 3])
            .computed(differ.0)
            .wrong(
                differ.1,
                "equal for one contact, for one k for all, and for contacts that are not coupled",
            ),
        case.row("(34)", "g₁₂, g₁₃, g₂₃ between orthogonal planes")
            .computed(pairs.map(|pair| g[pair]))
            .beyond(
                "(CP_i×n_i)·J⁻¹(CP_j×n_j) in body axes, never positive",
                pairs.map(|pair| inertance(&case, pair, &inertia, true)),
            ),
    ])
}
