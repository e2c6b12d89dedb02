//! Section 2: the collision of two bodies with constraints, (1) to (18).

use carom::body::State;
use carom::impact::Law;
use carom::impact::mechanism::BodyOutcome;
use nalgebra::SVector;

use super::super::Row;
use super::super::scenes::{self, Case, approaches, count, impulses, separations};
use super::{Frames, computed_inertances, eta, fixed_upper, upper};
use crate::InputError;

/// A state's twist: (ω, v).
pub fn twist(state: &State) -> SVector<f64, 6> {
    let (w, v) = (state.angular_velocity, state.velocity);
    SVector::from([w.x, w.y, w.z, v.x, v.y, v.z])
}

/// ξ of a hinge about z: the impulse at O and its moments about x and y.
pub fn carried(joint: &carom::impact::mechanism::JointOutcome) -> Vec<f64> {
    [joint.linear.as_slice(), &[joint.angular.x, joint.angular.y]].concat()
}

/// The collision, and both bodies' twists before and after it.
struct Collision {
    case: Case,
    frames: Frames,
    result: BodyOutcome,
    p: SVector<f64, 3>,
    before: [SVector<f64, 6>; 2],
    after: [SVector<f64, 6>; 2],
}

impl Collision {
    /// What the impulses do to a body's twist, but for the sign.
    fn moved(&self, k: usize) -> SVector<f64, 6> {
        self.frames.mobility(k) * self.p
    }

    /// The velocities of a twist along the contacts' normals.
    fn normal(&self, k: usize, twist: &SVector<f64, 6>) -> SVector<f64, 3> {
        self.frames.lines(k).transpose() * eta() * twist
    }

    /// {v₁₂ₙ⁰}.
    fn closing(&self) -> Vec<f64> {
        approaches(&self.result).iter().map(|y| -y).collect()
    }

    /// (17), (18): what the hinge of a body carries.
    fn carried_by(&self, k: usize) -> Vec<f64> {
        let (s, m) = (self.frames.restriction(k), self.frames.mass(k));
        let weight = m.try_inverse().map(|inverse| s.transpose() * eta() * inverse);
        let own = weight.and_then(|weight| (weight * s).try_inverse().map(|own| own * weight));
        own.map_or_else(Vec::new, |own| {
            let push = self.frames.lines(k) * self.p;
            (own * push * if k == 0 { 1.0 } else { -1.0 }).as_slice().to_vec()
        })
    }
}

pub fn rows() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::HINGED_FRAMES)?;
    let frames = Frames::of(&case);
    let result = case.solve(Law::NewtonLcp)?;
    let p = SVector::<f64, 3>::from_column_slice(&impulses(&result));
    let [before, after] = [&result.before, &result.states].map(|states| [0, 1].map(|k| twist(&states[k])));
    // One contact after another instead of all at once.
    let successive = case.solve(Law::Sequential)?;
    let apart = (0..2).map(|k| (twist(&successive.states[k]) - after[k]).norm()).fold(0.0, f64::max);
    let collision = Collision { case, frames, result, p, before, after };
    let case = &collision.case;
    let mut rows = vec![
        case.row("introduction", "successive collisions less simultaneous ones: 1 if the velocities differ")
            .printed("", [1.0])
            .computed([count(usize::from(apart > 1e-9))])
            .agrees(),
    ];
    rows.extend(changes(&collision)?);
    rows.extend(quantities(&collision)?);
    rows.extend(results(&collision));
    rows.push(energy(case, &collision.frames, &before)?);
    Ok(rows)
}

/// (2) to (10): how the velocities change.
fn changes(collision: &Collision) -> Result<Vec<Row>, InputError> {
    let Collision { case, frames, result, p, before, after } = collision;
    let change = [0, 1].map(|k| after[k] - before[k]);
    let moved = [0, 1].map(|k| collision.moved(k));
    let g = [frames.inertances(0), frames.inertances(1)];
    let ours = [computed_inertances(case, 0)?, computed_inertances(case, 1)?];
    let closing = collision.closing();
    let parting: Vec<f64> = separations(result).iter().map(|y| -y).collect();
    let difference: Vec<f64> = parting.iter().zip(&closing).map(|(a, b)| a - b).collect();
    let turn = |k: usize| [change[k][2], change[k][3]];
    let normal = |k: usize| collision.normal(k, &change[k]);
    Ok(vec![
        case.row("(2)", "Δω_z, Δv_x of body 1")
            .printed("[Q₁][M₁red]⁻¹[Q₁]ᵀ[η][U₁]{P}", [moved[0][2], moved[0][3]])
            .computed(turn(0))
            .misprint([-moved[0][2], -moved[0][3]], "minus, as in (7) and (15)"),
        case.row("(3)", "Δω_z, Δv_x of body 2")
            .printed("[Q₂][M₂red]⁻¹[Q₂]ᵀ[η][U₂]{P}", [moved[1][2], moved[1][3]])
            .computed(turn(1))
            .agrees(),
        case.row("(4)", "{v_n⁽¹⁾} − {v_n⁰⁽¹⁾}")
            .printed("[G₁]{P}", (g[0] * p).as_slice())
            .computed(normal(0).as_slice())
            .misprint((-(g[0] * p)).as_slice(), "minus, as in (7) and (15)"),
        case.row("(5)", "{v_n⁽²⁾} − {v_n⁰⁽²⁾}")
            .printed("[G₂]{P}", (g[1] * p).as_slice())
            .computed(normal(1).as_slice())
            .agrees(),
        case.row("(6)", "[G₁], upper triangle by rows")
            .printed("[U₁]ᵀ[η][Q₁][M₁red]⁻¹[Q₁]ᵀ[η][U₁]", fixed_upper(&g[0]))
            .computed(upper(&ours[0]))
            .agrees(),
        case.row("(6)", "[G₂], upper triangle by rows")
            .printed("[U₂]ᵀ[η][Q₂][M₂red]⁻¹[Q₂]ᵀ[η][U₂]", fixed_upper(&g[1]))
            .computed(upper(&ours[1]))
            .agrees(),
        case.row("(7)", "{v₁₂ₙ} − {v₁₂ₙ⁰}")
            .printed("−[[G₁] + [G₂]]{P}", (-(g[0] + g[1]) * p).as_slice())
            .computed(difference.clone())
            .agrees(),
        case.row("(8)–(10)", "{v₁₂ₙ} − {v₁₂ₙ⁰}, k = 0.6")
            .printed("−[[I] + [K]]{v₁₂ₙ⁰}", closing.iter().map(|v| -1.6 * v).collect::<Vec<_>>())
            .computed(difference)
            .agrees()
            .note("which is k = −v₁₂ₙ/v₁₂ₙ⁰ at each contact; the introduction has that not valid"),
    ])
}

/// (12) to (14): reduced inertias, and the velocities before.
fn quantities(collision: &Collision) -> Result<Vec<Row>, InputError> {
    let Collision { case, frames, result, before, .. } = collision;
    let inverse = case.constrained_inverse()?;
    // What turns about the hinges only: the moments that the library leaves.
    let reduced = [1.0 / inverse[(5, 5)], 1.0 / inverse[(11, 11)]];
    let v_n = [0, 1].map(|k| collision.normal(k, &before[k]));
    let point = |k: usize, i: usize| {
        let state = &result.before[k];
        frames.normals[i].dot(&state.velocity_at(&frames.points[i]))
    };
    Ok(vec![
        case.row("(12)", "M₁red, M₂red")
            .printed("[Q_i]ᵀ[η][M_i][Q_i]", [frames.reduced(0), frames.reduced(1)])
            .computed(reduced)
            .agrees(),
        case.row("(13)", "{v_n⁰⁽¹⁾}")
            .printed("[U₁]ᵀ[η]{v⁰⁽¹⁾}", v_n[0].as_slice())
            .computed([0, 1, 2].map(|i| point(0, i)))
            .agrees(),
        case.row("(13)", "{v_n⁰⁽²⁾}")
            .printed("[U₂]ᵀ[η]{v⁰⁽²⁾}", v_n[1].as_slice())
            .computed([0, 1, 2].map(|i| point(1, i)))
            .agrees(),
        case.row("(14)", "{v₁₂ₙ⁰}")
            .printed("{v_n⁰⁽¹⁾} − {v_n⁰⁽²⁾}", (v_n[0] - v_n[1]).as_slice())
            .computed(collision.closing())
            .agrees(),
    ])
}

/// (15) to (18): the velocities after, and what the hinges carry.
fn results(collision: &Collision) -> Vec<Row> {
    let Collision { case, result, before, after, .. } = collision;
    let moved = [0, 1].map(|k| collision.moved(k));
    vec![
        case.row("(15)", "ω_z, v_x of body 1 after")
            .printed(
                "{v⁰⁽¹⁾} − [Q₁][M₁red]⁻¹[Q₁]ᵀ[η][U₁]{P}",
                [before[0][2] - moved[0][2], before[0][3] - moved[0][3]],
            )
            .computed([after[0][2], after[0][3]])
            .agrees(),
        case.row("(16)", "ω_z, v_x of body 2 after")
            .printed(
                "{v⁰⁽²⁾} + [Q₂][M₂red]⁻¹[Q₂]ᵀ[η][U₂]{P}",
                [before[1][2] + moved[1][2], before[1][3] + moved[1][3]],
            )
            .computed([after[1][2], after[1][3]])
            .agrees(),
        case.row("(17)", "{ξ₁}")
            .printed("[[S₁]ᵀ[η][M₁]⁻¹[S₁]]⁻¹[S₁]ᵀ[η][M₁]⁻¹[U₁]{P}", collision.carried_by(0))
            .computed(carried(&result.joints[0]))
            .agrees(),
        case.row("(18)", "{ξ₂}")
            .printed("−[[S₂]ᵀ[η][M₂]⁻¹[S₂]]⁻¹[S₂]ᵀ[η][M₂]⁻¹[U₂]{P}", collision.carried_by(1))
            .computed(carried(&result.joints[1]))
            .agrees(),
    ]
}

/// ½ vᵀ η M v of both bodies.
fn energy(case: &Case, frames: &Frames, before: &[SVector<f64, 6>; 2]) -> Result<Row, InputError> {
    let twice: f64 =
        (0..2).map(|k| (before[k].transpose() * eta() * frames.mass(k) * before[k])[(0, 0)]).sum();
    let kinetic: f64 =
        case.prepared.instant.bodies.iter().map(|(body, state)| body.kinetic_energy(state)).sum();
    Ok(case
        .row("(1), (32)", "kinetic energy of both bodies before")
        .computed([kinetic])
        .beyond("½Σ{v⁰⁽ⁱ⁾}ᵀ[η][M_i]{v⁰⁽ⁱ⁾}", [0.5 * twice]))
}
