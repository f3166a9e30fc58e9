//! The scenario that cannot be expressed in stories: invalid requests.

use std::time::Duration;

use gantry_json::{Value, json};
use gantry_sim::SimCluster;
use gantry_sim::story::{Player, no_files};

use crate::snapshotter::{Snapshotter, masked};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

pub(crate) async fn snapshots(cluster: &SimCluster) -> Vec<Value> {
    let (mut player, mut snapshotter) = (Player::new(cluster, &no_files), Snapshotter::default());
    let other = json!({"matchLabels": {"app": "new"}});
    let selector = json!({"spec": {"selector": other, "template": {"metadata": {"labels": {"app": "new"}}}}});
    let outdated = json!({"metadata": {"resourceVersion": "1"}});
    let web = format!("{DEPLOYMENTS}/web");
    let creations = objects().into_iter().map(|object| ("POST", DEPLOYMENTS, object));
    let patches = [selector, outdated].map(|patch| ("PATCH", web.as_str(), patch));
    let mut snapshots = Vec::new();
    for (method, path, body) in creations.chain(patches) {
        let (code, response) = cluster.try_send(method, path, &body).await;
        cluster.advance(Duration::from_secs(1)).await;
        let mut snapshot = snapshotter.snapshot(&mut player).await;
        if code >= 300 {
            let message = masked(&player, response["message"].as_str().unwrap_or_default());
            snapshot["error"] = json!({"code": code, "reason": response["reason"], "message": message});
        }
        snapshots.push(snapshot);
    }
    snapshots
}

/// Invalid Deployments, and in the end a valid one.
fn objects() -> Vec<Value> {
    let spec = |name: &str, key: &str, value: Value| {
        let mut object = deployment(name);
        object["spec"][key] = value;
        object
    };
    let rolling = |surge: Value, unavailable: Value| json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}});
    let mut mismatch = spec("mismatch", "replicas", json!(3));
    mismatch["spec"]["template"]["metadata"]["labels"] = json!({"app": "else"});
    let mut deadline = spec("deadline", "minReadySeconds", json!(10));
    deadline["spec"]["progressDeadlineSeconds"] = json!(5);
    let mut never = spec("never", "replicas", json!(3));
    never["spec"]["template"]["spec"]["restartPolicy"] = json!("Never");
    let mut empty = spec("no-containers", "replicas", json!(3));
    empty["spec"]["template"]["spec"]["containers"] = json!([]);
    let recreate = json!({"type": "Recreate", "rollingUpdate": {"maxSurge": 1}});
    vec![
        spec("both-zero", "strategy", rolling(json!(0), json!(0))),
        spec("negative", "replicas", json!(-1)),
        mismatch,
        spec("Bad_Name", "replicas", json!(3)),
        deadline,
        spec("percent", "strategy", rolling(json!("150"), json!("25%"))),
        spec("over", "strategy", rolling(json!(1), json!("150%"))),
        spec("recreate-with-params", "strategy", recreate),
        never,
        empty,
        spec("web", "replicas", json!(3)),
    ]
}

fn deployment(name: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "labels": {"app": name}}, "spec": {
        "replicas": 3, "selector": {"matchLabels": {"app": name}}, "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "main", "image": "nginx:1"}]}}}})
}
