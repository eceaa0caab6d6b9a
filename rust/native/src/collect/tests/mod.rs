//! Fuzz targets: what the collector reads of others. `scripts/fuzz` runs each for as long as it is
//! asked to, `cargo test` for some cases.

mod dictionaries;
mod door;
mod fuzz;
mod segments;
mod spool;
