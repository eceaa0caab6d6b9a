/*!
The native part of iostrata: one binary, one subcommand per task.

| subcommand | module | does |
|---|---|---|
| `collect` | [`collect`] | drains the shared memory of a node's traced processes into the store |
| `calltree` | [`calltree`] | recovers call trees of a run and merges them; the critical path |
| `replay` | [`replay`] | turns a kept spool into Parquet again and says how fast (for benchmarks) |

[`model`] is what the collector knows, [`store`] writes the files of the store. Arrows point one way:
`iostrata_segment` ← [`model`] ← [`store`] ← [`collect`].
*/

#[cfg(test)]
mod arrows;
mod calltree;
mod clock;
mod collect;
mod devices;
mod histogram;
mod host;
mod listing;
mod model;
mod replay;
mod store;
mod users;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "iostrata-native", version, about = "The native part of iostrata")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    Collect(collect::Options),
    Calltree(calltree::Options),
    #[command(hide = true)]
    Replay(replay::Options),
}

fn main() {
    let outcome = match Arguments::parse().task {
        Task::Collect(options) => collect::main(&options),
        Task::Calltree(options) => calltree::main(&options),
        Task::Replay(options) => replay::main(&options),
    };
    if let Err(error) = outcome {
        eprintln!("iostrata-native: {error:#}");
        std::process::exit(1);
    }
}
