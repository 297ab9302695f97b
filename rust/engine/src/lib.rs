//! Searches many Open Knowledge Format bundles at once.
//!
//! A [`Catalog`] reads a manifest that names bundles as sources. A search takes one immutable
//! [`Snapshot`](snapshot::Snapshot) of it, brings the bundles it needs up to date, scores every concept
//! of every visible source, and puts what matched into one order. The ids in the documentation (`K3`,
//! `R5`, ...) name the facts of the project's semantics that a piece of code carries out.
//!
//! The modules, in the order data flows through them: [`manifest`] and [`containment`] say where bundles
//! are; [`tree`] and [`document`] read them; the bundle room keeps what was read like the
//! disk; [`fold`], [`terms`], [`index`] and [`search`] find what matches; [`rank`] and [`fairness`] order
//! it; [`excerpt`], [`snippet`] and [`answer`] show it; [`memory`] keeps what a host remembers; [`catalog`] holds everything
//! together.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use okf_engine::{Catalog, Options, Question, Staleness, Strategy, Task};
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

pub mod ask;
mod bundle;
pub mod catalog;
pub mod disk;
pub mod document;
pub mod error;
pub mod manifest;
pub mod memory;
mod named_enum;
pub mod search;
pub mod text;
pub mod work;

pub use ask::{
    answer::{Answer, Passage},
    diagnostic::{Diagnostic, DiagnosticCode},
    question::Question,
    rank::Strategy,
    snippet::{MAX_CHARS as MAX_SNIPPET_CHARACTERS, window as snippet_window},
};
pub use catalog::{
    conversation::Conversation,
    in_memory::{InMemoryCatalog, TextSnapshot, TextSource},
    opened::Catalog,
    options::{Freshness, Options},
    process::note_fork,
    report::SourceReport,
};
pub use disk::file_watch::WatchState as FileWatchState;
pub use document::{
    Document, ParsedFile, Status, Trust,
    concept::Concept,
    nodes,
    problem::{NewProblem, Problem, Reported},
    remark::{FileRemark, Remark, RemarkCode},
};
pub use error::Error;
pub use manifest::{
    diagnostic::{CatalogDiagnostic, CatalogDiagnosticCode},
    parse as parse_manifest,
    snapshot::Snapshot,
    source::{Role, Source, Tier},
};
pub use memory::{
    ConceptTitle, Deletion, Entry, Extent, Listing, Marking, Memory, Overlap, Place, Scope, Unmarked, Value,
    Written, scope_directory, tier_of_word,
};
pub use search::Staleness;
pub use text::{
    grapheme::last_end as last_grapheme_end,
    instant::Instant,
    terms::{Terms, is_blank},
};
pub use work::task::Task;
