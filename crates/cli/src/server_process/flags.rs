//! The flags of whatever serves the API, and what of them makes no sense.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gantry_cluster::{AddressRange, ServiceAccounts};

use super::listen;

/// How the API is served.
#[derive(Debug, Args)]
pub(crate) struct ServerFlags {
    /// HOST:PORT to serve on; `:PORT` is every interface, which others can reach [default: 127.0.0.1:6443]
    #[arg(long, value_name = "ADDRESS", value_parser = listen::address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Write a kubeconfig for the administrator; a file that gantry did not write is left as it is
    #[arg(long, value_name = "FILE")]
    pub(crate) write_kubeconfig: Option<PathBuf>,
    /// Keep the certificates in this directory instead of in `pki` of the data directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "plain_http")]
    pub(crate) pki_dir: Option<PathBuf>,
    /// A name or address more that the server's certificate is to cover; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "plain_http")]
    pub(crate) tls_san: Vec<String>,
    /// Serve plain HTTP, for development on loopback
    #[arg(long)]
    pub(crate) plain_http: bool,
    /// A file of bearer tokens: on each line `token,user,uid,"group1,group2"`, or a token alone for the administrator
    #[arg(long, value_name = "FILE")]
    pub(crate) token: Option<PathBuf>,
    /// The addresses that services are given
    #[arg(
        id = "service_cluster_ip_range",
        long = "service-cluster-ip-range",
        value_name = "CIDR",
        default_value = "10.96.0.0/12"
    )]
    pub(crate) service_range: AddressRange,
    /// Admission plugins of a kube-apiserver to leave out; comma-separated
    #[arg(long, value_name = "NAMES", value_enum, value_delimiter = ',')]
    pub(crate) disable_admission_plugins: Vec<AdmissionPlugin>,
    /// How to write the log, which goes to standard error
    #[arg(long, value_enum, default_value = "text")]
    pub(crate) log_format: LogFormat,
}

/// Where everything is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StorageTarget {
    /// In this directory.
    Directory(PathBuf),
    /// In memory, until the server stops.
    Memory,
    /// In etcd.
    Etcd(Etcd),
}

/// Which etcd, and how to trust it and be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Etcd {
    /// The URLs of its members.
    pub(crate) urls: Vec<String>,
    pub(crate) files: EtcdFiles,
}

/// Files for an etcd that is reached by `https`, named as a kube-apiserver names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct EtcdFiles {
    /// The certificates of the authorities that etcd's members are trusted by
    #[arg(
        id = "etcd_cafile",
        long = "etcd-cafile",
        value_name = "FILE",
        requires = "etcd",
        // What is required need not be there when it conflicts with what is.
        conflicts_with_all = ["in_memory", "data_dir"]
    )]
    pub(crate) authorities: Option<PathBuf>,
    /// The certificate to show to etcd
    #[arg(id = "etcd_certfile", long = "etcd-certfile", value_name = "FILE", requires_all = ["etcd_keyfile", "etcd_cafile"])]
    pub(crate) certificate: Option<PathBuf>,
    /// The key of that certificate
    #[arg(id = "etcd_keyfile", long = "etcd-keyfile", value_name = "FILE", requires = "etcd_certfile")]
    pub(crate) key: Option<PathBuf>,
}

/// An admission plugin that can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AdmissionPlugin {
    /// Pods need no service account, and no token is mounted into them
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
    /// Refuses what cannot be meant.
    pub(super) fn check(&self, address: SocketAddr) -> Result<(), String> {
        if self.plain_http && !address.ip().is_loopback() {
            return Err(format!(
                "--plain-http would let everybody who reaches {address} do everything\n\
                 hint: leave it out, or --listen on loopback, such as 127.0.0.1:8080"
            ));
        }
        Ok(())
    }

    /// What is asked of the service accounts of pods.
    pub(super) fn service_accounts(&self) -> ServiceAccounts {
        if self.disable_admission_plugins.contains(&AdmissionPlugin::ServiceAccount) {
            ServiceAccounts::Ignored
        } else {
            ServiceAccounts::Required
        }
    }

    /// The directory of the certificates; none keeps them in memory.
    pub(crate) fn pki_directory(&self, storage: &StorageTarget) -> Option<PathBuf> {
        let beside_the_data = || match storage {
            StorageTarget::Directory(directory) => Some(directory.join("pki")),
            StorageTarget::Memory | StorageTarget::Etcd(_) => None,
        };
        self.pki_dir.clone().or_else(beside_the_data)
    }
}
