//! Resource quotas of namespaces.
//!
//! The usage of a new object ([`Usage::of`]) is checked against each quota of its namespace ([`wanted`], [`charge`]), and
//! the object is stored together with the changed quotas, in one transaction. The current usage comes from the status of a
//! quota if that is complete, and is recounted otherwise ([`counted_kinds`], [`count`]).

mod scope;
mod usage;

use std::collections::BTreeMap;

use gantry_json::{Value, json};

use super::Denied;
use crate::kinds::{Kind, Kinds, Scope};
use crate::strategies;

pub use usage::Usage;

/// How objects of a kind count towards quotas.
pub(crate) struct QuotaRules {
    /// Adds the usage of an object, except for the number of objects.
    pub(crate) usage: fn(&mut Usage, &Value),
    /// Whether an object is in a scope, selected by a term if there is one.
    pub(crate) is_in_scope: fn(scope: &str, term: Option<&Value>, &Value) -> bool,
    /// Returns the limited resources that an object has to specify and does not, with the names of the parts that lack them.
    pub(crate) unspecified: fn(&Value, limits: &Usage) -> BTreeMap<String, Vec<String>>,
    /// Whether a stored object no longer uses anything.
    pub(crate) has_ended: fn(&Value) -> bool,
    /// Whether quotas are recounted when an object is deleted.
    pub(crate) is_recounted: bool,
}

impl QuotaRules {
    /// Only the number of objects counts.
    pub(crate) const DEFAULT: Self = Self::new(|_, _| {});

    /// Pods have scopes and must specify their resources.
    pub(crate) const POD: Self = Self {
        is_in_scope: scope::is_pod_in,
        unspecified: usage::unspecified_resources,
        has_ended: usage::has_terminated,
        ..Self::new(Usage::add_pod)
    };

    /// The number of objects counts, and `usage` adds more.
    pub(crate) const fn new(usage: fn(&mut Usage, &Value)) -> Self {
        Self {
            usage,
            is_in_scope: |_, _, _| false,
            unspecified: |_, _| BTreeMap::new(),
            has_ended: |_| false,
            is_recounted: true,
        }
    }
}

/// Whether quotas have to be recounted after a deletion, or after this object was stored.
pub fn needs_recount(kind: &Kind, stored: Option<&Value>) -> bool {
    let rules = &strategies::of(kind).quota;
    kind.scope == Scope::Namespaced && rules.is_recounted && stored.is_none_or(rules.has_ended)
}

/// Returns the usage of a new object that the quota limits, if any.
///
/// A quota of CPU or memory requires that every container specifies it.
pub fn wanted(quota: &Value, kind: &Kind, object: &Value) -> Result<Option<Usage>, Denied> {
    if !scope::includes(quota, kind, object) {
        return Ok(None);
    }
    let hard = Usage::parse(&quota["spec"]["hard"]);
    let wanted = Usage::of(kind, object).within(&hard);
    let silent = (strategies::of(kind).quota.unspecified)(object, &hard);
    if !silent.is_empty() {
        let missing: Vec<_> =
            silent.iter().map(|(resource, names)| format!("{resource} for: {}", names.join(","))).collect();
        return Err(format!("failed quota: {}: must specify {}", name(quota), missing.join("; ")));
    }
    Ok((!wanted.is_empty()).then_some(wanted))
}

/// Returns the change of an object's usage that the quota limits, negative where it decreases; `None` if there is none.
pub fn difference(quota: &Value, kind: &Kind, before: &Value, after: &Value) -> Option<Usage> {
    let hard = Usage::parse(&quota["spec"]["hard"]);
    let used = |object: &Value| {
        let usage = Usage::of(kind, object).within(&hard);
        if scope::includes(quota, kind, object) { usage } else { Usage::default() }
    };
    let difference = used(after).minus(&used(before));
    (!difference.is_empty()).then_some(difference)
}

/// Returns the usage in the quota's status; `None` if it does not cover all limits.
pub fn recorded(quota: &Value) -> Option<Usage> {
    let (hard, status) = (&quota["spec"]["hard"], &quota["status"]);
    let used = Usage::parse(&status["used"]);
    let is_complete = status["hard"] == *hard && Usage::parse(hard).names().all(|name| used.has(name));
    is_complete.then_some(used)
}

/// Returns the quota with the additional usage, or an error if it exceeds the limits.
pub fn charge(quota: &Value, used: &Usage, wanted: &Usage) -> Result<Value, Denied> {
    let hard = Usage::parse(&quota["spec"]["hard"]);
    let after = used.plus(wanted);
    // Decreases are always allowed.
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

/// Returns the quota with this usage in its status.
pub fn with_used(quota: &Value, used: &Usage) -> Value {
    let hard = &quota["spec"]["hard"];
    let used = used.filled(&Usage::parse(hard));
    let mut quota = quota.clone();
    quota["status"] = json!({"hard": hard, "used": used.render()});
    quota
}

/// Returns the quota with its limits reduced by this usage.
pub fn without(quota: &Value, used: &Usage) -> Value {
    let mut quota = quota.clone();
    quota["spec"]["hard"] = Usage::parse(&quota["spec"]["hard"]).left_by(used).render();
    quota
}

/// Returns the kinds whose objects count towards a quota.
pub fn counted_kinds<'k>(quota: &Value, kinds: &'k Kinds) -> Vec<&'k Kind> {
    let hard = Usage::parse(&quota["spec"]["hard"]);
    let preferred = |kind: &&Kind| kinds.preferred(kind.group) == Some(kind.version) || kind.group.is_empty();
    kinds.all().filter(preferred).filter(|kind| hard.names().any(|name| usage::is_of(name, kind))).collect()
}

/// Returns the usage of objects that the quota limits.
pub fn count<'a>(quota: &Value, kind: &Kind, objects: impl IntoIterator<Item = &'a Value>) -> Usage {
    let hard = Usage::parse(&quota["spec"]["hard"]);
    let counted = objects.into_iter().filter(|object| scope::includes(quota, kind, object));
    counted.fold(Usage::default(), |sum, object| sum.plus(&Usage::of(kind, object).within(&hard)))
}

fn name(quota: &Value) -> &str {
    quota["metadata"]["name"].as_str().unwrap_or_default()
}
