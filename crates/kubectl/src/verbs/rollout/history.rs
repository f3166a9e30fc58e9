//! `rollout history` (K6.1).

use std::collections::BTreeMap;

use serde_json::Value;

use super::changed::changed;
use super::revisions::revisions;
use super::{not_a_rollout, targets};
use crate::describe::template;
use crate::failure::Failure;
use crate::field::{at, text};
use crate::print::aligned;
use crate::selection::{Found, Selection};
use crate::session::Session;
use crate::verbs::report::Report;
use crate::workload::{CAUSE, without_hash};

/// Which history is asked for.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Of which objects.
    pub selection: Selection,
    /// A single revision; 0 for all.
    pub revision: i64,
    /// Whether it is told what changed from one revision to the next.
    pub changes: bool,
    /// How revisions are shown as a whole, if they are.
    pub report: Report,
}

/// Prints the history of rollouts.
pub async fn history(session: &mut Session, asked: &History) -> Result<(), Failure> {
    if asked.revision < 0 {
        return Err(Failure::other(format!("revision must be a positive integer: {}", asked.revision)));
    }
    let (found, mut failures) = targets(session, &asked.selection).await?;
    for one in &found {
        failures.extend(history_of(session, asked, one).await.err());
    }
    Failure::all(failures)
}

async fn history_of(session: &mut Session, asked: &History, one: &Found) -> Result<(), Failure> {
    if one.resource.kind != "Deployment" {
        return Err(not_a_rollout(one, "history viewer", "history"));
    }
    let revisions = revisions(session, one).await?;
    if asked.report.output.is_some() {
        return whole(session, asked, &revisions);
    }
    let cause = |set: &Value| {
        at(set, "/metadata/annotations").get(CAUSE).and_then(|cause| cause.as_str()).map(str::to_owned)
    };
    if asked.revision > 0 {
        if revisions.is_empty() {
            return session.say(&format!(
                "{} with revision #{}\nNo rollout history found.",
                one.title(),
                asked.revision
            ));
        }
        let Some(set) = revisions.get(&asked.revision) else {
            return Err(Failure::other("unable to find the specified revision"));
        };
        let mut shown = set["spec"]["template"].clone();
        if let Some(cause) = cause(set) {
            crate::field::object_mut(&mut shown, &["metadata", "annotations"])
                .insert(CAUSE.into(), cause.into());
        }
        let text = template::described(&shown);
        session.say(&format!("{} with revision #{}\n{text}", one.title(), asked.revision))?;
        if asked.changes
            && let Some((before, older)) = revisions.range(..asked.revision).next_back()
        {
            let lines =
                changed(&without_hash(&older["spec"]["template"]), &without_hash(&set["spec"]["template"]));
            session.print(&format!("Changes from revision {before}:\n{}", listed(&lines)))?;
        }
        return Ok(());
    }
    if revisions.is_empty() {
        return session.say(&format!("{} \nNo rollout history found.\n", one.title()));
    }
    let row = |(revision, set): (&i64, &Value)| {
        format!("{revision}\t{}\n", cause(set).unwrap_or_else(|| "<none>".to_owned()))
    };
    let rows = format!("REVISION\tCHANGE-CAUSE\n{}", revisions.iter().map(row).collect::<Vec<_>>().concat());
    session.say(&format!("{} \n{}", one.title(), aligned(&rows, 2)))?;
    if asked.changes {
        session.print(&steps(&revisions))?;
    }
    Ok(())
}

/// The ReplicaSets behind revisions, as whole objects.
fn whole(session: &mut Session, asked: &History, revisions: &BTreeMap<i64, Value>) -> Result<(), Failure> {
    if asked.revision > 0 && !revisions.contains_key(&asked.revision) {
        return Err(Failure::other("unable to find the specified revision"));
    }
    let shown = revisions.iter().filter(|(revision, _)| asked.revision == 0 || **revision == asked.revision);
    for (_, set) in shown {
        let title = format!("replicaset.apps/{}", text(set, "/metadata/name"));
        let mut set = set.clone();
        set["apiVersion"] = "apps/v1".into();
        set["kind"] = "ReplicaSet".into();
        asked.report.tell(session, &title, "", &set)?;
    }
    Ok(())
}

/// What changed from each revision to the next.
fn steps(revisions: &BTreeMap<i64, Value>) -> String {
    let pairs = revisions.iter().zip(revisions.iter().skip(1));
    let told = pairs.map(|((before, older), (after, newer))| {
        let lines =
            changed(&without_hash(&older["spec"]["template"]), &without_hash(&newer["spec"]["template"]));
        format!("{before} -> {after}\n{}", listed(&lines))
    });
    told.collect::<Vec<_>>().concat()
}

fn listed(lines: &[String]) -> String {
    if lines.is_empty() {
        return "  nothing\n".to_owned();
    }
    format!("  {}\n", lines.join("\n  "))
}
