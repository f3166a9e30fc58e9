//! Names of clusters.

use std::fmt;
use std::str::FromStr;

/// The name of a cluster: letters, digits and dashes, so that it can be a directory and a part of a context's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClusterName(String);

/// The name of the default cluster.
const DEFAULT: &str = "gantry";
const LENGTH_MAX: usize = 40;

impl ClusterName {
    /// The generated name of an in-memory cluster, unique among running clusters.
    pub(crate) fn of_process(pid: u32) -> Self {
        Self(format!("memory-{pid}"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_default(&self) -> bool {
        self.0 == DEFAULT
    }

    /// The name of its context in kubeconfigs, unlikely to collide with others.
    pub(crate) fn context(&self) -> String {
        if self.is_default() { DEFAULT.to_owned() } else { format!("{DEFAULT}-{self}") }
    }
}

impl Default for ClusterName {
    fn default() -> Self {
        Self(DEFAULT.to_owned())
    }
}

impl FromStr for ClusterName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        let is_bounded = !text.is_empty() && text.len() <= LENGTH_MAX;
        if is_bounded && text.chars().all(is_plain) && !text.starts_with('-') && !text.ends_with('-') {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "{text:?} is not a valid cluster name: use at most {LENGTH_MAX} lower case letters, digits and dashes, \
                 such as dev-1"
            ))
        }
    }
}

impl fmt::Display for ClusterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_name_is_a_valid_directory_name() {
        for good in ["gantry", "dev-1", "a"] {
            assert!(good.parse::<ClusterName>().is_ok(), "{good}");
        }
        for bad in ["", "..", "a/b", "Dev", "-a", "a-", &"x".repeat(41)] {
            assert!(bad.parse::<ClusterName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn contexts_of_clusters_differ() {
        assert_eq!(ClusterName::default().context(), "gantry");
        assert_eq!(ClusterName::from_str("dev").unwrap().context(), "gantry-dev");
    }
}
