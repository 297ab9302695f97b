//! One concept that answers a question, or a section of one.

use std::{borrow::Cow, sync::Arc};

use okf_engine::{Answer, MAX_SNIPPET_CHARACTERS, Passage, Status, Terms, Trust, is_blank, snippet_window};
use pyo3::{
    IntoPyObjectExt,
    prelude::*,
    types::{PyDict, PyTuple},
};

use crate::{names, section::Section};

/// The fields, in the order of the constructor.
const FIELDS: [&str; 14] = [
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
    "snippet",
    "is_stale",
    "section",
];

/// One concept that answers a question (D5), or a section of one (V9). It is immutable and compares by value. Each field is made when it
/// is read.
///
/// ``score`` is at least 1 (K3, V5). ``snippet`` is what a reader should see, one line of at most 320
/// characters (K7). ``excerpt`` is the whole first line of the body that matches, or empty (K6).
/// ``stale_after`` is the text as written (L2). ``is_stale`` says whether that instant was reached when the
/// question was asked, whatever its policy (L3). ``section`` is the part of the concept that the passage shows, if
/// the query asked for sections, or else ``None``.
///
/// If a passage is constructed without a ``snippet``, its snippet is made from the ``excerpt``, or from the
/// ``description`` if the excerpt is blank: one line of at most 320 characters.
#[pyclass(frozen, module = "okf_catalog")]
pub(crate) struct KnowledgePassage(Content);

enum Content {
    /// A passage of an answer. Its fields are looked up in the answer.
    Found { answer: Arc<Answer>, passage: Passage },
    /// Constructed by a caller, or unpickled.
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
    snippet: String,
    is_stale: bool,
    section: Option<Section>,
}

impl Made {
    /// The snippet of a passage that is constructed without one.
    fn default_snippet(excerpt: &str, description: Option<&str>) -> String {
        let text = if is_blank(excerpt) { description.unwrap_or_default() } else { excerpt };
        snippet_window(text, &Terms::default(), MAX_SNIPPET_CHARACTERS)
    }
}

impl KnowledgePassage {
    pub(crate) fn found(answer: Arc<Answer>, passage: Passage) -> Self {
        Self(Content::Found { answer, passage })
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyAny>; 14]> {
        Ok([
            self.source_id().into_bound_py_any(py)?,
            self.concept_id().into_bound_py_any(py)?,
            self.title().into_bound_py_any(py)?,
            self.excerpt().into_bound_py_any(py)?,
            self.score().into_bound_py_any(py)?,
            self.bundle_relative_path().into_bound_py_any(py)?,
            self.trust_tier(py)?.into_bound(py),
            self.status(py)?.into_bound(py),
            self.stale_after().into_bound_py_any(py)?,
            self.concept_type().into_bound_py_any(py)?,
            self.description().into_bound_py_any(py)?,
            self.snippet().into_bound_py_any(py)?,
            self.is_stale().into_bound_py_any(py)?,
            self.section(py)?.into_bound_py_any(py)?,
        ])
    }

    /// Whether both are the same passage of the same answer.
    fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (
                Content::Found { answer, passage },
                Content::Found { answer: other_answer, passage: other_passage },
            ) => {
                Arc::ptr_eq(answer, other_answer)
                    && Arc::ptr_eq(&passage.concept, &other_passage.concept)
                    && (passage.source, passage.score) == (other_passage.source, other_passage.score)
                    && self.shown_section() == other.shown_section()
            }
            _ => false,
        }
    }

    fn has_equal_fields(&self, other: &Self) -> bool {
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
            && self.is_stale() == other.is_stale()
            && self.excerpt() == other.excerpt()
            && self.snippet() == other.snippet()
            && self.shown_section() == other.shown_section()
    }

    fn shown_section(&self) -> Option<Cow<'_, Section>> {
        match &self.0 {
            Content::Found { answer, passage } => Section::shown(answer, passage).map(Cow::Owned),
            Content::Made(made) => made.section.as_ref().map(Cow::Borrowed),
        }
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
        status, stale_after, concept_type, description, snippet=None, is_stale=false, section=None))]
    #[allow(clippy::too_many_arguments)] // One for each field.
    fn new(
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
        snippet: Option<String>,
        is_stale: bool,
        section: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let trust = names::trust_of(trust_tier)?;
        let status = names::status_of(status)?;
        let section = section.map(Section::given).transpose()?;
        let snippet = snippet.unwrap_or_else(|| Made::default_snippet(&excerpt, description.as_deref()));
        Ok(Self(Content::Made(Box::new(Made {
            source_id,
            concept_id,
            title,
            excerpt,
            score,
            bundle_relative_path,
            trust,
            status,
            stale_after,
            concept_type,
            description,
            snippet,
            is_stale,
            section,
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
    fn trust_tier(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        names::trust(py, self.trust())
    }

    #[getter]
    fn status(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        names::status(py, self.concept_status())
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

    #[getter]
    fn snippet(&self) -> Cow<'_, str> {
        match &self.0 {
            Content::Found { answer, passage } => answer.snippet(&passage.concept).into(),
            Content::Made(made) => made.snippet.as_str().into(),
        }
    }

    #[getter]
    fn is_stale(&self) -> bool {
        match &self.0 {
            Content::Found { answer, passage } => answer.is_stale(&passage.concept),
            Content::Made(made) => made.is_stale,
        }
    }

    #[getter]
    fn section<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.shown_section().map(|section| section.value(py)).transpose()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.is_same(other) || self.has_equal_fields(other)
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

/// The whole body of a passage from an answer; `None` for one that was constructed or unpickled.
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
