//! What a run sends to the page, in chunks: u32 kind, u32 length in bytes (a multiple of 8), payload; little-endian.
//!
//! | kind | payload |
//! | --- | --- |
//! | 1 | the header, JSON, once, first |
//! | 2 | frames: f64 time, f64 × 8 totals, then `floats_per_body` f32 for each body, padded to 8 bytes; any number of them |
//! | 3 | events, JSON |
//! | 4 | progress, JSON |
//! | 5 | the end, JSON, once, last |

use axum::body::Bytes;
use carom::body::State;
use carom::scene::model::Scene;
use nalgebra::Vector3;
use serde::Serialize;

/// What a chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Header = 1,
    Frames = 2,
    Events = 3,
    Progress = 4,
    End = 5,
}

/// A chunk of JSON, padded with spaces.
pub fn json(kind: Kind, value: &impl Serialize) -> Bytes {
    // What is serialised here is plain data: it cannot fail.
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.resize(text.len().next_multiple_of(8), b' ');
    whole(kind, &text)
}

/// A chunk of some frames.
pub fn frames(frames: &[u8]) -> Bytes {
    whole(Kind::Frames, frames)
}

/// The chunk that ends a run: a JSON document already written.
pub fn end(document: &[u8]) -> Bytes {
    let mut text = document.to_vec();
    text.resize(text.len().next_multiple_of(8), b' ');
    whole(Kind::End, &text)
}

/// The events of a chunk of events, as JSON between commas.
pub fn events(chunk: &[u8]) -> Option<&[u8]> {
    let (head, payload) = chunk.split_at_checked(8)?;
    if head[..4] != (Kind::Events as u32).to_le_bytes() {
        return None;
    }
    payload.trim_ascii_end().strip_prefix(b"{\"events\":[")?.strip_suffix(b"]}")
}

fn whole(kind: Kind, payload: &[u8]) -> Bytes {
    let mut chunk = Vec::with_capacity(8 + payload.len());
    chunk.extend((kind as u32).to_le_bytes());
    chunk.extend(u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes());
    chunk.extend(payload);
    chunk.into()
}

/// How many numbers of a body a frame has: all of its state while there are few bodies, else its pose.
pub const fn floats_per_body(bodies: usize) -> usize {
    if bodies > 1000 { 7 } else { 13 }
}

/// The length of a frame in bytes.
pub const fn frame_length(bodies: usize) -> usize {
    (72 + 4 * floats_per_body(bodies) * bodies).next_multiple_of(8)
}

/// Adds a frame: the totals, and all bodies.
pub fn push_frame(out: &mut Vec<u8>, scene: &Scene, time: f64, states: &[State]) {
    let start = out.len();
    let (mut kinetic, mut potential) = (0.0, 0.0);
    let (mut momentum, mut angular) = (Vector3::zeros(), Vector3::zeros());
    for (body, state) in scene.bodies.iter().zip(states).filter(|(body, _)| !body.body.fixed) {
        kinetic += body.body.kinetic_energy(state);
        potential -= body.body.mass * scene.gravity.dot(&state.position);
        let (p, l) = body.body.momentum(state, &Vector3::zeros());
        momentum += p;
        angular += l;
    }
    for x in [time, kinetic, potential].iter().chain(momentum.iter()).chain(angular.iter()) {
        out.extend(x.to_le_bytes());
    }
    let floats = floats_per_body(states.len());
    for state in states {
        let q = state.orientation.quaternion();
        let numbers = state.position.iter().chain([&q.w, &q.i, &q.j, &q.k]);
        for x in numbers.chain(state.velocity.iter()).chain(state.angular_velocity.iter()).take(floats) {
            #[expect(clippy::cast_possible_truncation, reason = "for drawing")]
            out.extend((*x as f32).to_le_bytes());
        }
    }
    out.resize(start + frame_length(states.len()), 0);
}
