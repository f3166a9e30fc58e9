//! `create -f`, `create deployment`, `create namespace`.

use serde_json::{Value, json};

use super::apply::stated;
use super::report::{DryRun, Report, Validation};
use crate::call::Call;
use crate::failure::Failure;
use crate::manifests::{self, Place};
use crate::print::indented_as_declared;
use crate::session::Session;

/// What to create from files.
#[derive(Clone, Debug, Default)]
pub struct Create {
    /// The files.
    pub files: Vec<String>,
    /// Whether folders are read with all that is below them.
    pub recursive: bool,
    /// What becomes of unknown fields.
    pub validation: Validation,
    /// Only objects with these labels.
    pub selector: Option<String>,
    /// Whether a later `apply` is to know what was written.
    pub save_config: bool,
    /// Who writes; kubectl's own name if nothing is said.
    pub manager: Option<String>,
    /// How it is told.
    pub report: Report,
}

/// A Deployment in a few words.
#[derive(Clone, Debug, Default)]
pub struct CreateDeployment {
    /// Its name.
    pub name: String,
    /// The images of its containers.
    pub images: Vec<String>,
    /// How many pods.
    pub replicas: i32,
    /// The port of its container.
    pub port: Option<i32>,
    /// The command of its container.
    pub command: Vec<String>,
    /// How it is told.
    pub report: Report,
}

const MANAGER: &str = "kubectl-create";

/// Creates every object of the files.
pub async fn create(session: &mut Session, asked: &Create) -> Result<(), Failure> {
    if asked.files.is_empty() {
        return Err(Failure::other("must specify one of -f and -k"));
    }
    let (mut manifests, mut failures) = manifests::read_each(&asked.files, asked.recursive)?;
    manifests::select(&mut manifests, asked.selector.as_deref())?;
    if manifests.is_empty() && failures.is_empty() {
        return Err(Failure::other("no objects passed to create"));
    }
    let resources = session.resources().await?;
    let namespace = session.namespace.clone();
    let place = Place { namespace: &namespace, was_asked_for: session.namespace_was_asked_for };
    for manifest in manifests {
        let created =
            match manifest.checked(asked.validation).and_then(|()| manifest.placed(&resources, place)) {
                Ok(written) => create_one(session, asked, written).await,
                Err(failure) => Err(failure),
            };
        failures.extend(created.err());
    }
    Failure::all(failures)
}

async fn create_one(
    session: &mut Session,
    asked: &Create,
    mut written: manifests::Placed,
) -> Result<(), Failure> {
    if asked.save_config {
        written.object = stated(&written.object);
    }
    let object = if asked.report.dry_run.is_client() {
        written.object.clone()
    } else {
        let manager = asked.manager.as_deref().unwrap_or(MANAGER);
        let call = Call::post(written.collection(), &written.object).by(manager, asked.report.dry_run);
        let created = session.ask(call.validated(asked.validation)).await;
        created
            .map_err(|failure| failure.while_doing(&format!("error when creating \"{}\"", written.source)))?
    };
    let name = object["metadata"]["name"].as_str().unwrap_or(&written.name).to_owned();
    let title = format!("{}/{name}", written.resource.singular_with_group());
    asked.report.tell(session, &title, "created", &object)
}

/// Creates a Deployment.
pub async fn create_deployment(session: &mut Session, asked: &CreateDeployment) -> Result<(), Failure> {
    if asked.images.is_empty() {
        return Err(Failure::other("required flag(s) \"image\" not set"));
    }
    if asked.images.len() > 1 && !asked.command.is_empty() {
        return Err(Failure::other("cannot specify multiple --image options and command"));
    }
    let deployment = deployment(asked, &session.namespace.clone());
    let path = format!("/apis/apps/v1/namespaces/{}/deployments", session.namespace);
    let created = send(session, &path, deployment, asked.report.dry_run).await;
    let created = created.map_err(|failure| match failure {
        Failure::Refused(_) => Failure::other(format!("failed to create deployment: {}", failure.message())),
        other => other,
    })?;
    tell(session, &asked.report, &format!("deployment.apps/{}", asked.name), &created)
}

/// Creates a namespace.
pub async fn create_namespace(session: &mut Session, name: &str, report: &Report) -> Result<(), Failure> {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {}, "status": {}});
    let created = send(session, "/api/v1/namespaces", namespace, report.dry_run).await?;
    tell(session, report, &format!("namespace/{name}"), &created)
}

/// What was not sent anywhere is printed as it was made.
fn tell(session: &mut Session, report: &Report, title: &str, object: &Value) -> Result<(), Failure> {
    if report.dry_run.is_client() && report.output.as_deref() == Some("json") {
        return session.say(&indented_as_declared(object));
    }
    report.tell(session, title, "created", object)
}

async fn send(session: &mut Session, path: &str, object: Value, dry_run: DryRun) -> Result<Value, Failure> {
    if dry_run.is_client() {
        return Ok(object);
    }
    session.ask(Call::post(path, &object).by(MANAGER, dry_run).validated(Validation::Strict)).await
}

fn deployment(asked: &CreateDeployment, namespace: &str) -> Value {
    let labels = json!({"app": asked.name});
    let mut containers: Vec<Value> = asked
        .images
        .iter()
        .map(|image| json!({"name": container_name(image), "image": image, "resources": {}}))
        .collect();
    if let Some(first) = containers.first_mut() {
        if let Some(port) = asked.port {
            first["ports"] = json!([{"containerPort": port}]);
        }
        if !asked.command.is_empty() {
            first["command"] = json!(asked.command);
        }
    }
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": asked.name, "namespace": namespace, "labels": labels},
        "spec": {"replicas": asked.replicas, "selector": {"matchLabels": labels}, "strategy": {},
                 "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}}},
        "status": {},
    })
}

/// A container is called after its image, without registry, tag and digest.
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
