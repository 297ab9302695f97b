//! How a bundle is compared with the disk.

use std::sync::Arc;

use crate::{
    disk::{events::Events, sealed::Sealed},
    work::task::Task,
};

/// What one comparison may use, and what it must not enter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CompareOptions<'call> {
    pub(crate) events: &'call Events,
    /// Larger files are problems (B9).
    pub(crate) max_bytes: u64,
    pub(crate) threads: usize,
    pub(crate) task: &'call Task,
    /// Directories that hold memories.
    pub(crate) sealed: &'call Arc<Sealed>,
    /// The source that progress is reported for, as a position in the snapshot.
    pub(crate) source: u32,
}
