//! Which part of a bundle is dirty: it may differ from what was last read.

use std::{collections::BTreeSet, sync::Arc};

/// What has to be compared with the disk again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))] // Without events, everything is always dirty.
pub(crate) enum Dirty {
    Nothing,
    /// The files in these directories, which are paths below the bundle's root.
    Directories(BTreeSet<Arc<str>>),
    Everything,
}

impl Dirty {
    /// Adds one directory.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    pub(super) fn add(&mut self, directory: &Arc<str>) {
        match self {
            Dirty::Everything => {}
            Dirty::Directories(directories) => {
                directories.insert(Arc::clone(directory));
            }
            Dirty::Nothing => *self = Dirty::Directories(BTreeSet::from([Arc::clone(directory)])),
        }
    }
}
