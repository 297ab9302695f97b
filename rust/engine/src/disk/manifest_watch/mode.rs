//! How changes of the manifest are found.

/// How changes of the manifest are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchMode {
    /// By events of the operating system.
    Events,
    /// Only by looking at the file at intervals.
    Polling {
        /// Why, as part of a sentence and without a path (D4).
        reason: String,
    },
    /// They are not found.
    Off {
        /// Why, as part of a sentence.
        reason: String,
    },
}

impl WatchMode {
    /// Whether changes are found at all.
    #[must_use]
    pub fn is_on(&self) -> bool {
        match self {
            WatchMode::Events | WatchMode::Polling { .. } => true,
            WatchMode::Off { .. } => false,
        }
    }
}
