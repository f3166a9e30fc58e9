//! `patch`: changes of an object, sent as they are written. What they mean is the server's business.

use gantry_registry::decode::{Format, plain};
use serde_json::Value;

use super::report::Report;
use crate::call::{Call, PatchKind};
use crate::failure::Failure;
use crate::selection::{BareType, Found, Selection, find};
use crate::session::Session;
use crate::three_way::{Shape, shape_of};

/// What to patch, and with what.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Which objects.
    pub selection: Selection,
    /// The patch, in JSON or YAML.
    pub patch: String,
    /// What kind of patch it is.
    pub kind: PatchKind,
    /// A part of the object, such as `status`.
    pub subresource: Option<String>,
    /// Who writes; kubectl's own name if nothing is said.
    pub manager: Option<String>,
    /// How it is told.
    pub report: Report,
}

impl Patch {
    /// Reads the value of `--type`.
    pub fn kind(value: &str) -> Result<PatchKind, Failure> {
        match value.to_lowercase().as_str() {
            "strategic" => Ok(PatchKind::Strategic),
            "merge" => Ok(PatchKind::Merge),
            "json" => Ok(PatchKind::Json),
            _ => {
                Err(Failure::other(format!("--type must be one of [json merge strategic], not \"{value}\"")))
            }
        }
    }
}

/// Patches objects.
pub async fn patch(session: &mut Session, asked: &Patch) -> Result<(), Failure> {
    let (body, _) = plain(asked.patch.as_bytes(), Format::Yaml)
        .map_err(|problem| Failure::other(format!("unable to parse \"{}\": {problem}", asked.patch)))?;
    let (found, mut failures) = find(session, &asked.selection, BareType::Mistake).await?;
    if found.is_empty() && failures.is_empty() {
        return Err(Failure::other("no objects passed to patch"));
    }
    for one in &found {
        failures.extend(patch_one(session, asked, one, &body).await.err());
    }
    Failure::all(failures)
}

async fn patch_one(session: &mut Session, asked: &Patch, one: &Found, body: &Value) -> Result<(), Failure> {
    if asked.kind == PatchKind::Strategic
        && shape_of(&one.resource.api_version(), &one.resource.kind) == Shape::Unknown
    {
        return Err(Failure::other(format!(
            "cannot use --type=strategic on {}: it is no built-in type\nhint: use --type=merge",
            one.resource.kind_with_group()
        )));
    }
    if asked.report.dry_run.is_client() {
        return asked.report.tell(session, &one.title(), "patched", &one.object);
    }
    let path = match &asked.subresource {
        Some(part) => format!("{}/{part}", one.path()),
        None => one.path(),
    };
    let manager = asked.manager.as_deref().unwrap_or("kubectl-patch");
    let call = Call::patch(path, asked.kind, body).by(manager, asked.report.dry_run);
    let object = session.ask(call).await?;
    let changed = object["metadata"]["resourceVersion"] != one.object["metadata"]["resourceVersion"]
        || asked.report.dry_run != super::DryRun::No && object != one.object;
    asked.report.tell(session, &one.title(), if changed { "patched" } else { "patched (no change)" }, &object)
}
