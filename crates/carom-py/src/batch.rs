//! Many questions in one call: on all cores, without Python's lock, ended by Ctrl-C, with a progress callback.

use std::ops::Range;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::columns::BadRow;
use crate::pool::pool;

/// The first piece of the work, in questions.
const FIRST: usize = 1024;

/// A piece that is done sooner is followed by one of twice the size. Signals and progress wait for the end of a piece, and
/// every piece ends with cores that wait for the last.
const SHORT: Duration = Duration::from_millis(40);

/// How many questions a core takes at a time.
pub const BLOCK: usize = 64;

/// Does the work in pieces: without Python's lock inside a piece, with a look at signals and a word to `progress` after each.
pub fn run(
    py: Python<'_>,
    count: usize,
    progress: Option<&Bound<'_, PyAny>>,
    mut work: impl FnMut(Range<usize>) -> Result<(), BadRow> + Send,
) -> PyResult<()> {
    let pool = pool(py)?;
    let (mut done, mut size) = (0, FIRST);
    while done < count {
        let range = done..count.min(done.saturating_add(size));
        let start = Instant::now();
        py.detach(|| pool.install(|| work(range.clone())))?;
        if start.elapsed() < SHORT {
            size = size.saturating_mul(2);
        }
        done = range.end;
        py.check_signals()?;
        if let Some(progress) = progress {
            progress.call1((done, count))?;
        }
    }
    Ok(())
}
