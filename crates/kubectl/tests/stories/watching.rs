//! What goes on: `get --watch` and `rollout status`.

use std::time::Duration;

use gantry_kubectl::verbs::{Get, PauseOrResume, Report, Status, Watching, get, pause_or_resume, status};
use serde_json::json;
use tokio::time::timeout;

use crate::stage::Form;
use crate::terminal::{Said, Terminal, selected};

/// Watches for a minute, while somebody scales `web` to 4 and then deletes it.
async fn watches(terminal: &mut Terminal, words: &str, watching: Watching) -> Said {
    let asked = Get { selection: selected(words), watching, ..Get::default() };
    let (session, stage) = (&mut terminal.session, &terminal.stage);
    let meanwhile = async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        let scaled = json!({"spec": {"replicas": 4}});
        stage.patch("deployments", "web", Form::Merge, &scaled).await.unwrap();
        stage.delete("deployments", "web", &json!({})).await.unwrap();
    };
    let (ended, ()) = tokio::join!(timeout(Duration::from_secs(60), get(session, &asked)), meanwhile);
    assert!(ended.is_err(), "it goes on until it is interrupted");
    terminal.said(Ok(()))
}

async fn tells_status(terminal: &mut Terminal, asked: Status) -> Said {
    terminal.run(async |session| status(session, &asked).await).await
}

fn of_web() -> Status {
    Status { selection: selected("deploy/web"), watch: true, ..Status::default() }
}

/// K2.8: the rows there are, then one for each change, the last state of what is deleted too.
#[tokio::test(start_paused = true)]
async fn a_watch_goes_on_with_changes() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let said = watches(&mut terminal, "deploy", Watching { watch: true, ..Watching::default() }).await;
    let rows: Vec<&str> = said.out.lines().map(|row| row.rsplit_once(' ').unwrap().0.trim_end()).collect();
    let expected = [
        "NAME   READY   UP-TO-DATE   AVAILABLE",
        "web    0/1     0            0",
        "web    0/4     0            0",
        "web    0/4     0            0",
    ];
    assert_eq!(rows, expected);
}

/// K2.8: changes only, each with what it is; a single object does not begin with itself.
#[tokio::test(start_paused = true)]
async fn a_watch_may_say_what_happened() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let told = Watching { watch: true, events: true, ..Watching::default() };
    let said = watches(&mut terminal, "deploy", told).await;
    let events: Vec<&str> = said.out.lines().map(|row| row.split(' ').next().unwrap()).collect();
    assert_eq!(events, ["EVENT", "ADDED", "MODIFIED", "DELETED"]);
    terminal.has_deployment("web", 1).await;
    let only = Watching { only: true, ..Watching::default() };
    let said = watches(&mut terminal, "deploy web", only).await;
    assert_eq!(said.out.lines().count(), 1 + 2, "a header and two changes: {}", said.out);
}

/// K2.8: the server no longer knows what came after the last change of the object.
#[tokio::test(start_paused = true)]
async fn an_object_that_has_not_changed_for_long_is_watched() {
    let mut terminal = Terminal::with_short_memory().await;
    terminal.has_deployment("web", 1).await;
    terminal.moves_on().await;
    let said = watches(&mut terminal, "deploy web", Watching { watch: true, ..Watching::default() }).await;
    assert_eq!(said.err, "");
    assert_eq!(said.out.lines().count(), 1 + 1 + 2, "a header, the object and two changes: {}", said.out);
}

/// K6.4: the same, of a rollout that nothing has happened to for long.
#[tokio::test(start_paused = true)]
async fn the_status_of_an_object_that_has_not_changed_for_long_is_followed() {
    let mut terminal = Terminal::with_short_memory().await;
    terminal.has_deployment("web", 1).await;
    terminal.moves_on().await;
    let asked = of_web();
    let (session, stage) = (&mut terminal.session, &terminal.stage);
    let meanwhile = async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        stage.delete("deployments", "web", &json!({})).await.unwrap();
    };
    let watched = timeout(Duration::from_secs(60), status(session, &asked));
    let (ended, ()) = tokio::join!(watched, meanwhile);
    let said = terminal.said(ended.unwrap());
    assert_eq!(said.out, "Waiting for deployment spec update to be observed...\n");
    assert_eq!(said.err, "error: object has been deleted\n");
}

/// K6.4: every change is told until the rollout is over.
#[tokio::test(start_paused = true)]
async fn status_waits_for_the_rollout() {
    let mut terminal = Terminal::with_controllers().await;
    terminal.has_deployment("web", 2).await;
    terminal.stage.settle().await;
    let asked = of_web();
    let (session, stage) = (&mut terminal.session, &mut terminal.stage);
    let (done, ()) = tokio::join!(status(session, &asked), stage.drain());
    let said = terminal.said(done);
    let waiting = |available| {
        format!(
            "Waiting for deployment \"web\" rollout to finish: {available} of 2 updated replicas are available...\n"
        )
    };
    assert!(said.out.starts_with(&waiting(0)), "{}", said.out);
    assert!(
        said.out.ends_with(&format!("{}deployment \"web\" successfully rolled out\n", waiting(1))),
        "{}",
        said.out
    );
    tells_status(&mut terminal, Status { revision: 1, ..of_web() })
        .await
        .is("deployment \"web\" successfully rolled out\n");
    tells_status(&mut terminal, Status { revision: 9, ..of_web() })
        .await
        .fails("error: desired revision (9) is different from the running revision (1)\n");
}

/// K6.4: one look, a limit, and a Deployment that goes away.
#[tokio::test(start_paused = true)]
async fn status_may_end_before_the_rollout() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let line = "Waiting for deployment spec update to be observed...\n";
    tells_status(&mut terminal, Status { watch: false, ..of_web() }).await.is(line);
    let said =
        tells_status(&mut terminal, Status { timeout: Some(Duration::from_secs(1)), ..of_web() }).await;
    assert_eq!(
        (said.out.as_str(), said.err.as_str()),
        (line, "error: timed out waiting for the condition\n")
    );
    let asked = of_web();
    let (session, stage) = (&mut terminal.session, &terminal.stage);
    let meanwhile = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        stage.delete("deployments", "web", &json!({})).await.unwrap();
    };
    let (done, ()) = tokio::join!(status(session, &asked), meanwhile);
    assert_eq!(terminal.said(done).err, "error: object has been deleted\n");
}

/// K6.4: a paused Deployment waits for ever; one without pods is done; a missed deadline is an error.
#[tokio::test(start_paused = true)]
async fn status_tells_a_stuck_rollout() {
    let mut terminal = Terminal::with_controllers().await;
    terminal.has_deployment("web", 1).await;
    terminal.roll_out().await;
    let selection = selected("deploy/web");
    let pause = PauseOrResume::Pause;
    terminal.run(async |session| pause_or_resume(session, &selection, pause, &Report::default()).await).await;
    let change = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "nginx:2"}]}}}});
    terminal.stage.patch("deployments", "web", Form::Strategic, &change).await.unwrap();
    terminal.stage.settle().await;
    let said =
        tells_status(&mut terminal, Status { timeout: Some(Duration::from_secs(300)), ..of_web() }).await;
    let line =
        "Waiting for deployment \"web\" rollout to finish: 0 out of 1 new replicas have been updated...\n";
    assert_eq!(
        (said.out.as_str(), said.err.as_str()),
        (line, "error: timed out waiting for the condition\n")
    );
    let resume = PauseOrResume::Resume;
    terminal
        .run(async |session| pause_or_resume(session, &selection, resume, &Report::default()).await)
        .await;
    terminal.stage.settle().await;
    let said = tells_status(&mut terminal, of_web()).await;
    assert!(
        said.failed && said.err == "error: deployment \"web\" exceeded its progress deadline\n",
        "{said:?}"
    );
}
