//! The Kubernetes API over any store.
//!
//! One request comes in as an `http::Request` with its whole body and leaves as an `http::Response` whose body may be a
//! stream that never ends: a watch. Sockets, TLS and who somebody is are not here; a listener or an in-process client is
//! put around [`ApiServer::answer`].
//!
//! ```text
//! request ─► target, accept, options ─► handlers ─► registry (what becomes of the object) ─► objects ─► store
//! ```
//!
//! *Invariant:* this crate never knows a controller, and never a concrete store.

mod accept;
mod answer;
mod handlers;
mod objects;
mod query;
mod surroundings;

pub use answer::Body;
pub use surroundings::Surroundings;

use std::sync::Arc;

use bytes::Bytes;
use gantry_store::Store;

use answer::Answer;
use objects::Objects;

/// The API over a store.
#[derive(Clone, Debug)]
pub struct ApiServer {
    objects: Objects,
    surroundings: Arc<dyn Surroundings>,
}

impl ApiServer {
    /// An API over this store.
    pub fn new(store: Arc<dyn Store>, surroundings: Arc<dyn Surroundings>) -> Self {
        Self { objects: Objects::new(store), surroundings }
    }

    /// Answers one request.
    pub async fn answer(&self, request: http::Request<Bytes>) -> http::Response<Body> {
        let (parts, body) = request.into_parts();
        let answer = handlers::dispatch(self, &parts, body).await;
        answer.unwrap_or_else(|refusal| Answer::refused(&refusal)).into_response()
    }

    /// Makes sure that the namespaces exist which every cluster has.
    pub async fn prepare(&self) -> Result<(), gantry_registry::Refusal> {
        handlers::bootstrap::prepare(self).await
    }
}
