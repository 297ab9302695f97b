//! What a term in a field adds to the score of a concept (K3).

/// The weight of a set of fields: 3 for the title, 2 for tags or description, 1 for the body.
///
/// The flags of the fields (`posting`) are 4, 2 and 1, so that only the title's is one too high. The compiler
/// vectorises this arithmetic; it would not vectorise a look-up table.
pub(super) const fn weight(fields: u8) -> u8 {
    fields - (fields >> 2)
}

/// The weight of all fields together: one occurrence of a term adds at most this to a score.
pub(crate) const MAX_WEIGHT: u32 = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::index::posting::{BODY, TAGS_OR_DESCRIPTION, TITLE};

    #[test]
    fn a_set_of_fields_weighs_as_much_as_its_fields() {
        for (fields, expected) in [(0, 0), (BODY, 1), (TAGS_OR_DESCRIPTION, 2), (TITLE, 3)] {
            assert_eq!(weight(fields), expected);
            for (other, more) in [(BODY, 1), (TAGS_OR_DESCRIPTION, 2), (TITLE, 3)] {
                if fields & other == 0 {
                    assert_eq!(weight(fields | other), expected + more);
                }
            }
        }
        assert_eq!(u32::from(weight(BODY | TAGS_OR_DESCRIPTION | TITLE)), MAX_WEIGHT);
    }
}
