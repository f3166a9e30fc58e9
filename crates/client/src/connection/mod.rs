//! Connections to a server, with or without TLS.
//!
//! Requests share one connection over HTTP/2 where the server offers it. Watches and other streams have connections of
//! their own over HTTP/1.1: a server limits the streams of a connection, and a request must not wait for a watch to end.

mod config;
mod connector;
mod credentials;
mod exec_plugin;
mod forward;
mod tls;

pub use config::{ClientConfig, ClientIdentity, ConfigError, ServerTrust};
pub use credentials::RequestCredentials;
pub use exec_plugin::{ExecCredentials, ExecPlugin};
pub use forward::{forward, forward_with_body};

use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, Request, Response, StatusCode, Uri, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::error::RequestError;
use crate::write_fence::WriteFence;
use connector::{ServerConnector, Versions};

type HttpClient = legacy::Client<ServerConnector, Full<Bytes>>;

/// The interval at which the server of a request over HTTP/2 has to confirm that it is connected, and the time that it has for that;
/// as in client-go.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// The connections to one server, which are opened as they are needed.
pub(crate) struct Connection {
    requests: HttpClient,
    streams: HttpClient,
    server: Uri,
    credentials: RequestCredentials,
    /// Added to every request.
    headers: HeaderMap,
    pub(crate) default_namespace: String,
}

impl Connection {
    /// Prepares connections for a configuration, on which nothing is written while the fence is closed.
    pub(crate) fn new(config: &ClientConfig, fence: Option<&WriteFence>) -> Result<Self, ConfigError> {
        let tls = config.tls()?;
        let client = |versions| -> Result<HttpClient, ConfigError> {
            let connector = connector::connector(config, tls.clone(), versions, fence.cloned())?;
            let mut builder = legacy::Client::builder(TokioExecutor::new());
            builder.timer(TokioTimer::new());
            builder.http2_keep_alive_interval(PING_INTERVAL).http2_keep_alive_timeout(PING_TIMEOUT);
            Ok(builder.build(connector))
        };
        Ok(Self {
            requests: client(Versions::All)?,
            streams: client(Versions::Http1)?,
            server: config.server.clone(),
            credentials: config.credentials.clone(),
            headers: config.headers.clone(),
            default_namespace: config.default_namespace.clone(),
        })
    }

    /// Sends a request whose response ends soon, with the credentials of the configuration.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, RequestError> {
        self.send_by(&self.requests, request).await
    }

    /// Sends a request whose response is a stream or an upgrade, on a connection of its own.
    pub(crate) async fn send_streamed(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, RequestError> {
        self.send_by(&self.streams, request).await
    }

    async fn send_by(
        &self,
        client: &HttpClient,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, RequestError> {
        *request.uri_mut() = absolute(&self.server, request.uri())?;
        for (name, value) in &self.headers {
            request.headers_mut().append(name, value.clone());
        }
        if let Some(value) = self.credentials.authorization().await.map_err(RequestError::unanswered)? {
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        let response = client.request(request).await.map_err(RequestError::transport)?;
        if response.status() == StatusCode::UNAUTHORIZED {
            self.credentials.renew().await;
        }
        Ok(response)
    }
}

/// The URI of a path on a server. The path of the server's own URI is a prefix of it.
fn absolute(server: &Uri, path: &Uri) -> Result<Uri, RequestError> {
    let mut parts = server.clone().into_parts();
    let prefix = server.path().trim_end_matches('/');
    let rest = path.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    parts.path_and_query = Some(match prefix {
        "" => rest,
        prefix => {
            let whole = format!("{prefix}{rest}").try_into();
            whole.map_err(|error| RequestError::unanswered(format!("{error}")))?
        }
    });
    Uri::from_parts(parts).map_err(RequestError::unanswered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_server_comes_before_that_of_the_request() {
        let uri = |server: &'static str| {
            absolute(&Uri::from_static(server), &Uri::from_static("/api/v1/pods?limit=1"))
                .unwrap()
                .to_string()
        };
        assert_eq!(uri("https://10.0.0.1:6443"), "https://10.0.0.1:6443/api/v1/pods?limit=1");
        assert_eq!(
            uri("https://proxy.example/clusters/a/"),
            "https://proxy.example/clusters/a/api/v1/pods?limit=1"
        );
    }
}
