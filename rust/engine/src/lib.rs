//! Searches many Open Knowledge Format bundles at once.
//!
//! A [`Catalog`] reads a manifest that names bundles as sources; an [`InMemoryCatalog`] holds sources made of texts.
//! A search takes one immutable snapshot of it, brings the bundles that it needs up to date, scores every concept of
//! every visible source, and puts what matched into one order. The ids in the documentation (`K3`, `R5`, ...) name
//! the facts of the project's semantics that a piece of code carries out.
//!
//! The modules are rooms, each above those that it uses: `text` and `work` at the ground; `document` reads one file;
//! `manifest` reads the text of a manifest; `disk` is the only room that opens files; `search` holds the index and
//! scores; `ask` puts questions to whatever can be searched; `bundle` keeps an index equal to a directory; `memory`
//! is what a host remembers; `catalog` is what a host holds. `docs/architecture.md` has the drawing. Only what is
//! re-exported here is public.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use okf_engine::{Catalog, Options, Question, Scoring, Staleness, Strategy, Task, Unit};
//!
//! # let directory = tempfile::tempdir()?;
//! # std::fs::create_dir(directory.path().join("sales"))?;
//! # std::fs::write(directory.path().join("sales/revenue.md"), "---\ntitle: Revenue\n---\nNet of refunds.\n")?;
//! # std::fs::write(
//! #     directory.path().join("catalog.json"),
//! #     r#"{"version": 1, "sources": [{"id": "sales", "path": "sales"}]}"#,
//! # )?;
//! let catalog = Catalog::open(Options::new(directory.path().join("catalog.json")))?;
//! let snapshot = catalog.current();
//! let question = Question {
//!     text: "refunds".to_owned(),
//!     tag: None,
//!     staleness: Staleness::Use,
//!     scoring: Scoring::WeightedTerms,
//!     unit: Unit::Concept,
//!     strategy: Strategy::Merged,
//!     quota: None,
//!     visible: snapshot.candidates().to_vec(),
//! };
//! let answer = catalog.search(&snapshot, &question, None, &Task::default())?.value;
//! let passage = answer.passage(0).expect("one concept matches");
//! assert_eq!(passage.concept.id, "revenue");
//! assert_eq!(answer.excerpt(&passage.concept), "Net of refunds.");
//! # Ok(())
//! # }
//! ```

mod ask;
mod bundle;
mod catalog;
mod disk;
mod document;
mod error;
mod manifest;
mod memory;
mod named_enum;
mod search;
mod text;
mod work;

pub use ask::{
    answer::{Answer, Passage},
    diagnostic::{Diagnostic, DiagnosticCode},
    question::Question,
    rank::Strategy,
    snippet::{MAX_CHARS as MAX_SNIPPET_CHARACTERS, window as snippet_window},
    unit::Unit,
};
pub use catalog::{
    conversation::Conversation,
    in_memory::{InMemoryCatalog, TextSnapshot, TextSource},
    opened::Catalog,
    options::{Freshness, Options},
    report::SourceReport,
};
pub use disk::manifest_watch::WatchMode;
pub use document::{
    Document, ParsedFile, Status, Trust,
    concept::Concept,
    nodes,
    problem::{NewProblem, Problem, Reported},
    remark::{FileRemark, Remark, RemarkCode},
    sections::{Section, cut},
};
pub use error::Error;
pub use manifest::{
    diagnostic::{CatalogDiagnostic, CatalogDiagnosticCode},
    parse as parse_manifest,
    snapshot::Snapshot,
    source::{Role, Source, Tier},
};
pub use memory::{
    ConceptTitle, Deletion, Entry, Extent, IfThere, Listing, Marking, Memory, Overlap, Place, Scope,
    Unmarked, Value, Written, scope_directory, tier_of_word,
};
pub use search::{Scoring, Staleness};
pub use text::{
    grapheme::last_end as last_grapheme_end,
    instant::Instant,
    terms::{Terms, is_blank},
};
pub use work::{
    process::note_fork,
    task::{Abandoned, Task},
};
