//! `get`: rows, names and documents.

use gantry_json::{Value, json};
use gantry_kubectl::Selection;
use gantry_kubectl::verbs::{GetOptions, get};

use crate::terminal::{CommandOutput, Terminal, selected};
use gantry_test_cluster::PatchType;

async fn gets(terminal: &mut Terminal, options: GetOptions) -> CommandOutput {
    terminal.run(async |ctx| get(ctx, &options).await).await
}

/// Creates a pod with this status, after `change`.
async fn has_pod(terminal: &mut Terminal, name: &str, status: Value, change: impl FnOnce(&mut Value)) {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]}});
    change(&mut pod);
    terminal.stage.create("pods", &pod).await.unwrap();
    let status = json!({"status": status});
    terminal.stage.patch("pods", &format!("{name}/status"), PatchType::Strategic, &status).await.unwrap();
}

/// The cell of a pod's row in a column.
async fn column(terminal: &mut Terminal, pod: &str, header: &str) -> String {
    let output = terminal.gets(&format!("pod {pod}"), "wide").await;
    let (head, row) = output.out.split_once('\n').unwrap();
    let from = head.find(header).unwrap();
    row[from..].split("   ").next().unwrap().trim_end().to_owned()
}

/// K2.1: columns are as wide as necessary; that a result is empty is printed on standard error.
#[tokio::test(start_paused = true)]
async fn rows_are_aligned() {
    let mut terminal = Terminal::new().await;
    let output = terminal.gets("deploy", "").await;
    assert_eq!(
        (output.out.as_str(), output.err.as_str(), output.failed),
        ("", "No resources found in shop namespace.\n", false)
    );
    for (words, all_namespaces) in [("deploy", true), ("nodes", false)] {
        let selection = Selection { all_namespaces, ..selected(words) };
        let output = gets(&mut terminal, GetOptions { selection, ..GetOptions::default() }).await;
        assert_eq!((output.out.as_str(), output.err.as_str()), ("", "No resources found\n"), "{words}");
    }
    terminal.has_deployment("web", 3).await;
    terminal.has_deployment("a-longer-name", 3).await;
    let rows = "a-longer-name   0/3     0            0           0s\nweb             0/3     0            0           0s\n";
    let header = "NAME            READY   UP-TO-DATE   AVAILABLE   AGE\n";
    terminal.gets("deploy", "").await.is(&format!("{header}{rows}"));
    let bare = gets(
        &mut terminal,
        GetOptions { selection: selected("deploy"), no_headers: true, ..GetOptions::default() },
    )
    .await;
    bare.is("a-longer-name   0/3   0     0     0s\nweb             0/3   0     0     0s\n");
}

/// K2.2: several types have prefixed names and are separated by an empty line; `-A` adds the namespace.
#[tokio::test(start_paused = true)]
async fn several_types_are_distinguished() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    terminal.gets("deploy,ns", "").await.is("NAME                  READY   UP-TO-DATE   AVAILABLE   AGE\n\
         deployment.apps/web   0/1     0            0           0s\n\n\
         NAME                        STATUS   AGE\n\
         namespace/default           Active   0s\n\
         namespace/kube-node-lease   Active   0s\n\
         namespace/kube-public       Active   0s\n\
         namespace/kube-system       Active   0s\n\
         namespace/shop              Active   0s\n");
    let everywhere = Selection { all_namespaces: true, ..selected("deploy") };
    gets(&mut terminal, GetOptions { selection: everywhere, ..GetOptions::default() }).await.is(
        "NAMESPACE   NAME   READY   UP-TO-DATE   AVAILABLE   AGE\nshop        web    0/1     0            0           0s\n",
    );
}

/// K2.2: all other output formats, and unknown ones.
#[tokio::test(start_paused = true)]
async fn objects_have_many_forms() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    terminal.gets("deploy", "name").await.is("deployment.apps/web\n");
    terminal.gets("deploy", "jsonpath={.items[*].metadata.name}").await.is("web");
    terminal
        .gets("deploy", "custom-columns=N:.metadata.name,R:.spec.replicas")
        .await
        .is("N     R\nweb   1\n");
    assert!(
        terminal
            .gets("deploy web", "yaml")
            .await
            .out
            .starts_with("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n")
    );
    assert!(
        terminal.gets("deploy web", "json").await.out.starts_with("{\n    \"apiVersion\": \"apps/v1\",\n")
    );
    assert!(
        terminal
            .gets("deploy", "yaml")
            .await
            .out
            .starts_with("apiVersion: v1\nitems:\n- apiVersion: apps/v1\n")
    );
    let wrong = terminal.gets("deploy", "foo").await;
    let start = "error: unable to match a printer suitable for the output format \"foo\", allowed formats are: custom-columns,";
    assert!(wrong.failed && wrong.err.starts_with(start), "{wrong:?}");
    let template = terminal.gets("deploy", "go-template={{.kind}}").await;
    assert!(template.err.starts_with("error: Go templates are not supported\n"), "{template:?}");
}

/// K2.2: a subresource, and labels in columns.
#[tokio::test(start_paused = true)]
async fn parts_and_labels_can_be_shown() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 4).await;
    let labels = json!({"metadata": {"labels": {"o": "1", "o2": "2"}}});
    terminal.stage.patch("deployments", "web", PatchType::Merge, &labels).await.unwrap();
    let scale = GetOptions {
        selection: selected("deploy web"),
        output: Some("jsonpath={.kind} {.spec.replicas}".into()),
        subresource: Some("scale".into()),
        ..GetOptions::default()
    };
    gets(&mut terminal, scale).await.is("Scale 4");
    let labelled = GetOptions {
        selection: selected("deploy"),
        show_labels: true,
        label_columns: vec!["o".into()],
        ..GetOptions::default()
    };
    gets(&mut terminal, labelled).await.is("NAME   READY   UP-TO-DATE   AVAILABLE   AGE   O     LABELS\n\
         web    0/4     0            0           0s    1     o2=2,o=1\n");
}

/// K2.3: the columns of Deployments and ReplicaSets.
#[tokio::test(start_paused = true)]
async fn workloads_show_their_counts() {
    let mut terminal = Terminal::with_controllers().await;
    terminal.has_deployment("web", 2).await;
    terminal.stage.settle().await;
    terminal.stage.ready_one().await;
    let counts = |output: CommandOutput| {
        let row = output.out.lines().nth(1).unwrap().to_owned();
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let wide = counts(terminal.gets("deploy", "wide").await);
    assert_eq!(wide[..4], ["web", "1/2", "2", "1"]);
    assert_eq!(wide[5..], ["c", "nginx:1", "app=web"]);
    let set = counts(terminal.gets("rs", "wide").await);
    assert_eq!(set[1..4], ["2", "2", "1"]);
    assert!(set[7].starts_with("app=web,pod-template-hash="), "{set:?}");
}

/// K2.4: ready containers, restarts with their age, and unknown values.
#[tokio::test(start_paused = true)]
async fn pods_show_their_containers() {
    let mut terminal = Terminal::new().await;
    let container = |name: &str, ready: bool, restarts: i64| {
        json!({"name": name, "ready": ready, "restartCount": restarts, "image": "i", "imageID": "",
            "state": {"running": {}}, "lastState": if restarts > 0 {
                json!({"terminated": {"exitCode": 1, "finishedAt": "2026-01-01T12:00:00Z"}}) } else { json!({}) }})
    };
    let status =
        json!({"phase": "Running", "containerStatuses": [container("c", true, 2), container("d", false, 3)]});
    has_pod(&mut terminal, "p", status, |_| {}).await;
    tokio::time::sleep(std::time::Duration::from_secs(130)).await;
    assert_eq!(column(&mut terminal, "p", "READY").await, "1/2");
    assert!(
        column(&mut terminal, "p", "RESTARTS").await.starts_with("5 (2m1"),
        "restarts have the age of the last one"
    );
    for empty in ["IP", "NODE", "NOMINATED NODE", "READINESS GATES"] {
        assert_eq!(column(&mut terminal, "p", empty).await, "<none>", "{empty}");
    }
}

/// K2.5: the status of a pod is its most specific problem.
#[tokio::test(start_paused = true)]
async fn the_status_of_a_pod_is_its_most_specific_problem() {
    let mut terminal = Terminal::new().await;
    let with = |name: &str, state: Value| json!({"name": name, "ready": false, "restartCount": 0, "image": "i", "imageID": "", "state": state});
    let running = || json!({"running": {}});
    let ready = || {
        let mut status = with("d", running());
        status["ready"] = json!(true);
        status
    };
    let cases = [
        ("evicted", json!({"phase": "Failed", "reason": "Evicted"}), "Evicted"),
        (
            "waiting",
            json!({"phase": "Pending", "containerStatuses": [with("c", json!({"waiting": {"reason": "ImagePullBackOff"}})), with("d", running())]}),
            "ImagePullBackOff",
        ),
        (
            "exited",
            json!({"phase": "Running", "containerStatuses": [with("c", json!({"terminated": {"exitCode": 3}})), with("d", json!({"terminated": {"exitCode": 4}}))]}),
            "ExitCode:3",
        ),
        (
            "signalled",
            json!({"phase": "Running", "containerStatuses": [with("c", json!({"terminated": {"exitCode": 1, "signal": 9}}))]}),
            "Signal:9",
        ),
        (
            "half",
            json!({"phase": "Running", "containerStatuses": [with("c", json!({"terminated": {"exitCode": 0, "reason": "Completed"}})), ready()]}),
            "NotReady",
        ),
        (
            "gated",
            json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}),
            "SchedulingGated",
        ),
    ];
    for (name, status, expected) in cases {
        has_pod(&mut terminal, name, status, |_| {}).await;
        assert_eq!(column(&mut terminal, name, "STATUS").await, expected);
    }
    let init = json!({"phase": "Pending", "initContainerStatuses": [with("i", json!({"terminated": {"exitCode": 7}}))]});
    has_pod(&mut terminal, "init", init, |pod| {
        pod["spec"]["initContainers"] = json!([{"name": "i", "image": "i"}]);
    })
    .await;
    assert_eq!(column(&mut terminal, "init", "STATUS").await, "Init:ExitCode:7");
    has_pod(&mut terminal, "held", json!({"phase": "Running"}), |pod| {
        pod["metadata"]["finalizers"] = json!(["example.com/hold"]);
    })
    .await;
    terminal.stage.delete("pods", "held", &json!({"gracePeriodSeconds": 0})).await.unwrap();
    assert_eq!(column(&mut terminal, "held", "STATUS").await, "Terminating");
}

/// K2.6: nodes by their condition, roles and schedulability.
#[tokio::test(start_paused = true)]
async fn nodes_show_their_condition() {
    let mut terminal = Terminal::new().await;
    for node in [
        "kind: Node\napiVersion: v1\nmetadata: {name: a, labels: {node-role.kubernetes.io/worker: \"\"}}\nspec: {unschedulable: true}\n",
        "kind: Node\napiVersion: v1\nmetadata: {name: b}\n",
    ] {
        assert!(!terminal.applies(node).await.failed);
    }
    let output = terminal.gets("nodes", "wide").await;
    let rows: Vec<Vec<&str>> = output
        .out
        .lines()
        .map(|row| row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    assert_eq!(
        rows[0],
        [
            "NAME",
            "STATUS",
            "ROLES",
            "AGE",
            "VERSION",
            "INTERNAL-IP",
            "EXTERNAL-IP",
            "OS-IMAGE",
            "KERNEL-VERSION",
            "CONTAINER-RUNTIME"
        ]
    );
    assert_eq!(rows[1][..3], ["a", "Unknown,SchedulingDisabled", "worker"]);
    assert_eq!(rows[2][..3], ["b", "Unknown", "<none>"]);
    assert_eq!(
        rows[2][4..],
        ["<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"][..rows[2].len() - 4]
    );
}

/// K2.6: events name their objects.
#[tokio::test(start_paused = true)]
async fn events_name_their_objects() {
    let mut terminal = Terminal::new().await;
    let event = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "type": "Normal", "reason": "Made",
        "message": "it was made", "involvedObject": {"kind": "Deployment", "name": "web", "namespace": "shop"},
        "lastTimestamp": "2026-01-01T11:59:00Z", "firstTimestamp": "2026-01-01T11:58:00Z"});
    terminal.stage.create("events", &event).await.unwrap();
    let output = terminal.gets("events", "").await;
    assert_eq!(output.out.lines().next(), Some("LAST SEEN   TYPE     REASON   OBJECT           MESSAGE"));
    assert!(output.out.ends_with("Normal   Made     deployment/web   it was made\n"), "{}", output.out);
}

/// K2.7: ages have two units at most.
#[tokio::test(start_paused = true)]
async fn ages_are_shown_in_short() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let mut passed = 0;
    for (seconds, age) in [
        (119, "119s"),
        (120, "2m"),
        (130, "2m10s"),
        (605, "10m"),
        (7500, "125m"),
        (11_100, "3h5m"),
        (9 * 3600, "9h"),
        (49 * 3600, "2d1h"),
        (9 * 86_400, "9d"),
        (800 * 86_400, "2y70d"),
        (3000 * 86_400, "8y"),
    ] {
        tokio::time::advance(std::time::Duration::from_secs(seconds - passed)).await;
        passed = seconds;
        let output = terminal.gets("deploy", "").await;
        assert!(output.out.ends_with(&format!(" {age}\n")), "{seconds}: {}", output.out);
    }
}

/// K2: no type, and an object that does not exist.
#[tokio::test(start_paused = true)]
async fn a_type_must_be_named() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    terminal.gets("", "").await.fails(
        "You must specify the type of resource to get. Use \"kubectl api-resources\" for a complete list of supported \
         resources.\n\nerror: Required resource not specified.\nUse \"kubectl explain <resource>\" for a detailed \
         description of that resource (e.g. kubectl explain pods).\nSee 'kubectl get -h' for help and examples\n",
    );
    let mixed = terminal.gets("deploy web nope", "name").await;
    assert_eq!(mixed.out, "deployment.apps/web\n");
    assert_eq!(mixed.err, "Error from server (NotFound): deployments.apps \"nope\" not found\n");
    assert!(mixed.failed);
}
