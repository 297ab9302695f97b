//! The room that touches the file system.
//!
//! From the bottom up:
//!
//! - `open`, `regular` and `entry` open files and directories, and look at entries, without following links;
//!   `os_error` puts errors of the system into words.
//! - `identity`, `stamp`, `granularity` and `location` tell whether two looks saw the same file, content or mount;
//!   `ancestors` visits the parents of a directory.
//! - `fence` enters the directories that a manifest names.
//! - `marks`, `directory_set`, `sealed` and `root_ancestors` keep readers of knowledge out of memories.
//! - `walk` lists the directories of a bundle (`lister`, `listing`, `link_target`, `visitor`), and `read` reads one of its
//!   files (`bundle_file`).
//! - `events` asks the kernel, before each search, what changed in bundles.
//! - `manifest_watch` calls back when the manifest changes.

pub(crate) mod ancestors;
mod bundle_file;
pub(crate) mod directory;
pub(crate) mod directory_set;
pub(crate) mod entry;
pub(crate) mod events;
pub(crate) mod fence;
pub(crate) mod granularity;
pub(crate) mod identity;
mod link_target;
mod lister;
pub(crate) mod listing;
pub(crate) mod location;
pub(crate) mod manifest_watch;
pub(crate) mod marks;
pub(crate) mod open;
pub(crate) mod os_error;
pub(crate) mod read;
pub(crate) mod regular;
pub(crate) mod root_ancestors;
pub(crate) mod sealed;
pub(crate) mod stamp;
pub(crate) mod visitor;
pub(crate) mod walk;
