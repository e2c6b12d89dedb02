//! The kinematics of every contact of a scene, and its type.

mod document;
mod picture;

use carom::body::State;
use carom::contact::Side;
use carom::contact::classify::{Classification, Tolerances, classify};
use carom::contact::coefficients::{Coefficients, Model, coefficients, model, slope};
use carom::contact::kinematics::{Facing, Fit, Moving, effective_inverse_mass, inverse_mass_tensor};
use carom::contact::neighbourhood::Other;
use carom::contact::neighbourhood::{Neighbourhood, neighbourhood};
use carom::gap::Gap;
use carom::motion::{Derivatives, Flight};
use carom::scene::instant::{Instant, name};
use carom::scene::model::Scene;
use nalgebra::{Matrix3, Unit, Vector3};

use crate::options::{SPAN, TOUCHING};
use crate::overlap::{self, Overlap};
use crate::start::tied_overlaps;
use crate::{InputError, Subject};

pub use document::{ContactEntry, Document, Look};

/// What is asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct Request {
    /// How close counts as touching, and what counts as zero.
    pub tolerances: Tolerances,
    /// Whether neighbourhoods are wanted; a span asks for them too.
    pub neighbourhood: bool,
    /// How long before and after the contact they reach; by default a small part of a turn.
    pub span: Option<f64>,
}

/// A contact, or two bodies that overlap.
#[derive(Debug, Clone)]
pub struct Found {
    /// The sides, a plane first.
    pub sides: [Side; 2],
    /// Their names.
    pub bodies: [String; 2],
    /// What it is.
    pub class: Classification,
    /// n·M·n.
    pub effective_inverse_mass: f64,
    /// M of \[PVWZ\] (8).
    pub inverse_mass_tensor: Matrix3<f64>,
    /// a⃗: a_ε = a⃗·ê.
    pub slope: Vector3<f64>,
    /// The coefficients of \[PVWZ\] (27) and (28) along two directions, w and across it, of the distance and of the
    /// quadratic model.
    pub coefficients: Vec<(Coefficients, Model)>,
    /// The picture, where asked for.
    pub neighbourhood: Option<Neighbourhood>,
}

/// Everything found in a scene.
#[derive(Debug, Clone)]
pub struct Findings {
    /// The scene's title.
    pub title: Option<String>,
    /// Those that touch.
    pub contacts: Vec<Found>,
    /// Those that overlap, the deepest first: none in an [`answer`], which refuses them.
    pub overlaps: Vec<Found>,
    /// Where nothing touches, the nearest pair: names and gap.
    pub nearest: Option<([String; 2], f64)>,
    /// What else to know.
    pub notes: Vec<String>,
}

/// Classifies every contact; overlapping bodies are refused, as they are not at an instant of contact.
pub fn answer(subject: &Subject, request: &Request) -> Result<Findings, InputError> {
    let scene = &subject.scene;
    TOUCHING.check("touching", request.tolerances.touching)?;
    TOUCHING.check("tolerance", request.tolerances.rates)?;
    SPAN.check_some("span", request.span)?;
    if !scene.fills.is_empty() {
        let message = "has no bodies yet at the scene's instant";
        return Err(subject.error_at("fill[0]", message, "bodies with positions of their own"));
    }
    let found = Findings::of(scene, request);
    if !found.overlaps.is_empty() {
        let overlaps = found.overlaps.iter().filter_map(|pair| match pair.sides {
            [first, Side::Body(second)] => Some(Overlap { first, second, depth: -pair.class.kinematics.gap }),
            _ => None,
        });
        return Err(subject.input.error(overlap::explain(&subject.source(), scene, overlaps)));
    }
    let sick = found.contacts.iter().find(|pair| !pair.class.kinematics.v.is_finite());
    if let Some(pair) = sick {
        let [first, second] = &pair.bodies;
        let message = format!("the motion of `{first}` and `{second}` is beyond the range of 64-bit floats");
        return Err(subject.error_at("body[0]", &message, "a motion that can be computed"));
    }
    Ok(found)
}

impl Findings {
    /// Every pair of a scene that touches or overlaps.
    pub fn of(scene: &Scene, request: &Request) -> Self {
        let Request { tolerances, neighbourhood, span } = *request;
        let picture = match span {
            Some(span) => Picture::Over(span),
            None if neighbourhood => Picture::Readable,
            None => Picture::None,
        };
        let instant = Instant {
            bodies: scene.bodies.iter().map(|b| (b.body, b.state)).collect(),
            joints: scene.joints.clone(),
            contacts: Vec::new(),
            detected: true,
            nearest: None,
        };
        let near = tolerances.touching;
        let mut found = Self {
            title: scene.title.clone(),
            contacts: Vec::new(),
            overlaps: Vec::new(),
            nearest: None,
            notes: Vec::new(),
        };
        instant.each_near_pair(scene, near, |sides, image, gap, size| {
            let names = || sides.map(|side| name(scene, side).to_string());
            if gap.gap > near * size {
                if found.nearest.as_ref().is_none_or(|(_, least)| gap.gap < *least) {
                    found.nearest = Some((names(), gap.gap));
                }
                return;
            }
            let pair = Pair { scene, sides, image, gap };
            let touching = gap.gap >= -near * size;
            let Some(one) =
                pair.classify(names(), tolerances, if touching { picture } else { Picture::None })
            else {
                return;
            };
            if touching { found.contacts.push(one) } else { found.overlaps.push(one) }
        });
        // Where something touches, not every pair that is apart was measured.
        if !(found.contacts.is_empty() && found.overlaps.is_empty()) {
            found.nearest = None;
        }
        found.overlaps.sort_by(|a, b| a.class.kinematics.gap.total_cmp(&b.class.kinematics.gap));
        found.notes = notes(scene, &found);
        found
    }

    /// The picture of the neighbourhoods that were asked for, as SVG.
    pub fn svg(&self) -> String {
        picture::svg(&self.contacts)
    }
}

/// Which picture of a contact's neighbourhood is wanted.
#[derive(Debug, Clone, Copy)]
enum Picture {
    None,
    /// Over a time that shows what happens.
    Readable,
    /// The time before and after the contact.
    Over(f64),
}

/// Two sides near each other.
struct Pair<'a> {
    scene: &'a Scene,
    sides: [Side; 2],
    image: Vector3<f64>,
    gap: Gap,
}

impl Pair<'_> {
    fn classify(&self, bodies: [String; 2], tolerances: Tolerances, picture: Picture) -> Option<Found> {
        let Side::Body(j) = self.sides[1] else { return None };
        let (scene, second) = (self.scene, &self.scene.bodies[j]);
        let state = State { position: second.state.position + self.image, ..second.state };
        let moving =
            |body: &'_ carom::body::Body, state: &State| Derivatives::new(body, state, &scene.gravity);
        let two = Moving { shape: &second.body.shape, state, derivatives: moving(&second.body, &state) };
        let one = match self.sides[0] {
            Side::Plane(k) => Facing::Plane(&scene.planes[k].half_space),
            Side::Body(i) => {
                let first = &scene.bodies[i];
                let derivatives = moving(&first.body, &first.state);
                Facing::Body(Moving { shape: &first.body.shape, state: first.state, derivatives })
            }
        };
        let class = classify(&one, &two, &self.gap, tolerances);
        let k = &class.kinematics;
        let first = match self.sides[0] {
            Side::Plane(_) => None,
            Side::Body(i) => Some((&scene.bodies[i].body, &scene.bodies[i].state)),
        };
        let sides = [first, Some((&second.body, &state))];
        let effective_inverse_mass = effective_inverse_mass(sides, &k.points, &k.normal);
        let inverse_mass_tensor = inverse_mass_tensor(sides, &k.points);
        let slope = slope(&one, &two, &self.gap);
        let along = directions(&class);
        let coefficients = along
            .iter()
            .filter_map(|e| Some((coefficients(&one, &two, &self.gap, e), model(&one, &two, &self.gap, e)?)))
            .collect();
        let flight = Flight::given(&second.body, &state, second.body_spin.as_ref(), &scene.gravity);
        let span = match picture {
            Picture::None => None,
            Picture::Readable => Some(readable_span(&class)),
            Picture::Over(span) => Some(span),
        };
        let neighbourhood = span.and_then(|span| {
            let times = times(span);
            match self.sides[0] {
                Side::Plane(i) => neighbourhood(
                    Other::Plane(&scene.planes[i].half_space),
                    (&second.body.shape, &flight),
                    k,
                    &times,
                ),
                Side::Body(i) => {
                    let first = &scene.bodies[i];
                    let other = first.flight(&scene.gravity);
                    neighbourhood(
                        Other::Body(&first.body.shape, &other),
                        (&second.body.shape, &flight),
                        k,
                        &times,
                    )
                }
            }
        });
        Some(Found {
            sides: self.sides,
            bodies,
            class,
            effective_inverse_mass,
            inverse_mass_tensor,
            slope,
            coefficients,
            neighbourhood,
        })
    }
}

/// The unit directions of w and across it; any two where w is zero.
fn directions(class: &Classification) -> [Vector3<f64>; 2] {
    let k = &class.kinematics;
    let [any, _] = carom::joint::across(&Unit::new_unchecked(k.normal));
    let along = k.w.try_normalize(class.tolerances.rates * class.scales.turn).unwrap_or(any);
    [along, k.normal.cross(&along)]
}

/// A twentieth of the time that the motion takes over the bodies' size; one second where nothing moves.
fn readable_span(class: &Classification) -> f64 {
    let s = &class.scales;
    let rate = (s.speed / s.length).max((s.acceleration / s.length).sqrt());
    if rate > 0.0 { 0.05 / rate } else { 1.0 }
}

/// Four times before and four after.
fn times(span: f64) -> Vec<f64> {
    [-1.0, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.0].map(|part| part * span).to_vec()
}

fn notes(scene: &Scene, found: &Findings) -> Vec<String> {
    let mut notes = Vec::new();
    if !scene.contacts.is_empty() {
        notes.push("the contacts that the scene gives are for solve; these are detected".to_string());
    }
    notes.extend(tied_overlaps(scene));
    let held: Vec<&str> = scene
        .bodies
        .iter()
        .enumerate()
        .filter(|(i, b)| {
            scene.joints.iter().any(|joint| joint.bodies.contains(i))
                && found.contacts.iter().any(|contact| contact.bodies.contains(&b.name))
        })
        .map(|(_, b)| b.name.as_str())
        .collect();
    if !held.is_empty() {
        notes.push(format!(
            "held by joints, which a, g2 and g3 leave out, being those of free flight: {}",
            held.join(", ")
        ));
    }
    for contact in &found.contacts {
        let [first, second] = &contact.bodies;
        let has_flats =
            |side: &Side| matches!(side, Side::Body(i) if scene.bodies[*i].body.shape.has_flats());
        if contact.sides.iter().any(has_flats) {
            notes.push(format!(
                "{first} and {second} may touch along flats and edges: the type says whether the point given closes, and g2 and g3 are not \
                 used; solve finds all points"
            ));
            continue;
        }
        match contact.class.kinematics.fit {
            Fit::Curved => {}
            Fit::Flat => notes.push(format!(
                "{first} and {second} are flat where they touch: the contact point is not determined, and g3 is not used"
            )),
            Fit::Rocking => notes.push(format!(
                "{first} and {second} are flat where they touch and turn about the flat: g2 is minus infinity"
            )),
        }
    }
    notes
}
