//! `describe`: Deployments and ReplicaSets in full.

use gantry_json::json;
use gantry_kubectl::verbs::{DescribeOptions, describe};

use crate::terminal::{CommandOutput, Terminal, deployment, selected};
use gantry_test_cluster::PatchType;

async fn describes(terminal: &mut Terminal, words: &str) -> CommandOutput {
    let options = DescribeOptions { selection: selected(words), events: Some(true) };
    terminal.run(async |ctx| describe(ctx, &options).await).await
}

/// K3: the whole description of a Deployment, aligned block by block.
/// K3.2: the limits of a rolling update, the time in RFC 1123.
#[tokio::test(start_paused = true)]
async fn a_deployment_is_described_in_full() {
    let mut terminal = Terminal::with_controllers().await;
    terminal.has_deployment("web", 2).await;
    terminal.roll_out().await;
    let output = describes(&mut terminal, "deploy web").await;
    let set = terminal.reads("rs", "{.items[0].metadata.name}").await;
    let (described, events) = output.out.split_once("Events:\n").unwrap();
    assert_eq!(
        described,
        format!(
            "Name:                   web
Namespace:              shop
CreationTimestamp:      Thu, 01 Jan 2026 12:00:00 +0000
Labels:                 <none>
Annotations:            deployment.kubernetes.io/revision: 1
Selector:               app=web
Replicas:               2 desired | 2 updated | 2 total | 2 available | 0 unavailable
StrategyType:           RollingUpdate
MinReadySeconds:        0
RollingUpdateStrategy:  25% max unavailable, 25% max surge
Pod Template:
  Labels:  app=web
  Containers:
   c:
    Image:         nginx:1
    Port:          <none>
    Host Port:     <none>
    Environment:   <none>
    Mounts:        <none>
  Volumes:         <none>
  Node-Selectors:  <none>
  Tolerations:     <none>
Conditions:
  Type           Status  Reason
  ----           ------  ------
  Available      True    MinimumReplicasAvailable
  Progressing    True    NewReplicaSetAvailable
OldReplicaSets:  <none>
NewReplicaSet:   {set} (2/2 replicas created)
"
        )
        .replace("12:00:00", &described[described.find("2026 ").unwrap() + 5..][..8])
    );
    let mut lines = events.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("  Type    Reason             Age   From                   Message")
    );
    assert!(events.ends_with(&format!("Scaled up replica set {set} from 0 to 2\n")), "{events}");
    let recreate = json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}});
    terminal.stage.patch("deployments", "web", PatchType::Merge, &recreate).await.unwrap();
    assert!(!describes(&mut terminal, "deploy web").await.out.contains("RollingUpdateStrategy"));
}

/// K3.1: labels and annotations one per line, sorted, without the last applied configuration.
#[tokio::test(start_paused = true)]
async fn labels_and_annotations_are_shown_one_a_line() {
    let mut terminal = Terminal::new().await;
    let mut object = deployment("web", 1, "i");
    object["metadata"]["labels"] = json!({"b": "2", "a": "1"});
    object["metadata"]["annotations"] = json!({"note": "hello", "long": "x".repeat(150)});
    terminal.applies(&object.to_string()).await;
    let output = describes(&mut terminal, "deploy web").await;
    let cut = "x".repeat(138);
    let marks = format!(
        "Labels:                 a=1\n                        b=2\nAnnotations:            long:\n                          \
         {cut}...\n                        note: hello\nSelector:"
    );
    assert!(output.out.contains(&marks), "{}", output.out);
}

/// K3.3: fields of a template that are set are shown, others are omitted.
#[tokio::test(start_paused = true)]
async fn set_fields_of_a_template_are_shown() {
    let mut terminal = Terminal::new().await;
    let mut object = deployment("web", 1, "i");
    object["spec"]["template"]["metadata"]["annotations"] = json!({"a": "b"});
    object["spec"]["template"]["spec"]["serviceAccountName"] = json!("robot");
    object["spec"]["template"]["spec"]["initContainers"] = json!([{"name": "first", "image": "j"}]);
    object["spec"]["template"]["spec"]["containers"][0] = json!({"name": "c", "image": "i", "command": ["run"], "args": ["-v"],
        "ports": [{"containerPort": 80}, {"containerPort": 443}], "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
        "livenessProbe": {"httpGet": {"path": "/", "port": 80}}});
    terminal.applies(&object.to_string()).await;
    let output = describes(&mut terminal, "deploy web").await;
    for part in [
        "  Labels:           app=web\n  Annotations:      a: b\n  Service Account:  robot\n  Init Containers:\n   first:\n    Image:        j\n",
        "  Containers:\n   c:\n    Image:       i\n    Ports:       80/TCP, 443/TCP\n    Host Ports:  0/TCP, 0/TCP\n    Command:\n      run\n    Args:\n      -v\n",
        "    Limits:\n      cpu:  1\n    Requests:\n      cpu:         1\n",
        "http-get http://:80/ delay=0s timeout=1s period=10s successThreshold=1 failureThreshold=3\n",
    ] {
        assert!(output.out.contains(part), "{part}\nis not in\n{}", output.out);
    }
}

/// K3.4: old sets oldest first, drained ones too; without sets there are no lines about them.
#[tokio::test(start_paused = true)]
async fn old_sets_are_reported_though_they_are_drained() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let output = describes(&mut terminal, "deploy web").await;
    assert!(!output.out.contains("ReplicaSet") && !output.out.contains("Conditions:"), "{}", output.out);
    let mut terminal = Terminal::with_controllers().await;
    terminal.has_deployment("web", 1).await;
    terminal.roll_out().await;
    for image in ["nginx:2", "nginx:3"] {
        let change = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": image}]}}}});
        terminal.stage.patch("deployments", "web", PatchType::Strategic, &change).await.unwrap();
        terminal.roll_out().await;
    }
    let names: Vec<String> = terminal
        .stage
        .sets()
        .await
        .iter()
        .map(|set| set["metadata"]["name"].as_str().unwrap().to_owned())
        .collect();
    let lines = format!(
        "OldReplicaSets:  {} (0/0 replicas created), {} (0/0 replicas created)\nNewReplicaSet:   {} (1/1 replicas created)\n",
        names[0], names[1], names[2]
    );
    let output = describes(&mut terminal, "deploy web").await;
    assert!(output.out.contains(&lines), "{lines}\nis not in\n{}", output.out);
}

/// K3.5: events are only in their own block.
#[tokio::test(start_paused = true)]
async fn events_are_described_in_their_own_block_only() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let output = describes(&mut terminal, "deploy web").await;
    assert!(output.out.ends_with("  Tolerations:     <none>\nEvents:            <none>\n"), "{}", output.out);
}

/// K3: a ReplicaSet counts the pods that it controls, and names its controller.
#[tokio::test(start_paused = true)]
async fn a_replica_set_counts_its_own_pods() {
    let mut terminal = Terminal::with_controllers().await;
    terminal.has_deployment("web", 2).await;
    terminal.stage.settle().await;
    terminal.stage.ready_one().await;
    let stranger = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stranger"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    terminal.stage.create("pods", &stranger).await.unwrap();
    // A prefix of the name is enough.
    let output = describes(&mut terminal, "rs web-").await;
    for part in [
        "Controlled By:  Deployment/web\nReplicas:       2 current / 2 desired\nPods Status:    1 Running / 1 Waiting / 0 Succeeded / 0 Failed\n",
        "Annotations:    deployment.kubernetes.io/desired-replicas: 2\n                deployment.kubernetes.io/max-replicas: 3\n",
    ] {
        assert!(output.out.contains(part), "{part}\nis not in\n{}", output.out);
    }
    describes(&mut terminal, "rs other")
        .await
        .fails("Error from server (NotFound): replicasets.apps \"other\" not found\n");
}
