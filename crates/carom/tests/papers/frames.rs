//! The frames of [DPS].

use std::fmt::Write;

use super::{cases, close, number, numbers, solve, tolerance, vector};

use carom::impact::Law;
use carom::impact::coulomb::Termination;
use nalgebra::Vector3;
use serde_json::Value;

/// Two bodies placed as in the case: C₁ at the origin, contacts A_i, hinges at O₁ and O₂ along y.
fn frames_scene(case: &Value, restitution: &[f64]) -> String {
    let inputs = &case["inputs"];
    let arms: Vec<Vector3<f64>> = case["expected"]["C1A"].as_array().unwrap().iter().map(vector).collect();
    let second = arms[0] - vector(&case["expected"]["C2A"][0]);
    let a = numbers(&inputs["a1_to_a5"]);
    let centres = [Vector3::zeros(), second];
    let hinges = [Vector3::new(0.0, -a[0], 0.0), second + Vector3::new(0.0, a[4], 0.0)];
    let masses = numbers(&inputs["m"]);
    let mut scene = String::from("carom = 1\n");
    for k in 0..2 {
        let v = numbers(&inputs[format!("v{}_minus", k + 1)]);
        write!(
            scene,
            "[[body]]\nname = \"frame {k}\"\nshape = {{ point = {{}} }}\nmass = {:?}\ninertia = {:?}\nposition = {:?}\n\
             velocity = {:?}\nangular_velocity = {:?}\n",
            masses[k],
            numbers(&inputs[format!("J{}", k + 1)]),
            centres[k].as_slice(),
            &v[3..],
            &v[..3],
        )
        .unwrap();
        let point = hinges[k].as_slice();
        let kind = match inputs["joints"][k].as_str().unwrap() {
            "revolute_z" => format!("{{ hinge = {{ point = {point:?}, axis = [0, 0, 1] }} }}"),
            "spherical" => format!("{{ ball = {{ point = {point:?} }} }}"),
            "cylindrical_z" => {
                // No velocity of the hinge point across z, no turning about x and y.
                let y = hinges[k].y - centres[k].y;
                format!(
                    "{{ rows = [[1, 0, 0, 0, 0, {:?}], [0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0]] }}",
                    -y
                )
            }
            _ => continue,
        };
        write!(scene, "[[joint]]\nname = \"joint {k}\"\nbodies = [\"frame {k}\"]\nkind = {kind}\n").unwrap();
    }
    for (i, arm) in arms.iter().enumerate() {
        write!(
            scene,
            "[[contact]]\nname = \"A{}\"\nbodies = [\"frame 0\", \"frame 1\"]\npoint = {:?}\nnormal = {:?}\nrestitution = {:?}\n",
            i + 1,
            arm.as_slice(),
            numbers(&inputs["normals"][i]),
            restitution[i],
        )
        .unwrap();
    }
    scene
}

#[test]
fn two_frames_with_three_contacts_and_every_kind_of_joint() {
    let (mut count, mut laws) = (0, 0);
    for case in cases("p3_") {
        count += 1;
        let expected = &case["expected"];
        let id = case["id"].as_str().unwrap();
        // Normals in a scene are unit vectors; the case with longer ones has impulses smaller by their lengths.
        let lengths: Vec<f64> =
            case["inputs"]["normals"].as_array().unwrap().iter().map(|n| vector(n).norm()).collect();
        let rescaled = lengths.iter().any(|l| (l - 1.0).abs() > 1e-9);
        for entry in expected["laws"].as_array().unwrap() {
            let restitution = numbers(&entry["k"]);
            let scene = frames_scene(&case, &restitution);
            for (name, after) in entry.as_object().unwrap() {
                let law = match name.as_str() {
                    "newton_equality_pinv" => Law::Newton,
                    "newton_lcp" => Law::NewtonLcp,
                    "poisson_lcp" => Law::Poisson,
                    _ => continue,
                };
                let (_, result) = solve(&scene, law, Termination::Stronge);
                let outcome = &result.outcome;
                if rescaled && (!outcome.consistent || !outcome.velocity_unique) {
                    // Surrogates and choices of p_c depend on the scaling of the rows.
                    continue;
                }
                laws += 1;
                let what = format!("{id} {restitution:?} {law}");
                assert_eq!(
                    outcome.rank,
                    usize::try_from(expected["rank"].as_u64().unwrap()).unwrap(),
                    "{what}"
                );
                for (k, name) in ["v1_plus", "v2_plus"].iter().enumerate() {
                    let v = numbers(&after[*name]);
                    let state = &result.states[k];
                    close(&what, state.angular_velocity.as_slice(), &v[..3], 1.0, tolerance(&case));
                    close(&what, state.velocity.as_slice(), &v[3..], 1.0, tolerance(&case));
                }
                let energy = outcome.energy;
                close(&what, &[energy.change], &[number(&after["dT"])], energy.before, tolerance(&case));
                if let Some(consistent) = after.get("consistent") {
                    assert_eq!(outcome.consistent, consistent.as_bool().unwrap(), "{what}");
                }
                if !outcome.impulse_unique {
                    continue;
                }
                let theirs: Vec<f64> =
                    numbers(&after["P"]).iter().zip(&lengths).map(|(p, length)| p * length).collect();
                let impulses: Vec<f64> = result.contacts.iter().map(|c| c.impulse).collect();
                close(&what, &impulses, &theirs, 0.0, tolerance(&case));
                for (joint, xi) in result.joints.iter().zip(["xi_1", "xi_2"]) {
                    let xi = numbers(&after[xi]);
                    let mut ours: Vec<f64> =
                        joint.linear.iter().chain(joint.angular.iter()).copied().collect();
                    if xi.len() == 4 {
                        // The cylindrical joint's rows have no point: forces x and y, moments about the hinge point.
                        ours = joint.impulse.clone();
                    }
                    close(&format!("{what} joint"), &ours[..xi.len()], &xi, 0.0, tolerance(&case));
                }
            }
        }
        if id == "p3_hinged_generic" {
            let scene = frames_scene(&case, &[0.6, 0.6, 0.6]);
            let (_, result) = solve(&scene, Law::NewtonLcp, Termination::Stronge);
            let kernel = numbers(&expected["kernel_of_G_sum"]);
            let [stress] = result.outcome.self_stresses.as_slice() else { panic!("one self-stress") };
            let scale = stress.contacts[0] / kernel[0];
            let scaled: Vec<f64> = kernel.iter().map(|k| k * scale).collect();
            close("kernel (α₃, 0, −α₁)", &stress.contacts, &scaled, 0.0, 1e-13);
            assert!(result.outcome.velocity_unique && !result.outcome.impulse_unique);
        }
    }
    assert_eq!((count, laws), (7, 97));
}
