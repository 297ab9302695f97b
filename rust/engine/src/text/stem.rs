//! The stem of a word: a shorter form, with which other forms of the word begin (V4).

use crate::text::script::{is_spaceless, is_word_char};

/// Longer words have no stem: they are no words of a language.
const MAX_CHARACTERS: usize = 64;

/// The stem of a term that is a word and ends with a letter: without its last two characters if it has six to eight,
/// without the last three if it has more. `None` for shorter words. Of a word of Hangul syllables the last
/// one is left out if it has three, the last two if it has more: particles are written there.
pub(crate) fn stem(term: &str) -> Option<&str> {
    let last = term.chars().next_back()?;
    if !last.is_alphabetic() || !term.chars().all(|c| is_word_char(c) && !is_spaceless(c)) {
        return None;
    }
    let left_out = match (term.chars().count(), is_hangul(last)) {
        (MAX_CHARACTERS.., _) | (..3, true) | (..6, false) => return None,
        (3, true) => 1,
        (_, true) | (6..9, false) => 2,
        (9.., false) => 3,
    };
    let end = term.char_indices().nth_back(left_out - 1)?.0;
    Some(&term[..end])
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_is_shorter_by_how_long_the_word_is() {
        for (term, expected) in [
            ("POLIC", None),
            ("POLICY", Some("POLI")),
            ("POLICIES", Some("POLICI")),
            ("СЕРТИФИКАТ", Some("СЕРТИФИ")),
            ("인증서", Some("인증")),
            ("인증서를", Some("인증")),
            ("인증", None),
            ("VERSION2", None),
            ("証明書証明書", None),
            ("MLFLOW.TRACE", None),
        ] {
            assert_eq!(stem(term), expected, "{term}");
        }
        assert_eq!(stem(&"A".repeat(MAX_CHARACTERS)), None);
    }
}
