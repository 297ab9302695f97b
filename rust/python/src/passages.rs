//! The passages of an answer: a sequence that behaves as a tuple, and makes a passage only when it is accessed.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use okf_engine::Answer;
use pyo3::{
    basic::CompareOp,
    exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError},
    prelude::*,
    types::{PyList, PySlice, PyTuple, PyType},
};

use crate::passage::KnowledgePassage;

/// The passages of an answer. It behaves as a tuple, but makes a passage only when it is accessed.
#[pyclass(frozen, sequence, module = "okf_catalog")]
#[derive(Clone)]
pub(crate) struct Passages {
    answer: Arc<Answer>,
    /// The first position in the answer that is shown. The next ones are `start + step`, `start + 2 * step`, ...
    /// A slice shares the answer.
    start: isize,
    step: isize,
    len: usize,
}

impl Passages {
    pub(crate) fn whole(answer: Arc<Answer>) -> Self {
        let len = answer.len();
        Self { answer, start: 0, step: 1, len }
    }

    fn get(&self, at: usize) -> Option<KnowledgePassage> {
        if at >= self.len {
            return None;
        }
        let place = self.start.checked_add(self.step.checked_mul(isize::try_from(at).ok()?)?)?;
        let passage = self.answer.passage(usize::try_from(place).ok()?)?;
        Some(KnowledgePassage::found(Arc::clone(&self.answer), passage))
    }

    fn iter(&self) -> impl Iterator<Item = KnowledgePassage> {
        (0..self.len).map_while(|at| self.get(at))
    }

    fn tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let all = self.iter().map(|passage| Bound::new(py, passage)).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, all)
    }

    /// `other` as a tuple, if it is a tuple or `Passages`.
    fn tuple_of<'py>(other: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        if let Ok(passages) = other.cast::<Self>() {
            return passages.get().tuple(other.py()).map(Some);
        }
        Ok(other.cast::<PyTuple>().ok().cloned())
    }

    fn is_same_view(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.answer, &other.answer)
            && (self.start, self.step, self.len) == (other.start, other.step, other.len)
    }
}

#[pymethods]
impl Passages {
    fn __len__(&self) -> usize {
        self.len
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        let len = isize::try_from(self.len)?;
        if let Ok(slice) = index.cast::<PySlice>() {
            let part = slice.indices(len)?;
            let view = Self {
                answer: Arc::clone(&self.answer),
                start: self.start + self.step * part.start,
                step: self.step.saturating_mul(part.step),
                len: part.slicelength,
            };
            return Ok(Bound::new(py, view)?.into_any());
        }
        let at = match index.extract::<isize>() {
            Ok(at) => at,
            // An index that does not fit into a machine integer is out of range.
            Err(error) if error.is_instance_of::<PyOverflowError>(py) => {
                return Err(PyIndexError::new_err("passage index out of range"));
            }
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                let kind = index.get_type().name()?;
                let message = format!("passage indices must be integers or slices, not {kind}");
                return Err(PyTypeError::new_err(message));
            }
            Err(error) => return Err(error),
        };
        let at = if at < 0 { at.saturating_add(len) } else { at };
        let passage = usize::try_from(at).ok().and_then(|at| self.get(at));
        let passage = passage.ok_or_else(|| PyIndexError::new_err("passage index out of range"))?;
        Ok(Bound::new(py, passage)?.into_any())
    }

    fn __iter__(&self) -> PassageIterator {
        PassageIterator { passages: self.clone(), next: AtomicUsize::new(0) }
    }

    fn __reversed__(&self) -> PassageIterator {
        let last = isize::try_from(self.len).unwrap_or(0) - 1;
        let passages = Self {
            answer: Arc::clone(&self.answer),
            start: self.start + self.step * last,
            step: -self.step,
            len: self.len,
        };
        PassageIterator { passages, next: AtomicUsize::new(0) }
    }

    fn __contains__(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.tuple(value.py())?.contains(value)
    }

    /// The index of the first passage that equals `value`; raises `ValueError` if there is none.
    #[pyo3(signature = (value, start=None, stop=None, /))]
    fn index(
        &self,
        value: &Bound<'_, PyAny>,
        start: Option<&Bound<'_, PyAny>>,
        stop: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let tuple = self.tuple(value.py())?;
        let found = match (start, stop) {
            (None, _) => tuple.call_method1("index", (value,)),
            (Some(start), None) => tuple.call_method1("index", (value, start)),
            (Some(start), Some(stop)) => tuple.call_method1("index", (value, start, stop)),
        };
        found.map(Bound::unbind).map_err(|error| {
            if error.is_instance_of::<PyValueError>(value.py()) {
                PyValueError::new_err("no passage equals the value")
            } else {
                error
            }
        })
    }

    /// How many passages equal `value`.
    #[pyo3(signature = (value, /))]
    fn count(&self, value: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Ok(self.tuple(value.py())?.call_method1("count", (value,))?.unbind())
    }

    fn __add__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        match Self::tuple_of(other)? {
            Some(other) => self.tuple(py)?.add(other),
            None => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __radd__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        match Self::tuple_of(other)? {
            Some(other) => other.add(self.tuple(py)?),
            None => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __mul__<'py>(&self, times: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.tuple(times.py())?.mul(times)
    }

    fn __rmul__<'py>(&self, times: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.tuple(times.py())?.mul(times)
    }

    fn __richcmp__<'py>(&self, other: &Bound<'py, PyAny>, op: CompareOp) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        if let (Ok(passages), CompareOp::Eq) = (other.cast::<Self>(), op)
            && self.is_same_view(passages.get())
        {
            return Ok(true.into_pyobject(py)?.to_owned().into_any());
        }
        match Self::tuple_of(other)? {
            Some(other) => self.tuple(py)?.rich_compare(other, op),
            None => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.tuple(py)?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        const SHOWN: usize = 3;
        let mut names = self
            .iter()
            .take(SHOWN)
            .map(|passage| {
                let passage = Bound::new(py, passage)?;
                let (source, concept) = (passage.getattr("source_id")?, passage.getattr("concept_id")?);
                Ok(format!("{source}:{concept}"))
            })
            .collect::<PyResult<Vec<_>>>()?;
        if self.len > SHOWN {
            names.push("…".to_owned());
        }
        let separator = if names.is_empty() { "" } else { ": " };
        Ok(format!("<Passages {}{separator}{}>", self.len, names.join(", ")))
    }

    /// Is pickled as a plain tuple.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyList>,))> {
        let all = self.iter().map(|passage| Bound::new(py, passage)).collect::<PyResult<Vec<_>>>()?;
        Ok((py.get_type::<PyTuple>(), (PyList::new(py, all)?,)))
    }
}

/// An iterator over passages.
#[pyclass(frozen, module = "okf_catalog._engine")]
pub(crate) struct PassageIterator {
    passages: Passages,
    next: AtomicUsize,
}

#[pymethods]
impl PassageIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self) -> Option<KnowledgePassage> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        self.passages.get(at)
    }

    fn __length_hint__(&self) -> usize {
        self.passages.len.saturating_sub(self.next.load(Ordering::Relaxed))
    }
}
