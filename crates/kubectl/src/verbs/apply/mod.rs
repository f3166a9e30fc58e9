//! `apply`: applies manifests (K1).

mod last_applied;
mod server_side;

use gantry_client::{ApiRequest, PatchForm, RefusalKind};
use gantry_json::Value;

use super::delete::{Cascade, delete_and_wait};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::text;
use crate::manifests::{self, Manifest, ManifestOptions, ResolvedManifest};
use crate::three_way::{LAST_APPLIED, Shape, ThreeWayInputs, shape_of, three_way};
use crate::verbs::result_printer::WriteParameters as _;
use last_applied::last_applied;
pub(super) use last_applied::{with_last_applied, without_last_applied};

/// The options of `apply`.
#[derive(Clone, Debug, Default)]
pub struct ApplyOptions {
    /// The objects.
    pub manifests: ManifestOptions,
    /// Whether objects that cannot be patched are deleted and recreated.
    pub force: bool,
    /// Server-side apply, and how conflicts are handled.
    pub server_side: Option<ServerSide>,
}

/// What happens on conflicts with other field managers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerSide {
    /// They are an error.
    FailOnConflict,
    /// The fields are taken over.
    ForceConflicts,
}

impl ServerSide {
    /// What `--server-side` and `--force-conflicts` mean together.
    pub fn from_flags(server_side: bool, force: bool) -> Option<Self> {
        server_side.then_some(if force { Self::ForceConflicts } else { Self::FailOnConflict })
    }
}

pub(super) const MANAGER: &str = "kubectl-client-side-apply";
/// How often a patch is sent on write conflicts (K1.7).
const ATTEMPTS: usize = 5;

/// Applies every object of the files.
pub async fn apply(ctx: &mut ClientContext, options: &ApplyOptions) -> Result<(), Failure> {
    let (manifests, failures) = options.manifests.read()?;
    if manifests.is_empty() && failures.is_empty() {
        return Err(Failure::other("no objects passed to apply"));
    }
    apply_each(ctx, options, manifests, failures).await
}

/// Applies these objects; the files of the options are not read.
pub async fn apply_manifests(
    ctx: &mut ClientContext,
    options: &ApplyOptions,
    manifests: Vec<Manifest>,
) -> Result<(), Failure> {
    apply_each(ctx, options, manifests, Vec::new()).await
}

async fn apply_each(
    ctx: &mut ClientContext,
    options: &ApplyOptions,
    manifests: Vec<Manifest>,
    mut failures: Vec<Failure>,
) -> Result<(), Failure> {
    let mut resolve = Vec::new();
    for resolved in manifests::resolve_each(ctx, manifests, options.manifests.validation).await? {
        match resolved {
            Ok(manifest) => resolve.push(manifest),
            Err(failure) => failures.push(failure),
        }
    }
    let mut applied = Vec::new();
    for manifest in &resolve {
        match apply_one(ctx, options, manifest).await {
            Ok(object) => applied.push(object),
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures)?;
    options.manifests.printer.print_list(ctx, &applied)
}

async fn apply_one(
    ctx: &mut ClientContext,
    options: &ApplyOptions,
    manifest: &ResolvedManifest,
) -> Result<Value, Failure> {
    let generated = text(&manifest.object, "/metadata/generateName");
    if manifest.name.is_empty() && !generated.is_empty() {
        return Err(Failure::other(format!("from {generated}: cannot use generate name with apply")));
    }
    let title = format!("{}/{}", manifest.resource.singular_with_group(), manifest.name);
    if let Some(how) = options.server_side {
        let object = server_side::apply(ctx, options, manifest, how).await?;
        options.manifests.printer.print_name(ctx, &title, "serverside-applied")?;
        return Ok(object);
    }
    let live = match ctx.request(ApiRequest::get(manifest.path())).await {
        Ok(live) => live,
        Err(failure) if failure.is_not_found() => {
            let object = create(ctx, options, manifest).await?;
            options.manifests.printer.print_name(ctx, &title, "created")?;
            return Ok(object);
        }
        Err(failure) => return Err(failure.while_doing(&last_applied::while_reading(manifest))),
    };
    if live.pointer(&format!("/metadata/annotations/{}", LAST_APPLIED.replace('/', "~1"))).is_none() {
        ctx.eprintln(&format!(
            "Warning: resource {}/{} is missing the {LAST_APPLIED} annotation which is required by kubectl apply. \
             kubectl apply should only be used on resources created declaratively by either kubectl create --save-config \
             or kubectl apply. The missing annotation will be patched automatically.",
            manifest.resource.plural, manifest.name
        ));
    }
    if options.manifests.printer.dry_run.is_client() {
        options.manifests.printer.print_name(ctx, &title, "configured")?;
        return Ok(live);
    }
    let (object, operation) = update(ctx, options, manifest, live).await?;
    if !text(&object, "/metadata/deletionTimestamp").is_empty() {
        ctx.eprintln(&format!(
            "Warning: Detected changes to resource {} which is currently being deleted.",
            manifest.name
        ));
    }
    options.manifests.printer.print_name(ctx, &title, operation)?;
    Ok(object)
}

async fn create(
    ctx: &mut ClientContext,
    options: &ApplyOptions,
    manifest: &ResolvedManifest,
) -> Result<Value, Failure> {
    let object = with_last_applied(&manifest.object);
    if options.manifests.printer.dry_run.is_client() {
        return Ok(object);
    }
    let call = ApiRequest::post(manifest.collection(), &object)
        .by(manager(options), options.manifests.printer.dry_run);
    let created = ctx.request(call.validated(options.manifests.validation)).await;
    created.map_err(|failure| failure.while_doing(&format!("error when creating \"{}\"", manifest.source)))
}

/// Sends the patch, and retries on conflicts.
async fn update(
    ctx: &mut ClientContext,
    options: &ApplyOptions,
    manifest: &ResolvedManifest,
    mut live: Value,
) -> Result<(Value, &'static str), Failure> {
    for attempt in 1.. {
        let (patch, kind) = patch_for(manifest, &live);
        if patch.as_object().is_some_and(gantry_json::Map::is_empty) {
            return Ok((live, "unchanged"));
        }
        let call = ApiRequest::patch(manifest.path(), kind, &patch)
            .by(manager(options), options.manifests.printer.dry_run);
        match ctx.request(call.validated(options.manifests.validation)).await {
            Ok(object) => return Ok((object, "configured")),
            Err(failure) if failure.kind() == Some(RefusalKind::Conflict) && attempt < ATTEMPTS => {
                live = ctx.request(ApiRequest::get(manifest.path())).await?;
            }
            Err(failure)
                if options.force
                    && matches!(failure.kind(), Some(RefusalKind::Conflict | RefusalKind::Invalid)) =>
            {
                delete_and_wait(ctx, manifest, &Cascade::Background.options(None)).await?;
                return Ok((create(ctx, options, manifest).await?, "configured"));
            }
            Err(failure) => return Err(failure.while_doing(&last_applied::while_patching(manifest, &patch))),
        }
    }
    unreachable!("every attempt after the last returns")
}

/// The patch from the live object to the manifest; a JSON merge patch for unknown kinds.
fn patch_for(manifest: &ResolvedManifest, live: &Value) -> (Value, PatchForm) {
    patch_to(manifest, live, &with_last_applied(&manifest.object))
}

/// The patch from the live object to this form of the manifest.
pub(super) fn patch_to(manifest: &ResolvedManifest, live: &Value, modified: &Value) -> (Value, PatchForm) {
    let shape = shape_of(&manifest.resource.api_version(), &manifest.resource.kind);
    let kind = if shape == Shape::Foreign { PatchForm::JsonMerge } else { PatchForm::StrategicMerge };
    let original = last_applied(live);
    let patch = three_way(ThreeWayInputs { original: &original, modified, current: live }, shape);
    (patch.into(), kind)
}

fn manager(options: &ApplyOptions) -> &str {
    options.manifests.manager.as_deref().unwrap_or(MANAGER)
}
