//! One question or many, put to sources that can be searched, and the ranked answer.

pub mod answer;
pub(crate) mod asked;
pub(crate) mod batch;
pub mod diagnostic;
pub mod excerpt;
pub mod fairness;
pub(crate) mod finder;
pub mod question;
pub mod rank;
pub mod searchable;
pub(crate) mod searched;
pub mod snippet;
