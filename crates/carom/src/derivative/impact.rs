//! The derivative of one impact of free bodies: the time at which they meet, the contact there, and the law.
//!
//! Let the gap's change at a fixed time be δg = n·u, u the relative displacement of the materials at the contact point, that
//! of surfaces whose sizes change included. Then
//!
//! ```text
//! δt  = −δg / ġ                                    the time of impact
//! δx̃  = δx + f δt                                  the states at that time; f the rates in flight
//! e₂  = −K⁻¹ [n × (δθ̃₂ − δθ̃₁) + H₁ ũ],  e₁ = e₂ + ũ      the contact point, over the two surfaces
//! δn  = δθ̃₁ × n + H₁ e₁,   δr_i = δθ̃_i × r_i + e_i (+ sizes)
//! δP  by δW, δy in axes that turn with n, and δe, δμ      the law (`impulse`)
//! δx⁺ = δx̃⁺ − f⁺ δt                                back to the fixed time
//! ```
//!
//! which together is the saltation matrix R_x + (R_x f⁻ − f⁺) δt/δx, formed without its cancelling parts. Letters as in
//! [`contact::kinematics`](crate::contact::kinematics): e of a displacement is what it says there of a velocity.
//!
//! **Fails** where K is singular (a flat), and where ġ is no more than rounding (a graze): no number is given there.

use nalgebra::{Matrix2, Matrix3, SMatrix, Vector3};

use super::change::{BodyChange, STATE, StateChange};
use super::flight::rate;
use super::impulse::{ENTRIES, INPUTS, Impulse, impulse};
use super::sizes::support_by_sizes;
use super::undefined::Cause;
use crate::body::{Body, State};
use crate::contact::Surface;
use crate::impact::coulomb::Termination;

/// The columns of an impact's matrix: two bodies' states and constants, the plane's normal and offset, e, μ. Gravity
/// has its part in the flights alone.
pub(super) const COLUMNS: usize = 2 * STATE + 2 * CONSTANTS + 6;

/// The numbers of a body's constants: mass, moments, sizes.
pub(super) const CONSTANTS: usize = 7;

/// Where the numbers stand in the columns.
pub(super) mod column {
    use super::{CONSTANTS, STATE};

    /// A side's state.
    pub const fn state(side: usize) -> usize {
        side * STATE
    }

    /// A side's constants.
    pub const fn constants(side: usize) -> usize {
        2 * STATE + side * CONSTANTS
    }

    pub const NORMAL: usize = 2 * STATE + 2 * CONSTANTS;
    pub const OFFSET: usize = NORMAL + 3;
    pub const RESTITUTION: usize = OFFSET + 1;
    pub const FRICTION: usize = RESTITUTION + 1;
}

/// Two sides at the instant of their impact. A plane has no body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting<'a> {
    pub bodies: [Option<(&'a Body, State, State)>; 2],
    /// From each centre to the contact point; zero for a plane.
    pub arms: [Vector3<f64>; 2],
    /// From the first to the second.
    pub normal: Vector3<f64>,
    /// The contact point beside the origin that the plane's offset is measured from.
    pub point: Vector3<f64>,
    pub gravity: Vector3<f64>,
    pub restitution: f64,
    pub surface: Surface,
    pub termination: Termination,
    /// The impulse on the second body as it was recorded.
    pub recorded: Vector3<f64>,
}

/// The derivative of an impact.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ImpactMap {
    /// The states after, at the fixed time, by the columns; of both sides.
    pub states: SMatrix<f64, { 2 * STATE }, COLUMNS>,
    /// The time by the columns.
    pub time: SMatrix<f64, 1, COLUMNS>,
    /// The normal impulse by the columns.
    pub impulse: SMatrix<f64, 1, COLUMNS>,
}

/// What one change of the inputs comes to.
struct Pushed {
    states: [StateChange; 2],
    time: f64,
    impulse: f64,
}

/// One change of the inputs.
#[derive(Debug, Clone, Copy)]
struct Input {
    states: [StateChange; 2],
    constants: [BodyChange; 2],
    normal: Vector3<f64>,
    offset: f64,
    restitution: f64,
    friction: f64,
}

/// A side, ready for changes.
struct Party {
    /// Whether there is a body that moves.
    moves: bool,
    inverse_mass: f64,
    inverse_inertia: Matrix3<f64>,
    axes: Matrix3<f64>,
    moments: Vector3<f64>,
    arm: Vector3<f64>,
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
    /// The second fundamental form at the contact point, in world axes.
    curvature: Matrix3<f64>,
    /// How the support point moves with the sizes, at a fixed normal.
    by_sizes: Matrix3<f64>,
    rates: [StateChange; 2],
}

/// The least relative curvature that is not flat, beside the larger one or the inverse size.
const FLATTEST: f64 = 1e-12;

/// By how much the impulse as replayed may differ from the one recorded.
const REPLAYED: f64 = 1e-9;

/// An approach below this share of the speeds is a graze.
const GRAZING: f64 = 1e-12;

impl ImpactMap {
    /// The derivative of an impact, or why there is none.
    pub fn new(meeting: &Meeting) -> Result<Self, Cause> {
        let prepared = Prepared::new(meeting)?;
        let mut map = Self { states: SMatrix::zeros(), time: SMatrix::zeros(), impulse: SMatrix::zeros() };
        for k in 0..COLUMNS {
            let pushed = prepared.push(&Input::unit(k));
            for (side, state) in pushed.states.iter().enumerate() {
                map.states.fixed_view_mut::<STATE, 1>(side * STATE, k).copy_from(&state.numbers());
            }
            map.time[k] = pushed.time;
            map.impulse[k] = pushed.impulse;
        }
        let finite = map.states.iter().chain(map.time.iter()).all(|x| x.is_finite());
        if finite { Ok(map) } else { Err(Cause::Degenerate) }
    }
}

/// Everything that does not depend on the change.
struct Prepared {
    parties: [Party; 2],
    plane: bool,
    normal: Vector3<f64>,
    point: Vector3<f64>,
    /// (n, t₁, t₂) as columns.
    frame: Matrix3<f64>,
    /// ġ.
    approach: f64,
    relative: Vector3<f64>,
    /// K⁻¹, on the tangent plane.
    inverse_curvature: Matrix3<f64>,
    mobility: Matrix3<f64>,
    law: Impulse,
    /// P in world axes.
    impulse: Vector3<f64>,
}

impl Prepared {
    fn new(meeting: &Meeting) -> Result<Self, Cause> {
        let n = meeting.normal;
        let parties = [0, 1].map(|side| Party::new(meeting, side));
        let [one, two] = &parties;
        let relative = two.velocity + two.spin.cross(&two.arm) - one.velocity - one.spin.cross(&one.arm);
        let approach = n.dot(&relative);
        let speeds = parties.iter().map(|party| party.velocity.norm() + party.spin.norm() * party.arm.norm());
        if -approach <= GRAZING * speeds.sum::<f64>() {
            return Err(Cause::Graze);
        }
        let frame = frame(&n);
        let inverse_curvature = inverse_curvature(&frame, &(one.curvature + two.curvature), &parties)?;
        let mobility = one.mobility() + two.mobility();
        let w = frame.tr_mul(&mobility) * frame;
        let y = frame.tr_mul(&relative);
        let law = impulse(&w, &y, meeting.restitution, meeting.surface, meeting.termination)?;
        let whole = frame * law.value;
        if (whole - meeting.recorded).norm() > REPLAYED * whole.norm().max(meeting.recorded.norm()) {
            return Err(Cause::Mismatch);
        }
        Ok(Self {
            plane: meeting.bodies[0].is_none(),
            parties,
            normal: n,
            point: meeting.point,
            frame,
            approach,
            relative,
            inverse_curvature,
            mobility,
            law,
            impulse: whole,
        })
    }

    fn push(&self, input: &Input) -> Pushed {
        let n = &self.normal;
        let [one, two] = &self.parties;
        // The time of impact.
        let by_sizes = [0, 1].map(|k| self.parties[k].by_sizes * input.constants[k].sizes);
        let shown = |states: &[StateChange; 2]| {
            let at = |k: usize| states[k].position + states[k].turn.cross(&self.parties[k].arm) + by_sizes[k];
            at(1) - at(0)
        };
        let plane = if self.plane { input.normal } else { Vector3::zeros() };
        let gap = n.dot(&shown(&input.states))
            + if self.plane { plane.dot(&self.point) - input.offset } else { 0.0 };
        let time = -gap / self.approach;
        // The states then.
        let then = [0, 1].map(|k| add(&input.states[k], &self.parties[k].rates[0], time));
        let turn = [then[0].turn, then[1].turn];

        // The contact there.
        let across = |v: Vector3<f64>| v - n * n.dot(&v);
        let (normal, moved) = if self.plane {
            let normal = across(plane);
            let second = self.inverse_curvature * (turn[1].cross(n) - normal);
            (normal, [Vector3::zeros(), second])
        } else {
            let shift = across(shown(&then));
            let second = -(self.inverse_curvature * (n.cross(&(turn[1] - turn[0])) + one.curvature * shift));
            let first = second + shift;
            (across(turn[0].cross(n) + one.curvature * first), [first, second])
        };
        let arms = [0, 1].map(|k| turn[k].cross(&self.parties[k].arm) + moved[k] + by_sizes[k]);

        // The law, in axes that turn with the normal.
        let frame_turn = n.cross(&normal);
        let velocity_at = |k: usize| {
            let party = &self.parties[k];
            then[k].velocity + then[k].angular_velocity.cross(&party.arm) + party.spin.cross(&arms[k])
        };
        let relative = velocity_at(1) - velocity_at(0);
        let inverses = [0, 1].map(|k| self.parties[k].inverse_inertia_change(&turn[k], &input.constants[k]));
        let mobility = one.mobility_change(&arms[0], &inverses[0], &input.constants[0])
            + two.mobility_change(&arms[1], &inverses[1], &input.constants[1]);
        let y = self.frame.tr_mul(&(relative - frame_turn.cross(&self.relative)));
        let turned = frame_turn.cross_matrix();
        let w = self.frame.tr_mul(&(mobility - turned * self.mobility + self.mobility * turned)) * self.frame;
        let mut inputs = [0.0; INPUTS];
        for i in 0..3 {
            for j in i..3 {
                inputs[ENTRIES[i][j]] = 0.5 * (w[(i, j)] + w[(j, i)]);
            }
            inputs[6 + i] = y[i];
        }
        inputs[9] = input.restitution;
        inputs[10] = input.friction;
        let own = self.law.slope * SMatrix::<f64, INPUTS, 1>::from(inputs);
        let change = self.frame * own + frame_turn.cross(&self.impulse);

        // The states after, back at the fixed time.
        let states = [0, 1].map(|k| {
            let party = &self.parties[k];
            if !party.moves {
                return input.states[k];
            }
            let sign = if k == 0 { -1.0 } else { 1.0 };
            let (impulse, change) = (self.impulse * sign, change * sign);
            let mut after = then[k];
            after.velocity += change * party.inverse_mass
                - impulse * (input.constants[k].mass * party.inverse_mass * party.inverse_mass);
            after.angular_velocity += party.inverse_inertia
                * (arms[k].cross(&impulse) + party.arm.cross(&change))
                + inverses[k] * party.arm.cross(&impulse);
            add(&after, &party.rates[1], -time)
        });
        Pushed { states, time, impulse: own[0] }
    }
}

/// A state's change moved on by a time.
fn add(state: &StateChange, rate: &StateChange, time: f64) -> StateChange {
    StateChange {
        position: state.position + rate.position * time,
        turn: state.turn + rate.turn * time,
        velocity: state.velocity + rate.velocity * time,
        angular_velocity: state.angular_velocity + rate.angular_velocity * time,
    }
}

impl Input {
    /// The change of one input by one.
    fn unit(k: usize) -> Self {
        let mut numbers = [0.0; COLUMNS];
        numbers[k] = 1.0;
        let three = |at: usize| Vector3::new(numbers[at], numbers[at + 1], numbers[at + 2]);
        let state = |side: usize| {
            let at = column::state(side);
            StateChange {
                position: three(at),
                turn: three(at + 3),
                velocity: three(at + 6),
                angular_velocity: three(at + 9),
            }
        };
        let constants = |side: usize| {
            let at = column::constants(side);
            BodyChange { mass: numbers[at], inertia: three(at + 1), sizes: three(at + 4) }
        };
        Self {
            states: [state(0), state(1)],
            constants: [constants(0), constants(1)],
            normal: three(column::NORMAL),
            offset: numbers[column::OFFSET],
            restitution: numbers[column::RESTITUTION],
            friction: numbers[column::FRICTION],
        }
    }
}

impl Party {
    fn new(meeting: &Meeting, side: usize) -> Self {
        let zero = (Vector3::zeros(), Matrix3::zeros());
        let Some((body, before, after)) = &meeting.bodies[side] else {
            return Self {
                moves: false,
                inverse_mass: 0.0,
                inverse_inertia: zero.1,
                axes: Matrix3::identity(),
                moments: Vector3::repeat(1.0),
                arm: zero.0,
                velocity: zero.0,
                spin: zero.0,
                curvature: zero.1,
                by_sizes: zero.1,
                rates: [StateChange::zero(); 2],
            };
        };
        let axes = *before.orientation.to_rotation_matrix().matrix();
        let arm = meeting.arms[side];
        let own = axes.tr_mul(&arm);
        let outward = if side == 0 { meeting.normal } else { -meeting.normal };
        let tangent = Matrix3::identity() - outward * outward.transpose();
        let curvature = tangent * (axes * body.shape.curvature(&own) * axes.transpose()) * tangent;
        let (inverse_mass, inverse_inertia) = if body.fixed {
            (0.0, Matrix3::zeros())
        } else {
            let inverse = Matrix3::from_diagonal(&body.inertia.map(f64::recip));
            (body.mass.recip(), axes * inverse * axes.transpose())
        };
        Self {
            moves: !body.fixed,
            inverse_mass,
            inverse_inertia,
            axes,
            moments: body.inertia,
            arm,
            velocity: before.velocity,
            spin: before.angular_velocity,
            curvature: (curvature + curvature.transpose()) * 0.5,
            by_sizes: axes * support_by_sizes(&body.shape, &own, &axes.tr_mul(&outward)),
            rates: [before, after].map(|state| rate(body, state, &meeting.gravity)),
        }
    }

    /// What an impulse at the contact point does to the velocity there: 1/m − \[r\] I⁻¹ \[r\].
    fn mobility(&self) -> Matrix3<f64> {
        let arm = self.arm.cross_matrix();
        Matrix3::identity() * self.inverse_mass - arm * self.inverse_inertia * arm
    }

    fn mobility_change(
        &self,
        arm_change: &Vector3<f64>,
        inverse_change: &Matrix3<f64>,
        constants: &BodyChange,
    ) -> Matrix3<f64> {
        let (arm, change) = (self.arm.cross_matrix(), arm_change.cross_matrix());
        Matrix3::identity() * (-constants.mass * self.inverse_mass * self.inverse_mass)
            - change * self.inverse_inertia * arm
            - arm * inverse_change * arm
            - arm * self.inverse_inertia * change
    }

    /// Of I⁻¹ in world axes.
    fn inverse_inertia_change(&self, turn: &Vector3<f64>, constants: &BodyChange) -> Matrix3<f64> {
        if !self.moves {
            return Matrix3::zeros();
        }
        let turn = turn.cross_matrix();
        let own = constants.inertia.zip_map(&self.moments, |change, moment| -change / (moment * moment));
        turn * self.inverse_inertia - self.inverse_inertia * turn
            + self.axes * Matrix3::from_diagonal(&own) * self.axes.transpose()
    }
}

/// A right-handed frame (n, t₁, t₂) as columns.
fn frame(n: &Vector3<f64>) -> Matrix3<f64> {
    let mut axis = Vector3::zeros();
    axis[n.iamin()] = 1.0;
    let one = n.cross(&axis).normalize();
    Matrix3::from_columns(&[*n, one, n.cross(&one)])
}

/// K⁻¹ on the tangent plane.
fn inverse_curvature(
    frame: &Matrix3<f64>,
    sum: &Matrix3<f64>,
    parties: &[Party; 2],
) -> Result<Matrix3<f64>, Cause> {
    let tangents = frame.fixed_columns::<2>(1);
    let bend: Matrix2<f64> = tangents.tr_mul(sum) * tangents;
    let half = 0.5 * (bend[(0, 0)] + bend[(1, 1)]);
    let spread = libm::hypot(0.5 * (bend[(0, 0)] - bend[(1, 1)]), bend[(0, 1)]);
    let size = parties.iter().map(|party| party.arm.norm()).fold(0.0, f64::max);
    if half - spread <= FLATTEST * (half + spread).max(size.recip()) {
        return Err(Cause::Flat);
    }
    let Some(inverse) = bend.try_inverse() else { return Err(Cause::Flat) };
    Ok(tangents * inverse * tangents.transpose())
}
