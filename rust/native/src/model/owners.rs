//! Who owns an event: the run that caused it, or nobody (the background).

use std::collections::BTreeMap;

use iostrata_segment::schema::CATEGORY_JOB;
use parquet::data_type::ByteArray;

use super::claims::{Claimed, Claims};
use super::ids;
use super::names::text;
use super::process::Process;
use super::rows::Identity;
use super::run::{Baseline, Outline, Run, RunOrder, UntracedProcess};

/// Untraced processes of a run that are listed.
const UNTRACED: usize = 10_000;

/// By `proc`.
pub type Processes = BTreeMap<u64, Process>;

/// Runs, and what is theirs.
#[derive(Debug, Default)]
pub struct Owners {
    pub runs: BTreeMap<String, Run>,
    pub claims: Claims,
    /// Raised by all that may change who owns what; cached answers of an older one are void.
    pub generation: u64,
}

/// The fields of a context entry: run TAB job TAB task TAB phase TAB client.
#[derive(Debug, Clone, Copy, Default)]
struct ContextFields<'a> {
    run: &'a str,
    job: &'a str,
    task: &'a str,
    phase: &'a str,
    client: &'a str,
}

impl<'a> ContextFields<'a> {
    fn parse(name: &'a str) -> ContextFields<'a> {
        let mut fields = name.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        ContextFields { run: next(), job: next(), task: next(), phase: next(), client: next() }
    }

    /// The process that it names as `#PROC`: who called when nobody said a client's name.
    fn caller(self, processes: &Processes) -> Option<&Process> {
        let proc = self.client.strip_prefix('#')?;
        processes.get(&u64::from_str_radix(proc, 16).ok()?)
    }
}

impl Owners {
    /// Makes cached answers void.
    pub fn invalidate(&mut self) {
        self.generation += 1;
    }

    /// Takes up what a run asks for, anew if it is known; `baselines`: of all processes.
    pub fn order(&mut self, order: RunOrder, baselines: impl Iterator<Item = (u64, Baseline)>) {
        self.invalidate();
        if let Some(run) = self.runs.get_mut(&order.run) {
            run.order = order;
            return;
        }
        let (name, began) = (order.run.clone(), order.now);
        let (untraced, baselines) = (BTreeMap::new(), baselines.collect());
        let outline = Some(Outline::default());
        let run =
            Run { order, began, untraced, rows: 0, bytes: 0, left_out: 0, baselines, outline };
        self.runs.insert(name, run);
    }

    pub fn is_recording(&self) -> bool {
        self.runs.values().any(|run| !run.order.ended)
    }

    pub fn add_untraced(&mut self, mut process: UntracedProcess) {
        let Some(run) = self.runs.get_mut(&process.run) else { return };
        let key = process.key();
        let room = UNTRACED.saturating_sub(run.untraced.len());
        if room == 1 {
            process.reason += "; further ones of this run are not listed";
        }
        if room > 0 || run.untraced.contains_key(&key) {
            run.untraced.insert(key, process);
        }
    }

    /// A process says that it submitted a job or holds the name of a client; false: there is no
    /// room for that. `most`: bytes that all claims may take.
    pub fn claim(&mut self, process: &Process, category: u8, name: &str, most: u64) -> bool {
        let Owners { runs, claims, .. } = self;
        let Some(run) = run_of_process(runs, claims, process) else { return true };
        let claimed = match category {
            CATEGORY_JOB => claims.add_job(name, run, process.info.get("part"), most),
            _ => claims.add_client(name, run, most),
        };
        self.generation += u64::from(claimed == Claimed::New);
        claimed != Claimed::Rejected
    }

    /// Forgets runs that have ended.
    pub fn forget(&mut self) {
        self.runs.retain(|_, run| !run.order.ended);
        let runs = &self.runs;
        self.claims.retain(|run| runs.contains_key(run));
        self.invalidate();
    }

    /// The run that a process belongs to as a whole.
    pub fn run_of_process(&self, process: &Process) -> Option<&Run> {
        run_of_process(&self.runs, &self.claims, process)
    }

    /// The part of its run that it is, or that submitted its job; empty: none is known.
    pub fn part_of<'a>(&'a self, process: &'a Process) -> &'a str {
        let of_job = |key| self.claims.part_of_job(process.info.get(key));
        let own = Some(process.info.get("part")).filter(|part| !part.is_empty());
        own.or_else(|| ["job", "attempt", "container"].into_iter().find_map(of_job))
            .unwrap_or_default()
    }

    fn run_of_context(&self, process: &Process, context: ContextFields<'_>) -> Option<&Run> {
        let is_its = |run: &&Run| may_write(process, run);
        if let Some(run) = self.runs.get(context.run).filter(is_its) {
            return Some(run);
        }
        let of_job = |text| self.claims.run_of_job(text).map(|(run, _)| run);
        let named = [context.job, context.task, context.client].into_iter().find_map(of_job);
        let named = named.or_else(|| self.claims.run_of_client(context.client));
        let named = named.and_then(|run| self.runs.get(run)).filter(is_its);
        let own = || self.run_of_process(process).or_else(|| run_of_storage(&self.runs, process));
        named.or_else(own)
    }

    /// Whether it is a daemon that serves the users of this node, the owner of `run` among them.
    pub fn is_served_by(run: &Run, process: &Process) -> bool {
        ids::is_daemon(process.role) && may_write(process, run)
    }

    /// What stands in the columns run, owner, job, task and phase of a process's events in
    /// `context` (dictionary id).
    pub fn identify(&self, processes: &Processes, process: &Process, context: u32) -> Identity {
        let name = process.names.get(context).map_or("", |name| text(&name.text));
        let context = ContextFields::parse(name);
        if let Some(caller) = context.caller(processes)
            && caller.info.proc != process.info.proc
            && (process.info.serves || process.info.uid == caller.info.uid)
        {
            let whole = self.identify(processes, caller, 0);
            let job = bytes(&self.job_name(process, context, context.task));
            // a caller may name only a task of its own job
            if context.task.is_empty() || whole.job.is_some() && whole.job != job {
                return whole;
            }
            return Identity {
                job,
                task: bytes(context.task),
                phase: bytes(context.phase),
                ..whole
            };
        }
        let run = self.run_of_context(process, context);
        let task = if context.task.is_empty() { ids::attempt(context.client) } else { None };
        let task = [context.task, task.unwrap_or_default(), own_task(process, context)];
        let task = task.into_iter().find(|task| !task.is_empty()).unwrap_or_default();
        let user = run.map_or(&process.info.user, |run| &run.order.user);
        Identity {
            run: run.map(|run| run.order.run.clone()).unwrap_or_default(),
            owner: bytes(user),
            job: bytes(&self.job_name(process, context, task)),
            task: bytes(task),
            phase: bytes(context.phase),
        }
    }

    /// The job's own name where it was announced, so that client, tasks and daemons agree.
    fn job_name(&self, process: &Process, context: ContextFields<'_>, task: &str) -> String {
        let info = &process.info;
        let own = if context.client.is_empty() { info.get("job") } else { "" };
        let container = if context.client.is_empty() { info.get("container") } else { "" };
        let sources = [context.job, task, own, container];
        let claimed = sources.into_iter().find_map(|id| self.claims.run_of_job(id));
        if let Some((_, name)) = claimed {
            return name.to_owned();
        }
        let named = [context.job, own].into_iter().find(|job| !job.is_empty());
        let derived = || ids::job_key(task).map(|key| format!("job_{key}"));
        let from_container = || ids::job_key(container).map(|key| format!("application_{key}"));
        named.map(str::to_owned).or_else(derived).or_else(from_container).unwrap_or_default()
    }
}

fn run_of_process<'a>(
    runs: &'a BTreeMap<String, Run>,
    claims: &Claims,
    process: &Process,
) -> Option<&'a Run> {
    let declared = runs.get(process.info.get("run"));
    declared.filter(|run| is_of_owner(process, run)).or_else(|| {
        let of_job = |key| claims.run_of_job(process.info.get(key));
        let (run, _) = ["job", "attempt", "container"].into_iter().find_map(of_job)?;
        runs.get(run).filter(|run| may_write(process, run))
    })
}

/// Requests to a server of a file system do not say who makes them: all that it does belongs to the
/// one run of its own user that names it as one of its cluster. Of two such runs it is nobody's.
fn run_of_storage<'a>(runs: &'a BTreeMap<String, Run>, process: &Process) -> Option<&'a Run> {
    if !ids::is_storage(process.role) {
        return None;
    }
    let names = |run: &&Run| run.order.expect.iter().any(|(_, pid)| *pid == process.info.pid);
    let own = || runs.values().filter(|run| run.order.uid == process.info.uid).filter(names);
    let mut active = own().filter(|run| !run.order.ended);
    match (active.next(), active.next()) {
        (None, _) => own().max_by_key(|run| run.began),
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// Whether what a process says belongs to a run may stand there: it is of the owner's own, or of a
/// user that serves others as the node's configuration says. What a process claims to be counts
/// for nothing.
fn may_write(process: &Process, run: &Run) -> bool {
    is_of_owner(process, run) || process.info.serves
}

fn is_of_owner(process: &Process, run: &Run) -> bool {
    run.order.uid == process.info.uid || run.order.run == process.info.started_by
}

/// A process that is a task, or was started by one, says so for all its calls but those it makes for
/// somebody else.
fn own_task<'a>(process: &'a Process, context: ContextFields<'_>) -> &'a str {
    if !context.client.is_empty() {
        return "";
    }
    let own = Some(process.own_task()).filter(|task| !task.is_empty());
    let of_parent = || process.info.parent.as_ref().map(|parent| parent.task.as_str());
    own.or_else(of_parent).unwrap_or_default()
}

fn bytes(text: &str) -> Option<ByteArray> {
    (!text.is_empty()).then(|| ByteArray::from(text))
}

#[cfg(test)]
mod tests {
    use iostrata_segment::dictionary::Entry;
    use iostrata_segment::schema::CATEGORY_CONTEXT;

    use super::*;
    use crate::model::context::Parent;
    use crate::model::process::ProcessInfo;

    /// With the contexts 1, 2, …
    fn process(proc: u64, text: [(&str, &str); 1], contexts: &[&str]) -> Process {
        let text = text.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let mut process = Process::new(ProcessInfo { proc, text, ..ProcessInfo::default() });
        let mut records = Vec::new();
        for (id, name) in (1..).zip(contexts) {
            let (category, name) = (CATEGORY_CONTEXT, (*name).to_owned());
            let entry = Entry { id, category, parent: 0, block: -1, generation: -1, name };
            entry.append_to(&mut records);
        }
        process.learn((0, 0), &records, 1 << 20);
        process
    }

    #[test]
    fn what_a_server_does_for_a_task_of_an_executor_is_the_task_s() {
        let executor = process(0xABC, [("job", "application_17_0001")], &[]);
        let client = process(0xDEF, [("run", "")], &[]);
        let contexts = [
            "\tapplication_17_0001\tapplication_17_0001_stage_3.0_task_7.1\tstage 3.0\t#abc",
            "\tapplication_9_0009\tapplication_9_0009_stage_3.0_task_7.1\tstage 3.0\t#abc",
            "\t\t\t\t#abc",
            "\tlocal-5\tlocal-5_stage_0.0_task_0.0\tstage 0.0\t#def", // its driver runs tasks itself
            "\tlocal-5\tlocal-5_stage_0.0_task_0.0\tstage 0.0\t#123", // of another host
        ];
        let server = process(1, [("run", "")], &contexts);
        let processes: Processes =
            [executor, client].map(|process| (process.info.proc, process)).into();
        let owners = Owners::default();
        let said = |context| {
            let Identity { job, task, phase, .. } = owners.identify(&processes, &server, context);
            [job, task, phase].map(|field| field.map_or(String::new(), |f| text(&f).to_owned()))
        };
        let (own, local) = ("application_17_0001", "local-5");
        assert_eq!(said(1), [own, "application_17_0001_stage_3.0_task_7.1", "stage 3.0"]);
        assert_eq!(said(2), [own, "", ""]); // no task of somebody else's
        assert_eq!(said(3), [own, "", ""]);
        assert_eq!(said(4), [local, "local-5_stage_0.0_task_0.0", "stage 0.0"]);
        assert_eq!(said(5), [local, "local-5_stage_0.0_task_0.0", "stage 0.0"]);
    }

    #[test]
    fn a_server_of_a_file_system_is_of_the_one_run_that_names_it() {
        let mut server = process(1, [("main", "mfschunkserver")], &[]);
        server.info.pid = 7;
        let run = |name: &str, uid, pid, ended| {
            let expect = vec![("mfschunkserver".into(), pid)];
            let order = RunOrder { run: name.into(), uid, expect, ended, ..RunOrder::default() };
            (name.to_owned(), Run { order, ..Run::default() })
        };
        let owner = |runs: Vec<(String, Run)>| {
            let owners = Owners { runs: runs.into_iter().collect(), ..Owners::default() };
            owners.identify(&Processes::default(), &server, 0).run
        };
        let (a, b) = (run("a", 0, 7, false), run("b", 0, 7, false));
        assert_eq!(owner(vec![a.clone()]), "a");
        assert_eq!(owner(vec![a.clone(), run("b", 0, 7, true)]), "a");
        assert_eq!(owner(vec![run("b", 0, 7, true)]), "b");
        assert_eq!(owner(vec![a, b]), "");
        assert_eq!(owner(vec![run("c", 0, 8, false)]), ""); // which runs on another cluster
        assert_eq!(owner(vec![run("d", 1000, 7, false)]), ""); // of another user
    }

    #[test]
    fn processes_of_a_job_are_of_the_part_that_submitted_it() {
        let mut owners = Owners::default();
        owners.runs.insert("r".into(), Run::default());
        let client = process(1, [("part", "B")], &[]);
        let run = owners.runs["r"].clone();
        owners.claims.add_job("job_17_0001", &run, client.info.get("part"), 1 << 20);
        let part = |text| owners.part_of(&process(2, [text], &[])).to_owned();
        assert_eq!(part(("part", "A")), "A");
        assert_eq!(part(("job", "job_17_0001")), "B");
        assert_eq!(part(("container", "container_17_0001_01_000002")), "B");
        assert_eq!(part(("job", "job_17_0002")), "");
    }

    #[test]
    fn a_child_of_a_task_works_for_it_and_one_that_is_a_task_for_itself() {
        const ATTEMPT: &str = "attempt_17_0001_m_000003_0";
        let owners = Owners::default();
        let whose = |said, contexts: &[&str]| {
            let mut child = process(2, [said], contexts);
            child.info.parent = Some(Parent { proc: 1, task: ATTEMPT.into(), cause: None });
            let context = contexts.len() as u32;
            let found = owners.identify(&Processes::default(), &child, context);
            let words = [found.job, found.task];
            words.map(|word| word.map_or(String::new(), |word| text(&word).to_owned()))
        };
        assert_eq!(whose(("main", "grep"), &[]), ["job_17_0001", ATTEMPT]);
        assert_eq!(whose(("rank", "rank 3"), &[]), ["", "rank 3"]);
        // what it does for somebody else is theirs
        assert_eq!(whose(("main", "grep"), &["\t\t\t\tDFSClient_NONMAPREDUCE_1_1"]), ["", ""]);
    }

    #[test]
    fn a_list_of_untraced_processes_has_an_end_and_says_so() {
        let mut owners = Owners::default();
        owners.runs.insert("r".into(), Run::default());
        let one = |pid| UntracedProcess { run: "r".into(), pid, ..UntracedProcess::default() };
        (0..=UNTRACED as u32).for_each(|pid| owners.add_untraced(one(pid)));
        let listed = &owners.runs["r"].untraced;
        let last = &listed[&UntracedProcess::key_of(UNTRACED as u32 - 1, 0)].reason;
        assert_eq!(listed.len(), UNTRACED);
        assert_eq!(last, "; further ones of this run are not listed");
        let ended = UntracedProcess { end: 7, ..one(3) };
        owners.add_untraced(ended.clone());
        assert_eq!(owners.runs["r"].untraced[&ended.key()], ended);
    }
}
