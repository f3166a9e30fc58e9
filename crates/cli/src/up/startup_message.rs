//! The message after a cluster has started: its address, how to use it, how to stop it.

use std::path::PathBuf;

use crate::clusters::ClusterDir;

/// A started cluster.
pub(super) struct StartupMessage<'h> {
    pub(super) dir: Option<&'h ClusterDir>,
    pub(super) in_memory: bool,
    pub(super) nodes: usize,
    /// Whether this machine is a node as well.
    pub(super) has_agent: bool,
    pub(super) url: String,
    pub(super) kubeconfig: PathBuf,
}

/// Examples for a cluster with nodes.
const WITH_NODES: &str = "  kubectl rollout status deployment/web
  kubectl set image deployment/web nginx=nginx:broken   # this one gets stuck
  gantry why deployment/web                             # and this reports why
  kubectl rollout undo deployment/web
";

/// Examples for a cluster without nodes.
const WITHOUT_NODES: &str =
    "  kubectl get deployments,replicasets,pods   # pods stay pending until a node joins (gantry token create)
  gantry why deployment/web
";

impl StartupMessage<'_> {
    pub(super) fn in_foreground(&self) -> String {
        format!("{}\nTry in another terminal:\n\n{}\nCtrl-C stops it.\n", self.first_line(), self.examples())
    }

    pub(super) fn detached(&self, log: &str) -> String {
        let name = self.dir.and_then(|dir| dir.name.as_ref());
        let down = match (name, self.dir) {
            (Some(name), _) => format!("gantry down {name}"),
            (None, Some(dir)) => format!("gantry down --data-dir {}", dir.directory.display()),
            (None, None) => "gantry down".to_owned(),
        };
        format!("{}\nTry:\n\n{}\nIts log is {log}\n`{down}` stops it.\n", self.first_line(), self.examples())
    }

    fn first_line(&self) -> String {
        let name = self.dir.and_then(|dir| dir.name.as_ref());
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        let kept = match self.dir {
            Some(dir) if !self.in_memory => format!("kept in {}", dir.directory.display()),
            _ => "kept in memory".to_owned(),
        };
        let nodes = match self.nodes {
            0 if self.has_agent => "with this machine as its node".to_owned(),
            1 if self.has_agent => "with this machine and one simulated node".to_owned(),
            nodes if self.has_agent => format!("with this machine and {nodes} simulated nodes"),
            0 => "without nodes".to_owned(),
            1 => "with one simulated node".to_owned(),
            nodes => format!("with {nodes} simulated nodes"),
        };
        format!("The cluster{name} is up at {}, {nodes}, {kept}\n", self.url)
    }

    fn examples(&self) -> String {
        let rest = if self.nodes == 0 && !self.has_agent { WITHOUT_NODES } else { WITH_NODES };
        format!(
            "  export KUBECONFIG={}\n  kubectl create deployment web --image=nginx:1 --replicas=3\n{rest}",
            self.kubeconfig.display()
        )
    }
}
