//! A concept that matches, and its score.

/// A concept that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scored {
    /// Its number in the index.
    pub concept: u32,
    /// Its score, at least 1 (K4).
    pub score: u32,
}
