//! A process in a container, connected with streams of this side: `v4.channel.k8s.io` over SPDY (decision 0050).

use gantry_client::{ApiRequest, ByteReader, ByteWriter, StreamConnection};
use gantry_json::{Value, json};
use tokio::sync::mpsc;

use crate::client_context::ClientContext;
use crate::failure::Failure;

/// The subprotocol of the streams: one that reports exit codes and that every server supports.
const PROTOCOL: &str = "v4.channel.k8s.io";

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    /// The columns.
    pub width: u16,
    /// The rows.
    pub height: u16,
}

/// Standard input, and the terminal that it may be.
pub trait LocalTerminal: Send {
    /// Whether standard input is a terminal.
    fn is_terminal(&self) -> bool;
    /// Begins to read standard input; the channel ends with it.
    fn read_input(&mut self) -> mpsc::Receiver<Vec<u8>>;
    /// Switches the terminal to raw mode; returns its size now and whenever it changes.
    fn make_raw(&mut self) -> mpsc::Receiver<TerminalSize>;
    /// Switches back, if it is in raw mode.
    fn restore(&mut self);
}

/// What to run or attach to.
#[derive(Clone, Debug)]
pub(super) struct RemoteCommand {
    /// The path of the subresource: `…/exec` or `…/attach`.
    pub(super) path: String,
    pub(super) container: String,
    /// The command; empty to attach.
    pub(super) command: Vec<String>,
    pub(super) has_stdin: bool,
    /// In a terminal, standard error is part of standard output.
    pub(super) is_terminal: bool,
}

/// The input of this side.
#[derive(Default)]
pub(super) struct LocalInput {
    pub(super) bytes: Option<mpsc::Receiver<Vec<u8>>>,
    pub(super) sizes: Option<mpsc::Receiver<TerminalSize>>,
}

/// Bytes that a process writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written<'a> {
    Out(&'a [u8]),
    Err(&'a [u8]),
}

/// The streams of a process.
pub(super) struct RemoteStreams {
    connection: StreamConnection,
    status: ByteReader,
    out: ByteReader,
    err: Option<ByteReader>,
    stdin: Option<ByteWriter>,
    resize: Option<ByteWriter>,
    /// The unused halves of streams, which must live as long as the process.
    _unused: Vec<ByteWriter>,
}

impl RemoteCommand {
    /// Starts the process.
    pub(super) async fn start(&self, ctx: &mut ClientContext) -> Result<RemoteStreams, Failure> {
        let flag = |is_set: bool| if is_set { "true" } else { "" };
        let request = ApiRequest::connect(self.path.clone())
            .with_each("command", &self.command)
            .with("container", self.container.clone())
            .with("stderr", flag(!self.is_terminal))
            .with("stdin", flag(self.has_stdin))
            .with("stdout", "true")
            .with("tty", flag(self.is_terminal));
        let connection = ctx.open_streams(&request, PROTOCOL).await?;
        let lost = |error: std::io::Error| Failure::other(format!("error creating stream: {error}"));
        let mut unused = Vec::new();
        let status = connection.open(&[("streamtype", "error")]).await.map_err(lost)?;
        unused.push(status.writer);
        let stdin = if self.has_stdin {
            Some(connection.open(&[("streamtype", "stdin")]).await.map_err(lost)?.writer)
        } else {
            None
        };
        let out = connection.open(&[("streamtype", "stdout")]).await.map_err(lost)?;
        unused.push(out.writer);
        let (mut err, mut resize) = (None, None);
        if self.is_terminal {
            resize = Some(connection.open(&[("streamtype", "resize")]).await.map_err(lost)?.writer);
        } else {
            let stream = connection.open(&[("streamtype", "stderr")]).await.map_err(lost)?;
            unused.push(stream.writer);
            err = Some(stream.reader);
        }
        let (status, out) = (status.reader, out.reader);
        Ok(RemoteStreams { connection, status, out, err, stdin, resize, _unused: unused })
    }
}

impl RemoteStreams {
    /// Passes input and output on until the process ends; returns its exit code.
    pub(super) async fn run(
        mut self,
        input: LocalInput,
        mut write: impl AsyncFnMut(Written<'_>) -> Result<(), Failure>,
    ) -> Result<u8, Failure> {
        // Concurrently with the output: a process whose output is not read may stop reading input.
        let pumps = [
            self.stdin.take().zip(input.bytes).map(|(stdin, bytes)| tokio::spawn(send_input(stdin, bytes))),
            self.resize
                .take()
                .zip(input.sizes)
                .map(|(resize, sizes)| tokio::spawn(send_sizes(resize, sizes))),
        ];
        let result = self.receive(&mut write).await;
        for pump in pumps.into_iter().flatten() {
            pump.abort();
        }
        result
    }

    async fn receive(
        &mut self,
        write: &mut impl AsyncFnMut(Written<'_>) -> Result<(), Failure>,
    ) -> Result<u8, Failure> {
        let (mut has_out, mut has_err) = (true, self.err.is_some());
        while has_out || has_err {
            tokio::select! {
                bytes = self.out.next(), if has_out => match bytes {
                    Some(bytes) => write(Written::Out(&bytes)).await?,
                    None => has_out = false,
                },
                bytes = next(self.err.as_mut()), if has_err => match bytes {
                    Some(bytes) => write(Written::Err(&bytes)).await?,
                    None => has_err = false,
                },
            }
        }
        let status = self.status.to_end().await;
        if status.is_empty() && self.connection.is_closed() {
            return Err(Failure::other("lost connection to the container"));
        }
        exit_code(&status)
    }
}

async fn next(reader: Option<&mut ByteReader>) -> Option<impl std::ops::Deref<Target = [u8]>> {
    reader?.next().await
}

async fn send_input(mut stdin: ByteWriter, mut bytes: mpsc::Receiver<Vec<u8>>) {
    while let Some(bytes) = bytes.recv().await {
        if stdin.write(&bytes).await.is_err() {
            return;
        }
    }
    let _ = stdin.finish().await;
}

async fn send_sizes(mut resize: ByteWriter, mut sizes: mpsc::Receiver<TerminalSize>) {
    while let Some(TerminalSize { width, height }) = sizes.recv().await {
        let size = json!({"Width": width, "Height": height});
        if resize.write(format!("{size}\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The exit code in the final status of a process, or why there is none.
fn exit_code(status: &[u8]) -> Result<u8, Failure> {
    if status.is_empty() {
        return Ok(0);
    }
    let Ok(status) = gantry_json::from_slice::<Value>(status) else {
        let text = String::from_utf8_lossy(status).trim_end().to_owned();
        return Err(Failure::other(format!("error stream protocol error: {text}")));
    };
    if status["status"] == "Success" {
        return Ok(0);
    }
    if status["reason"] == "NonZeroExitCode" {
        let causes = status["details"]["causes"].as_array().map_or(&[][..], Vec::as_slice);
        let code = causes.iter().find(|cause| cause["reason"] == "ExitCode");
        if let Some(code) = code.and_then(|cause| cause["message"].as_str()?.parse().ok()) {
            return Ok(code);
        }
    }
    Err(Failure::other(status["message"].as_str().unwrap_or("the command failed")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_status_has_the_exit_code() {
        let code = |status: &str| exit_code(status.as_bytes()).map_err(|failure| failure.lines());
        assert_eq!(code(r#"{"metadata":{},"status":"Success"}"#), Ok(0));
        assert_eq!(code(""), Ok(0));
        let failed = r#"{"status":"Failure","message":"command terminated with non-zero exit code","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}"#;
        assert_eq!(code(failed), Ok(3));
        let broken = r#"{"status":"Failure","message":"Internal error occurred: no such file","reason":"InternalError"}"#;
        assert_eq!(code(broken), Err("error: Internal error occurred: no such file\n".to_owned()));
        assert_eq!(code("nonsense\n"), Err("error: error stream protocol error: nonsense\n".to_owned()));
    }
}
