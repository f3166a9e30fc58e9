//! What flags change of a kubeconfig, as kubectl does it: single fields of the cluster and the user that are used.

use std::path::Path;

use kube::config::{
    AuthInfo, Cluster, Context, KubeConfigOptions, Kubeconfig, NamedAuthInfo, NamedCluster, NamedContext,
};

use super::{Connection, KubeconfigEntry, TlsVerification};
use crate::failure::Failure;

/// What things are called that stand in no kubeconfig.
const TYPED: &str = "typed";

impl Connection {
    /// The kubeconfig as the flags want it, and what to take of it.
    pub(super) fn overridden(
        &self,
        mut file: Kubeconfig,
    ) -> Result<(Kubeconfig, KubeConfigOptions), Failure> {
        let name = self.context.clone().or_else(|| file.current_context.clone());
        let context = name.as_ref().and_then(|name| {
            let named = file.contexts.iter().find(|context| context.name == *name)?;
            named.context.clone()
        });
        if let Some(user) = &self.user
            && !file.auth_infos.iter().any(|known| known.name == *user)
        {
            let known = self.known(KubeconfigEntry::User);
            return Err(Failure::other(format!(
                "auth info \"{user}\" does not exist\nhint: name one with --user{known}"
            )));
        }
        let cluster =
            self.cluster.clone().or_else(|| context.as_ref().map(|context| context.cluster.clone()));
        let user = self.user.clone().or_else(|| context.as_ref()?.user.clone());
        let options = if context.is_none() && self.context.is_none() && self.server.is_some() {
            // `--server` alone is enough: cluster and user come from flags, or are empty entries.
            let (cluster, user) = (cluster.unwrap_or_else(typed), user.unwrap_or_else(typed));
            let made = Context { cluster: cluster.clone(), user: Some(user.clone()), ..Context::default() };
            file.contexts.push(NamedContext {
                name: typed(),
                context: Some(made),
                ..NamedContext::default()
            });
            KubeConfigOptions { context: Some(typed()), cluster: Some(cluster), user: Some(user) }
        } else {
            KubeConfigOptions { context: name, cluster, user: Some(user.unwrap_or_else(typed)) }
        };
        if let Some(name) = &options.cluster {
            self.change_cluster(&mut file, name);
        }
        if let Some(name) = &options.user {
            self.change_user(&mut file, name);
        }
        Ok((file, options))
    }

    fn change_cluster(&self, file: &mut Kubeconfig, name: &str) {
        if self.server.is_some() && !file.clusters.iter().any(|cluster| cluster.name == name) {
            let empty = Some(Cluster::default());
            file.clusters.push(NamedCluster {
                name: name.to_owned(),
                cluster: empty,
                ..NamedCluster::default()
            });
        }
        let Some(named) = file.clusters.iter_mut().find(|cluster| cluster.name == name) else { return };
        let cluster = named.cluster.get_or_insert_default();
        match &self.trust {
            TlsVerification::AsConfigured => {}
            TlsVerification::Skip => {
                cluster.insecure_skip_tls_verify = Some(true);
                (cluster.certificate_authority, cluster.certificate_authority_data) = (None, None);
            }
            TlsVerification::CertificateAuthority(file) => {
                cluster.insecure_skip_tls_verify = None;
                cluster.certificate_authority = Some(shown(file));
                cluster.certificate_authority_data = None;
            }
        }
        if self.tls_server_name.is_some() || self.server.is_some() {
            // The name in the kubeconfig is that of its own server.
            cluster.tls_server_name.clone_from(&self.tls_server_name);
        }
        if let Some(server) = &self.server {
            cluster.server = Some(self.with_scheme(server, cluster));
        }
    }

    fn change_user(&self, file: &mut Kubeconfig, name: &str) {
        if !file.auth_infos.iter().any(|user| user.name == name) {
            let empty = Some(AuthInfo::default());
            file.auth_infos.push(NamedAuthInfo {
                name: name.to_owned(),
                auth_info: empty,
                ..NamedAuthInfo::default()
            });
        }
        let Some(named) = file.auth_infos.iter_mut().find(|user| user.name == name) else { return };
        let user = named.auth_info.get_or_insert_default();
        if let Some(token) = &self.token {
            user.token = Some(token.clone().into());
            user.token_file = None;
        }
        if let Some(file) = &self.client_certificate {
            user.client_certificate = Some(shown(file));
            user.client_certificate_data = None;
        }
        if let Some(file) = &self.client_key {
            user.client_key = Some(shown(file));
            user.client_key_data = None;
        }
        if self.act_as.is_some() {
            user.impersonate.clone_from(&self.act_as);
        }
        if self.act_as_uid.is_some() {
            user.impersonate_uid.clone_from(&self.act_as_uid);
        }
        if !self.act_as_groups.is_empty() {
            user.impersonate_groups = Some(self.act_as_groups.clone());
        }
    }

    /// An address without a scheme means https if certificates are configured.
    fn with_scheme(&self, server: &str, cluster: &Cluster) -> String {
        if server.contains("://") {
            return server.to_owned();
        }
        let by_tls = cluster.certificate_authority.is_some()
            || cluster.certificate_authority_data.is_some()
            || cluster.insecure_skip_tls_verify == Some(true)
            || self.client_certificate.is_some();
        format!("{}://{server}", if by_tls { "https" } else { "http" })
    }
}

fn typed() -> String {
    TYPED.to_owned()
}

fn shown(file: &Path) -> String {
    file.display().to_string()
}
