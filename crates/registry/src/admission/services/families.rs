//! Families of addresses: the services of this server have addresses of version 4.

use serde_json::{Value, json};

use crate::defaults::setting::{Object, default, is_empty, text};
use crate::refusal::FieldError;

/// Fills in family and policy where a service names none.
pub(super) fn choose(spec: &mut Object) {
    // Nobody knows where a headless service without a selector leads: to any family.
    let leads_anywhere = text(spec, "clusterIP") == "None" && is_empty(spec, "selector");
    let families = spec.get("ipFamilies").and_then(Value::as_array).map_or(0, Vec::len);
    let both = leads_anywhere || families > 1;
    default(spec, "ipFamilyPolicy", if both { "RequireDualStack" } else { "SingleStack" });
    if is_empty(spec, "ipFamilies") {
        spec.insert("ipFamilies".to_owned(), json!(["IPv4"]));
    }
    if leads_anywhere
        && spec["ipFamilyPolicy"] != json!("SingleStack")
        && let Some(Value::Array(families)) = spec.get_mut("ipFamilies")
        && let [only] = families.as_slice()
    {
        let other = if *only == json!("IPv4") { "IPv6" } else { "IPv4" };
        families.push(json!(other));
    }
}

/// Refuses families that cannot be given.
pub(super) fn check(spec: &Object) -> Result<(), FieldError> {
    if text(spec, "clusterIP") == "None" && is_empty(spec, "selector") {
        return Ok(());
    }
    if text(spec, "ipFamilyPolicy") == "RequireDualStack" {
        let why = "this cluster is not configured for dual-stack services";
        return Err(FieldError::invalid("spec.ipFamilyPolicy", &spec["ipFamilyPolicy"], why));
    }
    let families = spec.get("ipFamilies").and_then(Value::as_array);
    let foreign = families.into_iter().flatten().enumerate().find(|(_, family)| **family != json!("IPv4"));
    foreign.map_or(Ok(()), |(index, family)| {
        let field = format!("spec.ipFamilies[{index}]");
        Err(FieldError::invalid(field, family, "not configured on this cluster"))
    })
}
