//! Work on several threads whose outcome does not depend on how many there are.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// As many threads as there are processors.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// What `of` says of each item, in the order of the items; `threads` take them as they come.
pub fn each<T: Send, R: Send>(
    threads: usize,
    items: impl ExactSizeIterator<Item = T> + Send,
    of: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let threads = threads.min(items.len());
    let items = Mutex::new(items.enumerate());
    let take = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let mut results = Vec::new();
        while let Some((place, item)) = take() {
            results.push((place, of(item)));
        }
        results
    };
    let mut results = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut results = work();
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, actual)| actual).collect()
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn answers_stand_in_the_order_of_the_items_and_slices_are_written() {
        for threads in [1, 2, 4] {
            let mut numbers: Vec<u32> = (0..1000).collect();
            let doubled = |some: &mut [u32]| {
                for number in some.iter_mut() {
                    *number *= 2;
                }
                some[0]
            };
            let actual = each(threads, numbers.chunks_mut(7), doubled);
            assert_eq!(actual, (0..1000).step_by(7).map(|first| first * 2).collect::<Vec<_>>());
            assert!(numbers.iter().zip(0..).all(|(number, place)| *number == 2 * place));
        }
    }
}
