//! The threads that work on many questions at once: a pool for every process.
//!
//! A child that `fork` makes has the memory of its parent's pool but none of its threads: work given to that pool would wait for
//! ever. Each process therefore makes a pool of its own when it first needs one.

use std::mem::ManuallyDrop;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The pool of a process, by its number. Never dropped: in a child its locks are as some thread of the parent had them.
type Own = (u32, ManuallyDrop<Arc<ThreadPool>>);

static POOL: Mutex<Option<Own>> = Mutex::new(None);

/// The pool of this process. Python's lock is held while this one is, and while Python forks, so that no child inherits it locked.
pub fn pool(_: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = process::id();
    if let Some((of, pool)) = kept.as_ref()
        && *of == process
    {
        return Ok(Arc::clone(pool));
    }
    let made = ThreadPoolBuilder::new().thread_name(|k| format!("carom-{k}")).build();
    let made = made.map_err(|error| PyRuntimeError::new_err(format!("no threads to work with: {error}")))?;
    let pool = Arc::new(made);
    *kept = Some((process, ManuallyDrop::new(Arc::clone(&pool))));
    Ok(pool)
}

/// Works on all cores, without Python's lock.
pub fn on_all_cores<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = pool(py)?;
    Ok(py.detach(|| pool.install(work)))
}
