//! One immutable state of the catalog's manifest.

use std::path::PathBuf;

use super::source::{Role, Source, Tier};

/// The manifest as it was last read without a fault.
#[derive(Debug)]
pub struct Snapshot {
    /// The number of the successful load that made this snapshot, from 1 (C2, C3).
    pub generation: u64,
    /// The sources, in the order of the file (M2).
    pub sources: Vec<Source>,
    /// The directory that the paths of sources are relative to.
    pub manifest_directory: PathBuf,
    /// Positions in `sources`, in order S1.
    candidates: Vec<u32>,
    memories: Vec<(String, Tier)>,
}

impl Snapshot {
    /// A snapshot without sources.
    #[must_use]
    pub fn empty() -> Self {
        Self::new(0, Vec::new(), PathBuf::new())
    }

    /// The version of the manifest format.
    pub const VERSION: u32 = 1;

    pub(crate) fn new(generation: u64, sources: Vec<Source>, manifest_directory: PathBuf) -> Self {
        let mut candidates: Vec<u32> = (0_u32..)
            .zip(&sources)
            .filter(|(_, source)| source.enabled && source.role == Role::Knowledge)
            .map(|(at, _)| at)
            .collect();
        candidates.sort_by(|a, b| {
            let (a, b) = (&sources[*a as usize], &sources[*b as usize]);
            b.priority.cmp(&a.priority).then_with(|| a.id.cmp(&b.id))
        });
        let memories =
            sources.iter().filter_map(|source| Some((source.path.clone(), source.tier?))).collect();
        Self { generation, sources, manifest_directory, candidates, memories }
    }

    /// The paths and tiers of all memory sources, also of disabled ones, in the order of the file.
    pub(crate) fn memories(&self) -> &[(String, Tier)] {
        &self.memories
    }

    /// The sources that a search may use (S1), as positions in `sources`: by priority from high to low, then by id.
    #[must_use]
    pub fn candidates(&self) -> &[u32] {
        &self.candidates
    }
}
