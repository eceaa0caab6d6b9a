//! The store: plain Parquet files below one directory per run.

pub mod errno;
pub mod events;
pub mod place;
pub mod processes;
pub mod rows;
pub mod system;
pub mod table;
