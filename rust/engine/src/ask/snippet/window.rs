//! The part of a long line that is shown. What it costs depends on its length, not on the line's.

use unicode_segmentation::GraphemeCursor;

use crate::ask::finder::Place;

/// Stands where something is left out.
const ELLIPSIS: char = '…';
/// How many bytes before a place are looked at to tell whether a grapheme ends there. It takes more only
/// where thousands of flags or of combining marks follow each other.
const LOOK_BACK: usize = 64 << 10;

/// At most `most` code points of a line, `…` included, among them the first term if there is one.
///
/// A cut is made where white space is within an eighth of `most`, else between two graphemes; only a
/// grapheme of more than half of `most` code points is cut through. About a quarter stands before the term.
pub(super) fn cut(line: &str, most: usize, first: Option<Place>) -> String {
    if forth(line, 0, most) == line.len() {
        return plain(line);
    }
    let start = first.map_or(0, |first| start_of(line, most, first));
    let room = if start > 0 { most - 1 } else { most };
    let least = first.map_or(0, |Place { at, chars }| forth(line, at, chars));
    let end = end_of(line, start, room, least, most / 8);
    let mut shown = String::with_capacity(end - start + 2 * ELLIPSIS.len_utf8());
    if start > 0 {
        shown.push(ELLIPSIS);
    }
    shown.push_str(&plain(&line[start..end]));
    if end < line.len() {
        shown.push(ELLIPSIS);
    }
    shown
}

/// Whether a character ends a line for somebody; within a line of a body, which ends at `\n`, it is shown as
/// a space.
pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn plain(text: &str) -> String {
    text.chars().map(|c| if is_break(c) { ' ' } else { c }).collect()
}

/// Where the window begins.
fn start_of(line: &str, most: usize, Place { at, chars }: Place) -> usize {
    // A term that hardly fits, or does not, gets less before it.
    let lead = (most / 4).min((most - 2).saturating_sub(chars));
    let wish = back(line, at, lead);
    if wish == 0 {
        return 0;
    }
    // Near the end of the line, the window is filled from before.
    let wish = wish.min(back(line, line.len(), most - 1));
    let near = forth(line, wish, most / 8).min(at);
    let word = places(line, wish, near).find(|place| {
        ends_with_space(&line[..*place]) && !begins_with_space(&line[*place..]) && is_boundary(line, *place)
    });
    let grapheme = || places(line, wish, at).find(|place| is_boundary(line, *place));
    let before =
        || places(line, back(line, wish, most / 2), wish).rev().find(|place| is_boundary(line, *place));
    word.or_else(grapheme).or_else(before).unwrap_or(wish)
}

/// Where a window of at most `room` code points that begins at `start` ends; behind `least`, if there is room.
fn end_of(line: &str, start: usize, room: usize, least: usize, near: usize) -> usize {
    if forth(line, start, room) == line.len() {
        return line.len();
    }
    let wish = forth(line, start, room - 1);
    let near = back(line, wish, near).max(least.min(wish)).max(start);
    let word = places(line, near, wish).rev().find(|place| {
        *place > start
            && begins_with_space(&line[*place..])
            && !ends_with_space(&line[..*place])
            && is_boundary(line, *place)
    });
    let grapheme =
        || places(line, start, wish).rev().find(|place| *place > start && is_boundary(line, *place));
    word.or_else(grapheme).unwrap_or(wish)
}

/// The places between characters from `start` to `end`, both included.
fn places(line: &str, start: usize, end: usize) -> impl DoubleEndedIterator<Item = usize> {
    line[start..end].char_indices().map(move |(at, _)| start + at).chain([end])
}

fn begins_with_space(text: &str) -> bool {
    text.starts_with(char::is_whitespace)
}

fn ends_with_space(text: &str) -> bool {
    text.ends_with(char::is_whitespace)
}

/// The place so many characters before another, or the beginning.
fn back(line: &str, at: usize, chars: usize) -> usize {
    match chars.checked_sub(1) {
        None => at,
        Some(others) => line[..at].char_indices().rev().nth(others).map_or(0, |(place, _)| place),
    }
}

/// The place so many characters behind another, or the end.
fn forth(line: &str, at: usize, chars: usize) -> usize {
    line[at..].char_indices().nth(chars).map_or(line.len(), |(place, _)| at + place)
}

/// Whether no grapheme lies across a place.
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
    use crate::ask::snippet::MOST;

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
    fn what_a_cut_costs_does_not_depend_on_the_line() {
        for piece in ["x", "word ", "数", "🇩🇪", "e\u{301}", "\u{301}"] {
            let line = piece.repeat((8 << 20) / piece.len());
            let at = line.len() / 2 / piece.len() * piece.len();
            // Going over the line each time would take minutes.
            for _ in 0..100 {
                let shown = cut(&line, MOST, Some(Place { at, chars: 1 }));
                assert!((MOST / 2..=MOST).contains(&shown.chars().count()), "{piece:?}: {shown}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_window_holds_its_term_in_whole_graphemes(
            runs in prop::collection::vec((prop::sample::select(&PIECES[..]), 1_usize..120), 1..9),
            place in any::<prop::sample::Index>(),
            chars in 1_usize..200,
            most in 16_usize..MOST,
        ) {
            let line: String = runs.iter().map(|(piece, times)| piece.repeat(*times)).collect();
            let line = line.trim();
            prop_assume!(!line.is_empty());
            let starts: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
            let at = starts[place.index(starts.len())];
            let term = &line[at..forth(line, at, chars)];
            let shown = cut(line, most, Some(Place { at, chars: term.chars().count() }));
            prop_assert!(shown.chars().count() <= most);
            let inner = shown.strip_prefix(ELLIPSIS).unwrap_or(&shown);
            let inner = inner.strip_suffix(ELLIPSIS).unwrap_or(inner);
            let longest = line.graphemes(true).map(|grapheme| grapheme.chars().count()).max().unwrap_or(0);
            if longest <= most / 8 && term.chars().count() + 2 * longest <= most / 2 {
                prop_assert!(inner.contains(&plain(term)), "{term:?} in {shown:?}");
                let all: Vec<&str> = line.graphemes(true).collect();
                let plain_all: Vec<String> = all.iter().map(|grapheme| plain(grapheme)).collect();
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
