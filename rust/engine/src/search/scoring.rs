//! The scorings: what makes one concept a better match than another.

use crate::named_enum::named_enum;

named_enum! {
    /// How concepts are scored (V1).
    pub enum Scoring {
        /// The fields that contain a term, by their weights (K1 to K5).
        WeightedTerms = "weighted_terms",
        /// Rarity and frequency of terms, and length of fields (V2 to V8).
        Bm25f = "bm25f",
    }
}
