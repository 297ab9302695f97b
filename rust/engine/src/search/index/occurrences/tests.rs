use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{document::Document, text::fold::fold};

fn concept(title: &str, tag: &str, body: &str) -> Arc<Concept> {
    let document = Document {
        title: Some(title.to_owned()),
        tags: vec![tag.to_owned()],
        body: body.to_owned(),
        ..Document::default()
    };
    Arc::new(Concept { id: String::new(), document })
}

/// For each concept, its tokens and their fields.
fn read(concepts: &[Arc<Concept>], pieces: usize) -> Vec<BTreeMap<String, u8>> {
    let Occurrences { tokens, forward, .. } =
        Occurrences::of_pieces(concepts, pieces, 2, &Task::default()).unwrap();
    let text = |token: u32| str::from_utf8(tokens.get(token)).unwrap().to_owned();
    forward
        .concepts()
        .map(|items| {
            let count = items.clone().count();
            let map: BTreeMap<String, u8> = items.map(|(token, fields)| (text(token), fields)).collect();
            assert_eq!(map.len(), count, "each token of a concept is there once");
            map
        })
        .collect()
}

#[test]
fn a_token_has_every_field_that_contains_it() {
    let concepts = [concept("Net revenue", "net", "revenue, net\nof tax"), concept("", "", "net")];
    let expected = [
        BTreeMap::from([
            ("NET".to_owned(), TITLE | TAGS_OR_DESCRIPTION | BODY),
            ("REVENUE".to_owned(), TITLE),
            ("REVENUE,".to_owned(), BODY),
            ("OF".to_owned(), BODY),
            ("TAX".to_owned(), BODY),
        ]),
        BTreeMap::from([("NET".to_owned(), BODY)]),
    ];
    assert_eq!(read(&concepts, 1), expected);
}

#[test]
fn every_white_space_character_ends_a_token() {
    let concepts = [concept("", "", "a\u{b}b\u{85}c\u{a0}d\u{2028}e\u{3000}f\tg\r\nh é\u{1c}i")];
    let tokens: Vec<String> = read(&concepts, 1).remove(0).into_keys().collect();
    assert_eq!(tokens, ["A", "B", "C", "D", "E", "F", "G", "H", "É\u{1c}I"]);
}

#[test]
fn postings_come_concept_after_concept() {
    let concepts = [concept("a", "", "b"), concept("", "b", "")];
    let Occurrences { forward, .. } = Occurrences::of(&concepts, 1, &Task::default()).unwrap();
    let expected = [
        (0, (posting::pack(0, TITLE), 0)),
        (1, (posting::pack(0, BODY), 1)),
        (1, (posting::pack(1, TAGS_OR_DESCRIPTION), 0)),
    ];
    assert_eq!(forward.postings().collect::<Vec<_>>(), expected);
}

#[test]
fn no_concepts_have_no_tokens() {
    let Occurrences { tokens, forward, .. } = Occurrences::of(&[], 3, &Task::default()).unwrap();
    assert_eq!((tokens.len(), forward.concepts().count()), (0, 0));
}

#[test]
fn an_abandoned_task_ends_the_reading() {
    let task = Task::default();
    task.abandon();
    assert!(Occurrences::of(&[concept("a", "b", "c")], 1, &task).is_err());
}

proptest! {
    #[test]
    fn tokens_are_what_splitting_each_field_gives_in_any_number_of_pieces(
        texts in prop::collection::vec("[aAbé,ß \n\u{3000}]{0,9}", 3..24),
        pieces in 1_usize..5,
    ) {
        let concepts: Vec<Arc<Concept>> =
            texts.chunks_exact(3).map(|texts| concept(&texts[0], &texts[1], &texts[2])).collect();
        let expected: Vec<BTreeMap<String, u8>> = texts
            .chunks_exact(3)
            .map(|texts| {
                let mut tokens = BTreeMap::new();
                for (field, text) in [TITLE, TAGS_OR_DESCRIPTION, BODY].into_iter().zip(texts) {
                    for token in text.split_whitespace() {
                        *tokens.entry(fold(token)).or_default() |= field;
                    }
                }
                tokens
            })
            .collect();
        prop_assert_eq!(read(&concepts, pieces), expected);
    }
}
