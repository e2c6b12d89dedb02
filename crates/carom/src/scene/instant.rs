//! The impact at a scene's instant: its bodies, its joints, and the contacts given or detected.
//!
//! Without explicit contacts, every two bodies, and every body and plane, that touch are in contact: |gap| at most
//! a tolerance times their size. Bodies tied by a joint are left alone, as mechanisms overlap at their joints by
//! design. What overlaps by more than the tolerance has no meaning as an instant of impact and is a finding.

use nalgebra::{Isometry3, Unit, Vector3};

use super::model::Scene;
use crate::body::{Body, State};
use crate::contact::contact_set::{Touching, contact_set};
use crate::contact::{Contact, Side};
use crate::gap::{Gap, gap, gap_to_plane};
use crate::impact::mechanism::Mechanism;
use crate::joint::{Joint, Kind};
use crate::shape::Shape;

/// The default of how close, relative to their size, counts as touching.
pub const TOUCHING: f64 = 1e-9;

/// A scene ready to be resolved.
#[derive(Debug, Clone)]
pub struct Instant {
    /// The bodies and their states.
    pub bodies: Vec<(Body, State)>,
    /// The joints.
    pub joints: Vec<Joint>,
    /// The contacts.
    pub contacts: Vec<Contact>,
    /// Whether the contacts were detected.
    pub detected: bool,
    /// The nearest pair, if no pair touches: for users who expected a contact.
    pub nearest: Option<([Side; 2], f64)>,
}

/// Something about a scene, found after reading it, that makes it meaningless as an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Finding {
    /// A fill, whose bodies have no places yet.
    Fill {
        /// The fill.
        fill: usize,
    },
    /// Two overlap by more than the tolerance; in a periodic box each image by itself.
    Overlap {
        /// The first side.
        first: Side,
        /// The second, a body; the same as the first where it overlaps an image of its own.
        second: usize,
        /// How deep.
        depth: f64,
    },
    /// A rolling body does not touch its plane.
    OffPlane {
        /// The joint.
        joint: usize,
        /// How far it is above, negative below.
        gap: f64,
    },
}

impl Instant {
    /// Prepares a scene; `touching` is the tolerance of contact relative to the sizes, [`TOUCHING`] by default.
    ///
    /// # Errors
    /// All pairs that overlap, and fills, which have no places yet.
    pub fn of(scene: &Scene, touching: f64) -> Result<Self, Vec<Finding>> {
        let mut findings = Vec::new();
        if !scene.fills.is_empty() {
            findings.push(Finding::Fill { fill: 0 });
        }
        let bodies: Vec<(Body, State)> = scene.bodies.iter().map(|b| (b.body, b.state)).collect();
        let mut instant = Self {
            bodies,
            joints: scene.joints.clone(),
            contacts: scene.contacts.iter().map(|contact| at_images(scene, contact)).collect(),
            detected: scene.contacts.is_empty(),
            nearest: None,
        };
        let mut touches = Vec::new();
        let mut nearest: Option<([Side; 2], f64)> = None;
        instant.each_near_pair(scene, touching, |sides, image, found, size| {
            if found.gap < -touching * size {
                if let [first, Side::Body(second)] = sides {
                    findings.push(Finding::Overlap { first, second, depth: -found.gap });
                }
            } else if found.gap <= touching * size {
                touches.push((sides, image, found));
            } else if nearest.is_none_or(|(_, gap)| found.gap < gap) {
                nearest = Some((sides, found.gap));
            }
        });
        for (k, joint) in scene.joints.iter().enumerate() {
            findings.extend(instant.not_rolling(k, joint, touching));
        }
        if !findings.is_empty() {
            return Err(findings);
        }
        if instant.detected {
            for (sides, image, found) in touches {
                let set = instant.contact_set(sides, &image, &found, touching);
                let several = set.len() > 1;
                instant.contacts.extend(set.iter().enumerate().map(|(k, found)| {
                    let contact = contact(scene, sides, image, found);
                    let name = if several { format!("{}[{k}]", contact.name) } else { contact.name };
                    Contact { name, ..contact }
                }));
            }
            instant.nearest = nearest.filter(|_| instant.contacts.is_empty());
        }
        Ok(instant)
    }

    /// The impact problem.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism<'_> {
        Mechanism { bodies: &self.bodies, joints: &self.joints, contacts: &self.contacts }
    }

    /// Visits every pair that may meet, with the second body's displacement by whole boxes, its gap and size: not two
    /// fixed bodies, not points, not pairs that a joint ties. Of the pairs whose circumscribed spheres are apart, only
    /// those nearer than any before.
    pub fn each_near_pair(
        &self,
        scene: &Scene,
        touching: f64,
        mut visit: impl FnMut([Side; 2], Vector3<f64>, Gap, f64),
    ) {
        let mut nearest = f64::INFINITY;
        let solid = |body: &Body| body.shape != Shape::Point;
        for (i, (first, state)) in self.bodies.iter().enumerate().filter(|(_, (body, _))| solid(body)) {
            if !first.fixed {
                for (k, plane) in scene.planes.iter().enumerate() {
                    if !self.rolls_on(i, k) {
                        let found = gap_to_plane(&first.shape, &state.pose(), &plane.half_space);
                        let sides = [Side::Plane(k), Side::Body(i)];
                        visit(sides, Vector3::zeros(), found, first.shape.circumradius());
                    }
                }
            }
            // A body is its own neighbour through the walls of a periodic box.
            for (j, (second, other)) in self.bodies.iter().enumerate().skip(i) {
                if !solid(second) || (first.fixed && second.fixed) || (i != j && self.tied(i, j)) {
                    continue;
                }
                let size = first.shape.circumradius() + second.shape.circumradius();
                let nearest_pose = nearest_image(scene, state, other);
                for shift in shifts(scene) {
                    let itself = shift == Vector3::zeros();
                    if i == j && itself {
                        continue;
                    }
                    let mut pose = nearest_pose;
                    pose.translation.vector += shift;
                    let apart = (pose.translation.vector - state.position).norm() - size;
                    // Other images than the nearest matter only where they touch.
                    if apart > touching * size && (apart >= nearest || !itself) {
                        continue;
                    }
                    if let Some(found) = gap((&first.shape, &state.pose()), (&second.shape, &pose)) {
                        let image = pose.translation.vector - other.position;
                        if i == j && found.gap >= -touching * size {
                            continue;
                        }
                        nearest = nearest.min(found.gap);
                        visit([Side::Body(i), Side::Body(j)], image, found, size);
                    }
                }
            }
        }
    }

    /// The contacts of a pair that touches: several where flats or edges meet.
    fn contact_set(&self, sides: [Side; 2], image: &Vector3<f64>, found: &Gap, touching: f64) -> Vec<Gap> {
        let [first, Side::Body(j)] = sides else { return vec![*found] };
        let (second, state) = &self.bodies[j];
        let mut pose = state.pose();
        pose.translation.vector += image;
        let one = match first {
            Side::Body(i) => Some((&self.bodies[i].0, &self.bodies[i].1)),
            Side::Plane(_) => None,
        };
        let size = second.shape.circumradius() + one.map_or(0.0, |(body, _)| body.shape.circumradius());
        let turning =
            state.angular_velocity - one.map_or(Vector3::zeros(), |(_, state)| state.angular_velocity);
        let there = one.map(|(_, state)| state.pose());
        let touches = match (one, &there) {
            (Some((body, _)), Some(pose)) => Touching::Body(&body.shape, pose),
            _ => Touching::Plane,
        };
        contact_set(touches, (&second.shape, &pose), found, touching * size, &turning)
    }

    fn tied(&self, i: usize, j: usize) -> bool {
        self.joints.iter().any(|joint| joint.bodies.contains(&i) && joint.bodies.contains(&j))
    }

    /// A rolling joint whose body does not touch its plane.
    fn not_rolling(&self, number: usize, joint: &Joint, touching: f64) -> Option<Finding> {
        let Kind::Rolling { half_space, .. } = &joint.kind else { return None };
        let (body, state) = &self.bodies[joint.bodies[0]];
        let found = gap_to_plane(&body.shape, &state.pose(), half_space).gap;
        let apart = found.is_nan() || found.abs() > touching * body.shape.circumradius();
        apart.then_some(Finding::OffPlane { joint: number, gap: found })
    }

    /// A rolling joint is the contact of its body with its plane.
    fn rolls_on(&self, body: usize, plane: usize) -> bool {
        self.joints.iter().any(|joint| {
            joint.bodies == [body] && matches!(joint.kind, Kind::Rolling { plane: on, .. } if on == plane)
        })
    }
}

/// A given contact with each body's image that is nearest to its point.
fn at_images(scene: &Scene, contact: &Contact) -> Contact {
    let images = contact.sides.map(|side| match side {
        Side::Body(i) => image_at(scene, &scene.bodies[i].state.position, &contact.point),
        Side::Plane(_) => Vector3::zeros(),
    });
    Contact { images, ..contact.clone() }
}

/// The images about the nearest one: none and one box to either side in every periodic direction, the nearest first.
fn shifts(scene: &Scene) -> Vec<Vector3<f64>> {
    let mut shifts = vec![Vector3::zeros()];
    let Some(lengths) = scene.periodic else { return shifts };
    for i in (0..3).filter(|&i| lengths[i] > 0.0) {
        for known in shifts.clone() {
            for sign in [-1.0, 1.0] {
                let mut shift = known;
                shift[i] = sign * lengths[i];
                shifts.push(shift);
            }
        }
    }
    shifts
}

/// The displacement, by whole boxes, that brings a body nearest to a point.
fn image_at(scene: &Scene, position: &Vector3<f64>, point: &Vector3<f64>) -> Vector3<f64> {
    let mut image = Vector3::zeros();
    if let Some(lengths) = scene.periodic {
        for i in (0..3).filter(|&i| lengths[i] > 0.0) {
            image[i] = ((point[i] - position[i]) / lengths[i]).round() * lengths[i];
        }
    }
    image
}

/// The second body's pose, moved by whole boxes as near to the first as it comes.
#[must_use]
pub fn nearest_image(scene: &Scene, first: &State, second: &State) -> Isometry3<f64> {
    let mut pose = second.pose();
    if let Some(lengths) = scene.periodic {
        for i in 0..3 {
            if lengths[i] > 0.0 {
                let apart = second.position[i] - first.position[i];
                pose.translation.vector[i] -= (apart / lengths[i]).round() * lengths[i];
            }
        }
    }
    pose
}

/// The name of one side.
#[must_use]
pub fn name(scene: &Scene, side: Side) -> &str {
    match side {
        Side::Body(i) => &scene.bodies[i].name,
        Side::Plane(i) => &scene.planes[i].name,
    }
}

fn contact(scene: &Scene, sides: [Side; 2], image: Vector3<f64>, found: &Gap) -> Contact {
    let (restitution, surface) = scene.surface.of(sides);
    let against_plane = matches!(sides[0], Side::Plane(_));
    // On a plane the body's own point; between bodies the middle, both within the tolerance.
    let point: Vector3<f64> =
        if against_plane { found.points[0] } else { (found.points[0] + found.points[1]) * 0.5 };
    Contact {
        name: sides.map(|side| name(scene, side)).join("-"),
        sides,
        point,
        normal: Unit::new_normalize(found.normal),
        restitution,
        surface,
        images: [Vector3::zeros(), image],
    }
}
