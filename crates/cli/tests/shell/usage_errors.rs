//! Usage errors.

use super::shell_env::ShellEnv;

/// K0.1, K4: all errors have the same exit status, and kubectl's messages.
#[test]
fn usage_errors_are_reported_as_by_kubectl_and_exit_with_one() {
    let shell_env = ShellEnv::new("mistakes");
    let cases = [
        ("get --foo", "error: unknown flag: --foo\nSee 'gantry get --help' for usage.\n"),
        ("get pods -z", "error: unknown shorthand flag: 'z' in -z\nSee 'gantry get --help' for usage.\n"),
        ("gte pods", "error: unknown command \"gte\" for \"gantry\"\n\nDid you mean this?\n\tget\n\n"),
        ("get pods -o", "error: flag needs an argument: 'o' in -o\nSee 'gantry get --help' for usage.\n"),
        (
            "get pods --watch=3",
            "error: invalid argument \"3\" for \"-w, --watch\" flag: strconv.ParseBool: parsing \"3\": invalid syntax\n\
             See 'gantry get --help' for usage.\n",
        ),
        (
            "scale deploy/web --replicas=abc",
            "error: invalid argument \"abc\" for \"--replicas\" flag: strconv.ParseInt: parsing \"abc\": invalid syntax\n\
             See 'kubectl scale --help' for usage.\n",
        ),
    ];
    for (typed, expected) in cases {
        let output = shell_env.run(typed);
        assert_eq!(
            (output.err.as_str(), output.out.as_str(), output.code),
            (expected, "", Some(1)),
            "{typed}"
        );
    }
}

/// Objects without a name are rejected before a request is sent, which would be for all objects of their kind.
#[test]
fn an_object_without_a_name_is_rejected() {
    let shell_env = ShellEnv::with_deployment("nameless");
    let file = |name: &str, metadata: &str| {
        let path = shell_env.file(name);
        std::fs::write(&path, format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {metadata}\n"))
            .unwrap();
        path.display().to_string()
    };
    let (nameless, wrong) = (file("nameless.yaml", "{}"), file("wrong.yaml", "web"));
    let reading = format!(
        "error: error when retrieving current configuration of:\nResource: \"apps/v1, Resource=deployments\", \
         GroupVersionKind: \"apps/v1, Kind=Deployment\"\nName: \"\", Namespace: \"default\"\nfrom server for: \
         \"{nameless}\": resource name may not be empty\n"
    );
    let undecoded = format!(
        "error: unable to decode \"{wrong}\": json: cannot unmarshal string into Go struct field \
         metadataOnlyObject.metadata of type v1.ObjectMeta\n"
    );
    let plain = |doing: &str| format!("error: {doing}resource name may not be empty\n");
    for (typed, expected) in [
        (format!("delete -f {nameless}"), plain(&format!("error when deleting \"{nameless}\": "))),
        (format!("replace -f {nameless}"), plain(&format!("error when replacing \"{nameless}\": "))),
        (format!("apply -f {nameless}"), reading),
        (format!("apply --server-side -f {nameless}"), plain("")),
        ("delete deployment ".to_owned(), plain("")),
        (format!("delete -f {wrong}"), undecoded.clone()),
        (format!("apply -f {wrong}"), undecoded),
    ] {
        let output = shell_env.run(&typed);
        assert_eq!(
            (output.err.as_str(), output.out.as_str(), output.code),
            (&*expected, "", Some(1)),
            "{typed}"
        );
    }
    assert_eq!(shell_env.run("get deployments -o name").out, "deployment.apps/web\n");
    assert_eq!(shell_env.run("get --raw /healthz/").out, "ok", "a raw path is sent unchanged");
}

#[test]
fn requested_help_is_on_stdout_and_usage_on_stderr() {
    let shell_env = ShellEnv::new("help");
    for command in ["--help", "rollout --help", "help get", "get -h"] {
        let output = shell_env.run(command);
        assert!(
            output.code == Some(0) && output.out.contains("Example:\n  gantry "),
            "{command}: {output:?}"
        );
    }
    let output = shell_env.run("rollout");
    assert!(
        output.code == Some(1) && output.out.is_empty() && output.err.contains("Commands:"),
        "{output:?}"
    );
    assert!(shell_env.run("--version").out.starts_with("gantry "));
}

#[test]
fn flags_are_accepted_where_kubectl_accepts_them() {
    let shell_env = ShellEnv::with_deployment("order");
    for typed in [
        "get deploy --watch=false",
        "rollout -n default history deploy/web",
        "-n default why web --output=json",
        "create --context=gantry -n default namespace shop",
    ] {
        let output = shell_env.run(typed);
        assert!(output.err.is_empty() && !output.out.is_empty(), "{typed}: {output:?}");
    }
    let output = shell_env.run("-n shop simulate -");
    assert!(output.code == Some(1) && output.err.contains("must follow this command"), "{output:?}");
}
