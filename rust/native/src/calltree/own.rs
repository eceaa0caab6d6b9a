//! Time that a call has for itself.

use super::forest::Forest;
use super::spans::Spans;
use super::stats::OwnTime;

/// What is below `row` must be in the order of starts.
pub fn own_time(spans: &Spans, forest: &Forest, row: u32) -> OwnTime {
    let thread = spans.thread[row as usize];
    let dur = spans.dur[row as usize];
    let same = time_below(spans, row, forest.below(row), |below| spans.thread[below] == thread);
    let all = time_below(spans, row, forest.below(row), |_| true);
    OwnTime { own: dur.saturating_sub(same), elsewhere: all.saturating_sub(same).max(0) }
}

/// How much of a call those below it take that are wanted.
fn time_below(spans: &Spans, row: u32, below: &[u32], is_wanted: impl Fn(usize) -> bool) -> i64 {
    let start = spans.start[row as usize];
    let end = start.saturating_add(spans.dur[row as usize]);
    let (mut time_below, mut until) = (0i64, start);
    for below in below.iter().map(|below| *below as usize).filter(|below| is_wanted(*below)) {
        let begin = spans.start[below].max(until);
        let stop = spans.start[below].saturating_add(spans.dur[below]).min(end);
        time_below = time_below.saturating_add(stop.saturating_sub(begin).max(0));
        until = until.max(stop);
    }
    time_below
}
