//! The status of a Job as controllers write it. A rule about several fields applies only when one of them changed.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use super::policies::{count_indexes, interval};
use crate::validation::error_list::{ErrorList, Path, is_set, list, number, text};
use crate::validation::go_format::with_go_names;

const COUNTERS: [&str; 5] = ["active", "succeeded", "failed", "ready", "terminating"];

/// A status of a Job before or after a write.
struct Status<'a> {
    fields: &'a Value,
    spec: &'a Value,
}

impl<'a> Status<'a> {
    fn of(job: &'a Value) -> Self {
        Self { fields: &job["status"], spec: &job["spec"] }
    }

    fn has(&self, condition: &str, status: &str) -> bool {
        let mut conditions = list(self.fields, "conditions").iter();
        conditions.any(|held| text(held, "type") == condition && text(held, "status") == status)
    }

    fn is(&self, condition: &str) -> bool {
        self.has(condition, "True")
    }

    fn is_finished(&self) -> bool {
        self.is("Complete") || self.is("Failed")
    }

    fn count(&self, field: &str) -> i64 {
        number(self.fields, field).unwrap_or(0)
    }

    fn is_indexed(&self) -> bool {
        text(self.spec, "completionMode") == "Indexed"
    }
}

/// Validates the status of a Job that replaces another.
pub(super) fn validate(errors: &mut ErrorList, old: &Value, new: &Value) {
    let (old, new) = (Status::of(old), Status::of(new));
    let at = &Path::new("status");
    counters(errors, at, new.fields);
    end_conditions(errors, at, &old, &new);
    finished(errors, at, &old, &new);
    indexes(errors, at, &old, &new);
    later_counters(errors, at, &old, &new);
    success(errors, at, &new);
    changes(errors, at, &old, &new);
}

fn counters(errors: &mut ErrorList, at: &Path<'_>, status: &Value) {
    for field in COUNTERS {
        errors.not_negative(at, status, field);
    }
    let mut seen = BTreeSet::new();
    let uncounted_at = at.child("uncountedTerminatedPods");
    for field in ["succeeded", "failed"] {
        let list_at = uncounted_at.child(field);
        for (index, uid) in list(&status["uncountedTerminatedPods"], field).iter().enumerate() {
            let at = list_at.index(index);
            if uid.as_str().is_none_or(str::is_empty) {
                errors.invalid(&at, uid, "must not be empty");
            } else if !seen.insert(uid.as_str()) {
                errors.duplicate(&at, uid);
            }
        }
    }
}

fn end_conditions(errors: &mut ErrorList, at: &Path<'_>, old: &Status<'_>, new: &Status<'_>) {
    let turned = |condition: &str| old.is(condition) != new.is(condition);
    let changed = |field: &str| old.fields[field] != new.fields[field];
    let conditions = &at.child("conditions");
    let mut refuse = |is_refused: bool, why: &str| {
        if is_refused {
            errors.invalid_formatted(conditions, String::new(), why);
        }
    };
    let (is_complete, is_failed) = (new.is("Complete"), new.is("Failed"));
    refuse(
        (turned("Complete") || turned("Failed")) && is_complete && is_failed,
        "cannot set Complete=True and Failed=true conditions",
    );
    refuse(
        (turned("Complete") || turned("FailureTarget")) && is_complete && new.is("FailureTarget"),
        "cannot set Complete=True and FailureTarget=true conditions",
    );
    times(errors, at, old, new);
    let mut refuse = |is_refused: bool, why: &str| {
        if is_refused {
            errors.invalid_formatted(conditions, String::new(), why);
        }
    };
    refuse(
        (turned("Failed") || changed("failedIndexes")) && is_failed && !new.is("FailureTarget"),
        "cannot set Failed=True condition without the FailureTarget=true condition",
    );
    refuse(
        (turned("Complete") || turned("SuccessCriteriaMet")) && is_complete && !new.is("SuccessCriteriaMet"),
        "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
    );
}

fn times(errors: &mut ErrorList, at: &Path<'_>, old: &Status<'_>, new: &Status<'_>) {
    let changed = |field: &str| old.fields[field] != new.fields[field];
    let (start, completion) = (&new.fields["startTime"], &new.fields["completionTime"]);
    let completion_at = at.child("completionTime");
    if old.is("Complete") != new.is("Complete") || changed("completionTime") {
        if !completion.is_null() && !new.is("Complete") {
            let why = "cannot set completionTime when there is no Complete=True condition";
            errors.invalid(&completion_at, completion, why);
        } else if completion.is_null() && new.is("Complete") {
            errors.required(&completion_at, "completionTime is required for Complete jobs");
        }
    }
    let is_before = start.as_str().zip(completion.as_str()).is_some_and(|(start, end)| end < start);
    if (changed("startTime") || changed("completionTime")) && is_before {
        errors.invalid(&completion_at, completion, "must be equal to or after `startTime`");
    }
}

fn finished(errors: &mut ErrorList, at: &Path<'_>, old: &Status<'_>, new: &Status<'_>) {
    if !new.is_finished() {
        return;
    }
    let is_news = |field: &str| !old.is_finished() || old.fields[field] != new.fields[field];
    if is_news("active") && new.count("active") > 0 {
        errors.invalid(&at.child("active"), &new.fields["active"], "active>0 is invalid for finished job");
    }
    let is_never_run = new.spec["suspend"] == json!(true) && new.spec["completions"] == json!(0);
    if is_news("startTime") && !is_never_run && !is_set(new.fields, "startTime") {
        errors.required(&at.child("startTime"), "startTime is required for finished job");
    }
    let uncounted = &new.fields["uncountedTerminatedPods"];
    let has_uncounted = ["succeeded", "failed"].iter().any(|field| !list(uncounted, field).is_empty());
    if is_news("uncountedTerminatedPods") && has_uncounted {
        let shown = with_go_names("batch/v1.UncountedTerminatedPods", uncounted);
        errors.invalid_formatted(
            &at.child("uncountedTerminatedPods"),
            shown,
            "must be empty for finished job",
        );
    }
}

fn indexes(errors: &mut ErrorList, at: &Path<'_>, old: &Status<'_>, new: &Status<'_>) {
    let changed = |field: &str| old.fields[field] != new.fields[field];
    let (completed, failed) = (text(new.fields, "completedIndexes"), new.fields["failedIndexes"].as_str());
    let (completed_at, failed_at) = (at.child("completedIndexes"), at.child("failedIndexes"));
    let completions = number(new.spec, "completions");
    let has_backoff = is_set(new.spec, "backoffLimitPerIndex");
    if changed("completedIndexes")
        && let Some(Err(why)) = completions.map(|completions| count_indexes(completed, completions))
    {
        errors.invalid(&completed_at, &json!(completed), format!("error parsing completedIndexes: {why}"));
    }
    if changed("failedIndexes")
        && has_backoff
        && let Some((failed, completions)) = failed.zip(completions)
        && let Err(why) = count_indexes(failed, completions)
    {
        errors.invalid(&failed_at, &json!(failed), format!("error parsing failedIndexes: {why}"));
    }
    if changed("completedIndexes") && !completed.is_empty() && !new.is_indexed() {
        let why = "cannot set non-empty completedIndexes when non-indexed completion mode";
        errors.invalid(&completed_at, &json!(completed), why);
    }
    let Some(failed) = failed else { return };
    if changed("failedIndexes") && !has_backoff {
        let why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        errors.invalid(&failed_at, &json!(failed), why);
    }
    let overlap = completions.and_then(|completions| overlap(completed, failed, completions));
    if let Some(index) = overlap.filter(|_| changed("failedIndexes") || changed("completedIndexes")) {
        let why = format!("failedIndexes and completedIndexes overlap at index: {index}");
        errors.invalid(&failed_at, &json!(failed), why);
    }
}

/// Returns the first index that two texts such as `0,2-4` have in common. Intervals that cannot be parsed count as empty.
fn overlap(completed: &str, failed: &str, completions: i64) -> Option<i64> {
    let intervals = |indexes: &str| -> Vec<(i64, i64)> {
        indexes.split(',').filter_map(|part| interval(part, completions).ok()).collect()
    };
    let mut failed = intervals(failed);
    // They are in order, unless they are malformed.
    failed.sort_unstable();
    let mut ends_so_far = i64::MIN;
    let ends: Vec<_> = failed
        .iter()
        .map(|(_, end)| {
            ends_so_far = ends_so_far.max(*end);
            ends_so_far
        })
        .collect();
    let common = |(first, last): (i64, i64)| {
        let (start, _) = failed.get(ends.partition_point(|end| *end < first))?;
        (*start <= last).then(|| first.max(*start))
    };
    intervals(completed).into_iter().find_map(common)
}

fn later_counters(errors: &mut ErrorList, at: &Path<'_>, old: &Status<'_>, new: &Status<'_>) {
    let changed = |field: &str| old.fields[field] != new.fields[field];
    let is_finished_now = old.is_finished() != new.is_finished();
    if new.is_finished() && new.count("terminating") > 0 && (is_finished_now || changed("terminating")) {
        let why = "terminating>0 is invalid for finished job";
        errors.invalid(&at.child("terminating"), &new.fields["terminating"], why);
    }
    let has_more_ready = number(new.fields, "ready").is_some_and(|ready| ready > new.count("active"));
    if has_more_ready && (changed("ready") || old.count("active") != new.count("active")) {
        errors.invalid(&at.child("ready"), &new.fields["ready"], "cannot set more ready pods than active");
    }
}

fn success(errors: &mut ErrorList, at: &Path<'_>, new: &Status<'_>) {
    let is_met = new.is("SuccessCriteriaMet");
    let rules = [
        (is_met && new.is("Failed"), "cannot set SuccessCriteriaMet=True and Failed=true conditions"),
        (
            is_met && new.is("FailureTarget"),
            "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
        ),
        (
            is_set(new.spec, "successPolicy") && !is_met && new.is("Complete"),
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        ),
    ];
    for (_, why) in rules.iter().filter(|(is_broken, _)| *is_broken) {
        errors.invalid_formatted(&at.child("conditions"), String::new(), why);
    }
}

/// Validates conditions, counters and times that may not be reset once they are set.
fn changes(errors: &mut ErrorList, at: &Path<'_>, old: &Status<'_>, new: &Status<'_>) {
    let conditions = at.child("conditions");
    for condition in ["Failed", "Complete", "FailureTarget"] {
        if old.is(condition) && !new.is(condition) {
            let why = format!("cannot disable the terminal {condition}=True condition");
            errors.invalid_formatted(&conditions, String::new(), &why);
        }
    }
    let is_elastic = new.is_indexed() && new.spec["completions"] == new.spec["parallelism"];
    for (field, is_fixed) in [("failed", true), ("succeeded", !is_elastic)] {
        if is_fixed && new.count(field) < old.count(field) {
            let why = format!("cannot decrease the {field} counter");
            errors.invalid(&at.child(field), &json!(new.count(field)), why);
        }
    }
    let (before, now) = (&old.fields["completionTime"], &new.fields["completionTime"]);
    if !before.is_null() && !now.is_null() && before != now {
        errors.immutable(&at.child("completionTime"), false, now);
    }
    let (before, now) = (&old.fields["startTime"], &new.fields["startTime"]);
    let is_resuming = old.is("Suspended") && new.has("Suspended", "False");
    if !before.is_null() && before != now && !is_resuming && new.spec["suspend"] != json!(true) {
        errors.invalid(&at.child("startTime"), now, "field is immutable for unsuspended job once set");
    }
    let is_met = (old.is("SuccessCriteriaMet"), new.is("SuccessCriteriaMet"));
    if is_met == (true, false) {
        let why = "cannot disable the SuccessCriteriaMet=True condition";
        errors.invalid_formatted(&conditions, String::new(), why);
    }
    if old.is("Complete") && is_met == (false, true) {
        let why = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
        errors.invalid_formatted(&conditions, String::new(), why);
    }
}
