//! The record of the process that runs a cluster, in a file that the process locks.
//!
//! The lock is released when the process ends, also by a crash, so a stale record is never mistaken for a running
//! cluster. Where the system provides the start time of processes, the record must match it too, so that a process with a
//! reused pid is never signalled.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gantry_json::{Value, json};

use super::cluster_dir::ClusterDir;

/// The record of a process that runs a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessRecord {
    pub(crate) pid: u32,
    /// The start time of the process, in the system's format.
    pub(crate) started: Option<String>,
    /// The URL of the API; `None` while it starts.
    pub(crate) url: Option<String>,
    /// The kubeconfig to use.
    pub(crate) kubeconfig: Option<PathBuf>,
    pub(crate) in_memory: bool,
    pub(crate) nodes: usize,
}

/// The exclusive lock of a cluster directory. Dropping it unlocks the directory and removes the record.
#[derive(Debug)]
pub(crate) struct ClusterLock {
    dir: ClusterDir,
    file: File,
    record: ProcessRecord,
}

/// How often to retry while another process writes the record.
const TRIES: u32 = 40;
const BETWEEN_TRIES: Duration = Duration::from_millis(25);

impl ClusterLock {
    /// Locks the directory; the error names the process that holds the lock.
    pub(crate) fn take(dir: &ClusterDir, in_memory: bool, nodes: usize) -> Result<Self, String> {
        if in_memory && dir.has_data() {
            return Err(format!(
                "{} keeps its data in {}, so it cannot run in memory\nhint: choose another name with --name",
                dir.title(),
                dir.directory.display()
            ));
        }
        let file = lock(dir)?;
        let pid = std::process::id();
        let record =
            ProcessRecord { pid, started: started(pid), url: None, kubeconfig: None, in_memory, nodes };
        let mut lock = Self { dir: dir.clone(), file, record };
        lock.write()?;
        Ok(lock)
    }

    /// Adds the URL and the kubeconfig to the record.
    pub(crate) fn publish(&mut self, url: &str, kubeconfig: PathBuf) -> Result<(), String> {
        self.record.url = Some(url.to_owned());
        self.record.kubeconfig = Some(kubeconfig);
        self.write()
    }

    fn write(&mut self) -> Result<(), String> {
        let text = format!("{:#}\n", self.record.render());
        let written = self.file.set_len(0).and_then(|()| self.file.rewind());
        let written = written.and_then(|()| self.file.write_all(text.as_bytes()));
        written.map_err(|error| format!("cannot write {}: {error}", self.dir.record().display()))
    }
}

impl Drop for ClusterLock {
    fn drop(&mut self) {
        // Leftovers are removed later, when the lock is free.
        let _ = if self.record.in_memory { self.dir.remove() } else { fs::remove_file(self.dir.record()) };
        // Succeeds only if the directory is empty.
        let _ = fs::remove_dir(&self.dir.directory);
    }
}

/// The record of the process that runs a cluster; `None` if it is not running.
pub(crate) fn running(dir: &ClusterDir) -> Result<Option<ProcessRecord>, String> {
    let unreadable = |error: io::Error| format!("cannot read {}: {error}", dir.record().display());
    for _ in 0..TRIES {
        let mut file = match File::open(dir.record()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        match file.try_lock_shared() {
            Ok(()) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(unreadable(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(unreadable)?;
        if let Some(record) = ProcessRecord::parse(&text).filter(ProcessRecord::is_current) {
            return Ok(Some(record));
        }
        // Locked with a stale record: the process writes the record right after it takes the lock.
        std::thread::sleep(BETWEEN_TRIES);
    }
    Err(format!("{} is in use, but does not say by which process", dir.record().display()))
}

/// Removes the leftovers of a killed in-memory cluster. Returns whether anything was removed.
pub(super) fn remove_if_abandoned(dir: &ClusterDir) -> bool {
    let text = fs::read_to_string(dir.record()).unwrap_or_default();
    let was_in_memory = ProcessRecord::parse(&text).is_some_and(|record| record.in_memory);
    was_in_memory && !dir.has_data() && lock(dir).is_ok_and(|_lock| dir.remove().is_ok())
}

/// Locks a directory, which is created if needed; the error names the process that holds the lock.
pub(super) fn lock(dir: &ClusterDir) -> Result<File, String> {
    let path = dir.record();
    let cannot = |error: io::Error| format!("cannot write {}: {error}", path.display());
    for _ in 0..TRIES {
        dir.create()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(&path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => return Ok(file),
            // The file was removed between open and lock.
            Ok(()) => continue,
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        // `running` briefly holds the lock when it checks a stopped cluster.
        if let Some(record) = running(dir)? {
            return Err(record.already(dir));
        }
        std::thread::sleep(BETWEEN_TRIES);
    }
    Err(format!("{} is in use by another process", path.display()))
}

/// Whether an open file is still at this path.
fn is_at(file: &File, path: &Path) -> bool {
    let number = |found: io::Result<fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
    number(file.metadata()).is_some_and(|open| Some(open) == number(fs::metadata(path)))
}

impl ProcessRecord {
    /// The error for starting a cluster that is running.
    pub(crate) fn already(&self, dir: &ClusterDir) -> String {
        let at = self.url.as_ref().map_or_else(|| "it is starting".to_owned(), |url| format!("at {url}"));
        let stop = match &dir.name {
            Some(name) if name.is_default() => "gantry down".to_owned(),
            Some(name) => format!("gantry down {name}"),
            None => format!("gantry down --data-dir {}", dir.directory.display()),
        };
        format!(
            "{} is already running: process {}, {at}\nhint: use it, stop it with `{stop}`, or start another with --name",
            dir.title(),
            self.pid
        )
    }

    /// Whether the pid still belongs to the process of the record.
    pub(super) fn is_current(&self) -> bool {
        match (&self.started, started(self.pid)) {
            (Some(recorded), Some(now)) => *recorded == now,
            // The start time is unknown on this system; the lock alone decides.
            _ => true,
        }
    }

    fn render(&self) -> Value {
        json!({
            "pid": self.pid,
            "began": self.started,
            "url": self.url,
            "kubeconfig": self.kubeconfig,
            "inMemory": self.in_memory,
            "nodes": self.nodes,
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let value: Value = gantry_json::from_str(text).ok()?;
        let string = |key: &str| value[key].as_str().map(str::to_owned);
        Some(Self {
            pid: u32::try_from(value["pid"].as_u64()?).ok()?,
            started: string("began"),
            url: string("url"),
            kubeconfig: string("kubeconfig").map(PathBuf::from),
            in_memory: value["inMemory"].as_bool()?,
            nodes: usize::try_from(value["nodes"].as_u64()?).ok()?,
        })
    }
}

/// The start time of a process in clock ticks since boot; `None` where the system does not provide it.
fn started(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program name is in parentheses and may contain anything, so fields are counted from its end.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir(test: &str) -> ClusterDir {
        let directory = env_temp(test);
        let _ = fs::remove_dir_all(&directory);
        ClusterDir::at(directory)
    }

    fn env_temp(test: &str) -> PathBuf {
        std::env::temp_dir().join(format!("gantry-record-{test}-{}", std::process::id()))
    }

    #[test]
    fn a_cluster_runs_as_long_as_its_record_is_locked() {
        let dir = dir("held");
        assert_eq!(running(&dir), Ok(None));
        let mut lock = ClusterLock::take(&dir, false, 3).unwrap();
        lock.publish("https://127.0.0.1:1", dir.kubeconfig()).unwrap();
        let found = running(&dir).unwrap().unwrap();
        assert_eq!((found.pid, found.url.as_deref()), (std::process::id(), Some("https://127.0.0.1:1")));
        let refused = ClusterLock::take(&dir, false, 3).unwrap_err();
        assert!(
            refused.contains("is already running") && refused.contains("https://127.0.0.1:1"),
            "{refused}"
        );
        drop(lock);
        assert_eq!(running(&dir), Ok(None));
        assert!(!dir.directory.exists(), "nothing was kept in it");
    }

    #[test]
    fn a_record_that_was_left_behind_is_no_running_cluster() {
        let dir = dir("left");
        dir.create().unwrap();
        let pid = std::process::id();
        let left = ProcessRecord {
            pid,
            started: started(pid),
            url: None,
            kubeconfig: None,
            in_memory: true,
            nodes: 1,
        };
        fs::write(dir.record(), left.render().to_string()).unwrap();
        assert_eq!(running(&dir), Ok(None), "no process holds the lock");
        assert!(remove_if_abandoned(&dir) && !dir.directory.exists());
    }

    #[test]
    fn a_process_that_got_the_number_of_another_is_not_the_other() {
        let pid = std::process::id();
        let record =
            |started| ProcessRecord { pid, started, url: None, kubeconfig: None, in_memory: false, nodes: 0 };
        assert!(record(started(pid)).is_current());
        assert!(!record(Some("1".to_owned())).is_current());
    }
}
