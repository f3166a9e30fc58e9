//! `gantry store`: check, backup, restore and repair of an embedded store's directory.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use gantry_runtime::error_chain;
use gantry_store_embedded::{CheckReport, OpenError, RepairReport, backup, check, repair, restore};

use crate::output::{fail, print};

/// The subcommands of `gantry store`.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Check the integrity of all data
    ///
    /// The store must not be in use. Nothing is written, so the directory may be read-only. For damaged data, the file, the
    /// offset in it, what is missing and what to do are printed.
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
    /// Repair a damaged store by giving up what cannot be read
    ///
    /// Prefer putting the undamaged file back, or restoring a backup. The store must not be in use. What was written up
    /// to the first damage is kept, all later changes are lost. Without --accept-loss only what would be kept is
    /// printed. The damaged files are kept too, with `.damaged` after their names. Revisions continue well above all
    /// others, so that clients list again.
    #[command(
        verbatim_doc_comment,
        after_help = "Example:\n  gantry store repair --accept-loss ~/.local/share/gantry"
    )]
    Repair {
        /// Give up what cannot be read
        #[arg(long)]
        accept_loss: bool,
        /// The store's directory
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
            Self::Repair { accept_loss, directory } => {
                return match repair(&directory, accept_loss) {
                    Ok(report) => describe_repair(&report),
                    Err(error) => fail(&explain(&error)),
                };
            }
        };
        match outcome {
            Ok(text) => print(&text),
            Err(error) => fail(&explain(&error)),
        }
    }
}

fn describe(report: &CheckReport) -> String {
    let mut text = format!(
        "ok: {} keys, {} bytes, revisions {} to {}\n",
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

fn describe_repair(report: &RepairReport) -> ExitCode {
    let (keys, revision) = (report.keys, report.revision);
    match (&report.damage, report.continues_at) {
        (None, _) => print(&format!("ok: {keys} keys at revision {revision}; nothing was changed\n")),
        (Some(_), Some(at)) => print(&format!(
            "{keys} keys of revision {revision} kept, later changes are lost; the store continues at revision {at}\n"
        )),
        (Some(damage), None) => fail(&format!(
            "{damage}\nhint: {keys} keys of revision {revision} would be kept; later changes would be lost"
        )),
    }
}

fn explain(error: &OpenError) -> String {
    let hint = match error {
        OpenError::InUse { .. } => "\nhint: stop that process, or take a backup, which works beside it",
        OpenError::NotEmpty { .. } => "\nhint: name a file or directory that does not exist yet",
        OpenError::Corrupt(_) | OpenError::Io { .. } => "",
    };
    format!("{}{hint}", error_chain(error))
}
