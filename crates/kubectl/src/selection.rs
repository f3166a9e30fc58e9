//! Finds the objects of a command: by name, by type, by selectors, or from manifests.

use gantry_client::{ApiRequest, RefusalKind};
use gantry_json::Value;

use crate::arguments::{ResourceArg, ResourceArgs};
use crate::client_context::ClientContext;
use crate::failure::{Failure, StatusError};
use crate::field::{list, text};
use crate::manifests::{self, NamespaceScope};
use crate::resources::ApiResource;

/// How the objects of a command are selected.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of kubectl's")]
pub struct Selection {
    /// Types and names.
    pub words: Vec<String>,
    /// Files to read, `-` for standard input.
    pub files: Vec<String>,
    /// Whether directories are read recursively.
    pub recursive: bool,
    /// The label selector.
    pub selector: Option<String>,
    /// The field selector.
    pub fields: Option<String>,
    /// The value of `--all-namespaces`.
    pub all_namespaces: bool,
    /// The value of `--all`.
    pub all: bool,
    /// The value of `--local`: objects are taken from the manifests, and the server is not contacted.
    pub local: bool,
}

/// How a type without names is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BareType {
    /// It selects all objects.
    All,
    /// It is an error without a selector.
    Error,
}

/// An object that was found.
#[derive(Clone, Debug)]
pub(crate) struct FoundObject {
    pub(crate) resource: ApiResource,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) object: Value,
}

impl FoundObject {
    pub(crate) fn path(&self) -> String {
        self.resource.object(&self.namespace, &self.name)
    }

    /// `deployment.apps/web`, as results begin (K0.2).
    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.resource.singular_with_group(), self.name)
    }

    /// `deployments.apps "web"`, as errors begin.
    pub(crate) fn plural_title(&self) -> String {
        format!("{} \"{}\"", self.resource.plural_with_group(), self.name)
    }

    pub(crate) fn of(resource: &ApiResource, object: Value) -> Self {
        let namespace = text(&object, "/metadata/namespace").to_owned();
        let name = text(&object, "/metadata/name").to_owned();
        Self { resource: resource.clone(), namespace, name, object }
    }
}

impl Selection {
    /// A selection by these arguments only.
    pub fn from_arguments(arguments: Vec<String>) -> Self {
        Self { words: arguments, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.files.is_empty()
    }

    /// Whether objects are selected by a type, labels or fields instead of by name.
    pub(crate) fn selects(&self) -> bool {
        self.all || self.selector.is_some() || self.fields.is_some()
    }

    /// Rejects contradicting flags, and types without names where they are an error.
    pub(crate) fn check(&self, items: &[ResourceArg], bare: BareType) -> Result<(), Failure> {
        let names_one = items.iter().any(|item| matches!(item, ResourceArg::Named(..)));
        let has_slashes = self.words.iter().any(|word| word.contains('/'));
        let problem = if !self.files.is_empty() && !self.words.is_empty() {
            "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well"
        } else if self.all && (self.selector.is_some() || self.fields.is_some()) {
            "setting 'all' parameter but found a non empty selector. "
        } else if names_one && has_slashes && self.selects() {
            "selectors and the all flag cannot be used when passing resource/name arguments"
        } else if names_one && self.selects() {
            "name cannot be provided when a selector is specified"
        } else if names_one && self.all_namespaces {
            "a resource cannot be retrieved by name across all namespaces"
        } else if bare == BareType::Error
            && !self.selects()
            && matches!(items.first(), Some(ResourceArg::All(_)))
        {
            "resource(s) were provided, but no name was specified"
        } else {
            return Ok(());
        };
        Err(Failure::other(problem))
    }
}

/// The error if no objects are named.
pub(crate) fn no_resources_specified() -> Failure {
    Failure::other(
        "You must provide one or more resources by argument or filename.\nExample resource specifications \
         include:\n   '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'",
    )
}

/// Finds the objects; the failures are of those that were not found.
pub(crate) async fn find(
    ctx: &mut ClientContext,
    selection: &Selection,
    bare: BareType,
) -> Result<(Vec<FoundObject>, Vec<Failure>), Failure> {
    let (mut found, mut failures) = (Vec::new(), Vec::new());
    for one in find_each(ctx, selection, bare).await? {
        match one {
            Ok(one) => found.push(one),
            Err(failure) => failures.push(failure),
        }
    }
    Ok((found, failures))
}

/// Finds the objects in the order in which they were named; each was found or not.
pub(crate) async fn find_each(
    ctx: &mut ClientContext,
    selection: &Selection,
    bare: BareType,
) -> Result<Vec<Result<FoundObject, Failure>>, Failure> {
    if selection.is_empty() && bare == BareType::Error {
        return Err(no_resources_specified());
    }
    let resources = ctx.resources().await?;
    let mut found = Vec::new();
    let place = ctx.namespace.clone();
    let place = NamespaceScope { namespace: &place, is_explicit: ctx.namespace_is_explicit };
    for manifest in manifests::read(&selection.files, selection.recursive)? {
        manifest.check_kind()?;
        let as_written = manifest.object.clone();
        let manifest = manifest.resolve(&resources, place)?;
        if selection.local {
            found.push(Ok(FoundObject::of(&manifest.resource, as_written)));
            continue;
        }
        let object = ctx.request(ApiRequest::get(manifest.path())).await;
        found.push(object.map(|object| FoundObject::of(&manifest.resource, object)));
    }
    let ResourceArgs { items, warnings, .. } = ResourceArgs::read(&resources, &selection.words)?;
    selection.check(&items, bare)?;
    ctx.warn(&warnings);
    for item in items {
        match item {
            ResourceArg::Named(resource, name) => {
                let object = ctx.object(&resource, place.namespace, &name).await;
                found.push(object.map(|object| FoundObject::of(&resource, object)));
            }
            ResourceArg::All(resource) => {
                let objects = all_of(ctx, &resource, selection).await?;
                found.extend(objects.into_iter().map(|object| Ok(FoundObject::of(&resource, object))));
            }
        }
    }
    Ok(found)
}

/// Calls this for each object that was found, even if it fails for some.
pub(crate) async fn for_each<T>(
    ctx: &mut ClientContext,
    found: impl IntoIterator<Item = Result<T, Failure>>,
    work: impl AsyncFn(&mut ClientContext, T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut failures = Vec::new();
    for one in found {
        let done = match one {
            Ok(one) => work(ctx, one).await,
            Err(failure) => Err(failure),
        };
        failures.extend(done.err());
    }
    Failure::all(failures)
}

/// All objects of a type that are selected, page by page.
pub(crate) async fn all_of(
    ctx: &mut ClientContext,
    resource: &ApiResource,
    selection: &Selection,
) -> Result<Vec<Value>, Failure> {
    let (mut objects, mut next) = (Vec::new(), String::new());
    loop {
        let call = list_call(ctx, resource, selection).with("limit", "500").with("continue", next.clone());
        let response =
            ctx.request(call).await.map_err(|failure| explain_list_failure(failure, resource, selection))?;
        objects.extend(items_of(&response, resource));
        text(&response, "/metadata/continue").clone_into(&mut next);
        if next.is_empty() {
            return Ok(objects);
        }
    }
}

/// The items of a list, with `apiVersion` and `kind` added.
pub(crate) fn items_of(response: &Value, resource: &ApiResource) -> Vec<Value> {
    let items = list(response, "/items").iter().map(|item| {
        let mut item = item.clone();
        item["apiVersion"] = resource.api_version().into();
        item["kind"] = resource.kind.clone().into();
        item
    });
    items.collect()
}

/// The request for all objects of a type that are selected.
pub(crate) fn list_call(ctx: &ClientContext, resource: &ApiResource, selection: &Selection) -> ApiRequest {
    let namespace = (!selection.all_namespaces).then_some(ctx.namespace.as_str());
    ApiRequest::get(resource.collection(namespace))
        .with("labelSelector", selection.selector.clone().unwrap_or_default())
        .with("fieldSelector", selection.fields.clone().unwrap_or_default())
}

/// Adds the selectors to the error of a failed list request.
pub(crate) fn explain_list_failure(
    failure: Failure,
    resource: &ApiResource,
    selection: &Selection,
) -> Failure {
    let is_about_the_list = matches!(failure.kind(), Some(RefusalKind::BadRequest | RefusalKind::NotFound));
    match failure {
        Failure::Status(refused) if is_about_the_list => {
            let which = format!("{}/{}, Resource={}", resource.group, resource.version, resource.plural);
            let (labels, fields) =
                (selection.selector.as_deref().unwrap_or(""), selection.fields.as_deref().unwrap_or(""));
            let doing = if labels.is_empty() && fields.is_empty() {
                format!("Unable to list {which:?}: ")
            } else {
                format!(
                    "Unable to find {which:?} that match label selector {labels:?}, field selector {fields:?}: "
                )
            };
            Failure::Status(StatusError { doing, ..refused })
        }
        other => other,
    }
}
