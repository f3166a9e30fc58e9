//! Nodes: their taints, and what is theirs for good.

use serde_json::{Value, json};

use super::found::{Found, Path, list, text};
use super::names::{label_value, qualified_name};

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// The taints of a Node: well formed, and each key and effect once.
pub(super) fn node(found: &mut Found, object: &Value) {
    let at = Path::new("spec");
    let (at, taints) = (at.child("taints"), list(&object["spec"], "taints"));
    for (index, taint) in taints.iter().enumerate() {
        let at = at.index(index);
        let (key, value) = (text(taint, "key"), text(taint, "value"));
        found.invalid_text(&at.child("key"), key, qualified_name(key));
        let wrong = label_value(value);
        if !wrong.is_empty() {
            found.invalid(&at.child("value"), &json!(value), wrong.join(";"));
        }
        found.one_of(&at.child("effect"), &taint["effect"], &EFFECTS);
        let same = |other: &&Value| text(other, "key") == key && other["effect"] == taint["effect"];
        if taints[..index].iter().any(|other| same(&other)) {
            // By the names that Go has for its fields.
            let (key, value, added) = (json!(key), json!(value), &taint["timeAdded"]);
            let effect = &taint["effect"];
            let shown = format!(r#"{{"Key":{key},"Value":{value},"Effect":{effect},"TimeAdded":{added}}}"#);
            let why = "taints must be unique by key and effect pair";
            found.duplicate_shown(&at, format!("{shown}: {why}"));
        }
    }
}

/// Addresses of its pods, once given, stay.
pub(super) fn changes(found: &mut Found, old: &Value, new: &Value) {
    let (old, new) = (&old["spec"], &new["spec"]);
    if !list(old, "podCIDRs").is_empty() && list(old, "podCIDRs") != list(new, "podCIDRs") {
        let why = "node updates may not change podCIDR except from \"\" to valid";
        found.forbidden(&Path::new("spec").child("podCIDRs"), why);
    }
}
