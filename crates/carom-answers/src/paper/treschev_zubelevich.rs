//! \[TZ\]: a ball against a rough wall and a rough floor, by the projector of T1.
//!
//! Letters: m mass, r radius, J moment of inertia, J' = J + mr², J̃ = J + mr²/2, μ the coefficient of restitution.

use carom::impact::Law;
use carom::shape::Shape;
use nalgebra::{DMatrix, Vector3};

use super::scenes::{self, Case, count, motion_after};
use super::{Paper, Row};
use crate::Refusal;

pub const PAPER: Paper = Paper {
    name: "treschev-zubelevich",
    citation: "D. Treschev, O. Zubelevich, On collisions in nonholonomic systems, Lomonosov Moscow State University",
    rows,
};

fn rows() -> Result<Vec<Row>, Refusal> {
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

/// v₁⁺, v₂⁺ and ω₃⁺ of the ball rolling into the wall, in closed form.
fn wall_map(ball: &Ball, mu: f64, [v, w]: [Vector3<f64>; 2]) -> [f64; 3] {
    let (r, j, jp, jt) = (ball.r, ball.j, ball.at_point(), ball.in_corner());
    let half = 0.5 * (1.0 + mu) / jt;
    [-mu * v.x, (1.0 - half * j) * v.y + half * r * j * w.z, half * jp / r * v.y + (1.0 - half * jp) * w.z]
}

/// The projector without the velocity along z, which neither side has: coordinates (v₁, v₂, ω₁, ω₂, ω₃).
fn in_five(projector: DMatrix<f64>) -> DMatrix<f64> {
    projector.remove_row(2).remove_column(2)
}

fn wall_elastic() -> Result<Vec<Row>, Refusal> {
    let case = Case::read(scenes::ROLLING_BALL_ELASTIC)?;
    let ball = Ball::of(&case);
    let (m, r, j, jp, jt) = (ball.m, ball.r, ball.j, ball.at_point(), ball.in_corner());
    let before = case.motion();
    let result = case.solve(Law::NewtonLcp)?;
    let [v, w] = motion_after(&result);
    let map = wall_map(&ball, 1.0, before);
    let projector = case.projector()?;
    let dimension = projector.trace();
    let p = in_five(projector) * (2.0 * jt);
    let entries = [p[(1, 1)], p[(2, 2)], p[(2, 4)], p[(1, 2)], p[(2, 1)]];
    // Without the wall B is the floor's rows A.
    let floor = case.projector_of_joints()?.trace();
    let energy = result.outcome.energy;
    let least = case.friction(&result).1;
    Ok(vec![
        case.row("Theorem 5.1", "v₁⁺").printed("−v₁", [map[0]]).computed([v.x]).agrees(),
        case.row("Theorem 5.1", "v₂⁺").printed("(1 − J/J̃) v₂ + (rJ/J̃) ω₃", [map[1]]).computed([v.y]).agrees(),
        case.row("Theorem 5.1", "ω₃⁺")
            .printed("(J'/rJ̃) v₂ + (1 − J'/J̃) ω₃", [map[2]])
            .computed([w.z])
            .agrees(),
        case.row("Theorem 5.1", "ω₁⁺, ω₂⁺: it rolls on")
            .printed("−v₂⁺/r, v₁⁺/r", [-map[1] / r, map[0] / r])
            .computed([w.x, w.y])
            .agrees(),
        case.row("5.1, P", "entries (1,1) and (4,4) of 2J̃ P")
            .printed("not 2J̃", [])
            .computed([p[(0, 0)], p[(3, 3)]])
            .misprint(
                super::same(&[p[(0, 0)], p[(3, 3)]], &[2.0 * jt, 2.0 * jt], 0.0, 1e-12),
                "both are 2J̃; the coordinates are in the order (x, y, θ, −φ, ψ)",
            ),
        case.row(
            "5.1, P",
            "entries (2,2), (3,3), (3,5), (2,3), (3,2) of 2J̃ P, coordinates (v₁, v₂, ω₁, ω₂, ω₃)",
        )
        .printed("2J, J', J, rJ, mr", [2.0 * j, jp, j, r * j, m * r])
        .computed(entries)
        .agrees(),
        case.row("5.1, P", "dimension of the image of P, with B for the floor and the wall")
            .printed("“im A”, the floor alone:", [floor])
            .computed([dimension])
            .misprint(true, "im B"),
        case.row("section 6", "change of energy at μ = 1")
            .printed("does not call μ = 1 elastic", [])
            .computed([energy.change])
            .among(energy.before)
            .misprint(energy.change.abs() <= 1e-12 * energy.before, "μ = 1 is elastic"),
        case.row("Theorem 5.1", "independent self-stresses of floor and wall")
            .computed([count(result.outcome.self_stresses.len())])
            .beyond("velocities unique, impulses not:", [1.0]),
        case.row("Theorem 5.1", "friction coefficient that floor and wall need at least, however they share")
            .computed(least.map_or_else(Vec::new, |least| vec![least]))
            .within(1e-8)
            .beyond("more than:", [1.0]),
    ])
}

fn wall_with_restitution() -> Result<Vec<Row>, Refusal> {
    let case = Case::read(scenes::ROLLING_BALL)?;
    let ball = Ball::of(&case);
    let mu = case.prepared.instant.contacts[0].restitution;
    let result = case.solve(Law::NewtonLcp)?;
    let [v, w] = motion_after(&result);
    let map = wall_map(&ball, mu, case.motion());
    let problem = &case.prepared.assembly.problem;
    let along = case.projector()? * &problem.velocity;
    let reflected = &problem.velocity - &along * (1.0 + mu);
    let lost = 0.5 * (1.0 - mu * mu) * along.dot(&(&problem.mass * &along));
    Ok(vec![
        case.row("section 6", "v₁⁺, v₂⁺, ω₃⁺ at μ = 0.5 by the projector")
            .printed("(I − (1+μ) P) v⁻", [reflected[0], reflected[1], reflected[5]])
            .computed([v.x, v.y, w.z])
            .agrees(),
        case.row("section 6", "change of energy at μ = 0.5")
            .printed("−½ (1 − μ²) |P v⁻|²", [-lost])
            .computed([result.outcome.energy.change])
            .agrees(),
        case.row("5.1", "v₁⁺ at μ = 0.5").computed([v.x]).beyond("−μ v₁", [map[0]]),
        case.row("5.1", "v₂⁺ at μ = 0.5")
            .computed([v.y])
            .beyond("(1 − (1+μ)J/2J̃) v₂ + (1+μ)(rJ/2J̃) ω₃", [map[1]]),
        case.row("5.1", "ω₃⁺ at μ = 0.5")
            .computed([w.z])
            .beyond("(1+μ)(J'/2rJ̃) v₂ + (1 − (1+μ)J'/2J̃) ω₃", [map[2]]),
    ])
}

fn floor() -> Result<Vec<Row>, Refusal> {
    let mut case = Case::read(scenes::THROWN_BALL)?;
    let ball = Ball::of(&case);
    let (m, r, j, jp) = (ball.m, ball.r, ball.j, ball.at_point());
    let [v, w] = case.motion();
    // The slip of the touching point.
    let (slip_x, slip_y) = (v.x - r * w.y, v.y + r * w.x);
    let map = |mu: f64| {
        let push = 1.0 + mu;
        let velocity = [v.x - push * j / jp * slip_x, v.y - push * j / jp * slip_y, -mu * v.z];
        let spin = [w.x - push * m * r / jp * slip_y, w.y + push * m * r / jp * slip_x, w.z];
        [velocity, spin]
    };
    let mut rows = Vec::new();
    for (mu, equation, velocity, spin) in
        [(1.0, "Theorem 5.2", "v⁺", "ω⁺"), (0.5, "section 6", "v⁺ at μ = 0.5", "ω⁺ at μ = 0.5")]
    {
        case.set_restitution(&[mu]);
        let result = case.solve(Law::NewtonLcp)?;
        let [after, spin_after] = motion_after(&result);
        let [expected, expected_spin] = map(mu);
        rows.push(
            case.row(equation, velocity)
                .printed("v − (1+μ)(J/J') slip, −μ v₃", expected)
                .computed(after.as_slice())
                .agrees(),
        );
        rows.push(
            case.row(equation, spin)
                .printed("ω + (1+μ)(mr/J') slip turned, ω₃", expected_spin)
                .computed(spin_after.as_slice())
                .agrees(),
        );
    }
    let p = case.projector()?;
    let result = case.solve(Law::NewtonLcp)?;
    let energy = result.outcome.energy;
    let problem = &case.prepared.assembly.problem;
    let along = &p * &problem.velocity;
    let square = along.dot(&(&problem.mass * &along));
    let (needed, _) = case.friction(&result);
    rows.extend([
        case.row("5.2, P", "entry (3,3) of J' P")
            .printed("not J'", [])
            .computed([jp * p[(2, 2)]])
            .misprint((p[(2, 2)] - 1.0).abs() < 1e-12, "it is J'"),
        case.row("section 6", "change of energy at μ = 0.5")
            .printed("−½ (1 − μ²) |P v⁻|²", [-0.5 * (1.0 - 0.25) * square])
            .computed([energy.change])
            .agrees(),
        case.row("Theorem 5.2", "friction coefficient that the floor needs")
            .computed(needed)
            .beyond("J |slip| / (J' |v₃|)", [j * slip_x.hypot(slip_y) / (jp * v.z.abs())]),
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
fn bounces(case: &mut Case, number: usize) -> Result<Vec<Bounce>, Refusal> {
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

fn pendulum() -> Result<Vec<Row>, Refusal> {
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
        case.row("5.2.1", "spin that brings it back")
            .printed("r m v / J", [spin])
            .computed([start[1].y])
            .agrees(),
        case.row("5.2.1", "v₁⁺, v₃⁺, ω₂⁺ of the first bounce")
            .printed("v, u, −r m v / J", [v, u, -spin])
            .computed([after[0].x, after[0].z, after[1].y])
            .agrees(),
        case.row("5.2.1", "where it lands first and second")
            .printed("2uv/g, 0", [2.0 * u * v / g, 0.0])
            .computed([elastic[1].place, elastic[2].place])
            .agrees(),
        case.row("5.2.1", "period").printed("4u/g", [4.0 * u / g]).computed([elastic[2].time]).agrees(),
        case.row("section 6", "time of all bounces at μ = 0.5 (Zeno)")
            .computed([total])
            .beyond("2uμ / (g (1−μ))", [2.0 * u * 0.5 / (g * 0.5)]),
        case.row("5.2.1", "friction coefficient that the floor needs")
            .computed(needed)
            .beyond("v/u", [v / u]),
    ])
}

fn superball() -> Result<Vec<Row>, Refusal> {
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
            .row("section 6", "change of energy in all three, μ = 1")
            .computed([third.outcome.energy.after - before])
            .among(before)
            .beyond("none:", [0.0]),
    ])
}
