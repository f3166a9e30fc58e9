//! The transport of requests: over a connection, or by a call in the same process.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{HeaderName, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tower::Service;

use crate::connection::{ClientConfig, ConfigError, Connection};
use crate::error::RequestError;
use crate::spdy::StreamConnection;
use crate::write_fence::WriteFence;

/// The header with which both sides agree on the meaning of streams.
const STREAM_PROTOCOL: HeaderName = HeaderName::from_static("x-stream-protocol-version");

/// How requests reach a server. Cheap to clone.
#[derive(Clone)]
pub struct ApiTransport(Route);

#[derive(Clone)]
enum Route {
    Connection(Arc<Connection>),
    InProcess(Serve),
}

type Serve = Arc<
    dyn Fn(Request<Full<Bytes>>) -> BoxFuture<'static, Result<Response<ResponseBody>, RequestError>>
        + Send
        + Sync,
>;

/// The body of a response.
pub type ResponseBody = UnsyncBoxBody<Bytes, RequestError>;

impl ApiTransport {
    /// Connects to the server of a configuration, with the first request.
    pub fn connect(config: &ClientConfig) -> Result<Self, ConfigError> {
        Ok(Self(Route::Connection(Arc::new(Connection::new(config, None)?))))
    }

    /// The same, but sends nothing while the fence is closed.
    pub fn connect_fenced(config: &ClientConfig, fence: &WriteFence) -> Result<Self, ConfigError> {
        Ok(Self(Route::Connection(Arc::new(Connection::new(config, Some(fence))?))))
    }

    /// Calls a server in the same process, in the task of the caller.
    pub fn in_process<S, B>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Error + Send + Sync,
        S::Future: Send + 'static,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Error + Send + Sync,
    {
        let serve: Serve = Arc::new(move |request| {
            let response = service.clone().call(request);
            let boxed = |body: B| body.map_err(RequestError::transport).boxed_unsync();
            let converted = move |response: Result<Response<B>, S::Error>| {
                response.map(|response| response.map(boxed)).map_err(RequestError::transport)
            };
            response.map(converted).boxed()
        });
        Self(Route::InProcess(serve))
    }

    /// Sends a request whose response ends soon. The body of the response is not read yet.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<ResponseBody>, RequestError> {
        match &self.0 {
            Route::Connection(connection) => connection.send(request).await.map(boxed),
            Route::InProcess(serve) => serve(request).await,
        }
    }

    /// Sends a request whose response is a stream, which may last.
    pub async fn send_streamed(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<ResponseBody>, RequestError> {
        match &self.0 {
            Route::Connection(connection) => connection.send_streamed(request).await.map(boxed),
            Route::InProcess(serve) => serve(request).await,
        }
    }

    /// Sends a request that upgrades the connection to streams of this protocol.
    pub(crate) async fn open_streams(
        &self,
        mut request: Request<Full<Bytes>>,
        protocol: &'static str,
    ) -> Result<StreamConnection, RequestError> {
        let Route::Connection(connection) = &self.0 else {
            return Err(RequestError::unanswered(
                "a server in the same process has no connections to upgrade",
            ));
        };
        let headers = request.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("SPDY/3.1"));
        headers.insert(STREAM_PROTOCOL, HeaderValue::from_static(protocol));
        let mut response = connection.send_streamed(request).await?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let code = response.status().as_u16();
            let body = response.into_body().collect().await.map_err(RequestError::transport)?.to_bytes();
            return Err(RequestError::not_upgraded(code, &body));
        }
        let chosen = response.headers().get(STREAM_PROTOCOL).and_then(|value| value.to_str().ok());
        if chosen != Some(protocol) {
            let chosen = chosen.unwrap_or_default();
            return Err(RequestError::unreadable(
                101,
                format!(
                    "unable to negotiate protocol: client supports {protocol:?}, server returned {chosen:?}"
                ),
            ));
        }
        let upgraded = hyper::upgrade::on(&mut response).await.map_err(RequestError::transport)?;
        Ok(StreamConnection::new(TokioIo::new(upgraded)))
    }

    /// The namespace of requests that name none.
    pub fn default_namespace(&self) -> &str {
        match &self.0 {
            Route::Connection(connection) => &connection.default_namespace,
            Route::InProcess(_) => "default",
        }
    }
}

fn boxed(response: Response<Incoming>) -> Response<ResponseBody> {
    response.map(|body| body.map_err(RequestError::transport).boxed_unsync())
}

impl fmt::Debug for ApiTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Route::Connection(_) => "ApiTransport::Connection",
            Route::InProcess(_) => "ApiTransport::InProcess",
        })
    }
}
