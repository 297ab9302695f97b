use super::*;

/// Matches that take `bytes` bytes.
fn matches(bytes: usize) -> Matches {
    Matches::Dense(vec![1; bytes].into())
}

fn is_cached(cache: &Cache<Matches>, term: &str) -> bool {
    let mut cached = true;
    cache.get_or_find(term, || {
        cached = false;
        matches(0)
    });
    cached
}

#[test]
fn a_term_is_looked_for_once() {
    let cache = Cache::new(10_000);
    let first = cache.get_or_find("A", || matches(10));
    let second = cache.get_or_find("A", || panic!("it is cached"));
    assert!(Arc::ptr_eq(&first, &second));
}

#[test]
fn terms_that_are_not_asked_for_again_are_evicted_first() {
    let cache = Cache::new(2 * 1000);
    cache.get_or_find("A", || matches(300));
    cache.get_or_find("B", || matches(300));
    // Fills the young generation: A and B become old.
    cache.get_or_find("C", || matches(500));
    assert!(is_cached(&cache, "A"));
    // Fills it again: B is evicted, A was asked for in between.
    cache.get_or_find("D", || matches(800));
    assert!(is_cached(&cache, "A") && !is_cached(&cache, "B"));
}

#[test]
fn matches_larger_than_half_of_the_cache_are_not_cached() {
    let cache = Cache::new(2 * 1000);
    cache.get_or_find("SMALL", || matches(10));
    cache.get_or_find("LARGE", || matches(1000));
    assert!(is_cached(&cache, "SMALL") && !is_cached(&cache, "LARGE"));
}

/// The bytes of all entries.
fn bytes(cache: &Cache<Matches>) -> usize {
    let Generations { young, old } = &*cache.generations.lock().unwrap();
    for generation in [young, old] {
        let entries = generation.entries.iter();
        assert_eq!(entries.map(|(term, matches)| cost(term, &**matches)).sum::<usize>(), generation.bytes);
    }
    young.bytes + old.bytes
}

#[test]
fn terms_of_both_generations_stay_cached_while_nothing_new_is_asked_for() {
    let cache = Cache::new(5000);
    // Five entries of 697 bytes: more than one generation holds at first.
    for _ in 0..3 {
        for number in 0..5_usize {
            cache.get_or_find(&number.to_string(), || matches(600));
        }
    }
    assert!((0..5).all(|number: usize| is_cached(&cache, &number.to_string())));
}

#[test]
fn the_cache_stays_within_its_bound_however_many_terms_are_asked_for() {
    let cache = Cache::new(5000);
    for number in 0..1000_usize {
        cache.get_or_find(&number.to_string(), || matches(number * 37 % 600));
        cache.get_or_find(&(number / 4).to_string(), || matches(number * 11 % 600));
        assert!(bytes(&cache) <= 5000, "after {number}");
    }
}

#[test]
fn the_cache_stays_within_its_bound_when_all_terms_are_asked_for_again_and_again() {
    let cache = Cache::new(5000);
    for newest in 0..30_usize {
        for number in 0..=newest {
            cache.get_or_find(&number.to_string(), || matches(600));
            assert!(bytes(&cache) <= 5000, "{number} of {newest}");
        }
    }
}

#[test]
fn a_thread_that_cannot_lock_the_cache_finds_the_matches_itself() {
    let cache = Cache::new(10_000);
    let held = cache.generations.lock().unwrap();
    assert!(!is_cached(&cache, "A"));
    drop(held);
    assert!(!is_cached(&cache, "A"), "nothing was cached while the lock was held");
}
