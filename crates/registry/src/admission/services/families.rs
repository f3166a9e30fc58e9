//! IP families of services: this server allocates IPv4.

use std::net::Ipv6Addr;

use gantry_json::{Value, json};

use crate::defaults::setting::{Object, default, is_empty, text};

/// Sets the default IP family and family policy.
pub(super) fn choose(spec: &mut Object) {
    // A headless service without a selector may have endpoints of any family.
    let leads_anywhere = text(spec, "clusterIP") == "None" && is_empty(spec, "selector");
    default(spec, "ipFamilyPolicy", if leads_anywhere { "RequireDualStack" } else { "SingleStack" });
    let names_other_family = text(spec, "clusterIP").parse::<Ipv6Addr>().is_ok();
    if is_empty(spec, "ipFamilies") && !names_other_family {
        spec.insert("ipFamilies", json!(["IPv4"]));
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
