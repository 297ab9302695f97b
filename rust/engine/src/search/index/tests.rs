use super::*;
use crate::document::Document;

fn concepts(ids: impl IntoIterator<Item = usize>) -> Vec<Concept> {
    let concept = |id: usize| Concept { id: format!("{id:05}"), document: Document::default() };
    ids.into_iter().map(concept).collect()
}

fn names(ids: impl IntoIterator<Item = usize>) -> Vec<String> {
    concepts(ids).into_iter().map(|concept| concept.id).collect()
}

fn change(index: &Index, removed: &[String], added: Vec<Concept>) -> Index {
    index.with(removed, added, 1, &Task::default()).unwrap()
}

/// Of each segment, how many concepts it has and how many of them are not deleted.
fn sizes(index: &Index) -> Vec<(usize, usize)> {
    index.live_segments().iter().map(|segment| (segment.len(), segment.count())).collect()
}

#[test]
fn a_small_change_makes_a_small_segment() {
    let index = change(&Index::default(), &[], concepts(0..100));
    assert_eq!(sizes(&index), [(100, 100)]);
    let index = change(&index, &names([3]), concepts([3]));
    assert_eq!(sizes(&index), [(100, 99), (1, 1)]);
    assert_eq!(index.len(), 100);
    assert_eq!(index.get("00003").unwrap().id, "00003");
}

#[test]
fn segments_of_similar_size_are_merged() {
    let mut index = change(&Index::default(), &[], concepts(0..100));
    for added in 100..103 {
        index = change(&index, &[], concepts([added]));
    }
    assert_eq!(sizes(&index), [(100, 100), (3, 3)]);
    // 4 times 26 is more than 100: everything becomes one segment.
    assert_eq!(sizes(&change(&index, &[], concepts(200..226))), [(129, 129)]);
    assert_eq!(sizes(&change(&index, &[], concepts(200..222))), [(100, 100), (25, 25)]);
}

#[test]
fn a_segment_of_which_most_is_deleted_is_merged() {
    let index = change(&Index::default(), &[], concepts(0..100));
    let half = change(&index, &names(0..50), Vec::new());
    assert_eq!(sizes(&half), [(100, 50)]);
    assert_eq!(sizes(&change(&half, &names(50..51), Vec::new())), [(49, 49)]);
    assert!(sizes(&change(&half, &names(0..100), Vec::new())).is_empty());
    assert_eq!(sizes(&index), [(100, 100)], "the old index stays as it is");
}

#[test]
fn a_concept_is_found_by_its_number_and_by_its_id_in_any_segment() {
    let index = change(&Index::default(), &[], concepts(0..100));
    let index = change(&index, &names([7]), concepts([100, 101]));
    assert_eq!(sizes(&index), [(100, 99), (2, 2)]);
    assert_eq!(index.concept(0).id, "00000");
    assert_eq!(index.concept(99).id, "00099");
    assert_eq!(index.concept(101).id, "00101");
    assert!(index.get("00007").is_none());
    assert_eq!(index.get("00100").unwrap().id, "00100");
    let mut ids: Vec<&str> = index.concepts().map(|concept| concept.id.as_str()).collect();
    ids.sort_unstable();
    assert_eq!(ids, names((0..7).chain(8..102)));
}

#[test]
fn an_abandoned_change_gives_no_index() {
    let task = Task::default();
    task.abandon();
    assert!(Index::default().with(&[], concepts([1]), 1, &task).is_err());
}

#[test]
fn the_cost_of_terms_grows_with_the_vocabulary_and_the_number_of_terms() {
    let words: Vec<String> = (0..50).map(|number| format!("word{number}")).collect();
    let body = words.join(" ");
    let document = Document { body, ..Document::default() };
    let index = change(&Index::default(), &[], vec![Concept { id: "a".to_owned(), document }]);
    assert!(index.costs_at_least(&Terms::parse("word"), 50));
    assert!(!index.costs_at_least(&Terms::parse("word"), 51));
    assert!(index.costs_at_least(&Terms::parse("word1 word2"), 51));
    let many: Vec<String> = (0..=MANY_TERMS).map(|number| number.to_string()).collect();
    let many = many.join(" ");
    assert!(index.costs_at_least(&Terms::parse(&many), usize::MAX));
    assert!(!Index::default().costs_at_least(&Terms::parse(&many), 1));
}
