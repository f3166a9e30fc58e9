//! History survives a restart, so that watches resume.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use gantry_store::memory::HistoryLimits;
use gantry_store::suite::{key, prefix};
use gantry_store::{Bounds, Error, Event, ListRequest, Notice, Prefix, Revision, Transaction};

use super::{open, put, small, small_with_all_history};
use crate::disk::simulated::{CrashKind, SimulatedDisk};
use crate::engine::Engine;
use crate::options::Options;

#[test]
fn a_watch_resumes_across_a_restart_without_a_gap() {
    let disk = SimulatedDisk::new(3);
    let mut engine = open(&disk, small_with_all_history()).unwrap();
    let start = put(&mut engine, "/w/a", "0").unwrap();
    for number in 1..60 {
        put(&mut engine, &format!("/w/{}", number % 5), &number.to_string()).unwrap();
    }
    let seen = engine.live().get(&key("/w/a")).found.unwrap().revision;
    engine.commit([Transaction::delete(key("/w/a"), seen)]).answers.remove(0).unwrap();
    let events = events_after(&engine, start);
    assert_eq!(events.len(), 60);

    let engine = open(&disk.after(CrashKind::PowerFailure), small_with_all_history()).unwrap();
    assert_eq!(events_after(&engine, start), events, "the same changes with the same previous values");
}

#[test]
fn past_revisions_can_be_listed_after_a_restart_and_a_snapshot() {
    let disk = SimulatedDisk::new(3);
    let mut engine = open(&disk, small()).unwrap();
    for number in 0..400 {
        put(&mut engine, &format!("/{}", number % 7), &number.to_string()).unwrap();
        if engine.maintenance().is_snapshot_due() {
            engine.maintenance().snapshot().unwrap();
        }
    }
    let Bounds { floor, current } = engine.live().bounds();
    assert!(floor > Revision::EMPTY, "some history has been dropped");
    let states = |engine: &Engine| -> Vec<_> {
        let revisions = (floor.get()..=current.get()).filter_map(Revision::new);
        revisions.map(|at| engine.live().list(&ListRequest::all(Prefix::ALL).at(at)).unwrap()).collect()
    };
    let before = states(&engine);
    let engine = open(&disk.after(CrashKind::PowerFailure), small()).unwrap();
    assert_eq!(engine.live().bounds(), Bounds { floor, current });
    assert_eq!(states(&engine), before);
}

#[test]
fn the_floor_does_not_go_back_with_a_restart() {
    let disk = SimulatedDisk::new(3);
    let mut engine = open(&disk, small_with_all_history()).unwrap();
    let first = put(&mut engine, "/a", "one").unwrap();
    let second = put(&mut engine, "/a", "two").unwrap();
    engine.compact(second).unwrap();
    let engine = open(&disk.after(CrashKind::PowerFailure), small_with_all_history()).unwrap();
    assert_eq!(engine.live().bounds().floor, second);
    let refused = engine.live().watch(prefix("/"), first).unwrap_err();
    assert_eq!(refused, Error::Compacted { floor: second });
}

#[test]
fn old_history_is_dropped() {
    let disk = SimulatedDisk::new(3);
    let history = HistoryLimits { age: Duration::from_millis(50), bytes: usize::MAX };
    let mut engine = open(&disk, Options { history, ..small() }).unwrap();
    for number in 0..200 {
        put(&mut engine, "/a", &number.to_string()).unwrap();
    }
    let Bounds { floor, current } = engine.live().bounds();
    // The clock of these tests advances by a millisecond with each write.
    let kept = current.get() - floor.get();
    assert!((40..=60).contains(&kept), "{kept} changes kept");
}

/// A quiet cluster renews a lease from time to time, which is too rare to drop a little history with each write.
#[test]
fn history_of_many_writes_is_dropped_by_few_later_ones() {
    let disk = SimulatedDisk::new(3);
    let (age, seconds) = (Duration::from_mins(5), Arc::new(AtomicU64::new(1_000)));
    let history = HistoryLimits { age, bytes: 1 << 20 };
    let clock = Arc::clone(&seconds);
    let clock = Arc::new(move || clock.load(Ordering::Relaxed) * 1000);
    let mut engine = open(&disk, Options { history, clock, ..Options::default() }).unwrap();
    let mut write = |number: u32| {
        put(&mut engine, "/a", &number.to_string()).unwrap();
        engine.forget();
        engine.live().usage().changes
    };
    assert_eq!((0..3000).map(&mut write).last(), Some(3000));
    seconds.fetch_add(31, Ordering::Relaxed);
    let changes = write(3000);
    assert!((200..500).contains(&changes), "{changes}: a sixteenth of the memory");
}

fn events_after(engine: &Engine, after: Revision) -> Vec<Arc<Event>> {
    let mut watch = engine.live().watch(prefix("/w/"), after).unwrap();
    watch.request_progress();
    let mut events = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(Ok(Notice::Change(event)))) = std::pin::pin!(watch.next()).poll(&mut context) {
        events.push(event);
    }
    events
}
