//! `scale` and `set image`.

use std::time::Duration;

use gantry_json::json;
use gantry_kubectl::verbs::{ScaleOptions, SetImageOptions, scale, set_image};

use crate::terminal::{CommandOutput, Terminal, selected};

fn scaling(words: &str, replicas: i32) -> ScaleOptions {
    ScaleOptions { selection: selected(words), replicas, ..ScaleOptions::default() }
}

async fn run_scale(terminal: &mut Terminal, options: ScaleOptions) -> CommandOutput {
    terminal.run(async |ctx| scale(ctx, &options).await).await
}

async fn sets(terminal: &mut Terminal, words: &str) -> CommandOutput {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    terminal
        .run(async |ctx| {
            let (resources, images) = SetImageOptions::parse(&words)?;
            let selection = gantry_kubectl::Selection::from_arguments(resources);
            set_image(ctx, &SetImageOptions { selection, images, ..SetImageOptions::default() }).await
        })
        .await
}

/// K4: a merge patch of the scale; the result is printed even if nothing changed.
#[tokio::test(start_paused = true)]
async fn scaling_patches_the_scale() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    for _ in 0..2 {
        terminal.wire.forget();
        run_scale(&mut terminal, scaling("deploy/web", 3)).await.is("deployment.apps/web scaled\n");
        let sent = &terminal.wire.writes()[0];
        assert_eq!(sent.path, "/apis/apps/v1/namespaces/shop/deployments/web/scale");
        assert_eq!(
            (sent.content.as_str(), &sent.body),
            ("application/merge-patch+json", &json!({"spec": {"replicas": 3}}))
        );
    }
    assert_eq!(terminal.reads("deploy web", "{.spec.replicas}").await, "3");
}

/// K4: preconditions are checked, and then the scale that was read is written.
#[tokio::test(start_paused = true)]
async fn scaling_can_have_preconditions() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 5).await;
    let wrong = ScaleOptions { current_replicas: Some(3), ..scaling("deploy/web", 2) };
    run_scale(&mut terminal, wrong).await.fails("error: Expected replicas to be 3, was 5\n");
    let version = terminal.reads("deploy web", "{.metadata.resourceVersion}").await;
    let wrong = ScaleOptions { resource_version: Some("1".to_owned()), ..scaling("deploy/web", 2) };
    run_scale(&mut terminal, wrong)
        .await
        .fails(&format!("error: Expected resource version to be 1, was {version}\n"));
    terminal.wire.conflict(2);
    let right = ScaleOptions { current_replicas: Some(5), ..scaling("deploy/web", 2) };
    run_scale(&mut terminal, right).await.is("deployment.apps/web scaled\n");
    let methods: Vec<_> = terminal.wire.writes().into_iter().map(|sent| sent.method).collect();
    assert_eq!(methods, ["PUT", "PUT", "PUT"], "conflicts are retried");
    assert_eq!(terminal.reads("deploy web", "{.spec.replicas}").await, "2");
}

/// K4: the table of mistakes.
#[tokio::test(start_paused = true)]
async fn scaling_needs_a_name_and_an_object() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    run_scale(&mut terminal, scaling("deploy", 1))
        .await
        .fails("error: resource(s) were provided, but no name was specified\n");
    run_scale(&mut terminal, scaling("deploy/nope", 1))
        .await
        .fails("Error from server (NotFound): deployments.apps \"nope\" not found\n");
    let waiting = ScaleOptions { timeout: Some(Duration::from_secs(1)), ..scaling("deploy/web", 2) };
    run_scale(&mut terminal, waiting).await.fails("error: timed out waiting for \"web\" to be synced\n");
}

/// K5: images by container, `*` for all, and no output if nothing changes.
#[tokio::test(start_paused = true)]
async fn images_are_set_by_container() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    sets(&mut terminal, "deployment/web c=nginx:2").await.is("deployment.apps/web image updated\n");
    let sent = &terminal.wire.writes()[0];
    assert_eq!(sent.content, "application/strategic-merge-patch+json");
    assert!(sent.query.contains("fieldManager=kubectl-set"), "{}", sent.query);
    sets(&mut terminal, "deployment/web c=nginx:2").await.is("");
    sets(&mut terminal, "deployment web *=nginx:3").await.is("deployment.apps/web image updated\n");
    assert_eq!(terminal.reads("deploy web", "{..image}").await, "nginx:3");
}

/// K5, K6.1: a recorded cause is shown in the history.
#[tokio::test(start_paused = true)]
async fn a_change_cause_can_be_recorded() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let options = SetImageOptions {
        selection: selected("deploy/web"),
        images: vec![("c".into(), "nginx:2".into())],
        cause: Some("kubectl set image".into()),
        ..SetImageOptions::default()
    };
    terminal.run(async |ctx| set_image(ctx, &options).await).await.is("deployment.apps/web image updated\n");
    let cause = terminal.reads("deploy web", "{.metadata.annotations.kubernetes\\.io/change-cause}").await;
    assert_eq!(cause, "kubectl set image");
}

/// K5: the table of mistakes; valid images are set all the same.
#[tokio::test(start_paused = true)]
async fn errors_about_images_are_reported() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let output = sets(&mut terminal, "deploy/web foo=x c=nginx:2").await;
    assert_eq!(output.err, "error: unable to find container named \"foo\"\n");
    assert_eq!(output.out, "deployment.apps/web image updated\n");
    for (words, problem) in [
        ("deploy/web", "at least one image update is required"),
        (
            "deploy/web *=a c=b",
            "all containers are already specified by *, but saw more than one container_name=container_image pairs",
        ),
        ("c=a deploy/web", "all resources must be specified before image changes: deploy/web"),
        (
            "c=a",
            "You must provide one or more resources by argument or filename.\nExample resource specifications include:\n   \
             '-f rsrc.yaml'\n   '--filename=rsrc.json'\n   '<resource> <name>'\n   '<resource>'",
        ),
    ] {
        sets(&mut terminal, words).await.fails(&format!("error: {problem}\n"));
    }
}
