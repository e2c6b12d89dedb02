//! What a run recorded, in the order in which it is drawn.

use std::io;

use carom::contact::Side;
use carom::record::{Event, Recorder, Sample};
use carom::scene::model::Scene;
use carom_answers::folder::Recording;
use carom_answers::gap;
use carom_answers::run::{Frame, Frames};

/// The frames and events of a time.
#[derive(Default)]
pub struct Track {
    /// At the sampling interval.
    pub frames: Vec<Frame>,
    /// The contacts of events.
    pub events: Vec<Event>,
}

/// The most numbers in the frames that are kept; longer runs are thinned.
const MOST: usize = 20_000_000;

struct Taker {
    bodies: usize,
    from: f64,
    to: f64,
    frames: Frames,
    /// One in this many frames is kept.
    every: usize,
    seen: usize,
    track: Track,
}

impl Recorder for Taker {
    fn events(&mut self, events: &[Event]) {
        let inside = |event: &&Event| (self.from..=self.to).contains(&event.time);
        self.track.events.extend(events.iter().filter(inside).cloned());
    }

    fn samples(&mut self, samples: &[Sample]) {
        for sample in samples {
            let Some(frame) = self.frames.take(sample) else { continue };
            if !(self.from..=self.to).contains(&frame.time) {
                continue;
            }
            if self.seen.is_multiple_of(self.every) {
                self.track.frames.push(frame);
                if self.track.frames.len() * self.bodies * 13 > MOST {
                    let mut k = 0;
                    self.track.frames.retain(|_| {
                        k += 1;
                        k % 2 == 1
                    });
                    self.every *= 2;
                }
            }
            self.seen += 1;
        }
    }
}

impl Track {
    /// What a recording holds between two times.
    pub fn of(recording: &Recording, from: Option<f64>, to: Option<f64>) -> io::Result<Self> {
        let bodies = recording.scene.bodies.len().max(1);
        let mut taker = Taker {
            bodies,
            from: from.unwrap_or(f64::NEG_INFINITY),
            to: to.unwrap_or(f64::INFINITY),
            frames: Frames::new(bodies),
            every: 1,
            seen: 0,
            track: Self::default(),
        };
        recording.play(&mut taker)?;
        Ok(taker.track)
    }

    /// The first time and the last.
    pub fn span(&self) -> (f64, f64) {
        match (self.frames.first(), self.frames.last()) {
            (Some(first), Some(last)) => (first.time, last.time),
            _ => (0.0, 0.0),
        }
    }

    /// The pairs that meet in events, else those that come closest, up to a number.
    pub fn nearest_pairs(&self, scene: &Scene, most: usize) -> Vec<[Side; 2]> {
        let mut pairs: Vec<[Side; 2]> = Vec::new();
        for event in &self.events {
            if pairs.len() < most && !pairs.contains(&event.sides) {
                pairs.push(event.sides);
            }
        }
        if !pairs.is_empty() {
            return pairs;
        }
        let Some(first) = self.frames.first() else { return pairs };
        let planes = (0..scene.planes.len()).map(Side::Plane);
        let firsts: Vec<Side> = planes.chain((0..scene.bodies.len().min(64)).map(Side::Body)).collect();
        let mut all: Vec<(f64, [Side; 2])> = Vec::new();
        for (k, &one) in firsts.iter().enumerate() {
            for &two in &firsts[k + 1..] {
                if matches!(two, Side::Body(_)) {
                    let gap = gap::between(scene, [one, two], |body| first.states[body]);
                    all.push((gap, [one, two]));
                }
            }
        }
        all.retain(|(gap, _)| gap.is_finite());
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.into_iter().take(most).map(|(_, pair)| pair).collect()
    }
}
