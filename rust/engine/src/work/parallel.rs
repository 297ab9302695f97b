//! Work spread over threads that end with the call.
//!
//! Nothing here outlives a call: a process that forks never inherits a pool without its threads.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// How many threads the machine runs at once.
#[must_use]
pub fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// `work` of every item, in order, on up to `threads` threads.
///
/// A thread that cannot be had is done without.
pub fn map<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
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

/// Two pieces of work, at once if there are threads for it.
#[allow(clippy::missing_panics_doc)] // Each piece gives what is expected of it.
pub fn both<A: Send, B: Send>(
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
    (a.expect("the first piece was done"), b.expect("the second piece was done"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items_whatever_the_threads() {
        let items: Vec<u32> = (0..1000).collect();
        for threads in [0, 1, 2, 7, 2000] {
            assert_eq!(
                map(&items, threads, |item| item * 2),
                items.iter().map(|i| i * 2).collect::<Vec<_>>()
            );
        }
    }
}
