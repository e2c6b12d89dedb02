//! A double pendulum at a wall, by two routes: two angles, and two bodies with hinges. `cargo run --release -p carom --example
//! double_pendulum`.
//!
//! In angles the hinges are nowhere to be seen, and the wall is g = w + x of the tip. As bodies the pendulum has twelve coordinates
//! and ten rows of hinges; at the wall the impulse goes through both.

mod crossing;

use carom::body::{Body, State};
use carom::contact::{Contact, Side, Surface};
use carom::flow::{Ending, Flow};
use carom::impact::Options;
use carom::impact::mechanism::Mechanism;
use carom::joint::{Joint, Kind as Tie};
use carom::lagrange::{Kind, Run, Scalar, Settings, System, Wall};
use carom::shape::Shape;
use crossing::first_root;
use nalgebra::{Unit, UnitQuaternion, Vector3};

const GRAVITY: f64 = 9.81;

/// Two rods, by their angles from the vertical.
#[derive(Debug, Clone)]
pub struct Pendulum {
    /// m.
    pub mass: [f64; 2],
    /// J about the centres.
    pub inertia: [f64; 2],
    /// To the first centre, to the second hinge, from there to the second centre and to the tip.
    pub arm: [f64; 4],
    /// How far the wall stands to the left.
    pub reach: f64,
    /// The wall.
    pub wall: [Wall; 1],
}

impl Pendulum {
    /// The one shown, with a wall of a restitution.
    #[must_use]
    pub fn shown(restitution: f64) -> Self {
        Self {
            mass: [1.0, 0.6],
            inertia: [0.05, 0.02],
            arm: [0.4, 0.9, 0.3, 0.6],
            reach: 0.5,
            wall: [Wall::smooth(restitution)],
        }
    }
}

impl System<2> for Pendulum {
    fn mass<S: Scalar>(&self, q: &[S; 2]) -> [[S; 2]; 2] {
        let [m1, m2] = self.mass;
        let [a, l, b, _] = self.arm;
        let both = (q[0] - q[1]).cos() * (m2 * l * b);
        let first = S::constant(self.inertia[0] + m1 * a * a + m2 * l * l);
        [[first, both], [both, S::constant(self.inertia[1] + m2 * b * b)]]
    }

    fn potential<S: Scalar>(&self, q: &[S; 2]) -> S {
        let [m1, m2] = self.mass;
        let [a, l, b, _] = self.arm;
        -(q[0].cos() * (GRAVITY * (m1 * a + m2 * l)) + q[1].cos() * (GRAVITY * m2 * b))
    }

    fn walls(&self) -> &[Wall] {
        &self.wall
    }

    fn gaps<S: Scalar>(&self, q: &[S; 2], gaps: &mut [S]) {
        gaps[0] = q[0].sin() * self.arm[1] + q[1].sin() * self.arm[3] + self.reach;
    }
}

fn direction(angle: f64) -> Vector3<f64> {
    Vector3::new(libm::sin(angle), 0.0, -libm::cos(angle))
}

/// The two bodies at given angles and rates.
#[must_use]
pub fn states(pendulum: &Pendulum, q: &[f64; 2], v: &[f64; 2]) -> [State; 2] {
    let [a, l, b, _] = pendulum.arm;
    let spins = [Vector3::new(0.0, -v[0], 0.0), Vector3::new(0.0, -v[1], 0.0)];
    let turn = |x: f64| UnitQuaternion::from_scaled_axis(Vector3::new(0.0, -x, 0.0));
    let [first, hinge, second] = [direction(q[0]) * a, direction(q[0]) * l, direction(q[1]) * b];
    [
        State {
            position: first,
            orientation: turn(q[0]),
            velocity: spins[0].cross(&first),
            angular_velocity: spins[0],
        },
        State {
            position: hinge + second,
            orientation: turn(q[1]),
            velocity: spins[0].cross(&hinge) + spins[1].cross(&second),
            angular_velocity: spins[1],
        },
    ]
}

/// The pendulum as bodies with hinges.
struct Bodies {
    pendulum: Pendulum,
    bodies: [Body; 2],
    flow: Flow,
    time: f64,
    states: Vec<State>,
}

impl Bodies {
    fn new(pendulum: &Pendulum, start: [State; 2]) -> Self {
        let body = |i: usize| Body {
            shape: Shape::Point,
            mass: pendulum.mass[i],
            inertia: Vector3::new(0.1, pendulum.inertia[i], 0.1),
            fixed: false,
        };
        let bodies = [body(0), body(1)];
        let joints = Self::joints(pendulum, &start);
        let flow =
            Flow::new(&bodies, &[], Vector3::new(0.0, 0.0, -GRAVITY), &[]).with_joints(&joints, &start);
        Self { pendulum: pendulum.clone(), bodies, flow, time: 0.0, states: start.to_vec() }
    }

    fn joints(pendulum: &Pendulum, states: &[State]) -> [Joint; 2] {
        let [a, l, ..] = pendulum.arm;
        let hinge = |name: &str, bodies: &[usize], point: Vector3<f64>| Joint {
            name: name.into(),
            bodies: bodies.to_vec(),
            kind: Tie::Hinge { point, axis: Unit::new_unchecked(Vector3::y()) },
        };
        [hinge("upper", &[0], Vector3::zeros()), hinge("lower", &[1, 0], states[0].position * (l / a))]
    }

    fn tip(&self, second: &State) -> Vector3<f64> {
        let [_, _, b, tip] = self.pendulum.arm;
        second.position + second.orientation * Vector3::new(0.0, 0.0, b - tip)
    }

    /// On to the first time the tip is at the wall, or to a time.
    fn go(&mut self, until: f64) -> Result<bool, String> {
        let words = |o| format!("{o:?}");
        let mut piece = self.flow.advance(&self.states, self.time, until).map_err(words)?;
        loop {
            let gap = |t: f64| self.tip(&piece.at(1, t)).x + self.pendulum.reach;
            if let Some(t) = first_root(&piece, gap) {
                self.states = vec![piece.at(0, t), piece.at(1, t)];
                self.time = t;
                return Ok(true);
            }
            if piece.ending == Ending::Until {
                self.states = piece.end().to_vec();
                self.time = until;
                return Ok(false);
            }
            piece = self.flow.follow(&piece, until).map_err(words)?;
        }
    }

    fn strike(&mut self) -> Result<(), String> {
        let contact = Contact {
            name: "tip".into(),
            sides: [Side::Plane(0), Side::Body(1)],
            point: self.tip(&self.states[1]),
            normal: Vector3::x_axis(),
            restitution: self.pendulum.wall[0].restitution,
            surface: Surface::Smooth,
            images: [Vector3::zeros(); 2],
        };
        let bodies: Vec<_> = self.bodies.iter().copied().zip(self.states.iter().copied()).collect();
        let joints = Self::joints(&self.pendulum, &self.states);
        let mechanism = Mechanism { bodies: &bodies, joints: &joints, contacts: &[contact] };
        let options = Options { project: true, ..Options::default() };
        self.states = mechanism.solve(&options).map_err(|e| e.to_string())?.states;
        Ok(())
    }
}

/// Both routes through a number of impacts: the time of each, and how far the routes are apart there, in time and in state.
///
/// # Errors
///
/// What stands in the way of either.
pub fn compare(restitution: f64, impacts: usize) -> Result<Vec<[f64; 3]>, Box<dyn std::error::Error>> {
    let pendulum = Pendulum::shown(restitution);
    let (q, v) = ([1.2, 0.6], [0.0, 0.0]);
    let mut bodies = Bodies::new(&pendulum, states(&pendulum, &q, &v));
    let mut run = Run::new(pendulum.clone(), q, v, Settings::default())?;
    let mut table = Vec::new();
    let mut trouble = None;
    run.to(1000.0, |run, step| {
        let Some(event) = &step.event else { return true };
        if let Kind::Impact { .. } = event.kind {
            let met = bodies.go(event.time + 0.1).and_then(|met| {
                let apart = (bodies.time - event.time).abs();
                bodies.strike().map(|()| (met, apart))
            });
            match met {
                Ok((true, apart)) => {
                    let exact = states(&pendulum, run.position(), run.velocity());
                    let off = |i: usize| {
                        let (a, b) = (&exact[i], &bodies.states[i]);
                        (a.position - b.position).norm()
                            + (a.velocity - b.velocity).norm()
                            + (a.angular_velocity - b.angular_velocity).norm()
                    };
                    table.push([event.time, apart, off(0).max(off(1))]);
                }
                Ok((false, _)) => trouble = Some("the bodies missed the wall".to_string()),
                Err(why) => trouble = Some(why),
            }
        }
        table.len() < impacts && trouble.is_none()
    })?;
    match trouble {
        Some(why) => Err(why.into()),
        None => Ok(table),
    }
}

/// Prints the table.
///
/// # Errors
///
/// None, in fact.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("A double pendulum at a wall: two angles, and twelve coordinates with two hinges\n");
    println!("impact                time  apart in time  in state");
    for (i, [time, late, off]) in compare(0.8, 12)?.iter().enumerate() {
        println!("{:>6}{time:>20.14}{late:>15.1e}{off:>10.1e}", i + 1);
    }
    Ok(())
}
