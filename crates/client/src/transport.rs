//! How requests reach a server: over a connection, or by a call in the same process.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use kube::client::Body;
use tower::Service;

use crate::error::RequestError;

/// How requests reach a server. Cheap to clone.
#[derive(Clone)]
pub struct Transport(Route);

#[derive(Clone)]
enum Route {
    Connection(kube::Client),
    InProcess(Serve),
}

type Serve = Arc<dyn Fn(Request<Body>) -> BoxFuture<'static, Response<ResponseBody>> + Send + Sync>;

/// The body of a response.
pub(crate) type ResponseBody = UnsyncBoxBody<Bytes, RequestError>;

impl Transport {
    /// Calls a server in the same process, in the task of the caller.
    pub fn in_process<S, B>(service: S) -> Self
    where
        S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
        B: http_body::Body<Data = Bytes, Error = Infallible> + Send + 'static,
    {
        Self(Route::InProcess(Arc::new(move |request| {
            let response = service.clone().call(request);
            let boxed = |body: B| body.map_err(|never| match never {}).boxed_unsync();
            response.map(move |Ok(response)| response.map(boxed)).boxed()
        })))
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Result<Response<ResponseBody>, RequestError> {
        match &self.0 {
            Route::Connection(client) => {
                let response = client.send(request).await.map_err(RequestError::transport)?;
                Ok(response.map(|body| body.map_err(RequestError::transport).boxed_unsync()))
            }
            Route::InProcess(serve) => Ok(serve(request).await),
        }
    }

    /// The namespace of the client's configuration.
    pub(crate) fn default_namespace(&self) -> &str {
        match &self.0 {
            Route::Connection(client) => client.default_namespace(),
            Route::InProcess(_) => "default",
        }
    }
}

impl From<kube::Client> for Transport {
    fn from(client: kube::Client) -> Self {
        Self(Route::Connection(client))
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Route::Connection(_) => "Transport::Connection",
            Route::InProcess(_) => "Transport::InProcess",
        })
    }
}
