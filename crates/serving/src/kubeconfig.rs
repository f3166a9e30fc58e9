//! Kubeconfig files for clients of a server.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use gantry_formats::base64;

use crate::file::{self, FileMode};
use crate::pki::{Certified, Pki};

/// The address of a server, and its administrator's credentials.
#[derive(Clone, Debug)]
pub struct Kubeconfig {
    name: String,
    server: String,
    authority: Option<String>,
    admin: Option<Certified>,
}

/// Why a kubeconfig was not written.
#[derive(Debug)]
pub enum KubeconfigError {
    /// The file exists, and Gantry did not write it.
    NotOurs {
        /// The file.
        file: PathBuf,
    },
    /// The path is not a file but, for example, a named pipe, whose reading may never end.
    NotAFile {
        /// The path, or the target of a symbolic link.
        path: PathBuf,
    },
    /// The operating system refused.
    Io {
        /// The attempted operation.
        doing: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The default name of the cluster and its context.
const NAME: &str = "gantry";

/// The first line of files that may be overwritten.
const MARK: &str = "# Written by gantry, and written again at every start.\n";

impl Kubeconfig {
    /// For a server with certificates.
    pub fn with_certificates(server: impl Into<String>, pki: &Pki) -> Self {
        let (authority, admin) = (Some(pki.authority.clone()), Some(pki.admin.clone()));
        Self { name: NAME.to_owned(), server: server.into(), authority, admin }
    }

    /// For a server over plain HTTP.
    pub fn plain(server: impl Into<String>) -> Self {
        Self { name: NAME.to_owned(), server: server.into(), authority: None, admin: None }
    }

    /// The same with another name of the cluster and its context, so that kubeconfigs can be merged.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// The URL of the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The text of the file.
    pub fn render(&self) -> String {
        let encoded = |key: &str, text: &str| format!("    {key}: {}\n", base64::encode(text.as_bytes()));
        let authority = self.authority.iter().map(|text| encoded("certificate-authority-data", text));
        let admin = self.admin.iter().map(|admin| {
            encoded("client-certificate-data", &admin.certificate) + &encoded("client-key-data", &admin.key)
        });
        let user = admin.collect::<String>();
        let user = if user.is_empty() { "  user: {}\n".to_owned() } else { format!("  user:\n{user}") };
        let (name, server) = (&self.name, &self.server);
        let authority = authority.collect::<String>();
        format!(
            "{MARK}apiVersion: v1\nkind: Config\nclusters:\n- name: {name}\n  cluster:\n    server: {server}\n\
             {authority}users:\n- name: {name}-admin\n{user}contexts:\n- name: {name}\n  context:\n    \
             cluster: {name}\n    user: {name}-admin\ncurrent-context: {name}\n"
        )
    }

    /// Writes the file, readable by its owner only. A file that Gantry did not write is left alone.
    pub fn write(&self, path: &Path) -> Result<(), KubeconfigError> {
        let io = |doing: &str| {
            let doing = format!("{doing} {}", path.display());
            |source| KubeconfigError::Io { doing, source }
        };
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(KubeconfigError::NotAFile { path: path.to_owned() });
        }
        let before = file::read(path).map_err(io("reading"))?;
        if before.is_some_and(|text| !text.is_empty() && !text.starts_with(MARK)) {
            return Err(KubeconfigError::NotOurs { file: path.to_owned() });
        }
        std::fs::create_dir_all(file::parent_directory(path)).map_err(io("making the folder of"))?;
        file::write(path, &self.render(), FileMode::OwnerOnly).map_err(io("writing"))
    }
}

impl fmt::Display for KubeconfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs { file } => write!(
                f,
                "{} was not written by gantry and was not changed\nhint: name another file, or remove it",
                file.display()
            ),
            Self::NotAFile { path } => write!(
                f,
                "{} is not a regular file\nhint: name a file, or a path that does not exist yet",
                path.display()
            ),
            Self::Io { doing, .. } => f.write_str(doing),
        }
    }
}

impl std::error::Error for KubeconfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotOurs { .. } | Self::NotAFile { .. } => None,
            Self::Io { source, .. } => Some(source),
        }
    }
}
