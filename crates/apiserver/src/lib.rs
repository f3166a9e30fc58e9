//! The Kubernetes API over any store.
//!
//! A request is an `http::Request` with its whole body, a response an `http::Response` whose body may be a stream that
//! never ends: a watch. Sockets and TLS are not here; a listener or an in-process client calls [`ApiServer::serve`]; in
//! process, that is [`ApiService`].
//!
//! ```text
//! request ─► authentication ─► flow control ─► authorization ─► handlers ─► registry (validation, defaults, …) ─► objects ─► store
//! ```
//!
//! *Invariant:* this crate never depends on a controller, or on a concrete store.

mod accept;
mod admission;
mod authentication;
mod authorization;
mod bootstrap;
mod catalogue;
mod chunk_buffer;
mod decoded_cache;
mod definitions;
mod detached_writes;
mod environment;
mod error;
mod events;
mod flow_control;
mod handlers;
mod health;
mod heavy_work;
mod metadata;
mod metrics;
mod node_connector;
mod objects;
mod query;
mod request_body;
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
mod unsent_responses;
mod warning_header;

pub use authentication::{AuthenticatedUser, UnverifiedCertificate};
pub use authorization::{Access, Anonymous, Authorization, StaticToken};
pub use environment::Environment;
pub use health::Health;
pub use node_connector::{
    NodeConnector, NodeEndpoint, NodeError, NodeResponse, NodeTarget, ProxyDestination, ProxyTransport,
    is_global_unicast,
};
pub use request_body::RequestStream;
pub use request_info::PeerAddress;
pub use response::{Body, Chunks};
pub use service::ApiService;
pub use settings::{MemoryLimits, RequestLimits, ServiceAccounts, Settings, UncontrolledKind};

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use gantry_primitives::Refusal;
use gantry_registry::access::Policy;
use gantry_registry::access::node::NodeGraph;
use gantry_store::Store;
use http::Method;

use admission::PriorityClasses;
use authentication::signing_key::SigningKeys;
use detached_writes::DetachedWrites;
use error::ApiError;
use flow_control::{FlowControl, FlowControlSlot, FlowObjects};
use health::HealthState;
use heavy_work::{HeavyWork, off_worker};
use metrics::{Metrics, TimedStore};
use objects::Objects;
use request_body::{BodyMemory, ReadBody};
use request_info::RequestInfo;
use response::ApiResponse;
use store_cache::StoreCache;
use unsent_responses::UnsentResponses;

/// The future of a task that the host of a server starts, boxed so that it is compiled in this crate and not in the host's.
pub type Maintenance<'a> = Pin<Box<dyn Future<Output = Result<(), Refusal>> + Send + 'a>>;

type HandlerFuture<'a> = Pin<Box<dyn Future<Output = Result<ApiResponse, ApiError>> + Send + 'a>>;

/// Reads the body of a request.
type BodyFuture<'a> = Pin<&'a mut (dyn Future<Output = Result<ReadBody, ApiError>> + Send + 'a)>;

/// The API over a store. Cheap to clone: every request holds one.
#[derive(Clone, Debug)]
pub struct ApiServer {
    parts: Arc<ServerParts>,
}

/// The state that the clones of a server share.
#[derive(Debug)]
pub struct ServerParts {
    objects: Objects,
    environment: Arc<dyn Environment>,
    signing_keys: Arc<SigningKeys>,
    policies: Arc<StoreCache<Policy>>,
    priority_classes: Arc<StoreCache<PriorityClasses>>,
    node_graph: Arc<StoreCache<NodeGraph>>,
    flow_objects: Arc<StoreCache<FlowObjects>>,
    flow_control: Arc<FlowControl>,
    settings: Arc<Settings>,
    health: Arc<HealthState>,
    metrics: Arc<Metrics>,
    detached_writes: Arc<DetachedWrites>,
    heavy_work: Arc<HeavyWork>,
    body_memory: BodyMemory,
    unsent_responses: Arc<UnsentResponses>,
}

impl std::ops::Deref for ApiServer {
    type Target = ServerParts;

    fn deref(&self) -> &ServerParts {
        &self.parts
    }
}

impl ApiServer {
    /// Returns an API server over this store.
    pub fn new(store: Arc<dyn Store>, environment: Arc<dyn Environment>, settings: Settings) -> Self {
        let metrics = Arc::new(Metrics::default());
        let store: Arc<dyn Store> = Arc::new(TimedStore::new(store, Arc::clone(&metrics)));
        let heavy_work = Arc::new(HeavyWork::default());
        let parts = ServerParts {
            objects: Objects::new(store, &settings, Arc::clone(&heavy_work)),
            environment,
            signing_keys: Arc::default(),
            policies: Arc::default(),
            priority_classes: Arc::default(),
            flow_objects: Arc::default(),
            flow_control: Arc::new(FlowControl::new(settings.requests)),
            node_graph: Arc::default(),
            body_memory: BodyMemory::of(settings.memory.request_bodies),
            unsent_responses: Arc::new(UnsentResponses::new(settings.memory.unsent_responses)),
            settings: Arc::new(settings),
            health: Arc::default(),
            metrics,
            heavy_work,
            detached_writes: Arc::default(),
        };
        Self { parts: Arc::new(parts) }
    }

    /// Handles one request whose body has been read.
    pub async fn handle(&self, request: http::Request<Bytes>) -> http::Response<Body> {
        let (parts, body) = request.into_parts();
        let body = pin!(std::future::ready(Ok(ReadBody::in_memory(body))));
        self.respond(RequestInfo::parse(parts), body).await
    }

    /// Responds to a request, whose body is read after it is authorized.
    ///
    /// The future is boxed so that it is compiled here, not in every crate and for every kind of body that is served.
    fn respond<'a>(
        &'a self,
        info: RequestInfo,
        body: BodyFuture<'a>,
    ) -> Pin<Box<dyn Future<Output = http::Response<Body>> + Send + 'a>> {
        Box::pin(self.respond_measured(info, body))
    }

    async fn respond_measured(&self, mut info: RequestInfo, body: BodyFuture<'_>) -> http::Response<Body> {
        let measured = self.metrics.begin(&info, &self.objects.catalogues);
        let mut flow_slot = FlowControlSlot::default();
        let mut result = self.handle_with_seats(&mut info, body, &mut flow_slot).await;
        let bytes = result.as_ref().map_or(0, ApiResponse::whole_bytes);
        let slot = result.as_mut().ok().and_then(ApiResponse::take_slot);
        let filter = || response_filters::apply(result, &info, self.environment.as_ref());
        let (response, _slot) = match slot {
            Some(slot) => (off_worker(filter), Some(slot)),
            None => self.heavy_work.run_keeping_slot(bytes, filter).await,
        };
        let response = self.unsent_responses.count(response).unwrap_or_else(|| {
            response_filters::apply(Err(ApiError::TooManyRequests), &info, self.environment.as_ref())
        });
        measured.end(flow_slot.end(response))
    }

    /// Authenticates the request, waits for its seats, authorizes it, reads its body and handles it.
    async fn handle_with_seats(
        &self,
        info: &mut RequestInfo,
        mut body: BodyFuture<'_>,
        flow_slot: &mut FlowControlSlot,
    ) -> Result<ApiResponse, ApiError> {
        let user = authorization::user(self, info).await?;
        if let Some(rejection) = flow_slot.begin(&self.flow_control, info, &user).await {
            return Ok(rejection);
        }
        authorization::authorize(self, info, user).await?;
        let body = match poll_fn(|context| Poll::Ready(body.as_mut().poll(context))).await {
            Poll::Ready(body) => body?,
            Poll::Pending => {
                // A client that sends slowly keeps no seat meanwhile.
                drop(flow_slot.take_seat());
                let body = body.await?;
                let user = Arc::clone(&info.caller.user);
                if let Some(rejection) = flow_slot.begin(&self.flow_control, info, &user).await {
                    return Ok(rejection);
                }
                body
            }
        };
        self.handle_authorized(info, body, flow_slot).await
    }

    /// Handles an authorized request. A write runs to its end even if the returned future is dropped, and keeps its seat until
    /// then.
    ///
    /// The future is boxed because it is large and would be moved.
    fn handle_authorized<'a>(
        &'a self,
        info: &'a RequestInfo,
        body: ReadBody,
        flow_slot: &mut FlowControlSlot,
    ) -> HandlerFuture<'a> {
        if info.method == Method::GET || info.is_proxied() {
            return Box::pin(self.dispatch(info, body));
        }
        let (server, info) = (self.clone(), info.clone());
        let seat = flow_slot.take_seat();
        Box::pin(self.detached_writes.detachable(async move {
            let _seat = seat;
            server.dispatch(&info, body).await
        }))
    }

    async fn dispatch(&self, info: &RequestInfo, body: ReadBody) -> Result<ApiResponse, ApiError> {
        let _pending = authorization::pending_write(self, info);
        if info.is_proxied() {
            return Box::pin(handlers::proxy(self, info, body.into_stream())).await;
        }
        let bytes = body.bytes.len();
        // Boxed because it is large and would be moved.
        let handled = Box::pin(handlers::dispatch(self, info, body.bytes));
        self.heavy_work.run_future(bytes, handled).await
    }

    /// Returns when the writes have ended whose clients disconnected before the response.
    ///
    /// A host calls it after the last connection has ended and before it closes the store.
    pub async fn finish_detached_writes(&self) {
        self.detached_writes.ended().await;
    }

    /// Sets the health that `/healthz`, `/livez` and `/readyz` report.
    pub fn set_health(&self, health: Health) {
        self.health.set(health);
    }

    /// Creates the default objects of a cluster where they are missing, and reconciles the definitions.
    pub fn prepare(&self) -> Maintenance<'_> {
        Box::pin(async {
            bootstrap::prepare(self).await?;
            self.refresh_flow_control().await?;
            self.reconcile_definitions().await
        })
    }

    /// Completes the deletions of pods that a crash interrupted. It reads all pods: a host with a store where that can happen
    /// calls it once the server is up.
    pub async fn complete_deletions(&self) -> Result<(), Refusal> {
        Ok(unfinished_deletions::complete(self).await?)
    }
}
