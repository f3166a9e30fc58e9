//! The quality of service a pod is promised, from what its containers request and are limited to.

use serde_json::{Map, Value};

/// `Guaranteed`, `Burstable` or `BestEffort`.
///
/// A pod is guaranteed what it asks for if every container limits both processor and memory and requests no less.
/// It is the best effort that is made if nobody asks for anything.
pub fn class(pod: &Map<String, Value>) -> &'static str {
    let spec = pod.get("spec");
    let lists = ["containers", "initContainers"].into_iter().filter_map(|list| spec?.get(list)?.as_array());
    let (mut any, mut all_guaranteed) = (false, true);
    for container in lists.flatten() {
        for resource in ["cpu", "memory"] {
            let (request, limit) =
                (amount(container, "requests", resource), amount(container, "limits", resource));
            any |= request.is_some() || limit.is_some();
            // Defaults have made a request of every limit, and quantities are in normal form.
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
