//! How a posting is packed into 32 bits.
//!
//! A posting is one entry of a posting list: the number of a concept and the fields of it that contain a
//! token. The upper 29 bits hold the number, the lower three bits hold one flag for each field. Tokens with
//! their fields, and concepts with the weight of their fields, are packed in the same way.

/// The flag of the body.
pub(super) const BODY: u8 = 1;
/// The flag of tags and description together.
pub(super) const TAGS_OR_DESCRIPTION: u8 = 2;
/// The flag of the title.
pub(super) const TITLE: u8 = 4;

/// The number of fields, and of bits that their flags take in a posting.
pub(super) const FIELD_BITS: u32 = 3;

const FIELD_MASK: u32 = (1 << FIELD_BITS) - 1;

/// Packs a number below 2^29 with the flags of fields (or with their weight).
pub(super) fn pack(number: u32, fields: u8) -> u32 {
    number << FIELD_BITS | u32::from(fields)
}

/// The number and the fields (or their weight) of a posting.
#[allow(clippy::cast_possible_truncation)] // Three bits.
pub(super) fn unpack(posting: u32) -> (u32, u8) {
    (posting >> FIELD_BITS, (posting & FIELD_MASK) as u8)
}

/// Whether two postings have the same number.
pub(super) fn same_number(a: u32, b: u32) -> bool {
    a >> FIELD_BITS == b >> FIELD_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_gives_back_what_was_packed() {
        for number in [0, 1, 77, (1 << 29) - 1] {
            for fields in 0..=(BODY | TAGS_OR_DESCRIPTION | TITLE) {
                assert_eq!(unpack(pack(number, fields)), (number, fields));
            }
        }
    }

    #[test]
    fn fields_do_not_count_when_numbers_are_compared() {
        assert!(same_number(pack(7, TITLE), pack(7, BODY)));
        assert!(!same_number(pack(7, TITLE), pack(8, TITLE)));
    }
}
