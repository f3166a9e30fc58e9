//! `apply`: the cluster is to have what the files say (K1).

mod server_side;
mod written;

use serde_json::Value;

use super::delete::{Cascade, make_room};
use super::report::{Report, Validation};
use crate::call::{Call, PatchKind};
use crate::failure::Failure;
use crate::field::text;
use crate::manifests::{self, Place, Placed};
use crate::session::Session;
use crate::three_way::{Forms, LAST_APPLIED, Shape, shape_of, three_way};
use written::last_applied;
pub(super) use written::{stated, unstated};

/// What to apply.
#[derive(Clone, Debug, Default)]
pub struct Apply {
    /// The files.
    pub files: Vec<String>,
    /// Whether folders are read with all that is below them.
    pub recursive: bool,
    /// What becomes of unknown fields.
    pub validation: Validation,
    /// Who writes; kubectl's own name if nothing is said.
    pub manager: Option<String>,
    /// Only objects with these labels.
    pub selector: Option<String>,
    /// Whether what cannot be changed is deleted and created again.
    pub force: bool,
    /// Whether the server merges, and how.
    pub server_side: Option<ServerSide>,
    /// How it is told.
    pub report: Report,
}

/// What becomes of fields that others manage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerSide {
    /// They are a conflict.
    Asking,
    /// They are taken over.
    Forcing,
}

impl ServerSide {
    /// What `--server-side` and `--force-conflicts` mean together.
    pub fn asked(server_side: bool, force: bool) -> Option<Self> {
        server_side.then_some(if force { Self::Forcing } else { Self::Asking })
    }
}

pub(super) const MANAGER: &str = "kubectl-client-side-apply";
/// How often a write is tried that others got ahead of (K1.7).
const ATTEMPTS: usize = 5;

/// Applies every object of the files.
pub async fn apply(session: &mut Session, asked: &Apply) -> Result<(), Failure> {
    if asked.files.is_empty() {
        return Err(Failure::other("must specify one of -f and -k"));
    }
    let (mut manifests, mut failures) = manifests::read_each(&asked.files, asked.recursive)?;
    manifests::select(&mut manifests, asked.selector.as_deref())?;
    if manifests.is_empty() && failures.is_empty() {
        return Err(Failure::other("no objects passed to apply"));
    }
    let resources = session.resources().await?;
    let namespace = session.namespace.clone();
    let place = Place { namespace: &namespace, was_asked_for: session.namespace_was_asked_for };
    let mut placed = Vec::new();
    for manifest in manifests {
        match manifest.checked(asked.validation).and_then(|()| manifest.placed(&resources, place)) {
            Ok(written) => placed.push(written),
            Err(failure) => failures.push(failure),
        }
    }
    let mut applied = Vec::new();
    for written in &placed {
        match apply_one(session, asked, written).await {
            Ok(object) => applied.push(object),
            Err(failure) => failures.push(failure),
        }
    }
    Failure::all(failures)?;
    asked.report.tell_together(session, &applied)
}

async fn apply_one(session: &mut Session, asked: &Apply, written: &Placed) -> Result<Value, Failure> {
    let generated = text(&written.object, "/metadata/generateName");
    if written.name.is_empty() && !generated.is_empty() {
        return Err(Failure::other(format!("from {generated}: cannot use generate name with apply")));
    }
    let title = format!("{}/{}", written.resource.singular_with_group(), written.name);
    if let Some(how) = asked.server_side {
        let object = server_side::apply(session, asked, written, how).await?;
        asked.report.tell_name(session, &title, "serverside-applied")?;
        return Ok(object);
    }
    let live = match session.ask(Call::get(written.path())).await {
        Ok(live) => live,
        Err(failure) if failure.is_not_found() => {
            let object = create(session, asked, written).await?;
            asked.report.tell_name(session, &title, "created")?;
            return Ok(object);
        }
        Err(failure) => return Err(failure.while_doing(&written::while_reading(written))),
    };
    if live.pointer(&format!("/metadata/annotations/{}", LAST_APPLIED.replace('/', "~1"))).is_none() {
        session.tell(&format!(
            "Warning: resource {}/{} is missing the {LAST_APPLIED} annotation which is required by kubectl apply. \
             kubectl apply should only be used on resources created declaratively by either kubectl create --save-config \
             or kubectl apply. The missing annotation will be patched automatically.",
            written.resource.plural, written.name
        ));
    }
    if asked.report.dry_run.is_client() {
        asked.report.tell_name(session, &title, "configured")?;
        return Ok(live);
    }
    let (object, operation) = update(session, asked, written, live).await?;
    if !text(&object, "/metadata/deletionTimestamp").is_empty() {
        session.tell(&format!(
            "Warning: Detected changes to resource {} which is currently being deleted.",
            written.name
        ));
    }
    asked.report.tell_name(session, &title, operation)?;
    Ok(object)
}

async fn create(session: &mut Session, asked: &Apply, written: &Placed) -> Result<Value, Failure> {
    let object = stated(&written.object);
    if asked.report.dry_run.is_client() {
        return Ok(object);
    }
    let call = Call::post(written.collection(), &object).by(manager(asked), asked.report.dry_run);
    let created = session.ask(call.validated(asked.validation)).await;
    created.map_err(|failure| failure.while_doing(&format!("error when creating \"{}\"", written.source)))
}

/// Sends what is missing, again if somebody else was faster.
async fn update(
    session: &mut Session,
    asked: &Apply,
    written: &Placed,
    mut live: Value,
) -> Result<(Value, &'static str), Failure> {
    for attempt in 1.. {
        let (patch, kind) = patch_for(written, &live);
        if patch.as_object().is_some_and(serde_json::Map::is_empty) {
            return Ok((live, "unchanged"));
        }
        let call = Call::patch(written.path(), kind, &patch).by(manager(asked), asked.report.dry_run);
        match session.ask(call.validated(asked.validation)).await {
            Ok(object) => return Ok((object, "configured")),
            Err(failure) if failure.reason() == Some("Conflict") && attempt < ATTEMPTS => {
                live = session.ask(Call::get(written.path())).await?;
            }
            Err(failure) if asked.force && matches!(failure.reason(), Some("Conflict" | "Invalid")) => {
                make_room(session, written, &Cascade::Background.options(None)).await?;
                return Ok((create(session, asked, written).await?, "configured"));
            }
            Err(failure) => return Err(failure.while_doing(&written::while_patching(written, &patch))),
        }
    }
    unreachable!("every attempt after the last returns")
}

/// What to send so that the live object has what is written; kinds that nobody knows merge plainly.
fn patch_for(written: &Placed, live: &Value) -> (Value, PatchKind) {
    patch_to(written, live, &stated(&written.object))
}

/// What to send so that the live object becomes this form of what is written.
pub(super) fn patch_to(written: &Placed, live: &Value, modified: &Value) -> (Value, PatchKind) {
    let shape = shape_of(&written.resource.api_version(), &written.resource.kind);
    let kind = if shape == Shape::Foreign { PatchKind::Merge } else { PatchKind::Strategic };
    let original = last_applied(live);
    let patch = three_way(Forms { original: &original, modified, current: live }, shape);
    (patch.into(), kind)
}

fn manager(asked: &Apply) -> &str {
    asked.manager.as_deref().unwrap_or(MANAGER)
}
