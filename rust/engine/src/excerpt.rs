//! The line of a body that shows why it matched (K6).

use aho_corasick::AhoCorasick;
use memchr::memmem;

use crate::{
    fold::fold_into,
    task::{Abandoned, Task},
    terms::Terms,
};

/// So many terms are looked for one by one.
const FEW: usize = 8;
/// How many bytes of terms one automaton looks for; so many take some hundredths of a second to prepare.
const AT_ONCE: usize = 64 << 10;

/// Finds any of some terms in one pass over a text, however many they are.
#[derive(Debug)]
pub struct Finder(Kind);

#[derive(Debug)]
enum Kind {
    OneByOne(Vec<memmem::Finder<'static>>),
    AtOnce(Vec<AhoCorasick>),
}

impl Finder {
    /// A finder of any of the terms.
    #[allow(clippy::missing_panics_doc)] // Nobody else has the task.
    #[must_use]
    pub fn new(terms: &Terms) -> Self {
        Self::made_for(terms, &Task::default()).expect("nobody else has this task, to abandon it")
    }

    /// A finder of any of the terms, made as long as somebody waits for it.
    ///
    /// # Errors
    /// [`Abandoned`] if the task was.
    pub fn made_for(terms: &Terms, task: &Task) -> Result<Self, Abandoned> {
        let words: Vec<&[u8]> = terms.as_slice().iter().map(|(term, _)| term.as_bytes()).collect();
        let one_by_one = || words.iter().map(|word| memmem::Finder::new(word).into_owned()).collect();
        if words.len() <= FEW {
            return Ok(Self(Kind::OneByOne(one_by_one())));
        }
        let mut automata = Vec::new();
        let mut rest = &words[..];
        while !rest.is_empty() {
            task.go_on()?;
            let mut bytes = 0;
            let fits = rest.iter().take_while(|word| {
                bytes += word.len();
                bytes <= AT_ONCE
            });
            let (some, others) = rest.split_at(fits.count().max(1));
            match AhoCorasick::new(some) {
                Ok(automaton) => automata.push(automaton),
                Err(_) => return Ok(Self(Kind::OneByOne(one_by_one()))),
            }
            rest = others;
        }
        Ok(Self(Kind::AtOnce(automata)))
    }

    fn is_in(&self, folded: &str) -> bool {
        match &self.0 {
            Kind::OneByOne(finders) => finders.iter().any(|finder| finder.find(folded.as_bytes()).is_some()),
            Kind::AtOnce(automata) => automata.iter().any(|automaton| automaton.is_match(folded)),
        }
    }
}

/// The first line of `body`, trimmed, that contains any of the terms; empty if there is none.
///
/// ```
/// use okf_engine::{excerpt::{Finder, excerpt}, terms::Terms};
///
/// let body = "# Revenue\n\n  Net of refunds.  \n";
/// assert_eq!(excerpt(body, &Finder::new(&Terms::parse("REFUND tax"))), "Net of refunds.");
/// ```
#[must_use]
pub fn excerpt<'body>(body: &'body str, finder: &Finder) -> &'body str {
    let mut folded = String::new();
    body.split('\n')
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .find(|line| {
            folded.clear();
            fold_into(line, &mut folded);
            finder.is_in(&folded)
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
            ("many terms", "one\nnine ß\nten", "b c d f g h j k ß l", "nine ß"),
        ];
        for (name, body, query, line) in rows {
            assert_eq!(excerpt(body, &Finder::new(&Terms::parse(query))), line, "{name}");
        }
    }
}
