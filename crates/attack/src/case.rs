//! A case as a value, generated from a seed before anything is sent.

use std::fmt;
use std::sync::Arc;

use crate::families::Family;

/// A family and a seed, which determine the whole case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CaseId {
    pub(crate) family: Family,
    pub(crate) seed: u64,
}

/// The steps, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    pub(crate) id: CaseId,
    pub(crate) steps: Vec<Step>,
    /// The paths of objects that are deleted afterwards.
    pub(crate) created: Vec<String>,
}

/// One step of a case.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Sends a request, and reads and checks the response.
    Send(Message),
    /// Sends a request repeatedly until it gets status 200, for a few seconds at most.
    Until(Message),
    /// Sends a request on many connections at the same time.
    Together { message: Message, connections: usize },
    /// Writes any bytes to connections, valid HTTP or not.
    Raw(Script),
}

/// An HTTP/1.1 request. The header `host` and the token are added when it is sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Arc<[u8]>,
    pub(crate) is_authenticated: bool,
}

/// The bytes that are written to each of several connections, all open at the same time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Script {
    pub(crate) transport: Transport,
    pub(crate) connections: usize,
    pub(crate) pieces: Arc<[Piece]>,
    /// Whether the bytes from the server are read. If not, they stay in the buffers of the system and of the server.
    pub(crate) is_read: bool,
    /// How long the connections stay open after the last piece.
    pub(crate) hold_millis: u64,
}

/// How a raw connection is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// Without TLS, although the server expects it.
    Tcp,
    Http1,
    Http2,
}

/// A part of a script.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    Bytes(Vec<u8>),
    /// A whole HTTP/1.1 request.
    Message(Message),
    /// A HEADERS frame of HTTP/2.
    Headers {
        stream: u32,
        method: &'static str,
        path: String,
        ends: bool,
    },
    Pause {
        millis: u64,
    },
}

impl Message {
    pub(crate) fn new(method: &'static str, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), headers: Vec::new(), body: Arc::default(), is_authenticated: true }
    }

    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self::new("GET", path)
    }

    /// Returns the request with a body of a content type.
    pub(crate) fn with(self, content_type: &str, body: impl Into<Arc<[u8]>>) -> Self {
        Self { body: body.into(), ..self }.header("content-type", content_type)
    }

    /// Returns the request with one more header.
    pub(crate) fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Returns the request without a token.
    pub(crate) fn anonymous(self) -> Self {
        Self { is_authenticated: false, ..self }
    }

    /// Returns the request as one short line.
    pub(crate) fn line(&self) -> String {
        let path: String = self.path.chars().take(200).collect();
        format!("{} {path} ({} bytes)", self.method, self.body.len())
    }
}

impl Script {
    /// Returns a script for one connection whose responses are read.
    pub(crate) fn new(transport: Transport, pieces: Vec<Piece>) -> Self {
        Self { transport, connections: 1, pieces: pieces.into(), is_read: true, hold_millis: 0 }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send(message) => write!(f, "{message}"),
            Self::Until(message) => write!(f, "until it succeeds: {message}"),
            Self::Together { message, connections } => write!(f, "{connections} times at once: {message}"),
            Self::Raw(script) => {
                let Script { transport, connections, is_read, hold_millis, pieces } = script;
                let reading = if *is_read { "read" } else { "not read" };
                write!(
                    f,
                    "{connections} connections ({transport:?}), {reading}, held for {hold_millis} ms:"
                )?;
                pieces.iter().try_for_each(|piece| write!(f, " {piece}"))
            }
        }
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "[{} bytes, {}]", bytes.len(), start(bytes)),
            Self::Message(message) => write!(f, "[{message}]"),
            Self::Headers { stream, method, path, .. } => write!(f, "[stream {stream}: {method} {path}]"),
            Self::Pause { millis } => write!(f, "[{millis} ms]"),
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.line())?;
        for (name, value) in &self.headers {
            write!(f, " {name}: {}", start(value))?;
        }
        if self.body.is_empty() { Ok(()) } else { write!(f, " {}", start(&self.body)) }
    }
}

/// Returns the start of bytes as text in one line.
fn start(bytes: &[u8]) -> String {
    const SHOWN_BYTES: usize = 100;
    bytes[..bytes.len().min(SHOWN_BYTES)].escape_ascii().to_string()
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.family.name(), self.seed)
    }
}
