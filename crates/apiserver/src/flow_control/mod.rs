//! API priority and fairness: how many requests execute at once, and which request is dispatched next.
//!
//! ```text
//! request ─► classification ─► FlowSchema ─► priority level ─┬─ exempt: executes
//!                                                            ├─ seats are free: executes
//!                                                            ├─ waits in a queue of its flow
//!                                                            └─ 429: the queue is full, or the wait was too long
//! ```
//!
//! Decisions are in `configuration`, `classification`, `queue_set`, `seat_allocation`, `work_estimate` and
//! `retry_after`, which have no clock and never wait; `level` and this file carry them out. The choices that differ
//! from Kubernetes are in decision 0042.

mod active;
mod classification;
mod configuration;
mod in_flight;
mod level;
mod maintenance;
mod metrics;
mod queue_set;
mod retry_after;
mod seat_allocation;
mod shuffle_sharding;
mod work_estimate;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use gantry_registry::access::User;
use gantry_registry::target::Target;
use http::header::{CONTENT_LENGTH, HeaderName, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use http::{Method, Response};
use tokio::time::Instant;

use crate::request_info::RequestInfo;
use crate::request_timeout;
use crate::response::{ApiResponse, Body};
use crate::settings::RequestLimits;
use active::{ActiveConfiguration, ActiveSchema};
use classification::RequestDigest;
use in_flight::{CountedRequest, InFlightLimits};
use level::{Level, LevelArrival, LevelSeat};
use metrics::FlowMetrics;
use queue_set::RejectionReason;
use work_estimate::{CollectionSizes, Work};

pub(crate) use configuration::FlowObjects;
pub(crate) use maintenance::{PRODUCER, revised, with_condition};
pub(crate) use work_estimate::CollectionHash;

/// The shortest time between two rounds of lending seats.
const REBALANCE_EVERY: Duration = Duration::from_secs(10);
/// The part of its timeout that a request may wait, and the maximum.
const WAIT_PART: u32 = 4;
const WAIT_MAX: Duration = Duration::from_mins(1);
const WAIT_DEFAULT: Duration = Duration::from_secs(15);
const SCHEMA_UID: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");
const LEVEL_UID: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");
/// Subresources whose requests are long-running: they are not limited.
const STREAMS: [&str; 5] = ["attach", "exec", "log", "portforward", "proxy"];

/// The limits on requests in flight.
#[derive(Debug)]
pub(crate) enum FlowControl {
    /// Priority and fairness.
    Fair(FairDispatcher),
    /// Plain limits.
    Plain(PlainLimits),
}

/// Plain limits on reads and writes.
#[derive(Debug)]
pub(crate) struct PlainLimits(InFlightLimits);

/// Assigns requests to priority levels and dispatches them.
#[derive(Debug)]
pub(crate) struct FairDispatcher {
    active: RwLock<Arc<ActiveConfiguration>>,
    server_seats: u32,
    epoch: Instant,
    rebalanced: Mutex<Instant>,
    sizes: RwLock<CollectionSizes>,
    /// Whether any collection is known to be large.
    has_sizes: AtomicBool,
}

/// The seats of a request, and the headers of its response about its level. Dropping it releases the seats.
#[derive(Debug, Default)]
pub(crate) struct FlowControlSlot {
    classified: Option<(Arc<ActiveConfiguration>, usize)>,
    seat: Option<Seat>,
}

/// The seats of a request, or its share of a plain limit.
#[derive(Debug)]
pub(crate) struct Seat(#[expect(dead_code, reason = "dropping it releases the seats")] HeldSeat);

#[derive(Debug)]
enum HeldSeat {
    Plain { _counted: CountedRequest },
    Fair { _seat: Option<LevelSeat>, metrics: Arc<FlowMetrics>, seats: u32 },
}

/// The properties of a request that flow control depends on.
struct ArrivingRequest<'a> {
    digest: RequestDigest<'a>,
    work: Work,
    wait_until: Instant,
}

impl FlowControl {
    /// The limits before any object is read.
    pub(crate) fn new(limits: RequestLimits) -> Self {
        let RequestLimits { reading, mutating, priority_and_fairness } = limits;
        if !priority_and_fairness {
            return Self::Plain(PlainLimits(InFlightLimits::new(reading, mutating)));
        }
        let (epoch, server_seats) = (Instant::now(), reading.saturating_add(mutating).max(1));
        let mandatory = FlowObjects::default().parse();
        let active = ActiveConfiguration::new(mandatory, None, server_seats, epoch);
        Self::Fair(FairDispatcher {
            active: RwLock::new(Arc::new(active)),
            server_seats,
            epoch,
            rebalanced: Mutex::new(epoch),
            sizes: RwLock::default(),
            has_sizes: AtomicBool::default(),
        })
    }

    /// Puts FlowSchemas and PriorityLevelConfigurations into effect.
    pub(crate) fn configure(&self, objects: &FlowObjects) {
        let Self::Fair(fair) = self else { return };
        let parsed = objects.parse();
        let mut active = fair.active.write().unwrap_or_else(PoisonError::into_inner);
        if !active.is(&parsed) {
            let next = ActiveConfiguration::new(parsed, Some(&active), fair.server_seats, fair.epoch);
            *active = Arc::new(next);
        }
    }

    /// Records how much a list has read, for the estimates of later ones.
    pub(crate) fn note_list(&self, collection: CollectionHash, objects: u64, bytes: u64) {
        if let Self::Fair(fair) = self {
            fair.note_list(collection, objects, bytes);
        }
    }

    /// Renders the metrics.
    pub(crate) fn render_metrics(&self) -> String {
        match self {
            Self::Fair(fair) => metrics::render(&fair.active()),
            Self::Plain(_) => String::new(),
        }
    }
}

impl FairDispatcher {
    fn active(&self) -> Arc<ActiveConfiguration> {
        // It is replaced as a whole, so it is valid even after a panic.
        Arc::clone(&self.active.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn note_list(&self, collection: CollectionHash, objects: u64, bytes: u64) {
        let is_known = || {
            self.has_sizes.load(Ordering::Acquire)
                && self.sizes.read().unwrap_or_else(PoisonError::into_inner).contains(collection)
        };
        if !work_estimate::is_large(bytes) && !is_known() {
            return;
        }
        let mut sizes = self.sizes.write().unwrap_or_else(PoisonError::into_inner);
        let any = sizes.note(collection, objects, bytes);
        self.has_sizes.store(any, Ordering::Release);
    }

    /// The seats of a request.
    fn seats(&self, work: Work, most: u32) -> u32 {
        match work {
            Work::List { .. } if self.has_sizes.load(Ordering::Acquire) => {
                self.sizes.read().unwrap_or_else(PoisonError::into_inner).seats(work, most)
            }
            work => CollectionSizes::default().seats(work, most),
        }
    }

    /// Waits for the seats of a request, or returns after how many seconds it should be retried.
    async fn admit(&self, request: ArrivingRequest<'_>, slot: &mut FlowControlSlot) -> Result<(), u64> {
        let active = self.active();
        let index = active.classify(&request.digest);
        slot.classified = Some((Arc::clone(&active), index));
        let schema = active.schema(index);
        let metrics = Arc::clone(&schema.metrics);
        let Some(level) = &schema.level else {
            metrics.begin(1);
            slot.seat = Some(Seat(HeldSeat::Fair { _seat: None, metrics, seats: 1 }));
            return Ok(());
        };
        let seats = self.seats(request.work, schema.width_max);
        let hash = active.flow_hash(index, &request.digest);
        let began = Instant::now();
        let seat = match self.arrive(&active, level, hash, seats) {
            LevelArrival::Executes(seat) => Ok(seat),
            LevelArrival::Rejected(reason) => Err(reason),
            LevelArrival::Waits(waiting) => {
                let _in_queue = metrics.wait();
                waiting.wait(request.wait_until).await.ok_or(RejectionReason::TimeOut)
            }
        };
        metrics.waited(seat.is_ok(), began.elapsed());
        let seat = seat.map_err(|reason| refuse(schema, level, reason))?;
        metrics.begin(seats);
        slot.seat = Some(Seat(HeldSeat::Fair { _seat: Some(seat), metrics, seats }));
        if matches!(request.work, Work::List { .. }) {
            // A list runs without a pause. Requests that arrived meanwhile must be counted first, so that they wait in
            // the queues of their flows and not behind lists that the runtime has started.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Adds a request that arrives; lends seats again before it has to wait.
    fn arrive(
        &self,
        active: &ActiveConfiguration,
        level: &Arc<Level>,
        hash: u64,
        seats: u32,
    ) -> LevelArrival {
        match level.arrive(hash, seats) {
            LevelArrival::Rejected(_) if self.rebalance(active) => level.arrive(hash, seats),
            LevelArrival::Waits(waiting) => {
                self.rebalance(active);
                LevelArrival::Waits(waiting)
            }
            arrival => arrival,
        }
    }

    /// Lends seats again if that is due; returns whether it did.
    fn rebalance(&self, active: &ActiveConfiguration) -> bool {
        let Ok(mut rebalanced) = self.rebalanced.try_lock() else { return false };
        let is_due = rebalanced.elapsed() >= REBALANCE_EVERY;
        if is_due {
            *rebalanced = Instant::now();
            active.rebalance();
        }
        is_due
    }
}

/// Counts a rejection; returns the seconds after which the client should try again.
fn refuse(schema: &ActiveSchema, level: &Level, reason: RejectionReason) -> u64 {
    schema.metrics.reject(reason);
    level.reject()
}

impl FlowControlSlot {
    /// Waits for the seats of the request; returns the response if it is rejected.
    pub(crate) async fn begin(
        &mut self,
        control: &FlowControl,
        info: &RequestInfo,
        user: &User,
    ) -> Option<ApiResponse> {
        if is_long_running(info) {
            return None;
        }
        let admitted = match control {
            FlowControl::Fair(fair) => fair.admit(ArrivingRequest::of(info, user), self).await,
            FlowControl::Plain(PlainLimits(limits)) => {
                let counted = limits.begin(is_mutating(info), user.is_master());
                counted.map(|counted| self.seat = Some(Seat(HeldSeat::Plain { _counted: counted }))).ok_or(1)
            }
        };
        admitted.err().map(too_many_requests)
    }

    /// Takes the seats, which dropping them releases.
    pub(crate) fn take_seat(&mut self) -> Option<Seat> {
        self.seat.take()
    }

    /// Adds the headers that name the FlowSchema and the level.
    pub(crate) fn end(self, mut response: Response<Body>) -> Response<Body> {
        if let Some((active, index)) = &self.classified {
            for (name, uid) in [SCHEMA_UID, LEVEL_UID].into_iter().zip(&active.schema(*index).uids) {
                if let Some(uid) = uid {
                    response.headers_mut().insert(name, uid.clone());
                }
            }
        }
        response
    }
}

impl Drop for HeldSeat {
    fn drop(&mut self) {
        if let Self::Fair { metrics, seats, .. } = self {
            metrics.end(*seats);
        }
    }
}

impl<'a> ArrivingRequest<'a> {
    fn of(info: &'a RequestInfo, user: &'a User) -> Self {
        let timeout = if info.verb == "watch" { None } else { request_timeout::of(info).ok() };
        let wait = timeout.map_or(WAIT_DEFAULT, |timeout| (timeout / WAIT_PART).min(WAIT_MAX));
        Self { digest: RequestDigest::of(info, user), work: work_of(info), wait_until: Instant::now() + wait }
    }
}

fn work_of(info: &RequestInfo) -> Work {
    let Target::Objects(objects) = &info.target else { return Work::Single };
    let number = |text: &str| text.parse().unwrap_or(0);
    let is_list = match info.verb {
        "list" => true,
        // Without a version, a watch begins with the objects that exist.
        "watch" => {
            info.query.flag("sendInitialEvents")
                || matches!(info.query.first("resourceVersion").unwrap_or_default(), "" | "0")
        }
        "create" | "update" | "patch" => {
            return Work::Write { bytes: number(info.header(CONTENT_LENGTH)) };
        }
        _ => false,
    };
    if !is_list || objects.name.is_some() {
        return Work::Single;
    }
    let is_given = |name: &str| info.query.first(name).is_some_and(|text| !text.is_empty());
    Work::List {
        collection: CollectionHash::of(
            &objects.group,
            &objects.resource,
            objects.namespace.as_deref().unwrap_or_default(),
        ),
        limit: number(info.query.first("limit").unwrap_or_default()),
        is_selective: is_given("labelSelector") || is_given("fieldSelector"),
    }
}

/// Whether the request lasts as long as its client wants. A watch is long-running, too, but takes a seat while it
/// begins.
fn is_long_running(info: &RequestInfo) -> bool {
    let Target::Objects(objects) = &info.target else { return false };
    objects.subresource().is_some_and(|part| STREAMS.contains(&part))
}

fn is_mutating(info: &RequestInfo) -> bool {
    match &info.target {
        Target::Objects(_) => !matches!(info.verb, "get" | "list" | "watch"),
        _ => info.method != Method::GET,
    }
}

/// The response to a rejected request, in the form in which Kubernetes sends it.
fn too_many_requests(retry_after: u64) -> ApiResponse {
    ApiResponse::text(429, "Too many requests, please try again later.\n")
        .with(RETRY_AFTER, retry_after.to_string())
        .with(X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned())
}
