//! Trees of rows made by hand, and of any rows at all.

mod bytes;
mod clocks;
mod critical;
mod forests;
mod made;
mod parts;
mod sampled;
mod sums;
