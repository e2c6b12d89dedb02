//! Samples, which come body by body, put together to frames of all bodies.

use carom::body::State;
use carom::record::{Moment, Sample};

/// All bodies at one time of the sampling interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The time.
    pub time: f64,
    /// The states, in the order of the scene.
    pub states: Vec<State>,
}

/// The frame that is being put together.
#[derive(Debug, Clone)]
pub struct Frames {
    bodies: usize,
    states: Vec<State>,
}

impl Frames {
    /// For this many bodies.
    pub fn new(bodies: usize) -> Self {
        Self { bodies, states: Vec::new() }
    }

    /// Takes a sample and returns the frame that it completes. Samples of events belong to no frame.
    pub fn take(&mut self, sample: &Sample) -> Option<Frame> {
        if sample.moment != Moment::Sample {
            return None;
        }
        self.states.push(sample.state);
        if self.states.len() < self.bodies {
            return None;
        }
        let states = std::mem::replace(&mut self.states, Vec::with_capacity(self.bodies));
        Some(Frame { time: sample.time, states })
    }
}
