//! How tokens are made of words.
//!
//! A token is a run of text without white space. A word is a run of letters, digits and `_`. A token with any
//! other character in it is a compound. If a term is a word, then a token that contains it has it inside one
//! of its words, so only the vocabulary of words is searched for it. There are far fewer words than tokens:
//! `(orders,` and `orders.` share one.

/// Whether a byte of a folded token belongs to a word. All bytes of non-ASCII characters do.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Whether the token is one word.
pub(super) fn is_word(token: &[u8]) -> bool {
    token.iter().all(|byte| is_word_byte(*byte))
}

/// The words of a token, in order.
pub(super) fn words(token: &[u8]) -> impl Iterator<Item = &[u8]> {
    token.split(|byte| !is_word_byte(*byte)).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words_of(token: &str) -> Vec<&str> {
        words(token.as_bytes()).map(|word| str::from_utf8(word).unwrap()).collect()
    }

    #[test]
    fn a_token_is_cut_at_everything_but_letters_digits_and_underscores() {
        for (token, expected) in [
            ("ORDERS", &["ORDERS"][..]),
            ("(ORDERS,", &["ORDERS"]),
            ("ORDER_ITEMS.ID", &["ORDER_ITEMS", "ID"]),
            ("A->B->A", &["A", "B", "A"]),
            ("2024-01-31", &["2024", "01", "31"]),
            ("…ΣΊΣΥΦΟΣ", &["…ΣΊΣΥΦΟΣ"]),
            ("C++", &["C"]),
            ("---", &[]),
            ("", &[]),
        ] {
            assert_eq!(words_of(token), expected, "{token:?}");
        }
    }

    #[test]
    fn a_word_has_no_punctuation_of_ascii() {
        for (token, expected) in
            [("ORDERS", true), ("A_1", true), ("É", true), ("A.", false), ("+", false), ("", true)]
        {
            assert_eq!(is_word(token.as_bytes()), expected, "{token:?}");
        }
    }

    proptest! {
        // The index relies on it: a word is looked for in the vocabulary of words only.
        #[test]
        fn a_word_inside_a_token_is_inside_one_of_its_words(
            token in "[aé_.-]{0,8}",
            term in "[aé_]{1,3}",
        ) {
            let is_in_a_word = words_of(&token).iter().any(|word| word.contains(&term));
            prop_assert_eq!(is_in_a_word, token.contains(&term));
        }
    }
}
