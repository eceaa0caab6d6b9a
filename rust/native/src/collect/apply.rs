//! Blocks become state and rows. The same code runs while recording and while replaying a spool.

use iostrata_segment::ring::{Event, Slot};
use iostrata_segment::schema::{
    KIND_BEGIN, KIND_CALL, KIND_CONTEXT, KIND_GAP, KIND_LINK, KIND_UNFINISHED, SLOT_SIZE,
};
use iostrata_segment::segment::OpenSpan;

use super::attribution::Attribution;
use super::block::{self, BlockKind, EndBlock, NamesHead};
use crate::model::context::CallContext;
use crate::model::page::PageReading;
use crate::model::process::{Origin, Process, ProcessEnd, ProcessInfo, SegmentProgress};
use crate::model::rows::EventRow;
use crate::model::run::{Baseline, RunOrder};
use crate::model::state::State;
use crate::model::threads::{HISTORY, SHORT_HISTORY};

pub const OPEN_RECORD: usize = 32;

impl State {
    /// Applies one block; a payload that contradicts its kind is counted and left out.
    pub fn apply(&mut self, kind: BlockKind, payload: &[u8]) {
        let applied = match kind {
            BlockKind::Snapshot => block::json(payload).map(|snapshot| self.restore(snapshot)),
            BlockKind::Ready => Some(()),
            BlockKind::Process => block::json(payload).map(|info| self.add_process(info)),
            BlockKind::Names => self.names(payload),
            BlockKind::Slots => self.slots(payload),
            BlockKind::Rows => self.counters(payload, true),
            BlockKind::Base => self.counters(payload, false),
            BlockKind::Drained => Origin::split(payload).map(|(origin, _)| self.drained(&origin)),
            BlockKind::Open => self.open(payload),
            BlockKind::Page => block::json(payload).map(|page| self.page(page)),
            BlockKind::End => block::json(payload).map(|end| self.end(end)),
            BlockKind::Run => block::json(payload).map(|order| self.run(order)),
            BlockKind::Untraced => {
                block::json(payload).map(|process| self.owners.add_untraced(process))
            }
            BlockKind::Host => block::json(payload).map(|reading| self.host.add(reading)),
            BlockKind::Requests => block::json(payload).map(|counts| self.requests(&counts)),
        };
        self.rejected.blocks += u64::from(applied.is_none());
    }

    fn add_process(&mut self, info: ProcessInfo) {
        let proc = info.proc;
        self.processes.insert(proc, Process::new(info));
        self.weigh(proc);
        self.owners.invalidate();
    }

    fn names(&mut self, payload: &[u8]) -> Option<()> {
        let (head, records) = NamesHead::split(payload)?;
        let process = self.processes.get(&head.proc)?;
        let left = self.memory_left(process.info.uid, process.info.serves);
        let most = process.names.bytes + left;
        let most_claims = self.most_memory.0 / 6;
        let process = self.processes.get_mut(&head.proc)?;
        let news = process.learn((head.number, head.used), records, most);
        self.rejected.names += news.rejected;
        for (category, name) in news.claims {
            let is_kept = self.owners.claim(process, category, &name, most_claims);
            process.names_rejected += u64::from(!is_kept);
        }
        self.weigh(head.proc);
        Some(())
    }

    fn slots(&mut self, payload: &[u8]) -> Option<()> {
        let (origin, slots) = Origin::split(payload)?;
        let position = self.segment(&origin, origin.from)?.position;
        // a block that was applied before changes nothing
        let known = position.saturating_sub(origin.from) as usize;
        let thread = self.thread(&origin)?;
        let rows = self.output.rows();
        let info = &self.processes.get(&origin.proc)?.info;
        let has_memory = self.memory_left(info.uid, info.serves) > 0;
        let most = if has_memory { HISTORY } else { SHORT_HISTORY };
        let mut last = None;
        for slot in slots.chunks_exact(SLOT_SIZE).skip(known) {
            let event = Slot::from_bytes(slot.try_into().ok()?).event();
            if event.kind == KIND_CONTEXT {
                self.context(&origin, thread, &event, most);
            } else {
                self.event(&origin, thread, &event, &mut last);
            }
        }
        self.slots += (slots.len() / SLOT_SIZE).saturating_sub(known) as u64;
        let segment = self.segment(&origin, origin.from)?;
        segment.position = position.max(origin.from + (slots.len() / SLOT_SIZE) as u64);
        self.count_rows(origin.proc, rows);
        self.weigh(origin.proc);
        Some(())
    }

    /// Notes whose the rows are that were made since there were `before`.
    pub(super) fn count_rows(&mut self, proc: u64, before: usize) {
        let made = (self.output.rows() - before) as u64;
        if let Some(process) = self.processes.get(&proc)
            && made > 0
        {
            self.rows.add(process.info.uid, made);
        }
    }

    fn context(&mut self, at: &Origin, thread: u32, event: &Event, most: usize) {
        let Some(process) = self.processes.get_mut(&at.proc) else { return };
        let context = CallContext::from_event(event);
        process.threads.enter(at.tid, event.start, context, most);
        if context.cause.is_some() && event.dur > 0 {
            self.waited(at, thread, event, context);
        }
    }

    /// `last`: of the event before, for the many that share it.
    fn event(&mut self, at: &Origin, thread: u32, event: &Event, last: &mut Option<Attribution>) {
        let Some(process) = self.processes.get_mut(&at.proc) else { return };
        let Some(history) = process.threads.get_mut(at.tid) else { return };
        if !matches!(event.kind, KIND_CALL | KIND_BEGIN | KIND_GAP) {
            self.rejected.slots += 1;
            return;
        }
        if event.kind == KIND_GAP && event.bytes <= 0 {
            return; // only contexts were lost, and they follow
        }
        if event.kind == KIND_CALL {
            history.last_span = event.span;
        }
        process.names_rejected += u64::from(process.names.has_forgotten(event.target));
        let context = history.context_at(event.start);
        let attribution = match *last {
            Some(known) if known.context == context => known,
            _ => self.attribution(at.proc, context),
        };
        *last = Some(attribution);
        let Attribution { identity, cause, .. } = attribution;
        if event.kind == KIND_GAP {
            self.reported_gap(at, event, identity);
        } else if event.kind == KIND_CALL {
            self.tally(at.proc, identity).detail += 1;
        }
        self.output.push(EventRow {
            start: event.start,
            dur: event.dur,
            bytes: event.bytes,
            offset: event.offset,
            asked: u64::from(event.asked),
            span: event.span,
            parent: event.parent,
            target: event.target,
            ret: event.ret,
            thread,
            identity,
            cause,
            sampling: context.sampling,
            sum: 0,
            point: event.point,
            kind: event.kind,
            flags: event.flags,
        });
    }

    /// Work that another thread handed over waited until this one took it up.
    fn waited(&mut self, at: &Origin, thread: u32, event: &Event, context: CallContext) {
        let Attribution { identity, cause, .. } = self.attribution(at.proc, context);
        self.output.push(EventRow {
            start: event.start.saturating_sub(event.dur),
            dur: event.dur,
            offset: -1,
            thread,
            identity,
            cause,
            sampling: context.sampling,
            point: event.point,
            kind: KIND_LINK,
            ..EventRow::default()
        });
    }

    fn reported_gap(&mut self, at: &Origin, gap: &Event, identity: u32) {
        let lost = gap.bytes.max(0) as u64;
        self.tally(at.proc, identity).dropped += lost;
        if let Some(segment) = self.segment(at, 0) {
            segment.reported += lost;
        }
    }

    fn drained(&mut self, at: &Origin) {
        let Some(segment) = self.segment(at, at.from) else { return };
        segment.drained = true;
        segment.rows = Vec::new();
        let silent = segment.gaps.saturating_sub(segment.reported);
        if silent > 0 {
            self.silent_gap(at, silent);
        }
        if let Some(process) = self.processes.get_mut(&at.proc) {
            process.pass_to_next(at);
        }
    }

    /// Losses that no gap slot reported, because the ring never had room again.
    fn silent_gap(&mut self, at: &Origin, lost: u64) {
        let Some(thread) = self.thread(at) else { return };
        let process = self.processes.get(&at.proc);
        let context = process.map_or(0, |process| process.threads.context_at(at.tid, at.now).id);
        let identity = self.identity(at.proc, context);
        self.tally(at.proc, identity).dropped += lost;
        let bytes = lost as i64;
        let kind = KIND_GAP;
        let row = EventRow {
            start: at.now,
            bytes,
            offset: -1,
            thread,
            identity,
            kind,
            ..EventRow::default()
        };
        self.output.push(row);
        if let Some(segment) = self.segment(at, 0) {
            segment.reported += lost;
        }
    }

    fn open(&mut self, payload: &[u8]) -> Option<()> {
        let (origin, records) = Origin::split(payload)?;
        let thread = self.thread(&origin)?;
        for record in records.chunks_exact(OPEN_RECORD) {
            let open = OpenSpan::from_words(std::array::from_fn(|i| block::u64_at(record, i * 8)));
            let history = self.processes.get(&origin.proc)?.threads.get(origin.tid)?;
            if open.span != 0 && open.span == history.last_span {
                continue;
            }
            let context = history.context_at(open.start);
            let Attribution { identity, cause, .. } = self.attribution(origin.proc, context);
            self.count_unfinished(origin.proc, open.point, identity);
            self.output.push(EventRow {
                start: open.start,
                dur: origin.now.saturating_sub(open.start),
                offset: -1,
                span: open.span,
                parent: open.parent,
                target: open.target,
                thread,
                identity,
                cause,
                sampling: context.sampling,
                point: open.point,
                kind: KIND_UNFINISHED,
                flags: open.flags,
                ..EventRow::default()
            });
        }
        Some(())
    }

    fn page(&mut self, page: PageReading) {
        let records = self.owners.is_recording();
        if let Some(process) = self.processes.get_mut(&page.proc) {
            let proc = page.proc;
            process.read_page(page, records);
            self.weigh(proc);
        }
    }

    fn end(&mut self, end: EndBlock) {
        let EndBlock { proc, now, rejection } = end;
        if let Some(process) = self.processes.get_mut(&proc) {
            let at = process.page.as_ref().map_or(now, |page| page.ended_at(now));
            process.cut_spending(at);
            process.end = Some(ProcessEnd { at, rejection });
        }
    }

    fn run(&mut self, order: RunOrder) {
        if !self.owners.runs.contains_key(&order.run) {
            if self.owners.runs.is_empty() {
                // what was lost before any run is no run's loss
                for process in self.processes.values_mut() {
                    process.tallies.remove("");
                }
            }
            if !self.owners.is_recording() {
                self.host.last = None; // what the host did before belongs to no run
            }
        }
        self.cut_spending(&order);
        let baselines = self.processes.iter().filter_map(|(proc, process)| {
            let page = process.page.as_ref()?;
            let (cost, moved, scheduled) = (page.cost, page.moved, page.scheduled);
            let (summed, traced) = (page.summed.clone(), process.traced);
            let class_loading = page.startup.class_loading;
            let baseline = Baseline { cost, summed, moved, scheduled, class_loading, traced };
            Some((*proc, baseline))
        });
        self.owners.order(order, baselines);
    }

    /// What processes took before a run begins is none of it, nor what they take after its end.
    fn cut_spending(&mut self, order: &RunOrder) {
        let is_new = !self.owners.runs.contains_key(&order.run);
        let records = self.owners.is_recording();
        for process in self.processes.values_mut() {
            if records && (is_new || order.ended) {
                process.cut_spending(order.now);
            }
            if is_new {
                process.begin_spending(order.now);
            }
        }
    }

    /// The segment of an origin in its epoch; a new epoch begins at `position`.
    pub(super) fn segment(&mut self, at: &Origin, position: u64) -> Option<&mut SegmentProgress> {
        Some(self.processes.get_mut(&at.proc)?.segment(at, position))
    }
}

#[cfg(test)]
mod tests {
    use iostrata_segment::process::{Account, Cost};

    use super::*;
    use crate::clock::SECOND;
    use crate::model::state::MEMORY;

    fn page(proc: u64, second: u64, cpu: u64) -> PageReading {
        let cost = Cost { cpu, ..Cost::default() };
        let account = Account { cost, looked: second * SECOND, ..Account::default() };
        PageReading::of(proc, second * SECOND + 1, account)
    }

    #[test]
    fn what_a_process_took_is_cut_where_runs_begin_and_end_and_outlives_a_rotation() {
        let order = |run: &str, second: u64, ended| {
            let (run, now) = (run.to_owned(), second * SECOND);
            RunOrder { run, now, ended, ..RunOrder::default() }
        };
        let mut state = State::default();
        state.add_process(ProcessInfo { proc: 7, start: SECOND, ..ProcessInfo::default() });
        state.page(page(7, 2, 5)); // nobody records
        state.run(order("a", 3, false));
        state.page(page(7, 4, 6));
        state.run(order("b", 5, false));
        state.page(page(7, 6, 16));
        state.rotate(|_| true);
        let snapshot = state.snapshot();
        state.restore(snapshot);
        state.page(page(7, 7, 116));
        state.run(order("a", 8, true));
        state.page(page(7, 9, 1116));
        let rows = state.processes[&7].spending.rows.iter();
        let rows: Vec<_> =
            rows.map(|row| (row.begin / SECOND, row.end / SECOND, row.cpu)).collect();
        assert_eq!(rows, [(6, 7, 100), (7, 9, 1000)]);
    }

    #[test]
    fn the_memory_of_one_user_leaves_room_for_that_of_another() {
        let mut state = State::default();
        for (proc, uid, serves) in [(1, 7, false), (2, 7, false), (3, 8, false), (4, 0, true)] {
            state.add_process(ProcessInfo { proc, uid, serves, ..ProcessInfo::default() });
        }
        let room = |state: &State| {
            [1, 2, 3, 4].map(|proc| {
                let info = &state.processes[&proc].info;
                state.memory_left(info.uid, info.serves)
            })
        };
        let one = state.processes[&1].weight;
        let most = (MEMORY - 2 * one) / 2;
        let halves = [most - 2 * one, most - 2 * one, MEMORY / 2 - 5 * one / 2, MEMORY - 4 * one];
        assert_eq!(room(&state), halves);
        state.processes.get_mut(&1).unwrap().names.bytes = most;
        state.weigh(1);
        assert_eq!(room(&state)[..2], [0, 0]);
        assert!(room(&state)[2] > MEMORY / 5);
    }
}
