//! Work on several threads, which are started for a call and end with it.
//!
//! There is no thread pool. A forked process would inherit the pool without its threads.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// How many threads the machine runs at once.
#[must_use]
pub(crate) fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The results of `work` for every item, in the order of the items, on up to `threads` threads.
///
/// If the system refuses to start a thread, the others do its work.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let helpers = threads.min(items.len()).saturating_sub(1);
    if helpers == 0 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let running: Vec<_> =
            (0..helpers).map_while(|_| thread::Builder::new().spawn_scoped(scope, take).ok()).collect();
        let mut results = take();
        for thread in running {
            match thread.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The results of two functions, which run at the same time if there are two threads.
#[allow(clippy::missing_panics_doc)] // Each function runs once.
pub(crate) fn both<A: Send, B: Send>(
    threads: usize,
    first: impl Fn() -> A + Sync,
    second: impl Fn() -> B + Sync,
) -> (A, B) {
    let halves =
        map(
            &[true, false],
            threads,
            |is_first| {
                if *is_first { (Some(first()), None) } else { (None, Some(second())) }
            },
        );
    let (mut a, mut b) = (None, None);
    for (first, second) in halves {
        a = a.or(first);
        b = b.or(second);
    }
    (a.expect("map calls the first function"), b.expect("map calls the second function"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items_for_any_number_of_threads() {
        let items: Vec<u32> = (0..1000).collect();
        for threads in [0, 1, 2, 7, 2000] {
            assert_eq!(
                map(&items, threads, |item| item * 2),
                items.iter().map(|i| i * 2).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn both_functions_run_for_any_number_of_threads() {
        for threads in [0, 1, 2] {
            assert_eq!(both(threads, || 1, || "two"), (1, "two"));
        }
    }
}
