//! The binding between Python and the engine. It converts values, detaches from the interpreter, and translates
//! errors. It decides nothing.

mod answer;
mod catalog;
mod conversation;
mod errors;
mod in_memory;
mod memory;
mod names;
mod passage;
mod passages;
mod question;
mod reading;
mod rows;
mod section;
mod section_column;
mod snapshot;
mod table;
mod text;
mod wait;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _engine {
    #[pymodule_export]
    use crate::{
        answer::Answer,
        catalog::Catalog,
        conversation::{BatchAnswer, Conversation},
        in_memory::InMemoryCatalog,
        memory::{Memory, memory_path, own_tier, tier_applies},
        names::enum_names,
        passage::{KnowledgePassage, passage_body},
        passages::{PassageIterator, Passages},
        question::Question,
        reading::{read_document, read_sections},
        snapshot::Snapshot,
        table::Table,
        text::{is_blank, last_grapheme_end, note_fork, parse_manifest},
        wait::Cancellation,
    };
}
