//! The queue under generated calls, compared with a model made of plain lists.

use std::time::Duration;

use gantry_model::Timestamp;
use gantry_testkit::NOON;
use proptest::prelude::*;

use crate::queue::WorkQueue;

type Key = u8;

#[derive(Clone, Debug)]
enum Call {
    Add(Key),
    AddAfter(Key, u64),
    AddRateLimited(Key),
    Next,
    /// One of the running keys is done.
    Done(prop::sample::Index),
    Forget(Key),
    Pause(u64),
    ShutDown,
}

/// The model.
#[derive(Debug, Default)]
struct Naive {
    ready: Vec<Key>,
    running: Vec<Key>,
    again: Vec<Key>,
    delayed: Vec<(Timestamp, Key)>,
    closed: bool,
}

impl Naive {
    fn add(&mut self, key: Key) {
        if self.closed || self.ready.contains(&key) || self.again.contains(&key) {
        } else if self.running.contains(&key) {
            self.again.push(key);
        } else {
            self.ready.push(key);
        }
    }

    fn add_at(&mut self, key: Key, due: Timestamp) {
        if self.closed || self.delayed.iter().any(|&(other, waiting)| waiting == key && other <= due) {
            return;
        }
        self.delayed.retain(|&(_, waiting)| waiting != key);
        self.delayed.push((due, key));
    }

    fn pass(&mut self, now: Timestamp) {
        let (mut due, later): (Vec<_>, Vec<_>) = self.delayed.iter().partition(|(due, _)| *due <= now);
        self.delayed = later;
        due.sort_by_key(|(due, _)| *due);
        for (_, key) in due {
            self.add(key);
        }
    }

    fn next(&mut self) -> Option<Key> {
        let key = (!self.ready.is_empty()).then(|| self.ready.remove(0))?;
        self.running.push(key);
        Some(key)
    }

    fn done(&mut self, key: Key) {
        self.running.retain(|&running| running != key);
        if self.again.contains(&key) {
            self.again.retain(|&again| again != key);
            self.ready.push(key);
        }
    }

    fn shut_down(&mut self) {
        self.closed = true;
        self.delayed.clear();
    }
}

fn call() -> impl Strategy<Value = Call> {
    let key = || 0_u8..5;
    prop_oneof![
        8 => key().prop_map(Call::Add),
        6 => (key(), 0_u64..40).prop_map(|(key, delay)| Call::AddAfter(key, delay)),
        4 => key().prop_map(Call::AddRateLimited),
        12 => Just(Call::Next),
        8 => any::<prop::sample::Index>().prop_map(Call::Done),
        2 => key().prop_map(Call::Forget),
        6 => (0_u64..30).prop_map(Call::Pause),
        1 => Just(Call::ShutDown),
    ]
}

fn carry_out(
    call: &Call,
    queue: &mut WorkQueue<Key>,
    naive: &mut Naive,
    now: Timestamp,
) -> Result<(), TestCaseError> {
    match *call {
        Call::Add(key) => {
            queue.add(key, now);
            naive.add(key);
        }
        Call::AddAfter(key, 0) => {
            queue.add_after(key, Duration::ZERO, now);
            naive.add(key);
        }
        Call::AddAfter(key, delay) => {
            queue.add_after(key, Duration::from_millis(delay), now);
            naive.add_at(key, now.plus(Duration::from_millis(delay)));
        }
        Call::AddRateLimited(key) => {
            let retries = queue.requeues(&key);
            let delay = queue.add_rate_limited(key, now);
            prop_assert!(delay >= Duration::from_millis(5 << retries.min(17)));
            prop_assert_eq!(queue.requeues(&key), retries + 1);
            naive.add_at(key, now.plus(delay));
        }
        Call::Next => {
            let busy: Vec<_> = queue.running().map(|(key, _)| *key).collect();
            let next = queue.next(now);
            prop_assert!(next.is_none_or(|key| !busy.contains(&key)), "two workers on one key");
            prop_assert_eq!(next, naive.next());
            prop_assert_eq!(queue.next_wake(), naive.delayed.iter().map(|(due, _)| *due).min());
        }
        Call::Done(ref which) if !naive.running.is_empty() => {
            let key = *which.get(&naive.running);
            prop_assert!(queue.done(&key, now).is_some());
            naive.done(key);
        }
        Call::Forget(key) => {
            queue.forget(&key);
            prop_assert_eq!(queue.requeues(&key), 0);
        }
        Call::ShutDown => {
            queue.shut_down(now);
            naive.shut_down();
        }
        Call::Done(_) | Call::Pause(_) => {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// D2.1, D2.4: keys are returned in the model's order, none is running twice, none is early, none is lost.
    #[test]
    fn the_queue_agrees_with_the_model(calls in prop::collection::vec(call(), 0..120)) {
        let (mut queue, mut naive, mut now) = (WorkQueue::new(), Naive::default(), NOON);
        for call in &calls {
            if let Call::Pause(pause) = call {
                now = now.plus(Duration::from_millis(*pause));
            }
            naive.pass(now);
            carry_out(call, &mut queue, &mut naive, now)?;
        }
    }

    /// D2.1: after the last call every pending key is returned, and then the queue is empty.
    #[test]
    fn no_key_is_lost(calls in prop::collection::vec(call(), 0..120)) {
        let (mut queue, mut naive, mut now) = (WorkQueue::new(), Naive::default(), NOON);
        for call in calls.iter().filter(|call| !matches!(call, Call::ShutDown)) {
            if let Call::Pause(pause) = call {
                now = now.plus(Duration::from_millis(*pause));
            }
            naive.pass(now);
            carry_out(call, &mut queue, &mut naive, now)?;
        }
        let mut wanted: Vec<_> = naive.ready.iter().chain(&naive.again).copied().collect();
        wanted.extend(naive.delayed.iter().map(|(_, key)| *key));
        for key in &naive.running {
            queue.done(key, now);
        }
        loop {
            while let Some(key) = queue.next(now) {
                wanted.retain(|other| *other != key);
                queue.done(&key, now);
            }
            let Some(wake) = queue.next_wake() else { break };
            prop_assert!(wake > now, "a due key was not returned");
            now = wake;
        }
        prop_assert!(wanted.is_empty(), "not returned: {:?}", wanted);
        prop_assert_eq!((queue.depth(), queue.delayed(), queue.running().count()), (0, 0, 0));
    }
}
