//! `rollout history` (K6.1).

use super::changed::changed;
use super::revisions::revisions;
use super::targets;
use crate::describe::template;
use crate::failure::Failure;
use crate::field::at;
use crate::print::aligned;
use crate::selection::{Found, Selection};
use crate::session::Session;
use crate::workload::without_hash;

/// Which history is asked for.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Of which objects.
    pub selection: Selection,
    /// A single revision; 0 for all.
    pub revision: i64,
    /// Whether it is told what changed from one revision to the next.
    pub changes: bool,
}

const CAUSE: &str = "kubernetes.io/change-cause";

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
        return Err(Failure::other(format!(
            "no history viewer has been implemented for \"{}\"",
            one.resource.kind_with_group()
        )));
    }
    let revisions = revisions(session, one).await?;
    let cause = |set: &serde_json::Value| {
        at(set, "/metadata/annotations").get(CAUSE).and_then(|cause| cause.as_str()).map(str::to_owned)
    };
    if asked.revision > 0 {
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
    let row = |(revision, set): (&i64, &serde_json::Value)| {
        format!("{revision}\t{}\n", cause(set).unwrap_or_else(|| "<none>".to_owned()))
    };
    let rows = format!("REVISION\tCHANGE-CAUSE\n{}", revisions.iter().map(row).collect::<Vec<_>>().concat());
    session.say(&format!("{} \n{}", one.title(), aligned(&rows, 2)))?;
    if asked.changes {
        session.print(&steps(&revisions))?;
    }
    Ok(())
}

/// What changed from each revision to the next.
fn steps(revisions: &std::collections::BTreeMap<i64, serde_json::Value>) -> String {
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
