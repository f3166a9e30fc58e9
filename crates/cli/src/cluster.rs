//! The connection flags that client commands share, and the client that they select.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use gantry_client::{ApiTransport, ClientConfig};
use gantry_kubectl::{Connection, Failure, TlsVerification};
use gantry_runtime::{Api, Metrics, RequestError};
use gantry_view::why::CommandFlags;

use crate::clusters::Kubeconfigs;
use crate::kubectl::duration;
use crate::output::fail;

/// The connection flags with the namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct ClusterFlags {
    /// The namespace [default: that of the context, or `default`]
    #[arg(short, long, value_name = "NAMESPACE", help_heading = HEADING)]
    pub(crate) namespace: Option<String>,
    /// Boxed, because there are many of them in every command.
    #[command(flatten)]
    server: Box<ConnectionFlags>,
}

/// The connection flags; their names are kubectl's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct ConnectionFlags {
    /// The kubeconfig to use [default: $KUBECONFIG, ~/.kube/config, or the cluster of `gantry up`]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig to use, or that of a cluster of `gantry clusters` [default: the current one]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// The cluster of the kubeconfig to use [default: that of the context]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    cluster: Option<String>,
    /// The user of the kubeconfig to authenticate as [default: that of the context]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    user: Option<String>,
    /// The address of the server [default: that of the cluster]
    #[arg(short, long, value_name = "URL", hide_short_help = true)]
    server: Option<String>,
    /// A bearer token for authentication
    #[arg(long, value_name = "TOKEN", hide_short_help = true)]
    token: Option<String>,
    /// A user or service account to impersonate
    #[arg(long = "as", id = "as", value_name = "USER", hide_short_help = true)]
    act_as: Option<String>,
    /// A group to impersonate; may be repeated
    #[arg(long = "as-group", id = "as_group", value_name = "GROUP", hide_short_help = true)]
    act_as_groups: Vec<String>,
    /// The uid to impersonate
    #[arg(long = "as-uid", id = "as_uid", value_name = "UID", hide_short_help = true)]
    act_as_uid: Option<String>,
    /// A file with the CA certificates for the server
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    certificate_authority: Option<PathBuf>,
    /// A client certificate file
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    client_certificate: Option<PathBuf>,
    /// The key file of the client certificate
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    client_key: Option<PathBuf>,
    /// Do not verify the server's certificate, which makes the connection insecure
    #[arg(long, hide_short_help = true)]
    insecure_skip_tls_verify: bool,
    /// The name to verify the server's certificate against [default: the host of its address]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    tls_server_name: Option<String>,
    /// How long one request may take, such as 5s; 0 for no limit
    #[arg(long, value_name = "DURATION", hide_short_help = true)]
    request_timeout: Option<String>,
}

/// The heading of these flags in help texts.
pub(crate) const HEADING: &str = "Connection";

/// A client for a cluster.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) transport: ApiTransport,
    /// Reads objects with it.
    pub(crate) api: Api,
    pub(crate) namespace: String,
    server: String,
}

/// Runs a client on a single-threaded runtime.
pub(crate) fn run(work: impl Future<Output = ExitCode>) -> ExitCode {
    run_boxed(Box::pin(work))
}

/// Runs requests of a command that continues without a runtime.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let mut result = None;
    run(async {
        result = Some(work.await);
        ExitCode::SUCCESS
    });
    result.unwrap_or_else(|| Err(Failure::other("the runtime cannot be started")))
}

/// Boxed so that the runtime is compiled once, not for each command.
fn run_boxed(work: Pin<Box<dyn Future<Output = ExitCode> + '_>>) -> ExitCode {
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(work),
        Err(error) => fail(&format!("cannot start: {error}")),
    }
}

impl ClusterFlags {
    /// Returns a client for the cluster that the flags select.
    pub(crate) async fn open(&self) -> Result<Cluster, Failure> {
        let cluster = Cluster::open(&self.connection()?.config().await?)?;
        Ok(Cluster { namespace: self.namespace.clone().unwrap_or(cluster.namespace), ..cluster })
    }

    /// Returns whether `--cluster` was given, and forgets it if it was given without a name.
    pub(crate) fn take_bare_cluster(&mut self) -> bool {
        let is_given = self.server.cluster.is_some();
        self.server.cluster = self.server.cluster.take().filter(|name| !name.is_empty());
        is_given
    }

    /// The connection flags for a suggested command on the same cluster; `namespace` overrides that of the flags.
    pub(crate) fn for_commands(&self, namespace: Option<&str>) -> CommandFlags {
        let mut gantry = Vec::new();
        if let Some(namespace) = namespace.or(self.namespace.as_deref()) {
            gantry.extend(["-n".to_owned(), namespace.to_owned()]);
        }
        gantry.extend(self.server.to_arguments());
        let mut kubectl = gantry.clone();
        let connection = self.connection().ok();
        if let Some(own) = connection.as_ref().and_then(Connection::gantry_kubeconfig_in_use) {
            kubectl.extend(["--kubeconfig".to_owned(), own.display().to_string()]);
        }
        CommandFlags { gantry, kubectl }
    }

    /// Merges these flags with those before the command.
    pub(crate) fn or(self, before: &Self) -> Self {
        let namespace = self.namespace.or_else(|| before.namespace.clone());
        Self { namespace, server: Box::new(self.server.or(&before.server)) }
    }

    /// The connection.
    pub(crate) fn connection(&self) -> Result<Connection, Failure> {
        let Kubeconfigs { usual, all } = Kubeconfigs::find();
        self.server.connection_with(usual, all)
    }
}

impl ConnectionFlags {
    /// The connection; a cluster of `gantry up` must be named.
    pub(crate) fn connection(&self) -> Result<Connection, Failure> {
        self.connection_with(None, Kubeconfigs::find().all)
    }

    fn connection_with(&self, own: Option<PathBuf>, clusters: Vec<PathBuf>) -> Result<Connection, Failure> {
        let listed = env::var_os("KUBECONFIG").filter(|list| !list.is_empty());
        let dir = env::var_os("HOME").filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let flags = self.clone();
        Ok(Connection {
            trust: self.trust()?,
            request_timeout: self.request_timeout()?,
            kubeconfig: flags.kubeconfig,
            listed: listed.map(|list| split_paths(&list)).unwrap_or_default(),
            usual: dir.map(|dir| dir.join(".kube/config")),
            own,
            clusters,
            context: flags.context,
            cluster: flags.cluster,
            user: flags.user,
            server: flags.server,
            tls_server_name: flags.tls_server_name,
            token: flags.token,
            client_certificate: flags.client_certificate,
            client_key: flags.client_key,
            act_as: flags.act_as,
            act_as_uid: flags.act_as_uid,
            act_as_groups: flags.act_as_groups,
        })
    }

    /// The flags as arguments of a printed command. The token is a secret and is replaced by a placeholder.
    fn to_arguments(&self) -> Vec<String> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let token = self.token.as_ref().map(|_| "TOKEN".to_owned());
        let flags = [
            ("--kubeconfig", path(&self.kubeconfig)),
            ("--context", self.context.clone()),
            ("--cluster", self.cluster.clone()),
            ("--user", self.user.clone()),
            ("--server", self.server.clone()),
            ("--token", token),
            ("--as", self.act_as.clone()),
            ("--as-uid", self.act_as_uid.clone()),
            ("--certificate-authority", path(&self.certificate_authority)),
            ("--client-certificate", path(&self.client_certificate)),
            ("--client-key", path(&self.client_key)),
            ("--tls-server-name", self.tls_server_name.clone()),
            ("--request-timeout", self.request_timeout.clone()),
        ];
        let given = flags.into_iter().filter_map(|(flag, value)| Some([flag.to_owned(), value?]));
        let groups = self.act_as_groups.iter().map(|group| ["--as-group".to_owned(), group.clone()]);
        let alone = self.insecure_skip_tls_verify.then(|| "--insecure-skip-tls-verify".to_owned());
        given.chain(groups).flatten().chain(alone).collect()
    }

    fn or(self, before: &Self) -> Self {
        let before = before.clone();
        let groups = if self.act_as_groups.is_empty() { before.act_as_groups } else { self.act_as_groups };
        Self {
            kubeconfig: self.kubeconfig.or(before.kubeconfig),
            context: self.context.or(before.context),
            cluster: self.cluster.or(before.cluster),
            user: self.user.or(before.user),
            server: self.server.or(before.server),
            token: self.token.or(before.token),
            act_as: self.act_as.or(before.act_as),
            act_as_groups: groups,
            act_as_uid: self.act_as_uid.or(before.act_as_uid),
            certificate_authority: self.certificate_authority.or(before.certificate_authority),
            client_certificate: self.client_certificate.or(before.client_certificate),
            client_key: self.client_key.or(before.client_key),
            insecure_skip_tls_verify: self.insecure_skip_tls_verify || before.insecure_skip_tls_verify,
            tls_server_name: self.tls_server_name.or(before.tls_server_name),
            request_timeout: self.request_timeout.or(before.request_timeout),
        }
    }

    fn trust(&self) -> Result<TlsVerification, Failure> {
        match (&self.certificate_authority, self.insecure_skip_tls_verify) {
            (Some(_), true) => Err(Failure::other(
                "specifying a root certificates file with the insecure flag is not allowed\n\
                 hint: leave out --insecure-skip-tls-verify or --certificate-authority",
            )),
            (Some(file), false) => Ok(TlsVerification::CertificateAuthority(file.clone())),
            (None, true) => Ok(TlsVerification::Skip),
            (None, false) => Ok(TlsVerification::AsConfigured),
        }
    }

    /// Unlike in other durations, a plain number is seconds.
    fn request_timeout(&self) -> Result<Option<Duration>, Failure> {
        let Some(text) = &self.request_timeout else { return Ok(None) };
        let seconds = text.parse().ok().map(Duration::from_secs);
        match seconds.map_or_else(|| duration(text), Ok) {
            Ok(timeout) => Ok(Some(timeout).filter(|timeout| !timeout.is_zero())),
            Err(_) => Err(Failure::other(
                "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a \
                 corresponding time unit (e.g. 1s | 2m | 3h)",
            )),
        }
    }
}

impl ConnectionFlags {
    /// The address and the token, if they are given.
    pub(crate) fn address_and_token(&self) -> (Option<&str>, Option<&str>) {
        (self.server.as_deref(), self.token.as_deref())
    }

    /// Whether none of the flags is given, nor a kubeconfig by the environment.
    pub(crate) fn are_absent(&self) -> bool {
        *self == Self::default() && env::var_os("KUBECONFIG").is_none_or(|list| list.is_empty())
    }

    /// Returns the client configuration that the flags select, for a process that logs problems with it.
    pub(crate) async fn config_or_message(&self) -> Result<ClientConfig, String> {
        let connection = self.connection().map_err(|failure| without_label(&failure))?;
        connection.config().await.map_err(|failure| without_label(&failure))
    }
}

/// The text of a failure without `error: `, which loggers put in front of it themselves.
pub(crate) fn without_label(failure: &Failure) -> String {
    failure.lines().trim_end().trim_start_matches("error: ").to_owned()
}

/// Splits a path list; empty entries are ignored.
fn split_paths(list: &OsStr) -> Vec<PathBuf> {
    env::split_paths(list).filter(|file| !file.as_os_str().is_empty()).collect()
}

impl Cluster {
    /// A client for the cluster of a configuration.
    pub(crate) fn open(config: &ClientConfig) -> Result<Self, Failure> {
        let (transport, server) = Connection::connect(config)?;
        let namespace = transport.default_namespace().to_owned();
        // The timeout is that of the configuration.
        let api = Api::new(transport.clone(), "gantry", Metrics::new()).without_timeout();
        Ok(Self { transport, api, namespace, server })
    }

    /// The URL of its server.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Converts an error of the client.
    pub(crate) fn failure(&self, error: RequestError) -> Failure {
        Failure::of_request(error, &self.server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_repeat_the_flags_with_the_token_masked() {
        let server = ConnectionFlags {
            server: Some("https://10.0.0.1".to_owned()),
            token: Some("hush".to_owned()),
            act_as_groups: vec!["a".to_owned(), "b".to_owned()],
            insecure_skip_tls_verify: true,
            ..ConnectionFlags::default()
        };
        let flags = ClusterFlags { namespace: Some("shop".to_owned()), server: Box::new(server) };
        let rest =
            "--server https://10.0.0.1 --token TOKEN --as-group a --as-group b --insecure-skip-tls-verify";
        assert_eq!(flags.for_commands(None).gantry.join(" "), format!("-n shop {rest}"));
        let elsewhere = flags.for_commands(Some("w3"));
        assert_eq!(elsewhere.gantry.join(" "), format!("-n w3 {rest}"));
    }
}
