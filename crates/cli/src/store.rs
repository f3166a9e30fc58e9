//! `gantry store`: check, backup and restore of an embedded store's directory.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use gantry_runtime::error_chain;
use gantry_store_embedded::{CheckReport, OpenError, backup, check, restore};

use crate::output::{fail, print};

/// The subcommands of `gantry store`.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Check the integrity of all data
    ///
    /// The store must not be in use. Nothing is changed. For damaged data, the file, the offset in it and what to do are
    /// printed.
    #[command(verbatim_doc_comment, after_help = "Example:\n  gantry store check ~/.local/share/gantry")]
    Check {
        /// The store's directory
        directory: PathBuf,
    },
    /// Back up all data into one file, also while the store is in use
    #[command(after_help = "Example:\n  gantry store backup ~/.local/share/gantry monday.backup")]
    Backup {
        /// The store's directory
        directory: PathBuf,
        /// The file to write; it must not exist
        file: PathBuf,
    },
    /// Restore a backup into a directory that is empty or does not exist
    ///
    /// Revisions continue well above those of the backup, so that watches and caches of clients expire and clients list
    /// again.
    #[command(
        verbatim_doc_comment,
        after_help = "Example:\n  gantry store restore monday.backup ~/.local/share/gantry"
    )]
    Restore {
        /// The backup
        file: PathBuf,
        /// The directory to create
        directory: PathBuf,
    },
}

impl StoreCommand {
    pub(crate) fn run(self) -> ExitCode {
        let outcome = match self {
            Self::Check { directory } => check(directory).map(|report| describe(&report)),
            Self::Backup { directory, file } => backup(directory, file).map(|made| {
                format!("{} holds {} keys at revision {}\n", made.file.display(), made.keys, made.revision)
            }),
            Self::Restore { file, directory } => restore(file, directory).map(|made| {
                let (keys, from, at) = (made.keys, made.revision, made.continues_at);
                format!("{keys} keys of revision {from} restored; the store continues at revision {at}\n")
            }),
        };
        match outcome {
            Ok(text) => print(&text),
            Err(error) => fail(&explain(&error)),
        }
    }
}

fn describe(report: &CheckReport) -> String {
    let mut text = format!(
        "in order: {} keys, {} bytes, revisions {} to {}\n",
        report.keys, report.live_bytes, report.bounds.floor, report.bounds.current
    );
    if let Some((revision, bytes)) = report.snapshot {
        let _ = writeln!(text, "snapshot of revision {revision}, {bytes} bytes");
    }
    for segment in &report.segments {
        let (name, used, bytes) = (&segment.name, segment.used_bytes, segment.bytes);
        let _ = writeln!(text, "{name}: {} frames, {used} of {bytes} bytes used", segment.frames);
    }
    if report.torn_bytes > 0 {
        let _ = writeln!(
            text,
            "a crash interrupted the last write; the next start removes its {} bytes",
            report.torn_bytes
        );
    }
    for leftover in &report.leftovers {
        let _ = writeln!(text, "{leftover} is not needed; the next start removes it");
    }
    text
}

fn explain(error: &OpenError) -> String {
    let hint = match error {
        OpenError::InUse { .. } => "\nhint: stop that process, or take a backup, which works beside it",
        OpenError::NotEmpty { .. } => "\nhint: name a file or directory that does not exist yet",
        OpenError::Corrupt(_) | OpenError::Io { .. } => "",
    };
    format!("{}{hint}", error_chain(error))
}
