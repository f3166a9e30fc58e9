//! HTTP/2 connections to an API server that do little besides copying bytes, so that clients cost little compared with
//! the server.

use std::path::Path;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use kube::client::ConfigExt as _;
use kube::config::{KubeConfigOptions, Kubeconfig};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;

use crate::objects::{self, Decode, Form, WatchEvent};

/// The content type of a strategic merge patch.
pub(crate) const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
/// The content type of JSON.
pub(crate) const JSON: &str = "application/json";

/// The forms of responses: protobuf if the server has it.
const ACCEPT_OBJECTS: &str = "application/vnd.kubernetes.protobuf, application/json";
const ACCEPT_EVENTS: &str = "application/vnd.kubernetes.protobuf;stream=watch, application/json";

/// The number of bytes of a watch that the server may send before they are read.
const WINDOW_BYTES: u32 = 4 << 20;

/// The address of a server and the means to connect to it.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// Host and port.
    authority: String,
    server_name: ServerName<'static>,
    tls: Arc<rustls::ClientConfig>,
}

/// A connection; clones share it. It is opened again when the server has closed it, as servers do with idle ones.
#[derive(Clone)]
pub(crate) struct Connection {
    sender: Arc<Mutex<Sender>>,
    endpoint: Endpoint,
}

type Sender = http2::SendRequest<Full<Bytes>>;

/// A request as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiRequest {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
}

/// A response that was read to its end.
#[derive(Debug)]
pub(crate) struct ApiResponse {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

/// An open watch.
pub(crate) struct Watch {
    body: Incoming,
    form: Form,
    received: BytesMut,
}

impl Endpoint {
    /// Reads the current context of a kubeconfig.
    pub(crate) async fn of_kubeconfig(kubeconfig: &Path) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", kubeconfig.display());
        let file = Kubeconfig::read_from(kubeconfig).map_err(|error| failed(&error))?;
        let config = kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
        let config = config.map_err(|error| failed(&error))?;
        let url = &config.cluster_url;
        let (Some("https"), Some(host)) = (url.scheme_str(), url.host()) else {
            return Err(failed(&format!("the server must be at an https:// address, not at {url}")));
        };
        if config.auth_info.client_certificate.is_none() && config.auth_info.client_certificate_data.is_none()
        {
            return Err(failed(
                &"the user must have a client certificate; tokens and exec plugins are not used",
            ));
        }
        let mut tls = config.rustls_client_config().map_err(|error| failed(&error))?;
        tls.alpn_protocols = vec![b"h2".to_vec()];
        let name = config.tls_server_name.as_deref().unwrap_or(host).trim_matches(['[', ']']).to_owned();
        Ok(Self {
            authority: format!("{host}:{}", url.port_u16().unwrap_or(443)),
            server_name: ServerName::try_from(name).map_err(|error| failed(&error))?,
            tls: Arc::new(tls),
        })
    }

    /// Opens a connection.
    pub(crate) async fn connect(&self) -> Result<Connection, String> {
        let sender = self.open().await?;
        Ok(Connection { sender: Arc::new(Mutex::new(sender)), endpoint: self.clone() })
    }

    async fn open(&self) -> Result<Sender, String> {
        let failed = |error: &dyn std::fmt::Display| format!("cannot connect to {}: {error}", self.authority);
        let socket = TcpStream::connect(&self.authority).await.map_err(|error| failed(&error))?;
        socket.set_nodelay(true).map_err(|error| failed(&error))?;
        let tls = TlsConnector::from(Arc::clone(&self.tls)).connect(self.server_name.clone(), socket).await;
        let tls = tls.map_err(|error| failed(&error))?;
        let mut handshake = http2::Builder::new(TokioExecutor::new());
        handshake.initial_stream_window_size(WINDOW_BYTES).initial_connection_window_size(WINDOW_BYTES);
        let (sender, connection) =
            handshake.handshake(TokioIo::new(tls)).await.map_err(|error| failed(&error))?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

impl Connection {
    /// Sends a request and reads the whole response.
    pub(crate) async fn send(&self, request: &ApiRequest) -> Result<ApiResponse, String> {
        let failed = |error: hyper::Error| format!("{} {}: {error}", request.method, request.path);
        let response = self.begin(request, ACCEPT_OBJECTS).await?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.map_err(failed)?.to_bytes();
        Ok(ApiResponse { status, body })
    }

    /// Sends a request that must succeed.
    pub(crate) async fn send_ok(&self, request: &ApiRequest) -> Result<Bytes, String> {
        let response = self.send(request).await?;
        if response.is_ok() { Ok(response.body) } else { Err(response.refusal(request)) }
    }

    /// Opens a watch of a collection that begins with all its objects.
    pub(crate) async fn watch(&self, collection: &str) -> Result<Watch, String> {
        let request = ApiRequest::get(format!("{collection}?watch=true"));
        let response = self.begin(&request, ACCEPT_EVENTS).await?;
        if response.status().as_u16() != 200 {
            return Err(format!("GET {}: {}", request.path, response.status()));
        }
        let is_json = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|form| form.as_bytes().starts_with(JSON.as_bytes()));
        let form = if is_json { Form::Json } else { Form::Protobuf };
        Ok(Watch { body: response.into_body(), form, received: BytesMut::new() })
    }

    async fn sender(&self) -> Result<Sender, String> {
        let mut sender = self.sender.lock().await;
        if sender.is_closed() {
            *sender = self.endpoint.open().await?;
        }
        Ok(sender.clone())
    }

    async fn begin(
        &self,
        request: &ApiRequest,
        accept: &'static str,
    ) -> Result<http::Response<Incoming>, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{} {}: {error}", request.method, request.path);
        let mut head = Request::builder()
            .method(&request.method)
            .uri(format!("https://{}{}", self.endpoint.authority, request.path))
            .header(ACCEPT, accept)
            .header(USER_AGENT, "rollout-bench/1.0");
        if !request.body.is_empty() {
            head = head.header(CONTENT_TYPE, request.content_type);
        }
        let message = head.body(Full::new(request.body.clone())).map_err(|error| failed(&error))?;
        let mut sender = self.sender().await?;
        sender.ready().await.map_err(|error| failed(&error))?;
        sender.send_request(message).await.map_err(|error| failed(&error))
    }
}

impl ApiRequest {
    /// A request without a body.
    pub(crate) fn get(path: String) -> Self {
        Self { method: Method::GET, path, content_type: "", body: Bytes::new() }
    }

    /// A request with a body.
    pub(crate) fn new(
        method: Method,
        path: String,
        content_type: &'static str,
        body: impl Into<Bytes>,
    ) -> Self {
        Self { method, path, content_type, body: body.into() }
    }
}

impl ApiResponse {
    /// Whether the request succeeded.
    pub(crate) fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Describes the refusal of a request.
    pub(crate) fn refusal(&self, request: &ApiRequest) -> String {
        let message = objects::decode::<objects::Status>(&self.body).map(|status| status.message);
        let message = message.unwrap_or_else(|_| String::from_utf8_lossy(&self.body).into_owned());
        format!("{} {}: {} {message}", request.method, request.path, self.status)
    }
}

impl Watch {
    /// Returns the next event; none at the end of the watch.
    pub(crate) async fn next<M: Decode>(&mut self) -> Result<Option<WatchEvent<M>>, String> {
        loop {
            if let Some(event) = WatchEvent::next(&mut self.received, self.form)? {
                return Ok(Some(event));
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(Err(error)) => return Err(format!("a watch failed: {error}")),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.received.extend_from_slice(&data);
                    }
                }
            }
        }
    }
}
