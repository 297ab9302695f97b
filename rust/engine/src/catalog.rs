//! What a host holds: an open catalog, over bundle directories or over texts.

pub(crate) mod background;
pub(crate) mod bundles;
pub mod conversation;
mod enter;
pub mod in_memory;
mod load;
pub mod opened;
pub mod options;
mod prepared;
pub(crate) mod process;
pub mod report;
mod search;
mod shared;
