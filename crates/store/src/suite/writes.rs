//! Stories of single writes and transactions.

use bytes::Bytes;

use crate::suite::{StoreUnderTest, create, current, delete, key, next_change, update, watch};
use crate::{Change, Error, Op, Revision, TRANSACTION_OPS_MAX, Transaction, VALUE_BYTES_MAX, Versioned};

/// A key that was never written is absent, which is no error.
pub async fn an_absent_key_is_not_found(store: StoreUnderTest) {
    let fetched = store.get(&key("/w/none")).await.unwrap();
    assert_eq!(fetched.found, None);
    assert_eq!(fetched.revision, current(&store).await);
}

/// A written value is read back with the revision of its write.
pub async fn a_created_key_is_found_at_its_revision(store: StoreUnderTest) {
    let before = current(&store).await;
    let revision = create(&store, "/w/a", "one").await;
    assert!(revision > before);
    assert!(revision > Revision::EMPTY, "the empty store's own revision is never given to a write");
    let fetched = store.get(&key("/w/a")).await.unwrap();
    assert_eq!(fetched.found, Some(Versioned { value: "one".into(), revision }));
    assert!(fetched.revision >= revision);
    assert_eq!(current(&store).await, revision);
}

/// A conflicting create returns the existing value.
pub async fn creating_an_existing_key_is_a_conflict_with_the_current_value(store: StoreUnderTest) {
    let revision = create(&store, "/w/a", "one").await;
    let error = store.commit(Transaction::create(key("/w/a"), "two")).await.unwrap_err();
    let there = Versioned { value: "one".into(), revision };
    assert_eq!(error, Error::Conflict { key: key("/w/a"), current: Some(there) });
    assert_eq!(current(&store).await, revision, "a refused write takes no revision");
}

/// Overwriting a newer value is refused.
pub async fn updating_and_deleting_require_the_current_revision(store: StoreUnderTest) {
    let first = create(&store, "/w/a", "one").await;
    let second = update(&store, "/w/a", "two", first).await;
    assert!(second > first);
    let there = Some(Versioned { value: "two".into(), revision: second });
    let conflict = Err(Error::Conflict { key: key("/w/a"), current: there });
    assert_eq!(store.commit(Transaction::update(key("/w/a"), "x", first)).await, conflict);
    assert_eq!(store.commit(Transaction::delete(key("/w/a"), first)).await, conflict);
    let third = delete(&store, "/w/a", second).await;
    assert!(third > second);
    let fetched = store.get(&key("/w/a")).await.unwrap();
    assert_eq!((fetched.found, fetched.revision), (None, third));
}

/// An absent key cannot be updated or deleted.
pub async fn updating_and_deleting_an_absent_key_is_a_conflict_without_a_value(store: StoreUnderTest) {
    let conflict = Err(Error::Conflict { key: key("/w/none"), current: None });
    let seen = current(&store).await;
    assert_eq!(store.commit(Transaction::update(key("/w/none"), "x", seen)).await, conflict);
    assert_eq!(store.commit(Transaction::delete(key("/w/none"), seen)).await, conflict);
}

/// A deleted key can be created again.
pub async fn a_deleted_key_can_be_created_again(store: StoreUnderTest) {
    let first = create(&store, "/w/a", "one").await;
    delete(&store, "/w/a", first).await;
    let again = create(&store, "/w/a", "again").await;
    let stale = store.commit(Transaction::update(key("/w/a"), "x", first)).await;
    let there = Some(Versioned { value: "again".into(), revision: again });
    assert_eq!(stale, Err(Error::Conflict { key: key("/w/a"), current: there }));
}

/// All writes of a transaction carry its revision.
pub async fn a_transaction_happens_at_one_revision(store: StoreUnderTest) {
    let old = create(&store, "/w/old", "old").await;
    let gone = create(&store, "/w/gone", "gone").await;
    let transaction = Transaction::create(key("/w/new"), "new")
        .and(key("/w/old"), Op::Update { value: "changed".into(), seen: old })
        .and_then(|transaction| transaction.and(key("/w/gone"), Op::Delete { seen: gone }));
    let revision = store.commit(transaction.unwrap()).await.unwrap();
    let version = async |name| store.get(&key(name)).await.unwrap().found;
    assert_eq!(version("/w/new").await, Some(Versioned { value: "new".into(), revision }));
    assert_eq!(version("/w/old").await, Some(Versioned { value: "changed".into(), revision }));
    assert_eq!(version("/w/gone").await, None);
    assert_eq!(current(&store).await, revision);
}

/// A last value and the deletion have a revision each, and watchers see both.
pub async fn a_last_value_and_its_deletion_are_two_revisions(store: StoreUnderTest) {
    let first = create(&store, "/w/a", "one").await;
    let mut watch = watch(&store, "/w/", first).await;
    let deleted = store.commit(Transaction::update_and_delete(key("/w/a"), "last", first)).await.unwrap();
    let fetched = store.get(&key("/w/a")).await.unwrap();
    assert_eq!((fetched.found, fetched.revision), (None, deleted));
    let (last, deletion) = (next_change(&mut watch).await, next_change(&mut watch).await);
    assert!(first < last.revision && last.revision < deletion.revision);
    assert_eq!(deletion.revision, deleted);
    assert!(matches!(&last.change, Change::Updated { value, .. } if value == "last"), "{last:?}");
    let previous = Versioned { value: "last".into(), revision: last.revision };
    assert_eq!(deletion.change, Change::Deleted { previous });
}

/// A stale last value is a conflict, and nothing is deleted.
pub async fn a_stale_last_value_deletes_nothing(store: StoreUnderTest) {
    let first = create(&store, "/w/a", "one").await;
    let second = update(&store, "/w/a", "two", first).await;
    let there = Versioned { value: "two".into(), revision: second };
    let conflict = Err(Error::Conflict { key: key("/w/a"), current: Some(there.clone()) });
    assert_eq!(store.commit(Transaction::update_and_delete(key("/w/a"), "last", first)).await, conflict);
    assert_eq!(store.get(&key("/w/a")).await.unwrap().found, Some(there));
}

/// One unmet condition is enough, and the first such key is named.
pub async fn a_transaction_with_one_conflict_changes_nothing(store: StoreUnderTest) {
    let old = create(&store, "/w/b", "old").await;
    let transaction = Transaction::create(key("/w/a"), "new")
        .and(key("/w/b"), Op::Create { value: "x".into() })
        .and_then(|transaction| transaction.and(key("/w/c"), Op::Delete { seen: old }));
    let there = Some(Versioned { value: "old".into(), revision: old });
    let conflict = Err(Error::Conflict { key: key("/w/b"), current: there });
    assert_eq!(store.commit(transaction.unwrap()).await, conflict);
    assert_eq!(store.get(&key("/w/a")).await.unwrap().found, None);
    assert_eq!(current(&store).await, old);
}

/// A key can be a condition without being written; it then keeps its revision.
pub async fn an_unmet_condition_on_another_key_prevents_the_write(store: StoreUnderTest) {
    let seen = create(&store, "/w/ground", "firm").await;
    let on_ground = |name: &str| Transaction::create(key(name), "v").provided(key("/w/ground"), seen);
    let built = store.commit(on_ground("/w/a")).await.unwrap();
    assert_eq!(store.get(&key("/w/ground")).await.unwrap().found.map(|found| found.revision), Some(seen));
    let moved = store.commit(Transaction::update(key("/w/ground"), "moved", seen)).await.unwrap();
    let found = Some(Versioned { value: "moved".into(), revision: moved });
    let conflict = Err(Error::Conflict { key: key("/w/ground"), current: found });
    assert_eq!(store.commit(on_ground("/w/b")).await, conflict);
    delete(&store, "/w/ground", moved).await;
    let absent = Err(Error::Conflict { key: key("/w/ground"), current: None });
    assert_eq!(store.commit(on_ground("/w/b")).await, absent);
    assert_eq!(store.get(&key("/w/a")).await.unwrap().found.map(|found| found.revision), Some(built));
    assert_eq!(store.get(&key("/w/b")).await.unwrap().found, None);
}

/// A transaction of the guaranteed size is accepted.
pub async fn the_largest_transaction_is_accepted(store: StoreUnderTest) {
    let mut transaction = Transaction::create(key("/w/0"), "0");
    for number in 1..TRANSACTION_OPS_MAX {
        let op = Op::Create { value: number.to_string().into() };
        transaction = transaction.and(key(format!("/w/{number}")), op).unwrap();
    }
    let revision = store.commit(transaction).await.unwrap();
    let last = store.get(&key(format!("/w/{}", TRANSACTION_OPS_MAX - 1))).await.unwrap();
    assert_eq!(last.found.map(|version| version.revision), Some(revision));
}

/// Keys and values are bytes, not text, and are read back unchanged.
pub async fn any_bytes_are_stored_unchanged(store: StoreUnderTest) {
    let all: Vec<u8> = (0..=u8::MAX).collect();
    let large = vec![0xa5; 1 << 20];
    for value in [Vec::new(), vec![0], all.clone(), large] {
        let mut name = b"/w/".to_vec();
        name.extend_from_slice(&all);
        name.extend_from_slice(&value.len().to_be_bytes());
        let name = crate::Key::new(name).unwrap();
        store.commit(Transaction::create(name.clone(), value.clone())).await.unwrap();
        let found = store.get(&name).await.unwrap().found.unwrap();
        assert_eq!(found.value, Bytes::from(value));
    }
}

/// A write that is too large is refused, and the next one is not.
pub async fn a_transaction_that_is_too_large_is_refused(store: StoreUnderTest) {
    let huge = vec![0; VALUE_BYTES_MAX + 1];
    let error = store.commit(Transaction::create(key("/w/huge"), huge)).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
    assert_eq!(store.get(&key("/w/huge")).await.unwrap().found, None);
    create(&store, "/w/small", "fits").await;
}

/// A working store reports that it is healthy, also after it has refused a write.
pub async fn a_store_that_works_is_healthy(store: StoreUnderTest) {
    assert_eq!(store.health().await, Ok(()));
    let seen = create(&store, "/w/a", "one").await;
    store.commit(Transaction::update(key("/w/a"), "two", seen.next())).await.unwrap_err();
    assert_eq!(store.health().await, Ok(()));
}
