//! `explain`: describes the fields of a type.

use gantry_client::ApiRequest;

use crate::client_context::ClientContext;
use crate::explain::{ExplainQuery, Layout, explain as explained};
use crate::failure::Failure;
use crate::resources::{ApiResource, Resources};

/// The options of `explain`.
#[derive(Clone, Debug, Default)]
pub struct ExplainOptions {
    /// A type, optionally with a field path: `deployment.spec.strategy`.
    pub words: Vec<String>,
    /// The value of `--recursive`.
    pub recursive: bool,
    /// The version of the type, if not the preferred one.
    pub api_version: Option<String>,
    /// The value of `-o`.
    pub output: Option<String>,
}

/// Explains a type or a field.
pub async fn explain(ctx: &mut ClientContext, options: &ExplainOptions) -> Result<(), Failure> {
    let layout = match options.output.as_deref() {
        None | Some("plaintext" | "") => Layout::Plaintext,
        Some("plaintext-openapiv2") => Layout::PlaintextOpenApiV2,
        Some(other) => return Err(Failure::other(format!("unrecognized format: {other}"))),
    };
    let [word] = options.words.as_slice() else {
        return Err(Failure::other(match options.words.len() {
            0 => {
                "You must specify the type of resource to explain. Use \"kubectl api-resources\" for a complete list of supported resources."
            }
            _ => "We accept only this format: explain RESOURCE",
        }));
    };
    let resources = ctx.resources().await?;
    let (resource, path) = meant(&resources, word)?;
    let resource = match options.api_version.as_deref().filter(|version| !version.is_empty()) {
        Some(version) => in_version(&resources, resource, version, layout)?,
        None => resource,
    };
    let root = if resource.group.is_empty() { "api" } else { "apis" };
    let document =
        ctx.request(ApiRequest::get(format!("/openapi/v3/{root}/{}", resource.api_version()))).await?;
    let query = ExplainQuery {
        group: &resource.group,
        version: &resource.version,
        kind: &resource.kind,
        path: &path,
        recursive: options.recursive,
    };
    let rendered = explained(&document, query, layout);
    ctx.print(&rendered.text)?;
    rendered.failure.map_or(Ok(()), Err)
}

/// The type and the field path: `deploy.spec`, or `deployments.apps.spec` with a group.
fn meant<'r>(resources: &'r Resources, word: &str) -> Result<(&'r ApiResource, Vec<String>), Failure> {
    let word = word.strip_suffix('.').unwrap_or(word);
    let (first, rest) = word.split_once('.').map_or((word, None), |(first, rest)| (first, Some(rest)));
    // If several groups have the type, the first whose full name is a prefix is used, as in kubectl: the core group, if it
    // has the type.
    let mut of_that_name = resources.preferred().filter(|one| one.plural == first);
    let with_group = of_that_name.find_map(|one| {
        let rest = word.strip_prefix(&one.plural_with_group())?;
        (rest.is_empty() || rest.starts_with('.')).then_some((one, rest.strip_prefix('.')))
    });
    if let Some((one, rest)) = with_group {
        return Ok((one, names(rest)));
    }
    let resource = resources.by_name(first).map_err(|failure| match failure {
        Failure::UnknownType(name) => {
            Failure::Verbatim(format!("the server doesn't have a resource type \"{name}\""))
        }
        other => other,
    })?;
    Ok((resource, names(rest)))
}

/// Splits a field path.
fn names(path: Option<&str>) -> Vec<String> {
    path.map_or(Vec::new(), |path| path.split('.').map(str::to_owned).collect())
}

fn in_version<'r>(
    resources: &'r Resources,
    resource: &ApiResource,
    api_version: &str,
    layout: Layout,
) -> Result<&'r ApiResource, Failure> {
    resources.of_kind(api_version, &resource.kind).ok_or_else(|| {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let what = match layout {
            Layout::Plaintext => format!("Resource={}", resource.plural),
            Layout::PlaintextOpenApiV2 => format!("Kind={}", resource.kind),
        };
        Failure::other(format!("couldn't find resource for \"{group}/{version}, {what}\""))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    /// K0.5: a type with or without its group, then the path.
    #[test]
    fn a_path_follows_the_type() {
        let resources =
            Resources::from_discovery(&[json!({"items": [{"metadata": {"name": "apps"}, "versions": [
            {"version": "v1", "resources": [{"resource": "deployments", "singularResource": "deployment",
                "responseKind": {"kind": "Deployment"}, "shortNames": ["deploy"]}]}]}]})]);
        let path = |word: &str| meant(&resources, word).map(|(_, path)| path.join("/"));
        assert_eq!(path("deploy.spec.strategy").unwrap(), "spec/strategy");
        assert_eq!(path("deployments.apps.spec").unwrap(), "spec");
        assert_eq!(path("deployment.").unwrap(), "");
        assert_eq!(meant(&resources, "deploy..").unwrap().1, [""]);
        assert_eq!(path("deployments.v1.apps").unwrap(), "v1/apps");
        assert_eq!(
            path("nope.spec").unwrap_err().lines(),
            "the server doesn't have a resource type \"nope\"\n"
        );
    }
}
