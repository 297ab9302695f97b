//! The normal form in which texts and questions are compared under BM25F (V3).
//!
//! It is made of a folded text (K2) in two steps. `letters` composes characters canonically (NFC) and makes
//! letters, digits and the underscore of full width ASCII. `punctuation` does the same with punctuation, and
//! makes one character of the two apostrophes. They are two steps because the second one leaves words as they
//! are: it only changes what stands between them.

use std::borrow::Cow;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use crate::text::fold::fold;

/// The apostrophe that becomes `'`.
const APOSTROPHE: char = '\u{2019}';
/// From a full-width character to its ASCII character.
const TO_ASCII: u32 = 0xff01 - 0x21;

/// The normal form of a text, folded or not.
pub(crate) fn normal(text: &str) -> String {
    let folded = fold(text);
    let letters = letters(&folded);
    punctuation(&letters).into_owned()
}

/// The first step, for a folded text. Most texts stay as they are.
pub(crate) fn letters(folded: &str) -> Cow<'_, str> {
    if folded.is_ascii() {
        return Cow::Borrowed(folded);
    }
    let composer = const { ComposingNormalizerBorrowed::new_nfc() };
    if composer.is_normalized(folded) && !folded.chars().any(changes_alone) {
        return Cow::Borrowed(folded);
    }
    // Folding after decomposition also folds letters that have a capital only without their accent.
    let decomposed = const { DecomposingNormalizerBorrowed::new_nfd() }.normalize(folded);
    let narrow: String = fold(&decomposed).chars().map(narrow_letter).collect();
    Cow::Owned(composer.normalize(&narrow).into_owned())
}

/// The second step, for the result of the first one. Most texts stay as they are.
pub(crate) fn punctuation(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(|c| narrow_punctuation(c) != c) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(narrow_punctuation).collect())
}

/// Whether a folded text may have another normal form. Says no, fast, of most texts that have none.
pub(crate) fn may_change(text: &str) -> bool {
    !text.chars().all(has_one_form)
}

/// Whether a character, once folded, has only one form, and never composes with the character before it. True of
/// most characters that texts have.
pub(crate) fn has_one_form(c: char) -> bool {
    matches!(c, '\0'..='\u{1ef}' | '\u{1f1}'..='\u{2ff}' | '\u{400}'..='\u{482}')
        || matches!(c, '\u{2010}'..='\u{2018}' | '\u{201a}'..='\u{2027}')
        || matches!(c, '\u{3001}'..='\u{3020}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30ff}')
        || matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Whether a character may change in the first step although it is folded and composed.
fn changes_alone(c: char) -> bool {
    matches!(c, '\u{1f0}' | '\u{345}' | '\u{390}' | '\u{3b0}' | '\u{1e96}'..='\u{1e99}' | '\u{1f00}'..='\u{1fff}')
        || narrow_letter(c) != c
}

fn narrow_letter(c: char) -> char {
    match c {
        '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' | '\u{ff3f}' => narrow(c),
        _ => c,
    }
}

fn narrow_punctuation(c: char) -> char {
    match c {
        APOSTROPHE => '\'',
        '\u{ff01}'..='\u{ff5e}' if narrow_letter(c) == c => narrow(c),
        _ => c,
    }
}

fn narrow(c: char) -> char {
    char::from_u32(u32::from(c) - TO_ASCII).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fold::fold_char;
    use proptest::prelude::*;

    #[test]
    fn spellings_of_the_same_text_have_one_form() {
        for (a, b) in [
            ("größe", "GRO\u{308}SSE".replace("SS", "ß").as_str()),
            ("don’t", "DON'T"),
            ("ＡＰＩ＿１，", "api_1,"),
            ("\u{212a}elvin", "kelvin"),
            ("\u{1fb6}", "\u{391}\u{342}"),
            ("j\u{30c}", "\u{1f0}"),
            ("Å", "\u{212b}"),
        ] {
            assert_eq!(normal(a), normal(b), "{a:?} {b:?}");
        }
        for (a, b) in [("ß", "ss"), ("ı", "i"), ("é", "e"), ("ﬁ", "fi"), ("‘", "'")] {
            assert_ne!(normal(a), normal(b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn the_short_cut_leaves_out_no_character() {
        for c in '\u{80}'..=char::MAX {
            let folded = fold_char(c);
            let text = folded.to_string();
            let decomposed = const { DecomposingNormalizerBorrowed::new_nfd() }.normalize(&text);
            let narrow: String = fold(&decomposed).chars().map(narrow_letter).collect();
            let long_way = const { ComposingNormalizerBorrowed::new_nfc() }.normalize(&narrow);
            assert_eq!(letters(&text), long_way, "{c:?}");
            assert!(may_change(&text) || normal(&text) == text, "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn the_form_of_a_form_is_itself(text in "[aeé\u{300}\u{301}\u{345}ａ’＝\u{338}= ΰᾶǰ한ᄒ]{0,8}") {
            let once = letters(&fold(&text)).into_owned();
            prop_assert_eq!(letters(&once), once.as_str());
        }

        #[test]
        fn canonically_equal_texts_have_one_form(text in "[aeéñ\u{300}\u{301}\u{323}ΰᾶᾈǰ한가Å]{0,8}") {
            let nfd = const { DecomposingNormalizerBorrowed::new_nfd() }.normalize(&text).into_owned();
            prop_assert_eq!(normal(&nfd), normal(&text));
        }
    }
}
