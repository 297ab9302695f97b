//! Work that takes time: whether a caller still waits for it, and how it is spread over threads.

pub(crate) mod parallel;
pub(crate) mod process;
pub(crate) mod task;
