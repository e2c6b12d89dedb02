//! \[TZ\]: a ball against a rough wall and a rough floor, by the projector of T1.
//!
//! Letters: m mass, r radius, J moment of inertia, J' = J + mr², J̃ = J + mr²/2, μ the coefficient of restitution.

use carom::impact::Law;
use carom::impact::mechanism::BodyOutcome;
use carom::shape::Shape;
use nalgebra::{DMatrix, DVector, Vector3};

use super::scenes::{self, Case, count, motion_after};
use super::{Paper, Row};
use crate::InputError;

pub const PAPER: Paper = Paper {
    name: "treschev-zubelevich",
    citation: "D. Treschev, O. Zubelevich, On collisions in nonholonomic systems, Lomonosov Moscow State University",
    version: "the undated text with the grant RFBR 12-01-00441",
    rows,
};

fn rows() -> Result<Vec<Row>, InputError> {
    let mut rows = wall_elastic()?;
    rows.extend(wall_with_restitution()?);
    rows.extend(floor()?);
    rows.extend(pendulum()?);
    rows.extend(superball()?);
    Ok(rows)
}

/// The ball's constants.
struct Ball {
    m: f64,
    r: f64,
    j: f64,
}

impl Ball {
    fn of(case: &Case) -> Self {
        let body = &case.prepared.instant.bodies[0].0;
        let r = if let Shape::Sphere { radius } = body.shape { radius } else { 0.0 };
        Self { m: body.mass, r, j: body.inertia.x }
    }

    /// J' = J + mr².
    fn at_point(&self) -> f64 {
        self.j + self.m * self.r * self.r
    }

    /// J̃ = J + mr²/2.
    fn in_corner(&self) -> f64 {
        self.j + 0.5 * self.m * self.r * self.r
    }
}

/// v₁⁺, v₂⁺ and ω₃⁺ of the ball rolling into the wall with restitution, which the paper does not have.
fn wall_map(ball: &Ball, mu: f64, [v, w]: [Vector3<f64>; 2]) -> [f64; 3] {
    let (r, j, jp, jt) = (ball.r, ball.j, ball.at_point(), ball.in_corner());
    let half = 0.5 * (1.0 + mu) / jt;
    [-mu * v.x, (1.0 - half * j) * v.y + half * r * j * w.z, half * jp / r * v.y + (1.0 - half * jp) * w.z]
}

/// A matrix without the velocity along z, which neither side has: coordinates (v₁, v₂, ω₁, ω₂, ω₃).
fn in_five(matrix: DMatrix<f64>) -> DMatrix<f64> {
    matrix.remove_row(2).remove_column(2)
}

/// (3.1): P of rows and a diagonal metric.
fn lemma(rows: &DMatrix<f64>, metric: &[f64]) -> DMatrix<f64> {
    let inverse =
        DMatrix::from_diagonal(&DVector::from_iterator(metric.len(), metric.iter().map(|g| g.recip())));
    let delassus = rows * &inverse * rows.transpose();
    delassus.try_inverse().map_or_else(
        || DMatrix::zeros(metric.len(), metric.len()),
        |delassus| inverse * rows.transpose() * delassus * rows,
    )
}

fn entries(matrix: &DMatrix<f64>, places: &[(usize, usize)]) -> Vec<f64> {
    places.iter().map(|&(i, j)| matrix[(i - 1, j - 1)]).collect()
}

/// A, B and G as printed, in the five coordinates, and P of both by (3.1).
struct Printed {
    metric: [f64; 5],
    of_a: DMatrix<f64>,
    of_b: DMatrix<f64>,
}

impl Printed {
    fn of(ball: &Ball) -> Self {
        let (m, r, j) = (ball.m, ball.r, ball.j);
        let metric = [m, m, j, j, j];
        let a = DMatrix::from_row_slice(2, 5, &[1.0, 0.0, 0.0, -r, 0.0, 0.0, 1.0, r, 0.0, 0.0]);
        #[rustfmt::skip]
        let b = DMatrix::from_row_slice(4, 5, &[
            1.0, 0.0, 0.0, 0.0, 0.0,
            0.0, 1.0, 0.0, 0.0, -r,
            0.0, 0.0, 0.0, 1.0, 0.0,
            0.0, 1.0, r, 0.0, 0.0,
        ]);
        Self { metric, of_a: lemma(&a, &metric), of_b: lemma(&b, &metric) }
    }
}

fn wall_elastic() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::ROLLING_BALL_ELASTIC)?;
    let ball = Ball::of(&case);
    let printed = Printed::of(&ball);
    let result = case.solve(Law::NewtonLcp)?;
    let projector = case.projector()?;
    let mut rows = constraints(&case, &ball, &printed, &projector, motion_after(&result));
    rows.extend(projectors(&case, &ball, &printed, &projector)?);
    rows.extend(reflection(&case, &projector, &result));
    rows.extend(theorem(&case, &ball, &result));
    rows.push(weak(&case)?);
    Ok(rows)
}

/// Coordinates, ranks, rolling, and ideal constraints.
fn constraints(
    case: &Case,
    ball: &Ball,
    Printed { metric, of_a, of_b }: &Printed,
    projector: &DMatrix<f64>,
    [v, w]: [Vector3<f64>; 2],
) -> Vec<Row> {
    let (r, [v0, w0]) = (ball.r, case.motion());
    let p = in_five(projector.clone());
    let change = DVector::from_vec(vec![v.x - v0.x, v.y - v0.y, w.x - w0.x, w.y - w0.y, w.z - w0.z]);
    // What spans ker B of the printed B.
    let free = DVector::from_vec(vec![0.0, 1.0, -1.0 / r, 0.0, 1.0 / r]);
    let virtual_work: f64 = (0..5).map(|i| 0.5 * change[i] * metric[i] * free[i]).sum();
    let size: f64 = (0..5).map(|i| 0.5 * (change[i] * metric[i] * free[i]).abs()).sum();
    let at_floor = v + w.cross(&Vector3::new(0.0, 0.0, -r));
    vec![
        case.row("section 1", "rates of the coordinates as 5.1 has them, v₁, v₂, ω₁, ω₂, ω₃")
            .printed("x = (x_S, y_S, −φ, θ, ψ), ω = θ̇e_x + ψ̇e_z − φ̇e_y", [v0.x, v0.y, w0.y, w0.x, w0.z])
            .computed([v0.x, v0.y, w0.x, w0.y, w0.z])
            .misprint([v0.x, v0.y, w0.x, w0.y, w0.z], "x = (x_S, y_S, θ, −φ, ψ)"),
        case.row("section 1", "m − s, the rank of B, with m = 5 and s = 1")
            .printed("dim im A(x) = m − s:", [of_a.trace()])
            .computed([p.trace()])
            .misprint([of_b.trace()], "dim im B(x) = m − s; A has the rank m − l"),
        case.row("(1.1)", "v_C after")
            .printed("v_S + [ω, SC] = 0:", [0.0; 3])
            .computed(at_floor.as_slice())
            .among(v.norm())
            .agrees(),
        case.row("(2.9), (4.1)", "T(v⁺ − v⁻, u), u spanning ker B")
            .printed("", [0.0])
            .computed([virtual_work])
            .among(size)
            .agrees(),
    ]
}

/// The projectors of 5.1.
fn projectors(
    case: &Case,
    ball: &Ball,
    Printed { of_a, of_b, .. }: &Printed,
    projector: &DMatrix<f64>,
) -> Result<Vec<Row>, InputError> {
    let (m, r, j, jp, jt) = (ball.m, ball.r, ball.j, ball.at_point(), ball.in_corner());
    let p = in_five(projector.clone());
    let floor = in_five(case.projector_of_joints()?);
    let bilateral = &case.prepared.assembly.problem.bilateral;
    let some_of_a = [(1, 1), (1, 4), (2, 2), (2, 3), (3, 2), (3, 3), (4, 1), (4, 4)];
    let some = [(2, 2), (3, 3), (3, 5), (2, 3), (3, 2), (2, 5), (5, 2), (5, 3), (5, 5)];
    Ok(vec![
        case.row("5.1, A", "P of (3.1) with A for B: (1,1), (1,4), (2,2), (2,3), (3,2), (3,3), (4,1), (4,4)")
            .printed(
                "A = ((1, 0, 0, −r, 0), (0, 1, r, 0, 0)), G = diag(m, m, J, J, J)",
                entries(of_a, &some_of_a),
            )
            .computed(entries(&floor, &some_of_a))
            .agrees(),
        case.row("(3.1), 5.1, B", "P: (2,2), (3,3), (3,5), (2,3), (3,2), (2,5), (5,2), (5,3), (5,5)")
            .printed(
                "G⁻¹Bᵀ(BG⁻¹Bᵀ)⁻¹B, B = ((1, 0, 0, 0, 0), (0, 1, 0, 0, −r), (0, 0, 0, 1, 0), (0, 1, r, 0, 0))",
                entries(of_b, &some),
            )
            .computed(entries(&p, &some))
            .agrees(),
        case.row("5.1, P", "P: (1,1), (4,4)")
            .printed("1/(2J̃)", [0.5 / jt; 2])
            .computed([p[(0, 0)], p[(3, 3)]])
            .misprint(
                entries(of_b, &[(1, 1), (4, 4)]),
                "2J̃ for 1 in the matrix: as printed P is no projector, and v₁⁺ is not −v₁⁻",
            ),
        case.row("5.1, P", "P: (2,2), (3,3), (3,5), (2,3), (3,2), (2,5), (5,2), (5,3), (5,5)")
            .printed(
                "(2J, J', J, Jr, rm, −Jr, −rm, J, J')/(2J̃)",
                [2.0 * j, jp, j, j * r, r * m, -j * r, -r * m, j, jp].map(|x| 0.5 * x / jt),
            )
            .computed(entries(&p, &some))
            .agrees(),
        case.row("(3.2)", "|AP − A|")
            .printed("AP = A:", [0.0])
            .computed([(bilateral * projector - bilateral).norm()])
            .among(bilateral.norm())
            .agrees(),
    ])
}

/// R = I − 2P, and what it keeps.
fn reflection(case: &Case, projector: &DMatrix<f64>, result: &BodyOutcome) -> Vec<Row> {
    let [v, w] = motion_after(result);
    let n = projector.nrows();
    let reflection = DMatrix::identity(n, n) - projector * 2.0;
    let reflected = &reflection * &case.prepared.assembly.problem.velocity;
    let energy = result.outcome.energy;
    vec![
        case.row("(4.2)", "v₁⁺, v₂⁺, ω₁⁺, ω₂⁺, ω₃⁺")
            .printed("(I − 2P)v⁻", [reflected[0], reflected[1], reflected[3], reflected[4], reflected[5]])
            .computed([v.x, v.y, w.x, w.y, w.z])
            .agrees(),
        case.row("Hypothesis 2", "T⁺")
            .printed("T⁻", [energy.before])
            .computed([energy.after])
            .agrees()
            .note("section 6 calls μ = 1 super elastic; it is perfectly elastic"),
        case.row("Hypothesis 3", "|R² − I|")
            .printed("R² = I:", [0.0])
            .computed([(&reflection * &reflection - DMatrix::identity(n, n)).norm()])
            .among(reflection.norm())
            .agrees(),
    ]
}

/// Theorem 5.1.
fn theorem(case: &Case, ball: &Ball, result: &BodyOutcome) -> Vec<Row> {
    let (m, r, j, jp, jt) = (ball.m, ball.r, ball.j, ball.at_point(), ball.in_corner());
    let ([v0, w0], [v, w]) = (case.motion(), motion_after(result));
    let least = case.friction(result).1;
    vec![
        case.row("Theorem 5.1", "v₁⁺").printed("−v₁⁻", [-v0.x]).computed([v.x]).agrees(),
        case.row("Theorem 5.1", "v₂⁺")
            .printed("(r²m/2J̃) v₂⁻ + (rJ/J̃) ω₃⁻", [r * r * m / (2.0 * jt) * v0.y + r * j / jt * w0.z])
            .computed([v.y])
            .agrees(),
        case.row("Theorem 5.1", "ω₃⁺")
            .printed("(J'/rJ̃) v₂⁻ − (r²m/2J̃) ω₃⁻", [jp / (r * jt) * v0.y - r * r * m / (2.0 * jt) * w0.z])
            .computed([w.z])
            .agrees(),
        case.row("(5.1)", "ω₂⁺ r, −ω₁⁺ r")
            .printed("v₁⁺, v₂⁺", [v.x, v.y])
            .computed([w.y * r, -w.x * r])
            .agrees(),
        case.row("Theorem 5.1", "independent self-stresses of floor and wall")
            .computed([count(result.outcome.self_stresses.len())])
            .beyond("velocities unique, impulses not:", [1.0]),
        case.row("Theorem 5.1", "friction coefficient that floor and wall need at least, however they share")
            .computed(least.map_or_else(Vec::new, |least| vec![least]))
            .within(1e-8)
            .beyond("more than:", [1.0]),
    ]
}

/// The weak form of the motion through the impact, against test functions that the constraints allow: the ball starts a
/// tenth of a second before.
fn weak(case: &Case) -> Result<Row, InputError> {
    let mut subject = case.prepared.subject.clone();
    let state = &mut subject.scene.bodies[0].state;
    state.position -= state.velocity * 0.1;
    let found = crate::weak::answer(&subject, Some(0.2))?;
    let looked_at = found.impacts.iter().any(|impact| impact.functions > 0 && impact.control > 1e-3);
    Ok(case
        .row("(2.4), (2.5)", "∫(∂L/∂x ψ + ∂L/∂ẋ ψ̇)dt over its terms, greatest of the test functions")
        .printed("", [0.0])
        .computed([if looked_at { found.residual_max } else { f64::NAN }])
        .among(1.0)
        .within(1e-9)
        .agrees()
        .note("ψ ∈ ker A(x(t)) about the impact, ψ(τ) ∈ ker B(x(τ)) at it; in carom weak-form for any run"))
}

fn wall_with_restitution() -> Result<Vec<Row>, InputError> {
    let case = Case::read(scenes::ROLLING_BALL)?;
    let ball = Ball::of(&case);
    let mu = case.prepared.instant.contacts[0].restitution;
    let result = case.solve(Law::NewtonLcp)?;
    let [v, w] = motion_after(&result);
    let map = wall_map(&ball, mu, case.motion());
    let problem = &case.prepared.assembly.problem;
    let across = case.projector()? * &problem.velocity;
    let along = &problem.velocity - &across;
    let by_parts = along - &across * mu;
    let reflected = &problem.velocity - &across * (1.0 + mu);
    let lost = (1.0 - mu * mu) * 0.5 * across.dot(&(&problem.mass * &across));
    Ok(vec![
        case.row("(6.1)", "v₁⁺, v₂⁺, ω₃⁺ at μ = 0.5")
            .printed("−μv_⊥⁻ + v_∥⁻", [by_parts[0], by_parts[1], by_parts[5]])
            .computed([v.x, v.y, w.z])
            .agrees(),
        case.row("section 6", "v₁⁺, v₂⁺, ω₃⁺ at μ = 0.5")
            .printed("(I − (1+μ)P)v⁻", [reflected[0], reflected[1], reflected[5]])
            .computed([v.x, v.y, w.z])
            .agrees(),
        case.row("section 6", "change of energy at μ = 0.5")
            .computed([result.outcome.energy.change])
            .beyond("−(1 − μ²)|Pv⁻|² in the paper's norm, |ξ|² = T(ξ, ξ)", [-lost]),
        case.row("5.1", "v₁⁺ at μ = 0.5").computed([v.x]).beyond("−μ v₁", [map[0]]),
        case.row("5.1", "v₂⁺ at μ = 0.5")
            .computed([v.y])
            .beyond("(1 − (1+μ)J/2J̃) v₂ + (1+μ)(rJ/2J̃) ω₃", [map[1]]),
        case.row("5.1", "ω₃⁺ at μ = 0.5")
            .computed([w.z])
            .beyond("(1+μ)(J'/2rJ̃) v₂ + (1 − (1+μ)J'/2J̃) ω₃", [map[2]]),
    ])
}

/// The six formulas of Theorem 5.2, which are those of section 6 at μ = 1.
const THROWN: [(&str, &str, &str); 6] = [
    ("v₁⁺", "((mr² − J)/J') v₁⁻ + (2Jr/J') ω₂⁻", "((mr² − μJ)/J') v₁⁻ + (Jr(1+μ)/J') ω₂⁻"),
    ("v₂⁺", "((mr² − J)/J') v₂⁻ − (2Jr/J') ω₁⁻", "((mr² − μJ)/J') v₂⁻ − (Jr(1+μ)/J') ω₁⁻"),
    ("v₃⁺", "−v₃⁻", "−μ v₃⁻"),
    ("ω₁⁺", "−(2rm/J') v₂⁻ + ((J − mr²)/J') ω₁⁻", "−(rm(1+μ)/J') v₂⁻ + ((J − μmr²)/J') ω₁⁻"),
    ("ω₂⁺", "(2rm/J') v₁⁻ + ((J − mr²)/J') ω₂⁻", "(rm(1+μ)/J') v₁⁻ + ((J − μmr²)/J') ω₂⁻"),
    ("ω₃⁺", "ω₃⁻", "ω₃⁻"),
];

fn floor() -> Result<Vec<Row>, InputError> {
    let mut case = Case::read(scenes::THROWN_BALL)?;
    let ball = Ball::of(&case);
    let (m, r, j, jp) = (ball.m, ball.r, ball.j, ball.at_point());
    let [v, w] = case.motion();
    let square = m * r * r;
    let map = |mu: f64| {
        let push = 1.0 + mu;
        [
            (square - mu * j) / jp * v.x + j * r * push / jp * w.y,
            (square - mu * j) / jp * v.y - j * r * push / jp * w.x,
            -mu * v.z,
            -r * m * push / jp * v.y + (j - mu * square) / jp * w.x,
            r * m * push / jp * v.x + (j - mu * square) / jp * w.y,
            w.z,
        ]
    };
    let mut rows = Vec::new();
    for (mu, equation) in [(1.0, "Theorem 5.2"), (0.5, "section 6, μ = 0.5")] {
        case.set_restitution(&[mu]);
        let [after, spin] = motion_after(&case.solve(Law::NewtonLcp)?);
        let found = [after.x, after.y, after.z, spin.x, spin.y, spin.z];
        let expected = map(mu);
        for (i, (quantity, elastic, with_restitution)) in THROWN.iter().enumerate() {
            let formula = if i == 5 || mu == 1.0 { elastic } else { with_restitution };
            rows.push(
                case.row(equation, quantity).printed(formula, [expected[i]]).computed([found[i]]).agrees(),
            );
        }
    }
    // The same floor twice, with the fall between: what the tangent had comes back.
    case.set_restitution(&[1.0]);
    let first = motion_after(&case.solve(Law::NewtonLcp)?);
    let lever = Vector3::new(0.0, 0.0, r);
    let about = |[v, w]: &[Vector3<f64>; 2]| lever.cross(v) * m + w * j;
    case.set_motion([Vector3::new(first[0].x, first[0].y, -first[0].z), first[1]]);
    let [second, second_spin] = motion_after(&case.solve(Law::NewtonLcp)?);
    case.set_motion([v, w]);
    case.set_restitution(&[0.5]);
    let p = case.projector()?;
    let result = case.solve(Law::NewtonLcp)?;
    let damped = motion_after(&result);
    let problem = &case.prepared.assembly.problem;
    let across = &p * &problem.velocity;
    let energy = 0.5 * across.dot(&(&problem.mass * &across));
    let (needed, _) = case.friction(&result);
    let slip = (v.x - r * w.y).hypot(v.y + r * w.x);
    #[rustfmt::skip]
    let b = DMatrix::from_row_slice(3, 6, &[
        1.0, 0.0, 0.0, 0.0, -r, 0.0,
        0.0, 1.0, 0.0, r, 0.0, 0.0,
        0.0, 0.0, 1.0, 0.0, 0.0, 0.0,
    ]);
    let printed_b = lemma(&b, &[m, m, m, j, j, j]);
    let some = [(1, 1), (1, 5), (2, 2), (2, 4), (4, 2), (4, 4), (5, 1), (5, 5), (6, 6)];
    rows.extend([
        case.row("(3.1), 5.2, B", "P: (1,1), (1,5), (2,2), (2,4), (4,2), (4,4), (5,1), (5,5), (6,6)")
            .printed(
                "B = ((1, 0, 0, 0, −r, 0), (0, 1, 0, r, 0, 0), (0, 0, 1, 0, 0, 0)), G = diag(m, m, m, J, J, J)",
                entries(&printed_b, &some),
            )
            .computed(entries(&p, &some))
            .agrees(),
        case.row("5.2, P", "P: (1,1), (1,5), (2,2), (2,4), (4,2), (4,4), (5,1), (5,5), (6,6)")
            .printed(
                "(J, −Jr, J, Jr, rm, r²m, −rm, r²m, 0)/J'",
                [j, -j * r, j, j * r, r * m, square, -r * m, square, 0.0].map(|x| x / jp),
            )
            .computed(entries(&p, &some))
            .agrees(),
        case.row("5.2, P", "P: (3,3)")
            .printed("1/J'", [1.0 / jp])
            .computed([p[(2, 2)]])
            .misprint(entries(&printed_b, &[(3, 3)]), "J' for 1 in the matrix"),
        case.row("5.2", "angular momentum about C after, μ = 1")
            .printed("m[CS, v_S⁻] + Jω⁻", about(&[v, w]).as_slice())
            .computed(about(&first).as_slice())
            .agrees(),
        case.row("5.2", "angular momentum about C after, μ = 0.5")
            .computed(about(&damped).as_slice())
            .beyond("m[CS, v_S⁻] + Jω⁻ for every μ", about(&[v, w]).as_slice()),
        case.row("section 1, Hypothesis 3", "v₁, v₂, ω₁, ω₂, ω₃ after two bounces")
            .printed("R² = I: v₁⁻, v₂⁻, ω₁⁻, ω₂⁻, ω₃⁻", [v.x, v.y, w.x, w.y, w.z])
            .computed([second.x, second.y, second_spin.x, second_spin.y, second_spin.z])
            .agrees()
            .note("the effect of two bounces on the floor that section 1 takes from Garwin"),
        case.row("section 6", "change of energy at μ = 0.5")
            .computed([result.outcome.energy.change])
            .beyond("−(1 − μ²)|Pv⁻|² in the paper's norm, |ξ|² = T(ξ, ξ)", [-0.75 * energy]),
        case.row("Theorem 5.2", "friction coefficient that the floor needs")
            .computed(needed)
            .beyond("J |slip| / (J' |v₃|)", [j * slip / (jp * v.z.abs())]),
    ]);
    Ok(rows)
}

/// One bounce: when, where, and the velocity and spin after it.
struct Bounce {
    time: f64,
    place: f64,
    after: [Vector3<f64>; 2],
}

/// Bounces one after another: each starts from the library's result of the one before, after a flight in a parabola.
fn bounces(case: &mut Case, number: usize) -> Result<Vec<Bounce>, InputError> {
    let g = -case.prepared.subject.scene.gravity.z;
    let (mut time, mut place) = (0.0, 0.0);
    let mut found = Vec::with_capacity(number);
    for _ in 0..number {
        let after = motion_after(&case.solve(Law::NewtonLcp)?);
        found.push(Bounce { time, place, after });
        let flight = 2.0 * after[0].z / g;
        time += flight;
        place += after[0].x * flight;
        let mut before = after;
        before[0].z = -before[0].z;
        case.set_motion(before);
    }
    Ok(found)
}

fn pendulum() -> Result<Vec<Row>, InputError> {
    let mut case = Case::read(scenes::PENDULUM)?;
    let ball = Ball::of(&case);
    let start = case.motion();
    let (v, u, g) = (-start[0].x, -start[0].z, -case.prepared.subject.scene.gravity.z);
    let spin = ball.r * ball.m * v / ball.j;
    let first = case.solve(Law::NewtonLcp)?;
    let (needed, _) = case.friction(&first);
    let elastic = bounces(&mut case, 3)?;
    let after = elastic[0].after;
    case.set_motion(start);
    case.set_restitution(&[0.5]);
    // After sixty halvings the next flight is below rounding.
    let damped = bounces(&mut case, 60)?;
    let total = damped.last().map_or(0.0, |bounce| bounce.time);
    case.set_motion(start);
    case.set_restitution(&[1.0]);
    Ok(vec![
        case.row("5.2.1", "v_S⁺ where ω⁻ = (rmv/J)e_y")
            .printed("−v_S⁻", (-start[0]).as_slice())
            .computed(after[0].as_slice())
            .agrees(),
        case.row("5.2.1", "ω⁺ where ω⁻ = (rmv/J)e_y")
            .printed("−(rmv/J)e_y", [0.0, -spin, 0.0])
            .computed(after[1].as_slice())
            .agrees(),
        case.row("5.2.1", "where it lands first")
            .computed([elastic[1].place])
            .beyond("2uv/g, which follows", [2.0 * u * v / g]),
        case.row("5.2.1", "where it lands second, from where it began")
            .printed("", [0.0])
            .computed([elastic[2].place])
            .among(2.0 * u * v / g)
            .agrees(),
        case.row("5.2.1", "period").computed([elastic[2].time]).beyond("4u/g, which follows", [4.0 * u / g]),
        case.row("section 6", "time of all bounces at μ = 0.5 (Zeno)")
            .computed([total])
            .beyond("2uμ / (g (1−μ))", [2.0 * u * 0.5 / (g * 0.5)]),
        case.row("5.2.1", "friction coefficient that the floor needs")
            .computed(needed)
            .beyond("v/u", [v / u]),
    ])
}

fn superball() -> Result<Vec<Row>, InputError> {
    let mut floor = Case::read(scenes::SUPERBALL_FLOOR)?;
    let mut table = Case::read(scenes::SUPERBALL_TABLE)?;
    let ball = Ball::of(&floor);
    let speed = floor.motion()[0].x;
    // Off the floor, off the table's underside, off the floor again; no gravity between.
    let first = floor.solve(Law::NewtonLcp)?;
    table.set_motion(motion_after(&first));
    let second = table.solve(Law::NewtonLcp)?;
    floor.set_motion(motion_after(&second));
    let third = floor.solve(Law::NewtonLcp)?;
    let ratio = |result: &_| motion_after(result)[0].x / speed;
    let spin = |result: &_| ball.r * motion_after(result)[1].y / speed;
    let before = first.outcome.energy.before;
    Ok(vec![
        floor.row("Theorem 5.2", "v₁/v₀ off the floor").computed([ratio(&first)]).beyond("3/7", [3.0 / 7.0]),
        table
            .row("Theorem 5.2", "v₁/v₀ off the table's underside")
            .computed([ratio(&second)])
            .beyond("−31/49", [-31.0 / 49.0]),
        floor
            .row("Theorem 5.2", "v₁/v₀ off the floor again")
            .computed([ratio(&third)])
            .beyond("−333/343", [-333.0 / 343.0]),
        floor
            .row("Theorem 5.2", "rω₂/v₀ after each of the three")
            .computed([spin(&first), spin(&second), spin(&third)])
            .beyond("10/7, −60/49, −130/343", [10.0 / 7.0, -60.0 / 49.0, -130.0 / 343.0]),
        floor
            .row("Hypothesis 2", "change of energy in all three of section 6, μ = 1")
            .printed("", [0.0])
            .computed([third.outcome.energy.after - before])
            .among(before)
            .agrees(),
    ])
}
