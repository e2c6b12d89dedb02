//! A ball rolls on an inclined floor between four rough walls: \[TZ\] in Euler's angles, and as a body with six coordinates.
//! `cargo run --release -p carom --example ball_and_wall`.
//!
//! Rolling is two nonholonomic rows, a wall three rows with one coefficient μ. At each impact \[TZ\] Theorem 5.1, with restitution, is
//! checked on the velocities: with v₂ along the wall, J' = J + m r², J̃ = J + m r²/2,
//!
//! ```text
//! v₁⁺ = −μ v₁,   v₂⁺ = v₂ − (1+μ) J/(2J̃) (v₂ − r ω₃),   ω₃⁺ = ω₃ + (1+μ) J'/(2 r J̃) (v₂ − r ω₃)
//! ```

mod crossing;

use carom::body::{Body, State};
use carom::contact::{Contact, Side, Surface};
use carom::flow::{Ending, Flow};
use carom::impact::Options;
use carom::impact::mechanism::Mechanism;
use carom::joint::{Joint, Kind as Tie};
use carom::lagrange::{Counts, Kind, Run, Scalar, Settings, System, Wall};
use carom::shape::{HalfSpace, Shape};
use crossing::first_root;
use nalgebra::{Unit, UnitQuaternion, Vector3};

/// A ball on the floor of a box: its centre (x, y) and Euler's angles (φ, θ, ψ).
#[derive(Debug, Clone)]
pub struct Ball {
    /// m.
    pub mass: f64,
    /// r.
    pub radius: f64,
    /// J.
    pub inertia: f64,
    /// The part of gravity along the floor.
    pub downhill: [f64; 2],
    /// Half the sides of the box.
    pub half: [f64; 2],
    /// The walls to the right, left, back and front.
    pub walls: [Wall; 4],
}

/// Euler's angles at the start. They lose digits wherever the motion comes near their pole, θ = 0; from here it keeps away.
pub const ANGLES: [f64; 3] = [0.4, 1.7, -0.7];

/// The directions in which the walls stand.
const SIDES: [[f64; 2]; 4] = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]];

impl Ball {
    /// The one shown.
    #[must_use]
    pub fn shown(restitution: f64) -> Self {
        let (mass, radius) = (0.6, 0.1);
        Self {
            mass,
            radius,
            inertia: 0.4 * mass * radius * radius,
            downhill: [0.35, -0.2],
            half: [0.8, 0.6],
            walls: [Wall::rough(restitution, 2); 4],
        }
    }

    /// ω as rows on the velocities of the angles.
    fn spin<S: Scalar>(q: &[S; 5]) -> [[S; 3]; 3] {
        let (sp, cp) = q[2].sin_cos();
        let (st, ct) = q[3].sin_cos();
        let [one, zero] = [1.0, 0.0].map(S::constant);
        [[zero, cp, st * sp], [zero, sp, -(st * cp)], [one, zero, ct]]
    }
}

impl System<5> for Ball {
    fn mass<S: Scalar>(&self, q: &[S; 5]) -> [[S; 5]; 5] {
        let zero = S::constant(0.0);
        let mut mass = [[zero; 5]; 5];
        for i in 0..2 {
            mass[i][i] = S::constant(self.mass);
        }
        for i in 2..5 {
            mass[i][i] = S::constant(self.inertia);
        }
        mass[2][4] = q[3].cos() * self.inertia;
        mass[4][2] = mass[2][4];
        mass
    }

    fn potential<S: Scalar>(&self, q: &[S; 5]) -> S {
        -(q[0] * self.downhill[0] + q[1] * self.downhill[1]) * self.mass
    }

    fn counts(&self) -> Counts {
        Counts { nonholonomic: 2, ..Counts::default() }
    }

    fn nonholonomic<S: Scalar>(&self, q: &[S; 5], rows: &mut [[S; 5]]) {
        // v = ω × r z.
        let [x, y, _] = Self::spin(q);
        let [one, zero] = [1.0, 0.0].map(S::constant);
        let r = self.radius;
        rows[0] = [one, zero, y[0] * -r, y[1] * -r, y[2] * -r];
        rows[1] = [zero, one, x[0] * r, x[1] * r, x[2] * r];
    }

    fn walls(&self) -> &[Wall] {
        &self.walls
    }

    fn gaps<S: Scalar>(&self, q: &[S; 5], gaps: &mut [S]) {
        for (gap, [x, y]) in gaps.iter_mut().zip(SIDES) {
            let half = self.half[if y == 0.0 { 0 } else { 1 }];
            *gap = -(q[0] * x + q[1] * y) + (half - self.radius);
        }
    }

    fn tangents<S: Scalar>(&self, wall: usize, q: &[S; 5], rows: &mut [[S; 5]]) {
        // The velocity of the point r d of the ball: along t = z × d it is v·t + r ω_z, upward r (ω_x d_y − ω_y d_x).
        let [x, y, z] = Self::spin(q);
        let [dx, dy] = SIDES[wall];
        let r = self.radius;
        rows[0] = [S::constant(-dy), S::constant(dx), z[0] * r, z[1] * r, z[2] * r];
        let up = |i: usize| (x[i] * dy - y[i] * dx) * r;
        rows[1] = [S::constant(0.0), S::constant(0.0), up(0), up(1), up(2)];
    }
}

/// The ball as a body.
#[must_use]
pub fn state(radius: f64, q: &[f64; 5], v: &[f64; 5]) -> State {
    let turn = |axis: Vector3<f64>, angle: f64| UnitQuaternion::from_scaled_axis(axis * angle);
    let spin = Ball::spin(q).map(|row| row[0] * v[2] + row[1] * v[3] + row[2] * v[4]);
    State {
        position: Vector3::new(q[0], q[1], radius),
        orientation: turn(Vector3::z(), q[2]) * turn(Vector3::x(), q[3]) * turn(Vector3::z(), q[4]),
        velocity: Vector3::new(v[0], v[1], 0.0),
        angular_velocity: Vector3::from(spin),
    }
}

/// The same as a body with a rolling joint.
struct Rolling {
    ball: Ball,
    body: Body,
    joint: Joint,
    flow: Flow,
    time: f64,
    state: State,
}

impl Rolling {
    fn new(ball: &Ball, start: State) -> Self {
        let body = Body {
            shape: Shape::Sphere { radius: ball.radius },
            mass: ball.mass,
            inertia: Vector3::repeat(ball.inertia),
            fixed: false,
        };
        let half_space = HalfSpace { normal: Vector3::z_axis(), offset: 0.0 };
        let joint =
            Joint { name: "floor".into(), bodies: vec![0], kind: Tie::Rolling { plane: 0, half_space } };
        let gravity = Vector3::new(ball.downhill[0], ball.downhill[1], -9.0);
        let flow = Flow::new(&[body], &[half_space], gravity, &[])
            .with_joints(core::slice::from_ref(&joint), &[start]);
        Self { ball: ball.clone(), body, joint, flow, time: 0.0, state: start }
    }

    fn gap(&self, wall: usize, state: &State) -> f64 {
        let [x, y] = SIDES[wall];
        let half = self.ball.half[if y == 0.0 { 0 } else { 1 }];
        half - self.ball.radius - (state.position.x * x + state.position.y * y)
    }

    /// On to the first wall, and through the impact there; false if no wall is reached before a time.
    fn bounce(&mut self, until: f64) -> Result<bool, String> {
        let words = |o| format!("{o:?}");
        let mut piece = self.flow.advance(&[self.state], self.time, until).map_err(words)?;
        loop {
            let mut first: Option<(f64, usize)> = None;
            for wall in 0..4 {
                if let Some(t) = first_root(&piece, |t| self.gap(wall, &piece.at(0, t)))
                    && first.is_none_or(|(before, _)| t < before)
                {
                    first = Some((t, wall));
                }
            }
            if let Some((t, wall)) = first {
                self.state = piece.at(0, t);
                self.time = t;
                return self.strike(wall).map(|()| true);
            }
            if piece.ending == Ending::Until {
                return Ok(false);
            }
            piece = self.flow.follow(&piece, until).map_err(words)?;
        }
    }

    fn strike(&mut self, wall: usize) -> Result<(), String> {
        let outward = Vector3::new(SIDES[wall][0], SIDES[wall][1], 0.0);
        let contact = Contact {
            name: "wall".into(),
            sides: [Side::Plane(1), Side::Body(0)],
            point: self.state.position + outward * self.ball.radius,
            normal: Unit::new_unchecked(-outward),
            restitution: self.ball.walls[wall].restitution,
            surface: Surface::Rough,
            images: [Vector3::zeros(); 2],
        };
        let joints = [self.joint.clone()];
        let mechanism =
            Mechanism { bodies: &[(self.body, self.state)], joints: &joints, contacts: &[contact] };
        let options = Options { project: true, ..Options::default() };
        self.state = mechanism.solve(&options).map_err(|e| e.to_string())?.states[0];
        Ok(())
    }
}

/// One impact.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// When.
    pub time: f64,
    /// The wall.
    pub wall: usize,
    /// How far \[TZ\] Theorem 5.1 is off.
    pub theorem: f64,
    /// How far the two routes are apart: in time, and in position, orientation and velocities.
    pub apart: [f64; 2],
    /// How far the straight or parabolic rolling since the last impact is off.
    pub rolling: f64,
}

/// \[TZ\] Theorem 5.1 with restitution, for a wall in a direction.
fn theorem(ball: &Ball, wall: usize, before: &State) -> [f64; 3] {
    let mu = ball.walls[wall].restitution;
    let [dx, dy] = SIDES[wall];
    let (j, square, r) = (ball.inertia, ball.mass * ball.radius * ball.radius, ball.radius);
    let half = j + 0.5 * square;
    let (v, w) = (before.velocity, before.angular_velocity.z);
    let across = v.x * dx + v.y * dy;
    // The wall to the left is \[TZ\]'s: v₂ = −v·t.
    let along = -(v.y * dx - v.x * dy);
    let slip = along - r * w;
    [
        -mu * across,
        along - (1.0 + mu) * j / (2.0 * half) * slip,
        w + (1.0 + mu) * (j + square) / (2.0 * r * half) * slip,
    ]
}

/// Both routes through a number of impacts, with the energy balance.
///
/// # Errors
///
/// What stands in the way of either.
pub fn compare(
    restitution: f64,
    impacts: usize,
    angles: [f64; 3],
) -> Result<(Vec<Row>, f64), Box<dyn std::error::Error>> {
    let ball = Ball::shown(restitution);
    // Rolling with (x', y'), spinning with ω_z: the angles' velocities follow from ω.
    let spin = Vector3::new(-0.7 / ball.radius, 1.1 / ball.radius, 5.0);
    let q = [0.1, -0.2, angles[0], angles[1], angles[2]];
    let rows = Ball::spin(&q);
    let matrix = nalgebra::Matrix3::from_fn(|i, j| rows[i][j]);
    let rates = matrix.lu().solve(&spin).ok_or("the angles are at their pole")?;
    let v = [1.1, 0.7, rates[0], rates[1], rates[2]];
    let mut bodies = Rolling::new(&ball, state(ball.radius, &q, &v));
    let mut run = Run::new(ball.clone(), q, v, Settings::default())?;
    let (mut table, mut trouble) = (Vec::new(), None);
    let (mut since, mut left) = (0.0, state(ball.radius, &q, &v));
    run.to(1000.0, |run, step| {
        let Some(event) = &step.event else { return true };
        let Kind::Impact { walls, .. } = &event.kind else { return true };
        let (wall, t) = (walls[0], event.time);
        let (q, v) = step.piece.at(t);
        let (before, after) =
            (state(ball.radius, &q, &v), state(ball.radius, run.position(), run.velocity()));
        let [across, along, spin] = theorem(&ball, wall, &before);
        let [dx, dy] = SIDES[wall];
        let mut off = (after.velocity.x * dx + after.velocity.y * dy - across).abs();
        off = off.max((-(after.velocity.y * dx - after.velocity.x * dy) - along).abs());
        off = off.max((after.angular_velocity.z - spin).abs() * ball.radius);
        // a = g sin β/(1 + J/(m r²)) between.
        let share = 1.0 / (1.0 + ball.inertia / (ball.mass * ball.radius * ball.radius));
        let pull = Vector3::new(ball.downhill[0], ball.downhill[1], 0.0) * share;
        let gone = t - since;
        let rolled = left.position + left.velocity * gone + pull * (0.5 * gone * gone);
        let rolling =
            (before.position - rolled).norm() + (before.velocity - left.velocity - pull * gone).norm();
        (since, left) = (t, after);
        match bodies.bounce(t + 0.1) {
            Ok(true) => {
                let other = &bodies.state;
                let turned = after.orientation.rotation_to(&other.orientation).angle();
                let state = (after.position - other.position).norm()
                    + (after.velocity - other.velocity).norm()
                    + (after.angular_velocity - other.angular_velocity).norm() * ball.radius
                    + turned;
                let apart = [(bodies.time - t).abs(), state];
                table.push(Row { time: t, wall, theorem: off, apart, rolling });
            }
            Ok(false) => trouble = Some("the body missed the wall".to_string()),
            Err(why) => trouble = Some(why),
        }
        table.len() < impacts && trouble.is_none()
    })?;
    match trouble {
        Some(why) => Err(why.into()),
        None => Ok((table, run.audit().energy)),
    }
}

/// Prints the table.
///
/// # Errors
///
/// None, in fact.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("A rolling ball between four rough walls: Euler's angles, and a body with a rolling joint\n");
    println!("impact              time  wall  theorem 5.1   rolling  apart in time  in state");
    let (table, energy) = compare(0.95, 14, ANGLES)?;
    for (i, row) in table.iter().enumerate() {
        let name = ["right", "left", "back", "front"][row.wall];
        println!(
            "{:>6}{:>18.13}{name:>6}{:>13.1e}{:>10.1e}{:>15.1e}{:>10.1e}",
            i + 1,
            row.time,
            row.theorem,
            row.rolling,
            row.apart[0],
            row.apart[1]
        );
    }
    println!("energy off its account by {energy:.1e}");
    Ok(())
}
