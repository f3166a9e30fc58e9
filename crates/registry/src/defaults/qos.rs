//! The quality of service class of a pod.

use gantry_json::{Map, Value};

/// Returns `Guaranteed`, `Burstable` or `BestEffort`.
///
/// `Guaranteed` if every container has limits of CPU and memory, and requests equal to them. `BestEffort` if no
/// container has requests or limits.
pub(crate) fn class(pod: &Map) -> &'static str {
    let spec = pod.get("spec");
    let lists = ["containers", "initContainers"].into_iter().filter_map(|list| spec?.get(list)?.as_array());
    let (mut any, mut all_guaranteed) = (false, true);
    for container in lists.flatten() {
        for resource in ["cpu", "memory"] {
            let (request, limit) =
                (amount(container, "requests", resource), amount(container, "limits", resource));
            any |= request.is_some() || limit.is_some();
            // Defaults have copied limits to requests, and quantities are canonical.
            all_guaranteed &= limit.is_some() && request.is_none_or(|request| Some(request) == limit);
        }
    }
    match (any, all_guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

fn amount<'a>(container: &'a Value, list: &str, resource: &str) -> Option<&'a str> {
    let amount = container.get("resources")?.get(list)?.get(resource)?.as_str()?;
    Some(amount).filter(|amount| *amount != "0")
}
