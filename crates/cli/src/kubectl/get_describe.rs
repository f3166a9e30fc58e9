//! `get` and `describe`.

use clap::Args;
use gantry_kubectl::verbs::{DescribeOptions, GetOptions, WatchOptions, describe, get, raw};
use gantry_kubectl::{ClientContext, Failure, Selection};

use super::SelectionFlags;
use crate::cluster::ClusterFlags;

/// The flags of `get`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of kubectl's")]
pub(crate) struct GetFlags {
    /// Types and names: `TYPE`, `TYPE NAME…`, `TYPE/NAME…`
    #[arg(value_name = "OBJECT")]
    words: Vec<String>,
    /// The output format: wide, name, json, yaml, jsonpath=…, custom-columns=…
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<String>,
    #[command(flatten)]
    selection: SelectionFlags,
    /// Only objects with these fields, such as status.phase=Running
    #[arg(long, value_name = "FIELDS")]
    field_selector: Option<String>,
    /// In all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Watch for changes after listing
    #[arg(short, long)]
    watch: bool,
    /// Watch for changes without listing first
    #[arg(long)]
    watch_only: bool,
    /// Print the type of each watch event: ADDED, MODIFIED or DELETED
    #[arg(long)]
    output_watch_events: bool,
    /// Show labels
    #[arg(long)]
    show_labels: bool,
    /// Show these labels in columns of their own
    #[arg(short = 'L', long, value_name = "LABEL", value_delimiter = ',')]
    label_columns: Vec<String>,
    /// Show the type of each object
    #[arg(long)]
    show_kind: bool,
    /// Show managedFields
    #[arg(long)]
    show_managed_fields: bool,
    /// Do not print the header
    #[arg(long)]
    no_headers: bool,
    /// Ignore objects that do not exist
    #[arg(long)]
    ignore_not_found: bool,
    /// The subresource, such as status or scale
    #[arg(long, value_name = "SUBRESOURCE")]
    subresource: Option<String>,
    /// Request this path of the server, and print the response
    #[arg(long, value_name = "PATH")]
    raw: Option<String>,
    /// Sort by the field at this path, such as .metadata.name
    #[arg(long, value_name = "PATH")]
    sort_by: Option<String>,
    /// How many objects to list per request; 0 for all at once
    #[arg(long, value_name = "N", default_value_t = 500)]
    chunk_size: u32,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The flags of `describe`.
#[derive(Debug, Args)]
pub(crate) struct DescribeFlags {
    /// Types and names: `TYPE`, `TYPE NAME…`, `TYPE/NAME…`
    #[arg(value_name = "OBJECT")]
    words: Vec<String>,
    #[command(flatten)]
    selection: SelectionFlags,
    /// In all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// Whether to show events [default: for a single object that was named in full or selected]
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    show_events: Option<bool>,
    /// How many objects to list per request; accepted and ignored
    #[arg(long, value_name = "COUNT", hide = true)]
    chunk_size: Option<i64>,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

impl GetFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        if let Some(path) = &self.raw {
            return raw(ctx, path).await;
        }
        let selection = Selection {
            fields: self.field_selector,
            all_namespaces: self.all_namespaces,
            ..self.selection.selection(self.words)
        };
        let watching =
            WatchOptions { watch: self.watch, only: self.watch_only, events: self.output_watch_events };
        let options = GetOptions {
            selection,
            output: self.output,
            no_headers: self.no_headers,
            show_labels: self.show_labels,
            label_columns: self.label_columns,
            show_kind: self.show_kind,
            managed_fields: self.show_managed_fields,
            ignore_not_found: self.ignore_not_found,
            sort_by: self.sort_by,
            page: self.chunk_size,
            subresource: self.subresource,
            watching,
        };
        get(ctx, &options).await
    }
}

impl DescribeFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        let selection =
            Selection { all_namespaces: self.all_namespaces, ..self.selection.selection(self.words) };
        describe(ctx, &DescribeOptions { selection, events: self.show_events }).await
    }
}
