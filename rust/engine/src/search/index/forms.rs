//! The two forms of a token: as it is written, which K1 to K5 compare, and the normal form of BM25F (V3).
//!
//! Few tokens have two forms. Those that have only one are indexed once for both scorings.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::{interner::StringPool, interner::to_u32, words::is_word};
use crate::text::{
    compose::{letters, may_change, punctuation},
    script::is_spaceless,
};

/// The tokens whose normal form is not what is written.
#[derive(Debug, Default)]
pub(super) struct Forms {
    of_token: HashMap<u32, Form>,
    /// For each token, whether it has a form; nothing if none has.
    has_form: Vec<bool>,
    /// Whether the words of any token change.
    changes_any_words: bool,
}

/// The normal form of a token that is written in another way.
#[derive(Debug)]
pub(super) struct Form {
    /// The token with its letters and digits in normal form; `None` if they are as written.
    letters: Option<Box<str>>,
    /// The normal form; `None` if only letters and digits change.
    normal: Option<Box<str>>,
}

impl Forms {
    pub(super) fn of(tokens: &StringPool) -> Self {
        let mut forms = HashMap::new();
        for token in 0..to_u32(tokens.len()) {
            let text = tokens.get(token);
            if text.is_ascii() {
                continue;
            }
            let Ok(text) = str::from_utf8(text) else { continue };
            if !may_change(text) {
                continue;
            }
            let changed = |form: Cow<'_, str>| match form {
                Cow::Owned(form) if form != text => Some(form.into_boxed_str()),
                _ => None,
            };
            let letters = changed(letters(text));
            let normal = changed(Cow::Owned(punctuation(letters.as_deref().unwrap_or(text)).into_owned()))
                .filter(|normal| letters.as_deref() != Some(normal));
            if letters.is_some() || normal.is_some() {
                forms.insert(token, Form { letters, normal });
            }
        }
        let mut has_form = vec![false; if forms.is_empty() { 0 } else { tokens.len() }];
        let mut changes_any_words = false;
        for (token, has_form) in (0_u32..).zip(&mut has_form) {
            let form = forms.get(&token);
            *has_form = form.is_some();
            changes_any_words |= form.is_some_and(|form: &Form| form.letters.is_some());
        }
        Self { of_token: forms, has_form, changes_any_words }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of_token.is_empty()
    }

    /// Whether a token has a normal form that is not what is written.
    pub(super) fn has(&self, token: u32) -> bool {
        self.has_form.get(token as usize).is_some_and(|has_form| *has_form)
    }

    /// The normal form of a token; `None` if it is as written.
    pub(super) fn get(&self, token: u32) -> Option<&Form> {
        if self.has(token) { self.of_token.get(&token) } else { None }
    }

    /// Whether the words of a token have a normal form that is not what is written.
    pub(super) fn changes_words(&self, token: u32) -> bool {
        self.changes_any_words
            && self.has(token)
            && self.get(token).is_some_and(|form| form.letters.is_some())
    }
}

impl Form {
    /// The text of which the words are found under BM25F; `None` if they are as written.
    pub(super) fn letters(&self) -> Option<&str> {
        self.letters.as_deref()
    }

    /// The whole normal form of the token.
    pub(super) fn normal<'form>(&'form self, written: &'form str) -> &'form str {
        self.normal.as_deref().or(self.letters()).unwrap_or(written)
    }
}

/// The parts of a token in normal form that have punctuation. Characters of scripts without spaces separate
/// them: no term has both such a character and punctuation, and a sentence would be one long token.
pub(super) fn compounds(normal: &str) -> impl Iterator<Item = &[u8]> {
    normal.split(is_spaceless).map(str::as_bytes).filter(|part| !is_word(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(tokens: &[&str]) -> (StringPool, Forms) {
        let mut pool = StringPool::default();
        for token in tokens {
            pool.push(token.as_bytes());
        }
        let forms = Forms::of(&pool);
        (pool, forms)
    }

    #[test]
    fn only_tokens_that_are_written_in_another_way_have_a_form() {
        let (_, forms) = forms(&["ABC", "GRÖSSE", "漢字。", "DON'T", "—"]);
        assert!(forms.is_empty());
    }

    #[test]
    fn a_form_tells_whether_words_change_or_only_what_is_between_them() {
        let (pool, forms) = forms(&["DON’T", "GRO\u{308}SSE", "ＡＢ，", "A"]);
        let form = |token| {
            let written = str::from_utf8(pool.get(token)).unwrap();
            forms.get(token).map(|form| (form.letters(), form.normal(written)))
        };
        assert_eq!(form(0), Some((None, "DON'T")));
        assert_eq!(form(1), Some((Some("GRÖSSE"), "GRÖSSE")));
        assert_eq!(form(2), Some((Some("AB，"), "AB,")));
        assert_eq!(form(3), None);
        assert_eq!([0, 1, 2, 3].map(|token| forms.changes_words(token)), [false, true, true, false]);
    }

    #[test]
    fn compounds_are_cut_at_characters_of_scripts_without_spaces() {
        let parts = |text| compounds(text).map(|part| str::from_utf8(part).unwrap()).collect::<Vec<_>>();
        assert_eq!(parts("使用C++,然後A.B编译"), ["C++,", "A.B"]);
        assert_eq!(parts("DON'T"), ["DON'T"]);
        assert!(parts("漢字ABC").is_empty());
    }
}
