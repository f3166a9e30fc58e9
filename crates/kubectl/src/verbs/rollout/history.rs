//! `rollout history` (K6.1).

use std::collections::BTreeMap;

use gantry_json::Value;

use super::revisions::revisions;
use super::template_diff::changed;
use super::{not_a_rollout, targets};
use crate::client_context::ClientContext;
use crate::describe::template;
use crate::failure::Failure;
use crate::field::{at, text};
use crate::print::align_columns;
use crate::selection::{FoundObject, Selection};
use crate::verbs::result_printer::ResultPrinter;
use crate::workload::{CAUSE, without_hash};

/// The options of `rollout history`.
#[derive(Clone, Debug, Default)]
pub struct HistoryOptions {
    /// The objects.
    pub selection: Selection,
    /// A single revision; 0 for all.
    pub revision: i64,
    /// Whether the changes between revisions are printed.
    pub changes: bool,
    /// How whole revisions are printed, if the output is set.
    pub printer: ResultPrinter,
}

/// Prints the history of rollouts.
pub async fn history(ctx: &mut ClientContext, options: &HistoryOptions) -> Result<(), Failure> {
    if options.revision < 0 {
        return Err(Failure::other(format!("revision must be a positive integer: {}", options.revision)));
    }
    let (found, mut failures) = targets(ctx, &options.selection).await?;
    for one in &found {
        failures.extend(history_of(ctx, options, one).await.err());
    }
    Failure::all(failures)
}

async fn history_of(
    ctx: &mut ClientContext,
    options: &HistoryOptions,
    one: &FoundObject,
) -> Result<(), Failure> {
    if one.resource.kind != "Deployment" {
        return Err(not_a_rollout(one, "history viewer", "history"));
    }
    let revisions = revisions(ctx, one).await?;
    if options.printer.output.is_some() {
        return whole(ctx, options, &revisions);
    }
    let cause = |set: &Value| {
        at(set, "/metadata/annotations").get(CAUSE).and_then(|cause| cause.as_str()).map(str::to_owned)
    };
    if options.revision > 0 {
        if revisions.is_empty() {
            return ctx.println(&format!(
                "{} with revision #{}\nNo rollout history found.",
                one.title(),
                options.revision
            ));
        }
        let Some(set) = revisions.get(&options.revision) else {
            return Err(Failure::other("unable to find the specified revision"));
        };
        let mut shown = set["spec"]["template"].clone();
        if let Some(cause) = cause(set) {
            crate::field::object_mut(&mut shown, &["metadata", "annotations"]).insert(CAUSE, cause.into());
        }
        let text = template::described(&shown);
        ctx.println(&format!("{} with revision #{}\n{text}", one.title(), options.revision))?;
        if options.changes
            && let Some((before, older)) = revisions.range(..options.revision).next_back()
        {
            let lines =
                changed(&without_hash(&older["spec"]["template"]), &without_hash(&set["spec"]["template"]));
            ctx.print(&format!("Changes from revision {before}:\n{}", listed(&lines)))?;
        }
        return Ok(());
    }
    if revisions.is_empty() {
        return ctx.println(&format!("{} \nNo rollout history found.\n", one.title()));
    }
    let row = |(revision, set): (&i64, &Value)| {
        format!("{revision}\t{}\n", cause(set).unwrap_or_else(|| "<none>".to_owned()))
    };
    let rows = format!("REVISION\tCHANGE-CAUSE\n{}", revisions.iter().map(row).collect::<Vec<_>>().concat());
    ctx.println(&format!("{} \n{}", one.title(), align_columns(&rows, 2)))?;
    if options.changes {
        ctx.print(&steps(&revisions))?;
    }
    Ok(())
}

/// The ReplicaSets behind revisions, as whole objects.
fn whole(
    ctx: &mut ClientContext,
    options: &HistoryOptions,
    revisions: &BTreeMap<i64, Value>,
) -> Result<(), Failure> {
    if options.revision > 0 && !revisions.contains_key(&options.revision) {
        return Err(Failure::other("unable to find the specified revision"));
    }
    let shown =
        revisions.iter().filter(|(revision, _)| options.revision == 0 || **revision == options.revision);
    for (_, set) in shown {
        let title = format!("replicaset.apps/{}", text(set, "/metadata/name"));
        let mut set = set.clone();
        set["apiVersion"] = "apps/v1".into();
        set["kind"] = "ReplicaSet".into();
        options.printer.print(ctx, &title, "", &set)?;
    }
    Ok(())
}

/// The changes between consecutive revisions.
fn steps(revisions: &BTreeMap<i64, Value>) -> String {
    let pairs = revisions.iter().zip(revisions.iter().skip(1));
    let rendered = pairs.map(|((before, older), (after, newer))| {
        let lines =
            changed(&without_hash(&older["spec"]["template"]), &without_hash(&newer["spec"]["template"]));
        format!("{before} -> {after}\n{}", listed(&lines))
    });
    rendered.collect::<Vec<_>>().concat()
}

fn listed(lines: &[String]) -> String {
    if lines.is_empty() {
        return "  nothing\n".to_owned();
    }
    format!("  {}\n", lines.join("\n  "))
}
