//! Joints as they move: a [`Joint`] given at one instant, carried along with its bodies.
//!
//! Every row is kept at three levels. For rows that are derivatives of something, in position: with points P_a, P_b fixed in
//! the bodies (or the ground), U in the first body, V in the second,
//!
//! ```text
//! P_a − P_b = 0                three rows: the point of a ball or hinge; a weld
//! U·V = 0                      a hinge's axis against two directions across it; all of a weld's or slider's turn by three
//! (c_a − c_b)·V − d = 0        two rows: a slider
//! ```
//!
//! Their second derivatives, besides (row)·(accelerations), are
//!
//! ```text
//! ω_a×(ω_a×p_a) − ω_b×(ω_b×p_b)
//! [ω_a×(ω_a×U)]·V + 2(ω_a×U)·(ω_b×V) + U·[ω_b×(ω_b×V)]
//! 2(v_a−v_b)·(ω_b×V) + (c_a−c_b)·[ω_b×(ω_b×V)]
//! ```
//!
//! all times the pace of a step that runs by a clock (`flat`). Rows on turns are taken along an arc of the bodies' own size, ℓ U·V
//! = 0, so that no tolerance and no least norm mixes lengths with angles, or forces with torques, in the user's units.
//!
//! A knife edge, N·(v_P − v of the second body there) = 0 with N and P in the first body, and rows given as such have no
//! position to keep. A rolling joint is a contact that neither slips nor lifts off, and is treated with the contacts.
//!
//! Rows may depend on one another (loops, redundant hinges): the reactions are then those of least norm, a torque counting as the
//! force that makes it at the arm ℓ.

use nalgebra::{Matrix3, Vector3};

use super::frame::BodyFrame;
use super::rows::Row;
use crate::body::State;
use crate::joint::{Joint, Kind, across};

/// A joint carried along with its bodies. The ground is a second body that does not move.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tie {
    pub bodies: [Option<usize>; 2],
    keeps: Vec<Keep>,
}

/// One thing that a joint keeps, in the axes of its bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Keep {
    /// A point of the first body at a point of the second.
    Point([Vector3<f64>; 2]),
    /// A direction of the first body across one of the second.
    Across([Vector3<f64>; 2]),
    /// The distance of the centres along a direction of the second body.
    Distance(Vector3<f64>, f64),
    /// No velocity along a direction of the first body, at a point of it.
    Edge { point: Vector3<f64>, normal: Vector3<f64> },
    /// No velocity along given coefficients.
    Row([[Vector3<f64>; 2]; 2]),
}

/// One side of a joint now; the ground has no motion and its axes are the world's.
struct Part {
    position: Vector3<f64>,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
    axes: Matrix3<f64>,
}

impl Part {
    fn new(body: Option<usize>, placed: &[BodyFrame]) -> Self {
        body.map_or_else(
            || Self {
                position: Vector3::zeros(),
                velocity: Vector3::zeros(),
                spin: Vector3::zeros(),
                axes: Matrix3::identity(),
            },
            |b| {
                let BodyFrame { state, axes, .. } = &placed[b];
                Self {
                    position: state.position,
                    velocity: state.velocity,
                    spin: state.angular_velocity,
                    axes: *axes,
                }
            },
        )
    }

    fn turn(&self, x: &Vector3<f64>) -> Vector3<f64> {
        self.spin.cross(&self.spin.cross(x))
    }
}

impl Tie {
    /// A joint at the states it is given at. A rolling joint keeps nothing here.
    pub fn new(joint: &Joint, states: &[State]) -> Self {
        let bodies = [joint.bodies.first().copied(), joint.bodies.get(1).copied()];
        let local = |side: usize, x: &Vector3<f64>| {
            bodies[side].map_or(*x, |b| states[b].orientation.inverse_transform_vector(x))
        };
        let centre = |side: usize| bodies[side].map_or_else(Vector3::zeros, |b| states[b].position);
        let point = |x: &Vector3<f64>| Keep::Point([local(0, &(x - centre(0))), local(1, &(x - centre(1)))]);
        let crossed = |u: &Vector3<f64>, v: &Vector3<f64>| Keep::Across([local(0, u), local(1, v)]);
        let [x, y, z] = [Vector3::x(), Vector3::y(), Vector3::z()];
        let locked = [crossed(&x, &y), crossed(&y, &z), crossed(&z, &x)];
        let keeps = match &joint.kind {
            Kind::Hinge { point: at, axis } => {
                let [one, two] = across(axis);
                vec![point(at), crossed(axis, &one), crossed(axis, &two)]
            }
            Kind::Ball { point: at } => vec![point(at)],
            Kind::Slider { axis } => {
                let apart = centre(0) - centre(1);
                let along = |t: Vector3<f64>| Keep::Distance(local(1, &t), apart.dot(&t));
                let [one, two] = across(axis);
                [&[along(one), along(two)], locked.as_slice()].concat()
            }
            Kind::Weld => [&[point(&centre(0))], locked.as_slice()].concat(),
            Kind::Rolling { .. } => Vec::new(),
            Kind::KnifeEdge { point: at, normal } => {
                vec![Keep::Edge { point: local(0, &(at - centre(0))), normal: local(0, normal) }]
            }
            Kind::Rows(_) => {
                let at: Vec<_> = states.iter().map(|state| (GHOST, *state)).collect();
                joint.rows(&at).iter().map(|row| Keep::Row([row.first, row.second])).collect()
            }
        };
        Self { bodies, keeps }
    }

    /// How far from the centres of its bodies it acts.
    pub fn arms(&self) -> impl Iterator<Item = (usize, f64)> {
        let reach = self.keeps.iter().map(|keep| match keep {
            Keep::Point([p, q]) => [p.norm(), q.norm()],
            Keep::Edge { point, .. } => [point.norm(), 0.0],
            Keep::Across(_) | Keep::Distance(..) | Keep::Row(_) => [0.0, 0.0],
        });
        let most = reach.fold([0.0, 0.0], |m: [f64; 2], r| [m[0].max(r[0]), m[1].max(r[1])]);
        self.bodies.into_iter().zip(most).filter_map(|(body, reach)| body.map(|b| (b, reach)))
    }

    /// The rows now. Turns are measured along an arc of the given length, so that all rows of a joint are in one unit; `pace` is
    /// that of the step's clock.
    pub fn lines(&self, placed: &[BodyFrame], length: f64, pace: f64, lines: &mut Vec<Row>) {
        let [a, b] = self.bodies.map(|body| Part::new(body, placed));
        let mut push = |parts: [[Vector3<f64>; 2]; 2], bias: f64, residual: Option<f64>| {
            lines.push(Row { bodies: self.bodies, parts, push: None, bias: bias * pace, residual });
        };
        for keep in &self.keeps {
            match keep {
                Keep::Point([p, q]) => {
                    let (p, q) = (a.axes * p, b.axes * q);
                    let apart = a.position + p - b.position - q;
                    let bias = a.turn(&p) - b.turn(&q);
                    for k in 0..3 {
                        let e = Vector3::ith(k, 1.0);
                        push([[e, p.cross(&e)], [-e, -q.cross(&e)]], bias[k], Some(apart[k]));
                    }
                }
                Keep::Across([u, v]) => {
                    let (u, v) = (a.axes * u, b.axes * v);
                    let turn = u.cross(&v) * length;
                    let bias = a.turn(&u).dot(&v)
                        + 2.0 * a.spin.cross(&u).dot(&b.spin.cross(&v))
                        + u.dot(&b.turn(&v));
                    push(
                        [[Vector3::zeros(), turn], [Vector3::zeros(), -turn]],
                        bias * length,
                        Some(u.dot(&v) * length),
                    );
                }
                Keep::Distance(v, distance) => {
                    let v = b.axes * v;
                    let apart = a.position - b.position;
                    let bias =
                        2.0 * (a.velocity - b.velocity).dot(&b.spin.cross(&v)) + apart.dot(&b.turn(&v));
                    push(
                        [[v, Vector3::zeros()], [-v, v.cross(&apart)]],
                        bias,
                        Some(apart.dot(&v) - distance),
                    );
                }
                Keep::Edge { point, normal } => {
                    let (p, n) = (a.axes * point, a.axes * normal);
                    let at = a.position + p;
                    let q = at - b.position;
                    let velocity = a.velocity + a.spin.cross(&p);
                    let beside = velocity - b.velocity - b.spin.cross(&q);
                    let bias = n.dot(&(a.turn(&p) - b.spin.cross(&(velocity - b.velocity))))
                        + a.spin.cross(&n).dot(&beside);
                    push([[n, p.cross(&n)], [-n, -q.cross(&n)]], bias, None);
                }
                Keep::Row(parts) => push(*parts, 0.0, None),
            }
        }
    }
}

/// The body of a row that asks for none.
const GHOST: crate::body::Body = crate::body::Body {
    shape: crate::shape::Shape::Point,
    mass: 1.0,
    inertia: Vector3::new(1.0, 1.0, 1.0),
    fixed: false,
};

/// Whether a joint rolls, and on which plane.
pub(super) fn rolling(joint: &Joint) -> Option<(usize, usize)> {
    match (&joint.kind, joint.bodies.as_slice()) {
        (Kind::Rolling { plane, .. }, [body, ..]) => Some((*body, *plane)),
        _ => None,
    }
}
