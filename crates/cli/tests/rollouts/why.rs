//! `gantry why` over a real connection.

use super::rollout::Rollout;
use std::process::Command;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn why_follows_a_rollout_from_moving_over_stuck_to_done() {
    let rollout = Rollout::begin("why").await;
    let moving = rollout.gantry(&["why", "deployment/web"]);
    let said = text(&moving.stdout);
    assert_eq!(moving.status.code(), Some(3), "{said}{}", text(&moving.stderr));
    assert!(
        said.starts_with("deployment/web is moving: 1 of 3 pods updated, 3 available, 3 old to go"),
        "{said}"
    );

    rollout.pod_waits("web-2-1", "ErrImagePull", "no such image").await;
    rollout.warn("web-2-1", "Failed", "Error: ErrImagePull").await;
    let stuck = rollout.gantry(&["why", "deploy", "web", "-o", "json"]);
    assert_eq!(stuck.status.code(), Some(4));
    let report: serde_json::Value = serde_json::from_slice(&stuck.stdout).unwrap();
    assert_eq!(report["causes"][0]["code"], "ImagePull");
    assert_eq!(report["causes"][0]["pods"], serde_json::json!(["web-2-1"]));
    assert_eq!(report["causes"][0]["message"], "no such image");

    rollout.finish().await;
    let done = rollout.gantry(&["why", "web"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stdout));
    assert!(text(&done.stdout).starts_with("deployment/web is done: all 3 pods of revision 2 are available"));
}

#[tokio::test]
async fn what_cannot_be_found_out_is_told_on_standard_error() {
    let mut rollout = Rollout::begin("why-errors").await;
    let absent = rollout.gantry(&["why", "nobody"]);
    assert_eq!(absent.status.code(), Some(1));
    let said = text(&absent.stderr);
    assert_eq!(said, "Error from server (NotFound): deployments.apps \"nobody\" not found\n");
    assert!(absent.stdout.is_empty());
    let wrong = rollout.gantry(&["why", "pod/web"]);
    assert!(text(&wrong.stderr).contains("hint: name a Deployment"), "{}", text(&wrong.stderr));
    let context = rollout.gantry(&["why", "web", "--context", "other"]);
    assert!(text(&context.stderr).contains("context \"other\" does not exist"), "{}", text(&context.stderr));
    rollout.kill_server();
    let gone = rollout.gantry(&["why", "web"]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(text(&gone.stderr).contains("was refused"), "{}", text(&gone.stderr));
}

#[test]
fn help_names_the_exit_codes_and_an_example() {
    for command in [&["why", "--help"][..], &["rollout", "watch", "--help"]] {
        let help = Command::new(env!("CARGO_BIN_EXE_gantry")).args(command).output().unwrap();
        let help = text(&help.stdout);
        assert!(help.contains("Example:\n  gantry") && help.contains("stuck"), "{help}");
    }
}
