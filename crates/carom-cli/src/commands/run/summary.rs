//! The summary of a run of any length for people.

use std::collections::VecDeque;

use carom::contact::Side;
use carom::record::{Event, Kind};

/// How a run began and ended, and the sustained contacts.
#[derive(Debug, Default)]
pub struct Summary {
    /// The first contacts of events.
    pub first: Vec<Event>,
    /// The last of them that are not among the first.
    pub last: VecDeque<Event>,
    /// How many there were.
    pub rows: u64,
    /// The sustained contacts, but for very many only the first.
    pub holds: Vec<Hold>,
    /// How many lasted.
    pub held: u64,
}

/// A contact that lasts, or bodies that pass through one another.
#[derive(Debug, Clone)]
pub struct Hold {
    /// How it began.
    pub begin: Event,
    /// How it ended, if it did.
    pub end: Option<Event>,
}

/// The first and last entries told.
pub const TOLD: usize = 10;

/// The most contacts that last kept for the summary, which tells the longest of them.
const HOLDS_KEPT: usize = 1000;

impl Summary {
    /// Takes what happened.
    pub fn take(&mut self, event: &Event) {
        self.rows += 1;
        if self.first.len() < TOLD {
            self.first.push(event.clone());
        } else {
            if self.last.len() == TOLD {
                self.last.pop_front();
            }
            self.last.push_back(event.clone());
        }
        match event.kind {
            Kind::HoldBegin | Kind::Rest | Kind::PassBegin => {
                self.held += 1;
                if self.holds.len() < HOLDS_KEPT {
                    self.holds.push(Hold { begin: event.clone(), end: None });
                }
            }
            Kind::HoldEnd | Kind::PassEnd => {
                let who = |e: &Event| -> ([Side; 2], [i32; 3]) { (e.sides, e.image) };
                let open = self.holds.iter_mut().rev().find(|hold| who(&hold.begin) == who(event));
                if let Some(hold) = open.filter(|hold| hold.end.is_none()) {
                    hold.end = Some(event.clone());
                }
            }
            Kind::Impact | Kind::Graze | Kind::Slip | Kind::Stop => {}
        }
    }
}
