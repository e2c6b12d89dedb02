//! `carom paper`: every row's verdict, its numbers against the reference, its JSON, and its text as stored.
// Helpers of tests fail the test, as tests themselves do.
#![allow(clippy::unwrap_used)]

mod golden;

use std::collections::BTreeMap;
use std::process::Command;

use golden::Run;
use serde_json::Value;

const NAMES: [&str; 4] =
    ["treschev-zubelevich", "stanescu-pandrea", "dragna-pandrea-stanescu", "palffy-muhoray"];

const CASES: &str = include_str!("../../../cases/laws/reference.json");

fn paper(arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_carom"));
    // From anywhere: the scenes travel with the program.
    command.arg("paper").args(arguments).current_dir(env!("CARGO_TARGET_TMPDIR"));
    command.output().unwrap().into()
}

fn rows(name: &str) -> Vec<Value> {
    let run = paper(&[name, "--json"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{name}");
    run.json()["rows"].as_array().unwrap().clone()
}

/// The row about a quantity in a scene.
#[track_caller]
fn find<'a>(rows: &'a [Value], scene: &str, quantity: &str) -> &'a Value {
    let fits = |row: &&Value| row["scene"] == format!("{scene}.toml") && row["quantity"] == quantity;
    let mut found = rows.iter().filter(fits);
    let row = found.next().unwrap_or_else(|| panic!("no row '{quantity}' of {scene}"));
    assert!(found.next().is_none(), "two rows '{quantity}' of {scene}");
    row
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

#[track_caller]
fn close(found: &Value, expected: &[f64], scale: f64) {
    let found = numbers(found);
    let size = expected.iter().fold(scale, |m: f64, x| m.max(x.abs()));
    let near = found.len() == expected.len()
        && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-12 * size);
    assert!(near, "{found:?} is not {expected:?}");
}

/// What the reference expects of a case.
fn reference(id: &str) -> Value {
    let file: Value = serde_json::from_str(CASES).unwrap();
    let case = file["cases"].as_array().unwrap().iter().find(|case| case["id"] == id).unwrap();
    case["expected"].clone()
}

/// What the reference expects of a law, with given coefficients of restitution.
fn by_law(id: &str, k: &[f64], law: &str) -> Value {
    let expected = reference(id);
    let laws = expected["laws"].as_array().unwrap();
    laws.iter().find(|entry| numbers(&entry["k"]) == k).unwrap()[law].clone()
}

fn pick(value: &Value, indices: &[usize]) -> Vec<f64> {
    let all = numbers(value);
    indices.iter().map(|&i| all[i]).collect()
}

fn negated(value: &Value) -> Vec<f64> {
    numbers(value).iter().map(|x| -x).collect()
}

#[test]
fn every_verdict() {
    for (name, expected) in [
        (NAMES[0], [("agrees", 16), ("beyond", 13), ("misprint", 4), ("wrong", 0)]),
        (NAMES[1], [("agrees", 3), ("beyond", 4), ("misprint", 7), ("wrong", 10)]),
        (NAMES[2], [("agrees", 0), ("beyond", 9), ("misprint", 7), ("wrong", 6)]),
        (NAMES[3], [("agrees", 7), ("beyond", 3), ("misprint", 7), ("wrong", 9)]),
    ] {
        let rows = rows(name);
        let mut verdicts: BTreeMap<&str, usize> = expected.iter().map(|(verdict, _)| (*verdict, 0)).collect();
        for row in &rows {
            *verdicts.get_mut(row["verdict"].as_str().unwrap()).unwrap() += 1;
        }
        assert_eq!(verdicts, BTreeMap::from(expected), "{name}");
        for row in &rows {
            let verdict = row["verdict"].as_str().unwrap();
            assert_eq!(row["erratum"].is_string(), ["misprint", "wrong"].contains(&verdict), "{row}");
            assert_eq!(row["closed_form"].is_object(), verdict == "beyond", "{row}");
            let silent = row["printed"]["text"].is_null() && row["printed"]["value"].is_null();
            assert_eq!(silent, verdict == "beyond", "{row}");
            let nothing = row["computed"]["text"].is_null() && row["computed"]["value"].is_null();
            assert!(!nothing && !row["equation"].as_str().unwrap().is_empty(), "{row}");
            // Where both sides are numbers, the verdict is what they say.
            let expected = if verdict == "beyond" { &row["closed_form"] } else { &row["printed"] };
            let (one, two) = (numbers(&expected["value"]), numbers(&row["computed"]["value"]));
            if !one.is_empty() && !two.is_empty() {
                let size = one.iter().chain(&two).fold(0.0, |m: f64, x| m.max(x.abs()));
                let same =
                    one.len() == two.len() && one.iter().zip(&two).all(|(a, b)| (a - b).abs() <= 1e-8 * size);
                let energy = row["quantity"].as_str().unwrap().starts_with("change of energy");
                assert!(same == ["agrees", "beyond"].contains(&verdict) || energy, "{row}");
            }
        }
    }
}

#[test]
fn the_ball_as_in_the_reference() {
    let rows = rows(NAMES[0]);
    let of = |scene: &str, quantity: &str| find(&rows, scene, quantity)["computed"]["value"].clone();
    let printed = |scene: &str, quantity: &str| find(&rows, scene, quantity)["printed"]["value"].clone();

    let elastic = reference("p1_wall_solid_mu1.0");
    let wall = "tz_rolling_ball_elastic";
    close(&of(wall, "v₁⁺"), &pick(&elastic["v_plus"], &[0]), 0.0);
    close(&of(wall, "v₂⁺"), &pick(&elastic["v_plus"], &[1]), 0.0);
    close(&of(wall, "ω₃⁺"), &pick(&elastic["v_plus"], &[4]), 0.0);
    close(&of(wall, "ω₁⁺, ω₂⁺: it rolls on"), &pick(&elastic["v_plus"], &[2, 3]), 0.0);
    let p = |indices: &[usize]| pick(&elastic["P"], indices).iter().map(|x| 0.0009 * x).collect::<Vec<_>>();
    close(&of(wall, "entries (1,1) and (4,4) of 2J̃ P"), &p(&[0, 18]), 0.0);
    let entries = "entries (2,2), (3,3), (3,5), (2,3), (3,2) of 2J̃ P, coordinates (v₁, v₂, ω₁, ω₂, ω₃)";
    close(&of(wall, entries), &p(&[6, 12, 14, 7, 11]), 0.0);
    let redundant = reference("p1_wall_6dof_redundant_mu1.0");
    close(
        &of(wall, "dimension of the image of P, with B for the floor and the wall"),
        &numbers(&redundant["rank_B"]),
        0.0,
    );
    close(&of(wall, "change of energy at μ = 1"), &numbers(&elastic["dT"]), 0.3);

    let damped = reference("p1_wall_solid_mu0.5");
    let wall = "tz_rolling_ball";
    let projected = "v₁⁺, v₂⁺, ω₃⁺ at μ = 0.5 by the projector";
    close(&of(wall, projected), &pick(&damped["v_plus"], &[0, 1, 4]), 0.0);
    close(&printed(wall, projected), &pick(&damped["v_plus"], &[0, 1, 4]), 0.0);
    close(&of(wall, "change of energy at μ = 0.5"), &numbers(&damped["dT"]), 0.0);

    let floor = "tz_thrown_ball";
    for (id, velocity, spin) in
        [("p1_floor_solid_mu1.0", "v⁺", "ω⁺"), ("p1_floor_solid_mu0.5", "v⁺ at μ = 0.5", "ω⁺ at μ = 0.5")]
    {
        let expected = reference(id);
        close(&of(floor, velocity), &pick(&expected["v_plus"], &[0, 1, 2]), 0.0);
        close(&of(floor, spin), &pick(&expected["v_plus"], &[3, 4, 5]), 0.0);
        close(
            &of(floor, "friction coefficient that the floor needs"),
            &numbers(&expected["min_friction_coefficient"]),
            0.0,
        );
    }

    let pendulum = reference("p1_pendulum_solid_mu1");
    let bounces = &pendulum["bounces"];
    let first = pick(&bounces[0]["v_plus"], &[0, 2, 4]);
    close(&of("tz_pendulum", "v₁⁺, v₃⁺, ω₂⁺ of the first bounce"), &first, 0.0);
    let places = [numbers(&bounces[1]["x"]), numbers(&bounces[2]["x"])].concat();
    close(&of("tz_pendulum", "where it lands first and second"), &places, 0.0);
    close(&of("tz_pendulum", "period"), &numbers(&bounces[2]["t"]), 0.0);
    close(
        &of("tz_pendulum", "friction coefficient that the floor needs"),
        &numbers(&pendulum["min_friction_coefficient"]),
        0.0,
    );

    let garwin = reference("p1_garwin_solid_g0");
    let ratio = |k: usize| vec![numbers(&garwin["sequence"][k]["v_plus"])[0] / 2.0];
    close(&of("tz_superball_floor", "v₁/v₀ off the floor"), &ratio(0), 0.0);
    close(&of("tz_superball_table", "v₁/v₀ off the table's underside"), &ratio(1), 0.0);
    close(&of("tz_superball_floor", "v₁/v₀ off the floor again"), &ratio(2), 0.0);
}

#[test]
fn the_ellipsoid_as_in_the_reference() {
    let rows = rows(NAMES[1]);
    let of = |scene: &str, quantity: &str| find(&rows, scene, quantity)["computed"]["value"].clone();
    let printed = |scene: &str, quantity: &str| find(&rows, scene, quantity)["printed"]["value"].clone();

    let overlap = reference("p2_gap_penetrating");
    let cut = "gap with the centre at Z₀ = 1: the plane cuts the body";
    close(&of("sp_horizontal_plane", cut), &numbers(&overlap["gap"]), 0.0);
    let distances = [numbers(&overlap["paper_dist_1"]), numbers(&overlap["paper_dist_2"])].concat();
    close(&printed("sp_horizontal_plane", cut), &distances, 0.0);
    let apart = "gap with the centre at Z₀ = 2: apart";
    close(&of("sp_horizontal_plane", apart), &numbers(&reference("p2_gap_separated")["gap"]), 0.0);
    let single = by_law("p2_horizontal_spheroid_paper", &[0.5], "poisson_lcp");
    let three = [numbers(&single["p"]), numbers(&single["p"]), numbers(&single["p"])].concat();
    close(
        &of(
            "sp_horizontal_plane",
            "“the three coefficients are equal”: impulse by Newton's, Poisson's and the energetic one",
        ),
        &three,
        0.0,
    );

    let oblique = reference("p2_oblique_spheroid_paper");
    close(&of("sp_oblique_plane", "touching point"), &numbers(&oblique["contacts"][0]["point_space"]), 1.0);

    let (scene, id) = ("sp_two_planes", "p2_two_planes_sec6_corrected");
    let section = reference(id);
    close(&of(scene, "J"), &numbers(&section["J"]), 0.0);
    close(&of(scene, "X₀, Y₀ of simultaneous contact"), &pick(&section["R0"], &[0, 1]), 0.0);
    let pitfall = reference("p2_two_planes_frame_pitfall");
    close(&printed(scene, "g₁₁, g₂₂"), &numbers(&pitfall["g_ii_wrong_fixed_axes"]), 0.0);
    close(&of(scene, "g₁₁, g₂₂"), &pick(&pitfall["g_ij_correct"], &[0, 3]), 0.0);
    close(&printed(scene, "g₁₁, g₁₂, g₂₂"), &pick(&pitfall["g_ij_printed_J"], &[0, 1, 3]), 0.0);
    close(&of(scene, "g₁₁, g₁₂, g₂₂"), &pick(&pitfall["g_ij_correct"], &[0, 1, 3]), 0.0);
    let coupled = by_law(id, &[1.0, 1.0], "coupled_newton");
    let decoupled = by_law(id, &[1.0, 1.0], "decoupled_eq23_signfixed");
    let alone = "P, each contact by itself, k = 1";
    close(&printed(scene, alone), &negated(&decoupled["p"]), 0.0);
    close(&of(scene, alone), &numbers(&decoupled["p"]), 0.0);
    close(&printed(scene, "P, k = 1"), &numbers(&decoupled["p"]), 0.0);
    close(&of(scene, "P, k = 1"), &numbers(&coupled["p"]), 0.0);
    close(&printed(scene, "v_n after, k = 1"), &numbers(&decoupled["y_plus"]), 0.0);
    close(&of(scene, "v_n after, k = 1"), &numbers(&coupled["y_plus"]), 0.0);
    close(&printed(scene, "change of energy, k = 1"), &numbers(&decoupled["dT"]), 0.0);
    close(&of(scene, "change of energy, k = 1"), &numbers(&coupled["dT"]), numbers(&section["T_minus"])[0]);
    let unequal = "“the three coefficients are equal”: P, k = (0.8, 0.3)";
    close(&printed(scene, unequal), &numbers(&by_law(id, &[0.8, 0.3], "coupled_newton")["p"]), 0.0);
    close(&of(scene, unequal), &numbers(&by_law(id, &[0.8, 0.3], "poisson_lcp")["p"]), 0.0);

    let aligned = by_law("p2_two_planes_aligned", &[0.8, 0.3], "decoupled_eq23_signfixed");
    close(&of("sp_two_planes_aligned", "P where g₁₂ = 0, k = (0.8, 0.3)"), &numbers(&aligned["p"]), 0.0);

    let id = "p2_two_oblique_triaxial";
    let gained = by_law(id, &[1.0, 1.0], "decoupled_eq23_signfixed");
    close(&printed("sp_two_oblique_planes", "change of energy, k = 1"), &numbers(&gained["dT"]), 10.0);
    let between = "g₁₂ between oblique planes";
    close(&of("sp_two_oblique_planes", between), &pick(&reference(id)["g_ij"], &[1]), 0.1);
    let ranks = &reference("p2_max_independent_contacts")["rank"];
    let expected = ["sphere", "spheroid", "triaxial"].map(|shape| ranks[shape].as_f64().unwrap());
    let contacts = "independent contacts of a sphere, a spheroid, an ellipsoid among eight planes";
    close(&of("sp_two_oblique_planes", contacts), &expected, 0.0);

    let (id, k) = ("p2_corner_spheroid", [0.9, 0.5, 0.2]);
    let separations = |law| numbers(&by_law(id, &k, law)["y_plus"]);
    let after = "v_n after, k = (0.9, 0.5, 0.2)";
    let corner: Vec<&Value> =
        rows.iter().filter(|row| row["quantity"].as_str().unwrap().ends_with(after)).collect();
    close(&corner[0]["printed"]["value"], &separations("decoupled_eq23_signfixed"), 0.0);
    close(&corner[0]["computed"]["value"], &separations("coupled_newton"), 0.0);
    close(&corner[1]["computed"]["value"], &separations("poisson_lcp"), 0.0);
}

#[test]
fn the_frames_as_in_the_reference() {
    let rows = rows(NAMES[2]);
    let of = |scene: &str, quantity: &str| find(&rows, scene, quantity)["computed"]["value"].clone();
    let (scene, id) = ("dps_hinged_frames", "p3_hinged_generic");
    let generic = reference(id);
    close(&of(scene, "C₂A₁"), &numbers(&generic["C2A"][0]), 0.0);
    close(&of(scene, "first component of C₁A₃ × n₃"), &pick(&generic["U1"], &[11]), 0.0);
    close(&of(scene, "C₂A₂ × n₂"), &pick(&generic["U2"], &[10, 13, 16]), 0.0);
    close(&of(scene, "inertia of body 2 about its hinge"), &numbers(&generic["M2red"]), 0.0);
    let sum = "G₁ + G₂ (upper triangle by rows), each body with its own wrenches";
    close(&of(scene, sum), &pick(&generic["G_sum"], &[0, 1, 2, 4, 5, 8]), 0.0);
    close(&of(scene, "rank of G₁ + G₂"), &numbers(&generic["rank"]), 0.0);
    let kernel = numbers(&generic["kernel_of_G_sum"]);
    let found = numbers(&of(scene, "kernel of G₁ + G₂, impulses that move nothing"));
    let scale = found[0] / kernel[0];
    assert!(found.iter().zip(&kernel).all(|(a, b)| (a - scale * b).abs() < 1e-12), "{found:?}");
    let equal = by_law(id, &[0.6, 0.6, 0.6], "newton_equality_pinv");
    close(&of(scene, "−v₁₂ₙ after, k = 0.6"), &negated(&equal["v12n_plus"]), 0.0);
    let unequal = by_law(id, &[0.8, 0.5, 0.2], "newton_lcp");
    let after = "−v₁₂ₙ after by newton_lcp, k = (0.8, 0.5, 0.2)";
    close(&of(scene, after), &negated(&unequal["v12n_plus"]), 0.0);
    assert_eq!(by_law(id, &[0.8, 0.5, 0.2], "newton_equality_pinv")["consistent"], false);
    let same = find(
        &rows,
        scene,
        "“any coefficient of restitution gives the same”: change of energy, k = (0.6, 0.3, 0.6)",
    );
    let change = |law| numbers(&by_law(id, &[0.6, 0.3, 0.6], law)["dT"]);
    close(&same["printed"]["value"], &change("newton_equality_pinv"), 0.0);
    close(&same["computed"]["value"], &change("poisson_lcp"), 0.0);

    let (scene, id) = ("dps_singular_frames", "p3_singular_example_unit_normals");
    close(&of(scene, "rank of G₁ + G₂"), &numbers(&reference(id)["rank"]), 0.0);
    let equal = by_law(id, &[0.5, 0.5, 0.5], "newton_lcp");
    close(&of(scene, "−v₁₂ₙ after, k = 0.5"), &negated(&equal["v12n_plus"]), 0.0);
    close(&of(scene, "P₁ + P₃, unit normals, k = 0.5"), &[numbers(&equal["P"]).iter().sum()], 0.0);
    let unequal = by_law(id, &[0.8, 0.5, 0.3], "newton_lcp");
    let after = "−v₁₂ₙ after by newton_lcp, k = (0.8, 0.5, 0.3)";
    close(&of(scene, after), &negated(&unequal["v12n_plus"]), 0.0);

    let (scene, id) = ("dps_cylindrical_frames", "p3_cylindrical_regular");
    close(
        &of(scene, "“cylindrical”: rank of G₁ + G₂ on cylindrical joints"),
        &numbers(&reference(id)["rank"]),
        0.0,
    );
    let unique = by_law(id, &[0.6, 0.6, 0.6], "newton_equality_pinv");
    close(&of(scene, "P by (36) as printed, k = 0.6, on cylindrical joints"), &numbers(&unique["P"]), 0.0);
    let rank = numbers(&reference("p3_spherical_regular")["rank"]);
    close(&of("dps_spherical_frames", "rank of G₁ + G₂ on ball joints"), &rank, 0.0);
}

#[test]
fn the_paradox_as_in_the_reference() {
    let rows = rows(NAMES[3]);
    let of = |scene: &str, quantity: &str| find(&rows, scene, quantity)["computed"]["value"].clone();
    let printed = |scene: &str, quantity: &str| find(&rows, scene, quantity)["printed"]["value"].clone();
    let file: Value = serde_json::from_str(include_str!("../../../cases/contacts/classify.json")).unwrap();
    let case = |k: usize| &file["cases"][k];

    let (scene, paper) = ("paradox", case(0));
    close(&of(scene, "contact point P"), &numbers(&paper["point"]), 0.0);
    close(&of(scene, "normal n₁"), &numbers(&paper["normal"]), 0.0);
    close(&of(scene, "j = g'''"), &numbers(&paper["g3"]), 0.0);
    close(&of(scene, "coefficient of t³ in the gap"), &pick(&paper["series"], &[3]), 0.0);
    close(&of(scene, "coefficient of t⁴ in the gap"), &pick(&paper["series"], &[4]), 0.0);
    close(&printed(scene, "coefficient of t⁴ in the gap"), &[-37.571883996947086], 0.0);
    close(&of(scene, "slope of the contact force λ(t)"), &[6.474427370310724], 0.0);

    let (scene, ellipses) = ("pvwz_two_ellipses", case(2));
    close(&of(scene, "g''' where u ≠ 0, w = 0"), &numbers(&ellipses["g3"]), 0.0);
    close(&printed(scene, "g''' where u ≠ 0, w = 0"), &numbers(&ellipses["j"]), 0.0);

    let (scene, overlapping) = ("pvwz_overlapping", case(3));
    close(&of(scene, "w"), &numbers(&overlapping["w"]), 0.0);
    close(&of(scene, "g'' = a − wᵀK⁻¹w"), &numbers(&overlapping["g2"]), 0.0);
    close(&of(scene, "threshold of a"), &numbers(&overlapping["threshold"]), 0.0);
    close(&of(scene, "g''' where w ≠ 0"), &numbers(&overlapping["g3"]), 0.0);
    close(&printed(scene, "g''' where w ≠ 0"), &numbers(&overlapping["j"]), 0.0);
}

#[test]
fn the_list_for_programs() {
    let run = paper(&["--json"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    let json = run.json();
    let papers = json["papers"].as_array().unwrap();
    assert_eq!(papers.iter().map(|paper| paper["name"].as_str().unwrap()).collect::<Vec<_>>(), NAMES);
    for paper in papers {
        let name = paper["name"].as_str().unwrap();
        let one = self::paper(&[name, "--json"]).json();
        assert_eq!((&one["paper"], &one["citation"]), (&paper["name"], &paper["citation"]));
        assert_eq!(
            one["rows"].as_array().unwrap().len(),
            usize::try_from(paper["rows"].as_u64().unwrap()).unwrap()
        );
    }
}

#[test]
fn a_name_that_no_paper_has() {
    let run = paper(&["dragna-pandrea-stanesku"]);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(run.err.contains("a similar value exists: 'dragna-pandrea-stanescu'"), "{}", run.err);
    let run = paper(&["dragna-pandrea-stanesku", "--json"]);
    assert_eq!((run.code, run.json()["errors"].as_array().unwrap().len()), (Some(2), 1));
    assert_eq!(paper(&["stanescu-pandrea", "treschev-zubelevich"]).code, Some(2));
}

#[test]
fn the_help_explains_the_verdicts() {
    let help = paper(&["--help"]).out;
    for word in ["agrees", "misprint", "wrong", "beyond", "Examples:"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

#[test]
fn read_as_stored() {
    let check = |stored: &str, arguments: &[&str]| {
        let run = paper(arguments);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}");
        golden::check(stored, &run.out);
    };
    check("paper.txt", &[]);
    for name in NAMES {
        check(&format!("paper_{name}.txt"), &[name]);
    }
}
