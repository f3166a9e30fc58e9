//! Stories of lists, pages and past revisions.

use crate::suite::{StoreUnderTest, create, current, delete, item_texts, key, listed, prefix, update};
use crate::{Error, ListRequest, Op, Transaction};

/// Bytewise order; only keys under the prefix.
pub async fn a_list_has_the_keys_of_its_prefix_in_order(store: StoreUnderTest) {
    for name in ["/l/b", "/l/a", "/l/a-z", "/l/a/z", "/l0", "/l", "/k/x", "/m/x"] {
        create(&store, name, "v").await;
    }
    let all = ListRequest::all(prefix("/l/"));
    assert_eq!(listed(&store, all.clone()).await, ["/l/a=v", "/l/a-z=v", "/l/a/z=v", "/l/b=v"]);
    let page = store.list(all).await.unwrap();
    assert_eq!((page.next, page.remaining), (None, 0));
    assert_eq!(page.revision, current(&store).await);
}

/// An empty list still has a revision.
pub async fn an_empty_list_has_the_current_revision(store: StoreUnderTest) {
    let revision = create(&store, "/elsewhere", "v").await;
    let page = store.list(ListRequest::all(prefix("/l/"))).await.unwrap();
    assert!(page.items.is_empty());
    assert_eq!((page.revision, page.next, page.remaining), (revision, None, 0));
}

/// Pages at the first page's revision together are the list at that revision.
pub async fn pages_show_one_state_during_writes(store: StoreUnderTest) {
    let mut seen = current(&store).await;
    for number in 0..10 {
        seen = create(&store, &format!("/l/{number}"), "old").await;
    }
    let first = store.list(ListRequest::all(prefix("/l/")).limit(4)).await.unwrap();
    assert_eq!((first.items.len(), first.remaining, first.revision), (4, 6, seen));
    delete(&store, "/l/9", seen).await;
    create(&store, "/l/45", "new").await;
    let four = store.get(&key("/l/4")).await.unwrap().found.unwrap();
    update(&store, "/l/4", "new", four.revision).await;

    let onward = ListRequest::all(prefix("/l/")).limit(4).at(first.revision);
    let second = store.list(onward.clone().start(first.next.unwrap())).await.unwrap();
    assert_eq!(item_texts(&second.items), ["/l/4=old", "/l/5=old", "/l/6=old", "/l/7=old"]);
    assert_eq!((second.remaining, second.revision), (2, seen));
    let third = store.list(onward.start(second.next.unwrap())).await.unwrap();
    assert_eq!(item_texts(&third.items), ["/l/8=old", "/l/9=old"]);
    assert_eq!((third.remaining, third.next), (0, None));
}

/// A start outside of the prefix neither fails nor leaks other keys.
pub async fn a_page_that_starts_after_the_prefix_is_empty(store: StoreUnderTest) {
    create(&store, "/l/a", "v").await;
    create(&store, "/m/a", "v").await;
    let behind = ListRequest::all(prefix("/l/")).start(key("/m/a"));
    assert!(listed(&store, behind).await.is_empty());
    let before = ListRequest::all(prefix("/l/")).start(key("/a"));
    assert_eq!(listed(&store, before).await, ["/l/a=v"]);
}

/// Created, updated and deleted keys are listed as they were at that revision.
pub async fn a_list_of_a_past_revision_has_its_values(store: StoreUnderTest) {
    let at = async |revision| listed(&store, ListRequest::all(prefix("/l/")).at(revision)).await;
    let created = create(&store, "/l/a", "one").await;
    let other = create(&store, "/l/b", "one").await;
    let updated = update(&store, "/l/a", "two", created).await;
    let deleted = delete(&store, "/l/b", other).await;
    let again = create(&store, "/l/b", "again").await;
    assert_eq!(at(created).await, ["/l/a=one"]);
    assert_eq!(at(other).await, ["/l/a=one", "/l/b=one"]);
    assert_eq!(at(updated).await, ["/l/a=two", "/l/b=one"]);
    assert_eq!(at(deleted).await, ["/l/a=two"]);
    assert_eq!(at(again).await, ["/l/a=two", "/l/b=again"]);
    let page = store.list(ListRequest::all(prefix("/l/")).at(other).limit(1)).await.unwrap();
    assert_eq!((page.revision, page.remaining), (other, 1));
    assert_eq!(page.items[0].revision, created);
}

/// A list at a revision that does not exist yet is refused with the current revision.
pub async fn a_list_of_a_future_revision_is_refused(store: StoreUnderTest) {
    let revision = create(&store, "/l/a", "v").await;
    let error = store.list(ListRequest::all(prefix("/l/")).at(revision.next())).await.unwrap_err();
    assert_eq!(error, Error::FutureRevision { current: revision });
}

/// A list that takes several steps to read misses nothing and repeats nothing.
pub async fn a_long_list_is_complete(store: StoreUnderTest) {
    const KEYS: usize = 10_000;
    for hundred in 0..KEYS / 100 {
        let mut transaction = Transaction::create(key(format!("/l/{hundred:04}00")), "v");
        for number in 1..100 {
            let op = Op::Create { value: "v".into() };
            transaction = transaction.and(key(format!("/l/{hundred:04}{number:02}")), op).unwrap();
        }
        store.commit(transaction).await.unwrap();
    }
    let all = store.list(ListRequest::all(prefix("/l/"))).await.unwrap();
    let expected: Vec<_> = (0..KEYS).map(|number| key(format!("/l/{number:06}"))).collect();
    assert!(all.items.iter().map(|item| &item.key).eq(expected.iter()));
    let most = store.list(ListRequest::all(prefix("/l/")).limit(KEYS - 1)).await.unwrap();
    assert_eq!((most.items.len(), most.remaining), (KEYS - 1, 1));
    assert!(most.next.unwrap() > most.items[KEYS - 2].key);
}
