//! How far a long task is, for whoever reads standard error: a line of JSON for each percent.

pub struct Progress {
    is_shown: bool,
    /// Steps until it is done; of a task that needs fewer the end comes early.
    of: u64,
    done: u64,
    percent: u64,
}

impl Progress {
    pub fn new(is_shown: bool) -> Progress {
        Progress { is_shown, of: 1, done: 0, percent: 0 }
    }

    pub fn begin(&mut self, steps: u64) {
        self.of = steps.max(1);
    }

    pub fn add(&mut self, steps: u64) {
        self.done += steps;
        let percent = (self.done * 100 / self.of).min(100);
        if self.is_shown && percent > self.percent {
            eprintln!(r#"{{"percent":{percent}}}"#);
        }
        self.percent = percent;
    }
}
