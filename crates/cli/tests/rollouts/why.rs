//! `gantry why` over a real connection.

use std::process::Command;

use super::command_output::CommandOutput;
use super::rollout::Rollout;
use super::tmux::Tmux;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn why_follows_a_rollout_from_moving_over_stuck_to_done() {
    let rollout = Rollout::begin("why").await;
    let moving = rollout.gantry(&["why", "deployment/web"]);
    let output = text(&moving.stdout);
    assert_eq!(moving.status.code(), Some(3), "{output}{}", text(&moving.stderr));
    assert!(
        output.starts_with("deployment/web is moving: 1 of 3 pods updated, 3 available, 3 old remaining"),
        "{output}"
    );

    rollout.pod_waits("web-2-1", "ErrImagePull", "no such image").await;
    rollout.warn("web-2-1", "Failed", "Error: ErrImagePull").await;
    let stuck = rollout.gantry(&["why", "deploy", "web", "-o", "json"]);
    assert_eq!(stuck.status.code(), Some(4));
    let report: gantry_json::Value = gantry_json::from_slice(&stuck.stdout).unwrap();
    assert_eq!(report["causes"][0]["code"], "ImagePull");
    assert_eq!(report["causes"][0]["pods"], gantry_json::json!(["web-2-1"]));
    assert_eq!(report["causes"][0]["message"], "no such image");

    rollout.finish().await;
    let done = rollout.gantry(&["why", "web"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stdout));
    assert!(text(&done.stdout).starts_with("deployment/web is done: all 3 pods of revision 2 are available"));
}

#[tokio::test]
async fn failed_lookups_are_reported_on_standard_error() {
    let mut rollout = Rollout::begin("why-errors").await;
    let absent = rollout.gantry(&["why", "missing"]);
    assert_eq!(absent.status.code(), Some(1));
    let output = text(&absent.stderr);
    assert_eq!(output, "Error from server (NotFound): deployments.apps \"missing\" not found\n");
    assert!(absent.stdout.is_empty());
    let wrong = rollout.gantry(&["why", "pod/web"]);
    assert_eq!(
        text(&wrong.stderr),
        "error: only Deployments are supported, not pods\nhint: name a Deployment, such as deployment/web\n"
    );
    let context = rollout.gantry(&["why", "web", "--context", "other"]);
    assert!(text(&context.stderr).contains("context \"other\" does not exist"), "{}", text(&context.stderr));
    rollout.kill_server();
    let gone = rollout.gantry(&["why", "web"]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(text(&gone.stderr).contains("was refused"), "{}", text(&gone.stderr));
}

/// Commands that are copied from the advice act on the cluster and namespace of the report.
#[tokio::test]
async fn advice_carries_the_flags_that_were_given() {
    let rollout = Rollout::begin("why-flags").await;
    rollout.pod_waits("web-2-1", "ErrImagePull", "no such image").await;
    let kubeconfig = rollout.kubeconfig().display().to_string();
    let file = std::fs::read_to_string(rollout.kubeconfig()).unwrap();
    let context = file.lines().find_map(|line| line.strip_prefix("current-context: ")).unwrap();
    let flags = ["-n", "default", "--kubeconfig", &kubeconfig, "--context", context];
    let before = rollout.gantry(&[&flags[..], &["why", "web"]].concat());
    let output = text(&before.stdout);
    let undo = format!(
        "gantry rollout undo deployment/web -n default --kubeconfig {kubeconfig} --context {context}\n"
    );
    assert!(output.contains(&undo), "{output}{}", text(&before.stderr));
    let behind = text(&rollout.gantry(&[&["why", "web"], &flags[..]].concat()).stdout);
    assert!(behind.contains(&undo), "{behind}");
    let all = text(&rollout.gantry(&["why", "-A"]).stdout);
    assert!(all.contains("gantry rollout undo deployment/web -n default\n"), "{all}");
    let none = text(&rollout.gantry(&["why", "web"]).stdout);
    assert!(none.contains("gantry rollout undo deployment/web\n"), "{none}");
}

#[tokio::test]
async fn waiting_ends_with_the_verdict() {
    let rollout = Rollout::begin("why-wait").await;
    let timeout = rollout.gantry(&["why", "web", "--wait", "--timeout=1s"]);
    assert_eq!(timeout.status.code(), Some(3), "{}", text(&timeout.stdout));
    assert_eq!(text(&timeout.stderr), "note: still moving after 1s (--timeout)\n");
    rollout.pod_waits("web-2-1", "ErrImagePull", "no such image").await;
    let stuck = rollout.gantry(&["why", "web", "--wait", "--stuck-for=1s"]);
    assert_eq!((stuck.status.code(), text(&stuck.stderr).as_str()), (Some(4), ""));
    rollout.pod_waits("web-2-1", "ContainerCreating", "").await;
    let waiting = CommandOutput::later(rollout.command(&["why", "web", "--wait"]));
    rollout.finish().await;
    let done = waiting.join().unwrap();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.starts_with("deployment/web is done"), "{done:?}");
    let alone = rollout.gantry(&["why", "web", "--timeout=1s"]);
    assert_eq!(text(&alone.stderr), "error: --timeout is about waiting\nhint: add --wait\n");
}

#[tokio::test]
async fn rollout_status_ends_early_only_with_fail_when_stuck() {
    let rollout = Rollout::begin("status-stuck").await;
    rollout.pod_waits("web-2-1", "ErrImagePull", "no such image").await;
    let waits =
        "Waiting for deployment \"web\" rollout to finish: 1 out of 3 new replicas have been updated...\n";
    let as_kubectl =
        CommandOutput::by(&mut rollout.command(&["rollout", "status", "deploy/web", "--timeout=2s"]));
    assert_eq!(as_kubectl.out, waits);
    as_kubectl.fails("error: timed out waiting for the condition\n");
    let early = ["rollout", "status", "deploy/web", "--fail-when-stuck=1s"];
    let early = CommandOutput::by(&mut rollout.command(&early));
    assert_eq!(early.out, waits);
    early.fails(
        "error: deployment \"web\" is stuck: 1 pod: image nginx:2 cannot be pulled (container main)\n",
    );
}

#[tokio::test]
async fn several_deployments_are_explained_at_once_and_the_worst_counts() {
    let rollout = Rollout::begin("why-several").await;
    let empty = ["create", "deployment", "empty", "--image=nginx:1", "--replicas=0"];
    assert!(rollout.gantry(&empty).status.success());
    rollout.pod_waits("web-2-1", "ErrImagePull", "no such image").await;
    for arguments in [&["why", "web", "empty"][..], &["why", "deployments"], &["why", "-A"]] {
        let output = rollout.gantry(arguments);
        assert_eq!(output.status.code(), Some(4), "{}{}", text(&output.stdout), text(&output.stderr));
        let out = text(&output.stdout);
        assert!(out.contains("DEPLOYMENT") && out.contains("\ndeployment/web "), "{out}");
        assert!(out.lines().any(|line| line.contains("empty")), "{out}");
    }
    let labelled = rollout.gantry(&["why", "-l", "app=empty", "-o", "json"]);
    let report: gantry_json::Value = gantry_json::from_slice(&labelled.stdout).unwrap();
    let names: Vec<_> = report["deployments"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["empty"]);
    let absent = rollout.gantry(&["why", "web", "absent"]);
    assert_eq!(absent.status.code(), Some(1));
    assert!(text(&absent.stdout).contains("deployment/web is stuck"), "the others are reported");
    assert!(text(&absent.stderr).contains("deployments.apps \"absent\" not found"));
    let none = rollout.gantry(&["why", "-l", "app=none"]);
    assert_eq!((none.status.code(), text(&none.stderr).as_str()), (Some(0), "No Deployments found.\n"));
    let unnamed = rollout.gantry(&["why"]);
    assert!(
        text(&unnamed.stderr).starts_with("error: no Deployment is named\n"),
        "{}",
        text(&unnamed.stderr)
    );
}

#[tokio::test]
async fn a_terminal_gets_colours_and_wrapped_lines_and_a_pipe_neither() {
    let rollout = Rollout::begin("why-terminal").await;
    rollout.pod_waits("web-2-1", "ErrImagePull", "no such image").await;
    let tmux = Tmux::open("why-terminal", 60, 40);
    tmux.type_line(&rollout.typed("why web; echo code=$?"));
    let seen = tmux.wait_for("the end", |screen| screen.contains("code=4"));
    assert!(
        seen.contains("\n  or go back to revision 1:\n    gantry rollout undo deployment/web\n")
            || seen.contains("\n  or go back to revision 1: gantry rollout undo deployment/web\n"),
        "{seen}"
    );
    assert!(seen.contains("Budget    4 of at most 4 pods") && seen.contains("\n          "), "{seen}");
    assert!(tmux.coloured().contains("\u{1b}[1m\u{1b}[31mstuck"), "{:?}", tmux.coloured());
    tmux.type_line("clear");
    tmux.wait_for("nothing", |screen| !screen.contains("code=4"));
    tmux.type_line(&format!("NO_COLOR=1 {}", rollout.typed("why web; echo code=$?")));
    tmux.wait_for("the end", |screen| screen.contains("code=4"));
    assert!(!tmux.coloured().contains("\u{1b}["), "{:?}", tmux.coloured());
    let piped = text(&rollout.gantry(&["why", "web"]).stdout);
    assert!(!piped.contains('\u{1b}') && piped.lines().any(|line| line.len() > 100), "{piped}");
}

#[test]
fn help_names_the_exit_codes_and_an_example() {
    for command in [&["why", "--help"][..], &["rollout", "watch", "--help"]] {
        let help = Command::new(env!("CARGO_BIN_EXE_gantry")).args(command).output().unwrap();
        let help = text(&help.stdout);
        assert!(help.contains("Example:\n  gantry") && help.contains("stuck"), "{help}");
    }
}
