//! A scripted node agent: logs, commands and ports, over SPDY like a kubelet.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use gantry_apiserver::{
    Body, NodeConnector, NodeError, NodeResponse, NodeTarget, ProxyDestination, RequestStream,
};
use gantry_json::json;
use http::{Request, Response};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

/// The agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agent(Arc<State>);

#[derive(Debug, Default)]
struct State {
    requests: Mutex<Vec<String>>,
    /// The standard input of commands.
    pub(crate) input: Mutex<Vec<u8>>,
    /// The output of `tar cf`.
    archive: Mutex<Vec<u8>>,
}

impl Agent {
    /// The requests since the last call, as received by the agent.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.requests.lock().unwrap())
    }

    /// The standard input of commands since the last call.
    pub(crate) fn input(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.input.lock().unwrap())
    }

    /// Sets the output of `tar cf`.
    pub(crate) fn sends(&self, archive: Vec<u8>) {
        *self.0.archive.lock().unwrap() = archive;
    }
}

impl NodeConnector for Agent {
    fn send<'a>(&'a self, _: NodeTarget<'a>, request: Request<()>) -> NodeResponse<'a> {
        self.0.requests.lock().unwrap().push(request.uri().to_string());
        Box::pin(async move {
            if request.uri().path().starts_with("/containerLogs/") {
                let container = request.uri().path().rsplit('/').next().unwrap().to_owned();
                let text = format!("{container} one\n{container} two\n");
                return Ok(Response::new(Body::Whole(Some(Bytes::from(text)))));
            }
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            let target = percent_decoded(&request.uri().to_string());
            tokio::spawn(serve(theirs, target, self.0.clone()));
            let response = gantry_client::forward(ours, request).await;
            let response = response.map_err(|error| NodeError::Failed(error.to_string()))?;
            Ok(response.map(|_| Body::Whole(None)))
        })
    }

    fn proxy(&self, _: ProxyDestination, _: Request<RequestStream>) -> NodeResponse<'_> {
        Box::pin(std::future::ready(Err(NodeError::NoAgent)))
    }
}

fn percent_decoded(text: &str) -> String {
    gantry_formats::percent::decode_path(text).into_owned()
}

/// Serves one connection: the upgrade, then streams.
async fn serve(io: DuplexStream, target: String, state: Arc<State>) {
    let mut io = BufReader::new(io);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if io.read_line(&mut head).await.unwrap() == 0 {
            return;
        }
    }
    let head = head.to_lowercase();
    let protocol = head.lines().find_map(|line| line.strip_prefix("x-stream-protocol-version: ")).unwrap();
    assert!(!head.contains("authorization"), "{head}");
    let response = format!(
        "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: {protocol}\r\n\r\n"
    );
    io.write_all(response.as_bytes()).await.unwrap();
    let mut session = Session { io, streams: BTreeMap::new(), has_headers: false, target, state };
    // The client may close the connection at any time.
    let _ = session.run().await;
}

/// The streams of a connection, by their number.
struct Session {
    io: BufReader<DuplexStream>,
    streams: BTreeMap<u32, BTreeMap<String, String>>,
    has_headers: bool,
    target: String,
    state: Arc<State>,
}

impl Session {
    async fn run(&mut self) -> std::io::Result<()> {
        loop {
            let mut head = [0; 8];
            self.io.read_exact(&mut head).await?;
            let length = u32::from_be_bytes([0, head[5], head[6], head[7]]);
            let mut body = vec![0; usize::try_from(length).unwrap()];
            self.io.read_exact(&mut body).await?;
            if head[0] & 0x80 == 0 {
                let stream = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
                self.data(stream, &body, head[4] & 1 == 1).await?;
            } else if head[3] == 1 {
                let stream = u32::from_be_bytes(*body.first_chunk().unwrap());
                let headers = self.headers(&body[10..]);
                self.streams.insert(stream, headers);
                self.opened(stream).await?;
            }
        }
    }

    /// Reads headers that are not compressed.
    fn headers(&mut self, mut block: &[u8]) -> BTreeMap<String, String> {
        if !std::mem::replace(&mut self.has_headers, true) {
            assert_eq!(block[..6], [0x78, 0x20, 0xe3, 0xc6, 0xa7, 0xc2]);
            block = &block[6..];
        }
        assert!(block[0] == 0 && block.ends_with(&[0, 0, 0, 0xff, 0xff]));
        let mut block = &block[5..block.len() - 5];
        let number = |block: &mut &[u8]| {
            let (number, rest) = block.split_first_chunk().unwrap();
            *block = rest;
            usize::try_from(u32::from_be_bytes(*number)).unwrap()
        };
        let text = |block: &mut &[u8]| {
            let length = number(block);
            let (text, rest) = block.split_at(length);
            *block = rest;
            String::from_utf8(text.to_vec()).unwrap()
        };
        let count = u32::from_be_bytes(*block.first_chunk().unwrap());
        block = &block[4..];
        (0..count).map(|_| (text(&mut block), text(&mut block))).collect()
    }

    fn stream(&self, kind: &str) -> u32 {
        *self.streams.iter().find(|(_, headers)| headers["streamtype"] == kind).unwrap().0
    }

    async fn send(&mut self, stream: u32, data: &[u8], is_last: bool) -> std::io::Result<()> {
        let [_, high, middle, low] = u32::try_from(data.len()).unwrap().to_be_bytes();
        let mut frame = stream.to_be_bytes().to_vec();
        frame.extend([u8::from(is_last), high, middle, low]);
        frame.extend_from_slice(data);
        self.io.write_all(&frame).await
    }

    /// Ends a command with this exit code.
    async fn exit(&mut self, code: u8) -> std::io::Result<()> {
        for kind in ["stdout", "stderr"] {
            if self.streams.values().any(|headers| headers["streamtype"] == kind) {
                self.send(self.stream(kind), b"", true).await?;
            }
        }
        let causes = json!([{"reason": "ExitCode", "message": code.to_string()}]);
        let status = match code {
            0 => json!({"status": "Success"}),
            _ => json!({"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes}}),
        };
        self.send(self.stream("error"), status.to_string().as_bytes(), true).await
    }

    /// Handles a new stream; when the last one is open, a command starts.
    async fn opened(&mut self, stream: u32) -> std::io::Result<()> {
        let headers = &self.streams[&stream];
        if headers["streamtype"] == "data" {
            return self.connected(stream).await;
        }
        let last = if self.target.contains("tty=1") { "resize" } else { "stderr" };
        if self.target.starts_with("/portForward/") || headers["streamtype"] != last {
            return Ok(());
        }
        let (_, query) = self.target.split_once('?').unwrap();
        let words: Vec<_> = query.split('&').filter_map(|word| word.strip_prefix("command=")).collect();
        match words.as_slice() {
            ["fail"] => {
                self.send(self.stream("stdout"), b"out\n", false).await?;
                self.send(self.stream("stderr"), b"err\n", false).await?;
                self.exit(3).await
            }
            ["test", "-d", path] => {
                let is_directory = *path == "/dir";
                self.exit(u8::from(!is_directory)).await
            }
            ["tar", "cf", "-", _] => {
                let archive = self.state.archive.lock().unwrap().clone();
                for chunk in archive.chunks(1000) {
                    self.send(self.stream("stdout"), chunk, false).await?;
                }
                self.exit(0).await
            }
            ["true"] => self.exit(0).await,
            ["crash"] => Err(std::io::ErrorKind::BrokenPipe.into()),
            // The others wait for input.
            _ => Ok(()),
        }
    }

    /// A connection to a port: port 1 refuses it, all others return the data in capital letters.
    async fn connected(&mut self, stream: u32) -> std::io::Result<()> {
        let headers = self.streams[&stream].clone();
        if headers["port"] != "1" {
            return Ok(());
        }
        let errors = self
            .streams
            .iter()
            .find(|(_, other)| other["streamtype"] == "error" && other["requestid"] == headers["requestid"]);
        let errors = *errors.unwrap().0;
        self.send(stream, b"", true).await?;
        self.send(errors, b"connection refused", true).await
    }

    async fn data(&mut self, stream: u32, data: &[u8], is_last: bool) -> std::io::Result<()> {
        let headers = self.streams[&stream].clone();
        match headers["streamtype"].as_str() {
            "stdin" | "resize" => {
                self.state.input.lock().unwrap().extend_from_slice(data);
                let is_echoed = self.target.contains("command=cat") || self.target.starts_with("/attach/");
                if is_echoed && headers["streamtype"] == "stdin" && !data.is_empty() {
                    self.send(self.stream("stdout"), data, false).await?;
                }
                if is_last || data.ends_with(b"exit\r") { self.exit(0).await } else { Ok(()) }
            }
            "data" => {
                let errors = self.streams.iter().find(|(_, other)| {
                    other["streamtype"] == "error" && other.get("requestid") == headers.get("requestid")
                });
                let errors = *errors.unwrap().0;
                self.send(stream, &data.to_ascii_uppercase(), is_last).await?;
                if is_last { self.send(errors, b"", true).await } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }
}
