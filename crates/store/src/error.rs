//! Errors of the port, by consequence.

use std::fmt;
use std::path::PathBuf;

use crate::{Key, Revision, Versioned};

/// Why a request failed.
///
/// Unless it is [`Error::OutcomeUnknown`], a failed write has not happened and never will.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A key is not at the revision that the write requires.
    Conflict {
        /// The first such key of the transaction.
        key: Key,
        /// The current value of the key; `None` if it is absent.
        current: Option<Versioned>,
    },
    /// History before `floor` is compacted.
    Compacted {
        /// The oldest revision that can still be read, and after which a watch can start.
        floor: Revision,
    },
    /// The store has not reached that revision yet.
    FutureRevision {
        /// The current revision of the store.
        current: Revision,
    },
    /// The store cannot serve requests at present.
    Unavailable {
        /// The reason.
        why: String,
    },
    /// The write may or may not have happened; only a read can show which.
    OutcomeUnknown {
        /// The reason.
        why: String,
    },
    /// There is no space for the write; reads continue.
    OutOfSpace {
        /// The reason.
        why: String,
    },
    /// The transaction exceeds the store's limit.
    TooLarge {
        /// The maximum size of a transaction.
        bytes_max: usize,
    },
    /// The files on disk are damaged.
    Corrupt(Corruption),
}

/// Damage found in a store's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corruption {
    /// The damaged file.
    pub file: PathBuf,
    /// Where in the file the damage starts, in bytes.
    pub offset: u64,
    /// The unexpected content.
    pub found: String,
    /// The advice to an operator.
    pub advice: String,
}

/// What the caller can do after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Read the current state and retry with it.
    AfterReading,
    /// The same request may succeed later.
    Later,
    /// The same request will fail again.
    Never,
}

impl Error {
    /// What the caller can do.
    pub fn retry(&self) -> Retry {
        match self {
            Self::Conflict { .. } | Self::Compacted { .. } | Self::OutcomeUnknown { .. } => {
                Retry::AfterReading
            }
            Self::FutureRevision { .. } | Self::Unavailable { .. } | Self::OutOfSpace { .. } => Retry::Later,
            Self::TooLarge { .. } | Self::Corrupt(_) => Retry::Never,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { key, current: Some(current) } => {
                write!(f, "{key} was changed by another write and is at revision {}", current.revision)
            }
            Self::Conflict { key, current: None } => write!(f, "{key} does not exist"),
            Self::Compacted { floor } => write!(f, "history before revision {floor} is compacted"),
            Self::FutureRevision { current } => write!(f, "the store is only at revision {current}"),
            Self::Unavailable { why } => write!(f, "the store is unavailable: {why}"),
            Self::OutcomeUnknown { why } => write!(f, "the write may or may not have happened: {why}"),
            Self::OutOfSpace { why } => write!(f, "no space for the write: {why}"),
            Self::TooLarge { bytes_max } => write!(f, "a transaction has at most {bytes_max} bytes"),
            Self::Corrupt(corruption) => corruption.fmt(f),
        }
    }
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, offset, found, advice } = self;
        write!(f, "{} is damaged at byte {offset}: {found}; {advice}", file.display())
    }
}

impl std::error::Error for Error {}
impl std::error::Error for Corruption {}
