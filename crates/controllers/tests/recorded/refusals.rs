//! The scenario that stories cannot express: invalid requests.

use gantry_json::{Value, json};

use crate::player::workload;
use crate::snapshotter::Snapshotter;
use gantry_test_cluster::{ErrorResponse, PatchType, TestNamespace};

pub(crate) async fn snapshots(stage: &mut TestNamespace) -> Vec<Value> {
    let (mut snapshotter, mut snapshots) = (Snapshotter::default(), Vec::new());
    for object in objects() {
        let answer = stage.create("deployments", &object).await;
        snapshots.push(look(stage, &mut snapshotter, answer).await);
    }
    let other = json!({"matchLabels": {"app": "new"}});
    let selector = json!({"spec": {"selector": other, "template": {"metadata": {"labels": {"app": "new"}}}}});
    let outdated = json!({"metadata": {"resourceVersion": "1"}});
    for patch in [selector, outdated] {
        let answer = stage.patch("deployments", "web", PatchType::Strategic, &patch).await;
        snapshots.push(look(stage, &mut snapshotter, answer).await);
    }
    snapshots
}

async fn look(
    stage: &mut TestNamespace,
    snapshotter: &mut Snapshotter,
    answer: Result<Value, ErrorResponse>,
) -> Value {
    stage.settle().await;
    let mut snapshot = snapshotter.snapshot(stage).await;
    if let Err(ErrorResponse { code, reason, message }) = answer {
        snapshot["error"] = json!({"code": code, "reason": reason, "message": stage.mask(&message)});
    }
    snapshot
}

/// Invalid Deployments, and in the end a valid one.
fn objects() -> Vec<Value> {
    let spec = |name: &str, key: &str, value: Value| {
        let mut object = workload("Deployment", name, name, 3, "nginx:1");
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
