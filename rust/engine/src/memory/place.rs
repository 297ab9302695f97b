//! Where one scope's memories of one tier are.

use crate::{
    manifest::{
        snapshot::Snapshot,
        source::{Source, Tier},
    },
    memory::{path::scope_directory, scope::Scope},
};

/// One scope in one memory source of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The position of the memory source in the snapshot.
    pub(super) source: u32,
    /// The tier of the memory source.
    pub(super) tier: Tier,
    /// Whose memories.
    pub(super) scope: Scope,
    /// The directory of the scope below the directory of the source, with `/` between parts.
    pub(super) path: String,
}

impl Place {
    /// The memories of a scope in the source at a position of a snapshot; `None` if that is no memory source.
    #[must_use]
    pub fn new(snapshot: &Snapshot, source: u32, scope: &Scope) -> Option<Self> {
        let tier = snapshot.sources.get(source as usize)?.tier?;
        Some(Self { source, tier, scope: scope.clone(), path: scope_directory(tier, scope) })
    }

    /// The manifest's entry for the memory source.
    pub(super) fn source_in<'a>(&self, snapshot: &'a Snapshot) -> &'a Source {
        &snapshot.sources[self.source as usize]
    }
}
