//! Sections 3.1 and 3.2 and Supplementary Data II: F₁ near the contact, coefficient by coefficient.

use carom::contact::kinematics::Kinematics;
use nalgebra::{Matrix3, Vector3};

use super::super::Row;
use super::super::scenes;
use super::contact::{Contact, moving, settled, sign};
use crate::InputError;

/// What the printed formulas are made of.
struct Letters {
    n: Vector3<f64>,
    u: Vector3<f64>,
    /// v̇_Q − v̇_P.
    acceleration: Vector3<f64>,
    spins: [Vector3<f64>; 2],
    rates: [Vector3<f64>; 2],
    /// H₁, Ḣ₁, Ḧ₁.
    bend: [Matrix3<f64>; 3],
    other_bend: Matrix3<f64>,
}

impl Letters {
    fn of(contact: &Contact) -> Self {
        let k = &contact.class.kinematics;
        let [one, two] = contact.bodies.each_ref().map(moving);
        let spins = [one.state.angular_velocity, two.state.angular_velocity];
        let rates = [one.derivatives.angular_acceleration, two.derivatives.angular_acceleration];
        let material = |i: usize| rates[i].cross(&k.arms[i]) + spins[i].cross(&spins[i].cross(&k.arms[i]));
        // A tensor fixed to a body that turns: Ḣ = [ω]H − H[ω].
        let (turn, turn_rate) = (spins[0].cross_matrix(), rates[0].cross_matrix());
        let h = k.curvature_1;
        let first = turn * h - h * turn;
        let second = turn_rate * h - h * turn_rate + turn * first - first * turn;
        Self {
            n: k.normal,
            u: k.slip,
            acceleration: material(1) - material(0),
            spins,
            rates,
            bend: [h, first, second],
            other_bend: k.curvature_2,
        }
    }

    fn h(&self, e: &Vector3<f64>) -> f64 {
        0.5 * e.dot(&(self.other_bend * e))
    }

    /// a·H₁·b, a·Ḣ₁·b or a·Ḧ₁·b.
    fn bent(&self, order: usize, a: &Vector3<f64>, b: &Vector3<f64>) -> f64 {
        a.dot(&(self.bend[order] * b))
    }

    /// (35), (75).
    fn a_e(&self, e: &Vector3<f64>) -> f64 {
        let ([w1, w2], [r1, r2], n, u) = (&self.spins, &self.rates, &self.n, &self.u);
        r1.cross(n).dot(e) + w1.dot(n) * w1.dot(e) + 2.0 * e.dot(n) * w1.dot(w2) - 2.0 * e.dot(w1) * w2.dot(n)
            + e.dot(&n.cross(r2))
            + n.dot(w2) * w2.dot(e)
            + self.bent(0, &self.acceleration, e)
            + 2.0 * self.bent(1, u, e)
            + 2.0 * self.bent(0, u, &w2.cross(e))
    }

    /// (72).
    fn v_2e(&self, e: &Vector3<f64>) -> f64 {
        self.bent(0, &self.spins[1].cross(e), e) + 0.5 * self.bent(1, e, e)
    }

    /// (73).
    fn v_3e(&self, e: &Vector3<f64>) -> f64 {
        let ([w1, w2], n) = (&self.spins, &self.n);
        let rate = w1.cross(n);
        self.h(e) * (self.bent(0, &w2.cross(&rate), e) + self.bent(1, n, e))
    }

    /// (74).
    fn v_4e(&self, e: &Vector3<f64>) -> f64 {
        0.5 * self.h(e).powi(2) * self.bent(1, &self.n, &self.n)
    }

    /// (76).
    fn a_2e(&self, e: &Vector3<f64>) -> f64 {
        let ([w1, w2], n, u, h) = (&self.spins, &self.n, &self.u, self.h(e));
        let across = |a: &Vector3<f64>, b: &Vector3<f64>| a.dot(b) - a.dot(n) * n.dot(b);
        let turned = w2.cross(e);
        let square = Matrix3::from_diagonal_element(w2.norm_squared()) - w2 * w2.transpose();
        -h * across(w1, w1) + 2.0 * h * across(w1, w2) - h * across(w2, w2)
            + 2.0 * h * self.bent(1, u, n)
            + 2.0 * h * self.bent(0, u, &w2.cross(n))
            + self.bent(0, &self.rates[1].cross(e), e)
            - e.dot(&(square * self.bend[0] * e))
            + 2.0 * self.bent(1, &turned, e)
            + self.bent(0, &turned, &turned)
            + h * self.bent(2, n, e)
            + 0.5 * self.bent(2, e, e)
    }

    /// (77), its first two terms in a bracket before ·H₁·ê: as printed the first is a vector.
    fn a_3e(&self, e: &Vector3<f64>) -> f64 {
        let (w2, n, h) = (&self.spins[1], &self.n, self.h(e));
        h * (self.bent(0, &(self.rates[1].cross(n) + w2 * w2.dot(n)), e)
            + 2.0 * self.bent(1, &w2.cross(e), n)
            + 2.0 * self.bent(1, &w2.cross(n), e)
            + self.bent(2, n, e))
    }

    /// (78).
    fn a_4e(&self, e: &Vector3<f64>) -> f64 {
        let (n, turned) = (&self.n, self.spins[1].cross(&self.n));
        let terms =
            2.0 * self.bent(1, &turned, n) + self.bent(0, &turned, &turned) + 0.5 * self.bent(2, n, n);
        self.h(e).powi(2) * terms
    }
}

pub fn rows() -> Result<Vec<Row>, InputError> {
    let contact = Contact::read(scenes::OVERLAPPING)?;
    let mut rows = standard_form(&contact);
    rows.extend(coefficients(&contact));
    rows.extend(eight(&contact));
    rows.extend(thresholds(&contact));
    Ok(rows)
}

/// (29) to (34), (66).
fn standard_form(contact: &Contact) -> Vec<Row> {
    let case = &contact.case;
    let (k, s): (&Kinematics, _) = (&contact.class.kinematics, &contact.class.scales);
    let letters = Letters::of(contact);
    let (n, u, [w1, w2]) = (&letters.n, &k.relative_velocity, &letters.spins);
    let directions = contact.directions();
    let expanded = directions.map(|e| contact.expanded(&e).0);
    let of_q = contact.series_of_point::<4>();
    let a = n.dot(&letters.acceleration) + 2.0 * w1.cross(n).dot(u) + letters.bent(0, u, u);
    let x_2e = directions.map(|e| letters.h(&e) + 0.5 * letters.bent(0, &e, &e));
    let v_e = directions.map(|e| n.cross(&(w2 - w1)).dot(&e) + letters.bent(0, u, &e));
    let twice = directions.map(|e| n.cross(&(w2 - w1)).dot(&e) + 2.0 * letters.bent(0, u, &e));

    let e = directions[1];
    let (half, polynomials, jerk) = {
        let (p, j) = contact.expanded(&e);
        (0.5, p, j)
    };
    let sum = |coefficients: &[f64; 5]| coefficients.iter().rev().fold(0.0, |sum, c| sum * half + c);
    let whole = sum(&polynomials[0])
        + half * sum(&polynomials[1])
        + 0.5 * half * half * sum(&polynomials[2])
        + jerk * half.powi(3) / 6.0;
    let h = letters.h(&e);
    let length = half.hypot(h * half * half);
    let [p0, p1, p2] = &polynomials;
    let printed = p1[0] * half
        + 0.5 * p2[0] * half * half
        + jerk * half.powi(3) / 6.0
        + p0[2] * half * half
        + (p1[1] * half + p1[2] * half * half + p1[3] * half.powi(3)) * half
        + 0.5 * (p2[1] * length + p2[2] * half * half) * half * half;
    let corrected = contact.model(&e).map_or(f64::NAN, |model| model.distance(half, half));
    let exact = contact.coefficients(&e);
    let small = 0.01;
    let odd = (contact.distance(&e, small, 0.0) - contact.distance(&e, -small, 0.0)) / (2.0 * small.powi(3));
    vec![
        case.row("(29), (67)", "x").printed("", [0.0]).computed([settled(of_q[0], s.length)]).agrees(),
        case.row("(30), (68)", "v")
            .printed("n₁·(v_Q − v_P)", [settled(n.dot(u), s.speed)])
            .computed([settled(of_q[1], s.speed)])
            .agrees(),
        case.row("(31), (69)", "a")
            .printed("n₁·(v̇_Q−v̇_P) + 2(ω₁×n₁)·(v_Q−v_P) + (v_Q−v_P)·H₁·(v_Q−v_P)", [settled(a, s.acceleration)])
            .computed([settled(2.0 * of_q[2], s.acceleration)])
            .among(s.acceleration)
            .agrees(),
        case.row("(32)", "x_ε along w and across it")
            .printed("", [0.0; 2])
            .computed([0, 1].map(|i| settled(expanded[i][0][1], 10.0)))
            .agrees(),
        case.row("(33), (43), (70)", "x_2ε along w and across it")
            .printed("h + ½ê·H₁·ê", x_2e)
            .computed([0, 1].map(|i| expanded[i][0][2]))
            .agrees(),
        case.row("(34), (71)", "v_ε along w and across it")
            .printed("n₁×(ω₂−ω₁)·ê + (v_Q−v_P)·H₁·ê", v_e)
            .computed([0, 1].map(|i| expanded[i][1][1]))
            .agrees(),
        case.row("(42)", "v_ε along w and across it")
            .printed("[n₁×(ω₂−ω₁) + 2(v_Q−v_P)·H₁]·ê", twice)
            .computed([0, 1].map(|i| expanded[i][1][1]))
            .misprint(v_e, "no factor 2, as in (34)"),
        case.row("(36), (65)", "h along w and across it: ε_∥/ε_⊥² of body 2")
            .printed("½ê·H₂·ê", directions.map(|e| letters.h(&e)))
            .computed(directions.map(|e| standing_off(contact, &e)))
            .within(1e-5)
            .agrees(),
        case.row("(66)", "F₁ at ε_⊥ = t = ½ across w")
            .printed(
                "x + vt + ½at² + ⅙jt³ + (x_ε ε_⊥ + x_2ε ε_⊥²) + (v_ε ε_⊥ + v_2ε ε_⊥² + v_3ε ε_⊥³)t + ½(a_ε ε + a_2ε ε_⊥²)t²",
                [printed],
            )
            .computed([whole])
            .misprint(
                [corrected],
                "ε_⊥ for ε after a_ε; against (28) it lacks v_4ε ε_⊥⁴ t, ½a_3ε ε_⊥³ t² and ½a_4ε ε_⊥⁴ t²",
            )
            .note("j of the model (20), v_3ε and a_2ε as corrected; without ⅙j_ε t³, of which no formula and no power of ε is printed"),
        case.row("(28)", "x_3ε across w, which (28) and (66) leave out")
            .computed([odd])
            .within(1e-3)
            .beyond("(D³d₁[ê,ê,ê] + D³d₂[ê,ê,ê])/6", [exact.x_3e]),
    ]
}

/// How far the second body's surface bends away from the tangent plane, over the square of the distance.
fn standing_off(contact: &Contact, e: &Vector3<f64>) -> f64 {
    let (body, state) = &contact.bodies[1];
    let k = &contact.class.kinematics;
    let off = |small: f64| {
        let local = |c: f64| {
            state
                .orientation
                .inverse_transform_vector(&(k.points[1] + e * small + k.normal * c - state.position))
        };
        let (mut low, mut high) = (0.0, 10.0 * small * small);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if body.shape.implicit(&local(middle)) > 0.0 { low = middle } else { high = middle }
        }
        low / (small * small)
    };
    // Both ways, so that what is odd cancels.
    0.5 * (off(1e-3) + off(-1e-3))
}

/// (35), (72) to (78), along w and across it.
fn coefficients(contact: &Contact) -> Vec<Row> {
    let case = &contact.case;
    let letters = Letters::of(contact);
    let directions = contact.directions();
    let expanded = directions.map(|e| contact.expanded(&e).0);
    let found = |order: usize, power: usize| [0, 1].map(|i| expanded[i][order][power]);
    let printed = |formula: &dyn Fn(&Vector3<f64>) -> f64| directions.each_ref().map(formula);
    let models = directions.map(|e| contact.model(&e));
    let right = |part: &dyn Fn(&carom::contact::coefficients::Model) -> f64| {
        models.each_ref().map(|model| model.as_ref().map_or(f64::NAN, part))
    };
    vec![
        case.row("(35), (75)", "a_ε along w and across it")
            .printed(
                "(ω̇₁×n₁)·ê + (ω₁·n₁)(ω₁·ê) + 2(ê·n₁)(ω₁·ω₂) − 2(ê·ω₁)(ω₂·n₁) + ê·(n₁×ω̇₂) + (n₁·ω₂)(ω₂·ê) + \
                 (v̇_Q−v̇_P)·H₁·ê + 2(v_Q−v_P)·Ḣ₁·ê + 2(v_Q−v_P)·H₁·(ω₂×ê)",
                printed(&|e| letters.a_e(e)),
            )
            .computed(found(2, 1))
            .agrees()
            .note("of the model (20); the distance itself has D³d₁[u,u,ê] besides"),
        case.row("(72)", "v_2ε along w and across it")
            .printed("(ω₂×ê)·H₁·ê + ½ê·Ḣ₁·ê", printed(&|e| letters.v_2e(e)))
            .computed(found(1, 2))
            .agrees()
            .note("((ω₂−ω₁)×ê)·H₁·ê; the distance itself has ½D³d₁[ê,ê,u] besides"),
        case.row("(73)", "v_3ε along w and across it")
            .printed("h(ω₂×ṅ₁)·H₁·ê + h n₁·Ḣ₁·ê", printed(&|e| letters.v_3e(e)))
            .computed(found(1, 3))
            .misprint(right(&|m| m.v_3e), "n₁ for ṅ₁: h((ω₂−ω₁)×n₁)·H₁·ê"),
        case.row("(74)", "v_4ε along w and across it")
            .printed("½h² n₁·Ḣ₁·n₁", printed(&|e| letters.v_4e(e)))
            .computed(found(1, 4))
            .among(1.0)
            .agrees()
            .note("zero always"),
        case.row("(76)", "a_2ε along w and across it")
            .printed(
                "−hω₁·(I−n₁n₁)·ω₁ + 2hω₁·(I−n₁n₁)·ω₂ − hω₂·(I−n₁n₁)·ω₂ + 2h(v_Q−v_P)·Ḣ₁·n₁ + 2h(v_Q−v_P)·H₁·(ω₂×n₁) + \
                 (ω̇₂×ê)·H₁·ê − ê·[(ω₂²I−ω₂ω₂)·H₁]·ê + 2(ω₂×ê)·Ḣ₁·ê + (ω₂×ê)·H₁·(ω₂×ê) + h n₁·Ḧ₁·ê + ½ê·Ḧ₁·ê",
                printed(&|e| letters.a_2e(e)),
            )
            .computed(found(2, 2))
            .misprint(right(&|m| m.a_2e), "h n₁·Ḧ₁·ê is of order ε³ and belongs to (77)"),
        case.row("(77)", "a_3ε along w and across it")
            .printed(
                "h(ω̇₂×n₁) + h(ω₂·n₁)ω₂·H₁·ê + 2h(ω₂×ê)·Ḣ₁·n₁ + 2h(ω₂×n₁)·Ḣ₁·ê + h n₁·Ḧ₁·ê",
                printed(&|e| letters.a_3e(e)),
            )
            .computed(found(2, 3))
            .misprint(
                right(&|m| m.a_3e),
                "the first term lacks ·H₁·ê, with which it is evaluated here, and 2h(ω₂×ê)·H₁·(ω₂×n₁) is missing",
            ),
        case.row("(78)", "a_4ε along w and across it")
            .printed(
                "2h²(ω₂×n₁)·Ḣ₁·n₁ + h²(ω₂×n₁)·H₁·(ω₂×n₁) + ½h² n₁·Ḧ₁·n₁",
                printed(&|e| letters.a_4e(e)),
            )
            .computed(found(2, 4))
            .agrees()
            .note("h²((ω₂−ω₁)×n₁)·H₁·((ω₂−ω₁)×n₁)"),
    ]
}

/// (41), (45), (46): where the second body would enter, along w.
fn eight(contact: &Contact) -> Vec<Row> {
    let case = &contact.case;
    let k = &contact.class.kinematics;
    let [e, _] = contact.directions();
    let c = contact.coefficients(&e);
    let rate = -0.5 * c.v_e / c.x_2e;
    let short = 1e-3;
    let [after, before] = [short, -short].map(|t| contact.dip(&e, t, rate * t));
    let inverse = contact.inverse_curvature();
    let deepest = -(inverse * k.w);
    // The deepest point of all, exactly, a little before and after: along the direction of −K⁻¹w.
    let along = deepest.normalize();
    let [later, earlier] = [short, -short].map(|t| contact.dip(&along, t, deepest.norm() * t).place);
    vec![
        case.row("(41)", "ε_⊥/t besides Q where F₁ is that of Q, along w")
            .printed("−v_ε/x_2ε", [2.0 * rate])
            .computed([(after.root - before.root) / (2.0 * short)])
            .within(1e-4)
            .agrees()
            .note("for each sign of t the ellipse ½ε·Kε + t w·ε = 0 through Q; together the figure eight"),
        case.row("(44), (45)", "ε_⊥/t of the deepest neighbour along w")
            .printed("−v_ε/(2x_2ε)", [rate])
            .computed([(after.place - before.place) / (2.0 * short)])
            .within(1e-4)
            .agrees()
            .note("over all ê an ellipse of half the size"),
        case.row("(46)", "f/t² there")
            .printed("−v_ε²/(4x_2ε)", [-c.v_e * c.v_e / (4.0 * c.x_2e)])
            .computed([(after.depth + before.depth) / (2.0 * short * short)])
            .within(1e-4)
            .agrees(),
        case.row("(45)", "velocity of the deepest point of all over body 2")
            .computed((along * ((later - earlier) / (2.0 * short))).as_slice())
            .within(1e-4)
            .beyond(
                "−K⁻¹w, on the smaller ellipse opposite to Q, the centre of the larger",
                deepest.as_slice(),
            ),
    ]
}

/// (47), (56) to (58), sections 3.2.3 and 4.
fn thresholds(contact: &Contact) -> Vec<Row> {
    let case = &contact.case;
    let (k, s) = (&contact.class.kinematics, &contact.class.scales);
    let series = contact.series::<4>();
    let inverse = contact.inverse_curvature();
    let [first, second] = contact.directions();
    // Over every direction v_ε²/(2x_2ε): the greatest is wᵀK⁻¹w, the least zero.
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for i in 0..3600 {
        let angle = f64::from(i) * std::f64::consts::PI / 3600.0;
        let c = contact.coefficients(&(first * angle.cos() + second * angle.sin()));
        let threshold = c.v_e * c.v_e / (2.0 * c.x_2e);
        (least, most) = (least.min(threshold), most.max(threshold));
    }
    let twice = k.w + k.curvature_1 * k.slip;
    let greatest = k.w.dot(&(inverse * k.w));
    let with_42 = twice.dot(&(inverse * twice));
    let other = contact.exchanged();
    let u = k.slip;
    let across = contact.coefficients(&k.rolling[1]);
    let g3 = across.j + 3.0 * across.a_e + 6.0 * across.v_2e + 6.0 * across.x_3e;
    let of_q = contact.series_of_point::<4>();
    vec![
        case.row("(47), (56)", "coefficient of t² in F₁, least over ê")
            .printed("½a − v_ε²/(4x_2ε)", [0.5 * k.a - 0.5 * greatest])
            .computed([series[2]])
            .within(1e-11)
            .agrees()
            .note(
                "to the order that (47) states; the t³ shown in it is not all of that order unless v_ε = 0",
            ),
        case.row("(42), (56)", "coefficient of t² in F₁, least over ê")
            .printed("½a − v_ε²/(4x_2ε) with (42)", [0.5 * k.a - 0.5 * with_42])
            .computed([series[2]])
            .within(1e-11)
            .misprint([0.5 * k.a - 0.5 * greatest], "with v_ε of (34)"),
        case.row("(58)", "F₁/t² as t → 0, least over ê, where v = a = 0, v_ε ≠ 0")
            .printed("−v_ε²/(4x_2ε)", [-0.5 * greatest])
            .computed([series[2]])
            .within(1e-11)
            .agrees()
            .note("negative before and after: such a contact is not reached, as type 2a says"),
        case.row("(57)", "coefficient of t³ in F₁ at Q, where v = a = 0")
            .printed("j/6", [contact.coefficients(&first).j / 6.0])
            .computed([of_q[3]])
            .within(1e-10)
            .agrees()
            .note("j of F₁ itself, not of the model (20)"),
        case.row("(47), (58)", "g''' where v_ε ≠ 0")
            .computed([6.0 * series[3]])
            .within(1e-10)
            .beyond("j + 3a_ε + 6v_2ε + 6x_3ε at ε = −K⁻¹w t, not j alone", [g3]),
        case.row("3.2.3", "what a must exceed for all ê, 3600 of them")
            .printed("v_ε²/(2x_2ε)", [most])
            .computed([k.threshold])
            .within(1e-5)
            .agrees()
            .note("wᵀK⁻¹w, along ê ∥ K⁻¹w"),
        case.row("3.2.3, 4", "a of the case that is not decided")
            .printed("(v_ε²/(2x_2ε))_min", [settled(least, s.acceleration)])
            .computed([k.a - 2.0 * series[2]])
            .within(1e-11)
            .misprint([greatest], "max for min: the least over ê is zero always"),
        case.row("type 1, 2a", "sign of g'' where 0 ≤ a < v_ε²/(2x_2ε) for some ê")
            .printed("F₁(t, r_Q+(t)) < 0, t < 0 and t > 0:", [-1.0])
            .computed([sign(settled(k.g2, s.acceleration))])
            .agrees(),
        case.row("(31)", "a with the bodies exchanged")
            .computed([settled(other.kinematics.a, s.acceleration)])
            .beyond(
                "a − 2w·u + u·Ku: a and v_ε belong to an order of the bodies, g', g'', g''' to none",
                [k.a - 2.0 * k.w.dot(&u) + u.dot(&((k.curvature_1 + k.curvature_2) * u))],
            ),
    ]
}
