//! Overrides a kubeconfig by flags, as kubectl does: single fields of the current cluster and user.

use super::kubeconfig::{ClusterEntry, ContextEntry, KubeconfigFile, PemSource, UserEntry, find};
use super::{Connection, KubeconfigEntry, TlsVerification};
use crate::failure::Failure;

/// The entries of a kubeconfig that are used, with what flags change of them.
pub(super) struct Selected {
    pub(super) cluster: ClusterEntry,
    pub(super) user: UserEntry,
    pub(super) context: ContextEntry,
}

impl Connection {
    /// The entries that the flags and the current context select.
    pub(super) fn selected(&self, file: &KubeconfigFile) -> Result<Selected, Failure> {
        let context = self.selected_context(file)?;
        let user = self.user.as_ref().or(context.user.as_ref());
        let user = match user.map(|name| (name, find(&file.users, name))) {
            Some((_, Some(user))) => user.clone(),
            Some((name, None)) if self.user.is_some() => {
                let known = self.known(KubeconfigEntry::User);
                return Err(Failure::other(format!(
                    "auth info \"{name}\" does not exist\nhint: name one with --user{known}"
                )));
            }
            // A context may name a user that does not exist: credentials can come from flags.
            _ => UserEntry::default(),
        };
        let name = self.cluster.as_ref().unwrap_or(&context.cluster);
        let cluster = match find(&file.clusters, name) {
            Some(cluster) => cluster.clone(),
            // `--server` alone is enough.
            None if self.server.is_some() => ClusterEntry::default(),
            None => {
                return Err(Failure::other(format!(
                    "cluster \"{name}\" does not exist\nhint: name one with --cluster{}",
                    self.known(KubeconfigEntry::Cluster)
                )));
            }
        };
        Ok(Selected { cluster: self.changed_cluster(cluster), user: self.changed_user(user), context })
    }

    fn selected_context(&self, file: &KubeconfigFile) -> Result<ContextEntry, Failure> {
        let name = self.context.as_ref().or(file.current_context.as_ref());
        if let Some(context) = name.and_then(|name| find(&file.contexts, name)) {
            return Ok(context.clone());
        }
        if self.context.is_none() && self.server.is_some() {
            return Ok(ContextEntry::default());
        }
        let what = match (name, &self.context) {
            (Some(name), Some(_)) => format!("context \"{name}\" does not exist"),
            (Some(name), None) => format!("the current context \"{name}\" does not exist in the kubeconfig"),
            (None, _) => "the kubeconfig has no current context".to_owned(),
        };
        let known = self.known(KubeconfigEntry::Context);
        Err(Failure::other(format!("{what}\nhint: name one with --context{known}")))
    }

    fn changed_cluster(&self, mut cluster: ClusterEntry) -> ClusterEntry {
        match &self.trust {
            TlsVerification::AsConfigured => {}
            TlsVerification::Skip => {
                cluster.skips_verification = true;
                cluster.certificate_authority = None;
            }
            TlsVerification::CertificateAuthority(file) => {
                cluster.skips_verification = false;
                cluster.certificate_authority = Some(PemSource::File(file.clone()));
            }
        }
        if self.tls_server_name.is_some() || self.server.is_some() {
            // `tls-server-name` of the kubeconfig applies only to the server of the kubeconfig.
            cluster.tls_server_name.clone_from(&self.tls_server_name);
        }
        if let Some(server) = &self.server {
            cluster.server = Some(self.with_scheme(server, &cluster));
        }
        cluster
    }

    fn changed_user(&self, mut user: UserEntry) -> UserEntry {
        if let Some(token) = &self.token {
            user.token = Some(token.clone());
            user.token_file = None;
        }
        if let Some(file) = &self.client_certificate {
            user.client_certificate = Some(PemSource::File(file.clone()));
        }
        if let Some(file) = &self.client_key {
            user.client_key = Some(PemSource::File(file.clone()));
        }
        if self.act_as.is_some() {
            user.act_as.clone_from(&self.act_as);
        }
        if self.act_as_uid.is_some() {
            user.act_as_uid.clone_from(&self.act_as_uid);
        }
        if !self.act_as_groups.is_empty() {
            user.act_as_groups.clone_from(&self.act_as_groups);
        }
        user
    }

    /// An address without a scheme means https if certificates are configured.
    fn with_scheme(&self, server: &str, cluster: &ClusterEntry) -> String {
        if server.contains("://") {
            return server.to_owned();
        }
        let by_tls = cluster.certificate_authority.is_some()
            || cluster.skips_verification
            || self.client_certificate.is_some();
        format!("{}://{server}", if by_tls { "https" } else { "http" })
    }
}
