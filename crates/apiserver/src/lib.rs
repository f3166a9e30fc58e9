//! The Kubernetes API over any store.
//!
//! One request comes in as an `http::Request` with its whole body and leaves as an `http::Response` whose body may be a
//! stream that never ends: a watch. Sockets and TLS are not here; a listener or an in-process client is
//! put around [`ApiServer::serve`]; in process, that is [`ApiService`].
//!
//! ```text
//! request ─► guard (who, and may they) ─► handlers ─► registry (what becomes of the object) ─► objects ─► store
//! ```
//!
//! *Invariant:* this crate never knows a controller, and never a concrete store.

mod accept;
mod admission;
mod allowance;
mod answer;
mod bootstrap;
mod catalogue;
mod definitions;
mod events;
mod finish;
mod guard;
mod handlers;
mod health;
mod identity;
mod logs;
mod metrics;
mod mirror;
mod objects;
mod query;
mod serve;
mod served;
mod service;
mod settings;
mod surroundings;

pub use answer::{Body, Chunks};
pub use guard::{Access, Anonymous, Authorization, StaticToken};
pub use health::Health;
pub use identity::{Identified, Unverified};
pub use logs::{LogRequest, LogStream, Opening, PodLogs};
pub use service::ApiService;
pub use settings::{ServiceAccounts, Settings, UncontrolledKind};
pub use surroundings::Surroundings;

use std::sync::Arc;

use bytes::Bytes;
use gantry_store::Store;

use guard::Guard;
use health::Pulse;
use metrics::{Metered, Metrics};
use objects::Objects;

/// The API over a store.
#[derive(Clone, Debug)]
pub struct ApiServer {
    objects: Objects,
    surroundings: Arc<dyn Surroundings>,
    guard: Arc<Guard>,
    settings: Arc<Settings>,
    pulse: Arc<Pulse>,
    metrics: Arc<Metrics>,
}

impl ApiServer {
    /// An API over this store.
    pub fn new(store: Arc<dyn Store>, surroundings: Arc<dyn Surroundings>, settings: Settings) -> Self {
        let metrics = Arc::new(Metrics::default());
        let store: Arc<dyn Store> = Arc::new(Metered::new(store, Arc::clone(&metrics)));
        Self {
            objects: Objects::new(store, settings.services.clone()),
            surroundings,
            guard: Arc::default(),
            settings: Arc::new(settings),
            pulse: Arc::default(),
            metrics,
        }
    }

    /// Answers one request that was read to its end.
    pub async fn answer(&self, request: http::Request<Bytes>) -> http::Response<Body> {
        let (mut parts, body) = request.into_parts();
        let measured = self.metrics.begin(&parts, &self.objects.catalogues);
        let answer = match guard::admit(self, &mut parts).await {
            Ok(_admitted) => handlers::dispatch(self, &parts, body).await,
            Err(refusal) => Err(refusal),
        };
        measured.end(finish::finish(answer, &parts, self.surroundings.as_ref()))
    }

    /// Says how far the server is in its life, which `/healthz`, `/livez` and `/readyz` pass on.
    pub fn set_health(&self, health: Health) {
        self.pulse.set(health);
    }

    /// Makes sure that everything exists which every cluster has.
    pub async fn prepare(&self) -> Result<(), gantry_registry::Refusal> {
        bootstrap::prepare(self).await?;
        self.settle_definitions().await
    }
}
