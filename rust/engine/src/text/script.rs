//! Scripts that are written without spaces between words, and what a word is in all others (V2).

use icu_properties::{
    CodePointMapData,
    props::{GeneralCategory, GeneralCategoryGroup, Script},
};

/// Whether a character belongs to a script that is written without spaces between words.
pub(crate) fn is_spaceless(c: char) -> bool {
    match c {
        // The first of these characters is that of Thai.
        '\0'..'\u{e00}' | '\u{ac00}'..='\u{d7a3}' => false,
        '\u{4e00}'..='\u{9fff}' => true,
        // The long vowel mark belongs to both kana, so that its script is "common".
        '\u{30fc}' | '\u{ff70}' => true,
        _ => matches!(
            CodePointMapData::<Script>::new().get(c),
            Script::Han
                | Script::Hiragana
                | Script::Katakana
                | Script::Thai
                | Script::Lao
                | Script::Khmer
                | Script::Myanmar
        ),
    }
}

/// Whether a character is a letter, a mark or a digit, or an underscore.
pub(crate) fn is_word_char(c: char) -> bool {
    const WORD: GeneralCategoryGroup =
        GeneralCategoryGroup::Letter.union(GeneralCategoryGroup::Mark).union(GeneralCategoryGroup::Number);
    match c {
        '\0'..='\x7f' => c.is_ascii_alphanumeric() || c == '_',
        '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => true,
        _ => WORD.contains(CodePointMapData::<GeneralCategory>::new().get(c)),
    }
}

/// The length of a text: how many words it has, and how many characters of scripts without spaces.
pub(crate) fn length(text: &[u8]) -> u32 {
    let mut length: u32 = 0;
    let mut in_word = false;
    let mut add = |goes_on: bool| {
        length = length.saturating_add(u32::from(goes_on && !in_word));
        in_word = goes_on;
    };
    match str::from_utf8(text) {
        Ok(text) if !text.is_ascii() => {
            let mut alone = 0;
            for c in text.chars() {
                let is_alone = is_spaceless(c);
                alone += u32::from(is_alone);
                add(!is_alone && is_word_char(c));
            }
            length.saturating_add(alone)
        }
        _ => {
            text.iter().for_each(|byte| add(byte.is_ascii_alphanumeric() || *byte == b'_'));
            length
        }
    }
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

    #[test]
    fn the_length_is_that_in_words_and_in_characters_without_spaces() {
        for (text, expected) in
            [("", 0), ("a b_1 c-d", 4), ("don’t", 2), ("用API的", 3), ("ÉA—é", 2), ("…", 0), ("漢字かな", 4)]
        {
            assert_eq!(length(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn the_short_cuts_say_what_the_tables_say() {
        for c in ('\u{4e00}'..='\u{9fff}').chain('\u{ac00}'..='\u{d7a3}') {
            let script = CodePointMapData::<Script>::new().get(c);
            assert_eq!(is_spaceless(c), script == Script::Han, "{c:?}");
            let group = GeneralCategoryGroup::Letter;
            assert!(
                group.contains(CodePointMapData::<GeneralCategory>::new().get(c)) || !is_assigned(c),
                "{c:?}"
            );
        }
    }

    fn is_assigned(c: char) -> bool {
        CodePointMapData::<GeneralCategory>::new().get(c) != GeneralCategory::Unassigned
    }
}
