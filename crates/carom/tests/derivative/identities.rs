//! Identities: elastic smooth impacts are symplectic, inelastic ones have the determinant of their law, and the transpose is the
//! transpose.

use carom::derivative::{Direction, STATE, StateChange};
use nalgebra::{DMatrix, DVector, Matrix3, SVector};

use crate::differences::{Numbers, Surface};
use crate::replay::Replay;

/// The matrix from (x, θ, v, ω) to (x, θ, momentum, angular momentum), of one body: δ(Iω) includes the turn of I.
fn to_momenta(replay: &Replay, body: usize, last: bool) -> DMatrix<f64> {
    let constants = &replay.world.bodies[body];
    let state = if last { replay.last[body] } else { replay.scene.bodies[body].state };
    let inertia = constants.world_inertia(&state.orientation);
    let spin = state.angular_velocity;
    let mut matrix = DMatrix::identity(STATE, STATE);
    for i in 0..3 {
        matrix[(6 + i, 6 + i)] = constants.mass;
    }
    matrix.view_mut((9, 9), (3, 3)).copy_from(&inertia);
    // δL = I δω + [δθ]Iω − I[δθ]ω = I δω − [L]δθ + I[ω]δθ.
    let momentum = inertia * spin;
    let turned: Matrix3<f64> = inertia * spin.cross_matrix() - momentum.cross_matrix();
    matrix.view_mut((9, 3), (3, 3)).copy_from(&turned);
    matrix
}

/// The symplectic form of one body in (x, θ, p, L), θ and L in the world: Ω = dx∧dp + dθ∧dL with the term of the turning frame,
/// −L·(dθ × dθ).
fn form(replay: &Replay, body: usize, last: bool) -> DMatrix<f64> {
    let constants = &replay.world.bodies[body];
    let state = if last { replay.last[body] } else { replay.scene.bodies[body].state };
    let momentum = constants.world_inertia(&state.orientation) * state.angular_velocity;
    let mut form = DMatrix::zeros(STATE, STATE);
    for i in 0..6 {
        form[(i, 6 + i)] = 1.0;
        form[(6 + i, i)] = -1.0;
    }
    form.view_mut((3, 3), (3, 3)).copy_from(&momentum.cross_matrix());
    form
}

/// The derivative of all bodies' states by all of them.
fn jacobian(replay: &Replay) -> DMatrix<f64> {
    let bodies = replay.world.bodies.len();
    let unit = |body: usize, k: usize| {
        let numbers = SVector::<f64, STATE>::from_fn(|i, _| if i == k { 1.0 } else { 0.0 });
        Direction::of_state(body, StateChange::from_numbers(&numbers))
    };
    let all: Vec<Direction> = (0..bodies).flat_map(|b| (0..STATE).map(move |k| unit(b, k))).collect();
    let found = replay.chain.forward(&all);
    let mut matrix = DMatrix::zeros(STATE * bodies, STATE * bodies);
    for (body, states) in found.states.iter().enumerate() {
        matrix.rows_mut(STATE * body, STATE).copy_from(states.as_ref().unwrap());
    }
    matrix
}

fn blocks(replay: &Replay, of: impl Fn(&Replay, usize) -> DMatrix<f64>) -> DMatrix<f64> {
    let bodies = replay.world.bodies.len();
    let mut matrix = DMatrix::zeros(STATE * bodies, STATE * bodies);
    for body in 0..bodies {
        matrix.view_mut((STATE * body, STATE * body), (STATE, STATE)).copy_from(&of(replay, body));
    }
    matrix
}

#[test]
fn elastic_runs_are_symplectic() {
    let (mut impacts, mut worst) = (0, 0.0_f64);
    for seed in 0..60 {
        let numbers = Numbers::draw(seed, Surface::Smooth, 1.0);
        let replay = Replay::of(&numbers.text());
        if !replay.chain.undefined().is_empty() {
            continue;
        }
        impacts += replay.memory.events.len();
        let start = blocks(&replay, |r, b| to_momenta(r, b, false));
        let end = blocks(&replay, |r, b| to_momenta(r, b, true));
        let map = end * jacobian(&replay) * start.try_inverse().unwrap();
        let (before, after) =
            (blocks(&replay, |r, b| form(r, b, false)), blocks(&replay, |r, b| form(r, b, true)));
        let kept = map.transpose() * after * &map;
        // Beside the size of the products that cancel.
        let error = (&kept - &before).amax() / (map.amax() * map.amax()).max(1.0);
        worst = worst.max(error);
        assert!(error < 1e-12, "{seed}: {error:e}");
    }
    assert!(impacts > 40, "{impacts}");
    println!("symplectic to {worst:.1e} in {impacts} impacts");
}

/// Phase volume: a smooth impact with restitution e takes the gap's rate to −e times itself, whatever else it does, and the time
/// of impact scales the gap's share by the same factor: e² in all.
#[test]
fn inelastic_runs_have_the_determinant_of_their_law() {
    let mut impacts = 0;
    for seed in 0..60 {
        let numbers = Numbers::draw(seed, Surface::Smooth, 0.7);
        let replay = Replay::of(&numbers.text());
        if !replay.chain.undefined().is_empty() {
            continue;
        }
        let count = i32::try_from(replay.memory.events.len()).unwrap();
        impacts += count;
        let start = blocks(&replay, |r, b| to_momenta(r, b, false));
        let end = blocks(&replay, |r, b| to_momenta(r, b, true));
        let map = end * jacobian(&replay) * start.try_inverse().unwrap();
        let expected = 0.7_f64.powi(2 * count);
        let found = map.determinant();
        assert!(
            (found / expected - 1.0).abs() < 1e-10 * map.amax().max(1.0),
            "{seed}: {found} {expected} {count}"
        );
    }
    assert!(impacts > 40, "{impacts}");
}

#[test]
fn the_adjoint_is_the_transpose() {
    let mut seen = 0;
    for seed in 0..60 {
        let surface = [Surface::Smooth, Surface::Rough, Surface::Coulomb][seed % 3];
        let numbers = Numbers::draw(seed as u64, surface, 0.8);
        let replay = Replay::of(&numbers.text());
        if !replay.chain.undefined().is_empty() {
            continue;
        }
        seen += 1;
        let paths = numbers.paths();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let parameters = replay.parameters(&paths);
        let directions: Vec<_> = parameters.iter().map(|p| p.direction.clone()).collect();
        let found = replay.chain.forward(&directions);
        let weight = |body: usize| {
            SVector::<f64, STATE>::from_fn(|i, _| ((7 * i + 3 * body + seed) as f64 * 0.71).sin())
        };
        let weights: Vec<StateChange> =
            (0..replay.world.bodies.len()).map(|body| StateChange::from_numbers(&weight(body))).collect();
        let gradient = replay.chain.backward(&replay.world, &weights).unwrap();
        for (j, direction) in directions.iter().enumerate() {
            let forward: f64 = found
                .states
                .iter()
                .enumerate()
                .map(|(body, states)| {
                    let column = DVector::from_column_slice(weight(body).as_slice());
                    states.as_ref().unwrap().column(j).dot(&column)
                })
                .sum();
            let size: f64 = found.states.iter().map(|s| s.as_ref().unwrap().column(j).norm()).sum();
            let back = gradient.along(direction);
            assert!(
                (forward - back).abs() <= 1e-12 * size.max(1.0),
                "{seed} {}: {forward} {back}",
                parameters[j].name
            );
        }
    }
    assert!(seen > 30, "{seen}");
}
