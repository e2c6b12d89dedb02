//! Where near a contact the second body would enter the first in free flight: after \[PVWZ\] figures 2 and 4.
//!
//! Points of the second body's surface are named by their place e in the tangent plane of the contact, at t = 0 and
//! fixed to the body. To second order in e and t the distance of such a point to the first body is
//!
//! ```text
//! x(e,t) = v t + ½ e·Ke + w·e t + ½ a t²        ([PVWZ] eqs. 37 to 40)
//! ```
//!
//! so what is inside is an ellipse about the deepest point −K⁻¹w t with the semi-axes √(−2G/k_i) along the
//! principal directions of K, where G = v t + ½g''t² + g'''t³/6 is the gap. Beside it stands the exact outline,
//! from the exact flight: the surface points of the second body at which the first body's implicit function changes
//! sign.

use nalgebra::{Matrix2, Vector2, Vector3};

use super::kinematics::{Kinematics, Tangent};
use crate::gap::{gap, gap_to_plane};
use crate::motion::Flight;
use crate::shape::{HalfSpace, Shape};

/// What a body may enter.
#[derive(Debug, Clone, Copy)]
pub enum Other<'a> {
    /// Another body in flight.
    Body(&'a Shape, &'a Flight),
    /// A plane.
    Plane(&'a HalfSpace),
}

/// The neighbourhood of a contact over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbourhood {
    /// The contact point, on the second body.
    pub origin: Vector3<f64>,
    /// The directions of the two coordinates.
    pub tangents: [Vector3<f64>; 2],
    /// What would enter, one for each time.
    pub patches: Vec<Patch>,
}

/// What would have entered at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    /// When.
    pub time: f64,
    /// The exact gap then.
    pub gap: f64,
    /// By its Taylor series to third order.
    pub predicted_gap: f64,
    /// The deepest point, to first order in t: −K⁻¹w t.
    pub predicted_deepest: Vector2<f64>,
    /// The semi-axes of the ellipse, along the principal directions of K, the one of least curvature first; none if
    /// nothing enters, infinite along a flat.
    pub semi_axes: Option<[f64; 2]>,
    /// The direction of the first.
    pub axis: Vector2<f64>,
    /// Where the second body is deepest in the first, or nearest to it, exactly.
    pub deepest: Vector2<f64>,
    /// The exact outline, counterclockwise; empty if nothing enters.
    pub outline: Vec<Vector2<f64>>,
}

/// How many points an outline has.
pub const OUTLINE: usize = 96;

/// The neighbourhood of a contact of two flights at t = 0, with its kinematics then; nothing for a point.
#[must_use]
pub fn neighbourhood(
    first: Other,
    second: (&Shape, &Flight),
    contact: &Kinematics,
    times: &[f64],
) -> Option<Neighbourhood> {
    let plane = Tangent::new(&contact.normal);
    let curvature = plane.matrix(&(contact.curvature_1 + contact.curvature_2));
    let (values, axis) = principal(&curvature);
    let start = second.1.at(0.0);
    let origin = contact.points[1];
    let label = |local: &Vector3<f64>| plane.down(&(start.position + start.orientation * local - origin));
    let mut patches = Vec::with_capacity(times.len());
    for &time in times {
        let state = second.1.at(time);
        let (gap, point) = match first {
            Other::Body(shape, flight) => {
                let found = gap((shape, &flight.at(time).pose()), (second.0, &state.pose()))?;
                (found.gap, found.points[1])
            }
            Other::Plane(plane) => {
                let found = gap_to_plane(second.0, &state.pose(), plane);
                (found.gap, found.points[0])
            }
        };
        let to_body = |x: &Vector3<f64>| state.orientation.inverse_transform_vector(&(x - state.position));
        let deepest = to_body(&point);
        let inside = |local: &Vector3<f64>| {
            let x = state.position + state.orientation * local;
            match first {
                Other::Plane(plane) => plane.height(&x) < 0.0,
                Other::Body(shape, flight) => {
                    let other = flight.at(time);
                    shape.gauge(&other.orientation.inverse_transform_vector(&(x - other.position))) < 1.0
                }
            }
        };
        let predicted_gap = time * (contact.v + time * (0.5 * contact.g2 + time * contact.g3 / 6.0));
        let tangents = plane.basis.map(|t| start.orientation.inverse_transform_vector(&t));
        let outline = if gap < 0.0 && inside(&deepest) {
            outline(second.0, &deepest, &tangents, inside).into_iter().map(|local| label(&local)).collect()
        } else {
            Vec::new()
        };
        patches.push(Patch {
            time,
            gap,
            predicted_gap,
            predicted_deepest: plane.down(&contact.rolling[1]) * time,
            semi_axes: (predicted_gap < 0.0)
                .then(|| values.map(|k| libm::sqrt(-2.0 * predicted_gap / k.max(0.0)))),
            axis,
            deepest: label(&deepest),
            outline,
        });
    }
    Some(Neighbourhood { origin, tangents: plane.basis, patches })
}

/// The principal values, least first, and the direction of the least.
fn principal(m: &Matrix2<f64>) -> ([f64; 2], Vector2<f64>) {
    let (mean, half, cross) = (0.5 * (m.m11 + m.m22), 0.5 * (m.m11 - m.m22), 0.5 * (m.m12 + m.m21));
    let spread = libm::hypot(half, cross);
    let angle = 0.5 * libm::atan2(cross, half);
    ([mean - spread, mean + spread], Vector2::new(-libm::sin(angle), libm::cos(angle)))
}

/// Surface points around a point inside, each where its direction leaves the inside.
fn outline(
    shape: &Shape,
    from: &Vector3<f64>,
    tangents: &[Vector3<f64>; 2],
    inside: impl Fn(&Vector3<f64>) -> bool,
) -> Vec<Vector3<f64>> {
    const HALVINGS: u32 = 60;
    let size = shape.circumradius();
    let mut points = Vec::with_capacity(OUTLINE);
    let mut angle = 0.0;
    for _ in 0..OUTLINE {
        let direction = tangents[0] * libm::cos(angle) + tangents[1] * libm::sin(angle);
        angle += core::f64::consts::TAU / 96.0;
        let at = |radius: f64| shape.osculate(&(from + direction * radius)).point;
        // The surface leaves what is convex once: double until outside, then halve.
        let mut far = 1e-9 * size;
        while far < size && inside(&at(far)) {
            far *= 2.0;
        }
        let mut near = 0.0;
        for _ in 0..HALVINGS {
            let middle = 0.5 * (near + far);
            if inside(&at(middle)) {
                near = middle;
            } else {
                far = middle;
            }
        }
        points.push(at(0.5 * (near + far)));
    }
    points
}
