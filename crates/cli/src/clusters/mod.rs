//! Named clusters: `gantry clusters` lists them, `gantry down` stops one, `gantry delete-cluster` removes one.

mod cluster_dir;
mod delete;
mod down;
mod name;
mod process_record;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use gantry_json::json;

pub(crate) use cluster_dir::ClusterDir;
pub(crate) use delete::{DeleteClusterFlags, run as delete};
pub(crate) use down::{DownFlags, run as down};
pub(crate) use name::ClusterName;
pub(crate) use process_record::{ClusterLock, ProcessRecord, running};

use crate::output::{fail, print};

/// The flags of `gantry clusters`.
#[derive(Debug, Args)]
pub(crate) struct ClustersFlags {
    /// The output format
    #[arg(short, long, value_enum, default_value = "text")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// A table for people
    Text,
    /// A list of objects for programs
    Json,
}

/// A row of the list.
struct Listed {
    name: ClusterName,
    dir: ClusterDir,
    record: Option<ProcessRecord>,
}

/// Lists the clusters of this user.
pub(crate) fn run(flags: &ClustersFlags) -> ExitCode {
    match (list(), flags.output) {
        (Ok(clusters), Output::Text) => print(&table(&clusters)),
        (Ok(clusters), Output::Json) => {
            let all: Vec<_> = clusters.iter().map(Listed::json).collect();
            print(&format!("{:#}\n", json!(all)))
        }
        (Err(message), _) => fail(&message),
    }
}

/// Lists all clusters, and removes leftovers of killed in-memory clusters.
fn list() -> Result<Vec<Listed>, String> {
    let mut clusters = Vec::new();
    for dir in ClusterDir::all()? {
        let record = running(&dir)?;
        let is_gone = record.is_none() && process_record::remove_if_abandoned(&dir);
        if let Some(name) = dir.name.clone().filter(|_| !is_gone) {
            clusters.push(Listed { name, dir, record });
        }
    }
    Ok(clusters)
}

/// The names of all clusters; none if they cannot be read.
pub(crate) fn names() -> Vec<String> {
    list().unwrap_or_default().iter().map(|cluster| cluster.name.to_string()).collect()
}

/// The kubeconfigs of clusters of this user.
pub(crate) struct Kubeconfigs {
    /// The kubeconfig of the default cluster: `gantry`, or the only other one that is running.
    pub(crate) usual: Option<PathBuf>,
    /// The kubeconfigs of all clusters.
    pub(crate) all: Vec<PathBuf>,
}

impl Kubeconfigs {
    /// Finds them. An unreadable directory is ignored: commands for other clusters do not need it.
    pub(crate) fn find() -> Self {
        let clusters = list().unwrap_or_default();
        let (default, others): (Vec<&Listed>, Vec<&Listed>) =
            clusters.iter().partition(|cluster| cluster.name.is_default());
        let default = default.first().copied();
        let running: Vec<&&Listed> = others.iter().filter(|cluster| cluster.record.is_some()).collect();
        let usual = match (default, &*running) {
            (Some(default), _) if default.record.is_some() => Some(default),
            (_, [only]) => Some(**only),
            (default, []) => default,
            // Ambiguous: several clusters are running.
            _ => None,
        };
        let usual = usual.map(Listed::kubeconfig);
        Self { usual, all: clusters.iter().map(Listed::kubeconfig).collect() }
    }
}

impl Listed {
    fn status(&self) -> &'static str {
        match &self.record {
            None => "stopped",
            Some(ProcessRecord { url: None, .. }) => "starting",
            Some(_) => "running",
        }
    }

    fn kubeconfig(&self) -> PathBuf {
        let recorded = self.record.as_ref().and_then(|record| record.kubeconfig.clone());
        recorded.unwrap_or_else(|| self.dir.kubeconfig())
    }

    fn is_in_memory(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.in_memory)
    }

    fn row(&self) -> [String; 6] {
        let record = self.record.as_ref();
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        [
            self.name.to_string(),
            self.status().to_owned(),
            or_dash(record.map(|record| record.pid.to_string())),
            or_dash(record.and_then(|record| record.url.clone())),
            if self.is_in_memory() { "memory".to_owned() } else { self.dir.directory.display().to_string() },
            self.kubeconfig().display().to_string(),
        ]
    }

    fn json(&self) -> gantry_json::Value {
        let record = self.record.as_ref();
        json!({
            "name": self.name.as_str(),
            "status": self.status(),
            "pid": record.map(|record| record.pid),
            "server": record.and_then(|record| record.url.clone()),
            "nodes": record.map(|record| record.nodes),
            "context": self.dir.context(),
            "kubeconfig": self.kubeconfig(),
            "inMemory": self.is_in_memory(),
            "directory": self.dir.directory,
        })
    }
}

/// A table in the layout of `kubectl get`.
fn table(clusters: &[Listed]) -> String {
    if clusters.is_empty() {
        return "There are no clusters; `gantry up` starts one.\n".to_owned();
    }
    let header = ["NAME", "STATUS", "PID", "SERVER", "DATA", "KUBECONFIG"].map(str::to_owned);
    let rows: Vec<[String; 6]> = std::iter::once(header).chain(clusters.iter().map(Listed::row)).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
            format!("{cell:width$}")
        });
        text.push_str(cells.collect::<Vec<_>>().join("   ").trim_end());
        text.push('\n');
    }
    text
}

/// The error for an unknown cluster.
fn unknown(dir: &ClusterDir) -> String {
    let hint = match &*names() {
        [] => "there are no clusters; `gantry up` starts one".to_owned(),
        names => format!("there is {}", names.join(", ")),
    };
    format!("{} does not exist\nhint: {hint}", dir.title())
}
