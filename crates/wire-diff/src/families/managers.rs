//! Server-side apply by several managers, between updates and patches of others: conflicts, ownership, shared and
//! removed fields.

use gantry_json::{Value, json};

use crate::bases::{Base, base};
use crate::case::{APPLY, Case, JSON_PATCH, MERGE, Request, STRATEGIC, Step, with_query};
use gantry_rng::Rng;

const RESOURCES: [&str; 8] = [
    "configmaps",
    "deployments",
    "deployments",
    "services",
    "pods",
    "persistentvolumeclaims",
    "statefulsets",
    "networkpolicies",
];

pub(super) fn case(rng: &mut Rng, kinds: &[String]) -> Case {
    let base = base(super::resource(rng, &RESOURCES, kinds));
    let managers: Vec<String> = (1..=rng.between(2, 4)).map(|number| format!("m{number}")).collect();
    let mut steps = Vec::new();
    if rng.percent(50) {
        steps.push(Step::Send(Request::post(
            with_query(&base.collection(), &[("fieldManager", rng.pick(&managers))]),
            base.object.clone(),
        )));
    }
    for _ in 0..rng.between(3, 7) {
        steps.push(Step::Send(write(rng, &base, &managers)));
    }
    steps.push(Step::Send(Request::get(base.path())));
    Case { kind: base.resource.to_owned(), steps }
}

fn write(rng: &mut Rng, base: &Base, managers: &[String]) -> Request {
    let manager = rng.pick(managers);
    let mut parameters = vec![("fieldManager", manager)];
    if rng.percent(6) {
        parameters.push(("dryRun", "All".to_owned()));
    }
    let path = base.path();
    match rng.index(12) {
        0..7 => {
            if rng.percent(35) {
                parameters.push(("force", rng.pick(&["true", "true", "true", "false", "x"]).to_owned()));
            }
            let subresource = if rng.percent(6) { rng.pick(&["/status", "/scale"]) } else { "" };
            let mut body = applied(rng, base);
            if subresource == "/scale" {
                body = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": base.name()}, "spec": {"replicas": rng.index(4)}});
            }
            Request::patch(APPLY, with_query(&(path + subresource), &parameters), body)
        }
        7 => Request::put(with_query(&path, &parameters), merged(&base.object, &partial(rng, base))),
        8 => Request::patch(MERGE, with_query(&path, &parameters), partial(rng, base)),
        9 => Request::patch(STRATEGIC, with_query(&path, &parameters), partial(rng, base)),
        10 => Request::patch(JSON_PATCH, with_query(&path, &parameters), operations(rng)),
        _ => match rng.index(4) {
            0 => Request::patch(
                MERGE,
                with_query(&path, &parameters),
                json!({"metadata": {"managedFields": rng.pick(&[json!([]), json!([{}]), Value::Null])}}),
            ),
            1 => Request::delete(path + "?gracePeriodSeconds=0"),
            2 => Request::patch(
                MERGE,
                with_query(&(path + "/status"), &parameters),
                json!({"metadata": {"labels": {"l1": "s"}}, "status": {"phase": "Bound"}}),
            ),
            _ => Request::put(with_query(&path, &parameters), base.object.clone()),
        },
    }
}

/// An object for apply: sometimes the whole base with changes, sometimes only some fields.
fn applied(rng: &mut Rng, base: &Base) -> Value {
    let fields = partial(rng, base);
    let mut body = if rng.percent(40) { merged(&base.object, &fields) } else { fields };
    body["apiVersion"] = json!(base.api_version());
    body["kind"] = json!(base.kind());
    body["metadata"]["name"] = json!(base.name());
    if rng.percent(3) {
        body["metadata"]["resourceVersion"] = json!("1");
    }
    if rng.percent(3) {
        body["metadata"]["managedFields"] = json!([{"manager": "m9", "operation": "Apply"}]);
    }
    body
}

/// Returns some of the kind's fields, with values on which managers agree or conflict.
fn partial(rng: &mut Rng, base: &Base) -> Value {
    let mut fields = json!({"metadata": metadata(rng)});
    match base.resource {
        "configmaps" => fields["data"] = texts(rng, &["a", "k1", "k2"]),
        "deployments" | "statefulsets" => {
            let mut spec = json!({});
            if rng.percent(50) {
                spec["replicas"] = rng.pick(&[json!(1), json!(2), json!(3), Value::Null]);
            }
            if rng.percent(30) {
                spec["minReadySeconds"] = json!(rng.index(3));
            }
            if rng.percent(60) {
                spec["template"] = json!({"spec": pod_spec(rng)});
            }
            if rng.percent(20) {
                spec["template"]["metadata"] = json!({"annotations": texts(rng, &["a", "b"])});
            }
            if base.resource == "deployments" && rng.percent(20) {
                spec["strategy"] = rng.pick(&[
                    json!({"type": "Recreate"}),
                    json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}),
                    json!({}),
                ]);
            }
            fields["spec"] = spec;
        }
        "pods" if rng.percent(60) => {
            fields["spec"] = rng.pick(&[
                json!({"activeDeadlineSeconds": 5}),
                json!({"containers": [{"name": "c", "image": "i:2"}]}),
                json!({"tolerations": [{"key": "k", "operator": "Exists"}]}),
            ]);
        }
        "services" => fields["spec"] = service_spec(rng),
        "persistentvolumeclaims" if rng.percent(50) => {
            fields["spec"] =
                json!({"resources": {"requests": {"storage": rng.pick(&["1Gi", "2Gi", "1024Mi"])}}});
        }
        "networkpolicies" => {
            fields["spec"] = rng.pick(&[
                json!({"policyTypes": ["Egress"]}),
                json!({"ingress": [{"ports": [{"port": 80}]}]}),
                json!({"podSelector": {"matchLabels": {"a": "b"}}}),
                json!({"ingress": []}),
            ]);
        }
        _ => {}
    }
    fields
}

fn metadata(rng: &mut Rng) -> Value {
    let mut metadata = json!({});
    if rng.percent(50) {
        metadata["labels"] = texts(rng, &["l1", "l2"]);
    }
    if rng.percent(30) {
        metadata["annotations"] = texts(rng, &["n1", "n2"]);
    }
    if rng.percent(10) {
        let names = ["example.com/a", "example.com/b"];
        let count = rng.index(3);
        metadata["finalizers"] = json!(rng.sample(&names, count));
    }
    if rng.percent(10) {
        let owner = |name: &str, number: usize| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": format!("00000000-0000-0000-0000-00000000000{number}")});
        metadata["ownerReferences"] =
            rng.pick(&[json!([owner("o", 1)]), json!([owner("o", 1), owner("q", 2)]), json!([])]);
    }
    metadata
}

fn texts(rng: &mut Rng, keys: &[&str]) -> Value {
    let mut texts = json!({});
    for key in keys {
        if rng.percent(50) {
            texts[*key] = rng.pick(&[json!("x"), json!("x"), json!("y"), json!(""), Value::Null]);
        }
    }
    texts
}

fn pod_spec(rng: &mut Rng) -> Value {
    let mut containers = Vec::new();
    for name in ["c", "d"] {
        if rng.percent(if name == "c" { 80 } else { 35 }) {
            containers.push(container(rng, name));
        }
    }
    let mut spec = json!({"containers": containers});
    if rng.percent(20) {
        spec["volumes"] = rng.pick(&[
            json!([{"name": "v", "emptyDir": {}}]),
            json!([{"name": "v", "configMap": {"name": "x"}}, {"name": "w", "emptyDir": {}}]),
        ]);
    }
    if rng.percent(15) {
        spec["nodeSelector"] = texts(rng, &["a", "b"]);
    }
    if rng.percent(10) {
        spec["tolerations"] = json!([{"key": "k", "operator": rng.pick(&["Exists", "Equal"])}]);
    }
    spec
}

fn container(rng: &mut Rng, name: &str) -> Value {
    let mut container = json!({"name": name});
    if rng.percent(70) {
        container["image"] = json!(rng.pick(&["i:1", "i:2"]));
    }
    if rng.percent(30) {
        let names = ["A", "B"];
        let count = rng.between(1, 2);
        let env: Vec<Value> = rng
            .sample(&names, count)
            .iter()
            .map(|name| json!({"name": name, "value": rng.pick(&["1", "2"])}))
            .collect();
        container["env"] = json!(env);
    }
    if rng.percent(30) {
        container["ports"] = rng.pick(&[
            json!([{"containerPort": 80}]),
            json!([{"containerPort": 80, "protocol": "TCP"}]),
            json!([{"containerPort": 80, "name": "http"}, {"containerPort": 81}]),
            json!([{"containerPort": 80, "protocol": "UDP"}]),
        ]);
    }
    if rng.percent(20) {
        container["resources"] = json!({"limits": {"cpu": rng.pick(&["1", "1000m", "2"])}});
    }
    if rng.percent(15) {
        container["args"] = rng.pick(&[json!(["a"]), json!(["a", "b"]), json!([])]);
    }
    container
}

fn service_spec(rng: &mut Rng) -> Value {
    let mut spec = json!({});
    if rng.percent(60) {
        spec["ports"] = rng.pick(&[
            json!([{"port": 80}]),
            json!([{"port": 80, "protocol": "TCP", "name": "a"}]),
            json!([{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]),
            json!([{"port": 80, "targetPort": "http"}]),
            json!([{"port": 80, "protocol": "UDP"}]),
        ]);
    }
    if rng.percent(40) {
        spec["selector"] = texts(rng, &["a", "b"]);
    }
    if rng.percent(20) {
        spec["sessionAffinity"] = json!(rng.pick(&["ClientIP", "None"]));
    }
    spec
}

fn operations(rng: &mut Rng) -> Value {
    rng.pick(&[
        json!([{"op": "add", "path": "/metadata/labels", "value": {"l1": "j"}}]),
        json!([{"op": "remove", "path": "/metadata/labels"}]),
        json!([{"op": "replace", "path": "/spec/replicas", "value": 4}]),
        json!([{"op": "remove", "path": "/metadata/managedFields"}]),
        json!([{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]),
        json!([{"op": "add", "path": "/data/k1", "value": "j"}]),
    ])
}

/// Returns the object with fields replaced; objects are merged, everything else is taken from the changes.
fn merged(object: &Value, changes: &Value) -> Value {
    match (object, changes) {
        (Value::Object(fields), Value::Object(changes)) => {
            let mut merged_fields = fields.clone();
            for (key, change) in changes {
                let value = fields.get(key).map_or_else(|| change.clone(), |value| merged(value, change));
                merged_fields.insert(key.clone(), value);
            }
            Value::Object(merged_fields)
        }
        _ => changes.clone(),
    }
}
