//! Problems: files that are left out of a bundle (B7).

/// A file that is left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The path below the bundle root.
    pub path: String,
    /// The reason in one sentence, without absolute paths.
    pub reason: String,
}

/// A problem that was not reported before, and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProblem {
    /// The position of the source in the snapshot's `sources`.
    pub source: u32,
    /// The problem.
    pub problem: Problem,
}

/// A result, and the problems that were found while it was made and that were not reported before. The caller logs
/// these, so that each problem is logged once.
#[derive(Debug)]
pub struct Reported<T> {
    /// The result.
    pub value: T,
    /// The problems to log.
    pub problems: Vec<NewProblem>,
}
