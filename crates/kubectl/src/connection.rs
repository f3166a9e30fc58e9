//! Finds the server and the credentials: `--kubeconfig`, `KUBECONFIG`, `~/.kube/config`, the cluster of `gantry up`, or the
//! service account of the pod; with overrides by flags.

mod client_config;
mod kubeconfig;
mod overrides;

use std::path::{Path, PathBuf};
use std::time::Duration;

use gantry_client::{ApiTransport, ClientConfig};

use crate::failure::Failure;
use kubeconfig::{KubeconfigFile, find};
use overrides::Selected;

/// How the server and the credentials are selected.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// The value of `--kubeconfig`.
    pub kubeconfig: Option<PathBuf>,
    /// The files of `KUBECONFIG`, the most important first.
    pub listed: Vec<PathBuf>,
    /// `~/.kube/config`, the default.
    pub usual: Option<PathBuf>,
    /// The file of a cluster that Gantry runs on this machine, if there is nothing else.
    pub own: Option<PathBuf>,
    /// The files of all clusters that Gantry keeps on this machine; their contexts can always be named.
    pub clusters: Vec<PathBuf>,
    /// Another context than the current one.
    pub context: Option<String>,
    /// Another cluster than the context's.
    pub cluster: Option<String>,
    /// Another user than the context's.
    pub user: Option<String>,
    /// Another address than the cluster's.
    pub server: Option<String>,
    /// How the server's certificate is checked, if not as in the kubeconfig.
    pub trust: TlsVerification,
    /// Another name than the address's that the server's certificate has to have.
    pub tls_server_name: Option<String>,
    /// A bearer token.
    pub token: Option<String>,
    /// The file of a client certificate.
    pub client_certificate: Option<PathBuf>,
    /// The file of the key of that certificate.
    pub client_key: Option<PathBuf>,
    /// A user to act as.
    pub act_as: Option<String>,
    /// The uid of that user.
    pub act_as_uid: Option<String>,
    /// The groups of that user.
    pub act_as_groups: Vec<String>,
    /// The timeout of a request; `None` for no timeout.
    pub request_timeout: Option<Duration>,
}

/// The current context, if no flag and no variable selects one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImplicitContext {
    /// The name of the context and its file; `None` for the service account of a pod.
    pub context: Option<(String, PathBuf)>,
}

/// How the certificate of a server is checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TlsVerification {
    /// As in the kubeconfig.
    #[default]
    AsConfigured,
    /// By the authorities in this file.
    CertificateAuthority(PathBuf),
    /// Not at all.
    Skip,
}

/// The kinds of named entries of a kubeconfig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KubeconfigEntry {
    /// A cluster and a user.
    Context,
    /// A server.
    Cluster,
    /// The credentials of a user.
    User,
}

impl Connection {
    /// Returns a transport to the server, and the server's address.
    pub async fn open(&self) -> Result<(ApiTransport, String), Failure> {
        Self::connect(&self.config().await?)
    }

    /// A transport to the server of a configuration, and the server's address.
    pub fn connect(config: &ClientConfig) -> Result<(ApiTransport, String), Failure> {
        let server = config.server.to_string().trim_end_matches('/').to_owned();
        let transport = ApiTransport::connect(config).map_err(|error| Failure::other(error.to_string()))?;
        Ok((transport, server))
    }

    /// The client configuration.
    pub async fn config(&self) -> Result<ClientConfig, Failure> {
        let mut config = match (self.kubeconfig()?, &self.server) {
            (None, None) => client_config::of_pod().ok_or_else(|| self.no_cluster())?,
            (file, _) => {
                let file = file.unwrap_or_default();
                let Selected { cluster, user, context } = self.selected(&file)?;
                client_config::client_config(&cluster, &user, &context).await.map_err(Failure::other)?
            }
        };
        // Without a timeout, a watch may be silent for as long as nothing happens.
        if self.request_timeout.is_some() {
            config.read_timeout = self.request_timeout;
            config.connect_timeout = self.request_timeout;
            config.write_timeout = self.request_timeout;
        }
        Ok(config)
    }

    /// The current context; `None` if a flag or `KUBECONFIG` selects the server.
    pub fn by_default(&self) -> Result<Option<ImplicitContext>, Failure> {
        let is_selected = self.kubeconfig.is_some()
            || !self.listed.is_empty()
            || self.context.is_some()
            || self.cluster.is_some()
            || self.server.is_some();
        if is_selected {
            return Ok(None);
        }
        let Some(file) = self.found() else { return Ok(Some(ImplicitContext { context: None })) };
        let context = read(file)?.current_context.unwrap_or_default();
        Ok(Some(ImplicitContext { context: Some((context, file.clone())) }))
    }

    /// The names of the entries of a kind.
    pub fn entries(&self, entry: KubeconfigEntry) -> Result<Vec<String>, Failure> {
        let file = self.kubeconfig()?.unwrap_or_default();
        Ok(match entry {
            KubeconfigEntry::Context => {
                let mut names: Vec<String> = file.contexts.into_iter().map(|context| context.name).collect();
                let more = self
                    .existing_gantry_kubeconfigs()
                    .filter_map(|file| read(file).ok())
                    .flat_map(|file| file.contexts);
                for context in more.filter(|_| self.kubeconfig.is_none()) {
                    if !names.contains(&context.name) {
                        names.push(context.name);
                    }
                }
                names
            }
            KubeconfigEntry::Cluster => file.clusters.into_iter().map(|cluster| cluster.name).collect(),
            KubeconfigEntry::User => file.users.into_iter().map(|user| user.name).collect(),
        })
    }

    /// The kubeconfig in use; `None` if there is no file at all.
    fn kubeconfig(&self) -> Result<Option<KubeconfigFile>, Failure> {
        if let Some(file) = &self.kubeconfig {
            if !file.exists() {
                return Err(Failure::other(format!(
                    "stat {}: no such file or directory\nhint: --kubeconfig names a file that does not exist",
                    file.display()
                )));
            }
            return read(file).map(Some);
        }
        let merged = self.merged()?;
        match self.gantry_kubeconfig_of_context(merged.as_ref()) {
            Some(own) => read(own).map(Some),
            None => Ok(merged),
        }
    }

    /// The merged files of `KUBECONFIG`, or the default file.
    fn merged(&self) -> Result<Option<KubeconfigFile>, Failure> {
        let mut merged: Option<KubeconfigFile> = None;
        // Missing files of KUBECONFIG are ignored, as in kubectl.
        for file in self.listed.iter().filter(|file| file.exists()) {
            let next = read(file)?;
            merged = Some(match merged {
                None => next,
                Some(before) => before.merge(next),
            });
        }
        if merged.is_none() && self.listed.is_empty() {
            merged = self.found().map(|file| read(file)).transpose()?;
        }
        Ok(merged)
    }

    /// The default file, if no flag or variable names one.
    fn found(&self) -> Option<&PathBuf> {
        self.usual.iter().chain(&self.own).find(|file| file.exists())
    }

    /// The file of one of Gantry's clusters, if it has the context that was named and the usual files do not.
    fn gantry_kubeconfig_of_context(&self, usual: Option<&KubeconfigFile>) -> Option<&PathBuf> {
        let name = self.context.as_ref()?;
        let has = |file: &KubeconfigFile| find(&file.contexts, name).is_some();
        if usual.is_some_and(has) {
            return None;
        }
        self.existing_gantry_kubeconfigs().find(|file| read(file).is_ok_and(|file| has(&file)))
    }

    fn existing_gantry_kubeconfigs(&self) -> impl Iterator<Item = &PathBuf> {
        self.clusters.iter().filter(|file| file.exists())
    }

    /// The kubeconfig of a Gantry cluster that is used by default. kubectl needs it as `--kubeconfig`.
    pub fn gantry_kubeconfig_in_use(&self) -> Option<&Path> {
        if self.kubeconfig.is_some() {
            return None;
        }
        let by_default =
            self.found().filter(|file| self.listed.is_empty() && self.own.as_ref() == Some(file));
        let merged = self.merged().ok()?;
        self.gantry_kubeconfig_of_context(merged.as_ref()).or(by_default).map(PathBuf::as_path)
    }

    /// The names that exist, as the end of a hint.
    fn known(&self, entry: KubeconfigEntry) -> String {
        match self.entries(entry).unwrap_or_default() {
            names if names.is_empty() => String::new(),
            names => format!("; there is {}", names.join(", ")),
        }
    }

    fn no_cluster(&self) -> Failure {
        let start = "hint: start a cluster with `gantry up`, or name a file with --kubeconfig or KUBECONFIG";
        if self.listed.is_empty() && !self.clusters.is_empty() {
            return Failure::other(format!(
                "no cluster configured: several clusters are running\nhint: name one with --context{}",
                self.known(KubeconfigEntry::Context)
            ));
        }
        if self.listed.is_empty() {
            return Failure::other(format!("no cluster configured: there is no kubeconfig\n{start}"));
        }
        let files: Vec<String> = self.listed.iter().map(|file| file.display().to_string()).collect();
        Failure::other(format!(
            "no cluster configured: KUBECONFIG names {}, which does not exist\n{start}",
            files.join(" and ")
        ))
    }
}

fn read(file: &Path) -> Result<KubeconfigFile, Failure> {
    KubeconfigFile::read(file).map_err(|why| {
        Failure::other(format!(
            "error loading config file \"{}\": {why}\nhint: fix the file, or name another with --kubeconfig",
            file.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(folder: &Path, name: &str, context: &str) -> PathBuf {
        let file = folder.join(name);
        let text = format!("contexts: [{{name: {context}, context: {{cluster: c, user: u}}}}]\n");
        std::fs::write(&file, text).unwrap();
        file
    }

    #[test]
    fn a_file_that_only_gantry_finds_is_reported_so_that_it_can_be_passed_to_kubectl() {
        let folder = std::env::temp_dir().join(format!("gantry-connection-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (usual, own) = (written(&folder, "usual", "work"), written(&folder, "own", "gantry"));
        let without_flags =
            Connection { own: Some(own.clone()), clusters: vec![own.clone()], ..Connection::default() };
        assert_eq!(without_flags.gantry_kubeconfig_in_use(), Some(own.as_path()));
        let beside_another = Connection { usual: Some(usual.clone()), ..without_flags.clone() };
        assert_eq!(beside_another.gantry_kubeconfig_in_use(), None, "kubectl finds the usual file too");
        let by_context = Connection { context: Some("gantry".to_owned()), ..beside_another.clone() };
        assert_eq!(by_context.gantry_kubeconfig_in_use(), Some(own.as_path()));
        let listed = Connection { listed: vec![usual.clone()], ..without_flags.clone() };
        assert_eq!(listed.gantry_kubeconfig_in_use(), None);
        let named = Connection { kubeconfig: Some(usual), ..without_flags };
        assert_eq!(named.gantry_kubeconfig_in_use(), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
