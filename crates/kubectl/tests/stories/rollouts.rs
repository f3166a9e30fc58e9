//! `rollout`: history, undo, pause, resume, restart.

use std::time::Duration;

use gantry_json::json;
use gantry_kubectl::verbs::{
    DryRun, HistoryOptions, PauseOrResume, ResultPrinter, UndoOptions, history, pause_or_resume, restart,
    undo,
};

use crate::terminal::{CommandOutput, Terminal, manifest, printer, selected};
use gantry_test_cluster::PatchType;

async fn run_history(terminal: &mut Terminal, words: &str, revision: i64) -> CommandOutput {
    let options = HistoryOptions { selection: selected(words), revision, ..HistoryOptions::default() };
    terminal.run(async |ctx| history(ctx, &options).await).await
}

async fn undoes(terminal: &mut Terminal, to_revision: i64) -> CommandOutput {
    let options = UndoOptions { selection: selected("deploy/web"), to_revision, ..UndoOptions::default() };
    terminal.run(async |ctx| undo(ctx, &options).await).await
}

async fn pauses(terminal: &mut Terminal, words: &str, what: PauseOrResume) -> CommandOutput {
    let selection = selected(words);
    terminal.run(async |ctx| pause_or_resume(ctx, &selection, what, &ResultPrinter::default()).await).await
}

async fn restarts(terminal: &mut Terminal, words: &str) -> CommandOutput {
    let selection = selected(words);
    terminal.run(async |ctx| restart(ctx, &selection, &ResultPrinter::default()).await).await
}

/// A Deployment with two revisions; the second one has a change cause.
async fn twice_rolled_out() -> Terminal {
    let mut terminal = Terminal::with_controllers().await;
    terminal.has_deployment("web", 1).await;
    terminal.roll_out().await;
    let change = json!({"metadata": {"annotations": {"kubernetes.io/change-cause": "to 2"}},
        "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:2"}]}}}});
    terminal.stage.patch("deployments", "web", PatchType::Strategic, &change).await.unwrap();
    terminal.roll_out().await;
    terminal
}

/// K6: for a kind without rollouts, each verb has its own error.
#[tokio::test(start_paused = true)]
async fn a_replica_set_has_no_rollout() {
    let mut terminal = twice_rolled_out().await;
    let name = terminal.reads("rs", "{.items[0].metadata.name}").await;
    let set = format!("rs/{name}");
    pauses(&mut terminal, &set, PauseOrResume::Pause)
        .await
        .fails(&format!("error: replicasets.apps \"{name}\" pausing is not supported\n"));
    pauses(&mut terminal, &set, PauseOrResume::Resume)
        .await
        .fails(&format!("error: replicasets.apps \"{name}\" resuming is not supported\n"));
    restarts(&mut terminal, &set)
        .await
        .fails(&format!("error: replicasets.apps \"{name}\" restarting is not supported\n"));
    run_history(&mut terminal, &set, 0)
        .await
        .fails("error: no history viewer has been implemented for \"ReplicaSet.apps\"\n");
    let options = UndoOptions { selection: selected(&set), ..UndoOptions::default() };
    terminal
        .run(async |ctx| undo(ctx, &options).await)
        .await
        .fails("error: no rollbacker has been implemented for \"ReplicaSet.apps\"\n");
    run_history(&mut terminal, "", 0).await.fails("error: required resource not specified\n");
}

/// K6: without objects, `undo` and `history` print nothing.
#[tokio::test(start_paused = true)]
async fn undo_and_history_of_nothing_print_nothing() {
    let mut terminal = Terminal::new().await;
    run_history(&mut terminal, "deploy", 0).await.is("");
    let options = UndoOptions { selection: selected("deploy"), ..UndoOptions::default() };
    terminal.run(async |ctx| undo(ctx, &options).await).await.is("");
}

/// K0.3: only a single failure begins with `error: `. Kinds that are no workloads get another message.
#[tokio::test(start_paused = true)]
async fn failures_of_several_objects_are_listed() {
    let mut terminal = Terminal::new().await;
    for name in ["a", "b"] {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "c", "image": "i"}]}});
        terminal.stage.create("pods", &pod).await.unwrap();
    }
    let line = "no history viewer has been implemented for \"Pod\"\n";
    run_history(&mut terminal, "pods", 0).await.fails(&format!("{line}{line}"));
    run_history(&mut terminal, "pod/a", 0).await.fails(&format!("error: {line}"));
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    terminal.stage.create("configmaps", &map).await.unwrap();
    let options = UndoOptions { selection: selected("cm/m"), ..UndoOptions::default() };
    terminal.run(async |ctx| undo(ctx, &options).await).await.fails(
        "error: error retrieving rollbacker for \"ConfigMap\", no visitor method exists for { ConfigMap}\n",
    );
}

/// K6: a bare type acts on all objects of the namespace.
#[tokio::test(start_paused = true)]
async fn a_bare_type_selects_all_objects() {
    let mut terminal = Terminal::new().await;
    let output = pauses(&mut terminal, "deploy", PauseOrResume::Pause).await;
    assert_eq!((output.out.as_str(), output.err.as_str()), ("", "No resources found in shop namespace.\n"));
    terminal.has_deployment("api", 1).await;
    terminal.has_deployment("web", 1).await;
    pauses(&mut terminal, "deploy", PauseOrResume::Pause)
        .await
        .is("deployment.apps/api paused\ndeployment.apps/web paused\n");
}

/// K6.1: revisions ascend, each with its cause; a single revision is shown as its template.
#[tokio::test(start_paused = true)]
async fn history_is_shown_by_revision() {
    let mut terminal = twice_rolled_out().await;
    run_history(&mut terminal, "deploy/web", 0)
        .await
        .is("deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n2         to 2\n\n");
    let output = run_history(&mut terminal, "deploy/web", 2).await;
    let start =
        "deployment.apps/web with revision #2\nPod Template:\n  Labels:\tapp=web\n\tpod-template-hash=";
    assert!(output.out.starts_with(start), "{}", output.out);
    let cause =
        "\n  Annotations:\tkubernetes.io/change-cause: to 2\n  Containers:\n   c:\n    Image:\tnginx:2\n";
    assert!(
        output.out.contains(cause) && output.out.ends_with("  Tolerations:\t<none>\n\n"),
        "{}",
        output.out
    );
    run_history(&mut terminal, "deploy/web", 9).await.fails("error: unable to find the specified revision\n");
    run_history(&mut terminal, "deploy/web", -1)
        .await
        .fails("error: revision must be a positive integer: -1\n");
}

/// K6.1: no revision yet, and revisions as whole objects.
#[tokio::test(start_paused = true)]
async fn history_may_be_empty_or_whole() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    run_history(&mut terminal, "deploy/web", 0)
        .await
        .is("deployment.apps/web \nNo rollout history found.\n\n");
    let mut terminal = twice_rolled_out().await;
    let options = HistoryOptions {
        selection: selected("deploy/web"),
        printer: printer("jsonpath={.kind} {.spec.template.spec.containers[0].image};", DryRun::No),
        ..HistoryOptions::default()
    };
    terminal.run(async |ctx| history(ctx, &options).await).await.is("ReplicaSet nginx:1;ReplicaSet nginx:2;");
}

/// K6.1, K6.2: `undo` after `apply` prints a warning; zero means the revision before the last, which is renumbered.
#[tokio::test(start_paused = true)]
async fn undo_restores_the_previous_revision() {
    let mut terminal = Terminal::with_controllers().await;
    for image in ["nginx:1", "nginx:2"] {
        terminal.applies(&manifest("web", 1, image)).await;
        terminal.roll_out().await;
    }
    let output = undoes(&mut terminal, 0).await;
    assert_eq!(output.out, "deployment.apps/web rolled back\n");
    assert_eq!(
        output.err,
        "Warning: resource deployments/web was previously managed with 'kubectl apply'. Rolling back will not update the \
         kubectl.kubernetes.io/last-applied-configuration annotation, which may cause unexpected behavior on future \
         'kubectl apply' operations. Consider using 'kubectl apply' with your previous configuration file instead.\n"
    );
    terminal.roll_out().await;
    assert_eq!(terminal.reads("deploy web", "{..image}").await, "nginx:1");
    let rendered = run_history(&mut terminal, "deploy/web", 0).await;
    assert!(
        rendered.out.contains("\n2  ") && rendered.out.contains("\n3  ") && !rendered.out.contains("\n1  "),
        "{}",
        rendered.out
    );
}

/// K6.2: the target is found first, then whether it is paused, then whether it differs.
#[tokio::test(start_paused = true)]
async fn undo_checks_one_thing_after_the_other() {
    let mut terminal = twice_rolled_out().await;
    undoes(&mut terminal, 2)
        .await
        .is("deployment.apps/web skipped rollback (current template already matches revision 2)\n");
    pauses(&mut terminal, "deploy/web", PauseOrResume::Pause).await;
    for unknown in [9, -1] {
        undoes(&mut terminal, unknown)
            .await
            .fails(&format!("error: unable to find specified revision {unknown} in history\n"));
    }
    undoes(&mut terminal, 2).await.fails(
        "error: you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again\n",
    );
    let options = UndoOptions {
        selection: selected("deploy/web"),
        printer: printer("", DryRun::Client),
        ..UndoOptions::default()
    };
    let output = terminal.run(async |ctx| undo(ctx, &options).await).await;
    assert!(
        output.out.starts_with("deployment.apps/web Pod Template:\n  Labels:\tapp=web\n"),
        "{}",
        output.out
    );
    assert!(output.out.ends_with("  Tolerations:\t<none>\n (dry run)\n"), "{}", output.out);
}

/// K6.2: with a single revision there is none to roll back to.
#[tokio::test(start_paused = true)]
async fn undo_requires_an_earlier_revision() {
    let mut terminal = Terminal::with_controllers().await;
    terminal.has_deployment("web", 1).await;
    terminal.roll_out().await;
    undoes(&mut terminal, 0).await.fails("error: no rollout history found for deployment \"web\"\n");
}

/// K6.3: a JSON patch of the template and the annotations, six of which are the Deployment's own.
#[tokio::test(start_paused = true)]
async fn undo_restores_the_annotations_of_the_revision() {
    let mut terminal = twice_rolled_out().await;
    terminal.wire.forget();
    undoes(&mut terminal, 1).await.is("deployment.apps/web rolled back\n");
    let sent = &terminal.wire.writes()[0];
    assert_eq!(sent.content, "application/json-patch+json");
    assert_eq!(sent.body[0]["path"], "/spec/template");
    assert_eq!(sent.body[0]["value"]["metadata"]["labels"], json!({"app": "web"}), "without the hash");
    let annotations = json!({"op": "replace", "path": "/metadata/annotations",
        "value": {"deployment.kubernetes.io/revision": "2"}});
    assert_eq!(sent.body[1], annotations, "the cause of the second revision is removed");
}

/// K6.3: pausing and resuming, twice.
#[tokio::test(start_paused = true)]
async fn pausing_and_resuming_twice_is_an_error() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    pauses(&mut terminal, "deploy/web", PauseOrResume::Pause).await.is("deployment.apps/web paused\n");
    let sent = &terminal.wire.writes()[0];
    assert_eq!(sent.content, "application/strategic-merge-patch+json");
    assert_eq!(
        (sent.query.as_str(), &sent.body),
        ("fieldManager=kubectl-rollout", &json!({"spec": {"paused": true}}))
    );
    pauses(&mut terminal, "deploy/web", PauseOrResume::Pause)
        .await
        .fails("error: deployments.apps \"web\" is already paused\n");
    restarts(&mut terminal, "deploy/web").await.fails(
        "error: deployments.apps \"web\" can't restart paused deployment (run rollout resume first)\n",
    );
    pauses(&mut terminal, "deploy/web", PauseOrResume::Resume).await.is("deployment.apps/web resumed\n");
    pauses(&mut terminal, "deploy/web", PauseOrResume::Resume)
        .await
        .fails("error: deployments.apps \"web\" is not paused\n");
}

/// K6.3: restarting makes a new revision, but not twice within a second.
#[tokio::test(start_paused = true)]
async fn restarting_creates_a_new_revision() {
    let mut terminal = Terminal::with_controllers().await;
    terminal.has_deployment("web", 1).await;
    terminal.roll_out().await;
    restarts(&mut terminal, "deploy/web").await.is("deployment.apps/web restarted\n");
    restarts(&mut terminal, "deploy/web").await.fails(
        "error: failed to create patch for web: if restart has already been triggered within the past second, please wait \
         before attempting to trigger another\n",
    );
    let when = terminal.reads("deploy web", "{.spec.template.metadata.annotations}").await;
    assert!(when.starts_with("{\"kubectl.kubernetes.io/restartedAt\":\"2026-01-01T12:"), "{when}");
    tokio::time::sleep(Duration::from_secs(1)).await;
    restarts(&mut terminal, "deploy/web").await.is("deployment.apps/web restarted\n");
    terminal.roll_out().await;
    assert_eq!(terminal.stage.sets().await.len(), 3);
}
