//! Which run a job or a client of HDFS belongs to, as its processes say.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::ids;
use super::run::Run;

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

    pub fn run_of_client(&self, name: &str) -> Option<&str> {
        let claim = self.clients.get(name).filter(|claim| !claim.disputed)?;
        Some(claim.run.as_str())
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
