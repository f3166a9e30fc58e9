//! A server to send requests to, given by a kubeconfig.

use std::path::Path;
use std::time::Duration;

use gantry_json::Value;
use http_body_util::BodyExt as _;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use crate::trace::Exchange;

/// The user agent of the requests, and the field manager of those that name none.
pub(crate) const USER_AGENT: &str = "wire-diff/1.0";
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// One of the two servers that are compared.
#[derive(Clone)]
pub(crate) struct Server {
    client: Client,
    /// Host and port, which messages may repeat.
    pub(crate) address: String,
}

/// A request as it is sent: no placeholders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) accept: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
}

/// The events of an open watch.
pub(crate) struct Events {
    body: Body,
    pending: Vec<u8>,
}

impl Server {
    /// Opens the server of a kubeconfig's current context.
    pub(crate) async fn open(kubeconfig: &Path) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", kubeconfig.display());
        let file = Kubeconfig::read_from(kubeconfig).map_err(|error| failed(&error))?;
        let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
        let mut config = config.map_err(|error| failed(&error))?;
        config.read_timeout = None;
        // Every response counts, including a 429 or 504.
        config.default_retry = false;
        let address = config.cluster_url.authority().map(ToString::to_string).unwrap_or_default();
        let client = Client::try_from(config).map_err(|error| failed(&error))?;
        Ok(Self { client, address })
    }

    /// Sends a request and reads the whole response. A request without a response, in time or at all, is an exchange,
    /// too: one of the servers may have failed because of it.
    pub(crate) async fn send(&self, message: &Message) -> Exchange {
        let exchange = async {
            let response = self.request(message).await?;
            let (parts, body) = response.into_parts();
            whole(&parts, body).await
        };
        exchange_of(tokio::time::timeout(REQUEST_TIMEOUT, exchange).await)
    }

    /// Opens a watch; without events if the server refuses it.
    pub(crate) async fn watch(&self, message: &Message) -> (Exchange, Option<Events>) {
        let response = match tokio::time::timeout(REQUEST_TIMEOUT, self.request(message)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return (exchange_of(Ok(Err(error))), None),
            Err(late) => return (exchange_of(Err(late)), None),
        };
        let (parts, body) = response.into_parts();
        if parts.status != http::StatusCode::OK {
            return (exchange_of(Ok(whole(&parts, body).await)), None);
        }
        let opened = Exchange::new(200, headers(&parts.headers), Value::Null);
        (opened, Some(Events { body, pending: Vec::new() }))
    }

    /// Reads a document that must exist.
    pub(crate) async fn document(&self, path: &str) -> Result<Value, String> {
        let message = Message {
            method: "GET",
            path: path.to_owned(),
            accept: "application/json",
            ..Message::default()
        };
        let exchange = self.send(&message).await;
        if exchange.status != 200 {
            return Err(format!("GET {path}: {} {}", exchange.status, exchange.body));
        }
        Ok(exchange.body)
    }

    async fn request(&self, message: &Message) -> Result<http::Response<Body>, String> {
        let mut request = http::Request::builder().method(message.method).uri(&message.path);
        request = request.header("user-agent", USER_AGENT).header("accept", message.accept);
        if !message.content_type.is_empty() {
            request = request.header("content-type", message.content_type);
        }
        let request = request.body(Body::from(message.body.clone())).map_err(|error| error.to_string())?;
        self.client
            .send(request)
            .await
            .map_err(|error| format!("{} {}: {error}", message.method, message.path))
    }
}

impl Events {
    /// Returns the next event; none when the server has ended the watch.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return Some(parsed(&line));
            }
            let frame = self.body.frame().await?.ok()?;
            self.pending.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
        }
    }
}

async fn whole(parts: &http::response::Parts, body: Body) -> Result<Exchange, String> {
    let bytes = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
    Ok(Exchange::new(parts.status.as_u16(), headers(&parts.headers), parsed(&bytes)))
}

fn exchange_of(outcome: Result<Result<Exchange, String>, tokio::time::error::Elapsed>) -> Exchange {
    let why = match outcome {
        Ok(Ok(exchange)) => return exchange,
        Ok(Err(error)) => format!("no response: {error}"),
        Err(_) => "no response in time".to_owned(),
    };
    Exchange::new(0, Vec::new(), Value::from(why))
}

fn headers(map: &http::HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    map.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

/// Parses a response: JSON, or its text.
fn parsed(bytes: &[u8]) -> Value {
    if bytes.is_empty() {
        return Value::Null;
    }
    gantry_json::from_slice(bytes).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(bytes)))
}
