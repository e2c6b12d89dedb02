//! Time-stepping with the same laws, for what has no exact continuation: jams, contradictions, motion without headway.
//!
//! One step of the scheme of Moreau and Jean (M. Jean, *The non-smooth contact dynamics method*, 1999): velocities jump at its start, and
//! are constant along it.
//!
//! ```text
//! M (v⁺ − v⁻) = h f + Jᵀp + Aᵀν,    A v⁺ = 0,    0 ≤ p_n ⟂ y_n⁺ + b ≥ 0,    |p_t| ≤ μ p_n,  p_t against the slip y_t⁺
//! b = k y_n⁻  where the bodies meet within the step and k > 0,   b = max(g, 0)/h  elsewhere
//! ```
//!
//! with k the restitution, zero below the rest speed, and zero for all where impulses would otherwise gain energy. A contact that is apart
//! may thus close within the step, and not more. The impulses are found contact by contact (non-linear Gauss–Seidel,
//! [`friction_cone`](super::friction_cone)), or by the impact law's own solver where nothing has friction; joints are kept exactly at the
//! level of velocities. Overlaps and joint errors that the last step left by its curvature are taken back along the step, by a velocity
//! that moves positions only and adds no kinetic energy.
//!
//! The error is of first order in h. It is reported, from a comparison with two half steps, along with the deepest overlap.

use nalgebra::{Matrix3, Quaternion, Unit, Vector3};

use super::dense_step::{Bounds, DenseStep, Ending};
use super::frame::turned;
use super::friction_cone::{Cone, Response};
use super::rows::{Row, write};
use super::slips::StoppedSlips;
use super::system::{Correction, System};
use super::unknowns::PER_BODY;
use super::{Flow, Mode, Obstacle};
use crate::body::State;
use crate::contact::{Side, Surface};
use crate::gap::{Gap, gap, gap_to_plane};
use crate::impact::active::{Nearest, Requirement, nearest};
use crate::integrate::gauss::Leg;
use crate::joint::across;
use crate::metric::{Rows, norm};

/// Rounds over all contacts, and the change of impulses at which they end, relative to the largest.
const MOST_ROUNDS: u32 = 300;
const SETTLED: f64 = 1e-10;

/// A gain of speed that is rounding, relative to it: impulses settle to [`SETTLED`].
const ENERGY_ROUNDING: f64 = 1e-9;

/// Rounds of pushing bodies apart.
const MOST_SEPARATIONS: u32 = 12;

/// A unit row's rest below this counts as dependent on the others.
const DEPENDENT: f64 = 1e-10;

/// Overlaps below this, over the size, are rounding.
const APART: f64 = 1e-16;

/// How impacts are met within a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Restitution {
    /// k of each contact that may let go.
    pub coefficients: Vec<f64>,
    /// Approaches slower than this are plastic.
    pub rest_speed: f64,
}

/// A contact in a step: its gap and the rows of its normal and tangents.
struct Meeting {
    contact: usize,
    gap: f64,
    tangents: Option<[Vector3<f64>; 2]>,
    cone: Cone,
    rows: Vec<SparseRow>,
    own: Response,
    /// b of the normal.
    target: f64,
    impulse: Vector3<f64>,
}

/// A row in unit-mass coordinates, by blocks of six.
struct SparseRow {
    values: Vec<f64>,
    blocks: Vec<usize>,
    /// The same as it is beside joints, where there are any.
    bare: Option<Vec<f64>>,
}

impl SparseRow {
    fn dot(&self, u: &[f64]) -> f64 {
        let block = |&b: &usize| (6 * b..6 * b + 6).map(|i| self.values[i] * u[i]).sum::<f64>();
        self.blocks.iter().map(block).sum()
    }

    fn add_to(&self, u: &mut [f64], factor: f64) {
        for &b in &self.blocks {
            for i in 6 * b..6 * b + 6 {
                u[i] += factor * self.values[i];
            }
        }
    }
}

/// The rows of joints: an orthonormal basis of what they take away.
struct Joints {
    lines: Vec<Row>,
    rows: Vec<Vec<f64>>,
    basis: Vec<Vec<f64>>,
}

impl Flow {
    /// One time step from states at a time. Returns it with the smallest gap at its end.
    ///
    /// # Errors
    ///
    /// An obstacle where a contact has no surface or numbers are not finite.
    pub fn time_step(
        &self,
        states: &[State],
        from: f64,
        length: f64,
        restitution: &Restitution,
    ) -> Result<(DenseStep, f64), Obstacle> {
        let mut system = System::new(self, self.modes_without_friction());
        system.time = from;
        system.place(states);
        let joints = self.joint_rows(&mut system);
        let mut meetings = self.meetings(&system, &joints)?;
        let before = self.unit_velocities(&system);
        let mut free = before.clone();
        for placed in &system.placed {
            let Some(slot) = placed.slot else { continue };
            let push = placed.acceleration / placed.root_mass * length;
            let turn = placed.axes.tr_mul(&placed.torque).component_mul(&placed.root_inertia) * length;
            for k in 0..3 {
                free[6 * slot + k] += push[k];
                free[6 * slot + 3 + k] += turn[k];
            }
        }
        for meeting in &mut meetings {
            let normal = &meeting.rows[0];
            let (approach, reached) = (normal.dot(&before), meeting.gap + length * normal.dot(&free));
            let coefficient = restitution.coefficients.get(meeting.contact).copied().unwrap_or(0.0);
            let impact = coefficient > 0.0 && approach < -restitution.rest_speed && reached <= 0.0;
            meeting.target = if impact { coefficient * approach } else { meeting.gap.max(0.0) / length };
        }
        let mut u = free.clone();
        joints.project(&mut u);
        let unpushed = u.clone();
        relax(&mut meetings, &mut u);
        if energy_gained(&unpushed, &u) {
            // A fast body caught between two others would hand its speed to both: such impacts are plastic.
            for meeting in &mut meetings {
                (meeting.target, meeting.impulse) = (meeting.gap.max(0.0) / length, Vector3::zeros());
            }
            u.clone_from(&unpushed);
            relax(&mut meetings, &mut u);
        }
        let shift = self.taking_back(&joints, &meetings, length);
        let reactions = self.joint_forces(&mut system, joints, &meetings, free, length);
        self.stepped(&system, states, &u, &shift, &meetings, &reactions, [from, length])
    }

    /// Moves bodies apart until none of the contacts overlaps, by short ways in the kinetic metric, and back onto the joints.
    /// Returns the smallest gap there was.
    ///
    /// # Errors
    ///
    /// An obstacle where a contact has no surface.
    pub fn separate(&self, states: &mut [State]) -> Result<f64, Obstacle> {
        let mut deepest = f64::INFINITY;
        for round in 0..MOST_SEPARATIONS {
            let mut system = System::new(self, self.modes_without_friction());
            system.place(states);
            let joints = self.joint_rows(&mut system);
            let meetings = self.meetings(&system, &joints)?;
            let smallest = meetings.iter().map(|meeting| meeting.gap).fold(f64::INFINITY, f64::min);
            if round == 0 {
                deepest = smallest;
            }
            let off =
                joints.lines.iter().filter_map(|line| line.residual).fold(0.0, |m: f64, r| m.max(r.abs()));
            let level = APART * self.length();
            if smallest >= -level && off <= 16.0 * level {
                break;
            }
            let shift = self.taking_back(&joints, &meetings, 1.0);
            for (placed, state) in system.placed.iter().zip(states.iter_mut()) {
                let Some((way, turn)) = placed.move_by(&shift) else { continue };
                state.position += way;
                state.orientation = turned(&state.orientation, &turn);
            }
        }
        Ok(deepest)
    }

    /// The smallest gap of the contacts at states.
    fn smallest_gap(&self, states: &[State]) -> f64 {
        let of = |i: usize| self.gap_at(states, i).map_or(f64::INFINITY, |found| found.gap);
        (0..self.loose).map(of).fold(f64::INFINITY, f64::min)
    }

    fn gap_at(&self, states: &[State], i: usize) -> Option<Gap> {
        let contact = &self.contacts[i];
        match contact.sides {
            [Side::Plane(plane), Side::Body(b)] => {
                Some(gap_to_plane(&self.bodies[b].shape, &states[b].pose(), &self.planes[plane]))
            }
            [Side::Body(a), Side::Body(b)] => {
                let mut second = states[b];
                second.position += contact.offset;
                gap((&self.bodies[a].shape, &states[a].pose()), (&self.bodies[b].shape, &second.pose()))
            }
            _ => None,
        }
    }

    /// The rows of a contact at states: normal first.
    fn contact_parts(
        &self,
        states: &[State],
        i: usize,
        found: &Gap,
        direction: &Vector3<f64>,
    ) -> ([Option<usize>; 2], [[Vector3<f64>; 2]; 2]) {
        let contact = &self.contacts[i];
        let arm = |k: usize| match contact.sides[k] {
            Side::Body(b) if k == 1 => found.points[1] - states[b].position - contact.offset,
            Side::Body(b) => found.points[0] - states[b].position,
            Side::Plane(_) => Vector3::zeros(),
        };
        let bodies = contact.sides.map(|side| match side {
            Side::Body(b) => Some(b),
            Side::Plane(_) => None,
        });
        let (p, q) = (arm(0), arm(1));
        (bodies, [[-direction, -p.cross(direction)], [*direction, q.cross(direction)]])
    }

    /// The contacts that may let go, with their rows across those of joints.
    fn meetings(&self, system: &System, joints: &Joints) -> Result<Vec<Meeting>, Obstacle> {
        let states: Vec<State> = system.placed.iter().map(|placed| placed.state).collect();
        let dimension = 6 * self.free();
        let mut meetings = Vec::with_capacity(self.loose);
        for i in 0..self.loose {
            let found = self.gap_at(&states, i).ok_or(Obstacle::NoSurface { contact: i })?;
            if !found.gap.is_finite() {
                return Err(Obstacle::NotFinite);
            }
            let cone = match self.contacts[i].surface {
                Surface::Smooth => Cone::Push,
                Surface::Coulomb(0.0) => Cone::Push,
                Surface::Coulomb(coefficient) => Cone::Limited(coefficient),
                Surface::Rough => Cone::Unlimited,
            };
            let tangents = (!matches!(cone, Cone::Push)).then(|| across(&Unit::new_unchecked(found.normal)));
            let directions = [Some(found.normal), tangents.map(|t| t[0]), tangents.map(|t| t[1])];
            let mut rows = Vec::with_capacity(3);
            for direction in directions.into_iter().flatten() {
                let (bodies, parts) = self.contact_parts(&states, i, &found, &direction);
                let mut values = vec![0.0; dimension];
                let line = Row { bodies, parts, push: None, bias: 0.0, residual: None };
                write(&mut values, &system.placed, &line, &parts);
                let own = bodies.iter().flatten().filter_map(|&b| system.placed[b].slot);
                let mut blocks: Vec<usize> = own.collect();
                let mut bare = None;
                if !joints.basis.is_empty() {
                    bare = Some(values.clone());
                    joints.project(&mut values);
                    blocks = (0..self.free())
                        .filter(|b| values[6 * b..6 * b + 6].iter().any(|x| *x != 0.0))
                        .collect();
                }
                rows.push(SparseRow { values, blocks, bare });
            }
            let entry = |j: usize, k: usize| rows[j].dot(&rows[k].values);
            let count = rows.len();
            let own = Matrix3::from_fn(|j, k| if j < count && k < count { entry(j, k) } else { 0.0 });
            // A contact that joints block does nothing.
            if own[(0, 0)] <= 0.0 {
                continue;
            }
            let own = if count < 3 { Response::of_normal(own[(0, 0)]) } else { Response::new(own) };
            meetings.push(Meeting {
                contact: i,
                gap: found.gap,
                tangents,
                cone,
                rows,
                own,
                target: 0.0,
                impulse: Vector3::zeros(),
            });
        }
        Ok(meetings)
    }

    /// The rows of joints, rolling ones included.
    fn joint_rows(&self, system: &mut System) -> Joints {
        let states: Vec<State> = system.placed.iter().map(|placed| placed.state).collect();
        let mut lines = Vec::new();
        system.first_line.clear();
        for i in self.loose..self.contacts.len() {
            system.first_line.push(lines.len());
            let Some(found) = self.gap_at(&states, i) else { continue };
            let [one, two] = across(&Unit::new_unchecked(found.normal));
            for (direction, residual) in [(found.normal, Some(found.gap)), (one, None), (two, None)] {
                let (bodies, parts) = self.contact_parts(&states, i, &found, &direction);
                lines.push(Row { bodies, parts, push: None, bias: 0.0, residual });
            }
        }
        system.first_tie_line.clear();
        for tie in &self.ties {
            system.first_tie_line.push(lines.len());
            tie.lines(&system.placed, self.tie_length(tie), 1.0, &mut lines);
        }
        system.first_tie_line.push(lines.len());
        let dimension = 6 * self.free();
        let rows: Vec<Vec<f64>> = lines
            .iter()
            .map(|line| {
                let mut row = vec![0.0; dimension];
                write(&mut row, &system.placed, line, &line.parts);
                row
            })
            .collect();
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for row in &rows {
            let length = dot(row, row).sqrt();
            let mut rest = row.clone();
            for _ in 0..2 {
                take_away(&basis, &mut rest);
            }
            let left = dot(&rest, &rest).sqrt();
            if left > 1e-10 * length {
                rest.iter_mut().for_each(|x| *x /= left);
                basis.push(rest);
            }
        }
        Joints { lines, rows, basis }
    }

    /// Velocities in unit-mass coordinates.
    fn unit_velocities(&self, system: &System) -> Vec<f64> {
        let mut u = vec![0.0; 6 * self.free()];
        for placed in &system.placed {
            let Some(slot) = placed.slot else { continue };
            let velocity = placed.state.velocity / placed.root_mass;
            let spin = placed.axes.tr_mul(&placed.state.angular_velocity).component_div(&placed.root_inertia);
            u[6 * slot..6 * slot + 3].copy_from_slice(velocity.as_slice());
            u[6 * slot + 3..6 * slot + 6].copy_from_slice(spin.as_slice());
        }
        u
    }

    /// The shortest motion that takes overlaps and errors of joints back within a time, and closes no gap.
    fn taking_back(&self, joints: &Joints, meetings: &[Meeting], time: f64) -> Vec<f64> {
        let dimension = 6 * self.free();
        let off = joints.lines.iter().any(|line| line.residual.is_some_and(|residual| residual != 0.0));
        if !off && meetings.iter().all(|meeting| meeting.gap >= 0.0) {
            return vec![0.0; dimension];
        }
        let mut problem = Polyhedron::new(dimension);
        for meeting in meetings {
            let row = &meeting.rows[0];
            problem.push(row.bare.as_ref().unwrap_or(&row.values), -meeting.gap / time, false);
        }
        for (line, row) in joints.lines.iter().zip(&joints.rows) {
            if let Some(residual) = line.residual {
                problem.push(row, -residual / time, true);
            }
        }
        problem.shortest().map_or_else(|| vec![0.0; dimension], |answer| answer.u)
    }

    /// The forces of joints: force and torque on each one's first body. `without` are the velocities with forces besides contacts and
    /// joints.
    fn joint_forces(
        &self,
        system: &mut System,
        joints: Joints,
        meetings: &[Meeting],
        mut without: Vec<f64>,
        length: f64,
    ) -> Vec<[Vector3<f64>; 2]> {
        let none = vec![[Vector3::zeros(); 2]; self.ties.len()];
        if self.ties.is_empty() {
            return none;
        }
        for meeting in meetings {
            for (row, impulse) in meeting.rows.iter().zip(meeting.impulse.iter()) {
                for (x, c) in without.iter_mut().zip(row.bare.as_ref().unwrap_or(&row.values)) {
                    *x += impulse * c;
                }
            }
        }
        system.balance.clear(6 * self.free());
        for row in &joints.rows {
            system.balance.push().copy_from_slice(row);
        }
        for (i, row) in joints.rows.iter().enumerate() {
            system.balance.right[i] = -dot(row, &without) / length;
            system.balance.noise[i] = f64::INFINITY;
        }
        system.lines = joints.lines;
        match system.balance.solve() {
            Ok(()) => (0..self.ties.len()).map(|i| system.tie_force(i)).collect(),
            Err(_) => none,
        }
    }

    /// The step as dense output: constant velocities.
    #[expect(clippy::too_many_arguments, reason = "what a step is made of")]
    fn stepped(
        &self,
        system: &System,
        states: &[State],
        u: &[f64],
        shift: &[f64],
        meetings: &[Meeting],
        reactions: &[[Vector3<f64>; 2]],
        [from, length]: [f64; 2],
    ) -> Result<(DenseStep, f64), Obstacle> {
        let mut start = states.to_vec();
        for (state, placed) in start.iter_mut().zip(&system.placed) {
            if let Some((velocity, spin)) = placed.move_by(u) {
                (state.velocity, state.angular_velocity) = (velocity, spin);
            }
        }
        let mut y = vec![0.0; self.unknowns(0)];
        let packed = self.pack(&start);
        y[..packed.len()].copy_from_slice(&packed);
        let mut rates = vec![0.0; y.len()];
        let mut bounds = vec![Bounds { acceleration: 0.0, turning: 0.0 }; self.bodies.len()];
        for (b, placed) in system.placed.iter().enumerate() {
            let (Some(slot), Some((way, turn))) = (placed.slot, placed.move_by(shift)) else { continue };
            let (velocity, spin) = (start[b].velocity + way, start[b].angular_velocity + turn);
            let out = &mut rates[slot * PER_BODY..(slot + 1) * PER_BODY];
            out[..3].copy_from_slice(velocity.as_slice());
            let q = Quaternion::from_imag(spin) * start[b].orientation.into_inner();
            out[6..10].copy_from_slice(&[0.5 * q.w, 0.5 * q.i, 0.5 * q.j, 0.5 * q.k]);
            // Positions are straight but for what takes overlaps back, and turns nearly even.
            bounds[b].acceleration = 2.0 * way.norm() / length;
            bounds[b].turning = 4.0 * spin.norm_squared() + 2.0 * turn.norm() / length;
        }
        for meeting in meetings {
            let out = &mut rates[self.contact_unknown(0, meeting.contact)..];
            let mut friction = Vector3::zeros();
            if let Some([one, two]) = meeting.tangents {
                friction = one * meeting.impulse.y + two * meeting.impulse.z;
            }
            out[0] = meeting.impulse.x / length;
            out[1..4].copy_from_slice((friction / length).as_slice());
        }
        for (i, [force, torque]) in reactions.iter().enumerate() {
            let base = self.tie_unknown(0, i);
            rates[base..base + 3].copy_from_slice(force.as_slice());
            rates[base + 3..base + 6].copy_from_slice(torque.as_slice());
        }
        if !rates.iter().all(|x| x.is_finite()) {
            return Err(Obstacle::NotFinite);
        }
        let leg = Leg::straight(from, length, &y, &rates);
        let until = from + length;
        leg.at(until, 0..rates.len(), &mut y);
        let mut end = start.clone();
        self.unpack(&y, &mut end);
        let smallest = self.smallest_gap(&end);
        let none = Correction { position: 0.0, velocity: 0.0 };
        let step = DenseStep {
            from,
            until,
            ending: Ending::Step,
            given: none,
            drift: none,
            clock: None,
            last: until,
            loose: self.loose,
            flats: vec![None; self.contacts.len()],
            slips: vec![None; self.contacts.len()],
            reference: Vec::new(),
            modes: vec![Mode::Smooth; self.contacts.len()],
            bodies: self.bodies.clone(),
            start,
            carried: self.pack(&end),
            end,
            bounds,
            contact_base: self.contact_unknown(0, 0),
            joints: self.joint_bases(0),
            next_length: length,
            onto: false,
            near: true,
            passage: None,
            start_rates: None,
            stopped: StoppedSlips::default(),
            leg,
        };
        Ok((step, smallest))
    }
}

impl Joints {
    /// Takes what joints forbid out of a vector.
    fn project(&self, u: &mut [f64]) {
        for _ in 0..2 {
            take_away(&self.basis, u);
        }
    }
}

/// Rows at unit length, and what they must reach.
struct Polyhedron {
    rows: Rows,
    requirements: Vec<Requirement>,
    lengths: Vec<f64>,
}

impl Polyhedron {
    fn new(dimension: usize) -> Self {
        Self { rows: Rows::new(dimension), requirements: Vec::new(), lengths: Vec::new() }
    }

    /// Adds a row whose product must reach a value, or equal it. Rows of zeros are left out.
    fn push(&mut self, row: &[f64], least: f64, equality: bool) {
        let length = norm(row);
        if length > 0.0 {
            self.rows.push(row.iter().map(|c| c / length).enumerate());
            let requirement = Requirement { row: self.lengths.len(), least: least / length, equality };
            self.requirements.push(requirement);
            self.lengths.push(length);
        }
    }

    /// The shortest vector that reaches all, if there is one.
    fn shortest(&self) -> Option<Nearest> {
        let found = nearest(&self.rows, &self.requirements, DEPENDENT);
        (found.feasible && found.u.iter().all(|x| x.is_finite())).then_some(found)
    }
}

/// Whether impulses have gained kinetic energy, by the velocities at unit mass without and with them.
fn energy_gained(without: &[f64], with: &[f64]) -> bool {
    norm(with) > (1.0 + ENERGY_ROUNDING) * norm(without)
}

/// Impulses contact by contact, until they no longer change; `u` are the velocities with them.
fn relax(meetings: &mut [Meeting], u: &mut [f64]) {
    if meetings.iter().all(|meeting| matches!(meeting.cone, Cone::Push)) && push_apart(meetings, u) {
        return;
    }
    for _ in 0..MOST_ROUNDS {
        let (mut change, mut size): (f64, f64) = (0.0, 0.0);
        for meeting in meetings.iter_mut() {
            let mut now = Vector3::zeros();
            for (k, row) in meeting.rows.iter().enumerate() {
                now[k] = row.dot(u);
            }
            now.x += meeting.target;
            let next = if matches!(meeting.cone, Cone::Push) {
                Vector3::new((meeting.impulse.x - now.x / meeting.own.normal()).max(0.0), 0.0, 0.0)
            } else {
                meeting.own.answer(&now, &meeting.impulse, meeting.cone)
            };
            let further = next - meeting.impulse;
            for (k, row) in meeting.rows.iter().enumerate() {
                if further[k] != 0.0 {
                    row.add_to(u, further[k]);
                }
            }
            meeting.impulse = next;
            change = change.max(further.amax());
            size = size.max(next.amax());
        }
        if change <= SETTLED * size {
            break;
        }
    }
}

/// The impulses of contacts without friction, exactly; false if there are none.
fn push_apart(meetings: &mut [Meeting], u: &mut [f64]) -> bool {
    let mut problem = Polyhedron::new(u.len());
    for meeting in meetings.iter() {
        problem.push(&meeting.rows[0].values, -meeting.target - meeting.rows[0].dot(u), false);
    }
    let Some(answer) = problem.shortest() else { return false };
    for (x, change) in u.iter_mut().zip(&answer.u) {
        *x += change;
    }
    for ((meeting, p), length) in meetings.iter_mut().zip(&answer.p).zip(&problem.lengths) {
        meeting.impulse = Vector3::new(p / length, 0.0, 0.0);
    }
    true
}

fn take_away(basis: &[Vec<f64>], u: &mut [f64]) {
    for q in basis {
        let along = dot(q, u);
        for (x, q) in u.iter_mut().zip(q) {
            *x -= along * q;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
