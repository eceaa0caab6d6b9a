//! Names of Hadoop's things: job ids inside other ids, roles behind main classes.

/// The part that all ids of one job share: `1700000000000_0001` of `job_1700000000000_0001`,
/// `application_…`, `attempt_…_m_000003_0`, `container_e07_…_01_000002` and of a DFS client's name
/// `DFSClient_attempt_…_-1234_1`.
pub fn job_key(text: &str) -> Option<String> {
    const PREFIXES: [&str; 5] = ["attempt_", "container_", "application_", "job_", "task_"];
    PREFIXES.iter().find_map(|prefix| {
        let (_, rest) = text.split_once(prefix)?;
        let rest = match rest.strip_prefix('e').and_then(|epoch| epoch.split_once('_')) {
            Some((epoch, rest)) if is_number(epoch) => rest,
            _ => rest,
        };
        let mut parts = rest.splitn(3, '_');
        let cluster = parts.next()?;
        let number = parts.next()?;
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let plausible = !cluster.is_empty()
            && cluster.bytes().all(|b| b.is_ascii_alphanumeric())
            && digits > 0
            && cluster.bytes().any(|b| b.is_ascii_digit());
        plausible.then(|| format!("{cluster}_{}", &number[..digits]))
    })
}

/// The attempt id inside a text, as in a DFS client's name.
pub fn attempt(text: &str) -> Option<&str> {
    let rest = &text[text.find("attempt_")?..];
    // attempt _ cluster _ job _ m|r _ task _ attempt
    let mut end = 0;
    for (place, part) in rest.split('_').take(6).enumerate() {
        let word = part.len() - part.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).len();
        end += word + usize::from(place > 0);
        if word != part.len() || place == 5 {
            return (place == 5 && word > 0).then(|| &rest[..end]);
        }
    }
    None
}

const SPARK: &str = "org.apache.spark.";
const HBASE: &str = "org.apache.hadoop.hbase.";

/// Of a process of a parallel program that is no JVM.
pub const RANK: &str = "rank";

/// Servers of file systems, and what mounts these: native programs, each of which is its own role.
const STORAGE: [&str; 8] = [
    "mfsmaster",
    "mfschunkserver",
    "mfsmount",
    "ceph-mon",
    "ceph-mgr",
    "ceph-mds",
    "ceph-osd",
    "ceph-fuse",
];

/// What a process does, from its main class, or its program, and for tasks their attempt.
pub fn role(main: &str, attempt: &str) -> &'static str {
    if let Some(server) = STORAGE.iter().find(|server| **server == main) {
        return server;
    }
    match main.rsplit('.').next().unwrap_or_default() {
        "NameNode" => "NameNode",
        "DataNode" => "DataNode",
        "ResourceManager" => "ResourceManager",
        "NodeManager" => "NodeManager",
        "HMaster" if main.starts_with(HBASE) => "HMaster",
        "HRegionServer" if main.starts_with(HBASE) => "HRegionServer",
        "MRAppMaster" => "appmaster",
        "ApplicationMaster" | "ExecutorLauncher" if main.starts_with(SPARK) => "appmaster",
        "CoarseGrainedExecutorBackend" | "YarnCoarseGrainedExecutorBackend" => "executor",
        "YarnChild" => match attempt.split('_').nth(3) {
            Some("m") => "map",
            Some("r") => "reduce",
            _ => "task",
        },
        _ => "client",
    }
}

/// Whether it serves a file system whose requests do not say for whom they are.
pub fn is_storage(role: &str) -> bool {
    STORAGE.contains(&role)
}

pub fn is_daemon(role: &str) -> bool {
    is_storage(role)
        || matches!(
            role,
            "NameNode"
                | "DataNode"
                | "ResourceManager"
                | "NodeManager"
                | "HMaster"
                | "HRegionServer"
        )
}

/// Whether a name may become a file name of ours: `[A-Za-z0-9._-]{1,64}`, not beginning with a dot
/// or underscore (`_background` is ours).
pub fn is_run_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && !name.starts_with(['.', '_'])
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// The main class of a `java` command line, or the file after `-jar`.
pub fn main_class<'a>(arguments: impl IntoIterator<Item = &'a str>) -> &'a str {
    const WITH_VALUE: [&str; 7] =
        ["-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules", "--source"];
    let mut arguments = arguments.into_iter().skip(1);
    while let Some(argument) = arguments.next() {
        match argument {
            "-jar" | "-m" | "--module" => return arguments.next().unwrap_or_default(),
            option if WITH_VALUE.contains(&option) => drop(arguments.next()),
            option if option.starts_with('-') || option.starts_with('@') => {}
            main => return main,
        }
    }
    ""
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_of_a_job_has_its_key() {
        for id in [
            "job_1700000000000_0001",
            "application_1700000000000_0001",
            "task_1700000000000_0001_m_000003",
            "attempt_1700000000000_0001_m_000003_0",
            "container_1700000000000_0001_01_000002",
            "container_e07_1700000000000_0001_01_000002",
            "DFSClient_attempt_1700000000000_0001_r_000000_1_-1234567_1",
        ] {
            assert_eq!(job_key(id).as_deref(), Some("1700000000000_0001"), "{id}");
        }
        assert_eq!(job_key("job_local123_0001").as_deref(), Some("local123_0001"));
        for other in ["DFSClient_NONMAPREDUCE_-12_1", "", "job_", "job_x_y", "my_job_is_1"] {
            assert_eq!(job_key(other), None, "{other}");
        }
    }

    #[test]
    fn an_attempt_is_found_in_a_client_name() {
        let name = "DFSClient_attempt_1700000000000_0001_r_000000_1_-1234567_1";
        assert_eq!(attempt(name), Some("attempt_1700000000000_0001_r_000000_1"));
        assert_eq!(attempt("attempt_17_1_m_000003_0"), Some("attempt_17_1_m_000003_0"));
        assert_eq!(attempt("DFSClient_NONMAPREDUCE_1_2"), None);
        assert_eq!(attempt("attempt_17_1"), None);
    }

    #[test]
    fn roles_come_from_main_classes() {
        assert_eq!(role("org.apache.hadoop.hdfs.server.datanode.DataNode", ""), "DataNode");
        let child = "org.apache.hadoop.mapred.YarnChild";
        assert_eq!(role(child, "attempt_17_1_m_000003_0"), "map");
        assert_eq!(role(child, "attempt_17_1_r_000003_0"), "reduce");
        assert_eq!(role("org.apache.hadoop.util.RunJar", ""), "client");
        assert_eq!(role("org.apache.spark.deploy.yarn.ExecutorLauncher", ""), "appmaster");
        let executor = "org.apache.spark.executor.YarnCoarseGrainedExecutorBackend";
        assert_eq!(role(executor, ""), "executor");
        assert_eq!(role("org.apache.spark.deploy.SparkSubmit", ""), "client");
        assert_eq!(role("org.apache.hadoop.hbase.master.HMaster", ""), "HMaster");
        let server = "org.apache.hadoop.hbase.regionserver.HRegionServer";
        assert_eq!(role(server, ""), "HRegionServer");
        assert_eq!(role("org.apache.hadoop.hbase.PerformanceEvaluation", ""), "client");
        assert_eq!(role("mfschunkserver", ""), "mfschunkserver");
        assert!(is_daemon("ceph-osd") && is_daemon("DataNode") && !is_daemon("client"));
    }

    #[test]
    fn the_main_class_stands_after_the_options() {
        let line = ["/usr/bin/java", "-Xmx1g", "-cp", "a:b", "-Dx=y", "org.Main", "-cp", "no"];
        assert_eq!(main_class(line), "org.Main");
        assert_eq!(main_class(["java", "-jar", "app.jar"]), "app.jar");
        assert_eq!(main_class(["java", "-version"]), "");
    }

    #[test]
    fn a_run_name_cannot_leave_its_directory() {
        for good in ["a", "2026-11-21T10.00.00-demo", &"x".repeat(64)] {
            assert!(is_run_name(good), "{good}");
        }
        for bad in ["", ".", "..", ".x", "_background", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert!(!is_run_name(bad), "{bad}");
        }
    }
}
