//! Work that may take seconds: somebody may press Ctrl-C meanwhile, or want to see how far it is.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use okf_engine::{Error, Task, manifest::snapshot::Snapshot};
use pyo3::{exceptions::PyRuntimeError, prelude::*};

use crate::errors::run;

/// How long Python is not asked.
const SLICE: Duration = Duration::from_millis(50);

/// Lets one thread say that nobody waits any more for what another one does.
#[pyclass(frozen, module = "okf_catalog._engine")]
#[derive(Default)]
pub(crate) struct Cancellation(Arc<AtomicBool>);

#[pymethods]
impl Cancellation {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ends every call that was given this, at its next slice, and those that are given it later at once.
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a call is done for: until somebody cancels it, if somebody can.
pub(crate) fn task_of(cancellation: Option<&Bound<'_, Cancellation>>) -> Task {
    cancellation.map_or_else(Task::default, |held| Task::until(Arc::clone(&held.get().0)))
}

/// Does the work on a thread of its own, and asks Python meanwhile whether to go on. `on_progress` is called
/// with the id of a source, how many of its files are read, and how many there are to read.
pub(crate) fn run_patiently<T: Send>(
    py: Python<'_>,
    snapshot: &Snapshot,
    on_progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Task) -> Result<T, Error> + Send,
) -> PyResult<T> {
    run_as_long_as(py, &Task::default(), snapshot, on_progress, work)
}

/// As [`run_patiently`]; the task may be abandoned by others too.
pub(crate) fn run_as_long_as<T: Send>(
    py: Python<'_>,
    task: &Task,
    snapshot: &Snapshot,
    on_progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Task) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let (result, done) = (Mutex::new(None), Condvar::new());
    let work = Mutex::new(Some(work));
    let perform = || {
        let taken = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.map(|work| work(task))
    };
    let mut progress = Teller { snapshot, on_progress, told: BTreeMap::new() };
    let outcome = thread::scope(|scope| {
        let worker = thread::Builder::new().spawn_scoped(scope, || {
            // A panic leaves no result, and is passed on when the thread is joined.
            let finish = Finish { done: &done };
            *result.lock().unwrap_or_else(PoisonError::into_inner) = perform();
            drop(finish);
        });
        let Ok(worker) = worker else {
            // No thread is to be had: then without asking.
            return run(py, || perform().unwrap_or(Err(Error::Abandoned))).map(Some);
        };
        let mut refusal = None;
        while !worker.is_finished() {
            let is_long = py.detach(|| {
                let waiting = result.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = done.wait_timeout_while(waiting, SLICE, |result| result.is_none());
                waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
            });
            if is_long
                && refusal.is_none()
                && let Err(error) = py.check_signals().and_then(|()| progress.tell(task, false))
            {
                task.abandon();
                refusal = Some(error);
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
        refusal.map_or(taken, Err)
    })?;
    progress.tell(task, true)?;
    outcome.ok_or_else(|| PyRuntimeError::new_err("the engine gave no result"))
}

/// Wakes whoever waits, also when a panic passes.
struct Finish<'wait> {
    done: &'wait Condvar,
}

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.done.notify_all();
    }
}

struct Teller<'call, 'py> {
    snapshot: &'call Snapshot,
    on_progress: Option<&'call Bound<'py, PyAny>>,
    /// For each reading, what was told of it last.
    told: BTreeMap<usize, usize>,
}

impl Teller<'_, '_> {
    /// Tells what is new; at the `end` only of what was told of before, so that nobody misses the last step.
    fn tell(&mut self, task: &Task, end: bool) -> PyResult<()> {
        let Some(on_progress) = self.on_progress else { return Ok(()) };
        for (at, reading) in task.readings().iter().enumerate() {
            let done = reading.done();
            let told = self.told.get(&at);
            let is_news = if end { told.is_some_and(|told| *told != done) } else { told != Some(&done) };
            if reading.total > 0 && is_news {
                self.told.insert(at, done);
                let id = &self.snapshot.sources[reading.source as usize].id;
                on_progress.call1((id, done, reading.total))?;
            }
        }
        Ok(())
    }
}
