//! Who owns an event: the run that caused it, or nobody (the background).

use std::collections::HashMap;

use parquet::data_type::ByteArray;
use serde::{Deserialize, Serialize};

use super::ids;
use super::order::Run;
use super::state::{Process, State};
use crate::store::rows::{Identity, text};

/// Which run announced a job or holds a DFS client name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Claims {
    /// By job key, see [`ids::job_key`].
    jobs: HashMap<String, Claim>,
    /// By the name of a DFS client.
    clients: HashMap<String, Claim>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Claim {
    run: String,
    uid: u32,
    /// The name as announced.
    name: String,
    /// Two owners said it is theirs: it is nobody's, or one could read the other's events.
    disputed: bool,
}

impl Claims {
    fn add(map: &mut HashMap<String, Claim>, key: String, run: &Run, name: &str) -> bool {
        let uid = run.order.uid;
        if let Some(known) = map.get_mut(&key) {
            let disputed = known.uid != uid && !known.disputed;
            known.disputed |= disputed;
            return disputed;
        }
        let (run, name) = (run.order.run.clone(), name.to_owned());
        map.insert(key, Claim { run, uid, name, disputed: false });
        true
    }

    pub fn add_job(&mut self, name: &str, run: &Run) -> bool {
        ids::job_key(name).is_some_and(|key| Self::add(&mut self.jobs, key, run, name))
    }

    pub fn add_client(&mut self, name: &str, run: &Run) -> bool {
        Self::add(&mut self.clients, name.to_owned(), run, name)
    }

    fn job(&self, text: &str) -> Option<&Claim> {
        self.jobs.get(&ids::job_key(text)?).filter(|claim| !claim.disputed)
    }

    fn client(&self, name: &str) -> Option<&Claim> {
        self.clients.get(name).filter(|claim| !claim.disputed)
    }

    /// Run of the job that `text` names an id of, with the job's own name.
    pub fn run_of_job(&self, text: &str) -> Option<(&str, &str)> {
        self.job(text).map(|claim| (claim.run.as_str(), claim.name.as_str()))
    }

    /// The jobs that processes of the run submitted, by name.
    pub fn jobs_of(&self, run: &str) -> Vec<&str> {
        let own = self.jobs.values().filter(|claim| claim.run == run && !claim.disputed);
        let mut names: Vec<&str> = own.map(|claim| claim.name.as_str()).collect();
        names.sort_unstable();
        names
    }

    pub fn retain(&mut self, is_active: impl Fn(&str) -> bool) {
        self.jobs.retain(|_, claim| is_active(&claim.run));
        self.clients.retain(|_, claim| is_active(&claim.run));
    }
}

/// The fields of a context entry: run TAB job TAB task TAB phase TAB client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context<'a> {
    pub run: &'a str,
    pub job: &'a str,
    pub task: &'a str,
    pub phase: &'a str,
    pub client: &'a str,
}

impl<'a> Context<'a> {
    pub fn parse(name: &'a str) -> Context<'a> {
        let mut fields = name.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        Context { run: next(), job: next(), task: next(), phase: next(), client: next() }
    }
}

impl State {
    /// The run that a process belongs to as a whole.
    pub fn run_of_process(&self, process: &Process) -> Option<&Run> {
        if let Some(run) = self.runs.get(process.known.get("run"))
            && run.order.uid == process.known.uid
        {
            return Some(run);
        }
        let of_job = |key| self.claims.run_of_job(process.known.get(key));
        let (run, _) = ["job", "attempt", "container"].into_iter().find_map(of_job)?;
        self.runs.get(run)
    }

    fn run_of_context(&self, process: &Process, context: Context<'_>) -> Option<&Run> {
        if let Some(run) = self.runs.get(context.run) {
            // only a process of the owner, or one that serves many users, may name a run
            if run.order.uid == process.known.uid || ids::is_daemon(process.role) {
                return Some(run);
            }
        }
        let of_job = |text| self.claims.run_of_job(text).map(|(run, _)| run);
        let named = [context.job, context.task, context.client].into_iter().find_map(of_job);
        let named = named.or_else(|| {
            let claim = self.claims.client(context.client)?;
            Some(claim.run.as_str())
        });
        named.and_then(|run| self.runs.get(run)).or_else(|| self.run_of_process(process))
    }

    /// The process that a context names as `#PROC`: who called when nobody said a client's name.
    fn caller(&self, context: Context<'_>) -> Option<&Process> {
        let proc = context.client.strip_prefix('#')?;
        self.processes.get(&u64::from_str_radix(proc, 16).ok()?)
    }

    /// What stands in the columns run, owner, job, task and phase of a process's events in
    /// `context` (dictionary id).
    pub fn identify(&self, process: &Process, context: u32) -> Identity {
        let name = process.names.get(context).map_or("", |name| text(&name.text));
        let context = Context::parse(name);
        if let Some(caller) = self.caller(context)
            && caller.known.proc != process.known.proc
        {
            return self.identify(caller, 0);
        }
        let run = self.run_of_context(process, context);
        let task = if context.task.is_empty() { ids::attempt(context.client) } else { None };
        let task = [context.task, task.unwrap_or_default(), own_task(process, context)];
        let task = task.into_iter().find(|task| !task.is_empty()).unwrap_or_default();
        let user = run.map_or(&process.known.user, |run| &run.order.user);
        Identity {
            run: run.map(|run| run.order.run.clone()).unwrap_or_default(),
            owner: bytes(user),
            job: bytes(&self.job_name(process, context, task)),
            task: bytes(task),
            phase: bytes(context.phase),
        }
    }

    /// The job's own name where it was announced, so that client, tasks and daemons agree.
    fn job_name(&self, process: &Process, context: Context<'_>, task: &str) -> String {
        let known = &process.known;
        let own = if context.client.is_empty() { known.get("job") } else { "" };
        let container = if context.client.is_empty() { known.get("container") } else { "" };
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

/// A process that is a task says so for all its calls but those it makes for somebody else.
fn own_task<'a>(process: &'a Process, context: Context<'_>) -> &'a str {
    if context.client.is_empty() { process.known.get("attempt") } else { "" }
}

fn bytes(text: &str) -> Option<ByteArray> {
    (!text.is_empty()).then(|| ByteArray::from(text))
}
