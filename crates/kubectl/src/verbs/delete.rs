//! `delete` (K7).

use std::time::Duration;

use gantry_client::ApiRequest;
use gantry_json::{Value, json};

use super::object_watch::wait_for_deletion;
use super::result_printer::{DryRun, ResultPrinter};
use crate::arguments::{ResourceArg, ResourceArgs};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::text;
use crate::manifests::{self, NamespaceScope, ResolvedManifest};
use crate::resources::ApiResource;
use crate::selection::{BareType, Selection, all_of, no_resources_specified};

/// The options of `delete`.
#[derive(Clone, Debug)]
pub struct DeleteOptions {
    /// The objects.
    pub selection: Selection,
    /// How dependents are deleted.
    pub cascade: Cascade,
    /// The grace period; `None` for the object's own.
    pub grace_seconds: Option<i64>,
    /// The value of `--force`: no graceful termination.
    pub force: bool,
    /// Whether to wait until the objects are deleted.
    pub wait: bool,
    /// The timeout.
    pub timeout: Option<Duration>,
    /// The value of `--ignore-not-found`.
    pub ignore_not_found: bool,
    /// How results are printed.
    pub printer: ResultPrinter,
}

gantry_formats::text_enum! {
    /// How dependents are deleted.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Cascade {
        /// Dependents are deleted after the owner.
        #[default]
        Background = "Background",
        /// Dependents are deleted before the owner.
        Foreground = "Foreground",
        /// Dependents are not deleted.
        Orphan = "Orphan",
    }

    fn policy(self) -> &'static str;
}

/// One object to delete.
struct DeletionTarget {
    resource: ApiResource,
    namespace: String,
    name: String,
    source: Option<String>,
}

impl Cascade {
    /// Reads the value of `--cascade`.
    pub fn parse(value: &str) -> Result<Self, Failure> {
        match value {
            "background" | "true" => Ok(Self::Background),
            "foreground" => Ok(Self::Foreground),
            "orphan" | "false" => Ok(Self::Orphan),
            other => Err(Failure::other(format!(
                "invalid cascade value ({other}). Must be \"background\", \"foreground\", or \"orphan\""
            ))),
        }
    }

    /// The body of a delete request with this policy.
    pub fn options(self, grace_seconds: Option<i64>) -> Value {
        let mut options = json!({"propagationPolicy": self.policy()});
        if let Some(seconds) = grace_seconds {
            options["gracePeriodSeconds"] = seconds.into();
        }
        options
    }
}

impl DeleteOptions {
    /// What `--grace-period`, `--force` and `--now` mean together (K7.4).
    pub fn grace(period: i64, force: bool, now: bool) -> Result<Option<i64>, Failure> {
        match (period, force, now) {
            (..=-1, true, true) => {
                Err(Failure::other("--force and --grace-period greater than 0 cannot be specified together"))
            }
            (0.., _, true) => Err(Failure::other("--now and --grace-period cannot be specified together")),
            (1.., true, _) => {
                Err(Failure::other("--force and --grace-period greater than 0 cannot be specified together"))
            }
            (_, false, true) | (0, false, false) => Ok(Some(1)),
            (_, true, _) => Ok(Some(0)),
            (1.., false, false) => Ok(Some(period)),
            (..=-1, false, false) => Ok(None),
        }
    }
}

/// Deletes objects.
pub async fn delete(ctx: &mut ClientContext, options: &DeleteOptions) -> Result<(), Failure> {
    if options.selection.is_empty() && (options.selection.all || options.selection.selector.is_some()) {
        return Err(Failure::other("at least one resource must be specified to use a selector"));
    }
    if options.selection.is_empty() {
        return Err(no_resources_specified());
    }
    if let Some(other) = options.printer.output.as_deref().filter(|output| !["", "name"].contains(output)) {
        return Err(Failure::other(format!("unexpected -o output mode: {other}. We only support '-o name'")));
    }
    if options.force && options.grace_seconds == Some(0) {
        ctx.eprintln(
            "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. \
             The resource may continue to run on the cluster indefinitely.",
        );
    }
    let (targets, mut failures) = targets(ctx, options).await?;
    if ctx.namespace_is_explicit && targets.iter().any(|one| !one.resource.namespaced) {
        ctx.eprintln("Warning: deleting cluster-scoped resources, not scoped to the provided namespace");
    }
    if targets.is_empty() && failures.is_empty() {
        if !options.ignore_not_found || !options.selection.words.iter().skip(1).any(|_| true) {
            ctx.println("No resources found")?;
        }
        return Ok(());
    }
    let mut waiting = Vec::new();
    for one in targets {
        match delete_one(ctx, options, &one).await {
            Ok(uid) => waiting.push((one, uid)),
            // A selected object may have been deleted meanwhile, which is fine.
            Err(failure)
                if failure.is_not_found() && (options.ignore_not_found || options.selection.selects()) => {}
            Err(failure) => failures.push(failure),
        }
    }
    if options.wait && options.printer.dry_run == DryRun::No {
        let wait_for_deletion = async {
            for (one, uid) in &waiting {
                gone(ctx, one, uid).await?;
            }
            Ok(())
        };
        let waited = match options.timeout {
            None => wait_for_deletion.await,
            Some(limit) => tokio::time::timeout(limit, wait_for_deletion).await.unwrap_or_else(|_| {
                let names: Vec<_> =
                    waiting.iter().map(|(one, _)| format!("{}/{}", one.resource.plural, one.name)).collect();
                Err(Failure::other(format!("timed out waiting for the condition on {}", names.join(", "))))
            }),
        };
        failures.extend(waited.err());
    }
    Failure::all(failures)
}

async fn targets(
    ctx: &mut ClientContext,
    options: &DeleteOptions,
) -> Result<(Vec<DeletionTarget>, Vec<Failure>), Failure> {
    let resources = ctx.resources().await?;
    let namespace = ctx.namespace.clone();
    let place = NamespaceScope { namespace: &namespace, is_explicit: ctx.namespace_is_explicit };
    let (mut targets, mut failures) = (Vec::new(), Vec::new());
    let (manifests, unread) = manifests::read_each(&options.selection.files, options.selection.recursive)?;
    failures.extend(unread);
    for manifest in manifests {
        match manifest.check_kind().and_then(|()| manifest.resolve(&resources, place)) {
            Ok(manifest) => targets.push(DeletionTarget {
                resource: manifest.resource,
                namespace: manifest.namespace,
                name: manifest.name,
                source: Some(manifest.source),
            }),
            Err(failure) => failures.push(failure),
        }
    }
    let ResourceArgs { items, warnings, .. } = ResourceArgs::read(&resources, &options.selection.words)?;
    options.selection.check(&items, BareType::Error)?;
    ctx.warn(&warnings);
    for item in items {
        match item {
            ResourceArg::Named(resource, name) => {
                targets.push(DeletionTarget { resource, namespace: namespace.clone(), name, source: None });
            }
            ResourceArg::All(resource) => {
                for object in all_of(ctx, &resource, &options.selection).await? {
                    targets.push(DeletionTarget {
                        resource: resource.clone(),
                        namespace: text(&object, "/metadata/namespace").to_owned(),
                        name: text(&object, "/metadata/name").to_owned(),
                        source: None,
                    });
                }
            }
        }
    }
    Ok((targets, failures))
}

/// Deletes one object and returns its uid.
async fn delete_one(
    ctx: &mut ClientContext,
    options: &DeleteOptions,
    one: &DeletionTarget,
) -> Result<String, Failure> {
    let path = one.resource.object(&one.namespace, &one.name);
    let response = if options.printer.dry_run.is_client() {
        // No request is sent, not even to check that the object exists.
        Ok(Value::Null)
    } else {
        let mut body = options.cascade.options(options.grace_seconds);
        if options.printer.dry_run == DryRun::Server {
            body["dryRun"] = json!(["All"]);
        }
        ctx.request(ApiRequest::delete(path, &body)).await
    };
    let response = response.map_err(|failure| match &one.source {
        Some(source) => failure.while_doing(&format!("error when deleting \"{source}\"")),
        None => failure,
    })?;
    let operation = if options.grace_seconds == Some(0) { "force deleted" } else { "deleted" };
    let done = deletion_message(operation, &one.resource, &one.namespace);
    let kind = one.resource.singular_with_group();
    match options.printer.output.as_deref() {
        Some("name") => ctx.println(&format!("{kind}/{}", one.name))?,
        _ => {
            ctx.println(&format!("{kind} \"{}\" {done}{}", one.name, options.printer.suffix()))?;
        }
    }
    Ok(uid_of(&response).to_owned())
}

/// Deletes an object and waits until it is removed, so that it can be recreated.
pub(super) async fn delete_and_wait(
    ctx: &mut ClientContext,
    manifest: &ResolvedManifest,
    options: &Value,
) -> Result<(), Failure> {
    let response = ctx.request(ApiRequest::delete(manifest.path(), options)).await?;
    let one = DeletionTarget {
        resource: manifest.resource.clone(),
        namespace: manifest.namespace.clone(),
        name: manifest.name.clone(),
        source: None,
    };
    gone(ctx, &one, uid_of(&response)).await
}

/// The result after `configmap "cm"` (K7.1).
pub(super) fn deletion_message(operation: &str, resource: &ApiResource, namespace: &str) -> String {
    if resource.namespaced { format!("{operation} from {namespace} namespace") } else { operation.to_owned() }
}

/// The uid in the response to a delete request.
fn uid_of(response: &Value) -> &str {
    let place = if response["kind"] == "Status" { "/details/uid" } else { "/metadata/uid" };
    text(response, place)
}

/// Waits until an object is deleted or replaced by one with another uid.
async fn gone(ctx: &mut ClientContext, one: &DeletionTarget, uid: &str) -> Result<(), Failure> {
    let object = match ctx.object(&one.resource, &one.namespace, &one.name).await {
        Err(failure) if failure.is_not_found() => return Ok(()),
        response => response?,
    };
    if !uid.is_empty() && text(&object, "/metadata/uid") != uid {
        return Ok(());
    }
    wait_for_deletion(ctx, &one.resource, &one.namespace, &object).await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K7.4: what the three flags mean together.
    #[test]
    fn grace_is_one_second_unless_forced() {
        assert_eq!(DeleteOptions::grace(-1, false, false).unwrap(), None);
        assert_eq!(DeleteOptions::grace(0, false, false).unwrap(), Some(1));
        assert_eq!(DeleteOptions::grace(-1, false, true).unwrap(), Some(1));
        assert_eq!(DeleteOptions::grace(-1, true, false).unwrap(), Some(0));
        assert_eq!(DeleteOptions::grace(0, true, false).unwrap(), Some(0));
        assert_eq!(DeleteOptions::grace(7, false, false).unwrap(), Some(7));
        assert_eq!(
            DeleteOptions::grace(7, true, false).unwrap_err().lines(),
            "error: --force and --grace-period greater than 0 cannot be specified together\n"
        );
    }

    /// K7.2: there are three policies.
    #[test]
    fn an_unknown_cascade_is_refused() {
        assert_eq!(Cascade::parse("foreground").unwrap(), Cascade::Foreground);
        assert_eq!(
            Cascade::parse("bogus").unwrap_err().lines(),
            "error: invalid cascade value (bogus). Must be \"background\", \"foreground\", or \"orphan\"\n"
        );
    }
}
