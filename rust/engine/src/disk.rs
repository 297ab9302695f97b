//! Everything that touches the file system, but for what memories write.
//!
//! From the bottom up: [`open`], [`regular`] and [`entry`] open and look at entries without following links;
//! [`identity`], [`stamp`] and [`location`] tell files, their contents and their mounts apart; [`fence`] enters the
//! directories that a manifest names; [`marks`] and [`sealed`] keep readers out of memories; [`walk`] and [`read`]
//! read bundles; [`events`] asks the kernel before each search what changed in bundles; [`manifest_watch`] calls
//! back when the manifest changes.

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
pub mod manifest_watch;
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
