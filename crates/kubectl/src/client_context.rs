//! The context of a command: the client of one server, the namespace, and the output streams.
//!
//! All requests are sent and all output is printed here.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use gantry_registry::Timestamp;
use http::{HeaderMap, Response};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::call::{Call, DISCOVERY};
use crate::connection_error;
use crate::failure::{Failure, StatusError};
use crate::field::{list, text};
use crate::resources::{Resource, Resources};

/// The client of one server, with defaults and output streams.
pub struct ClientContext {
    client: Client,
    server: String,
    /// The default namespace of the command.
    pub namespace: String,
    /// Whether the namespace was given by a flag.
    pub namespace_is_explicit: bool,
    streams: OutputStreams,
    clock: fn() -> Timestamp,
    resources: Option<Resources>,
    started: Instant,
    has_printed_yaml: bool,
    /// A line to print before the first change.
    notice: Option<String>,
}

/// How long pages are buffered before the first output.
const OUTPUT_DELAY: Duration = Duration::from_millis(100);

/// Standard output and standard error.
pub struct OutputStreams {
    /// Standard output.
    pub out: Box<dyn Write + Send>,
    /// Standard error.
    pub err: Box<dyn Write + Send>,
}

/// The events of a watch.
pub(crate) struct WatchStream {
    body: Body,
    read: Vec<u8>,
}

impl std::fmt::Debug for ClientContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("server", &self.server)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for OutputStreams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Screen")
    }
}

impl ClientContext {
    /// A context for this client; `server` is the address in error messages.
    pub fn new(
        client: Client,
        server: impl Into<String>,
        streams: OutputStreams,
        clock: fn() -> Timestamp,
    ) -> Self {
        let namespace = client.default_namespace().to_owned();
        let server = server.into();
        Self {
            client,
            server,
            namespace,
            namespace_is_explicit: false,
            streams,
            clock,
            resources: None,
            started: Instant::now(),
            has_printed_yaml: false,
            notice: None,
        }
    }

    /// Prints this line on standard error before the first request that changes something.
    pub fn with_change_notice(mut self, notice: Option<String>) -> Self {
        self.notice = notice;
        self
    }

    /// Sets the namespace.
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self.namespace_is_explicit = true;
        self
    }

    /// The address of the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The current time.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Whether the output delay has passed since the command started.
    pub(crate) fn is_past_output_delay(&self) -> bool {
        self.started.elapsed() >= OUTPUT_DELAY
    }

    /// Prints to standard output.
    pub(crate) fn print(&mut self, data: &str) -> Result<(), Failure> {
        let written = self.streams.out.write_all(data.as_bytes()).and_then(|()| self.streams.out.flush());
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::other(format!("cannot write: {error}")),
        })
    }

    /// Prints a YAML document, with a separator after the first one.
    pub(crate) fn print_yaml(&mut self, document: &str) -> Result<(), Failure> {
        if std::mem::replace(&mut self.has_printed_yaml, true) {
            self.println("---")?;
        }
        self.print(document)
    }

    /// Prints a line to standard output.
    pub(crate) fn println(&mut self, line: &str) -> Result<(), Failure> {
        self.print(&format!("{line}\n"))
    }

    /// Prints a line to standard error; write errors are ignored.
    pub(crate) fn eprintln(&mut self, line: &str) {
        let _ = writeln!(self.streams.err, "{line}");
    }

    /// Prints warnings to standard error.
    pub(crate) fn warn(&mut self, warnings: &[String]) {
        for warning in warnings {
            self.eprintln(warning);
        }
    }

    /// Sends a request and returns the decoded response.
    pub(crate) async fn request(&mut self, call: Call) -> Result<Value, Failure> {
        let response = self.send(&call).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await;
        let bytes = bytes.map_err(|error| connection_error::explain(&error, &self.server))?.to_bytes();
        let parsed = serde_json::from_slice::<Value>(&bytes);
        match parsed {
            Ok(answer) if status.is_success() => Ok(answer),
            Ok(answer) if answer["kind"] == "Status" => {
                Err(Failure::Status(StatusError { status: answer, doing: String::new() }))
            }
            _ if status.is_success() => Ok(Value::String(String::from_utf8_lossy(&bytes).into_owned())),
            _ => Err(Failure::Status(StatusError {
                status: status_of_body(status, &bytes),
                doing: String::new(),
            })),
        }
    }

    /// Starts a watch.
    pub(crate) async fn watch(&mut self, call: Call) -> Result<WatchStream, Failure> {
        let response = self.send(&call.with("watch", "true")).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(WatchStream { body: response.into_body(), read: Vec::new() });
        }
        let bytes =
            response.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let answer = serde_json::from_slice(&bytes).unwrap_or_else(|_| status_of_body(status, &bytes));
        Err(Failure::Status(StatusError { status: answer, doing: String::new() }))
    }

    /// The resource types of the server, by discovery.
    pub(crate) async fn resources(&mut self) -> Result<Resources, Failure> {
        if let Some(known) = &self.resources {
            return Ok(known.clone());
        }
        let core = self.request(Call::get("/api").accepting(DISCOVERY)).await?;
        let groups = self.request(Call::get("/apis").accepting(DISCOVERY)).await?;
        let resources = if groups["kind"] == "APIGroupDiscoveryList" {
            Resources::from_discovery(&[core, groups])
        } else {
            self.unaggregated_discovery(&groups).await?
        };
        self.resources = Some(resources.clone());
        Ok(resources)
    }

    /// One object.
    pub(crate) async fn object(
        &mut self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<Value, Failure> {
        self.request(Call::get(resource.object(namespace, name))).await
    }

    /// Discovery as servers did it before 1.26: a request for each group.
    async fn unaggregated_discovery(&mut self, groups: &Value) -> Result<Resources, Failure> {
        let mut documents = vec![self.request(Call::get("/api/v1")).await?];
        for group in list(groups, "/groups") {
            let path = format!("/apis/{}", text(group, "/preferredVersion/groupVersion"));
            documents.push(self.request(Call::get(path)).await?);
        }
        Ok(Resources::from_group_versions(&documents))
    }

    async fn send(&mut self, call: &Call) -> Result<Response<Body>, Failure> {
        if call.lacks_name() {
            return Err(Failure::unnamed());
        }
        if let Some(notice) = self.notice.take_if(|_| call.is_change()) {
            self.eprintln(&notice);
        }
        let response = self.client.send(call.request()).await;
        let response = response.map_err(|error| connection_error::explain(&error, &self.server))?;
        for warning in warnings(response.headers()) {
            self.eprintln(&format!("Warning: {warning}"));
        }
        Ok(response)
    }
}

impl WatchStream {
    /// The next change; none when the server ends the watch.
    pub(crate) async fn next(&mut self) -> Result<Option<Value>, Failure> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                let change: Value = serde_json::from_slice(&line)
                    .map_err(|error| Failure::other(format!("the server sent no change: {error}")))?;
                if change["type"] == "ERROR" {
                    return Err(Failure::Status(StatusError {
                        status: change["object"].clone(),
                        doing: String::new(),
                    }));
                }
                return Ok(Some(change));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    self.read.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data.as_ref()));
                }
                // A connection that breaks off ends a watch like a server does.
                Some(Err(_)) | None => return Ok(None),
            }
        }
    }
}

/// A `Status` for a response that is not one.
fn status_of_body(code: http::StatusCode, body: &[u8]) -> Value {
    let said = String::from_utf8_lossy(body).trim().to_owned();
    let message = match said.as_str() {
        "" => format!("the server answered {code}"),
        said => said.to_owned(),
    };
    json!({"kind": "Status", "reason": code.canonical_reason().unwrap_or("").replace(' ', ""), "message": message})
}

/// The texts of the `Warning` headers of a response: `299 - "text"`.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let texts = headers.get_all("warning").iter().filter_map(|value| value.to_str().ok());
    texts.filter_map(quoted).collect()
}

fn quoted(warning: &str) -> Option<String> {
    let inside = warning.split_once('"')?.1;
    let mut text = String::new();
    let mut letters = inside.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Some(text),
            '\\' => text.extend(letters.next()),
            other => text.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K1.7: the text of a warning stands between quotes.
    #[test]
    fn a_warning_is_unquoted() {
        assert_eq!(quoted(r#"299 - "say \"no\"""#).as_deref(), Some("say \"no\""));
        assert_eq!(quoted("299 - nothing"), None);
    }
}
