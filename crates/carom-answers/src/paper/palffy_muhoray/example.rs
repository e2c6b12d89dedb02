//! Supplementary Data I: the paper's own contact, type 2b*.

use carom::body::{Body, State};
use carom::contact::kinematics::effective_inverse_mass;
use carom::gap::gap;
use carom::motion::{Derivatives, Flight};
use carom::record::{Kind, Memory};
use carom::shape::Shape;
use nalgebra::{Matrix3, Vector3};

use super::super::Row;
use super::super::scenes::{self, Case, count};
use super::contact::{Contact, moving, settled, settled_vector, sign};
use crate::InputError;
use crate::run::{Changes, Running};

/// P of Supplementary Data I.
const POINT: [f64; 3] = [0.47618533191703555, 1.9605250610979892, 1.1955976303024505];
/// n₁.
const NORMAL: [f64; 3] = [0.22325108832916085, 0.9737842723056427, 0.04362502229243368];
/// g''' by fifty digits.
const JERK: f64 = -15.318982299576987;

pub fn rows() -> Result<Vec<Row>, InputError> {
    let contact = Contact::read(scenes::PARADOX)?;
    let mut rows = kinematics(&contact);
    rows.extend(expansion(&contact));
    rows.extend(holding(&contact)?);
    rows.push(ellipsoids(&contact.case));
    rows.extend(gaps(&contact));
    rows.extend(curvatures(&contact));
    Ok(rows)
}

/// The contact's points, normal, velocities and accelerations.
fn kinematics(contact: &Contact) -> Vec<Row> {
    let case = &contact.case;
    let (k, s) = (&contact.class.kinematics, &contact.class.scales);
    let [one, two] = &contact.bodies;
    let acceleration = |side: &(Body, State), arm: &Vector3<f64>| {
        let (rate, spin) = (moving(side).derivatives.angular_acceleration, side.1.angular_velocity);
        k.normal.dot(&(rate.cross(arm) + spin.cross(&spin.cross(arm))))
    };
    let normal_accelerations = [acceleration(one, &k.arms[0]), acceleration(two, &k.arms[1])];
    let apart = settled(normal_accelerations[1] - normal_accelerations[0], s.acceleration);
    let own = [normal_accelerations[0], -normal_accelerations[1]];
    let level = |x: &[f64; 3]| x[0].powi(4) + (x[1] / 2.0).powi(4) + (x[2] / 3.0).powi(4);
    vec![
        case.row("Suppl. I", "P").printed("", POINT).computed(k.points[0].as_slice()).agrees(),
        case.row("Suppl. I", "Q").printed("", POINT).computed(k.points[1].as_slice()).agrees(),
        case.row("Suppl. I", "n₁").printed("", NORMAL).computed(k.normal.as_slice()).agrees(),
        case.row("Suppl. I", "x⁴/a⁴ + y⁴/b⁴ + z⁴/c⁴ at P")
            .printed("x⁴/a⁴ + y⁴/b⁴ + z⁴/c⁴ = 1, a = 1, b = 2, c = 3:", [1.0])
            .computed([level(&k.points[0].into())])
            .agrees(),
        case.row("type 2b*", "v_Q − v_P")
            .printed("", [0.0; 3])
            .computed(settled_vector(&k.slip, s.speed))
            .agrees(),
        case.row("type 2b*", "v of (30)").printed("", [0.0]).computed([settled(k.v, s.speed)]).agrees(),
        case.row("type 2b*", "v_ε of (34), as the vector w")
            .printed("", [0.0; 3])
            .computed(settled_vector(&k.w, s.turn))
            .agrees(),
        case.row("type 2b*", "a of (31)")
            .printed("", [0.0])
            .computed([settled(k.a, s.acceleration)])
            .agrees(),
        case.row("type 2b*", "sign of n₁·(v̇_Q − v̇_P) where a = 0")
            .printed("n₁·(v̇_Q − v̇_P) < 0:", [-1.0])
            .computed([sign(apart)])
            .misprint(
                [sign(settled(k.a, s.acceleration))],
                "zero: it is a where v_Q − v_P = 0; where it is negative the bodies overlap on both sides",
            ),
        case.row("type 2b*", "n·v̇ of each body with its own outward normal")
            .computed(own)
            .beyond(
                "equal and opposite, the first positive:",
                [0.995_259_719_563_793, -0.995_259_719_563_793],
            )
            .note("positive for body 1, which no free homogeneous ellipsoid could have"),
    ]
}

/// The gap's third and fourth orders in time.
fn expansion(contact: &Contact) -> Vec<Row> {
    let case = &contact.case;
    let k = &contact.class.kinematics;
    let (series, of_q) = (contact.series::<5>(), contact.series_of_point::<5>());
    let slope = contact.slope();
    let steepest = contact.inverse_curvature() * slope;
    let most = 2.0 * slope.dot(&steepest);
    let along = steepest.normalize();
    let c = contact.coefficients(&along);
    let deepest = -0.25 * c.a_e / c.x_2e;
    let short = 1e-3;
    let [later, earlier] = [short, -short].map(|t| contact.dip(&along, t, deepest * short * short).place);
    vec![
        case.row("Suppl. I", "j = g'''").computed([k.g3]).beyond("by 50 digits", [JERK]),
        case.row("(57), (59)", "coefficient of t³ in F₁ at Q")
            .printed("j/6", [k.g3 / 6.0])
            .computed([of_q[3]])
            .within(1e-11)
            .agrees()
            .note("j has no printed number, and no masses, times or gaps are printed"),
        case.row("(50)", "ε_⊥/t² of the deepest neighbour along K⁻¹a⃗, a⃗·ê = a_ε")
            .printed("−¼ a_ε/x_2ε", [deepest])
            .computed([(later + earlier) / (2.0 * short * short)])
            .within(1e-3)
            .agrees(),
        case.row("(51), (52), (60)", "neighbours' part of the coefficient of t⁴, along K⁻¹a⃗")
            .printed("−⅛ a_ε²/x_2ε", [-most / 8.0])
            .computed([series[4] - of_q[4]])
            .within(1e-10)
            .misprint([-most / 16.0], "1/16: the least over ε of x_2ε ε² + ½a_ε ε t² is −a_ε² t⁴/(16 x_2ε)")
            .note("(52) leaves the snap of Q, of the same order, in its remainder; with it: −2.526229"),
        case.row("(52)", "coefficient of t⁴ in the gap")
            .computed([series[4]])
            .within(1e-10)
            .beyond("snap of Q/24 − a_ε²/(16 x_2ε)", [of_q[4] - most / 16.0]),
    ]
}

/// What holds the contact, and for how long.
fn holding(contact: &Contact) -> Result<Vec<Row>, InputError> {
    let case = &contact.case;
    let k = &contact.class.kinematics;
    let [one, two] = &contact.bodies;
    let mass = effective_inverse_mass([Some((&one.0, &one.1)), Some((&two.0, &two.1))], &k.points, &k.normal);
    let held = hold(case)?;
    Ok(vec![
        case.row("section 2", "time that the contact lasts")
            .printed("", [0.0])
            .computed([held.duration])
            .within(1e-9)
            .wrong(
                [0.140_769_145_833_336_8],
                "a finite normal force that does no work, from zero and back to zero, keeps F₁ = 0",
            )
            .note("with unit masses; the paper prints none"),
        case.row("section 4", "of rigidity, momentum and energy, how many are kept")
            .printed("", [2.0])
            .computed([count(held.kept)])
            .wrong(
                [3.0],
                "all three, by a finite force that lasts: along one line, with power λ g' = 0; the paper has instantaneous collisions",
            ),
        case.row(
            "section 4",
            "change of energy where rigidity and momentum are kept: 1 for some, 0 for none",
        )
        .printed("", [1.0])
        .computed([f64::from(u8::from(held.energy_error > 1e-14))])
        .among(1.0)
        .wrong([0.0], "none: 3e-16 of the energy in the run, by a finite force that lasts"),
        case.row("section 4", "slope of the force λ(t) that holds the contact")
            .computed([-k.g3 / mass])
            .beyond("|g'''|/(n·M·n)", [6.474_427_370_310_724]),
        case.row("section 4", "∫λ dt")
            .computed([held.impulse])
            .within(1e-9)
            .beyond("by 50 digits", [0.026_443_035_768_020_5]),
        case.row("type 2b*, section 4", "sign of g''' where v = a = 0, v_Q = v_P, one body no ellipsoid, in 3D")
            .printed("F₁(t, r_Q+(t)) < 0, t > 0:", [-1.0])
            .computed([sign(k.g3)])
            .narrow("a sufficient case; with slip two ellipsoids have it too, and in the plane"),
    ])
}

/// What a run finds that holds the contact.
struct Held {
    duration: f64,
    impulse: f64,
    energy_error: f64,
    /// Of rigidity, momentum and energy.
    kept: usize,
}

fn hold(case: &Case) -> Result<Held, InputError> {
    let changes = Changes { until: Some(1.0), sample: Some(0.0), ..Changes::default() };
    let mut running = Running::begin(case.prepared.subject.clone(), changes, |_| true)?;
    let mut memory = Memory::default();
    while running.step(&mut memory) {}
    let find = |kind| memory.events.iter().find(|event| event.kind == kind);
    let audit = running.engine.audit();
    let momentum = audit.linear_error_max.value.max(audit.angular_error_max.map_or(0.0, |worst| worst.value));
    let kept = [audit.gap_min >= -1e-14, momentum <= 1e-14, audit.energy_error_max.value <= 1e-14];
    let (begin, end) = (find(Kind::HoldBegin), find(Kind::HoldEnd));
    Ok(Held {
        duration: end.zip(begin).map_or(f64::NAN, |(end, begin)| end.time - begin.time),
        impulse: end.map_or(f64::NAN, |end| end.impulse),
        energy_error: audit.energy_error_max.value,
        kept: kept.iter().filter(|kept| **kept).count(),
    })
}

/// The gap before and after, in free flight.
fn gaps(contact: &Contact) -> Vec<Row> {
    let flights = contact.bodies.each_ref().map(|(body, state)| Flight::new(body, state, &Vector3::zeros()));
    let at = |t: f64| {
        let [one, two] = [0, 1].map(|i| (&contact.bodies[i].0.shape, flights[i].at(t).pose()));
        gap((one.0, &one.1), (two.0, &two.1)).map_or(f64::NAN, |found| found.gap)
    };
    let (mut low, mut high) = (0.2, 0.4);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if at(middle) < 0.0 { low = middle } else { high = middle }
    }
    let case = &contact.case;
    vec![
        case.row("Suppl. I", "gap at t = −0.1, −0.01, 0.01, 0.1 of free flight")
            .computed([-0.1, -0.01, 0.01, 0.1].map(at))
            .beyond(
                "by 50 digits",
                [0.0019358313278179, 2.5204621048e-6, -2.5704667239e-6, -0.0020464496971079],
            ),
        case.row("Suppl. I", "time at which free flight ends the overlap")
            .computed([low])
            .within(1e-12)
            .beyond("by 50 digits", [0.30316956821220]),
    ]
}

/// κ of (18), (19).
fn curvatures(contact: &Contact) -> Vec<Row> {
    let k = &contact.class.kinematics;
    let case = &contact.case;
    let principal = |h: &Matrix3<f64>| {
        let mut values: Vec<f64> = h.symmetric_eigenvalues().iter().copied().collect();
        values.sort_by(f64::total_cmp);
        // The least in size is that along the normal.
        vec![values[1], values[2]]
    };
    // P ∇²F P/|∇F| of the two implicit functions.
    let form = |gradient: Vector3<f64>, second: Matrix3<f64>| {
        let normal = gradient.normalize();
        let tangent = Matrix3::identity() - normal * normal.transpose();
        tangent * second * tangent / gradient.norm()
    };
    let x = k.points[0];
    let axes = Vector3::new(1.0, 2.0, 3.0);
    let quartic = form(
        x.zip_map(&axes, |x, a: f64| 4.0 * x.powi(3) / a.powi(4)),
        Matrix3::from_diagonal(&x.zip_map(&axes, |x, a: f64| 12.0 * x * x / a.powi(4))),
    );
    let turn = *contact.bodies[1].1.orientation.to_rotation_matrix().matrix();
    let squares = turn * Matrix3::from_diagonal(&Vector3::new(0.25, 1.0, 1.0)) * turn.transpose();
    let quadric = form(squares * k.arms[1] * 2.0, squares * 2.0);
    let shape = contact.bodies[0].0.shape;
    let ring = shape.curvature(&Vector3::new(0.0, 1.3, 1.1));
    vec![
        case.row("(18), (19)", "κ₁ at P, κ₂ at Q")
            .computed([principal(&k.curvature_1), principal(&k.curvature_2)].concat())
            .beyond("of F₁ and F₂", [principal(&quartic), principal(&quadric)].concat()),
        case.row("(18)", "least κ₁ on the ring x = 0 of body 1")
            .computed([principal(&ring)[0]])
            .among(1.0)
            .beyond("zero, where (18) has it strictly positive:", [0.0]),
    ]
}

/// How many places and spins of ellipsoids the command looks at.
const SAMPLES: u32 = 100_000;

/// n·v̇ ≤ 0 on free homogeneous ellipsoids of many proportions, at places and spins that fill their spaces evenly.
fn ellipsoids(case: &Case) -> Row {
    // Square roots of primes: fractional parts of their multiples are evenly spread.
    let steps = [2.0_f64, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0, 23.0].map(f64::sqrt);
    let mut positive = 0;
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
        if surface.normal.dot(&acceleration) > 1e-15 * size {
            positive += 1;
        }
    }
    case.row("type 2b*", "free homogeneous ellipsoids with n·v̇ > 0, of 10⁵ samples")
        .printed("n·v̇ ≤ 0:", [0.0])
        .computed([f64::from(positive)])
        .agrees()
        .note("footnote 4 leaves the proof to another publication; one is in the book")
}
