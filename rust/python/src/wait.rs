//! Waits for work that may take seconds. While it waits, a user can press Ctrl-C, another thread can cancel the
//! work, and progress is reported.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use okf_engine::{Error, Snapshot, Task};
use pyo3::{exceptions::PyRuntimeError, prelude::*};

use crate::errors::run;

/// The waiting thread checks for signals and reports progress each time this much time has passed.
const SLICE: Duration = Duration::from_millis(50);

/// Lets one thread cancel work that another thread waits for.
#[pyclass(frozen, module = "okf_catalog._engine")]
#[derive(Default)]
pub(crate) struct Cancellation(Arc<AtomicBool>);

#[pymethods]
impl Cancellation {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ends every call that was given this object, at its next check. A later call ends at once.
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One call that may take seconds.
pub(crate) struct Call<'call, 'py> {
    pub(crate) py: Python<'py>,
    /// The snapshot whose sources are named in progress reports.
    pub(crate) snapshot: &'call Snapshot,
    /// Called with the id of a source, the number of its files that were read, and the number of files to read.
    pub(crate) on_progress: Option<&'call Bound<'py, PyAny>>,
    pub(crate) cancellation: Option<&'call Bound<'py, Cancellation>>,
}

impl<'call, 'py> Call<'call, 'py> {
    /// A call that reports no progress and cannot be cancelled.
    pub(crate) fn plain(py: Python<'py>, snapshot: &'call Snapshot) -> Self {
        Self { py, snapshot, on_progress: None, cancellation: None }
    }

    /// Does the work on a new thread. Until it is done, this thread checks for signals and reports progress.
    pub(crate) fn wait<T: Send>(self, work: impl FnOnce(&Task) -> Result<T, Error> + Send) -> PyResult<T> {
        let task =
            &self.cancellation.map_or_else(Task::default, |held| Task::until(Arc::clone(&held.get().0)));
        let py = self.py;
        let (result, done) = (Mutex::new(None), Condvar::new());
        let work = Mutex::new(Some(work));
        let perform = || {
            let taken = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            taken.map(|work| work(task))
        };
        let mut progress = Progress { call: self, reported: BTreeMap::new() };
        let outcome = thread::scope(|scope| {
            let worker = thread::Builder::new().spawn_scoped(scope, || {
                // If the work panics, there is no result, and joining the thread passes the panic on.
                let wake = WakeOnDrop { done: &done };
                *result.lock().unwrap_or_else(PoisonError::into_inner) = perform();
                drop(wake);
            });
            let Ok(worker) = worker else {
                // No thread can be started, so the work runs here, without checks for signals.
                return run(py, || perform().unwrap_or(Err(Error::Abandoned))).map(Some);
            };
            let mut raised = None;
            while !worker.is_finished() {
                let is_long = py.detach(|| {
                    let waiting = result.lock().unwrap_or_else(PoisonError::into_inner);
                    let waited = done.wait_timeout_while(waiting, SLICE, |result| result.is_none());
                    waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
                });
                if is_long
                    && raised.is_none()
                    && let Err(error) = py.check_signals().and_then(|()| progress.report(task, false))
                {
                    task.abandon();
                    raised = Some(error);
                }
            }
            let taken = run(py, || {
                let joined = worker.join();
                let taken = result.lock().unwrap_or_else(PoisonError::into_inner).take();
                match (joined, taken) {
                    (Ok(()), Some(result)) => result.map(Some),
                    (Ok(()), None) => Ok(None),
                    (Err(panic), _) => std::panic::resume_unwind(panic),
                }
            });
            raised.map_or(taken, Err)
        })?;
        progress.report(task, true)?;
        outcome.ok_or_else(|| PyRuntimeError::new_err("the engine gave no result"))
    }
}

/// Wakes the waiting thread when it is dropped, also by a panic.
struct WakeOnDrop<'wait> {
    done: &'wait Condvar,
}

impl Drop for WakeOnDrop<'_> {
    fn drop(&mut self) {
        self.done.notify_all();
    }
}

struct Progress<'call, 'py> {
    call: Call<'call, 'py>,
    /// For each reading, by its position in the task, the last number of files that was reported.
    reported: BTreeMap<usize, usize>,
}

impl Progress<'_, '_> {
    /// Reports the numbers that changed. At the `end`, it reports only readings that were reported before, so that
    /// each of these ends with its last number.
    fn report(&mut self, task: &Task, end: bool) -> PyResult<()> {
        let Some(on_progress) = self.call.on_progress else { return Ok(()) };
        for (at, reading) in task.readings().iter().enumerate() {
            let done = reading.done();
            let reported = self.reported.get(&at);
            let is_new = if end {
                reported.is_some_and(|reported| *reported != done)
            } else {
                reported != Some(&done)
            };
            if reading.total > 0 && is_new {
                self.reported.insert(at, done);
                let id = &self.call.snapshot.sources[reading.source as usize].id;
                on_progress.call1((id, done, reading.total))?;
            }
        }
        Ok(())
    }
}
