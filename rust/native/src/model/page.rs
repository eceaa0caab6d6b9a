//! What a process page said.

use iostrata_segment::process::{
    Account, Cost, DETACHED, ENDED, Moved, REPLACED, Scheduled, Startup,
};
use iostrata_segment::schema::{POINT_STATE_FAULTED, POINT_STATE_WOVEN, PROCESS_FIRST_USER_POINT};
use serde::{Deserialize, Serialize};

use super::spent::Look;
use crate::clock::SECOND;

/// That what a process says at its end is old at most when its death is noticed.
const A_MOMENT: u64 = 2 * SECOND;

/// At one look.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PageReading {
    pub proc: u64,
    pub now: u64,
    pub ended: bool,
    pub counters: Vec<u64>,
    /// The agent has gone, the process lives on.
    #[serde(default)]
    pub detached: bool,
    /// It ended, since the process has become another program.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub replaced: bool,
    pub woven: u32,
    /// Ids of faulted points.
    pub faulted: Vec<u16>,
    /// States of the points of users that have one, by id.
    #[serde(default)]
    pub user_points: Vec<(u16, u8)>,
    #[serde(default)]
    pub cost: Cost,
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub moved: Moved,
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub scheduled: Scheduled,
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub startup: Startup,
    /// When its process last read them, `CLOCK_MONOTONIC` ns; 0: not known.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub looked: u64,
    /// Seconds that points were only summed for, by id.
    #[serde(default)]
    pub summed: Vec<(u16, u16)>,
}

impl PageReading {
    pub fn of(proc: u64, now: u64, account: Account) -> PageReading {
        let points = || account.points.iter().enumerate();
        let in_state = |wanted| points().filter(move |(_, p)| usize::from(p.state) == wanted);
        PageReading {
            proc,
            now,
            ended: [ENDED, REPLACED].contains(&account.state),
            replaced: account.state == REPLACED,
            detached: account.state == DETACHED,
            counters: account.counters.to_vec(),
            woven: in_state(POINT_STATE_WOVEN).count() as u32,
            faulted: in_state(POINT_STATE_FAULTED).map(|(point, _)| point as u16).collect(),
            user_points: points()
                .skip(PROCESS_FIRST_USER_POINT)
                .filter(|(_, point)| point.state != 0)
                .map(|(id, point)| (id as u16, point.state))
                .collect(),
            cost: account.cost,
            moved: account.moved,
            scheduled: account.scheduled,
            startup: account.startup,
            looked: account.looked,
            summed: points()
                .filter(|(_, point)| point.summed != 0)
                .map(|(id, point)| (id as u16, point.summed))
                .collect(),
        }
    }

    pub fn says_the_same(&self, other: &PageReading) -> bool {
        let states = |page: &PageReading| (page.ended, page.detached, page.woven);
        states(self) == states(other)
            && self.counters == other.counters
            && self.faulted == other.faulted
            && self.user_points == other.user_points
            && self.cost == other.cost
            && self.moved == other.moved
            && self.scheduled == other.scheduled
            && self.startup == other.startup
            && self.summed == other.summed
    }

    /// When its process ended, whose death was noticed `now`, ns: it says so itself, if it could.
    pub fn ended_at(&self, now: u64) -> u64 {
        let is_so = |since| self.ended && (since < A_MOMENT || self.replaced && self.looked != 0);
        if now.checked_sub(self.looked).is_some_and(is_so) { self.looked } else { now }
    }

    pub fn look(&self) -> Look {
        let at = if self.looked == 0 { self.now } else { self.looked };
        Look { at, cpu: self.cost.cpu, moved: Moved { native: 0, ..self.moved } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_ended_when_it_said_so_a_moment_before_it_was_gone() {
        let now = 9 * SECOND;
        for (ended, looked, at) in
            [(true, now - 1, now - 1), (true, 1, now), (true, now + 1, now), (false, now - 1, now)]
        {
            let page = PageReading { ended, looked, ..PageReading::default() };
            assert_eq!(page.ended_at(now), at);
        }
        // AND one that became another program long before
        let page = PageReading { ended: true, replaced: true, looked: 1, ..PageReading::default() };
        assert_eq!(page.ended_at(now), 1);
    }
}
