//! `apply` and `create`: objects are created and changed as files specify.

use gantry_json::{Value, json};
use gantry_kubectl::ManifestOptions;
use gantry_kubectl::verbs::{CreateDeploymentOptions, CreateOptions, DryRun, create, create_deployment};

use crate::terminal::{Terminal, deployment, files, manifest, printer};

/// The manifest of the Deployment `web` with another spec.
fn web(change: impl FnOnce(&mut Value)) -> String {
    let mut object = deployment("web", 2, "nginx:1");
    change(&mut object["spec"]);
    object.to_string()
}

const LAST_APPLIED: &str = "{.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration}";

/// K1.1, K1.3: an object that exists and is as in the manifest is not changed.
#[tokio::test(start_paused = true)]
async fn apply_twice_created_then_unchanged() {
    let mut terminal = Terminal::new().await;
    terminal.applies(&manifest("web", 2, "nginx:1")).await.is("deployment.apps/web created\n");
    terminal.wire.forget();
    terminal.applies(&manifest("web", 2, "nginx:1")).await.is("deployment.apps/web unchanged\n");
    assert_eq!(terminal.wire.writes(), [], "nothing is sent");
    terminal.applies(&manifest("web", 3, "nginx:1")).await.is("deployment.apps/web configured\n");
    let patch = &terminal.wire.writes()[0];
    assert_eq!(patch.content, "application/strategic-merge-patch+json");
    assert_eq!(patch.body["spec"], json!({"replicas": 3}), "only what differs is sent");
}

/// K1.2: the annotation is the manifest in one line, with its namespace, without defaults.
#[tokio::test(start_paused = true)]
async fn an_object_has_the_last_applied_annotation() {
    let mut terminal = Terminal::new().await;
    terminal
        .applies("kind: ConfigMap\napiVersion: v1\nmetadata: {name: cm}\ndata: {b: \"2\", a: <x>}\n")
        .await;
    assert_eq!(
        terminal.reads("cm cm", LAST_APPLIED).await,
        "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"\\u003cx\\u003e\",\"b\":\"2\"},\"kind\":\"ConfigMap\",\"metadata\":\
         {\"annotations\":{},\"name\":\"cm\",\"namespace\":\"shop\"}}\n"
    );
}

/// K1.3: fields that are no longer in the manifest are deleted, fields of others are kept, lists merge by key.
#[tokio::test(start_paused = true)]
async fn only_previously_applied_fields_are_removed() {
    let mut terminal = Terminal::new().await;
    let sidecar = json!([{"name": "c", "image": "nginx:1"}, {"name": "side", "image": "busybox"}]);
    terminal
        .applies(&web(|spec| {
            spec["minReadySeconds"] = json!(5);
            spec["template"]["spec"]["containers"] = sidecar;
        }))
        .await;
    let others = json!({"spec": {"revisionHistoryLimit": 3}});
    terminal.stage.patch("deployments", "web", gantry_test_cluster::PatchType::Merge, &others).await.unwrap();
    terminal.applies(&web(|_| {})).await.is("deployment.apps/web configured\n");
    let path =
        "{.spec.minReadySeconds}|{.spec.revisionHistoryLimit}|{.spec.template.spec.containers[*].name}";
    assert_eq!(terminal.reads("deploy web", path).await, "|3|c");
}

/// K1.3: another strategy drops the limits of the last one.
#[tokio::test(start_paused = true)]
async fn recreating_needs_no_limits() {
    let mut terminal = Terminal::new().await;
    terminal.applies(&web(|_| {})).await;
    assert_ne!(terminal.reads("deploy web", "{.spec.strategy.rollingUpdate}").await, "");
    terminal
        .applies(&web(|spec| spec["strategy"] = json!({"type": "Recreate"})))
        .await
        .is("deployment.apps/web configured\n");
    assert_eq!(terminal.reads("deploy web", "{.spec.strategy}").await, "{\"type\":\"Recreate\"}");
}

/// K1.4: replicas are left to others unless they are in the manifest, and are reset once when they no longer are.
#[tokio::test(start_paused = true)]
async fn replicas_that_are_not_configured_are_kept() {
    let mut terminal = Terminal::new().await;
    let without = |spec: &mut Value| drop(spec.as_object_mut().unwrap().remove("replicas"));
    terminal.applies(&web(|_| {})).await;
    terminal.applies(&web(without)).await.is("deployment.apps/web configured\n");
    assert_eq!(terminal.reads("deploy web", "{.spec.replicas}").await, "1", "reset once");
    let scaled = json!({"spec": {"replicas": 7}});
    terminal.stage.patch("deployments", "web", gantry_test_cluster::PatchType::Merge, &scaled).await.unwrap();
    terminal.applies(&web(without)).await.is("deployment.apps/web unchanged\n");
    assert_eq!(terminal.reads("deploy web", "{.spec.replicas}").await, "7", "not changed from then on");
}

/// K1.5: a warning is printed once for an object without the annotation.
#[tokio::test(start_paused = true)]
async fn an_object_without_the_annotation_is_warned_of() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 2).await;
    let output = terminal.applies(&manifest("web", 2, "nginx:1")).await;
    assert_eq!(output.out, "deployment.apps/web configured\n");
    assert_eq!(
        output.err,
        "Warning: resource deployments/web is missing the kubectl.kubernetes.io/last-applied-configuration annotation \
         which is required by kubectl apply. kubectl apply should only be used on resources created declaratively by \
         either kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.\n"
    );
    terminal.applies(&manifest("web", 2, "nginx:1")).await.is("deployment.apps/web unchanged\n");
}

/// K1.6: a change of an object that is being deleted prints a warning.
#[tokio::test(start_paused = true)]
async fn applying_to_a_terminating_object_prints_a_warning() {
    let mut terminal = Terminal::new().await;
    let with_finalizer = |replicas| {
        let mut object = deployment("web", replicas, "nginx:1");
        object["metadata"]["finalizers"] = json!(["example.com/hold"]);
        object.to_string()
    };
    terminal.applies(&with_finalizer(2)).await;
    terminal.stage.delete("deployments", "web", &json!({})).await.unwrap();
    let warning = "Warning: Detected changes to resource web which is currently being deleted.\n";
    for (replicas, result) in [(2, "unchanged"), (3, "configured")] {
        let output = terminal.applies(&with_finalizer(replicas)).await;
        assert_eq!((output.out, output.err.as_str()), (format!("deployment.apps/web {result}\n"), warning));
    }
}

/// K1.7: a conflict is retried after a fresh read, five times at most, with kubectl's field manager.
#[tokio::test(start_paused = true)]
async fn a_conflict_is_retried_with_a_fresh_read() {
    let mut terminal = Terminal::new().await;
    terminal.applies(&manifest("web", 2, "nginx:1")).await;
    terminal.wire.conflict(4);
    terminal.wire.forget();
    terminal.applies(&manifest("web", 3, "nginx:1")).await.is("deployment.apps/web configured\n");
    let writes = terminal.wire.writes();
    assert_eq!(writes.len(), 5);
    assert!(writes[0].query.contains("fieldManager=kubectl-client-side-apply"), "{}", writes[0].query);
    let reads = terminal.wire.sent().iter().filter(|sent| sent.path.ends_with("/deployments/web")).count();
    assert_eq!(reads, 5 + 5, "a read before each write");
    terminal.wire.conflict(9);
    let output = terminal.applies(&manifest("web", 4, "nginx:1")).await;
    assert!(
        output.failed && output.err.starts_with("Error from server (Conflict): error when applying patch:\n"),
        "{output:?}"
    );
}

/// K1.7: a warning of the server is printed.
#[tokio::test(start_paused = true)]
async fn a_warning_of_the_server_is_reported() {
    let mut terminal = Terminal::new().await;
    let twice = web(|spec| {
        spec["template"]["spec"]["containers"][0]["ports"] =
            json!([{"containerPort": 80, "name": "a"}, {"containerPort": 80, "name": "b"}]);
    });
    let output = terminal.applies(&twice).await;
    assert_eq!(output.out, "deployment.apps/web created\n");
    assert!(
        output.err.starts_with("Warning: spec.template.spec.containers[0].ports[1]: duplicate port"),
        "{}",
        output.err
    );
}

/// K1: the table of mistakes in a manifest.
#[tokio::test(start_paused = true)]
async fn errors_in_a_manifest_are_reported() {
    let mut terminal = Terminal::new().await;
    terminal.applies("").await.fails("error: no objects passed to apply\n");
    terminal.applies("a: 1\nb: 2\nc: d: e\n").await.fails(
        "error: error parsing s.yaml: error converting YAML to JSON: yaml: line 3: mapping values are not allowed in this context\n",
    );
    terminal.applies("apiVersion: apps/v1\nmetadata: {name: x}\n").await.fails(
        "error: error validating \"s.yaml\": error validating data: kind not set; if you choose to ignore these errors, \
         turn validation off with --validate=false\n",
    );
    let generated = manifest("x", 1, "i").replace("\"name\":\"x\"}", "\"generateName\":\"x-\"}");
    terminal.applies(&generated).await.fails("error: from x-: cannot use generate name with apply\n");
    let version = "kind: Deployment\napiVersion: apps/v2\nmetadata: {name: bad, namespace: default}\n";
    terminal.applies(version).await.fails(
        "error: resource mapping not found for name: \"bad\" namespace: \"default\" from \"s.yaml\": no matches for kind \
         \"Deployment\" in version \"apps/v2\"\nensure CRDs are installed first\n",
    );
    terminal.applies(&web(|spec| spec["replica"] = json!(1))).await.fails(
        "Error from server (BadRequest): error when creating \"s.yaml\": Deployment in version \"v1\" cannot be handled as \
         a Deployment: strict decoding error: unknown field \"spec.replica\"\n",
    );
    let elsewhere =
        manifest("x", 1, "i").replace("\"name\":\"x\"}", "\"name\":\"x\",\"namespace\":\"other\"}");
    terminal.applies(&elsewhere).await.fails(
        "Error from server (NotFound): error when creating \"s.yaml\": namespaces \"other\" not found\n",
    );
}

/// K1: the table of mistakes in changes of existing objects.
#[tokio::test(start_paused = true)]
async fn errors_of_changes_are_reported() {
    let mut terminal = Terminal::new().await;
    terminal.applies(&web(|_| {})).await;
    let output = terminal.applies(&web(|spec| spec["replica"] = json!(1))).await;
    assert!(
        output.failed && output.err.starts_with("The request is invalid: patch: Invalid value: \"map["),
        "{}",
        output.err
    );
    assert!(
        output.err.ends_with("strict decoding error: unknown field \"spec.replica\"\n"),
        "{}",
        output.err
    );
    let other = web(|spec| {
        spec["selector"] = json!({"matchLabels": {"app": "y"}});
        spec["template"]["metadata"]["labels"] = json!({"app": "y"});
    });
    terminal.applies(&other).await.fails(
        "The Deployment \"web\" is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"y\"}}: field is immutable\n",
    );
}

/// K1: a file that does not exist, and no file.
#[tokio::test(start_paused = true)]
async fn missing_files_are_reported() {
    use gantry_kubectl::verbs::{ApplyOptions, apply};
    let mut terminal = Terminal::new().await;
    let output = terminal.run(async |ctx| apply(ctx, &ApplyOptions::default()).await).await;
    output.fails("error: must specify one of -f and -k\n");
    let options = ApplyOptions { manifests: files(vec!["nope.yaml".to_owned()]), ..ApplyOptions::default() };
    let output = terminal.run(async |ctx| apply(ctx, &options).await).await;
    output.fails("error: the path \"nope.yaml\" does not exist\n");
}

/// K1: several objects are printed as one list, except by name.
#[tokio::test(start_paused = true)]
async fn several_results_are_one_list() {
    use gantry_kubectl::verbs::{ApplyOptions, apply};
    let mut terminal = Terminal::new().await;
    let both = format!("{}\n---\n{}", manifest("api", 1, "i"), manifest("web", 1, "i"));
    let file = terminal.file("s.yaml", &both);
    let options = |output: &str| ApplyOptions {
        manifests: ManifestOptions { printer: printer(output, DryRun::No), ..files(vec![file.clone()]) },
        ..ApplyOptions::default()
    };
    let by_name = options("name");
    let output = terminal.run(async |ctx| apply(ctx, &by_name).await).await;
    output.is("deployment.apps/api\ndeployment.apps/web\n");
    let by_path = options("jsonpath={.kind} {.items[*].metadata.name}");
    terminal.run(async |ctx| apply(ctx, &by_path).await).await.is("List api web");
}

/// K1: a file that cannot be read does not keep the others from being applied.
#[tokio::test(start_paused = true)]
async fn the_rest_is_applied_all_the_same() {
    use gantry_kubectl::verbs::{ApplyOptions, apply};
    let mut terminal = Terminal::new().await;
    let named =
        vec![terminal.file("bad.yaml", "c: d: e\n"), terminal.file("web.yaml", &manifest("web", 1, "i"))];
    let options = ApplyOptions { manifests: files(named), ..ApplyOptions::default() };
    let output = terminal.run(async |ctx| apply(ctx, &options).await).await;
    assert!(output.failed && output.err.starts_with("error: error parsing bad.yaml: "), "{output:?}");
    assert_eq!(output.out, "deployment.apps/web created\n");
}

/// K1: `--force` recreates an object that cannot be changed.
#[tokio::test(start_paused = true)]
async fn force_recreates_objects_with_immutable_changes() {
    use gantry_kubectl::verbs::{ApplyOptions, apply};
    let mut terminal = Terminal::new().await;
    terminal.applies(&web(|_| {})).await;
    let before = terminal.reads("deploy web", "{.metadata.uid}").await;
    let file = terminal.file(
        "s.yaml",
        &web(|spec| {
            spec["selector"] = json!({"matchLabels": {"app": "y"}});
            spec["template"]["metadata"]["labels"] = json!({"app": "y"});
        }),
    );
    let options = ApplyOptions { manifests: files(vec![file]), force: true, ..ApplyOptions::default() };
    let output = terminal.run(async |ctx| apply(ctx, &options).await).await;
    output.is("deployment.apps/web configured\n");
    assert_ne!(terminal.reads("deploy web", "{.metadata.uid}").await, before);
}

/// K1: `create deployment`, with a dry run.
#[tokio::test(start_paused = true)]
async fn create_deployment_supports_a_dry_run() {
    let mut terminal = Terminal::new().await;
    let options = CreateDeploymentOptions {
        name: "web".into(),
        images: vec!["reg.io/nginx:1".into()],
        replicas: 1,
        printer: printer("json", DryRun::Client),
        ..CreateDeploymentOptions::default()
    };
    let output = terminal.run(async |ctx| create_deployment(ctx, &options).await).await;
    let start = "{\n    \"kind\": \"Deployment\",\n    \"apiVersion\": \"apps/v1\",\n    \"metadata\": {\n        \"name\": \"web\",\n        \
                 \"namespace\": \"shop\",\n        \"labels\": {\n            \"app\": \"web\"\n        }\n    },\n    \"spec\": {\n        \
                 \"replicas\": 1,\n        \"selector\": {";
    assert!(output.out.starts_with(start), "{}", output.out);
    let end = "                        \"name\": \"nginx\",\n                        \"image\": \"reg.io/nginx:1\",\n                        \
               \"resources\": {}\n                    }\n                ]\n            }\n        },\n        \"strategy\": {}\n    },\n    \
               \"status\": {}\n}\n";
    assert!(output.out.ends_with(end), "{}", output.out);
    assert_eq!(terminal.wire.writes(), []);
    let both = CreateDeploymentOptions {
        images: vec!["a".into(), "b".into()],
        command: vec!["date".into()],
        ..options
    };
    let output = terminal.run(async |ctx| create_deployment(ctx, &both).await).await;
    output.fails("error: cannot specify multiple --image options and command\n");
}

/// K1, K0.4: creating an object that exists.
#[tokio::test(start_paused = true)]
async fn nothing_is_created_twice() {
    let mut terminal = Terminal::new().await;
    let file = terminal.file("d.yaml", &manifest("web", 1, "i"));
    let options = CreateOptions { manifests: files(vec![file]), ..CreateOptions::default() };
    terminal.run(async |ctx| create(ctx, &options).await).await.is("deployment.apps/web created\n");
    terminal.run(async |ctx| create(ctx, &options).await).await.fails(
        "Error from server (AlreadyExists): error when creating \"d.yaml\": deployments.apps \"web\" already exists\n",
    );
    let options = CreateDeploymentOptions {
        name: "web".into(),
        images: vec!["i".into()],
        replicas: 1,
        ..CreateDeploymentOptions::default()
    };
    terminal
        .run(async |ctx| create_deployment(ctx, &options).await)
        .await
        .fails("error: failed to create deployment: deployments.apps \"web\" already exists\n");
}
