//! The title of a concept that has no `title` field. Only BM25F uses it (V3).

use std::borrow::Cow;

use crate::document::concept::Concept;

/// The title of a concept without a `title` field: its first level-one heading, or else the last part of its id
/// with `-` and `_` as spaces.
pub(crate) fn title_without_field(concept: &Concept) -> Cow<'_, str> {
    if let Some(heading) = heading(&concept.document.body) {
        return Cow::Borrowed(heading);
    }
    let name = concept.id.rsplit('/').next().unwrap_or_default();
    Cow::Owned(name.replace(['-', '_'], " "))
}

/// The text of the first level-one heading that has any. Lines between code fences are no headings.
fn heading(body: &str) -> Option<&str> {
    let mut fence: Option<&str> = None;
    let mut above = "";
    for line in body.split('\n') {
        let text = if is_indented(line) { "" } else { line.trim() };
        if let Some(open) = fence {
            if text.starts_with(open) && text.trim_start_matches(&open[..1]).is_empty() {
                fence = None;
            }
            continue;
        }
        if let Some(heading) = text.strip_prefix('#').and_then(atx) {
            return Some(heading);
        }
        if !above.is_empty() && !text.is_empty() && text.bytes().all(|byte| byte == b'=') {
            return Some(above);
        }
        fence = opened_fence(text);
        above = if fence.is_some() || starts_block(text) { "" } else { text };
    }
    None
}

/// Whether a line begins at column 4 or later: it is code, or goes on with the block above it.
fn is_indented(line: &str) -> bool {
    let text = line.trim_start_matches(' ');
    line.len() - text.len() >= 4 || text.starts_with('\t')
}

/// The fence that opens a block of code in this line.
fn opened_fence(text: &str) -> Option<&str> {
    ["`", "~"].into_iter().find_map(|mark| {
        let length = text.len() - text.trim_start_matches(mark).len();
        (length >= 3 && (mark == "~" || !text[length..].contains('`'))).then(|| &text[..length])
    })
}

/// The text of a heading, given what follows its `#`.
fn atx(rest: &str) -> Option<&str> {
    let text = rest.trim();
    let closed = text.trim_end_matches('#');
    let text = if closed.is_empty() || closed.ends_with([' ', '\t']) { closed.trim_end() } else { text };
    (rest.starts_with([' ', '\t']) && !text.is_empty()).then_some(text)
}

/// Whether a line begins a block that cannot be the text of a heading.
fn starts_block(text: &str) -> bool {
    is_item(text) || text.starts_with(['#', '>', '|', '<'])
}

/// Whether a line begins an item of a list: `- a`, `2. b`.
fn is_item(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    let behind = match digits {
        0 => rest.strip_prefix(['-', '*', '+']),
        1..=9 => rest.strip_prefix(['.', ')']),
        _ => None,
    };
    behind.is_some_and(|behind| behind.is_empty() || behind.starts_with([' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    #[test]
    fn the_title_is_the_first_level_one_heading_or_the_name() {
        for (body, title) in [
            ("text\n# One #\n# Two", "One"),
            ("## Not this\n  # C#\n", "C#"),
            ("Title\n=====\n", "Title"),
            ("```\n# a comment\n```\n# After", "After"),
            ("~~~ sh\n# a\n```\n# b\n~~~~\n#\tTab\n", "Tab"),
            ("    # code", "my own file"),
            (" \t# code", "my own file"),
            ("    code\n===", "my own file"),
            ("- item\n===", "my own file"),
            ("12) item\n===", "my own file"),
            ("12 items\n===", "12 items"),
            ("-item\n===", "-item"),
            ("```\n\t```\n# a\n```\n# b", "b"),
            ("```\n# a\n```\n===", "my own file"),
            ("#\n#none\n", "my own file"),
            ("", "my own file"),
        ] {
            let document = Document { body: body.to_owned(), ..Document::default() };
            let concept = Concept { id: "a/my-own_file".to_owned(), document };
            assert_eq!(title_without_field(&concept), title, "{body:?}");
        }
    }
}
