//! What the search rests on, from inside: bounds stay below the gap, and rates are those of the gap.

use nalgebra::{UnitQuaternion, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Moving;
use super::bound::Mode;
use super::pair::{Against, Instant, Near, Pair};
use crate::body::{Body, State};
use crate::motion::Flight;
use crate::shape::Shape;

struct Case {
    shapes: [Shape; 2],
    flights: [Flight; 2],
}

impl Case {
    /// Tumbling, one of the bodies falling, a random gap apart.
    fn new(source: &mut ChaCha8Rng, exponent: f64) -> Self {
        let mut vector = |size: f64| Vector3::from_fn(|_, _| size * source.random_range(-1.0..1.0));
        let axes = [(); 2].map(|()| vector(1.0).map(libm::exp2).into());
        let shapes = axes.map(|semi_axes| Shape::Superellipsoid { semi_axes, exponent });
        let mut states = [(); 2].map(|()| State {
            position: Vector3::zeros(),
            orientation: UnitQuaternion::from_scaled_axis(vector(3.0)),
            velocity: vector(2.0),
            angular_velocity: vector(3.0),
        });
        let gravity = [vector(5.0), Vector3::zeros()];
        let n = vector(1.0).normalize();
        let foot = |i: usize, n: Vector3<f64>| {
            let turn = states[i].orientation;
            turn * shapes[i].support(&turn.inverse_transform_vector(&n))
        };
        states[1].position = foot(0, n) - foot(1, -n) + n * libm::exp(vector(4.0).x - 4.0);
        let flights = [0, 1].map(|i| {
            let body = Body { shape: shapes[i], mass: 1.0, inertia: shapes[i].unit_inertia(), fixed: false };
            Flight::new(&body, &states[i], &gravity[i])
        });
        Self { shapes, flights }
    }

    fn pair(&self) -> Pair<'_, Shape, Flight, Shape, Flight> {
        let [first, second] = [0, 1].map(|i| Moving::new(&self.shapes[i], &self.flights[i]));
        Pair::new(first, Against::Body(second))
    }
}

const EXPONENTS: [f64; 5] = [2.0, 2.5, 4.0, 7.3, 20.0];

/// f(n/|n|) ≤ g for the normal n(τ) that a bound is along, so that bound ≤ |n(τ)| g.
#[test]
fn bounds_stay_below_the_gap_both_ways() {
    let mut source = ChaCha8Rng::seed_from_u64(11);
    let mut tight = [0; 2];
    for round in 0..1500 {
        let case = Case::new(&mut source, EXPONENTS[round % EXPONENTS.len()]);
        let pair = case.pair();
        let now = pair.at(0.0, Near::Nothing).unwrap();
        let span = libm::exp(source.random_range(-6.0..0.0));
        for sign in [1.0, -1.0] {
            let fixed = Some(pair.bound(&now, sign, [Mode::Turning; 2]));
            for (kind, bound) in [fixed, pair.drifting_bound(&now, sign, span)].into_iter().enumerate() {
                let Some(bound) = bound else { continue };
                for part in [1e-3, 0.03, 0.2, 0.5, 1.0] {
                    let tau = part * span.min(bound.horizon());
                    let gap = pair.at(sign * tau, Near::Instant(&now)).unwrap().gap();
                    let turned = now.rates.map_or(0.0, |rates| rates.normal.norm_squared());
                    let length = if kind == 1 { libm::sqrt(1.0 + turned * tau * tau) } else { 1.0 };
                    let over = bound.value(tau) - length * gap;
                    assert!(over <= 1e-12, "{kind} {sign} {tau}: {over:e} in {:?}", case.shapes);
                    tight[kind] += u32::from(over > -0.01 * tau);
                }
            }
        }
    }
    // And they are no weaker than they should be: exact to first order, so that the short ones lose next to nothing.
    assert!(tight.iter().all(|&count| count > 2000), "{tight:?}");
}

/// n' and the contact points over the bodies, against differences of gaps.
#[test]
fn rates_are_those_of_the_gap() {
    let mut source = ChaCha8Rng::seed_from_u64(12);
    let mut worst = 0.0_f64;
    let mut seen = 0;
    for round in 0..400 {
        let case = Case::new(&mut source, EXPONENTS[1 + round % 3]);
        let pair = case.pair();
        let [before, now, after] =
            [-1e-5, 0.0, 1e-5].map(|t| -> Instant { pair.at(t, Near::Nothing).unwrap() });
        let Some(rates) = now.rates else { panic!("no rates") };
        let difference = (after.found.normal - before.found.normal) / 2e-5;
        // Where the points jump over a flat a difference says nothing.
        let smooth = (after.found.normal - now.found.normal * 2.0 + before.found.normal).norm() / 1e-5;
        if smooth < 1e-2 {
            seen += 1;
            worst = worst.max((difference - rates.normal).norm() / (1.0 + difference.norm()));
        }
    }
    assert!(seen > 300 && worst < 1e-4, "{seen} {worst:e}");
}
