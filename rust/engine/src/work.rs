//! Work that takes time: whether a caller still waits for it, and how it is spread over threads.

pub mod parallel;
pub mod task;
