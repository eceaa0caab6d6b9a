//! Blocks become state and rows. The same code runs while recording and while replaying a spool.

use std::collections::BTreeMap;

use iostrata_segment::dictionary;
use iostrata_segment::ring::{Event, Slot};
use iostrata_segment::schema::{
    CATEGORY_CLIENT, CATEGORY_JOB, CATEGORY_POINT, KIND_BEGIN, KIND_CALL, KIND_CONTEXT, KIND_GAP,
    KIND_LINK, KIND_UNFINISHED, SLOT_SIZE,
};
use iostrata_segment::segment::OpenSpan;
use parquet::data_type::ByteArray;

use super::block::{self, Gone, Kind, NamesHead, Page, Place};
use super::names::Name;
use super::order::{Before, Run, RunOrder, Seen};
use super::state::{Context, Known, Process, Segment, State, UserPoint};
use super::whose::{Whose, context_of};
use crate::store::rows::Row;

/// Threads without a segment are forgotten after this long, ns.
const THREAD_KEPT: u64 = 10_000_000_000;
pub const OPEN_RECORD: usize = 32;

impl State {
    /// Applies one block; a payload that contradicts its kind is counted and left out.
    pub fn apply(&mut self, kind: Kind, payload: &[u8]) {
        let applied = match kind {
            Kind::Snapshot => block::json(payload).map(|snapshot| self.restore(snapshot)),
            Kind::Ready => Some(()),
            Kind::Process => block::json(payload).map(|known: Known| self.found(known)),
            Kind::Names => self.names(payload),
            Kind::Slots => self.slots(payload),
            Kind::Rows => self.counters(payload, true),
            Kind::Base => self.counters(payload, false),
            Kind::Drained => Place::split(payload).map(|(place, _)| self.drained(&place)),
            Kind::Open => self.open(payload),
            Kind::Page => block::json(payload).map(|page| self.page(page)),
            Kind::Gone => block::json(payload).map(|gone: Gone| self.gone(gone)),
            Kind::Run => block::json(payload).map(|order| self.run(order)),
            Kind::Seen => block::json(payload).map(|seen| self.seen(seen)),
            Kind::Host => block::json(payload).map(|reading| self.host_read(reading)),
        };
        self.refused.blocks += u64::from(applied.is_none());
    }

    fn found(&mut self, known: Known) {
        self.processes.insert(known.proc, Process::new(known));
        self.generation += 1;
    }

    fn names(&mut self, payload: &[u8]) -> Option<()> {
        let (head, records) = NamesHead::split(payload)?;
        let process = self.processes.get_mut(&head.proc)?;
        let (entries, bad) = dictionary::parse(records);
        self.refused.names += u64::from(bad.is_some());
        process.names_read = (head.number, head.used);
        let mut claims = Vec::new();
        for entry in entries {
            let is_claim = matches!(entry.category, CATEGORY_JOB | CATEGORY_CLIENT);
            if is_claim {
                claims.push((entry.category, entry.name.clone()));
            }
            if entry.category == CATEGORY_POINT {
                let point = UserPoint::parse(&entry.name);
                self.refused.names += u64::from(point.is_none());
                process.points.extend(point);
            }
            let text = ByteArray::from(entry.name.into_bytes());
            let (category, parent, block) = (entry.category, entry.parent, entry.block);
            let learned = process.names.learn(entry.id, Name { category, parent, block, text });
            process.names_refused += u64::from(!learned);
            self.refused.names += u64::from(!learned);
        }
        for (category, name) in claims {
            self.claim(head.proc, category, &name);
        }
        Some(())
    }

    /// A process said that it submitted a job or holds a client name.
    fn claim(&mut self, proc: u64, category: u8, name: &str) {
        let State { processes, claims, .. } = self;
        let Some(process) = processes.get(&proc) else { return };
        let declared = self.runs.get(process.known.get("run"));
        let run = declared.filter(|run| run.order.uid == process.known.uid).or_else(|| {
            let of_job = |key| claims.run_of_job(process.known.get(key));
            let (run, _) = ["job", "attempt", "container"].into_iter().find_map(of_job)?;
            self.runs.get(run)
        });
        let Some(run) = run else { return };
        let is_new = match category {
            CATEGORY_JOB => claims.add_job(name, run),
            _ => claims.add_client(name, run),
        };
        self.generation += u64::from(is_new);
    }

    fn slots(&mut self, payload: &[u8]) -> Option<()> {
        let (place, slots) = Place::split(payload)?;
        let position = self.segment(&place, place.from)?.position;
        // a block that was applied before changes nothing
        let known = position.saturating_sub(place.from) as usize;
        let thread = self.thread(&place)?;
        let mut last = None;
        for slot in slots.chunks_exact(SLOT_SIZE).skip(known) {
            let event = Slot::from_bytes(slot.try_into().ok()?).event();
            self.event(&place, thread, &event, &mut last);
        }
        self.slots += (slots.len() / SLOT_SIZE).saturating_sub(known) as u64;
        let segment = self.segment(&place, place.from)?;
        segment.position = position.max(place.from + (slots.len() / SLOT_SIZE) as u64);
        Some(())
    }

    /// `last`: of the event before, for the many that share it.
    fn event(&mut self, at: &Place, thread: u32, event: &Event, last: &mut Option<Whose>) {
        let Some(process) = self.processes.get_mut(&at.proc) else { return };
        let Some(history) = process.threads.get_mut(&at.tid) else { return };
        if event.kind == KIND_CONTEXT {
            let context = context_of(event);
            history.enter(event.start, context);
            if context.cause.is_some() && event.dur > 0 {
                self.waited(at, thread, event, context);
            }
            return;
        }
        if !matches!(event.kind, KIND_CALL | KIND_BEGIN | KIND_GAP) {
            self.refused.slots += 1;
            return;
        }
        if event.kind == KIND_GAP && event.bytes <= 0 {
            return; // only contexts were lost, and they follow
        }
        if event.kind == KIND_CALL {
            history.last_span = event.span;
        }
        process.names_refused += u64::from(process.names.has_forgotten(event.target));
        let context = history.context_at(event.start);
        let whose = match *last {
            Some(whose) if whose.context == context => whose,
            _ => self.whose(at.proc, context),
        };
        *last = Some(whose);
        let Whose { identity, cause, .. } = whose;
        if event.kind == KIND_GAP {
            self.told(at, event, identity);
        } else if event.kind == KIND_CALL {
            self.tally(at.proc, identity).detail += 1;
        }
        self.output.push(Row {
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
    fn waited(&mut self, at: &Place, thread: u32, event: &Event, context: Context) {
        let Whose { identity, cause, .. } = self.whose(at.proc, context);
        self.output.push(Row {
            start: event.start.saturating_sub(event.dur),
            dur: event.dur,
            offset: -1,
            thread,
            identity,
            cause,
            sampling: context.sampling,
            point: event.point,
            kind: KIND_LINK,
            ..Row::default()
        });
    }

    fn told(&mut self, at: &Place, gap: &Event, identity: u32) {
        let lost = gap.bytes.max(0) as u64;
        self.tally(at.proc, identity).dropped += lost;
        if let Some(segment) = self.segment(at, 0) {
            segment.told += lost;
        }
    }

    fn drained(&mut self, at: &Place) {
        let Some(segment) = self.segment(at, at.from) else { return };
        segment.drained = true;
        segment.rows = Vec::new();
        let silent = segment.gaps.saturating_sub(segment.told);
        if silent > 0 {
            self.silent_gap(at, silent);
        }
        let Some(process) = self.processes.get_mut(&at.proc) else { return };
        if let Some(thread) = process.threads.get_mut(&at.tid) {
            thread.chain = thread.chain.max(at.chain + 1);
            thread.seen = at.now;
        }
    }

    /// Losses that no gap slot told of, because the ring never had room again.
    fn silent_gap(&mut self, at: &Place, lost: u64) {
        let Some(thread) = self.thread(at) else { return };
        let history = self.processes.get(&at.proc).and_then(|p| p.threads.get(&at.tid));
        let context = history.map_or(0, |history| history.context_at(at.now).id);
        let identity = self.identity(at.proc, context);
        self.tally(at.proc, identity).dropped += lost;
        let bytes = lost as i64;
        let kind = KIND_GAP;
        let row =
            Row { start: at.now, bytes, offset: -1, thread, identity, kind, ..Row::default() };
        self.output.push(row);
        if let Some(segment) = self.segment(at, 0) {
            segment.told += lost;
        }
    }

    fn open(&mut self, payload: &[u8]) -> Option<()> {
        let (place, records) = Place::split(payload)?;
        let thread = self.thread(&place)?;
        for record in records.chunks_exact(OPEN_RECORD) {
            let open = OpenSpan::from_words(std::array::from_fn(|i| block::u64_at(record, i * 8)));
            let history = self.processes.get(&place.proc)?.threads.get(&place.tid)?;
            if open.span != 0 && open.span == history.last_span {
                continue;
            }
            let context = history.context_at(open.start);
            let Whose { identity, cause, .. } = self.whose(place.proc, context);
            self.output.push(Row {
                start: open.start,
                dur: place.now.saturating_sub(open.start),
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
                ..Row::default()
            });
        }
        Some(())
    }

    fn page(&mut self, page: Page) {
        let Some(process) = self.processes.get_mut(&page.proc) else { return };
        let live: Vec<u64> =
            process.segments.values().filter(|s| !s.drained).map(|s| s.tid).collect();
        process
            .threads
            .retain(|tid, thread| live.contains(tid) || thread.seen + THREAD_KEPT > page.now);
        process.page = Some(page);
    }

    fn gone(&mut self, gone: Gone) {
        if let Some(process) = self.processes.get_mut(&gone.proc) {
            process.gone = Some((gone.now, gone.refused));
        }
    }

    fn run(&mut self, order: RunOrder) {
        self.generation += 1;
        if let Some(run) = self.runs.get_mut(&order.run) {
            run.order = order;
            return;
        }
        if self.runs.is_empty() {
            // what was lost before any run is no run's loss
            for process in self.processes.values_mut() {
                process.tallies.remove("");
            }
        }
        if self.runs.values().all(|run| run.order.ended) {
            self.host = None; // what the host did before belongs to no run
        }
        let (name, began) = (order.run.clone(), order.now);
        let before = self.processes.iter().filter_map(|(proc, process)| {
            let page = process.page.as_ref()?;
            Some((*proc, Before { cost: page.cost, summed: page.summed.clone() }))
        });
        let before = before.collect();
        let run = Run { order, began, seen: BTreeMap::new(), rows: 0, bytes: 0, before };
        self.runs.insert(name, run);
    }

    fn seen(&mut self, seen: Seen) {
        if let Some(run) = self.runs.get_mut(&seen.run) {
            run.seen.insert(seen.key(), seen);
        }
    }

    /// The segment of a place in its epoch; a new epoch begins at `position`.
    pub(super) fn segment(&mut self, at: &Place, position: u64) -> Option<&mut Segment> {
        let process = self.processes.get_mut(&at.proc)?;
        let fresh = || Segment::begin(at.epoch, at.tid, at.chain, position);
        let segment = process.segments.entry(at.serial).or_insert_with(fresh);
        if segment.epoch != at.epoch {
            let position = segment.position; // head and tail go on
            *segment = Segment::begin(at.epoch, at.tid, at.chain, position);
        }
        Some(segment)
    }
}
