//! `diff`, whose exit code says what it found.

use std::env;
use std::process::ExitCode;

use clap::Args;
use gantry_kubectl::verbs::{DiffOptions, Differences, ServerSide, diff};
use gantry_kubectl::{ClientContext, Failure};

use crate::cluster::ClusterFlags;

/// The flags of `diff`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of kubectl's")]
pub(crate) struct DiffFlags {
    /// A file, a folder, or `-` for standard input
    #[arg(short, long, value_name = "FILE", value_delimiter = ',')]
    filename: Vec<String>,
    /// Read folders with all that is below them
    #[arg(short = 'R', long)]
    recursive: bool,
    /// Only objects of the files with these labels
    #[arg(short = 'l', long, value_name = "LABELS")]
    selector: Option<String>,
    /// Let the server merge
    #[arg(long)]
    server_side: bool,
    /// Take over fields that others manage
    #[arg(long, requires = "server_side")]
    force_conflicts: bool,
    /// Under which name the fields are managed
    #[arg(long, value_name = "NAME")]
    field_manager: Option<String>,
    /// Compare who wrote which field, too
    #[arg(long)]
    show_managed_fields: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// What goes wrong has a code of its own: 1 means that there are differences.
pub(super) const FAILED: u8 = 2;

impl DiffFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<ExitCode, Failure> {
        let server_side = ServerSide::from_flags(self.server_side, self.force_conflicts);
        let asked = DiffOptions {
            files: self.filename,
            recursive: self.recursive,
            selector: self.selector,
            manager: self.field_manager,
            server_side,
            managed_fields: self.show_managed_fields,
            external: env::var("KUBECTL_EXTERNAL_DIFF").ok().filter(|program| !program.is_empty()),
        };
        Ok(match diff(ctx, &asked).await? {
            Differences::None => ExitCode::SUCCESS,
            Differences::Some => ExitCode::from(1),
        })
    }
}
