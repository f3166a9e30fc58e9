//! Subresources with valid and invalid bodies, methods and content types.

use gantry_json::{Value, json};

use crate::bases::base;
use crate::case::{
    APPLY, Body, Case, JSON, JSON_PATCH, MERGE, METADATA, Request, STRATEGIC, Step, TABLE, YAML, with_query,
};
use gantry_rng::Rng;

/// A resource, a subresource, and a function that makes bodies for it.
type Row = (&'static str, &'static str, fn(&mut Rng) -> Value);

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

pub(super) fn case(rng: &mut Rng, kinds: &[String]) -> Case {
    let rows: Vec<Row> =
        ROWS.into_iter().filter(|row| kinds.is_empty() || kinds.iter().any(|kind| kind == row.0)).collect();
    let (resource, subresource, body) = rng.pick(if rows.is_empty() { &ROWS } else { &rows });
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
    for _ in 0..rng.between(1, 4) {
        let path = if rng.percent(5) {
            format!("{path}-absent/{subresource}")
        } else {
            format!("{path}/{subresource}")
        };
        let body = completed(rng, &object, subresource, body);
        steps.push(Step::Send(request(rng, &path, body, subresource)));
    }
    steps.push(Step::Send(Request::get(path)));
    Case { kind: format!("{resource}/{subresource}"), steps }
}

fn request(rng: &mut Rng, path: &str, body: Value, subresource: &str) -> Request {
    let mut parameters = vec![("fieldManager", "m1".to_owned())];
    if rng.percent(8) {
        parameters.push(("dryRun", rng.pick(&["All", "Some"]).to_owned()));
    }
    if rng.percent(8) {
        parameters.push(("fieldValidation", rng.pick(&["Strict", "Ignore", "x"]).to_owned()));
    }
    let path = with_query(path, &parameters);
    let is_created = ["binding", "eviction", "token"].contains(&subresource);
    let usual = if is_created { "POST" } else { rng.pick(&["PUT", "PUT", "PATCH", "PATCH", "GET"]) };
    let method = if rng.percent(85) { usual } else { rng.pick(&["GET", "PUT", "POST", "PATCH", "DELETE"]) };
    let accept = if rng.percent(90) { JSON } else { rng.pick(&[TABLE, METADATA, YAML, "text/html", "*/*"]) };
    let request = match method {
        "GET" | "DELETE" => Request::new(method, path),
        "PATCH" => {
            let kind = rng.pick(&[MERGE, MERGE, STRATEGIC, STRATEGIC, APPLY, JSON_PATCH, JSON]);
            let body = if kind == JSON_PATCH { operations(rng) } else { body };
            let path = if kind == APPLY && rng.percent(60) { path + "&force=true" } else { path };
            Request::patch(kind, path, body)
        }
        _ => Request::new(method, path)
            .with(if rng.percent(95) { JSON } else { rng.pick(&["text/plain", YAML, MERGE, ""]) }, body),
    };
    if rng.percent(4) && request.body != Body::None {
        return Request {
            body: Body::Text(rng.pick(&["{", "", "[]", "null", "{\"kind\":\"Pod\"}"]).to_owned()),
            ..request
        }
        .accepting(accept);
    }
    request.accepting(accept)
}

/// Returns a body with the type and fields of the object, unless it has a type of its own; occasionally without them.
fn completed(rng: &mut Rng, object: &Value, subresource: &str, body: fn(&mut Rng) -> Value) -> Value {
    let mut body = body(rng);
    if body["kind"].is_null() && rng.percent(95) {
        body["apiVersion"] = object["apiVersion"].clone();
        body["kind"] = object["kind"].clone();
        for key in ["spec", "metadata"] {
            if body[key].is_null()
                && !object[key].is_null()
                && !(key == "spec" && subresource == "status" && rng.percent(50))
            {
                body[key] = object[key].clone();
            }
        }
    }
    if rng.percent(80) && !body["metadata"].is_object() {
        body["metadata"] = json!({});
    }
    if body["metadata"].is_object() && rng.percent(92) {
        body["metadata"]["name"] = object["metadata"]["name"].clone();
    }
    match rng.index(20) {
        0 => body["metadata"]["resourceVersion"] = json!(rng.pick(&["{rv.0}", "1", "x"])),
        1 => body["metadata"]["uid"] = json!(rng.pick(&["{uid.0}", "00000000-0000-0000-0000-00000000000a"])),
        2 => body["metadata"]["labels"] = json!({"a": "b"}),
        3 => body["metadata"]["name"] = json!("other"),
        4 => body["metadata"]["namespace"] = json!("other"),
        5 => body["unknown"] = json!(1),
        6 => body["kind"] = json!("Other"),
        7 => body["apiVersion"] = json!(rng.pick(&["v2", "apps/v1beta1", ""])),
        8 => body["spec"] = rng.pick(&[json!({}), Value::Null, json!([]), json!("x")]),
        _ => {}
    }
    body
}

fn operations(rng: &mut Rng) -> Value {
    rng.pick(&[
        json!([{"op": "add", "path": "/status", "value": {"phase": "Running"}}]),
        json!([{"op": "replace", "path": "/spec/replicas", "value": 3}]),
        json!([{"op": "add", "path": "/metadata/labels", "value": {"j": "p"}}]),
        json!([{"op": "remove", "path": "/status"}]),
        json!([{"op": "test", "path": "/metadata/name", "value": "no"}]),
        json!({}),
    ])
}

fn scale(rng: &mut Rng) -> Value {
    let replicas = rng.pick(&[
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
    match rng.index(8) {
        0 => {
            scale["apiVersion"] = json!(rng.pick(&["autoscaling/v2", "apps/v1beta1", "extensions/v1beta1"]));
        }
        1 => scale["status"] = json!({"replicas": 7, "selector": "x"}),
        2 => scale["spec"] = json!({}),
        3 => scale["metadata"]["annotations"] = json!({"a": "b"}),
        _ => {}
    }
    scale
}

fn condition(rng: &mut Rng) -> Value {
    let mut condition = json!({"type": rng.pick(&["Available", "Ready", "x/y", ""]), "status": rng.pick(&["True", "False", "Unknown", "x"])});
    if rng.percent(40) {
        condition["reason"] = json!(rng.pick(&["Because", "", "not good"]));
        condition["lastTransitionTime"] = rng.pick(&[json!("2024-01-02T03:04:05Z"), Value::Null, json!("x")]);
    }
    condition
}

fn conditions(rng: &mut Rng) -> Value {
    (0..rng.between(1, 2)).map(|_| condition(rng)).collect()
}

fn workload_status(rng: &mut Rng) -> Value {
    let mut status = json!({"replicas": rng.pick(&[0, 1, 2, -1])});
    for name in [
        "readyReplicas",
        "availableReplicas",
        "updatedReplicas",
        "fullyLabeledReplicas",
        "observedGeneration",
        "collisionCount",
        "terminatingReplicas",
    ] {
        if rng.percent(30) {
            status[name] = rng.pick(&[json!(1), json!(2), json!(-1), json!(5), Value::Null]);
        }
    }
    if rng.percent(40) {
        status["conditions"] = conditions(rng);
    }
    json!({"status": status})
}

fn pod_status(rng: &mut Rng) -> Value {
    let state = rng.pick(&[
        json!({"running": {"startedAt": "2024-01-02T03:04:05Z"}}),
        json!({"waiting": {"reason": "X"}}),
        json!({"terminated": {"exitCode": 1}}),
        json!({}),
    ]);
    let mut status = json!({"phase": rng.pick(&["Running", "Pending", "Succeeded", "Failed", "Odd", ""])});
    if rng.percent(50) {
        let name = rng.pick(&["c", "c", "d"]);
        status["containerStatuses"] = json!([{"name": name, "image": "i:1", "imageID": "", "ready": rng.percent(50), "restartCount": rng.pick(&[0, 1, -1]), "state": state}]);
    }
    if rng.percent(40) {
        status["conditions"] = conditions(rng);
    }
    if rng.percent(30) {
        status["podIPs"] = rng.pick(&[
            json!([{"ip": "10.0.0.1"}]),
            json!([{"ip": "x"}]),
            json!([{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]),
            json!([]),
        ]);
    }
    if rng.percent(20) {
        status["qosClass"] = json!(rng.pick(&["BestEffort", "Guaranteed", "x"]));
    }
    if rng.percent(20) {
        status["nominatedNodeName"] = json!(rng.pick(&["n1", "N_1", ""]));
    }
    json!({"status": status})
}

fn binding(rng: &mut Rng) -> Value {
    let target = rng.pick(&[
        json!({"kind": "Node", "name": "n1"}),
        json!({"kind": "Node", "name": "n1"}),
        json!({"name": "n2"}),
        json!({"kind": "Pod", "name": "x"}),
        json!({"kind": "Node"}),
        Value::Null,
        json!({"kind": "Node", "name": "../x"}),
    ]);
    let mut binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {}, "target": target});
    if rng.percent(15) {
        binding["metadata"] = json!({"annotations": {"a": "b"}, "labels": {"x": "y"}});
    }
    binding
}

fn eviction(rng: &mut Rng) -> Value {
    let mut eviction = json!({"apiVersion": rng.pick(&["policy/v1", "policy/v1", "policy/v1beta1"]), "kind": "Eviction", "metadata": {}});
    if rng.percent(40) {
        let options = [
            json!({"gracePeriodSeconds": 0}),
            json!({"gracePeriodSeconds": -1}),
            json!({"preconditions": {"uid": "00000000-0000-0000-0000-00000000000a"}}),
            json!({"dryRun": ["All"]}),
            json!({"dryRun": ["x"]}),
            json!({"preconditions": {"resourceVersion": "1"}}),
            json!({"propagationPolicy": "x"}),
        ];
        eviction["deleteOptions"] = rng.pick(&options);
    }
    eviction
}

fn ephemeral_containers(rng: &mut Rng) -> Value {
    let mut container =
        json!({"name": rng.pick(&["e", "e", "c", "E_"]), "image": rng.pick(&["i:1", "i:2", ""])});
    match rng.index(8) {
        0 => container["ports"] = json!([{"containerPort": 80}]),
        1 => container["resources"] = json!({"limits": {"cpu": "1"}}),
        2 => container["targetContainerName"] = json!(rng.pick(&["c", "x"])),
        3 => container["livenessProbe"] = json!({"tcpSocket": {"port": 80}}),
        4 => container["lifecycle"] = json!({"preStop": {"exec": {"command": ["x"]}}}),
        _ => {}
    }
    let base = base("pods").object["spec"].clone();
    let mut spec = if rng.percent(60) { base } else { json!({}) };
    spec["ephemeralContainers"] = if rng.percent(85) { json!([container]) } else { json!([]) };
    json!({"spec": spec})
}

fn resize(rng: &mut Rng) -> Value {
    let resources = rng.pick(&[
        json!({"requests": {"cpu": "1"}}),
        json!({"limits": {"cpu": "1", "memory": "1Gi"}}),
        json!({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
        json!({"requests": {"storage": "1"}}),
        json!({}),
        json!({"requests": {"cpu": "x"}}),
    ]);
    let mut spec = if rng.percent(60) { base("pods").object["spec"].clone() } else { json!({}) };
    spec["containers"] = json!([{"name": rng.pick(&["c", "c", "c", "d"]), "image": rng.pick(&["i:1", "i:1", "i:2"]), "resources": resources}]);
    if rng.percent(20) {
        spec["containers"][0]["resizePolicy"] =
            json!([{"resourceName": "cpu", "restartPolicy": "NotRequired"}]);
    }
    json!({"spec": spec})
}

fn token(rng: &mut Rng) -> Value {
    let mut spec = json!({});
    if rng.percent(50) {
        spec["audiences"] = rng.pick(&[json!(["a"]), json!(["a", "b"]), json!([]), json!([""]), json!("a")]);
    }
    if rng.percent(50) {
        spec["expirationSeconds"] = rng.pick(&[
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
    if rng.percent(30) {
        let bound = |kind: &str, version: &str, name: &str| json!({"kind": kind, "apiVersion": version, "name": name});
        spec["boundObjectRef"] = rng.pick(&[
            bound("Pod", "v1", "p"),
            bound("Secret", "v1", "s"),
            bound("Node", "v1", "n"),
            bound("ConfigMap", "v1", "c"),
            json!({"kind": "Pod", "apiVersion": "v1", "name": "p", "uid": "00000000-0000-0000-0000-00000000000a"}),
            json!({}),
        ]);
    }
    let mut token = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {}, "spec": spec});
    if rng.percent(5) {
        token["status"] = json!({"token": "x", "expirationTimestamp": null});
    }
    token
}

fn finalize(rng: &mut Rng) -> Value {
    json!({"spec": {"finalizers": rng.pick(&[json!(["kubernetes"]), json!(["kubernetes", "example.com/x"]), json!(["x"]), json!([]), json!("x")])}})
}

fn namespace_status(rng: &mut Rng) -> Value {
    let mut status = json!({"phase": rng.pick(&["Active", "Terminating", "Odd"])});
    if rng.percent(40) {
        status["conditions"] = conditions(rng);
    }
    json!({"status": status})
}

fn node_status(rng: &mut Rng) -> Value {
    let mut status =
        json!({"capacity": {"cpu": rng.pick(&["1", "x", "-1", "500m"]), "pods": rng.pick(&["1", "1.5"])}});
    if rng.percent(50) {
        status["conditions"] = conditions(rng);
    }
    if rng.percent(40) {
        status["addresses"] = rng.pick(&[
            json!([{"type": "InternalIP", "address": "10.0.0.1"}]),
            json!([{"type": "x", "address": "y"}, {"type": "x", "address": "y"}]),
        ]);
    }
    json!({"status": status})
}

fn service_status(rng: &mut Rng) -> Value {
    let ingress = rng.pick(&[
        json!([{"ip": "1.2.3.4"}]),
        json!([{"hostname": "a.b"}]),
        json!([{"ip": "x"}]),
        json!([{"ip": "1.2.3.4", "hostname": "A_"}]),
        json!([]),
    ]);
    json!({"status": {"loadBalancer": {"ingress": ingress}}})
}

fn job_status(rng: &mut Rng) -> Value {
    let mut status = json!({"active": rng.pick(&[0, 1, -1])});
    for name in ["succeeded", "failed", "ready", "terminating"] {
        if rng.percent(30) {
            status[name] = json!(rng.pick(&[0, 1, 2, -1]));
        }
    }
    if rng.percent(40) {
        status["conditions"] = json!([{"type": rng.pick(&["Complete", "Failed", "Suspended"]), "status": rng.pick(&["True", "False"])}]);
    }
    if rng.percent(40) {
        status["startTime"] = json!("2024-01-02T03:04:05Z");
    }
    if rng.percent(30) {
        status["completionTime"] = json!(rng.pick(&["2024-01-02T03:04:06Z", "2024-01-02T03:04:04Z"]));
    }
    if rng.percent(30) {
        status["uncountedTerminatedPods"] =
            json!({"succeeded": rng.pick(&[json!([]), json!(["a"]), json!(["a", "a"])])});
    }
    json!({"status": status})
}

fn claim_status(rng: &mut Rng) -> Value {
    let mut status = json!({"phase": rng.pick(&["Bound", "Pending", "Lost", "Odd"])});
    if rng.percent(40) {
        status["capacity"] = json!({"storage": rng.pick(&["1Gi", "-1", "x"])});
    }
    if rng.percent(40) {
        status["accessModes"] = json!(["ReadWriteOnce"]);
    }
    if rng.percent(30) {
        status["conditions"] = conditions(rng);
    }
    json!({"status": status})
}

fn budget_status(rng: &mut Rng) -> Value {
    let mut status = json!({});
    for name in
        ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods", "observedGeneration"]
    {
        if rng.percent(70) {
            status[name] = json!(rng.pick(&[0, 1, 2, -1]));
        }
    }
    if rng.percent(40) {
        status["conditions"] = conditions(rng);
    }
    if rng.percent(20) {
        status["disruptedPods"] = json!({"p": "2024-01-02T03:04:05Z"});
    }
    json!({"status": status})
}
