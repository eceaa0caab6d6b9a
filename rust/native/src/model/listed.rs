//! What a process listed among its names: children that it has waited for, times of its threads.

use iostrata_segment::schema::{CATEGORY_CHILD, CATEGORY_THREAD_TIME};
use serde::{Deserialize, Serialize};

use super::children::Child;
use super::thread_time::ThreadTime;

/// Of one process, in each of its lists.
const MOST: usize = 10_000;

/// In the order in which they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Child>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thread_times: Vec<ThreadTime>,
}

impl Listed {
    /// Whether names of the category are kept here, and not as text.
    pub fn keeps(category: u8) -> bool {
        matches!(category, CATEGORY_CHILD | CATEGORY_THREAD_TIME)
    }

    /// Takes up an entry of such a category; false: it is not so, or there is no room, of `most`
    /// bytes. Of a snapshot it is empty: the list has what it was.
    pub fn learn(&mut self, category: u8, text: &str, most: u64) -> bool {
        let room = self.bytes() < most;
        let is_child = category == CATEGORY_CHILD;
        text.is_empty()
            || if is_child {
                add(&mut self.children, Child::parse(text).filter(|_| room))
            } else {
                add(&mut self.thread_times, ThreadTime::parse(text).filter(|_| room))
            }
    }

    /// Of memory.
    pub fn bytes(&self) -> u64 {
        let children = self.children.iter().map(Child::bytes).sum::<u64>();
        children + self.thread_times.iter().map(ThreadTime::bytes).sum::<u64>()
    }
}

fn add<T>(list: &mut Vec<T>, one: Option<T>) -> bool {
    let before = list.len();
    list.extend(one.filter(|_| before < MOST));
    list.len() > before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_in_its_list_while_there_is_room() {
        let mut listed = Listed::default();
        assert!(listed.learn(CATEGORY_CHILD, "12\t1\t2\t3\t\t\t\t\t0\tsh", 1));
        assert!(listed.learn(CATEGORY_THREAD_TIME, "12\t900\t30\t4\tmain", u64::MAX));
        assert!(!listed.learn(CATEGORY_THREAD_TIME, "12\t900\t30\t4\tmain", listed.bytes()));
        assert!(!listed.learn(CATEGORY_THREAD_TIME, "no time", u64::MAX));
        assert!(listed.learn(CATEGORY_THREAD_TIME, "", 0), "of a snapshot");
        assert_eq!((listed.children.len(), listed.thread_times.len()), (1, 1));
    }
}
