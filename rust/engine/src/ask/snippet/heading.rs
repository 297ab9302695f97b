//! Which lines are headings, which words a reader sees in them, and which lines show no text.

use std::borrow::Cow;

use crate::text::fold::fold_char;

/// The characters of emphasis, code, links and escapes. A reader does not see them.
const MARKUP: [char; 7] = ['*', '_', '`', '~', '\\', '[', ']'];

/// The text of a heading; `None` if a trimmed line is no heading. `below` is the text after the line.
///
/// A heading begins with one to six `#` and white space, or with the tag of an HTML heading, or the line
/// below it has only `=` or only `-`.
pub(super) fn heading<'line>(line: &'line str, below: &str) -> Option<&'line str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    if (1..=6).contains(&level) && (text.is_empty() || text.starts_with(char::is_whitespace)) {
        return Some(without_closing(text.trim()));
    }
    (is_html_heading(line) || (is_paragraph(line) && is_underline(below))).then_some(line)
}

/// Without the `#` at the end, if white space is before it: `Orders ##` but not `C#`.
fn without_closing(text: &str) -> &str {
    let open = text.trim_end_matches('#');
    if open.is_empty() || open.ends_with(char::is_whitespace) { open.trim_end() } else { text }
}

fn is_html_heading(line: &str) -> bool {
    match line.as_bytes() {
        [b'<', b'h' | b'H', b'1'..=b'6', next, ..] => *next == b'>' || next.is_ascii_whitespace(),
        _ => false,
    }
}

/// Whether a line may be underlined as a heading. A quotation, a list item and a row of a table may not.
fn is_paragraph(line: &str) -> bool {
    let item = line.strip_prefix(['-', '*', '+']).is_some_and(|rest| rest.starts_with(char::is_whitespace));
    !item && !line.starts_with(['>', '|'])
}

/// Whether a text begins with a line of only `=` or only `-`.
fn is_underline(text: &str) -> bool {
    let line = text.split('\n').next().unwrap_or_default().trim();
    !line.is_empty() && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
}

/// The words that a reader sees in a heading or a title, folded (K2), with a space between them.
///
/// Tags, link targets, attributes in braces (which give a heading its id) and the characters of emphasis,
/// code and links are left out. Dashes, quotes, brackets and full stops separate words.
pub(super) fn visible_words(text: &str) -> String {
    let text = without_attributes(text.trim());
    let text = without(text, "<", is_tag, '>');
    let text = without(&text, "](", |_| true, ')');
    let mut shown = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || separates_words(c)) {
        let length = shown.len();
        shown.extend(word.chars().filter(|c| !MARKUP.contains(c)).map(fold_char));
        if shown.len() > length {
            shown.push(' ');
        }
    }
    shown.truncate(shown.trim_end().len());
    shown
}

/// Whether a character separates words. `+` and `#` do not: C++ and C# differ.
fn separates_words(c: char) -> bool {
    matches!(c, '.' | ',' | ':' | ';' | '!' | '?' | '"' | '\'' | '(' | ')' | '-' | '\u{2010}'..='\u{2015}'
        | '\u{2018}'..='\u{201f}' | '«' | '»')
}

/// Without `{#id}`, `{.class}` or `{: ...}` at the end.
fn without_attributes(text: &str) -> &str {
    let Some((before, inner)) = text.strip_suffix('}').and_then(|text| text.rsplit_once('{')) else {
        return text;
    };
    if inner.starts_with(['#', '.', ':']) && !inner.contains('}') { before.trim_end() } else { text }
}

/// Whether `<` and this text begin a tag.
fn is_tag(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!'))
}

/// Without everything from an opening text to the next closing character.
fn without<'text>(
    text: &'text str,
    opening: &str,
    opens: impl Fn(&str) -> bool,
    closing: char,
) -> Cow<'text, str> {
    let mut kept = String::new();
    let (mut done, mut look) = (0, 0);
    while let Some(found) = text[look..].find(opening) {
        let start = look + found;
        look = start + opening.len();
        if opens(&text[look..]) {
            let Some(length) = text[look..].find(closing) else { break };
            kept.push_str(&text[done..start]);
            look += length + closing.len_utf8();
            done = look;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[done..]);
    Cow::Owned(kept)
}

/// Whether a trimmed line shows no text: it begins a fence of code, or has only tags and ASCII punctuation,
/// as rules and the rules of tables do.
pub(super) fn shows_no_text(line: &str) -> bool {
    if line.starts_with("```") || line.starts_with("~~~") {
        return true;
    }
    // Stops at the first character of text, since a line may be long.
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let tag = if c == '<' && is_tag(after) { after.split_once('>') } else { None };
        rest = match tag {
            Some((_, behind)) => behind,
            // A tag that is not closed is text.
            None if c == '<' && is_tag(after) => return false,
            None if c.is_ascii_punctuation() || c.is_whitespace() => after,
            None => return false,
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_markdown_makes_headings_are_headings() {
        for (line, below, text) in [
            ("# Orders", "", Some("Orders")),
            ("###### Orders", "", Some("Orders")),
            ("####### Orders", "", None),
            ("#Orders", "", None),
            ("#", "", Some("")),
            ("# Orders ##", "", Some("Orders")),
            ("# ##", "", Some("")),
            ("# C#", "", Some("C#")),
            ("#\tOrders", "", Some("Orders")),
            ("<H1 align=center>Orders</H1>", "", Some("<H1 align=center>Orders</H1>")),
            ("<hr>", "", None),
            ("<h7>", "", None),
            ("Orders", "======\nx", Some("Orders")),
            ("Orders", "  -  \t\nx", Some("Orders")),
            ("Orders", "=", Some("Orders")),
            ("Orders", "=-=\nx", None),
            ("Orders", "== x", None),
            ("Orders", "\n===", None),
            ("Orders", "", None),
            ("- Orders", "---\n", None),
            ("> Orders", "---\n", None),
            ("| Orders |", "---\n", None),
            ("-Orders", "---\n", Some("-Orders")),
        ] {
            assert_eq!(heading(line, below), text, "{line:?} above {below:?}");
        }
    }

    #[test]
    fn a_reader_sees_the_words_of_a_heading_without_its_markup() {
        for (text, shown) in [
            ("Orders", "ORDERS"),
            ("  **Net**   _revenue_ ", "NET REVENUE"),
            ("`order_items`", "ORDERITEMS"),
            ("[Orders](https://example.com/a?b=(c)", "ORDERS"),
            ("[Orders](unclosed", "ORDERS UNCLOSED"),
            ("Orders {#orders}", "ORDERS"),
            ("Orders{: .big }", "ORDERS"),
            ("Orders {not an id}", "ORDERS {NOT AN ID}"),
            ("<a name=\"x\"></a>Orders", "ORDERS"),
            ("a < b > c", "A < B > C"),
            ("<b", "<B"),
            ("* * *", ""),
            ("Acme — “Policy” (FY2026)", "ACME POLICY FY2026"),
            ("Acme policy: FY2026.", "ACME POLICY FY2026"),
            ("v1.2", "V1 2"),
            ("C++", "C++"),
            ("ΣΊΣΥΦΟς", "ΣΊΣΥΦΟΣ"),
        ] {
            assert_eq!(visible_words(text), shown, "{text:?}");
        }
    }

    #[test]
    fn rules_fences_and_lone_tags_show_no_text() {
        for line in [
            "---",
            "* * *",
            "| --- | :-: |",
            "```python",
            "~~~",
            "====",
            "<br/>",
            "<img src=\"a.png\">",
            "***",
        ] {
            assert!(shows_no_text(line), "{line:?}");
        }
        for line in ["a", "…", "🎉", "- é", "<b>bold</b>", "<unclosed", "`x`"] {
            assert!(!shows_no_text(line), "{line:?}");
        }
    }
}
