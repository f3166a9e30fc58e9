//! The flags of commands that serve the API.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gantry_cluster::{AddressRange, ServiceAccounts};

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
    /// The format of the log, which is written to standard error
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
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

/// An admission plugin that can be left out.
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

impl ServerFlags {
    /// Rejects combinations of flags that are unsafe.
    pub(super) fn check(&self, address: SocketAddr) -> Result<(), String> {
        if self.plain_http && !address.ip().is_loopback() {
            return Err(format!(
                "--plain-http gives full access to everyone who can reach {address}\n\
                 hint: remove it, or --listen on loopback, such as 127.0.0.1:8080"
            ));
        }
        Ok(())
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
