//! Which server is meant: `--kubeconfig`, `KUBECONFIG`, `~/.kube/config`, or the cluster that `gantry up` runs.

use std::path::{Path, PathBuf};

use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

use crate::failure::Failure;

/// What was said about the server to use.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// The file that was named.
    pub kubeconfig: Option<PathBuf>,
    /// The files of `KUBECONFIG`, the most important first.
    pub listed: Vec<PathBuf>,
    /// The file that everybody has, if nothing is said.
    pub usual: Option<PathBuf>,
    /// The file of a cluster that Gantry runs on this machine, if there is nothing else.
    pub own: Option<PathBuf>,
    /// Another context than the current one.
    pub context: Option<String>,
    /// Another cluster than the context's.
    pub cluster: Option<String>,
    /// Another user than the context's.
    pub user: Option<String>,
    /// Another address than the cluster's.
    pub server: Option<String>,
    /// A user to act as.
    pub act_as: Option<String>,
}

impl Connection {
    /// A client for the server that is meant, and the server's address.
    pub async fn open(&self) -> Result<(Client, String), Failure> {
        let config = self.config().await?;
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let client = Client::try_from(config)
            .map_err(|error| Failure::other(format!("the kubeconfig cannot be used: {error}")))?;
        Ok((client, server))
    }

    async fn config(&self) -> Result<Config, Failure> {
        let options = KubeConfigOptions {
            context: self.context.clone(),
            cluster: self.cluster.clone(),
            user: self.user.clone(),
        };
        let address = |server: &str| {
            server.parse().map_err(|_| Failure::other(format!("the server address {server:?} is no URL")))
        };
        let mut config = match (self.kubeconfig()?, &self.server) {
            (Some(file), _) => Config::from_custom_kubeconfig(file, &options)
                .await
                .map_err(|error| self.explained(&error))?,
            (None, Some(server)) => Config::new(address(server)?),
            (None, None) => return Err(no_cluster()),
        };
        if let Some(server) = &self.server {
            config.cluster_url = address(server)?;
        }
        if let Some(user) = &self.act_as {
            config.auth_info.impersonate = Some(user.clone());
        }
        // A watch may be silent for as long as nothing happens.
        config.read_timeout = None;
        Ok(config)
    }

    /// The kubeconfig that counts; none if there is no file at all.
    fn kubeconfig(&self) -> Result<Option<Kubeconfig>, Failure> {
        if let Some(file) = &self.kubeconfig {
            if !file.exists() {
                return Err(Failure::other(format!("stat {}: no such file or directory", file.display())));
            }
            return read(file).map(Some);
        }
        let mut merged: Option<Kubeconfig> = None;
        // Files that are listed and do not exist are passed over, as everybody does.
        for file in self.listed.iter().filter(|file| file.exists()) {
            let next = read(file)?;
            merged = Some(match merged {
                None => next,
                Some(before) => before.merge(next).map_err(|error| Failure::other(error.to_string()))?,
            });
        }
        if merged.is_some() || !self.listed.is_empty() {
            return Ok(merged);
        }
        self.usual.iter().chain(&self.own).find(|file| file.exists()).map(|file| read(file)).transpose()
    }

    fn explained(&self, error: &KubeconfigError) -> Failure {
        match error {
            KubeconfigError::LoadContext(name) if self.context.is_none() => Failure::other(format!(
                "the current context \"{name}\" does not exist in the kubeconfig\n\
                 hint: name one with --context"
            )),
            KubeconfigError::LoadContext(name) => {
                Failure::other(format!("context \"{name}\" does not exist"))
            }
            KubeconfigError::LoadClusterOfContext(name) => {
                Failure::other(format!("cluster \"{name}\" does not exist"))
            }
            KubeconfigError::CurrentContextNotSet => {
                Failure::other("the kubeconfig has no current context\nhint: name one with --context")
            }
            other => Failure::other(other.to_string()),
        }
    }
}

fn read(file: &Path) -> Result<Kubeconfig, Failure> {
    Kubeconfig::read_from(file)
        .map_err(|error| Failure::other(format!("error loading config file \"{}\": {error}", file.display())))
}

fn no_cluster() -> Failure {
    Failure::other(
        "no cluster to talk to: there is no kubeconfig\n\
         hint: start a cluster with `gantry up`, or name a file with --kubeconfig or KUBECONFIG",
    )
}
