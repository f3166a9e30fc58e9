//! Limit ranges: default and permitted resources of containers, pods and claims.

use gantry_json::{Map, SmolStr, Value, json};

use super::Denied;
use crate::defaults::setting::{default, each, ensure, object};
use crate::kinds::Kind;
use crate::strategies;
use gantry_formats::quantity::Quantity;

/// The annotation that lists the defaults that were set.
const LIMIT_RANGER: &str = "kubernetes.io/limit-ranger";

/// Sets default resources, and refuses resources outside the limits.
pub fn admit(ranges: &[Value], kind: &Kind, object: &mut Value) -> Result<(), Denied> {
    let limits = ranges.iter().flat_map(|range| range["spec"]["limits"].as_array().into_iter().flatten());
    let mut wrong = Vec::new();
    (strategies::of(kind).limit)(&mut wrong, &limits.collect::<Vec<_>>(), object);
    match wrong.as_slice() {
        [] => Ok(()),
        [only] => Err(only.clone()),
        many => Err(format!("[{}]", many.join(", "))),
    }
}

/// Sets the default resources of containers; reports resources of containers and of the whole pod.
pub(crate) fn limit_pod(wrong: &mut Vec<Denied>, limits: &[&Value], pod: &mut Value) {
    limits.iter().filter(|limit| limit["type"] == "Container").for_each(|limit| fill_in(pod, limit));
    for limit in limits {
        match limit["type"].as_str().unwrap_or_default() {
            "Container" => {
                containers(pod).for_each(|container| check_resources(wrong, limit, &container["resources"]));
            }
            "Pod" => check_resources(wrong, limit, &of_pod(pod)),
            _ => {}
        }
    }
}

/// Reports the storage that a PersistentVolumeClaim requests.
pub(crate) fn limit_claim(wrong: &mut Vec<Denied>, limits: &[&Value], claim: &mut Value) {
    for limit in limits.iter().filter(|limit| limit["type"] == "PersistentVolumeClaim") {
        check_claim(wrong, limit, &claim["spec"]["resources"]);
    }
}

fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["containers", "initContainers"];
    lists.into_iter().flat_map(|list| pod["spec"][list].as_array().into_iter().flatten())
}

/// Sets the default resources of every container, and lists them in an annotation.
fn fill_in(pod: &mut Value, limit: &Value) {
    let mut notes = Vec::new();
    let Some(spec) = pod.get_mut("spec").and_then(object) else { return };
    for (list, sort) in [("containers", "container"), ("initContainers", "init container")] {
        for container in each(spec, list) {
            let name = container.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let Some(resources) = ensure(container, "resources") else { continue };
            for (given, wanted, word) in
                [("defaultRequest", "requests", "request"), ("default", "limits", "limit")]
            {
                let filled = fill(ensure(resources, wanted), &limit[given]);
                if !filled.is_empty() {
                    notes.push(format!("{} {word} for {sort} {name}", filled.join(", ")));
                }
            }
            resources.retain(|_, amounts| amounts.as_object().is_none_or(|amounts| !amounts.is_empty()));
        }
    }
    if notes.is_empty() {
        return;
    }
    let metadata = object(pod).and_then(|pod| ensure(pod, "metadata"));
    if let Some(annotations) = metadata.and_then(|metadata| ensure(metadata, "annotations")) {
        annotations
            .insert(LIMIT_RANGER.to_owned(), json!(format!("LimitRanger plugin set: {}", notes.join("; "))));
    }
}

fn fill(amounts: Option<&mut Map>, given: &Value) -> Vec<String> {
    let (Some(amounts), Some(given)) = (amounts, given.as_object()) else { return Vec::new() };
    let missing = given.iter().filter(|(name, _)| !amounts.contains_key(name));
    let missing: Vec<_> = missing.map(|(name, amount)| (name.clone(), amount.clone())).collect();
    for (name, amount) in &missing {
        default(amounts, name, amount.clone());
    }
    missing.into_iter().map(|(name, _)| name.into()).collect()
}

/// Returns the sum of the resources of all containers.
fn of_pod(pod: &Value) -> Value {
    let sum = |list: &str| {
        let mut sums = Map::new();
        let all: Vec<&Value> = pod["spec"]["containers"].as_array().into_iter().flatten().collect();
        let names = all.iter().filter_map(|container| container["resources"][list].as_object());
        for name in names.flat_map(Map::keys) {
            let amounts = all.iter().filter_map(|container| quantity(&container["resources"][list][name]));
            let sum = amounts.fold(Quantity::ZERO, Quantity::plus);
            sums.insert(name.clone(), json!(sum.to_string()));
        }
        Value::Object(sums)
    };
    json!({"requests": sum("requests"), "limits": sum("limits")})
}

fn check_resources(wrong: &mut Vec<Denied>, limit: &Value, resources: &Value) {
    let sort = limit["type"].as_str().unwrap_or_default();
    let (requests, limits) = (&resources["requests"], &resources["limits"]);
    for (name, least) in bounds(limit, "min") {
        let shown = format!("minimum {name} usage per {sort} is {least}");
        match quantity(&requests[name]) {
            None => wrong.push(format!("{shown}.  No request is specified")),
            Some(request) if request.billionths() < least.billionths() => {
                wrong.push(format!("{shown}, but request is {request}"));
            }
            Some(_) => {}
        }
    }
    for (name, most) in bounds(limit, "max") {
        let shown = format!("maximum {name} usage per {sort} is {most}");
        match (quantity(&limits[name]), quantity(&requests[name])) {
            (None, _) => wrong.push(format!("{shown}.  No limit is specified")),
            (Some(limit), _) if limit.billionths() > most.billionths() => {
                wrong.push(format!("{shown}, but limit is {limit}"));
            }
            (_, Some(request)) if request.billionths() > most.billionths() => {
                wrong.push(format!("{shown}, but request is {request}"));
            }
            _ => {}
        }
    }
    for (name, most) in bounds(limit, "maxLimitRequestRatio") {
        let shown = format!("{name} max limit to request ratio per {sort} is {most}");
        match (quantity(&limits[name]), quantity(&requests[name])) {
            (Some(limit), Some(request)) if request.billionths() > 0 => {
                let thousandths = limit.billionths().saturating_mul(1000) / request.billionths();
                if thousandths > most.billionths() / 1_000_000 {
                    let (whole, rest) = (thousandths / 1000, thousandths % 1000);
                    wrong.push(format!("{shown}, but provided ratio is {whole}.{rest:03}000"));
                }
            }
            _ => wrong.push(format!("{shown}, but no request is specified or request is 0")),
        }
    }
}

fn check_claim(wrong: &mut Vec<Denied>, limit: &Value, resources: &Value) {
    let request = quantity(&resources["requests"]["storage"]).unwrap_or(Quantity::ZERO);
    let within = |name: &str, fits: fn(i128, i128) -> bool| {
        let bound = quantity(&limit[name]["storage"])?;
        (!fits(request.billionths(), bound.billionths())).then_some(bound)
    };
    let sort = "PersistentVolumeClaim";
    if let Some(least) = within("min", |request, least| request >= least) {
        wrong.push(format!("minimum storage usage per {sort} is {least}, but request is {request}"));
    }
    if let Some(most) = within("max", |request, most| request <= most) {
        wrong.push(format!("maximum storage usage per {sort} is {most}, but request is {request}"));
    }
}

fn bounds<'a>(limit: &'a Value, name: &str) -> impl Iterator<Item = (&'a SmolStr, Quantity)> {
    let bounds = limit[name].as_object().into_iter().flatten();
    bounds.filter_map(|(name, amount)| Some((name, quantity(amount)?)))
}

fn quantity(amount: &Value) -> Option<Quantity> {
    Quantity::parse(amount.as_str()?).ok()
}
