//! Why a directory could not be opened as a store.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use gantry_store::Corruption;

/// Why a store's directory could not be opened, checked, backed up or restored.
#[derive(Debug)]
pub enum OpenError {
    /// Another process has it.
    InUse {
        /// The directory.
        directory: PathBuf,
        /// The other process, if it is known.
        pid: Option<u32>,
    },
    /// The files have unexpected content.
    Corrupt(Corruption),
    /// A restore would overwrite something.
    NotEmpty {
        /// The path that exists already.
        path: PathBuf,
    },
    /// The operating system refused.
    Io {
        /// The attempted operation, e.g. "reading 000000000001.log".
        doing: String,
        /// The error.
        source: io::Error,
    },
}

impl OpenError {
    /// Damage at an offset of a file.
    pub(crate) fn damaged(file: PathBuf, offset: u64, found: impl Into<String>) -> Self {
        let advice = "nothing was changed; restore the latest backup into an empty directory with \
                      `gantry store restore`, or put the undamaged file back"
            .to_owned();
        Self::Corrupt(Corruption { file, offset, found: found.into(), advice })
    }

    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing: doing.into(), source }
    }

    pub(crate) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        Self::io(format!("reading {}", path.display()))
    }

    pub(crate) fn writing(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        Self::io(format!("writing {}", path.display()))
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { directory, pid: Some(pid) } => {
                write!(f, "{} is in use by process {pid}", directory.display())
            }
            Self::InUse { directory, pid: None } => {
                write!(f, "{} is in use by another process", directory.display())
            }
            Self::Corrupt(corruption) => corruption.fmt(f),
            Self::NotEmpty { path } => write!(f, "{} is in the way and was not touched", path.display()),
            Self::Io { doing, .. } => f.write_str(doing),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
