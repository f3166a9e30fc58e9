//! Running cargo and other programs from the root of the repository.

use crate::failure::Failure;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Finds the root of the repository: the nearest folder above this one that holds `xtask/Cargo.toml`.
///
/// Determined at run time on purpose: a path compiled in would point to another clone when a build cache moves.
pub(crate) fn repository_root() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::Failed(format!("cannot tell the current folder: {error}")))?;
    let root = here.ancestors().find(|folder| folder.join("xtask/Cargo.toml").is_file());
    root.map(Path::to_owned).ok_or_else(|| {
        Failure::Failed(format!(
            "{} is not inside the repository (no xtask/Cargo.toml above it)",
            here.display()
        ))
    })
}

/// A cargo command at the root, with these arguments.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root).args(arguments);
    command
}

/// Returns whether cargo knows an external subcommand such as `deny`.
pub(crate) fn has_subcommand(root: &Path, name: &str) -> bool {
    let mut probe = cargo(root, &[name, "--version"]);
    probe.stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Runs a command to its end; its output is shown immediately.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    if status.success() { Ok(()) } else { Err(ended_badly(command, status)) }
}

/// Runs a command and returns its standard output; its messages are shown immediately.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| cannot_start(command, &error))?;
    if !output.status.success() {
        return Err(ended_badly(command, output.status));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Failure::Failed(format!("`{}` printed something that is not text", shown(command))))
}

/// The command as a user would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn cannot_start(command: &Command, error: &std::io::Error) -> Failure {
    Failure::Failed(format!("cannot start `{}`: {error}", shown(command)))
}

fn ended_badly(command: &Command, status: std::process::ExitStatus) -> Failure {
    Failure::Failed(format!("`{}` ended with {status}", shown(command)))
}
