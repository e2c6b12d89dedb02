//! carom: the reference engine for rigid-body impact.
//!
//! The library holds all the physics and does no input or output. It answers three kinds of questions, each from its own
//! entrance: what an impact does ([`impact`]), when moving bodies meet ([`toi`]), and what becomes of a scene ([`simulation`]).
//! With each answer it says what the answer rests on: whether it is unique, how far it is certified, and what an audit that
//! knows no law finds.
//!
//! **An impact.** Three balls in a row, the first one coming in. In generalised velocities the mass matrix is the identity,
//! and a row of contacts makes a relative velocity that is negative when closing:
//!
//! ```
//! use carom::impact::{Law, Options, Problem};
//! use nalgebra::{DMatrix, dmatrix, dvector};
//!
//! let rows = dmatrix![-1.0, 1.0, 0.0; 0.0, -1.0, 1.0];
//! let cradle = Problem::new(DMatrix::identity(3, 3), rows, dvector![1.0, 0.0, 0.0]).with_restitution(1.0);
//!
//! let is = |found: &[f64], wanted: [f64; 3]| found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-15);
//! let together = cradle.solve(&Options::default())?;
//! assert!(is(&together.velocity, [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]));
//! let in_turn = cradle.solve(&Options { law: Law::Sequential, ..Options::default() })?;
//! assert!(is(&in_turn.velocity, [0.0, 0.0, 1.0]));
//!
//! // Both keep momentum and energy; the audit sees no more than that.
//! assert!(carom::audit::audit(&cradle, &together).passed && carom::audit::audit(&cradle, &in_turn).passed);
//! # Ok::<(), carom::Error>(())
//! ```
//!
//! **A meeting.** A flight is prepared once and can be asked for any time; the first contact of two comes with a bound on the
//! error of its time:
//!
//! ```
//! use carom::body::{Body, State};
//! use carom::motion::Flight;
//! use carom::shape::Shape;
//! use carom::toi::{Meeting, Moving, Window, first_contact};
//! use nalgebra::Vector3;
//!
//! let shape = Shape::Ellipsoid { semi_axes: [1.0, 0.4, 0.2] };
//! let body = Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false };
//! let still = State::at(Vector3::zeros());
//! let mut flying = State::at(Vector3::new(-4.0, 0.0, 0.0));
//! flying.velocity = Vector3::new(1.0, 0.0, 0.0);
//! // Spin about the line of flight: the tips meet, 2 apart.
//! flying.angular_velocity = Vector3::new(3.0, 0.0, 0.0);
//!
//! let flight = |state: &State| Flight::new(&body, state, &Vector3::zeros());
//! let (first, second) = (flight(&still), flight(&flying));
//! let search = first_contact(Moving::new(&shape, &first), Moving::new(&shape, &second), Window::new(0.0, 10.0));
//! let Meeting::At(contact) = search.meeting else { panic!("they meet") };
//! assert!((contact.time - 2.0).abs() <= contact.time_error && contact.time_error < 1e-13);
//! ```
//!
//! **A run.** A scene is text, read with every mistake in its place, and run event by event. A ball dropped from 4.905 m bounces
//! to rest: with restitution ½ after three times the time of its fall.
//!
//! ```
//! use carom::record::{Kind, Memory};
//! use carom::scene::{Format, file};
//! use carom::simulation::Simulation;

//! use carom::run::{Stopped, World};
//!
//! let text = r#"
//!     carom = 1
//!     world = { gravity = [0, 0, -9.81] }
//!     surface = { restitution = 0.5 }
//!     run = { until = 4, sample = 0 }
//!     [[body]]
//!     name = "ball"
//!     shape = { sphere = { radius = 0.1 } }
//!     mass = 1
//!     position = [0, 0, 5.005]
//!     [[plane]]
//!     name = "floor"
//!     normal = [0, 0, 1]
//! "#;
//! let scene = file::read(text, Format::Toml).expect("no mistakes");
//! let (world, states) = World::of(&scene);
//! let mut simulation = Simulation::new(world, &states, scene.run).expect("a start without overlaps");
//! let mut memory = Memory::default();
//! assert_eq!(simulation.run(&mut memory, |_| true), Stopped::Until);
//!
//! assert!((memory.events[0].time - 1.0).abs() < 1e-14);
//! let rest = memory.events.iter().find(|event| event.kind == Kind::Rest).expect("it comes to rest");
//! assert!((rest.time - 3.0).abs() < 1e-5);
//! assert!(simulation.audit().energy_error_max.value < 1e-14);
//! ```
//!
//! # The map
//!
//! In reading order; a module uses only what stands above it. Symbols and theorems (T1 to T8) are those of the repository's
//! NOTATION.md.
//!
//! | module | its one job |
//! | --- | --- |
//! | [`error`] | input that has no meaning: where it stands, what is wrong with it |
//! | [`metric`] | the kinetic metric: what joints leave of the mass matrix, projector, ranks |
//! | [`shape`] | support, surface, curvature and its change, mass properties; [`shape::Convex`] for shapes of your own |
//! | [`body`] | a rigid body's constants, and its state at an instant |
//! | [`motion`] | a body's flight when nothing touches it, in closed form |
//! | [`gap`] | signed distance of two bodies, with its normal and points |
//! | [`toi`] | the first time the gap closes, with a bound on the error |
//! | [`pairs`] | the same for many pairs, in parallel |
//! | [`joint`] | bilateral constraints as rows |
//! | [`contact`] | which bodies touch, the gap's derivatives in time, the type of a contact |
//! | [`impact`] | the impact problem, its laws and its outcome, in matrices and in bodies |
//! | [`integrate`] | collocation good to rounding, series, minima: what the next two integrate with |
//! | [`flow`] | motion under constraints: joints, rolling, friction, held contact |
//! | [`lagrange`] | systems in generalised coordinates, written once |
//! | [`audit`] | checks an outcome from outside |
//! | [`scene`] | the file formats, every mistake with its place |
//! | [`record`] | what a run produces: events and samples |
//! | [`run`] | what both engines build on: the world, its energies, the audit, why a run ended |
//! | [`simulation`] | the general engine of a run |
//! | [`edmd`] | event-driven molecular dynamics, for very many free bodies |
//! | [`fill`] | many bodies placed at once |
//! | [`observe`] | what a gas does on average |
//! | [`scatter`] | two bodies thrown at each other, many times: cross-sections and collision kernels |
//! | [`sweep`] | many scenes from one |
//!
//! # Errors and outcomes
//!
//! [`Error`] is for input without meaning. Whatever the physics does is a value: an answer that is not unique, a law without a
//! solution, energy gained, a search that gave up. Nothing a scene can say makes the library panic.
#![forbid(unsafe_code)]

pub mod error;

pub mod watch;

pub mod metric;

pub mod shape;

pub mod body;

pub mod motion;

pub mod gap;

pub mod toi;

pub mod pairs;

pub mod joint;

pub mod contact;

pub mod impact;

pub mod integrate;

pub mod flow;

pub mod lagrange;

pub mod audit;

pub mod scene;

pub mod record;

pub mod run;

mod collision;

pub mod simulation;

pub mod edmd;

pub mod fill;

pub mod observe;

pub mod scatter;

pub mod sweep;

pub use error::{Error, Fault, Place, RowRole};

/// The example in the package's README, so that it runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
