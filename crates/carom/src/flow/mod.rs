//! Motion under constraints: bodies kept in contact, smooth, rolling or with friction, and bodies tied by joints.
//!
//! A [`Flow`] is a group of bodies with contacts that hold; [`Flow::advance`] moves it by one step of
//! [`gauss`](crate::integrate::gauss), a [`DenseStep`], which knows every state within and ends where a contact lets go. A held contact pushes with
//! the normal force λ that keeps the gap at zero, and it lasts as long as λ ≥ 0:
//!
//! ```text
//! g ≡ 0:   λ from g'' = row · (accelerations) + bias = 0,    power λ g' = 0     (theory, section 3)
//! ```
//!
//! That is what follows a paradox (where λ starts from zero), what bouncing ends in, and what rests, rocks, rolls and
//! slides. Several contacts at once are solved together; where their forces are not unique, those of least norm are taken,
//! and motion does not depend on the choice. After each step positions and velocities are put back on g = 0, g' = 0 by the
//! shortest way in the kinetic metric, which is rounding; so neither drifts.
//!
//! **Friction.** With Coulomb friction a contact that does not slip sticks while the force needed is at most μλ, and one that slips
//! is pulled by −μλ along the slip; several contacts are settled together (`cones`), and where forces are not unique they are ones
//! within the cones, if there are such. The changes between the two are endings of a piece, and [`Flow::follow`] goes on in the new
//! mode. While a contact slips its slip is an unknown, so that its direction is good to the last digits where it begins and
//! ends. A rough contact rolls, whatever force that takes; one that would have to be pulled for that, though it is pressed, has no grip
//! (`friction`). Contacts are points: nothing resists turning about the normal.
//!
//! **Joints** are kept by the same rows ([`Flow::with_joints`]), at all three levels: position, velocity and acceleration.
//! Their reactions are reported along the way. Loops and redundant joints are no obstacle, and neither are the singular
//! configurations of linkages, which are passed along the branch that continues the motion (`passage`).
//!
//! **How it fails.** Obstacles are values: a flat contact that starts to rock (there g'' is −∞), contacts that contradict each
//! other, and friction that jams (Painlevé). A body without extent has no contact to hold.

mod accelerations;
mod dense_step;
mod events;
mod flat;
mod forces;
mod frame;
mod friction;
mod friction_cone;
mod holding;
mod kink;
mod load;
mod passage;
mod rest;
mod rows;
mod sizes;
mod slips;
mod step;
mod stepping;
mod system;
mod tie;
mod time_transformation;
mod unknowns;

use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

pub use dense_step::{DenseStep, Ending, Force, Reaction};
pub use flat::Points;
pub(crate) use friction::NO_SLIP;
pub use holding::Holding;
pub use load::{Custom, End, Load, Wrench};
pub use slips::StoppedSlips;
pub use stepping::Restitution;
pub use system::Correction;

use crate::body::{Body, State};
use crate::contact::{Side, Surface};
use crate::joint::Joint;
use crate::shape::HalfSpace;
use crate::watch::Watch;
use system::System;
use tie::Tie;
use unknowns::{PER_BODY, PER_CONTACT, PER_TIE};

/// A contact that is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Held {
    /// The two sides. A plane comes first.
    pub sides: [Side; 2],
    /// How the surface answers along the tangent.
    pub surface: Surface,
    /// Added to the second body's position for this contact: whole box lengths in a periodic world.
    pub offset: Vector3<f64>,
}

impl Held {
    /// A contact between two sides, in either order for a plane.
    #[must_use]
    pub fn new(sides: [Side; 2], surface: Surface) -> Self {
        let sides = match sides {
            [body @ Side::Body(_), plane @ Side::Plane(_)] => [plane, body],
            sides => sides,
        };
        Self { sides, surface, offset: Vector3::zeros() }
    }
}

/// What a contact does along the tangent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    /// It slips without force.
    Smooth,
    /// It does not slip.
    Stick,
    /// It slips against friction.
    Slip {
        /// μ.
        coefficient: f64,
        /// The direction of slip at the start: of the second side along the first.
        along: Vector3<f64>,
    },
}

/// Why a motion cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// A side has no surface to touch, or the numbers are beyond floating point.
    NoSurface {
        /// The contact.
        contact: usize,
    },
    /// A contact is flat and starts to turn across the flat: its acceleration is infinite there.
    Rocking {
        /// The contact.
        contact: usize,
    },
    /// Dependent rows ask for different accelerations.
    Contradiction,
    /// Sliding friction leaves no acceleration, or more than one.
    Jam,
    /// Something is not finite.
    NotFinite,
    /// The step does not settle, however short.
    Rough,
    /// Steps are so short beside the time asked for that it is out of reach.
    Endless,
    /// The caller wants the end.
    Interrupted,
}

/// A group of bodies with contacts that hold: what does not change.
#[derive(Debug, Clone)]
pub struct Flow {
    bodies: Vec<Body>,
    planes: Vec<HalfSpace>,
    gravity: Vector3<f64>,
    /// Those that may let go, then those of rolling joints.
    contacts: Vec<Held>,
    loose: usize,
    ties: Vec<Tie>,
    /// For each joint, the contact or the tie it is.
    joints: Vec<Part>,
    loads: Vec<Load>,
    /// Whether joints make a loop.
    looped: bool,
    /// The size of each body; zero if it is immovable and has none.
    lengths: Vec<f64>,
    accuracy: f64,
    /// The iterations after which a step is given up.
    patience: u32,
    expected: Expected,
    watch: Watch,
}

/// What is known of a motion from motions like it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Expected {
    /// The time after which it will be cut short: the first step is of that length, with as few stages as it takes.
    pub time: Option<f64>,
    /// The length of a step that is not cut short.
    pub step: Option<f64>,
    /// Slips slower than this that friction slows are stopped.
    #[serde(default)]
    pub rest_slip: f64,
}

/// What a joint became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Contact(usize),
    Tie(usize),
}

/// The stages of a step: at this number a step of the accuracy below is the least work for smooth contacts, if nothing cuts it short.
const STAGES: usize = 16;

/// The default accuracy: the last coefficients of a step, relative to sizes and speeds.
const ACCURACY: f64 = 4e-16;

impl Flow {
    /// A group under uniform gravity. Contacts name bodies and planes by their numbers here.
    ///
    /// # Panics
    ///
    /// If a contact names a body or a plane that is not there.
    #[must_use]
    pub fn new(bodies: &[Body], planes: &[HalfSpace], gravity: Vector3<f64>, contacts: &[Held]) -> Self {
        for side in contacts.iter().flat_map(|c| &c.sides) {
            match *side {
                Side::Body(b) => assert!(b < bodies.len(), "a contact names body {b} of {}", bodies.len()),
                Side::Plane(p) => assert!(p < planes.len(), "a contact names plane {p} of {}", planes.len()),
            }
        }
        Self {
            bodies: bodies.to_vec(),
            planes: planes.to_vec(),
            gravity,
            contacts: contacts.to_vec(),
            loose: contacts.len(),
            ties: Vec::new(),
            joints: Vec::new(),
            loads: Vec::new(),
            looped: false,
            lengths: bodies.iter().map(Self::body_length).collect(),
            accuracy: ACCURACY,
            patience: u32::MAX,
            expected: Expected::default(),
            watch: Watch::default(),
        }
    }

    /// The same at another accuracy: the last coefficients of a step's polynomial, relative to sizes and speeds. The default
    /// is near rounding.
    #[must_use]
    pub fn with_accuracy(self, accuracy: f64) -> Self {
        Self { accuracy: accuracy.clamp(f64::EPSILON, 1e-2), ..self }
    }

    /// The same with steps that are given up, as [`Obstacle::Rough`], after a number of iterations; an ordinary step takes some twenty.
    /// By default no effort is too great.
    #[must_use]
    pub fn with_patience(mut self, iterations: u32) -> Self {
        self.patience = iterations;
        self
    }

    /// The same for a motion of which something is known from motions like it.
    #[must_use]
    pub fn expecting(mut self, expected: Expected) -> Self {
        self.expected = expected;
        self
    }

    /// The same, but what takes long is given up, as [`Obstacle::Interrupted`], when a watch says so.
    #[must_use]
    pub fn with_watch(self, watch: Watch) -> Self {
        Self { watch, ..self }
    }

    /// The same with joints, as they stand at given states.
    ///
    /// # Panics
    ///
    /// If a joint names a body or a plane that is not there.
    #[must_use]
    pub fn with_joints(mut self, joints: &[Joint], states: &[State]) -> Self {
        for &b in joints.iter().flat_map(|joint| &joint.bodies) {
            assert!(b < self.bodies.len(), "a joint names body {b} of {}", self.bodies.len());
        }
        self.looped |= self.makes_loop(joints);
        for joint in joints {
            self.joints.push(if let Some((body, plane)) = tie::rolling(joint) {
                assert!(plane < self.planes.len(), "a joint names plane {plane} of {}", self.planes.len());
                self.contacts.push(Held::new([Side::Plane(plane), Side::Body(body)], Surface::Rough));
                Part::Contact(self.contacts.len() - 1)
            } else {
                let tie = Tie::new(joint, states);
                for (body, arm) in tie.arms() {
                    self.lengths[body] = self.lengths[body].max(arm);
                }
                self.ties.push(tie);
                Part::Tie(self.ties.len() - 1)
            });
        }
        self
    }

    /// The same with forces besides gravity.
    ///
    /// # Panics
    ///
    /// If a force names a body that is not there.
    #[must_use]
    pub fn with_loads(mut self, loads: &[Load]) -> Self {
        for b in loads.iter().flat_map(Load::bodies).flatten() {
            assert!(b < self.bodies.len(), "a force names body {b} of {}", self.bodies.len());
        }
        self.loads.extend_from_slice(loads);
        self
    }

    /// The contacts that may let go.
    #[must_use]
    pub fn contacts(&self) -> &[Held] {
        &self.contacts[..self.loose]
    }

    /// The bodies.
    #[must_use]
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Kinetic energy plus −Σ m g·c, and the potential of springs and constant forces.
    #[must_use]
    pub fn energy(&self, states: &[State]) -> f64 {
        let of = |(body, state): (&Body, &State)| {
            if body.fixed {
                0.0
            } else {
                body.kinetic_energy(state) - body.mass * self.gravity.dot(&state.position)
            }
        };
        let potential: f64 = self.loads.iter().map(|load| load.potential(states)).sum();
        self.bodies.iter().zip(states).map(of).sum::<f64>() + potential
    }

    /// Puts states on the contacts, g = 0 and g' = 0, and without slip where it is rough, by the shortest way in the kinetic
    /// metric; says how far off they were. For states that meet them but for rounding, or for what an impact left.
    ///
    /// # Errors
    ///
    /// An obstacle where contacts contradict each other or have no surface.
    pub fn project(&self, states: &mut [State]) -> Result<Correction, Obstacle> {
        let mut system = System::new(self, self.modes_without_friction());
        system.place(states);
        system.find_flats(&[]);
        system.project(states)
    }

    /// How each contact would move if friction were not limited.
    fn modes_without_friction(&self) -> Vec<Mode> {
        let of = |contact: &Held| match contact.surface {
            Surface::Rough => Mode::Stick,
            Surface::Smooth | Surface::Coulomb(_) => Mode::Smooth,
        };
        self.contacts.iter().map(of).collect()
    }

    fn free(&self) -> usize {
        self.bodies.iter().filter(|body| !body.fixed).count()
    }

    fn unknowns(&self, extras: usize) -> usize {
        self.tie_unknown(extras, self.ties.len())
    }

    /// Where a contact's integrals stand among the unknowns: after the bodies' and, where there is a clock, its extras.
    fn contact_unknown(&self, extras: usize, contact: usize) -> usize {
        self.free() * PER_BODY + extras + contact * PER_CONTACT
    }

    /// Where a joint's integrals stand among the unknowns.
    fn tie_unknown(&self, extras: usize, tie: usize) -> usize {
        self.contact_unknown(extras, self.contacts.len()) + tie * PER_TIE
    }
}
