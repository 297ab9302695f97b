use okf_engine::*;
use std::time::Instant as Clock;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let scoring =
        if std::env::args().nth(2).as_deref() == Some("k") { Scoring::WeightedTerms } else { Scoring::Bm25f };
    let full = std::env::args().nth(3).as_deref() == Some("full");
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let texts: std::collections::BTreeMap<String, String> = json["docs"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(k, v)| (k.clone(), v.as_str().unwrap().to_owned()))
        .collect();
    let concepts: Vec<(String, String)> = texts.into_iter().collect();
    run(
        concepts,
        &json["queries"]
            .as_array()
            .unwrap()
            .iter()
            .map(|q| q.as_str().unwrap().to_owned())
            .collect::<Vec<_>>(),
        scoring,
        full,
    );
}
