//! Validates pod failure policies and success policies of Jobs.

use std::collections::BTreeSet;

use gantry_json::{Value, json};

use crate::validation::error_list::{ErrorList, Path, is_set, list, number, text};
use crate::validation::go_format::with_go_names;
use crate::validation::names::qualified_name;

const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];
const MAX_RULES: usize = 20;
const MAX_CODES: usize = 255;
const MAX_INDEXES_BYTES: usize = 64 * 1024;

/// Validates the pod failure policy.
pub(crate) fn failure(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let (at, rules) = (at.child("rules"), list(&spec["podFailurePolicy"], "rules"));
    if rules.len() > MAX_RULES {
        errors.too_many(&at, rules.len(), MAX_RULES);
    }
    for (index, rule) in rules.iter().enumerate() {
        failure_rule(errors, &at.index(index), rule, spec);
    }
}

fn failure_rule(errors: &mut ErrorList, at: &Path<'_>, rule: &Value, spec: &Value) {
    match text(rule, "action") {
        "" => errors.required(&at.child("action"), &valid_values(&ACTIONS)),
        "FailIndex" if !is_set(spec, "backoffLimitPerIndex") => {
            let why = "requires the backoffLimitPerIndex to be set";
            errors.invalid(&at.child("action"), &rule["action"], why);
        }
        action if ACTIONS.contains(&action) => {}
        _ => errors.unsupported(&at.child("action"), &rule["action"], &ACTIONS),
    }
    let conditions = list(rule, "onPodConditions");
    if is_set(rule, "onExitCodes") {
        exit_codes(errors, &at.child("onExitCodes"), &rule["onExitCodes"], spec);
    }
    for (index, condition) in conditions.iter().enumerate() {
        let at = at.child("onPodConditions");
        pod_condition(errors, &at.index(index), condition);
    }
    match (is_set(rule, "onExitCodes"), conditions.is_empty()) {
        (true, false) => {
            let why = "specifying both OnExitCodes and OnPodConditions is not supported";
            errors.invalid_formatted(at, String::new(), why);
        }
        (false, true) => {
            let why = "specifying one of OnExitCodes and OnPodConditions is required";
            errors.invalid_formatted(at, String::new(), why);
        }
        _ => {}
    }
}

fn exit_codes(errors: &mut ErrorList, at: &Path<'_>, codes: &Value, spec: &Value) {
    let operator = text(codes, "operator");
    match operator {
        "" => errors.required(&at.child("operator"), &valid_values(&OPERATORS)),
        "In" | "NotIn" => {}
        _ => errors.unsupported(&at.child("operator"), &codes["operator"], &OPERATORS),
    }
    if let Some(name) = codes["containerName"].as_str() {
        let pod = &spec["template"]["spec"];
        let mut containers = ["containers", "initContainers"].into_iter().flat_map(|field| list(pod, field));
        if !containers.any(|container| text(container, "name") == name) {
            let why = "must be one of the container or initContainer names in the pod template";
            errors.invalid(&at.child("containerName"), &json!(name), why);
        }
    }
    let (at, values) = (at.child("values"), list(codes, "values"));
    if values.is_empty() {
        errors.invalid(&at, &json!([]), "at least one value is required");
    } else if values.len() > MAX_CODES {
        errors.too_many(&at, values.len(), MAX_CODES);
    }
    let numbers: Vec<_> = values.iter().filter_map(Value::as_i64).collect();
    let (mut seen, mut is_ordered) = (BTreeSet::new(), true);
    for (index, code) in numbers.iter().enumerate() {
        if operator == "In" && *code == 0 {
            errors.invalid(&at.index(index), &json!(code), "must not be 0 for the In operator");
        }
        if !seen.insert(code) {
            errors.duplicate(&at.index(index), &json!(code));
        } else if index > 0 && numbers[index - 1] > *code {
            is_ordered = false;
        }
    }
    if !is_ordered {
        errors.invalid(&at, &codes["values"], "must be ordered");
    }
}

fn pod_condition(errors: &mut ErrorList, at: &Path<'_>, condition: &Value) {
    let (kind, status) = (text(condition, "type"), text(condition, "status"));
    errors.invalid_text(&at.child("type"), kind, qualified_name(kind));
    match status {
        "" => errors.required(&at.child("status"), &valid_values(&STATUSES)),
        _ if STATUSES.contains(&status) => {}
        _ => errors.unsupported(&at.child("status"), &condition["status"], &STATUSES),
    }
}

/// Validates the success policy of an indexed Job.
pub(crate) fn success(errors: &mut ErrorList, at: &Path<'_>, spec: &Value) {
    let policy = &spec["successPolicy"];
    if text(spec, "completionMode") != "Indexed" {
        let shown = with_go_names("batch/v1.SuccessPolicy", policy);
        return errors.invalid_formatted(at, shown, "requires indexed completion mode");
    }
    let (at, rules) = (at.child("rules"), list(policy, "rules"));
    if rules.is_empty() {
        errors.required(&at, "at least one rules must be specified when the successPolicy is specified");
    }
    if rules.len() > MAX_RULES {
        errors.too_many(&at, rules.len(), MAX_RULES);
    }
    for (index, rule) in rules.iter().enumerate() {
        success_rule(errors, &at.index(index), rule, number(spec, "completions").unwrap_or(0));
    }
}

fn success_rule(errors: &mut ErrorList, at: &Path<'_>, rule: &Value, completions: i64) {
    let (indexes_at, count_at) = (at.child("succeededIndexes"), at.child("succeededCount"));
    if !is_set(rule, "succeededIndexes") && !is_set(rule, "succeededCount") {
        errors.required(at, "at least one of succeededCount or succeededIndexes must be specified");
    }
    let mut named = None;
    if let Some(indexes) = rule["succeededIndexes"].as_str() {
        if indexes.len() > MAX_INDEXES_BYTES {
            errors.too_long(&indexes_at, MAX_INDEXES_BYTES);
        }
        named = Some(count_indexes(indexes, completions).unwrap_or_else(|why| {
            errors.invalid(&indexes_at, &json!(indexes), format!("error parsing succeededIndexes: {why}"));
            0
        }));
    }
    let Some(count) = number(rule, "succeededCount") else { return };
    errors.not_negative(at, rule, "succeededCount");
    if count > completions {
        let why =
            format!("must be less than or equal to {completions} (the number of specified completions)");
        errors.invalid(&count_at, &json!(count), why);
    }
    if let Some(named) = named.filter(|named| count > *named) {
        let why = format!(
            "must be less than or equal to {named} (the number of indexes in the specified succeededIndexes field)"
        );
        errors.invalid(&count_at, &json!(count), why);
    }
}

/// Returns the number of indexes in a string such as `0,2-4`.
pub(super) fn count_indexes(indexes: &str, completions: i64) -> Result<i64, String> {
    let (mut count, mut previous) = (0, None);
    for part in indexes.split(',').filter(|_| !indexes.is_empty()) {
        let (first, last) = interval(part, completions)?;
        increasing(previous, first)?;
        count += last - first + 1;
        previous = Some(last);
    }
    Ok(count)
}

/// Returns the first and the last index of a string such as `2-4`.
pub(super) fn interval(text: &str, completions: i64) -> Result<(i64, i64), String> {
    let ends: Vec<&str> = text.split('-').collect();
    match ends[..] {
        [only] => index(only, completions).map(|index| (index, index)),
        [first, last] => {
            let (first, last) = (index(first, completions)?, index(last, completions)?);
            increasing(Some(first), last).map(|()| (first, last))
        }
        _ => Err(format!(
            "the fragment {text:?} violates the requirement that an index interval can have at most two parts separated by '-'"
        )),
    }
}

fn index(word: &str, completions: i64) -> Result<i64, String> {
    let number: i64 =
        word.parse().map_err(|_| format!("cannot convert string to integer for index: {word:?}"))?;
    if number >= completions { Err(format!("too large index: {word:?}")) } else { Ok(number) }
}

fn increasing(previous: Option<i64>, current: i64) -> Result<(), String> {
    match previous.filter(|previous| *previous >= current) {
        Some(previous) => Err(format!("non-increasing order, previous: {previous}, current: {current}")),
        None => Ok(()),
    }
}

/// Formats the valid words for the message.
fn valid_values(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("{word:?}")).collect();
    format!("valid values: [{}]", quoted.join(" "))
}
