//! The server as a tower service, for clients in the same process.

use std::convert::Infallible;
use std::fmt::Display;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use gantry_registry::access::User;
use http::{Request, Response};

use crate::{ApiServer, AuthenticatedUser, Body};

/// The API for a client in the same process, with a fixed user: `kube::Client::new(service, "default")`.
#[derive(Clone, Debug)]
pub struct ApiService {
    server: ApiServer,
    user: User,
}

impl ApiService {
    /// Returns a service that acts as this user.
    pub fn new(server: ApiServer, user: User) -> Self {
        Self { server, user }
    }

    /// Returns a service that acts as a user of this name in `system:masters`.
    pub fn for_master(server: ApiServer, name: impl Into<String>) -> Self {
        let groups = [gantry_registry::access::MASTERS, "system:authenticated"].map(str::to_owned).to_vec();
        Self::new(server, User { name: name.into(), groups, ..User::default() })
    }
}

impl<B> tower_service::Service<Request<B>> for ApiService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Display + Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        request.extensions_mut().insert(AuthenticatedUser(self.user.clone()));
        let server = self.server.clone();
        Box::pin(async move { Ok(server.serve(request).await) })
    }
}
