//! The conformance suite of the port, as stories.
//!
//! A backend's test calls [`conformance!`](crate::conformance) with a function that creates a fresh store; each story
//! becomes a test of its own. A story needs a store without other users (compaction is global), but it may have been
//! used before: revisions are compared, never spelled out.

#![allow(clippy::missing_panics_doc, reason = "a suite fails by panicking")]
#![expect(clippy::unwrap_used, reason = "a suite fails by panicking")]

mod compaction;
mod lists;
mod races;
mod seeds;
mod watches;
pub mod workload;
mod writes;

use std::sync::Arc;
use std::time::Duration;

pub use compaction::*;
pub use gantry_rng::Rng;
pub use lists::*;
pub use races::*;
pub use seeds::{is_long_run, seeds};
pub use watches::*;
pub use writes::*;

use crate::{Error, Event, Item, Key, ListRequest, Notice, Prefix, Revision, Store, Transaction, Watch};

/// Turns every story of the suite into a test of the backend.
///
/// The argument names an async function without arguments that returns a fresh `Arc<dyn Store>` and a guard that
/// keeps alive what the store needs (a directory, a process). The test crate needs `tokio` with `macros` and
/// `rt-multi-thread`.
#[macro_export]
macro_rules! conformance {
    ($new_store:path) => {
        $crate::conformance! { $new_store:
            an_absent_key_is_not_found,
            a_created_key_is_found_at_its_revision,
            creating_an_existing_key_is_a_conflict_with_the_current_value,
            updating_and_deleting_require_the_current_revision,
            updating_and_deleting_an_absent_key_is_a_conflict_without_a_value,
            a_deleted_key_can_be_created_again,
            a_transaction_happens_at_one_revision,
            a_last_value_and_its_deletion_are_two_revisions,
            a_stale_last_value_deletes_nothing,
            a_transaction_with_one_conflict_changes_nothing,
            an_unmet_condition_on_another_key_prevents_the_write,
            the_largest_transaction_is_accepted,
            any_bytes_are_stored_unchanged,
            a_transaction_that_is_too_large_is_refused,
            a_store_that_works_is_healthy,
            a_list_has_the_keys_of_its_prefix_in_order,
            an_empty_list_has_the_current_revision,
            pages_show_one_state_during_writes,
            a_page_that_starts_after_the_prefix_is_empty,
            a_list_of_a_past_revision_has_its_values,
            a_list_of_a_future_revision_is_refused,
            a_long_list_is_complete,
            a_watch_delivers_changes_with_previous_values,
            a_watch_continues_from_history_to_the_present_without_a_gap,
            a_watch_delivers_only_its_prefix,
            a_watch_delivers_a_transaction_at_once,
            a_watch_resumes_where_it_stopped,
            a_watch_of_a_future_revision_waits,
            a_watch_that_is_not_read_loses_nothing,
            many_watchers_receive_the_same,
            progress_is_delivered_without_changes,
            progress_never_overtakes_a_change,
            compacted_history_can_neither_be_read_nor_watched,
            the_floor_itself_can_be_read_and_watched_from,
            compacting_twice_is_no_error,
            compacting_a_future_revision_is_refused,
            one_of_many_creators_wins,
            no_increment_is_lost,
            watchers_agree_with_the_list_after_concurrent_writes,
        }
    };
    ($new_store:path: $($story:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $story() {
                let (store, _guard) = $new_store().await;
                $crate::suite::$story(store).await;
            }
        )*
    };
}

/// The store under test.
pub type StoreUnderTest = Arc<dyn Store>;

/// The timeout of everything that a story awaits: long enough for a slow disk and a busy machine.
const SOON: Duration = Duration::from_secs(120);

/// The key of this name.
pub fn key(name: impl Into<String>) -> Key {
    Key::new(name.into()).unwrap()
}

/// The prefix of this name.
pub fn prefix(name: impl Into<String>) -> Prefix {
    Prefix::new(name.into())
}

/// Waits for a future that must complete in time.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(SOON, future).await;
    waited.unwrap_or_else(|_| unreachable!("timed out waiting for {what} after {SOON:?}"))
}

async fn create(store: &StoreUnderTest, name: &str, value: &str) -> Revision {
    store.commit(Transaction::create(key(name), value.to_owned())).await.unwrap()
}

async fn update(store: &StoreUnderTest, name: &str, value: &str, seen: Revision) -> Revision {
    store.commit(Transaction::update(key(name), value.to_owned(), seen)).await.unwrap()
}

async fn delete(store: &StoreUnderTest, name: &str, seen: Revision) -> Revision {
    store.commit(Transaction::delete(key(name), seen)).await.unwrap()
}

async fn current(store: &StoreUnderTest) -> Revision {
    store.bounds().await.unwrap().current
}

async fn watch(store: &StoreUnderTest, under: &str, after: Revision) -> Watch {
    store.watch(prefix(under), after).await.unwrap()
}

/// The next change; skips progress notices.
async fn next_change(watch: &mut Watch) -> Arc<Event> {
    loop {
        match soon("a change", watch.next()).await {
            Some(Ok(Notice::Change(event))) => return event,
            Some(Ok(Notice::Progress(_))) => {}
            other => unreachable!("the watch ended: {other:?}"),
        }
    }
}

async fn next_changes(watch: &mut Watch, count: usize) -> Vec<Arc<Event>> {
    let mut events = Vec::with_capacity(count);
    while events.len() < count {
        events.push(next_change(watch).await);
    }
    events
}

/// The error that refuses a watch, at once or as its first item.
async fn refusal(store: &StoreUnderTest, under: &str, after: Revision) -> Error {
    match store.watch(prefix(under), after).await {
        Err(error) => error,
        Ok(mut watch) => soon("the refusal", watch.next()).await.unwrap().unwrap_err(),
    }
}

/// `name=value` of each item, for short comparisons.
fn item_texts(items: &[Item]) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    items.iter().map(|item| format!("{}={}", item.key, text(&item.value))).collect()
}

async fn listed(store: &StoreUnderTest, request: ListRequest) -> Vec<String> {
    item_texts(&store.list(request).await.unwrap().items)
}
