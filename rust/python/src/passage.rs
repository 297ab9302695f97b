//! One concept that answers a question.

use std::{borrow::Cow, sync::Arc};

use okf_engine::{
    answer::{Answer, Passage},
    document::{Status, Trust},
};
use pyo3::{
    IntoPyObjectExt,
    prelude::*,
    sync::PyOnceLock,
    types::{PyDict, PyTuple, PyType},
};

/// The fields, in the order of the constructor.
const FIELDS: [&str; 11] = [
    "source_id",
    "concept_id",
    "title",
    "excerpt",
    "score",
    "bundle_relative_path",
    "trust_tier",
    "status",
    "stale_after",
    "concept_type",
    "description",
];

/// One concept that answers a question (D5). Immutable; compares by value; fields are made when read.
///
/// ``score`` counts at least 1 (K3), ``excerpt`` is the first matching line of the body or empty (K6),
/// ``stale_after`` is the text as written (L2).
#[pyclass(frozen, module = "okf_catalog")]
pub(crate) struct KnowledgePassage(Content);

enum Content {
    /// Looked up in the answer it belongs to.
    Found { answer: Arc<Answer>, passage: Passage },
    /// Made by a caller, or unpickled.
    Made(Box<Made>),
}

struct Made {
    source_id: String,
    concept_id: String,
    title: Option<String>,
    excerpt: String,
    score: u32,
    bundle_relative_path: String,
    trust: Trust,
    status: Status,
    stale_after: Option<String>,
    concept_type: Option<String>,
    description: Option<String>,
}

impl KnowledgePassage {
    pub(crate) fn found(answer: Arc<Answer>, passage: Passage) -> Self {
        Self(Content::Found { answer, passage })
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyAny>; 11]> {
        Ok([
            self.source_id().into_bound_py_any(py)?,
            self.concept_id().into_bound_py_any(py)?,
            self.title().into_bound_py_any(py)?,
            self.excerpt().into_bound_py_any(py)?,
            self.score().into_bound_py_any(py)?,
            self.bundle_relative_path().into_bound_py_any(py)?,
            self.trust_tier(py)?,
            self.status(py)?,
            self.stale_after().into_bound_py_any(py)?,
            self.concept_type().into_bound_py_any(py)?,
            self.description().into_bound_py_any(py)?,
        ])
    }

    fn trust(&self) -> Trust {
        match &self.0 {
            Content::Found { passage, .. } => passage.concept.document.trust,
            Content::Made(made) => made.trust,
        }
    }

    fn concept_status(&self) -> Status {
        match &self.0 {
            Content::Found { passage, .. } => passage.concept.document.status,
            Content::Made(made) => made.status,
        }
    }
}

#[pymethods]
impl KnowledgePassage {
    #[new]
    #[pyo3(signature = (*, source_id, concept_id, title, excerpt, score, bundle_relative_path, trust_tier,
        status, stale_after, concept_type, description))]
    #[allow(clippy::too_many_arguments)] // One for each field.
    fn new(
        py: Python<'_>,
        source_id: String,
        concept_id: String,
        title: Option<String>,
        excerpt: String,
        score: u32,
        bundle_relative_path: String,
        trust_tier: &Bound<'_, PyAny>,
        status: &Bound<'_, PyAny>,
        stale_after: Option<String>,
        concept_type: Option<String>,
        description: Option<String>,
    ) -> PyResult<Self> {
        let trust: String = trust_class(py)?.call1((trust_tier,))?.getattr("value")?.extract()?;
        let status: String = status_class(py)?.call1((status,))?.getattr("value")?.extract()?;
        Ok(Self(Content::Made(Box::new(Made {
            source_id,
            concept_id,
            title,
            excerpt,
            score,
            bundle_relative_path,
            trust: match trust.as_str() {
                "human_reviewed" => Trust::HumanReviewed,
                "machine_confirmed" => Trust::MachineConfirmed,
                _ => Trust::Unverified,
            },
            status: match status.as_str() {
                "draft" => Status::Draft,
                "deprecated" => Status::Deprecated,
                _ => Status::Stable,
            },
            stale_after,
            concept_type,
            description,
        }))))
    }

    #[getter]
    fn source_id(&self) -> &str {
        match &self.0 {
            Content::Found { answer, passage } => &answer.snapshot().sources[passage.source as usize].id,
            Content::Made(made) => &made.source_id,
        }
    }

    #[getter]
    fn concept_id(&self) -> &str {
        match &self.0 {
            Content::Found { passage, .. } => &passage.concept.id,
            Content::Made(made) => &made.concept_id,
        }
    }

    #[getter]
    fn title(&self) -> Option<&str> {
        match &self.0 {
            Content::Found { passage, .. } => passage.concept.document.title.as_deref(),
            Content::Made(made) => made.title.as_deref(),
        }
    }

    #[getter]
    fn excerpt(&self) -> &str {
        match &self.0 {
            Content::Found { answer, passage } => answer.excerpt(&passage.concept),
            Content::Made(made) => &made.excerpt,
        }
    }

    #[getter]
    fn score(&self) -> u32 {
        match &self.0 {
            Content::Found { passage, .. } => passage.score,
            Content::Made(made) => made.score,
        }
    }

    #[getter]
    fn bundle_relative_path(&self) -> Cow<'_, str> {
        match &self.0 {
            Content::Found { passage, .. } => passage.concept.bundle_relative_path().into(),
            Content::Made(made) => made.bundle_relative_path.as_str().into(),
        }
    }

    #[getter]
    fn trust_tier<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        trust_class(py)?.call1((self.trust().as_str(),))
    }

    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        status_class(py)?.call1((self.concept_status().as_str(),))
    }

    #[getter]
    fn stale_after(&self) -> Option<&str> {
        match &self.0 {
            Content::Found { passage, .. } => passage.concept.document.stale_after.as_deref(),
            Content::Made(made) => made.stale_after.as_deref(),
        }
    }

    #[getter]
    fn concept_type(&self) -> Option<&str> {
        match &self.0 {
            Content::Found { passage, .. } => passage.concept.document.concept_type.as_deref(),
            Content::Made(made) => made.concept_type.as_deref(),
        }
    }

    #[getter]
    fn description(&self) -> Option<&str> {
        match &self.0 {
            Content::Found { passage, .. } => passage.concept.document.description.as_deref(),
            Content::Made(made) => made.description.as_deref(),
        }
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.source_id() == other.source_id()
            && self.concept_id() == other.concept_id()
            && self.score() == other.score()
            && self.title() == other.title()
            && self.bundle_relative_path() == other.bundle_relative_path()
            && self.trust() == other.trust()
            && self.concept_status() == other.concept_status()
            && self.stale_after() == other.stale_after()
            && self.concept_type() == other.concept_type()
            && self.description() == other.description()
            && self.excerpt() == other.excerpt()
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyTuple::new(py, self.values(py)?)?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let fields = FIELDS
            .iter()
            .zip(self.values(py)?)
            .map(|(name, value)| Ok(format!("{name}={}", value.repr()?)))
            .collect::<PyResult<Vec<_>>>()?;
        Ok(format!("KnowledgePassage({})", fields.join(", ")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = slf.py();
        let fields = PyDict::new(py);
        for (name, value) in FIELDS.iter().zip(slf.get().values(py)?) {
            fields.set_item(name, value)?;
        }
        let make = py.import("copyreg")?.getattr("__newobj_ex__")?;
        Ok((make, (slf.get_type(), PyTuple::empty(py), fields).into_bound_py_any(py)?))
    }
}

/// The whole body of a passage that came from an answer; `None` for one that was made by hand or unpickled.
#[pyfunction]
#[pyo3(signature = (passage, /))]
pub(crate) fn passage_body<'passage>(
    passage: &'passage Bound<'_, KnowledgePassage>,
) -> Option<&'passage str> {
    match &passage.get().0 {
        Content::Found { passage, .. } => Some(&passage.concept.document.body),
        Content::Made(_) => None,
    }
}

// The two enums are Python's own, so that they are what `enum` makes everywhere else; importing them on
// every access would cost more than all other fields together.

fn trust_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "okf_catalog.values", "TrustTier")
}

fn status_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "okf_catalog.values", "ConceptStatus")
}
