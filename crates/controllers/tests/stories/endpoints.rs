//! Endpoints and EndpointSlices of Services, compared with what kube-controller-manager 1.37 wrote, and their events.
//!
//! `recorded/endpoints.json` holds requests to a kube-apiserver and the objects that its controllers had written when
//! they had settled. Uids are masked, lists without an order are sorted, and the time of the last change is omitted
//! where it depends on which changes the controllers happened to see at once.

use gantry_json::{Value, json};

use crate::cluster::{Cluster, PODS, items};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const TRIGGER_TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";

/// A cluster with the three nodes of the recording: two in zones, one in none.
async fn cluster() -> Cluster {
    let cluster = Cluster::new().await;
    for (name, zone) in [("node-a", Some("zone-a")), ("node-b", Some("zone-b")), ("node-c", None)] {
        let labels = zone.map_or_else(|| json!({}), |zone| json!({"topology.kubernetes.io/zone": zone}));
        cluster.send("POST", "/api/v1/nodes", json!({"metadata": {"name": name, "labels": labels}})).await;
    }
    cluster
}

/// A Service `web` with port 80 for the pods labelled `app=web`.
async fn service(cluster: &Cluster) -> Value {
    let spec = json!({"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]});
    cluster.send("POST", SERVICES, json!({"metadata": {"name": "web"}, "spec": spec})).await
}

/// A pod that is ready on a node.
async fn ready_pod(cluster: &Cluster, name: &str, node: &str, ip: &str) {
    let meta = json!({"name": name, "labels": {"app": "web"}});
    let spec = json!({"nodeName": node, "containers": [{"name": "c", "image": "i"}]});
    cluster.send("POST", PODS, json!({"metadata": meta, "spec": spec})).await;
    let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:05Z"});
    let status = json!({"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [ready]});
    cluster.send("PATCH", &format!("{PODS}/{name}/status"), json!({"status": status})).await;
}

/// All endpoints of the namespace in the form of the recording.
async fn written(cluster: &Cluster, is_dated: bool) -> Value {
    let services = cluster.get(SERVICES).await;
    let created: Vec<_> = items(&services).map(|one| one["metadata"]["creationTimestamp"].clone()).collect();
    let masked = |object: &Value, fields: &[&str]| {
        let mut shown = json!({});
        for field in ["labels", "annotations", "ownerReferences", "generateName"] {
            copy(&object["metadata"][field], &mut shown, field);
        }
        for field in fields {
            copy(&object[*field], &mut shown, field);
        }
        if let Some(annotations) = shown["annotations"].as_object_mut() {
            if !is_dated {
                annotations.remove(TRIGGER_TIME);
            } else if annotations.get(TRIGGER_TIME).is_some_and(|time| created.contains(time)) {
                annotations[TRIGGER_TIME] = json!("CREATED");
            }
        }
        let fields = shown.as_object_mut().unwrap();
        fields.retain(|_, value| !value.is_null() && *value != json!({}));
        mask_uids(&mut shown);
        shown
    };
    let listed = cluster.get(ENDPOINTS).await;
    let endpoints = items(&listed).map(|object| {
        let mut shown = masked(object, &["subsets"]);
        shown["name"] = object["metadata"]["name"].clone();
        sort(&mut shown["subsets"]);
        if shown["subsets"].is_null() {
            shown.as_object_mut().unwrap().remove("subsets");
        }
        shown
    });
    let endpoints: Vec<Value> = endpoints.filter(|one| one["name"] != "kubernetes").collect();
    let listed = cluster.get(SLICES).await;
    let slices = items(&listed).filter(|slice| slice["metadata"]["name"] != "kubernetes").map(|object| {
        let mut shown = masked(object, &["addressType", "ports", "endpoints"]);
        if let Some(endpoints) = shown["endpoints"].as_array_mut() {
            endpoints.sort_by_key(|one| (one["addresses"].to_string(), one["targetRef"].to_string()));
        } else {
            shown.as_object_mut().unwrap().remove("endpoints");
        }
        shown
    });
    let mut slices = Value::Array(slices.collect());
    sort(&mut slices);
    json!({"endpoints": endpoints, "slices": slices})
}

fn copy(from: &Value, to: &mut Value, field: &str) {
    if !from.is_null() && *from != json!([]) {
        to[field] = from.clone();
    }
}

fn sort(list: &mut Value) {
    if let Some(list) = list.as_array_mut() {
        list.sort_by_key(ToString::to_string);
    }
}

/// Masks every uid, and the namespace of every target.
fn mask_uids(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.contains_key("uid") {
                fields.insert("uid".to_owned(), json!("UID"));
                if fields.contains_key("namespace") {
                    fields.insert("namespace".to_owned(), json!("NS"));
                }
            }
            fields.values_mut().for_each(mask_uids);
        }
        Value::Array(all) => all.iter_mut().for_each(mask_uids),
        _ => {}
    }
}

async fn play(scenario: &Value) {
    let cluster = cluster().await;
    let name = scenario["scenario"].as_str().unwrap();
    let is_dated = scenario.to_string().contains(TRIGGER_TIME);
    for (nth, step) in scenario["steps"].as_array().unwrap().iter().enumerate() {
        for request in step["requests"].as_array().unwrap() {
            let [method, path, body] = request.as_array().unwrap().as_slice() else { panic!("{request}") };
            let mut path = path.as_str().unwrap().replace("/NS/", "/default/");
            if path.contains("SLICE0") {
                let slices = cluster.get(SLICES).await;
                let mut names: Vec<_> =
                    items(&slices).map(|one| one["metadata"]["name"].as_str().unwrap()).collect();
                names.retain(|name| name.starts_with("web-"));
                path = path.replace("SLICE0", names.first().unwrap());
            }
            cluster.send(method.as_str().unwrap(), &path, body.clone()).await;
            if is_dated {
                cluster.settle().await;
            }
        }
        cluster.settle().await;
        let expected = json!({"endpoints": step["endpoints"], "slices": step["slices"]});
        let found = written(&cluster, is_dated).await;
        assert_eq!(
            gantry_json::to_string_pretty(&found).unwrap(),
            gantry_json::to_string_pretty(&expected).unwrap(),
            "{name}, step {nth}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn services_get_the_recorded_endpoints() {
    let recorded: Value = gantry_json::from_str(include_str!("recorded/endpoints.json")).unwrap();
    for scenario in recorded.as_array().unwrap() {
        play(scenario).await;
    }
}

/// The pod is left out, with an event, and the others are not; when the node appears, the pod is added.
#[tokio::test(start_paused = true)]
async fn a_pod_on_a_node_that_does_not_exist_is_left_out_until_it_does() {
    let cluster = cluster().await;
    service(&cluster).await;
    ready_pod(&cluster, "a", "node-a", "10.1.0.1").await;
    ready_pod(&cluster, "b", "node-x", "10.1.0.2").await;
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let addresses = async || {
        let slices = cluster.get(SLICES).await;
        let all = items(&slices).filter(|slice| slice["metadata"]["name"] != "kubernetes");
        all.flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten())
            .map(|endpoint| endpoint["addresses"][0].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(addresses().await, ["10.1.0.1"]);
    let events = cluster.get("/api/v1/namespaces/default/events").await;
    let event = items(&events).find(|event| event["reason"] == "FailedToUpdateEndpointSlices").unwrap();
    assert_eq!(
        event["message"],
        "Error updating Endpoint Slices for Service default/web: skipping Pod b for Service default/web: Node node-x \
         Not Found"
    );
    assert_eq!(event["source"]["component"], "endpoint-slice-controller");
    cluster.send("POST", "/api/v1/nodes", json!({"metadata": {"name": "node-x"}})).await;
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    assert_eq!(addresses().await, ["10.1.0.1", "10.1.0.2"]);
}

/// Nothing is written twice: neither after a restart of the controllers, nor when a pod changes in a way that endpoints
/// do not show.
#[tokio::test(start_paused = true)]
async fn unchanged_endpoints_are_not_written_again() {
    let mut cluster = cluster().await;
    service(&cluster).await;
    ready_pod(&cluster, "a", "node-a", "10.1.0.1").await;
    cluster.settle().await;
    let versions = async |cluster: &Cluster| {
        let (endpoints, slices) = (cluster.get(ENDPOINTS).await, cluster.get(SLICES).await);
        let version = |one: &Value| one["metadata"]["resourceVersion"].clone();
        items(&endpoints).chain(items(&slices)).map(version).collect::<Vec<_>>()
    };
    let before = versions(&cluster).await;
    let touched = json!({"metadata": {"annotations": {"note": "seen"}}});
    cluster.send("PATCH", &format!("{PODS}/a"), touched).await;
    cluster.settle().await;
    cluster.stop().await;
    cluster.start();
    cluster.settle().await;
    assert_eq!(versions(&cluster).await, before);
}

/// The Endpoints of a deleted Service are deleted, also if the controller did not run at that time; its slices are
/// deleted by the garbage collector.
#[tokio::test(start_paused = true)]
async fn deleting_a_service_deletes_its_endpoints() {
    let mut cluster = cluster().await;
    service(&cluster).await;
    ready_pod(&cluster, "a", "node-a", "10.1.0.1").await;
    cluster.settle().await;
    cluster.stop().await;
    cluster.send("DELETE", &format!("{SERVICES}/web"), Value::Null).await;
    cluster.start();
    cluster.settle().await;
    let remaining = written(&cluster, false).await;
    assert_eq!(remaining, json!({"endpoints": [], "slices": []}));
}
