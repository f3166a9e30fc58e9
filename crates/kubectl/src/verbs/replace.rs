//! `replace -f`: replaces the object by the manifest.

use gantry_client::ApiRequest;
use gantry_json::Value;

use super::apply::with_last_applied;
use super::delete::{delete_and_wait, deletion_message};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::manifests::{self, ManifestOptions, ResolvedManifest};
use crate::selection::for_each;
use crate::verbs::result_printer::WriteParameters as _;

/// The options of `replace`.
#[derive(Clone, Debug, Default)]
pub struct ReplaceOptions {
    /// The objects.
    pub manifests: ManifestOptions,
    /// Whether the last-applied annotation is set, for a later `apply`.
    pub save_config: bool,
    /// The subresource, such as `status`.
    pub subresource: Option<String>,
    /// The body of the delete request, if the object is deleted and created again.
    pub force: Option<Value>,
}

/// Replaces every object of the files.
pub async fn replace(ctx: &mut ClientContext, options: &ReplaceOptions) -> Result<(), Failure> {
    let (manifests, failures) = options.manifests.read()?;
    let resolved = manifests::resolve_each(ctx, manifests, options.manifests.validation).await?;
    let found = failures.into_iter().map(Err).chain(resolved);
    for_each(ctx, found, async |ctx, manifest| replace_one(ctx, options, manifest).await).await
}

async fn replace_one(
    ctx: &mut ClientContext,
    options: &ReplaceOptions,
    mut manifest: ResolvedManifest,
) -> Result<(), Failure> {
    if options.save_config {
        manifest.object = with_last_applied(&manifest.object);
    }
    let object = if options.manifests.printer.dry_run.is_client() {
        manifest.object.clone()
    } else {
        let sent = match &options.force {
            Some(delete_options) => recreate(ctx, options, &manifest, delete_options).await,
            None => put(ctx, options, &manifest).await,
        };
        sent.map_err(|failure| failure.while_doing(&format!("error when replacing \"{}\"", manifest.source)))?
    };
    let title = format!("{}/{}", manifest.resource.singular_with_group(), manifest.name);
    options.manifests.printer.print(ctx, &title, "replaced", &object)
}

async fn put(
    ctx: &mut ClientContext,
    options: &ReplaceOptions,
    manifest: &ResolvedManifest,
) -> Result<Value, Failure> {
    let path = match &options.subresource {
        Some(part) => format!("{}/{part}", manifest.path()),
        None => manifest.path(),
    };
    let mut object = manifest.object.clone();
    if object["metadata"]["resourceVersion"].as_str().unwrap_or_default().is_empty() {
        // Some kinds cannot be replaced without a resource version. If the read fails, the write reports the error.
        if let Ok(stored) = ctx.request(ApiRequest::get(path.clone())).await {
            object["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
        }
    }
    let call = ApiRequest::put(path, &object).by(manager(options), options.manifests.printer.dry_run);
    ctx.request(call.validated(options.manifests.validation)).await
}

/// Deletes the object, and creates the one of the manifest.
async fn recreate(
    ctx: &mut ClientContext,
    options: &ReplaceOptions,
    manifest: &ResolvedManifest,
    delete_options: &Value,
) -> Result<Value, Failure> {
    match delete_and_wait(ctx, manifest, delete_options).await {
        Ok(()) => {
            let kind = manifest.resource.singular_with_group();
            let deleted = deletion_message("deleted", &manifest.resource, &manifest.namespace);
            ctx.println(&format!("{kind} \"{}\" {deleted}", manifest.name))?;
        }
        Err(failure) if failure.is_not_found() => {}
        Err(failure) => return Err(failure),
    }
    let call = ApiRequest::post(manifest.collection(), &manifest.object)
        .by(manager(options), options.manifests.printer.dry_run);
    ctx.request(call.validated(options.manifests.validation)).await
}

fn manager(options: &ReplaceOptions) -> &str {
    options.manifests.manager.as_deref().unwrap_or("kubectl-replace")
}
