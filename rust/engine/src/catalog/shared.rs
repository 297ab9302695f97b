//! What the callers and the background thread of one process share.

use crate::{catalog::bundles::Bundles, disk::events::EventQueue};

/// The bundles, and the queue that tells of changes to them.
#[derive(Debug)]
pub(super) struct SharedState {
    pub(super) bundles: Bundles,
    pub(super) events: EventQueue,
}
