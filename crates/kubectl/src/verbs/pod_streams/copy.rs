//! `cp`: files to and from containers, by the `tar` in the container.

mod archive;
mod channel_io;
mod paths;

use std::path::Path;
use std::time::Duration;

use gantry_client::ApiRequest;
use gantry_json::Value;
use tokio::sync::mpsc;

use super::container_choice;
use super::exec::{pod_path, print};
use super::remote_command::{LocalInput, RemoteCommand, Written};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::text;
use channel_io::{ChannelReader, ChannelWriter};
use paths::{FileSpec, base, clean, dir, without_parents};

/// The options of `cp`.
#[derive(Clone, Debug, Default)]
pub struct CopyOptions {
    /// Source and destination: `PATH`, `POD:PATH` or `NAMESPACE/POD:PATH`.
    pub words: Vec<String>,
    /// The container; empty for the default one.
    pub container: String,
    /// Whether ownership and permissions are not kept in the container.
    pub no_preserve: bool,
}

/// How long the container may take to say whether the destination is a directory.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);
const CHUNKS: usize = 16;

/// Copies files; returns the exit code of the command in the container.
pub async fn copy(ctx: &mut ClientContext, options: &CopyOptions) -> Result<u8, Failure> {
    let [source, destination] = options.words.as_slice() else {
        return Err(Failure::other("source and destination are required"));
    };
    let (source, destination) = (FileSpec::parse(source)?, FileSpec::parse(destination)?);
    if source.path.is_empty() || destination.path.is_empty() {
        return Err(Failure::other("filepath can not be empty"));
    }
    match (source.pod.clone(), destination.pod.clone()) {
        (Some(_), Some(_)) => Err(Failure::other("one of src or dest must be a local file specification")),
        (None, None) => Err(Failure::other("one of src or dest must be a remote file specification")),
        (Some(pod), None) => from_pod(ctx, &pod, &source, &destination.path, options).await,
        (None, Some(pod)) => to_pod(ctx, &source.path, &pod, &destination, options).await,
    }
}

/// A container that commands are run in.
struct ContainerTarget {
    pod: Value,
    container: String,
}

impl ContainerTarget {
    async fn find(
        ctx: &mut ClientContext,
        name: &str,
        spec: &FileSpec,
        options: &CopyOptions,
    ) -> Result<Self, Failure> {
        let namespace = spec.namespace.clone().unwrap_or_else(|| ctx.namespace.clone());
        let pod = ctx.request(ApiRequest::get(format!("/api/v1/namespaces/{namespace}/pods/{name}"))).await?;
        let phase = text(&pod, "/status/phase");
        if matches!(phase, "Succeeded" | "Failed") {
            return Err(Failure::other(format!(
                "cannot exec into a container in a completed pod; current phase is {phase}"
            )));
        }
        let container = container_choice::choose(ctx, &pod, &options.container, false)?;
        Ok(Self { pod, container })
    }

    fn command(&self, words: &[&str], has_stdin: bool) -> RemoteCommand {
        RemoteCommand {
            path: pod_path(&self.pod, "exec"),
            container: self.container.clone(),
            command: words.iter().map(|word| (*word).to_owned()).collect(),
            has_stdin,
            is_terminal: false,
        }
    }

    async fn is_directory(&self, ctx: &mut ClientContext, path: &str) -> Result<bool, Failure> {
        let streams = self.command(&["test", "-d", path], false).start(ctx).await?;
        let check = streams.run(LocalInput::default(), async |_| Ok(()));
        match tokio::time::timeout(CHECK_TIMEOUT, check).await {
            // Without `test` in the container, the destination is taken for a file.
            Ok(code) => Ok(code.is_ok_and(|code| code == 0)),
            Err(_) => Err(Failure::other("context deadline exceeded")),
        }
    }
}

async fn to_pod(
    ctx: &mut ClientContext,
    source: &str,
    pod: &str,
    destination: &FileSpec,
    options: &CopyOptions,
) -> Result<u8, Failure> {
    if std::fs::metadata(source).is_err() {
        return Err(Failure::other(format!("{source} doesn't exist in local filesystem")));
    }
    let container = ContainerTarget::find(ctx, pod, destination, options).await?;
    let mut target = clean(&destination.path);
    if container.is_directory(ctx, &target).await? {
        target = clean(&format!("{target}/{}", base(&clean(source))));
    }
    let mut command = if options.no_preserve {
        vec!["tar", "--no-same-permissions", "--no-same-owner", "-xmf", "-"]
    } else {
        vec!["tar", "-xmf", "-"]
    };
    let directory = dir(&target);
    if !directory.is_empty() {
        command.extend(["-C", &directory]);
    }
    let streams = container.command(&command, true).start(ctx).await?;
    let (sender, bytes) = mpsc::channel(CHUNKS);
    let (from, name) = (source.to_owned(), base(&target));
    let packing = tokio::task::spawn_blocking(move || {
        archive::pack(Path::new(&from), &name, ChannelWriter::new(sender))
    });
    let input = LocalInput { bytes: Some(bytes), ..LocalInput::default() };
    let result = streams.run(input, async |written| print(ctx, written)).await;
    let packed = packing.await.map_err(|error| Failure::other(error.to_string()))?;
    match (ended(ctx, result)?, packed) {
        (0, Err(error)) => Err(Failure::other(error.to_string())),
        (code, _) => Ok(code),
    }
}

async fn from_pod(
    ctx: &mut ClientContext,
    pod: &str,
    source: &FileSpec,
    destination: &str,
    options: &CopyOptions,
) -> Result<u8, Failure> {
    let container = ContainerTarget::find(ctx, pod, source, options).await?;
    let streams = container.command(&["tar", "cf", "-", &source.path], false).start(ctx).await?;
    let (sender, bytes) = mpsc::channel(CHUNKS);
    let prefix = without_parents(&clean(source.path.trim_start_matches('/')));
    let to = destination.to_owned();
    let namespace = source.namespace.clone().unwrap_or_default();
    let hint = format!(
        "consider using \"gantry exec -n {namespace:?} {pod:?} -- tar cf - {:?} | tar xf -\"",
        source.path
    );
    let unpacking = tokio::task::spawn_blocking(move || {
        archive::unpack(ChannelReader::new(bytes), &prefix, Path::new(&to), &hint)
    });
    let result = streams
        .run(LocalInput::default(), async |written| match written {
            // The receiver is dropped if it could not write a file.
            Written::Out(bytes) => sender.send(bytes.to_vec()).await.map_err(|_| Failure::BrokenPipe),
            // kubectl prints the errors of `tar` there.
            Written::Err(bytes) => ctx.print_bytes(bytes),
        })
        .await;
    drop(sender);
    let unpacked = unpacking.await.map_err(|error| Failure::other(error.to_string()))?;
    match (result, unpacked) {
        (Err(Failure::BrokenPipe) | Ok(0), Err(error)) => Err(Failure::other(error.to_string())),
        (result, unpacked) => {
            for note in unpacked.unwrap_or_default() {
                ctx.eprintln(&note);
            }
            ended(ctx, result)
        }
    }
}

/// Prints the exit code of a command that failed.
fn ended(ctx: &mut ClientContext, result: Result<u8, Failure>) -> Result<u8, Failure> {
    let code = result?;
    if code != 0 {
        ctx.eprintln(&format!("command terminated with exit code {code}"));
    }
    Ok(code)
}
