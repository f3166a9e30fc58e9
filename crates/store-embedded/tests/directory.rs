//! The store in a real directory: one process, restarts, backups, and disk usage.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use gantry_store::suite::{key, prefix, soon};
use gantry_store::{Change, ListRequest, Notice, Prefix, Revision, Store, Transaction};
use gantry_store_embedded::{EmbeddedStore, OpenError, Options, backup, check, restore};

mod scratch;

use scratch::Scratch;

fn open(scratch: &Scratch) -> EmbeddedStore {
    EmbeddedStore::open(scratch.path(), Options::default()).expect("the directory can be opened")
}

async fn create(store: &EmbeddedStore, name: &str, value: &str) -> Revision {
    store.commit(Transaction::create(key(name), value.to_owned())).await.expect("the key is new")
}

#[tokio::test]
async fn writes_survive_a_restart_and_watches_resume() {
    let scratch = Scratch::new("restart");
    let store = open(&scratch);
    let first = create(&store, "/a", "one").await;
    let second = store.commit(Transaction::update(key("/a"), "two", first)).await.unwrap();
    drop(store);

    let store = open(&scratch);
    assert_eq!(store.get(&key("/a")).await.unwrap().found.unwrap().value, "two");
    let mut watch = store.watch(prefix("/"), first).await.unwrap();
    let Some(Ok(Notice::Change(event))) = soon("the update", watch.next()).await else { unreachable!() };
    assert_eq!(event.revision, second);
    assert!(matches!(&event.change, Change::Updated { previous, .. } if previous.value == "one"));
    assert_eq!(create(&store, "/b", "one").await, second.next());
}

#[tokio::test]
async fn a_second_process_is_refused_with_the_pid_of_the_first() {
    let scratch = Scratch::new("lock");
    let store = open(&scratch);
    let refused = EmbeddedStore::open(scratch.path(), Options::default()).expect_err("it is in use");
    assert!(matches!(refused, OpenError::InUse { pid: Some(pid), .. } if pid == std::process::id()));
    let expected = format!("{} is in use by process {}", scratch.path().display(), std::process::id());
    assert_eq!(refused.to_string(), expected);
    assert!(matches!(check(scratch.path()), Err(OpenError::InUse { .. })));
    drop(store);
    open(&scratch);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_is_taken_while_the_store_is_written_to() {
    let scratch = Scratch::new("backup");
    let (file, elsewhere) =
        (scratch.path().join("../").join(backup_name(&scratch)), Scratch::new("restored"));
    let options =
        Options { segment_bytes_max: 256 << 10, garbage_bytes_min: 256 << 10, ..Options::default() };
    let store = Arc::new(EmbeddedStore::open(scratch.path(), options).unwrap());
    create(&store, "/before", "one").await;
    let writing = tokio::spawn(overwrite(Arc::clone(&store), 2000));
    let made = tokio::task::spawn_blocking({
        let (directory, file) = (scratch.path().to_owned(), file.clone());
        move || backup(directory, file)
    });
    let made = made.await.unwrap().unwrap();
    writing.await.unwrap();

    let restored = restore(&file, elsewhere.path()).unwrap();
    assert_eq!((restored.revision, restored.keys), (made.revision, made.keys));
    let copy = open(&elsewhere);
    let expected = store.list(ListRequest::all(Prefix::ALL).at(made.revision)).await.unwrap().items;
    assert_eq!(copy.list(ListRequest::all(Prefix::ALL)).await.unwrap().items, expected);
    // Clients that saw later revisions than the backup has must notice: their revisions are compacted here.
    let bounds = copy.bounds().await.unwrap();
    assert!(bounds.floor > store.bounds().await.unwrap().current);
    let next = create(&copy, "/after", "one").await;
    drop(copy);
    assert_eq!(open(&elsewhere).bounds().await.unwrap().current, next);
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn nothing_is_overwritten_by_a_backup_or_a_restore() {
    let (scratch, other) = (Scratch::new("careful"), Scratch::new("careful"));
    drop(open(&scratch));
    drop(open(&other));
    let file = other.path().join("backup");
    let made = backup(scratch.path(), &file).unwrap();
    assert_eq!((made.revision, made.keys), (Revision::EMPTY, 0));
    assert!(matches!(backup(scratch.path(), &file), Err(OpenError::NotEmpty { path }) if path == file));
    assert!(matches!(restore(&file, scratch.path()), Err(OpenError::NotEmpty { .. })));
    assert!(
        backup(Scratch::new("nowhere").path(), other.path().join("another")).is_err(),
        "nothing to back up"
    );
}

#[tokio::test]
async fn a_damaged_backup_is_not_restored() {
    let (scratch, other) = (Scratch::new("damaged"), Scratch::new("damaged"));
    let store = open(&scratch);
    create(&store, "/a", &"x".repeat(1000)).await;
    let file = scratch.path().join("backup");
    backup(scratch.path(), &file).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[500] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    assert!(matches!(restore(&file, other.path()), Err(OpenError::Corrupt(found)) if found.file == file));
    assert!(!other.path().exists(), "nothing was created");
}

#[tokio::test]
async fn a_check_reports_the_contents_of_a_directory() {
    let scratch = Scratch::new("check");
    let store = open(&scratch);
    let revision = create(&store, "/a", "one").await;
    drop(store);
    let report = check(scratch.path()).unwrap();
    assert_eq!((report.keys, report.bounds.current, report.torn_bytes), (1, revision, 0));
    assert_eq!(report.segments[0].name, "000000000001.log");
}

#[tokio::test]
async fn a_check_writes_nothing_so_that_the_directory_may_be_read_only() {
    let scratch = Scratch::new("read-only");
    drop(open(&scratch));
    std::fs::remove_file(scratch.path().join("LOCK")).unwrap();
    let names = || -> BTreeSet<_> {
        std::fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let before = names();
    set_mode(scratch.path(), 0o500);
    let checked = check(scratch.path());
    set_mode(scratch.path(), 0o700);
    checked.unwrap();
    assert_eq!(names(), before);
}

#[tokio::test]
async fn only_the_owner_may_read_a_store_or_a_backup() {
    let scratch = Scratch::new("permissions");
    drop(open(&scratch));
    let file = scratch.path().join("backup");
    let others = scratch.path().join("notes.txt");
    backup(scratch.path(), &file).unwrap();
    assert_eq!(mode(&file), 0o600);
    std::fs::write(&others, "not the store's").unwrap();
    // The permissions that earlier versions, or a careless copy, left.
    let names: Vec<_> =
        std::fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    for path in &names {
        set_mode(path, 0o644);
    }
    set_mode(scratch.path(), 0o755);
    let store = open(&scratch);
    create(&store, "/a", "one").await;
    assert_eq!(mode(scratch.path()), 0o700);
    // An open store renames its files in the background.
    drop(store);
    for entry in std::fs::read_dir(scratch.path()).unwrap() {
        let path = entry.unwrap().path();
        let expected = if path == others || path == file { 0o644 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}", path.display());
    }
}

#[tokio::test]
async fn a_directory_that_is_shared_by_all_users_is_refused() {
    let scratch = Scratch::new("shared");
    std::fs::create_dir(scratch.path()).unwrap();
    set_mode(scratch.path(), 0o1777);
    let refused = EmbeddedStore::open(scratch.path(), Options::default()).unwrap_err();
    assert!(
        matches!(&refused, OpenError::Io { source, .. } if source.to_string().contains("shared")),
        "{refused:?}"
    );
    assert_eq!(mode(scratch.path()), 0o1777, "its permissions are unchanged");
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("the path exists").permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    let changed = std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode));
    changed.expect("this process owns the path");
}

fn backup_name(scratch: &Scratch) -> String {
    format!("{}.backup", scratch.path().file_name().unwrap_or_default().to_string_lossy())
}

async fn overwrite(store: Arc<EmbeddedStore>, times: u64) {
    let mut seen = create(&store, "/counter", "0").await;
    for number in 0..times {
        let value = format!("{number} {}", "x".repeat(500));
        seen = store
            .commit(Transaction::update(key("/counter"), value, seen))
            .await
            .expect("there is one writer");
    }
}
