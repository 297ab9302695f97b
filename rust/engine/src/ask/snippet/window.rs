//! The window: the part of a long line that is shown. It takes time for its own length, not for the line's.

use unicode_segmentation::GraphemeCursor;

use crate::ask::finder::Span;

/// Shown where text is left out.
const ELLIPSIS: char = '…';
/// At most this many bytes before an offset are read to decide whether a grapheme ends there. More would
/// matter only after thousands of flags or combining marks in a row.
const LOOK_BACK: usize = 64 << 10;

/// At most `max_chars` code points of a line, `…` included, with the first term in them if there is one.
///
/// A cut is made at white space if there is any within an eighth of `max_chars`, otherwise between two
/// graphemes. Only a grapheme of more than half of `max_chars` code points is cut through. About a quarter of
/// the window is before the term.
pub(super) fn cut(line: &str, max_chars: usize, first: Option<Span>) -> String {
    if skip_chars(line, 0, max_chars) == line.len() {
        return with_spaces(line);
    }
    let start = first.map_or(0, |first| start_of(line, max_chars, first));
    let room = if start > 0 { max_chars - 1 } else { max_chars };
    let term_end = first.map_or(0, |Span { at, chars }| skip_chars(line, at, chars));
    let end = end_of(line, start, room, term_end, max_chars / 8);
    let mut shown = String::with_capacity(end - start + 2 * ELLIPSIS.len_utf8());
    if start > 0 {
        shown.push(ELLIPSIS);
    }
    shown.push_str(&with_spaces(&line[start..end]));
    if end < line.len() {
        shown.push(ELLIPSIS);
    }
    shown
}

/// Whether some program or standard takes this character for the end of a line. Lines of a body end at `\n`
/// only; within them, such a character is shown as a space.
pub(super) fn is_line_end(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The text with spaces for characters that may end a line.
fn with_spaces(text: &str) -> String {
    text.chars().map(|c| if is_line_end(c) { ' ' } else { c }).collect()
}

/// The offset at which the window begins.
fn start_of(line: &str, max_chars: usize, Span { at, chars }: Span) -> usize {
    // Less than a quarter, if the rest of the term would not fit otherwise.
    let lead = (max_chars / 4).min((max_chars - 2).saturating_sub(chars));
    let wish = skip_back(line, at, lead);
    if wish == 0 {
        return 0;
    }
    // Near the end of the line, the window begins earlier, so that it is full.
    let wish = wish.min(skip_back(line, line.len(), max_chars - 1));
    let near = skip_chars(line, wish, max_chars / 8).min(at);
    let word = offsets(line, wish, near).find(|offset| {
        ends_with_space(&line[..*offset])
            && !begins_with_space(&line[*offset..])
            && is_boundary(line, *offset)
    });
    let grapheme = || offsets(line, wish, at).find(|offset| is_boundary(line, *offset));
    let before = || {
        offsets(line, skip_back(line, wish, max_chars / 2), wish)
            .rev()
            .find(|offset| is_boundary(line, *offset))
    };
    word.or_else(grapheme).or_else(before).unwrap_or(wish)
}

/// The offset at which a window ends that begins at `start` and has at most `room` code points. It is not
/// before `term_end` if the term fits. White space is looked for in the last `near` code points.
fn end_of(line: &str, start: usize, room: usize, term_end: usize, near: usize) -> usize {
    if skip_chars(line, start, room) == line.len() {
        return line.len();
    }
    let wish = skip_chars(line, start, room - 1);
    let near = skip_back(line, wish, near).max(term_end.min(wish)).max(start);
    let word = offsets(line, near, wish).rev().find(|offset| {
        *offset > start
            && begins_with_space(&line[*offset..])
            && !ends_with_space(&line[..*offset])
            && is_boundary(line, *offset)
    });
    let grapheme =
        || offsets(line, start, wish).rev().find(|offset| *offset > start && is_boundary(line, *offset));
    word.or_else(grapheme).unwrap_or(wish)
}

/// The offsets of all characters from `start` to `end`, both included.
fn offsets(line: &str, start: usize, end: usize) -> impl DoubleEndedIterator<Item = usize> {
    line[start..end].char_indices().map(move |(at, _)| start + at).chain([end])
}

fn begins_with_space(text: &str) -> bool {
    text.starts_with(char::is_whitespace)
}

fn ends_with_space(text: &str) -> bool {
    text.ends_with(char::is_whitespace)
}

/// The offset `chars` characters before `at`, or 0.
fn skip_back(line: &str, at: usize, chars: usize) -> usize {
    match chars.checked_sub(1) {
        None => at,
        Some(others) => line[..at].char_indices().rev().nth(others).map_or(0, |(offset, _)| offset),
    }
}

/// The offset `chars` characters after `at`, or the end.
fn skip_chars(line: &str, at: usize, chars: usize) -> usize {
    line[at..].char_indices().nth(chars).map_or(line.len(), |(offset, _)| at + offset)
}

/// Whether no grapheme lies across an offset.
fn is_boundary(line: &str, at: usize) -> bool {
    let from = (at.saturating_sub(LOOK_BACK)..at).find(|from| line.is_char_boundary(*from)).unwrap_or(at);
    let part = &line[from..];
    GraphemeCursor::new(at - from, part.len(), true).is_boundary(part, 0).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;
    use crate::ask::snippet::MAX_CHARS;

    const PIECES: [&str; 12] = [
        "a",
        "bc",
        " ",
        "  ",
        "e\u{301}",
        "\u{301}",
        "数",
        "🇩🇪",
        "🇪",
        "👩\u{200d}👧",
        "\u{1112}\u{1161}\u{11ab}",
        "\u{2028}",
    ];

    #[test]
    fn cutting_a_long_line_takes_no_longer_than_cutting_a_short_one() {
        for piece in ["x", "word ", "数", "🇩🇪", "e\u{301}", "\u{301}"] {
            let line = piece.repeat((8 << 20) / piece.len());
            let at = line.len() / 2 / piece.len() * piece.len();
            // Reading the whole line each time would take minutes.
            for _ in 0..100 {
                let shown = cut(&line, MAX_CHARS, Some(Span { at, chars: 1 }));
                assert!((MAX_CHARS / 2..=MAX_CHARS).contains(&shown.chars().count()), "{piece:?}: {shown}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_window_contains_its_term_and_only_whole_graphemes(
            runs in prop::collection::vec((prop::sample::select(&PIECES[..]), 1_usize..120), 1..9),
            term_at in any::<prop::sample::Index>(),
            chars in 1_usize..200,
            max_chars in 16_usize..MAX_CHARS,
        ) {
            let line: String = runs.iter().map(|(piece, times)| piece.repeat(*times)).collect();
            let line = line.trim();
            prop_assume!(!line.is_empty());
            let starts: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
            let at = starts[term_at.index(starts.len())];
            let term = &line[at..skip_chars(line, at, chars)];
            let shown = cut(line, max_chars, Some(Span { at, chars: term.chars().count() }));
            prop_assert!(shown.chars().count() <= max_chars);
            let inner = shown.strip_prefix(ELLIPSIS).unwrap_or(&shown);
            let inner = inner.strip_suffix(ELLIPSIS).unwrap_or(inner);
            let longest = line.graphemes(true).map(|grapheme| grapheme.chars().count()).max().unwrap_or(0);
            if longest <= max_chars / 8 && term.chars().count() + 2 * longest <= max_chars / 2 {
                prop_assert!(inner.contains(&with_spaces(term)), "{term:?} in {shown:?}");
                let all: Vec<&str> = line.graphemes(true).collect();
                let plain_all: Vec<String> = all.iter().map(|grapheme| with_spaces(grapheme)).collect();
                let whole = (0..all.len()).any(|first| {
                    let mut rest = inner;
                    for grapheme in &plain_all[first..] {
                        match rest.strip_prefix(grapheme.as_str()) {
                            Some(after) => rest = after,
                            None => break,
                        }
                        if rest.is_empty() {
                            return true;
                        }
                    }
                    false
                });
                prop_assert!(whole, "{inner:?} of {line:?}");
            }
        }
    }
}
