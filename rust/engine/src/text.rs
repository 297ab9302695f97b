//! Text and times, without files: decoding, case folding, the terms of a question, graphemes, instants.

pub(crate) mod compose;
pub(crate) mod decode;
pub(crate) mod fold;
pub(crate) mod grapheme;
pub(crate) mod instant;
pub(crate) mod script;
pub(crate) mod terms;
pub(crate) mod words;
