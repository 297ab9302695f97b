//! Scripts that are written without spaces between words, and what a word is in all others (V2).

use icu_properties::{
    CodePointMapData,
    props::{GeneralCategory, GeneralCategoryGroup, Script},
};

/// Whether a character belongs to a script that is written without spaces between words.
pub(crate) fn is_spaceless(c: char) -> bool {
    match c {
        // The first of these characters is that of Thai. Most text of these scripts, and most punctuation, is told
        // by its range: looking it up would take longer.
        '\0'..'\u{e00}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{2010}'..='\u{2027}'
        | '\u{3001}'..='\u{3003}'
        | '\u{3008}'..='\u{3011}'
        | '\u{ff01}'..='\u{ff0f}' => false,
        // The long vowel mark belongs to both kana, so that its script is "common".
        '\u{4e00}'..='\u{9fff}'
        | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'
        | '\u{ff70}' => true,
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
        '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{400}'..='\u{481}'
        | '\u{d8}'..='\u{f6}' => true,
        '\u{2010}'..='\u{2027}'
        | '\u{3001}'..='\u{3003}'
        | '\u{3008}'..='\u{3011}'
        | '\u{ff01}'..='\u{ff0f}' => false,
        _ => WORD.contains(CodePointMapData::<GeneralCategory>::new().get(c)),
    }
}

/// The length of a text: how many words it has, and how many characters of scripts without spaces.
pub(crate) fn length(text: &str) -> u32 {
    if text.is_ascii() {
        return ascii_length(text.as_bytes());
    }
    let (mut length, mut in_word) = (0_u32, false);
    for c in text.chars() {
        let is_alone = is_spaceless(c);
        let goes_on = !is_alone && is_word_char(c);
        length = length.saturating_add(u32::from(is_alone || (goes_on && !in_word)));
        in_word = goes_on;
    }
    length
}

/// The length of an ASCII text: how many words it has.
pub(crate) fn ascii_length(text: &[u8]) -> u32 {
    let (mut length, mut in_word) = (0_u32, false);
    for byte in text {
        let goes_on = byte.is_ascii_alphanumeric() || *byte == b'_';
        length = length.saturating_add(u32::from(goes_on && !in_word));
        in_word = goes_on;
    }
    length
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
            assert_eq!(length(text), expected, "{text}");
        }
    }

    #[test]
    fn the_short_cuts_say_what_the_tables_say() {
        for c in '\0'..=char::MAX {
            let category = CodePointMapData::<GeneralCategory>::new().get(c);
            if category == GeneralCategory::Unassigned {
                continue;
            }
            let script = CodePointMapData::<Script>::new().get(c);
            let kana_or_han = [Script::Han, Script::Hiragana, Script::Katakana].contains(&script);
            let others = [Script::Thai, Script::Lao, Script::Khmer, Script::Myanmar];
            let expected = kana_or_han || others.contains(&script) || matches!(c, 'ー' | 'ｰ');
            assert_eq!(is_spaceless(c), expected, "{c:?}");
            let groups =
                [GeneralCategoryGroup::Letter, GeneralCategoryGroup::Mark, GeneralCategoryGroup::Number];
            let expected = c == '_' || groups.iter().any(|group| group.contains(category));
            assert_eq!(is_word_char(c), expected, "{c:?}");
        }
    }
}
