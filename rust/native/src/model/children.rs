//! Child processes that a traced process has waited for.

use iostrata_segment::process::Moved;
use serde::{Deserialize, Serialize};

/// Bytes of memory of one, without its name.
const SIZE: u64 = 128;

/// A child that has ended; times in `CLOCK_MONOTONIC` ns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    pub pid: u32,
    pub start: u64,
    pub end: u64,
    /// ns.
    pub cpu: u64,
    /// `None` where the kernel did not say.
    pub moved: Option<Moved>,
    /// Less than 0: the signal that ended it.
    pub exit: i32,
    pub name: String,
}

impl Child {
    /// The name of a dictionary entry; `None` for one that is not so.
    pub fn parse(text: &str) -> Option<Child> {
        let fields: Vec<&str> = text.splitn(10, '\t').collect();
        let &[pid, start, end, cpu, read, written, disk_read, disk_written, exit, name] =
            fields.as_slice()
        else {
            return None;
        };
        let moved = if read.is_empty() {
            None
        } else {
            Some(Moved {
                read: number(read)?,
                written: number(written)?,
                disk_read: number(disk_read)?,
                disk_written: number(disk_written)?,
                native: 0,
            })
        };
        let (start, end) = (number(start)?, number(end)?);
        (start <= end).then_some(Child {
            pid: pid.parse().ok()?,
            start,
            end,
            cpu: number(cpu)?,
            moved,
            exit: exit.parse().ok()?,
            name: name.to_owned(),
        })
    }

    /// Of memory.
    pub fn bytes(&self) -> u64 {
        SIZE + self.name.len() as u64
    }
}

/// One that the columns of the store have room for.
pub(super) fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| i64::try_from(*number).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_what_its_parent_wrote() {
        let child = Child::parse("12\t100\t900\t30\t1\t2\t3\t4\t-9\tsh a\tb").unwrap();
        assert_eq!((child.pid, child.start, child.end, child.cpu), (12, 100, 900, 30));
        let moved = Moved { read: 1, written: 2, disk_read: 3, disk_written: 4, native: 0 };
        assert_eq!(child.moved, Some(moved));
        assert_eq!((child.exit, child.name.as_str()), (-9, "sh a\tb"));
        assert_eq!(Child::parse("12\t100\t900\t30\t\t\t\t\t0\t").unwrap().moved, None);
    }

    #[test]
    fn what_is_not_so_is_none() {
        for bad in [
            "",
            "12\t100\t900\t30\t1\t2\t3\t4\t0",
            "12\t900\t100\t30\t1\t2\t3\t4\t0\tsh",
            "12\t100\t900\t30\t1\t\t3\t4\t0\tsh",
            "-1\t100\t900\t30\t1\t2\t3\t4\t0\tsh",
            "12\t100\t18446744073709551615\t30\t1\t2\t3\t4\t0\tsh",
        ] {
            assert_eq!(Child::parse(bad), None, "{bad}");
        }
    }
}
