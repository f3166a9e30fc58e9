//! The work queue, one case at a time.

use std::time::Duration;

use gantry_model::Timestamp;
use gantry_testkit::{NOON, noon_plus};

use crate::queue::{Outcome, RetryDecision, RetryPolicy, Work, WorkQueue};

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn queue_of(keys: &[&'static str]) -> WorkQueue<&'static str> {
    let mut queue = WorkQueue::new();
    for key in keys {
        queue.add(*key, NOON);
    }
    queue
}

/// All keys that enough workers could take now.
fn take_all(queue: &mut WorkQueue<&'static str>, now: Timestamp) -> Vec<&'static str> {
    std::iter::from_fn(|| queue.next(now)).collect()
}

/// Fails every attempt on `web`, each as soon as the queue returns it, until it is given up.
fn fail_until_given_up(queue: &mut WorkQueue<&'static str>, mut now: Timestamp) -> Vec<Duration> {
    let mut waits = Vec::new();
    loop {
        assert_eq!(queue.next(now), Some("web"));
        if queue.finish(&"web", Outcome::Failure, RetryPolicy::DEPLOYMENT, now) == RetryDecision::GiveUp {
            return waits;
        }
        let due = queue.next_wake().unwrap();
        assert_eq!(queue.next(Timestamp::from_nanos(due.as_nanos() - 1)), None, "returned before it was due");
        waits.push(due.since(now));
        now = due;
    }
}

/// D2.1: keys are returned in the order of arrival, and duplicates collapse without losing their position.
#[test]
fn keys_are_returned_in_order_and_once() {
    let mut queue = queue_of(&["web", "db", "web", "cache", "db"]);
    assert_eq!(take_all(&mut queue, NOON), ["web", "db", "cache"]);
    assert_eq!(queue.adds(), 3);
}

/// D2.1: no second worker gets a key, and a key added meanwhile runs again.
#[test]
fn a_key_added_while_being_worked_on_runs_again_afterwards() {
    let mut queue = queue_of(&["web"]);
    assert_eq!(queue.next(NOON), Some("web"));
    queue.add("web", noon_plus(1));
    queue.add("web", noon_plus(2));
    queue.add("db", noon_plus(2));
    assert_eq!(take_all(&mut queue, noon_plus(2)), ["db"]);
    queue.done(&"web", noon_plus(3));
    assert_eq!(take_all(&mut queue, noon_plus(3)), ["web"]);
    queue.done(&"web", noon_plus(4));
    assert_eq!(queue.next(noon_plus(4)), None);
}

/// D2.1: a delayed key that becomes due while it is being processed waits for its worker, too.
#[test]
fn a_delayed_key_never_joins_a_running_worker() {
    let mut queue = queue_of(&["web"]);
    queue.next(NOON);
    queue.add_after("web", millis(500), NOON);
    assert_eq!(queue.next(noon_plus(1)), None);
    queue.done(&"web", noon_plus(2));
    assert_eq!(queue.next(noon_plus(2)), Some("web"));
}

#[test]
fn finishing_a_key_that_is_not_running_changes_nothing() {
    let mut queue = queue_of(&["web"]);
    assert_eq!(queue.done(&"web", NOON), None);
    assert_eq!(queue.done(&"db", NOON), None);
    assert_eq!(take_all(&mut queue, NOON), ["web"]);
}

/// D2.4: of two delays of one key the one that ends first wins, in whichever order they were added.
#[test]
fn the_earliest_delay_of_a_key_wins() {
    for delays in [[5, 9], [9, 5]] {
        let mut queue = WorkQueue::new();
        for delay in delays {
            queue.add_after("web", Duration::from_secs(delay), NOON);
        }
        assert_eq!(queue.next_wake(), Some(noon_plus(5)));
        assert_eq!(queue.next(noon_plus(4)), None);
        assert_eq!(queue.next(noon_plus(5)), Some("web"));
        queue.done(&"web", noon_plus(5));
        assert_eq!((queue.next(noon_plus(99)), queue.next_wake()), (None, None));
    }
}

/// D2.4: a progress check and a retry of one key are one delay.
#[test]
fn a_retry_replaces_a_progress_check_that_is_further_away() {
    let mut queue = WorkQueue::new();
    queue.add_after("web", Duration::from_mins(10), NOON);
    assert_eq!(queue.add_rate_limited("web", NOON), millis(5));
    assert_eq!((queue.delayed(), queue.next_wake()), (1, Some(NOON.plus(millis(5)))));
}

/// D2.4 is about delays only: adding a key at once does not cancel its later progress check.
#[test]
fn a_key_that_is_added_at_once_still_gets_its_progress_check() {
    let mut queue = WorkQueue::new();
    queue.add_after("web", Duration::from_mins(10), NOON);
    queue.add("web", NOON);
    assert_eq!(queue.next(NOON), Some("web"));
    queue.done(&"web", NOON);
    assert_eq!(queue.next(noon_plus(599)), None);
    assert_eq!(queue.next(noon_plus(600)), Some("web"));
}

#[test]
fn a_key_whose_delay_ended_precedes_a_later_add() {
    let mut queue = WorkQueue::new();
    queue.add_after("last", millis(30), NOON);
    queue.add_after("first", millis(10), NOON);
    queue.add_after("second", millis(10), NOON);
    queue.add("third", NOON.plus(millis(20)));
    assert_eq!(take_all(&mut queue, noon_plus(1)), ["first", "second", "third", "last"]);
}

#[test]
fn a_zero_delay_adds_the_key_at_once() {
    let mut queue = WorkQueue::new();
    queue.add_after("web", Duration::ZERO, NOON);
    assert_eq!((queue.next_wake(), queue.next(NOON)), (None, Some("web")));
}

/// D2.3: fifteen retries from 5 ms to 81.92 s; the 16th failure drops the key, which starts over when added again.
#[test]
fn the_sixteenth_failure_drops_the_key_until_it_is_added_again() {
    let mut queue = queue_of(&["web"]);
    let waits = fail_until_given_up(&mut queue, NOON);
    assert_eq!(waits, (0..15).map(|n| millis(5 << n)).collect::<Vec<_>>());
    assert_eq!((queue.requeues(&"web"), queue.next_wake(), queue.depth()), (0, None, 0));
    queue.add("web", noon_plus(600));
    assert_eq!(fail_until_given_up(&mut queue, noon_plus(600)).first(), Some(&millis(5)));
}

/// D2.2: success and a terminating namespace forget the failures.
#[test]
fn success_resets_the_backoff_of_a_key() {
    for outcome in [Outcome::Success, Outcome::NamespaceTerminating] {
        let mut queue = queue_of(&["web"]);
        queue.add_rate_limited("web", NOON);
        queue.add_rate_limited("web", NOON);
        queue.next(NOON);
        assert_eq!(queue.finish(&"web", outcome, RetryPolicy::DEPLOYMENT, NOON), RetryDecision::Forget);
        assert_eq!(queue.requeues(&"web"), 0);
        assert_eq!(queue.add_rate_limited("web", NOON), millis(5));
    }
}

/// D2.3 without its cap: a `ReplicaSet` that fails forever is retried forever, in the end every 1000 s.
#[test]
fn a_replica_set_is_never_dropped() {
    let mut queue = queue_of(&["web"]);
    let (mut now, mut wait) = (NOON, Duration::ZERO);
    for _ in 0..40 {
        assert_eq!(queue.next(now), Some("web"));
        assert_eq!(
            queue.finish(&"web", Outcome::Failure, RetryPolicy::REPLICA_SET, now),
            RetryDecision::Requeue
        );
        let due = queue.next_wake().unwrap();
        wait = due.since(now);
        now = due;
    }
    assert_eq!((wait, queue.requeues(&"web")), (Duration::from_secs(1000), 40));
}

#[test]
fn a_queue_that_shuts_down_ignores_new_keys_and_drains() {
    let mut queue = queue_of(&["web", "db"]);
    assert_eq!(queue.next(NOON), Some("web"));
    queue.add("web", NOON);
    queue.add_after("due", millis(500), NOON);
    queue.add_after("later", millis(1500), NOON);
    queue.shut_down(noon_plus(1));
    queue.add("new", noon_plus(1));
    queue.add_after("new", millis(5), noon_plus(1));
    queue.add_rate_limited("new", noon_plus(1));
    assert_eq!(queue.next_wake(), None);

    assert_eq!(take_all(&mut queue, noon_plus(9)), ["db", "due"]);
    assert!(!queue.is_drained(), "three workers are busy");
    for key in ["db", "due", "web"] {
        queue.done(&key, noon_plus(9));
    }
    assert_eq!(take_all(&mut queue, noon_plus(9)), ["web"], "it was added again before the end");
    queue.done(&"web", noon_plus(9));
    assert!(queue.is_drained());
}

#[test]
fn an_open_queue_is_never_drained() {
    let queue = WorkQueue::<u8>::new();
    assert!(!queue.is_shutting_down() && !queue.is_drained());
}

#[test]
fn the_values_of_the_metrics_are_available() {
    let mut queue = queue_of(&["web", "db"]);
    queue.add_after("db", millis(500), NOON);
    assert_eq!((queue.depth(), queue.adds(), queue.retries(), queue.delayed()), (2, 2, 1, 1));
    assert_eq!(queue.next(noon_plus(3)), Some("web"));
    queue.add("web", noon_plus(4));
    assert_eq!((queue.depth(), queue.waiting_since()), (2, Some(NOON)));

    let work = Work { added: NOON, started: noon_plus(3) };
    assert_eq!(queue.work(&"web"), Some(work));
    assert_eq!(queue.running().collect::<Vec<_>>(), [(&"web", work)]);
    assert_eq!((work.waited(), work.lasted(noon_plus(5))), (Duration::from_secs(3), Duration::from_secs(2)));
    assert_eq!(queue.done(&"web", noon_plus(5)), Some(work));
    assert_eq!((queue.work(&"web"), queue.depth()), (None, 2));
}

#[test]
fn a_delayed_key_waits_for_a_worker_only_from_its_time_on() {
    let mut queue = WorkQueue::new();
    queue.add_after("web", Duration::from_mins(1), NOON);
    queue.next(noon_plus(61));
    assert_eq!(queue.work(&"web").unwrap().waited(), Duration::from_secs(1));
}

#[test]
fn a_delay_beyond_the_end_of_time_is_not_a_panic() {
    let mut queue = WorkQueue::new();
    queue.add_after("web", Duration::MAX, NOON);
    assert_eq!(queue.next_wake(), Some(Timestamp::from_nanos(i64::MAX)));
    assert_eq!(queue.next(noon_plus(1)), None);
}
