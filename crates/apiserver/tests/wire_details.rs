//! Details that clients see: order of errors, field ownership, warnings.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod harness;

use gantry_json::{Value, json};
use harness::cluster::{Cluster, message};
use harness::{read, round_trip, send};
use http::Method;

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const SERVICES: &str = "/api/v1/namespaces/default/services";
const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

fn deployment(template_spec: &Value) -> Value {
    let mut spec = json!({"containers": [{"name": "web", "image": "nginx"}]});
    spec.as_object_mut().unwrap().extend(template_spec.as_object().unwrap().clone());
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec},
    }})
}

/// The warnings of a write.
async fn warned(cluster: &Cluster, method: Method, path: &str, content: &str, body: Value) -> Vec<String> {
    let response = send(&cluster.0, method, path, content, &body).await;
    let warnings = response.headers().get_all("warning").iter();
    warnings.map(|text| String::from_utf8_lossy(text.as_bytes()).into_owned()).collect()
}

/// A6.3: the label has the generated name, also in place of one that the client sent.
#[tokio::test]
async fn a_namespace_with_a_generated_name_carries_it_as_a_label() {
    let cluster = Cluster::new().await;
    for labels in [json!(null), json!({"kubernetes.io/metadata.name": "x"})] {
        let namespace = json!({"metadata": {"generateName": "shop-", "labels": labels}});
        let (_, created) = cluster.post("/api/v1/namespaces", namespace).await;
        let metadata = &created["metadata"];
        assert_eq!(metadata["labels"]["kubernetes.io/metadata.name"], metadata["name"], "{created}");
    }
}

/// A3.15: an unset time is written as null and has no owner.
#[tokio::test]
async fn unset_times_of_an_event_have_no_owner() {
    let cluster = Cluster::new().await;
    let event = json!({"metadata": {"name": "e"}, "reason": "R", "lastTimestamp": "2026-01-01T00:00:00Z",
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}});
    let (status, created) = cluster.post("/api/v1/namespaces/default/events", event).await;
    assert_eq!(status, 201, "{created}");
    let owned = created["metadata"]["managedFields"][0]["fieldsV1"].as_object().unwrap();
    assert!(owned.contains_key("f:lastTimestamp"));
    assert!(!owned.contains_key("f:eventTime") && !owned.contains_key("f:firstTimestamp"), "{owned:?}");
}

/// A driver has no generation until its spec changes.
#[tokio::test]
async fn the_generation_of_a_driver_counts_from_zero() {
    let cluster = Cluster::new().await;
    let drivers = "/apis/storage.k8s.io/v1/csidrivers";
    let (_, created) =
        cluster.post(drivers, json!({"metadata": {"name": "d.example.com"}, "spec": {}})).await;
    assert_eq!(created["metadata"].get("generation"), None, "{created}");
    let path = format!("{drivers}/d.example.com");
    let (_, labelled) = cluster.merge(&path, json!({"metadata": {"labels": {"a": "b"}}})).await;
    assert_eq!(labelled["metadata"].get("generation"), None);
    let (_, changed) = cluster.merge(&path, json!({"spec": {"storageCapacity": true}})).await;
    assert_eq!(changed["metadata"]["generation"], 1, "{changed}");
}

#[tokio::test]
async fn the_data_of_a_controller_revision_is_an_object_and_immutable() {
    let cluster = Cluster::new().await;
    let revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
    let revision = |data: Value| json!({"metadata": {"name": "r"}, "revision": 1, "data": data});
    for data in [json!([1]), json!("x"), json!(5), json!(true)] {
        let refused = cluster.post(revisions, revision(data)).await;
        assert_eq!(
            message(&refused),
            "ControllerRevision.apps \"r\" is invalid: data: Required value: data must be a valid JSON object"
        );
    }
    assert!(message(&cluster.post(revisions, revision(Value::Null)).await).ends_with("data is mandatory"));
    assert_eq!(cluster.post(revisions, revision(json!({"a": 1}))).await.0, 201);
    let refused = cluster.merge(&format!("{revisions}/r"), json!({"data": null, "revision": -1})).await;
    assert_eq!(
        message(&refused),
        "ControllerRevision.apps \"r\" is invalid: [revision: Invalid value: -1: must be greater than or equal to 0, \
         data: Invalid value: null: field is immutable]"
    );
}

#[tokio::test]
async fn every_write_of_a_service_or_node_gets_warnings() {
    let cluster = Cluster::new().await;
    let spec = json!({"ports": [{"port": 80}], "externalIPs": ["1.2.3.4"]});
    cluster.post(SERVICES, json!({"metadata": {"name": "web"}, "spec": spec})).await;
    let path = format!("{SERVICES}/web");
    for patch in [json!({"metadata": {"labels": {"a": "b"}}}), json!({})] {
        let warnings = warned(&cluster, Method::PATCH, &path, MERGE, patch).await;
        assert!(
            warnings.len() == 1 && warnings[0].contains("spec.externalIPs is deprecated"),
            "{warnings:?}"
        );
    }
    cluster.post("/api/v1/nodes", json!({"metadata": {"name": "n"}, "spec": {"externalID": "x"}})).await;
    let warnings = warned(&cluster, Method::PATCH, "/api/v1/nodes/n", MERGE, json!({})).await;
    assert!(warnings.len() == 1 && warnings[0].contains("spec.externalID"), "{warnings:?}");
}

#[tokio::test]
async fn scaling_a_deployment_gets_its_warnings() {
    let cluster = Cluster::new().await;
    let spread = json!([{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]);
    cluster.post(DEPLOYMENTS, deployment(&json!({"topologySpreadConstraints": spread}))).await;
    let path = format!("{DEPLOYMENTS}/web/scale");
    let warnings = warned(&cluster, Method::PATCH, &path, MERGE, json!({"spec": {"replicas": 3}})).await;
    assert!(warnings.len() == 1 && warnings[0].contains("a null labelSelector"), "{warnings:?}");
    let warnings = warned(&cluster, Method::PATCH, &path, MERGE, json!({"spec": {"replicas": 3}})).await;
    assert_eq!(warnings, [""; 0], "the patch changes nothing");
}

/// A2.12: the names of unknown fields are quoted as Go quotes them.
#[tokio::test]
async fn unknown_fields_are_quoted() {
    let cluster = Cluster::new().await;
    let mut web = deployment(&json!({}));
    web["spec"]["sch\u{f6}n \"x\""] = json!(1);
    let warnings = warned(&cluster, Method::POST, DEPLOYMENTS, "application/json", web).await;
    assert_eq!(warnings, ["299 - \"unknown field \\\"spec.sch\u{f6}n \\\\\\\"x\\\\\\\"\\\"\""]);
}

/// A malformed revision to roll back to is refused, with a message that depends on the format of the body.
#[tokio::test]
async fn the_rollback_revision_must_be_a_number() {
    let cluster = Cluster::new().await;
    let mut web = deployment(&json!({}));
    cluster.post(DEPLOYMENTS, web.clone()).await;
    web["metadata"]["annotations"] = json!({"deprecated.deployment.rollback.to": "x"});
    let why = "failed to parse annotation[deprecated.deployment.rollback.to]=x as int64: strconv.ParseInt: parsing \"x\": \
               invalid syntax";
    let path = format!("{DEPLOYMENTS}/web");
    assert!(message(&cluster.put(&path, web.clone()).await).ends_with(why));
    let strategic = cluster.patch(&path, web.clone()).await;
    assert_eq!((strategic.0, message(&strategic)), (500, why));
    let applied = read(send(&cluster.0, Method::PATCH, &format!("{path}?fieldManager=m"), APPLY, &web).await);
    let applied = applied.await;
    let step = "failed to convert to unversioned (/web; apps/v1, Kind=Deployment)";
    assert_eq!((applied.0, message(&applied)), (500, format!("{step}: {why}").as_str()));
}

#[tokio::test]
async fn a_changed_binding_is_validated_from_role_to_subjects() {
    let cluster = Cluster::new().await;
    let bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    let group = "rbac.authorization.k8s.io";
    let binding = |group: &str, name: &str, subjects: Value| {
        let role = json!({"apiGroup": group, "kind": "Role", "name": name});
        json!({"metadata": {"name": "b"}, "roleRef": role, "subjects": subjects})
    };
    cluster.post(bindings, binding(group, "r", json!([]))).await;
    let wrong = binding("x", "", json!([{"kind": "x", "name": "y"}]));
    let (_, refusal) = cluster.put(&format!("{bindings}/b"), wrong).await;
    let fields: Vec<_> =
        refusal["details"]["causes"].as_array().unwrap().iter().map(|cause| &cause["field"]).collect();
    assert_eq!(fields, ["roleRef.apiGroup", "roleRef.name", "subjects[0].kind", "roleRef"]);
}

#[tokio::test]
async fn ranges_of_a_node_are_a_pair_of_families() {
    let cluster = Cluster::new().await;
    let node = |ranges: Value| json!({"metadata": {"name": "n"}, "spec": {"podCIDRs": ranges}});
    let refused = cluster.post("/api/v1/nodes", node(json!(["10.0.0.0/24", "x"]))).await;
    assert!(
        message(&refused).ends_with(
            "spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]: \
             <nil> (invalid CIDR address: x), spec.podCIDRs: Invalid value: [\"10.0.0.0/24\",\"x\"]: may specify no more \
             than one CIDR for each IP family]"
        ),
        "{refused:?}"
    );
    assert_eq!(cluster.post("/api/v1/nodes", node(json!(["10.0.0.0/24", "fd00::/64"]))).await.0, 201);
}

#[tokio::test]
async fn the_job_name_label_of_a_template_must_match() {
    let cluster = Cluster::new().await;
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]});
    let template = json!({"metadata": {"labels": {"job-name": "other"}}, "spec": pod});
    let job = json!({"metadata": {"name": "j"}, "spec": {"template": template}});
    let refused = cluster.post("/apis/batch/v1/namespaces/default/jobs", job).await;
    assert!(message(&refused).contains("spec.template.metadata.labels[job-name]"), "{refused:?}");
    assert!(message(&refused).ends_with("must be 'j'"), "{refused:?}");
}

/// A row of a table is made from the stored form, where these annotations are fields.
#[tokio::test]
async fn tables_of_autoscalers_have_no_annotations_for_metrics() {
    let cluster = Cluster::new().await;
    let memory = json!({"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}});
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let spec = json!({"scaleTargetRef": target, "maxReplicas": 3,
        "metrics": [{"type": "Resource", "resource": memory}]});
    let autoscalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    cluster.post(autoscalers, json!({"metadata": {"name": "h"}, "spec": spec})).await;
    let v1 = autoscalers.replace("v2", "v1");
    let (_, one) = cluster.get(&format!("{v1}/h")).await;
    assert!(one["metadata"]["annotations"].to_string().contains("memory"), "{one}");
    let accept = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let table = round_trip(&cluster.0, Method::GET, &v1, &accept, "").await.json();
    assert_eq!(table["rows"][0]["object"]["metadata"].get("annotations"), None, "{table}");
}
