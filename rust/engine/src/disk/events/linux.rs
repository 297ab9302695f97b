//! Linux: the queue of inotify.

mod ancestors;
mod descriptor;
mod drain;
mod file_systems;
mod queue;
mod watch_list;

#[cfg(test)]
mod tests;

pub(crate) use file_systems::{contains_file_mount, uses_local_clock, why_incomplete};
pub(crate) use queue::{EventQueue, QueueGuard};
