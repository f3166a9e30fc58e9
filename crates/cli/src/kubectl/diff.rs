//! `diff`; its exit code is 1 for differences.

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
    /// A manifest file, a directory of them, or `-` for standard input
    #[arg(short, long, value_name = "FILE", value_delimiter = ',')]
    filename: Vec<String>,
    /// Read directories recursively
    #[arg(short = 'R', long)]
    recursive: bool,
    /// Only objects of the manifests with these labels
    #[arg(short = 'l', long, value_name = "LABELS")]
    selector: Option<String>,
    /// Apply on the server (server-side apply)
    #[arg(long)]
    server_side: bool,
    /// Take over fields of other field managers
    #[arg(long, requires = "server_side")]
    force_conflicts: bool,
    /// The name of the field manager
    #[arg(long, value_name = "NAME")]
    field_manager: Option<String>,
    /// Compare managedFields, too
    #[arg(long)]
    show_managed_fields: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The exit code of failures; 1 means differences.
pub(super) const FAILED: u8 = 2;

impl DiffFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<ExitCode, Failure> {
        let server_side = ServerSide::from_flags(self.server_side, self.force_conflicts);
        let options = DiffOptions {
            files: self.filename,
            recursive: self.recursive,
            selector: self.selector,
            manager: self.field_manager,
            server_side,
            managed_fields: self.show_managed_fields,
            external: env::var("KUBECTL_EXTERNAL_DIFF").ok().filter(|program| !program.is_empty()),
        };
        Ok(match diff(ctx, &options).await? {
            Differences::None => ExitCode::SUCCESS,
            Differences::Some => ExitCode::from(1),
        })
    }
}
