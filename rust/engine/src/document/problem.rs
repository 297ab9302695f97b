//! A file that is left out.

/// A file that cannot be a concept, and why (B7).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The path below the bundle root.
    pub path: String,
    /// One sentence, without absolute paths.
    pub reason: String,
}
