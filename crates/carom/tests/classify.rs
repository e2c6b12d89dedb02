//! Types of contact and the numbers behind them: the reference cases, the exact gap, and what must not change a type.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod touching;

use carom::body::{Body, State};
use carom::contact::classify::{Classification, Quantity, Standing, Tolerances, Type, classify};
use carom::contact::coefficients::coefficients;
use carom::contact::kinematics::{Facing, effective_inverse_mass};
use carom::contact::paradox::{Outcome, Quest, find};
use carom::contact::series::{Path, gap_series};
use carom::gap::{gap, gap_to_plane};
use carom::motion::Flight;
use carom::shape::{HalfSpace, Shape};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use rand::RngExt;
use serde_json::Value;
use touching::{Flying, Source};

fn vector(value: &Value) -> Vector3<f64> {
    Vector3::from_iterator(value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn flying(value: &Value) -> Flying {
    let shape = Shape::Superellipsoid {
        semi_axes: vector(&value["semi_axes"]).into(),
        exponent: number(&value["exponent"]),
    };
    let q: Vec<f64> = value["orientation"].as_array().unwrap().iter().map(number).collect();
    Flying {
        body: Body { shape, mass: number(&value["mass"]), inertia: vector(&value["inertia"]), fixed: false },
        state: State {
            position: vector(&value["position"]),
            orientation: UnitQuaternion::from_quaternion(Quaternion::new(q[0], q[1], q[2], q[3])),
            velocity: vector(&value["velocity"]),
            angular_velocity: vector(&value["angular_velocity"]),
        },
    }
}

fn cases() -> Vec<(String, Flying, Flying, Value)> {
    let file: Value = serde_json::from_str(include_str!("../../../cases/contacts/classify.json")).unwrap();
    let cases = file["cases"].as_array().unwrap().iter();
    cases
        .map(|case| {
            let name = case["name"].as_str().unwrap().to_string();
            (name, flying(&case["bodies"][0]), flying(&case["bodies"][1]), case.clone())
        })
        .collect()
}

fn gap_of(one: &Flying, two: &Flying) -> carom::gap::Gap {
    gap((&one.body.shape, &one.state.pose()), (&two.body.shape, &two.state.pose())).unwrap()
}

fn of(one: &Flying, two: &Flying) -> Classification {
    let zero = Vector3::zeros();
    classify(&Facing::Body(one.moving(&zero)), &two.moving(&zero), &gap_of(one, two), Tolerances::default())
}

/// The gap after free flight.
fn gap_at(one: &Flying, two: &Flying, t: f64) -> f64 {
    let at = |b: &Flying| Flight::new(&b.body, &b.state, &Vector3::zeros()).at(t).pose();
    gap((&one.body.shape, &at(one)), (&two.body.shape, &at(two))).unwrap().gap
}

#[test]
fn the_reference_cases() {
    let mut worst = 0.0_f64;
    let mut close = |name: &str, what: &str, found: &[f64], expected: &[f64], scale: f64| {
        for (a, b) in found.iter().zip(expected) {
            let error = (a - b).abs() / b.abs().max(scale);
            worst = worst.max(error);
            assert!(error <= 1e-13, "{name} {what}: {a:e}, expected {b:e}, off by {error:e}");
        }
    };
    for (name, one, two, case) in cases() {
        let found = of(&one, &two);
        let (k, s) = (&found.kinematics, &found.scales);
        assert_eq!(
            (found.kind.name(), found.standing),
            (case["type"].as_str().unwrap(), Standing::Touching),
            "{name}"
        );
        close(&name, "normal", k.normal.as_slice(), vector(&case["normal"]).as_slice(), 1.0);
        close(&name, "point", k.points[0].as_slice(), vector(&case["point"]).as_slice(), s.length);
        close(&name, "v", &[k.v], &[number(&case["v"])], s.speed);
        let sides = [Some((&one.body, &one.state)), Some((&two.body, &two.state))];
        let inverse = effective_inverse_mass(sides, &k.points, &k.normal);
        close(&name, "n·M·n", &[inverse], &[number(&case["effective_inverse_mass"])], 0.0);
        if case["g2"].is_null() {
            continue;
        }
        close(&name, "slip", k.slip.as_slice(), vector(&case["slip"]).as_slice(), s.speed);
        close(&name, "w", k.w.as_slice(), vector(&case["w"]).as_slice(), s.turn);
        for (what, value, scale) in [
            ("a", k.a, s.acceleration),
            ("threshold", k.threshold, s.acceleration),
            ("g2", k.g2, s.acceleration),
            ("g3", k.g3, s.jerk),
        ] {
            close(&name, what, &[value], &[number(&case[what])], scale);
        }
        if let Some(terms) = case["shape_terms"].as_array() {
            let ours = [
                one.moving(&Vector3::zeros()).curvature_change(&k.points[0], &k.rolling[0]),
                two.moving(&Vector3::zeros()).curvature_change(&k.points[1], &k.rolling[1]),
            ];
            close(&name, "shape terms", &ours, &[number(&terms[0]), number(&terms[1])], s.jerk);
        }
        let zero = Vector3::zeros();
        let paper =
            coefficients(&Facing::Body(one.moving(&zero)), &two.moving(&zero), &gap_of(&one, &two), &zero);
        close(&name, "j", &[paper.j_without_shape], &[number(&case["j"])], s.jerk);
    }
    println!("worst {worst:.1e}");
}

#[test]
fn the_papers_example_to_sixteen_digits() {
    let (_, one, two, case) = cases().remove(0);
    let found = of(&one, &two);
    let k = &found.kinematics;
    assert!((k.g3 - -15.318982299576987).abs() <= 1e-13 * 15.3, "{}", k.g3);
    let matrix = |name: &str| Matrix3::from_fn(|i, j| number(&case[name][i][j]));
    assert!((k.curvature_1 - matrix("curvature_1")).norm() <= 1e-14);
    assert!((k.curvature_2 - matrix("curvature_2")).norm() <= 1e-14);
    // a⃗ by its value in the three directions; its part along n is not one of them.
    let zero = Vector3::zeros();
    let vector_a = Vector3::from_fn(|i, _| {
        let e = Vector3::from_fn(|j, _| if i == j { 1.0 } else { 0.0 });
        coefficients(&Facing::Body(one.moving(&zero)), &two.moving(&zero), &gap_of(&one, &two), &e).a_e
    });
    let expected = vector(&case["a_direction"]);
    let across = expected - k.normal * k.normal.dot(&expected);
    assert!((vector_a - across).norm() <= 1e-13 * across.norm(), "{vector_a} {across}");
    // The series goes on: s/24 − a⃗·K⁻¹a⃗/8 and beyond, where the reference is a fit.
    let paths = [&one, &two].map(|b| Path::<7>::new(&b.body, &b.state, &zero));
    let series =
        gap_series((&one.body.shape, &paths[0]), (&two.body.shape, &paths[1]), &gap_of(&one, &two)).unwrap();
    for (i, tolerance) in [(3, 1e-13), (4, 1e-12), (5, 1e-11), (6, 1e-10)] {
        let expected = number(&case["series"][i]);
        assert!((series.0[i] - expected).abs() <= tolerance * expected.abs(), "{i}: {}", series.0[i]);
    }
}

/// A touching pair with v = 0.
fn tangential(source: &mut Source) -> [Flying; 2] {
    loop {
        let [one, mut two] = source.pair(0.0);
        let k = of(&one, &two).kinematics;
        two.state.velocity -= k.normal * k.v;
        // Not the flattest, whose derivatives are huge and hold for tiny times only.
        if k.relative_curvature[0] > 1e-2 && k.relative_curvature[1] < 30.0 {
            return [one, two];
        }
    }
}

#[test]
fn types_as_the_exact_gap_has_them() {
    let mut source = Source::new(11);
    let mut seen = [0; 2];
    for _ in 0..2000 {
        let [one, two] = tangential(&mut source);
        let found = of(&one, &two);
        let k = &found.kinematics;
        // So early that the second derivative decides, so late that rounding does not.
        let t = (1e-3 * k.g2 / k.g3).abs().min(1e-3);
        if 0.5 * k.g2.abs() * t * t < 1e-12 {
            continue;
        }
        let [before, after] = [gap_at(&one, &two, -t), gap_at(&one, &two, t)];
        let expected = match (before > 0.0, after > 0.0) {
            (true, true) => Type::Graze,
            (false, false) => Type::Unrealizable,
            _ => panic!("{before:e} {after:e} {k:?}"),
        };
        assert_eq!(found.kind, expected, "{before:e} {after:e}");
        seen[usize::from(expected == Type::Graze)] += 1;
        // A speed along n decides before anything else.
        for (speed, kind) in [(-1e-6, Type::Normal), (1e-6, Type::Separating)] {
            let mut pushed = two;
            pushed.state.velocity += k.normal * speed;
            assert_eq!(of(&one, &pushed).kind, kind);
        }
    }
    println!("{} grazes, {} unrealizable", seen[1], seen[0]);
    assert!(seen.iter().all(|&count| count > 300), "{seen:?}");
}

/// [PVWZ] (42) has 2H₁u in w: both kinds of error it makes are found and settled by the exact gap.
#[test]
fn the_factor_two_of_the_paper_says_the_opposite() {
    let mut source = Source::new(12);
    let mut wrong = [0; 2];
    for _ in 0..4000 {
        let [one, two] = tangential(&mut source);
        let found = of(&one, &two);
        let k = &found.kinematics;
        let w = k.w + k.curvature_1 * k.slip;
        let regular = k.curvature_1 + k.curvature_2 + k.normal * k.normal.transpose();
        let printed = k.a - w.dot(&(regular.try_inverse().unwrap() * w));
        let t = (1e-3 * k.g2 / k.g3).abs().min(1e-3);
        if printed * k.g2 < 0.0 && 0.5 * k.g2.abs() * t * t > 1e-12 {
            let apart = gap_at(&one, &two, t) > 0.0 && gap_at(&one, &two, -t) > 0.0;
            assert_eq!(found.kind, if apart { Type::Graze } else { Type::Unrealizable });
            wrong[usize::from(apart)] += 1;
        }
    }
    println!("{} grazes and {} overlaps that (42) denies", wrong[1], wrong[0]);
    assert!(wrong.iter().all(|&count| count >= 20), "{wrong:?}");
}

#[test]
fn the_papers_coefficients_add_up_to_the_derivatives() {
    let mut source = Source::new(13);
    let zero = Vector3::zeros();
    let mut worst = 0.0_f64;
    for _ in 0..1000 {
        let [one, two] = tangential(&mut source);
        let found = of(&one, &two);
        let k = &found.kinematics;
        let e = k.rolling[1];
        let c = coefficients(&Facing::Body(one.moving(&zero)), &two.moving(&zero), &gap_of(&one, &two), &e);
        assert!((c.v_e + k.threshold).abs() <= 1e-10 * found.scales.acceleration);
        assert!((2.0 * c.x_2e - k.threshold).abs() <= 1e-10 * found.scales.acceleration);
        let sum = c.j + 3.0 * c.a_e + 6.0 * c.v_2e + 6.0 * c.x_3e;
        let size = [c.j, 3.0 * c.a_e, 6.0 * c.v_2e, 6.0 * c.x_3e].iter().map(|x| x.abs()).sum::<f64>();
        let error = (sum - k.g3).abs() / size.max(found.scales.jerk);
        // Theory's way to write j, with the rates of the first body's normal and curvature.
        let (u, delta) = (k.slip, c.relative_acceleration);
        let j = k.normal.dot(&c.relative_jerk)
            + 3.0 * c.normal_rate.dot(&delta)
            + 3.0 * c.normal_acceleration.dot(&u)
            + 3.0 * u.dot(&(k.curvature_1 * delta + c.curvature_rate * u));
        assert!(
            (j - c.j_without_shape).abs() <= 1e-12 * size.max(found.scales.jerk),
            "{j} {}",
            c.j_without_shape
        );
        worst = worst.max(error);
        assert!(error <= 1e-10, "{sum:e} {:e} {error:e}", k.g3);
    }
    println!("worst {worst:.1e}");
}

/// The distance to the first body of the point of the second that is ε along ê from the contact point, at time t.
fn distance(
    one: &Flying,
    two: &Flying,
    at: &Vector3<f64>,
    normal: &Vector3<f64>,
    step: &Vector3<f64>,
    t: f64,
) -> f64 {
    let pose = two.state.pose();
    // On the line across the tangent plane, by Newton on the gauge.
    let to_body = |x: &Vector3<f64>| pose.rotation.inverse_transform_vector(&(x - two.state.position));
    let mut x = at + step;
    for _ in 0..8 {
        let local = to_body(&x);
        let surface = two.body.shape.osculate(&local);
        let outward = pose.rotation * surface.normal;
        let depth = outward.dot(&(pose.rotation * (surface.point - local)));
        x += normal * (depth / outward.dot(normal));
    }
    let local = to_body(&x);
    let fly = |b: &Flying| Flight::new(&b.body, &b.state, &Vector3::zeros()).at(t).pose();
    let moved = fly(two) * nalgebra::Point3::from(local);
    let place = nalgebra::Isometry3::translation(moved.x, moved.y, moved.z);
    gap((&one.body.shape, &fly(one)), (&Shape::Point, &place)).unwrap().gap
}

#[test]
fn the_papers_coefficients_are_derivatives_of_the_distance() {
    // Central differences on seven places: first, second and third derivative, times h, h², h³.
    let stencils = [
        [-1.0 / 60.0, 0.15, -0.75, 0.0, 0.75, -0.15, 1.0 / 60.0],
        [1.0 / 90.0, -0.15, 1.5, -49.0 / 18.0, 1.5, -0.15, 1.0 / 90.0],
        [0.125, -1.0, 1.625, 0.0, -1.625, 1.0, -0.125],
    ];
    let mut source = Source::new(14);
    let (zero, h) = (Vector3::zeros(), 1.5e-3);
    for _ in 0..60 {
        let [one, two] = tangential(&mut source);
        let found = of(&one, &two);
        let k = &found.kinematics;
        let any = source.direction();
        let e = (any - k.normal * k.normal.dot(&any)).normalize();
        let c = coefficients(&Facing::Body(one.moving(&zero)), &two.moving(&zero), &gap_of(&one, &two), &e);
        let value: Vec<Vec<f64>> = (-3..=3)
            .map(|i| {
                let step = e * (h * f64::from(i));
                (-3..=3)
                    .map(|j| distance(&one, &two, &k.points[1], &k.normal, &step, h * f64::from(j)))
                    .collect()
            })
            .collect();
        let none = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        let derivative = |epsilon: usize, time: usize| {
            let of_order = |order: usize| if order == 0 { none } else { stencils[order - 1] };
            let (a, b) = (of_order(epsilon), of_order(time));
            let sum: f64 = (0..7).map(|i| a[i] * (0..7).map(|j| b[j] * value[i][j]).sum::<f64>()).sum();
            sum / h.powi(i32::try_from(epsilon + time).unwrap())
        };
        for (what, found, expected) in [
            ("x_2ε", 2.0 * c.x_2e, derivative(2, 0)),
            ("v_ε", c.v_e, derivative(1, 1)),
            ("a", c.a, derivative(0, 2)),
            ("x_3ε", 6.0 * c.x_3e, derivative(3, 0)),
            ("v_2ε", 2.0 * c.v_2e, derivative(2, 1)),
            ("a_ε", c.a_e, derivative(1, 2)),
            ("j", c.j, derivative(0, 3)),
        ] {
            // The differences' own error is h⁴ and more of what the sixth derivatives are.
            assert!((found - expected).abs() <= 2e-4 * expected.abs().max(1.0), "{what}: {found} {expected}");
        }
    }
}

#[test]
fn swapping_turning_and_scaling_change_nothing() {
    let mut source = Source::new(15);
    let mut pairs: Vec<[Flying; 2]> = cases().into_iter().map(|(_, one, two, _)| [one, two]).collect();
    pairs.extend((0..300).map(|_| tangential(&mut source)));
    pairs.extend((0..100).map(|_| source.pair(0.0)));
    for (seed, kind) in
        [Type::ParadoxMarginal, Type::Paradox2b, Type::Paradox2bStar].into_iter().cycle().take(12).enumerate()
    {
        let shapes = [
            Shape::Superellipsoid { semi_axes: [1.0, 2.0, 3.0], exponent: 4.0 },
            Shape::Ellipsoid { semi_axes: [2.0, 1.0, 1.0] },
        ];
        let bodies =
            shapes.map(|shape| Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false });
        let quest = Quest { bodies, kind, planar: false, seed: u64::try_from(seed).unwrap() };
        let Outcome::Found(found) = find(&quest) else { panic!("{kind:?} {seed}") };
        pairs.push([0, 1].map(|k| Flying { body: bodies[k], state: found.states[k] }));
    }
    let mut kinds = std::collections::BTreeSet::new();
    for [one, two] in pairs {
        let base = of(&one, &two);
        kinds.insert(base.kind.name());
        let check = |what: &str, other: Classification, length: f64, time: f64| {
            let (s, k, o) = (&base.scales, &base.kinematics, &other.kinematics);
            assert_eq!(base.kind, other.kind, "{what}: {:?} {:?}", base.ratios, other.ratios);
            for (value, theirs, scale, order) in
                [(k.v, o.v, s.speed, 1), (k.g2, o.g2, s.acceleration, 2), (k.g3, o.g3, s.jerk, 3)]
            {
                let theirs = theirs * time.powi(order) / length;
                let error = (value - theirs).abs() / scale.max(value.abs());
                assert!(error <= 1e-10, "{what}, order {order}: {value:e} {theirs:e}");
            }
        };
        check("swapped", of(&two, &one), 1.0, 1.0);
        let turn = source.turn();
        let (shift, boost) = (source.vector(3.0), source.vector(2.0));
        let turned = |b: &Flying| Flying {
            state: State {
                position: turn * b.state.position + shift,
                orientation: turn * b.state.orientation,
                velocity: turn * b.state.velocity + boost,
                angular_velocity: turn * b.state.angular_velocity,
            },
            ..*b
        };
        check("turned, moved and boosted", of(&turned(&one), &turned(&two)), 1.0, 1.0);
        let (length, time, mass) = (
            10.0_f64.powf(source.0.random_range(-6.0..6.0)),
            10.0_f64.powf(source.0.random_range(-6.0..6.0)),
            7e5,
        );
        let scaled = |b: &Flying| Flying {
            body: Body {
                shape: b.body.shape.scaled(length),
                mass: b.body.mass * mass,
                inertia: b.body.inertia * (mass * length * length),
                fixed: false,
            },
            state: State {
                position: b.state.position * length,
                orientation: b.state.orientation,
                velocity: b.state.velocity * (length / time),
                angular_velocity: b.state.angular_velocity / time,
            },
        };
        check("other units", of(&scaled(&one), &scaled(&two)), length, time);
    }
    assert_eq!(
        kinds.into_iter().collect::<Vec<_>>(),
        [
            "graze",
            "normal",
            "paradox_2b",
            "paradox_2b_star",
            "paradox_marginal",
            "separating",
            "unrealizable"
        ]
    );
}

#[test]
fn apart_overlapping_and_degenerate_are_answered() {
    let (_, one, two, _) = cases().remove(0);
    let n = of(&one, &two).kinematics.normal;
    for (lift, expected) in [(1e-3, Standing::Apart(1e-3)), (-1e-3, Standing::Overlapping(1e-3))] {
        let mut moved = two;
        moved.state.position += n * lift;
        let found = of(&one, &moved);
        let (Standing::Apart(size) | Standing::Overlapping(size)) = found.standing else {
            panic!("{:?}", found.standing)
        };
        assert_eq!(std::mem::discriminant(&found.standing), std::mem::discriminant(&expected));
        assert!((size - 1e-3).abs() < 1e-14);
    }
    // Two bodies at rest relative to each other, and two spheres rolling: nothing happens at any order.
    let still = |b: &Flying| Flying {
        state: State { velocity: Vector3::x(), angular_velocity: Vector3::zeros(), ..b.state },
        ..*b
    };
    let found = of(&still(&one), &still(&two));
    assert_eq!((found.kind, found.nearest), (Type::Degenerate, None));
    // A ball at rest under gravity: held by the floor, not a first contact; rolling at speed as well.
    let shape = Shape::Sphere { radius: 0.5 };
    let ball = Flying {
        body: Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false },
        state: State::at(Vector3::new(0.0, 0.0, 0.5)),
    };
    let floor = HalfSpace { normal: Vector3::z_axis(), offset: 0.0 };
    let at = gap_to_plane(&shape, &ball.state.pose(), &floor);
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let found = classify(&Facing::Plane(&floor), &ball.moving(&gravity), &at, Tolerances::default());
    assert_eq!(
        (found.kind, found.kinematics.g2, found.nearest.map(|n| n.by)),
        (Type::Unrealizable, -9.81, Some(Quantity::G2))
    );
    // A block on its flat: at rest nothing is decided by three derivatives, tipping it overlaps at once.
    let shape = Shape::Superellipsoid { semi_axes: [0.5; 3], exponent: 6.0 };
    let mut block = Flying { body: Body { shape, ..ball.body }, ..ball };
    let on_floor = |block: &Flying| {
        let at = gap_to_plane(&shape, &block.state.pose(), &floor);
        classify(&Facing::Plane(&floor), &block.moving(&Vector3::zeros()), &at, Tolerances::default()).kind
    };
    assert_eq!(on_floor(&block), Type::Degenerate);
    block.state.angular_velocity = Vector3::x();
    assert_eq!(on_floor(&block), Type::Unrealizable);
}

#[test]
fn the_nearest_type_is_what_another_tolerance_gives() {
    let mut source = Source::new(16);
    let zero = Vector3::zeros();
    for _ in 0..300 {
        let [one, mut two] = tangential(&mut source);
        let k = of(&one, &two).kinematics;
        two.state.velocity += k.normal * 10.0_f64.powf(source.0.random_range(-14.0..-4.0));
        let with = |rates: f64| {
            let tolerances = Tolerances { rates, ..Tolerances::default() };
            classify(&Facing::Body(one.moving(&zero)), &two.moving(&zero), &gap_of(&one, &two), tolerances)
        };
        let base = with(1e-9);
        let nearest = base.nearest.unwrap();
        let decided = [base.ratios.v, base.ratios.g2, base.ratios.g3];
        // Towards the side on which the nearest quantity changes its mind.
        let ratio = match nearest.by {
            Quantity::V => decided[0],
            Quantity::G2 => decided[1],
            other => panic!("{other:?}"),
        };
        let towards = if ratio.abs() > 1.0 { nearest.factor } else { nearest.factor.recip() };
        assert_eq!(with(1e-9 * towards.powf(0.99)).kind, base.kind);
        assert_eq!(with(1e-9 * towards.powf(1.01)).kind, nearest.kind, "{base:?}");
    }
}
