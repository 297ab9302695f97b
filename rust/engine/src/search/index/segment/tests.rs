use proptest::prelude::*;

use super::*;
use crate::document::Document;

fn concept(id: &str, title: &str, tags: &[&str], body: &str) -> Arc<Concept> {
    let document = Document {
        title: Some(title.to_owned()),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        body: body.to_owned(),
        ..Document::default()
    };
    Arc::new(Concept { id: id.to_owned(), document })
}

fn segment(concepts: Vec<Arc<Concept>>) -> Segment {
    Segment::build(concepts, 2, &Task::default()).unwrap()
}

/// The id and the weight of each concept that matches.
fn found<'segment>(segment: &'segment Segment, term: &str) -> Vec<(&'segment str, u8)> {
    let id = |concept: u32| segment.concepts[concept as usize].id.as_str();
    match &*segment.matches(&fold(term)) {
        Matches::Sparse(postings) => {
            let matches = postings.iter().map(|posting| Matches::unpack(*posting));
            matches.map(|(concept, weight)| (id(concept), weight)).collect()
        }
        Matches::Dense(weights) => {
            let matches = (0..).zip(weights).filter(|(_, weight)| **weight != 0);
            matches.map(|(concept, weight)| (id(concept), *weight)).collect()
        }
    }
}

#[test]
fn concepts_are_numbered_by_id_and_listed_part_by_part_too() {
    let segment = segment(["b", "a-b", "a/b", "a"].map(|id| concept(id, "", &[], "")).into());
    let ids: Vec<&str> = segment.concepts.iter().map(|concept| concept.id.as_str()).collect();
    assert_eq!(ids, ["a", "a-b", "a/b", "b"]);
    assert_eq!(segment.by_parts, [0, 2, 1, 3]);
    assert_eq!((segment.find("a/b"), segment.find("a/c")), (Some(2), None));
}

#[test]
fn a_term_matches_with_the_weight_of_its_fields() {
    let segment = segment(vec![
        concept("a", "Net revenue", &["net"], "net of tax."),
        concept("b", "", &["internet"], ""),
        concept("c", "x", &[], "tax->net"),
    ]);
    assert_eq!(found(&segment, "net"), [("a", 6), ("b", 2), ("c", 1)]);
    assert_eq!(found(&segment, "tax."), [("a", 1)]);
    assert_eq!(found(&segment, "x->n"), [("c", 1)]);
    assert_eq!(found(&segment, "x"), [("a", 1), ("c", 4)]);
    assert!(found(&segment, "gross").is_empty());
}

#[test]
fn a_tag_is_found_whatever_its_case_and_once_for_each_concept() {
    let segment =
        segment(vec![concept("b", "", &["Gold", "gold"], ""), concept("a", "", &["GOLD", "x"], "")]);
    assert_eq!(segment.with_tag("GOLD"), [0, 1]);
    assert_eq!(segment.with_tag("X"), [0]);
    assert!(segment.with_tag("GOL").is_empty());
}

#[test]
fn the_cache_is_bounded_by_the_text() {
    for (text, bytes) in
        [(0, 0), (1000, 4000), (1 << 18, 1 << 20), (1 << 20, 1 << 20), (1 << 22, 1 << 20), (1 << 30, 1 << 28)]
    {
        assert_eq!(cache_bytes(text), bytes, "{text}");
    }
}

#[test]
fn matches_are_cached() {
    let segment = segment(vec![concept("a", "net", &[], &"of tax ".repeat(100))]);
    assert!(Arc::ptr_eq(&segment.matches("NET"), &segment.matches("NET")));
}

proptest! {
    #[test]
    fn a_segment_finds_what_a_scan_of_all_concepts_finds(
        texts in prop::collection::vec(
            ("[abß.,]{0,3}", "[abß.,]{0,3}", "[abß.,]{1,4}( [a.b]{1,4}){0,3}"),
            1..40,
        ),
        terms in prop::collection::vec("[abß.,]{1,3}", 1..9),
    ) {
        let concepts: Vec<Arc<Concept>> = (0..)
            .zip(&texts)
            .map(|(number, (title, tag, body))| concept(&format!("{number:03}"), title, &[tag], body))
            .collect();
        let segment = segment(concepts.clone());
        for term in terms {
            let has = |text: &str| u8::from(fold(text).contains(&fold(&term)));
            let expected: Vec<(&str, u8)> = concepts
                .iter()
                .zip(&texts)
                .map(|(concept, (title, tag, body))| {
                    (concept.id.as_str(), 3 * has(title) + 2 * has(tag) + has(body))
                })
                .filter(|(_, weight)| *weight != 0)
                .collect();
            prop_assert_eq!(found(&segment, &term), expected, "{}", term);
        }
    }
}
