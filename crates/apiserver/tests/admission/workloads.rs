//! Jobs, daemon sets, nodes, secrets.

use gantry_json::json;

use super::{created, get, patched, server};

/// A§2.6 job selector: a job selects its pods by its uid, unless it has a selector already.
#[tokio::test]
async fn a_job_selects_its_pods_by_uid() {
    let server = server().await;
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x:1"}]}});
    let job =
        created(&server, jobs, json!({"metadata": {"name": "job"}, "spec": {"template": template}})).await;
    let uid = &job["metadata"]["uid"];
    assert_eq!(job["spec"]["selector"]["matchLabels"], json!({"batch.kubernetes.io/controller-uid": uid}));
    let labels = &job["spec"]["template"]["metadata"]["labels"];
    assert_eq!((&labels["job-name"], &labels["controller-uid"]), (&json!("job"), uid));
    assert_eq!(job["metadata"]["labels"], *labels, "a job without labels gets the labels of its pods");
    assert!(!job["metadata"]["managedFields"].to_string().contains("f:selector"), "A3.15");
    let mut own =
        json!({"metadata": {"name": "own"}, "spec": {"manualSelector": true, "template": template}});
    own["spec"]["selector"] = json!({"matchLabels": {"mine": "yes"}});
    own["spec"]["template"]["metadata"] = json!({"labels": {"mine": "yes"}});
    let own = created(&server, jobs, own).await;
    assert_eq!(own["spec"]["selector"]["matchLabels"], json!({"mine": "yes"}));
}

/// A§2.6 daemon set: each change of the template increments the template generation.
#[tokio::test]
async fn templates_of_daemon_sets_are_numbered() {
    let server = server().await;
    let sets = "/apis/apps/v1/namespaces/default/daemonsets";
    let template =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x:1"}]}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    created(&server, sets, json!({"metadata": {"name": "ds"}, "spec": spec})).await;
    let number = |set: &gantry_json::Value| {
        set["metadata"]["annotations"]["deprecated.daemonset.template.generation"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let path = format!("{sets}/ds");
    assert_eq!(number(&get(&server, &path).await), "1");
    let (_, other) = patched(&server, &path, json!({"spec": {"minReadySeconds": 5}})).await;
    assert_eq!(number(&other), "1", "other fields do not count");
    let (_, other) =
        patched(&server, &path, json!({"spec": {"template": {"metadata": {"annotations": {"x": "y"}}}}}))
            .await;
    assert_eq!(number(&other), "2");
}

/// A§2.6 taint new nodes: a new node is tainted as not ready.
#[tokio::test]
async fn a_new_node_is_tainted_as_not_ready() {
    let server = server().await;
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let node = created(&server, "/api/v1/nodes", json!({"metadata": {"name": "n1"}})).await;
    assert_eq!(node["spec"]["taints"], json!([taint]));
    let tainted = json!({"metadata": {"name": "n2"}, "spec": {"taints": [taint]}});
    let node = created(&server, "/api/v1/nodes", tainted).await;
    assert_eq!(node["spec"]["taints"], json!([taint]), "the taint is added once");
    let (_, ready) = patched(&server, "/api/v1/nodes/n1", json!({"spec": {"taints": null}})).await;
    assert_eq!(ready["spec"].get("taints"), None, "the taint is not added again");
}

/// A§2.6 secret: stringData is merged into data on every write.
#[tokio::test]
async fn string_data_of_a_secret_becomes_data() {
    let server = server().await;
    let secrets = "/api/v1/namespaces/default/secrets";
    let secret =
        created(&server, secrets, json!({"metadata": {"name": "s"}, "stringData": {"a": "text"}})).await;
    assert_eq!((&secret["data"]["a"], &secret["type"]), (&json!("dGV4dA=="), &json!("Opaque")));
    assert_eq!(secret.get("stringData"), None);
    let (_, after) = patched(&server, &format!("{secrets}/s"), json!({"stringData": {"a": "new"}})).await;
    assert_eq!(after["data"]["a"], "bmV3");
}
