//! Somebody at a terminal who talks to one server: requests out, answers in, lines printed.
//!
//! The only place in this crate where anything is sent or printed.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use gantry_registry::Moment;
use http::{HeaderMap, Response};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::call::{Call, DISCOVERY};
use crate::failure::{Failure, Refused};
use crate::field::{list, text};
use crate::resources::{Resource, Resources};
use crate::unreachable;

/// A session with a server.
pub struct Session {
    client: Client,
    server: String,
    /// The namespace that is meant when none is named.
    pub namespace: String,
    /// Whether that namespace was asked for, and not just a default.
    pub namespace_was_asked_for: bool,
    screen: Screen,
    clock: fn() -> Moment,
    resources: Option<Resources>,
    began: Instant,
    has_printed_yaml: bool,
    /// A line to print before the first change.
    notice: Option<String>,
}

/// How long somebody waits for the first line before it seems slow.
const PATIENCE: Duration = Duration::from_millis(100);

/// Where lines go: data and talk.
pub struct Screen {
    /// Standard output.
    pub out: Box<dyn Write + Send>,
    /// Standard error.
    pub err: Box<dyn Write + Send>,
}

/// The changes that a server tells of, one after the other.
pub(crate) struct Changes {
    body: Body,
    read: Vec<u8>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("server", &self.server)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Screen")
    }
}

impl Session {
    /// A session over this client, whose server is called so in errors.
    pub fn new(client: Client, server: impl Into<String>, screen: Screen, clock: fn() -> Moment) -> Self {
        let namespace = client.default_namespace().to_owned();
        let server = server.into();
        Self {
            client,
            server,
            namespace,
            namespace_was_asked_for: false,
            screen,
            clock,
            resources: None,
            began: Instant::now(),
            has_printed_yaml: false,
            notice: None,
        }
    }

    /// Prints this line on standard error before the first request that changes something.
    pub fn with_notice_of_changes(mut self, notice: Option<String>) -> Self {
        self.notice = notice;
        self
    }

    /// Works in this namespace.
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self.namespace_was_asked_for = true;
        self
    }

    /// The address of the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// What time it is.
    pub(crate) fn now(&self) -> Moment {
        (self.clock)()
    }

    /// Whether somebody has waited so long that what is known should be shown.
    pub(crate) fn has_kept_waiting(&self) -> bool {
        self.began.elapsed() >= PATIENCE
    }

    /// Prints data.
    pub(crate) fn print(&mut self, data: &str) -> Result<(), Failure> {
        let written = self.screen.out.write_all(data.as_bytes()).and_then(|()| self.screen.out.flush());
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Failure::NobodyReads,
            _ => Failure::other(format!("cannot write: {error}")),
        })
    }

    /// Prints an object of several as YAML, parted from the one before.
    pub(crate) fn print_yaml(&mut self, document: &str) -> Result<(), Failure> {
        if std::mem::replace(&mut self.has_printed_yaml, true) {
            self.say("---")?;
        }
        self.print(document)
    }

    /// Prints a line of data.
    pub(crate) fn say(&mut self, line: &str) -> Result<(), Failure> {
        self.print(&format!("{line}\n"))
    }

    /// Prints a line of talk. If nobody hears it, nothing is lost.
    pub(crate) fn tell(&mut self, line: &str) {
        let _ = writeln!(self.screen.err, "{line}");
    }

    /// Prints what people should know.
    pub(crate) fn warn(&mut self, warnings: &[String]) {
        for warning in warnings {
            self.tell(warning);
        }
    }

    /// Asks the server.
    pub(crate) async fn ask(&mut self, call: Call) -> Result<Value, Failure> {
        let response = self.send(&call).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await;
        let bytes = bytes.map_err(|error| unreachable::failure(&error, &self.server))?.to_bytes();
        let parsed = serde_json::from_slice::<Value>(&bytes);
        match parsed {
            Ok(answer) if status.is_success() => Ok(answer),
            Ok(answer) if answer["kind"] == "Status" => {
                Err(Failure::Refused(Refused { status: answer, doing: String::new() }))
            }
            _ if status.is_success() => Ok(Value::String(String::from_utf8_lossy(&bytes).into_owned())),
            _ => Err(Failure::Refused(Refused {
                status: without_status(status, &bytes),
                doing: String::new(),
            })),
        }
    }

    /// Asks the server to tell of changes.
    pub(crate) async fn watch(&mut self, call: Call) -> Result<Changes, Failure> {
        let response = self.send(&call.with("watch", "true")).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(Changes { body: response.into_body(), read: Vec::new() });
        }
        let bytes =
            response.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let answer = serde_json::from_slice(&bytes).unwrap_or_else(|_| without_status(status, &bytes));
        Err(Failure::Refused(Refused { status: answer, doing: String::new() }))
    }

    /// The types that the server has.
    pub(crate) async fn resources(&mut self) -> Result<Resources, Failure> {
        if let Some(known) = &self.resources {
            return Ok(known.clone());
        }
        let core = self.ask(Call::get("/api").accepting(DISCOVERY)).await?;
        let groups = self.ask(Call::get("/apis").accepting(DISCOVERY)).await?;
        let resources = if groups["kind"] == "APIGroupDiscoveryList" {
            Resources::from_discovery(&[core, groups])
        } else {
            self.one_by_one(&groups).await?
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
        self.ask(Call::get(resource.object(namespace, name))).await
    }

    /// Discovery as servers did it before 1.26: a request for each group.
    async fn one_by_one(&mut self, groups: &Value) -> Result<Resources, Failure> {
        let mut documents = vec![self.ask(Call::get("/api/v1")).await?];
        for group in list(groups, "/groups") {
            let path = format!("/apis/{}", text(group, "/preferredVersion/groupVersion"));
            documents.push(self.ask(Call::get(path)).await?);
        }
        Ok(Resources::from_group_versions(&documents))
    }

    async fn send(&mut self, call: &Call) -> Result<Response<Body>, Failure> {
        if call.lacks_name() {
            return Err(Failure::unnamed());
        }
        if let Some(notice) = self.notice.take_if(|_| call.is_change()) {
            self.tell(&notice);
        }
        let response = self.client.send(call.request()).await;
        let response = response.map_err(|error| unreachable::failure(&error, &self.server))?;
        for warning in warnings(response.headers()) {
            self.tell(&format!("Warning: {warning}"));
        }
        Ok(response)
    }
}

impl Changes {
    /// The next change; none when the server ends the watch.
    pub(crate) async fn next(&mut self) -> Result<Option<Value>, Failure> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                let change: Value = serde_json::from_slice(&line)
                    .map_err(|error| Failure::other(format!("the server sent no change: {error}")))?;
                if change["type"] == "ERROR" {
                    return Err(Failure::Refused(Refused {
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

/// What an answer stands for that is no `Status`.
fn without_status(code: http::StatusCode, body: &[u8]) -> Value {
    let said = String::from_utf8_lossy(body).trim().to_owned();
    let message = match said.as_str() {
        "" => format!("the server answered {code}"),
        said => said.to_owned(),
    };
    json!({"kind": "Status", "reason": code.canonical_reason().unwrap_or("").replace(' ', ""), "message": message})
}

/// The texts of the warnings of an answer: `299 - "text"`.
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
