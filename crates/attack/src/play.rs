//! Sends a case to the server and checks the responses.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gantry_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::case::{Case, Message, Piece, Script, Step, Transport};
use crate::connection::{Connection, Endpoint, write_message};
use crate::http1::Response;
use crate::http2::{self, StatusReader};
use crate::server::Access;

/// The time limit of a request and the head of its response.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);
/// The time limit of reading a body, because the body of a watch has no end.
const BODY_LIMIT: Duration = Duration::from_secs(3);
const UNTIL_LIMIT: Duration = Duration::from_secs(5);
const UNTIL_PAUSE: Duration = Duration::from_millis(100);
/// The time after which a server that does not read a piece is given up.
const WRITE_LIMIT: Duration = Duration::from_secs(5);
/// A larger head of a response repeats too much of the request.
const HEAD_BYTES_LIMIT: usize = 64 << 10;

/// The server, and the user of the requests.
pub(crate) struct Target {
    pub(crate) access: Access,
    pub(crate) token: String,
}

/// The outcome of a case.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The number of responses with each status.
    pub(crate) statuses: BTreeMap<u16, usize>,
    /// The number of requests without a response: refused or broken connections, time limits.
    pub(crate) unanswered: usize,
    /// The behaviour of the server that is wrong.
    pub(crate) findings: Vec<String>,
}

impl Outcome {
    fn count(&mut self, message: &Message, response: &io::Result<Response>) {
        match response {
            Ok(response) => {
                *self.statuses.entry(response.status).or_default() += 1;
                self.findings.extend(finding_in(message, response));
            }
            Err(error) if error.to_string().contains("too large") => {
                self.findings.push(format!("{}: {error}", message.line()));
            }
            Err(_) => self.unanswered += 1,
        }
    }
}

/// Texts in errors without a reason that are errors of the server.
const BROKEN: &[&str] = &["cannot be read", "could not be signed", "not served"];

/// Whether a 500 is an error of the request: Kubernetes returns 500 for some bad requests, such as patches with
/// unknown directives, without a reason. Internal errors have one.
fn is_unclassified(response: &Response) -> bool {
    if response.body_bytes > response.body.len() {
        // The reason is after a very long message, and was not kept.
        return !response.text().contains("Internal error");
    }
    let Ok(status) = gantry_json::from_slice::<Value>(&response.body) else { return false };
    let message = status["message"].as_str().unwrap_or_default();
    status["kind"] == "Status"
        && status["reason"].is_null()
        && !BROKEN.iter().any(|words| message.contains(words))
}

/// Returns the error in a response, if there is one. 501 is allowed for what is not implemented, 503 for a busy server,
/// and 504 after a time limit.
fn finding_in(message: &Message, response: &Response) -> Option<String> {
    let line = message.line();
    if response.status >= 500 && !matches!(response.status, 501 | 503 | 504) {
        let text: String = response.text().chars().take(400).collect();
        if response.status == 500 && is_unclassified(response) {
            return None;
        }
        return Some(format!("{line}: answered {} {text}", response.status));
    }
    (response.head_bytes > HEAD_BYTES_LIMIT)
        .then(|| format!("{line}: answered with a head of {} bytes", response.head_bytes))
}

/// Plays a case and deletes what it created.
pub(crate) async fn play(target: &Arc<Target>, case: &Case) -> Outcome {
    let mut player = Player { target, connection: None, outcome: Outcome::default() };
    for step in &case.steps {
        match step {
            Step::Send(message) => player.send(message).await,
            Step::Until(message) => player.send_until(message).await,
            Step::Together { message, connections } => player.send_together(message, *connections).await,
            Step::Raw(script) => player.raw(script).await,
        }
    }
    clean(target, &case.created).await;
    player.outcome
}

struct Player<'t> {
    target: &'t Arc<Target>,
    connection: Option<Connection>,
    outcome: Outcome,
}

impl Player<'_> {
    async fn send(&mut self, message: &Message) {
        let response = self.response(message).await;
        self.outcome.count(message, &response);
    }

    async fn response(&mut self, message: &Message) -> io::Result<Response> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.target.access.plain).await?,
        };
        let (response, connection) = exchange(connection, message, &self.target.token).await?;
        self.connection = connection;
        Ok(response)
    }

    async fn send_until(&mut self, message: &Message) {
        let end = Instant::now() + UNTIL_LIMIT;
        while Instant::now() < end {
            if self.response(message).await.is_ok_and(|response| response.status == 200) {
                return;
            }
            sleep(UNTIL_PAUSE).await;
        }
    }

    async fn send_together(&mut self, message: &Message, connections: usize) {
        let mut tasks = JoinSet::new();
        for _ in 0..connections {
            let (target, message) = (Arc::clone(self.target), message.clone());
            tasks.spawn(async move {
                let connection = Connection::open(&target.access.plain).await?;
                Ok(exchange(connection, &message, &target.token).await?.0)
            });
        }
        while let Some(joined) = tasks.join_next().await {
            let response = joined.unwrap_or_else(|error| Err(io::Error::other(error)));
            self.outcome.count(message, &response);
        }
    }

    async fn raw(&mut self, script: &Script) {
        let internal_errors = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..script.connections {
            let (target, script) = (Arc::clone(self.target), script.clone());
            let internal_errors = Arc::clone(&internal_errors);
            tasks.spawn(async move {
                // Most of these cause the server to close the connection, which is not an error.
                let _ = run_script(&target, &script, &internal_errors).await;
            });
        }
        while tasks.join_next().await.is_some() {}
        let count = internal_errors.load(Ordering::Relaxed);
        if count > 0 {
            let what =
                format!("{count} responses with status 500 on raw connections ({:?})", script.transport);
            self.outcome.findings.push(what);
        }
    }
}

/// Sends a request; also returns the connection if it can be used again.
async fn exchange(
    mut connection: Connection,
    message: &Message,
    token: &str,
) -> io::Result<(Response, Option<Connection>)> {
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    let mut response = timeout(REQUEST_LIMIT, async {
        // The response may be sent before the whole body was sent, and then the rest is not read.
        let _ = timeout(REQUEST_LIMIT / 2, connection.write(message, token)).await;
        connection.read_head().await
    })
    .await
    .map_err(late)??;
    let read = timeout(BODY_LIMIT, connection.read_body(message.method, &mut response)).await;
    let is_whole = matches!(read, Ok(Ok(())));
    let keeps = is_whole && response.keeps_connection();
    Ok((response, keeps.then_some(connection)))
}

/// Deletes objects as the administrator, who has no limit of requests.
async fn clean(target: &Arc<Target>, paths: &[String]) {
    let mut connection: Option<Connection> = None;
    for path in paths {
        let open = match connection.take() {
            Some(open) => Ok(open),
            None => Connection::open(&target.access.admin).await,
        };
        let Ok(open) = open else { return };
        let message = Message::new("DELETE", format!("{path}?gracePeriodSeconds=0"));
        connection = exchange(open, &message, "").await.ok().and_then(|(_, connection)| connection);
    }
}

async fn run_script(target: &Target, script: &Script, internal_errors: &AtomicUsize) -> io::Result<()> {
    let endpoint = &target.access.plain;
    match script.transport {
        Transport::Tcp => {
            let socket = TcpStream::connect(&endpoint.address).await?;
            converse(socket, target, script, internal_errors).await;
        }
        Transport::Http1 => {
            let stream = endpoint.connect(b"http/1.1").await?;
            converse(stream, target, script, internal_errors).await;
        }
        Transport::Http2 => {
            let stream = endpoint.connect(b"h2").await?;
            converse(stream, target, script, internal_errors).await;
        }
    }
    Ok(())
}

/// Writes the pieces while the bytes from the server are read, if the script reads.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    target: &Target,
    script: &Script,
    internal_errors: &AtomicUsize,
) {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let reading = async {
        if script.is_read {
            read_statuses(&mut reader, script.transport, internal_errors).await;
        }
        std::future::pending::<()>().await;
    };
    let writing = async {
        for piece in &*script.pieces {
            let written = timeout(WRITE_LIMIT, write_piece(&mut writer, piece, target)).await;
            if !matches!(written, Ok(Ok(()))) {
                break;
            }
        }
        sleep(Duration::from_millis(script.hold_millis)).await;
    };
    tokio::select! {
        () = writing => {}
        () = reading => {}
    }
}

async fn write_piece(
    writer: &mut (impl AsyncWrite + Unpin),
    piece: &Piece,
    target: &Target,
) -> io::Result<()> {
    let Endpoint { address, .. } = &target.access.plain;
    match piece {
        Piece::Bytes(bytes) => writer.write_all(bytes).await?,
        Piece::Message(message) => write_message(writer, message, address, &target.token).await?,
        Piece::Headers { stream, method, path, ends } => {
            let authorization = format!("Bearer {}", target.token);
            let block = http2::encode_headers(&[
                (":method", method),
                (":scheme", "https"),
                (":path", path),
                (":authority", address),
                ("authorization", &authorization),
            ]);
            let flags = http2::END_HEADERS | if *ends { http2::END_STREAM } else { 0 };
            writer.write_all(&http2::frame(http2::HEADERS, flags, *stream, &block)).await?;
        }
        Piece::Pause { millis } => sleep(Duration::from_millis(*millis)).await,
    }
    writer.flush().await
}

async fn read_statuses(
    reader: &mut (impl AsyncRead + Unpin),
    transport: Transport,
    internal_errors: &AtomicUsize,
) {
    const INTERNAL_ERROR: &[u8] = b"HTTP/1.1 500";
    let (mut frames, mut buffer) = (StatusReader::default(), vec![0; 16 << 10]);
    loop {
        let Ok(count @ 1..) = reader.read(&mut buffer).await else { return };
        let bytes = &buffer[..count];
        let found = if transport == Transport::Http2 {
            frames.take(bytes);
            std::mem::take(&mut frames.internal_errors)
        } else {
            bytes.windows(INTERNAL_ERROR.len()).filter(|window| *window == INTERNAL_ERROR).count()
        };
        internal_errors.fetch_add(found, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_errors_and_large_heads_are_findings_and_a_busy_server_is_not() {
        let finding = |status: u16, head_bytes: usize| {
            finding_in(&Message::get("/a"), &Response { status, head_bytes, ..Response::default() })
        };
        assert_eq!(finding(500, 10).unwrap(), "GET /a (0 bytes): answered 500 ");
        assert!(finding(502, 10).is_some() && finding(200, HEAD_BYTES_LIMIT + 1).is_some());
        assert!([200, 400, 429, 501, 503, 504].iter().all(|status| finding(*status, 10).is_none()));
    }

    #[test]
    fn only_errors_about_the_request_may_lack_a_reason() {
        let is_finding = |body: &str| {
            let response =
                Response { status: 500, body: body.into(), body_bytes: body.len(), ..Response::default() };
            finding_in(&Message::get("/a"), &response).is_some()
        };
        assert!(!is_finding(r#"{"kind":"Status","message":"unknown patch type: x"}"#));
        assert!(is_finding(r#"{"kind":"Status","message":"a stored object cannot be read: x"}"#));
        assert!(is_finding(r#"{"kind":"Status","message":"x","reason":"InternalError"}"#));
    }
}
