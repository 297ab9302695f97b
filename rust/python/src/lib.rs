//! The binding: converts, detaches from the interpreter, translates errors. It decides nothing.

mod answer;
mod batch;
mod catalog;
mod convert;
mod errors;
mod memory;
mod passage;
mod passages;
mod patience;
mod reading;
mod table;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _engine {
    #[pymodule_export]
    use crate::{
        answer::Answer,
        batch::{BatchAnswer, Conversation},
        catalog::{Catalog, Snapshot, is_blank, note_fork, parse_manifest},
        memory::Memory,
        passage::KnowledgePassage,
        passages::{PassageIterator, Passages},
        reading::read_document,
        table::Table,
    };
}
