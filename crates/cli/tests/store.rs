//! `gantry store`: the real binary on real directories, also damaged ones.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gantry_store::{Key, Store as _, Transaction};
use gantry_store_embedded::{EmbeddedStore, Options};

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gantry-cli-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn gantry(arguments: &[&str], paths: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gantry")).args(arguments).args(paths).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn open(directory: &Path) -> EmbeddedStore {
    EmbeddedStore::open(directory, Options::default()).unwrap()
}

async fn filled(directory: &Path) -> EmbeddedStore {
    let store = open(directory);
    for n in 0..20 {
        let key = Key::new(format!("/registry/pods/default/p{n}")).unwrap();
        store.commit(Transaction::create(key, format!("{{\"n\":{n}}}"))).await.unwrap();
    }
    store
}

#[tokio::test]
async fn a_backup_taken_in_use_is_restored_elsewhere() {
    let scratch = Scratch::new("backup");
    let (data, file, copy) = (scratch.join("data"), scratch.join("b"), scratch.join("copy"));
    let store = filled(&data).await;
    let made = gantry(&["store", "backup"], &[&data, &file]);
    assert!(made.status.success(), "{}", stderr(&made));
    assert!(String::from_utf8_lossy(&made.stdout).contains("holds 20 keys at revision 21"), "{made:?}");
    drop(store);
    assert!(gantry(&["store", "restore"], &[&file, &copy]).status.success());
    let restored = open(&copy);
    let key = Key::new("/registry/pods/default/p7").unwrap();
    assert_eq!(restored.get(&key).await.unwrap().found.unwrap().value, "{\"n\":7}");
    let again = gantry(&["store", "restore"], &[&file, &data]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("is in the way and was not touched\nhint: "), "{}", stderr(&again));
}

#[tokio::test]
async fn a_store_in_use_is_not_checked_and_the_holder_is_named() {
    let scratch = Scratch::new("in-use");
    let store = filled(&scratch.join("data")).await;
    let refused = gantry(&["store", "check"], &[&scratch.join("data")]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        stderr(&refused).contains(&format!("is in use by process {}", std::process::id())),
        "{}",
        stderr(&refused)
    );
    drop(store);
    let checked = gantry(&["store", "check"], &[&scratch.join("data")]);
    assert!(String::from_utf8_lossy(&checked.stdout).starts_with("ok: 20 keys, "), "{checked:?}");
}

#[tokio::test]
async fn damage_is_reported_with_its_position_and_a_remedy() {
    let scratch = Scratch::new("damage");
    let data = scratch.join("data");
    drop(filled(&data).await);
    let log = log(&data);
    let mut bytes = std::fs::read(&log).unwrap();
    bytes[1700] ^= 0xff;
    std::fs::write(&log, bytes).unwrap();
    let refused = gantry(&["store", "check"], &[&data]);
    assert_eq!(refused.status.code(), Some(1));
    let error = stderr(&refused);
    assert!(error.contains(log.file_name().unwrap().to_str().unwrap()), "{error}");
    assert!(error.contains("gantry store restore"), "{error}");
}

/// The only log of a store with this few writes.
fn log(data: &Path) -> PathBuf {
    let files = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "log")).min().unwrap()
}

#[tokio::test]
async fn a_truncated_log_is_refused_until_the_loss_is_accepted() {
    let scratch = Scratch::new("truncated");
    let data = scratch.join("data");
    drop(filled(&data).await);
    let whole = std::fs::read(log(&data)).unwrap();
    std::fs::write(log(&data), &whole[..2500]).unwrap();

    let (server, check) = (
        gantry(&["apiserver", "--listen", "127.0.0.1:0", "--data-dir"], &[&data]),
        gantry(&["store", "check"], &[&data]),
    );
    for refused in [server, check] {
        assert_eq!(refused.status.code(), Some(1));
        let error = stderr(&refused);
        assert!(
            error.contains("is damaged at byte 2500: the file has 2500 bytes and was made with"),
            "{error}"
        );
        assert!(error.contains("to 21 are missing"), "{error}");
        assert!(
            error.contains(&format!("`gantry store repair --accept-loss {}`", data.display())),
            "{error}"
        );
    }

    let trial = gantry(&["store", "repair"], &[&data]);
    assert_eq!(trial.status.code(), Some(1));
    assert!(stderr(&trial).contains("would be kept; later changes would be lost"), "{}", stderr(&trial));
    let repaired = gantry(&["store", "repair", "--accept-loss"], &[&data]);
    let text = String::from_utf8_lossy(&repaired.stdout).into_owned();
    assert!(
        text.contains("kept, later changes are lost; the store continues at revision 10000000"),
        "{repaired:?}"
    );
    let checked = gantry(&["store", "check"], &[&data]);
    assert!(String::from_utf8_lossy(&checked.stdout).starts_with("ok: "), "{checked:?}");
    let key = Key::new("/registry/pods/default/p0").unwrap();
    assert!(open(&data).get(&key).await.unwrap().found.is_some(), "earlier keys are kept");
}
