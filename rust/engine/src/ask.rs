//! One question or many, put to sources that can be searched, and the ranked answer.

pub mod answer;
pub(crate) mod batch;
pub mod excerpt;
pub mod fairness;
pub(crate) mod finder;
pub mod question;
pub mod rank;
pub(crate) mod searched;
pub mod snippet;
