//! Why a JVM that should be traced is not, and what to do: from what its `/proc` shows.

use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::statvfs;

/// Variables that a JVM or its launcher takes options from.
const VARIABLES: [&str; 3] = [TOOL_OPTIONS, "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";
const AGENTS: [&str; 2] = ["iostrata-agent", "iostrata_loader"];
/// Of an environment or a command line.
const MOST_TEXT: u64 = 2 << 20;
/// Bytes of shared memory that a process needs to begin.
const LEAST_ROOM: u64 = 512 << 10;

/// One line. `directory`: the collector's. `inherits`: the JVM is a child of a recorded command,
/// which has the agent in its environment.
pub fn reason(pid: u32, directory: &Path, inherits: bool) -> String {
    let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    let (Some(words), Some(variables)) = (texts(pid, "cmdline"), texts(pid, "environ")) else {
        return "no agent".into();
    };
    match agent_dir(&words, &variables) {
        Some(named) if Path::new(&named) == directory => {
            not_started(&format!("/proc/{pid}"), &directory)
        }
        Some(named) if fs::canonicalize(&named).is_ok_and(|named| named == directory) => {
            not_started(&format!("/proc/{pid}"), &directory)
        }
        Some(named) => format!("its agent was started for another collector, that of {named}"),
        None if !inherits => "no agent".into(),
        None => not_passed_on(&variables),
    }
}

/// Words or variables of a process; `None` where they may not be read.
fn texts(pid: u32, what: &str) -> Option<Vec<String>> {
    let mut bytes = Vec::new();
    fs::File::open(format!("/proc/{pid}/{what}"))
        .ok()?
        .take(MOST_TEXT)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(bytes.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into()).collect())
}

fn not_passed_on(variables: &[String]) -> String {
    if variables.iter().any(|one| value_of(one, TOOL_OPTIONS).is_some()) {
        return format!(
            "no agent: the job sets its own {TOOL_OPTIONS}, it should add to ${{{TOOL_OPTIONS}}}"
        );
    }
    format!(
        "no agent: {TOOL_OPTIONS} is not in its environment, as behind env -i or sudo: pass it on"
    )
}

fn value_of<'a>(variable: &'a str, name: &str) -> Option<&'a str> {
    variable.strip_prefix(name)?.strip_prefix('=')
}

/// `dir` of the agent that a JVM was asked to load; `None` where it was asked for none.
fn agent_dir(words: &[String], variables: &[String]) -> Option<String> {
    let values = variables.iter().flat_map(|variable| {
        VARIABLES.iter().filter_map(|name| value_of(variable, name)).flat_map(split)
    });
    let options = words.iter().map(String::as_str).chain(values);
    let ours = |option: &&str| {
        let is_agent = option.starts_with("-agentpath:") || option.starts_with("-javaagent:");
        is_agent && AGENTS.iter().any(|name| option.contains(name))
    };
    let (_, given) = options.filter(ours).last()?.split_once('=').unwrap_or_default();
    let dir = given.split(',').find_map(|part| part.strip_prefix("dir="));
    Some(dir.unwrap_or("/dev/shm/iostrata").to_owned())
}

/// The options of a variable, which may be quoted where they hold blanks.
fn split(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value.trim_start();
    std::iter::from_fn(move || {
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
        let text = rest.get(quote.map_or(0, char::len_utf8)..).filter(|text| !text.is_empty())?;
        let is_end = |c: char| quote.map_or(c.is_whitespace(), |quote| c == quote);
        let (option, behind) = text.split_at(text.find(is_end).unwrap_or(text.len()));
        rest = behind.trim_start_matches(|c: char| c.is_whitespace() || Some(c) == quote);
        Some(option)
    })
}

/// Why the agent that a JVM was asked to load is not there. `process`: its folder in `/proc`.
fn not_started(process: &str, directory: &Path) -> String {
    let shown = directory.display();
    let Ok(own) = fs::metadata(directory) else { return format!("{shown} is gone") };
    let place = format!("{process}/root{shown}");
    let there = match fs::metadata(&place) {
        Ok(there) => (there.dev(), there.ino()) == (own.dev(), own.ino()),
        Err(why) => why.kind() != std::io::ErrorKind::NotFound,
    };
    if !there {
        return format!(
            "its container has another {shown} or none: docker run --ipc=host, or -v {shown}:{shown}"
        );
    }
    if fs::read_to_string(format!("{process}/uid_map")).is_ok_and(|map| !knows(&map, own.uid())) {
        return format!(
            "its user namespace does not know whose {shown} is: record with a collector of the \
             user's own (iostrata record --private)"
        );
    }
    let is_full = |space: rustix::fs::StatVfs| space.f_bavail * space.f_frsize < LEAST_ROOM;
    if statvfs(directory).is_ok_and(is_full) {
        return "shared memory is full: free some of it, or docker run --shm-size=1g".into();
    }
    "the agent did not start: the JVM says why in a line on standard error".into()
}

/// Whether a user namespace has a number for a user. `map`: lines of inside, outside and count.
fn knows(map: &str, uid: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_ascii_whitespace().skip(1).map(str::parse::<u64>);
        let (Some(Ok(first)), Some(Ok(count))) = (numbers.next(), numbers.next()) else {
            return false;
        };
        (first..first + count).contains(&u64::from(uid))
    })
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use iostrata_segment::scratch::ScratchDir;

    use super::*;

    fn texts_of(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn dir(words: &[&str], variables: &[&str]) -> Option<String> {
        agent_dir(&texts_of(words), &texts_of(variables))
    }

    #[test]
    fn the_agent_is_found_where_a_jvm_looks() {
        let option = "-agentpath:/a/libiostrata_loader.so=dir=/shm/x,run=r,quiet";
        assert_eq!(dir(&["java", option, "Main"], &[]).as_deref(), Some("/shm/x"));
        let variable = format!("JAVA_TOOL_OPTIONS=-Da=b {option} -Dc=d");
        assert_eq!(dir(&["java"], &["A=b", &variable]).as_deref(), Some("/shm/x"));
        let quoted =
            "_JAVA_OPTIONS=-Da=b \"-javaagent:/a b/iostrata-agent.jar=dir=/shm/x y\" -Dc=d";
        assert_eq!(dir(&["java"], &[quoted]).as_deref(), Some("/shm/x y"));
        let bare = "JDK_JAVA_OPTIONS=-javaagent:/a/iostrata-agent.jar";
        assert_eq!(dir(&["java"], &[bare]).as_deref(), Some("/dev/shm/iostrata"));
        assert_eq!(dir(&["java", "iostrata-agent"], &["X=-javaagent:iostrata-agent.jar"]), None);
        assert_eq!(dir(&["java"], &["JAVA_TOOL_OPTIONS= \"", "JAVA_TOOL_OPTIONS="]), None);
    }

    #[test]
    fn a_user_namespace_knows_whom_it_maps() {
        assert!(knows("         0          0 4294967295\n", 1000));
        assert!(knows("0 1000 1\n1 100000 65536\n", 100_001));
        assert!(!knows("0 1000 1\n", 0) && !knows("", 0) && !knows("0 x 1", 0));
    }

    fn process(options: &str, empty: bool) -> Child {
        let mut command = Command::new("sleep");
        command.arg("30").env_clear().env("PATH", "/bin:/usr/bin");
        if !empty {
            command.env(TOOL_OPTIONS, options);
        }
        let child = command.spawn().unwrap();
        // the parent goes on while the kernel has not yet put the variables where /proc shows them
        let variables = format!("/proc/{}/environ", child.id());
        while fs::read(&variables).unwrap().is_empty() {
            std::thread::yield_now();
        }
        child
    }

    #[test]
    fn each_reason_says_what_to_do() {
        let ours = ScratchDir::new();
        let asked = format!("-agentpath:/libiostrata_loader.so=dir={}", ours.path().display());
        let said = |options: &str, empty, inherits| {
            let mut child = process(options, empty);
            let said = reason(child.id(), ours.path(), inherits);
            child.kill().unwrap();
            child.wait().unwrap();
            said
        };
        assert!(said("-Dx=y", false, true).contains("should add to ${JAVA_TOOL_OPTIONS}"));
        assert!(said("", true, true).ends_with("pass it on"));
        assert_eq!(said("-Dx=y", false, false), "no agent");
        let other = "-agentpath:/libiostrata_loader.so=dir=/dev/shm/other";
        assert!(said(other, false, true).ends_with("another collector, that of /dev/shm/other"));
        assert!(said(&asked, false, true).starts_with("the agent did not start: "));
        assert_eq!(reason(u32::MAX, ours.path(), true), "no agent");
    }

    /// Of a process in a mount namespace, which has another folder there.
    #[test]
    fn a_container_that_has_another_directory_is_named() {
        let (ours, its) = (ScratchDir::new(), ScratchDir::new());
        let place = its.path().join(format!("root{}", ours.path().display()));
        let said = || not_started(&its.path().display().to_string(), ours.path());
        assert!(said().contains("docker run --ipc=host, or -v "), "{}", said());
        fs::create_dir_all(&place).unwrap();
        assert!(said().contains("docker run --ipc=host, or -v "), "{}", said());
        fs::remove_dir(&place).unwrap();
        std::os::unix::fs::symlink(ours.path(), &place).unwrap();
        assert!(said().starts_with("the agent did not start: "), "{}", said());
        fs::write(its.path().join("uid_map"), "0 4000000 1\n").unwrap();
        assert!(said().contains("does not know whose"), "{}", said());
    }
}
