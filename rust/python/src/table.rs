//! Passages as a table of columns, through the Arrow C stream interface.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, RecordBatch, RecordBatchReader, UInt32Array, builder::LargeStringBuilder,
    ffi_stream::FFI_ArrowArrayStream,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, ffi::FFI_ArrowSchema};
use okf_engine::Answer;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyCapsule};

use crate::{section::Section, section_column::SectionColumn};

/// At most this many rows are in one record batch.
const ROWS: usize = 4096;

/// Passages as rows, which are made while they are read. Any number of readers may read it, any number of times.
#[pyclass(frozen, module = "okf_catalog")]
pub(crate) struct Table {
    answers: Arc<[Arc<Answer>]>,
}

impl Table {
    pub(crate) fn of(answers: Vec<Arc<Answer>>) -> Self {
        Self { answers: answers.into() }
    }
}

#[pymethods]
impl Table {
    /// How many rows there are.
    fn __len__(&self) -> usize {
        self.answers.iter().map(|answer| answer.len()).sum()
    }

    fn __repr__(&self) -> String {
        format!("<Table of {} passages>", self.__len__())
    }

    /// The rows, by the Arrow `PyCapsule` interface. They always have the same schema.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets the producer ignore the requested schema. Readers then cast the columns.
        drop(requested_schema);
        let rows = Rows { answers: Arc::clone(&self.answers), schema: schema(), answer: 0, place: 0 };
        let stream = FFI_ArrowArrayStream::new(Box::new(rows));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The schema, by the Arrow `PyCapsule` interface.
    #[allow(clippy::unused_self)] // The interface wants a method.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*schema())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

fn schema() -> SchemaRef {
    let text = |name: &str, nullable: bool| Field::new(name, DataType::LargeUtf8, nullable);
    let number = |name: &str| Field::new(name, DataType::UInt32, false);
    Arc::new(Schema::new(vec![
        number("query_index"),
        number("rank"),
        text("source_id", false),
        text("concept_id", false),
        text("title", true),
        text("excerpt", false),
        number("score"),
        text("bundle_relative_path", false),
        text("trust_tier", false),
        text("status", false),
        text("stale_after", true),
        text("concept_type", true),
        text("description", true),
        text("snippet", false),
        Field::new("is_stale", DataType::Boolean, false),
        SectionColumn::field("section"),
    ]))
}

/// An iterator that makes the next record batch when a reader asks for it.
struct Rows {
    answers: Arc<[Arc<Answer>]>,
    schema: SchemaRef,
    answer: usize,
    place: usize,
}

#[derive(Default)]
struct Columns {
    query_index: Vec<u32>,
    rank: Vec<u32>,
    source_id: LargeStringBuilder,
    concept_id: LargeStringBuilder,
    title: LargeStringBuilder,
    excerpt: LargeStringBuilder,
    score: Vec<u32>,
    bundle_relative_path: LargeStringBuilder,
    trust_tier: LargeStringBuilder,
    status: LargeStringBuilder,
    stale_after: LargeStringBuilder,
    concept_type: LargeStringBuilder,
    description: LargeStringBuilder,
    snippet: LargeStringBuilder,
    is_stale: Vec<bool>,
    section: SectionColumn,
}

impl Columns {
    fn push(&mut self, query: usize, answer: &Answer, place: usize) -> Result<(), ArrowError> {
        let too_many = |_| ArrowError::ComputeError("a row number does not fit into 32 bits".to_owned());
        let Some(passage) = answer.passage(place) else { return Ok(()) };
        let document = &passage.concept.document;
        self.query_index.push(u32::try_from(query).map_err(too_many)?);
        self.rank.push(u32::try_from(place + 1).map_err(too_many)?);
        self.source_id.append_value(&answer.snapshot().sources[passage.source as usize].id);
        self.concept_id.append_value(&passage.concept.id);
        self.title.append_option(document.title.as_deref());
        self.excerpt.append_value(answer.excerpt(&passage.concept));
        self.score.push(passage.score);
        self.bundle_relative_path.append_value(passage.concept.bundle_relative_path());
        self.trust_tier.append_value(document.trust.as_str());
        self.status.append_value(document.status.as_str());
        self.stale_after.append_option(document.stale_after.as_deref());
        self.concept_type.append_option(document.concept_type.as_deref());
        self.description.append_option(document.description.as_deref());
        self.snippet.append_value(answer.snippet(&passage.concept));
        self.is_stale.push(answer.is_stale(&passage.concept));
        self.section.push(Section::shown(answer, &passage));
        Ok(())
    }

    fn finish(mut self, schema: SchemaRef) -> Result<RecordBatch, ArrowError> {
        let text = |builder: &mut LargeStringBuilder| Arc::new(builder.finish()) as ArrayRef;
        let number = |numbers: Vec<u32>| Arc::new(UInt32Array::from(numbers)) as ArrayRef;
        RecordBatch::try_new(
            schema,
            vec![
                number(self.query_index),
                number(self.rank),
                text(&mut self.source_id),
                text(&mut self.concept_id),
                text(&mut self.title),
                text(&mut self.excerpt),
                number(self.score),
                text(&mut self.bundle_relative_path),
                text(&mut self.trust_tier),
                text(&mut self.status),
                text(&mut self.stale_after),
                text(&mut self.concept_type),
                text(&mut self.description),
                text(&mut self.snippet),
                Arc::new(BooleanArray::from(self.is_stale)),
                Arc::new(self.section.finish()?),
            ],
        )
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut columns = Columns::default();
        while columns.rank.len() < ROWS
            && let Some(answer) = self.answers.get(self.answer)
        {
            if self.place == answer.len() {
                (self.answer, self.place) = (self.answer + 1, 0);
                continue;
            }
            if let Err(error) = columns.push(self.answer, answer, self.place) {
                return Some(Err(error));
            }
            self.place += 1;
        }
        (!columns.rank.is_empty()).then(|| columns.finish(Arc::clone(&self.schema)))
    }
}

impl RecordBatchReader for Rows {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
