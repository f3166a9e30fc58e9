//! The requests of one priority level: which execute, which wait, and which waiting request is next.
//!
//! Each queue has a virtual start: the seat-seconds that it has been given. The next request is the one that would
//! finish first if all active queues progressed at the same rate, so that a queue with many requests gets no more than
//! one with few. A request is charged an estimate when it starts and the actual time when it ends.
//!
//! *Invariant:* no clock and no waiting; times are passed in, and `W` is what the caller wants back with its request.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::configuration::Queuing;
use super::shuffle_sharding::Hand;

/// One of this many seats is reserved for requests of one seat: small ones do not wait until one of many large lists
/// ends.
const SEATS_PER_RESERVED: u32 = 10;
/// Levels with fewer seats reserve none.
const RESERVED_FROM: u32 = 20;

/// The time that a request is assumed to take until it is known.
const ESTIMATED_SECONDS: f64 = 0.003;

/// The requests of a priority level.
#[derive(Debug)]
pub(super) struct QueueSet<W> {
    queuing: Option<Queuing>,
    seat_limit: u32,
    /// The queues with requests, executing or waiting.
    queues: BTreeMap<u32, Queue<W>>,
    /// The seat-seconds that each active queue could have used so far.
    virtual_time: f64,
    updated: Duration,
    executing: u32,
    seats_in_use: u32,
    /// The reserved seats in use: they are only for requests of one seat.
    reserved_in_use: u32,
    waiting: u32,
    seats_waiting: u32,
    last_dispatched: u32,
    arrivals: usize,
    next_id: u64,
}

#[derive(Debug)]
struct Queue<W> {
    waiting: VecDeque<WaitingRequest<W>>,
    virtual_start: f64,
    executing: u32,
    seats_in_use: u32,
    seats_waiting: u32,
}

#[derive(Debug)]
struct WaitingRequest<W> {
    id: u64,
    seats: u32,
    /// The virtual time of its arrival.
    arrived: f64,
    caller: W,
}

/// The decision about a request that arrives.
#[derive(Debug)]
pub(super) enum Arrival {
    /// It executes.
    Executes(ExecutingRequest),
    /// It has to wait in this queue.
    Waits { queue: u32 },
    /// It is rejected.
    Rejected(RejectionReason),
}

/// Why a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RejectionReason {
    /// All seats are in use, and the level has no queues.
    ConcurrencyLimit,
    /// Its queue is full.
    QueueFull,
    /// It waited too long.
    TimeOut,
}

/// The seats of an executing request, which must be released.
#[derive(Debug)]
#[must_use = "the seats are in use until the request is finished"]
pub(super) struct ExecutingRequest {
    queue: Option<u32>,
    seats: u32,
    is_reserved: bool,
    started: Duration,
}

/// The place of a waiting request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaitingPlace {
    queue: u32,
    id: u64,
}

/// A waiting request that executes now.
pub(super) type Dispatched<W> = (W, ExecutingRequest);

impl<W> QueueSet<W> {
    pub(super) fn new(queuing: Option<Queuing>, seat_limit: u32, now: Duration) -> Self {
        Self {
            queuing,
            seat_limit,
            queues: BTreeMap::new(),
            virtual_time: 0.0,
            updated: now,
            executing: 0,
            seats_in_use: 0,
            reserved_in_use: 0,
            waiting: 0,
            seats_waiting: 0,
            last_dispatched: 0,
            arrivals: 0,
            next_id: 0,
        }
    }

    /// The seats that executing and waiting requests need.
    pub(super) fn seat_demand(&self) -> u32 {
        self.seats_in_use + self.seats_waiting
    }

    /// Changes the limits; returns the requests that execute now.
    pub(super) fn configure(
        &mut self,
        queuing: Option<Queuing>,
        seat_limit: u32,
        now: Duration,
    ) -> Vec<Dispatched<W>> {
        self.advance(now);
        self.queuing = queuing;
        self.seat_limit = seat_limit;
        self.dispatch(now)
    }

    /// Decides about a request of a flow that arrives. One that has to wait must be passed to [`Self::enqueue`] next.
    pub(super) fn arrive(&mut self, flow_hash: u64, seats: u32, now: Duration) -> Arrival {
        self.advance(now);
        let Some(queuing) = self.queuing else {
            return if self.fits(seats) || self.fits_reserved(seats) {
                Arrival::Executes(self.execute(None, seats, now))
            } else {
                Arrival::Rejected(RejectionReason::ConcurrencyLimit)
            };
        };
        let queue = self.choose_queue(queuing, flow_hash);
        if self.waiting == 0 && self.fits(seats) {
            self.queues.entry(queue).or_insert_with(|| Queue::new(self.virtual_time));
            return Arrival::Executes(self.execute(Some(queue), seats, now));
        }
        let length = self.queues.get(&queue).map_or(0, |queue| queue.waiting.len());
        if length >= queuing.queue_length_limit as usize {
            return Arrival::Rejected(RejectionReason::QueueFull);
        }
        Arrival::Waits { queue }
    }

    /// Adds a request to the queue that [`Self::arrive`] chose; returns its place and the requests that execute now, which may
    /// include it.
    pub(super) fn enqueue(
        &mut self,
        queue: u32,
        seats: u32,
        caller: W,
        now: Duration,
    ) -> (WaitingPlace, Vec<Dispatched<W>>) {
        self.advance(now);
        let place = WaitingPlace { queue, id: self.next_id };
        self.next_id += 1;
        let chosen = self.queues.entry(queue).or_insert_with(|| Queue::new(self.virtual_time));
        chosen.waiting.push_back(WaitingRequest { id: place.id, seats, arrived: self.virtual_time, caller });
        chosen.seats_waiting += seats;
        chosen.start_after_arrival();
        self.waiting += 1;
        self.seats_waiting += seats;
        (place, self.dispatch(now))
    }

    /// Removes a waiting request; `None` if it no longer waits. Returns the requests that execute now.
    pub(super) fn cancel(&mut self, place: WaitingPlace, now: Duration) -> Option<Vec<Dispatched<W>>> {
        self.advance(now);
        let queue = self.queues.get_mut(&place.queue)?;
        let index = queue.waiting.iter().position(|request| request.id == place.id)?;
        let cancelled = queue.waiting.remove(index)?;
        queue.seats_waiting -= cancelled.seats;
        queue.start_after_arrival();
        self.waiting -= 1;
        self.seats_waiting -= cancelled.seats;
        self.remove_if_idle(place.queue);
        Some(self.dispatch(now))
    }

    /// Gives back the seats of a request; returns the requests that execute now.
    #[expect(clippy::needless_pass_by_value, reason = "seats can be released once")]
    pub(super) fn finish(&mut self, finished: ExecutingRequest, now: Duration) -> Vec<Dispatched<W>> {
        self.advance(now);
        let ExecutingRequest { queue, seats, is_reserved, started } = finished;
        self.executing -= 1;
        self.seats_in_use -= seats;
        self.reserved_in_use -= u32::from(is_reserved);
        if let Some(index) = queue
            && let Some(queue) = self.queues.get_mut(&index)
        {
            queue.executing -= 1;
            queue.seats_in_use -= seats;
            let took = now.saturating_sub(started).as_secs_f64();
            queue.virtual_start += f64::from(seats) * (took - ESTIMATED_SECONDS);
            queue.start_after_arrival();
            self.remove_if_idle(index);
        }
        self.dispatch(now)
    }

    /// Advances the virtual time: the requested seats, up to the limit, are shared by the active queues.
    fn advance(&mut self, now: Duration) {
        let elapsed = now.saturating_sub(self.updated).as_secs_f64();
        self.updated = self.updated.max(now);
        if !self.queues.is_empty() {
            let active = u32::try_from(self.queues.len()).unwrap_or(u32::MAX);
            let seats = self.seat_demand().min(self.seat_limit);
            self.virtual_time += elapsed * f64::from(seats) / f64::from(active);
        }
    }

    /// The queue of the flow's hand with the fewest seats waiting. The search starts at another queue for each request,
    /// so that flows whose hands overlap do not all prefer the same queue.
    fn choose_queue(&mut self, queuing: Queuing, flow_hash: u64) -> u32 {
        let hand = Hand::deal(flow_hash, queuing.queues, queuing.hand_size);
        let (before, after) = hand.queues().split_at(self.arrivals % hand.queues().len().max(1));
        self.arrivals = self.arrivals.wrapping_add(1);
        let waiting = |queue: &&u32| self.queues.get(queue).map_or(0, |queue| queue.seats_waiting);
        after.iter().chain(before).min_by_key(waiting).copied().unwrap_or_default()
    }

    /// Whether this many seats are free, apart from those that are reserved. A request that is wider than the limit executes alone.
    fn fits(&self, seats: u32) -> bool {
        let limit = self.seat_limit - self.reserved_seats();
        if seats > limit {
            self.executing == 0
        } else {
            self.seats_in_use - self.reserved_in_use + seats <= limit
        }
    }

    /// Whether a request of this many seats may have a reserved one.
    fn fits_reserved(&self, seats: u32) -> bool {
        seats == 1 && self.reserved_in_use < self.reserved_seats()
    }

    fn reserved_seats(&self) -> u32 {
        // With reserved seats, the widest request must still fit.
        if self.seat_limit < RESERVED_FROM { 0 } else { self.seat_limit / SEATS_PER_RESERVED }
    }

    fn execute(&mut self, queue: Option<u32>, seats: u32, now: Duration) -> ExecutingRequest {
        let is_reserved = !self.fits(seats) && self.fits_reserved(seats);
        self.executing += 1;
        self.seats_in_use += seats;
        self.reserved_in_use += u32::from(is_reserved);
        if let Some(queue) = queue.and_then(|queue| self.queues.get_mut(&queue)) {
            queue.executing += 1;
            queue.seats_in_use += seats;
            queue.virtual_start += f64::from(seats) * ESTIMATED_SECONDS;
        }
        ExecutingRequest { queue, seats, is_reserved, started: now }
    }

    /// Starts waiting requests for as long as the next one fits.
    fn dispatch(&mut self, now: Duration) -> Vec<Dispatched<W>> {
        let mut dispatched = Vec::new();
        while let Some((index, seats)) = self.next_that_fits() {
            let Some(queue) = self.queues.get_mut(&index) else { break };
            let Some(request) = queue.waiting.pop_front() else { break };
            queue.seats_waiting -= seats;
            self.waiting -= 1;
            self.seats_waiting -= seats;
            let executing = self.execute(Some(index), seats, now);
            if let Some(queue) = self.queues.get_mut(&index) {
                queue.start_after_arrival();
            }
            self.last_dispatched = index;
            dispatched.push((request.caller, executing));
        }
        dispatched
    }

    /// The queue to dispatch from next, if its first waiting request fits; otherwise, while reserved seats are free, the queue of
    /// requests of one seat that is next.
    fn next_that_fits(&self) -> Option<(u32, u32)> {
        let next = self.next(|_| true)?;
        if self.fits(next.1) {
            return Some(next);
        }
        if self.fits_reserved(1) { self.next(|seats| seats == 1) } else { None }
    }

    /// The queue whose first waiting request has the earliest virtual finish, and the seats of that request, among those with
    /// requests of such a width. If there are several, the one after the last that was chosen.
    fn next(&self, is_eligible: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        if self.waiting == 0 {
            return None;
        }
        let after = self.queues.range(self.last_dispatched.saturating_add(1)..);
        let in_turn = after.chain(self.queues.range(..=self.last_dispatched));
        let candidates = in_turn.filter_map(|(index, queue)| {
            let first = queue.waiting.front().filter(|first| is_eligible(first.seats))?;
            let finish = queue.virtual_start + f64::from(first.seats) * ESTIMATED_SECONDS;
            Some((*index, first.seats, finish))
        });
        let earliest = candidates.reduce(|best, other| if other.2 < best.2 { other } else { best });
        earliest.map(|(index, seats, _)| (index, seats))
    }

    /// A queue without requests needs no memory: the next request starts it at the virtual time.
    fn remove_if_idle(&mut self, index: u32) {
        let is_idle = |queue: &Queue<W>| queue.waiting.is_empty() && queue.executing == 0;
        if self.queues.get(&index).is_some_and(is_idle) {
            self.queues.remove(&index);
        }
    }
}

impl<W> Queue<W> {
    fn new(virtual_time: f64) -> Self {
        Self {
            waiting: VecDeque::new(),
            virtual_start: virtual_time,
            executing: 0,
            seats_in_use: 0,
            seats_waiting: 0,
        }
    }

    /// Prevents a queue that used less than its share from accumulating it: no request starts before it arrived.
    fn start_after_arrival(&mut self) {
        if let Some(first) = self.waiting.front() {
            self.virtual_start = self.virtual_start.max(first.arrived);
        }
    }
}

#[cfg(test)]
#[path = "tests/queue_set.rs"]
mod tests;
