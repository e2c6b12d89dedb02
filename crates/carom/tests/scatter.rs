//! Scattering against closed forms. A statistical test allows five standard errors; the seeds are fixed, so that it cannot fail by chance.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod count;

use core::convert::Infallible;
use core::f64::consts::PI;

use carom::scatter::{Estimate, Kernel, Sample, Scattering, Totals, Unsuited};
use carom::scene::{Format, file};
use carom::shape::{Convex, Shape, mass_properties};
use nalgebra::Vector3;

fn scene(shapes: [&str; 2], rest: &str) -> carom::scene::model::Scene {
    let text = format!(
        "carom = 1
        {rest}
        [[body]]
        name = 'a'
        shape = {{ {} }}
        mass = 1.5
        [[body]]
        name = 'b'
        shape = {{ {} }}
        mass = 0.5",
        shapes[0], shapes[1]
    );
    file::read(&text, Format::Toml).unwrap()
}

fn scattering(shapes: [&str; 2], surface: &str, beam: &str, samples: usize) -> Scattering {
    let rest = format!("surface = {{ {surface} }}\nscatter = {{ samples = {samples}, seed = 1, {beam} }}");
    Scattering::new(&scene(shapes, &rest)).unwrap()
}

fn totals(scattering: &Scattering) -> Totals {
    scattering.run(false, |_| Ok::<(), Infallible>(()), |_| true).unwrap()
}

fn kernel(shapes: [&str; 2], surface: &str, beam: &str, samples: usize) -> Kernel {
    let scattering = scattering(shapes, surface, beam, samples);
    let kernel = totals(&scattering).kernel(&scattering);
    assert!(kernel.audit.is_within(1e-11), "{:?}", kernel.audit);
    assert_eq!(kernel.unresolved, 0);
    kernel
}

#[track_caller]
fn agrees(found: Estimate, wanted: f64, most: f64) {
    let off = (found.mean - wanted).abs();
    // A quantity without spread has its rounding.
    let allowed = 5.0 * found.error + 1e-12 * wanted.abs().max(1.0);
    assert!(off <= allowed, "{found:?} is not {wanted}");
    // The bounds are those of the usual number of samples.
    let most = most * (1e5 / samples() as f64).sqrt();
    assert!(found.error <= most, "{found:?} says too little");
}

fn samples() -> usize {
    count::cases("CAROM_SCATTERINGS", 100_000)
}

/// σ = πD², isotropic; the loss, the drag and the transport cross-sections of inelastic smooth spheres.
#[test]
fn smooth_spheres() {
    let spheres = ["sphere = { radius = 0.7 }", "sphere = { radius = 0.5 }"];
    let d: f64 = 1.2;
    for k in [1.0, 0.6] {
        let found = kernel(spheres, &format!("restitution = {k}"), "speed = 3, spin = 2", samples());
        let area = PI * d * d;
        assert_eq!(found.hits, found.samples);
        agrees(found.cross_section, area, 0.0);
        agrees(found.rate, 3.0 * area, 0.0);
        agrees(found.impacts.unwrap(), 1.0, 0.0);
        // ⟨cos²⟩ of the angle of incidence is ½; spins stay, and count as energy.
        let rotation = 0.5 * (0.4 * 1.5 * 0.49 + 0.4 * 0.5 * 0.25) * 4.0;
        let translation = 0.5 * 0.375 * 9.0;
        let lost = 0.5 * (1.0 - k * k) * translation / (translation + rotation);
        agrees(found.energy_loss.unwrap(), lost, 0.01);
        agrees(found.exchange.unwrap(), 0.0, 1e-12);
        agrees(found.drag.unwrap(), 0.5 * (1.0 + k), 0.01);
        agrees(found.second_virial_coefficient.unwrap(), 2.0 / 3.0 * PI * d.powi(3), 0.03);
        if k == 1.0 {
            agrees(found.diffusion_cross_section.unwrap(), area, 0.1);
            agrees(found.viscosity_cross_section.unwrap(), 2.0 / 3.0 * area, 0.1);
            assert_eq!(found.angle.iter().map(|bin| bin.count).sum::<u64>(), found.hits);
            for bin in found.angle {
                agrees(bin.differential_cross_section, d * d / 4.0, 0.1);
            }
        }
    }
}

/// S and M of a body of revolution Σ: closed forms of prolate and oblate spheroids with semi-axes a, a, c.
fn spheroid(a: f64, c: f64) -> (f64, f64) {
    if c > a {
        let e = (1.0 - a * a / (c * c)).sqrt();
        let area = 2.0 * PI * a * a * (1.0 + c / (a * e) * e.asin());
        (area, 2.0 * PI * c * (1.0 + (1.0 - e * e) / (2.0 * e) * ((1.0 + e) / (1.0 - e)).ln()))
    } else {
        let e = (1.0 - c * c / (a * a)).sqrt();
        let area = 2.0 * PI * a * a * (1.0 + (1.0 - e * e) / e * e.atanh());
        (area, 2.0 * PI * (c + a / e * e.asin()))
    }
}

/// S, M and V of any convex body: S = ∫ρ² dω/(n·u), M = ∫h dω, by the midpoint rule.
fn by_quadrature(shape: &Shape) -> (f64, f64, f64) {
    let n = 400;
    let (mut area, mut mean) = (0.0, 0.0);
    for i in 0..n {
        let z = (f64::from(i) + 0.5) / f64::from(n);
        for j in 0..n {
            let phi = PI / 2.0 * (f64::from(j) + 0.5) / f64::from(n);
            let across = (1.0 - z * z).sqrt();
            let u = Vector3::new(across * phi.cos(), across * phi.sin(), z);
            let at = shape.osculate(&u);
            area += at.point.norm_squared() / at.normal.dot(&u);
            mean += Convex::support_height(shape, &u);
        }
    }
    let cell = 4.0 * PI / f64::from(n * n);
    (area * cell, mean * cell, mass_properties(shape, 1e-10).volume)
}

/// ⟨σ⟩ = (S₁+S₂)/4 + M₁M₂/8π and ⟨V_ex⟩ = V₁+V₂+(S₁M₂+S₂M₁)/4π for bodies that do not spin; the volume for those that do, too.
#[test]
fn convex_bodies() {
    let sphere = ("sphere = { radius = 0.5 }", Shape::Sphere { radius: 0.5 });
    let rod =
        ("ellipsoid = { semi_axes = [0.4, 0.4, 1.2] }", Shape::Ellipsoid { semi_axes: [0.4, 0.4, 1.2] });
    let plate = ("ellipsoid = { semi_axes = [1, 1, 0.3] }", Shape::Ellipsoid { semi_axes: [1.0, 1.0, 0.3] });
    let pillow = (
        "superellipsoid = { semi_axes = [1, 0.8, 0.5], exponent = 4 }",
        Shape::Superellipsoid { semi_axes: [1.0, 0.8, 0.5], exponent: 4.0 },
    );
    for (shape, [a, c]) in [(rod.1, [0.4, 1.2]), (plate.1, [1.0, 0.3])] {
        let ((area, mean), found) = (spheroid(a, c), by_quadrature(&shape));
        assert!((found.0 / area - 1.0).abs() < 1e-4 && (found.1 / mean - 1.0).abs() < 1e-4);
    }
    for ((first, one), (second, two)) in [(sphere, rod), (rod, plate), (plate, plate), (pillow, rod)] {
        let ((s1, m1, v1), (s2, m2, v2)) = (by_quadrature(&one), by_quadrature(&two));
        let area = 0.25 * (s1 + s2) + m1 * m2 / (8.0 * PI);
        let volume = v1 + v2 + (s1 * m2 + s2 * m1) / (4.0 * PI);
        let found = kernel([first, second], "restitution = 0.7", "speed = 2", samples() / 2);
        agrees(found.cross_section, area, 0.01 * area);
        agrees(found.excluded_volume.unwrap(), volume, 0.01 * volume);
        let spinning = kernel([first, second], "restitution = 1", "speed = 2, spin = 3", samples() / 2);
        agrees(spinning.excluded_volume.unwrap(), volume, 0.04 * volume);
        assert!(spinning.cross_section.mean > area);
    }
}

/// Rough spheres at two temperatures, translation at T and spins at T_r: with a = R₁²/J₁ + R₂²/J₂, w = 1/μ + a and e the restitution along both
/// normal and tangent, ⟨ΔE_r⟩ = a(1+e)²(T/μ + aT_r)/w² − 2a(1+e)T_r/w. For e = 1 that is 4a(T − T_r)/μw², Pidduck's (1922) and
/// Berne's (1977) exchange, κ/(1+κ)² of it.
#[test]
fn rough_spheres_exchange_energy() {
    let spheres = ["sphere = { radius = 0.7 }", "sphere = { radius = 0.5 }"];
    let inverse_mass = 1.0 / 1.5 + 1.0 / 0.5;
    let a = 1.0 / (0.4 * 1.5) + 1.0 / (0.4 * 0.5);
    let w = inverse_mass + a;
    for (e, t, t_r) in [(1.0, 2.0, 0.5), (1.0, 0.5, 2.0), (0.5, 1.0, 1.0)] {
        let surface = format!("restitution = {e}, kind = 'rough'");
        let found =
            kernel(spheres, &surface, &format!("temperature = {t}, spin_temperature = {t_r}"), samples());
        let gain = a * (1.0 + e) * (1.0 + e) * (t * inverse_mass + a * t_r) / (w * w)
            - 2.0 * a * (1.0 + e) * t_r / w;
        // Before a collision: 2T along, of which one T/2 more than in the gas at large, and 3T_r/2 of each body.
        let energy = 2.0 * t + 3.0 * t_r;
        agrees(found.exchange.unwrap(), gain / energy, 0.01);
        agrees(found.translation_before.unwrap(), 2.0 * t, 0.02 * t);
        agrees(found.rotation_before.unwrap(), 3.0 * t_r, 0.02 * t_r);
        if e == 1.0 {
            let tangential = 4.0 * a * inverse_mass * (t - t_r) / (w * w);
            assert!((gain - tangential).abs() < 1e-12);
        } else {
            let loss = (1.0 - e * e) * (0.5 * 2.0 * t + 0.5 * (2.0 * t * inverse_mass + 2.0 * a * t_r) / w);
            agrees(found.energy_loss.unwrap(), loss / energy, 0.01);
        }
    }
}

/// Detailed balance at k = 1: collisions of a gas in equilibrium leave every distribution as it is. The means and the squares of both energies; and
/// the second virial coefficient by the impulses, σ⟨g⟩⟨ΣJ·x⟩/6T, is that of the excluded volume.
#[test]
fn detailed_balance() {
    let bodies = [
        "ellipsoid = { semi_axes = [0.4, 0.5, 1.2] }",
        "superellipsoid = { semi_axes = [1, 0.6, 0.5], exponent = 3 }",
    ];
    let t = 0.7;
    for surface in ["'smooth'", "'rough'"] {
        let surface = format!("restitution = 1, kind = {surface}");
        let scattering = scattering(bodies, &surface, &format!("temperature = {t}"), samples());
        let (mut virial, mut squares, mut hits) = ([0.0; 2], [0.0; 2], 0.0);
        let add = |samples: &[Sample]| {
            for sample in samples.iter().filter(|sample| sample.is_hit()) {
                hits += 1.0;
                virial[0] += sample.virial;
                virial[1] += sample.virial * sample.virial;
                let square = sample.relative_velocities().map(|g| g.norm_squared() * g.norm_squared());
                squares[0] += square[1] - square[0];
                squares[1] += (square[1] - square[0]).powi(2);
            }
            Ok::<(), Infallible>(())
        };
        let found = scattering.run(true, add, |_| true).unwrap().kernel(&scattering);
        agrees(found.energy_loss.unwrap(), 0.0, 1e-12);
        agrees(found.exchange.unwrap(), 0.0, 0.01);
        // A slow pair turns further on its way in and hits more often: the energy along is less than the 2T of bodies that do not turn.
        let translation = found.translation_before.unwrap();
        assert!(translation.mean + 2.0 * translation.error < 2.0 * t, "{translation:?}");
        let mean = |sums: [f64; 2]| Estimate {
            mean: sums[0] / hits,
            error: ((sums[1] / hits - (sums[0] / hits).powi(2)) / hits).sqrt(),
        };
        agrees(mean(squares), 0.0, 0.8);
        let by_impulses = mean(virial).times(found.rate.mean / (6.0 * t));
        let by_volume = found.second_virial_coefficient.unwrap();
        let error = by_impulses
            .error
            .hypot(by_volume.error)
            .hypot(by_impulses.mean * found.rate.error / found.rate.mean);
        agrees(Estimate { mean: by_impulses.mean - by_volume.mean, error }, 0.0, 0.05 * by_volume.mean);
        assert!(found.impacts.unwrap().mean > 1.01, "they meet again: {:?}", found.impacts);
    }
}

/// Friction between the smooth and the rough: energy is lost, more with more friction at first.
#[test]
fn friction_takes_energy() {
    let spheres = ["sphere = { radius = 0.7 }", "sphere = { radius = 0.5 }"];
    let loss = |kind: &str| {
        let surface = format!("restitution = 1, kind = {kind}");
        kernel(spheres, &surface, "speed = 1", samples() / 10).energy_loss.unwrap().mean
    };
    let [none, some, more] = ["'smooth'", "{ coulomb = 0.05 }", "{ coulomb = 0.1 }"].map(loss);
    assert!(none.abs() < 1e-12 && some > 0.01 && more > some);
}

/// One thread and three; all of it and the first part: the same bits.
#[test]
fn samples_depend_on_their_number_alone() {
    let bodies = ["ellipsoid = { semi_axes = [0.4, 0.5, 1.2] }", "ellipsoid = { semi_axes = [1, 0.6, 0.5] }"];
    let count = samples() / 10 + 77;
    let scattering = scattering(bodies, "restitution = 0.8", "temperature = 1", count);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut rows = Vec::new();
        let totals = pool.install(|| {
            let keep = |samples: &[Sample]| {
                rows.extend_from_slice(samples);
                Ok::<(), Infallible>(())
            };
            scattering.run(true, keep, |_| true).unwrap()
        });
        (totals, rows)
    };
    let ((one, rows), (three, others)) = (with(1), with(3));
    assert_eq!(one, three);
    assert_eq!(rows, others);
    assert_eq!(rows.len(), count);
    assert!(rows.iter().zip(0..).all(|(row, number)| row.number == number));
    assert_eq!(rows[5], scattering.sample(5));
    // Interrupted at the first look: what there is, is what a shorter run makes.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let mut short = scattering.clone();
    pool.install(|| {
        let mut done = 0;
        let part = short.run(
            false,
            |_| Ok::<(), Infallible>(()),
            |n| {
                done = n;
                false
            },
        );
        let part = part.unwrap();
        if usize::try_from(done).unwrap() < count && done > 0 {
            assert_eq!(part.samples(), done);
            short = Scattering::new(&{
                let mut scene =
                    scene(bodies, "surface = { restitution = 0.8 }\nscatter = { seed = 1, temperature = 1 }");
                scene.scatter.samples = done;
                scene
            })
            .unwrap();
            assert_eq!(totals(&short), part);
        }
    });
}

/// Against an immovable body, the reduced mass is the other's.
#[test]
fn an_immovable_target() {
    let mut scene =
        scene(["sphere = { radius = 1 }", "sphere = { radius = 1 }"], "surface = { restitution = 0.5 }");
    scene.bodies[0].body.fixed = true;
    scene.scatter.samples = 20_000;
    let scattering = Scattering::new(&scene).unwrap();
    assert_eq!(scattering.reduced_mass(), 0.5);
    let found = totals(&scattering).kernel(&scattering);
    agrees(found.energy_loss.unwrap(), 0.375, 0.01);
    assert!(found.audit.is_within(1e-12));
    let still = scattering.sample(0);
    assert_eq!(still.after[0], still.before[0]);
}

#[test]
fn other_scenes_are_refused() {
    let spheres = ["sphere = { radius = 1 }", "sphere = { radius = 1 }"];
    let why = |rest: &str| Scattering::new(&scene(spheres, rest)).map(|_| ()).unwrap_err();
    assert_eq!(why("world = { gravity = [0, 0, -1] }"), Unsuited::Gravity);
    assert_eq!(why("world = { periodic = [9, 9, 9] }"), Unsuited::Periodic);
    assert_eq!(why("plane = [{ name = 'p', normal = [0, 0, 1] }]"), Unsuited::Other("plane"));
    let mut one = scene(spheres, "");
    one.bodies.pop();
    assert_eq!(Scattering::new(&one).map(|_| ()).unwrap_err(), Unsuited::Bodies);
    let mut fixed = scene(spheres, "");
    fixed.bodies.iter_mut().for_each(|body| body.body.fixed = true);
    assert_eq!(Scattering::new(&fixed).map(|_| ()).unwrap_err(), Unsuited::Fixed);
}
