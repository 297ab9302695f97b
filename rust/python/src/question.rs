//! A question of Python.

use std::num::NonZeroUsize;

use okf_engine::{Question as EngineQuestion, Scoring, Snapshot, Staleness, Strategy, Unit};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyInt};

/// A question whose visible sources are decided. `visible` has their positions in the snapshot, in order S1. Without
/// `grace_days`, stale concepts are admitted.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct Question {
    inner: EngineQuestion,
}

#[pymethods]
impl Question {
    #[new]
    #[pyo3(signature = (text, tag, grace_days, scoring, unit, strategy, quota, visible))]
    #[allow(clippy::too_many_arguments)] // One for each field.
    fn new(
        text: String,
        tag: Option<String>,
        grace_days: Option<&Bound<'_, PyInt>>,
        scoring: &str,
        unit: &str,
        strategy: &str,
        quota: Option<&Bound<'_, PyInt>>,
        visible: Vec<u32>,
    ) -> PyResult<Self> {
        let scoring = Scoring::named(scoring)
            .ok_or_else(|| PyValueError::new_err(format!("no scoring is called {scoring:?}")))?;
        let unit =
            Unit::named(unit).ok_or_else(|| PyValueError::new_err(format!("no unit is called {unit:?}")))?;
        let strategy = Strategy::named(strategy)
            .ok_or_else(|| PyValueError::new_err(format!("no strategy is called {strategy:?}")))?;
        let staleness =
            grace_days.map_or(Staleness::Use, |days| Staleness::Tolerate { days: saturated(days) });
        let quota = quota
            .and_then(|quota| NonZeroUsize::new(usize::try_from(saturated(quota)).unwrap_or(usize::MAX)));
        Ok(Self { inner: EngineQuestion { text, tag, staleness, scoring, unit, strategy, quota, visible } })
    }
}

impl Question {
    /// The engine's question.
    ///
    /// # Errors
    /// `ValueError` if a visible source is not in the snapshot.
    pub(crate) fn of(&self, snapshot: &Snapshot) -> PyResult<&EngineQuestion> {
        if self.inner.visible.iter().any(|at| *at as usize >= snapshot.sources.len()) {
            return Err(PyValueError::new_err("a visible source is not in the snapshot"));
        }
        Ok(&self.inner)
    }
}

/// The number, or the largest `u64` if it is larger, which means the same. Python has checked that it is not
/// negative.
fn saturated(number: &Bound<'_, PyInt>) -> u64 {
    number.extract().unwrap_or(u64::MAX)
}
