//! Scripts that are written without spaces between words, and what a word is in all others (V2).

use icu_properties::{
    CodePointMapData,
    props::{GeneralCategory, GeneralCategoryGroup, Script},
};

/// Whether a character belongs to a script that is written without spaces between words.
pub(crate) fn is_spaceless(c: char) -> bool {
    // The first of these characters is that of Thai.
    const FIRST: char = '\u{e00}';
    // The long vowel mark belongs to both kana, so that its script is "common".
    c >= FIRST
        && (matches!(c, '\u{30fc}' | '\u{ff70}')
            || matches!(
                CodePointMapData::<Script>::new().get(c),
                Script::Han
                    | Script::Hiragana
                    | Script::Katakana
                    | Script::Thai
                    | Script::Lao
                    | Script::Khmer
                    | Script::Myanmar
            ))
}

/// Whether a character is a letter, a mark or a digit, or an underscore.
pub(crate) fn is_word_char(c: char) -> bool {
    const WORD: GeneralCategoryGroup =
        GeneralCategoryGroup::Letter.union(GeneralCategoryGroup::Mark).union(GeneralCategoryGroup::Number);
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    WORD.contains(CodePointMapData::<GeneralCategory>::new().get(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_without_spaces_are_told_from_others() {
        for c in "漢々ひカーｶｰไລខမ".chars() {
            assert!(is_spaceless(c), "{c:?}");
        }
        for c in "aéяΣ한ع、。ー・".chars().filter(|c| *c != 'ー') {
            assert!(!is_spaceless(c), "{c:?}");
        }
    }

    #[test]
    fn words_are_made_of_letters_marks_digits_and_underscores() {
        for c in "aZ9_é\u{301}я漢٣²".chars() {
            assert!(is_word_char(c), "{c:?}");
        }
        for c in "'-.’…、→ \u{200d}🚀".chars() {
            assert!(!is_word_char(c), "{c:?}");
        }
    }
}
