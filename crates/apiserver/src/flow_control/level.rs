//! A running priority level: its requests under a lock, and requests that wait for their seats.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::configuration::Queuing;
use super::queue_set::{Arrival, Dispatched, ExecutingRequest, QueueSet, RejectionReason, WaitingPlace};
use super::retry_after::RejectionHistory;
use super::seat_allocation::{DemandSummary, SeatDemand};

/// Passes the seats to a waiting request.
type SeatSender = oneshot::Sender<ExecutingRequest>;

/// A priority level with limits.
#[derive(Debug)]
pub(super) struct Level {
    state: Mutex<LevelState>,
    /// The instant that the times of the requests count from.
    epoch: Instant,
}

#[derive(Debug)]
struct LevelState {
    requests: QueueSet<SeatSender>,
    seats: u32,
    demand: SeatDemand,
    rejections: RejectionHistory,
}

/// The decision about a request that arrives at a level.
#[derive(Debug)]
pub(super) enum LevelArrival {
    Executes(LevelSeat),
    Waits(WaitingRequest),
    Rejected(RejectionReason),
}

/// The seats of an executing request; dropping them passes them to the next one.
#[derive(Debug)]
pub(super) struct LevelSeat {
    level: Arc<Level>,
    request: Option<ExecutingRequest>,
}

/// A request in a queue; dropping it removes it.
#[derive(Debug)]
pub(super) struct WaitingRequest {
    level: Arc<Level>,
    place: WaitingPlace,
    seats: oneshot::Receiver<ExecutingRequest>,
    is_over: bool,
}

impl Level {
    pub(super) fn new(epoch: Instant) -> Self {
        let state = LevelState {
            requests: QueueSet::new(None, 0, Duration::ZERO),
            seats: 0,
            demand: SeatDemand::default(),
            rejections: RejectionHistory::default(),
        };
        Self { state: Mutex::new(state), epoch }
    }

    /// Adds a request of a flow that arrives.
    pub(super) fn arrive(self: &Arc<Self>, flow_hash: u64, seats: u32) -> LevelArrival {
        let now = self.now();
        let mut state = self.locked();
        let arrival = state.requests.arrive(flow_hash, seats, now);
        let (place, receiver, dispatched) = match arrival {
            Arrival::Rejected(reason) => return LevelArrival::Rejected(reason),
            Arrival::Executes(request) => {
                state.note_demand(now);
                return LevelArrival::Executes(LevelSeat { level: Arc::clone(self), request: Some(request) });
            }
            Arrival::Waits { queue } => {
                let (sender, receiver) = oneshot::channel();
                let (place, dispatched) = state.requests.enqueue(queue, seats, sender, now);
                state.note_demand(now);
                (place, receiver, dispatched)
            }
        };
        drop(state);
        self.start(dispatched);
        LevelArrival::Waits(WaitingRequest {
            level: Arc::clone(self),
            place,
            seats: receiver,
            is_over: false,
        })
    }

    /// Records a rejection; returns the seconds after which the client should try again.
    pub(super) fn reject(&self) -> u64 {
        let second = self.now().as_secs();
        self.locked().rejections.reject(second)
    }

    /// Changes the limits.
    pub(super) fn configure(&self, queuing: Option<Queuing>, seats: u32) {
        let now = self.now();
        let mut state = self.locked();
        state.seats = seats;
        let dispatched = state.requests.configure(queuing, seats, now);
        drop(state);
        self.start(dispatched);
    }

    /// The seats of the level now.
    pub(super) fn seats(&self) -> u32 {
        self.locked().seats
    }

    /// Returns the demand since the last call.
    pub(super) fn take_demand(&self) -> DemandSummary {
        let now = self.now();
        self.locked().demand.take(now)
    }

    fn finish(&self, request: ExecutingRequest) {
        let now = self.now();
        let mut state = self.locked();
        let dispatched = state.requests.finish(request, now);
        state.note_demand(now);
        drop(state);
        self.start(dispatched);
    }

    fn cancel(&self, place: WaitingPlace) {
        let now = self.now();
        let mut state = self.locked();
        let dispatched = state.requests.cancel(place, now);
        state.note_demand(now);
        drop(state);
        self.start(dispatched.unwrap_or_default());
    }

    /// Passes seats on. Seats of requests that were cancelled meanwhile are passed to the next ones.
    fn start(&self, mut dispatched: Vec<Dispatched<SeatSender>>) {
        while let Some((waiting, request)) = dispatched.pop() {
            if let Err(unclaimed) = waiting.send(request) {
                let now = self.now();
                let mut state = self.locked();
                dispatched.extend(state.requests.finish(unclaimed, now));
                state.note_demand(now);
            }
        }
    }

    fn now(&self) -> Duration {
        Instant::now().saturating_duration_since(self.epoch)
    }

    fn locked(&self) -> MutexGuard<'_, LevelState> {
        // A panic cannot leave the state incomplete.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LevelState {
    fn note_demand(&mut self, now: Duration) {
        self.demand.set(self.requests.seat_demand(), now);
    }
}

impl WaitingRequest {
    /// Waits for seats until this instant.
    pub(super) async fn wait(mut self, until: Instant) -> Option<LevelSeat> {
        let request = timeout_at(until, &mut self.seats).await.ok()?.ok()?;
        self.is_over = true;
        Some(LevelSeat { level: Arc::clone(&self.level), request: Some(request) })
    }
}

impl Drop for WaitingRequest {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        // After this, seats either were received or stay with the sender.
        self.seats.close();
        match self.seats.try_recv() {
            Ok(request) => self.level.finish(request),
            Err(_) => self.level.cancel(self.place),
        }
    }
}

impl Drop for LevelSeat {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            self.level.finish(request);
        }
    }
}
