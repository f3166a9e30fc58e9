//! Server-side apply by several managers, between updates and patches of others: conflicts, ownership, shared and removed fields.

use serde_json::{Value, json};

use crate::bases::{Base, base};
use crate::case::{APPLY, Case, JSON_PATCH, MERGE, Request, STRATEGIC, Step, with_query};
use crate::dice::Dice;

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

pub(super) fn case(dice: &mut Dice, kinds: &[String]) -> Case {
    let base = base(super::resource(dice, &RESOURCES, kinds));
    let managers: Vec<String> = (1..=dice.between(2, 4)).map(|number| format!("m{number}")).collect();
    let mut steps = Vec::new();
    if dice.percent(50) {
        steps.push(Step::Send(Request::post(
            with_query(&base.collection(), &[("fieldManager", dice.pick(&managers))]),
            base.object.clone(),
        )));
    }
    for _ in 0..dice.between(3, 7) {
        steps.push(Step::Send(write(dice, &base, &managers)));
    }
    steps.push(Step::Send(Request::get(base.path())));
    Case { kind: base.resource.to_owned(), steps }
}

fn write(dice: &mut Dice, base: &Base, managers: &[String]) -> Request {
    let manager = dice.pick(managers);
    let mut parameters = vec![("fieldManager", manager)];
    if dice.percent(6) {
        parameters.push(("dryRun", "All".to_owned()));
    }
    let path = base.path();
    match dice.below(12) {
        0..7 => {
            if dice.percent(35) {
                parameters.push(("force", dice.pick(&["true", "true", "true", "false", "x"]).to_owned()));
            }
            let subresource = if dice.percent(6) { dice.pick(&["/status", "/scale"]) } else { "" };
            let mut body = applied(dice, base);
            if subresource == "/scale" {
                body = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": base.name()}, "spec": {"replicas": dice.below(4)}});
            }
            Request::patch(APPLY, with_query(&(path + subresource), &parameters), body)
        }
        7 => Request::put(with_query(&path, &parameters), merged(&base.object, &partial(dice, base))),
        8 => Request::patch(MERGE, with_query(&path, &parameters), partial(dice, base)),
        9 => Request::patch(STRATEGIC, with_query(&path, &parameters), partial(dice, base)),
        10 => Request::patch(JSON_PATCH, with_query(&path, &parameters), operations(dice)),
        _ => match dice.below(4) {
            0 => Request::patch(
                MERGE,
                with_query(&path, &parameters),
                json!({"metadata": {"managedFields": dice.pick(&[json!([]), json!([{}]), Value::Null])}}),
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
fn applied(dice: &mut Dice, base: &Base) -> Value {
    let fields = partial(dice, base);
    let mut body = if dice.percent(40) { merged(&base.object, &fields) } else { fields };
    body["apiVersion"] = json!(base.api_version());
    body["kind"] = json!(base.kind());
    body["metadata"]["name"] = json!(base.name());
    if dice.percent(3) {
        body["metadata"]["resourceVersion"] = json!("1");
    }
    if dice.percent(3) {
        body["metadata"]["managedFields"] = json!([{"manager": "m9", "operation": "Apply"}]);
    }
    body
}

/// Some of the kind's fields, with values that managers agree and disagree on.
fn partial(dice: &mut Dice, base: &Base) -> Value {
    let mut fields = json!({"metadata": metadata(dice)});
    match base.resource {
        "configmaps" => fields["data"] = texts(dice, &["a", "k1", "k2"]),
        "deployments" | "statefulsets" => {
            let mut spec = json!({});
            if dice.percent(50) {
                spec["replicas"] = dice.pick(&[json!(1), json!(2), json!(3), Value::Null]);
            }
            if dice.percent(30) {
                spec["minReadySeconds"] = json!(dice.below(3));
            }
            if dice.percent(60) {
                spec["template"] = json!({"spec": pod_spec(dice)});
            }
            if dice.percent(20) {
                spec["template"]["metadata"] = json!({"annotations": texts(dice, &["a", "b"])});
            }
            if base.resource == "deployments" && dice.percent(20) {
                spec["strategy"] = dice.pick(&[
                    json!({"type": "Recreate"}),
                    json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}),
                    json!({}),
                ]);
            }
            fields["spec"] = spec;
        }
        "pods" if dice.percent(60) => {
            fields["spec"] = dice.pick(&[
                json!({"activeDeadlineSeconds": 5}),
                json!({"containers": [{"name": "c", "image": "i:2"}]}),
                json!({"tolerations": [{"key": "k", "operator": "Exists"}]}),
            ]);
        }
        "services" => fields["spec"] = service_spec(dice),
        "persistentvolumeclaims" if dice.percent(50) => {
            fields["spec"] =
                json!({"resources": {"requests": {"storage": dice.pick(&["1Gi", "2Gi", "1024Mi"])}}});
        }
        "networkpolicies" => {
            fields["spec"] = dice.pick(&[
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

fn metadata(dice: &mut Dice) -> Value {
    let mut metadata = json!({});
    if dice.percent(50) {
        metadata["labels"] = texts(dice, &["l1", "l2"]);
    }
    if dice.percent(30) {
        metadata["annotations"] = texts(dice, &["n1", "n2"]);
    }
    if dice.percent(10) {
        let names = ["example.com/a", "example.com/b"];
        let count = dice.below(3);
        metadata["finalizers"] = json!(dice.sample(&names, count));
    }
    if dice.percent(10) {
        let owner = |name: &str, number: usize| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": format!("00000000-0000-0000-0000-00000000000{number}")});
        metadata["ownerReferences"] =
            dice.pick(&[json!([owner("o", 1)]), json!([owner("o", 1), owner("q", 2)]), json!([])]);
    }
    metadata
}

fn texts(dice: &mut Dice, keys: &[&str]) -> Value {
    let mut texts = json!({});
    for key in keys {
        if dice.percent(50) {
            texts[*key] = dice.pick(&[json!("x"), json!("x"), json!("y"), json!(""), Value::Null]);
        }
    }
    texts
}

fn pod_spec(dice: &mut Dice) -> Value {
    let mut containers = Vec::new();
    for name in ["c", "d"] {
        if dice.percent(if name == "c" { 80 } else { 35 }) {
            containers.push(container(dice, name));
        }
    }
    let mut spec = json!({"containers": containers});
    if dice.percent(20) {
        spec["volumes"] = dice.pick(&[
            json!([{"name": "v", "emptyDir": {}}]),
            json!([{"name": "v", "configMap": {"name": "x"}}, {"name": "w", "emptyDir": {}}]),
        ]);
    }
    if dice.percent(15) {
        spec["nodeSelector"] = texts(dice, &["a", "b"]);
    }
    if dice.percent(10) {
        spec["tolerations"] = json!([{"key": "k", "operator": dice.pick(&["Exists", "Equal"])}]);
    }
    spec
}

fn container(dice: &mut Dice, name: &str) -> Value {
    let mut container = json!({"name": name});
    if dice.percent(70) {
        container["image"] = json!(dice.pick(&["i:1", "i:2"]));
    }
    if dice.percent(30) {
        let names = ["A", "B"];
        let count = dice.between(1, 2);
        let env: Vec<Value> = dice
            .sample(&names, count)
            .iter()
            .map(|name| json!({"name": name, "value": dice.pick(&["1", "2"])}))
            .collect();
        container["env"] = json!(env);
    }
    if dice.percent(30) {
        container["ports"] = dice.pick(&[
            json!([{"containerPort": 80}]),
            json!([{"containerPort": 80, "protocol": "TCP"}]),
            json!([{"containerPort": 80, "name": "http"}, {"containerPort": 81}]),
            json!([{"containerPort": 80, "protocol": "UDP"}]),
        ]);
    }
    if dice.percent(20) {
        container["resources"] = json!({"limits": {"cpu": dice.pick(&["1", "1000m", "2"])}});
    }
    if dice.percent(15) {
        container["args"] = dice.pick(&[json!(["a"]), json!(["a", "b"]), json!([])]);
    }
    container
}

fn service_spec(dice: &mut Dice) -> Value {
    let mut spec = json!({});
    if dice.percent(60) {
        spec["ports"] = dice.pick(&[
            json!([{"port": 80}]),
            json!([{"port": 80, "protocol": "TCP", "name": "a"}]),
            json!([{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]),
            json!([{"port": 80, "targetPort": "http"}]),
            json!([{"port": 80, "protocol": "UDP"}]),
        ]);
    }
    if dice.percent(40) {
        spec["selector"] = texts(dice, &["a", "b"]);
    }
    if dice.percent(20) {
        spec["sessionAffinity"] = json!(dice.pick(&["ClientIP", "None"]));
    }
    spec
}

fn operations(dice: &mut Dice) -> Value {
    dice.pick(&[
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
