//! Which cluster is meant: the flags that commands with one client share, and what they lead to.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use gantry_kubectl::{Connection, Failure, Refused, explain_unreachable};
use kube::Client;

use crate::output::fail;
use crate::paths;

/// Which cluster, as whom, and where in it.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ClusterFlags {
    /// The kubeconfig to use [default: $KUBECONFIG, ~/.kube/config, or the cluster of `gantry up`]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig to use
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// The namespace [default: that of the context, or `default`]
    #[arg(short, long, value_name = "NAMESPACE")]
    pub(crate) namespace: Option<String>,
}

/// A cluster that was found, if not yet reached.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) client: Client,
    pub(crate) namespace: String,
    server: String,
}

/// Runs a client to its end.
pub(crate) fn run(work: impl Future<Output = ExitCode>) -> ExitCode {
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(work),
        Err(error) => fail(&format!("cannot start: {error}")),
    }
}

impl ClusterFlags {
    /// A client for the cluster that is meant.
    pub(crate) async fn open(&self) -> Result<Cluster, Failure> {
        let (client, server) = self.connection().open().await?;
        let namespace = self.namespace.clone().unwrap_or_else(|| client.default_namespace().to_owned());
        Ok(Cluster { client, namespace, server })
    }

    /// These flags, completed by those that stood before the command.
    pub(crate) fn or(self, before: &Self) -> Self {
        Self {
            kubeconfig: self.kubeconfig.or_else(|| before.kubeconfig.clone()),
            context: self.context.or_else(|| before.context.clone()),
            namespace: self.namespace.or_else(|| before.namespace.clone()),
        }
    }

    /// Whether nothing was said.
    pub(crate) fn is_empty(&self) -> bool {
        self.kubeconfig.is_none() && self.context.is_none() && self.namespace.is_none()
    }

    /// What leads to the server.
    pub(crate) fn connection(&self) -> Connection {
        let listed = env::var_os("KUBECONFIG").filter(|list| !list.is_empty());
        let home = env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        Connection {
            kubeconfig: self.kubeconfig.clone(),
            listed: listed.map(|list| env::split_paths(&list).collect()).unwrap_or_default(),
            usual: home.map(|home| home.join(".kube/config")),
            own: paths::data_directory().ok().map(|directory| paths::kubeconfig(&directory)),
            context: self.context.clone(),
            ..Connection::default()
        }
    }
}

impl Cluster {
    /// What an error of its client means.
    pub(crate) fn failure(&self, error: kube::Error) -> Failure {
        match error {
            kube::Error::Api(status) => Failure::Refused(Refused {
                status: serde_json::json!({"reason": status.reason, "message": status.message}),
                doing: String::new(),
            }),
            other => explain_unreachable(&other, &self.server),
        }
    }
}
