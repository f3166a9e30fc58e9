//! The state that all connections of a simulation share: active requests, the trace, and the observer of writes.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gantry_check::PodRequest;
use gantry_model::Timestamp;
use gantry_rng::Rng;
use gantry_runtime::Clock;

use super::faults::{Delivery, Faults, RequestFaults};
use super::options::{SimOptions, SimScope};
use super::store::Commit;
use super::trace::Trace;

/// A client of the simulated server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// The caller of the simulation.
    User,
    /// A replica of the controllers.
    Controllers(usize),
    /// The scheduler.
    Scheduler,
    /// The nodes.
    Nodes,
    /// The server itself, and requests that check whether the cluster is ready.
    Server,
}

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestInfo {
    /// The sender.
    pub component: Component,
    /// Whether it is a delete request.
    pub is_delete: bool,
    /// Whether it has a propagation policy.
    pub has_propagation: bool,
    /// Whether it has a grace period.
    pub has_grace: bool,
}

/// Follows a simulation. Times are those since its start.
pub trait SimObserver: Send {
    /// The server has committed writes.
    fn committed(&mut self, commit: &Commit, at: Duration, request: RequestInfo);

    /// The sender of a request about a pod does not get the response.
    fn lost_response(&mut self, _at: Duration, _request: PodRequest) {}
}

pub(super) struct Network {
    pub(super) clock: Clock,
    start: Timestamp,
    pub(super) scope: SimScope,
    state: Mutex<NetworkState>,
}

struct NetworkState {
    trace: Option<Trace>,
    /// The request that the server is processing.
    active: RequestInfo,
    /// The number of commits, except for leases, heartbeats and the removal of old events.
    writes: u64,
    observer: Option<Box<dyn SimObserver>>,
    faults: Faults,
    rng: Rng,
}

impl Network {
    pub(super) fn new(clock: Clock, options: &SimOptions, rng: Rng) -> Self {
        let state = NetworkState {
            trace: options.trace.then(Trace::default),
            active: RequestInfo::of(Component::Server),
            writes: 0,
            observer: None,
            faults: Faults::default(),
            rng,
        };
        Self { start: clock.now(), clock, scope: options.scope, state: Mutex::new(state) }
    }

    /// Runs work of the server on behalf of a client.
    pub(super) fn on_behalf_of<T>(&self, request: RequestInfo, work: impl FnOnce() -> T) -> T {
        let before = std::mem::replace(&mut self.state().active, request);
        let done = work();
        self.state().active = before;
        done
    }

    pub(super) fn committed(&self, commit: &Commit) {
        let (observer, active) = {
            let mut state = self.state();
            let is_expiry = state.active.component == Component::Server;
            if !is_expiry && commit.writes.iter().any(|write| !is_heartbeat(&write.key)) {
                state.writes += 1;
            }
            (state.observer.take(), state.active)
        };
        let Some(mut observer) = observer else { return };
        observer.committed(commit, self.elapsed(), active);
        self.state().observer = Some(observer);
    }

    pub(super) fn lost_response(&self, request: PodRequest) {
        let observer = self.state().observer.take();
        let Some(mut observer) = observer else { return };
        observer.lost_response(self.elapsed(), request);
        self.state().observer = Some(observer);
    }

    pub(super) fn observe(&self, observer: Box<dyn SimObserver>) {
        self.state().observer = Some(observer);
    }

    pub(super) fn set_faults(&self, faults: Faults) {
        self.state().faults = faults;
    }

    /// Decides the faults and delays of a request. Those of users and of the server itself have none.
    pub(super) fn draw_faults(&self, component: Component, is_update: bool) -> RequestFaults {
        let mut state = self.state();
        let NetworkState { faults, rng, .. } = &mut *state;
        match component {
            Component::User | Component::Server => Faults::default().draw_faults(&mut Rng::new(0), false),
            Component::Controllers(_) | Component::Scheduler | Component::Nodes => {
                faults.draw_faults(rng, is_update)
            }
        }
    }

    /// Decides the delivery of lines of a watch.
    pub(super) fn delivery(&self, component: Component) -> Delivery {
        let mut state = self.state();
        let NetworkState { faults, rng, .. } = &mut *state;
        match component {
            Component::User | Component::Server => Delivery::After(Duration::ZERO),
            Component::Controllers(_) | Component::Scheduler | Component::Nodes => faults.delivery(rng),
        }
    }

    /// The number of commits so far, except for leases and heartbeats.
    pub(super) fn writes(&self) -> u64 {
        self.state().writes
    }

    pub(super) fn is_traced(&self) -> bool {
        self.state().trace.is_some()
    }

    pub(super) fn record(&self, what: &str) {
        let at = self.elapsed();
        if let Some(trace) = &mut self.state().trace {
            trace.add(at, what);
        }
    }

    pub(super) fn trace(&self) -> String {
        self.state().trace.as_ref().map(|trace| trace.text().to_owned()).unwrap_or_default()
    }

    /// The virtual time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.clock.now().since(self.start)
    }

    fn state(&self) -> MutexGuard<'_, NetworkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a key changes all the time, even in an idle cluster.
fn is_heartbeat(key: &str) -> bool {
    ["/registry/leases/", "/registry/nodes/"].iter().any(|prefix| key.starts_with(prefix))
}

impl RequestInfo {
    /// A request that is not a delete request.
    pub(super) fn of(component: Component) -> Self {
        Self { component, is_delete: false, has_propagation: false, has_grace: false }
    }
}

impl Component {
    /// The component of a user name of the server.
    pub(super) fn of(user: &str) -> Self {
        match user {
            "gantry-controllers" => Self::Controllers(0),
            "gantry-scheduler" => Self::Scheduler,
            "gantry-nodes" => Self::Nodes,
            "gantry-cluster" => Self::User,
            _ => Self::Server,
        }
    }

    pub(super) fn user(self) -> &'static str {
        match self {
            Self::User => "gantry-cluster",
            Self::Controllers(_) => "gantry-controllers",
            Self::Scheduler => "gantry-scheduler",
            Self::Nodes => "gantry-nodes",
            Self::Server => "gantry-server",
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("user"),
            Self::Controllers(replica) => write!(f, "controllers-{replica}"),
            Self::Scheduler => f.write_str("scheduler"),
            Self::Nodes => f.write_str("nodes"),
            Self::Server => f.write_str("server"),
        }
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("elapsed", &self.elapsed()).finish_non_exhaustive()
    }
}
