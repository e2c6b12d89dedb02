//! `carom paper`: every row's verdict, its numbers against the reference, its JSON, and its text as stored.
// Helpers of tests fail the test, as tests themselves do.
#![allow(clippy::unwrap_used)]

mod golden;

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

/// The row about a quantity at a place of the paper, in a scene.
#[track_caller]
fn find<'a>(rows: &'a [Value], scene: &str, [equation, quantity]: [&str; 2]) -> &'a Value {
    let fits = |row: &&Value| {
        row["scene"] == format!("{scene}.toml")
            && row["equation"] == equation
            && row["quantity"].as_str().unwrap().starts_with(quantity)
    };
    let mut found = rows.iter().filter(fits);
    let row = found.next().unwrap_or_else(|| panic!("no row '{equation}', '{quantity}' of {scene}"));
    assert!(found.next().is_none(), "two rows '{equation}', '{quantity}' of {scene}");
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

/// How many rows of each paper come to what: agrees, misprint, wrong, narrow, beyond.
const TALLY: [[usize; 5]; 4] = [[36, 4, 0, 0, 17], [24, 8, 18, 0, 8], [36, 10, 3, 1, 20], [49, 9, 4, 1, 16]];

#[test]
fn every_verdict_by_its_numbers() {
    let mut total = 0;
    for (name, tally) in NAMES.into_iter().zip(TALLY) {
        let rows = rows(name);
        total += rows.len();
        let count = |verdict: &str| rows.iter().filter(|row| row["verdict"] == verdict).count();
        assert_eq!(["agrees", "misprint", "wrong", "narrow", "beyond"].map(count), tally, "{name}");
        for row in &rows {
            let verdict = row["verdict"].as_str().unwrap();
            let erroneous = ["misprint", "wrong"].contains(&verdict);
            assert_eq!(row["erratum"].is_string(), erroneous, "{row}");
            assert_eq!(row["corrected"].is_null(), !erroneous, "{row}");
            assert_eq!(row["closed_form"].is_object(), verdict == "beyond", "{row}");
            assert!(verdict != "narrow" || row["note"].is_string(), "{row}");
            assert!(!row["version"].as_str().unwrap().is_empty(), "{row}");
            assert!(!row["equation"].as_str().unwrap().is_empty(), "{row}");
            // Every verdict is a comparison of numbers.
            let (scale, tolerance) = (numbers(&row["scale"])[0], numbers(&row["tolerance"])[0]);
            let computed = numbers(&row["computed"]["value"]);
            assert!(!computed.is_empty() && tolerance <= 1e-3, "{row}");
            let same = |other: &Value| {
                let other = numbers(other);
                let size = other.iter().chain(&computed).fold(scale, |m: f64, x| m.max(x.abs()));
                assert_eq!(other.len(), computed.len(), "{row}");
                other.iter().zip(&computed).all(|(a, b)| (a - b).abs() <= tolerance * size)
            };
            match verdict {
                "beyond" => {
                    assert!(row["printed"]["text"].is_null() && row["printed"]["value"].is_null(), "{row}");
                    assert!(same(&row["closed_form"]["value"]), "{row}");
                }
                "agrees" | "narrow" => assert!(same(&row["printed"]["value"]), "{row}"),
                _ => assert!(!same(&row["printed"]["value"]) && same(&row["corrected"]), "{row}"),
            }
        }
    }
    assert!(total >= 140, "{total}");
}

/// Rows hold formulas and values: no quotation, no word on what is not known of a print.
#[test]
fn no_row_quotes_or_paraphrases() {
    for name in NAMES {
        for row in rows(name) {
            let all = row.to_string();
            for mark in ['“', '”', '‘', '„', '«', '»'] {
                assert!(!all.contains(mark), "{row}");
            }
            let printed = row["printed"]["text"].as_str().unwrap_or_default();
            for word in ["on record", "wording", "not ", "misprint", "another", "confused", "denies"] {
                assert!(!printed.contains(word) && !all.contains("on record"), "{row}");
            }
        }
    }
}

/// The rows at hand are told apart by place, scene and quantity.
#[test]
fn no_row_stands_twice() {
    for name in NAMES {
        let mut seen = std::collections::BTreeSet::new();
        for row in rows(name) {
            let key = [&row["scene"], &row["equation"], &row["quantity"], &row["printed"]["text"]]
                .map(Value::to_string);
            assert!(seen.insert(key), "{row}");
        }
    }
}

#[test]
fn the_ball_as_in_the_reference() {
    let rows = rows(NAMES[0]);
    let of = |scene: &str, place: [&str; 2]| find(&rows, scene, place)["computed"]["value"].clone();
    let printed = |scene: &str, place: [&str; 2]| find(&rows, scene, place)["printed"]["value"].clone();

    let elastic = reference("p1_wall_solid_mu1.0");
    let wall = "tz_rolling_ball_elastic";
    close(&of(wall, ["Theorem 5.1", "v₁⁺"]), &pick(&elastic["v_plus"], &[0]), 0.0);
    close(&of(wall, ["Theorem 5.1", "v₂⁺"]), &pick(&elastic["v_plus"], &[1]), 0.0);
    close(&of(wall, ["Theorem 5.1", "ω₃⁺"]), &pick(&elastic["v_plus"], &[4]), 0.0);
    close(&of(wall, ["(4.2)", "v₁⁺"]), &pick(&elastic["v_plus"], &[0, 1, 2, 3, 4]), 0.0);
    close(&of(wall, ["5.1, P", "P: (1,1)"]), &pick(&elastic["P"], &[0, 18]), 0.0);
    close(&printed(wall, ["5.1, P", "P: (1,1)"]), &[1.0 / 0.0009; 2], 0.0);
    close(&of(wall, ["5.1, P", "P: (2,2)"]), &pick(&elastic["P"], &[6, 12, 14, 7, 11, 9, 21, 22, 24]), 0.0);
    close(&of(wall, ["section 1", "m − s"]), &[4.0], 0.0);
    close(&printed(wall, ["section 1", "m − s"]), &[2.0], 0.0);

    let damped = reference("p1_wall_solid_mu0.5");
    let wall = "tz_rolling_ball";
    close(&of(wall, ["section 6", "v₁⁺, v₂⁺, ω₃⁺"]), &pick(&damped["v_plus"], &[0, 1, 4]), 0.0);
    close(&of(wall, ["section 6", "change of energy"]), &numbers(&damped["dT"]), 0.0);

    let floor = "tz_thrown_ball";
    let letters = ["v₁⁺", "v₂⁺", "v₃⁺", "ω₁⁺", "ω₂⁺", "ω₃⁺"];
    for (id, equation) in
        [("p1_floor_solid_mu1.0", "Theorem 5.2"), ("p1_floor_solid_mu0.5", "section 6, μ = 0.5")]
    {
        let expected = reference(id);
        for (i, letter) in letters.into_iter().enumerate() {
            close(&of(floor, [equation, letter]), &pick(&expected["v_plus"], &[i]), 0.0);
            close(&printed(floor, [equation, letter]), &pick(&expected["v_plus"], &[i]), 0.0);
        }
        let friction = &expected["min_friction_coefficient"];
        close(&of(floor, ["Theorem 5.2", "friction coefficient"]), &numbers(friction), 0.0);
    }
    close(&printed(floor, ["5.2, P", "P: (3,3)"]), &[1.0 / 0.0007], 0.0);

    let pendulum = reference("p1_pendulum_solid_mu1");
    let bounces = &pendulum["bounces"];
    close(&of("tz_pendulum", ["5.2.1", "v_S⁺"]), &pick(&bounces[0]["v_plus"], &[0, 1, 2]), 1.0);
    close(&of("tz_pendulum", ["5.2.1", "ω⁺"]), &pick(&bounces[0]["v_plus"], &[3, 4, 5]), 1.0);
    close(&of("tz_pendulum", ["5.2.1", "where it lands first"]), &numbers(&bounces[1]["x"]), 0.0);
    close(&of("tz_pendulum", ["5.2.1", "where it lands second"]), &numbers(&bounces[2]["x"]), 1.0);
    close(&of("tz_pendulum", ["5.2.1", "period"]), &numbers(&bounces[2]["t"]), 0.0);

    let garwin = reference("p1_garwin_solid_g0");
    let ratio = |k: usize| vec![numbers(&garwin["sequence"][k]["v_plus"])[0] / 2.0];
    close(&of("tz_superball_table", ["Theorem 5.2", "v₁/v₀"]), &ratio(1), 0.0);
    close(&of("tz_superball_floor", ["Theorem 5.2", "v₁/v₀ off the floor again"]), &ratio(2), 0.0);
}

#[test]
fn the_ellipsoid_as_in_the_reference() {
    let rows = rows(NAMES[1]);
    let of = |scene: &str, place: [&str; 2]| find(&rows, scene, place)["computed"]["value"].clone();
    let printed = |scene: &str, place: [&str; 2]| find(&rows, scene, place)["printed"]["value"].clone();

    let plane = "sp_horizontal_plane";
    let overlap = reference("p2_gap_penetrating");
    close(&of(plane, ["section 4, a)", "the same"]), &numbers(&overlap["gap"]), 0.0);
    close(&printed(plane, ["section 4, a)", "the same"]), &numbers(&overlap["paper_dist_1"]), 0.0);
    close(&of(plane, ["section 4, a)", "distance"]), &numbers(&reference("p2_gap_separated")["gap"]), 0.0);
    let single = by_law("p2_horizontal_spheroid_paper", &[0.5], "poisson_lcp");
    close(&of(plane, ["(35)", "P"]), &numbers(&single["p"]), 0.0);
    close(&printed(plane, ["(48)", "Z"]), &[-0.9502050022312855, 3.865680949653936], 0.0);
    close(&printed(plane, ["(23)", "v_n after"]), &[-3.386084], 1e6);

    let oblique = reference("p2_oblique_spheroid_paper");
    let point = ["(52)–(54), (57), (58)", "touching point"];
    close(&of("sp_oblique_plane", point), &numbers(&oblique["contacts"][0]["point_space"]), 1.0);
    close(&printed("sp_oblique_plane", point), &[-0.459343340885, 1.39778035285, 0.0915745352076], 10.0);

    let (scene, id) = ("sp_two_planes", "p2_two_planes_sec6_corrected");
    let section = reference(id);
    close(&of(scene, ["section 6", "J_x"]), &numbers(&section["J"]), 0.0);
    close(&of(scene, ["(xii)", "X₀, Y₀"]), &pick(&section["R0"], &[0, 1]), 0.0);
    close(&printed(scene, ["(xii)", "X₀, Y₀"]), &[0.520303228, 0.203034363], 1e4);
    close(&printed(scene, ["(viii)", "Y₀, X₀"]), &[1.437800476, 0.857204221], 1e4);
    close(&of(scene, ["(19)", "{β̇}"]), &[0.346410162, 0.4, 0.026794919], 1e4);
    close(&of(scene, ["(20)", "ω_x"]), &[0.35980762, 0.26643424, 0.29925118], 1e5);
    let pitfall = reference("p2_two_planes_frame_pitfall");
    close(&printed(scene, ["(26), (27)", "g₁, g₂"]), &numbers(&pitfall["g_ii_wrong_fixed_axes"]), 0.0);
    close(&of(scene, ["(26), (27)", "g₁, g₂"]), &pick(&pitfall["g_ij_correct"], &[0, 3]), 0.0);
    close(&printed(scene, ["section 6", "g₁, g₂"]), &pick(&pitfall["g_ij_printed_J"], &[0, 3]), 0.0);
    close(&of(scene, ["section 6", "g₁, g₂"]), &pick(&pitfall["g_ij_correct"], &[0, 3]), 0.0);
    let coupled = by_law(id, &[1.0, 1.0], "coupled_newton");
    let decoupled = by_law(id, &[1.0, 1.0], "decoupled_eq23_signfixed");
    close(&printed(scene, ["(23), (35)", "P₁, P₂"]), &numbers(&decoupled["p"]), 0.0);
    close(&of(scene, ["(23), (35)", "P₁, P₂"]), &numbers(&coupled["p"]), 0.0);
    close(&printed(scene, ["(23)", "v_1n, v_2n"]), &numbers(&decoupled["y_plus"]), 0.0);
    close(&of(scene, ["(23)", "v_1n, v_2n"]), &numbers(&coupled["y_plus"]), 0.0);
    close(&printed(scene, ["(23)", "change of energy"]), &numbers(&decoupled["dT"]), 0.0);
    let [newton, poisson] =
        ["coupled_newton", "poisson_lcp"].map(|law| numbers(&by_law(id, &[0.8, 0.3], law)["p"]));
    let differ: Vec<f64> = poisson.iter().zip(&newton).map(|(p, n)| p - n).collect();
    close(&of(scene, ["section 7", "P by Poisson's"]), &differ, poisson[0]);

    let aligned = by_law("p2_two_planes_aligned", &[0.8, 0.3], "decoupled_eq23_signfixed");
    close(&of("sp_two_planes_aligned", ["(23), (35)", "P₁, P₂"]), &numbers(&aligned["p"]), 0.0);

    let id = "p2_two_oblique_triaxial";
    let gained = by_law(id, &[1.0, 1.0], "decoupled_eq23_signfixed");
    close(&printed("sp_two_oblique_planes", ["(23)", "change of energy"]), &numbers(&gained["dT"]), 10.0);
    close(&of("sp_two_oblique_planes", ["(34)", "g₁₂"]), &pick(&reference(id)["g_ij"], &[1]), 0.1);
    let ranks = &reference("p2_max_independent_contacts")["rank"];
    let expected = ["sphere", "spheroid", "triaxial"].map(|shape| ranks[shape].as_f64().unwrap());
    close(&of("sp_two_oblique_planes", ["section 7", "independent contacts"]), &expected, 0.0);

    let (id, k) = ("p2_corner_spheroid", [0.9, 0.5, 0.2]);
    let separations = |law| numbers(&by_law(id, &k, law)["y_plus"]);
    close(&printed("sp_corner", ["(23)", "v_n after"]), &separations("decoupled_eq23_signfixed"), 0.0);
    close(&of("sp_corner", ["(23)", "v_n after"]), &separations("coupled_newton"), 0.0);
}

#[test]
fn the_frames_as_in_the_reference() {
    let rows = rows(NAMES[2]);
    let of = |scene: &str, place: [&str; 2]| find(&rows, scene, place)["computed"]["value"].clone();
    let printed = |scene: &str, place: [&str; 2]| find(&rows, scene, place)["printed"]["value"].clone();
    let (scene, id) = ("dps_hinged_frames", "p3_hinged_generic");
    let generic = reference(id);
    let place = find(&rows, scene, ["(26)", "C₂A₁ × n₁"]);
    close(&place["computed"]["value"], &[-0.18, 0.24, 0.48], 0.0);
    close(&place["printed"]["value"], &[0.0, -0.18, 0.66], 0.0);
    close(&of(scene, ["(25)", "C₁A₃ × n₃"]), &pick(&generic["U1"], &[11, 14, 17]), 0.0);
    close(&of(scene, ["(27)", "C₂A₂ × n₂"]), &pick(&generic["U2"], &[10, 13, 16]), 0.0);
    close(&of(scene, ["(12)", "M₁red, M₂red"]), &[0.4, numbers(&generic["M2red"])[0]], 0.0);
    close(&of(scene, ["(31)", "{v_1n⁰}"]), &[0.48, 0.9, 0.4], 0.0);
    close(&of(scene, ["(31)", "{v_2n⁰} by its matrices"]), &[-0.616, -0.21, -0.154 / 0.3], 0.0);
    close(&printed(scene, ["(31)", "{v_2n⁰} by its matrices"]), &[-0.28, 0.042, -0.07 / 0.3], 0.0);
    close(&of(scene, ["(17)", "{ξ₁}"]), &[-0.63786667, 0.34765756, 1.213696, 1.037887, -0.14626448], 1e6);
    close(&of(scene, ["(36)", "rank of"]), &numbers(&generic["rank"]), 0.0);
    let kernel = numbers(&generic["kernel_of_G_sum"]);
    let found = numbers(&of(scene, ["(36)", "impulses that move nothing"]));
    let scale = found[0] / kernel[0];
    assert!(found.iter().zip(&kernel).all(|(a, b)| (a - scale * b).abs() < 1e-12), "{found:?}");
    let equal = by_law(id, &[0.6, 0.6, 0.6], "newton_equality_pinv");
    close(&of(scene, ["(36)", "−v₁₂ₙ after, k = 0.6"]), &negated(&equal["v12n_plus"]), 0.0);
    let unequal = by_law(id, &[0.8, 0.5, 0.2], "newton_lcp");
    close(&of(scene, ["(36)", "−v₁₂ₙ after by newton_lcp"]), &negated(&unequal["v12n_plus"]), 0.0);
    assert_eq!(by_law(id, &[0.8, 0.5, 0.2], "newton_equality_pinv")["consistent"], false);
    let change = |law| numbers(&by_law(id, &[0.6, 0.3, 0.6], law)["dT"])[0];
    let differ = change("poisson_lcp") - change("newton_equality_pinv");
    close(&of(scene, ["introduction", "change of energy"]), &[differ], 1.0);

    let (scene, id) = ("dps_singular_frames", "p3_singular_example_unit_normals");
    close(&of(scene, ["section 3", "rank of"]), &numbers(&reference(id)["rank"]), 0.0);
    let equal = by_law(id, &[0.5, 0.5, 0.5], "newton_lcp");
    close(&of(scene, ["section 3", "−v₁₂ₙ after, k = 0.5"]), &negated(&equal["v12n_plus"]), 0.0);
    close(&of(scene, ["section 3", "P₁ + P₃"]), &[numbers(&equal["P"]).iter().sum()], 0.0);
    let unequal = by_law(id, &[0.8, 0.5, 0.3], "newton_lcp");
    close(&of(scene, ["section 3", "−v₁₂ₙ after by newton_lcp"]), &negated(&unequal["v12n_plus"]), 0.0);

    let (scene, id) = ("dps_cylindrical_frames", "p3_cylindrical_regular");
    close(&of(scene, ["(36)", "rank of"]), &numbers(&reference(id)["rank"]), 0.0);
    let unique = by_law(id, &[0.6, 0.6, 0.6], "newton_equality_pinv");
    close(&of(scene, ["(11)", "P on cylindrical joints"]), &numbers(&unique["P"]), 0.0);
    let rank = numbers(&reference("p3_spherical_regular")["rank"]);
    close(&of("dps_spherical_frames", ["(36)", "rank of"]), &rank, 0.0);
}

#[test]
fn the_paradox_as_in_the_reference() {
    let rows = rows(NAMES[3]);
    let of = |scene: &str, place: [&str; 2]| find(&rows, scene, place)["computed"]["value"].clone();
    let printed = |scene: &str, place: [&str; 2]| find(&rows, scene, place)["printed"]["value"].clone();
    let file: Value = serde_json::from_str(include_str!("../../../cases/contacts/classify.json")).unwrap();
    let case = |k: usize| &file["cases"][k];

    let (scene, paper) = ("paradox", case(0));
    close(&of(scene, ["Suppl. I", "P"]), &numbers(&paper["point"]), 0.0);
    close(&of(scene, ["Suppl. I", "n₁"]), &numbers(&paper["normal"]), 0.0);
    close(&of(scene, ["Suppl. I", "j = g'''"]), &numbers(&paper["g3"]), 0.0);
    close(&of(scene, ["(57), (59)", "coefficient of t³"]), &pick(&paper["series"], &[3]), 0.0);
    close(&of(scene, ["(52)", "coefficient of t⁴"]), &pick(&paper["series"], &[4]), 100.0);
    let neighbours = ["(51), (52), (60)", "neighbours' part"];
    close(&of(scene, neighbours), &[-35.0456547671778], 0.0);
    close(&printed(scene, neighbours), &[-70.0913095343556], 0.0);
    close(&of(scene, ["section 4", "slope of the force"]), &[6.474427370310724], 0.0);

    let (scene, ellipses) = ("pvwz_two_ellipses", case(2));
    let jerk = ["(18)–(20), (27)", "j where"];
    close(&of(scene, jerk), &numbers(&ellipses["g3"]), 0.0);
    close(&printed(scene, jerk), &numbers(&ellipses["j"]), 0.0);

    let (scene, overlapping) = ("pvwz_overlapping", case(3));
    close(&of(scene, ["3.2.3", "what a must exceed"]), &numbers(&overlapping["threshold"]), 0.0);
    close(&of(scene, ["(47), (58)", "g'''"]), &numbers(&overlapping["g3"]), 0.0);
    // Coefficients found by polynomial algebra with thirty digits.
    for (equation, quantity, expected, shown) in [
        ("(42)", "v_ε", [0.37672416053997, 0.0], [0.206188409657721, 0.407260852752102]),
        ("(73)", "v_3ε", [-0.0241784903980303, 0.180337961238759], [-0.0769635571934046, -0.213693076621356]),
        (
            "(76)",
            "a_2ε",
            [-0.00318922705289081, -0.123974223991797],
            [-0.0265018625126088, -0.253445877770408],
        ),
        ("(77)", "a_3ε", [-0.0744667406310557, -0.232502061545851], [0.0144370728052869, -0.265644551478482]),
        ("(78)", "a_4ε", [0.0121330570110608, 0.0617029426334127], [0.0121330570110608, 0.0617029426334127]),
    ] {
        close(&of(scene, [equation, quantity]), &expected, 1.0);
        close(&printed(scene, [equation, quantity]), &shown, 1.0);
    }
}

#[test]
fn figures_are_drawn() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    for (name, expected) in [
        (NAMES[3], vec!["pvwz_1", "pvwz_2", "pvwz_3", "pvwz_4"]),
        (NAMES[1], vec!["sp_1", "sp_2", "sp_3", "sp_4"]),
        (NAMES[2], vec!["dps_1"]),
        (NAMES[0], vec![]),
    ] {
        let run = paper(&[name, "--figures", folder.to_str().unwrap(), "--json"]);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{name}");
        let files = run.json()["figures"].as_array().unwrap().len();
        assert_eq!(files, expected.len());
        for figure in expected {
            let svg = std::fs::read_to_string(folder.join(format!("{figure}.svg"))).unwrap();
            assert!(svg.starts_with("<svg") && svg.contains("<text") && svg.contains("<poly"), "{figure}");
        }
    }
    assert_eq!(paper(&["--figures", "x"]).code, Some(2));
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
    for word in ["agrees", "misprint", "wrong", "narrow", "beyond", "Examples:"] {
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
