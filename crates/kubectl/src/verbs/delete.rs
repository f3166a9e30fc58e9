//! `delete` (K7).

use std::time::Duration;

use serde_json::{Value, json};

use super::changes::until_gone;
use super::report::{DryRun, Report};
use crate::arguments::{Item, Items};
use crate::call::Call;
use crate::failure::Failure;
use crate::field::text;
use crate::manifests::{self, Place, Placed};
use crate::resources::Resource;
use crate::selection::{BareType, Selection, all_of, nothing_named};
use crate::session::Session;

/// What to delete, and how.
#[derive(Clone, Debug)]
pub struct Delete {
    /// Which objects.
    pub selection: Selection,
    /// What becomes of dependents.
    pub cascade: Cascade,
    /// How long it may take; the object's own way if nothing is said.
    pub grace_seconds: Option<i64>,
    /// Whether nobody waits for the containers to end.
    pub force: bool,
    /// Whether to wait until everything is gone.
    pub wait: bool,
    /// How long to wait at most.
    pub timeout: Option<Duration>,
    /// Whether objects that do not exist are passed over.
    pub ignore_not_found: bool,
    /// How it is told.
    pub report: Report,
}

/// What becomes of dependents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cascade {
    /// They go after it.
    #[default]
    Background,
    /// They go before it.
    Foreground,
    /// They stay.
    Orphan,
}

/// One object to delete.
struct Doomed {
    resource: Resource,
    namespace: String,
    name: String,
    source: Option<String>,
}

impl Cascade {
    /// Reads the value of `--cascade`.
    pub fn parse(value: &str) -> Result<Self, Failure> {
        match value {
            "background" | "true" => Ok(Self::Background),
            "foreground" => Ok(Self::Foreground),
            "orphan" | "false" => Ok(Self::Orphan),
            other => Err(Failure::other(format!(
                "invalid cascade value ({other}). Must be \"background\", \"foreground\", or \"orphan\""
            ))),
        }
    }

    /// The options of a deletion that happens this way.
    pub fn options(self, grace_seconds: Option<i64>) -> Value {
        let mut options = json!({"propagationPolicy": self.policy()});
        if let Some(seconds) = grace_seconds {
            options["gracePeriodSeconds"] = seconds.into();
        }
        options
    }

    fn policy(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
            Self::Orphan => "Orphan",
        }
    }
}

impl Delete {
    /// What `--grace-period`, `--force` and `--now` mean together (K7.4).
    pub fn grace(period: i64, force: bool, now: bool) -> Result<Option<i64>, Failure> {
        match (period, force, now) {
            (..=-1, true, true) => {
                Err(Failure::other("--force and --grace-period greater than 0 cannot be specified together"))
            }
            (0.., _, true) => Err(Failure::other("--now and --grace-period cannot be specified together")),
            (1.., true, _) => {
                Err(Failure::other("--force and --grace-period greater than 0 cannot be specified together"))
            }
            (_, false, true) | (0, false, false) => Ok(Some(1)),
            (_, true, _) => Ok(Some(0)),
            (1.., false, false) => Ok(Some(period)),
            (..=-1, false, false) => Ok(None),
        }
    }
}

/// Deletes objects.
pub async fn delete(session: &mut Session, asked: &Delete) -> Result<(), Failure> {
    if asked.selection.is_empty() && (asked.selection.all || asked.selection.selector.is_some()) {
        return Err(Failure::other("at least one resource must be specified to use a selector"));
    }
    if asked.selection.is_empty() {
        return Err(nothing_named());
    }
    if let Some(other) = asked.report.output.as_deref().filter(|output| !["", "name"].contains(output)) {
        return Err(Failure::other(format!("unexpected -o output mode: {other}. We only support '-o name'")));
    }
    if asked.force && asked.grace_seconds == Some(0) {
        session.tell(
            "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. \
             The resource may continue to run on the cluster indefinitely.",
        );
    }
    let (doomed, mut failures) = doomed(session, asked).await?;
    if session.namespace_was_asked_for && doomed.iter().any(|one| !one.resource.namespaced) {
        session.tell("Warning: deleting cluster-scoped resources, not scoped to the provided namespace");
    }
    if doomed.is_empty() && failures.is_empty() {
        if !asked.ignore_not_found || !asked.selection.words.iter().skip(1).any(|_| true) {
            session.say("No resources found")?;
        }
        return Ok(());
    }
    let mut waiting = Vec::new();
    for one in doomed {
        match delete_one(session, asked, &one).await {
            Ok(uid) => waiting.push((one, uid)),
            // What was selected may be gone by now, and that is what was wanted.
            Err(failure)
                if failure.is_not_found() && (asked.ignore_not_found || asked.selection.selects()) => {}
            Err(failure) => failures.push(failure),
        }
    }
    if asked.wait && asked.report.dry_run == DryRun::No {
        let until_gone = async {
            for (one, uid) in &waiting {
                gone(session, one, uid).await?;
            }
            Ok(())
        };
        let waited = match asked.timeout {
            None => until_gone.await,
            Some(limit) => tokio::time::timeout(limit, until_gone).await.unwrap_or_else(|_| {
                let names: Vec<_> =
                    waiting.iter().map(|(one, _)| format!("{}/{}", one.resource.plural, one.name)).collect();
                Err(Failure::other(format!("timed out waiting for the condition on {}", names.join(", "))))
            }),
        };
        failures.extend(waited.err());
    }
    Failure::all(failures)
}

async fn doomed(session: &mut Session, asked: &Delete) -> Result<(Vec<Doomed>, Vec<Failure>), Failure> {
    let resources = session.resources().await?;
    let namespace = session.namespace.clone();
    let place = Place { namespace: &namespace, was_asked_for: session.namespace_was_asked_for };
    let (mut doomed, mut failures) = (Vec::new(), Vec::new());
    let (manifests, unread) = manifests::read_each(&asked.selection.files, asked.selection.recursive)?;
    failures.extend(unread);
    for manifest in manifests {
        match manifest.check_kind().and_then(|()| manifest.placed(&resources, place)) {
            Ok(written) => doomed.push(Doomed {
                resource: written.resource,
                namespace: written.namespace,
                name: written.name,
                source: Some(written.source),
            }),
            Err(failure) => failures.push(failure),
        }
    }
    let Items { items, warnings, .. } = Items::read(&resources, &asked.selection.words)?;
    asked.selection.check(&items, BareType::Mistake)?;
    session.warn(&warnings);
    for item in items {
        match item {
            Item::One(resource, name) => {
                doomed.push(Doomed { resource, namespace: namespace.clone(), name, source: None });
            }
            Item::All(resource) => {
                for object in all_of(session, &resource, &asked.selection).await? {
                    doomed.push(Doomed {
                        resource: resource.clone(),
                        namespace: text(&object, "/metadata/namespace").to_owned(),
                        name: text(&object, "/metadata/name").to_owned(),
                        source: None,
                    });
                }
            }
        }
    }
    Ok((doomed, failures))
}

/// Deletes one object and returns which one it was.
async fn delete_one(session: &mut Session, asked: &Delete, one: &Doomed) -> Result<String, Failure> {
    let path = one.resource.object(&one.namespace, &one.name);
    let answer = if asked.report.dry_run.is_client() {
        // Nobody is asked, not even whether there is such an object.
        Ok(Value::Null)
    } else {
        let mut options = asked.cascade.options(asked.grace_seconds);
        if asked.report.dry_run == DryRun::Server {
            options["dryRun"] = json!(["All"]);
        }
        session.ask(Call::delete(path, &options)).await
    };
    let answer = answer.map_err(|failure| match &one.source {
        Some(source) => failure.while_doing(&format!("error when deleting \"{source}\"")),
        None => failure,
    })?;
    let operation = if asked.grace_seconds == Some(0) { "force deleted" } else { "deleted" };
    let done = deleted(operation, &one.resource, &one.namespace);
    let kind = one.resource.singular_with_group();
    match asked.report.output.as_deref() {
        Some("name") => session.say(&format!("{kind}/{}", one.name))?,
        _ => {
            session.say(&format!("{kind} \"{}\" {done}{}", one.name, asked.report.suffix()))?;
        }
    }
    Ok(uid_of(&answer).to_owned())
}

/// Deletes an object that another is to take the place of, and waits until it is gone.
pub(super) async fn make_room(
    session: &mut Session,
    written: &Placed,
    options: &Value,
) -> Result<(), Failure> {
    let answer = session.ask(Call::delete(written.path(), options)).await?;
    let one = Doomed {
        resource: written.resource.clone(),
        namespace: written.namespace.clone(),
        name: written.name.clone(),
        source: None,
    };
    gone(session, &one, uid_of(&answer)).await
}

/// The words after `configmap "cm"` when it was deleted (K7.1).
pub(super) fn deleted(operation: &str, resource: &Resource, namespace: &str) -> String {
    if resource.namespaced { format!("{operation} from {namespace} namespace") } else { operation.to_owned() }
}

/// Which object an answer to a deletion is about.
fn uid_of(answer: &Value) -> &str {
    let place = if answer["kind"] == "Status" { "/details/uid" } else { "/metadata/uid" };
    text(answer, place)
}

/// Waits until an object is gone, or another has taken its name.
async fn gone(session: &mut Session, one: &Doomed, uid: &str) -> Result<(), Failure> {
    let object = match session.object(&one.resource, &one.namespace, &one.name).await {
        Err(failure) if failure.is_not_found() => return Ok(()),
        answer => answer?,
    };
    if !uid.is_empty() && text(&object, "/metadata/uid") != uid {
        return Ok(());
    }
    until_gone(session, &one.resource, &one.namespace, &object).await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K7.4: what the three flags mean together.
    #[test]
    fn grace_is_one_second_unless_forced() {
        assert_eq!(Delete::grace(-1, false, false).unwrap(), None);
        assert_eq!(Delete::grace(0, false, false).unwrap(), Some(1));
        assert_eq!(Delete::grace(-1, false, true).unwrap(), Some(1));
        assert_eq!(Delete::grace(-1, true, false).unwrap(), Some(0));
        assert_eq!(Delete::grace(0, true, false).unwrap(), Some(0));
        assert_eq!(Delete::grace(7, false, false).unwrap(), Some(7));
        assert_eq!(
            Delete::grace(7, true, false).unwrap_err().lines(),
            "error: --force and --grace-period greater than 0 cannot be specified together\n"
        );
    }

    /// K7.2: there are three ways.
    #[test]
    fn an_unknown_cascade_is_refused() {
        assert_eq!(Cascade::parse("foreground").unwrap(), Cascade::Foreground);
        assert_eq!(
            Cascade::parse("bogus").unwrap_err().lines(),
            "error: invalid cascade value (bogus). Must be \"background\", \"foreground\", or \"orphan\"\n"
        );
    }
}
