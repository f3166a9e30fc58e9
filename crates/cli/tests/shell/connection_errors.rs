//! Connection errors: the cause and a hint.

use std::io::Write as _;
use std::net::TcpListener;

use super::shell_env::ShellEnv;

/// Expects a failure with this line and this hint, and no other output.
fn fails_with(shell_env: &ShellEnv, typed: &str, environment: &[(&str, &str)], line: &str, hint: &str) {
    let output = shell_env.run_with(typed, environment);
    assert_eq!((output.out.as_str(), output.code), ("", Some(1)), "{typed}: {output:?}");
    let (first, rest) = output.err.split_once('\n').unwrap();
    assert!(first.contains(line), "{typed}: {output:?}");
    assert!(rest.contains(hint) && rest.lines().count() <= 1, "{typed}: {output:?}");
}

#[test]
fn an_invalid_kubeconfig_is_reported_with_the_error() {
    let shell_env = ShellEnv::new("kubeconfigs");
    let kubeconfig = shell_env.server.kubeconfig.display().to_string();
    let good = [("KUBECONFIG", kubeconfig.as_str())];
    let cut = shell_env.write("cut", "apiVersion: v1\nclusters: [\n");
    let other = shell_env.write("other", "apiVersion: v1\ncontexts: 3\n");
    let dangling = shell_env.write("dangling", "apiVersion: v1\nkind: Config\ncurrent-context: gone\n");
    let missing = shell_env.file("missing").display().to_string();
    fails_with(
        &shell_env,
        "get pods",
        &[],
        "no cluster configured: there is no kubeconfig",
        "hint: start a cluster with `gantry up`",
    );
    fails_with(
        &shell_env,
        "get pods",
        &[("KUBECONFIG", &missing)],
        "/missing, which does not exist",
        "hint: start a cluster",
    );
    for verb in ["get pods", "why web", "rollout watch web", "controllers"] {
        let with = |flags: &str| format!("{verb} {flags}");
        fails_with(
            &shell_env,
            &with(&format!("--kubeconfig {missing}")),
            &[],
            "/missing: no such file or directory",
            "hint: --kubeconfig",
        );
        fails_with(
            &shell_env,
            &with(&format!("--kubeconfig {cut}")),
            &[],
            "/cut\": line 2",
            "hint: fix the file",
        );
        fails_with(
            &shell_env,
            &with(&format!("--kubeconfig {other}")),
            &[],
            "/other\": contexts must be a list, not number",
            "hint: fix the file",
        );
        fails_with(
            &shell_env,
            &with(&format!("--kubeconfig {dangling}")),
            &[],
            "current context \"gone\" does not exist",
            "--context",
        );
        fails_with(
            &shell_env,
            &with("--context nope"),
            &good,
            "context \"nope\" does not exist",
            "--context; there is gantry",
        );
        fails_with(
            &shell_env,
            &with("--cluster nope"),
            &good,
            "cluster \"nope\" does not exist",
            "--cluster; there is gantry",
        );
        fails_with(
            &shell_env,
            &with("--user nope"),
            &good,
            "auth info \"nope\" does not exist",
            "there is gantry-admin",
        );
        fails_with(
            &shell_env,
            &with("--client-key /nowhere"),
            &good,
            "unable to read client-key /nowhere: No such file",
            "",
        );
        fails_with(
            &shell_env,
            &with("--certificate-authority /nowhere"),
            &good,
            "unable to read certificate-authority /nowhere",
            "",
        );
    }
    fails_with(&shell_env, "get pods --request-timeout=x", &good, "error: Invalid timeout value.", "");
}

/// K0.3.4 for a refused connection; each other connection error has its own message.
#[test]
fn a_server_that_cannot_be_reached_is_reported_with_the_reason() {
    let shell_env = ShellEnv::new("unreachable");
    let kubeconfig = shell_env.server.kubeconfig.display().to_string();
    let good = [("KUBECONFIG", kubeconfig.as_str())];
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let (silent, address) =
        (silent.local_addr().map(|address| (silent, address)).unwrap(), shell_env.server.address());
    for verb in ["get pods", "why web", "rollout watch web"] {
        let to = |server: &str| format!("{verb} -s {server}");
        fails_with(
            &shell_env,
            &to("http://127.0.0.1:1"),
            &good,
            "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?",
            "",
        );
        fails_with(
            &shell_env,
            &to("https://nowhere.invalid:6443"),
            &good,
            "lookup nowhere.invalid: no such host",
            "hint: check the server",
        );
        fails_with(
            &shell_env,
            &to(&format!("http://{address}")),
            &good,
            "does not answer in plain HTTP",
            "https://",
        );
        fails_with(
            &shell_env,
            &format!("{} --request-timeout=1s", to(&format!("http://{}", silent.1))),
            &good,
            "did not answer in time",
            "--request-timeout",
        );
    }
}

#[test]
fn unauthorized_and_forbidden_are_distinguished() {
    let shell_env = ShellEnv::new("refused");
    let server = format!("-s {} --certificate-authority {}", shell_env.server.url, shell_env.pki("ca.crt"));
    let kubeconfig = shell_env.server.kubeconfig.display().to_string();
    let good = [("KUBECONFIG", kubeconfig.as_str())];
    for verb in ["get pods", "why web", "rollout watch web"] {
        let token = format!("{verb} {server} --token wrong");
        fails_with(
            &shell_env,
            &token,
            &[],
            "error: You must be logged in to the server (Unauthorized)",
            "hint: the token or certificate",
        );
        let bob = shell_env.run_with(&format!("{verb} --as bob"), &good);
        assert!(bob.err.starts_with("Error from server (Forbidden): ") && bob.code == Some(1), "{bob:?}");
    }
}

#[test]
fn a_server_without_tls_is_reported() {
    let shell_env = ShellEnv::new("no-tls");
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = plain.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in plain.incoming() {
            let _ = stream.unwrap().write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        }
    });
    fails_with(
        &shell_env,
        &format!("get pods -s https://{address} --insecure-skip-tls-verify"),
        &[],
        "does not answer in TLS",
        "http://",
    );
}
