//! `diff`: shows what `apply` would change.

mod mask;
mod program;

use gantry_client::{ApiRequest, PatchForm, RefusalKind};
use gantry_json::Value;
use gantry_registry::selector::LabelSelector;
use gantry_schema::encode;

use super::apply::{MANAGER, ServerSide, patch_to, without_last_applied};
use super::result_printer::DryRun;
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::manifests::{self, NamespaceScope, ResolvedManifest};
use crate::print::without_managed_fields;
use crate::resources::ApiResource;
use crate::verbs::result_printer::WriteParameters as _;
use mask::masked;
use program::{DiffProgram, TempFolder};

/// The options of `diff`.
#[derive(Clone, Debug, Default)]
pub struct DiffOptions {
    /// The files.
    pub files: Vec<String>,
    /// Whether directories are read recursively.
    pub recursive: bool,
    /// Only objects of the files with these labels.
    pub selector: Option<String>,
    /// The field manager; kubectl's own by default.
    pub manager: Option<String>,
    /// Server-side apply, and how conflicts are handled.
    pub server_side: Option<ServerSide>,
    /// The value of `--show-managed-fields`.
    pub managed_fields: bool,
    /// A program that shows differences instead of `diff`, with its options.
    pub external: Option<String>,
}

/// Whether anything would change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differences {
    /// No differences.
    None,
    /// Differences.
    Some,
}

/// How often a comparison is tried on write conflicts.
const ATTEMPTS: usize = 4;

/// Shows what applying files would change.
pub async fn diff(ctx: &mut ClientContext, options: &DiffOptions) -> Result<Differences, Failure> {
    if options.files.is_empty() {
        return Err(manifests::no_files());
    }
    let selector = LabelSelector::parse(options.selector.as_deref().unwrap_or_default())
        .map_err(|refusal| Failure::other(refusal.message))?;
    let resources = ctx.resources().await?;
    let namespace = ctx.namespace.clone();
    let place = NamespaceScope { namespace: &namespace, is_explicit: ctx.namespace_is_explicit };
    let (live_folder, merged_folder) = (TempFolder::new("LIVE")?, TempFolder::new("MERGED")?);
    for manifest in manifests::read(&options.files, options.recursive)? {
        manifest.check()?;
        let manifest = manifest.resolve(&resources, place)?;
        if !selector.matches(&manifest.object) {
            continue;
        }
        if manifest.name.is_empty() {
            return Err(Failure::unnamed());
        }
        let (live, merged) = forms(ctx, options, &manifest).await?;
        let (live, merged) = compared(options, live, merged);
        let name = file_name(&manifest.resource, &manifest.namespace, &manifest.name);
        live_folder.write(&name, &live)?;
        merged_folder.write(&name, &merged)?;
    }
    DiffProgram::named(options.external.as_deref()).compare(&live_folder, &merged_folder)
}

/// The live object, if it exists, and the object after applying.
async fn forms(
    ctx: &mut ClientContext,
    options: &DiffOptions,
    manifest: &ResolvedManifest,
) -> Result<(Option<Value>, Value), Failure> {
    for attempt in 1.. {
        let live = match ctx.request(ApiRequest::get(manifest.path())).await {
            Ok(live) => Some(live),
            Err(failure) if failure.is_not_found() => None,
            Err(failure) => return Err(failure),
        };
        let merged = match (options.server_side, &live) {
            (Some(how), _) => applied(ctx, options, manifest, how).await,
            (None, None) => created(ctx, options, manifest).await,
            (None, Some(live)) => patched(ctx, options, manifest, live, attempt < ATTEMPTS).await,
        };
        match merged {
            Err(failure)
                if failure.kind() == Some(RefusalKind::Conflict)
                    && is_race(options)
                    && attempt < ATTEMPTS => {}
            merged => return Ok((live, merged?)),
        }
    }
    unreachable!("every attempt after the last returns")
}

/// Whether a conflict is a write conflict, and not one of field managers.
fn is_race(options: &DiffOptions) -> bool {
    options.server_side.is_none()
}

async fn created(
    ctx: &mut ClientContext,
    options: &DiffOptions,
    manifest: &ResolvedManifest,
) -> Result<Value, Failure> {
    ctx.request(
        ApiRequest::post(manifest.collection(), &manifest.object)
            .by(manager(options, MANAGER), DryRun::Server),
    )
    .await
}

async fn patched(
    ctx: &mut ClientContext,
    options: &DiffOptions,
    manifest: &ResolvedManifest,
    live: &Value,
    only_if_unchanged: bool,
) -> Result<Value, Failure> {
    // The last-applied annotation always changes, so it is left out of the comparison.
    let (mut patch, kind) = patch_to(manifest, live, &without_last_applied(&manifest.object));
    if patch.as_object().is_some_and(gantry_json::Map::is_empty) {
        return Ok(live.clone());
    }
    if only_if_unchanged {
        patch["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
    }
    ctx.request(
        ApiRequest::patch(manifest.path(), kind, &patch).by(manager(options, MANAGER), DryRun::Server),
    )
    .await
}

async fn applied(
    ctx: &mut ClientContext,
    options: &DiffOptions,
    manifest: &ResolvedManifest,
    how: ServerSide,
) -> Result<Value, Failure> {
    let call = ApiRequest::patch(manifest.path(), PatchForm::Apply, &manifest.object)
        .by(manager(options, "kubectl"), DryRun::Server)
        .with("force", if how == ServerSide::ForceConflicts { "true" } else { "false" });
    ctx.request(call).await
}

fn manager<'a>(options: &'a DiffOptions, usual: &'a str) -> &'a str {
    options.manager.as_deref().unwrap_or(usual)
}

/// Both forms as YAML; a missing object is empty.
fn compared(options: &DiffOptions, live: Option<Value>, merged: Value) -> (String, String) {
    let shown = |object: Value| if options.managed_fields { object } else { without_managed_fields(object) };
    let is_secret = merged["kind"] == "Secret" && merged["apiVersion"] == "v1";
    if is_secret {
        // Here kubectl writes `null` for a Secret that does not exist.
        let (live, merged) = masked(&live.unwrap_or_default(), &merged);
        return (encode::yaml_text(&shown(live)), encode::yaml_text(&shown(merged)));
    }
    let live = live.map(|live| encode::yaml_text(&shown(live)));
    (live.unwrap_or_default(), encode::yaml_text(&shown(merged)))
}

/// `apps.v1.Deployment.default.web`, the file name in the diff header.
fn file_name(resource: &ApiResource, namespace: &str, name: &str) -> String {
    let group = if resource.group.is_empty() { String::new() } else { format!("{}.", resource.group) };
    let namespace = if resource.namespaced { namespace } else { "" };
    format!("{group}{}.{}.{namespace}.{name}", resource.version, resource.kind).replace('/', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    fn resource(group: &str, kind: &str, namespaced: bool) -> ApiResource {
        let plural = format!("{}s", kind.to_lowercase());
        let version = json!({"version": "v1", "resources": [{"resource": plural, "responseKind": {"kind": kind},
            "scope": if namespaced { "Namespaced" } else { "Cluster" }}]});
        let document = json!({"items": [{"metadata": {"name": group}, "versions": [version]}]});
        crate::Resources::from_discovery(&[document]).by_name(&plural).unwrap().clone()
    }

    #[test]
    fn a_file_is_called_after_its_object() {
        assert_eq!(
            file_name(&resource("apps", "Deployment", true), "shop", "web"),
            "apps.v1.Deployment.shop.web"
        );
        assert_eq!(file_name(&resource("", "Namespace", false), "default", "shop"), "v1.Namespace..shop");
        assert_eq!(
            file_name(&resource("", "Pod", true), "a", "../x"),
            "v1.Pod.a...-x",
            "the file stays in its directory"
        );
    }

    #[test]
    fn managed_fields_and_secret_values_are_hidden() {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "MQ=="},
            "metadata": {"name": "s", "managedFields": [{"manager": "me"}]}});
        let (live, merged) = compared(&DiffOptions::default(), None, secret.clone());
        assert_eq!(live, "null\n");
        assert_eq!(merged, "apiVersion: v1\ndata:\n  a: '***'\nkind: Secret\nmetadata:\n  name: s\n");
        let all = DiffOptions { managed_fields: true, ..DiffOptions::default() };
        assert!(compared(&all, None, secret).1.contains("managedFields"));
        assert_eq!(compared(&all, None, json!({"kind": "Pod"})), (String::new(), "kind: Pod\n".to_owned()));
    }
}
