//! Samples on several threads, delivered in the order of their numbers.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, PoisonError};

use super::{Row, Sweep};

/// No sample is begun so many after the last that was delivered: what is kept in memory does not grow.
const WINDOW: u64 = 1 << 14;

impl Sweep {
    /// Runs a range of samples and delivers their rows in order. `go_on` is asked all the time; once it says no, samples that have not ended are
    /// dropped. Returns whether all were delivered.
    ///
    /// # Errors
    /// That of `take`.
    pub fn in_order(
        &self,
        range: Range<u64>,
        threads: usize,
        go_on: &(dyn Fn() -> bool + Sync),
        mut take: impl FnMut(Row) -> io::Result<()>,
    ) -> io::Result<bool> {
        let next = AtomicU64::new(range.start);
        let failed = AtomicBool::new(false);
        // How many have been delivered, for those who wait.
        let (delivered, moved) = (Mutex::new(range.start), Condvar::new());
        let goes_on = || !failed.load(Ordering::Relaxed) && go_on();
        let (sender, receiver) = sync_channel::<Row>(1024);
        let work = |sender: std::sync::mpsc::SyncSender<Row>| {
            while goes_on() {
                let sample = next.fetch_add(1, Ordering::Relaxed);
                if sample >= range.end {
                    return;
                }
                let mut behind = delivered.lock().unwrap_or_else(PoisonError::into_inner);
                while sample >= *behind + WINDOW && goes_on() {
                    // Woken by a delivery, or now and then to look whether to go on.
                    let wait = moved.wait_timeout(behind, std::time::Duration::from_millis(50));
                    behind = wait.unwrap_or_else(PoisonError::into_inner).0;
                }
                drop(behind);
                let Some(row) = self.row(sample, &goes_on) else { return };
                if sender.send(row).is_err() {
                    return;
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                let sender = sender.clone();
                scope.spawn(|| work(sender));
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            let mut due = range.start;
            let mut result = Ok(());
            for row in &receiver {
                waiting.insert(row.sample, row);
                while let Some(row) = waiting.remove(&due) {
                    due += 1;
                    if result.is_ok() {
                        result = take(row);
                        if result.is_err() {
                            failed.store(true, Ordering::Relaxed);
                        }
                    }
                }
                *delivered.lock().unwrap_or_else(PoisonError::into_inner) = due;
                moved.notify_all();
            }
            result.map(|()| due == range.end)
        })
    }
}
