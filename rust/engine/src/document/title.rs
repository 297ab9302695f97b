//! The title of a concept that has no `title` field. Only BM25F uses it (V3).

use std::borrow::Cow;

use crate::document::concept::Concept;

/// The title of a concept without a `title` field: its first level-one heading, or else the last part of its id
/// with `-` and `_` as spaces.
pub(crate) fn title_without_field(concept: &Concept) -> Cow<'_, str> {
    match heading(&concept.document.body) {
        Some(heading) => Cow::Borrowed(heading),
        None => {
            let name = concept.id.rsplit('/').next().unwrap_or_default();
            Cow::Owned(name.replace(['-', '_'], " "))
        }
    }
}

/// The text of the first level-one heading that has any. Lines between code fences are no headings.
fn heading(body: &str) -> Option<&str> {
    let mut fence: Option<&str> = None;
    let mut above = "";
    for line in body.split('\n') {
        let indentation = line.len() - line.trim_start_matches(' ').len();
        let text = line.trim();
        if let Some(open) = fence {
            if indentation < 4 && text.starts_with(open) && text.trim_start_matches(&open[..1]).is_empty() {
                fence = None;
            }
        } else if indentation < 4 {
            fence = opened_fence(text);
            if let Some(heading) = text.strip_prefix('#').and_then(atx) {
                return Some(heading);
            }
            if !above.is_empty() && !text.is_empty() && text.bytes().all(|byte| byte == b'=') {
                return Some(above);
            }
        }
        above = if fence.is_some() || starts_block(text) { "" } else { text };
    }
    None
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
    text.starts_with(['#', '>', '|', '<'])
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
            ("#\n#none\n", "my own file"),
            ("", "my own file"),
        ] {
            let document = Document { body: body.to_owned(), ..Document::default() };
            let concept = Concept { id: "a/my-own_file".to_owned(), document };
            assert_eq!(title_without_field(&concept), title, "{body:?}");
        }
    }
}
