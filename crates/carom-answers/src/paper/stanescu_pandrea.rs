//! \[SP\]: an ellipsoid against one, two and three planes.

use carom::contact::{Contact, Side, Surface};
use carom::gap::gap_to_plane;
use carom::impact::coulomb::Termination;
use carom::impact::{Law, Options};
use carom::shape::{HalfSpace, Shape};
use nalgebra::{Matrix3, Unit, Vector3};

use super::scenes::{self, Case, approaches, balanced, count, impulses, separations};
use super::{Paper, Row, same};
use crate::Refusal;

pub const PAPER: Paper = Paper {
    name: "stanescu-pandrea",
    citation: "N.-D. Stănescu, N. Pandrea, Simple and multi-collision of an ellipsoid with planar surfaces. \
               Part I: Theory, 2017",
    rows,
};

fn rows() -> Result<Vec<Row>, Refusal> {
    let mut rows = horizontal_plane()?;
    rows.extend(oblique_plane()?);
    rows.extend(two_planes()?);
    rows.extend(aligned()?);
    rows.extend(one_leaving()?);
    rows.extend(two_oblique_planes()?);
    rows.extend(corner()?);
    Ok(rows)
}

/// The gap between the ellipsoid, its centre at some height, and the first plane.
fn gap_at(case: &Case, height: f64) -> f64 {
    let (body, state) = &case.prepared.instant.bodies[0];
    let mut pose = state.pose();
    pose.translation.vector.z = height;
    gap_to_plane(&body.shape, &pose, &case.prepared.subject.scene.planes[0].half_space).gap
}

fn horizontal_plane() -> Result<Vec<Row>, Refusal> {
    let mut case = Case::read(scenes::HORIZONTAL_PLANE)?;
    let (body, state) = case.prepared.instant.bodies[0];
    let a = state.orientation.to_rotation_matrix();
    let Shape::Ellipsoid { semi_axes } = body.shape else { return Ok(Vec::new()) };
    let reach = Vector3::from(semi_axes).component_mul(&a.matrix().row(2).transpose()).norm();
    let z = state.position.z;
    // The body's extremes along Z, from the library: its gaps to planes below and above through the origin.
    let down = HalfSpace { normal: -Vector3::z_axis(), offset: 0.0 };
    let lowest = gap_at(&case, z);
    let highest = -gap_to_plane(&body.shape, &state.pose(), &down).gap;
    let touching = [lowest, highest];

    let g = case.inertances()?[(0, 0)];
    let newton = case.solve(Law::Newton)?;
    let poisson = case.solve(Law::Poisson)?;
    let k = case.prepared.instant.contacts[0].restitution;
    let push = (1.0 + k) * newton.contacts[0].approach.abs() / g;
    // Friction that is none leaves only the end of the impact to choose: by work done.
    case.prepared.instant.contacts[0].surface = Surface::Coulomb(0.0);
    let energetic = case.solve_with(&Options { termination: Termination::Stronge, ..Options::default() })?;
    case.prepared.instant.contacts[0].surface = Surface::Smooth;

    let (apart, overlapping) = (2.0, 1.0);
    Ok(vec![
        case.row("(48)", "Z of the lowest and highest point")
            .printed("not ∓ the root", [])
            .computed(touching)
            .misprint(
                same(&touching, &[z - reach, z + reach], z, 1e-12),
                "Z = Z₀ ∓ √(a²a₃₁² + b²a₃₂² + c²a₃₃²)",
            ),
        case.row("case a)", "gap with the centre at Z₀ = 2: apart")
            .printed("least of |C − h|, |C + h|", [(apart - reach).abs().min((apart + reach).abs())])
            .computed([gap_at(&case, apart)])
            .agrees(),
        case.row("case a)", "gap with the centre at Z₀ = 1: the plane cuts the body")
            .printed("both positive, so no collision:", [(overlapping - reach).abs(), overlapping + reach])
            .computed([gap_at(&case, overlapping)])
            .wrong(true, "a signed gap is needed: negative, the depth, where they overlap"),
        case.row(
            "text",
            "“the three coefficients are equal”: impulse by Newton's, Poisson's and the energetic one",
        )
        .printed("one contact: (1+k) |v_n| / g each", [push; 3])
        .computed([newton.contacts[0].impulse, poisson.contacts[0].impulse, energetic.contacts[0].impulse])
        .agrees(),
    ])
}

fn oblique_plane() -> Result<Vec<Row>, Refusal> {
    let case = Case::read(scenes::OBLIQUE_PLANE)?;
    let contact = &case.prepared.instant.contacts[0];
    let plane = case.prepared.subject.scene.planes[0].half_space;
    let on_plane = plane.height(&contact.point).abs() <= 1e-12;
    Ok(vec![
        case.row("(52)–(58)", "touching point")
            .printed("transposed indices, and 0/0 in (58) exactly at contact", [])
            .computed(contact.point.as_slice())
            .misprint(
                on_plane,
                "the point where the support function of the ellipsoid is reached along the normal",
            ),
    ])
}

fn two_planes() -> Result<Vec<Row>, Refusal> {
    let mut case = Case::read(scenes::TWO_PLANES)?;
    let (body, state) = case.prepared.instant.bodies[0];
    let gap = |k: usize| {
        gap_to_plane(&body.shape, &state.pose(), &case.prepared.subject.scene.planes[k].half_space).gap
    };
    // How far the centre is from each plane when the body touches it.
    let centre = [state.position.x - gap(1), state.position.y - gap(0)];
    let g = case.inertances()?;
    let contacts = case.prepared.instant.contacts.clone();
    let arm = |k: usize| (contacts[k].point - state.position).cross(&contacts[k].normal);
    let inertance = |i: usize, j: usize, (one, two): (Vector3<f64>, Vector3<f64>), inertia: Vector3<f64>| {
        let linear = contacts[i].normal.dot(&contacts[j].normal) / body.mass;
        linear + one.dot(&two.component_div(&inertia))
    };
    let fixed_axes = [0, 1].map(|i| inertance(i, i, (arm(i), arm(i)), body.inertia));
    let printed_inertia = Vector3::new(200.0, 200.0, 100.0);
    let in_body = [0, 1].map(|k| state.orientation.inverse_transform_vector(&arm(k)));
    let with_printed =
        [(0, 0), (0, 1), (1, 1)].map(|(i, j)| inertance(i, j, (in_body[i], in_body[j]), printed_inertia));

    let coupled = case.solve(Law::Newton)?;
    let decoupled = case.solve(Law::Decoupled)?;
    let (energy, lost) = (coupled.outcome.energy, decoupled.outcome.energy);
    let pulling: Vec<f64> = impulses(&decoupled).iter().map(|p| -p).collect();

    case.set_restitution(&[0.8, 0.3]);
    let newton = case.solve(Law::Newton)?;
    let poisson = case.solve(Law::Poisson)?;
    Ok(vec![
        case.row("section 6", "J")
            .printed("", [200.0, 200.0, 100.0])
            .computed(body.inertia.as_slice())
            .misprint(true, "m(b²+c²)/5 and so on of the homogeneous ellipsoid: (500, 500, 200)"),
        case.row("(xii)", "X₀, Y₀ of simultaneous contact")
            .printed("other values", [])
            .computed(centre)
            .misprint(
                same(&centre, &[7f64.sqrt() / 2.0, 34f64.sqrt() / 4.0], 0.0, 1e-12),
                "X₀ = √7/2, Y₀ = √34/4",
            ),
        case.row("(26), (27)", "g₁₁, g₂₂")
            .printed("CP × n in fixed axes:", fixed_axes)
            .computed([g[(0, 0)], g[(1, 1)]])
            .wrong(true, "J is principal in body axes only: take CP × n there, or turn J"),
        case.row("section 6", "g₁₁, g₁₂, g₂₂")
            .printed("with the printed J:", with_printed)
            .computed([g[(0, 0)], g[(0, 1)], g[(1, 1)]])
            .misprint(true, "with J = (500, 500, 200)"),
        case.row("(23)", "P, each contact by itself, k = 1")
            .printed("without the minus sign:", pulling)
            .computed(impulses(&decoupled))
            .misprint(true, "P = −(1+k) v_n / g_ii: the planes push"),
        case.row("(23)", "P, k = 1")
            .printed("each contact by itself:", impulses(&decoupled))
            .computed(impulses(&coupled))
            .wrong(true, "the contacts act on each other: P = −[g_ij]⁻¹ (I+K) v_n"),
        case.row("(23)", "v_n after, k = 1")
            .printed("each contact by itself:", separations(&decoupled))
            .computed(separations(&coupled))
            .wrong(
                same(
                    &separations(&coupled),
                    &approaches(&coupled).iter().map(|y| -y).collect::<Vec<_>>(),
                    0.0,
                    1e-12,
                ),
                "an elastic impact returns each v_n with its sign changed; (23) misses it as g₁₂ ≠ 0",
            ),
        case.row("(23)", "change of energy, k = 1")
            .printed("each contact by itself:", [lost.change])
            .computed([energy.change])
            .among(energy.before)
            .wrong(true, "an elastic impact keeps the energy: (23) is 850 J off"),
        case.row("(16), (19)–(22)", "momentum against impulses, by (23) coupled")
            .printed("misprints; their wording is not on record", [])
            .in_words("balanced")
            .misprint(balanced(&coupled), "momentum and impulses: G (v⁺ − v⁻) = Nᵀ P"),
        case.row("text", "“the three coefficients are equal”: P, k = (0.8, 0.3)")
            .printed("Newton's:", impulses(&newton))
            .computed(impulses(&poisson))
            .in_words("Poisson's:")
            .wrong(true, "one contact, or one k for all, only"),
        case.row("(23)", "g₁₂ between orthogonal planes, homogeneous ellipsoid")
            .computed([g[(0, 1)]])
            .beyond("never positive: (23) coupled pushes and gains nothing", []),
    ])
}

fn aligned() -> Result<Vec<Row>, Refusal> {
    let case = Case::read(scenes::TWO_PLANES_ALIGNED)?;
    let coupled = case.solve(Law::Newton)?;
    let decoupled = case.solve(Law::Decoupled)?;
    Ok(vec![
        case.row("(23)", "P where g₁₂ = 0, k = (0.8, 0.3)")
            .printed("each contact by itself:", impulses(&decoupled))
            .computed(impulses(&coupled))
            .agrees(),
    ])
}

fn one_leaving() -> Result<Vec<Row>, Refusal> {
    let mut case = Case::read(scenes::TWO_PLANES_ONE_LEAVING)?;
    let both = case.solve(Law::NewtonLcp)?;
    // The same with the leaving contact left out, and what becomes of it.
    let leaving = case.prepared.instant.contacts.remove(1);
    let alone = case.solve(Law::NewtonLcp)?;
    let ignored = leaving.normal.dot(&alone.states[0].velocity_at(&leaving.point));
    Ok(vec![
        case.row("c.2", "v_n after of the contact that was leaving")
            .printed("ignored:", [ignored])
            .computed([both.contacts[1].separation])
            .wrong(
                ignored < 0.0,
                "the impulse of the other closes it: look at it again, and resolve a second step",
            ),
    ])
}

fn two_oblique_planes() -> Result<Vec<Row>, Refusal> {
    let mut case = Case::read(scenes::TWO_OBLIQUE_PLANES)?;
    let g = case.inertances()?;
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
        case.row("(23)", "change of energy, k = 1")
            .printed("each contact by itself:", [gained.change])
            .computed([energy.change])
            .among(energy.before)
            .wrong(gained.change > 0.0, "(23) gains energy where the contacts help each other"),
        case.row("(23)", "g₁₂ between oblique planes").computed([g[(0, 1)]]).beyond("of either sign", []),
        case.row("(23)", "independent contacts of a sphere, a spheroid, an ellipsoid among eight planes")
            .computed(ranks)
            .beyond("at most:", [3.0, 5.0, 6.0]),
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

fn corner() -> Result<Vec<Row>, Refusal> {
    let case = Case::read(scenes::CORNER)?;
    let g = case.inertances()?;
    let coupled = case.solve(Law::Newton)?;
    let decoupled = case.solve(Law::Decoupled)?;
    let poisson = case.solve(Law::Poisson)?;
    Ok(vec![
        case.row("(23)", "v_n after, k = (0.9, 0.5, 0.2)")
            .printed("each contact by itself:", separations(&decoupled))
            .computed(separations(&coupled))
            .wrong(
                separations(&decoupled).iter().any(|y| *y < 0.0),
                "each v_n returns −k times itself; (23) leaves two contacts closing",
            ),
        case.row("text", "“the three coefficients are equal”: v_n after, k = (0.9, 0.5, 0.2)")
            .printed("Newton's:", separations(&coupled))
            .computed(separations(&poisson))
            .in_words("Poisson's:")
            .wrong(true, "one contact, or one k for all, only"),
        case.row("(23)", "g₁₂, g₁₃, g₂₃ between orthogonal planes")
            .computed([g[(0, 1)], g[(0, 2)], g[(1, 2)]])
            .beyond("never positive", []),
    ])
}
