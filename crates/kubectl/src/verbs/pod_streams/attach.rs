//! `attach`: connects with the process that runs in a container.

use std::time::Duration;

use tokio::sync::mpsc;

use super::container_choice;
use super::exec::{pod_path, print, wants_terminal};
use super::pod_choice::{named, to_connect};
use super::remote_command::{LocalInput, LocalTerminal, RemoteCommand, TerminalSize};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::text;

/// The options of `attach`.
#[derive(Clone, Debug, Default)]
pub struct AttachOptions {
    /// A pod, `TYPE/NAME`, or type and name.
    pub words: Vec<String>,
    /// The container; empty for the default one.
    pub container: String,
    /// Whether standard input is passed on.
    pub stdin: bool,
    /// Whether standard input is a terminal.
    pub tty: bool,
    /// Whether notes are left out.
    pub quiet: bool,
    /// The keys that end the session, as bytes.
    pub detach_keys: Vec<u8>,
    /// How long to wait for a pod.
    pub timeout: Duration,
}

/// Connects with a process; returns its exit code.
pub async fn attach(
    ctx: &mut ClientContext,
    options: &AttachOptions,
    terminal: &mut dyn LocalTerminal,
) -> Result<u8, Failure> {
    let target = match options.words.as_slice() {
        [] => return Err(Failure::other("at least 1 argument is required for attach")),
        [one] => one.clone(),
        [kind, name] => format!("{kind}/{name}"),
        more => {
            let (count, words) = (more.len(), more.join(" "));
            return Err(Failure::other(format!(
                "expected POD, TYPE/NAME, or TYPE NAME, (at most 2 arguments) saw {count}: [{words}]"
            )));
        }
    };
    if options.timeout.is_zero() {
        return Err(Failure::other("--pod-running-timeout must be higher than zero"));
    }
    let object = named(ctx, &target).await?;
    let pod = to_connect(ctx, object, options.timeout).await?;
    let phase = text(&pod, "/status/phase");
    if matches!(phase, "Succeeded" | "Failed") {
        return Err(Failure::other(format!(
            "cannot attach a container in a completed pod; current phase is {phase}"
        )));
    }
    let container =
        container_choice::choose(ctx, &pod, &options.container, options.quiet).map_err(|failure| {
            Failure::other(format!("cannot attach to the container: {}", failure.message()))
        })?;
    let has_terminal =
        container_choice::container(&pod, &container).is_some_and(|container| container["tty"] == true);
    if options.tty && !has_terminal && !options.quiet {
        let note = format!("error: Unable to use a TTY - container {container} did not allocate one");
        ctx.eprintln(&note);
    }
    let raw = wants_terminal(ctx, terminal, options.stdin, has_terminal, options.quiet);
    if !options.quiet {
        ctx.eprintln(
            "All commands and output from this session will be recorded in container logs, including credentials \
             and sensitive information passed through the command prompt.",
        );
        ctx.eprintln("If you don't see a command prompt, try pressing enter.");
    }
    let command = RemoteCommand {
        path: pod_path(&pod, "attach"),
        container: container.clone(),
        command: Vec::new(),
        has_stdin: options.stdin,
        is_terminal: raw,
    };
    let streams = command.start(ctx).await?;
    let mut input = LocalInput::default();
    let mut detached = None;
    if raw {
        input.sizes = Some(redrawn(terminal.make_raw()));
    }
    if options.stdin {
        let bytes = terminal.read_input();
        let (bytes, end) = if raw { until_keys(bytes, options.detach_keys.clone()) } else { (bytes, None) };
        (input.bytes, detached) = (Some(bytes), end);
    }
    let result = tokio::select! {
        result = streams.run(input, async |written| print(ctx, written)) => result,
        () = detach(detached) => Ok(0),
    };
    terminal.restore();
    let code = result?;
    if code != 0 {
        ctx.eprintln(&format!("command terminated with exit code {code}"));
    } else if raw && !options.quiet {
        let (name, namespace) = (text(&pod, "/metadata/name"), text(&pod, "/metadata/namespace"));
        ctx.println(&format!(
            "Session ended, resume using 'gantry attach {name} -c {container} -n {namespace} -i -t' command"
        ))?;
    }
    Ok(code)
}

/// Adds another size first, so that the process draws its screen again.
fn redrawn(mut sizes: mpsc::Receiver<TerminalSize>) -> mpsc::Receiver<TerminalSize> {
    let (sender, redrawn) = mpsc::channel(8);
    tokio::spawn(async move {
        let mut is_first = true;
        while let Some(size) = sizes.recv().await {
            let TerminalSize { width, height } = size;
            let other = TerminalSize { width: width.saturating_add(1), height: height.saturating_add(1) };
            if std::mem::replace(&mut is_first, false) && sender.send(other).await.is_err() {
                return;
            }
            if sender.send(size).await.is_err() {
                return;
            }
        }
    });
    redrawn
}

type EndOfSession = Option<tokio::sync::oneshot::Receiver<()>>;

/// Passes input on until the keys are pressed.
fn until_keys(mut bytes: mpsc::Receiver<Vec<u8>>, keys: Vec<u8>) -> (mpsc::Receiver<Vec<u8>>, EndOfSession) {
    let (sender, passed) = mpsc::channel(8);
    let (end, ended) = tokio::sync::oneshot::channel();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Some(bytes) = bytes.recv().await {
            let (passed, has_ended) = pass_until_keys(&mut held, &bytes, &keys);
            if !passed.is_empty() && sender.send(passed).await.is_err() {
                return;
            }
            if has_ended {
                let _ = end.send(());
                return;
            }
        }
        // The end of the input is not the end of the session.
        drop(sender);
        std::future::pending::<()>().await;
    });
    (passed, Some(ended))
}

/// Returns the bytes to pass on, and whether the keys were pressed. What may be the beginning of the keys is held back.
fn pass_until_keys(held: &mut Vec<u8>, bytes: &[u8], keys: &[u8]) -> (Vec<u8>, bool) {
    let mut passed = Vec::new();
    for byte in bytes {
        held.push(*byte);
        if !keys.is_empty() && held == keys {
            return (passed, true);
        }
        while !held.is_empty() && !keys.starts_with(held) {
            passed.push(held.remove(0));
        }
    }
    (passed, false)
}

async fn detach(ended: EndOfSession) {
    let Some(ended) = ended else { return std::future::pending().await };
    if ended.await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detach_keys_end_a_session_and_other_input_is_passed_on() {
        let mut held = Vec::new();
        assert_eq!(pass_until_keys(&mut held, b"ls\x10", &[16, 17]), (b"ls".to_vec(), false));
        assert_eq!(pass_until_keys(&mut held, b"x\x10\x10", &[16, 17]), (b"\x10x\x10".to_vec(), false));
        assert_eq!(pass_until_keys(&mut held, b"\x11rest", &[16, 17]), (vec![], true));
    }
}
