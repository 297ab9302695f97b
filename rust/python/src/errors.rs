//! Runs the engine's work outside the interpreter, and turns its errors into Python's exceptions.

use std::panic::{AssertUnwindSafe, catch_unwind};

use okf_engine::{CatalogDiagnostic, Error};
use pyo3::{
    prelude::*,
    types::{PyTuple, PyType},
};

/// Does the work detached from the interpreter; returns its value or an exception.
pub(crate) fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    // No panic is known. If there is one, it becomes an exception of this package. PyO3's own exception for a panic
    // would not be caught by `except Exception`.
    match py.detach(|| catch_unwind(AssertUnwindSafe(work))) {
        Ok(result) => result.map_err(|error| exception(py, error)),
        Err(_) => Err(package_exception(
            py,
            "OkfCatalogError",
            ("the engine failed; this is a bug in okf-catalog",),
        )),
    }
}

fn exception(py: Python<'_>, error: Error) -> PyErr {
    match error {
        // The caller that abandoned the work raises a more helpful exception.
        Error::Abandoned => package_exception(py, "OkfCatalogError", (error.to_string(),)),
        Error::Closed => package_exception(py, "CatalogClosedError", (error.to_string(),)),
        Error::Catalog(diagnostics) => match values(py, &diagnostics) {
            Ok(diagnostics) => package_exception(py, "CatalogError", (diagnostics,)),
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

/// An exception of a class that `okf_catalog.errors` defines.
fn package_exception<'py>(py: Python<'py>, name: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let raised = || -> PyResult<PyErr> {
        let class = py.import("okf_catalog.errors")?.getattr(name)?.cast_into::<PyType>()?;
        Ok(PyErr::from_value(class.call1(arguments)?))
    };
    raised().unwrap_or_else(|error| error)
}
