//! The kinds of volumes whose descriptions are a line for each of some fields: the rows of `sources.tsv`.

use gantry_json::Value;

use super::line;
use crate::field::{at, list, members, number, shown, text};

/// A volume of a pod, if its kind is in the table.
pub(super) fn of_pod(volume: &Value) -> Option<String> {
    described(volume, false)
}

/// The source of a PersistentVolume, if its kind is in the table.
pub(super) fn persistent(spec: &Value) -> Option<String> {
    described(spec, true)
}

fn described(volume: &Value, is_persistent: bool) -> Option<String> {
    let rows = include_str!("sources.tsv").lines();
    let mut rows =
        rows.skip_while(|row| row.split('\t').next().is_none_or(|field| volume.get(field).is_none()));
    let (field, kind) = rows.next()?.split_once('\t')?;
    let source = volume.get(field)?;
    let mut out = line("Type", kind);
    for row in rows.map_while(|row| row.strip_prefix('\t')) {
        let mut columns = row.split('\t');
        let mut column = || columns.next().unwrap_or_default();
        let (title, field, form, only_persistent) = (column(), column(), column(), column() == "pv");
        if is_persistent || !only_persistent {
            out.push_str(&format!("    {title}\t{}\n", formatted(source, &format!("/{field}"), form)));
        }
    }
    Some(out)
}

/// The value at a pointer in a form of the table.
fn formatted(source: &Value, pointer: &str, form: &str) -> String {
    let value = at(source, pointer);
    let words = || list(source, pointer).iter().map(shown).collect::<Vec<_>>();
    match form {
        "number" => number(source, pointer).to_string(),
        "flag" => (value == true).to_string(),
        "words" => words().join(", "),
        "go list" => format!("[{}]", words().join(" ")),
        "go map" => {
            let pairs = members(source, pointer).into_iter();
            let pairs: Vec<String> = pairs.map(|(key, value)| format!("{key}:{}", shown(value))).collect();
            format!("map[{}]", pairs.join(" "))
        }
        "secret" => secret(value),
        "or none" if value.is_null() => "<none>".to_owned(),
        "or unset" if value.is_null() => "<unset>".to_owned(),
        _ => shown(value),
    }
}

/// A reference to a secret, as Go prints its type.
fn secret(reference: &Value) -> String {
    let name = text(reference, "/name");
    match (reference, reference.get("namespace")) {
        (Value::Null, _) => "nil".to_owned(),
        (_, Some(namespace)) => format!("&SecretReference{{Name:{name},Namespace:{},}}", shown(namespace)),
        _ => format!("&LocalObjectReference{{Name:{name},}}"),
    }
}
