//! `delete`: the output, the requests, and when it ends.

use std::time::Duration;

use gantry_json::json;
use gantry_kubectl::Selection;
use gantry_kubectl::verbs::{Cascade, DeleteOptions, DryRun, ResultPrinter, delete};

use crate::terminal::{CommandOutput, Terminal, printer, selected};

/// A deletion without any flag.
pub(crate) fn deletion(words: &str) -> DeleteOptions {
    DeleteOptions {
        selection: selected(words),
        cascade: Cascade::Background,
        grace_seconds: None,
        force: false,
        wait: true,
        timeout: None,
        ignore_not_found: false,
        printer: ResultPrinter::default(),
    }
}

async fn deletes(terminal: &mut Terminal, options: &DeleteOptions) -> CommandOutput {
    terminal.run(async |ctx| delete(ctx, options).await).await
}

/// K7.1: the line names the namespace of a namespaced object.
#[tokio::test(start_paused = true)]
async fn a_deletion_names_the_namespace() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let trial = DeleteOptions { printer: printer("", DryRun::Client), ..deletion("deploy web") };
    deletes(&mut terminal, &trial)
        .await
        .is("deployment.apps \"web\" deleted from shop namespace (dry run)\n");
    deletes(&mut terminal, &deletion("deploy web"))
        .await
        .is("deployment.apps \"web\" deleted from shop namespace\n");
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    terminal.stage.create("pods", &pod).await.unwrap();
    let forced = DeleteOptions { grace_seconds: Some(0), ..deletion("pod p") };
    deletes(&mut terminal, &forced).await.is("pod \"p\" force deleted from shop namespace\n");
    let whole = DeleteOptions { wait: false, ..deletion("ns shop") };
    deletes(&mut terminal, &whole).await.is("namespace \"shop\" deleted\n");
}

/// K7.1: with an output format that is not supported, nothing is deleted.
#[tokio::test(start_paused = true)]
async fn a_deletion_is_printed_by_name_or_not_at_all() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let options = DeleteOptions { printer: printer("yaml", DryRun::No), ..deletion("deploy web") };
    deletes(&mut terminal, &options)
        .await
        .fails("error: unexpected -o output mode: yaml. We only support '-o name'\n");
    let options = DeleteOptions { printer: printer("name", DryRun::No), ..deletion("deploy web") };
    deletes(&mut terminal, &options).await.is("deployment.apps/web\n");
}

/// K7.2: the propagation policy is always sent.
#[tokio::test(start_paused = true)]
async fn a_cascade_is_always_sent() {
    let mut terminal = Terminal::new().await;
    for (cascade, sent) in
        [(Cascade::default(), "Background"), (Cascade::Foreground, "Foreground"), (Cascade::Orphan, "Orphan")]
    {
        terminal.has_deployment("web", 1).await;
        terminal.wire.forget();
        deletes(&mut terminal, &DeleteOptions { cascade, wait: false, ..deletion("deploy web") }).await;
        assert_eq!(terminal.wire.writes()[0].body, json!({"propagationPolicy": sent}));
        // There is no garbage collector here, so the finalizers are removed by hand.
        let free = json!({"metadata": {"finalizers": null}});
        let _ =
            terminal.stage.patch("deployments", "web", gantry_test_cluster::PatchType::Merge, &free).await;
    }
    assert_eq!(
        Cascade::parse("bogus").unwrap_err().lines(),
        "error: invalid cascade value (bogus). Must be \"background\", \"foreground\", or \"orphan\"\n"
    );
}

/// K7.3: foreground waits for the dependents, background does not.
#[tokio::test(start_paused = true)]
async fn foreground_waits_for_pods() {
    let mut terminal = Terminal::with_controllers().await;
    terminal.has_deployment("web", 2).await;
    terminal.roll_out().await;
    terminal.stage.terminations = gantry_test_cluster::Terminations::Manually;
    let options = DeleteOptions {
        cascade: Cascade::Foreground,
        timeout: Some(Duration::from_secs(5)),
        ..deletion("deploy web")
    };
    let output = deletes(&mut terminal, &options).await;
    assert_eq!(output.out, "deployment.apps \"web\" deleted from shop namespace\n");
    assert_eq!(output.err, "error: timed out waiting for the condition on deployments/web\n");
    assert!(
        terminal.gets("deploy web", "").await.out.contains("web    0/2"),
        "the Deployment is still listed"
    );
    terminal.stage.delete_terminating().await;
    terminal.stage.settle().await;
    terminal
        .gets("deploy web", "")
        .await
        .fails("Error from server (NotFound): deployments.apps \"web\" not found\n");
}

/// K7.3: background does not wait for pods, and orphans are not deleted.
#[tokio::test(start_paused = true)]
async fn background_does_not_wait_for_pods_and_orphans_stay() {
    let mut terminal = Terminal::with_controllers().await;
    for (name, cascade) in [("web", Cascade::Background), ("api", Cascade::Orphan)] {
        terminal.has_deployment(name, 1).await;
        terminal.roll_out().await;
        let options = DeleteOptions { cascade, ..deletion(&format!("deploy {name}")) };
        deletes(&mut terminal, &options)
            .await
            .is(&format!("deployment.apps \"{name}\" deleted from shop namespace\n"));
        terminal.stage.settle().await;
    }
    assert_eq!(
        terminal.reads("rs", "{.items[*].metadata.ownerReferences}{.items[*].metadata.labels.app}").await,
        "api"
    );
    assert_eq!(terminal.stage.list("pods").await.len(), 1, "the orphan's pod still exists");
}

/// K7.4: `--force` prints a warning.
#[tokio::test(start_paused = true)]
async fn force_is_warned_of() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let grace_seconds = DeleteOptions::grace(-1, true, false).unwrap();
    let options = DeleteOptions { force: true, grace_seconds, ..deletion("deploy web") };
    let output = deletes(&mut terminal, &options).await;
    assert_eq!(output.out, "deployment.apps \"web\" force deleted from shop namespace\n");
    assert_eq!(
        output.err,
        "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The \
         resource may continue to run on the cluster indefinitely.\n"
    );
    assert_eq!(terminal.wire.writes()[0].body["gracePeriodSeconds"], 0);
}

/// K7.5: no match, no name, no such object.
#[tokio::test(start_paused = true)]
async fn missing_objects_are_reported() {
    let mut terminal = Terminal::new().await;
    let all = DeleteOptions { selection: Selection { all: true, ..selected("deploy") }, ..deletion("") };
    deletes(&mut terminal, &all).await.is("No resources found\n");
    let none = Selection { selector: Some("app=x".into()), ..selected("deploy") };
    deletes(&mut terminal, &DeleteOptions { selection: none, ..deletion("") })
        .await
        .is("No resources found\n");
    deletes(&mut terminal, &deletion("deploy"))
        .await
        .fails("error: resource(s) were provided, but no name was specified\n");
    deletes(&mut terminal, &deletion("deploy nope"))
        .await
        .fails("Error from server (NotFound): deployments.apps \"nope\" not found\n");
    deletes(&mut terminal, &DeleteOptions { ignore_not_found: true, ..deletion("deploy nope") }).await.is("");
}
