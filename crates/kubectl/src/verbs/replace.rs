//! `replace -f`: the object as it is written, whatever it was.

use serde_json::Value;

use super::apply::stated;
use super::delete::{deleted, make_room};
use super::report::{Report, Validation};
use crate::call::Call;
use crate::failure::Failure;
use crate::manifests::{self, Place, Placed};
use crate::session::Session;

/// What to replace.
#[derive(Clone, Debug, Default)]
pub struct Replace {
    /// The files.
    pub files: Vec<String>,
    /// Whether folders are read with all that is below them.
    pub recursive: bool,
    /// What becomes of unknown fields.
    pub validation: Validation,
    /// Whether a later `apply` is to know what was written.
    pub save_config: bool,
    /// A part of the object, such as `status`.
    pub subresource: Option<String>,
    /// Whether it is deleted and created again, and with which options it is deleted.
    pub force: Option<Value>,
    /// Who writes; kubectl's own name if nothing is said.
    pub manager: Option<String>,
    /// How it is told.
    pub report: Report,
}

/// Replaces every object of the files.
pub async fn replace(session: &mut Session, asked: &Replace) -> Result<(), Failure> {
    if asked.files.is_empty() {
        return Err(Failure::other("must specify one of -f and -k"));
    }
    let (manifests, mut failures) = manifests::read_each(&asked.files, asked.recursive)?;
    let resources = session.resources().await?;
    let namespace = session.namespace.clone();
    let place = Place { namespace: &namespace, was_asked_for: session.namespace_was_asked_for };
    for manifest in manifests {
        let replaced =
            match manifest.checked(asked.validation).and_then(|()| manifest.placed(&resources, place)) {
                Ok(written) => replace_one(session, asked, written).await,
                Err(failure) => Err(failure),
            };
        failures.extend(replaced.err());
    }
    Failure::all(failures)
}

async fn replace_one(session: &mut Session, asked: &Replace, mut written: Placed) -> Result<(), Failure> {
    if asked.save_config {
        written.object = stated(&written.object);
    }
    let object = if asked.report.dry_run.is_client() {
        written.object.clone()
    } else {
        let sent = match &asked.force {
            Some(options) => recreate(session, asked, &written, options).await,
            None => put(session, asked, &written).await,
        };
        sent.map_err(|failure| failure.while_doing(&format!("error when replacing \"{}\"", written.source)))?
    };
    let title = format!("{}/{}", written.resource.singular_with_group(), written.name);
    asked.report.tell(session, &title, "replaced", &object)
}

async fn put(session: &mut Session, asked: &Replace, written: &Placed) -> Result<Value, Failure> {
    let path = match &asked.subresource {
        Some(part) => format!("{}/{part}", written.path()),
        None => written.path(),
    };
    let mut object = written.object.clone();
    if object["metadata"]["resourceVersion"].as_str().unwrap_or_default().is_empty() {
        // Not every kind is replaced whatever its version. What cannot be read is for the write to complain of.
        if let Ok(stored) = session.ask(Call::get(path.clone())).await {
            object["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"].clone();
        }
    }
    let call = Call::put(path, &object).by(manager(asked), asked.report.dry_run);
    session.ask(call.validated(asked.validation)).await
}

/// Deletes what is there, and creates what is written in its place.
async fn recreate(
    session: &mut Session,
    asked: &Replace,
    written: &Placed,
    options: &Value,
) -> Result<Value, Failure> {
    match make_room(session, written, options).await {
        Ok(()) => {
            let kind = written.resource.singular_with_group();
            let deleted = deleted("deleted", &written.resource, &written.namespace);
            session.say(&format!("{kind} \"{}\" {deleted}", written.name))?;
        }
        Err(failure) if failure.is_not_found() => {}
        Err(failure) => return Err(failure),
    }
    let call = Call::post(written.collection(), &written.object).by(manager(asked), asked.report.dry_run);
    session.ask(call.validated(asked.validation)).await
}

fn manager(asked: &Replace) -> &str {
    asked.manager.as_deref().unwrap_or("kubectl-replace")
}
