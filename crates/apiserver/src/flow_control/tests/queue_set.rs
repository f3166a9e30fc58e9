//! Tests of fair queuing, single rules first, then properties of random histories.

use gantry_rng::Rng;

use super::*;

const QUEUING: Queuing = Queuing { queues: 64, hand_size: 4, queue_length_limit: 5 };

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Makes a request arrive and wait if it has to; `None` if it was rejected.
fn arrives<W>(
    set: &mut QueueSet<W>,
    flow: u64,
    seats: u32,
    caller: W,
    now: Duration,
) -> Result<(Option<ExecutingRequest>, Vec<Dispatched<W>>), RejectionReason> {
    match set.arrive(flow, seats, now) {
        Arrival::Executes(executing) => Ok((Some(executing), Vec::new())),
        Arrival::Waits { queue } => Ok((None, set.enqueue(queue, seats, caller, now).1)),
        Arrival::Rejected(reason) => Err(reason),
    }
}

fn starts<W>(set: &mut QueueSet<W>, flow: u64, seats: u32, caller: W) -> ExecutingRequest {
    arrives(set, flow, seats, caller, millis(0)).unwrap().0.unwrap()
}

#[test]
fn a_request_executes_while_seats_are_free() {
    let mut set = QueueSet::new(Some(QUEUING), 2, millis(0));
    let first = starts(&mut set, 1, 1, "a");
    let _second = starts(&mut set, 1, 1, "b");
    let (third, _) = arrives(&mut set, 1, 1, "c", millis(0)).unwrap();
    assert!(third.is_none(), "it waits");
    let next = set.finish(first, millis(5));
    assert_eq!(next.iter().map(|(caller, _)| *caller).collect::<Vec<_>>(), ["c"]);
    assert_eq!(set.seat_demand(), 2);
}

#[test]
fn a_level_without_queues_rejects() {
    let mut set = QueueSet::new(None, 1, millis(0));
    let _first = starts(&mut set, 1, 1, "a");
    assert_eq!(arrives(&mut set, 2, 1, "b", millis(0)).unwrap_err(), RejectionReason::ConcurrencyLimit);
}

/// One flow fills the queues of its hand; then its requests are rejected, and requests of another flow are not.
#[test]
fn a_full_queue_rejects_only_its_flows() {
    let mut set = QueueSet::new(Some(QUEUING), 1, millis(0));
    let _first = starts(&mut set, 1, 1, 0);
    for request in 1..=20 {
        assert!(arrives(&mut set, 1, 1, request, millis(0)).is_ok(), "{request}");
    }
    assert_eq!(arrives(&mut set, 1, 1, 21, millis(0)).unwrap_err(), RejectionReason::QueueFull);
    assert!(arrives(&mut set, 1 << 40, 1, 22, millis(0)).is_ok());
}

/// After a flood of one flow, the first request of another flow is the next one.
#[test]
fn a_quiet_flow_is_next_after_a_flood() {
    let mut set = QueueSet::new(Some(Queuing { hand_size: 1, ..QUEUING }), 1, millis(0));
    let first = starts(&mut set, 1, 1, "noisy");
    for _ in 0..5 {
        arrives(&mut set, 1, 1, "noisy", millis(0)).unwrap();
    }
    arrives(&mut set, 2, 1, "quiet", millis(1)).unwrap();
    let next = set.finish(first, millis(100));
    assert_eq!(next[0].0, "quiet");
}

#[test]
fn a_wide_request_takes_its_seats_and_one_beyond_the_limit_executes_alone() {
    let mut set = QueueSet::new(Some(QUEUING), 4, millis(0));
    let first = starts(&mut set, 1, 3, "wide");
    assert!(arrives(&mut set, 2, 2, "second", millis(0)).unwrap().0.is_none(), "3 + 2 > 4");
    let next = set.finish(first, millis(1));
    let (_, second) = next.into_iter().next().unwrap();
    assert!(arrives(&mut set, 3, 9, "widest", millis(1)).unwrap().0.is_none());
    assert_eq!(set.finish(second, millis(2)).len(), 1, "it executes alone");
}

/// Large lists that hold most seats for long do not keep small requests waiting until one of them ends.
#[test]
fn a_small_request_does_not_wait_for_wide_ones() {
    let mut set = QueueSet::new(Some(Queuing { hand_size: 1, ..QUEUING }), 40, millis(0));
    let lists: Vec<_> = (0..4).map(|_| starts(&mut set, 1, 9, "list")).collect();
    assert!(arrives(&mut set, 1, 9, "list", millis(0)).unwrap().0.is_none(), "four seats are reserved");
    let small: Vec<_> = (0..9)
        .filter_map(|_| {
            let (started, dispatched) = arrives(&mut set, 2, 1, "small", millis(1)).unwrap();
            started.or_else(|| dispatched.into_iter().next().map(|(_, executing)| executing))
        })
        .collect();
    assert_eq!(small.len(), 4, "the reserved seats");
    let mut next = Vec::new();
    for list in lists {
        next.extend(set.finish(list, millis(500)));
    }
    assert_eq!(next.iter().filter(|(caller, _)| *caller == "list").count(), 1);
    for (_, executing) in next {
        set.finish(executing, millis(600));
    }
    for executing in small {
        set.finish(executing, millis(600));
    }
    assert_eq!((set.seats_in_use, set.reserved_in_use), (0, 0));
}

#[test]
fn a_cancelled_request_leaves_its_queue() {
    let mut set = QueueSet::new(Some(QUEUING), 1, millis(0));
    let first = starts(&mut set, 1, 1, "a");
    let Arrival::Waits { queue } = set.arrive(1, 1, millis(0)) else { panic!("it has to wait") };
    let (place, _) = set.enqueue(queue, 1, "b", millis(0));
    assert!(set.cancel(place, millis(1)).is_some());
    assert!(set.cancel(place, millis(1)).is_none(), "it no longer waits");
    assert!(set.finish(first, millis(2)).is_empty());
    assert!(set.queues.is_empty());
    assert_eq!((set.executing, set.waiting), (0, 0));
}

#[test]
fn more_seats_let_waiting_requests_start() {
    let mut set = QueueSet::new(Some(QUEUING), 1, millis(0));
    let _first = starts(&mut set, 1, 1, "a");
    arrives(&mut set, 1, 1, "b", millis(0)).unwrap();
    arrives(&mut set, 1, 1, "c", millis(0)).unwrap();
    assert_eq!(set.configure(Some(QUEUING), 3, millis(1)).len(), 2);
}

/// A flow that keeps ten times as many requests waiting as another gets the same seats over time.
#[test]
fn flows_share_the_seats_equally() {
    let mut set = QueueSet::new(Some(Queuing { hand_size: 1, ..QUEUING }), 2, millis(0));
    let (mut served, mut executing, mut now) = ([0_u32; 2], VecDeque::new(), 0);
    let mut waiting = [0_usize; 2];
    while served[0] + served[1] < 400 {
        for (flow, wanted) in [(0, 5), (1, 1)] {
            while waiting[flow] < wanted {
                match arrives(&mut set, flow as u64, 1, flow, millis(now)).unwrap() {
                    (Some(started), _) => executing.push_back((flow, started)),
                    (None, dispatched) => {
                        waiting[flow] += 1;
                        for (flow, started) in dispatched {
                            waiting[flow] -= 1;
                            executing.push_back((flow, started));
                        }
                    }
                }
            }
        }
        now += 10;
        let (flow, first) = executing.pop_front().unwrap();
        served[flow] += 1;
        for (flow, started) in set.finish(first, millis(now)) {
            waiting[flow] -= 1;
            executing.push_back((flow, started));
        }
    }
    assert!(served[0].abs_diff(served[1]) <= 20, "{served:?}");
}

/// In any history: seats in use are within the limit, no request is lost or started twice, and if a request waits the
/// next one does not fit.
#[test]
fn random_histories_keep_the_invariants() {
    for seed in 0..200 {
        History::new(seed).play();
    }
}

struct History {
    seed: u64,
    rng: Rng,
    set: QueueSet<u64>,
    now: Duration,
    executing: BTreeMap<u64, ExecutingRequest>,
    waiting: BTreeMap<u64, WaitingPlace>,
    next: u64,
}

impl History {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let queuing = Queuing {
            queues: u32::try_from(rng.between(1, 16)).unwrap(),
            hand_size: 1 + u32::from(rng.percent(50)),
            queue_length_limit: u32::try_from(rng.between(1, 8)).unwrap(),
        };
        let limit = u32::try_from(rng.between(0, 6)).unwrap();
        let set = QueueSet::new((!rng.one_in(8)).then_some(queuing), limit, millis(0));
        let (executing, waiting) = (BTreeMap::new(), BTreeMap::new());
        Self { seed, rng, set, now: millis(0), executing, waiting, next: 0 }
    }

    fn play(mut self) {
        for _ in 0..300 {
            self.now += millis(self.rng.below(20));
            match self.rng.below(10) {
                0..=4 => self.arrive(),
                5..=7 => self.finish_one(),
                8 => self.cancel_one(),
                _ => {
                    let limit = u32::try_from(self.rng.between(0, 6)).unwrap();
                    let dispatched = self.set.configure(self.set.queuing, limit, self.now);
                    self.started(dispatched);
                }
            }
            self.check();
        }
        while !self.executing.is_empty() {
            self.finish_one();
        }
        assert!(
            self.waiting.is_empty() && self.set.seat_demand() == 0,
            "seed {}: all requests end",
            self.seed
        );
        assert!(self.set.queues.is_empty(), "seed {}: idle queues are removed", self.seed);
    }

    fn arrive(&mut self) {
        let (flow, seats) = (self.rng.below(6), u32::try_from(self.rng.between(1, 4)).unwrap());
        let id = self.next;
        self.next += 1;
        match self.set.arrive(flow, seats, self.now) {
            Arrival::Executes(started) => drop(self.executing.insert(id, started)),
            Arrival::Waits { queue } => {
                let (place, dispatched) = self.set.enqueue(queue, seats, id, self.now);
                self.waiting.insert(id, place);
                self.started(dispatched);
            }
            Arrival::Rejected(_) => {
                assert!(!self.executing.is_empty(), "seed {}: an idle level rejects", self.seed);
            }
        }
    }

    fn finish_one(&mut self) {
        let ids: Vec<u64> = self.executing.keys().copied().collect();
        if ids.is_empty() {
            return;
        }
        let Some(finished) = self.executing.remove(&self.rng.pick(&ids)) else { return };
        let dispatched = self.set.finish(finished, self.now);
        self.started(dispatched);
    }

    fn cancel_one(&mut self) {
        let ids: Vec<u64> = self.waiting.keys().copied().collect();
        if ids.is_empty() {
            return;
        }
        let Some(place) = self.waiting.remove(&self.rng.pick(&ids)) else { return };
        let dispatched = self.set.cancel(place, self.now);
        self.started(dispatched.unwrap_or_else(|| panic!("seed {}: it waits", self.seed)));
    }

    fn started(&mut self, dispatched: Vec<Dispatched<u64>>) {
        for (id, started) in dispatched {
            assert!(self.waiting.remove(&id).is_some(), "seed {}: {id} was not waiting", self.seed);
            assert!(self.executing.insert(id, started).is_none(), "seed {}: {id} starts twice", self.seed);
        }
    }

    fn check(&self) {
        let (set, seed) = (&self.set, self.seed);
        let in_use: u32 = self.executing.values().map(|request| request.seats).sum();
        assert_eq!((set.seats_in_use, set.executing as usize), (in_use, self.executing.len()), "seed {seed}");
        assert_eq!(set.waiting as usize, self.waiting.len(), "seed {seed}");
        let queued: u32 = set.queues.values().map(|queue| queue.seats_waiting).sum();
        assert_eq!(set.seats_waiting, queued, "seed {seed}");
        if let Some((_, seats)) = set.next(|_| true) {
            assert!(!set.fits(seats), "seed {seed}: a request waits although it fits");
        }
        for queue in set.queues.values() {
            assert!(queue.virtual_start.is_finite(), "seed {seed}");
        }
    }
}
