//! Bodies with flats, edges and corners in runs, against closed forms.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use core::f64::consts::FRAC_PI_2;

use carom::body::State;
use carom::record::{Event, Kind, Memory, Moment};
use carom::run::Stopped;
use carom::simulation::Simulation;
use running::{run, scene};

/// One body on a plane z = 0 that is inclined by an angle, down along x.
fn on_plane(shape: &str, surface: &str, incline: f64, body: &str, until: f64) -> (Simulation, Memory) {
    let (sin, cos) = incline.sin_cos();
    run(&scene(&format!(
        "carom = 1\n[world]\ngravity = [{:?}, 0, {:?}]\n[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n[surface]\n{surface}\n\
         [[body]]\nname = \"body\"\nshape = {shape}\nmass = 2\n{body}\n[run]\nuntil = {until}\n",
        G * sin,
        -G * cos
    )))
}

const G: f64 = 10.0;
const BOX: &str = "{ box = { half_extents = [0.5, 0.3, 0.2] } }";
const HALF: [f64; 3] = [0.5, 0.3, 0.2];

fn near(name: &str, value: f64, expected: f64, tolerance: f64) {
    let error = (value - expected).abs();
    assert!(error <= tolerance, "{name}: {value:e}, not {expected:e}: off by {error:e}");
}

/// A run that has reached its end, exactly all the way, with the audit in order.
fn is_exact(simulation: &Simulation) {
    let audit = simulation.audit();
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
    assert_eq!(simulation.stepped(), []);
    assert!(audit.energy_error_max.value < 1e-13, "energy {:e}", audit.energy_error_max.value);
    assert!(audit.gap_min > -1e-12, "gap {:e}", audit.gap_min);
    assert!(audit.points_error_max.value < 1e-12, "points {:e}", audit.points_error_max.value);
}

fn impacts(memory: &Memory) -> Vec<&Event> {
    memory.events.iter().filter(|event| matches!(event.kind, Kind::Impact | Kind::Rest)).collect()
}

fn after(memory: &Memory, number: u64) -> State {
    memory.samples.iter().find(|sample| sample.moment == Moment::After(number)).unwrap().state
}

#[test]
fn a_box_dropped_flat_bounces_on_four_corners_and_comes_to_rest() {
    let (simulation, memory) = on_plane(BOX, "restitution = 0.5", 0.0, "position = [0, 0, 1.45]", 3.0);
    is_exact(&simulation);
    let fall = (2.0 * 1.25 / G).sqrt();
    let all = impacts(&memory);
    // Each impact takes place at four corners at once; flights are 2eⁿv/g long.
    let (mut time, mut speed) = (fall, G * fall);
    for four in all.chunks(4).take(12) {
        for event in four {
            assert_eq!(event.number, four[0].number);
            near("time", event.time, time, 1e-12);
            near("approach", event.approach, -speed, 1e-11);
            near("separation", event.separation, 0.5 * speed, 1e-11);
        }
        let sum: f64 = four.iter().map(|event| event.impulse).sum();
        near("impulse", sum, 2.0 * 1.5 * speed, 1e-11);
        speed *= 0.5;
        time += 2.0 * speed / G;
    }
    let last = memory.events.iter().filter(|event| event.kind == Kind::Rest).map(|event| event.time);
    near("end of the bounces", last.fold(0.0, f64::max), 3.0 * fall, 1e-5);
    let state = simulation.states()[0];
    near("height", state.position.z, 0.2, 1e-14);
    assert!(state.velocity.norm() + state.angular_velocity.norm() < 1e-14);
    assert!(state.orientation.angle() < 1e-12);
}

#[test]
fn a_box_dropped_on_an_edge_turns_about_it() {
    let tilt: f64 = 0.3;
    let body = format!("position = [0, 0, 1.45]\norientation = {{ bryan = [{tilt}, 0, 0] }}");
    let (simulation, memory) = on_plane(BOX, "restitution = 0.7", 0.0, &body, 0.49);
    is_exact(&simulation);
    let [_, b, c] = HALF;
    let (sin, cos) = tilt.sin_cos();
    let (arm, low) = (b * cos - c * sin, b * sin + c * cos);
    let fall = (2.0 * (1.45 - low) / G).sqrt();
    let inertia = 2.0 / 3.0 * (b * b + c * c);
    let impulse = 1.7 * G * fall / (1.0 / 2.0 + arm * arm / inertia);
    let both = impacts(&memory);
    assert_eq!(both.len(), 2);
    for event in &both {
        near("time", event.time, fall, 1e-14);
        near("half the impulse", event.impulse, 0.5 * impulse, 1e-13);
    }
    let state = after(&memory, 0);
    near("velocity", state.velocity.z, impulse / 2.0 - G * fall, 1e-13);
    near("spin", state.angular_velocity.x.abs(), arm * impulse / inertia, 1e-12);
}

#[test]
fn a_box_dropped_on_a_corner_turns_about_it() {
    let body = "position = [0, 0, 1.45]\norientation = { bryan = [0.3, 0.2, 0.1] }";
    let (simulation, memory) = on_plane(BOX, "restitution = 0.7", 0.0, body, 0.47);
    is_exact(&simulation);
    let all = impacts(&memory);
    assert_eq!(all.len(), 1);
    let state = after(&memory, 0);
    let axes = state.orientation.to_rotation_matrix();
    // The lowest corner is against the signs of the last row.
    let down = axes.inverse_transform_vector(&-nalgebra::Vector3::z());
    let corner = nalgebra::Vector3::from_fn(|k, _| HALF[k].copysign(down[k]));
    let arm = axes * corner;
    let fall = (2.0 * (1.45 + arm.z) / G).sqrt();
    let [a, b, c] = HALF.map(|x| x * x * 2.0 / 3.0);
    let inertia = nalgebra::Vector3::new(b + c, c + a, a + b);
    let lever = axes.inverse_transform_vector(&arm.cross(&nalgebra::Vector3::z()));
    let inverse_mass = 0.5 + lever.component_div(&inertia).dot(&lever);
    let impulse = 1.7 * G * fall / inverse_mass;
    near("time", all[0].time, fall, 1e-14);
    near("impulse", all[0].impulse, impulse, 1e-13);
    let spin = axes * lever.component_div(&inertia) * impulse;
    assert!((state.angular_velocity - spin).norm() < 1e-12);
}

#[test]
fn a_rod_dropped_at_an_angle_turns_about_its_lower_end() {
    let (tilt, half, radius) = (0.7_f64, 1.0, 0.1);
    let body = format!("position = [0, 0, 2]\norientation = {{ bryan = [{tilt}, 0, 0] }}");
    let shape = format!("{{ capsule = {{ radius = {radius}, half_length = {half} }} }}");
    let (simulation, memory) = on_plane(&shape, "restitution = 1", 0.0, &body, 0.6);
    is_exact(&simulation);
    let fall = (2.0 * (2.0 - half * tilt.cos() - radius) / G).sqrt();
    let inertia = 2.0 * carom::shape::Shape::Capsule { radius, half_length: half }.unit_inertia().x;
    let arm = half * tilt.sin();
    let impulse = 2.0 * G * fall / (0.5 + arm * arm / inertia);
    let all = impacts(&memory);
    near("time", all[0].time, fall, 1e-14);
    near("impulse", all[0].impulse, impulse, 1e-13);
    near("spin", after(&memory, 0).angular_velocity.x.abs(), arm * impulse / inertia, 1e-12);
}

/// The time in which a block that tilts by an angle falls back onto its base: a pendulum of 2φ'' = −2p² sin(α − φ) upside down.
fn falling_time(alpha: f64, tilt: f64, p: f64) -> f64 {
    // With φ = φ₀(1 − s²) the integrand is smooth; Boole's rule on many intervals.
    let integrand = |s: f64| {
        let phi = tilt * (1.0 - s * s);
        let half = 0.5 * tilt * s * s;
        let sinc = if half == 0.0 { 0.5 * tilt } else { half.sin() / (s * s) };
        2.0 * tilt / (4.0 * p * p * (alpha - 0.5 * (tilt + phi)).sin() * sinc).sqrt()
    };
    let n = 400;
    let h = 1.0 / f64::from(n);
    let weights = [7.0, 32.0, 12.0, 32.0, 7.0];
    let mut sum = 0.0;
    for i in 0..n / 4 {
        for (k, w) in weights.iter().enumerate() {
            sum += w * integrand(h * (f64::from(4 * i) + f64::from(u32::try_from(k).unwrap())));
        }
    }
    sum * h * 2.0 / 45.0
}

#[test]
fn housners_block_rocks_and_loses_the_same_share_at_each_impact() {
    let (width, height) = (0.2_f64, 0.8_f64);
    let (alpha, radius) = (width.atan2(height), width.hypot(height));
    let mut tilt = 0.15;
    let (sin, cos) = (alpha - tilt).sin_cos();
    let body = format!(
        "position = [{:?}, 0, {:?}]\norientation = {{ bryan = [0, {tilt}, 0] }}",
        -radius * sin,
        radius * cos
    );
    let shape = format!("{{ box = {{ half_extents = [{width}, 0.5, {height}] }} }}");
    // A plastic impact without slip: each lands on its other edge, and leaves the one before.
    let (simulation, memory) = on_plane(&shape, "kind = \"rough\"\nrestitution = 0", 0.0, &body, 6.0);
    is_exact(&simulation);
    let ratio = 1.0 - 1.5 * alpha.sin() * alpha.sin();
    let p = (0.75 * G / radius).sqrt();
    let all = impacts(&memory);
    let numbers: Vec<u64> = {
        let closing = all.iter().filter(|event| event.approach < -1e-6);
        let mut numbers: Vec<u64> = closing.map(|event| event.number).collect();
        numbers.dedup();
        numbers
    };
    assert!(numbers.len() >= 10, "{} impacts", numbers.len());
    let mut time = 0.0;
    let mut wait = falling_time(alpha, tilt, p);
    for number in numbers.iter().take(10) {
        time += wait;
        let event = all.iter().find(|event| event.number == *number).unwrap();
        near("time", event.time, time, 1e-12);
        let of = |moment: Moment| {
            memory.samples.iter().find(|sample| sample.moment == moment).unwrap().state.angular_velocity
        };
        let (before, then) = (of(Moment::Before(*number)), of(Moment::After(*number)));
        near("ratio", then.y / before.y, ratio, 1e-12);
        near("across", then.x.abs() + then.z.abs(), 0.0, 1e-12);
        // cos(α − φ₁) = cos α + r²(cos(α − φ₀) − cos α).
        let rise = ratio * ratio * ((alpha - tilt).cos() - alpha.cos());
        let before = wait_of(alpha, &mut tilt, rise, p);
        wait = 2.0 * before;
    }
}

/// The falling time from the tilt that a rise of the cosine means, which it sets.
fn wait_of(alpha: f64, tilt: &mut f64, rise: f64, p: f64) -> f64 {
    // 2 sin(α − φ/2) sin(φ/2) = rise, by Newton's method: the difference of cosines cancels.
    let mut phi = *tilt;
    for _ in 0..50 {
        let value = 2.0 * (alpha - 0.5 * phi).sin() * (0.5 * phi).sin() - rise;
        phi -= value / (alpha - phi).sin();
    }
    *tilt = phi;
    falling_time(alpha, phi, p)
}

const CYLINDER: &str = "{ cylinder = { radius = 0.5, half_length = 1 } }";

fn lying() -> String {
    format!("position = [0, 0, 0.5]\norientation = {{ bryan = [{FRAC_PI_2:?}, 0, 0] }}")
}

#[test]
fn a_cylinder_rolls_down_an_incline_and_slides_on_a_steep_one() {
    let time = 2.0;
    for (incline, friction) in [(0.2_f64, 0.3), (0.5, 0.1)] {
        let surface = format!("kind = {{ coulomb = {friction} }}\nrestitution = 0");
        let (simulation, _) = on_plane(CYLINDER, &surface, incline, &lying(), time);
        is_exact(&simulation);
        let (sin, cos) = incline.sin_cos();
        // It rolls while tan β ≤ 3μ.
        let (along, spin) = if incline.tan() <= 3.0 * friction {
            (2.0 / 3.0 * G * sin, 2.0 / 3.0 * G * sin / 0.5)
        } else {
            (G * (sin - friction * cos), 2.0 * friction * G * cos / 0.5)
        };
        let state = simulation.states()[0];
        near("way", state.position.x, 0.5 * along * time * time, 1e-13 * 10.0);
        near("velocity", state.velocity.x, along * time, 1e-13);
        near("spin", state.angular_velocity.y, spin * time, 1e-12);
        near("height", state.position.z, 0.5, 1e-14);
        near("sideways", state.position.y, 0.0, 1e-13);
    }
}

#[test]
fn a_box_rests_below_its_friction_angle_and_slides_above() {
    let shape = "{ box = { half_extents = [0.5, 0.5, 0.1] } }";
    let friction: f64 = 0.3;
    for (incline, slides) in [(friction.atan() - 1e-2, false), (friction.atan() + 0.1, true), (0.5, true)] {
        let surface = format!("kind = {{ coulomb = {friction} }}\nrestitution = 0");
        let (simulation, _) = on_plane(shape, &surface, incline, "position = [0, 0, 0.1]", 1.0);
        is_exact(&simulation);
        let (sin, cos) = incline.sin_cos();
        let along = if slides { G * (sin - friction * cos) } else { 0.0 };
        let state = simulation.states()[0];
        near("velocity", state.velocity.x, along, 1e-13);
        near("way", state.position.x, 0.5 * along, 1e-13);
        near("height", state.position.z, 0.1, 1e-14);
    }
}

#[test]
fn a_tall_box_tips_over_its_lower_edge() {
    let (width, height, incline) = (0.1_f64, 0.5_f64, 0.3_f64);
    let shape = format!("{{ box = {{ half_extents = [{width}, 0.5, {height}] }} }}");
    let (simulation, memory) =
        on_plane(&shape, "kind = \"rough\"\nrestitution = 0", incline, "position = [0, 0, 0.5]", 0.5);
    is_exact(&simulation);
    let begun: Vec<f64> = memory
        .events
        .iter()
        .filter(|event| event.kind == Kind::HoldBegin)
        .map(|event| event.point.x)
        .collect();
    assert_eq!(begun, [width, width]);
    // ½ (4/3) m r² ω² = m g (height lost); the corner stays where it was.
    let state = simulation.states()[0];
    let turned = 2.0 * state.orientation.coords.y.atan2(state.orientation.coords.w);
    let radius = width.hypot(height);
    let place = |angle: f64| {
        [-radius * (width.atan2(height) - angle).sin(), radius * (width.atan2(height) - angle).cos()]
    };
    let [x, z] = place(turned);
    near("x", state.position.x, width + x, 1e-13);
    near("z", state.position.z, z, 1e-13);
    let lost = |[x, z]: [f64; 2]| G * (incline.sin() * x - incline.cos() * z);
    let spin = ((lost([x, z]) - lost(place(0.0))) * 1.5 / (radius * radius)).sqrt();
    assert!(turned > 0.2, "{turned}");
    near("spin", state.angular_velocity.y, spin, 1e-12);
}

#[test]
fn a_box_slides_over_the_edge_of_a_table_and_tips_when_its_centre_passes() {
    let text = "carom = 1\n[world]\ngravity = [0, 0, -10]\n[surface]\nrestitution = 0\n\
        [[body]]\nname = \"table\"\nshape = { box = { half_extents = [1, 1, 0.5] } }\nmass = 1\nposition = [0, 0, -0.5]\nfixed = true\n\
        [[body]]\nname = \"book\"\nshape = { box = { half_extents = [0.3, 0.2, 0.05] } }\nmass = 1\nposition = [0.5, 0.1, 0.05]\nvelocity = [2, 0, 0]\n\
        [run]\nuntil = 0.27\n";
    let (simulation, memory) = run(&scene(text));
    assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
    assert!(simulation.audit().gap_min > -1e-13, "{:e}", simulation.audit().gap_min);
    // The front corners leave the table at 0.2/2, and the edges that cross its rim take over.
    let crossing =
        memory.events.iter().find(|event| event.kind == Kind::HoldBegin && event.time > 0.0).unwrap();
    near("corners leave", crossing.time, 0.1, 1e-12);
    near("on the rim", crossing.point.x, 1.0, 1e-12);
    // The centre is above the rim at 0.5/2: the rear corners carry nothing there.
    let rear = memory.events.iter().find(|event| event.kind == Kind::HoldEnd && event.time > 0.2).unwrap();
    near("tips", rear.time, 0.25, 1e-9);
    near("straight until then", simulation.states()[1].position.y, 0.1, 1e-12);
}

/// Bodies with the corners of a box, as boxes and as polyhedra, dropped on a floor and on one another: as long as no rounding has grown,
/// the motions are the same.
#[test]
fn a_polyhedron_with_the_corners_of_a_box_moves_as_the_box() {
    let corners: Vec<String> = (0..8)
        .map(|bits: usize| {
            let sign = |k: usize| if bits >> k & 1 == 0 { -1.0 } else { 1.0 };
            format!("[{:?}, {:?}, {:?}]", sign(0) * HALF[0], sign(1) * HALF[1], sign(2) * HALF[2])
        })
        .collect();
    let hull = format!("{{ polyhedron = {{ vertices = [{}] }} }}", corners.join(", "));
    let worlds = [BOX, &hull].map(|shape| {
        run(&scene(&format!(
            "carom = 1\n[world]\ngravity = [0, 0, -10]\n[[plane]]\nname = \"floor\"\nnormal = [0, 0, 1]\n[surface]\nrestitution = 0.5\n\
             kind = {{ coulomb = 0.3 }}\n\
             [[body]]\nname = \"lower\"\nshape = {shape}\nmass = 2\nposition = [0, 0, 0.2]\n\
             [[body]]\nname = \"upper\"\nshape = {shape}\nmass = 1\nposition = [0.15, 0.1, 0.9]\n\
             orientation = {{ bryan = [0.3, 0.2, 0.4] }}\nvelocity = [0.1, 0.2, -1]\nangular_velocity = [1, 2, 0.5]\n\
             [run]\nuntil = 0.17\n"
        )))
    });
    let [boxes, hulls] = &worlds;
    // What rounding does grows from impact to impact: of some 1500 events the first fifty are told apart by nothing else.
    let first = |memory: &Memory| memory.events[..50].to_vec();
    for (one, two) in first(&boxes.1).iter().zip(&first(&hulls.1)) {
        assert_eq!(one.kind, two.kind, "event {}", one.number);
        near("time", one.time, two.time, 1e-10);
        near("impulse", one.impulse, two.impulse, 1e-7);
    }
    for (simulation, _) in &worlds {
        assert_eq!(simulation.stopped(), Some(Stopped::Until), "{:?}", simulation.failure());
        assert!(simulation.audit().gap_min > -1e-9, "gap {:e}", simulation.audit().gap_min);
    }
}
