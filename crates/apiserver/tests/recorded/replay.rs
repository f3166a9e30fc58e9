//! Replays one conversation and compares the responses.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use gantry_apiserver::{Access, ApiServer, AuthenticatedUser, Body, Settings};
use gantry_json::{Value, json};
use gantry_registry::access::User;
use gantry_store::memory::{HistoryLimits, MemoryStore};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt as _, Full};

use super::harness::{Noon, read};
use super::mask::{ADDRESS, Marks, NAMESPACE};
use super::part;

/// The timeout of expected events.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The time without an event after which none is expected. The clock is paused, so it passes when every task is idle.
const LINGER: Duration = Duration::from_millis(30);

/// The headers that are compared on every response.
const HEADERS: [&str; 5] = ["content-type", "warning", "retry-after", "location", "etag"];

/// The parts of a request that were not recorded.
struct Aside<'a> {
    headers: &'a Value,
    /// The body in hexadecimal, if it is not text.
    raw: &'a Value,
    bearer: &'a Value,
    /// Fields of the metadata that the recording omits.
    omitted: &'a Value,
}

/// A watch that is open during the conversation.
struct Watch<'r> {
    recorded: &'r Value,
    at: usize,
    received: Arc<Mutex<Vec<Value>>>,
    reader: tokio::task::JoinHandle<()>,
}

/// Replays a recorded conversation and reports the first difference.
///
/// `aside` has the unrecorded parts of the conversation: requests to prepare exchanges, further headers, binary bodies,
/// when watches were closed, and which fields the recording omits; by the number of the following exchange.
pub(crate) async fn replay_conversation(exchanges: &[Value], aside: &Value) -> Result<(), String> {
    let server = rbac_server().await;
    prepare_namespaces(&server).await;
    let mut marks = Marks::new(Noon::NOW, exchanges.iter().flat_map(managers).collect());
    let mut watches: Vec<Watch<'_>> = Vec::new();
    for (index, exchange) in exchanges.iter().enumerate() {
        let number = index.to_string();
        prepare(&server, &aside["before"][&number], &mut marks, &mut watches).await;
        if exchange.get("note").is_some() {
            continue;
        }
        let beside = Aside {
            headers: &aside["headers"][&number],
            raw: &aside["raw"][&number],
            bearer: &aside["bearer"][&number],
            omitted: &aside["omitted"][&number],
        };
        let response = server.serve(request(exchange, &beside, &marks, current(&server).await)).await;
        let at = |problem: String| format!("exchange {}: {problem}", index + 1);
        if exchange.get("watch").is_some() && response.status() == 200 {
            headers_fit(&mut marks, exchange, response.headers()).map_err(at)?;
            watches.push(Watch::open(exchange, index, response));
        } else {
            response_fits(&mut marks, exchange, &beside, response).await.map_err(at)?;
        }
    }
    prepare(&server, &aside["before"][exchanges.len().to_string()], &mut marks, &mut watches).await;
    for watch in watches {
        let index = watch.at;
        watch.fits(&mut marks).await.map_err(|problem| format!("exchange {}: {problem}", index + 1))?;
    }
    marks.versions_are_in_order()
}

/// A server with RBAC.
async fn rbac_server() -> ApiServer {
    let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
    let settings = Settings { access: Access::rbac(), ..Settings::default() };
    let server = ApiServer::new(store, Arc::new(Noon::default()), settings);
    server.prepare().await.unwrap();
    server
}

/// The recorded requests were sent by an administrator.
fn administrator() -> AuthenticatedUser {
    let groups = vec!["system:masters".to_owned(), "system:authenticated".to_owned()];
    AuthenticatedUser(User { name: "kubernetes-admin".to_owned(), groups, ..User::default() })
}

async fn call_as_admin(server: &ApiServer, method: Method, path: &str, body: Value) -> (u16, Value) {
    let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
    let mut request = Request::builder().method(method).uri(path).body(Full::new(body)).unwrap();
    request.extensions_mut().insert(administrator());
    read(server.serve(request).await).await
}

/// A namespace in the state in which controllers would leave it.
async fn prepare_namespaces(server: &ApiServer) {
    let namespace = json!({"metadata": {"name": NAMESPACE}});
    assert_eq!(call_as_admin(server, Method::POST, "/api/v1/namespaces", namespace).await.0, 201);
    for namespace in [NAMESPACE, "default"] {
        let accounts = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
        let account = json!({"metadata": {"name": "default"}});
        assert_eq!(call_as_admin(server, Method::POST, &accounts, account).await.0, 201);
    }
}

/// Repeats the steps between two exchanges: requests, and watches that were closed.
async fn prepare(server: &ApiServer, steps: &Value, marks: &mut Marks, watches: &mut [Watch<'_>]) {
    for step in steps.as_array().into_iter().flatten() {
        if let Some(closed) = step["closes"].as_u64() {
            if let Some(watch) = watches.iter_mut().find(|watch| watch.at as u64 == closed) {
                watch.close().await;
            }
            continue;
        }
        let aside = Aside {
            headers: &step["sent-headers"],
            raw: &step["raw"],
            bearer: &Value::Null,
            omitted: &Value::Null,
        };
        let request = request(step, &aside, marks, current(server).await);
        // The following exchanges depend on its success.
        let (_, response) = read(server.serve(request).await).await;
        marks.record(&response);
    }
}

/// The field managers whose managed fields were recorded.
fn managers(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(managers).collect(),
        Value::Object(fields) => {
            let own = fields.get("manager").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(managers)).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// The revision of the store.
async fn current(server: &ApiServer) -> u64 {
    let (_, list) = call_as_admin(server, Method::GET, "/api/v1/namespaces?limit=1", Value::Null).await;
    list["metadata"]["resourceVersion"].as_str().and_then(|version| version.parse().ok()).unwrap_or(0)
}

fn request(exchange: &Value, aside: &Aside<'_>, marks: &Marks, current: u64) -> Request<Full<Bytes>> {
    let line = exchange["request"].as_str().or(exchange["watch"].as_str()).unwrap();
    let line = marks.resolve_text(line, current);
    let (method, path) = line.split_once(' ').unwrap();
    let path = path.replace(' ', "%20").replace('<', "%3C").replace('>', "%3E").replace('"', "%22");
    let mut request = Request::builder().method(method).uri(path.replace('\\', "%5C"));
    let headers = aside.headers.as_object().into_iter().flatten();
    for (name, value) in headers.clone() {
        request =
            request.header(name.as_str(), marks.resolve_text(value.as_str().unwrap_or_default(), current));
    }
    if !headers.into_iter().any(|(name, _)| name == "user-agent") {
        request = request.header("user-agent", "conformance/1.0");
    }
    request = request.header("host", ADDRESS);
    request = request.header("accept", exchange["accept"].as_str().unwrap_or("application/json"));
    if let Some(kind) = exchange["content-type"].as_str() {
        request = request.header("content-type", kind);
    }
    if let Some(tag) = exchange["if-none-match"].as_str() {
        request = request.header("if-none-match", if tag == "<the etag>" { &marks.etag } else { tag });
    }
    match aside.bearer.as_str() {
        Some("<token>") => request = request.header("authorization", format!("Bearer {}", marks.token)),
        Some(token) => request = request.header("authorization", format!("Bearer {token}")),
        None => {}
    }
    let body = match (&exchange["send"], aside.raw.as_str()) {
        (_, Some(hex)) => bytes_of(hex),
        (Value::Null, _) => Vec::new(),
        (Value::String(text), _) => marks.resolve_text(text, current).into_bytes(),
        (object, _) => marks.resolve(object, current).to_string().into_bytes(),
    };
    let mut request = request.body(Full::new(body.into())).unwrap_or_else(|error| panic!("{line}: {error}"));
    if exchange["as"].is_null() {
        request.extensions_mut().insert(administrator());
    }
    request
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|start| u8::from_str_radix(&hex[start..start + 2], 16).unwrap()).collect()
}

async fn response_fits(
    marks: &mut Marks,
    exchange: &Value,
    aside: &Aside<'_>,
    response: Response<Body>,
) -> Result<(), String> {
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let mut got: Value =
        gantry_json::from_slice(&body).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&body)));
    for field in aside.omitted.as_array().into_iter().flatten().filter_map(Value::as_str) {
        got["metadata"].as_object_mut().expect("an object has metadata").remove(field);
    }
    let want = &exchange["body"];
    if exchange["status"] != parts.status.as_u16() {
        return Err(format!(
            "the response is {} {got}, recorded was {} {want}",
            parts.status, exchange["status"]
        ));
    }
    headers_fit(marks, exchange, &parts.headers)?;
    marks.record(&got);
    let is_whole = parts.status.as_u16() >= 400 || (want["kind"].is_string() && want["kind"] == got["kind"]);
    if is_whole { marks.fits(want, &got, "body") } else { part::is_in(marks, want, &got) }
}

fn headers_fit(marks: &mut Marks, exchange: &Value, got: &HeaderMap) -> Result<(), String> {
    for name in HEADERS {
        let values: Vec<&str> = got.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
        let want = &exchange["headers"][name];
        let got = match (name, values.first()) {
            (_, None) => Value::Null,
            ("warning", _) => json!(values),
            (_, Some(value)) => json!(value.replace(';', "; ").replace(";  ", "; ")),
        };
        if name == "etag"
            && let Some(etag) = values.first()
        {
            (*etag).clone_into(&mut marks.etag);
        }
        marks.fits(want, &got, name)?;
    }
    Ok(())
}

impl<'r> Watch<'r> {
    fn open(recorded: &'r Value, at: usize, response: Response<Body>) -> Self {
        let received = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&received);
        let reader = tokio::spawn(async move {
            let mut body = response.into_body();
            while let Some(frame) = body.frame().await {
                let bytes = frame.unwrap().into_data().unwrap();
                let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                sink.lock()
                    .unwrap()
                    .extend(lines.map(|line| gantry_json::from_slice::<Value>(line).unwrap()));
            }
        });
        Self { recorded, at, received, reader }
    }

    /// Reads as many events as were recorded, and any that follow shortly.
    async fn close(&mut self) {
        let wanted = self.recorded["events"].as_array().map_or(0, Vec::len);
        let deadline = tokio::time::Instant::now() + TIMEOUT;
        while tokio::time::Instant::now() < deadline && events_of(&self.received).len() < wanted {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        if self.recorded["ended by the server"] != true {
            tokio::time::sleep(LINGER).await;
            self.reader.abort();
        }
    }

    /// Whether the watch delivered the recorded events, and no others.
    async fn fits(self, marks: &mut Marks) -> Result<(), String> {
        let want = self.recorded["events"].as_array().cloned().unwrap_or_default();
        let deadline = tokio::time::Instant::now() + TIMEOUT;
        let ends = self.recorded["ended by the server"] == true;
        while tokio::time::Instant::now() < deadline
            && (events_of(&self.received).len() < want.len() || (ends && !self.reader.is_finished()))
        {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        tokio::time::sleep(LINGER).await;
        if ends && !self.reader.is_finished() {
            return Err("the server did not end the watch".to_owned());
        }
        self.reader.abort();
        let got = events_of(&self.received);
        let kinds = |events: &[Value]| {
            events
                .iter()
                .map(|event| event["type"].as_str().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        };
        if want.len() != got.len() {
            return Err(format!("the watch delivered {:?}, recorded was {:?}", kinds(&got), kinds(&want)));
        }
        for (index, (want, got)) in want.iter().zip(&got).enumerate() {
            marks.fits(want, got, &format!("event {index}"))?;
        }
        Ok(())
    }
}

/// The events of a watch without bookmarks, whose timing depends on the server.
fn events_of(received: &Mutex<Vec<Value>>) -> Vec<Value> {
    let events = received.lock().unwrap().clone();
    events.into_iter().filter_map(compared).collect()
}

/// Only the metadata of a bookmark is compared.
fn compared(mut event: Value) -> Option<Value> {
    if event["type"] != "BOOKMARK" {
        return Some(event);
    }
    if !event.to_string().contains("initial-events-end") {
        return None;
    }
    if event["object"]["kind"] != "Table" {
        let object = &event["object"];
        let kept = json!({"kind": object["kind"], "apiVersion": object["apiVersion"], "metadata": object["metadata"]});
        event["object"] = kept;
    }
    Some(event)
}
