//! The home directory that the tests run with. It is not that of the user who runs them, so that a test which reads or
//! writes there fails on every machine and not just on some.

use crate::failure::Failure;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The content of the kubeconfig at the default path. No client can read it.
const NO_KUBECONFIG: &str = "tests must not read the kubeconfig of the user who runs them\n";
/// Variables that refer to other directories, or that change what clients do.
const REMOVED: [&str; 8] = [
    "KUBECONFIG",
    "KUBECACHEDIR",
    "KUBE_EDITOR",
    "KUBECTL_EXTERNAL_DIFF",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];
/// The environment that tests expect: the language of kubectl's messages, and no proxy for local addresses.
const SET: [(&str, &str); 2] = [("LC_ALL", "C.UTF-8"), ("NO_PROXY", "127.0.0.1,localhost")];
/// The paths of the toolchain, relative to the home directory, unless the environment sets them.
const TOOLCHAIN: [(&str, &str); 2] = [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")];

/// A home directory for tests.
pub(crate) struct Home(PathBuf);

impl Home {
    /// Creates a home directory that contains only a kubeconfig that no client can read.
    pub(crate) fn new(directory: PathBuf) -> Result<Self, Failure> {
        let made = || {
            let _ = fs::remove_dir_all(&directory);
            fs::create_dir_all(directory.join(".kube"))?;
            fs::write(directory.join(".kube/config"), NO_KUBECONFIG)
        };
        made().map_err(|error| Failure::Failed(format!("cannot make {}: {error}", directory.display())))?;
        Ok(Self(directory))
    }

    /// Runs a command with this home directory. The toolchain is still that of the user.
    pub(crate) fn lend<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        for (variable, folder) in TOOLCHAIN {
            let there = std::env::var_os(variable).or_else(|| below_home(folder));
            command.envs(there.map(|there| (variable, there)));
        }
        for variable in REMOVED {
            command.env_remove(variable);
        }
        command.envs(SET).env("HOME", &self.0)
    }

    /// Fails if anything was written to it.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let mut found = Vec::new();
        for folder in ["", ".kube"] {
            found.extend(entries(&self.0.join(folder)));
        }
        let expected = [self.0.join(".kube"), self.0.join(".kube/config")];
        found.retain(|path| !expected.contains(path));
        if found.is_empty() {
            return Ok(());
        }
        let paths: Vec<_> = found.iter().map(|path| path.display().to_string()).collect();
        Err(Failure::Failed(format!(
            "a test wrote to the home directory of the user who runs it: {}\n\
             hint: give the process that did it its own HOME",
            paths.join(", ")
        )))
    }
}

fn below_home(folder: &str) -> Option<OsString> {
    std::env::var_os("HOME").map(|home| Path::new(&home).join(folder).into_os_string())
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_left_in_the_home_directory_are_a_failure() {
        let directory = std::env::temp_dir().join(format!("gantry-xtask-home-{}", std::process::id()));
        let home = Home::new(directory.clone()).unwrap_or_else(|_| panic!("the directory can be created"));
        assert!(home.check().is_ok());
        fs::create_dir(directory.join(".kube/cache")).expect("the directory can be written to");
        let Err(Failure::Failed(why)) = home.check() else { panic!("the cache is not detected") };
        assert!(why.contains(".kube/cache"), "{why}");
        fs::remove_dir_all(directory).expect("the directory can be removed");
    }

    #[test]
    fn a_command_has_the_toolchain_and_no_kubeconfig() {
        let home = Home(PathBuf::from("/nowhere"));
        let mut command = Command::new("true");
        let environment: Vec<_> = home.lend(&mut command).get_envs().collect();
        let value = |name: &str| environment.iter().find(|(variable, _)| *variable == name).map(|it| it.1);
        assert_eq!(value("HOME"), Some(Some("/nowhere".as_ref())));
        assert_eq!(value("KUBECONFIG"), Some(None));
        assert_ne!(value("CARGO_HOME"), Some(Some("/nowhere/.cargo".as_ref())));
    }
}
