//! Random contacts: the integrator, identities, limits.

use super::oracle::Oracle;

use carom::impact::coulomb::{Mode, Passage, Termination, pass};
use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

struct Random(ChaCha8Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.random_range(low..high)
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.random_range(0..choices.len())]
    }

    /// The rows of a contact with `dimensions` degrees of freedom: W = C Cᵀ.
    fn rows(&mut self, dimensions: usize) -> DMatrix<f64> {
        DMatrix::from_fn(3, dimensions, |_, _| self.between(-1.0, 1.0))
    }

    /// A well-conditioned anisotropic contact, W and y.
    fn contact(&mut self) -> (Matrix3<f64>, Vector3<f64>) {
        let c = self.rows(4);
        let w = &c * c.transpose();
        let w = Matrix3::from_fn(|i, j| w[(i, j)] + if i == j { 0.1 } else { 0.0 });
        let y = Vector3::new(-self.between(0.2, 1.5), self.between(-2.0, 2.0), self.between(-2.0, 2.0));
        (w, y)
    }
}

fn turned(w: &Matrix3<f64>, y: &Vector3<f64>, angle: f64) -> (Matrix3<f64>, Vector3<f64>) {
    let r = turn(angle);
    let w = r * w * r.transpose();
    (0.5 * (w + w.transpose()), r * y)
}

/// The turn of the tangents by an angle.
fn turn(angle: f64) -> Matrix3<f64> {
    let (s, c) = angle.sin_cos();
    Matrix3::new(1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c)
}

/// The size of the velocities that W p is made of: what rounding of the result is relative to.
fn velocity_scale(w: &Matrix3<f64>, y: &Vector3<f64>, passage: &Passage) -> f64 {
    y.amax() + w.amax() * passage.impulse.amax()
}

/// Everything that holds for every passage, whatever the data.
#[track_caller]
fn check_identities(
    w: &Matrix3<f64>,
    y: &Vector3<f64>,
    mu: f64,
    e: f64,
    by: Termination,
    tolerance: f64,
) -> Passage {
    let passage = pass(w, y, mu, e, by);
    let context = || format!("W {w:?} y {y:?} μ {mu:e} e {e} {}: {passage:?}", by.name());
    let all = passage.impulse.iter().chain(passage.separation.iter()).chain(&passage.normal_work);
    assert!(all.chain([&passage.compression_impulse]).all(|x| x.is_finite()), "finite: {}", context());
    let scale = velocity_scale(w, y, &passage);
    let residual = (passage.separation - y - w * passage.impulse).amax();
    assert!(residual <= tolerance * scale, "y⁺ = y⁻ + W p off by {:e}: {}", residual / scale, context());
    let [p, t1, t2] = [passage.impulse[0], passage.impulse[1], passage.impulse[2]];
    assert!(p >= 0.0 && t1.hypot(t2) <= mu * p * (1.0 + tolerance) + tolerance * p, "cone: {}", context());
    if y[0] < 0.0 && w[(0, 0)] > 0.0 && !passage.locked {
        assert!(passage.separation[0] >= -tolerance * scale, "still closing: {}", context());
    }
    let work = 0.5 * passage.impulse.dot(&(y + passage.separation));
    let normal_work = passage.normal_work[0] + passage.normal_work[1];
    let slack = tolerance * passage.impulse.amax() * scale;
    if by == Termination::Stronge {
        assert!(work <= slack, "energy gained {work:e}: {}", context());
        if !passage.locked && p > 0.0 {
            let [compression, recovered] = passage.normal_work;
            assert!((recovered + e * e * compression).abs() <= slack, "Stronge: {}", context());
        }
    }
    assert!(work <= normal_work + slack, "friction does no positive work: {}", context());
    let mut at = 0.0;
    for phase in &passage.phases {
        assert!(phase.from == at && phase.to >= phase.from, "phases: {}", context());
        at = phase.to;
    }
    assert!(at == p, "phases end at p: {}", context());
    passage
}

#[test]
fn turning_slip_equals_runge_kutta() {
    let mut random = Random::new(1);
    let (mut compared, mut worst) = (0, 0.0_f64);
    while compared < 60 {
        let (w, y) = random.contact();
        let (mu, e) = (random.between(0.1, 1.2), random.between(0.0, 1.0));
        for termination in Termination::ALL {
            let oracle = Oracle { w, friction: mu };
            let Some((expected, p_c)) = oracle.run(&y, e, termination, 1e-3) else { continue };
            let passage = pass(&w, &y, mu, e, termination);
            let scale = velocity_scale(&w, &y, &passage);
            let separation = passage.separation - Vector3::new(expected[0], expected[1], expected[2]);
            let impulse = passage.impulse - Vector3::new(expected[6], expected[3], expected[4]);
            let error = (separation.amax() / scale)
                .max(impulse.amax() / passage.impulse.amax())
                .max((passage.compression_impulse / p_c - 1.0).abs());
            assert!(
                error <= 1e-10,
                "off by {error:e}: W {w:?} y {y:?} μ {mu} e {e} {termination:?} {passage:?}"
            );
            worst = worst.max(error);
            compared += 1;
        }
    }
    println!("Taylor / Runge–Kutta: worst relative difference {worst:e} of {compared}");
}

#[test]
fn identities_hold_on_random_contacts() {
    let mut random = Random::new(2);
    for _ in 0..20_000 {
        let (w, y) = random.contact();
        let e = random.one_of(&[0.0, 1.0, 0.5, 1e-6]);
        let mu = random.one_of(&[0.0, 1e-3, 0.2, 0.6, 1.0, 2.0, 50.0]);
        let passage = check_identities(&w, &y, mu, e, random.one_of(&Termination::ALL), 1e-13);
        if e == 0.0 {
            assert_eq!(passage.separation[0], 0.0);
        }
    }
}

#[test]
fn degenerate_contacts_stay_finite_and_consistent() {
    let mut random = Random::new(3);
    let mut locked = 0;
    for round in 0..20_000 {
        let dimensions = 1 + round % 4;
        let mut c = random.rows(dimensions);
        // Near-dependent rows, blocked rows and rows of very different size.
        for row in 0..3 {
            let factor = random.one_of(&[1.0, 1.0, 1.0, 0.0, 1e-13, 1e-6, 1e-3, 1e3]);
            c.row_mut(row).scale_mut(if row == 0 && factor == 0.0 { 1.0 } else { factor });
        }
        if random.one_of(&[true, false, false]) {
            let near =
                c.row(0) * random.between(-2.0, 2.0) + c.row(1) * random.one_of(&[0.0, 1e-14, 1e-9, 1e-4]);
            c.row_mut(1).copy_from(&near);
        }
        let z = DVector::from_fn(dimensions, |_, _| random.between(-1.0, 1.0));
        let fastest = c.row(0).norm() * z.norm();
        let w = &c * c.transpose();
        let y = &c * z;
        let (w, mut y) = (Matrix3::from_fn(|i, j| w[(i, j)]), Vector3::new(y[0], y[1], y[2]));
        if y[0] > 0.0 {
            y = -y;
        }
        let change = random.one_of(&[None, None, Some(1), Some(2)]);
        if let Some(tangent) = change {
            y[tangent] *= random.one_of(&[0.0, 1e-15, 1e-9]);
        }
        let mu = random.one_of(&[0.0, 1e-9, 0.1, 0.5, 1.0, 3.0, 1e6, 1e300]);
        let e = random.one_of(&[0.0, 0.3, 1.0]);
        let by = random.one_of(&Termination::ALL);
        let passage = check_identities(&w, &y, mu, e, by, 1e-11);
        if passage.locked && change.is_none() {
            // y = C z: a contact that W cannot open does not close either, to the root of the tolerance on W.
            let closing = -passage.separation[0] / fastest;
            assert!(closing <= 2e-6, "{closing:e}: W {w:?} y {y:?} μ {mu} e {e} {by:?}: {passage:?}");
            locked += 1;
        }
    }
    assert!(locked > 100, "{locked}");
}

#[test]
fn rotating_tangents_rotates_the_answer() {
    let mut random = Random::new(4);
    for _ in 0..3000 {
        let (w, y) = random.contact();
        let (mu, e, angle) = (random.between(0.0, 1.5), random.between(0.0, 1.0), random.between(-3.0, 3.0));
        let by = random.one_of(&Termination::ALL);
        let given = pass(&w, &y, mu, e, by);
        let (w, y) = turned(&w, &y, angle);
        let rotated = pass(&w, &y, mu, e, by);
        let difference = (turn(angle) * given.impulse - rotated.impulse).amax() / given.impulse.amax();
        assert!(difference <= 1e-12, "{difference:e}: W {w:?} y {y:?} μ {mu} e {e} {by:?}");
    }
}

#[test]
fn scaling_units_scales_the_answer() {
    let mut random = Random::new(5);
    for _ in 0..1000 {
        let (w, y) = random.contact();
        let (mu, e) = (random.between(0.0, 1.5), random.between(0.0, 1.0));
        let by = random.one_of(&Termination::ALL);
        let given = pass(&w, &y, mu, e, by);
        // Powers of two, from 1e-100 to 1e100: the answer is the same to the last bit.
        let (inertance, velocity) =
            (random.between(-332.0, 332.0).floor(), random.between(-332.0, 332.0).floor());
        let (inertance, velocity) = (inertance.exp2(), velocity.exp2());
        let scaled = pass(&(w * inertance), &(y * velocity), mu, e, by);
        let impulse = velocity / inertance;
        let same = |a: f64, b: f64| (a - b).abs() <= 4.0 * f64::EPSILON * b.abs();
        assert!(scaled.impulse.iter().zip(given.impulse.iter()).all(|(a, b)| same(*a, b * impulse)));
        assert!(scaled.separation.iter().zip(given.separation.iter()).all(|(a, b)| same(*a, b * velocity)));
        assert!(same(scaled.compression_impulse, given.compression_impulse * impulse));
    }
}

#[test]
fn planar_embedded_in_space_equals_planar() {
    let mut random = Random::new(6);
    for _ in 0..3000 {
        let (mut w, mut y) = random.contact();
        let (mu, e, angle) = (random.between(0.0, 1.5), random.between(0.0, 1.0), random.between(-3.0, 3.0));
        let by = random.one_of(&Termination::ALL);
        for i in 0..3 {
            w[(i, 2)] = 0.0;
            w[(2, i)] = 0.0;
        }
        y[2] = 0.0;
        let planar = pass(&w, &y, mu, e, by);
        // The other tangent free to move, but not driven: the slip stays straight.
        w[(2, 2)] = random.one_of(&[0.0, 1e-13, 0.3, 2.0]);
        let (w, y) = turned(&w, &y, angle);
        let embedded = pass(&w, &y, mu, e, by);
        let difference = (turn(angle) * planar.impulse - embedded.impulse).amax() / planar.impulse.amax();
        assert!(
            difference <= 1e-12,
            "{difference:e}: W {w:?} y {y:?} μ {mu} e {e} {by:?} {planar:?} {embedded:?}"
        );
    }
}

#[test]
fn without_friction_the_terminations_agree_with_the_smooth_contact() {
    let mut random = Random::new(7);
    for _ in 0..1000 {
        let (w, y) = random.contact();
        let e = random.between(0.0, 1.0);
        for by in Termination::ALL {
            let passage = pass(&w, &y, 0.0, e, by);
            let p = -(1.0 + e) * y[0] / w[(0, 0)];
            assert!((passage.impulse - Vector3::new(p, 0.0, 0.0)).amax() <= 1e-14 * p);
        }
    }
}

#[test]
fn from_rest_with_much_friction_the_contact_sticks_throughout() {
    let mut random = Random::new(8);
    for _ in 0..1000 {
        let (w, mut y) = random.contact();
        y[1] = 0.0;
        y[2] = 0.0;
        let e = random.between(0.0, 1.0);
        let wtt = w.fixed_view::<2, 2>(1, 1).into_owned();
        let hold = wtt.try_inverse().unwrap() * w.fixed_view::<2, 1>(1, 0);
        let effective = w[(0, 0)] - hold.dot(&w.fixed_view::<2, 1>(1, 0));
        let p = -(1.0 + e) * y[0] / effective;
        for by in Termination::ALL {
            let passage = pass(&w, &y, hold.norm() * (1.0 + 1e-9), e, by);
            let expected = Vector3::new(p, -hold[0] * p, -hold[1] * p);
            assert!((passage.impulse - expected).amax() <= 1e-12 * expected.amax());
            assert!(passage.phases.iter().all(|phase| phase.mode == Mode::Stick));
        }
    }
}

#[test]
fn sliding_with_ever_more_friction_tends_to_a_stop_at_once() {
    let (w, y) = Random::new(9).contact();
    // Past the stop the contact sticks, so that what is left depends on μ only through the stop.
    let reach = |mu: f64| pass(&w, &y, mu, 0.5, Termination::Stronge);
    let limit = reach(1e12);
    for mu in [1e3, 1e5, 1e7] {
        let stop = reach(mu).phases.iter().rfind(|phase| phase.mode != Mode::Stick).unwrap().to;
        assert!(stop <= 100.0 / mu, "{stop:e}");
        let difference = (reach(mu).impulse - limit.impulse).amax() / limit.impulse.amax();
        assert!(difference <= 100.0 / mu, "{difference:e}");
    }
}

#[test]
fn newton_may_gain_energy_where_stronge_does_not() {
    // Kane's kind: sliding reverses, and restoring y_n costs more than compression took.
    let mut random = Random::new(10);
    let (mut gains, mut gain) = (0, 0.0_f64);
    for _ in 0..20_000 {
        let (mut w, mut y) = random.contact();
        for i in 0..3 {
            w[(i, 2)] = 0.0;
            w[(2, i)] = 0.0;
        }
        y[2] = 0.0;
        let mu = random.between(0.1, 1.5);
        let work = |by| {
            let passage = pass(&w, &y, mu, 1.0, by);
            0.5 * passage.impulse.dot(&(y + passage.separation)) / (y[0] * y[0] / w[(0, 0)])
        };
        assert!(work(Termination::Stronge) <= 1e-13);
        let newton = work(Termination::Newton);
        gains += usize::from(newton > 1e-6);
        gain = gain.max(newton);
    }
    assert!(gains > 100 && gain > 0.01, "{gains} gains, at most {gain}");
}

#[test]
fn newton_gains_energy_on_this_contact() {
    let w = Matrix3::new(1.0, -0.9, 0.0, -0.9, 1.0, 0.0, 0.0, 0.0, 0.0);
    let y = Vector3::new(-1.0, 1.0, 0.0);
    let work = |by| {
        let passage = pass(&w, &y, 0.5, 1.0, by);
        0.5 * passage.impulse.dot(&(y + passage.separation))
    };
    assert!(work(Termination::Newton) > 0.01);
    assert!(work(Termination::Stronge) < 0.0);
}

#[test]
fn every_mode_is_reached() {
    let mut random = Random::new(11);
    let mut seen = std::collections::HashMap::new();
    let mut again = 0;
    for _ in 0..20_000 {
        let (w, y) = random.contact();
        let passage = pass(&w, &y, random.between(0.1, 3.0), 0.9, random.one_of(&Termination::ALL));
        for phase in &passage.phases {
            *seen.entry(format!("{:?} {}", phase.mode, phase.restitution)).or_insert(0) += 1;
        }
        again += usize::from(passage.phases.windows(2).any(|w| w[0].restitution && !w[1].restitution));
    }
    // A turning slip may jam in restitution and close the contact again.
    assert!(again > 0);
    for mode in [Mode::Slip, Mode::Jam, Mode::Stick, Mode::ReverseSlip] {
        assert!(seen.keys().any(|key| key.starts_with(&format!("{mode:?} "))), "{mode:?}");
    }
}
