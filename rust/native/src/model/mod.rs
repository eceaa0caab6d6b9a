/*!
What the collector knows of processes, runs and the host, and the rows that it makes of events.

[`crate::collect`] fills the [`state::State`], [`crate::store`] writes what is in it. Nothing here
reads shared memory or files.

| module | holds |
|---|---|
| [`ids`] | ids and roles of Hadoop |
| [`listed`] | what a process lists: [`children`] that it has waited for, and times of its threads |
| [`names`] | the names that a process announced |
| [`context`] | whom a call belongs to and what it was done for |
| [`process`], [`threads`] | a traced process: its segments, its threads, what it said of itself |
| [`page`], [`spent`] | what a process says of itself in its page; what it took over time |
| [`traced`] | how many bytes of a process were traced where the kernel counts them, too |
| [`run`], [`claims`] | what a run asked for; which jobs and clients are a run's |
| [`owners`] | the run, job and task of an event |
| [`rows`] | rows between two rotations |
| [`outline`] | what all rows of a run say of its completeness |
| [`sample`] | what the host did |
| [`usage`] | what there is only so much of, by user |
| [`state`] | all of these, as a spool file rebuilds them |
*/

pub mod children;
pub mod claims;
pub mod context;
pub mod ids;
pub mod listed;
pub mod names;
mod outline;
pub mod owners;
pub mod page;
pub mod process;
pub mod requests;
pub mod rows;
pub mod run;
pub mod sample;
pub mod spent;
pub mod state;
pub mod thread_time;
pub mod threads;
pub mod traced;
pub mod usage;

/// Of what a snapshot leaves out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
