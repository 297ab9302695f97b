//! Case folding: which characters count as equal (K2).
//!
//! This is the only place that decides it. Every text that is compared, indexed or looked for is folded here
//! first.

use icu_casemap::CaseMapper;

/// Folds one character: its *simple* Unicode uppercase mapping, except that dotless i (U+0131) and long
/// s (U+017F) stay themselves.
#[must_use]
pub(crate) fn fold_char(c: char) -> char {
    match c {
        'a'..='z' => c.to_ascii_uppercase(),
        '\0'..='\x7f' | '\u{131}' | '\u{17f}' => c,
        _ => CaseMapper::new().simple_uppercase(c),
    }
}

/// Appends the folded `text` to `out`.
pub(crate) fn fold_into(text: &str, out: &mut String) {
    // Most text is ASCII over long stretches. Folding ASCII is vectorised.
    let mut rest = text;
    loop {
        let (stretch, other) = rest.split_at(ascii_prefix(rest.as_bytes()));
        let start = out.len();
        out.push_str(stretch);
        out[start..].make_ascii_uppercase();
        if other.is_empty() {
            return;
        }
        let end = other.bytes().position(|byte| byte.is_ascii()).unwrap_or(other.len());
        out.extend(other[..end].chars().map(fold_char));
        rest = &other[end..];
    }
}

/// How many bytes at the beginning are ASCII.
fn ascii_prefix(bytes: &[u8]) -> usize {
    /// Bytes that are tested at once.
    const BLOCK: usize = 32;
    let blocks = bytes.chunks(BLOCK).take_while(|block| block.is_ascii()).count();
    let tested = (blocks * BLOCK).min(bytes.len());
    tested + bytes[tested..].iter().take_while(|byte| byte.is_ascii()).count()
}

/// The folded `text`.
#[must_use]
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    fold_into(text, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_characters_are_equal_if_their_simple_uppercase_mappings_are() {
        let rows = [
            ("ascii", 'o', 'O', true),
            ("final sigma", 'ς', 'Σ', true),
            ("micro sign is greek mu", 'µ', 'μ', true),
            ("kelvin sign", 'k', '\u{212A}', false),
            ("dotless i", 'i', '\u{131}', false),
            ("dotted capital i", 'i', '\u{130}', false),
            ("long s", 's', '\u{17f}', false),
            ("titlecase digraph", 'ǆ', 'ǅ', true),
            ("iota subscript", 'ᾳ', 'ᾼ', true),
            ("full width", 'ａ', 'Ａ', true),
            ("sharp s", 'ß', '\u{1e9e}', false),
            ("cherokee", '\u{ab70}', '\u{13a0}', true),
            ("georgian", 'ა', '\u{1c90}', true),
            ("accents are not removed", 'é', 'e', false),
        ];
        for (name, a, b, equal) in rows {
            assert_eq!(fold_char(a) == fold_char(b), equal, "{name}");
        }
    }

    #[test]
    fn folding_keeps_white_space_white_space_and_makes_no_other() {
        for c in '\0'..=char::MAX {
            assert_eq!(c.is_whitespace(), fold_char(c).is_whitespace(), "{c:?}");
        }
    }

    #[test]
    fn folding_twice_changes_nothing() {
        for c in '\0'..=char::MAX {
            assert_eq!(fold_char(fold_char(c)), fold_char(c), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn text_folds_character_by_character(text in "\\PC*") {
            prop_assert_eq!(fold(&text), text.chars().map(fold_char).collect::<String>());
        }
    }
}
