//! A run seen from outside while it goes on: signals that end it, and a bar that tells how far it is.

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use carom::fill::Stage;
use carom::scene::model::Scene;
use carom::watch::{Task, Watch, Work};
use carom_answers::run::Engine;
use carom_answers::words::number;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that a signal ended, for the second signal.
const KILLED: i32 = 130;

/// Makes Ctrl-C, and the other signals that ask a process to end, stop the run at the next event, or within one that takes long. A second
/// signal ends the process at once: the files written by then are complete.
pub fn watch() {
    // Without a handler the first signal ends the process, which the files survive too.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(KILLED);
        }
    });
}

/// Whether the user has asked for the end.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// How finely the bar moves.
const STEPS: u64 = 1000;

/// How often it moves.
const EVERY: Duration = Duration::from_millis(100);

/// Less than this share of the run's time gone, and the clock stands still; after so long what is being worked on is shown.
const HEADWAY: f64 = 1e-6;
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar on standard error, where that is a terminal.
pub struct Progress {
    bar: Option<Arc<RunBar>>,
    start: Instant,
    /// How far the run was when it was taken up.
    share_before: f64,
    events_before: u64,
    max_events: usize,
}

impl Progress {
    /// Starts a bar, unless it would be one of many.
    pub fn new(engine: &Engine, max_events: usize, shown: bool) -> Self {
        let bar = (shown && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("[{bar:30}] {msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
        });
        let now = Instant::now();
        let state = Standing { drawn: now, moved: now, time: engine.time(), line: position(engine) };
        let bar = bar.map(|bar| Arc::new(RunBar { bar, state: Mutex::new(state) }));
        let share_before = share(engine, max_events);
        let events_before = engine.counts().events;
        Self { bar, start: now, share_before, events_before, max_events }
    }

    /// What the run asks within an event whether to end, and where it tells what it works on.
    pub fn watch(&self, scene: &Arc<Scene>) -> Watch {
        let (bar, scene) = (self.bar.clone(), scene.clone());
        Watch::new(move |watch| {
            if let Some(bar) = &bar {
                bar.show_work(&watch.work(), &scene);
            }
            interrupted()
        })
    }

    /// Shows how far the run is, now and then.
    pub fn show(&mut self, engine: &Engine, now: Instant) {
        let Some(run_bar) = &self.bar else { return };
        let Ok(mut state) = run_bar.state.lock() else { return };
        if (engine.time() - state.time).abs() > HEADWAY * engine.until() {
            (state.time, state.moved) = (engine.time(), now);
        }
        if now - state.drawn < EVERY {
            return;
        }
        let taken = (now - self.start).as_secs_f64();
        let share = share(engine, self.max_events);
        let events = engine.counts().events;
        let rate = (events - self.events_before) as f64 / taken;
        let gone = share - self.share_before;
        let left = if gone > 0.0 { duration(taken * (1.0 - share) / gone) } else { "-".to_string() };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share is between 0 and 1"
        )]
        run_bar.bar.set_position((share * STEPS as f64) as u64);
        state.line = position(engine);
        if now - state.moved < PATIENCE {
            state.drawn = now;
            run_bar.bar.set_message(format!("{}, {rate:.0} events/s, {left} left", state.line));
        }
    }

    /// Takes the bar away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.bar.finish_and_clear();
        }
    }
}

/// How far a run has come.
fn position(engine: &Engine) -> String {
    let (time, until) = (number(engine.time()), number(engine.until()));
    format!("t = {time} of {until}, {} events", engine.counts().events)
}

/// The bar of a run, which may be drawn from within an event.
struct RunBar {
    bar: ProgressBar,
    state: Mutex<Standing>,
}

/// Where the run stands.
struct Standing {
    /// When the bar was drawn last.
    drawn: Instant,
    /// When the run's clock moved last, and what it showed.
    moved: Instant,
    time: f64,
    /// What is known of the run.
    line: String,
}

impl RunBar {
    /// Shows what is being worked on, if the clock has stood still for a while.
    fn show_work(&self, work: &Work, scene: &Scene) {
        let Ok(mut state) = self.state.try_lock() else { return };
        let now = Instant::now();
        if now - state.drawn < EVERY || now - state.moved < PATIENCE {
            return;
        }
        state.drawn = now;
        let still = duration((now - state.moved).as_secs_f64());
        if let Some(work) = work_in_words(work, scene) {
            self.bar.set_message(format!("{}; here for {still}, working on {work}", state.line));
        }
    }
}

/// What is being worked on, for people.
fn work_in_words(work: &Work, scene: &Scene) -> Option<String> {
    let name = &scene.bodies.get(work.body as usize)?.name;
    let bodies = match work.bodies {
        0 | 1 => name.clone(),
        count => format!("{count} bodies, {name} among them"),
    };
    match work.task {
        Task::Start => None,
        Task::Impact => Some(format!("an impact of {bodies}")),
        Task::Motion => Some(format!("the joint motion of {bodies}")),
        Task::TimeStep => Some(format!("time steps of {bodies}")),
    }
}

/// A line on standard error, where that is a terminal, that says how far the bodies of fills are placed.
pub struct Placing {
    bar: Option<ProgressBar>,
    /// What was being done last.
    last: Cell<Option<Stage>>,
}

impl Placing {
    /// Starts it.
    pub fn new(shown: bool) -> Self {
        let bar = (shown && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("[{bar:30}] {msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
        });
        Self { bar, last: Cell::new(None) }
    }

    /// Shows a stage; false once the user has asked for the end.
    pub fn show(&self, stage: Stage) -> bool {
        self.last.set(Some(stage));
        if let Some(bar) = &self.bar {
            let (share, message) = match stage {
                Stage::Growing { packing, wanted } => {
                    (packing / wanted, format!("bodies grow: packing {packing:.4} of {wanted:.4}"))
                }
                Stage::Equilibrating { share } => (share, "bodies collide before the run begins".to_string()),
            };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share is between 0 and 1"
            )]
            bar.set_position((share.clamp(0.0, 1.0) * STEPS as f64) as u64);
            bar.set_message(message);
        }
        !interrupted()
    }

    /// Takes it away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// What an interruption found, in a sentence.
    pub fn interrupted(&self) -> String {
        let reached = match self.last.get() {
            None => {
                return "interrupted before the run began: nothing was run, and there is nothing to resume"
                    .to_string();
            }
            Some(Stage::Growing { packing, wanted }) => {
                format!(", grown to a packing fraction of {packing:.4} of {wanted:.4}")
            }
            Some(Stage::Equilibrating { share }) => {
                format!(", after {:.0} % of the collisions before the run", 100.0 * share)
            }
        };
        format!(
            "interrupted while the bodies of the fills were placed{reached}: nothing was run, and there is nothing to resume"
        )
    }
}

/// A bar on standard error, where that is a terminal, that says how many copies of a run are done.
pub struct Copies {
    bar: Option<ProgressBar>,
}

impl Copies {
    /// Starts it.
    pub fn new(count: u64) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(count), ProgressDrawTarget::stderr());
            let style =
                ProgressStyle::with_template("[{bar:30}] {pos} of {len} copies done, {elapsed} so far");
            bar.enable_steady_tick(Duration::from_secs(1));
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
        });
        Self { bar }
    }

    /// One more is done.
    pub fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Takes it away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How much of the run is done: by its time or by its events, whichever ends it sooner.
fn share(engine: &Engine, max_events: usize) -> f64 {
    let part = |done: f64, all: f64| if all > 0.0 { (done / all).clamp(0.0, 1.0) } else { 1.0 };
    let by_time = part(engine.time(), engine.until());
    by_time.max(part(engine.counts().events as f64, max_events as f64))
}

/// A length of time as a clock shows it.
pub fn duration(seconds: f64) -> String {
    if seconds.is_nan() || seconds >= 1e7 {
        return "-".to_string();
    }
    let minutes = (seconds / 60.0).floor();
    let (hours, seconds) = ((minutes / 60.0).floor(), seconds - 60.0 * minutes);
    if hours >= 1.0 {
        format!("{hours:.0}:{:02.0}:{:02.0}", minutes - 60.0 * hours, seconds.floor())
    } else {
        format!("{minutes:.0}:{:02.0}", seconds.floor())
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_read_as_clocks() {
        for (seconds, text) in
            [(0.0, "0:00"), (59.99, "0:59"), (61.0, "1:01"), (3723.5, "1:02:03"), (f64::INFINITY, "-")]
        {
            assert_eq!(duration(seconds), text);
        }
    }
}
