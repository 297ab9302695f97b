//! The only room that touches the file system.

pub(crate) mod above;
pub mod directory;
pub(crate) mod events;
pub mod fence;
pub mod file_watch;
pub mod identity;
pub mod listing;
pub(crate) mod marks;
pub(crate) mod open;
pub mod read;
pub(crate) mod sealed;
pub(crate) mod seals;
pub(crate) mod settling;
pub mod stamp;
pub mod walk;
