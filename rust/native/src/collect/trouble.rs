//! What the collector says of itself on stderr.

/// One line to stderr.
pub fn log(line: &str) {
    eprintln!("iostrata collect: {line}");
}

/// Something that fails again and again: said when it begins and when it ends.
#[derive(Debug)]
pub struct Trouble {
    name: &'static str,
    is_on: bool,
}

impl Trouble {
    pub fn new(name: &'static str) -> Trouble {
        Trouble { name, is_on: false }
    }

    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// It failed; `line` says why.
    pub fn begin(&mut self, line: &str) {
        if !std::mem::replace(&mut self.is_on, true) {
            log(line);
        }
    }

    /// It went well.
    pub fn end(&mut self) {
        if std::mem::take(&mut self.is_on) {
            log(&format!("{}: works again", self.name));
        }
    }
}
