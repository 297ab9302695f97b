//! The line of a body that shows why it matched (K6).

use memchr::memmem;

use crate::{fold::fold_into, terms::Terms};

/// The first line of `body`, trimmed, that contains any of `terms`; empty if there is none.
///
/// ```
/// use okf_engine::{excerpt::excerpt, terms::Terms};
///
/// let body = "# Revenue\n\n  Net of refunds.  \n";
/// assert_eq!(excerpt(body, &Terms::parse("REFUND tax")), "Net of refunds.");
/// ```
#[must_use]
pub fn excerpt<'body>(body: &'body str, terms: &Terms) -> &'body str {
    let finders: Vec<_> =
        terms.as_slice().iter().map(|(term, _)| memmem::Finder::new(term.as_bytes())).collect();
    let mut folded = String::new();
    body.split('\n')
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .find(|line| {
            folded.clear();
            fold_into(line, &mut folded);
            finders.iter().any(|finder| finder.find(folded.as_bytes()).is_some())
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_with_any_term_is_shown_trimmed() {
        let rows = [
            ("first of two", "alpha\nbeta", "beta alpha", "alpha"),
            ("trimmed of white space", "\u{3000}a b\u{a0}\n", "b", "a b"),
            ("none", "alpha", "gamma", ""),
            ("empty body", "", "a", ""),
            ("folded", "der ΣΊΣΥΦΟΣ", "σίσυφος", "der ΣΊΣΥΦΟΣ"),
            ("a line separator does not end a line", "a\u{2028}b", "b", "a\u{2028}b"),
        ];
        for (name, body, query, line) in rows {
            assert_eq!(excerpt(body, &Terms::parse(query)), line, "{name}");
        }
    }
}
