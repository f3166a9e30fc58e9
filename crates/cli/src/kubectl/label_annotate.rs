//! `label` and `annotate`.

use clap::Args;
use gantry_kubectl::verbs::{LabelAnnotateOptions, MetadataField, label_or_annotate};
use gantry_kubectl::{ClientContext, Failure, Selection};

use super::{ResultFlags, SelectionFlags};
use crate::cluster::ClusterFlags;

/// The flags of `label` and `annotate`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of kubectl's")]
pub(crate) struct LabelAnnotateFlags {
    /// `TYPE NAME` or `TYPE/NAME`, then `KEY=VALUE` and `KEY-`
    words: Vec<String>,
    #[command(flatten)]
    selection: SelectionFlags,
    /// Overwrite existing values
    #[arg(long, default_value = "false", action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    overwrite: bool,
    /// Print the labels or annotations afterwards
    #[arg(long)]
    list: bool,
    /// Change the manifests only, without contacting the server
    #[arg(long)]
    local: bool,
    /// Only objects with these fields
    #[arg(long, value_name = "FIELDS")]
    field_selector: Option<String>,
    /// In all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Only if this is the current resource version
    #[arg(long, value_name = "VERSION")]
    resource_version: Option<String>,
    /// The name of the field manager
    #[arg(long, value_name = "NAME")]
    field_manager: Option<String>,
    #[command(flatten)]
    printer: ResultFlags,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

impl LabelAnnotateFlags {
    pub(super) async fn label(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        self.run(ctx, MetadataField::Labels).await
    }

    pub(super) async fn annotate(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        self.run(ctx, MetadataField::Annotations).await
    }

    async fn run(self, ctx: &mut ClientContext, field: MetadataField) -> Result<(), Failure> {
        let (words, changes) = LabelAnnotateOptions::parse(field, &self.words)?;
        let options = LabelAnnotateOptions {
            field,
            selection: Selection {
                fields: self.field_selector,
                local: self.local,
                all_namespaces: self.all_namespaces,
                ..self.selection.selection(words)
            },
            changes,
            overwrite: self.overwrite,
            list: self.list,
            resource_version: self.resource_version,
            manager: self.field_manager,
            printer: self.printer.printer()?,
        };
        label_or_annotate(ctx, &options).await
    }
}
