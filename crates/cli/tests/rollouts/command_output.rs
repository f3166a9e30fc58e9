//! The output of a command, and its comparison with kubectl.

use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use super::rollout::Rollout;

pub(crate) use super::running::command_output::CommandOutput;

impl CommandOutput {
    pub(crate) fn by(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).output().unwrap().into()
    }

    /// Runs the command on another thread.
    pub(crate) fn later(mut command: Command) -> JoinHandle<Self> {
        std::thread::spawn(move || Self::by(&mut command))
    }

    /// Asserts standard output, and that the command succeeded.
    pub(crate) fn is(&self, out: &str) {
        assert_eq!((self.code, self.out.as_str(), self.err.as_str()), (Some(0), out, ""));
    }

    /// Asserts standard error, that standard output is empty, and that the command succeeded.
    pub(crate) fn is_nothing(&self, err: &str) {
        assert_eq!((self.code, self.out.as_str(), self.err.as_str()), (Some(0), "", err));
    }

    /// Asserts standard error, and that the command failed.
    pub(crate) fn fails(&self, err: &str) {
        assert_eq!((self.code, self.err.as_str()), (Some(1), err), "{}", self.out);
    }
}

impl Rollout {
    /// The output of gantry; the kubectl on the `PATH` must print exactly the same.
    pub(crate) fn as_kubectl(&self, arguments: &[&str]) -> CommandOutput {
        let gantry = CommandOutput::by(&mut self.command(arguments));
        let kubectl = CommandOutput::by(&mut self.kubectl(arguments));
        assert_eq!(gantry, kubectl, "{arguments:?}");
        gantry
    }
}
