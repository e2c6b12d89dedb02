//! A paradox found: its scene as TOML, and a few lines about it.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::{number, residual};
use crate::commands::paradox::Found;

/// The scene with what is known of it in comments.
pub fn toml(found: &Found) -> String {
    let mut text = String::new();
    for line in lines(found) {
        let _ = writeln!(text, "# {line}");
    }
    let scene = &found.scene;
    let _ = writeln!(text, "carom = 1\ntitle = \"{}\"\nsource = \"{}\"", scene.title, scene.source);
    for body in &scene.body {
        let _ = writeln!(text, "\n[[body]]\nname = \"{}\"", body.name);
        let _ = writeln!(text, "shape = {}", inline(&body.shape));
        let _ = writeln!(text, "mass = {:?}", body.mass);
        let _ = writeln!(text, "position = {:?}", body.position);
        let _ = writeln!(text, "orientation = {:?}", body.orientation);
        let _ = writeln!(text, "velocity = {:?}", body.velocity);
        let _ = writeln!(text, "angular_velocity = {:?}", body.angular_velocity);
    }
    text
}

/// Writes the same lines alone.
pub fn write(out: &mut dyn Write, found: &Found) -> io::Result<()> {
    writeln!(out, "{}", found.scene.title)?;
    for line in lines(found) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// What is known of it.
fn lines(found: &Found) -> Vec<String> {
    let (class, proof) = (&found.paradox.class, &found.paradox.certificate);
    let k = &class.kinematics;
    let times = |list: &[(f64, f64)]| {
        let words: Vec<String> = list.iter().map(|(t, gap)| format!("{:.2e} at {t:.2e}", gap)).collect();
        words.join(", ")
    };
    let when =
        if found.before == 0.0 { "now".to_string() } else { format!("at t = {}", number(found.before)) };
    vec![
        format!(
            "They touch {when} with v = {}, g'' = {}, g''' = {}, slip {}, |w| {}.",
            residual(k.v),
            residual(k.g2),
            number(k.g3),
            number(k.slip.norm()),
            number(k.w.norm())
        ),
        "Gaps of the exact flight, times from the contact:".to_string(),
        format!("before {}; nothing touches from {:.2e} on", times(&proof.before), proof.apart_since),
        format!("after, flying on freely: {}", times(&proof.after)),
    ]
}

/// A JSON value as an inline TOML one.
fn inline(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Object(entries) => {
            let words: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            if words.is_empty() { "{}".to_string() } else { format!("{{ {} }}", words.join(", ")) }
        }
        serde_json::Value::Array(entries) => {
            let words: Vec<String> = entries.iter().map(inline).collect();
            format!("[{}]", words.join(", "))
        }
        other => other.to_string(),
    }
}
