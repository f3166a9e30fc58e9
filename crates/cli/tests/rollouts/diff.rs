//! `gantry diff`: output and exit codes.

use super::command_output::CommandOutput;
use super::rollout::Rollout;

const SITE: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: site, labels: {tier: web}}
spec:
  replicas: 1
  selector: {matchLabels: {app: site}}
  template:
    metadata: {labels: {app: site}}
    spec:
      containers:
      - {name: main, image: 'nginx:1'}
---
apiVersion: v1
kind: Secret
metadata: {name: key}
data: {a: b25l, b: dHdv}
";

/// The differences as `diff` and kubectl show them, without directories and times.
fn differences(output: &CommandOutput) -> Vec<&str> {
    let is_heading = |line: &&str| ["diff ", "--- ", "+++ "].iter().any(|word| line.starts_with(word));
    output.out.lines().filter(|line| !is_heading(line)).collect()
}

#[tokio::test]
async fn the_exit_code_is_one_if_anything_would_change() {
    let rollout = Rollout::begin("diff").await;
    let file = rollout.file("site.yaml", SITE);
    let new = CommandOutput::by(&mut rollout.command(&["diff", "-f", &file]));
    assert_eq!(new.code, Some(1), "{new:?}");
    assert!(new.out.contains("+  name: site"), "{new:?}");
    assert!(rollout.gantry(&["get", "deploy", "site"]).stdout.is_empty(), "nothing was created");

    assert!(rollout.gantry(&["apply", "-f", &file]).status.success());
    rollout.as_kubectl(&["diff", "-f", &file]).is("");

    let changed = SITE.replace("replicas: 1", "replicas: 2").replace("nginx:1", "nginx:2");
    let changed =
        rollout.file("changed.yaml", &changed.replace("b25l", "bmV3").replace("b: dHdv", "c: dHdv"));
    let output = CommandOutput::by(&mut rollout.command(&["diff", "-f", &changed]));
    assert_eq!((output.code, output.err.as_str()), (Some(1), ""));
    for line in ["-  replicas: 1", "+  replicas: 2", "-      - image: nginx:1", "+      - image: nginx:2"] {
        assert!(differences(&output).contains(&line), "{line} in\n{}", output.out);
    }
    for name in ["/apps.v1.Deployment.default.site", "/v1.Secret.default.key"] {
        assert!(output.out.contains(name), "{name} in\n{}", output.out);
    }
    for hidden in ["-  a: '*** (before)'", "+  a: '*** (after)'", "-  b: '***'", "+  c: '***'"] {
        assert!(differences(&output).contains(&hidden), "{hidden} in\n{}", output.out);
    }
    assert!(!output.out.contains("bmV3"), "{}", output.out);
    let kubectl = CommandOutput::by(&mut rollout.kubectl(&["diff", "-f", &changed]));
    assert_eq!(differences(&output), differences(&kubectl));

    let labelled = CommandOutput::by(&mut rollout.command(&["diff", "-f", &changed, "-l", "tier=web"]));
    assert!(labelled.code == Some(1) && !labelled.out.contains("Secret"), "{labelled:?}");
    rollout.as_kubectl(&["diff", "-f", &changed, "-l", "tier=other"]).is("");
}

#[tokio::test]
async fn server_side_diff_merges_on_the_server() {
    let rollout = Rollout::begin("diff-server-side").await;
    let file = rollout.file("site.yaml", SITE);
    let applied = ["apply", "--server-side", "--field-manager=first", "-f", &file];
    assert!(rollout.gantry(&applied).status.success());
    rollout.as_kubectl(&["diff", "--server-side", "--field-manager=first", "-f", &file]).is("");
    let changed = rollout.file("changed.yaml", &SITE.replace("replicas: 1", "replicas: 2"));
    let arguments = ["diff", "--server-side", "--field-manager=second", "-f", &changed];
    let conflict = CommandOutput::by(&mut rollout.command(&arguments));
    assert_eq!(conflict.code, Some(2), "{conflict:?}");
    assert!(
        conflict.err.starts_with("Error from server (Conflict): Apply failed with 1 conflict"),
        "{conflict:?}"
    );
    let forced = CommandOutput::by(rollout.command(&arguments).arg("--force-conflicts"));
    assert_eq!(forced.code, Some(1), "{forced:?}");
    assert_eq!(
        differences(&forced),
        differences(&CommandOutput::by(rollout.kubectl(&arguments).arg("--force-conflicts")))
    );
}

#[tokio::test]
async fn a_failed_comparison_exits_with_two() {
    let mut rollout = Rollout::begin("diff-mistakes").await;
    let file = rollout.file("site.yaml", SITE);
    let invalid =
        rollout.file("invalid.yaml", &SITE.replace("{app: site}}\n  template", "{app: x}}\n  template"));
    let nameless =
        rollout.file("nameless.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: x-}\n");
    let mistakes: [&[&str]; 4] =
        [&["diff"], &["diff", "-f", "nowhere.yaml"], &["diff", "-f", &invalid], &["diff", "-f", &nameless]];
    for arguments in mistakes {
        assert_eq!(rollout.as_kubectl(arguments).code, Some(2), "{arguments:?}");
    }
    let by = |program: &str| {
        CommandOutput::by(rollout.command(&["diff", "-f", &file]).env("KUBECTL_EXTERNAL_DIFF", program))
    };
    assert_eq!(by("true").code, Some(0));
    assert!(by("ls -1").out.contains("apps.v1.Deployment.default.site\nv1.Secret.default.key\n"));
    let absent = by("no-such-program");
    assert_eq!(absent.code, Some(2));
    assert!(absent.err.contains("not found in $PATH\nhint: install diffutils"), "{absent:?}");
    rollout.kill_server();
    let unreachable = CommandOutput::by(&mut rollout.command(&["diff", "-f", &file]));
    assert_eq!(unreachable.code, Some(2), "{unreachable:?}");
}
