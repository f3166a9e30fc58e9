//! `replace -f`: the object as it is written, whatever it was.

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
    /// How it is told.
    pub report: Report,
}

/// Replaces every object of the files.
pub async fn replace(session: &mut Session, asked: &Replace) -> Result<(), Failure> {
    let manifests = manifests::read(&asked.files, asked.recursive)?;
    if manifests.is_empty() {
        return Err(Failure::other("no objects passed to replace"));
    }
    let resources = session.resources().await?;
    let namespace = session.namespace.clone();
    let place = Place { namespace: &namespace, was_asked_for: session.namespace_was_asked_for };
    let mut failures = Vec::new();
    for manifest in manifests {
        let replaced = match manifest.check().and_then(|()| manifest.placed(&resources, place)) {
            Ok(written) => replace_one(session, asked, &written).await,
            Err(failure) => Err(failure),
        };
        failures.extend(replaced.err());
    }
    Failure::all(failures)
}

async fn replace_one(session: &mut Session, asked: &Replace, written: &Placed) -> Result<(), Failure> {
    let object = if asked.report.dry_run.is_client() {
        written.object.clone()
    } else {
        let call = Call::put(written.path(), &written.object).by("kubectl-replace", asked.report.dry_run);
        let replaced = session.ask(call.validated(asked.validation)).await;
        replaced
            .map_err(|failure| failure.while_doing(&format!("error when replacing \"{}\"", written.source)))?
    };
    let title = format!("{}/{}", written.resource.singular_with_group(), written.name);
    asked.report.tell(session, &title, "replaced", &object)
}
