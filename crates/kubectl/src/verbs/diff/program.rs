//! The external diff program, and the two directories that it compares.
//!
//! The program inherits the terminal instead of writing through the client context, so that it can detect a terminal.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::process::Command;

use super::Differences;
use crate::failure::Failure;

/// A temporary directory with mode 0700, removed on drop.
pub(super) struct TempFolder(PathBuf);

/// The diff program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiffProgram {
    name: String,
    options: Vec<String>,
}

impl TempFolder {
    /// Creates a directory with this prefix and an unused number.
    pub(super) fn new(word: &str) -> Result<Self, Failure> {
        let place = std::env::temp_dir();
        for number in u64::from(std::process::id()).. {
            let path = place.join(format!("{word}-{number}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_write(&path.display().to_string(), &error)),
            }
        }
        unreachable!("some number is free")
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        let path = self.0.join(name);
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| cannot_write(&path.display().to_string(), &error))
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // A leftover temporary directory does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl DiffProgram {
    /// The program of KUBECTL_EXTERNAL_DIFF with its options, or `diff`.
    ///
    /// Like kubectl, it takes only options of letters, digits, `-` and `=`, which need no shell.
    pub(super) fn named(command: Option<&str>) -> Self {
        let mut words = command.unwrap_or("diff -u -N").split(' ').filter(|word| !word.is_empty());
        let name = words.next().unwrap_or("diff").to_owned();
        let is_plain =
            |word: &&str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-=".contains(&byte));
        Self { name, options: words.filter(is_plain).map(str::to_owned).collect() }
    }

    /// Compares two directories; the program prints to the terminal itself.
    pub(super) fn compare(&self, live: &TempFolder, merged: &TempFolder) -> Result<Differences, Failure> {
        let status = Command::new(&self.name).args(&self.options).arg(&live.0).arg(&merged.0).status();
        let failed = |why: &str| Failure::other(format!("failed to run \"{}\": {why}", self.name));
        match status.map(|status| status.code()) {
            Ok(Some(0)) => Ok(Differences::None),
            Ok(Some(1)) => Ok(Differences::Some),
            Ok(Some(code)) => Err(failed(&format!("exit status {code}"))),
            Ok(None) => Err(failed("terminated by a signal")),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(failed(
                "executable file not found in $PATH\nhint: install diffutils, or name another program in \
                 KUBECTL_EXTERNAL_DIFF",
            )),
            Err(error) => Err(failed(&error.to_string())),
        }
    }
}

fn cannot_write(path: &str, error: &io::Error) -> Failure {
    Failure::other(format!("cannot write {path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_plain_options_only() {
        let program = |name: &str, options: &[&str]| DiffProgram {
            name: name.to_owned(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
        };
        assert_eq!(DiffProgram::named(None), program("diff", &["-u", "-N"]));
        assert_eq!(
            DiffProgram::named(Some("colordiff  -N -x=1 $(rm) a/b")),
            program("colordiff", &["-N", "-x=1"])
        );
    }

    #[test]
    fn exit_codes_of_diff_programs_are_mapped() {
        let (live, merged) = (TempFolder::new("LIVE").unwrap(), TempFolder::new("MERGED").unwrap());
        let compare = |command: &str| DiffProgram::named(Some(command)).compare(&live, &merged);
        assert_eq!(compare("true").unwrap(), Differences::None);
        assert_eq!(compare("false").unwrap(), Differences::Some);
        assert!(compare("no-such-program").unwrap_err().lines().starts_with(
            "error: failed to run \"no-such-program\": executable file not found in $PATH\nhint: install"
        ));
        let path = live.0.clone();
        live.write("v1.Secret.default.s", "x").unwrap();
        drop(live);
        assert!(!path.exists(), "the directory is removed");
    }
}
