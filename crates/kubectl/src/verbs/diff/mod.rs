//! `diff`: what `apply` would change.

mod mask;
mod program;

use gantry_registry::encode;
use gantry_registry::selector::LabelSelector;
use serde_json::Value;

use super::apply::{MANAGER, ServerSide, patch_to, unstated};
use super::report::DryRun;
use crate::call::{Call, PatchKind};
use crate::failure::Failure;
use crate::manifests::{self, Place, Placed};
use crate::print::without_managed_fields;
use crate::resources::Resource;
use crate::session::Session;
use mask::masked;
use program::{Folder, Program};

/// What to compare with the cluster.
#[derive(Clone, Debug, Default)]
pub struct Diff {
    /// The files.
    pub files: Vec<String>,
    /// Whether folders are read with all that is below them.
    pub recursive: bool,
    /// Only objects of the files with these labels.
    pub selector: Option<String>,
    /// Who would write; kubectl's own name if nothing is said.
    pub manager: Option<String>,
    /// Whether the server would merge, and how.
    pub server_side: Option<ServerSide>,
    /// Whether the record of who wrote what is compared too.
    pub managed_fields: bool,
    /// A program that shows differences instead of `diff`, with its options.
    pub external: Option<String>,
}

/// Whether anything would change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differences {
    /// Nothing would.
    None,
    /// Something would.
    Some,
}

/// How often it is tried to compare with an object that does not change meanwhile.
const ATTEMPTS: usize = 4;

/// Shows what applying files would change.
pub async fn diff(session: &mut Session, asked: &Diff) -> Result<Differences, Failure> {
    if asked.files.is_empty() {
        return Err(Failure::other("must specify one of -f and -k"));
    }
    let selector = LabelSelector::parse(asked.selector.as_deref().unwrap_or_default())
        .map_err(|refusal| Failure::other(refusal.message))?;
    let resources = session.resources().await?;
    let namespace = session.namespace.clone();
    let place = Place { namespace: &namespace, was_asked_for: session.namespace_was_asked_for };
    let (live_folder, merged_folder) = (Folder::new("LIVE")?, Folder::new("MERGED")?);
    for manifest in manifests::read(&asked.files, asked.recursive)? {
        manifest.check()?;
        let written = manifest.placed(&resources, place)?;
        if !selector.matches(&written.object) {
            continue;
        }
        if written.name.is_empty() {
            return Err(Failure::unnamed());
        }
        let (live, merged) = forms(session, asked, &written).await?;
        let (live, merged) = compared(asked, live, merged);
        let name = file_name(&written.resource, &written.namespace, &written.name);
        live_folder.write(&name, &live)?;
        merged_folder.write(&name, &merged)?;
    }
    Program::named(asked.external.as_deref()).compare(&live_folder, &merged_folder)
}

/// The object as it is, if it is there, and as it would be.
async fn forms(
    session: &mut Session,
    asked: &Diff,
    written: &Placed,
) -> Result<(Option<Value>, Value), Failure> {
    for attempt in 1.. {
        let live = match session.ask(Call::get(written.path())).await {
            Ok(live) => Some(live),
            Err(failure) if failure.is_not_found() => None,
            Err(failure) => return Err(failure),
        };
        let merged = match (asked.server_side, &live) {
            (Some(how), _) => applied(session, asked, written, how).await,
            (None, None) => created(session, asked, written).await,
            (None, Some(live)) => patched(session, asked, written, live, attempt < ATTEMPTS).await,
        };
        match merged {
            Err(failure) if failure.reason() == Some("Conflict") && is_race(asked) && attempt < ATTEMPTS => {}
            merged => return Ok((live, merged?)),
        }
    }
    unreachable!("every attempt after the last returns")
}

/// Whether a conflict means that somebody else was faster, and not that somebody else manages a field.
fn is_race(asked: &Diff) -> bool {
    asked.server_side.is_none()
}

async fn created(session: &mut Session, asked: &Diff, written: &Placed) -> Result<Value, Failure> {
    session
        .ask(Call::post(written.collection(), &written.object).by(manager(asked, MANAGER), DryRun::Server))
        .await
}

async fn patched(
    session: &mut Session,
    asked: &Diff,
    written: &Placed,
    live: &Value,
    only_if_unchanged: bool,
) -> Result<Value, Failure> {
    // The note of what was applied would change always, and is not what somebody wants to see.
    let (mut patch, kind) = patch_to(written, live, &unstated(&written.object));
    if patch.as_object().is_some_and(serde_json::Map::is_empty) {
        return Ok(live.clone());
    }
    if only_if_unchanged {
        patch["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
    }
    session.ask(Call::patch(written.path(), kind, &patch).by(manager(asked, MANAGER), DryRun::Server)).await
}

async fn applied(
    session: &mut Session,
    asked: &Diff,
    written: &Placed,
    how: ServerSide,
) -> Result<Value, Failure> {
    let call = Call::patch(written.path(), PatchKind::Apply, &written.object)
        .by(manager(asked, "kubectl"), DryRun::Server)
        .with("force", if how == ServerSide::Forcing { "true" } else { "false" });
    session.ask(call).await
}

fn manager<'a>(asked: &'a Diff, usual: &'a str) -> &'a str {
    asked.manager.as_deref().unwrap_or(usual)
}

/// Both forms as texts; what is not there is empty.
fn compared(asked: &Diff, live: Option<Value>, merged: Value) -> (String, String) {
    let shown = |object: Value| if asked.managed_fields { object } else { without_managed_fields(object) };
    let is_secret = merged["kind"] == "Secret" && merged["apiVersion"] == "v1";
    if is_secret {
        // Here kubectl writes `null` for a Secret that is not there.
        let (live, merged) = masked(&live.unwrap_or_default(), &merged);
        return (encode::yaml_text(&shown(live)), encode::yaml_text(&shown(merged)));
    }
    let live = live.map(|live| encode::yaml_text(&shown(live)));
    (live.unwrap_or_default(), encode::yaml_text(&shown(merged)))
}

/// `apps.v1.Deployment.default.web`, as it stands above each difference.
fn file_name(resource: &Resource, namespace: &str, name: &str) -> String {
    let group = if resource.group.is_empty() { String::new() } else { format!("{}.", resource.group) };
    let namespace = if resource.namespaced { namespace } else { "" };
    format!("{group}{}.{}.{namespace}.{name}", resource.version, resource.kind).replace('/', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn resource(group: &str, kind: &str, namespaced: bool) -> Resource {
        let plural = format!("{}s", kind.to_lowercase());
        let version = json!({"version": "v1", "resources": [{"resource": plural, "responseKind": {"kind": kind},
            "scope": if namespaced { "Namespaced" } else { "Cluster" }}]});
        let document = json!({"items": [{"metadata": {"name": group}, "versions": [version]}]});
        crate::Resources::from_discovery(&[document]).called(&plural).unwrap().clone()
    }

    #[test]
    fn a_file_is_called_after_its_object() {
        assert_eq!(
            file_name(&resource("apps", "Deployment", true), "shop", "web"),
            "apps.v1.Deployment.shop.web"
        );
        assert_eq!(file_name(&resource("", "Namespace", false), "default", "shop"), "v1.Namespace..shop");
        assert_eq!(
            file_name(&resource("", "Pod", true), "a", "../x"),
            "v1.Pod.a...-x",
            "it stays in its folder"
        );
    }

    #[test]
    fn who_wrote_what_and_what_is_secret_is_hidden() {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "MQ=="},
            "metadata": {"name": "s", "managedFields": [{"manager": "me"}]}});
        let (live, merged) = compared(&Diff::default(), None, secret.clone());
        assert_eq!(live, "null\n");
        assert_eq!(merged, "apiVersion: v1\ndata:\n  a: '***'\nkind: Secret\nmetadata:\n  name: s\n");
        let all = Diff { managed_fields: true, ..Diff::default() };
        assert!(compared(&all, None, secret).1.contains("managedFields"));
        assert_eq!(compared(&all, None, json!({"kind": "Pod"})), (String::new(), "kind: Pod\n".to_owned()));
    }
}
