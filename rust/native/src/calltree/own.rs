//! Time that a call has for itself.

use super::forest::Forest;
use super::spans::Spans;

/// Of a call: `own`, its duration less what calls below it cover of it in its own thread, and
/// `elsewhere`, the part of `own` in which calls that it caused in other threads or processes ran,
/// ns. Those take nothing from `own`: the call waits for them, or works beside them.
pub struct Own {
    pub own: i64,
    pub elsewhere: i64,
}

/// What is below `row` must be in the order of starts.
pub fn own_time(spans: &Spans, forest: &Forest, row: u32) -> Own {
    let thread = spans.thread[row as usize];
    let dur = spans.dur[row as usize];
    let same = covered(spans, row, forest.below(row), |below| spans.thread[below] == thread);
    let all = covered(spans, row, forest.below(row), |_| true);
    Own { own: dur.saturating_sub(same), elsewhere: all.saturating_sub(same).max(0) }
}

/// How much of a call those below it cover that are wanted.
fn covered(spans: &Spans, row: u32, below: &[u32], is_wanted: impl Fn(usize) -> bool) -> i64 {
    let start = spans.start[row as usize];
    let end = start.saturating_add(spans.dur[row as usize]);
    let (mut covered, mut until) = (0i64, start);
    for below in below.iter().map(|below| *below as usize).filter(|below| is_wanted(*below)) {
        let begin = spans.start[below].max(until);
        let stop = spans.start[below].saturating_add(spans.dur[below]).min(end);
        covered = covered.saturating_add(stop.saturating_sub(begin).max(0));
        until = until.max(stop);
    }
    covered
}
