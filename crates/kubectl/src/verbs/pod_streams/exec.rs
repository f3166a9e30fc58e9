//! `exec`: runs a command in a container.

use std::time::Duration;

use gantry_json::Value;

use super::container_choice;
use super::pod_choice::{named, to_connect};
use super::remote_command::{LocalInput, LocalTerminal, RemoteCommand, Written};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::text;
use crate::selection::{BareType, Selection, find};

/// The options of `exec`.
#[derive(Clone, Debug, Default)]
pub struct ExecOptions {
    /// A pod, or `TYPE/NAME`; empty if a file names it.
    pub target: String,
    /// Files that name the object.
    pub files: Vec<String>,
    /// The container; empty for the default one.
    pub container: String,
    /// The command.
    pub command: Vec<String>,
    /// Whether standard input is passed on.
    pub stdin: bool,
    /// Whether the command gets a terminal.
    pub tty: bool,
    /// Whether notes are left out.
    pub quiet: bool,
    /// How long to wait for a pod.
    pub timeout: Duration,
}

/// Runs a command; returns its exit code.
pub async fn exec(
    ctx: &mut ClientContext,
    options: &ExecOptions,
    terminal: &mut dyn LocalTerminal,
) -> Result<u8, Failure> {
    if options.target.is_empty() && options.files.is_empty() {
        return Err(Failure::other("pod, type/name or --filename must be specified"));
    }
    if options.command.is_empty() {
        return Err(Failure::other("you must specify at least one command for the container"));
    }
    let object = if options.target.is_empty() {
        let selection = Selection { files: options.files.clone(), ..Selection::default() };
        let (found, failures) = find(ctx, &selection, BareType::Error).await?;
        Failure::all(failures)?;
        match <[_; 1]>::try_from(found) {
            Ok([object]) => object,
            Err(_) => return Err(Failure::other("cannot exec into multiple objects at a time")),
        }
    } else {
        named(ctx, &options.target).await?
    };
    let pod = to_connect(ctx, object, options.timeout).await?;
    let command = command_in(ctx, &pod, options)?;
    let raw = wants_terminal(ctx, terminal, options.stdin, options.tty, options.quiet);
    let command = RemoteCommand { is_terminal: raw, ..command };
    let mut input = LocalInput::default();
    let streams = command.start(ctx).await?;
    if raw {
        input.sizes = Some(terminal.make_raw());
    }
    if options.stdin {
        input.bytes = Some(terminal.read_input());
    }
    let result = streams.run(input, async |written| print(ctx, written)).await;
    terminal.restore();
    let code = result?;
    if code != 0 {
        ctx.eprintln(&format!("command terminated with exit code {code}"));
    }
    Ok(code)
}

/// The command in a container of this pod.
fn command_in(ctx: &mut ClientContext, pod: &Value, options: &ExecOptions) -> Result<RemoteCommand, Failure> {
    let phase = text(pod, "/status/phase");
    if matches!(phase, "Succeeded" | "Failed") {
        return Err(Failure::other(format!(
            "cannot exec into a container in a completed pod; current phase is {phase}"
        )));
    }
    let container = container_choice::choose(ctx, pod, &options.container, options.quiet)?;
    Ok(RemoteCommand {
        path: pod_path(pod, "exec"),
        container,
        command: options.command.clone(),
        has_stdin: options.stdin,
        is_terminal: false,
    })
}

/// The path of a subresource of a pod.
pub(super) fn pod_path(pod: &Value, part: &str) -> String {
    let (namespace, name) = (text(pod, "/metadata/namespace"), text(pod, "/metadata/name"));
    format!("/api/v1/namespaces/{namespace}/pods/{name}/{part}")
}

/// Whether the process gets a terminal: if wanted, and if standard input is one.
pub(super) fn wants_terminal(
    ctx: &mut ClientContext,
    terminal: &dyn LocalTerminal,
    stdin: bool,
    tty: bool,
    is_quiet: bool,
) -> bool {
    if !stdin || !tty {
        return false;
    }
    if !terminal.is_terminal() {
        if !is_quiet {
            ctx.eprintln("Unable to use a TTY - input is not a terminal or the right kind of file");
        }
        return false;
    }
    true
}

/// Prints what a process writes.
pub(super) fn print(ctx: &mut ClientContext, written: Written<'_>) -> Result<(), Failure> {
    match written {
        Written::Out(bytes) => ctx.print_bytes(bytes),
        Written::Err(bytes) => {
            ctx.eprint_bytes(bytes);
            Ok(())
        }
    }
}
