//! The terms that a question in words looks for (V2).

use hashbrown::{HashMap, hash_map::Entry};
use icu_properties::{
    CodePointMapData, CodePointSetData,
    props::{GeneralCategory, TerminalPunctuation},
};

use crate::{
    text::{
        compose::normal,
        script::{is_spaceless, is_word_char},
        terms::Terms,
    },
    work::task::{Abandoned, Task},
};

/// The weight of a word, and of a pair of characters, in quarters.
const WORD: u32 = 4;
/// The weight of a piece of text as it is written, in quarters: its words are terms too.
const AS_WRITTEN: u32 = 2;
/// How many pieces are taken between two checks whether the task was abandoned.
const PIECES_PER_CHECK: usize = 1024;

/// The terms of a question in words, in normal form, each once; instead of a count, each has its weight in quarters.
///
/// Terms are the words of the text, and the pairs of neighbouring characters where a script has no spaces. A piece
/// between white space that has other characters than its words (`c++`, `.net`, `a/b`) is a term as well, without
/// quotes, brackets and sentence punctuation around it. In a text without any word, the pieces are the terms.
///
/// # Errors
/// [`Abandoned`] if the task was.
pub(crate) fn parse(text: &str, task: &Task) -> Result<Terms, Abandoned> {
    let text = normal(text);
    let mut terms = WeightedTerms::default();
    for (at, piece) in text.split_whitespace().enumerate() {
        if at % PIECES_PER_CHECK == 0 {
            task.go_on()?;
        }
        for run in piece.split_inclusive_runs() {
            if run.starts_with(is_spaceless) {
                terms.add_pairs(run);
            } else {
                terms.add_words(run);
            }
        }
    }
    if terms.terms.is_empty() {
        text.split_whitespace().for_each(|piece| terms.add(piece, WORD));
    }
    Ok(Terms::of(terms.terms))
}

/// Cuts a text between scripts without spaces and others.
trait Runs {
    fn split_inclusive_runs(&self) -> impl Iterator<Item = &str>;
}

impl Runs for str {
    fn split_inclusive_runs(&self) -> impl Iterator<Item = &str> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let first = is_spaceless(rest.chars().next()?);
            let end = rest.find(|c| is_spaceless(c) != first).unwrap_or(rest.len());
            let (run, others) = rest.split_at(end);
            rest = others;
            Some(run)
        })
    }
}

#[derive(Default)]
struct WeightedTerms {
    terms: Vec<(String, u32)>,
    numbers: HashMap<String, usize>,
}

impl WeightedTerms {
    /// Adds a term. If it is there already, the larger weight counts.
    fn add(&mut self, term: &str, weight: u32) {
        match self.numbers.entry(term.to_owned()) {
            Entry::Occupied(known) => {
                let known = &mut self.terms[*known.get()].1;
                *known = weight.max(*known);
            }
            Entry::Vacant(new) => {
                new.insert(self.terms.len());
                self.terms.push((term.to_owned(), weight));
            }
        }
    }

    fn add_pairs(&mut self, run: &str) {
        let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
        if starts.len() == 2 {
            self.add(run, WORD);
        }
        for pair in starts.windows(3) {
            self.add(&run[pair[0]..pair[2]], WORD);
        }
    }

    fn add_words(&mut self, run: &str) {
        let mut has_words = false;
        for word in run.split(|c| !is_word_char(c)).filter(|word| !word.is_empty()) {
            self.add(word, WORD);
            has_words = true;
        }
        let piece = without_enclosing_punctuation(run);
        if has_words || !piece.is_empty() {
            self.add_piece(piece);
        }
    }

    fn add_piece(&mut self, piece: &str) {
        if piece.contains(|c| !is_word_char(c)) {
            self.add(piece, AS_WRITTEN);
        }
    }
}

/// A piece without quotes and brackets around it, and without sentence punctuation behind it.
fn without_enclosing_punctuation(piece: &str) -> &str {
    let category = |c| CodePointMapData::<GeneralCategory>::new().get(c);
    let is_quote = |c: char| matches!(c, '"' | '\'' | '`' | '*');
    let opens = |c: char| {
        is_quote(c)
            || matches!(c, '¿' | '¡')
            || matches!(
                category(c),
                GeneralCategory::OpenPunctuation
                    | GeneralCategory::InitialPunctuation
                    | GeneralCategory::FinalPunctuation
            )
    };
    let closes = |c: char| {
        is_quote(c)
            || CodePointSetData::new::<TerminalPunctuation>().contains(c)
            || c == '…'
            || matches!(
                category(c),
                GeneralCategory::ClosePunctuation
                    | GeneralCategory::InitialPunctuation
                    | GeneralCategory::FinalPunctuation
            )
    };
    piece.trim_start_matches(opens).trim_end_matches(closes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<(String, u32)> {
        parse(text, &Task::default()).unwrap().as_slice().to_vec()
    }

    fn words(text: &str) -> Vec<String> {
        terms(text).into_iter().filter(|(_, weight)| *weight == WORD).map(|(term, _)| term).collect()
    }

    fn pieces(text: &str) -> Vec<String> {
        terms(text).into_iter().filter(|(_, weight)| *weight == AS_WRITTEN).map(|(term, _)| term).collect()
    }

    #[test]
    fn a_sentence_gives_its_words_once() {
        assert_eq!(words("How do I restore, how?"), ["HOW", "DO", "I", "RESTORE"]);
        assert!(pieces("How do I (restore) «a» “snapshot”?…").is_empty());
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(words("証明書を更新 A漢"), ["証明", "明書", "書を", "を更", "更新", "A", "漢"]);
        assert_eq!(words("ใบ"), ["ใบ"]);
    }

    #[test]
    fn a_piece_with_other_characters_is_a_term_as_written() {
        assert_eq!(pieces("What is C++, or (.net)?"), ["C++", ".NET"]);
        assert_eq!(words("mlflow.trace iceberg_compat"), ["MLFLOW", "TRACE", "ICEBERG_COMPAT"]);
        assert_eq!(pieces("mlflow.trace iceberg_compat"), ["MLFLOW.TRACE"]);
        assert_eq!(pieces("don’t 使用c++编译。"), ["DON'T", "C++"]);
        assert_eq!(pieces("launch 🚀 now"), ["🚀"]);
    }

    #[test]
    fn a_text_without_words_gives_its_pieces() {
        assert_eq!(words("??? !"), ["???", "!"]);
        assert!(pieces("??? !").is_empty());
    }

    #[test]
    fn spellings_of_one_word_are_one_term() {
        assert_eq!(words("größe GRO\u{308}ßE"), ["GRÖßE"]);
        assert_eq!(words("ＡＰＩ api"), ["API"]);
    }
}
