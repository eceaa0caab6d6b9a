//! What stands behind the library's name: `dir=D[,run=R][,cap=BYTES][,cache=C][,jar=J]`.

use std::path::PathBuf;

/// The agent's jar, as it is called beside the library.
pub const JAR: &str = "iostrata-agent.jar";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options {
    /// A directory of the cache; `None`: the user's own on this host.
    pub cache: Option<PathBuf>,
    /// The agent's jar; `None`: beside the library.
    pub jar: Option<PathBuf>,
    /// All others, for the agent, which says what is wrong with them.
    pub agent: String,
}

impl Options {
    #[must_use]
    pub fn parse(text: &str) -> Options {
        let mut options = Options::default();
        let mut agent = Vec::new();
        for option in text.split(',').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("cache", path)) => options.cache = Some(path.into()),
                Some(("jar", path)) => options.jar = Some(path.into()),
                _ => agent.push(option),
            }
        }
        options.agent = agent.join(",");
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_are_taken_out_and_the_rest_stays_as_it_is() {
        let options = Options::parse("dir=/dev/shm/x,cache=/var/tmp/c,run=r-1,jar=/a b/x.jar,x");
        assert_eq!(options.cache, Some("/var/tmp/c".into()));
        assert_eq!(options.jar, Some("/a b/x.jar".into()));
        assert_eq!(options.agent, "dir=/dev/shm/x,run=r-1,x");
        assert_eq!(Options::parse(""), Options::default());
    }
}
