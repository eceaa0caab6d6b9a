//! What the environment says: where to record, and which rank of a parallel job this is.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// `dir=DIRECTORY[,run=RUN]`, as `-javaagent` has it.
const OPTIONS: &str = "IOSTRATA_PRELOAD";
/// Rank, number of ranks and job of Open MPI, MPICH and its like, Slurm, and of PMI behind all others.
const RANKS: [[&str; 3]; 4] = [
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE"],
    ["PMI_RANK", "PMI_SIZE", "PMI_JOBID"],
    ["PMIX_RANK", "OMPI_UNIVERSE_SIZE", "PMIX_NAMESPACE"],
    ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID"],
];
/// Which of several programs of a recorded command a process is of.
const PART: &str = "IOSTRATA_PART";
const MOST_OF_PART: usize = 64; // characters
const MOST_ARGUMENTS: usize = 2048;
/// The agent records these.
const JVMS: [&str; 4] = ["java", "javac", "jsvc", "jshell"];

/// Where to record to, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub directory: PathBuf,
    pub run: String,
}

impl Wanted {
    /// `None` where nobody asks for anything, or this is a JVM.
    pub fn here() -> Option<Wanted> {
        let wanted = Wanted::parse(&std::env::var(OPTIONS).ok()?)?;
        let program = std::env::current_exe().ok()?;
        (!is_jvm(&program)).then_some(wanted)
    }

    fn parse(text: &str) -> Option<Wanted> {
        let field = |name: &str| {
            let value =
                |option: &'_ str| option.strip_prefix(name)?.strip_prefix('=').map(str::to_owned);
            text.split(',').find_map(value)
        };
        let directory = PathBuf::from(field("dir")?);
        directory.is_absolute().then(|| Wanted { directory, run: field("run").unwrap_or_default() })
    }
}

fn is_jvm(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default();
    JVMS.iter().any(|jvm| name == *jvm)
}

/// Which of the ranks of a parallel job this process is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rank {
    /// `rank 3`; empty: of no parallel job.
    pub task: String,
    pub ranks: String,
    pub job: String,
}

impl Rank {
    pub fn here() -> Rank {
        Rank::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Rank {
        let number = |name: &str| {
            let value = variable(name)?;
            value.bytes().all(|byte| byte.is_ascii_digit()).then_some(value)
        };
        let found = RANKS.iter().find_map(|[rank, ranks, job]| {
            let task = format!("rank {}", number(rank).filter(|rank| !rank.is_empty())?);
            let ranks = number(ranks).unwrap_or_default();
            Some(Rank { task, ranks, job: variable(job).unwrap_or_default() })
        });
        found.unwrap_or_default()
    }
}

/// Lines key=value for the process page.
pub fn text(run: &str, rank: &Rank) -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let main = program.file_name().unwrap_or_default().to_string_lossy();
    let words: Vec<_> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let mut arguments = words.join(" ");
    while arguments.len() > MOST_ARGUMENTS {
        arguments.pop();
    }
    let container = std::env::var("CONTAINER_ID").unwrap_or_default();
    let part: String = std::env::var(PART).unwrap_or_default().chars().take(MOST_OF_PART).collect();
    let user = std::env::var("USER").unwrap_or_default();
    let parent = std::os::unix::process::parent_id().to_string();
    let lines = [
        ("main", main.as_ref()),
        ("args", &arguments),
        ("run", run),
        ("job", &rank.job),
        ("rank", &rank.task),
        ("ranks", &rank.ranks),
        ("container", &container),
        ("part", &part),
        ("agent", env!("CARGO_PKG_VERSION")),
        ("loader", "preload"),
        ("parent", &parent),
        ("user", &user),
    ];
    let mut text = String::from("loaded=start\n");
    for (key, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        let value = value.replace(['\n', '\r'], " ");
        text.extend([key, "=", &value, "\n"]);
    }
    text
}

/// As a path is written in the dictionary.
pub fn shown(path: &Path) -> String {
    String::from_utf8_lossy(path.as_os_str().as_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_name_a_directory() {
        let wanted = |directory: &str, run: &str| {
            Some(Wanted { directory: directory.into(), run: run.to_owned() })
        };
        assert_eq!(Wanted::parse("dir=/dev/shm/a,run=r-1"), wanted("/dev/shm/a", "r-1"));
        assert_eq!(Wanted::parse("run=r-1,dir=/a"), wanted("/a", "r-1"));
        assert_eq!(Wanted::parse("dir=/a"), wanted("/a", ""));
        for bad in ["", "dir=a", "run=r", "directory=/a"] {
            assert_eq!(Wanted::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_jvm_is_left_to_the_agent() {
        assert!(is_jvm(Path::new("/usr/lib/jvm/java-17/bin/java")));
        assert!(!is_jvm(Path::new("/usr/bin/python3")));
    }

    #[test]
    fn the_rank_is_what_the_launcher_says() {
        let of = |variables: &[(&str, &str)]| {
            Rank::of(|name| {
                let found = variables.iter().find(|(variable, _)| *variable == name)?;
                Some(found.1.to_owned())
            })
        };
        let slurm = ("SLURM_PROCID", "7");
        let mpich = [("PMI_RANK", "3"), ("PMI_SIZE", "8"), slurm];
        let rank = Rank { task: "rank 3".into(), ranks: "8".into(), job: String::new() };
        assert_eq!(of(&mpich), rank);
        assert_eq!(of(&[slurm, ("SLURM_JOB_ID", "99")]).job, "99");
        assert_eq!(of(&[("PMI_RANK", "x"), ("USER", "me")]), Rank::default());
        assert_eq!(of(&[("PMI_RANK", "")]), Rank::default());
    }
}
