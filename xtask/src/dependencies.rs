//! The dependencies: licences, duplicates, sources and advisories, by `cargo deny check` with deny.toml.

use crate::cargo::{self, cargo};
use crate::console;
use crate::failure::Failure;
use std::path::Path;
use std::process::Command;

/// The source of cargo-deny's advisories.
const ADVISORIES: &str = "https://github.com/RustSec/advisory-db";
/// Names a clone to use instead: a directory or another URL. Without it, advisories are not checked, because that needs
/// a network.
const ADVISORIES_VARIABLE: &str = "GANTRY_ADVISORY_DB";
/// The folder into which cargo-deny is installed, below the root.
const INSTALLED: &str = "target/tools/cargo-deny";

/// Checks the dependencies with cargo-deny, which is installed first if necessary.
pub(crate) fn check(root: &Path) -> Result<(), Failure> {
    if installed(root).is_none() {
        let mut install = cargo(root, &["install", "--locked", "--root", INSTALLED, "cargo-deny"]);
        cargo::run(&mut install)?;
    }
    check_where_installed(root)
}

/// Checks the dependencies if cargo-deny is installed; otherwise prints that it is not.
pub(crate) fn check_where_installed(root: &Path) -> Result<(), Failure> {
    let Some(mut command) = installed(root) else {
        console::talk("deny.toml was not checked: install cargo-deny with `cargo xtask search dependencies`");
        return Ok(());
    };
    let database = std::env::var(ADVISORIES_VARIABLE).ok().filter(|value| !value.is_empty());
    command.arg("check").args(checks(database.as_deref()));
    match &database {
        None => console::talk(&format!(
            "advisories were not checked: set {ADVISORIES_VARIABLE} to a clone of {ADVISORIES}, or to that URL"
        )),
        // cargo-deny fetches with git, which can be configured to use another source.
        Some(source) => {
            command
                .env("GIT_CONFIG_COUNT", "1")
                .env("GIT_CONFIG_KEY_0", format!("url.{source}.insteadOf"))
                .env("GIT_CONFIG_VALUE_0", ADVISORIES);
        }
    }
    cargo::run(&mut command)
}

/// Returns the checks that are possible with this source of advisories.
fn checks(database: Option<&str>) -> &'static [&'static str] {
    match database {
        Some(_) => &["advisories", "bans", "licenses", "sources"],
        None => &["bans", "licenses", "sources"],
    }
}

/// Returns the command `cargo deny`: the one installed here, or the user's.
fn installed(root: &Path) -> Option<Command> {
    let binary = root.join(INSTALLED).join("bin/cargo-deny");
    if binary.is_file() {
        let mut command = Command::new(binary);
        command.current_dir(root);
        return Some(command);
    }
    cargo::has_subcommand(root, "deny").then(|| cargo(root, &["deny"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advisories_are_checked_only_if_there_is_a_source_of_them() {
        assert!(checks(Some("/advisory-db")).contains(&"advisories"));
        assert!(!checks(None).contains(&"advisories") && checks(None).contains(&"licenses"));
    }
}
