//! The binding: converts, detaches from the interpreter, translates errors. It decides nothing.

mod answer;
mod batch;
mod catalog;
mod choice;
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
        catalog::{Catalog, Snapshot, is_blank, last_grapheme_end, note_fork, parse_manifest, remark_codes},
        memory::{Memory, memory_path, own_tier, tier_applies},
        passage::{KnowledgePassage, passage_body},
        passages::{PassageIterator, Passages},
        patience::Cancellation,
        reading::read_document,
        table::Table,
    };
}
