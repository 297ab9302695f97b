//! How a catalog is opened.

use std::path::PathBuf;

use crate::work::parallel;

/// When a bundle is compared with the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Freshness {
    /// Before every search, unless the kernel tells that nothing changed (F1).
    #[default]
    Exact,
    /// When it is first searched, and then only when the host asks for it.
    Manual,
}

/// The settings of a catalog.
#[derive(Debug, Clone)]
pub struct Options {
    /// The manifest file.
    pub manifest: PathBuf,
    /// The fence around all bundles; the manifest's directory if `None`.
    pub root: Option<PathBuf>,
    /// Files with more bytes are problems (B9).
    pub max_file_bytes: u64,
    /// How many threads one call may use.
    pub threads: usize,
    /// When bundles are compared with the disk.
    pub freshness: Freshness,
}

/// Files with more bytes are problems, unless the host says otherwise (B9).
pub(crate) const MAX_FILE_BYTES: u64 = 16 << 20;

impl Options {
    /// The defaults: the manifest's directory is the root, files have up to 16 MiB, a call uses all cores.
    #[must_use]
    pub fn new(manifest: impl Into<PathBuf>) -> Self {
        Self {
            manifest: manifest.into(),
            root: None,
            max_file_bytes: MAX_FILE_BYTES,
            threads: parallel::available_threads(),
            freshness: Freshness::default(),
        }
    }
}
