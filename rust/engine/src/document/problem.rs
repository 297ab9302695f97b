//! Files that are left out, and who is told of them (B7).

/// A file that cannot be a concept, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The path below the bundle root.
    pub path: String,
    /// One sentence, without absolute paths.
    pub reason: String,
}

/// A problem that was not reported before, and the source it was found in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProblem {
    /// The position of the source in the snapshot.
    pub source: u32,
    /// The file and its fault.
    pub problem: Problem,
}

/// A result, and the problems that were found on the way and not reported before. The caller logs them, so that
/// each is logged once.
#[derive(Debug)]
pub struct Reported<T> {
    /// The result.
    pub value: T,
    /// To be logged.
    pub problems: Vec<NewProblem>,
}
