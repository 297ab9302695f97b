//! Graphemes: what a reader sees as one character, though it may have several code points.

use unicode_segmentation::GraphemeCursor;

/// The end of the last grapheme of `text` that ends at or before `limit`, both in code points.
///
/// Takes time linear in the length of the text.
///
/// ```
/// use okf_engine::last_grapheme_end as last_end;
///
/// assert_eq!(last_end("cafe\u{301}s", 4), 3);
/// assert_eq!(last_end("cafe\u{301}s", 5), 5);
/// ```
#[must_use]
pub fn last_end(text: &str, limit: usize) -> usize {
    let Some((byte, _)) = text.char_indices().nth(limit) else {
        return text.chars().count();
    };
    let mut cursor = GraphemeCursor::new(byte, text.len(), true);
    if cursor.is_boundary(text, 0) == Ok(true) {
        return limit;
    }
    let before = cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0);
    text[..before].chars().count()
}

/// Whether a position of `text`, in bytes, is between two graphemes or at an end.
#[must_use]
pub(crate) fn is_boundary(text: &str, position: usize) -> bool {
    GraphemeCursor::new(position, text.len(), true).is_boundary(text, 0) == Ok(true)
}

#[cfg(test)]
mod tests {
    use super::last_end;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    #[test]
    fn the_end_is_never_inside_a_grapheme() {
        for (name, text, limit, expected) in [
            ("nothing", "", 0, 0),
            ("the end", "ab", 2, 2),
            ("past the end", "ab", 9, 2),
            ("letters", "ab", 1, 1),
            ("an accent", "ae\u{301}b", 2, 1),
            ("after an accent", "ae\u{301}b", 3, 3),
            ("a line end of two", "a\r\nb", 2, 1),
            ("a family", "a\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}", 4, 1),
            ("two flags", "\u{1f1eb}\u{1f1f7}\u{1f1e9}\u{1f1ea}", 3, 2),
            ("Hangul", "\u{1112}\u{1161}\u{11ab}", 2, 0),
            ("Khmer", "\u{1780}\u{17d2}\u{1798}\u{17c2}", 3, 0),
        ] {
            assert_eq!(last_end(text, limit), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn it_is_the_end_of_the_last_grapheme_that_fits(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just('a'), Just('\u{301}'), Just('\u{200d}'), Just('\u{1f469}'), Just('\u{1f1eb}'), Just('\r'),
                    Just('\n'), Just('\u{1112}'), Just('\u{1161}'), Just('\u{915}'), Just('\u{94d}'), any::<char>(),
                ],
                0..12,
            ),
            limit in 0..14_usize,
        ) {
            let text: String = parts.iter().collect();
            let mut expected = 0;
            for grapheme in text.graphemes(true) {
                let end = expected + grapheme.chars().count();
                if end > limit {
                    break;
                }
                expected = end;
            }
            prop_assert_eq!(last_end(&text, limit), expected);
        }
    }
}
