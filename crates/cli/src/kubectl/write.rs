//! The verbs that write: create, apply, replace, delete, scale, set and patch.

use std::time::Duration;

use clap::{Args, Subcommand};
use gantry_kubectl::verbs::{
    ApplyOptions, Cascade, CreateDeploymentOptions, CreateOptions, DeleteOptions, DryRun, PatchOptions,
    ReplaceOptions, ScaleOptions, ServerSide, SetImageOptions, Validation, apply, create, create_deployment,
    create_namespace, delete, patch, replace, scale, set_image,
};
use gantry_kubectl::{ClientContext, Failure, ManifestOptions, Selection};

use super::change_cause;
use super::{ResultFlags, SelectionFlags, duration, limit};
use crate::cluster::ClusterFlags;
use crate::output::print_stderr;

/// The flags of manifest files.
#[derive(Clone, Debug, Args)]
pub(crate) struct FileFlags {
    /// A manifest file, a directory of them, or `-` for standard input
    #[arg(short, long, value_name = "FILE", value_delimiter = ',')]
    filename: Vec<String>,
    /// Read directories recursively
    #[arg(short = 'R', long)]
    recursive: bool,
    /// How unknown fields are handled: strict, warn or ignore
    #[arg(long, value_name = "HOW", num_args = 0..=1, default_missing_value = "strict", require_equals = true)]
    validate: Option<String>,
    /// The name of the field manager
    #[arg(long, value_name = "NAME")]
    field_manager: Option<String>,
    #[command(flatten)]
    printer: ResultFlags,
}

/// The flags of `create`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct CreateFlags {
    #[command(subcommand)]
    what: Option<CreateWhat>,
    #[command(flatten)]
    files: FileFlags,
    /// Only objects with these labels
    #[arg(short = 'l', long, value_name = "LABELS")]
    selector: Option<String>,
    /// Store the configuration in the last-applied annotation, for a later `apply`
    #[arg(long)]
    save_config: bool,
    #[command(flatten)]
    cluster: ClusterFlags,
}

#[derive(Debug, Subcommand)]
enum CreateWhat {
    /// Create a Deployment
    #[command(
        visible_alias = "deploy",
        after_help = "Example:\n  gantry create deployment web --image=nginx:1 --replicas=3 --context gantry"
    )]
    Deployment {
        /// Its name
        name: String,
        /// The image of its container; may be repeated
        #[arg(long, value_delimiter = ',')]
        image: Vec<String>,
        /// The number of replicas
        #[arg(short, long, default_value = "1")]
        replicas: i32,
        /// The port of its container
        #[arg(long)]
        port: Option<i32>,
        /// The command of its container
        #[arg(last = true)]
        command: Vec<String>,
        #[command(flatten)]
        printer: ResultFlags,
        #[command(flatten)]
        cluster: ClusterFlags,
    },
    /// Create a namespace
    #[command(visible_alias = "ns", after_help = "Example:\n  gantry create namespace shop --context gantry")]
    Namespace {
        /// Its name
        name: String,
        #[command(flatten)]
        printer: ResultFlags,
        #[command(flatten)]
        cluster: ClusterFlags,
    },
}

/// The flags of `apply`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of kubectl's")]
pub(crate) struct ApplyFlags {
    #[command(flatten)]
    files: FileFlags,
    /// Only objects with these labels, such as app=web
    #[arg(short = 'l', long, value_name = "LABELS")]
    selector: Option<String>,
    /// Delete and recreate objects that cannot be patched
    #[arg(long)]
    force: bool,
    /// Delete objects that are no longer in the manifests; not supported
    #[arg(long, hide = true)]
    prune: bool,
    /// Whether the manifest wins over other changes; it always does
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    overwrite: Option<bool>,
    /// Wait for deletions; it always does
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    wait: Option<bool>,
    /// Apply on the server (server-side apply)
    #[arg(long)]
    server_side: bool,
    /// Take over fields of other field managers; only with --server-side
    #[arg(long, requires = "server_side")]
    force_conflicts: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The flags of `replace`.
#[derive(Debug, Args)]
pub(crate) struct ReplaceFlags {
    #[command(flatten)]
    files: FileFlags,
    /// Delete the existing object and create it again
    #[arg(long)]
    force: bool,
    /// How dependents are deleted: background, foreground or orphan
    #[arg(long, value_name = "HOW", default_value = "background", num_args = 0..=1, default_missing_value = "background", require_equals = true)]
    cascade: String,
    /// The grace period of the deletion in seconds; only with --force
    #[arg(long, value_name = "SECONDS", default_value = "-1", allow_negative_numbers = true)]
    grace_period: i64,
    /// Store the configuration in the last-applied annotation, for a later `apply`
    #[arg(long)]
    save_config: bool,
    /// The subresource, such as status
    #[arg(long, value_name = "SUBRESOURCE")]
    subresource: Option<String>,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The flags of `delete`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of kubectl's")]
pub(crate) struct DeleteFlags {
    /// Types and names: `TYPE NAME…`, `TYPE/NAME…`
    #[arg(value_name = "OBJECT")]
    words: Vec<String>,
    #[command(flatten)]
    selection: SelectionFlags,
    /// Only objects with these fields, such as status.phase=Running
    #[arg(long, value_name = "FIELDS")]
    field_selector: Option<String>,
    /// In all namespaces
    #[arg(short = 'A', long)]
    all_namespaces: bool,
    /// How dependents are deleted: background, foreground or orphan
    #[arg(long, value_name = "HOW", default_value = "background", num_args = 0..=1, default_missing_value = "background", require_equals = true)]
    cascade: String,
    /// The grace period for termination in seconds; negative for the pod's own
    #[arg(long, value_name = "SECONDS", default_value = "-1", allow_negative_numbers = true)]
    grace_period: i64,
    /// Delete immediately, without graceful termination
    #[arg(long)]
    force: bool,
    /// Set the grace period to one second
    #[arg(long)]
    now: bool,
    /// Whether to wait until the objects are deleted
    #[arg(long, default_value = "true", action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    wait: bool,
    /// How long to wait; 0 for no limit
    #[arg(long, value_parser = duration)]
    timeout: Option<Duration>,
    /// Ignore objects that do not exist
    #[arg(long)]
    ignore_not_found: bool,
    #[command(flatten)]
    printer: ResultFlags,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The flags of `scale`.
#[derive(Debug, Args)]
pub(crate) struct ScaleFlags {
    /// Types and names: `TYPE NAME…`, `TYPE/NAME…`
    #[arg(value_name = "OBJECT")]
    words: Vec<String>,
    #[command(flatten)]
    selection: SelectionFlags,
    /// The number of replicas
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true)]
    replicas: Option<String>,
    /// Only if this is the current number of replicas
    #[arg(long, value_name = "COUNT", default_value = "-1", allow_negative_numbers = true)]
    current_replicas: i32,
    /// Only if this is the current resource version
    #[arg(long, value_name = "VERSION")]
    resource_version: Option<String>,
    /// How long to wait until the number of replicas is reached; 0 to not wait
    #[arg(long, value_parser = duration)]
    timeout: Option<Duration>,
    #[command(flatten)]
    printer: ResultFlags,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The subcommands of `set`.
#[derive(Debug, Subcommand)]
pub(crate) enum SetCommand {
    /// Change the images of containers
    #[command(after_help = "Example:\n  gantry set image deployment/web nginx=nginx:1.9.1 --context gantry")]
    Image(#[command(flatten)] SetImageFlags),
}

/// The flags of `set image`.
#[derive(Debug, Args)]
pub(crate) struct SetImageFlags {
    /// `TYPE NAME` or `TYPE/NAME`, then `CONTAINER=IMAGE…`; `*` means all containers
    #[arg(value_name = "OBJECT")]
    words: Vec<String>,
    #[command(flatten)]
    selection: SelectionFlags,
    /// Change the manifests only, without contacting the server
    #[arg(long)]
    local: bool,
    /// Record this command as the change cause
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    record: Option<bool>,
    /// The name of the field manager
    #[arg(long, value_name = "NAME")]
    field_manager: Option<String>,
    #[command(flatten)]
    printer: ResultFlags,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The flags of `patch`.
#[derive(Debug, Args)]
pub(crate) struct PatchFlags {
    /// `TYPE NAME` or `TYPE/NAME`
    #[arg(value_name = "OBJECT")]
    words: Vec<String>,
    #[command(flatten)]
    selection: SelectionFlags,
    /// Change the manifests only, without contacting the server
    #[arg(long)]
    local: bool,
    /// The patch, in JSON or YAML
    #[arg(short, long, value_name = "PATCH", conflicts_with = "patch_file")]
    patch: Option<String>,
    /// A file with the patch
    #[arg(long, value_name = "FILE")]
    patch_file: Option<String>,
    /// What kind of patch: strategic, merge or json
    #[arg(long = "type", value_name = "KIND", default_value = "strategic")]
    kind: String,
    /// The subresource, such as status
    #[arg(long, value_name = "SUBRESOURCE")]
    subresource: Option<String>,
    /// The name of the field manager
    #[arg(long, value_name = "NAME")]
    field_manager: Option<String>,
    #[command(flatten)]
    printer: ResultFlags,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

impl FileFlags {
    fn manifests(self, selector: Option<String>) -> Result<ManifestOptions, Failure> {
        Ok(ManifestOptions {
            printer: self.printer.printer()?,
            validation: Validation::parse(self.validate.as_deref())?,
            files: self.filename,
            recursive: self.recursive,
            selector,
            manager: self.field_manager,
        })
    }
}

impl CreateFlags {
    pub(super) fn cluster(&self) -> &ClusterFlags {
        match &self.what {
            Some(CreateWhat::Deployment { cluster, .. } | CreateWhat::Namespace { cluster, .. }) => cluster,
            None => &self.cluster,
        }
    }

    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        match self.what {
            Some(CreateWhat::Deployment { name, image, replicas, port, command, printer, .. }) => {
                let printer = printer.printer()?;
                let options =
                    CreateDeploymentOptions { name, images: image, replicas, port, command, printer };
                create_deployment(ctx, &options).await
            }
            Some(CreateWhat::Namespace { name, printer, .. }) => {
                create_namespace(ctx, &name, &printer.printer()?).await
            }
            None => {
                let manifests = self.files.manifests(self.selector)?;
                let options = CreateOptions { manifests, save_config: self.save_config };
                create(ctx, &options).await
            }
        }
    }
}

impl ApplyFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        let server_side = ServerSide::from_flags(self.server_side, self.force_conflicts);
        if self.overwrite == Some(false) {
            return Err(Failure::other("--overwrite=false is not supported: the manifest always wins"));
        }
        if self.prune {
            return Err(Failure::other(
                "--prune is not supported\nhint: delete what is no longer wanted, or use --force to recreate",
            ));
        }
        let manifests = self.files.manifests(self.selector)?;
        if self.force && manifests.printer.dry_run == DryRun::Server {
            return Err(Failure::other("--dry-run=server cannot be used with --force"));
        }
        let options = ApplyOptions { manifests, force: self.force, server_side };
        apply(ctx, &options).await
    }
}

impl ReplaceFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        if self.grace_period >= 0 && !self.force {
            return Err(Failure::other("--grace-period must have --force specified"));
        }
        let cascade = Cascade::parse(&self.cascade)?;
        let options = ReplaceOptions {
            manifests: self.files.manifests(None)?,
            save_config: self.save_config,
            subresource: self.subresource,
            force: self.force.then(|| cascade.options((self.grace_period >= 0).then_some(self.grace_period))),
        };
        replace(ctx, &options).await
    }
}

impl DeleteFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        let selection = Selection {
            fields: self.field_selector,
            all_namespaces: self.all_namespaces,
            ..self.selection.selection(self.words)
        };
        let options = DeleteOptions {
            selection,
            cascade: Cascade::parse(&self.cascade)?,
            grace_seconds: DeleteOptions::grace(self.grace_period, self.force, self.now)?,
            force: self.force,
            wait: self.wait,
            timeout: limit(self.timeout),
            ignore_not_found: self.ignore_not_found,
            printer: self.printer.printer()?,
        };
        delete(ctx, &options).await
    }
}

impl ScaleFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        let options = ScaleOptions {
            selection: self.selection.selection(self.words),
            replicas: ScaleOptions::replicas(self.replicas.as_deref())?,
            current_replicas: (self.current_replicas >= 0).then_some(self.current_replicas),
            resource_version: self.resource_version,
            timeout: limit(self.timeout),
            printer: self.printer.printer()?,
        };
        scale(ctx, &options).await
    }
}

impl SetImageFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        if self.record.is_some() {
            print_stderr("Flag --record has been deprecated, --record will be removed in the future");
        }
        let (words, images) = SetImageOptions::parse(&self.words)?;
        let options = SetImageOptions {
            selection: Selection { local: self.local, ..self.selection.selection(words) },
            images,
            cause: (self.record == Some(true)).then(|| change_cause::of_command(std::env::args())),
            manager: self.field_manager,
            printer: self.printer.printer()?,
        };
        set_image(ctx, &options).await
    }
}

impl PatchFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        let patch_text = match (self.patch, &self.patch_file) {
            (Some(text), _) => text,
            (None, Some(file)) => std::fs::read_to_string(file).map_err(|error| {
                let why = match error.kind() {
                    std::io::ErrorKind::NotFound => "no such file or directory".to_owned(),
                    _ => error.to_string(),
                };
                Failure::other(format!("unable to read patch file: open {file}: {why}"))
            })?,
            (None, None) => {
                return Err(Failure::other(
                    "must specify --patch or --patch-file containing the contents of the patch",
                ));
            }
        };
        let options = PatchOptions {
            selection: Selection { local: self.local, ..self.selection.selection(self.words) },
            patch: patch_text,
            kind: PatchOptions::kind(&self.kind)?,
            subresource: self.subresource,
            manager: self.field_manager,
            printer: self.printer.printer()?,
        };
        patch(ctx, &options).await
    }
}
