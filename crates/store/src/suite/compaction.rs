//! Stories of compaction.

use crate::suite::{
    StoreUnderTest, create, delete, key, listed, next_change, prefix, refusal, update, watch,
};
use crate::{Bounds, Error, ListRequest};

/// Compacted revisions cannot be read, and the error has the floor.
pub async fn compacted_history_can_neither_be_read_nor_watched(store: StoreUnderTest) {
    let first = create(&store, "/c/a", "one").await;
    let second = update(&store, "/c/a", "two", first).await;
    let third = update(&store, "/c/a", "three", second).await;
    store.compact(second).await.unwrap();
    assert_eq!(store.bounds().await.unwrap(), Bounds { floor: second, current: third });
    let error = store.list(ListRequest::all(prefix("/c/")).at(first)).await.unwrap_err();
    assert_eq!(error, Error::Compacted { floor: second });
    assert_eq!(refusal(&store, "/c/", first).await, Error::Compacted { floor: second });
}

/// The floor is the oldest revision that can still be read; the changes after it are all kept.
pub async fn the_floor_itself_can_be_read_and_watched_from(store: StoreUnderTest) {
    let first = create(&store, "/c/a", "one").await;
    let other = create(&store, "/c/b", "one").await;
    let second = update(&store, "/c/a", "two", first).await;
    let third = delete(&store, "/c/b", other).await;
    store.compact(second).await.unwrap();
    let at_floor = ListRequest::all(prefix("/c/")).at(second);
    assert_eq!(listed(&store, at_floor).await, ["/c/a=two", "/c/b=one"]);
    let mut watch = watch(&store, "/c/", second).await;
    let event = next_change(&mut watch).await;
    assert_eq!((&event.key, event.revision), (&key("/c/b"), third));
    assert_eq!(event.previous().map(|previous| previous.revision), Some(other));
}

/// Compacting through a revision that is compacted already changes nothing.
pub async fn compacting_twice_is_no_error(store: StoreUnderTest) {
    let first = create(&store, "/c/a", "one").await;
    let second = update(&store, "/c/a", "two", first).await;
    store.compact(second).await.unwrap();
    store.compact(second).await.unwrap();
    store.compact(first).await.unwrap();
    assert_eq!(store.bounds().await.unwrap().floor, second, "the floor never goes back");
    assert_eq!(listed(&store, ListRequest::all(prefix("/c/"))).await, ["/c/a=two"]);
}

/// A revision that the store has not reached cannot be compacted.
pub async fn compacting_a_future_revision_is_refused(store: StoreUnderTest) {
    let current = create(&store, "/c/a", "one").await;
    let error = store.compact(current.next()).await.unwrap_err();
    assert_eq!(error, Error::FutureRevision { current });
}
