//! A bar for many samples of one thing: how many are done, how fast, and how long the rest will take.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use carom_answers::words::number;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::run::progress::duration;

/// How finely the bar moves, and how often.
const STEPS: u64 = 1000;
const EVERY: Duration = Duration::from_millis(100);

/// A bar on standard error, where that is a terminal.
pub struct Samples {
    bar: Option<ProgressBar>,
    count: u64,
    /// Those done before.
    before: u64,
    start: Instant,
    last: Instant,
}

impl Samples {
    /// Starts it, where some samples are there already.
    pub fn new(count: u64, before: u64) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("[{bar:30}] {msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
        });
        let now = Instant::now();
        Self { bar, count, before, start: now, last: now }
    }

    /// Shows how many are done, now and then.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "shown"
    )]
    pub fn show(&mut self, done: u64) {
        let now = Instant::now();
        let Some(bar) = self.bar.as_ref().filter(|_| now - self.last >= EVERY) else { return };
        self.last = now;
        let taken = (now - self.start).as_secs_f64();
        let rate = (done - self.before.min(done)) as f64 / taken;
        let left = duration((self.count - done.min(self.count)) as f64 / rate);
        bar.set_position((done as f64 / self.count.max(1) as f64 * STEPS as f64) as u64);
        bar.set_message(format!("{done} of {} samples, {}/s, {left} left", self.count, number(rate.round())));
    }

    /// Takes it away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
