//! Describes LimitRanges and ResourceQuotas, alone and below their namespace.

use std::collections::BTreeSet;

use gantry_json::Value;

use super::{condition_table, name_labels_annotations, or_none};
use crate::field::{at, list, members, shown, text};

const COLUMNS: &str = "Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio\n";
const RULERS: &str = "----\t--------\t---\t---\t---------------\t-------------\t-----------------------\n";

/// A LimitRange.
pub(crate) fn limit_range(range: &Value) -> String {
    let mut out = name_and_namespace(range) + COLUMNS + RULERS;
    out.extend(limit_rows(range));
    out
}

/// A ResourceQuota.
pub(crate) fn resource_quota(quota: &Value) -> String {
    let mut out = name_and_namespace(quota) + &scopes(quota, "", " ");
    out += "Resource\tUsed\tHard\n--------\t----\t----\n";
    out.extend(quota_rows(quota));
    out
}

/// A namespace, with its quotas and limits.
pub(crate) fn namespace(namespace: &Value, quotas: &[Value], ranges: &[Value]) -> String {
    let mut out = name_labels_annotations(namespace);
    out += &format!("Status:\t{}\n", text(namespace, "/status/phase"));
    let conditions = list(namespace, "/status/conditions");
    if !conditions.is_empty() {
        out += &condition_table(conditions);
    }
    if quotas.is_empty() {
        out += "\nNo resource quota.\n";
    } else {
        out += "\nResource Quotas\n";
    }
    for quota in quotas {
        out += &format!("  Name:\t{}\n{}", text(quota, "/metadata/name"), scopes(quota, "  ", "  "));
        out += "  Resource\tUsed\tHard\n  --------\t---\t---\n";
        out.extend(quota_rows(quota).map(|row| format!("  {row}")));
    }
    if ranges.is_empty() {
        return out + "\nNo LimitRange resource.\n";
    }
    out += &format!("\nResource Limits\n {COLUMNS} {RULERS}");
    out.extend(ranges.iter().flat_map(limit_rows).map(|row| format!(" {row}")));
    out
}

fn name_and_namespace(object: &Value) -> String {
    let (name, namespace) = (text(object, "/metadata/name"), text(object, "/metadata/namespace"));
    format!("Name:\t{name}\nNamespace:\t{namespace}\n")
}

/// A row for each resource of each limit.
fn limit_rows(range: &Value) -> Vec<String> {
    let fields = ["min", "max", "defaultRequest", "default", "maxLimitRequestRatio"];
    let mut rows = Vec::new();
    for limit in list(range, "/spec/limits") {
        let amount = |field: &str, name: &str| match at(limit, &format!("/{field}")).get(name) {
            Some(amount) => shown(amount),
            None => "-".to_owned(),
        };
        let names: BTreeSet<&str> = fields
            .iter()
            .flat_map(|field| members(limit, &format!("/{field}")))
            .map(|(name, _)| name)
            .collect();
        for name in names {
            let cells = fields.map(|field| amount(field, name)).join("\t");
            rows.push(format!("{}\t{name}\t{cells}\n", text(limit, "/type")));
        }
    }
    rows
}

/// A row for each resource that is limited.
fn quota_rows(quota: &Value) -> impl Iterator<Item = String> {
    let used = at(quota, "/status/used");
    members(quota, "/status/hard").into_iter().map(move |(name, hard)| {
        let used = used.get(name).map_or_else(|| "0".to_owned(), shown);
        format!("{name}\t{used}\t{}\n", shown(hard))
    })
}

fn scopes(quota: &Value, indent: &str, bullet: &str) -> String {
    let mut scopes: Vec<String> = list(quota, "/spec/scopes").iter().map(shown).collect();
    if scopes.is_empty() {
        return String::new();
    }
    scopes.sort();
    let mut out = format!("{indent}Scopes:\t{}\n", or_none(&scopes.join(", ")));
    for scope in scopes {
        let help = match scope.as_str() {
            "BestEffort" => {
                "Matches all pods that do not have resource requirements set. These pods have a best effort quality of \
                 service."
            }
            "NotBestEffort" => {
                "Matches all pods that have at least one resource requirement set. These pods have a burstable or \
                 guaranteed quality of service."
            }
            "Terminating" => {
                "Matches all pods that have an active deadline. These pods have a limited lifespan on a node before \
                 being actively terminated by the system."
            }
            "NotTerminating" => {
                "Matches all pods that do not have an active deadline. These pods usually include long running pods \
                 whose container command is not expected to terminate."
            }
            _ => continue,
        };
        out += &format!("{bullet}* {help}\n");
    }
    out
}
