//! The message for a body that is to roll on a plane and does not touch it, whichever question found it.

use carom::contact::Side;
use carom::joint::Kind;
use carom::scene::Diagnostic;
use carom::scene::file::Source;
use carom::scene::instant::name;
use carom::scene::model::Scene;

use crate::words::number;

/// What is to be said of it; a negative `gap` is a depth.
pub fn off_plane(source: &Source, scene: &Scene, joint: usize, gap: f64) -> Diagnostic {
    let path = format!("joint[{joint}]");
    let (Some(body), Kind::Rolling { plane, .. }) =
        (scene.joints[joint].bodies.first(), &scene.joints[joint].kind)
    else {
        return source.explain(&path, "has no plane", "a plane to roll on");
    };
    let [body, plane] = [Side::Body(*body), Side::Plane(*plane)].map(|side| name(scene, side));
    let side = if gap > 0.0 { "above" } else { "inside" };
    let message = format!("`{body}` is {} {side} `{plane}`, on which it is to roll", number(gap.abs()));
    source.explain(&path, &message, "a start that touches the plane")
}
