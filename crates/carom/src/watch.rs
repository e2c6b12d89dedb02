//! What a computation is working on, and whether its caller wants it to end.
//!
//! A run returns to its caller after every event, but an event may take seconds: the motion of many bodies that touch, an impact of
//! hundreds of contacts. So the world carries a [`Watch`]: everything iterative that can take long asks it between iterations whether to
//! give up, and the loop says there what it works on. A run that has given up ends as interrupted
//! ([`Stopped::Interrupted`](crate::run::Stopped::Interrupted)), with the states at the time that it has reached; it cannot go on from
//! there, as the event was left half done ([`Watch::gave_up`]).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Nothing yet.
    Start,
    /// The impact of contacts that close.
    Impact,
    /// The motion of bodies under constraints.
    Motion,
    /// Time steps of such bodies.
    TimeStep,
}

/// What is being worked on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// The kind of work.
    pub task: Task,
    /// The time of the run.
    pub time: f64,
    /// How many bodies take part.
    pub bodies: u32,
    /// One of them.
    pub body: u32,
}

type Asks = dyn Fn(&Watch) -> bool + Send + Sync;

#[derive(Debug, Default)]
struct Shared {
    gave_up: AtomicBool,
    task: AtomicU8,
    time: AtomicU64,
    bodies: AtomicU32,
    body: AtomicU32,
}

/// A computation as its caller sees it. Clones are of the same computation.
#[derive(Clone, Default)]
pub struct Watch {
    asks: Option<Arc<Asks>>,
    shared: Arc<Shared>,
}

impl Watch {
    /// A watch that stops a computation when a function says so. The function is called often, by whichever thread computes: it should do
    /// little more than to read a flag. It may look at what is being worked on.
    #[must_use]
    pub fn new(asks: impl Fn(&Self) -> bool + Send + Sync + 'static) -> Self {
        Self { asks: Some(Arc::new(asks)), shared: Arc::default() }
    }

    /// Whether to end. Nothing is given up yet.
    #[must_use]
    pub fn wants_end(&self) -> bool {
        self.gave_up() || self.asks.as_ref().is_some_and(|asks| asks(self))
    }

    /// Whether to give up what is being computed; if so, that is remembered.
    #[must_use]
    pub fn gives_up(&self) -> bool {
        let ends = self.wants_end();
        if ends {
            self.shared.gave_up.store(true, Ordering::Relaxed);
        }
        ends
    }

    /// Whether something was given up half done.
    #[must_use]
    pub fn gave_up(&self) -> bool {
        self.shared.gave_up.load(Ordering::Relaxed)
    }

    /// Says what is being worked on.
    pub fn begin(&self, work: &Work) {
        let Shared { task, time, bodies, body, .. } = &*self.shared;
        let number = match work.task {
            Task::Start => 0,
            Task::Impact => 1,
            Task::Motion => 2,
            Task::TimeStep => 3,
        };
        task.store(number, Ordering::Relaxed);
        time.store(work.time.to_bits(), Ordering::Relaxed);
        bodies.store(work.bodies, Ordering::Relaxed);
        body.store(work.body, Ordering::Relaxed);
    }

    /// What is being worked on, or was last.
    #[must_use]
    pub fn work(&self) -> Work {
        let Shared { task, time, bodies, body, .. } = &*self.shared;
        Work {
            task: match task.load(Ordering::Relaxed) {
                1 => Task::Impact,
                2 => Task::Motion,
                3 => Task::TimeStep,
                _ => Task::Start,
            },
            time: f64::from_bits(time.load(Ordering::Relaxed)),
            bodies: bodies.load(Ordering::Relaxed),
            body: body.load(Ordering::Relaxed),
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("work", &self.work())
            .field("gave_up", &self.gave_up())
            .finish_non_exhaustive()
    }
}

/// Who watches a computation does not make it another one.
impl PartialEq for Watch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_up_is_remembered() {
        let wanted = Arc::new(AtomicBool::new(false));
        let flag = wanted.clone();
        let watch = Watch::new(move |_| flag.load(Ordering::Relaxed));
        let clone = watch.clone();
        assert!(!watch.gives_up() && !watch.gave_up());
        wanted.store(true, Ordering::Relaxed);
        assert!(clone.wants_end() && !watch.gave_up());
        assert!(clone.gives_up() && watch.gave_up());
        wanted.store(false, Ordering::Relaxed);
        assert!(watch.gives_up());
        let work = Work { task: Task::Impact, time: 0.1, bodies: 3, body: 7 };
        watch.begin(&work);
        assert_eq!(clone.work(), work);
        assert!(!Watch::default().gives_up());
    }
}
