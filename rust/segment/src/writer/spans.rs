//! The open spans of a thread, one inside the other. The header of its segment mirrors those that
//! are recorded individually.

use super::chunk::Chunk;
use super::context::Cause;
use super::detail::ALL_REQUESTS;
use super::point::PointFacts;
use super::rows::{Outcome, Packed, Timed};
use super::thread::{AS_ENTERED, Thread, Timing};
use crate::ring::Event;
use crate::schema::{FLAG_ERRNO, FLAG_ERROR, KIND_BEGIN, KIND_CALL, LAYER_TASK};
use crate::segment::OpenSpan;

/// What is known of a call when it begins.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry {
    pub point: u16,
    /// Dictionary id | category << 32; 0: that of the enclosing open span.
    pub target: u64,
    /// Bytes asked for, 0 none.
    pub asked: u64,
    /// -1 none.
    pub offset: i64,
    /// What [`Thread::exit`] adds to.
    pub bytes: i64,
}

#[derive(Debug)]
pub(super) struct Span {
    pub point: u16,
    facts: PointFacts,
    /// False: it is only summed, and what it encloses hangs from the span that encloses it.
    kept: bool,
    /// A context was pushed for it.
    in_context: bool,
    flags: u8,
    /// [`Cause::sampling`]; 0: a task, what it encloses begins requests.
    pub sampling: i32,
    /// Its own, or the nearest one kept; 0 none.
    pub id: u64,
    /// 0: not timed.
    start: u64,
    parent: u64,
    pub target: u64,
    asked: u64,
    offset: i64,
    bytes: i64,
    context: u32,
    /// Scope of the call itself, and of what it encloses.
    scope: u64,
    pub scope_inside: u64,
    /// Layers and counted-only calls that were open before it.
    layers_before: u64,
    pub counted_before: usize,
}

impl Span {
    fn mirrored(&self) -> OpenSpan {
        OpenSpan {
            span: self.id,
            start: self.start,
            parent: self.parent,
            target: self.target as u32,
            point: self.point,
            flags: self.flags,
        }
    }

    fn slot(&self, kind: u8) -> Event {
        Event {
            start: self.start,
            offset: self.offset,
            target: self.target as u32,
            point: self.point,
            kind,
            flags: self.flags,
            asked: u32::try_from(self.asked).unwrap_or(u32::MAX),
            span: self.id,
            parent: self.parent,
            ..Event::default()
        }
    }
}

impl Thread {
    /// A call begins.
    ///
    /// `whose`: it happens in a context of its own, see [`Thread::push_context`].
    pub fn enter(&mut self, entry: &Entry, whose: Option<(u32, Option<Cause>)>) {
        self.follow_recording();
        if let Some((id, cause)) = whose {
            self.push_context(entry.point, id, cause);
        }
        if !self.active() {
            return;
        }
        let facts = self.process.points.get(entry.point);
        self.open_span(entry, facts, whose.is_some());
    }

    pub(super) fn open_span(&mut self, entry: &Entry, facts: PointFacts, in_context: bool) {
        let mut span = self.opened(entry, facts, in_context);
        let drawn = self.sample(&mut span);
        let keeps = || self.process.detail.keeps(entry.point, facts, (span.target >> 32) as u8);
        span.kept = drawn || span.sampling >= 0 && keeps();
        self.layers |= facts.bits();
        if span.kept { self.keep(span) } else { self.sum(span) }
    }

    /// Of a call that is to be recorded individually, within a request (see [`Thread::request`]).
    pub(super) fn open_kept(&mut self, entry: &Entry, facts: PointFacts, request: i32) {
        let mut span = self.opened(entry, facts, false);
        span.kept = true;
        span.sampling = request;
        self.layers |= facts.bits();
        self.keep(span);
    }

    fn opened(&self, entry: &Entry, facts: PointFacts, in_context: bool) -> Span {
        let below = self.spans.last();
        let span = below.map_or(0, |below| below.id);
        let scope = below.map_or(0, |below| below.scope_inside);
        Span {
            point: entry.point,
            facts,
            kept: false,
            in_context,
            flags: facts.flags(self.layers),
            sampling: 0,
            id: span,
            start: 0,
            parent: span,
            target: self.target_of(entry),
            asked: entry.asked,
            offset: entry.offset,
            bytes: entry.bytes,
            context: self.contexts.current(),
            scope,
            scope_inside: scope,
            layers_before: self.layers,
            counted_before: self.counted.len(),
        }
    }

    /// What a call acts on: if it does not say so, what the open call around it does, or its cause.
    #[inline]
    pub(super) fn target_of(&self, entry: &Entry) -> u64 {
        if entry.target != 0 {
            return entry.target;
        }
        self.spans.last().map_or_else(
            || self.contexts.cause().map_or(0, |cause| cause.target),
            |below| below.target,
        )
    }

    /// The request that a call belongs to, as [`Cause::sampling`] says it: that of the call around it
    /// or of its cause; 0: it begins one.
    #[inline]
    pub(super) fn request(&self) -> i32 {
        match self.spans.last() {
            Some(below) => below.sampling,
            None => self.contexts.cause().map_or(0, |cause| cause.sampling),
        }
    }

    /// Says whether the request that a call belongs to is in the sample, which it may begin.
    ///
    /// True when it begins one that was drawn: that call is kept whatever the level, so that all
    /// that is kept of a request hangs together.
    fn sample(&mut self, call: &mut Span) -> bool {
        if call.facts.layer == LAYER_TASK {
            return false;
        }
        call.sampling = self.request();
        if call.sampling != 0 {
            return false;
        }
        let wanted = self.process.detail.sampled();
        let random = if wanted == ALL_REQUESTS { 0 } else { self.draw() };
        let drawn = super::detail::drawn(wanted, random);
        call.sampling = drawn;
        if drawn > 0 && self.contexts.tells(drawn) {
            self.tell_context(0, 0);
        }
        drawn > 0 && drawn != ALL_REQUESTS
    }

    fn keep(&mut self, mut span: Span) {
        span.id = match self.chain.chunk.as_mut() {
            Some(chunk) => chunk.next_span(),
            None => 0,
        };
        if span.facts.scope {
            span.scope_inside = span.id;
        }
        span.start = self.process.now();
        if let Some(chunk) = &self.chain.chunk {
            chunk.open(self.kept, span.mirrored());
        }
        self.kept += 1;
        let begin = span.facts.begin.then(|| span.slot(KIND_BEGIN));
        self.spans.push(span);
        if let Some(begin) = begin
            && self.chain.chunk.is_some()
        {
            self.publish_begin(begin);
        }
    }

    fn sum(&mut self, mut span: Span) {
        let state = self.point(span.point);
        if state.sampler.next() && state.timing == Timing::None {
            state.timing = Timing::Span;
            span.start = self.process.now();
        }
        self.spans.push(span);
    }

    /// The call returns.
    ///
    /// `bytes`: what to add to those given at its begin, or [`Thread::AS_ENTERED`]; `target`: 0: the
    /// one given there.
    pub fn exit(&mut self, point: u16, bytes: i64, target: u64) {
        if !self.unwind_to(point) {
            return;
        }
        let Some(mut span) = self.spans.pop() else { return };
        let moved = if bytes == AS_ENTERED { span.bytes } else { span.bytes.saturating_add(bytes) };
        if span.facts.added_up != 0 {
            self.add_up(span.facts.added_up, moved);
        }
        if target != 0 {
            span.target = target;
        }
        self.leave(span, moved, 0);
    }

    /// The call on top acts on `target`, which was not known when it began.
    pub fn acts_on(&mut self, target: u64) {
        if let Some(span) = self.spans.last_mut() {
            span.target = target;
        }
    }

    /// The call fails.
    ///
    /// `ret`: errno, or dictionary id of an exception, as `flags` say (`error` or `errno`).
    pub fn failed(&mut self, point: u16, ret: i32, flags: u8) {
        if !self.unwind_to(point) {
            return;
        }
        let Some(mut span) = self.spans.pop() else { return };
        // What the calls inside have moved is moved, whatever happened then.
        let moved = if span.facts.adds_up == 0 { 0 } else { span.bytes };
        span.flags |= flags;
        self.leave(span, moved, ret);
    }

    /// The call throws; `exception`: a dictionary id.
    pub fn threw(&mut self, point: u16, exception: i32) {
        self.failed(point, exception, FLAG_ERROR);
    }

    /// Adds to the bytes of the open calls that consist of such calls.
    pub fn add_up(&mut self, operation: u8, moved: i64) {
        for span in &mut self.spans {
            if span.facts.adds_up == operation && moved > 0 {
                span.bytes = span.bytes.saturating_add(moved);
            }
        }
    }

    /// Makes the innermost call of the point the one on top; false when it has none open.
    #[inline]
    fn unwind_to(&mut self, point: u16) -> bool {
        if self.spans.last().is_some_and(|top| top.point == point) {
            return true;
        }
        let Some(at) = self.spans.iter().rposition(|span| span.point == point) else {
            self.unbalanced(point);
            return false;
        };
        while self.spans.len() > at + 1 {
            self.unbalanced(0);
            self.drop_span();
        }
        true
    }

    /// Closes the span on top without recording it.
    pub(super) fn drop_span(&mut self) {
        let Some(span) = self.spans.pop() else { return };
        self.close(&span);
        if span.kept {
            self.mirror_depth();
        } else if span.start != 0 {
            self.point(span.point).timing = Timing::None;
        }
        if span.in_context {
            self.pop_context();
        }
    }

    /// Takes a span off the open layers, and counted-only calls inside it that never ended.
    fn close(&mut self, span: &Span) {
        self.cut_counted(span.counted_before);
        self.layers = span.layers_before;
        self.kept -= usize::from(span.kept);
    }

    fn leave(&mut self, span: Span, moved: i64, ret: i32) {
        let end = if span.start == 0 { 0 } else { self.process.now() };
        self.close(&span);
        let bytes = moved.max(0) as u64;
        if span.kept {
            self.leave_kept(&span, bytes, ret, end);
        } else {
            self.leave_summed(&span, bytes, end);
        }
        if span.in_context {
            self.pop_context();
        }
    }

    fn leave_kept(&mut self, span: &Span, bytes: u64, ret: i32, end: u64) {
        let dur = end.saturating_sub(span.start);
        self.count_inside(dur);
        let timed = Timed { dur, end, weight: 1, spread: 0.0 };
        let call = outcome(span, bytes, Some(timed));
        // The row first: after kill -9 the counts may be ahead of the slots, never behind.
        self.record(key(span, bytes), span.scope, &call, true);
        if self.chain.chunk.is_some() {
            self.publish(Event { dur, bytes: bytes as i64, ret, ..span.slot(KIND_CALL) });
            self.mirror_depth();
        }
    }

    fn leave_summed(&mut self, span: &Span, bytes: u64, end: u64) {
        let mut timed = None;
        if span.start != 0 {
            let dur = end.saturating_sub(span.start).saturating_sub(self.process.clock_cost);
            let state = self.point(span.point);
            state.timing = Timing::None;
            timed = Some(state.timed(dur, end));
        }
        let call = outcome(span, bytes, timed);
        self.record_summed(key(span, bytes), span.scope, span.target, &call);
    }

    fn mirror_depth(&self) {
        if let Some(chunk) = &self.chain.chunk {
            chunk.depth(self.kept);
        }
    }

    /// Tells a new segment what is open; gives ids to spans that began while there was none.
    pub(super) fn mirror_all(&mut self, chunk: &mut Chunk) {
        let (mut mirrored, mut above) = (0, 0);
        for span in &mut self.spans {
            if !span.kept {
                span.id = above;
                continue;
            }
            if span.id == 0 {
                span.id = chunk.next_span();
                span.parent = above;
                if span.facts.scope {
                    span.scope_inside = span.id;
                }
            }
            chunk.open(mirrored, span.mirrored());
            mirrored += 1;
            above = span.id;
        }
    }
}

fn key(span: &Span, bytes: u64) -> Packed {
    Packed::new(span.point, span.flags, (span.target >> 32) as u8, bytes, span.context)
}

fn outcome(span: &Span, bytes: u64, timed: Option<Timed>) -> Outcome {
    let error = span.flags & (FLAG_ERROR | FLAG_ERRNO) != 0;
    Outcome { calls: 1, bytes: bytes as i64, asked: span.asked, error, timed, inside: 0 }
}
