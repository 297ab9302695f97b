//! One question or many, put to sources that can be searched, and the ranked answer.

pub(crate) mod answer;
pub(crate) mod asked;
pub(crate) mod batch;
pub(crate) mod diagnostic;
pub(crate) mod excerpt;
pub(crate) mod fairness;
pub(crate) mod finder;
mod form;
pub(crate) mod question;
pub(crate) mod rank;
pub(crate) mod searched;
pub(crate) mod snippet;
pub(crate) mod sources;
pub(crate) mod unit;
