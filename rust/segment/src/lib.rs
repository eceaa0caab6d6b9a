/*!
The shared memory between a traced process and the collector, as `schema/SEGMENT.md` describes it.

The crate has three rings around each other, the inner ones ignorant of the outer:

* the protocol ([`ring`], [`row`], [`life`]) as functions over an abstract [`memory::Memory`], so
  that loom can try every order of loads and stores;
* parsers of bytes nobody vouches for ([`dictionary`], [`process`]);
* files: [`mapping`] opens them without trusting them and survives their truncation,
  [`segment`] and [`control`] are what the collector works with, [`writer`] is the producer, whose
  children [`fork`] keeps out, and [`door`] is where it gets a folder in a directory that several
  users share.
*/

pub mod control;
pub mod dictionary;
pub mod door;
pub mod fork;
pub mod life;
pub mod mapping;
pub mod memory;
#[rustfmt::skip]
#[allow(clippy::pedantic)]
pub mod points;
pub mod process;
pub mod ring;
pub mod row;
#[doc(hidden)]
pub mod scratch;
#[rustfmt::skip]
#[allow(clippy::pedantic)]
pub mod schema;
pub mod segment;
pub mod sigbus;
pub mod writer;
