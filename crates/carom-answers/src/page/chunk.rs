//! What a run sends to the page, in chunks: u32 kind, u32 length in bytes (a multiple of 8), payload; little-endian.
//!
//! | kind | payload |
//! | --- | --- |
//! | 1 | the header, JSON, once, first |
//! | 2 | frames: f64 time, f64 × 8 totals, then `floats_per_body` f32 for each body, padded to 8 bytes; any number of them |
//! | 3 | events, JSON |
//! | 4 | progress, JSON |
//! | 5 | the end, JSON, once, last |
//! | 6 | keyframes of an interval, in answer to a question: f64 from, f64 until, u32 for each body how many, padded to 8 bytes; then, body by body, f64 times; then 2 × 13 f32 for each, the state before and after |
//! | 7 | JSON, at most once: `until`, the time up to which the events have come with the states of their bodies |
//!
//! The totals are kinetic and potential energy, momentum and angular momentum.

use carom::body::State;
use carom::run::World;
use serde::Serialize;

use crate::run::Running;

/// What a chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Header = 1,
    Frames = 2,
    Events = 3,
    Progress = 4,
    End = 5,
    Keyframes = 6,
    Complete = 7,
}

/// A chunk of JSON.
pub(super) fn json(kind: Kind, value: &impl Serialize) -> Vec<u8> {
    // What is serialised here is plain data: it cannot fail.
    padded(kind, &serde_json::to_vec(value).unwrap_or_default())
}

/// A chunk of text, padded with spaces.
fn padded(kind: Kind, text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    text.resize(text.len().next_multiple_of(8), b' ');
    chunk(kind, &text)
}

/// A chunk.
pub(super) fn chunk(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut chunk = Vec::with_capacity(8 + payload.len());
    chunk.extend((kind as u32).to_le_bytes());
    chunk.extend(u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes());
    chunk.extend(payload);
    chunk
}

#[derive(Serialize)]
struct Progress {
    time: f64,
    events: u64,
    impacts: u64,
    wall_s: f64,
}

/// The chunk that says how far a run has come.
pub fn progress(running: &Running, wall_s: f64) -> Vec<u8> {
    let counts = running.engine.counts();
    let (time, events, impacts) = (running.engine.time(), counts.events, counts.impacts);
    json(Kind::Progress, &Progress { time, events, impacts, wall_s })
}

/// The chunk that ends a run, with the document of its result.
pub fn end(result: &[u8]) -> Vec<u8> {
    padded(Kind::End, result)
}

/// The document of a run as `carom run --json` prints it: the events that its chunks hold, and the result.
pub fn document<C: AsRef<[u8]>>(chunks: &[C], result: &[u8]) -> Vec<u8> {
    let mut text = b"{\"events\":[".to_vec();
    for (k, events) in chunks.iter().filter_map(|chunk| events(chunk.as_ref())).enumerate() {
        if k > 0 {
            text.push(b',');
        }
        text.extend(events);
    }
    text.extend(b"],");
    text.extend(result.strip_prefix(b"{").unwrap_or(result));
    text
}

/// The events of a chunk of events, as JSON between commas.
fn events(chunk: &[u8]) -> Option<&[u8]> {
    let (head, payload) = chunk.split_at_checked(8)?;
    if head[..4] != (Kind::Events as u32).to_le_bytes() {
        return None;
    }
    payload.trim_ascii_end().strip_prefix(b"{\"events\":[")?.strip_suffix(b"]}")
}

/// How many numbers of a body a frame has: all of its state while there are few bodies, else its pose.
pub(super) const fn floats_per_body(bodies: usize) -> usize {
    if bodies > 1000 { 7 } else { 13 }
}

/// The length of a frame in bytes.
pub(super) const fn frame_length(bodies: usize) -> usize {
    (72 + 4 * floats_per_body(bodies) * bodies).next_multiple_of(8)
}

/// Adds a frame: the totals, and all bodies.
pub(super) fn push_frame(out: &mut Vec<u8>, world: &World, time: f64, states: &[State]) {
    let start = out.len();
    let totals = world.energies(states);
    let energies = [time, totals.kinetic, totals.potential()];
    for x in energies.iter().chain(totals.momentum.iter()).chain(totals.angular_momentum.iter()) {
        out.extend(x.to_le_bytes());
    }
    let floats = floats_per_body(states.len());
    for state in states {
        push_state(out, state, floats);
    }
    out.resize(start + frame_length(states.len()), 0);
}

/// Adds the first numbers of a body: position, quaternion with the scalar first, velocity, angular velocity.
pub(super) fn push_state(out: &mut Vec<u8>, state: &State, floats: usize) {
    let q = state.orientation.quaternion();
    let numbers = state.position.iter().chain([&q.w, &q.i, &q.j, &q.k]);
    for x in numbers.chain(state.velocity.iter()).chain(state.angular_velocity.iter()).take(floats) {
        #[expect(clippy::cast_possible_truncation, reason = "for drawing")]
        out.extend((*x as f32).to_le_bytes());
    }
}

#[derive(Serialize)]
struct Complete {
    until: f64,
}

/// The chunk that says up to when the events came with their states.
pub(super) fn complete(until: f64) -> Vec<u8> {
    json(Kind::Complete, &Complete { until })
}
