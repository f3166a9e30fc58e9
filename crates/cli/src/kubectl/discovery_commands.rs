//! `explain`, `api-resources` and `version`: commands about the server's API.

use std::process::ExitCode;

use clap::Args;
use gantry_kubectl::verbs::{
    ApiResourcesOptions, ExplainOptions, VersionOptions, api_resources, client_version, explain, version,
};
use gantry_kubectl::{ClientContext, Failure};

use super::print_failure;
use crate::cluster::ClusterFlags;
use crate::output;

/// The flags of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainFlags {
    /// A type, optionally with a field path: `deployment.spec.strategy`
    words: Vec<String>,
    /// Show the fields of all fields, recursively
    #[arg(long)]
    recursive: bool,
    /// The version of the type, such as apps/v1
    #[arg(long, value_name = "VERSION")]
    api_version: Option<String>,
    /// The output format: plaintext or plaintext-openapiv2
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<String>,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The flags of `api-resources`.
#[derive(Debug, Args)]
pub(crate) struct ApiResourcesFlags {
    #[arg(hide = true)]
    words: Vec<String>,
    /// Only types of this group
    #[arg(long, value_name = "GROUP")]
    api_group: Option<String>,
    /// Only namespaced types, or only cluster-scoped ones
    #[arg(long, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    namespaced: Option<bool>,
    /// Only types that support all of these verbs
    #[arg(long, value_name = "VERB", value_delimiter = ',')]
    verbs: Vec<String>,
    /// Only types that are in all of these categories
    #[arg(long, value_name = "CATEGORY", value_delimiter = ',')]
    categories: Vec<String>,
    /// The output format: wide or name
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<String>,
    /// Do not print the header
    #[arg(long)]
    no_headers: bool,
    /// Sort by name or kind
    #[arg(long, value_name = "WHAT")]
    sort_by: Option<String>,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The flags of `version`.
#[derive(Debug, Args)]
pub(crate) struct VersionFlags {
    #[arg(hide = true)]
    words: Vec<String>,
    /// Print the client version only; no server is contacted
    #[arg(long)]
    pub(super) client: bool,
    /// The output format: json or yaml
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<String>,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

impl ExplainFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        let Self { words, recursive, api_version, output, .. } = self;
        explain(ctx, &ExplainOptions { words, recursive, api_version, output }).await
    }
}

impl ApiResourcesFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        let options = ApiResourcesOptions {
            group: self.api_group,
            namespaced: self.namespaced,
            verbs: self.verbs,
            categories: self.categories,
            output: self.output,
            no_headers: self.no_headers,
            sort_by: self.sort_by,
            words: self.words,
        };
        api_resources(ctx, &options).await
    }
}

impl VersionFlags {
    /// Prints the version of the client, without a cluster.
    pub(super) fn print_client_version(self) -> ExitCode {
        match client_version(&self.options()) {
            Ok(text) => output::print(&text),
            Err(failure) => {
                print_failure(&failure);
                ExitCode::FAILURE
            }
        }
    }

    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        version(ctx, &self.options()).await
    }

    fn options(self) -> VersionOptions {
        VersionOptions { output: self.output, words: self.words }
    }
}
