//! What a thread of a process took, by the scheduler's account.

use serde::{Deserialize, Serialize};

use super::children::number;

/// Bytes of memory of one, without its name.
const SIZE: u64 = 96;

/// ns; `end` in `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTime {
    pub tid: u64,
    /// When it was counted.
    pub end: u64,
    pub cpu: u64,
    /// It could have run, and waited for a CPU.
    pub queued: u64,
    pub name: String,
}

impl ThreadTime {
    /// The name of a dictionary entry; `None` for one that is not so.
    pub fn parse(text: &str) -> Option<ThreadTime> {
        let fields: Vec<&str> = text.splitn(5, '\t').collect();
        let &[tid, end, cpu, queued, name] = fields.as_slice() else { return None };
        Some(ThreadTime {
            tid: tid.parse().ok()?,
            end: number(end)?,
            cpu: number(cpu)?,
            queued: number(queued)?,
            name: name.to_owned(),
        })
    }

    /// Of memory.
    pub fn bytes(&self) -> u64 {
        SIZE + self.name.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_what_its_process_wrote() {
        let time = ThreadTime::parse("12\t900\t30\t4\tpool a\tb").unwrap();
        assert_eq!((time.tid, time.end, time.cpu, time.queued), (12, 900, 30, 4));
        assert_eq!(time.name, "pool a\tb");
    }

    #[test]
    fn what_is_not_so_is_none() {
        for bad in
            ["", "12\t900\t30\t4", "-1\t900\t30\t4\tx", "12\t900\t18446744073709551615\t4\tx"]
        {
            assert_eq!(ThreadTime::parse(bad), None, "{bad}");
        }
    }
}
