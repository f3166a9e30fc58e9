//! The flags of commands that serve the API.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use gantry_cluster::{AddressRange, RequestLimits, ServiceAccounts};

use super::listen;

/// The flags of the API server.
#[derive(Debug, Args)]
pub(crate) struct ServerFlags {
    /// HOST:PORT to serve on; `:PORT` is all interfaces, reachable from other machines [default: 127.0.0.1:6443]
    #[arg(long, value_name = "ADDRESS", value_parser = listen::address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Write an administrator's kubeconfig; a file that gantry did not write is not overwritten
    #[arg(long, value_name = "FILE")]
    pub(crate) write_kubeconfig: Option<PathBuf>,
    /// Store the certificates in this directory instead of `pki` in the data directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "plain_http")]
    pub(crate) pki_dir: Option<PathBuf>,
    /// An additional name or address for the server's certificate; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "plain_http")]
    pub(crate) tls_san: Vec<String>,
    /// Serve HTTP without TLS, for development on loopback
    #[arg(long)]
    pub(crate) plain_http: bool,
    /// A file of bearer tokens: on each line `token,user,uid,"group1,group2"`, or a token alone for the administrator
    #[arg(long, value_name = "FILE")]
    pub(crate) token: Option<PathBuf>,
    /// The IP range of services
    #[arg(
        id = "service_cluster_ip_range",
        long = "service-cluster-ip-range",
        value_name = "CIDR",
        default_value = "10.96.0.0/12"
    )]
    pub(crate) service_range: AddressRange,
    /// Admission plugins to disable; comma-separated
    #[arg(long, value_name = "NAMES", value_enum, value_delimiter = ',')]
    pub(crate) disable_admission_plugins: Vec<AdmissionPlugin>,
    #[command(flatten)]
    pub(crate) requests: RequestFlags,
    /// The format of the log, which is written to standard error
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
}

/// The limits on requests in flight, named as a kube-apiserver names them.
#[derive(Debug, Args)]
pub(crate) struct RequestFlags {
    /// The most requests that read at the same time
    #[arg(long, value_name = "COUNT", default_value_t = RequestLimits::default().reading)]
    max_requests_inflight: u32,
    /// The most requests that write at the same time
    #[arg(long, value_name = "COUNT", default_value_t = RequestLimits::default().mutating)]
    max_mutating_requests_inflight: u32,
    /// Divide the sum of both limits fairly among clients, by FlowSchemas; with `false`, each limit applies separately
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = true,
        action = ArgAction::Set,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    enable_priority_and_fairness: bool,
}

/// Where data is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StorageTarget {
    /// In this directory.
    Directory(PathBuf),
    /// In memory, until the server stops.
    Memory,
    /// In etcd.
    Etcd(Etcd),
}

/// The connection to etcd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Etcd {
    /// The URLs of its members.
    pub(crate) urls: Vec<String>,
    pub(crate) files: EtcdFiles,
}

/// Files for an etcd that is reached by `https`, named as a kube-apiserver names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct EtcdFiles {
    /// The CA certificates for the server certificates of etcd
    #[arg(
        id = "etcd_cafile",
        long = "etcd-cafile",
        value_name = "FILE",
        requires = "etcd",
        // clap skips `requires` for arguments that conflict, so the conflicts are listed.
        conflicts_with_all = ["in_memory", "data_dir"]
    )]
    pub(crate) authorities: Option<PathBuf>,
    /// The client certificate for etcd
    #[arg(id = "etcd_certfile", long = "etcd-certfile", value_name = "FILE", requires_all = ["etcd_keyfile", "etcd_cafile"])]
    pub(crate) certificate: Option<PathBuf>,
    /// The key of that certificate
    #[arg(id = "etcd_keyfile", long = "etcd-keyfile", value_name = "FILE", requires = "etcd_certfile")]
    pub(crate) key: Option<PathBuf>,
}

/// An admission plugin that can be disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdmissionPlugin {
    /// Without it, pods need no service account and no token is mounted into them
    #[value(name = "ServiceAccount")]
    ServiceAccount,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// A line for people
    Text,
    /// An object per line for programs
    Json,
}

impl RequestFlags {
    /// The limits; an error if priority and fairness have nothing to divide.
    pub(super) fn limits(&self) -> Result<RequestLimits, String> {
        let limits = RequestLimits {
            reading: self.max_requests_inflight,
            mutating: self.max_mutating_requests_inflight,
            priority_and_fairness: self.enable_priority_and_fairness,
        };
        if limits.priority_and_fairness && limits.reading == 0 && limits.mutating == 0 {
            return Err("--max-requests-inflight and --max-mutating-requests-inflight are both 0: no request could be served\n\
                 hint: name a positive number for one of them, or use --enable-priority-and-fairness=false, for which 0 is \
                 no limit"
                .to_owned());
        }
        Ok(limits)
    }
}

impl ServerFlags {
    /// Rejects combinations of flags that are unsafe.
    pub(super) fn check(&self, address: SocketAddr) -> Result<(), String> {
        if self.plain_http && !address.ip().is_loopback() {
            return Err(format!(
                "--plain-http gives full access to everyone who can reach {address}\n\
                 hint: remove it, or --listen on loopback, such as 127.0.0.1:8080"
            ));
        }
        self.requests.limits().map(drop)
    }

    /// Whether the ServiceAccount admission plugin is enabled.
    pub(super) fn service_accounts(&self) -> ServiceAccounts {
        if self.disable_admission_plugins.contains(&AdmissionPlugin::ServiceAccount) {
            ServiceAccounts::Ignored
        } else {
            ServiceAccounts::Required
        }
    }

    /// The directory of the certificates; `None` keeps them in memory.
    pub(crate) fn pki_directory(&self, storage: &StorageTarget) -> Option<PathBuf> {
        let beside_the_data = || match storage {
            StorageTarget::Directory(directory) => Some(directory.join("pki")),
            StorageTarget::Memory | StorageTarget::Etcd(_) => None,
        };
        self.pki_dir.clone().or_else(beside_the_data)
    }
}
