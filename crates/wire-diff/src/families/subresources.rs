//! Subresources with right and wrong bodies, methods and content types.

use serde_json::{Value, json};

use crate::bases::base;
use crate::case::{
    APPLY, Body, Case, JSON, JSON_PATCH, MERGE, METADATA, Request, STRATEGIC, Step, TABLE, YAML, with_query,
};
use crate::dice::Dice;

/// A resource, a subresource and bodies for it: the first one is right.
type Row = (&'static str, &'static str, fn(&mut Dice) -> Value);

const ROWS: [Row; 19] = [
    ("deployments", "status", workload_status),
    ("deployments", "scale", scale),
    ("replicasets", "scale", scale),
    ("replicasets", "status", workload_status),
    ("statefulsets", "scale", scale),
    ("replicationcontrollers", "scale", scale),
    ("pods", "status", pod_status),
    ("pods", "binding", binding),
    ("pods", "eviction", eviction),
    ("pods", "ephemeralcontainers", ephemeral_containers),
    ("pods", "resize", resize),
    ("serviceaccounts", "token", token),
    ("namespaces", "finalize", finalize),
    ("namespaces", "status", namespace_status),
    ("nodes", "status", node_status),
    ("services", "status", service_status),
    ("jobs", "status", job_status),
    ("persistentvolumeclaims", "status", claim_status),
    ("poddisruptionbudgets", "status", budget_status),
];

pub(super) fn case(dice: &mut Dice, kinds: &[String]) -> Case {
    let rows: Vec<Row> =
        ROWS.into_iter().filter(|row| kinds.is_empty() || kinds.iter().any(|kind| kind == row.0)).collect();
    let (resource, subresource, body) = dice.pick(if rows.is_empty() { &ROWS } else { &rows });
    let (mut steps, path, object) = if resource == "namespaces" {
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "{ns}-2"}});
        (
            vec![Step::Send(Request::post("/api/v1/namespaces", object.clone()))],
            "/api/v1/namespaces/{ns}-2".to_owned(),
            object,
        )
    } else {
        let base = base(resource);
        (vec![Step::Send(Request::post(base.collection(), base.object.clone()))], base.path(), base.object)
    };
    for _ in 0..dice.between(1, 4) {
        let path = if dice.percent(5) {
            format!("{path}-absent/{subresource}")
        } else {
            format!("{path}/{subresource}")
        };
        let body = completed(dice, &object, subresource, body);
        steps.push(Step::Send(request(dice, &path, body, subresource)));
    }
    steps.push(Step::Send(Request::get(path)));
    Case { kind: format!("{resource}/{subresource}"), steps }
}

fn request(dice: &mut Dice, path: &str, body: Value, subresource: &str) -> Request {
    let mut parameters = vec![("fieldManager", "m1".to_owned())];
    if dice.percent(8) {
        parameters.push(("dryRun", dice.pick(&["All", "Some"]).to_owned()));
    }
    if dice.percent(8) {
        parameters.push(("fieldValidation", dice.pick(&["Strict", "Ignore", "x"]).to_owned()));
    }
    let path = with_query(path, &parameters);
    let is_created = ["binding", "eviction", "token"].contains(&subresource);
    let usual = if is_created { "POST" } else { dice.pick(&["PUT", "PUT", "PATCH", "PATCH", "GET"]) };
    let method = if dice.percent(85) { usual } else { dice.pick(&["GET", "PUT", "POST", "PATCH", "DELETE"]) };
    let accept =
        if dice.percent(90) { JSON } else { dice.pick(&[TABLE, METADATA, YAML, "text/html", "*/*"]) };
    let request = match method {
        "GET" | "DELETE" => Request::new(method, path),
        "PATCH" => {
            let kind = dice.pick(&[MERGE, MERGE, STRATEGIC, STRATEGIC, APPLY, JSON_PATCH, JSON]);
            let body = if kind == JSON_PATCH { operations(dice) } else { body };
            let path = if kind == APPLY && dice.percent(60) { path + "&force=true" } else { path };
            Request::patch(kind, path, body)
        }
        _ => Request::new(method, path)
            .with(if dice.percent(95) { JSON } else { dice.pick(&["text/plain", YAML, MERGE, ""]) }, body),
    };
    if dice.percent(4) && request.body != Body::None {
        return Request {
            body: Body::Text(dice.pick(&["{", "", "[]", "null", "{\"kind\":\"Pod\"}"]).to_owned()),
            ..request
        }
        .accepting(accept);
    }
    request.accepting(accept)
}

/// Returns a body with what every object says about itself, unless it is of a kind of its own or, now and then, not.
fn completed(dice: &mut Dice, object: &Value, subresource: &str, body: fn(&mut Dice) -> Value) -> Value {
    let mut body = body(dice);
    if body["kind"].is_null() && dice.percent(95) {
        body["apiVersion"] = object["apiVersion"].clone();
        body["kind"] = object["kind"].clone();
        for key in ["spec", "metadata"] {
            if body[key].is_null()
                && !object[key].is_null()
                && !(key == "spec" && subresource == "status" && dice.percent(50))
            {
                body[key] = object[key].clone();
            }
        }
    }
    if dice.percent(80) && !body["metadata"].is_object() {
        body["metadata"] = json!({});
    }
    if body["metadata"].is_object() && dice.percent(92) {
        body["metadata"]["name"] = object["metadata"]["name"].clone();
    }
    match dice.below(20) {
        0 => body["metadata"]["resourceVersion"] = json!(dice.pick(&["{rv.0}", "1", "x"])),
        1 => body["metadata"]["uid"] = json!(dice.pick(&["{uid.0}", "00000000-0000-0000-0000-00000000000a"])),
        2 => body["metadata"]["labels"] = json!({"a": "b"}),
        3 => body["metadata"]["name"] = json!("other"),
        4 => body["metadata"]["namespace"] = json!("other"),
        5 => body["unknown"] = json!(1),
        6 => body["kind"] = json!("Other"),
        7 => body["apiVersion"] = json!(dice.pick(&["v2", "apps/v1beta1", ""])),
        8 => body["spec"] = dice.pick(&[json!({}), Value::Null, json!([]), json!("x")]),
        _ => {}
    }
    body
}

fn operations(dice: &mut Dice) -> Value {
    dice.pick(&[
        json!([{"op": "add", "path": "/status", "value": {"phase": "Running"}}]),
        json!([{"op": "replace", "path": "/spec/replicas", "value": 3}]),
        json!([{"op": "add", "path": "/metadata/labels", "value": {"j": "p"}}]),
        json!([{"op": "remove", "path": "/status"}]),
        json!([{"op": "test", "path": "/metadata/name", "value": "no"}]),
        json!({}),
    ])
}

fn scale(dice: &mut Dice) -> Value {
    let replicas = dice.pick(&[
        json!(1),
        json!(3),
        json!(0),
        json!(-1),
        json!("2"),
        json!(1.5),
        Value::Null,
        json!(2_147_483_648_i64),
    ]);
    let mut scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {}, "spec": {"replicas": replicas}});
    match dice.below(8) {
        0 => {
            scale["apiVersion"] = json!(dice.pick(&["autoscaling/v2", "apps/v1beta1", "extensions/v1beta1"]));
        }
        1 => scale["status"] = json!({"replicas": 7, "selector": "x"}),
        2 => scale["spec"] = json!({}),
        3 => scale["metadata"]["annotations"] = json!({"a": "b"}),
        _ => {}
    }
    scale
}

fn condition(dice: &mut Dice) -> Value {
    let mut condition = json!({"type": dice.pick(&["Available", "Ready", "x/y", ""]), "status": dice.pick(&["True", "False", "Unknown", "x"])});
    if dice.percent(40) {
        condition["reason"] = json!(dice.pick(&["Because", "", "not good"]));
        condition["lastTransitionTime"] =
            dice.pick(&[json!("2024-01-02T03:04:05Z"), Value::Null, json!("x")]);
    }
    condition
}

fn conditions(dice: &mut Dice) -> Value {
    (0..dice.between(1, 2)).map(|_| condition(dice)).collect()
}

fn workload_status(dice: &mut Dice) -> Value {
    let mut status = json!({"replicas": dice.pick(&[0, 1, 2, -1])});
    for name in [
        "readyReplicas",
        "availableReplicas",
        "updatedReplicas",
        "fullyLabeledReplicas",
        "observedGeneration",
        "collisionCount",
        "terminatingReplicas",
    ] {
        if dice.percent(30) {
            status[name] = dice.pick(&[json!(1), json!(2), json!(-1), json!(5), Value::Null]);
        }
    }
    if dice.percent(40) {
        status["conditions"] = conditions(dice);
    }
    json!({"status": status})
}

fn pod_status(dice: &mut Dice) -> Value {
    let state = dice.pick(&[
        json!({"running": {"startedAt": "2024-01-02T03:04:05Z"}}),
        json!({"waiting": {"reason": "X"}}),
        json!({"terminated": {"exitCode": 1}}),
        json!({}),
    ]);
    let mut status = json!({"phase": dice.pick(&["Running", "Pending", "Succeeded", "Failed", "Odd", ""])});
    if dice.percent(50) {
        let name = dice.pick(&["c", "c", "d"]);
        status["containerStatuses"] = json!([{"name": name, "image": "i:1", "imageID": "", "ready": dice.percent(50), "restartCount": dice.pick(&[0, 1, -1]), "state": state}]);
    }
    if dice.percent(40) {
        status["conditions"] = conditions(dice);
    }
    if dice.percent(30) {
        status["podIPs"] = dice.pick(&[
            json!([{"ip": "10.0.0.1"}]),
            json!([{"ip": "x"}]),
            json!([{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]),
            json!([]),
        ]);
    }
    if dice.percent(20) {
        status["qosClass"] = json!(dice.pick(&["BestEffort", "Guaranteed", "x"]));
    }
    if dice.percent(20) {
        status["nominatedNodeName"] = json!(dice.pick(&["n1", "N_1", ""]));
    }
    json!({"status": status})
}

fn binding(dice: &mut Dice) -> Value {
    let target = dice.pick(&[
        json!({"kind": "Node", "name": "n1"}),
        json!({"kind": "Node", "name": "n1"}),
        json!({"name": "n2"}),
        json!({"kind": "Pod", "name": "x"}),
        json!({"kind": "Node"}),
        Value::Null,
        json!({"kind": "Node", "name": "../x"}),
    ]);
    let mut binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {}, "target": target});
    if dice.percent(15) {
        binding["metadata"] = json!({"annotations": {"a": "b"}, "labels": {"x": "y"}});
    }
    binding
}

fn eviction(dice: &mut Dice) -> Value {
    let mut eviction = json!({"apiVersion": dice.pick(&["policy/v1", "policy/v1", "policy/v1beta1"]), "kind": "Eviction", "metadata": {}});
    if dice.percent(40) {
        let options = [
            json!({"gracePeriodSeconds": 0}),
            json!({"gracePeriodSeconds": -1}),
            json!({"preconditions": {"uid": "00000000-0000-0000-0000-00000000000a"}}),
            json!({"dryRun": ["All"]}),
            json!({"dryRun": ["x"]}),
            json!({"preconditions": {"resourceVersion": "1"}}),
            json!({"propagationPolicy": "x"}),
        ];
        eviction["deleteOptions"] = dice.pick(&options);
    }
    eviction
}

fn ephemeral_containers(dice: &mut Dice) -> Value {
    let mut container =
        json!({"name": dice.pick(&["e", "e", "c", "E_"]), "image": dice.pick(&["i:1", "i:2", ""])});
    match dice.below(8) {
        0 => container["ports"] = json!([{"containerPort": 80}]),
        1 => container["resources"] = json!({"limits": {"cpu": "1"}}),
        2 => container["targetContainerName"] = json!(dice.pick(&["c", "x"])),
        3 => container["livenessProbe"] = json!({"tcpSocket": {"port": 80}}),
        4 => container["lifecycle"] = json!({"preStop": {"exec": {"command": ["x"]}}}),
        _ => {}
    }
    let base = base("pods").object["spec"].clone();
    let mut spec = if dice.percent(60) { base } else { json!({}) };
    spec["ephemeralContainers"] = if dice.percent(85) { json!([container]) } else { json!([]) };
    json!({"spec": spec})
}

fn resize(dice: &mut Dice) -> Value {
    let resources = dice.pick(&[
        json!({"requests": {"cpu": "1"}}),
        json!({"limits": {"cpu": "1", "memory": "1Gi"}}),
        json!({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
        json!({"requests": {"storage": "1"}}),
        json!({}),
        json!({"requests": {"cpu": "x"}}),
    ]);
    let mut spec = if dice.percent(60) { base("pods").object["spec"].clone() } else { json!({}) };
    spec["containers"] = json!([{"name": dice.pick(&["c", "c", "c", "d"]), "image": dice.pick(&["i:1", "i:1", "i:2"]), "resources": resources}]);
    if dice.percent(20) {
        spec["containers"][0]["resizePolicy"] =
            json!([{"resourceName": "cpu", "restartPolicy": "NotRequired"}]);
    }
    json!({"spec": spec})
}

fn token(dice: &mut Dice) -> Value {
    let mut spec = json!({});
    if dice.percent(50) {
        spec["audiences"] = dice.pick(&[json!(["a"]), json!(["a", "b"]), json!([]), json!([""]), json!("a")]);
    }
    if dice.percent(50) {
        spec["expirationSeconds"] = dice.pick(&[
            json!(3600),
            json!(600),
            json!(599),
            json!(-1),
            json!(0),
            json!(4_294_967_297_i64),
            Value::Null,
            json!("x"),
        ]);
    }
    if dice.percent(30) {
        let bound = |kind: &str, version: &str, name: &str| json!({"kind": kind, "apiVersion": version, "name": name});
        spec["boundObjectRef"] = dice.pick(&[
            bound("Pod", "v1", "p"),
            bound("Secret", "v1", "s"),
            bound("Node", "v1", "n"),
            bound("ConfigMap", "v1", "c"),
            json!({"kind": "Pod", "apiVersion": "v1", "name": "p", "uid": "00000000-0000-0000-0000-00000000000a"}),
            json!({}),
        ]);
    }
    let mut token = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {}, "spec": spec});
    if dice.percent(5) {
        token["status"] = json!({"token": "x", "expirationTimestamp": null});
    }
    token
}

fn finalize(dice: &mut Dice) -> Value {
    json!({"spec": {"finalizers": dice.pick(&[json!(["kubernetes"]), json!(["kubernetes", "example.com/x"]), json!(["x"]), json!([]), json!("x")])}})
}

fn namespace_status(dice: &mut Dice) -> Value {
    let mut status = json!({"phase": dice.pick(&["Active", "Terminating", "Odd"])});
    if dice.percent(40) {
        status["conditions"] = conditions(dice);
    }
    json!({"status": status})
}

fn node_status(dice: &mut Dice) -> Value {
    let mut status =
        json!({"capacity": {"cpu": dice.pick(&["1", "x", "-1", "500m"]), "pods": dice.pick(&["1", "1.5"])}});
    if dice.percent(50) {
        status["conditions"] = conditions(dice);
    }
    if dice.percent(40) {
        status["addresses"] = dice.pick(&[
            json!([{"type": "InternalIP", "address": "10.0.0.1"}]),
            json!([{"type": "x", "address": "y"}, {"type": "x", "address": "y"}]),
        ]);
    }
    json!({"status": status})
}

fn service_status(dice: &mut Dice) -> Value {
    let ingress = dice.pick(&[
        json!([{"ip": "1.2.3.4"}]),
        json!([{"hostname": "a.b"}]),
        json!([{"ip": "x"}]),
        json!([{"ip": "1.2.3.4", "hostname": "A_"}]),
        json!([]),
    ]);
    json!({"status": {"loadBalancer": {"ingress": ingress}}})
}

fn job_status(dice: &mut Dice) -> Value {
    let mut status = json!({"active": dice.pick(&[0, 1, -1])});
    for name in ["succeeded", "failed", "ready", "terminating"] {
        if dice.percent(30) {
            status[name] = json!(dice.pick(&[0, 1, 2, -1]));
        }
    }
    if dice.percent(40) {
        status["conditions"] = json!([{"type": dice.pick(&["Complete", "Failed", "Suspended"]), "status": dice.pick(&["True", "False"])}]);
    }
    if dice.percent(40) {
        status["startTime"] = json!("2024-01-02T03:04:05Z");
    }
    if dice.percent(30) {
        status["completionTime"] = json!(dice.pick(&["2024-01-02T03:04:06Z", "2024-01-02T03:04:04Z"]));
    }
    if dice.percent(30) {
        status["uncountedTerminatedPods"] =
            json!({"succeeded": dice.pick(&[json!([]), json!(["a"]), json!(["a", "a"])])});
    }
    json!({"status": status})
}

fn claim_status(dice: &mut Dice) -> Value {
    let mut status = json!({"phase": dice.pick(&["Bound", "Pending", "Lost", "Odd"])});
    if dice.percent(40) {
        status["capacity"] = json!({"storage": dice.pick(&["1Gi", "-1", "x"])});
    }
    if dice.percent(40) {
        status["accessModes"] = json!(["ReadWriteOnce"]);
    }
    if dice.percent(30) {
        status["conditions"] = conditions(dice);
    }
    json!({"status": status})
}

fn budget_status(dice: &mut Dice) -> Value {
    let mut status = json!({});
    for name in
        ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods", "observedGeneration"]
    {
        if dice.percent(70) {
            status[name] = json!(dice.pick(&[0, 1, 2, -1]));
        }
    }
    if dice.percent(40) {
        status["conditions"] = conditions(dice);
    }
    if dice.percent(20) {
        status["disruptedPods"] = json!({"p": "2024-01-02T03:04:05Z"});
    }
    json!({"status": status})
}
