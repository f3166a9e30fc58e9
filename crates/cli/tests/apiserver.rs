//! `gantry apiserver`: the real binary, real sockets, signals and usage errors.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod running;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use futures::TryStreamExt as _;
use gantry_json::json;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube::api::{Api, ListParams, PostParams, WatchParams};
use running::{Scratch, Server, client};

fn gantry(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gantry")).arg("apiserver").args(arguments).output().unwrap()
}

/// The error output for invalid arguments.
fn refused(arguments: &[&str]) -> String {
    let output = gantry(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn config_map(name: &str) -> ConfigMap {
    gantry_json::from_value(json!({"metadata": {"name": name}})).unwrap()
}

async fn names(client: kube::Client) -> Vec<String> {
    let api: Api<ConfigMap> = Api::default_namespaced(client);
    let listed = api.list(&ListParams::default()).await.unwrap();
    listed.items.into_iter().filter_map(|object| object.metadata.name).collect()
}

/// A7.1: the kubeconfig is an administrator's, and only its owner can read it.
#[tokio::test]
async fn the_kubeconfig_is_all_that_a_client_needs() {
    let scratch = Scratch::new("kubeconfig");
    let server = Server::in_directory(&scratch.join("data"), &scratch.join("kubeconfig"));
    assert!(server.url.starts_with("https://127.0.0.1:"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&server.kubeconfig), 0o600);
    assert_eq!(mode(&scratch.join("data")), 0o700, "the directory contains Secrets");
    let namespaces: Api<Namespace> = Api::all(server.client().await);
    assert!(namespaces.get_opt("kube-system").await.unwrap().is_some());
}

/// Without the plugin, pods need no account and get no token, as with the same flag of a kube-apiserver.
#[tokio::test]
async fn pods_need_no_service_account_where_the_plugin_is_left_out() {
    let scratch = Scratch::new("plugins");
    let without = ["--in-memory", "--disable-admission-plugins=ServiceAccount"];
    let server = Server::start("127.0.0.1:0", &scratch.join("kubeconfig"), &without);
    let pods: Api<Pod> = Api::default_namespaced(server.client().await);
    let spec = json!({"containers": [{"name": "c", "image": "i"}]});
    let pod: Pod = gantry_json::from_value(json!({"metadata": {"name": "p"}, "spec": spec})).unwrap();
    let spec = pods.create(&PostParams::default(), &pod).await.unwrap().spec.unwrap();
    assert_eq!((spec.service_account_name, spec.volumes), (None, None));
    let unknown = refused(&["--in-memory", "--disable-admission-plugins=Account"]);
    assert!(unknown.contains("must be one of ServiceAccount"), "{unknown}");
}

#[tokio::test]
async fn writes_survive_a_clean_stop_and_a_crash() {
    let scratch = Scratch::new("ends");
    let (data, kubeconfig) = (scratch.join("data"), scratch.join("kubeconfig"));
    for (round, signal) in ["TERM", "INT", "KILL"].into_iter().enumerate() {
        let mut server = Server::in_directory(&data, &kubeconfig);
        let api: Api<ConfigMap> = Api::default_namespaced(server.client().await);
        api.create(&PostParams::default(), &config_map(signal.to_lowercase().as_str())).await.unwrap();
        let ended = server.end_by(signal);
        if signal != "KILL" {
            assert_eq!(ended.code(), Some(0), "SIG{signal} is no failure");
        }
        let server = Server::in_directory(&data, &kubeconfig);
        let found = names(server.client().await).await;
        let ours = found.iter().filter(|name| ["term", "int", "kill"].contains(&name.as_str()));
        assert_eq!(ours.count(), round + 1);
    }
}

#[tokio::test]
async fn a_watch_ends_cleanly_when_the_server_stops() {
    let scratch = Scratch::new("watch-end");
    let mut server = Server::in_directory(&scratch.join("data"), &scratch.join("kubeconfig"));
    let api: Api<ConfigMap> = Api::default_namespaced(server.client().await);
    let watch = api.watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap();
    let stopping = tokio::task::spawn_blocking(move || server.end_by("TERM"));
    let events: Vec<_> =
        tokio::time::timeout(Duration::from_secs(60), watch.try_collect()).await.unwrap().unwrap();
    drop(events);
    assert_eq!(stopping.await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_restart_keeps_the_certificate_authority() {
    let scratch = Scratch::new("authority");
    let (data, first, second) = (scratch.join("data"), scratch.join("first"), scratch.join("second"));
    let mut server = Server::in_directory(&data, &first);
    let address = server.address().to_owned();
    server.kill();
    let _again = Server::start(&address, &second, &["--data-dir", &text(&data)]);
    let namespaces: Api<Namespace> = Api::all(client(&first).await);
    assert!(namespaces.get_opt("default").await.unwrap().is_some());
}

#[test]
fn the_kubeconfig_of_another_user_is_not_changed() {
    let scratch = Scratch::new("not-ours");
    let file = scratch.join("config");
    fs::write(&file, "apiVersion: v1\nkind: Config\n").unwrap();
    let message = refused(&["--in-memory", "--listen", "127.0.0.1:0", "--write-kubeconfig", &text(&file)]);
    assert!(
        message.contains("--write-kubeconfig: ") && message.contains("was not written by gantry"),
        "{message}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), "apiVersion: v1\nkind: Config\n");
}

/// Named pipes, directories and devices are rejected.
#[test]
fn a_path_that_is_not_a_regular_file_is_rejected() {
    let scratch = Scratch::new("no-file");
    let (pipe, link) = (scratch.join("pipe"), scratch.join("link"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink(&pipe, &link).unwrap();
    let directory = scratch.join("");
    for path in [&pipe, &link, &directory, Path::new("/dev/null")] {
        let message = refused(&["--in-memory", "--listen", "127.0.0.1:0", "--write-kubeconfig", &text(path)]);
        assert!(
            message.contains("--write-kubeconfig: ") && message.contains("is not a regular file"),
            "{message}"
        );
        assert!(message.contains("hint: "), "{message}");
    }
}

#[test]
fn errors_name_the_flag_and_have_a_hint() {
    let scratch = Scratch::new("mistakes");
    let running = Server::in_directory(&scratch.join("data"), &scratch.join("kubeconfig"));
    let message = refused(&["--in-memory", "--listen", running.address()]);
    assert!(message.contains("cannot --listen on 127.0.0.1:") && message.contains("hint: "), "{message}");
    let message = refused(&["--data-dir", &text(&scratch.join("data")), "--listen", "127.0.0.1:0"]);
    assert!(
        message.contains("--data-dir: ") && message.contains(&format!("process {}", running.id())),
        "{message}"
    );
    fs::write(scratch.join("file"), "").unwrap();
    let message = refused(&["--data-dir", &text(&scratch.join("file")), "--listen", "127.0.0.1:0"]);
    assert!(message.contains("--data-dir: ") && message.contains("hint: "), "{message}");
    let message = refused(&["--etcd", "http://127.0.0.1:1", "--listen", "127.0.0.1:0"]);
    assert!(message.contains("--etcd http://127.0.0.1:1: ") && message.contains("hint: "), "{message}");
    let message = refused(&["--etcd", "127.0.0.1:1", "--listen", "127.0.0.1:0"]);
    assert!(message.contains("--etcd: 127.0.0.1:1 is not a usable etcd endpoint"), "{message}");
    let message = refused(&["--in-memory", "--listen", "0.0.0.0:0", "--plain-http"]);
    assert!(
        message.contains("--plain-http gives full access to everyone")
            && message.contains("--listen on loopback"),
        "{message}"
    );
    for (arguments, named) in [
        (&["--listen", "127.0.0.1:0"][..], "--data-dir"),
        (&["--in-memory", "--data-dir", "x"], "--data-dir"),
        (&["--in-memory", "--listen", "nowhere"], "--listen"),
        (&["--in-memory", "--service-cluster-ip-range", "10.0.0.0"], "--service-cluster-ip-range"),
    ] {
        assert!(refused(arguments).contains(named), "{arguments:?}");
    }
}

/// A7.1: a token of the file authenticates its user, who has the permissions of the user's groups.
#[tokio::test]
async fn tokens_of_a_file_authenticate() {
    let scratch = Scratch::new("tokens");
    let file = scratch.join("tokens");
    fs::write(&file, "of-a-master,jane,1,\"system:masters\"\nof-a-user,joe,2\n").unwrap();
    let arguments = ["--in-memory", "--plain-http", "--token", &text(&file)];
    let server = Server::start("127.0.0.1:0", &scratch.join("kubeconfig"), &arguments);
    let status = async |token: &str| {
        let mut config = kube::Config::new(server.url.parse().unwrap());
        config.auth_info.token = Some(token.to_owned().into());
        let api: Api<Namespace> = Api::all(kube::Client::try_from(config).unwrap());
        match api.list(&ListParams::default()).await {
            Err(kube::Error::Api(status)) => status.code,
            outcome => outcome.map(|_| 200).unwrap(),
        }
    };
    assert_eq!(status("of-a-master").await, 200);
    assert_eq!(status("of-a-user").await, 403);
    assert_eq!(status("of-no-file").await, 401);
    fs::write(&file, "a\n,jane\n").unwrap();
    let message = refused(&arguments);
    assert!(message.contains("--token: ") && message.contains("line 2: the token is missing"), "{message}");
}

/// A0.1: plain HTTP is available for development.
#[tokio::test]
async fn plain_http_needs_no_certificates() {
    let scratch = Scratch::new("plain");
    let server = Server::start("127.0.0.1:0", &scratch.join("kubeconfig"), &["--in-memory", "--plain-http"]);
    assert!(server.url.starts_with("http://127.0.0.1:"));
    let text = fs::read_to_string(&server.kubeconfig).unwrap();
    assert!(text.contains(&format!("server: {}", server.url)) && !text.contains("-data:"), "{text}");
}
