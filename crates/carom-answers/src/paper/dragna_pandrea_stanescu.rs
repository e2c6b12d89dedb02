//! \[DPS\]: two bodies on hinges that touch at three points.
//!
//! Letters: a₁ to a₅ lengths of the frames, n_i = (α_i, β_i, γ_i) the normals, C the centres, O the hinges, A the
//! contact points; the paper's v₁₂ₙ is −y.

use carom::impact::Law;
use carom::joint::Kind;
use nalgebra::Vector3;

use super::scenes::{self, Case, approaches, balanced, count, impulses, separations};
use super::{Paper, Row, same};
use crate::Refusal;

pub const PAPER: Paper = Paper {
    name: "dragna-pandrea-stanescu",
    citation: "I.-B. Dragna, N. Pandrea, N.-D. Stănescu, Three points frictionless simultaneous collision of rigid solid",
    rows,
};

fn rows() -> Result<Vec<Row>, Refusal> {
    let mut rows = geometry()?;
    rows.extend(hinged()?);
    rows.extend(singular()?);
    rows.extend(cylindrical()?);
    rows.extend(spherical()?);
    Ok(rows)
}

/// The frames' places.
struct Frames {
    centres: [Vector3<f64>; 2],
    hinges: [Vector3<f64>; 2],
    points: [Vector3<f64>; 3],
    normals: [Vector3<f64>; 3],
}

impl Frames {
    fn of(case: &Case) -> Self {
        let instant = &case.prepared.instant;
        let hinge = |k: usize| match &instant.joints[k].kind {
            Kind::Hinge { point, .. } | Kind::Ball { point } => *point,
            _ => Vector3::zeros(),
        };
        Self {
            centres: [0, 1].map(|k| instant.bodies[k].1.position),
            hinges: [hinge(0), hinge(1)],
            points: [0, 1, 2].map(|i| instant.contacts[i].point),
            normals: [0, 1, 2].map(|i| instant.contacts[i].normal.into_inner()),
        }
    }
}

fn geometry() -> Result<Vec<Row>, Refusal> {
    let case = Case::read(scenes::HINGED_FRAMES)?;
    let frames = Frames::of(&case);
    let Frames { centres: [c1, c2], hinges: [o1, o2], points: [a1, a2, a3], normals: [_, n2, n3] } = &frames;
    // The lengths as the paper has them, from the places in the scene.
    let (l1, l2, l3, l4, l5) = (-o1.y, a1.z, -a3.z, c2.y, o2.y - c2.y);
    let body = &case.prepared.instant.bodies[1].0;
    // Each body turns about z only: the moment that its hinge leaves to it.
    let inverse = case.constrained_inverse()?;
    let inertia = [1.0 / inverse[(5, 5)], 1.0 / inverse[(11, 11)]];
    let result = case.solve(Law::NewtonLcp)?;

    let first = (o1 - c1).cross(&Vector3::x());
    let third = (a3 - c1).cross(n3);
    let place = a1 - c2;
    let second = (a2 - c2).cross(n2);
    // G₁ + G₂ with each body's own wrenches: turning about the hinges by a unit impulse.
    let about = |k: usize, i: usize| (frames.points[i] - frames.hinges[k]).cross(&frames.normals[i]).z;
    let sum = |i: usize, j: usize| (0..2).map(|k| about(k, i) * about(k, j) / inertia[k]).sum::<f64>();
    let g = case.inertances()?;
    let upper = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
    let (ours, built) = (upper.map(|(i, j)| g[(i, j)]), upper.map(|(i, j)| sum(i, j)));
    Ok(vec![
        case.row("(2), (4)", "momentum of each body against the impulses")
            .printed("without the minus sign", [])
            .in_words("balanced")
            .misprint(balanced(&result), "both have a minus sign"),
        case.row("(19)", "C₁O₁ × i")
            .printed("not +a₁ k", [])
            .computed(first.as_slice())
            .misprint(same(first.as_slice(), &[0.0, 0.0, l1], 0.0, 1e-12), "+a₁ k"),
        case.row("(25)", "first component of C₁A₃ × n₃")
            .printed("not a₃β₃", [])
            .computed([third.x])
            .misprint(same(&[third.x], &[l3 * n3.y], 0.0, 1e-12), "a₃β₃"),
        case.row("(26)", "C₂A₁")
            .printed("not −a₄ j + a₂ k", [])
            .computed(place.as_slice())
            .misprint(same(place.as_slice(), &[0.0, -l4, l2], 0.0, 1e-12), "−a₄ j + a₂ k"),
        case.row("(27)", "C₂A₂ × n₂")
            .printed("not −a₃α₂ j + a₃β₂ i", [])
            .computed(second.as_slice())
            .misprint(same(second.as_slice(), &[l3 * n2.y, -l3 * n2.x, 0.0], 0.0, 1e-12), "−a₃α₂ j + a₃β₂ i"),
        case.row("(31)", "G₁ + G₂ (upper triangle by rows), each body with its own wrenches")
            .printed("not U₂ for body 2", [])
            .computed(ours)
            .misprint(same(&ours, &built, 0.0, 1e-12), "U₂ for body 2"),
        case.row("(33)", "inertia of body 2 about its hinge")
            .printed("not a₅²", [])
            .computed([inertia[1]])
            .misprint(
                same(&[inertia[1]], &[body.inertia.z + body.mass * l5 * l5], 0.0, 1e-12),
                "J₂z + m₂ a₅²",
            ),
    ])
}

fn hinged() -> Result<Vec<Row>, Refusal> {
    let mut case = Case::read(scenes::HINGED_FRAMES)?;
    let [n1, _, n3] = Frames::of(&case).normals;
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

    case.set_restitution(&[0.8, 0.5, 0.2]);
    let unequal = case.solve(Law::NewtonLcp)?;
    let equality = case.solve(Law::Newton)?;
    let larger: Vec<f64> = approaches(&unequal).iter().zip([0.8, 0.5, 0.8]).map(|(y, k)| -k * y).collect();
    Ok(vec![
        case.row("(36)", "rank of G₁ + G₂")
            .printed("regular, as (36) inverts it:", [3.0])
            .computed([count(equal.outcome.rank)])
            .wrong(
                true,
                "two hinged bodies have two freedoms: the rank is at most 2, and the inverse never exists",
            ),
        case.row("(36)", "kernel of G₁ + G₂, impulses that move nothing")
            .printed("none", [])
            .computed(stress.clone())
            .wrong(
                same(&stress, &kernel, 0.0, 1e-12),
                "(α₃, 0, −α₁), to any multiple: the impulses are not unique",
            ),
        case.row("(36)", "−v₁₂ₙ after, k = 0.6")
            .computed(separations(&newton_equal))
            .beyond("k₁ = k₃: solvable, velocities unique:", back),
        case.row("(36)", "Newton's law for k = (0.8, 0.5, 0.2)")
            .in_words(if equality.outcome.consistent { "consistent" } else { "inconsistent" })
            .beyond("k₁ ≠ k₃: no solution", []),
        case.row("(36)", "−v₁₂ₙ after by newton_lcp, k = (0.8, 0.5, 0.2)")
            .computed(separations(&unequal))
            .beyond("the larger of k₁, k₃ wins:", larger),
        case.row(
            "text",
            "“any coefficient of restitution gives the same”: change of energy, k = (0.6, 0.3, 0.6)",
        )
        .printed("Newton's:", [newton.outcome.energy.change])
        .computed([poisson.outcome.energy.change])
        .in_words("Poisson's:")
        .wrong(true, "for one k they agree; for unequal k they do not"),
    ])
}

fn singular() -> Result<Vec<Row>, Refusal> {
    let mut case = Case::read(scenes::SINGULAR_FRAMES)?;
    let result = case.solve(Law::NewtonLcp)?;
    let blocked: Vec<f64> = result.outcome.blocked.iter().map(|row| count(row + 1)).collect();
    let back: Vec<f64> = approaches(&result).iter().map(|y| -0.5 * y).collect();
    let sum = result.contacts[0].impulse + result.contacts[2].impulse;
    let g = case.inertances()?[(0, 0)];
    let needed = 1.5 * result.contacts[0].approach.abs() / g;

    case.set_restitution(&[0.8, 0.5, 0.3]);
    let unequal = case.solve(Law::NewtonLcp)?;
    let equality = case.solve(Law::Newton)?;
    let larger: Vec<f64> = approaches(&unequal).iter().map(|y| -0.8 * y).collect();
    Ok(vec![
        case.row("singular example", "rank of G₁ + G₂")
            .printed("singular, as an exception", [])
            .computed([count(result.outcome.rank)])
            .wrong(result.outcome.rank == 1, "rank 1 here, 2 in general: (36) is singular always"),
        case.row("singular example", "contact that the hinges block")
            .computed(blocked)
            .beyond("P₂ has no effect and is arbitrary; contact:", [2.0]),
        case.row("singular example", "P₁ + P₃, unit normals, k = 0.5")
            .computed([sum])
            .beyond("unique, though P₁ and P₃ are not: (1+k) v₁₂ₙ / g₁₁", [needed]),
        case.row("singular example", "−v₁₂ₙ after, k = 0.5")
            .printed("nothing, as (36) has no inverse", [])
            .computed(separations(&result))
            .wrong(
                same(&separations(&result), &back, 0.0, 1e-12),
                "solvable all the same when k₁ = k₃, with unique velocities",
            ),
        case.row("singular example", "Newton's law for k = (0.8, 0.5, 0.3)")
            .in_words(if equality.outcome.consistent { "consistent" } else { "inconsistent" })
            .beyond("k₁ ≠ k₃: no solution", []),
        case.row("singular example", "−v₁₂ₙ after by newton_lcp, k = (0.8, 0.5, 0.3)")
            .computed(separations(&unequal))
            .beyond("the larger of k₁, k₃ wins:", larger),
    ])
}

fn cylindrical() -> Result<Vec<Row>, Refusal> {
    let case = Case::read(scenes::CYLINDRICAL_FRAMES)?;
    let outcome = case.solve(Law::NewtonLcp)?.outcome;
    let newton = case.solve(Law::Newton)?;
    let hinged = Case::read(scenes::HINGED_FRAMES)?.solve(Law::NewtonLcp)?.outcome;
    Ok(vec![
        case.row("text", "“cylindrical”: rank of G₁ + G₂ on cylindrical joints")
            .printed("the paper's joints:", [count(hinged.rank)])
            .computed([count(outcome.rank)])
            .wrong(
                true,
                "the paper's joints are revolute; free to slide along z too, the contacts are independent",
            ),
        case.row("(36)", "P by (36) as printed, k = 0.6, on cylindrical joints")
            .computed(impulses(&newton))
            .beyond("unique; P₃ pulls, so newton_lcp leaves A₃ alone", []),
    ])
}

fn spherical() -> Result<Vec<Row>, Refusal> {
    let case = Case::read(scenes::SPHERICAL_FRAMES)?;
    let outcome = case.solve(Law::NewtonLcp)?.outcome;
    Ok(vec![
        case.row("(36)", "rank of G₁ + G₂ on ball joints")
            .computed([count(outcome.rank)])
            .beyond("regular:", [3.0]),
    ])
}
