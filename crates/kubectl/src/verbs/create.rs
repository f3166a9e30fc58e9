//! `create -f`, `create deployment`, `create namespace`.

use gantry_client::ApiRequest;
use gantry_json::{Value, json};

use super::apply::with_last_applied;
use super::result_printer::{DryRun, ResultPrinter, Validation};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::manifests::{self, ManifestOptions};
use crate::print::indented_as_declared;
use crate::selection::for_each;
use crate::verbs::result_printer::WriteParameters as _;

/// The options of `create -f`.
#[derive(Clone, Debug, Default)]
pub struct CreateOptions {
    /// The objects.
    pub manifests: ManifestOptions,
    /// Whether the last-applied annotation is set, for a later `apply`.
    pub save_config: bool,
}

/// The options of `create deployment`.
#[derive(Clone, Debug, Default)]
pub struct CreateDeploymentOptions {
    /// Its name.
    pub name: String,
    /// The images of its containers.
    pub images: Vec<String>,
    /// The number of replicas.
    pub replicas: i32,
    /// The port of its container.
    pub port: Option<i32>,
    /// The command of its container.
    pub command: Vec<String>,
    /// How results are printed.
    pub printer: ResultPrinter,
}

const MANAGER: &str = "kubectl-create";

/// Creates every object of the files.
pub async fn create(ctx: &mut ClientContext, options: &CreateOptions) -> Result<(), Failure> {
    let (manifests, failures) = options.manifests.read()?;
    if manifests.is_empty() && failures.is_empty() {
        return Err(Failure::other("no objects passed to create"));
    }
    let resolved = manifests::resolve_each(ctx, manifests, options.manifests.validation).await?;
    let found = failures.into_iter().map(Err).chain(resolved);
    for_each(ctx, found, async |ctx, manifest| create_one(ctx, options, manifest).await).await
}

async fn create_one(
    ctx: &mut ClientContext,
    options: &CreateOptions,
    mut manifest: manifests::ResolvedManifest,
) -> Result<(), Failure> {
    let ManifestOptions { printer, .. } = &options.manifests;
    if options.save_config {
        manifest.object = with_last_applied(&manifest.object);
    }
    let object = if printer.dry_run.is_client() {
        manifest.object.clone()
    } else {
        let manager = options.manifests.manager.as_deref().unwrap_or(MANAGER);
        let call = ApiRequest::post(manifest.collection(), &manifest.object).by(manager, printer.dry_run);
        let created = ctx.request(call.validated(options.manifests.validation)).await;
        created
            .map_err(|failure| failure.while_doing(&format!("error when creating \"{}\"", manifest.source)))?
    };
    let name = object["metadata"]["name"].as_str().unwrap_or(&manifest.name).to_owned();
    let title = format!("{}/{name}", manifest.resource.singular_with_group());
    printer.print(ctx, &title, "created", &object)
}

/// Creates a Deployment.
pub async fn create_deployment(
    ctx: &mut ClientContext,
    options: &CreateDeploymentOptions,
) -> Result<(), Failure> {
    if options.images.is_empty() {
        return Err(Failure::other("required flag(s) \"image\" not set"));
    }
    if options.images.len() > 1 && !options.command.is_empty() {
        return Err(Failure::other("cannot specify multiple --image options and command"));
    }
    let deployment = deployment(options, &ctx.namespace.clone());
    let path = format!("/apis/apps/v1/namespaces/{}/deployments", ctx.namespace);
    let created = send(ctx, &path, deployment, options.printer.dry_run).await;
    let created = created.map_err(|failure| match failure {
        Failure::Status(_) => Failure::other(format!("failed to create deployment: {}", failure.message())),
        other => other,
    })?;
    print_created(ctx, &options.printer, &format!("deployment.apps/{}", options.name), &created)
}

/// Creates a namespace.
pub async fn create_namespace(
    ctx: &mut ClientContext,
    name: &str,
    printer: &ResultPrinter,
) -> Result<(), Failure> {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {}, "status": {}});
    let created = send(ctx, "/api/v1/namespaces", namespace, printer.dry_run).await?;
    print_created(ctx, printer, &format!("namespace/{name}"), &created)
}

/// Prints the result; with a client dry run in declaration order, as kubectl does.
fn print_created(
    ctx: &mut ClientContext,
    printer: &ResultPrinter,
    title: &str,
    object: &Value,
) -> Result<(), Failure> {
    if printer.dry_run.is_client() && printer.output.as_deref() == Some("json") {
        return ctx.println(&indented_as_declared(object));
    }
    printer.print(ctx, title, "created", object)
}

async fn send(ctx: &mut ClientContext, path: &str, object: Value, dry_run: DryRun) -> Result<Value, Failure> {
    if dry_run.is_client() {
        return Ok(object);
    }
    ctx.request(ApiRequest::post(path, &object).by(MANAGER, dry_run).validated(Validation::Strict)).await
}

fn deployment(options: &CreateDeploymentOptions, namespace: &str) -> Value {
    let labels = json!({"app": options.name});
    let mut containers: Vec<Value> = options
        .images
        .iter()
        .map(|image| json!({"name": container_name(image), "image": image, "resources": {}}))
        .collect();
    if let Some(first) = containers.first_mut() {
        if let Some(port) = options.port {
            first["ports"] = json!([{"containerPort": port}]);
        }
        if !options.command.is_empty() {
            first["command"] = json!(options.command);
        }
    }
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": options.name, "namespace": namespace, "labels": labels},
        "spec": {"replicas": options.replicas, "selector": {"matchLabels": labels}, "strategy": {},
                 "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}}},
        "status": {},
    })
}

/// The container name: the image without registry, tag and digest.
fn container_name(image: &str) -> String {
    let last = image.rsplit('/').next().unwrap_or(image);
    let name = last.split(['@', ':']).next().unwrap_or(last);
    let name: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    name.trim_matches('-').to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_is_called_after_its_image() {
        for (image, name) in [
            ("nginx", "nginx"),
            ("nginx:1.7.9", "nginx"),
            ("reg.example:5000/a/Web_App@sha256:00", "web-app"),
        ] {
            assert_eq!(container_name(image), name);
        }
    }
}
