//! One immutable state of the manifest.

use std::path::PathBuf;

use crate::manifest::source::{Role, Source, Tier};

/// What the manifest said when it was last read without a fault.
#[derive(Debug)]
pub struct Snapshot {
    /// Counts up with every successful load, from 1 (C2, C3).
    pub generation: u64,
    /// The sources, in the order of the file (M2).
    pub sources: Vec<Source>,
    /// The directory that source paths start from.
    pub manifest_directory: PathBuf,
    candidates: Vec<u32>,
    memories: Vec<(String, Tier)>,
}

impl Snapshot {
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

    /// A snapshot without sources.
    #[must_use]
    pub fn empty() -> Self {
        Self::new(0, Vec::new(), PathBuf::new())
    }

    /// The paths and tiers of the memory sources, enabled or not, in the order of the file.
    pub(crate) fn memories(&self) -> &[(String, Tier)] {
        &self.memories
    }

    /// The sources a search may use, as positions in `sources`, in order S1.
    #[must_use]
    pub fn candidates(&self) -> &[u32] {
        &self.candidates
    }
}
