//! Stories of concurrent clients.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::suite::{Rng, StoreUnderTest, create, current, key, next_change, prefix, soon, watch};
use crate::{Error, Event, ListRequest, Revision, Transaction, Watch};

/// If many clients create one key, exactly one succeeds, and the others get its value.
pub async fn one_of_many_creators_wins(store: StoreUnderTest) {
    let creators = (0..32).map(|number| {
        let store = Arc::clone(&store);
        tokio::spawn(
            async move { store.commit(Transaction::create(key("/r/one"), number.to_string())).await },
        )
    });
    let mut winners = Vec::new();
    for creator in creators.collect::<Vec<_>>() {
        match creator.await.unwrap() {
            Ok(revision) => winners.push(revision),
            Err(Error::Conflict { current: Some(_), .. }) => {}
            other => unreachable!("neither created nor a conflict: {other:?}"),
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(store.get(&key("/r/one")).await.unwrap().found.unwrap().revision, winners[0]);
}

/// Clients read a counter, add one and write it back, again after a conflict: no increment is lost.
pub async fn no_increment_is_lost(store: StoreUnderTest) {
    create(&store, "/r/counter", "0").await;
    let tasks = (0..8).map(|_| tokio::spawn(increment(Arc::clone(&store), 20)));
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let counter = store.get(&key("/r/counter")).await.unwrap().found.unwrap();
    assert_eq!(counter.value, "160");
}

/// Watchers that reconnect repeatedly end with exactly the state that a list returns.
pub async fn watchers_agree_with_the_list_after_concurrent_writes(store: StoreUnderTest) {
    let start = current(&store).await;
    let writers = (0..4).map(|seed| tokio::spawn(write_randomly(Arc::clone(&store), Rng::new(seed), 100)));
    let writers: Vec<_> = writers.collect();
    let watchers: Vec<_> = (0..4).map(|seed| tokio::spawn(follow(Arc::clone(&store), start, seed))).collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let end = create(&store, "/r/end", "end").await;
    let page = store.list(ListRequest::all(prefix("/r/")).at(end)).await.unwrap();
    let expected: BTreeMap<_, _> = page.items.into_iter().map(|item| (item.key, item.revision)).collect();
    for watcher in watchers {
        assert_eq!(soon("a watcher's end", watcher).await.unwrap(), expected);
    }
}

async fn increment(store: StoreUnderTest, times: usize) {
    let mut done = 0;
    while done < times {
        let seen = store.get(&key("/r/counter")).await.unwrap().found.unwrap();
        let count: u64 = String::from_utf8_lossy(&seen.value).parse().unwrap();
        match store
            .commit(Transaction::update(key("/r/counter"), (count + 1).to_string(), seen.revision))
            .await
        {
            Ok(_) => done += 1,
            Err(Error::Conflict { .. }) => {}
            Err(error) => unreachable!("{error}"),
        }
    }
}

async fn write_randomly(store: StoreUnderTest, mut rng: Rng, times: usize) {
    for number in 0..times {
        let key = key(format!("/r/{}", rng.below(10)));
        let transaction = match store.get(&key).await.unwrap().found {
            None => Transaction::create(key, number.to_string()),
            Some(seen) if rng.one_in(3) => Transaction::delete(key, seen.revision),
            Some(seen) => Transaction::update(key, number.to_string(), seen.revision),
        };
        match store.commit(transaction).await {
            Ok(_) | Err(Error::Conflict { .. }) => {}
            Err(error) => unreachable!("{error}"),
        }
    }
}

/// Keeps a copy of the prefix up to date until its end, reconnecting its watch from time to time.
async fn follow(store: StoreUnderTest, start: Revision, seed: u64) -> BTreeMap<crate::Key, Revision> {
    let mut rng = Rng::new(seed);
    let mut copy = BTreeMap::new();
    let mut after = start;
    loop {
        let mut watch = watch(&store, "/r/", after).await;
        for _ in 0..rng.below(40) {
            let event = next(&mut watch, after, &copy).await;
            after = event.revision;
            match event.value() {
                Some(_) => copy.insert(event.key.clone(), event.revision),
                None => copy.remove(&event.key),
            };
            if event.key == key("/r/end") {
                return copy;
            }
        }
    }
}

async fn next(watch: &mut Watch, after: Revision, copy: &BTreeMap<crate::Key, Revision>) -> Arc<Event> {
    let event = next_change(watch).await;
    assert!(event.revision > after, "{event:?} is not after {after}");
    let previous = event.previous().map(|previous| previous.revision);
    assert_eq!(previous, copy.get(&event.key).copied(), "a change before {event:?} was not delivered");
    event
}
