//! Commands that advice names, written so that they can be copied into a shell.

use std::fmt;

/// The connection flags that a command in advice carries, so that it acts on the cluster and namespace that were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandFlags {
    /// The words behind a `gantry` command, such as `-n`, `shop`.
    pub gantry: Vec<String>,
    /// The words behind a `kubectl` command: it may not find the cluster by the same defaults.
    pub kubectl: Vec<String>,
}

/// Something that a person could do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What to do, and what it is good for.
    pub text: String,
    /// The command that does it, if there is one.
    pub command: Option<String>,
}

impl CommandFlags {
    /// `gantry` with these words and the flags behind them.
    pub(super) fn gantry(&self, words: &[&str]) -> String {
        line("gantry", words, &self.gantry)
    }

    /// `kubectl` with these words and the flags behind them.
    pub(super) fn kubectl(&self, words: &[&str]) -> String {
        line("kubectl", words, &self.kubectl)
    }
}

fn line(program: &str, words: &[&str], flags: &[String]) -> String {
    let words = words.iter().copied().chain(flags.iter().map(String::as_str)).map(quoted);
    std::iter::once(program.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word as a shell has to be given it.
fn quoted(word: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_safe) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

impl Advice {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), command: None }
    }

    pub(super) fn command(text: impl Into<String>, command: String) -> Self {
        Self { text: text.into(), command: Some(command) }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.command {
            Some(command) => write!(f, "{}: {command}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        let flags = CommandFlags {
            gantry: ["-n", "my shop", "--context", "it's", "--kubeconfig", ""].map(str::to_owned).to_vec(),
            kubectl: Vec::new(),
        };
        assert_eq!(
            flags.gantry(&["rollout", "undo", "deployment/web"]),
            "gantry rollout undo deployment/web -n 'my shop' --context 'it'\\''s' --kubeconfig ''"
        );
        assert_eq!(flags.kubectl(&["uncordon", "a"]), "kubectl uncordon a");
        assert_eq!(quoted("$(reboot)"), "'$(reboot)'");
    }
}
