//! Why a bundle could not be brought up to date.

use std::io;

use crate::work::task::Abandoned;

/// The comparison with the disk failed. The state before it stays.
#[derive(Debug)]
pub(crate) enum CompareError {
    /// The directory cannot be listed (B10), or the process ran out of file descriptors or memory.
    Io(io::Error),
    /// The caller does not wait any more.
    Abandoned,
}

impl From<io::Error> for CompareError {
    fn from(error: io::Error) -> Self {
        CompareError::Io(error)
    }
}

impl From<Abandoned> for CompareError {
    fn from(Abandoned: Abandoned) -> Self {
        CompareError::Abandoned
    }
}
