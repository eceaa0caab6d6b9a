//! Which run a job or a client of HDFS belongs to, as its processes say.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::ids;
use super::run::Run;
use super::usage::Usage;

/// Which run announced a job or holds a DFS client name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Claims {
    /// By job key, see [`ids::job_key`].
    jobs: HashMap<String, Claim>,
    /// By the name of a DFS client.
    clients: HashMap<String, Claim>,
    /// Bytes of memory, by the owner of the run.
    #[serde(skip)]
    usage: Usage,
}

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claimed {
    /// Somebody else's answers may change by it.
    New,
    Known,
    /// Its user has no room left.
    Rejected,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Claim {
    run: String,
    uid: u32,
    /// The name as announced.
    name: String,
    /// Of the run: what the process that announced it is of.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    part: String,
    /// Two owners said it is theirs: it is nobody's, or one could read the other's events.
    disputed: bool,
}

impl Claim {
    /// Bytes of memory.
    fn size(&self, key: &str) -> u64 {
        (size_of::<(String, Claim)>()
            + key.len()
            + self.run.len()
            + self.name.len()
            + self.part.len()) as u64
    }

    fn dispute(&mut self, uid: u32) -> Claimed {
        let is_new = self.uid != uid && !self.disputed;
        self.disputed |= is_new;
        if is_new { Claimed::New } else { Claimed::Known }
    }
}

impl Claims {
    /// `name` of a job belongs to the run, and to a part of it; a name that is no job's says nothing.
    /// `most`: bytes that claims of all users may take.
    pub fn add_job(&mut self, name: &str, run: &Run, part: &str, most: u64) -> Claimed {
        let Some(key) = ids::job_key(name) else { return Claimed::Known };
        if let Some(known) = self.jobs.get_mut(&key) {
            return known.dispute(run.order.uid);
        }
        match self.made((&key, name, part), run, most) {
            Some(claim) => self.jobs.insert(key, claim).map_or(Claimed::New, |_| Claimed::Known),
            None => Claimed::Rejected,
        }
    }

    /// `name` of a client of HDFS belongs to the run; `most` as in [`Claims::add_job`].
    pub fn add_client(&mut self, name: &str, run: &Run, most: u64) -> Claimed {
        if let Some(known) = self.clients.get_mut(name) {
            return known.dispute(run.order.uid);
        }
        let Some(claim) = self.made((name, name, ""), run, most) else { return Claimed::Rejected };
        self.clients.insert(name.to_owned(), claim);
        Claimed::New
    }

    /// `None`: the run's owner has no room for it.
    fn made(&mut self, texts: (&str, &str, &str), run: &Run, most: u64) -> Option<Claim> {
        let ((key, name, part), uid) = (texts, run.order.uid);
        let (run, disputed) = (run.order.run.clone(), false);
        let claim = Claim { run, uid, name: name.to_owned(), part: part.to_owned(), disputed };
        let size = claim.size(key);
        let has_room = size <= self.usage.left(most, uid, false);
        has_room.then(|| self.usage.add(uid, size)).map(|()| claim)
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

    /// Part of its run whose process submitted the job that `text` names an id of.
    pub fn part_of_job(&self, text: &str) -> Option<&str> {
        self.job(text).map(|claim| claim.part.as_str())
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
        self.weigh();
    }

    /// Adds up anew what they take.
    pub fn weigh(&mut self) {
        self.usage = Usage::default();
        for (key, claim) in self.jobs.iter().chain(&self.clients) {
            self.usage.add(claim.uid, claim.size(key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::run::RunOrder;

    const MOST: u64 = 64 << 20;

    #[test]
    fn claims_of_one_user_leave_room_for_those_of_another() {
        let run = |uid| {
            let order = RunOrder { run: format!("r{uid}"), uid, ..RunOrder::default() };
            Run { order, ..Run::default() }
        };
        let (mine, hers) = (run(1), run(2));
        let mut claims = Claims::default();
        let long = "c".repeat(1 << 20);
        let added = (0..1000)
            .take_while(|n| claims.add_client(&format!("{n}{long}"), &mine, MOST) == Claimed::New)
            .count();
        assert_eq!(added, 15); // of 1 MiB as key and as name, in a half of 64
        assert_eq!(claims.add_client("theirs", &hers, MOST), Claimed::New);
        assert_eq!(claims.add_client("theirs", &hers, MOST), Claimed::Known);
        assert_eq!(claims.add_job("job_17_0001", &mine, "", MOST), Claimed::New);
        assert_eq!(claims.add_job("job_17_0001", &hers, "", MOST), Claimed::New); // disputed

        claims.retain(|run| run == "r2");

        assert_eq!((claims.usage.of(1), claims.usage.of(2) > 0), (0, true));
        assert_eq!(claims.add_client(&long, &mine, MOST), Claimed::New);
    }
}
