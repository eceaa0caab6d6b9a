//! The names of a process: those met last, and for as long as it lives those of which there are
//! few.

use std::collections::{BTreeMap, VecDeque};

use iostrata_segment::dictionary::Entry;
use iostrata_segment::schema::CATEGORY_CONTEXT;
use parquet::data_type::ByteArray;

/// Names of a process kept at a time; what comes after them is rejected.
const MOST: usize = 4 << 20;
/// Targets that outlive a rotation: those of calls that are open, or of streams that still are.
const RECENT: usize = 1 << 20;

/// A dictionary entry as rows need it.
#[derive(Debug, Clone, Default)]
pub struct Name {
    pub category: u8,
    pub parent: u32,
    pub block: i64,
    pub text: ByteArray,
}

impl Name {
    /// Contexts, names of threads, of exceptions … : what has one has it for long.
    fn lasts(&self) -> bool {
        self.category >= CATEGORY_CONTEXT
    }

    /// Bytes of memory.
    fn size(&self) -> u64 {
        (size_of::<Name>() + 16 + self.text.len()) as u64
    }

    fn entry(&self, id: u32) -> Entry {
        let Name { category, parent, block, .. } = *self;
        let name = text(&self.text).to_owned();
        Entry { id, category, parent, block, generation: -1, name }
    }
}

#[derive(Debug, Default)]
pub struct Names {
    /// Id before that of the first of `recent`.
    base: u32,
    /// Without a gap.
    recent: VecDeque<Name>,
    /// Older ones that last, by id.
    lasting: BTreeMap<u32, Name>,
    /// Some older ones are gone.
    forgot: bool,
    /// Of memory that they take.
    pub bytes: u64,
}

impl Names {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.recent.is_empty() && self.lasting.is_empty()
    }

    /// `None` for 0, for what was forgotten, and for ids that were never announced.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<&Name> {
        match id.checked_sub(self.base) {
            Some(0) | None => self.lasting.get(&id),
            Some(place) => self.recent.get(place as usize - 1),
        }
    }

    /// It was known, and is no longer.
    #[must_use]
    pub fn has_forgotten(&self, id: u32) -> bool {
        self.forgot && id != 0 && id <= self.base && !self.lasting.contains_key(&id)
    }

    /// Keeps an entry; false when its id is not the next one, or there are too many, or they would
    /// take more than `most` bytes.
    ///
    /// Ids may leave some out as long as all so far last: a spool file begins with what was left.
    pub fn learn(&mut self, id: u32, name: Name, most: u64) -> bool {
        let count = self.recent.len() + self.lasting.len();
        if count >= MOST || self.bytes + name.size() > most || id == 0 {
            return false;
        }
        let next = self.base as usize + self.recent.len() + 1;
        let leaps = id as usize > next && self.recent.iter().all(Name::lasts);
        if leaps {
            self.forgot = !self.is_empty();
            self.shed(self.recent.len());
            self.base = id - 1;
        }
        let is_next = leaps || id as usize == next;
        if is_next {
            self.bytes += name.size();
            self.recent.push_back(name);
        }
        is_next
    }

    /// Lets the oldest targets go; no row that is still to be written may need them.
    pub fn forget(&mut self) {
        if let Some(old) = self.recent.len().checked_sub(RECENT).filter(|old| *old > 0) {
            self.forgot = true;
            self.shed(old);
            // a queue that has doubled would touch all of its memory in the end
            self.recent.shrink_to(2 * RECENT);
        }
    }

    fn shed(&mut self, count: usize) {
        for name in self.recent.drain(..count) {
            self.base += 1;
            if name.lasts() {
                self.lasting.insert(self.base, name);
            } else {
                self.bytes -= name.size();
            }
        }
    }

    /// As dictionary records, in the order in which they are learnt again.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        let recent = self.recent.iter().zip(self.base + 1..).map(|(name, id)| name.entry(id));
        self.lasting.iter().map(|(id, name)| name.entry(*id)).chain(recent)
    }
}

/// The text of a name; names are made from `str` only.
pub fn text(name: &ByteArray) -> &str {
    name.as_utf8().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(category: u8, text: &str) -> Name {
        Name { category, block: -1, text: ByteArray::from(text), ..Name::default() }
    }

    fn text_of(names: &Names, id: u32) -> Option<&str> {
        names.get(id).map(|name| text(&name.text))
    }

    #[test]
    fn ids_follow_each_other_from_the_first_that_is_there() {
        let mut names = Names::default();
        assert!(names.is_empty() && names.get(0).is_none() && names.get(1).is_none());
        assert!(names.learn(8, name(24, "a"), u64::MAX));
        assert!(names.learn(9, name(24, "b"), u64::MAX));
        for (wrong, why) in [(0, "none"), (9, "again"), (11, "too far"), (7, "before")] {
            assert!(!names.learn(wrong, name(24, "x"), u64::MAX), "{why}");
        }
        assert_eq!([7, 8, 9, 10].map(|id| text_of(&names, id)), [None, Some("a"), Some("b"), None]);
        assert!([0, 1, 7, 8, 11].iter().all(|id| !names.has_forgotten(*id)));
    }

    #[test]
    fn the_oldest_targets_go_and_contexts_stay_also_after_a_restart() {
        let mut names = Names::default();
        let most = RECENT as u32 + 1000;
        for id in 1..=most {
            let category = if id % 500 == 1 { CATEGORY_CONTEXT } else { 24 };
            assert!(names.learn(id, name(category, &id.to_string()), u64::MAX));
        }
        names.forget();
        let check = |names: &Names| {
            assert_eq!(names.recent.len(), RECENT);
            for (id, known) in [(1, true), (2, false), (501, true), (1000, false), (1001, true)] {
                assert_eq!(text_of(names, id).is_some(), known, "{id}");
                assert_eq!(names.has_forgotten(id), !known, "{id}");
            }
            assert_eq!(text_of(names, most), Some(most.to_string().as_str()));
        };
        check(&names);

        let mut again = Names::default();
        for entry in names.entries() {
            assert!(
                again.learn(entry.id, name(entry.category, &entry.name), u64::MAX),
                "{}",
                entry.id
            );
        }

        check(&again);
        assert!(again.learn(most + 1, name(24, "next"), u64::MAX));
        assert!(!again.learn(most + 3, name(24, "not the next"), u64::MAX));
    }

    #[test]
    fn there_is_an_end_to_what_is_kept_between_two_rotations() {
        let mut names = Names::default();
        let kept =
            (1..=MOST as u32 + 5).filter(|id| names.learn(*id, name(24, ""), u64::MAX)).count();
        assert_eq!(kept, MOST);
        names.forget();
        assert!(names.learn(MOST as u32 + 1, name(24, "there is room again"), u64::MAX));
    }

    #[test]
    fn names_take_no_more_memory_than_they_may() {
        let mut names = Names::default();
        let most = 3 * name(24, "abc").size();
        let kept = (1..=9).filter(|id| names.learn(*id, name(24, "abc"), most)).count();
        assert_eq!((kept, names.bytes), (3, most));
        names.shed(3);
        assert_eq!(names.bytes, 0);
        assert!(names.learn(4, name(24, "abc"), most));
    }
}
