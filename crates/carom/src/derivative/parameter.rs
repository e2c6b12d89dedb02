//! The numbers of a scene as [`Direction`]s, by the paths of [`template`](crate::scene::template).
//!
//! What the scene leaves to be computed changes with what it is computed from: the moments of a homogeneous body with its mass and
//! sizes, the mass with the density, the world's angular velocity with the attitude where it is given in body axes, and the
//! rules of pairs with the default that they leave out. A path of a vector stands for its components.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3, Vector4};

use super::change::{BodyChange, StateChange};
use super::direction::{Direction, Rule};
use super::sizes::{unit_inertia_by_sizes, volume_by_sizes};
use crate::body::bryan_orientation;
use crate::contact::Surface;
use crate::scene::model::{Scene, SceneBody};
use crate::scene::template::{Step, Template, steps};
use crate::shape::Shape;

/// A number of a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its path.
    pub name: String,
    /// How everything changes with it.
    pub direction: Direction,
}

/// Why a path is no parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongPath {
    /// The path.
    pub path: String,
    /// What is wrong with it.
    pub message: String,
    /// What would be right.
    pub expected: String,
}

/// What is wrong, and what would be right.
type Wrong = (String, String);

const EXAMPLES: &str =
    "the path of a number of the scene, as body.ball.velocity, surface.restitution or plane.floor.offset";

/// The parameters of some paths, in their order; those of a vector one after the other.
///
/// # Errors
/// The first path that leads to no number, or to one whose derivatives are not computed.
pub fn parameters(template: &Template, scene: &Scene, paths: &[&str]) -> Result<Vec<Parameter>, WrongPath> {
    let mut found: Vec<Parameter> = Vec::new();
    for path in paths {
        let wrong = |(message, expected): Wrong| WrongPath { path: (*path).to_string(), message, expected };
        let steps = steps(path).map_err(|message| wrong((message, EXAMPLES.to_string())))?;
        let scope = Scope { template, scene, path };
        for parameter in scope.resolve(&steps).map_err(wrong)? {
            if found.iter().any(|known| known.name == parameter.name) {
                return Err(wrong((
                    format!("names `{}` again", parameter.name),
                    "each number once".to_string(),
                )));
            }
            found.push(parameter);
        }
    }
    Ok(found)
}

/// A scene, and a path in it.
struct Scope<'a> {
    template: &'a Template,
    scene: &'a Scene,
    path: &'a str,
}

/// A step as words.
enum Word<'a> {
    Name(&'a str),
    Index(usize),
}

impl Scope<'_> {
    fn resolve(&self, steps: &[Step]) -> Result<Vec<Parameter>, Wrong> {
        let words: Vec<Word> = steps
            .iter()
            .map(|step| match step {
                Step::Name(name) => Word::Name(name),
                Step::Index(index) => Word::Index(*index),
            })
            .collect();
        match &words[..] {
            [Word::Name("body"), Word::Name(name), rest @ ..] => self.of_body(name, rest),
            [Word::Name("plane"), Word::Name(name), rest @ ..] => self.of_plane(name, rest),
            [Word::Name("world"), Word::Name("gravity"), rest @ ..] => self.vector(rest, 3, |k| {
                let mut direction = Direction::none();
                direction.gravity[k] = 1.0;
                Ok(direction)
            }),
            [Word::Name("surface"), Word::Name("pair"), Word::Index(pair), rest @ ..] => {
                let count = self.scene.surface.pairs.len();
                if *pair >= count {
                    let message =
                        format!("has the index {pair}, and the scene has {count} pairs of surfaces");
                    return Err((message, "a pair of the scene".to_string()));
                }
                self.of_rule(Some(*pair), rest)
            }
            [Word::Name("surface"), rest @ ..] => self.of_rule(None, rest),
            [Word::Name("run"), Word::Name("until")] => {
                Ok(vec![self.whole(Direction { until: 1.0, ..Direction::none() })])
            }
            [Word::Name("world" | "joint" | "load" | "fill" | "contact" | "run" | "body" | "plane"), ..] => {
                Err(self.uncovered())
            }
            _ => Err(("is not in the scene".to_string(), EXAMPLES.to_string())),
        }
    }

    fn uncovered(&self) -> Wrong {
        let expected = "a number of a body's state, mass, inertia or shape, of a plane, of `surface`, `world.gravity` or `run.until`";
        ("has no derivatives here".to_string(), expected.to_string())
    }

    /// The parameter of the whole path.
    fn whole(&self, direction: Direction) -> Parameter {
        Parameter { name: self.path.trim().to_string(), direction }
    }

    /// The components of a vector, or the one that is asked for.
    fn vector(
        &self,
        rest: &[Word],
        length: usize,
        of: impl Fn(usize) -> Result<Direction, Wrong>,
    ) -> Result<Vec<Parameter>, Wrong> {
        match rest {
            [] => (0..length)
                .map(|k| Ok(Parameter { name: format!("{}[{k}]", self.path.trim()), direction: of(k)? }))
                .collect(),
            [Word::Index(k)] if *k < length => Ok(vec![self.whole(of(*k)?)]),
            [Word::Index(k)] => {
                let message = format!("has the index {k}, and the list has {length} entries");
                Err((message, format!("an index below {length}")))
            }
            _ => Err(("has a field of a vector".to_string(), EXAMPLES.to_string())),
        }
    }

    fn of_body(&self, name: &str, rest: &[Word]) -> Result<Vec<Parameter>, Wrong> {
        let Some(number) = self.scene.bodies.iter().position(|body| body.name == name) else {
            return Err((format!("leads nowhere: there is no body `{name}` in the scene"), self.bodies()));
        };
        let body = &self.scene.bodies[number];
        let given = |field: &str| self.template.table("body", name).is_some_and(|table| table.has(field));
        let [Word::Name(field), rest @ ..] = rest else { return Err(self.uncovered()) };
        if body.body.fixed && !matches!(*field, "position" | "orientation" | "shape") {
            let message =
                format!("is a number of `{name}`, which is fixed and has no {}", field.replace('_', " "));
            return Err((message, "a number of a body that moves".to_string()));
        }
        let state = |change: StateChange| Ok(Direction::of_state(number, change));
        let zero = StateChange::zero();
        let axis = |k: usize| Vector3::from_fn(|i, _| if i == k { 1.0 } else { 0.0 });
        let in_body_axes = given("angular_velocity_body") || given("bryan_rates");
        match *field {
            "position" => self.vector(rest, 3, |k| state(StateChange { position: axis(k), ..zero })),
            "velocity" => self.vector(rest, 3, |k| state(StateChange { velocity: axis(k), ..zero })),
            "angular_velocity" if in_body_axes => {
                let message = "is not in the scene, which gives the angular velocity in body axes";
                Err((message.to_string(), "`angular_velocity_body`".to_string()))
            }
            "angular_velocity" => {
                self.vector(rest, 3, |k| state(StateChange { angular_velocity: axis(k), ..zero }))
            }
            "angular_velocity_body" if given("angular_velocity") || given("bryan_rates") => {
                let message = "is not in the scene, which gives the angular velocity in another way";
                Err((message.to_string(), "`angular_velocity`".to_string()))
            }
            "angular_velocity_body" => self.vector(rest, 3, |k| {
                state(StateChange { angular_velocity: body.state.orientation * axis(k), ..zero })
            }),
            "orientation" if given("bryan_rates") => {
                let message = "has no derivatives beside `bryan_rates`";
                Err((message.to_string(), "`angular_velocity` or `angular_velocity_body`".to_string()))
            }
            "orientation" => self.of_orientation(number, name, rest, in_body_axes),
            "mass" if given("density") => {
                Err(("is not in the scene, which gives the density".to_string(), "`density`".to_string()))
            }
            "mass" if rest.is_empty() => {
                let inertia =
                    if given("inertia") { Vector3::zeros() } else { body.body.inertia / body.body.mass };
                let change = BodyChange { mass: 1.0, inertia, ..BodyChange::zero() };
                Ok(vec![self.whole(Direction::of_body(number, change))])
            }
            "density" if rest.is_empty() && given("density") => {
                let mass = body.body.shape.volume();
                let inertia = if given("inertia") {
                    Vector3::zeros()
                } else {
                    body.body.inertia / body.body.mass * mass
                };
                let change = BodyChange { mass, inertia, ..BodyChange::zero() };
                Ok(vec![self.whole(Direction::of_body(number, change))])
            }
            "density" => Err(("is not in the scene, which gives the mass".to_string(), "`mass`".to_string())),
            "inertia" if given("inertia") => self.vector(rest, 3, |k| {
                Ok(Direction::of_body(number, BodyChange { inertia: axis(k), ..BodyChange::zero() }))
            }),
            "inertia" => {
                let message = "is not in the scene, which leaves it to the shape";
                Err((
                    message.to_string(),
                    "the path of a mass or a size, or `inertia` in the scene".to_string(),
                ))
            }
            "shape" => self.of_shape(number, body, rest, given("density"), given("inertia")),
            _ => Err(self.uncovered()),
        }
    }

    fn bodies(&self) -> String {
        let names: Vec<&str> = self.scene.bodies.iter().take(8).map(|body| body.name.as_str()).collect();
        format!("one of {}", names.join(", "))
    }

    fn of_orientation(
        &self,
        number: usize,
        name: &str,
        rest: &[Word],
        in_body_axes: bool,
    ) -> Result<Vec<Parameter>, Wrong> {
        let body = &self.scene.bodies[number];
        let turned = |turn: Vector3<f64>| {
            let mut change = StateChange { turn, ..StateChange::zero() };
            if in_body_axes {
                change.angular_velocity = turn.cross(&body.state.angular_velocity);
            }
            Ok(Direction::of_state(number, change))
        };
        let table = self.template.table("body", name);
        let numbers = |path: &[&str]| table.as_ref().and_then(|table| table.numbers(path));
        match rest {
            [Word::Name("bryan"), rest @ ..] => {
                let angles = numbers(&["orientation", "bryan"]);
                let Some([psi, theta, _]) = angles.and_then(|n| <[f64; 3]>::try_from(n).ok()) else {
                    let message = "is not in the scene, which gives the orientation in another way";
                    return Err((message.to_string(), "`orientation`".to_string()));
                };
                // R_x(ψ) R_y(θ) R_z(φ): each angle turns about an axis that those before it have turned.
                let about: [Vector3<f64>; 3] = [
                    Vector3::x(),
                    bryan_orientation(&[psi, 0.0, 0.0]) * Vector3::y(),
                    bryan_orientation(&[psi, theta, 0.0]) * Vector3::z(),
                ];
                self.vector(rest, 3, |k| turned(about[k]))
            }
            [Word::Name(_), ..] => Err(self.uncovered()),
            _ => {
                let given =
                    match (numbers(&["orientation"]), table.as_ref().is_some_and(|t| t.has("orientation"))) {
                        (Some(numbers), _) => numbers,
                        // Bodies of fills have no text of their own.
                        (None, false) => {
                            let q = body.state.orientation;
                            vec![q.w, q.i, q.j, q.k]
                        }
                        (None, true) => {
                            let message = "is not a quaternion in the scene";
                            return Err((
                                message.to_string(),
                                "`orientation.bryan`, or a quaternion".to_string(),
                            ));
                        }
                    };
                let length = Vector4::from_row_slice(&given).norm();
                self.vector(rest, 4, |k| turned(turn_by_component(&body.state.orientation, k) / length))
            }
        }
    }

    fn of_shape(
        &self,
        number: usize,
        body: &SceneBody,
        rest: &[Word],
        density: bool,
        inertia: bool,
    ) -> Result<Vec<Parameter>, Wrong> {
        let shape = &body.body.shape;
        let size = |k: usize| {
            let mut change = BodyChange::zero();
            change.sizes[k] = 1.0;
            if body.body.fixed {
                return Ok(Direction::of_body(number, change));
            }
            if density {
                change.mass = body.body.mass * volume_by_sizes(shape)[k] / shape.volume();
            }
            if !inertia {
                let by_size: Matrix3<f64> = unit_inertia_by_sizes(shape) * body.body.mass;
                change.inertia = by_size.column(k) + body.body.inertia * (change.mass / body.body.mass);
            }
            Ok(Direction::of_body(number, change))
        };
        match (rest, shape) {
            ([Word::Name("sphere"), Word::Name("radius")], Shape::Sphere { .. }) => {
                Ok(vec![self.whole(size(0)?)])
            }
            ([Word::Name("ellipsoid"), Word::Name("semi_axes"), rest @ ..], Shape::Ellipsoid { .. })
            | (
                [Word::Name("superellipsoid"), Word::Name("semi_axes"), rest @ ..],
                Shape::Superellipsoid { .. },
            ) => self.vector(rest, 3, size),
            ([Word::Name("superellipsoid"), Word::Name("exponent")], Shape::Superellipsoid { .. }) => Err((
                "has no derivatives here: exponents are not covered".to_string(),
                "a semi-axis".to_string(),
            )),
            _ => Err((
                "is not a size of the body".to_string(),
                "shape.sphere.radius or shape.ellipsoid.semi_axes, as the body's shape is".to_string(),
            )),
        }
    }

    fn of_plane(&self, name: &str, rest: &[Word]) -> Result<Vec<Parameter>, Wrong> {
        let Some(number) = self.scene.planes.iter().position(|plane| plane.name == name) else {
            let names: Vec<&str> = self.scene.planes.iter().map(|plane| plane.name.as_str()).collect();
            let right = if names.is_empty() {
                "a body's number".to_string()
            } else {
                format!("one of {}", names.join(", "))
            };
            return Err((format!("leads nowhere: there is no plane `{name}` in the scene"), right));
        };
        let normal = *self.scene.planes[number].half_space.normal;
        let of = |change: Vector3<f64>, offset: f64| Direction {
            planes: vec![(number, change, offset)],
            ..Direction::none()
        };
        match rest {
            [Word::Name("offset")] => Ok(vec![self.whole(of(Vector3::zeros(), 1.0))]),
            [Word::Name("normal"), rest @ ..] => {
                let given = self.template.table("plane", name).and_then(|table| table.numbers(&["normal"]));
                let length = given.map_or(1.0, |given| Vector3::from_row_slice(&given).norm());
                self.vector(rest, 3, |k| {
                    let mut change = -normal * normal[k];
                    change[k] += 1.0;
                    Ok(of(change / length, 0.0))
                })
            }
            _ => Err(self.uncovered()),
        }
    }

    fn of_rule(&self, rule: Rule, rest: &[Word]) -> Result<Vec<Parameter>, Wrong> {
        let rules = &self.scene.surface;
        // A pair follows the default in what it leaves out.
        let follow = |field: &str| -> Vec<(Rule, f64)> {
            let followers = (0..rules.pairs.len())
                .filter(|&pair| rule.is_none() && !self.template.pair_has(pair, field))
                .map(|pair| (Some(pair), 1.0));
            core::iter::once((rule, 1.0)).chain(followers).collect()
        };
        match rest {
            [Word::Name("restitution")] => {
                Ok(vec![self.whole(Direction { restitution: follow("restitution"), ..Direction::none() })])
            }
            [Word::Name("kind"), Word::Name("coulomb")] => {
                let kind = rule.map_or(rules.kind, |pair| rules.pairs[pair].kind);
                if !matches!(kind, Surface::Coulomb(_)) {
                    let message = "is not in the scene, whose surface has no friction there";
                    return Err((message.to_string(), "`kind = { coulomb = … }` in the scene".to_string()));
                }
                Ok(vec![self.whole(Direction { friction: follow("kind"), ..Direction::none() })])
            }
            _ => Err((
                "is not a number of a surface".to_string(),
                "surface.restitution or surface.kind.coulomb".to_string(),
            )),
        }
    }
}

/// The turn that a change of one component of a quaternion makes, which is normalised: δθ = 2 Im(δq q*).
fn turn_by_component(orientation: &UnitQuaternion<f64>, k: usize) -> Vector3<f64> {
    let unit = |i: usize| if i == k { 1.0 } else { 0.0 };
    let change = Quaternion::new(unit(0), unit(1), unit(2), unit(3));
    (change * orientation.quaternion().conjugate()).vector() * 2.0
}
