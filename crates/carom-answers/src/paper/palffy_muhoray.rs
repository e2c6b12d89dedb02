//! \[PVWZ\]: two smooth bodies that touch without approach, and the paradox of what follows.

use carom::body::{Body, State};
use carom::contact::classify::{Classification, Tolerances, classify};
use carom::contact::coefficients::{Coefficients, coefficients};
use carom::contact::kinematics::{Facing, Moving, effective_inverse_mass};
use carom::contact::neighbourhood::Other;
use carom::contact::neighbourhood::neighbourhood;
use carom::contact::series::{Path, gap_series};
use carom::gap::{Gap, gap};
use carom::motion::{Derivatives, Flight};
use carom::shape::Shape;
use nalgebra::{Matrix3, Vector3};

use super::scenes::{self, Case};
use super::{Paper, Row, same};
use crate::Refusal;

pub const PAPER: Paper = Paper {
    name: "palffy-muhoray",
    citation: "P. Palffy-Muhoray, E. G. Virga, M. Wilkinson, X. Zheng, On a paradox in the impact dynamics of smooth \
               rigid bodies, arXiv:1703.10041",
    rows,
};

fn rows() -> Result<Vec<Row>, Refusal> {
    let mut rows = example()?;
    rows.extend(two_ellipses()?);
    rows.extend(overlapping()?);
    Ok(rows)
}

/// The two bodies of a scene that touch, and what kind of contact they make.
struct Contact {
    case: Case,
    bodies: [(Body, State); 2],
    at: Gap,
    class: Classification,
}

impl Contact {
    fn read(file: scenes::File) -> Result<Self, Refusal> {
        let case = Case::read(file)?;
        let found = match case.prepared.instant.bodies.as_slice() {
            [one, two] => {
                gap((&one.0.shape, &one.1.pose()), (&two.0.shape, &two.1.pose())).map(|at| ([*one, *two], at))
            }
            _ => None,
        };
        let Some((bodies, at)) = found else {
            return Err(Refusal::of_unreadable(file.0.to_string(), "expected two bodies that touch"));
        };
        let class = classify_in_order(&bodies, &at);
        Ok(Self { case, bodies, at, class })
    }

    fn coefficients(&self, direction: &Vector3<f64>) -> Coefficients {
        let [one, two] = &self.bodies;
        coefficients(&Facing::Body(moving(one)), &moving(two), &self.at, direction)
    }

    /// The same contact with the bodies exchanged.
    fn exchanged(&self) -> Classification {
        let [one, two] = self.bodies;
        let at = Gap { normal: -self.at.normal, points: [self.at.points[1], self.at.points[0]], ..self.at };
        classify_in_order(&[two, one], &at)
    }

    fn series<const N: usize>(&self) -> [f64; N] {
        let paths =
            self.bodies.each_ref().map(|(body, state)| Path::<N>::new(body, state, &Vector3::zeros()));
        let [one, two] = &self.bodies;
        gap_series((&one.0.shape, &paths[0]), (&two.0.shape, &paths[1]), &self.at)
            .map_or([f64::NAN; N], |jet| jet.0)
    }

    /// K⁻¹ on the tangent plane, zero along n.
    fn inverse_curvature(&self) -> Matrix3<f64> {
        let k = &self.class.kinematics;
        let along = k.normal * k.normal.transpose();
        (k.curvature_1 + k.curvature_2 + along)
            .try_inverse()
            .map_or_else(Matrix3::zeros, |inverse| inverse - along)
    }

    /// Whether the paper's coefficients, corrected, add up to g'''.
    fn adds_up(&self) -> bool {
        let k = &self.class.kinematics;
        let c = self.coefficients(&k.rolling[1]);
        let sum = c.j + 3.0 * c.a_e + 6.0 * c.v_2e + 6.0 * c.x_3e;
        (sum - k.g3).abs() <= 1e-11 * self.class.scales.jerk
    }
}

fn moving((body, state): &(Body, State)) -> Moving<'_> {
    let derivatives = Derivatives::new(body, state, &Vector3::zeros());
    Moving { shape: &body.shape, state: *state, derivatives }
}

fn classify_in_order(bodies: &[(Body, State); 2], at: &Gap) -> Classification {
    classify(&Facing::Body(moving(&bodies[0])), &moving(&bodies[1]), at, Tolerances::default())
}

/// What is rounding beside the terms it is a sum of is zero.
fn settled(x: f64, scale: f64) -> f64 {
    if x.abs() <= 1e-14 * scale { 0.0 } else { x }
}

fn settled_vector(x: &Vector3<f64>, scale: f64) -> Vec<f64> {
    x.iter().map(|x| settled(*x, scale)).collect()
}

fn example() -> Result<Vec<Row>, Refusal> {
    let contact = Contact::read(scenes::PARADOX)?;
    let case = &contact.case;
    let (k, s) = (&contact.class.kinematics, &contact.class.scales);
    let paradox = contact.class.kind.is_paradox();
    let [one, two] = &contact.bodies;
    let acceleration = |side: &(Body, State), arm: &Vector3<f64>| {
        let (rate, spin) = (moving(side).derivatives.angular_acceleration, side.1.angular_velocity);
        k.normal.dot(&(rate.cross(arm) + spin.cross(&spin.cross(arm))))
    };
    let normal_accelerations = [acceleration(one, &k.arms[0]), acceleration(two, &k.arms[1])];
    let apart = settled(normal_accelerations[1] - normal_accelerations[0], s.acceleration);
    let series = contact.series::<5>();
    // a⃗ along the three axes, across n.
    let across = |i: usize| Vector3::from_fn(|j, _| if i == j { 1.0 } else { 0.0 });
    let slope = Vector3::from_fn(|i, _| contact.coefficients(&across(i)).a_e);
    let deepening = slope.dot(&(contact.inverse_curvature() * slope)) / 8.0;
    let mass = effective_inverse_mass([Some((&one.0, &one.1)), Some((&two.0, &two.1))], &k.points, &k.normal);
    Ok(vec![
        case.row("Suppl. I", "contact point P")
            .printed("", [0.47618533191703555, 1.9605250610979892, 1.1955976303024505])
            .computed(k.points[0].as_slice())
            .agrees(),
        case.row("Suppl. I", "normal n₁")
            .printed("", [0.22325108832916085, 0.9737842723056427, 0.04362502229243368])
            .computed(k.normal.as_slice())
            .agrees(),
        case.row("type 2b*", "u = v_Q − v_P")
            .printed("", [0.0; 3])
            .computed(settled_vector(&k.slip, s.speed))
            .agrees(),
        case.row("type 2b*", "v").printed("", [0.0]).computed([settled(k.v, s.speed)]).agrees(),
        case.row("type 2b*", "w of (34)")
            .printed("", [0.0; 3])
            .computed(settled_vector(&k.w, s.turn))
            .agrees(),
        case.row("type 2b*", "a of (31)")
            .printed("", [0.0])
            .computed([settled(k.a, s.acceleration)])
            .agrees(),
        case.row("type 2b*", "n·(v̇_Q − v̇_P)").printed("negative", []).computed([apart]).wrong(
            paradox && apart == 0.0,
            "zero: it is a where u = 0, and where a is negative the bodies overlap on both sides",
        ),
        case.row("type 2b*", "n·v̇_P, n·v̇_Q of the two bodies")
            .computed(normal_accelerations)
            .beyond("equal and positive, which no ellipsoid of its own has", [0.9952597195637932; 2]),
        case.row("Suppl. I", "j = g'''").computed([k.g3]).beyond("by 50 digits", [-15.318982299576987]),
        case.row("abstract", "coefficient of t³ in the gap")
            .computed([series[3]])
            .within(1e-11)
            .beyond("j/6", [k.g3 / 6.0]),
        case.row("(51), (52), (60)", "coefficient of t⁴ in the gap")
            .printed("with 1/8 of a_ε²/x_2ε:", [series[4] - deepening])
            .computed([series[4]])
            .misprint(
                (series[4] - -2.5262292297691835).abs() <= 1e-10,
                "1/16: the least over ε of x_2ε ε² + ½ a_ε ε t² is −a_ε² t⁴/(16 x_2ε)",
            ),
        case.row("(66)", "the expansion in ε and t")
            .printed("ε, and three terms fewer", [])
            .in_words("adds up to g'''")
            .misprint(
                contact.adds_up(),
                "ε_⊥, with v_2ε, a_ε and x_3ε: g''' = j + 3a_ε + 6v_2ε + 6x_3ε at e = −K⁻¹w",
            ),
        case.row("conclusion", "slope of the contact force λ(t)")
            .printed("“finite forces impossible”", [])
            .computed([-k.g3 / mass])
            .wrong(
                (-k.g3 / mass - 6.474427370310724).abs() <= 1e-11,
                "λ = |g'''| t/(n·M·n) + … keeps g = 0, and momentum and energy: its power is λ g' = 0",
            ),
        ellipsoids(case),
    ])
}

/// How many places and spins of ellipsoids the command looks at.
const SAMPLES: u32 = 100_000;

/// n·v̇ ≤ 0 on free homogeneous ellipsoids of many proportions, at places and spins that fill their spaces evenly.
fn ellipsoids(case: &Case) -> Row {
    // Square roots of primes: fractional parts of their multiples are evenly spread.
    let steps = [2.0_f64, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0].map(f64::sqrt);
    let mut greatest = f64::NEG_INFINITY;
    for i in 1..=SAMPLES {
        let [a, b, c, d, e, f, g, h, l] = steps.map(|step| 2.0 * (f64::from(i) * step).fract() - 1.0);
        let shape = Shape::Ellipsoid { semi_axes: [a, b, c].map(f64::exp) };
        let body = Body { shape, mass: 1.0, inertia: shape.unit_inertia(), fixed: false };
        let spin = Vector3::new(d, e, f);
        let state = State { angular_velocity: spin, ..State::at(Vector3::zeros()) };
        let rate = Derivatives::new(&body, &state, &Vector3::zeros()).angular_acceleration;
        let surface = shape.osculate(&Vector3::new(g, h, l));
        let acceleration = rate.cross(&surface.point) + spin.cross(&spin.cross(&surface.point));
        let size = (rate.norm() + spin.norm_squared()) * surface.point.norm();
        greatest = greatest.max(surface.normal.dot(&acceleration) / size);
    }
    let row = case
        .row(
            "proof",
            "n·v̇ of free homogeneous ellipsoids: greatest of 10⁵ samples over the size of its terms",
        )
        .printed("never positive", [])
        .computed([greatest]);
    if greatest <= 1e-15 { row.agrees() } else { row.wrong(true, "positive at some place") }
}

fn two_ellipses() -> Result<Vec<Row>, Refusal> {
    let contact = Contact::read(scenes::TWO_ELLIPSES)?;
    let case = &contact.case;
    let k = &contact.class.kinematics;
    let paradox = contact.class.kind.is_paradox();
    let both = contact.bodies.iter().all(|(body, _)| matches!(body.shape, Shape::Ellipsoid { .. }));
    let planar = contact.bodies.iter().all(|(_, state)| {
        let spin = state.angular_velocity;
        state.position.z == 0.0 && state.velocity.z == 0.0 && spin.x == 0.0 && spin.y == 0.0
    });
    let kind = contact.class.kind.name();
    let zero = contact.coefficients(&Vector3::zeros());
    let type_of = |text: &'static str, row: Row| row.printed(text, []).in_words(kind);
    Ok(vec![
        type_of("none", case.row("text", "“at least one body not an ellipsoid”: type of this contact"))
            .wrong(paradox && both, "only for u = 0; with slip two ellipsoids have it"),
        type_of("none", case.row("text", "“not in 2D”: type of this contact"))
            .wrong(paradox && planar, "only for u = 0; with slip it exists in the plane"),
        case.row("j", "g''' where u ≠ 0, w = 0")
            .printed("j without the third-order terms of the shapes:", [zero.j_without_shape])
            .computed([k.g3])
            .wrong(
                (k.g3 - -2.8362454088013966).abs() <= 1e-12,
                "j += D³d₁[u,u,u], and likewise in v_2ε and a_ε",
            ),
    ])
}

fn overlapping() -> Result<Vec<Row>, Refusal> {
    let contact = Contact::read(scenes::OVERLAPPING)?;
    let case = &contact.case;
    let (k, s) = (&contact.class.kinematics, &contact.class.scales);
    let other = contact.exchanged();
    let twice = k.w + k.curvature_1 * k.slip;
    let printed_threshold = twice.dot(&(contact.inverse_curvature() * twice));
    // The threshold of every direction, v_ε²/(2x_2ε): the greatest is wᵀK⁻¹w.
    let first = k.w.normalize();
    let second = k.normal.cross(&first);
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for i in 0..3600 {
        let angle = f64::from(i) * std::f64::consts::PI / 3600.0;
        let c = contact.coefficients(&(first * angle.cos() + second * angle.sin()));
        let threshold = c.v_e * c.v_e / (2.0 * c.x_2e);
        (least, most) = (least.min(threshold), most.max(threshold));
    }
    let coefficients = contact.coefficients(&Vector3::zeros());
    let invariant = same(&[k.g2, k.g3], &[other.kinematics.g2, other.kinematics.g3], s.jerk, 1e-12);
    let [one, two] = &contact.bodies;
    let flights = [one, two].map(|(body, state)| Flight::new(body, state, &Vector3::zeros()));
    let t = 1e-4;
    let exact =
        neighbourhood(Other::Body(&one.0.shape, &flights[0]), (&two.0.shape, &flights[1]), k, &[-t, t]);
    let (path, patch) = exact.map_or_else(Default::default, |n| {
        let [before, after] = [0, 1].map(|i| n.patches[i].deepest);
        let rate = (after - before) / (2.0 * t);
        let predicted = n.patches[1].predicted_deepest / t;
        let round = n.patches.iter().all(|p| p.outline.len() > 3 && p.semi_axes.is_some());
        ((rate - predicted).norm() <= 1e-6 * predicted.norm(), round)
    });
    Ok(vec![
        case.row("(42)", "w")
            .printed("with 2H₁u:", twice.as_slice())
            .computed(k.w.as_slice())
            .misprint(contact.adds_up(), "no factor 2: w = n×(ω₂−ω₁) + H₁u, as in (34)"),
        case.row("(42)", "g'' = a − wᵀK⁻¹w")
            .printed("with that w:", [k.a - printed_threshold])
            .computed([k.g2])
            .misprint((2.0 * contact.series::<3>()[2] - k.g2).abs() <= 1e-12, "with w of (34)"),
        case.row("3.2.3, 4", "threshold of a")
            .printed("least over directions ê of v_ε²/2x_2ε:", [settled(least, s.acceleration)])
            .computed([k.threshold])
            .wrong(
                (most / k.threshold - 1.0).abs() <= 1e-5,
                "the greatest over directions, wᵀK⁻¹w: one direction that enters is enough",
            ),
        case.row("(41)", "velocity of the deepest point over body 2, two components")
            .printed("another reading; its wording is not on record", [])
            .computed({
                let tangents = [first, second];
                tangents.map(|t| t.dot(&k.rolling[1]))
            })
            .wrong(path && patch, "at fixed t (41) is an ellipse; its centre, the deepest point, is −K⁻¹w t"),
        case.row("(47), (58)", "g''' where w ≠ 0")
            .printed("the t³ term as if w = 0:", [coefficients.j_without_shape])
            .computed([k.g3])
            .wrong(contact.adds_up(), "the term is of the size of what is left out, unless w = 0"),
        case.row("(73)", "third derivative")
            .printed("n₁ and ṅ₁ confused", [])
            .in_words("adds up to g'''")
            .misprint(contact.adds_up(), "n₁ for ṅ₁"),
        case.row("(76)", "third derivative")
            .printed("a term h n₁·Ḧ₁·ê", [])
            .in_words("adds up to g''' without it")
            .misprint(contact.adds_up(), "the term h n₁·Ḧ₁·ê is spurious"),
        case.row("(77)", "third derivative")
            .printed("a term too short, and one too few", [])
            .in_words("adds up to g'''")
            .misprint(contact.adds_up(), "the first term lacks ·H₁·ê, and 2h(ω₂×ê)·H₁·(ω₂×n₁) is missing"),
        case.row("text", "a, in both orders of the bodies")
            .printed("the same", [settled(k.a, s.acceleration); 2])
            .computed([settled(k.a, s.acceleration), other.kinematics.a])
            .wrong(invariant, "a and v_ε change when the bodies are exchanged; only g', g'', g''' do not"),
    ])
}
