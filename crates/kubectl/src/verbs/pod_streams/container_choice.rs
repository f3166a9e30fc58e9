//! Chooses the container of a pod for a command.

use gantry_json::Value;

use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::{list, text};

/// The annotation that names the default container.
const DEFAULT_CONTAINER: &str = "kubectl.kubernetes.io/default-container";

/// The lists of containers in a pod spec, and how kubectl marks their names.
const LISTS: [(&str, &str); 3] = [
    ("/spec/containers", ""),
    ("/spec/ephemeralContainers", " (ephem)"),
    ("/spec/initContainers", " (init)"),
];

/// The container of this name.
pub(super) fn container<'p>(pod: &'p Value, name: &str) -> Option<&'p Value> {
    let lists = LISTS.iter().map(|(pointer, _)| list(pod, pointer));
    lists.flatten().find(|container| text(container, "/name") == name)
}

/// The names of all containers: `app, debug (ephem), setup (init)`.
pub(super) fn all_names(pod: &Value) -> String {
    let names = LISTS.iter().flat_map(|(pointer, mark)| {
        list(pod, pointer).iter().map(move |container| format!("{}{mark}", text(container, "/name")))
    });
    names.collect::<Vec<_>>().join(", ")
}

/// The names of all containers in the order in which they run.
pub(super) fn in_order(pod: &Value) -> Vec<String> {
    let lists = ["/spec/initContainers", "/spec/containers", "/spec/ephemeralContainers"];
    lists.iter().flat_map(|pointer| list(pod, pointer)).map(|one| text(one, "/name").to_owned()).collect()
}

/// The container that the annotation of the pod names.
pub(super) fn annotated(pod: &Value) -> &str {
    pod["metadata"]["annotations"][DEFAULT_CONTAINER].as_str().unwrap_or_default()
}

pub(super) fn not_valid(pod: &Value, name: &str) -> Failure {
    let pod_name = text(pod, "/metadata/name");
    Failure::other(format!("container {name} is not valid for pod {pod_name} out of: {}", all_names(pod)))
}

/// The first container, with a note if there are others.
pub(super) fn first(ctx: &mut ClientContext, pod: &Value, is_quiet: bool) -> Result<String, Failure> {
    let Some(first) = list(pod, "/spec/containers").first() else {
        let (namespace, name) = (text(pod, "/metadata/namespace"), text(pod, "/metadata/name"));
        return Err(Failure::other(format!("pod {namespace}/{name} does not have any containers")));
    };
    let first = text(first, "/name");
    if !is_quiet && in_order(pod).len() > 1 {
        ctx.eprintln(&format!("Defaulted container {first:?} out of: {}", all_names(pod)));
    }
    Ok(first.to_owned())
}

/// The container of this name; without one the annotated one, or else the first.
pub(super) fn choose(
    ctx: &mut ClientContext,
    pod: &Value,
    name: &str,
    is_quiet: bool,
) -> Result<String, Failure> {
    let name = if name.is_empty() { annotated(pod) } else { name };
    match (name, container(pod, name)) {
        ("", _) => first(ctx, pod, is_quiet),
        (name, Some(_)) => Ok(name.to_owned()),
        (name, None) => Err(not_valid(pod, name)),
    }
}
