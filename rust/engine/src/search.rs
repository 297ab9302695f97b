//! Which concepts of one source match, and with which score (K1 to K5, V1 to V8, L3).

mod accumulate;
pub(crate) mod bm25f;
mod criteria;
pub(crate) mod index;
mod lookup;
#[cfg(test)]
mod model;
mod scored;
mod scoring;
mod top_k;
pub(crate) mod weighted_terms;

pub(crate) use criteria::Criteria;
pub use criteria::Staleness;
pub(crate) use lookup::{DirectLookup, Lookup, OfTerm};
pub(crate) use scored::Scored;
pub use scoring::Scoring;
