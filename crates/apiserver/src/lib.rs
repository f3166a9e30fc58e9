//! The Kubernetes API over any store.
//!
//! One request comes in as an `http::Request` with its whole body and leaves as an `http::Response` whose body may be a
//! stream that never ends: a watch. Sockets and TLS are not here; a listener or an in-process client is
//! put around [`ApiServer::serve`]; in process, that is [`ApiService`].
//!
//! ```text
//! request ─► authentication ─► authorization ─► handlers ─► registry (validation, defaults, …) ─► objects ─► store
//! ```
//!
//! *Invariant:* this crate never knows a controller, and never a concrete store.

mod accept;
mod admission;
mod authentication;
mod authorization;
mod bootstrap;
mod catalogue;
mod definitions;
mod detached_writes;
mod environment;
mod error;
mod events;
mod handlers;
mod health;
mod logs;
mod metadata;
mod metrics;
mod objects;
mod query;
mod request_info;
mod request_timeout;
mod response;
mod response_filters;
mod serve;
mod service;
mod settings;
mod storage_codec;
mod store_cache;
mod unfinished_deletions;

pub use authentication::{AuthenticatedUser, UnverifiedCertificate};
pub use authorization::{Access, Anonymous, Authorization, StaticToken};
pub use environment::Environment;
pub use health::Health;
pub use logs::{LogRequest, LogStream, Opening, PodLogs};
pub use response::{Body, Chunks};
pub use service::ApiService;
pub use settings::{ServiceAccounts, Settings, UncontrolledKind};

use std::sync::Arc;

use bytes::Bytes;
use gantry_primitives::Refusal;
use gantry_registry::access::Policy;
use gantry_registry::access::node::NodeGraph;
use gantry_store::Store;
use http::request::Parts;

use authentication::signing_key::SigningKeys;
use detached_writes::DetachedWrites;
use health::HealthState;
use metrics::{Metrics, TimedStore};
use objects::Objects;
use request_info::RequestInfo;
use store_cache::StoreCache;

/// The API over a store.
#[derive(Clone, Debug)]
pub struct ApiServer {
    objects: Objects,
    environment: Arc<dyn Environment>,
    signing_keys: Arc<SigningKeys>,
    policies: Arc<StoreCache<Policy>>,
    node_graph: Arc<StoreCache<NodeGraph>>,
    settings: Arc<Settings>,
    health: Arc<HealthState>,
    metrics: Arc<Metrics>,
    detached_writes: Arc<DetachedWrites>,
}

impl ApiServer {
    /// Returns an API server over this store.
    pub fn new(store: Arc<dyn Store>, environment: Arc<dyn Environment>, settings: Settings) -> Self {
        let metrics = Arc::new(Metrics::default());
        let store: Arc<dyn Store> = Arc::new(TimedStore::new(store, Arc::clone(&metrics)));
        Self {
            objects: Objects::new(store, settings.services.clone()),
            environment,
            signing_keys: Arc::default(),
            policies: Arc::default(),
            node_graph: Arc::default(),
            settings: Arc::new(settings),
            health: Arc::default(),
            metrics,
            detached_writes: Arc::default(),
        }
    }

    /// Handles one request whose body has been read.
    pub async fn handle(&self, request: http::Request<Bytes>) -> http::Response<Body> {
        let (parts, body) = request.into_parts();
        let path = gantry_formats::percent::decode_path(parts.uri.path());
        self.respond(&mut RequestInfo::parse(&parts, &path), body).await
    }

    async fn respond(&self, info: &mut RequestInfo<'_>, body: Bytes) -> http::Response<Body> {
        let measured = self.metrics.begin(info, &self.objects.catalogues);
        let result = match authorization::authorize(self, info).await {
            Ok(_authorized) => handlers::dispatch(self, info, body).await,
            Err(error) => Err(error),
        };
        measured.end(response_filters::apply(result, info, self.environment.as_ref()))
    }

    /// Responds to a write, which runs to its end even if the returned future is dropped.
    fn respond_to_write(
        &self,
        parts: &Arc<Parts>,
        body: Bytes,
    ) -> impl Future<Output = http::Response<Body>> {
        let (server, parts) = (self.clone(), Arc::clone(parts));
        self.detached_writes.detachable(async move {
            let path = gantry_formats::percent::decode_path(parts.uri.path());
            server.respond(&mut RequestInfo::parse(&parts, &path), body).await
        })
    }

    /// Returns when the writes have ended whose clients went away before the response.
    ///
    /// A host calls it after the last connection has ended and before it closes the store.
    pub async fn finish_detached_writes(&self) {
        self.detached_writes.ended().await;
    }

    /// Sets the health that `/healthz`, `/livez` and `/readyz` report.
    pub fn set_health(&self, health: Health) {
        self.health.set(health);
    }

    /// Creates the default objects of a cluster where they are missing, completes the deletions that a crash
    /// interrupted, and reconciles the definitions.
    pub async fn prepare(&self) -> Result<(), Refusal> {
        bootstrap::prepare(self).await?;
        unfinished_deletions::complete(self).await?;
        self.reconcile_definitions().await
    }
}
