//! The processes under measurement: those of a cluster that is started for one run, or that runs already.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::sleep;

use crate::hollow;
use crate::processes::Process;

/// The cluster under load.
#[derive(Clone, Debug)]
pub(crate) enum Setup {
    /// `gantry up --nodes 0` with the hollow kubelet.
    Hollow { gantry: Program },
    /// `gantry up` with its own scheduler and this many nodes.
    Nodes { gantry: Program, nodes: usize, delays: Delays },
    /// A cluster that runs already, with the hollow kubelet.
    Given { kubeconfig: PathBuf, processes: Vec<Process> },
}

/// The binary that is measured.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) gantry: PathBuf,
    /// The file to which callgrind, under which the binary runs, writes its profile.
    pub(crate) callgrind: Option<PathBuf>,
}

/// Whether pods on simulated nodes take time to be pulled, to start and to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delays {
    /// Without delays: the remaining time is the work of the cluster.
    None,
    /// The delays of the built-in profile.
    BuiltIn,
}

/// The storage of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Only in memory.
    Memory,
    /// In the directory of the run.
    Directory,
}

/// A cluster that is ready for the load; started processes end when it is dropped.
pub(crate) struct Running {
    pub(crate) kubeconfig: PathBuf,
    /// The processes whose cost is measured.
    pub(crate) processes: Vec<Process>,
    /// The hollow kubelet, if there is one.
    pub(crate) hollow: Option<Process>,
    /// The file to which the server writes the number of its allocations.
    allocations: Option<PathBuf>,
    children: Vec<Started>,
    directory: Option<Directory>,
}

/// A process that was started for a run.
struct Started {
    child: Child,
    /// Kept open: the process may print more.
    _stdout: Lines<BufReader<ChildStdout>>,
}

/// A directory for a run. It is kept if the run fails, with the server's log in it.
pub(crate) struct Directory(PathBuf);

/// The variable with the file for a server that counts its allocations.
const ALLOCATIONS_FILE: &str = "GANTRY_ALLOCATIONS_FILE";

/// The interval of checks whether the processes still run.
const LIVENESS: Duration = Duration::from_millis(500);

/// The nodes of the hollow kubelet.
const HOLLOW_NODES: usize = 10;

/// A profile of simulated nodes without delays. Pods pass through the same states, with the same events.
const NO_DELAYS: &str =
    "{\"default\": {\"pull-seconds\": 0, \"start-seconds\": 0, \"terminate-seconds\": 0}}\n";

impl Setup {
    /// The name of the setup in reports.
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Hollow { .. } => "gantry up --nodes 0, hollow kubelet".to_owned(),
            Self::Nodes { nodes, delays: Delays::None, .. } => {
                format!("gantry up --nodes {nodes}, own scheduler and nodes")
            }
            Self::Nodes { nodes, delays: Delays::BuiltIn, .. } => {
                format!("gantry up --nodes {nodes}, own scheduler and nodes, simulated delays")
            }
            Self::Given { .. } => "Kubernetes, hollow kubelet".to_owned(),
        }
    }

    /// Starts the processes of the setup.
    pub(crate) async fn start(&self, parent: &Path) -> Result<Running, String> {
        match self {
            Self::Hollow { gantry } => {
                let mut running = up(gantry, 0, Delays::None, parent).await?;
                running.add_hollow().await?;
                Ok(running)
            }
            Self::Nodes { gantry, nodes, delays } => up(gantry, *nodes, *delays, parent).await,
            Self::Given { kubeconfig, processes } => {
                let (kubeconfig, processes) = (kubeconfig.clone(), processes.clone());
                let mut running = Running {
                    kubeconfig,
                    processes,
                    hollow: None,
                    allocations: None,
                    children: Vec::new(),
                    directory: None,
                };
                running.add_hollow().await?;
                Ok(running)
            }
        }
    }
}

impl Running {
    async fn add_hollow(&mut self) -> Result<(), String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        command.args(["hollow", "--nodes", &HOLLOW_NODES.to_string(), "--kubeconfig"]).arg(&self.kubeconfig);
        let started = started(command, |line| line == hollow::READY).await?;
        self.hollow = started.child.id().map(|pid| Process { name: "hollow kubelet".to_owned(), pid });
        // Before the server, so that it does not lose its connection.
        self.children.insert(0, started);
        Ok(())
    }

    /// Returns how often the server has allocated memory; `None` if it does not count.
    pub(crate) fn allocations(&self) -> Option<u64> {
        std::fs::read_to_string(self.allocations.as_ref()?).ok()?.parse().ok()
    }

    /// Returns an error when a process that was started ends unexpectedly.
    pub(crate) async fn ended(&mut self) -> String {
        loop {
            for Started { child, .. } in &mut self.children {
                if let Ok(Some(status)) = child.try_wait() {
                    return format!("a process of the cluster ended: {status}");
                }
            }
            sleep(LIVENESS).await;
        }
    }

    /// Stops the started processes, and waits for their end.
    pub(crate) async fn stop(mut self) -> Result<(), String> {
        for mut started in self.children.drain(..) {
            if let Some(pid) = started.child.id() {
                let _ = Command::new("kill").args(["-TERM", &pid.to_string()]).status().await;
            }
            started.child.wait().await.map_err(|error| error.to_string())?;
        }
        self.directory.take().map_or(Ok(()), Directory::remove)
    }
}

impl Program {
    fn command(&self) -> Command {
        let Some(profile) = &self.callgrind else { return Command::new(&self.gantry) };
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--tool=callgrind", "--demangle=no"]);
        command.arg(format!("--callgrind-out-file={}", profile.display())).arg(&self.gantry);
        command
    }
}

impl Directory {
    /// Creates the directory of this process, empty.
    pub(crate) fn create(parent: &Path) -> Result<Self, String> {
        let path = parent.join(format!("gantry-rollout-{}", std::process::id()));
        if path.exists() {
            remove(&path)?;
        }
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }

    /// Removes the directory after a run that did not fail.
    pub(crate) fn remove(self) -> Result<(), String> {
        remove(&self.0)
    }
}

fn remove(path: &Path) -> Result<(), String> {
    std::fs::remove_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Starts `gantry up` on a new directory.
async fn up(gantry: &Program, nodes: usize, delays: Delays, parent: &Path) -> Result<Running, String> {
    let directory = Directory::create(parent)?;
    crate::say(&format!("the server's log is {}", directory.0.join("log").display()));
    let running = up_in(&directory, gantry, nodes, delays, Storage::Directory).await?;
    Ok(Running { directory: Some(directory), ..running })
}

/// Starts `gantry up` on a directory that may have the data of an earlier start, and returns when it is ready.
pub(crate) async fn up_in(
    Directory(directory): &Directory,
    gantry: &Program,
    nodes: usize,
    delays: Delays,
    storage: Storage,
) -> Result<Running, String> {
    let kubeconfig = directory.join("admin.kubeconfig");
    let mut command = gantry.command();
    command.args(["up", "--quiet", "--listen", "127.0.0.1:0", "--nodes", &nodes.to_string()]);
    command.arg("--write-kubeconfig").arg(&kubeconfig);
    match storage {
        Storage::Memory => command.arg("--in-memory"),
        Storage::Directory => command.arg("--data-dir").arg(directory.join("data")),
    };
    if delays == Delays::None && nodes > 0 {
        let profile = directory.join("profile.json");
        std::fs::write(&profile, NO_DELAYS).map_err(|error| format!("{}: {error}", profile.display()))?;
        command.arg("--sim-profile").arg(profile);
    }
    let allocations = directory.join("allocations");
    command.env(ALLOCATIONS_FILE, &allocations);
    let log = directory.join("log");
    let file = std::fs::File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    command.stderr(file);
    let started = started(command, |line| line.contains(" is up at ")).await?;
    let pid = started.child.id().ok_or("gantry ended at once")?;
    let processes = vec![Process { name: "gantry".to_owned(), pid }];
    let (children, allocations) = (vec![started], Some(allocations));
    Ok(Running { kubeconfig, processes, hollow: None, allocations, children, directory: None })
}

/// Starts a process and waits until it prints a line which means that it is ready.
async fn started(mut command: Command, is_ready: impl Fn(&str) -> bool) -> Result<Started, String> {
    let shown = format!("{:?}", command.as_std());
    let failed = |error: &dyn std::fmt::Display| format!("{shown}: {error}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| failed(&error))?;
    let stdout = child.stdout.take().ok_or_else(|| failed(&"no output"))?;
    let mut lines = BufReader::new(stdout).lines();
    while let Some(line) = lines.next_line().await.map_err(|error| failed(&error))? {
        if is_ready(&line) {
            return Ok(Started { child, _stdout: lines });
        }
    }
    Err(failed(&"ended before it was ready"))
}
