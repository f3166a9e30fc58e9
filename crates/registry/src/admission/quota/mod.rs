//! Quotas: how much of what a namespace may hold.
//!
//! A new object is measured ([`Usage::of`]), each quota of its namespace is asked for what it thinks of that
//! ([`wanted`], [`charge`]), and whoever stores the object stores the changed quotas with it, all or none. What is used
//! is read from a quota's status if that is complete, and otherwise counted anew ([`counted_kinds`], [`count`]).

mod scope;
mod usage;

use serde_json::{Value, json};

use super::Denied;
use crate::kinds::{Kind, Kinds};

pub use usage::Usage;

/// What a quota has to say of a new object: the part of its usage that the quota limits.
///
/// Nothing, if the quota is about other things. A quota of processor or memory wants every container to say how much.
pub fn wanted(quota: &Value, kind: &Kind, object: &Value) -> Result<Option<Usage>, Denied> {
    if !scope::includes(quota, kind, object) {
        return Ok(None);
    }
    let hard = Usage::parse(&quota["spec"]["hard"]);
    let wanted = Usage::of(kind, object).within(&hard);
    let silent = usage::silent_containers(kind, object, &hard);
    if !silent.is_empty() {
        let missing: Vec<_> =
            silent.iter().map(|(resource, names)| format!("{resource} for: {}", names.join(","))).collect();
        return Err(format!("failed quota: {}: must specify {}", name(quota), missing.join("; ")));
    }
    Ok((!wanted.is_empty()).then_some(wanted))
}

/// What a change makes of an object's usage, as far as the quota limits it; what shrinks is negative.
///
/// Nothing, if it stays the same.
pub fn difference(quota: &Value, kind: &Kind, before: &Value, after: &Value) -> Option<Usage> {
    let hard = Usage::parse(&quota["spec"]["hard"]);
    let used = |object: &Value| {
        let usage = Usage::of(kind, object).within(&hard);
        if scope::includes(quota, kind, object) { usage } else { Usage::default() }
    };
    let difference = used(after).minus(&used(before));
    (!difference.is_empty()).then_some(difference)
}

/// What is used according to the quota itself; `None` if it does not say so of everything that it limits.
pub fn recorded(quota: &Value) -> Option<Usage> {
    let (hard, status) = (&quota["spec"]["hard"], &quota["status"]);
    let used = Usage::parse(&status["used"]);
    let is_complete = status["hard"] == *hard && Usage::parse(hard).names().all(|name| used.has(name));
    is_complete.then_some(used)
}

/// The quota with this much more used, or why that is too much.
pub fn charge(quota: &Value, used: &Usage, wanted: &Usage) -> Result<Value, Denied> {
    let hard = Usage::parse(&quota["spec"]["hard"]);
    let after = used.plus(wanted);
    // What shrinks is welcome, even where too much is used already.
    let grows = |name: &&str| wanted.amount(name) > 0 && after.amount(name) > hard.amount(name);
    let exceeded: Vec<&str> = wanted.names().filter(grows).collect();
    if !exceeded.is_empty() {
        let shown = |usage: &Usage| usage.shown(&exceeded);
        return Err(format!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            name(quota),
            shown(wanted),
            shown(used),
            shown(&hard)
        ));
    }
    Ok(with_used(quota, &after))
}

/// The quota with what is used, counted.
pub fn with_used(quota: &Value, used: &Usage) -> Value {
    let hard = &quota["spec"]["hard"];
    let used = used.filled(&Usage::parse(hard));
    let mut quota = quota.clone();
    quota["status"] = json!({"hard": hard, "used": used.render()});
    quota
}

/// The kinds among these whose objects must be looked at to count what a quota limits.
pub fn counted_kinds<'k>(quota: &Value, kinds: &'k Kinds) -> Vec<&'k Kind> {
    let hard = Usage::parse(&quota["spec"]["hard"]);
    let preferred = |kind: &&Kind| kinds.preferred(kind.group) == Some(kind.version) || kind.group.is_empty();
    kinds.all().filter(preferred).filter(|kind| hard.names().any(|name| usage::is_of(name, kind))).collect()
}

/// What objects of a kind use of what the quota limits.
pub fn count<'a>(quota: &Value, kind: &Kind, objects: impl IntoIterator<Item = &'a Value>) -> Usage {
    let hard = Usage::parse(&quota["spec"]["hard"]);
    let counted = objects.into_iter().filter(|object| scope::includes(quota, kind, object));
    counted.fold(Usage::default(), |sum, object| sum.plus(&Usage::of(kind, object).within(&hard)))
}

fn name(quota: &Value) -> &str {
    quota["metadata"]["name"].as_str().unwrap_or_default()
}
