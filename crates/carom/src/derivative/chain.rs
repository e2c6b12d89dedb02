//! A recorded run as a chain of linear maps: the flights of the bodies of each event, the event, and the flights to the end.
//!
//! Forward, a matrix of as many columns as there are parameters goes through the chain. Backward, weights of the states at the
//! end go through the transposes, and gather what every number of the start and of the constants contributes: the cost does
//! not grow with their number.

use nalgebra::{DMatrix, SMatrix, SVector, Vector3};

use super::change::{BodyChange, STATE, StateChange};
use super::direction::{Direction, Rule};
use super::flight::{FlightMap, rate};
use super::impact::{COLUMNS, CONSTANTS, ImpactMap, Meeting, column};
use super::rounding::{COPIES, Noise, Rounding};
use super::tape::{Impact, Tape, What};
use super::undefined::Cause;
use crate::body::State;
use crate::contact::Side;
use crate::gap::{gap, gap_to_plane};
use crate::run::World;

/// A run as a chain of linear maps.
#[derive(Debug, Clone)]
pub struct Chain {
    links: Vec<Link>,
    /// The flights to the end, and how fast the states change there.
    ends: Vec<(FlightMap, StateChange)>,
    /// What a body's numbers are measured in: its place, and how fast it moves and turns.
    scales: Vec<[f64; 4]>,
    undefined: Vec<Undefined>,
}

/// Where there is no derivative.
#[derive(Debug, Clone, PartialEq)]
pub struct Undefined {
    /// The event, if it is one.
    pub event: Option<u64>,
    /// When.
    pub time: f64,
    /// The bodies that have none from then on.
    pub bodies: Vec<usize>,
    /// Why.
    pub cause: Cause,
}

/// An event.
#[derive(Debug, Clone)]
struct Link {
    number: u64,
    impact: Option<Box<ImpactLink>>,
}

#[derive(Debug, Clone)]
struct ImpactLink {
    /// The bodies of the two sides; none for a plane.
    bodies: [Option<usize>; 2],
    plane: Option<usize>,
    flights: [Option<FlightMap>; 2],
    rule: Rule,
    scales: [[f64; 4]; 2],
    map: ImpactMap,
}

/// The derivatives of one event.
#[derive(Debug, Clone, PartialEq)]
pub struct EventDerivatives {
    /// The event's number.
    pub number: u64,
    /// Its time by the parameters; `None` where there is no derivative.
    pub time: Option<Vec<f64>>,
    /// Its normal impulse, likewise.
    pub impulse: Option<Vec<f64>>,
}

/// The derivatives of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Derivatives {
    /// Each body's state at the end, a column for each parameter, rows in the order of [`StateChange`]; `None` where there is
    /// no derivative.
    pub states: Vec<Option<DMatrix<f64>>>,
    /// Of the events.
    pub events: Vec<EventDerivatives>,
    /// Why some have none.
    pub undefined: Vec<Undefined>,
    /// What rounding has grown to by the end, of each body that has derivatives.
    pub rounding: Vec<Option<Rounding>>,
}

/// What every number of a run contributes to a loss: the transpose of [`Derivatives`].
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// By the states at the start.
    pub states: Vec<StateChange>,
    /// By the constants.
    pub bodies: Vec<BodyChange>,
    /// By the planes' normals and offsets.
    pub planes: Vec<(Vector3<f64>, f64)>,
    /// By gravity.
    pub gravity: Vector3<f64>,
    /// By restitution and friction: of the default rule first, then of the pairs'.
    pub rules: Vec<[f64; 2]>,
    /// By the time of the end.
    pub until: f64,
}

/// What becomes of bodies while the chain is put together.
struct Flying {
    state: State,
    since: f64,
    lost: bool,
}

impl Chain {
    /// Of a run that began with these states and has come to a time; `stepped` are the intervals in which time steps carried bodies
    /// on: from when, which bodies.
    #[must_use]
    pub fn new(
        world: &World,
        states: &[State],
        tape: &Tape,
        until: f64,
        stepped: &[(f64, Vec<usize>)],
    ) -> Self {
        let mut flying: Vec<Flying> =
            states.iter().map(|&state| Flying { state, since: 0.0, lost: false }).collect();
        let mut chain =
            Self { links: Vec::new(), ends: Vec::new(), scales: Vec::new(), undefined: Vec::new() };
        let joined = |body: usize| world.joints.iter().any(|joint| joint.bodies.contains(&body));
        let constrained: Vec<usize> =
            (0..states.len()).filter(|&body| world.constrained(body) || joined(body)).collect();
        if !constrained.is_empty() {
            chain.lose(&mut flying, world, None, 0.0, &constrained, Cause::Constrained);
        }
        for bodies in touching(world, states) {
            chain.lose(&mut flying, world, None, 0.0, &bodies, Cause::Touching);
        }
        let mut steps = stepped.iter().peekable();
        for entry in &tape.entries {
            while let Some((time, bodies)) = steps.next_if(|(time, _)| *time <= entry.time) {
                chain.lose(&mut flying, world, None, *time, bodies, Cause::Stepped);
            }
            let impact = match &entry.what {
                What::Impact(impact) => chain
                    .impact(world, &mut flying, impact, entry.time)
                    .map_err(|cause| (impact.around.iter().map(|(body, _)| *body).collect(), cause)),
                What::Obstacle { bodies, cause } => {
                    let earlier = bodies.iter().any(|&body| flying[body].lost);
                    Err((bodies.clone(), if earlier { Cause::Earlier } else { *cause }))
                }
            };
            let impact = match impact {
                Ok(link) => Some(Box::new(link)),
                Err((bodies, cause)) => {
                    chain.lose(&mut flying, world, Some(entry.number), entry.time, &bodies, cause);
                    None
                }
            };
            chain.links.push(Link { number: entry.number, impact });
        }
        for (time, bodies) in steps {
            chain.lose(&mut flying, world, None, *time, bodies, Cause::Stepped);
        }
        for (body, flying) in flying.iter().enumerate() {
            let constants = &world.bodies[body];
            let flight = world.flight(body, &flying.state);
            let time = if flying.lost { 0.0 } else { until - flying.since };
            let end = flight.at(time);
            let map = FlightMap::new(constants, &flight, time);
            chain.ends.push((map, rate(constants, &end, &world.gravity)));
            chain.scales.push(scale(world, body, &end));
        }
        chain
    }

    /// Says that bodies have no derivatives from here on.
    fn lose(
        &mut self,
        flying: &mut [Flying],
        world: &World,
        event: Option<u64>,
        time: f64,
        bodies: &[usize],
        cause: Cause,
    ) {
        // An event of bodies that have none already is no news.
        let movable = |body: &usize| !world.bodies[*body].fixed;
        let new: Vec<usize> = bodies.iter().copied().filter(movable).filter(|&b| !flying[b].lost).collect();
        for &body in &new {
            flying[body].lost = true;
        }
        if !new.is_empty() {
            self.undefined.push(Undefined { event, time, bodies: new, cause });
        }
    }

    fn impact(
        &self,
        world: &World,
        flying: &mut [Flying],
        impact: &Impact,
        time: f64,
    ) -> Result<ImpactLink, Cause> {
        let side_body = |side: Side| match side {
            Side::Body(body) => Some(body),
            Side::Plane(_) => None,
        };
        let bodies = impact.sides.map(side_body);
        if bodies.iter().flatten().any(|&body| flying[body].lost) {
            return Err(Cause::Earlier);
        }
        let known = |body: usize| impact.around.iter().find(|(b, _)| *b == body).map(|(_, states)| *states);
        let around = bodies.map(|body| {
            body.map(|body| known(body).unwrap_or([flying[body].state; 2]))
                .map(|[before, after]| (before, after))
        });
        let plane = match impact.sides[0] {
            Side::Plane(plane) => Some(plane),
            Side::Body(_) => None,
        };
        // The point stands beside the first body's place in its box.
        let arm = |side: usize, point: Vector3<f64>| {
            let (Some(body), Some((before, _))) = (bodies[side], around[side]) else {
                return Vector3::zeros();
            };
            let outward = if side == 0 { impact.normal } else { -impact.normal };
            let own = before.orientation.inverse_transform_vector(&outward);
            let support = before.orientation * world.bodies[body].shape.support(&own);
            let apart = point - before.position;
            let boxes = world.periodic.unwrap_or_else(Vector3::zeros);
            Vector3::from_fn(|i, _| {
                let whole =
                    if boxes[i] > 0.0 { libm::round((apart[i] - support[i]) / boxes[i]) } else { 0.0 };
                apart[i] - whole * boxes[i]
            })
        };
        let arms = if plane.is_some() {
            [Vector3::zeros(), arm(1, impact.point)]
        } else {
            let first = arm(0, impact.point);
            [first, first - impact.between]
        };
        let (restitution, surface) = world.surface.of(impact.sides);
        let party = |side: usize| Some((&world.bodies[bodies[side]?], around[side]?.0, around[side]?.1));
        let meeting = Meeting {
            bodies: [party(0), party(1)],
            arms,
            normal: impact.normal,
            point: impact.point,
            gravity: world.gravity,
            restitution,
            surface,
            termination: world.options.termination,
            recorded: impact.impulse,
        };
        let map = ImpactMap::new(&meeting).map_err(|cause| {
            let plastic = restitution > 0.0 && impact.separation.abs() <= 1e-9 * impact.approach.abs();
            if cause == Cause::Mismatch && plastic { Cause::RestSpeed } else { cause }
        })?;
        let flights = bodies.map(|body| {
            body.map(|body| {
                let Flying { state, since, .. } = &flying[body];
                FlightMap::new(&world.bodies[body], &world.flight(body, state), time - since)
            })
        });
        let scales = [0, 1].map(|side| match (bodies[side], around[side]) {
            (Some(body), Some((_, after))) => scale(world, body, &after),
            _ => [0.0; 4],
        });
        for (body, around) in bodies.iter().zip(around) {
            if let (Some(body), Some((_, after))) = (body, around) {
                (flying[*body].state, flying[*body].since) = (after, time);
            }
        }
        let rule = world.surface.rule_of(impact.sides);
        Ok(ImpactLink { bodies, plane, flights, rule, scales, map })
    }

    /// Where there is no derivative, in the order of time.
    #[must_use]
    pub fn undefined(&self) -> &[Undefined] {
        &self.undefined
    }

    /// Carries directions through the run.
    #[must_use]
    pub fn forward(&self, directions: &[Direction]) -> Derivatives {
        let count = directions.len();
        let bodies = self.ends.len();
        let constants = Inputs::of(directions, bodies);
        // What rounding does goes along as further columns.
        let width = count + COPIES;
        let mut noise = Noise::new();
        let mut states: Vec<DMatrix<f64>> = vec![DMatrix::zeros(STATE, width); bodies];
        for (j, direction) in directions.iter().enumerate() {
            for (body, change) in &direction.states {
                let mut column = states[*body].fixed_view_mut::<STATE, 1>(0, j);
                column += change.numbers();
            }
        }
        for (matrix, scale) in states.iter_mut().zip(&self.scales) {
            noise.add(matrix, count, scale);
        }
        let mut events = Vec::with_capacity(self.links.len());
        let mut input = DMatrix::zeros(COLUMNS, width);
        let mut output = DMatrix::zeros(2 * STATE, width);
        for link in &self.links {
            let Some(impact) = &link.impact else {
                events.push(EventDerivatives { number: link.number, time: None, impulse: None });
                continue;
            };
            input.fill(0.0);
            for side in 0..2 {
                let (Some(body), Some(flight)) = (impact.bodies[side], &impact.flights[side]) else {
                    continue;
                };
                constants.fly(flight, body, &mut states[body]);
                input.view_mut((column::state(side), 0), (STATE, width)).copy_from(&states[body]);
                constants.put_body(body, column::constants(side), &mut input);
            }
            constants.put_rules(impact.plane, impact.rule, &mut input);
            output.gemm(1.0, &impact.map.states, &input, 0.0);
            let row = |map: &SMatrix<f64, 1, COLUMNS>| {
                (map * &input).iter().take(count).copied().collect::<Vec<f64>>()
            };
            events.push(EventDerivatives {
                number: link.number,
                time: Some(row(&impact.map.time)),
                impulse: Some(row(&impact.map.impulse)),
            });
            for side in 0..2 {
                let Some(body) = impact.bodies[side] else { continue };
                states[body].copy_from(&output.view((side * STATE, 0), (STATE, width)));
                noise.add(&mut states[body], count, &impact.scales[side]);
            }
        }
        let mut lost = vec![false; bodies];
        self.undefined.iter().flat_map(|entry| &entry.bodies).for_each(|&body| lost[body] = true);
        let mut found = Derivatives {
            states: Vec::with_capacity(bodies),
            events,
            undefined: self.undefined.clone(),
            rounding: Vec::with_capacity(bodies),
        };
        for (body, mut matrix) in states.into_iter().enumerate() {
            if lost[body] {
                found.states.push(None);
                found.rounding.push(None);
                continue;
            }
            let (flight, rate) = &self.ends[body];
            constants.fly(flight, body, &mut matrix);
            for (j, direction) in directions.iter().enumerate() {
                let mut column = matrix.fixed_view_mut::<STATE, 1>(0, j);
                column += rate.numbers() * direction.until;
            }
            noise.add(&mut matrix, count, &self.scales[body]);
            found.rounding.push(Some(Rounding::of(&matrix, count, &self.scales[body])));
            found.states.push(Some(matrix.columns(0, count).into_owned()));
        }
        found
    }

    /// Carries weights of the states at the end back through the run: what each number contributes to the sum that they weigh.
    ///
    /// # Errors
    /// Where there is no derivative, if a body that has none is weighed.
    pub fn backward(&self, world: &World, weights: &[StateChange]) -> Result<Gradient, Undefined> {
        let zero = StateChange::zero().numbers();
        let weighed = |body: &usize| weights[*body].numbers() != zero;
        if let Some(entry) = self.undefined.iter().find(|entry| entry.bodies.iter().any(weighed)) {
            return Err(entry.clone());
        }
        let mut gradient = Gradient {
            states: weights.to_vec(),
            bodies: vec![BodyChange::zero(); weights.len()],
            planes: vec![(Vector3::zeros(), 0.0); world.planes.len()],
            gravity: Vector3::zeros(),
            rules: vec![[0.0; 2]; 1 + world.surface.pairs.len()],
            until: 0.0,
        };
        for (body, (flight, rate)) in self.ends.iter().enumerate() {
            gradient.until += rate.numbers().dot(&gradient.states[body].numbers());
            gradient.fly_back(flight, body);
        }
        for impact in self.links.iter().rev().filter_map(|link| link.impact.as_ref()) {
            let mut output = SVector::<f64, { 2 * STATE }>::zeros();
            for side in 0..2 {
                if let Some(body) = impact.bodies[side] {
                    output.fixed_rows_mut::<STATE>(side * STATE).copy_from(&gradient.states[body].numbers());
                }
            }
            let input = impact.map.states.tr_mul(&output);
            let three = |at: usize| input.fixed_rows::<3>(at).into_owned();
            for side in 0..2 {
                let Some(body) = impact.bodies[side] else { continue };
                let numbers = input.fixed_rows::<STATE>(column::state(side)).into_owned();
                gradient.states[body] = StateChange::from_numbers(&numbers);
                let at = column::constants(side);
                let constants = &mut gradient.bodies[body];
                constants.mass += input[at];
                constants.inertia += three(at + 1);
                constants.sizes += three(at + 4);
            }
            if let Some(plane) = impact.plane {
                gradient.planes[plane].0 += three(column::NORMAL);
                gradient.planes[plane].1 += input[column::OFFSET];
            }
            let rule = &mut gradient.rules[impact.rule.map_or(0, |pair| pair + 1)];
            rule[0] += input[column::RESTITUTION];
            rule[1] += input[column::FRICTION];
            for side in 0..2 {
                if let (Some(body), Some(flight)) = (impact.bodies[side], &impact.flights[side]) {
                    gradient.fly_back(flight, body);
                }
            }
        }
        Ok(gradient)
    }
}

impl Gradient {
    fn fly_back(&mut self, flight: &FlightMap, body: usize) {
        let (start, moments, gravity) = flight.backward(&self.states[body]);
        self.states[body] = start;
        self.bodies[body].inertia += moments;
        self.gravity += gravity;
    }

    /// What a change along a direction makes of the loss.
    #[must_use]
    pub fn along(&self, direction: &Direction) -> f64 {
        let mut sum = self.gravity.dot(&direction.gravity) + self.until * direction.until;
        for (body, change) in &direction.states {
            sum += self.states[*body].numbers().dot(&change.numbers());
        }
        for (body, change) in &direction.bodies {
            let own = &self.bodies[*body];
            sum += own.mass * change.mass + own.inertia.dot(&change.inertia) + own.sizes.dot(&change.sizes);
        }
        for (plane, normal, offset) in &direction.planes {
            sum += self.planes[*plane].0.dot(normal) + self.planes[*plane].1 * offset;
        }
        for (rules, which) in [(&direction.restitution, 0), (&direction.friction, 1)] {
            for (rule, change) in rules {
                sum += self.rules[rule.map_or(0, |pair| pair + 1)][which] * change;
            }
        }
        sum
    }
}

/// The parameters' part in constants and rules, a column for each.
struct Inputs {
    count: usize,
    /// Mass, moments, sizes of each body that some parameter changes.
    bodies: Vec<Option<DMatrix<f64>>>,
    gravity: DMatrix<f64>,
    planes: Vec<(usize, usize, Vector3<f64>, f64)>,
    restitution: Vec<(usize, Rule, f64)>,
    friction: Vec<(usize, Rule, f64)>,
}

impl Inputs {
    fn of(directions: &[Direction], bodies: usize) -> Self {
        let count = directions.len();
        let mut inputs = Self {
            count,
            bodies: vec![None; bodies],
            gravity: DMatrix::zeros(3, count),
            planes: Vec::new(),
            restitution: Vec::new(),
            friction: Vec::new(),
        };
        for (j, direction) in directions.iter().enumerate() {
            for (body, change) in &direction.bodies {
                let own = inputs.bodies[*body].get_or_insert_with(|| DMatrix::zeros(CONSTANTS, count));
                own[(0, j)] += change.mass;
                for i in 0..3 {
                    own[(1 + i, j)] += change.inertia[i];
                    own[(4 + i, j)] += change.sizes[i];
                }
            }
            inputs.gravity.set_column(j, &direction.gravity);
            inputs
                .planes
                .extend(direction.planes.iter().map(|&(plane, normal, offset)| (j, plane, normal, offset)));
            inputs.restitution.extend(direction.restitution.iter().map(|&(rule, change)| (j, rule, change)));
            inputs.friction.extend(direction.friction.iter().map(|&(rule, change)| (j, rule, change)));
        }
        inputs
    }

    /// Carries a body's columns through a flight.
    fn fly(&self, flight: &FlightMap, body: usize, matrix: &mut DMatrix<f64>) {
        for j in 0..matrix.ncols() {
            let start = StateChange::from_numbers(&matrix.fixed_view::<STATE, 1>(0, j).into_owned());
            let (mut constants, mut gravity) = (BodyChange::zero(), Vector3::zeros());
            if j < self.count {
                gravity = self.gravity.fixed_view::<3, 1>(0, j).into_owned();
                if let Some(own) = &self.bodies[body] {
                    constants.inertia = own.fixed_view::<3, 1>(1, j).into_owned();
                }
            }
            matrix.set_column(j, &flight.forward(&start, &constants, &gravity).numbers());
        }
    }

    fn put_body(&self, body: usize, at: usize, input: &mut DMatrix<f64>) {
        if let Some(own) = &self.bodies[body] {
            input.view_mut((at, 0), (CONSTANTS, self.count)).copy_from(own);
        }
    }

    fn put_rules(&self, plane: Option<usize>, rule: Rule, input: &mut DMatrix<f64>) {
        for (j, _, normal, offset) in self.planes.iter().filter(|entry| Some(entry.1) == plane) {
            for i in 0..3 {
                input[(column::NORMAL + i, *j)] += normal[i];
            }
            input[(column::OFFSET, *j)] += offset;
        }
        for (changes, row) in [(&self.restitution, column::RESTITUTION), (&self.friction, column::FRICTION)] {
            for (j, _, change) in changes.iter().filter(|entry| entry.1 == rule) {
                input[(row, *j)] += change;
            }
        }
    }
}

/// A gap beside the bodies' sizes, and a rate beside their speeds, that are none.
const NO_GAP: f64 = 1e-12;

/// The pairs that touch at the start and neither close nor separate: neighbours do one or the other, or overlap.
fn touching(world: &World, states: &[State]) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let speed = |body: usize| {
        states[body].velocity.norm() + states[body].angular_velocity.norm() * world.radius[body]
    };
    let at_rest = |rate: f64, sizes: [f64; 2], gap: f64, speeds: f64| {
        gap.abs() <= NO_GAP * (sizes[0] + sizes[1]) && rate.abs() <= NO_GAP * speeds
    };
    for (second, state) in states.iter().enumerate().filter(|(body, _)| world.can_collide(*body)) {
        let (shape, size) = (&world.bodies[second].shape, world.radius[second]);
        for plane in world.planes.iter().filter(|_| !world.bodies[second].fixed) {
            if plane.normal.dot(&state.position) - plane.offset > 2.0 * size {
                continue;
            }
            let at = gap_to_plane(shape, &state.pose(), plane);
            let rate = plane.normal.dot(&state.velocity_at(&at.points[0]));
            if at_rest(rate, [size, state.position.norm()], at.gap, speed(second)) {
                found.push(vec![second]);
            }
        }
        for first in (0..second).filter(|&body| world.can_collide(body)) {
            if world.bodies[first].fixed && world.bodies[second].fixed {
                continue;
            }
            let mut shifted = *state;
            if let Some(boxes) = world.periodic {
                let apart = state.position - states[first].position;
                for i in (0..3).filter(|&i| boxes[i] > 0.0) {
                    shifted.position[i] -= libm::round(apart[i] / boxes[i]) * boxes[i];
                }
            }
            let reach = world.radius[first] + size;
            if (shifted.position - states[first].position).norm() > reach * (1.0 + NO_GAP) {
                continue;
            }
            let one = (&world.bodies[first].shape, &states[first].pose());
            let Some(at) = gap(one, (shape, &shifted.pose())) else { continue };
            let velocities = [states[first].velocity_at(&at.points[0]), shifted.velocity_at(&at.points[1])];
            let rate = at.normal.dot(&(velocities[1] - velocities[0]));
            if at_rest(rate, [reach, state.position.norm()], at.gap, speed(first) + speed(second)) {
                found.push(vec![first, second]);
            }
        }
    }
    found
}

/// What a body's numbers are measured in: a length, a turn, a speed, a spin.
fn scale(world: &World, body: usize, state: &State) -> [f64; 4] {
    if world.bodies[body].fixed {
        return [0.0; 4];
    }
    let radius = world.radius[body];
    let spin = state.angular_velocity.norm();
    let speed = state.velocity.norm() + spin * radius;
    let turning = if radius > 0.0 { speed / radius } else { spin };
    [state.position.norm() + radius, 1.0, speed, turning]
}
