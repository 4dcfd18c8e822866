//! Pools of threads: one for each number of threads that is asked for, and for each process.
//!
//! A process that is made by `fork` has the memory of its parent and none of its threads: a pool of the parent's would wait for
//! ever. So nothing runs in a pool that another process has begun.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::failure;

/// (process, threads, pool).
static POOLS: Mutex<Vec<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(Vec::new());

/// The pool of so many threads; as many as the machine has by default.
pub(crate) fn pool(py: Python<'_>, threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let (process, threads) = (std::process::id(), threads.unwrap_or(0));
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let found = pools.iter().find(|(of, many, _)| (*of, *many) == (process, threads));
    if let Some((.., pool)) = found {
        return Ok(pool.clone());
    }
    let pool = ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("pmm {n}")).build();
    let pool = Arc::new(pool.map_err(|error| failure(py, &format!("threads cannot be started: {error}")))?);
    pools.push((process, threads, pool.clone()));
    Ok(pool)
}

/// Something short, in the pool, without the interpreter's lock.
pub(crate) fn compute<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, pmm::Error> + Send,
) -> PyResult<T> {
    let pool = pool(py, None)?;
    py.detach(|| pool.install(work)).map_err(|error| crate::errors::raise(py, &error))
}
