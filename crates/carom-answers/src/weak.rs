//! The weak form of the equations of motion as a check of a run, \[TZ\] (2.4).
//!
//! A motion x(t) with collisions satisfies, for every test function ψ of compact support,
//!
//! ```text
//! ∫ (∂L/∂x ψ + ∂L/∂ẋ ψ̇) dt = 0,   ψ(t) ∈ ker A(x(t)),   ψ(τ) ∈ ker B(x(τ)) at a collision
//! ```
//!
//! with A the rows of the joints and B those of joints and contacts together. Nothing in it refers to a law of impact, to a
//! coefficient or to an acceleration: it holds of a run exactly if the motion between impacts obeys the equations of motion
//! and the impulses act along the rows of B alone. For bodies ψ is a virtual displacement and a virtual turn of each, and
//!
//! ```text
//! ∂L/∂x ψ + ∂L/∂ẋ ψ̇ = Σ m v·ψ̇_c + Iω·ψ̇_θ + m g·ψ_c
//! ```
//!
//! About each impact ψ(t) = (1 − s²)³ Π(t) ψ̂, s = (t−τ)/w, with Π the orthogonal projector on ker A(x(t)) and ψ̂ one of a basis
//! of ker B(x(τ)). The integral is taken by Gauss's rule on both sides of τ, on states that the run itself gives at the
//! nodes, and is told over the integral of √2T |ψ̇|_G + |m g·ψ_c|, which bounds its terms. As a control the same is done with a ψ̂ along a contact's
//! normal, for which the impulse must show.
//!
//! Impacts at the very start or end, and those while a contact is held, are left out.

use carom::body::{Body, State};
use carom::impact::mechanism::Mechanism;
use carom::joint::Kind as JointKind;
use carom::record::{Kind, Memory};
use carom::scene::instant::{Instant, TOUCHING};
use carom::scene::model::Scene;
use carom::simulation::Simulation;

use carom::run::World;
use nalgebra::{DMatrix, DVector, UnitQuaternion};
use serde::Serialize;

use crate::options::NOT_NEGATIVE;
use crate::run::{Changes, Loop, Running};
use crate::{InputError, Subject};

/// The result of the weak form.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    /// The scene's title.
    pub title: Option<String>,
    /// Each impact that was looked at.
    pub impacts: Vec<Impact>,
    /// The worst residual over all test functions.
    pub residual_max: f64,
    /// Times of impacts that were left out.
    pub left_out: Vec<f64>,
}

/// One impact.
#[derive(Debug, Clone, Serialize)]
pub struct Impact {
    /// When.
    pub time: f64,
    /// Half the width of the test functions' support.
    pub window: f64,
    /// How many test functions there are: the dimension of ker B.
    pub functions: usize,
    /// The worst of their residuals.
    pub residual: f64,
    /// The residual of a function along a contact's normal, which is not allowed: not small where an impulse acted.
    pub control: f64,
}

/// Nodes of Gauss's rule on each side of an impact.
const NODES: usize = 20;
/// The most that a tied body may turn within a window.
const MOST_TURN: f64 = 0.3;
/// The most impacts that are looked at.
const MOST_IMPACTS: usize = 100;
/// Beside the largest singular value: none.
const RANK: f64 = 1e-9;

/// Runs a scene and holds the weak form against it, up to a time where one is given.
pub fn answer(subject: &Subject, until: Option<f64>) -> Result<Document, InputError> {
    NOT_NEGATIVE.check_some("until", until)?;
    check(subject)?;
    let changes = Changes { until, sample: Some(0.0), which: Some(Loop::Simulation), ..Changes::default() };
    let mut running = Running::begin(subject.clone(), changes, |_| true)?;
    let mut memory = Memory::default();
    while running.step(&mut memory) {}
    let end = running.engine.time();
    let scene = (*running.scene).clone();

    let mut times: Vec<f64> = memory.events.iter().map(|event| event.time).collect();
    times.dedup();
    let mut impacts: Vec<f64> =
        memory.events.iter().filter(|event| event.kind == Kind::Impact).map(|event| event.time).collect();
    impacts.dedup();
    let held_at = |time: f64| {
        let before = memory.events.iter().filter(|event| event.time <= time);
        before.fold(0_i64, |open, event| match event.kind {
            Kind::HoldBegin | Kind::Rest => open + 1,
            Kind::HoldEnd => open - 1,
            _ => open,
        }) > 0
    };

    let (world, states) = World::of(&scene);
    let mut motion = Simulation::new(world, &states, scene.run)
        .map_err(|_| InputError::of_option(None, "the scene's states are no start of a run", None))?;
    let mut found =
        Document { title: scene.title.clone(), impacts: Vec::new(), residual_max: 0.0, left_out: Vec::new() };
    for time in impacts.into_iter().take(MOST_IMPACTS) {
        let k = times.partition_point(|&t| t < time);
        let before = if k > 0 { times[k - 1] } else { 0.0 };
        let after = times.get(k + 1).copied().unwrap_or(end);
        let room = 0.5 * (time - before).min(after - time);
        let looked = if held_at(time) || room <= 0.0 { None } else { look(&scene, &mut motion, time, room) };
        match looked {
            Some(impact) => {
                found.residual_max = found.residual_max.max(impact.residual);
                found.impacts.push(impact);
            }
            None => found.left_out.push(time),
        }
    }
    Ok(found)
}

/// Refuses what the check does not cover.
fn check(subject: &Subject) -> Result<(), InputError> {
    let scene = &subject.scene;
    let expected = "a scene of bodies, planes, gravity and joints to the ground";
    if !scene.loads.is_empty() {
        return Err(subject.error_at("load[0]", "is no part of the weak form's Lagrangian here", expected));
    }
    if !scene.fills.is_empty() {
        return Err(subject.error_at("fill[0]", "makes more bodies than a weak form is taken of", expected));
    }
    for (k, joint) in scene.joints.iter().enumerate() {
        let carried = matches!(joint.kind, JointKind::KnifeEdge { .. } | JointKind::Rows(_));
        if joint.bodies.len() > 1 || carried {
            let message = "moves with its bodies: test functions that it allows are not made here";
            return Err(subject.error_at(&format!("joint[{k}]"), message, expected));
        }
    }
    Ok(())
}

/// A state of all bodies, as rows and numbers.
struct Place {
    bodies: Vec<(Body, State)>,
    /// G.
    mass: DMatrix<f64>,
    /// G v.
    momentum: DVector<f64>,
    /// √2T, the length of v in the kinetic metric.
    speed: f64,
    /// The projector on ker A.
    allowed: DMatrix<f64>,
}

impl Place {
    fn of(scene: &Scene, states: &[State]) -> Self {
        let bodies: Vec<(Body, State)> =
            scene.bodies.iter().zip(states).map(|(body, state)| (body.body, *state)).collect();
        let assembly = Mechanism { bodies: &bodies, joints: &scene.joints, contacts: &[] }.assemble();
        let problem = &assembly.problem;
        let allowed = projector(&problem.bilateral);
        let momentum = &problem.mass * &problem.velocity;
        let speed = momentum.dot(&problem.velocity).max(0.0).sqrt();
        Self { mass: assembly.problem.mass, momentum, speed, allowed, bodies }
    }

    /// How the projector changes with time.
    fn rate(&self, scene: &Scene, step: f64) -> DMatrix<f64> {
        let n = self.momentum.len();
        if scene.joints.is_empty() {
            return DMatrix::zeros(n, n);
        }
        let moved = |by: f64| {
            let states: Vec<State> = self
                .bodies
                .iter()
                .map(|(_, state)| State {
                    position: state.position + state.velocity * by,
                    orientation: UnitQuaternion::from_scaled_axis(state.angular_velocity * by)
                        * state.orientation,
                    ..*state
                })
                .collect();
            Self::of(scene, &states).allowed
        };
        (moved(step) - moved(-step)) / (2.0 * step)
    }
}

/// I − Aᵀ(AAᵀ)⁺A.
fn projector(rows: &DMatrix<f64>) -> DMatrix<f64> {
    let n = rows.ncols();
    let basis = kernel(rows);
    basis.iter().fold(DMatrix::zeros(n, n), |sum, x| sum + x * x.transpose())
}

/// An orthonormal basis of a kernel.
fn kernel(rows: &DMatrix<f64>) -> Vec<DVector<f64>> {
    let n = rows.ncols();
    // Square, so that all right singular vectors are there.
    let square = rows.clone().resize_vertically(n.max(rows.nrows()), 0.0);
    let svd = square.svd(false, true);
    let largest = svd.singular_values.max();
    let Some(right) = svd.v_t else { return Vec::new() };
    let none = |k: usize| svd.singular_values[k] <= RANK * largest.max(f64::MIN_POSITIVE);
    (0..n).filter(|&k| none(k)).map(|k| right.row(k).transpose()).collect()
}

/// The weak form about one impact.
fn look(scene: &Scene, motion: &mut Simulation, time: f64, room: f64) -> Option<Impact> {
    let spin = motion.states().iter().map(|state| state.angular_velocity.norm()).fold(0.0, f64::max);
    let tied = !scene.joints.is_empty() && spin > 0.0;
    let window = if tied { room.min(MOST_TURN / spin) } else { room };
    let nodes = gauss();
    let mut places = Vec::with_capacity(2 * NODES);
    let mut at_impact = None;
    for side in [-1.0, 1.0] {
        for &(x, weight) in &nodes {
            let s = 0.5 * (side + x);
            advance(motion, time + s * window);
            places.push((s, 0.5 * weight * window, Place::of(scene, &motion.states())));
        }
        if side < 0.0 {
            advance(motion, time);
            at_impact = Some(motion.states());
        }
    }
    let states = at_impact?;
    let mut there = scene.clone();
    for (body, state) in there.bodies.iter_mut().zip(&states) {
        (body.state, body.body_spin) = (*state, None);
    }
    there.contacts.clear();
    let instant = Instant::of(&there, TOUCHING).ok()?;
    let assembly = instant.mechanism().assemble();
    let problem = &assembly.problem;
    let n = problem.velocity.len();
    let mut rows = DMatrix::zeros(problem.bilateral.nrows() + problem.contacts.nrows(), n);
    rows.rows_mut(0, problem.bilateral.nrows()).copy_from(&problem.bilateral);
    rows.rows_mut(problem.bilateral.nrows(), problem.contacts.nrows()).copy_from(&problem.contacts);
    if problem.contacts.nrows() == 0 {
        return None;
    }

    let mut weights = DVector::zeros(n);
    for (k, at) in assembly.coordinates.iter().enumerate() {
        if let Some(at) = at {
            let pull = scene.gravity * scene.bodies[k].body.mass;
            weights.fixed_rows_mut::<3>(*at).copy_from(&pull);
        }
    }
    let rates: Vec<DMatrix<f64>> =
        places.iter().map(|(_, _, place)| place.rate(scene, 1e-4 * window)).collect();
    let residual = |direction: &DVector<f64>| {
        let (mut sum, mut size) = (0.0, 0.0);
        for ((s, weight, place), rate) in places.iter().zip(&rates) {
            let bump = (1.0 - s * s).powi(3);
            let slope = -6.0 * s * (1.0 - s * s).powi(2) / window;
            let allowed = &place.allowed * direction;
            let rate = &allowed * slope + rate * direction * bump;
            let displacement = allowed * bump;
            let pull = weights.dot(&displacement);
            sum += weight * (place.momentum.dot(&rate) + pull);
            // |Gv·ψ̇| is at most the product of their lengths in the kinetic metric.
            size += weight * (place.speed * rate.dot(&(&place.mass * &rate)).max(0.0).sqrt() + pull.abs());
        }
        if size > 0.0 { sum.abs() / size } else { 0.0 }
    };
    let functions = kernel(&rows);
    let normal = problem.contacts.row(0).transpose();
    Some(Impact {
        time,
        window,
        functions: functions.len(),
        residual: functions.iter().map(&residual).fold(0.0, f64::max),
        control: residual(&normal),
    })
}

/// Goes on to a time.
fn advance(motion: &mut Simulation, time: f64) {
    while motion.step_to(time, &mut ()) {}
}

/// Nodes and weights of Gauss's rule on [−1, 1], the nodes ascending.
fn gauss() -> [(f64, f64); NODES] {
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let count = NODES as f64;
    core::array::from_fn(|i| {
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let place = (NODES - 1 - i) as f64;
        let mut x = (std::f64::consts::PI * (place + 0.75) / (count + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..20 {
            // Legendre's polynomials by their recurrence.
            let (mut last, mut value) = (1.0, x);
            let mut order = 1.0;
            while order < count {
                (last, value) = (value, ((2.0 * order + 1.0) * x * value - order * last) / (order + 1.0));
                order += 1.0;
            }
            slope = count * (x * value - last) / (x * x - 1.0);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
}

#[cfg(test)]
mod tests {
    use super::gauss;

    #[test]
    fn the_rule_integrates_polynomials() {
        let integral = |power: i32| gauss().iter().map(|(x, w)| w * x.powi(power)).sum::<f64>();
        for (power, expected) in [(0, 2.0), (1, 0.0), (2, 2.0 / 3.0), (38, 2.0 / 39.0)] {
            assert!((integral(power) - expected).abs() < 1e-14, "{power}");
        }
        assert!(gauss().windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
