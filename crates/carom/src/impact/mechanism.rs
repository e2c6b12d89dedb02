//! The impact problem spoken in bodies: joints and contacts become rows, and impulses become forces at points.
//!
//! Each free body has six coordinates (velocity of the centre of mass, angular velocity), world frame, with mass
//! matrix diag(m I₃, R J Rᵀ); fixed bodies and planes have none. A contact's rows are the relative velocity of
//! second minus first along its normal, and along two tangents where the surface is not smooth. A plane counts as
//! the first side, whatever the order, with its own normal: its contacts close when the body moves against it.

use std::ops::Range;

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

use crate::body::{Body, State};
use crate::contact::{Contact, Side, Surface};
use crate::error::{Error, Fault, Place};
use crate::impact::{Friction, Options, Outcome, Problem, Rough};
use crate::joint::{Joint, across};

/// Bodies tied by joints, touching at contacts.
#[derive(Debug, Clone, Copy)]
pub struct Mechanism<'a> {
    /// The bodies and their states.
    pub bodies: &'a [(Body, State)],
    /// The joints.
    pub joints: &'a [Joint],
    /// The contacts.
    pub contacts: &'a [Contact],
}

/// A mechanism as matrices, with the way back.
#[derive(Debug, Clone)]
pub struct Assembly {
    /// The problem in matrix form.
    pub problem: Problem,
    /// The first coordinate of each body; none for a fixed one.
    pub coordinates: Vec<Option<usize>>,
    /// The bilateral rows of each joint.
    pub joint_rows: Vec<Range<usize>>,
    /// The contact rows of each contact, its normal first.
    pub contact_rows: Vec<Range<usize>>,
    /// The directions of each contact's rows.
    pub directions: Vec<Vec<Vector3<f64>>>,
}

/// What an impact of bodies did.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BodyOutcome {
    /// The outcome in generalised velocities.
    pub outcome: Outcome,
    /// The states before: as given, or with the velocities projected on the joints.
    pub before: Vec<State>,
    /// The states after: places as before, velocities changed.
    pub states: Vec<State>,
    /// Each contact.
    pub contacts: Vec<ContactOutcome>,
    /// Each joint.
    pub joints: Vec<JointOutcome>,
    /// The worst body's |Δ(m v) − impulses on it|.
    pub linear_residual: f64,
    /// The worst body's |Δ(I ω) − moments on it| about its centre of mass.
    pub angular_residual: f64,
}

/// What happened at a contact.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ContactOutcome {
    /// Normal relative velocity before, second minus first; negative: closing.
    pub approach: f64,
    /// The same after.
    pub separation: f64,
    /// The normal impulse.
    pub impulse: f64,
    /// The whole impulse on the second body (on the body, against a plane).
    pub impulse_vector: Vector3<f64>,
    /// Slip before: the tangential relative velocity.
    pub slip_before: Vector3<f64>,
    /// Slip after.
    pub slip_after: Vector3<f64>,
    /// Work done by the contact's impulse.
    pub work: f64,
    /// Whether the model determines the impulse.
    pub determined: bool,
}

/// What a joint carried.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JointOutcome {
    /// The impulse of each constraint row.
    pub impulse: Vec<f64>,
    /// The resultant impulse on the first body.
    pub linear: Vector3<f64>,
    /// The resultant moment on the first body, about [`point`](Self::point).
    pub angular: Vector3<f64>,
    /// The point of the resultant.
    pub point: Vector3<f64>,
    /// Whether the model determines them.
    pub determined: bool,
}

impl Mechanism<'_> {
    /// The mechanism as matrices.
    #[must_use]
    pub fn assemble(&self) -> Assembly {
        let mut count = 0;
        let coordinates: Vec<Option<usize>> = self
            .bodies
            .iter()
            .map(|(body, _)| {
                (!body.fixed).then(|| {
                    count += 6;
                    count - 6
                })
            })
            .collect();
        let mut mass = DMatrix::zeros(count, count);
        let mut velocity = DVector::zeros(count);
        for ((body, state), at) in self.bodies.iter().zip(&coordinates) {
            let Some(at) = *at else { continue };
            let linear = Matrix3::from_diagonal_element(body.mass);
            mass.fixed_view_mut::<3, 3>(at, at).copy_from(&linear);
            mass.fixed_view_mut::<3, 3>(at + 3, at + 3).copy_from(&body.world_inertia(&state.orientation));
            velocity.fixed_rows_mut::<3>(at).copy_from(&state.velocity);
            velocity.fixed_rows_mut::<3>(at + 3).copy_from(&state.angular_velocity);
        }
        let mut bilateral = Vec::new();
        let mut joint_rows = Vec::new();
        for joint in self.joints {
            let from = bilateral.len();
            for row in joint.rows(self.bodies) {
                let mut full = DVector::zeros(count);
                for (body, part) in joint.bodies.iter().zip([row.first, row.second]) {
                    add(&mut full, coordinates[*body], part, 1.0);
                }
                bilateral.push(full);
            }
            joint_rows.push(from..bilateral.len());
        }
        let mut rows = Vec::new();
        let (mut contact_rows, mut directions) = (Vec::new(), Vec::new());
        let mut problem_rough = Vec::new();
        let mut friction = Vec::new();
        let mut restitution = Vec::new();
        for contact in self.contacts {
            let from = rows.len();
            let mut axes = vec![contact.normal.into_inner()];
            if contact.surface != Surface::Smooth {
                axes.extend(across(&contact.normal));
            }
            for axis in &axes {
                rows.push(self.contact_row(contact, axis, count, &coordinates));
                restitution.push(contact.restitution);
            }
            let tangent: Vec<usize> = (from + 1..rows.len()).collect();
            match contact.surface {
                Surface::Smooth => {}
                Surface::Rough => problem_rough.push(Rough { normal: from, tangent }),
                Surface::Coulomb(coefficient) => {
                    friction.push(Friction { normal: from, tangent, coefficient });
                }
            }
            contact_rows.push(from..rows.len());
            directions.push(axes);
        }
        let problem = Problem {
            mass,
            bilateral: matrix(&bilateral, count),
            contacts: matrix(&rows, count),
            velocity,
            restitution,
            tangential: Vec::new(),
            rough: problem_rough,
            friction,
        };
        Assembly { problem, coordinates, joint_rows, contact_rows, directions }
    }

    fn contact_row(
        &self,
        contact: &Contact,
        axis: &Vector3<f64>,
        count: usize,
        coordinates: &[Option<usize>],
    ) -> DVector<f64> {
        let mut row = DVector::zeros(count);
        for (body, sign, image) in contact.moving_sides() {
            let arm = contact.point - self.bodies[body].1.position - image;
            add(&mut row, coordinates[body], [*axis, arm.cross(axis)], sign);
        }
        row
    }

    /// Resolves the impact.
    ///
    /// # Errors
    /// As [`Problem::solve`]; a bilateral row's place is its number among all rows of all joints.
    pub fn solve(&self, options: &Options) -> Result<BodyOutcome, Error> {
        let assembly = self.assemble();
        let problem = &assembly.problem;
        let outcome = if problem.velocity.is_empty() {
            // Everything is fixed.
            Outcome::nothing(options.law, problem.contacts.nrows(), problem.bilateral.nrows())
        } else {
            problem.solve(options)?
        };
        let result = self.spell_out(&assembly, outcome);
        // A `rows` joint may ask of a fixed body more than a float holds.
        let finite = |v: &Vector3<f64>| v.iter().all(|x| x.is_finite());
        match result.joints.iter().position(|joint| !(finite(&joint.linear) && finite(&joint.angular))) {
            None => Ok(result),
            Some(k) => {
                let place = Place::row("bilateral", assembly.joint_rows[k].start);
                Err(Error::new(place, Fault::Unrepresentable))
            }
        }
    }

    /// A matrix outcome in bodies, contacts and joints.
    #[must_use]
    pub fn spell_out(&self, assembly: &Assembly, outcome: Outcome) -> BodyOutcome {
        let with = |velocity: &[f64]| -> Vec<State> {
            let part = |at: usize| Vector3::from_column_slice(&velocity[at..at + 3]);
            let bodies = self.bodies.iter().zip(&assembly.coordinates);
            bodies
                .map(|((_, given), at)| {
                    at.map_or(*given, |at| State {
                        velocity: part(at),
                        angular_velocity: part(at + 3),
                        ..*given
                    })
                })
                .collect()
        };
        let (before, states) = (with(&outcome.velocity_before), with(&outcome.velocity));
        let open = |pick: &dyn Fn(&crate::impact::SelfStress) -> bool| outcome.self_stresses.iter().any(pick);
        let contacts: Vec<ContactOutcome> = assembly
            .contact_rows
            .iter()
            .zip(&assembly.directions)
            .zip(self.contacts)
            .map(|((rows, axes), contact)| {
                let parts = rows.clone().zip(axes);
                let impulse_vector =
                    parts.fold(Vector3::zeros(), |sum, (row, axis)| sum + axis * outcome.impulses[row]);
                ContactOutcome {
                    approach: outcome.approach[rows.start],
                    separation: outcome.separation[rows.start],
                    impulse: outcome.impulses[rows.start],
                    impulse_vector,
                    slip_before: contact.slip(&before),
                    slip_after: contact.slip(&states),
                    work: outcome.work[rows.clone()].iter().sum(),
                    determined: !open(&|s| rows.clone().any(|row| s.contacts[row].abs() > 1e-9)),
                }
            })
            .collect();
        let joints: Vec<JointOutcome> = self
            .joints
            .iter()
            .zip(&assembly.joint_rows)
            .map(|(joint, rows)| {
                let impulse = outcome.bilateral_impulses[rows.clone()].to_vec();
                let mut linear = Vector3::zeros();
                let mut moment = Vector3::zeros();
                for (row, lambda) in joint.rows(self.bodies).iter().zip(&impulse) {
                    linear += row.first[0] * *lambda;
                    moment += row.first[1] * *lambda;
                }
                let point = joint.point(self.bodies);
                // The rows give the moment about the first body's centre; at the joint the force's part goes.
                let arm = point - self.bodies[joint.bodies[0]].1.position;
                JointOutcome {
                    impulse,
                    linear,
                    angular: moment - arm.cross(&linear),
                    point,
                    determined: !open(&|s| {
                        let size =
                            s.bilateral.iter().chain(&s.contacts).fold(0.0, |m: f64, x| m.max(x.abs()));
                        rows.clone().any(|row| s.bilateral[row].abs() > 1e-9 * size)
                    }),
                }
            })
            .collect();
        let (linear_residual, angular_residual) = self.residuals(&before, &states, &contacts, &joints);
        BodyOutcome { outcome, before, states, contacts, joints, linear_residual, angular_residual }
    }

    /// What is left of each body's balance of momentum, the worst of all bodies.
    fn residuals(
        &self,
        before: &[State],
        after: &[State],
        contacts: &[ContactOutcome],
        joints: &[JointOutcome],
    ) -> (f64, f64) {
        let mut left: Vec<[Vector3<f64>; 2]> = self
            .bodies
            .iter()
            .zip(before.iter().zip(after))
            .map(|((body, _), (before, after))| {
                let (p0, l0) = body.momentum(before, &before.position);
                let (p1, l1) = body.momentum(after, &after.position);
                [p1 - p0, l1 - l0]
            })
            .collect();
        let mut take = |body: usize, force: Vector3<f64>, point: &Vector3<f64>, moment: Vector3<f64>| {
            let arm = point - self.bodies[body].1.position;
            left[body][0] -= force;
            left[body][1] -= arm.cross(&force) + moment;
        };
        for (contact, result) in self.contacts.iter().zip(contacts) {
            for (body, sign, image) in contact.moving_sides() {
                take(body, result.impulse_vector * sign, &(contact.point - image), Vector3::zeros());
            }
        }
        for (joint, result) in self.joints.iter().zip(joints) {
            let rows = joint.rows(self.bodies);
            for (k, &body) in joint.bodies.iter().enumerate() {
                // The second body's part comes from its own rows: `rows` joints need not be in balance.
                let mut sum = [Vector3::zeros(); 2];
                for (row, lambda) in rows.iter().zip(&result.impulse) {
                    let part = if k == 0 { row.first } else { row.second };
                    sum = [sum[0] + part[0] * *lambda, sum[1] + part[1] * *lambda];
                }
                take(body, sum[0], &self.bodies[body].1.position, sum[1]);
            }
        }
        left.iter().zip(self.bodies).filter(|(_, (body, _))| !body.fixed).fold(
            (0.0, 0.0),
            |(linear, angular): (f64, f64), (left, _)| {
                (linear.max(left[0].norm()), angular.max(left[1].norm()))
            },
        )
    }
}

impl Contact {
    /// The bodies of the contact, with the sign of their velocity in the relative one (the second counts plus) and the
    /// displacement of their image.
    pub fn moving_sides(&self) -> impl Iterator<Item = (usize, f64, Vector3<f64>)> {
        let against_plane = self.sides.iter().any(|side| matches!(side, Side::Plane(_)));
        let sides = self.sides.into_iter().zip([-1.0, 1.0]).zip(self.images);
        sides.filter_map(move |((side, sign), image)| match side {
            Side::Body(body) => Some((body, if against_plane { 1.0 } else { sign }, image)),
            Side::Plane(_) => None,
        })
    }

    /// The relative velocity along the tangent.
    fn slip(&self, states: &[State]) -> Vector3<f64> {
        let relative = self.moving_sides().fold(Vector3::zeros(), |sum, (body, sign, image)| {
            sum + states[body].velocity_at(&(self.point - image)) * sign
        });
        relative - self.normal.into_inner() * self.normal.dot(&relative)
    }
}

fn add(row: &mut DVector<f64>, at: Option<usize>, part: [Vector3<f64>; 2], sign: f64) {
    if let Some(at) = at {
        for i in 0..3 {
            row[at + i] += sign * part[0][i];
            row[at + 3 + i] += sign * part[1][i];
        }
    }
}

fn matrix(rows: &[DVector<f64>], columns: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows.len(), columns, |i, j| rows[i][j])
}
