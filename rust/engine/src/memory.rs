//! What a host remembers, in the memory sources of a catalog: per tier, in one directory for each scope (Y1 to Y13).
//!
//! [`scope`](Scope) and [`path`](scope_directory) say where memories are; `read`, `write` and `delete` are the
//! operations of [`Memory`]; `failure` says why one was not done. Below them, `directories` opens and makes
//! directories, `lock` lets one writer in at a time, `replace` and `remove` change files and trees.

mod cache;
mod delete;
mod delete_concept;
mod delete_scopes;
mod directories;
mod encoding;
mod entry;
mod failure;
mod known_directories;
mod left_out;
mod lock;
mod marking;
mod overlap;
mod path;
mod place;
mod read;
mod remove;
mod replace;
mod scope;
mod section;
mod store;
mod write;
mod yaml;

pub(crate) use cache::ScopeCache;
pub use delete::Extent;
pub use delete_scopes::Deletion;
pub use entry::{Entry, IfThere, Value};
pub(crate) use known_directories::KnownDirectories;
pub use known_directories::Marking;
pub use marking::Unmarked;
pub use overlap::Overlap;
pub use path::scope_directory;
pub use place::Place;
pub use read::{ConceptTitle, Listing};
pub use scope::{Scope, tier_of_word};
pub use store::Memory;
pub use write::Written;
