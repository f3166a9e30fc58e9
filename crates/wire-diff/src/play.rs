//! Sends a case to a server, in a namespace of its own, and removes what it created.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gantry_json::Value;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::case::{Body, Case, JSON, MERGE, Request, Step};
use crate::server::{Events, Message, Server};
use crate::trace::{Exchange, Trace, now};

/// How long a watch must be silent until the case assumes that no more events follow.
const QUIET: Duration = Duration::from_millis(400);
/// How long a changed CustomResourceDefinition has to take effect.
const SETTLE: Duration = Duration::from_millis(700);
const SERVED_LIMIT: Duration = Duration::from_secs(10);
const WATCH_END_LIMIT: Duration = Duration::from_secs(15);

/// Plays a case and returns its trace. The error is about the play, such as a server that cannot be reached.
pub(crate) async fn play(server: &Server, case: &Case) -> Result<Trace, String> {
    let mut play = Play {
        server,
        namespace: unique_namespace(),
        exchanges: Vec::new(),
        watches: Vec::new(),
        created: Vec::new(),
    };
    let done = play.run(case).await;
    play.finish_watches().await;
    play.clean().await;
    done?;
    let Play { namespace, exchanges, .. } = play;
    Ok(Trace { exchanges, namespace, address: server.address.clone() })
}

struct Play<'a> {
    server: &'a Server,
    namespace: String,
    exchanges: Vec<Exchange>,
    watches: Vec<OpenWatch>,
    /// The paths of created objects, in order.
    created: Vec<String>,
}

struct OpenWatch {
    exchange: usize,
    events: Arc<Mutex<Vec<Value>>>,
    /// Ends when the server ends the watch.
    reader: JoinHandle<()>,
}

impl Play<'_> {
    async fn run(&mut self, case: &Case) -> Result<(), String> {
        self.create_namespace().await?;
        for step in &case.steps {
            match step {
                Step::Send(request) => {
                    let message = self.filled(request);
                    let response = self.server.send(&message).await;
                    self.record_created(&message, &response);
                    self.exchanges.push(response);
                }
                Step::Watch(request) => {
                    let (response, events) = self.server.watch(&self.filled(request)).await;
                    if let Some(events) = events {
                        self.watches.push(read_in_background(self.exchanges.len(), events));
                    }
                    self.exchanges.push(response);
                }
                Step::WatchEnds => self.wait_for_watch_end().await,
                Step::Served { definition, resource } => self.wait_until_served(definition, resource).await,
                Step::Settle => sleep(SETTLE).await,
            }
        }
        Ok(())
    }

    async fn create_namespace(&self) -> Result<(), String> {
        let body = gantry_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}});
        let response = self.server.send(&message("POST", "/api/v1/namespaces", JSON, &body)).await;
        if response.status != 201 {
            return Err(format!(
                "cannot create namespace {}: {} {}",
                self.namespace, response.status, response.body
            ));
        }
        Ok(())
    }

    fn filled(&self, request: &Request) -> Message {
        let body = match &request.body {
            Body::None => Vec::new(),
            Body::Json(value) => self.fill(&value.to_string()).into_bytes(),
            Body::Text(text) => self.fill(text).into_bytes(),
        };
        let path = self.fill(&request.path);
        Message {
            method: request.method,
            path,
            accept: request.accept,
            content_type: request.content_type,
            body,
        }
    }

    /// Replaces the placeholders of a string. A value that the response does not contain is replaced by an empty
    /// string.
    fn fill(&self, text: &str) -> String {
        let mut filled = text.replace("{ns}", &self.namespace);
        for (name, pointer) in [
            ("rv", "/metadata/resourceVersion"),
            ("uid", "/metadata/uid"),
            ("continue", "/metadata/continue"),
        ] {
            let start = format!("{{{name}.");
            while let Some(at) = filled.find(&start) {
                let Some(length) = filled[at..].find('}') else { break };
                let number: Option<usize> = filled[at + start.len()..at + length].parse().ok();
                let response = number.and_then(|number| self.exchanges.get(number));
                let value = response
                    .and_then(|response| response.body.pointer(pointer)?.as_str())
                    .unwrap_or_default();
                filled.replace_range(at..=at + length, value);
            }
        }
        filled
    }

    /// Records the object that must be deleted afterwards.
    fn record_created(&mut self, message: &Message, response: &Exchange) {
        if response.status != 201 || message.path.contains("dryRun") {
            return;
        }
        let path = message.path.split('?').next().unwrap_or_default();
        let name = response.body.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        match message.method {
            "POST" => self.created.push(format!("{path}/{name}")),
            _ => self.created.push(path.to_owned()),
        }
    }

    async fn wait_for_watch_end(&mut self) {
        let Some(watch) = self.watches.last_mut() else { return };
        let ended = timeout(WATCH_END_LIMIT, &mut watch.reader).await.is_ok();
        self.exchanges[watch.exchange].ended = Some(ended);
    }

    async fn wait_until_served(&self, definition: &str, resource: &str) {
        let start = Instant::now();
        let get =
            |path: &str| Message { method: "GET", path: self.fill(path), accept: JSON, ..Message::default() };
        while start.elapsed() < SERVED_LIMIT {
            let response = self.server.send(&get(definition)).await;
            if response.status == 404 || condition(&response.body, "NamesAccepted") == Some("False") {
                return;
            }
            let is_established = condition(&response.body, "Established") == Some("True");
            if is_established && self.server.send(&get(resource)).await.status != 404 {
                return;
            }
            sleep(Duration::from_millis(30)).await;
        }
    }

    /// Reads the remaining events and closes the watches.
    async fn finish_watches(&mut self) {
        for mut watch in std::mem::take(&mut self.watches) {
            let mut seen = None;
            loop {
                let count = watch.events.lock().await.len();
                if seen == Some(count) {
                    break;
                }
                seen = Some(count);
                if watch.reader.is_finished() || timeout(QUIET, &mut watch.reader).await.is_ok() {
                    break;
                }
            }
            watch.reader.abort();
            self.exchanges[watch.exchange].events = Some(std::mem::take(&mut *watch.events.lock().await));
        }
    }

    /// Deletes the created objects. Errors here do not concern the case.
    async fn clean(&self) {
        for path in self.created.iter().rev() {
            let finalizers = gantry_json::json!({"metadata": {"finalizers": null}});
            let response = self
                .server
                .send(&message("DELETE", &format!("{path}?gracePeriodSeconds=0"), "", &Value::Null))
                .await;
            let is_held = response.body.pointer("/metadata/finalizers").is_some();
            if is_held && !path.contains("customresourcedefinitions") {
                self.server.send(&message("PATCH", path, MERGE, &finalizers)).await;
            }
        }
        let namespace = format!("/api/v1/namespaces/{}", self.namespace);
        self.server.send(&message("DELETE", &namespace, "", &Value::Null)).await;
    }
}

fn read_in_background(exchange: usize, mut events: Events) -> OpenWatch {
    let read = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&read);
    let reader = tokio::spawn(async move {
        while let Some(event) = events.next().await {
            into.lock().await.push(event);
        }
    });
    OpenWatch { exchange, events: read, reader }
}

fn message(method: &'static str, path: &str, content_type: &'static str, body: &Value) -> Message {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    Message { method, path: path.to_owned(), accept: JSON, content_type, body }
}

fn condition<'a>(definition: &'a Value, kind: &str) -> Option<&'a str> {
    let conditions = definition.pointer("/status/conditions")?.as_array()?;
    conditions.iter().find(|condition| condition["type"] == kind)?["status"].as_str()
}

/// Returns a namespace that no other play uses. Its length is always the same, because messages may count characters.
fn unique_namespace() -> String {
    static PLAYS: AtomicU64 = AtomicU64::new(0);
    let play = PLAYS.fetch_add(1, Ordering::Relaxed);
    let start = u64::try_from(now()).unwrap_or(0);
    let mut number = start
        .wrapping_mul(1_000_003)
        .wrapping_add(u64::from(std::process::id()))
        .wrapping_mul(100_003)
        .wrapping_add(play);
    let mut name = String::from("wd-");
    for _ in 0..12 {
        // Letters only: a digit after a letter could be parsed as part of a number or a version.
        name.push(char::from(b'b' + u8::try_from(number % 20).unwrap_or(0)));
        number /= 20;
    }
    name
}
