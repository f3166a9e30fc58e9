//! What a command said, and whether kubectl would have said the same.

use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use super::rollout::Rollout;

pub(crate) use super::running::said::Said;

impl Said {
    pub(crate) fn by(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).output().unwrap().into()
    }

    /// Runs the command meanwhile.
    pub(crate) fn later(mut command: Command) -> JoinHandle<Self> {
        std::thread::spawn(move || Self::by(&mut command))
    }

    /// Asserts what was said on standard output, and that all went well.
    pub(crate) fn is(&self, out: &str) {
        assert_eq!((self.code, self.out.as_str(), self.err.as_str()), (Some(0), out, ""));
    }

    /// Asserts that all went well, and that there was nothing but talk.
    pub(crate) fn is_nothing(&self, err: &str) {
        assert_eq!((self.code, self.out.as_str(), self.err.as_str()), (Some(0), "", err));
    }

    /// Asserts what was said on standard error, and that not all went well.
    pub(crate) fn fails(&self, err: &str) {
        assert_eq!((self.code, self.err.as_str()), (Some(1), err), "{}", self.out);
    }
}

impl Rollout {
    /// What gantry says; kubectl, the one on the `PATH`, must say the same to the letter.
    pub(crate) fn as_kubectl(&self, arguments: &[&str]) -> Said {
        let gantry = Said::by(&mut self.command(arguments));
        let kubectl = Said::by(&mut self.kubectl(arguments));
        assert_eq!(gantry, kubectl, "{arguments:?}");
        gantry
    }
}
