//! Connection flags.

use super::shell_env::ShellEnv;

/// Three contexts: a server, the same one in another namespace, and one without a server.
fn kubeconfig(shell_env: &ShellEnv, current: &str) -> String {
    let (url, authority) = (&shell_env.server.url, shell_env.pki("ca.crt"));
    let (certificate, key) = (shell_env.pki("admin.crt"), shell_env.pki("admin.key"));
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: {current}\n\
         clusters:\n\
         - {{name: here, cluster: {{server: '{url}', certificate-authority: {authority}}}}}\n\
         - {{name: nowhere, cluster: {{server: 'http://127.0.0.1:1'}}}}\n\
         users:\n\
         - {{name: admin, user: {{client-certificate: {certificate}, client-key: {key}}}}}\n\
         - {{name: unknown, user: {{token: unknown}}}}\n\
         contexts:\n\
         - {{name: here, context: {{cluster: here, user: admin}}}}\n\
         - {{name: shop, context: {{cluster: here, user: admin, namespace: shop}}}}\n\
         - {{name: nowhere, context: {{cluster: nowhere, user: admin}}}}\n"
    )
}

#[test]
fn flags_change_single_things_of_a_kubeconfig() {
    let shell_env = ShellEnv::with_deployment("flags-of-connection");
    let file = shell_env.write("three", &kubeconfig(&shell_env, "nowhere"));
    let (url, address) = (shell_env.server.url.clone(), shell_env.server.address().to_owned());
    let (authority, certificate, key) =
        (shell_env.pki("ca.crt"), shell_env.pki("admin.crt"), shell_env.pki("admin.key"));
    let works = [
        "--context=here".to_owned(),
        "--cluster here".to_owned(),
        format!("-s {url} --certificate-authority={authority}"),
        format!("--server={url} --insecure-skip-tls-verify"),
        format!("-s {address} --cluster=here"),
        "--context here --as bob --as-group system:masters --as-uid 7".to_owned(),
        "--context here --request-timeout=20s".to_owned(),
        "--context here --tls-server-name=kubernetes.default".to_owned(),
        format!("--context here --user unknown --client-certificate={certificate} --client-key={key}"),
    ];
    for flags in works {
        let output = shell_env.run(&format!("--kubeconfig {file} get deploy -o name {flags}"));
        assert_eq!(
            (output.out.as_str(), output.code),
            ("deployment.apps/web\n", Some(0)),
            "{flags}: {output:?}"
        );
    }
    let empty = shell_env.run(&format!("--kubeconfig {file} --context shop get deploy"));
    assert_eq!(empty.err, "No resources found in shop namespace.\n", "the namespace is the context's");
    let forbidden = shell_env.run(&format!("--kubeconfig {file} get deploy --context here --as bob"));
    assert!(forbidden.err.contains("User \"bob\" cannot list"), "{forbidden:?}");
    let refused = shell_env.run(&format!("--kubeconfig {file} get deploy --cluster here --user unknown"));
    assert!(refused.err.contains("You must be logged in"), "{refused:?}");
}

#[test]
fn an_address_and_credentials_need_no_kubeconfig() {
    let shell_env = ShellEnv::with_deployment("no-kubeconfig");
    let flags = format!(
        "-s {} --certificate-authority {} --client-certificate {} --client-key {}",
        shell_env.server.url,
        shell_env.pki("ca.crt"),
        shell_env.pki("admin.crt"),
        shell_env.pki("admin.key")
    );
    for verb in ["get deploy", "why web", "get rs,deploy -o name"] {
        let output = shell_env.run_with(&format!("{verb} {flags}"), &[]);
        assert!(output.out.contains("web") && output.err.is_empty(), "{output:?}");
    }
}

#[test]
fn the_files_of_the_variable_are_joined_and_the_first_one_counts() {
    let shell_env = ShellEnv::with_deployment("joined");
    let first = shell_env.write("first", "apiVersion: v1\nkind: Config\ncurrent-context: here\n");
    let second = shell_env.write("second", &kubeconfig(&shell_env, "nowhere"));
    let list = format!("{}:{first}::{second}", shell_env.file("missing").display());
    let output = shell_env.run_with("get deploy -o name", &[("KUBECONFIG", &list)]);
    assert_eq!(output.out, "deployment.apps/web\n", "{output:?}");
    let reversed = shell_env.run_with("get deploy -o name", &[("KUBECONFIG", &format!("{second}:{first}"))]);
    assert!(reversed.err.contains("The connection to the server 127.0.0.1:1 was refused"), "{reversed:?}");
}

#[test]
fn the_controllers_take_the_same_flags() {
    let shell_env = ShellEnv::new("controllers");
    let list = shell_env.write("three", &kubeconfig(&shell_env, "here"));
    let environment = [("KUBECONFIG", list.as_str())];
    let output = shell_env.run_with("controllers --context nowhere", &environment);
    assert!(
        output.code == Some(1) && output.err.contains("The connection to the server 127.0.0.1:1 was refused"),
        "{output:?}"
    );
    let output = shell_env.run_with("controllers --context other", &environment);
    assert!(output.err.contains("context \"other\" does not exist"), "{output:?}");
}
