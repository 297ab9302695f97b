//! Text and times, without files: decoding, case folding, the terms of a question, graphemes, instants.

pub mod decode;
pub mod fold;
pub mod grapheme;
pub mod instant;
pub mod terms;
