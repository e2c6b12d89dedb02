//! Gases against known results: equations of state, virial coefficients, equipartition, Haff's law.
//!
//! `CAROM_GAS=20` makes each run twenty times as long as by default. Statistical bounds are five standard errors, and the error itself is
//! bounded so that they are sharp.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use carom::body::State;
use carom::edmd::{Edmd, Settings};
use carom::fill::place;
use carom::fill::theory::{carnahan_starling, contact_value, enskog_rate};
use carom::observe::{Estimate, Observables, Observer, Quantity};
use carom::run::{Stopped, World};
use carom::scene::{Format, file};
use nalgebra::Vector3;

/// The factor on the default length of runs.
fn longer() -> f64 {
    std::env::var("CAROM_GAS").ok().and_then(|text| text.parse().ok()).unwrap_or(1.0)
}

fn start(text: &str) -> (World, Vec<State>) {
    let scene = file::read(&format!("carom = 1\n{text}"), Format::Toml).unwrap();
    World::of(&place(&scene, &mut |_| true).unwrap())
}

fn fill(count: usize, shape: &str, packing: f64, more: &str) -> String {
    format!(
        "[[fill]]\nname = 'gas'\ncount = {count}\nshape = {shape}\nmass = 1\npacking_fraction = {packing}\n{more}\n"
    )
}

/// Runs to a time and measures on the way; `inspect` gets the states at every measurement.
fn run_with(
    world: World,
    states: &[State],
    until: f64,
    settings: Settings,
    mut inspect: impl FnMut(f64, &[State]),
) -> (Observables, Edmd) {
    let mut observer = Observer::new(&world, states, until, u64::MAX).unwrap();
    let mut edmd = Edmd::new(world.clone(), states, settings).unwrap();
    let mut now = Vec::new();
    while observer.next() <= until {
        let stop = observer.next();
        assert_eq!(edmd.advance(stop, u64::MAX, &mut observer), Some(Stopped::Until));
        edmd.states_into(&mut now);
        inspect(stop, &now);
        observer.measure(&world, &now);
    }
    (observer.observables(), edmd)
}

fn run(text: &str, until: f64) -> (Observables, Edmd) {
    let (world, states) = start(text);
    run_with(world, &states, until, Settings::default(), |_, _| ())
}

fn of(observables: &Observables, quantity: Quantity) -> Estimate {
    let place = Quantity::ALL.iter().position(|other| *other == quantity).unwrap();
    observables.estimates[place]
}

/// Asserts that a mean is within five errors and the share `tolerance` of a value, and that the error is at most the share `sharp` of it.
#[track_caller]
fn assert_is(what: &str, found: Estimate, value: f64, sharp: f64, tolerance: f64) {
    let (mean, error) = (found.mean.unwrap(), found.error.unwrap());
    println!("{what}: {mean:.6} ± {error:.6}, expected {value:.6}");
    assert!(error <= sharp * value, "{what}: the error {error} is too large");
    assert!(
        (mean - value).abs() <= 5.0 * error + tolerance * value,
        "{what}: {mean} ± {error} against {value}"
    );
}

const BALL: &str = "{ sphere = { radius = 0.5 } }";

fn egg(aspect: f64) -> String {
    format!("{{ ellipsoid = {{ semi_axes = [{}, 0.5, 0.5] }} }}", 0.5 * aspect)
}

#[test]
fn spheres_have_the_pressure_and_the_rate_of_carnahan_starling_and_enskog() {
    for (packing, until, z) in [(0.30, 20.0, 3.974), (0.49, 8.0, 12.156)] {
        assert!((carnahan_starling(packing) - z).abs() < 5e-4);
        let (found, edmd) = run(&fill(500, BALL, packing, "seed = 11"), until * longer());
        let density = 6.0 * packing / std::f64::consts::PI;
        // The equation of state itself is good to 0.3 %, and 500 bodies differ by about 1/500.
        assert_is("Z", of(&found, Quantity::Compressibility), z, 0.01, 0.004);
        let rate = enskog_rate(1.0, density, contact_value(packing), 1.0, 1.0);
        assert_is("rate", of(&found, Quantity::CollisionRate), rate, 0.01, 0.004);
        // Two estimates that use no impulse.
        let from_rate = found.compressibility_from_rate.unwrap();
        let from_contact = found.neighbours.as_ref().unwrap().compressibility.unwrap();
        println!("Z from the rate {from_rate:.4}, from g(r) at contact {from_contact:.4}");
        assert!((from_rate / z - 1.0).abs() < 0.03 && (from_contact / z - 1.0).abs() < 0.06);
        // Energy is conserved and only translational, so T is exact.
        let temperature = of(&found, Quantity::TemperatureTranslational).mean.unwrap();
        assert!((temperature - 1.0).abs() < 1e-12, "{temperature}");
        assert_eq!(of(&found, Quantity::TemperatureRotational).mean, None);
        assert_eq!(of(&found, Quantity::PackingFraction).error, Some(0.0));
        // λ = ⟨|v|⟩/Γ with ⟨|v|⟩ = √(8T/πm) of Maxwell's distribution.
        let speed = (8.0 / std::f64::consts::PI).sqrt();
        assert_is("λ", of(&found, Quantity::MeanFreePath), speed / rate, 0.01, 0.01);
        // P V = N T Z.
        let pressure = of(&found, Quantity::Pressure).mean.unwrap();
        let volume = 500.0 / density;
        let product = pressure * volume / 500.0;
        assert!((product / of(&found, Quantity::Compressibility).mean.unwrap() - 1.0).abs() < 1e-12);
        assert!(edmd.audit().gap_min > -1e-12 && edmd.audit().energy_error_max.value < 1e-10);
    }
}

#[test]
fn both_diffusion_coefficients_agree() {
    let (found, _) = run(&fill(500, BALL, 0.2, "seed = 2"), 60.0 * longer());
    let (slope, integral) = (found.displacement.diffusion.unwrap(), found.velocities.diffusion.unwrap());
    println!("D {slope:.4} from displacements, {integral:.4} from velocities");
    assert!((slope / integral - 1.0).abs() < 0.12, "{slope} against {integral}");
    // Enskog's value in first order, D = 3/(8 n σ² g) √(T/πm); the exact one is about 1.2 times as large at this density.
    let density = 6.0 * 0.2 / std::f64::consts::PI;
    let enskog = 3.0 / (8.0 * density * contact_value(0.2)) / std::f64::consts::PI.sqrt();
    let ratio = 0.5 * (slope + integral) / enskog;
    assert!((1.05..1.40).contains(&ratio), "{ratio}");
    // vacf(0) = 3T/m, msd(0) = 0, and at first msd = 3 T t²/m.
    assert!((found.velocities.value[0] / 3.0 - 1.0).abs() < 1e-12);
    assert_eq!(found.displacement.value[0], 0.0);
}

/// Small gases that differ in their seeds: the spread of D over them is the error that each of them states.
#[test]
fn stated_errors_of_diffusion_are_its_spread() {
    let runs: Vec<Observables> = (0..24)
        .map(|seed| run(&fill(32, BALL, 0.2, &format!("seed = {seed}\nequilibrate = 5")), 400.0).0)
        .collect();
    for (name, curve) in [
        ("msd", (|run| &run.displacement) as fn(&Observables) -> &carom::observe::Curve),
        ("vacf", |run| &run.velocities),
    ] {
        let values: Vec<f64> = runs.iter().map(|run| curve(run).diffusion.unwrap()).collect();
        let errors: Vec<f64> = runs.iter().map(|run| curve(run).diffusion_error.unwrap()).collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let spread = (values.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt();
        let stated = (errors.iter().map(|error| error * error).sum::<f64>() / count).sqrt();
        println!("{name}: D {mean:.4}, spread {spread:.4}, stated {stated:.4}");
        // The spread of 24 runs is itself known to 15 %.
        assert!((0.6..1.6).contains(&(stated / spread)), "{name}: {stated} against {spread}");
    }
    // A run that is too short states no error.
    let (short, _) = run(&fill(32, BALL, 0.2, "seed = 1\nequilibrate = 5"), 3.0);
    assert_eq!(short.displacement.diffusion_error, None);
}

/// (Z − 1)/φ at some densities, with its error.
fn virials(aspect: f64, runs: &[(f64, f64)]) -> Vec<(f64, f64, f64)> {
    runs.iter()
        .map(|&(packing, until)| {
            let text = fill(300, &egg(aspect), packing, "seed = 5\nequilibrate = 3");
            let (found, _) = run(&text, until * longer());
            let z = of(&found, Quantity::Compressibility);
            (packing, (z.mean.unwrap() - 1.0) / packing, z.error.unwrap() / packing)
        })
        .collect()
}

#[test]
fn the_second_virial_coefficients_of_ellipsoids_are_recovered() {
    // Excluded volume by Isihara's formula, over the body's volume: 2:1, 3:1 and 5:1.
    for (aspect, known) in [(2.0, 4.53849), (3.0, 5.45375), (5.0, 7.55200)] {
        let points = virials(aspect, &[(0.01, 250.0), (0.04, 80.0)]);
        let [(a, low, low_error), (b, high, high_error)] = points[..] else { panic!() };
        // The straight line through both, at zero density; the next coefficient bends it by less than a per cent.
        let found = (low * b - high * a) / (b - a);
        let error = ((low_error * b).powi(2) + (high_error * a).powi(2)).sqrt() / (b - a);
        println!("{aspect}:1  {found:.4} ± {error:.4}, known {known}");
        assert!(error < 0.08 * known, "{error}");
        assert!((found - known).abs() < 4.0 * error + 0.01 * known, "{found} ± {error} against {known}");
    }
}

#[test]
fn energy_is_shared_equally_among_active_degrees_of_freedom() {
    // At first all energy is translational: 3/5 of it remains so for smooth bodies of revolution, half of it for other bodies and for rough
    // spheres.
    for (shape, surface, spins) in [
        (egg(2.0), "smooth", 2.0),
        ("{ ellipsoid = { semi_axes = [0.8, 0.6, 0.4] } }".to_string(), "smooth", 3.0),
        ("{ superellipsoid = { semi_axes = [0.5, 0.4, 0.4], exponent = 4 } }".to_string(), "smooth", 3.0),
        (BALL.to_string(), "rough", 3.0),
    ] {
        let text =
            format!("[surface]\nkind = '{surface}'\n{}", fill(100, &shape, 0.3, "seed = 8\nequilibrate = 1"));
        let (world, mut states) = start(&text);
        states.iter_mut().for_each(|state| state.angular_velocity = Vector3::zeros());
        // The gas equilibrates before it is measured.
        let mut edmd = Edmd::new(world.clone(), &states, Settings::default()).unwrap();
        assert_eq!(edmd.advance(4.0, u64::MAX, &mut ()), Some(Stopped::Until));
        let (found, _) = run_with(world, &edmd.states(), 10.0 * longer(), Settings::default(), |_, _| ());
        // Without total momentum there are 3 degrees of freedom less.
        let all = 3.0 * 100.0 - 3.0 + spins * 100.0;
        let expected = 300.0 / all;
        let along = of(&found, Quantity::TemperatureTranslational);
        let about = of(&found, Quantity::TemperatureRotational);
        assert_is("T along", along, expected * (1.0 - 1.0 / 100.0), 0.02, 0.005);
        assert_is("T about", about, expected, 0.02, 0.005);
    }
}

#[test]
fn dense_ellipsoids_have_their_known_reduced_pressure() {
    // PV/NkT of 2:1 ellipsoids; at 0.50 only a long run is accurate enough.
    let mut cases = vec![(0.30, 4.0, 4.5)];
    if longer() > 1.0 {
        cases.push((0.50, 1.0, 15.1));
    }
    for (packing, until, z) in cases {
        let (found, _) = run(&fill(250, &egg(2.0), packing, "seed = 4\nequilibrate = 10"), until * longer());
        assert_is("Z", of(&found, Quantity::Compressibility), z, 0.02, 0.02);
    }
}

#[test]
fn haffs_law() {
    // T = T₀/(1 + t/τ)², 1/τ = (1 − k²)/6 · Γ₀ with Enskog's rate Γ₀ (Haff 1983).
    let (k, packing) = (0.9, 0.1);
    let text = format!("[surface]\nrestitution = {k}\n{}", fill(500, BALL, packing, "seed = 6"));
    let (world, states) = start(&text);
    let density = 6.0 * packing / std::f64::consts::PI;
    let rate = enskog_rate(1.0, density, contact_value(packing), 1.0, 1.0);
    let tau = 6.0 / ((1.0 - k * k) * rate);
    let mut temperatures = Vec::new();
    let settings = Settings { contact_time: 1e-6, ..Settings::default() };
    let (_, edmd) = run_with(world, &states, 4.0 * tau, settings, |time, states| {
        let square: f64 = states.iter().map(|state| state.velocity.norm_squared()).sum();
        temperatures.push((time, square / (3.0 * states.len() as f64)));
    });
    assert!(edmd.counts().elastic < edmd.counts().collisions / 100, "{:?}", edmd.counts());
    // 1/√T grows along a straight line, at a rate within a few per cent of Haff's.
    let (mut worst, mut last) = (0.0f64, 0.0);
    for (time, temperature) in &temperatures {
        let line = 1.0 + time / tau;
        worst = worst.max((temperature.sqrt() * line - 1.0).abs());
        last = temperature.sqrt() * line;
    }
    println!("τ = {tau:.3}: √T (1 + t/τ) ends at {last:.4}, and is off by at most {worst:.4}");
    assert!(worst < 0.06, "{worst}");
    assert!(temperatures.windows(2).all(|pair| pair[1].1 <= pair[0].1 * (1.0 + 1e-12)), "energy is gained");
}

/// A cooling gas collides ever more rarely, and is measured no more often than that.
#[test]
fn a_cooling_gas_is_measured_ever_more_rarely() {
    let text = format!("[surface]\nrestitution = 0.7\n{}", fill(100, BALL, 0.05, "seed = 6"));
    let (world, states) = start(&text);
    let mut times = Vec::new();
    let settings = Settings { contact_time: 1e-6, ..Settings::default() };
    let until = 1e5;
    let (found, edmd) = run_with(world, &states, until, settings, |time, _| times.push(time));
    let collisions = edmd.counts().collisions;
    assert!(collisions < 10_000 && times.len() < 5000, "{collisions} collisions, {} measured", times.len());
    // Blocks have one length, and cover all measurements.
    assert!((found.time - times[times.len() - 1]).abs() < 1e-9 * until);
    assert!(found.blocks as f64 * found.block_time <= found.time * (1.0 + 1e-12));
    assert!(found.time > 0.9 * until, "{}", found.time);
    assert!(times.windows(2).all(|pair| pair[1] > pair[0]));
    // All lags are averages over the same time, so the displacement grows with the lag.
    let early = found.displacement.time.iter().filter(|lag| **lag < 0.25 * until).count();
    let displacement = &found.displacement.value[..early];
    assert!(early >= 20 && displacement.windows(2).all(|pair| pair[1] > pair[0]), "{displacement:?}");
    // T falls by Haff's law, so its mean over all that time is small.
    let temperature = of(&found, Quantity::TemperatureTranslational).mean.unwrap();
    assert!(temperature > 0.0 && temperature < 1e-2, "{temperature}");
}

#[test]
fn measurements_do_not_depend_on_interruptions() {
    let (world, states) = start(&fill(50, &egg(2.0), 0.3, "seed = 1\nequilibrate = 1"));
    let until = 2.0;
    let (whole, _) = run_with(world.clone(), &states, until, Settings::default(), |_, _| ());
    // In pieces of seven collisions, written to text and read back in between.
    let mut observer = Observer::new(&world, &states, until, u64::MAX).unwrap();
    let mut edmd = Edmd::new(world.clone(), &states, Settings::default()).unwrap();
    let mut pieces = 0;
    while observer.next() <= until {
        if edmd.advance(observer.next(), 7, &mut observer) == Some(Stopped::Until) {
            observer.measure(&world, &edmd.states());
        }
        pieces += 1;
        let text = serde_json::to_string(&(observer.record(), edmd.snapshot())).unwrap();
        let (record, snapshot) = serde_json::from_str(&text).unwrap();
        observer = Observer::resume(&world, record).unwrap();
        edmd = Edmd::resume(world.clone(), Settings::default(), &snapshot).unwrap();
    }
    assert!(pieces > 100, "{pieces}");
    assert_eq!(observer.observables(), whole);
}
