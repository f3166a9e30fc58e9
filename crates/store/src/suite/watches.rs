//! Stories of watches: ordered, gap-free, each change once, resumable.

use std::sync::Arc;

use crate::suite::{
    StoreUnderTest, create, current, delete, key, next_change, next_changes, prefix, soon, update, watch,
};
use crate::{Change, Event, Notice, Op, Revision, Transaction, Versioned, Watch};

fn version(value: &'static str, revision: Revision) -> Versioned {
    Versioned { value: value.into(), revision }
}

/// Each change includes the previous value.
pub async fn a_watch_delivers_changes_with_previous_values(store: StoreUnderTest) {
    let mut watch = watch(&store, "/t/", current(&store).await).await;
    let created = create(&store, "/t/a", "one").await;
    let updated = update(&store, "/t/a", "two", created).await;
    let deleted = delete(&store, "/t/a", updated).await;
    let expected = [
        (created, Change::Created { value: "one".into() }),
        (updated, Change::Updated { value: "two".into(), previous: version("one", created) }),
        (deleted, Change::Deleted { previous: version("two", updated) }),
    ];
    for (revision, change) in expected {
        assert_eq!(*next_change(&mut watch).await, Event::new(key("/t/a"), revision, change));
    }
}

/// Changes before and after the start of the watch are one sequence.
pub async fn a_watch_continues_from_history_to_the_present_without_a_gap(store: StoreUnderTest) {
    let start = current(&store).await;
    let mut expected = Vec::new();
    for number in 0..50 {
        expected.push(create(&store, &format!("/t/{number}"), "v").await);
    }
    let mut from_start = watch(&store, "/t/", start).await;
    let mut from_middle = watch(&store, "/t/", expected[24]).await;
    for number in 50..100 {
        expected.push(create(&store, &format!("/t/{number}"), "v").await);
    }
    assert_eq!(revisions(&next_changes(&mut from_start, 100).await), expected);
    assert_eq!(revisions(&next_changes(&mut from_middle, 75).await), expected[25..]);
}

/// Changes under other prefixes are not returned.
pub async fn a_watch_delivers_only_its_prefix(store: StoreUnderTest) {
    let start = current(&store).await;
    create(&store, "/t", "v").await;
    create(&store, "/t/a/1", "v").await;
    let mut narrow = watch(&store, "/t/a/", start).await;
    let mut single = watch(&store, "/t/b/1", start).await;
    create(&store, "/t/b/1", "v").await;
    create(&store, "/t/a0", "v").await;
    create(&store, "/t/a/2", "v").await;
    assert_eq!(keys(&next_changes(&mut narrow, 2).await), ["/t/a/1", "/t/a/2"]);
    assert_eq!(keys(&next_changes(&mut single, 1).await), ["/t/b/1"]);
    assert_no_more_changes(&store, &mut narrow).await;
    assert_no_more_changes(&store, &mut single).await;
}

/// The changes of one revision are returned in key order, without waiting in between.
pub async fn a_watch_delivers_a_transaction_at_once(store: StoreUnderTest) {
    let mut watch = watch(&store, "/t/", current(&store).await).await;
    let transaction = Transaction::create(key("/t/b"), "v")
        .and(key("/t/a"), Op::Create { value: "v".into() })
        .and_then(|transaction| transaction.and(key("/elsewhere"), Op::Create { value: "v".into() }))
        .and_then(|transaction| transaction.and(key("/t/c"), Op::Create { value: "v".into() }));
    let revision = store.commit(transaction.unwrap()).await.unwrap();
    let first = next_change(&mut watch).await;
    let rest = tokio::time::timeout(std::time::Duration::ZERO, next_changes(&mut watch, 2)).await.unwrap();
    let events: Vec<_> = std::iter::once(first).chain(rest).collect();
    assert_eq!(keys(&events), ["/t/a", "/t/b", "/t/c"]);
    assert_eq!(revisions(&events), [revision; 3]);
}

/// A client that resumes after the last revision it received gets the rest, once.
pub async fn a_watch_resumes_where_it_stopped(store: StoreUnderTest) {
    let start = current(&store).await;
    let mut expected = Vec::new();
    for number in 0..20 {
        expected.push(create(&store, &format!("/t/{number}"), "v").await);
    }
    let mut received = Vec::new();
    let mut after = start;
    while received.len() < expected.len() {
        let mut watch = watch(&store, "/t/", after).await;
        for event in next_changes(&mut watch, 4).await {
            after = event.revision;
            received.push(after);
        }
    }
    assert_eq!(received, expected);
}

/// A start in the future is no error; changes before it are not returned.
pub async fn a_watch_of_a_future_revision_waits(store: StoreUnderTest) {
    let start = current(&store).await;
    let mut watch = watch(&store, "/t/", start.advanced(2)).await;
    create(&store, "/t/early", "v").await;
    create(&store, "/t/also-early", "v").await;
    create(&store, "/t/in-time", "v").await;
    assert_eq!(next_change(&mut watch).await.key, key("/t/in-time"));
    assert_no_more_changes(&store, &mut watch).await;
}

/// A slow reader receives all changes, in order.
pub async fn a_watch_that_is_not_read_loses_nothing(store: StoreUnderTest) {
    const CHANGES: usize = 6000;
    let mut watch = watch(&store, "/t/", current(&store).await).await;
    let mut seen = create(&store, "/t/counter", "0").await;
    let mut expected = vec![seen];
    for hundred in 0..(CHANGES / 100) {
        let mut transaction =
            Transaction::single(key("/t/counter"), Op::Update { value: hundred.to_string().into(), seen });
        for number in 1..100 {
            let op = Op::Create { value: "v".into() };
            transaction = transaction.and(key(format!("/t/{hundred}/{number}")), op).unwrap();
        }
        seen = store.commit(transaction).await.unwrap();
        expected.extend([seen; 100]);
    }
    assert_eq!(revisions(&next_changes(&mut watch, expected.len()).await), expected);
}

/// All watchers receive the same changes in the same order.
pub async fn many_watchers_receive_the_same(store: StoreUnderTest) {
    let start = current(&store).await;
    let mut watches = Vec::new();
    for _ in 0..50 {
        watches.push(watch(&store, "/t/", start).await);
    }
    let mut expected = Vec::new();
    for number in 0..10 {
        expected.push(create(&store, &format!("/t/{number}"), "v").await);
    }
    for watch in &mut watches {
        assert_eq!(revisions(&next_changes(watch, 10).await), expected);
    }
}

/// A watch without changes still reports progress, so that its client can resume later.
pub async fn progress_is_delivered_without_changes(store: StoreUnderTest) {
    let mut watch = watch(&store, "/t/", current(&store).await).await;
    create(&store, "/elsewhere", "v").await;
    assert_no_more_changes(&store, &mut watch).await;
}

/// A progress notice means that everything up to its revision was returned.
pub async fn progress_never_overtakes_a_change(store: StoreUnderTest) {
    let mut watch = watch(&store, "/t/", current(&store).await).await;
    for round in 0..20 {
        let first = create(&store, &format!("/t/{round}/a"), "v").await;
        watch.request_progress();
        let second = create(&store, &format!("/t/{round}/b"), "v").await;
        let mut received = Vec::new();
        let mut reached = Revision::EMPTY;
        while received.len() < 2 || reached < first {
            match soon("a notice", watch.next()).await.unwrap().unwrap() {
                Notice::Change(event) => {
                    assert!(event.revision > reached, "{event:?} was delivered after progress at {reached}");
                    received.push(event.revision);
                }
                Notice::Progress(revision) => reached = reached.max(revision),
            }
        }
        assert_eq!(received, [first, second]);
    }
    assert_eq!(store.list(crate::ListRequest::all(prefix("/t/"))).await.unwrap().items.len(), 40);
}

/// Asserts that a watch yields no change up to the current revision.
async fn assert_no_more_changes(store: &StoreUnderTest, watch: &mut Watch) {
    let revision = current(store).await;
    watch.request_progress();
    loop {
        match soon("a progress notice", watch.next()).await.unwrap().unwrap() {
            Notice::Progress(reached) if reached >= revision => return,
            Notice::Progress(_) => {}
            Notice::Change(event) => unreachable!("no change was expected: {event:?}"),
        }
    }
}

fn revisions(events: &[Arc<Event>]) -> Vec<Revision> {
    events.iter().map(|event| event.revision).collect()
}

fn keys(events: &[Arc<Event>]) -> Vec<String> {
    events.iter().map(|event| event.key.to_string()).collect()
}
