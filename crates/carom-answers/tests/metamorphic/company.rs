//! Who else there is: a bystander far away, joints given twice, and bodies welded of parts.

use crate::answer::{Names, Question};
use crate::draw::Draw;
use crate::frame::{Frame, with_bystander, with_joints_twice};
use crate::scene::{Body, Joint, JointKind, Shape, Vector, World};
use crate::survey::survey;

fn ask_beside_a_bystander(question: Question, make: impl Fn(&mut Draw) -> World) {
    survey(question, make, |case, seed, findings| {
        let Some(other) = with_bystander(&case.world, &mut Draw::new(seed + 3_000_000)) else { return };
        let answer = question.ask(&other, &Names::new());
        // What is said of the bystander, and sums over all bodies. Where nothing touches, it may be the nearest body.
        let left_out =
            |key: &str| key.contains("zz") || ["energy before", "energy after", "nearest"].contains(&key);
        findings.extend(case.finding(
            seed,
            "beside a bystander",
            (&Frame::same(), &other),
            &answer,
            left_out,
        ));
    });
}

#[test]
fn gaps_beside_a_bystander() {
    ask_beside_a_bystander(Question::Gap, Draw::anywhere);
}

#[test]
fn first_contacts_beside_a_bystander() {
    ask_beside_a_bystander(Question::Toi, Draw::flight);
}

#[test]
fn classifications_beside_a_bystander() {
    ask_beside_a_bystander(Question::Classify, Draw::touching);
}

#[test]
fn impacts_beside_a_bystander() {
    ask_beside_a_bystander(Question::Solve, Draw::instant);
}

#[test]
fn runs_beside_a_bystander() {
    ask_beside_a_bystander(Question::Run, Draw::run);
}

fn ask_with_joints_twice(question: Question, make: impl Fn(&mut Draw) -> World) {
    survey(question, make, |case, seed, findings| {
        let other = with_joints_twice(&case.world, &mut Draw::new(seed + 4_000_000));
        let answer = question.ask(&other, &Names::new());
        // Two joints share what one had to bear, as the model leaves open: the rest stays.
        let of_joints = |key: &str| case.world.joints.iter().any(|joint| key.contains(&joint.name));
        let left_out = |key: &str| {
            ["notes", "impulse_unique", "self-stresses"].contains(&key)
                || key.contains("again")
                || of_joints(key)
        };
        findings.extend(case.finding(seed, "with joints twice", (&Frame::same(), &other), &answer, left_out));
    });
}

#[test]
fn impacts_with_joints_twice() {
    ask_with_joints_twice(Question::Solve, Draw::jointed_instant);
}

#[test]
fn runs_with_joints_twice() {
    ask_with_joints_twice(Question::Run, Draw::jointed_run);
}

/// Every body that moves made of parts that are welded together: one of its shape, and others without extent, at its centre or
/// at equal distances from it on both sides.
fn in_parts(world: &World, draw: &mut Draw) -> World {
    let mut world = world.clone();
    for k in 0..world.bodies.len() {
        let body = world.bodies[k].clone();
        // Of homogeneous bodies the moments would have to be known.
        let Some(moments) = body.inertia.filter(|_| !body.fixed) else { continue };
        let share = draw.number(0.1, 0.5);
        let mut parts = Vec::new();
        let mut rest = moments;
        let part = |name: String, at: Vector, mass: f64, moments: Vector| {
            let position = body.position + body.orientation * at;
            Body {
                name,
                shape: Shape::Point,
                mass,
                inertia: Some(moments),
                position,
                velocity: body.velocity_at(&position),
                ..body.clone()
            }
        };
        if draw.chance(0.5) {
            rest -= moments * share;
            parts.push(part(format!("{}'", body.name), Vector::zeros(), body.mass * share, moments * share));
        } else {
            // A third of the least mean square of the coordinates is carried by the two.
            let axis = draw.pick(3);
            let square = (moments.sum() * 0.5 - moments[axis]) / body.mass;
            let away = (square / (3.0 * share)).sqrt();
            let mut at = Vector::zeros();
            at[axis] = away;
            let carried =
                Vector::from_fn(|i, _| if i == axis { 0.0 } else { body.mass * share * away * away });
            rest -= moments * (0.2 * share) + carried;
            for (name, at) in [("'", at), ("''", -at)] {
                let name = format!("{}{name}", body.name);
                parts.push(part(name, at, 0.5 * body.mass * share, moments * (0.1 * share)));
            }
        }
        world.bodies[k].mass = body.mass * (1.0 - share);
        world.bodies[k].inertia = Some(rest);
        for part in parts {
            let bodies = vec![body.name.clone(), part.name.clone()];
            let joint = Joint { name: format!("weld {}", part.name), bodies, kind: JointKind::Weld };
            world.joints.push(joint);
            world.bodies.push(part);
        }
    }
    world
}

fn ask_of_parts(question: Question, make: impl Fn(&mut Draw) -> World) {
    survey(question, make, |case, seed, findings| {
        let other = in_parts(&case.world, &mut Draw::new(seed + 5_000_000));
        let answer = question.ask(&other, &Names::new());
        let left_out = |key: &str| key.contains('\'') || key == "notes";
        findings.extend(case.finding(seed, "welded of parts", (&Frame::same(), &other), &answer, left_out));
    });
}

#[test]
fn impacts_of_welded_bodies() {
    ask_of_parts(Question::Solve, Draw::instant);
}

#[test]
fn runs_of_welded_bodies() {
    ask_of_parts(Question::Run, Draw::run);
}
