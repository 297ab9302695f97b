//! Tokens are made of words, and most terms are one.
//!
//! A word is a run of letters, digits and `_`; a token with anything else in it is a compound. A term
//! that is nothing but a word lies inside one word of each token that contains it, so only the words
//! need to be looked at, of which there are far fewer than tokens: `(orders,` and `orders.` share one.

/// Whether a byte of a folded token belongs to a word. All of non-ASCII does.
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
