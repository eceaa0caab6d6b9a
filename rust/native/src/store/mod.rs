//! The store: plain Parquet files below one directory per run.

pub mod children;
pub mod devices;
pub mod directory;
mod errno;
pub mod events;
pub mod processes;
pub mod system;
mod table;
pub mod threads;
pub mod usage;
