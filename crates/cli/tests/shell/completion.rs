//! Completion in bash, zsh and fish.

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use super::shell_env::ShellEnv;
use super::tmux::Tmux;

/// A shell in a terminal, with completions loaded as described by `gantry completion --help`.
fn shell(shell_env: &ShellEnv, name: &str, start: &str, load: &str) -> Tmux {
    let tmux = Tmux::open(&format!("complete-{name}"), 110, 30);
    let folder = Path::new(env!("CARGO_BIN_EXE_gantry")).parent().unwrap().display().to_string();
    let (kubeconfig, home) =
        (shell_env.server.kubeconfig.display(), shell_env.file("home").display().to_string());
    std::fs::create_dir_all(&home).unwrap();
    tmux.type_line(&format!(
        "export PATH={folder}:$PATH KUBECONFIG={kubeconfig} HOME={home} XDG_CONFIG_HOME={home} XDG_DATA_HOME={home}"
    ));
    tmux.type_line(start);
    tmux.type_line(load);
    tmux.type_line("clear; echo loa''ded");
    tmux.wait_for("a shell with completions", |screen| screen.contains("loaded"));
    tmux
}

/// Types a text, presses TAB, waits for the completed line, with its space or without, and deletes the line.
fn completes(tmux: &Tmux, typed: &str, completed: &str) {
    tmux.press(typed);
    tmux.press("Tab");
    tmux.wait_for(completed, |screen| screen.contains(completed.trim_end()));
    tmux.press("X");
    tmux.wait_for(completed, |screen| screen.contains(&format!("{completed}X")));
    tmux.press("C-u");
    tmux.type_line("clear; echo nex''t");
    tmux.wait_for("a new line", |screen| screen.contains("next") && !screen.contains(completed));
}

/// Completions that work in every shell.
fn completes_everything(tmux: &Tmux) {
    completes(tmux, "gantry rollout sta", "gantry rollout status ");
    completes(tmux, "gantry get deployme", "gantry get deployments ");
    completes(tmux, "gantry get deploy we", "gantry get deploy web ");
    completes(tmux, "gantry rollout undo deployment/w", "gantry rollout undo deployment/web ");
    completes(tmux, "gantry get pods -n kube-sy", "gantry get pods -n kube-system ");
    completes(tmux, "gantry why w", "gantry why web ");
    completes(tmux, "gantry --context gan", "gantry --context gantry ");
    completes(tmux, "gantry get pods --namespace=kube-p", "gantry get pods --namespace=kube-public ");
    completes(tmux, "gantry set image deploy/web ngi", "gantry set image deploy/web nginx=");
}

#[test]
fn bash_completes_from_the_cluster() {
    let shell_env = ShellEnv::with_deployment("bash");
    let tmux = shell(&shell_env, "bash", "exec bash --norc --noprofile", "source <(gantry completion bash)");
    completes_everything(&tmux);
    std::fs::write(shell_env.file("manifest.yaml"), "").unwrap();
    let file = shell_env.file("manif").display().to_string();
    tmux.press(&format!("gantry apply -f {file}"));
    tmux.press("Tab");
    tmux.wait_for("the name of a file", |screen| screen.replace('\n', "").contains("/manifest.yaml"));
}

#[test]
fn zsh_completes_from_the_cluster() {
    let shell_env = ShellEnv::with_deployment("zsh");
    let load = "autoload -Uz compinit; compinit -u -D; source <(gantry completion zsh)";
    completes_everything(&shell(&shell_env, "zsh", "exec zsh -f", load));
}

#[test]
fn fish_completes_from_the_cluster() {
    let shell_env = ShellEnv::with_deployment("fish");
    completes_everything(&shell(
        &shell_env,
        "fish",
        "exec fish --no-config",
        "gantry completion fish | source",
    ));
}

#[test]
fn without_a_server_a_shell_stays_as_it_is() {
    let mut shell_env = ShellEnv::with_deployment("silent");
    shell_env.server.kill();
    let tmux =
        shell(&shell_env, "silent", "exec bash --norc --noprofile", "source <(gantry completion bash)");
    tmux.press("gantry get deploy we");
    tmux.press("Tab");
    tmux.press("Tab");
    tmux.press("X");
    let screen = tmux.wait_for("what was typed", |screen| screen.contains("gantry get deploy weX"));
    assert!(!screen.contains("refused") && !screen.contains("rror"), "{screen}");
    // Candidates that need no server are still completed.
    assert_eq!(shell_env.candidates("--context "), ["gantry"]);
    assert_eq!(shell_env.candidates("rollout und"), ["undo"]);
}

#[test]
fn completion_does_not_wait_for_an_unresponsive_server() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let shell_env = ShellEnv::new("patience");
    let started = Instant::now();
    let line = format!("-s http://{} get pods ", silent.local_addr().unwrap());
    assert!(shell_env.candidates(&line).is_empty());
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn candidates_depend_on_the_flags_in_the_line() {
    let shell_env = ShellEnv::with_deployment("flags");
    assert_eq!(shell_env.run("create namespace shop").code, Some(0));
    assert_eq!(shell_env.run("-n shop create deployment till --image=nginx:1").code, Some(0));
    assert_eq!(shell_env.candidates("get deploy "), ["web"]);
    assert_eq!(shell_env.candidates("get deploy -n shop "), ["till"]);
    assert_eq!(shell_env.candidates("-n shop rollout status deploy/"), ["deploy/till"]);
    assert_eq!(shell_env.candidates("get -n sh"), ["shop"]);
    assert_eq!(shell_env.candidates("get deploy --as jane "), Vec::<String>::new());
    assert_eq!(shell_env.candidates("get deploy web "), Vec::<String>::new(), "it is in the line already");
    assert_eq!(shell_env.candidates("set image deploy web "), ["nginx=", ":nospace"]);
    assert_eq!(shell_env.candidates("apply -f "), [":files"]);
    assert!(shell_env.candidates("get ").contains(&"replicasets".to_owned()));
}

/// Appendix E: custom kinds are completed like built-in ones.
#[test]
fn custom_kinds_are_completed() {
    let shell_env = ShellEnv::new("custom");
    let file = |name: &str| format!("{}/tests/clients/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    for name in ["boats", "anna"] {
        assert_eq!(shell_env.run(&format!("apply -f {}", file(name))).code, Some(0));
    }
    assert_eq!(shell_env.candidates("get boa"), ["boats"]);
    assert_eq!(shell_env.candidates("get bt "), ["anna"]);
    assert_eq!(shell_env.candidates("delete boats.sea.example.com a"), ["anna"]);
    assert_eq!(shell_env.candidates("describe boat/"), ["boat/anna"]);
    assert_eq!(shell_env.candidates("scale boat "), ["anna"]);
    assert_eq!(shell_env.candidates("get crd bo"), ["boats.sea.example.com"]);
}
