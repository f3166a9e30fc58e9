//! Changes over time: `get --watch` and `rollout status`.

use std::time::Duration;

use gantry_json::json;
use gantry_kubectl::verbs::{
    GetOptions, PauseOrResume, ResultPrinter, RolloutStatusOptions, WatchOptions, get, pause_or_resume,
    status,
};
use tokio::time::timeout;

use crate::terminal::{CommandOutput, Terminal, selected};
use gantry_test_cluster::PatchType;

/// Watches for a minute, while `web` is scaled to 4 and then deleted.
async fn watches(terminal: &mut Terminal, words: &str, watching: WatchOptions) -> CommandOutput {
    let options = GetOptions { selection: selected(words), watching, ..GetOptions::default() };
    let (ctx, stage) = (&mut terminal.ctx, &terminal.stage);
    let meanwhile = async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        let scaled = json!({"spec": {"replicas": 4}});
        stage.patch("deployments", "web", PatchType::Merge, &scaled).await.unwrap();
        stage.delete("deployments", "web", &json!({})).await.unwrap();
    };
    let (ended, ()) = tokio::join!(timeout(Duration::from_secs(60), get(ctx, &options)), meanwhile);
    assert!(ended.is_err(), "the watch does not end by itself");
    terminal.output(Ok(()))
}

async fn run_status(terminal: &mut Terminal, options: RolloutStatusOptions) -> CommandOutput {
    terminal.run(async |ctx| status(ctx, &options).await).await
}

fn of_web() -> RolloutStatusOptions {
    RolloutStatusOptions { selection: selected("deploy/web"), watch: true, ..RolloutStatusOptions::default() }
}

/// K2.8: the existing rows, then one for each change, including the last state of a deleted object.
#[tokio::test(start_paused = true)]
async fn a_watch_continues_with_changes() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let output =
        watches(&mut terminal, "deploy", WatchOptions { watch: true, ..WatchOptions::default() }).await;
    let rows: Vec<&str> = output.out.lines().map(|row| row.rsplit_once(' ').unwrap().0.trim_end()).collect();
    let expected = [
        "NAME   READY   UP-TO-DATE   AVAILABLE",
        "web    0/1     0            0",
        "web    0/4     0            0",
        "web    0/4     0            0",
    ];
    assert_eq!(rows, expected);
}

/// K2.8: changes only, each with its type; a watch of a single object does not begin with the object.
#[tokio::test(start_paused = true)]
async fn a_watch_can_print_event_types() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let rendered = WatchOptions { watch: true, events: true, ..WatchOptions::default() };
    let output = watches(&mut terminal, "deploy", rendered).await;
    let events: Vec<&str> = output.out.lines().map(|row| row.split(' ').next().unwrap()).collect();
    assert_eq!(events, ["EVENT", "ADDED", "MODIFIED", "DELETED"]);
    terminal.has_deployment("web", 1).await;
    let only = WatchOptions { only: true, ..WatchOptions::default() };
    let output = watches(&mut terminal, "deploy web", only).await;
    assert_eq!(output.out.lines().count(), 1 + 2, "a header and two changes: {}", output.out);
}

/// K2.8: the watch history no longer contains the last change of the object.
#[tokio::test(start_paused = true)]
async fn an_object_that_has_not_changed_for_long_is_watched() {
    let mut terminal = Terminal::with_short_history().await;
    terminal.has_deployment("web", 1).await;
    terminal.evict_history().await;
    let output =
        watches(&mut terminal, "deploy web", WatchOptions { watch: true, ..WatchOptions::default() }).await;
    assert_eq!(output.err, "");
    assert_eq!(output.out.lines().count(), 1 + 1 + 2, "a header, the object and two changes: {}", output.out);
}

/// K6.4: the same for a rollout without recent changes.
#[tokio::test(start_paused = true)]
async fn the_status_of_an_object_that_has_not_changed_for_long_is_followed() {
    let mut terminal = Terminal::with_short_history().await;
    terminal.has_deployment("web", 1).await;
    terminal.evict_history().await;
    let options = of_web();
    let (ctx, stage) = (&mut terminal.ctx, &terminal.stage);
    let meanwhile = async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        stage.delete("deployments", "web", &json!({})).await.unwrap();
    };
    let watched = timeout(Duration::from_secs(60), status(ctx, &options));
    let (ended, ()) = tokio::join!(watched, meanwhile);
    let output = terminal.output(ended.unwrap());
    assert_eq!(output.out, "Waiting for deployment spec update to be observed...\n");
    assert_eq!(output.err, "error: object has been deleted\n");
}

/// K6.4: every change is printed until the rollout is over.
#[tokio::test(start_paused = true)]
async fn status_waits_for_the_rollout() {
    let mut terminal = Terminal::with_controllers().await;
    terminal.has_deployment("web", 2).await;
    terminal.stage.settle().await;
    let options = of_web();
    let (ctx, stage) = (&mut terminal.ctx, &mut terminal.stage);
    let (done, ()) = tokio::join!(status(ctx, &options), stage.drain());
    let output = terminal.output(done);
    let waiting = |available| {
        format!(
            "Waiting for deployment \"web\" rollout to finish: {available} of 2 updated replicas are available...\n"
        )
    };
    assert!(output.out.starts_with(&waiting(0)), "{}", output.out);
    assert!(
        output.out.ends_with(&format!("{}deployment \"web\" successfully rolled out\n", waiting(1))),
        "{}",
        output.out
    );
    run_status(&mut terminal, RolloutStatusOptions { revision: 1, ..of_web() })
        .await
        .is("deployment \"web\" successfully rolled out\n");
    run_status(&mut terminal, RolloutStatusOptions { revision: 9, ..of_web() })
        .await
        .fails("error: desired revision (9) is different from the running revision (1)\n");
}

/// K6.4: one check, a timeout, and a Deployment that is deleted.
#[tokio::test(start_paused = true)]
async fn status_can_end_before_the_rollout() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let line = "Waiting for deployment spec update to be observed...\n";
    run_status(&mut terminal, RolloutStatusOptions { watch: false, ..of_web() }).await.is(line);
    let output =
        run_status(&mut terminal, RolloutStatusOptions { timeout: Some(Duration::from_secs(1)), ..of_web() })
            .await;
    assert_eq!(
        (output.out.as_str(), output.err.as_str()),
        (line, "error: timed out waiting for the condition\n")
    );
    let options = of_web();
    let (ctx, stage) = (&mut terminal.ctx, &terminal.stage);
    let meanwhile = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        stage.delete("deployments", "web", &json!({})).await.unwrap();
    };
    let (done, ()) = tokio::join!(status(ctx, &options), meanwhile);
    assert_eq!(terminal.output(done).err, "error: object has been deleted\n");
}

/// K6.4: a paused Deployment waits without end; one without pods is done; a missed deadline is an error.
#[tokio::test(start_paused = true)]
async fn status_fails_on_a_stuck_rollout() {
    let mut terminal = Terminal::with_controllers().await;
    terminal.has_deployment("web", 1).await;
    terminal.roll_out().await;
    let selection = selected("deploy/web");
    let pause = PauseOrResume::Pause;
    terminal.run(async |ctx| pause_or_resume(ctx, &selection, pause, &ResultPrinter::default()).await).await;
    let change = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:2"}]}}}});
    terminal.stage.patch("deployments", "web", PatchType::Strategic, &change).await.unwrap();
    terminal.stage.settle().await;
    let output = run_status(
        &mut terminal,
        RolloutStatusOptions { timeout: Some(Duration::from_secs(300)), ..of_web() },
    )
    .await;
    let line =
        "Waiting for deployment \"web\" rollout to finish: 0 out of 1 new replicas have been updated...\n";
    assert_eq!(
        (output.out.as_str(), output.err.as_str()),
        (line, "error: timed out waiting for the condition\n")
    );
    let resume = PauseOrResume::Resume;
    terminal.run(async |ctx| pause_or_resume(ctx, &selection, resume, &ResultPrinter::default()).await).await;
    terminal.stage.settle().await;
    let output = run_status(&mut terminal, of_web()).await;
    assert!(
        output.failed && output.err == "error: deployment \"web\" exceeded its progress deadline\n",
        "{output:?}"
    );
}
