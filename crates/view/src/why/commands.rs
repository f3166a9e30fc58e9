//! Commands in advice, quoted for a shell.

use std::fmt;

/// The connection flags of commands in advice, so that they act on the cluster and namespace in question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandFlags {
    /// The flags of `gantry` commands, such as `-n`, `shop`.
    pub gantry: Vec<String>,
    /// The flags of `kubectl` commands, whose defaults may differ.
    pub kubectl: Vec<String>,
}

/// Something that a user can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What to do, and why.
    pub text: String,
    /// The command that does it, if there is one.
    pub command: Option<String>,
}

impl CommandFlags {
    /// A `gantry` command with these arguments and the flags.
    pub(super) fn gantry(&self, args: &[&str]) -> String {
        line("gantry", args, &self.gantry)
    }

    /// A `kubectl` command with these arguments and the flags.
    pub(super) fn kubectl(&self, args: &[&str]) -> String {
        line("kubectl", args, &self.kubectl)
    }
}

fn line(program: &str, args: &[&str], flags: &[String]) -> String {
    let args = args.iter().copied().chain(flags.iter().map(String::as_str)).map(quoted);
    std::iter::once(program.to_owned()).chain(args).collect::<Vec<_>>().join(" ")
}

/// An argument, quoted if necessary.
fn quoted(arg: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !arg.is_empty() && arg.chars().all(is_safe) {
        return arg.to_owned();
    }
    format!("'{}'", arg.replace('\'', "'\\''"))
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
    fn arguments_are_quoted_for_the_shell() {
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
