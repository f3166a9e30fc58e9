//! Completion candidates from the server: types, names, containers. Requests are few and small, because a shell waits.

use gantry_client::ApiRequest;
use gantry_json::Value;

use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::{list, text};

/// Requests only the metadata of objects; servers that do not support that return whole objects.
const NAMES: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/// The limit of list requests.
const LIMIT: &str = "500";

/// The types that can be listed, by their plural, with their kinds.
pub async fn types(ctx: &mut ClientContext) -> Result<Vec<(String, String)>, Failure> {
    let resources = ctx.resources().await?;
    let listed = resources.preferred().filter(|resource| resource.verbs.iter().any(|verb| verb == "list"));
    let mut types: Vec<(String, String)> =
        listed.map(|resource| (resource.plural.clone(), resource.kind.clone())).collect();
    types.sort();
    // Several groups may have a type of the same name; without a group, the first one is used.
    types.dedup_by(|one, other| one.0 == other.0);
    Ok(types)
}

/// The names of the objects of a type, in the session's namespace.
pub async fn names(ctx: &mut ClientContext, called: &str) -> Result<Vec<String>, Failure> {
    let resources = ctx.resources().await?;
    let path = resources.by_name(called)?.collection(Some(&ctx.namespace));
    named(ctx, path).await
}

/// The names of all namespaces.
pub async fn namespaces(ctx: &mut ClientContext) -> Result<Vec<String>, Failure> {
    named(ctx, "/api/v1/namespaces".to_owned()).await
}

/// The names of the containers of an object's pods.
pub async fn containers(ctx: &mut ClientContext, called: &str, name: &str) -> Result<Vec<String>, Failure> {
    let resources = ctx.resources().await?;
    let (resource, namespace) = (resources.by_name(called)?.clone(), ctx.namespace.clone());
    let object = ctx.object(&resource, &namespace, name).await?;
    Ok(containers_of(&object))
}

async fn named(ctx: &mut ClientContext, path: String) -> Result<Vec<String>, Failure> {
    let response = ctx.request(ApiRequest::get(path).accepting(NAMES).with("limit", LIMIT)).await?;
    Ok(list(&response, "/items").iter().map(|item| text(item, "/metadata/name").to_owned()).collect())
}

fn containers_of(object: &Value) -> Vec<String> {
    let templates = ["/spec/template/spec", "/spec"];
    let lists = ["containers", "initContainers"];
    let all = templates.iter().flat_map(|at| lists.iter().map(move |kind| format!("{at}/{kind}")));
    all.flat_map(|at| list(object, &at).iter().map(|one| text(one, "/name").to_owned()).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    #[test]
    fn containers_are_found_in_pods_and_in_templates() {
        let pod = json!({"containers": [{"name": "web"}], "initContainers": [{"name": "setup"}]});
        assert_eq!(containers_of(&json!({"spec": pod})), ["web", "setup"]);
        assert_eq!(containers_of(&json!({"spec": {"template": {"spec": pod}}})), ["web", "setup"]);
    }
}
