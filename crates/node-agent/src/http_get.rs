//! HTTP requests of probes and hooks.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use gantry_client::{ClientConfig, ServerTrust};
use http::{HeaderName, HeaderValue, Request, Uri};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The maximum size of a response that is read.
const BODY_MAX: usize = 10 * 1024;

/// Connects to servers with any certificate: probes check that a server responds, not its identity.
static TLS: LazyLock<Result<TlsConnector, String>> = LazyLock::new(|| {
    let config = ClientConfig { trust: ServerTrust::Unverified, ..ClientConfig::new(Uri::default()) };
    let tls = config.tls().map_err(|error| error.to_string())?;
    Ok(TlsConnector::from(Arc::new(tls)))
});

/// A request of a probe or hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpGet {
    is_tls: bool,
    host: String,
    port: u16,
    path: String,
    headers: Vec<(String, String)>,
}

/// The status and the beginning of the body of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl HttpGet {
    /// Returns the request of an action; an error if its port has no number.
    pub(crate) fn of(
        action: &core::HTTPGetAction,
        container: &core::Container,
        pod_ip: &str,
        agent: &str,
    ) -> Result<Self, String> {
        let port = port_number(&action.port, container)?;
        let host = action.host.clone().filter(|host| !host.is_empty()).unwrap_or_else(|| pod_ip.to_owned());
        let path = action.path.clone().unwrap_or_default();
        let path = if path.starts_with('/') { path } else { format!("/{path}") };
        let own = action.http_headers.iter().flatten();
        let mut headers: Vec<_> = own.map(|header| (header.name.clone(), header.value.clone())).collect();
        let has = |headers: &[(String, String)], name: &str| {
            headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        if !has(&headers, "user-agent") {
            headers.push(("User-Agent".to_owned(), agent.to_owned()));
        }
        if !has(&headers, "accept") {
            headers.push(("Accept".to_owned(), "*/*".to_owned()));
        }
        if !has(&headers, "host") {
            headers.push(("Host".to_owned(), format!("{host}:{port}")));
        }
        // Empty headers are not sent.
        headers.retain(|(_, value)| !value.is_empty());
        Ok(Self { is_tls: action.scheme.as_deref() == Some("HTTPS"), host, port, path, headers })
    }

    /// Returns its URL.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}:{}{}", self.host, self.port, self.path)
    }

    /// Sends it and returns the response, or a message like one of Go's client.
    pub(crate) async fn send(&self, timeout: Duration) -> Result<HttpResponse, String> {
        let failed = |why: String| format!("Get {:?}: {why}", self.url());
        match tokio::time::timeout(timeout, self.exchange()).await {
            Ok(result) => result.map_err(failed),
            Err(_elapsed) => Err(failed(
                "context deadline exceeded (Client.Timeout exceeded while awaiting headers)".to_owned(),
            )),
        }
    }

    async fn exchange(&self) -> Result<HttpResponse, String> {
        let stream = connect(&self.host, self.port).await?;
        if !self.is_tls {
            return self.over(TokioIo::new(stream)).await;
        }
        let connector = TLS.as_ref().map_err(Clone::clone)?;
        let name = ServerName::try_from(self.host.clone()).map_err(|error| error.to_string())?;
        let stream = connector.connect(name, stream).await.map_err(|error| error.to_string())?;
        self.over(TokioIo::new(stream)).await
    }

    async fn over<S>(&self, stream: S) -> Result<HttpResponse, String>
    where
        S: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    {
        let mut request = Request::get(&self.path);
        for (name, value) in &self.headers {
            let (name, value) = (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str()));
            if let (Ok(name), Ok(value)) = (name, value) {
                request = request.header(name, value);
            }
        }
        let request = request.body(Empty::<Bytes>::new()).map_err(|error| error.to_string())?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(stream).await.map_err(|error| error.to_string())?;
        let connection = tokio::spawn(connection);
        let response = sender.send_request(request).await;
        let response = response.map_err(|error| {
            if error.is_incomplete_message() { "EOF".to_owned() } else { error.to_string() }
        })?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), BODY_MAX).collect().await;
        connection.abort();
        let body =
            body.map(|body| String::from_utf8_lossy(&body.to_bytes()).into_owned()).unwrap_or_default();
        Ok(HttpResponse { status, body })
    }
}

/// Connects, or returns a message like one of Go's.
pub(crate) async fn connect(host: &str, port: u16) -> Result<TcpStream, String> {
    TcpStream::connect((host, port)).await.map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
            std::io::ErrorKind::HostUnreachable => "connect: no route to host".to_owned(),
            _ => error.to_string(),
        };
        format!("dial tcp {host}:{port}: {why}")
    })
}

/// Returns the number of a port, which may be the name of one of the container's.
pub(crate) fn port_number(port: &IntOrString, container: &core::Container) -> Result<u16, String> {
    let number = match port {
        IntOrString::Int(number) => Some(*number),
        IntOrString::String(name) => {
            let ports = container.ports.as_deref().unwrap_or_default();
            let named = ports.iter().find(|port| port.name.as_deref() == Some(name));
            named.map(|port| port.container_port).or_else(|| name.parse().ok())
        }
    };
    let number = number.and_then(|number| u16::try_from(number).ok()).filter(|number| *number > 0);
    number.ok_or_else(|| format!("couldn't find port: {port:?}"))
}
