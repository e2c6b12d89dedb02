//! When two in flight touch without approach, and what kind of touch that is.
//!
//! Where the gap has a double root, its values say little of the time: they are nothing within rounding for as long as
//! √ε of a turn. The velocities say more. So the search's contact is taken to the [`moment`] at which v = g' is zero and
//! is classified there.

use carom::body::Body;
use carom::contact::classify::{Tolerances, Type, classify};
use carom::contact::kinematics::{self, Facing, kinematics};
use carom::contact::moment::{Sizes, moment};
use carom::gap::{Gap, gap, gap_to_plane};
use carom::motion::{Derivatives, Flight};
use carom::shape::HalfSpace;
use carom::toi::Contact;
use nalgebra::Vector3;

/// A body on its way.
#[derive(Debug, Clone, Copy)]
pub struct Flying<'a> {
    /// Its constants.
    pub body: &'a Body,
    /// Its motion.
    pub flight: &'a Flight,
}

impl<'a> Flying<'a> {
    /// With the derivatives at a time, displaced.
    fn at(&self, t: f64, gravity: &Vector3<f64>, image: &Vector3<f64>) -> kinematics::Moving<'a> {
        let mut state = self.flight.at(t);
        state.position += image;
        let derivatives = Derivatives::new(self.body, &state, gravity);
        kinematics::Moving { shape: &self.body.shape, state, derivatives }
    }
}

/// What stands first in a pair.
#[derive(Debug, Clone, Copy)]
pub enum First<'a> {
    /// A plane.
    Plane(&'a HalfSpace),
    /// A body.
    Body(Flying<'a>),
}

/// Two of which a search from t = 0 found the first contact.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// A plane or a body.
    pub first: First<'a>,
    /// A body.
    pub second: Flying<'a>,
    /// What pulls both.
    pub gravity: Vector3<f64>,
    /// The displacement of the second body that is met.
    pub image: Vector3<f64>,
}

impl Pair<'_> {
    /// The two sides at a time, and their gap; none of two points.
    fn at<T>(&self, t: f64, ask: impl FnOnce(&Facing, &kinematics::Moving, &Gap) -> T) -> Option<T> {
        let two = self.second.at(t, &self.gravity, &self.image);
        let (facing, found) = match &self.first {
            First::Plane(plane) => (Facing::Plane(plane), gap_to_plane(two.shape, &two.state.pose(), plane)),
            First::Body(first) => {
                let one = first.at(t, &self.gravity, &Vector3::zeros());
                let found = gap((one.shape, &one.state.pose()), (two.shape, &two.state.pose()))?;
                (Facing::Body(one), found)
            }
        };
        Some(ask(&facing, &two, &found))
    }

    /// A contact without approach, at the time that its velocities tell, and its type.
    pub fn sharpened(&self, contact: &Contact) -> Option<(Contact, Type)> {
        let class = |t: f64| self.at(t, |one, two, at| classify(one, two, at, Tolerances::default()));
        let scales = class(contact.time)?.scales;
        let sizes = Sizes { length: scales.length, speed: scales.speed };
        let none = Tolerances::default().rates * scales.speed;
        let look = |t: f64| self.at(t, kinematics);
        let (time, time_error) = moment(look, contact.time, contact.time_error, sizes, |_| none);
        // The search began at zero.
        let time = time.max(0.0);
        let class = class(time)?;
        let k = class.kinematics;
        let point = match &self.first {
            First::Plane(_) => k.points[1],
            First::Body(_) => (k.points[0] + k.points[1]) * 0.5,
        };
        let sharper =
            Contact { time, time_error, gap: k.gap, normal: k.normal, point, approach: k.v, ..*contact };
        Some((sharper, class.kind))
    }
}
