//! The door out of Python, and how the engine's errors become Python's.

use std::panic::{AssertUnwindSafe, catch_unwind};

use okf_engine::{CatalogDiagnostic, Error};
use pyo3::{
    prelude::*,
    types::{PyTuple, PyType},
};

/// The only door: leaves Python, does the work, returns a value or an exception.
pub(crate) fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    // No panic is known; should one come, it is an ordinary exception of ours, not one that passes every
    // `except Exception`.
    match py.detach(|| catch_unwind(AssertUnwindSafe(work))) {
        Ok(result) => result.map_err(|error| exception(py, error)),
        Err(_) => Err(ours(py, "OkfCatalogError", ("the engine failed; this is a fault of okf-catalog",))),
    }
}

fn exception(py: Python<'_>, error: Error) -> PyErr {
    match error {
        // Whoever abandoned it raises something better.
        Error::Abandoned => ours(py, "OkfCatalogError", (error.to_string(),)),
        Error::Closed => ours(py, "CatalogClosedError", (error.to_string(),)),
        Error::Catalog(diagnostics) => match values(py, &diagnostics) {
            Ok(diagnostics) => ours(py, "CatalogError", (diagnostics,)),
            Err(error) => error,
        },
    }
}

fn values<'py>(py: Python<'py>, diagnostics: &[CatalogDiagnostic]) -> PyResult<Bound<'py, PyTuple>> {
    let module = py.import("okf_catalog.diagnostics")?;
    let (value, code) = (module.getattr("CatalogDiagnostic")?, module.getattr("CatalogDiagnosticCode")?);
    let values = diagnostics
        .iter()
        .map(|diagnostic| {
            value.call1((code.call1((diagnostic.code.as_str(),))?, diagnostic.message.as_str()))
        })
        .collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, values)
}

/// An exception that `okf_catalog.errors` defines.
fn ours<'py>(py: Python<'py>, name: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let raised = || -> PyResult<PyErr> {
        let class = py.import("okf_catalog.errors")?.getattr(name)?.cast_into::<PyType>()?;
        Ok(PyErr::from_value(class.call1(arguments)?))
    };
    raised().unwrap_or_else(|error| error)
}
