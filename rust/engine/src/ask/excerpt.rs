//! The excerpt: the line of a body that shows why it matched (K6).

pub(crate) use crate::ask::finder::Finder;

/// The first line of `body`, trimmed, that contains any of the terms; empty if there is none.
#[must_use]
pub(crate) fn excerpt<'body>(body: &'body str, finder: &Finder) -> &'body str {
    let mut form = String::new();
    body.split('\n')
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .find(|line| finder.is_in(line, &mut form))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::terms::Terms;

    #[test]
    fn an_excerpt_is_the_first_line_with_any_term_trimmed() {
        let rows = [
            ("first of two", "alpha\nbeta", "beta alpha", "alpha"),
            ("trimmed of white space", "\u{3000}a b\u{a0}\n", "b", "a b"),
            ("none", "alpha", "gamma", ""),
            ("empty body", "", "a", ""),
            ("folded", "der ΣΊΣΥΦΟΣ", "σίσυφος", "der ΣΊΣΥΦΟΣ"),
            ("a line separator does not end a line", "a\u{2028}b", "b", "a\u{2028}b"),
            ("many terms", "one\nnine ß\nten", "b c d f g h j k ß l", "nine ß"),
        ];
        for (name, body, query, line) in rows {
            assert_eq!(excerpt(body, &Finder::new(&Terms::parse(query))), line, "{name}");
        }
    }
}
