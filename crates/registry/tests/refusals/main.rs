//! Invalid values of many fields, each refused with Kubernetes' message.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod containers;
mod network;
mod scheduling;
mod volumes;
mod workloads;

use gantry_json::{Value, json};
use gantry_registry::{defaults, validation};
use gantry_schema::kinds::kinds;

const NONE: [&str; 0] = [];
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

fn of_container(fields: Value) -> Vec<String> {
    let container = with(json!({"c": {"name": "c", "image": "i"}}), "c", fields)["c"].clone();
    of_pod(json!({"containers": [container]}))
}

fn of_volume(source: Value) -> Vec<String> {
    let volume = with(json!({"v": {"name": "v"}}), "v", source)["v"].clone();
    of_pod(json!({"volumes": [volume]}))
}

fn of_pod(fields: Value) -> Vec<String> {
    let base = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    errors_in("", "Pod", &with(base, "spec", fields))
}

fn with(mut object: Value, part: &str, fields: Value) -> Value {
    let Value::Object(fields) = fields else { return object };
    for (field, value) in fields {
        object[part][field] = value;
    }
    object
}

fn errors_in(group: &str, kind: &str, object: &Value) -> Vec<String> {
    let kind = kinds().kind(group, "v1", kind).unwrap();
    let mut object = object.clone();
    object["metadata"]["namespace"] = json!("n");
    defaults::apply(kind, &mut object);
    validation::create(kind, &object).errors.iter().map(ToString::to_string).collect()
}
