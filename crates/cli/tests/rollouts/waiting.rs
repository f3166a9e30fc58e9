//! `gantry wait`, with and without changes.

use std::thread::JoinHandle;

use super::command_output::CommandOutput;
use super::proxy::Proxy;
use super::rollout::Rollout;

/// Starts a command that waits, and returns when it watches, so that it sees later changes only by watch events.
fn watching(rollout: &Rollout, arguments: &[&str]) -> (JoinHandle<CommandOutput>, Proxy) {
    watching_over(Proxy::before(rollout.address()), rollout, arguments)
}

fn watching_over(proxy: Proxy, rollout: &Rollout, arguments: &[&str]) -> (JoinHandle<CommandOutput>, Proxy) {
    let kubeconfig = std::fs::read_to_string(rollout.kubeconfig()).unwrap();
    let over_proxy = kubeconfig.replace(rollout.address(), proxy.address());
    let mut command = rollout.command(arguments);
    // Without a colon, which separates the files of KUBECONFIG.
    let file = format!("over-{}", proxy.address().replace(':', "-"));
    command.arg("--timeout=60s").env("KUBECONFIG", rollout.file(&file, &over_proxy));
    let waiting = CommandOutput::later(command);
    proxy.sees("watch=true", 1);
    (waiting, proxy)
}

#[tokio::test]
async fn waiting_ends_when_the_condition_is_met() {
    let rollout = Rollout::begin("wait-condition").await;
    let arguments = ["wait", "deploy/web", "--for=condition=available"];
    let (waiting, _) = watching(&rollout, &arguments);
    rollout.deployment_is("Available", "False").await;
    rollout.deployment_is("Available", "True").await;
    waiting.join().unwrap().is("deployment.apps/web condition met\n");
    rollout.as_kubectl(&arguments).is("deployment.apps/web condition met\n");
    let otherwise = ["wait", "deploy", "--all", "--for=condition=Available=false", "--timeout=0"];
    rollout.as_kubectl(&otherwise).fails("error: condition not met for deployments/web\n");
}

#[tokio::test]
async fn waiting_ends_when_a_path_finds_the_value() {
    let rollout = Rollout::begin("wait-path").await;
    let goal = "--for=jsonpath={.status.availableReplicas}=2";
    let (waiting, _) = watching(&rollout, &["wait", "deployment", "web", goal]);
    rollout.deployment_reports(3, 3, 2).await;
    waiting.join().unwrap().is("deployment.apps/web condition met\n");
    rollout.as_kubectl(&["wait", "deploy/web", "--for=jsonpath={.status.updatedReplicas}", "-o", "name"]);
    for path in
        ["{.status.nothing}", "{.spec.template}=1", "{.metadata.managedFields[9]}=1", "{.a}{.b}", "{.a}="]
    {
        let goal = format!("--for=jsonpath={path}");
        assert_eq!(rollout.as_kubectl(&["wait", "deploy/web", &goal, "--timeout=0"]).code, Some(1));
    }
}

#[tokio::test]
async fn waiting_ends_when_objects_are_deleted() {
    let rollout = Rollout::begin("wait-delete").await;
    let arguments = ["wait", "pods", "-l", "pod-template-hash=2", "--for=delete"];
    let (waiting, _) = watching(&rollout, &arguments);
    rollout.gantry(&["delete", "pod", "web-2-1", "--force"]);
    waiting.join().unwrap().is("pod/web-2-1 condition met\n");
    rollout.as_kubectl(&arguments).is("");
    rollout.as_kubectl(&["wait", "pod/web-2-1", "--for=delete"]).is("");
    let stays = ["wait", "pod/web-1-1", "--for=delete", "--timeout=0"];
    rollout.as_kubectl(&stays).fails("error: condition not met for pods/web-1-1\n");
}

#[tokio::test]
async fn waiting_ends_when_an_object_exists() {
    let rollout = Rollout::begin("wait-create").await;
    let (by_name, _) = watching(&rollout, &["wait", "configmap/late", "--for=create"]);
    let (by_label, _) = watching(&rollout, &["wait", "deploy", "-l", "app=late", "--for=create"]);
    let too_late = rollout.as_kubectl(&["wait", "configmap/late", "--for=create", "--timeout=3s"]);
    too_late.fails("error: timed out waiting for the condition\n");
    rollout.gantry(&["create", "deployment", "late", "--image=nginx:1"]);
    let file = rollout.file("late.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: late}\n");
    rollout.gantry(&["create", "-f", &file]);
    by_name.join().unwrap().is("configmap/late condition met\n");
    by_label.join().unwrap().is("deployment.apps/late condition met\n");
}

#[tokio::test]
async fn timeouts_are_reported_for_each_object() {
    let rollout = Rollout::begin("wait-late").await;
    let one = ["wait", "deploy/web", "--for=condition=Complete", "--timeout=3s"];
    rollout.as_kubectl(&one).fails("error: timed out waiting for the condition on deployments/web\n");
    let all = ["wait", "pods", "-l", "pod-template-hash=1", "--for=condition=Complete", "--timeout=3s"];
    let lines = ["1", "2", "3"].map(|n| format!("timed out waiting for the condition on pods/web-1-{n}\n"));
    rollout.as_kubectl(&all).fails(&lines.concat());
    let mixed = rollout.as_kubectl(&["wait", "pods", "web-1-1", "missing", "--for=condition=Ready"]);
    assert_eq!(mixed.out, "pod/web-1-1 condition met\n");
    mixed.fails("Error from server (NotFound): pods \"missing\" not found\n");
}

#[tokio::test]
async fn usage_errors_are_reported_as_by_kubectl() {
    let rollout = Rollout::begin("wait-mistakes").await;
    let mistakes: [&[&str]; 8] = [
        &["wait", "deploy/web"],
        &["wait", "deploy/web", "--for=rain"],
        &["wait", "--for=delete"],
        &["wait", "pods", "--for=delete"],
        &["wait", "pods", "-l", "app=missing", "--for=condition=Ready"],
        &["wait", "deploy/web", "-A", "--for=condition=Available"],
        &["wait", "deploy/web", "-l", "app=web", "--for=condition=Available"],
        &["wait", "fruit/apple", "--for=condition=Ripe"],
    ];
    for arguments in mistakes {
        assert_eq!(rollout.as_kubectl(arguments).code, Some(1), "{arguments:?}");
    }
}

#[tokio::test]
async fn a_closed_watch_is_resumed() {
    let rollout = Rollout::begin("wait-broken").await;
    let (waiting, proxy) = watching(&rollout, &["wait", "deploy/web", "--for=condition=Available"]);
    proxy.cut();
    proxy.sees("watch=true", 2);
    rollout.deployment_is("Available", "True").await;
    waiting.join().unwrap().is("deployment.apps/web condition met\n");
}

/// The connection may end between the request and the response: client-go treats that as a watch without events.
#[tokio::test]
async fn a_watch_without_a_response_is_sent_again() {
    let rollout = Rollout::begin("wait-unanswered").await;
    let proxy = Proxy::before(rollout.address()).leaves_unanswered("watch=true");
    let arguments = ["wait", "deploy/web", "--for=condition=Available"];
    let (waiting, proxy) = watching_over(proxy, &rollout, &arguments);
    proxy.sees("watch=true", 2);
    rollout.deployment_is("Available", "True").await;
    waiting.join().unwrap().is("deployment.apps/web condition met\n");
}
