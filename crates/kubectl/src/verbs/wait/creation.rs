//! `wait --for=create`: waits until objects exist.

use gantry_client::ApiRequest;
use tokio::time::{Instant, timeout_at};

use super::{WaitOptions, WaitTimeout};
use crate::arguments::{ResourceArg, ResourceArgs};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::text;
use crate::manifests::{self, NamespaceScope};
use crate::resources::ApiResource;
use crate::selection::{BareType, FoundObject, Selection, items_of, list_call};

/// A list request that must return at least one object.
struct CreationTarget {
    resource: ApiResource,
    list: ApiRequest,
}

/// Waits until all named objects exist, and at least one of each selection.
pub(super) async fn of_all(
    ctx: &mut ClientContext,
    options: &WaitOptions,
    deadline: Instant,
) -> Result<Vec<FoundObject>, Failure> {
    let too_late = || Failure::other("timed out waiting for the condition");
    let mut found = Vec::new();
    for one in awaited(ctx, &options.selection).await? {
        let (mut there, version) = list_matching(ctx, &one).await?;
        if there.is_empty() && options.timeout != WaitTimeout::CheckOnce {
            let appeared = timeout_at(deadline, appears(ctx, &one, version)).await;
            there = appeared.unwrap_or_else(|_| Err(too_late()))?;
        }
        if there.is_empty() {
            return Err(too_late());
        }
        found.extend(there);
    }
    Ok(found)
}

impl CreationTarget {
    fn named(resource: ApiResource, namespace: &str, name: &str) -> Self {
        let list = ApiRequest::get(resource.collection(Some(namespace)));
        Self { list: list.with("fieldSelector", format!("metadata.name={name}")), resource }
    }
}

async fn awaited(ctx: &mut ClientContext, selection: &Selection) -> Result<Vec<CreationTarget>, Failure> {
    let resources = ctx.resources().await?;
    let namespace = ctx.namespace.clone();
    let place = NamespaceScope { namespace: &namespace, is_explicit: ctx.namespace_is_explicit };
    let mut all = Vec::new();
    for manifest in manifests::read(&selection.files, selection.recursive)? {
        manifest.check()?;
        let manifest = manifest.resolve(&resources, place)?;
        all.push(CreationTarget::named(manifest.resource, &manifest.namespace, &manifest.name));
    }
    let items = ResourceArgs::read(&resources, &selection.words)?.items;
    selection.check(&items, BareType::Error)?;
    for item in items {
        all.push(match item {
            ResourceArg::Named(resource, name) => CreationTarget::named(resource, &namespace, &name),
            ResourceArg::All(resource) => {
                CreationTarget { list: list_call(ctx, &resource, selection), resource }
            }
        });
    }
    Ok(all)
}

/// The listed objects and the resource version of the list.
async fn list_matching(
    ctx: &mut ClientContext,
    awaited: &CreationTarget,
) -> Result<(Vec<FoundObject>, String), Failure> {
    let response = ctx.request(awaited.list.clone()).await?;
    let found = items_of(&response, &awaited.resource).into_iter();
    let found = found.map(|object| FoundObject::of(&awaited.resource, object));
    Ok((found.collect(), text(&response, "/metadata/resourceVersion").to_owned()))
}

/// Watches from this resource version until an object is created.
async fn appears(
    ctx: &mut ClientContext,
    awaited: &CreationTarget,
    mut version: String,
) -> Result<Vec<FoundObject>, Failure> {
    loop {
        let mut changes = ctx.watch(awaited.list.clone().with("resourceVersion", version)).await?;
        loop {
            match changes.next().await {
                Ok(Some(change)) if change["type"] == "BOOKMARK" || change["type"] == "DELETED" => {}
                Ok(Some(mut change)) => {
                    return Ok(vec![FoundObject::of(&awaited.resource, change["object"].take())]);
                }
                // The watch ended or expired: list again.
                Ok(None) | Err(Failure::Status(_)) => break,
                Err(other) => return Err(other),
            }
        }
        let (there, seen_at) = list_matching(ctx, awaited).await?;
        if !there.is_empty() {
            return Ok(there);
        }
        version = seen_at;
    }
}
