//! What a host holds: an open catalog, over bundle directories or over texts.

pub(crate) mod background;
pub(crate) mod bundles;
pub(crate) mod conversation;
mod enter;
pub(crate) mod in_memory;
mod load;
pub(crate) mod opened;
pub(crate) mod options;
mod prepared;
pub(crate) mod process;
pub(crate) mod report;
mod search;
mod shared;
