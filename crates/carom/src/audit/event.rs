//! Checks one event of a run from outside: the states before and after, the shapes and the impulses; never a law.
//!
//! With P and Q the contact points, n the normal from the first side to the second, J the impulse on the second and u the relative
//! velocity of the two bodies' material there,
//!
//! ```text
//! points        P and Q lie on their surfaces (gauge 1), where n is the outward normal (n·p = h(n)), and Q − P = g n with g = 0
//! momentum      m (v⁺ − v⁻) = Σ ±J,   I (ω⁺ − ω⁻) = Σ r × ±J           each movable body, joints included
//! work          Σ ΔT = Σ ½ J·(u⁻ + u⁺)
//! restitution   n·u⁺ = −k n·u⁻                                          one smooth contact alone
//! unilateral    n·J ≥ 0,   n·u⁺ ≥ 0,   |J_t| ≤ μ n·J                    where the law promises it
//! ```
//!
//! Everything is recomputed from the states: of what the engine says about the event only points, normals and impulses are used,
//! and these are what is checked. Errors are relative to the sizes, momenta, energies and speeds of the bodies concerned; the
//! rounding of coordinates far from the origin is deducted.

use nalgebra::Vector3;

use super::AUDIT_TOLERANCE;
use crate::body::{Body, State};
use crate::contact::{Side, Surface};
use crate::shape::HalfSpace;

/// A body of an event, just before and just after.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// Its constants.
    pub body: &'a Body,
    /// Just before.
    pub before: State,
    /// Just after.
    pub after: State,
}

/// A contact of an event, as the engine states it.
#[derive(Debug, Clone, Copy)]
pub struct Struck {
    /// The sides: bodies by their place among the members, planes by their number. A plane is first.
    pub sides: [Side; 2],
    /// The displacement of the second in a periodic box.
    pub image: Vector3<f64>,
    /// The contact points on the first and on the second.
    pub points: [Vector3<f64>; 2],
    /// From the first to the second.
    pub normal: Vector3<f64>,
    /// The gap.
    pub gap: f64,
    /// The impulse on the second; zero where a joint of the event carries it.
    pub impulse: Vector3<f64>,
    /// The coefficient of restitution.
    pub restitution: f64,
    /// How the surface answers along the tangent.
    pub surface: Surface,
    /// The rate at which growing bodies close the gap by themselves.
    pub growing: f64,
}

/// What a joint did in an event.
#[derive(Debug, Clone, Copy)]
pub struct Carried {
    /// The place of its first body among the members.
    pub first: usize,
    /// That of its second, if it has one.
    pub second: Option<usize>,
    /// The impulse on the first.
    pub linear: Vector3<f64>,
    /// The moment on the first about the point.
    pub angular: Vector3<f64>,
    /// The joint's point.
    pub point: Vector3<f64>,
}

/// An event.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// The bodies that take part.
    pub members: &'a [Member<'a>],
    /// All planes.
    pub planes: &'a [HalfSpace],
    /// The contacts that take part.
    pub contacts: &'a [Struck],
    /// What joints did.
    pub joints: &'a [Carried],
    /// The size of the bodies over that of their shapes.
    pub size: f64,
    /// Whether it is an impact; otherwise contacts began or ended without one.
    pub impact: bool,
    /// Whether the law promises that contacts push, and that none closes afterwards.
    pub unilateral: bool,
}

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The contact points lie on their surfaces and on each other.
    Points,
    /// Each body's momentum and angular momentum change by its impulses.
    Momentum,
    /// The kinetic energy changes by the impulses' work.
    Work,
    /// A single smooth contact separates at k times its approach.
    Restitution,
    /// Contacts push, within their friction cones, and none closes afterwards.
    Unilateral,
}

impl Check {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Points, Self::Momentum, Self::Work, Self::Restitution, Self::Unilateral];
}

/// A relative error, and the bodies that have it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Finding {
    /// The error.
    pub value: f64,
    /// The contact, by its place in the event.
    pub contact: usize,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Findings {
    /// The worst error of each check, in the order of [`Check::ALL`].
    pub worst: [Finding; Check::ALL.len()],
    /// The change of the kinetic energy, by the states.
    pub energy_change: f64,
    /// The kinetic energy of the bodies before.
    pub kinetic_energy: f64,
}

impl Findings {
    fn note(&mut self, check: Check, value: f64, contact: usize) {
        let worst = &mut self.worst[check as usize];
        // NaN counts as the worst.
        if value > worst.value || value.is_nan() {
            *worst = Finding { value, contact };
        }
    }

    /// The checks that fail: errors beyond [`AUDIT_TOLERANCE`], or not a number.
    pub fn failures(&self) -> impl Iterator<Item = (Check, Finding)> {
        let fails = |finding: &Finding| finding.value.is_nan() || finding.value > AUDIT_TOLERANCE;
        Check::ALL.into_iter().zip(self.worst).filter(move |(_, finding)| fails(finding))
    }
}

/// What rounding leaves of a coordinate, relative to it.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// What impulses do to a body.
#[derive(Debug, Clone, Copy, Default)]
struct Push {
    linear: Vector3<f64>,
    angular: Vector3<f64>,
    /// The sizes of all that was added.
    size: f64,
    moment: f64,
    /// The last contact that pushed.
    contact: usize,
}

impl Push {
    fn add(&mut self, impulse: &Vector3<f64>, arm: &Vector3<f64>, contact: usize) {
        let size = impulse.norm();
        self.linear += impulse;
        self.angular += arm.cross(impulse);
        self.size += size;
        self.moment += arm.norm() * size;
        self.contact = contact;
    }
}

impl Member<'_> {
    /// The size of the velocities at a distance from the centre: before, after, and by each impulse alone.
    fn speed(&self, push: &Push, reach: f64) -> f64 {
        let swift = |state: &State| state.velocity.norm() + state.angular_velocity.norm() * reach;
        let moving = swift(&self.before).max(swift(&self.after));
        if self.body.fixed {
            return moving;
        }
        moving + push.size / self.body.mass + push.moment * reach / self.body.inertia.min()
    }
}

fn over(error: f64, scale: f64) -> f64 {
    if error == 0.0 { 0.0 } else { error / scale }
}

/// Checks an event.
#[must_use]
#[cfg(not(target_arch = "nvptx64"))]
pub fn examine(event: &Event) -> Findings {
    if event.members.len() <= 2 {
        return examine_two(event);
    }
    examined(event, &mut vec![Push::default(); event.members.len()])
}

/// Checks an event of one body or two, without memory of its own.
#[must_use]
pub fn examine_two(event: &Event) -> Findings {
    examined(event, &mut [Push::default(); 2])
}

fn examined(event: &Event, pushes: &mut [Push]) -> Findings {
    let mut findings = Findings::default();
    for (k, contact) in event.contacts.iter().enumerate() {
        for (i, arm, sign) in event.bodies_at(contact) {
            pushes[i].add(&(contact.impulse * sign), &arm, k);
        }
    }
    for joint in event.joints {
        for (member, sign) in [(Some(joint.first), 1.0), (joint.second, -1.0)] {
            let Some(i) = member else { continue };
            let arm = joint.point - event.members[i].before.position;
            let contact = pushes[i].contact;
            pushes[i].add(&(joint.linear * sign), &arm, contact);
            pushes[i].angular += joint.angular * sign;
            pushes[i].moment += joint.angular.norm();
        }
    }
    let impulses: f64 = event.contacts.iter().map(|contact| contact.impulse.norm()).sum();
    let (mut work, mut work_size) = (0.0, 0.0);
    for (k, contact) in event.contacts.iter().enumerate() {
        findings.note(Check::Points, event.points_off(contact), k);
        let [before, after] = event.relative_velocities(contact);
        // What the impulses would do one by one is the size of what rounding leaves of their sum.
        let speed: f64 =
            event.bodies_at(contact).map(|(i, arm, _)| event.members[i].speed(&pushes[i], arm.norm())).sum();
        work += 0.5 * contact.impulse.dot(&(before + after));
        work_size += contact.impulse.norm() * speed;
        let approach = contact.normal.dot(&before) - contact.growing;
        let separation = contact.normal.dot(&after) - contact.growing;
        let push = contact.normal.dot(&contact.impulse);
        if !event.impact {
            continue;
        }
        if event.contacts.len() == 1 && contact.surface == Surface::Smooth && approach < 0.0 {
            let missed = (separation + contact.restitution * approach).abs();
            findings.note(Check::Restitution, over(missed, speed), k);
        }
        if event.unilateral {
            let along = (contact.impulse - contact.normal * push).norm();
            let off = match contact.surface {
                Surface::Smooth => along,
                Surface::Coulomb(friction) => along - friction * push,
                Surface::Rough => 0.0,
            };
            findings.note(Check::Unilateral, over(beyond(max(off, -push), 0.0), impulses), k);
            findings.note(Check::Unilateral, over(beyond(-separation, 0.0), speed), k);
        }
    }
    let (mut gained, mut kinetic) = (0.0, 0.0);
    for (member, push) in event.members.iter().zip(pushes) {
        let Member { body, before, after } = member;
        if body.fixed {
            continue;
        }
        let spin = |state: &State| {
            let own = state.orientation.inverse_transform_vector(&state.angular_velocity);
            own.component_mul(&body.inertia)
        };
        let (from, to) = (spin(before), spin(after));
        let speeds = before.velocity.norm() + after.velocity.norm();
        let linear = ((after.velocity - before.velocity) * body.mass - push.linear).norm();
        let turned = before.orientation * (to - from);
        // The arm is a difference of places: it has their rounding.
        let blurred = ROUNDING * before.position.norm() * push.size;
        let angular = beyond((turned - push.angular).norm(), blurred);
        let scale = from.norm() + to.norm() + push.moment;
        let off = max(over(linear, body.mass * speeds + push.size), over(angular, scale));
        findings.note(Check::Momentum, off, push.contact);
        let energies = [body.kinetic_energy(before), body.kinetic_energy(after)];
        gained += energies[1] - energies[0];
        work_size += energies[0] + energies[1];
        kinetic += energies[0];
    }
    findings.note(Check::Work, over((gained - work).abs(), work_size), 0);
    findings.energy_change = gained;
    findings.kinetic_energy = kinetic;
    findings
}

impl Event<'_> {
    /// The work of the impulses: of a single smooth contact as its restitution asks for it, ½ n·J (1 − k) n·u⁻ and what growth
    /// adds; of others ½ J·(u⁻ + u⁺).
    #[must_use]
    pub fn expected_work(&self) -> f64 {
        let alone = self.contacts.len() == 1;
        let of = |contact: &Struck| {
            let [before, after] = self.relative_velocities(contact);
            if alone && self.impact && contact.surface == Surface::Smooth {
                let approach = contact.normal.dot(&before) - contact.growing;
                let rates = (1.0 - contact.restitution) * approach + 2.0 * contact.growing;
                0.5 * contact.normal.dot(&contact.impulse) * rates
            } else {
                0.5 * contact.impulse.dot(&(before + after))
            }
        };
        self.contacts.iter().map(of).sum()
    }

    /// The bodies of a contact: place among the members, arm from the centre, and the sign of the impulse.
    fn bodies_at(&self, contact: &Struck) -> impl Iterator<Item = (usize, Vector3<f64>, f64)> {
        let at = (contact.points[0] + contact.points[1]) * 0.5;
        let sides = [(contact.sides[0], Vector3::zeros(), -1.0), (contact.sides[1], contact.image, 1.0)];
        sides.into_iter().filter_map(move |(side, shift, sign)| match side {
            Side::Body(i) => Some((i, at - self.members[i].before.position - shift, sign)),
            Side::Plane(_) => None,
        })
    }

    /// The velocity of the second's material at a contact less the first's, before and after.
    fn relative_velocities(&self, contact: &Struck) -> [Vector3<f64>; 2] {
        let mut sum = [Vector3::zeros(); 2];
        for (i, arm, sign) in self.bodies_at(contact) {
            let Member { before, after, .. } = &self.members[i];
            sum[0] += (before.velocity + before.angular_velocity.cross(&arm)) * sign;
            sum[1] += (after.velocity + after.angular_velocity.cross(&arm)) * sign;
        }
        sum
    }

    /// How far the points of a contact are off their surfaces and off each other, over the size of the bodies.
    fn points_off(&self, contact: &Struck) -> f64 {
        let normal = &contact.normal;
        let [first, second] = contact.points;
        let (mut worst, mut sizes) = (0.0_f64, 0.0);
        let mut blurred = ROUNDING * first.norm().max(second.norm());
        let sides = [(first, Vector3::zeros(), 1.0), (second, contact.image, -1.0)];
        for (side, (point, shift, outward)) in contact.sides.into_iter().zip(sides) {
            let Side::Body(i) = side else { continue };
            let Member { body, before, .. } = &self.members[i];
            let turn = before.orientation.inverse();
            let x = turn * (point - before.position - shift) / self.size;
            let n = turn * (normal * outward);
            let size = body.shape.circumradius();
            // Along the ray to the surface, measured across it; and how far the plane across n is from touching there.
            let high = body.shape.support_height(&n);
            let away = (1.0 - body.shape.gauge(&x).recip()).abs() * high;
            let across = (high - n.dot(&x)).abs();
            let rounding = ROUNDING * ((before.position + shift).norm() / self.size + size);
            worst = max(worst, over(beyond(max(away, across), rounding), size));
            sizes += size * self.size;
            blurred = blurred.max(rounding * self.size);
        }
        if let Side::Plane(k) = contact.sides[0] {
            let plane = &self.planes[k];
            let tilt = (*plane.normal - normal).norm() * sizes;
            worst = max(worst, over(beyond(max(plane.height(&first).abs(), tilt), blurred), sizes));
        }
        let apart = (second - first - normal * contact.gap).norm();
        max(worst, over(beyond(max(apart, contact.gap.abs()), blurred), sizes))
    }
}

/// What an error exceeds an allowance by.
fn beyond(error: f64, allowance: f64) -> f64 {
    let rest = error - allowance;
    if rest <= 0.0 { 0.0 } else { rest }
}

/// The larger of two errors; NaN counts as the largest.
fn max(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}
