//! Conventions of all verbs: output streams, object names, error messages.

use gantry_kubectl::verbs::{
    DeleteOptions, DryRun, LabelAnnotateOptions, MetadataField, PatchOptions, ScaleOptions, delete,
    label_or_annotate, patch, scale,
};
use gantry_kubectl::{Failure, PatchForm, Selection};

use crate::deleting::deletion;
use crate::terminal::{CommandOutput, Terminal, manifest, printer, selected};

async fn run_scale(terminal: &mut Terminal, words: &str, output: &str, dry_run: DryRun) -> CommandOutput {
    let options = ScaleOptions {
        selection: selected(words),
        replicas: 3,
        printer: printer(output, dry_run),
        ..ScaleOptions::default()
    };
    terminal.run(async |ctx| scale(ctx, &options).await).await
}

fn label_options(field: MetadataField, words: &[&str]) -> LabelAnnotateOptions {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let (resources, changes) = LabelAnnotateOptions::parse(field, &words).unwrap();
    LabelAnnotateOptions {
        field,
        selection: Selection::from_arguments(resources),
        changes,
        overwrite: false,
        list: false,
        resource_version: None,
        manager: None,
        printer: printer("", DryRun::No),
    }
}

/// K0.1: results on standard output, errors on standard error, and a failure if anything failed.
#[tokio::test(start_paused = true)]
async fn found_and_missing_objects_are_distinguished() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let output = run_scale(&mut terminal, "deploy web nope", "", DryRun::No).await;
    assert_eq!(output.out, "deployment.apps/web scaled\n");
    assert_eq!(output.err, "Error from server (NotFound): deployments.apps \"nope\" not found\n");
    assert!(output.failed);
}

/// K0.2: the singular with its group and name, then the operation and the dry run suffix.
#[tokio::test(start_paused = true)]
async fn a_result_is_reported_in_a_line() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    run_scale(&mut terminal, "deploy web", "", DryRun::Client)
        .await
        .is("deployment.apps/web scaled (dry run)\n");
    run_scale(&mut terminal, "deploy web", "", DryRun::Server)
        .await
        .is("deployment.apps/web scaled (server dry run)\n");
    run_scale(&mut terminal, "deploy web", "name", DryRun::Server).await.is("deployment.apps/web\n");
    assert_eq!(terminal.reads("deploy web", "{.spec.replicas}").await, "1", "no dry run changed anything");
    let label = label_options(MetadataField::Labels, &["ns/shop", "a=b"]);
    terminal.run(async |ctx| label_or_annotate(ctx, &label).await).await.is("namespace/shop labeled\n");
}

/// K0.3: invalid objects, unknown types, errors of the server, and other errors.
#[tokio::test(start_paused = true)]
async fn errors_are_classified() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let patching = |body: &str| PatchOptions {
        selection: selected("deploy web"),
        patch: body.to_owned(),
        kind: PatchForm::StrategicMerge,
        subresource: None,
        manager: None,
        printer: printer("", DryRun::No),
    };
    let one = patching("{\"spec\":{\"replicas\":-1}}");
    terminal.run(async |ctx| patch(ctx, &one).await).await.fails(
        "The Deployment \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0\n",
    );
    let two = patching("{\"spec\":{\"replicas\":-1,\"minReadySeconds\":-2}}");
    terminal.run(async |ctx| patch(ctx, &two).await).await.fails(
        "The Deployment \"web\" is invalid: \n* spec.replicas: Invalid value: -1: must be greater than or equal to 0\n\
         * spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0\n",
    );
    terminal
        .gets("nonsense", "")
        .await
        .fails("error: the server doesn't have a resource type \"nonsense\"\n");
    terminal
        .gets("deploy x", "")
        .await
        .fails("Error from server (NotFound): deployments.apps \"x\" not found\n");
    let refused = Failure::ConnectionRefused { address: "127.0.0.1:1".to_owned() };
    assert_eq!(
        refused.lines(),
        "The connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?\n"
    );
    assert_eq!(Failure::other("error: once is enough").lines(), "error: once is enough\n");
}

/// K0.3: an invalid request whose errors name no object.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_invalid_by_itself_is_reported_as_such() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    let options = PatchOptions {
        selection: selected("deploy web"),
        patch: "[{\"op\":\"remove\",\"path\":\"/spec/nope\"}]".to_owned(),
        kind: PatchForm::Json,
        subresource: None,
        manager: None,
        printer: printer("", DryRun::No),
    };
    terminal
        .run(async |ctx| patch(ctx, &options).await)
        .await
        .fails("The request is invalid: the server rejected our request due to an error in our request\n");
}

/// K0.4: an error of the server names the file, the errors of an invalid object do not.
#[tokio::test(start_paused = true)]
async fn a_refusal_names_the_file() {
    let mut terminal = Terminal::new().await;
    let file = terminal.file("d.yaml", &manifest("web", 1, "i"));
    let options =
        DeleteOptions { selection: Selection { files: vec![file], ..Selection::default() }, ..deletion("") };
    terminal.run(async |ctx| delete(ctx, &options).await).await.fails(
        "Error from server (NotFound): error when deleting \"d.yaml\": deployments.apps \"web\" not found\n",
    );
    let invalid = manifest("web", 1, "i").replace("\"replicas\":1", "\"replicas\":-1");
    terminal.applies(&invalid).await.fails(
        "The Deployment \"web\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0\n",
    );
}

/// K0.5: types have several names: alone, with object names, or with a name each.
#[tokio::test(start_paused = true)]
async fn a_type_has_several_names() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    for words in [
        "deploy",
        "deployment",
        "deployments",
        "Deployments",
        "deployments.apps",
        "deployments.v1.apps",
        "deploy web",
        "deployment/web",
        "deployments.apps/web",
    ] {
        terminal.gets(words, "name").await.is("deployment.apps/web\n");
    }
    for (short, long) in [("rs", "replicasets"), ("po", "pods"), ("no", "nodes")] {
        let output = terminal.gets(short, "name").await;
        assert_eq!(output, terminal.gets(long, "name").await, "{short}");
    }
    terminal.gets("ns shop", "name").await.is("namespace/shop\n");
    let output = terminal.gets("ev", "name").await;
    assert_eq!(
        output.err,
        "Warning: short name \"ev\" could also match lower priority resource events.events.k8s.io\n"
    );
    terminal.gets("deploy web/x", "").await.fails(
        "error: there is no need to specify a resource type as a separate argument when passing arguments in \
         resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource \
         resource/<resource_name>'\n",
    );
}

/// K0.5: a selector and a name, or a file and a name, contradict each other.
#[tokio::test(start_paused = true)]
async fn selections_must_not_contradict_themselves() {
    use gantry_kubectl::verbs::{GetOptions, get};
    let mut terminal = Terminal::new().await;
    let file = terminal.file("d.yaml", &manifest("web", 1, "i"));
    let name = selected("deploy web");
    for (selection, problem) in [
        (
            Selection { selector: Some("app=web".into()), ..name.clone() },
            "name cannot be provided when a selector is specified",
        ),
        (
            Selection { all_namespaces: true, ..name.clone() },
            "a resource cannot be retrieved by name across all namespaces",
        ),
        (
            Selection { files: vec![file], ..name },
            "when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well",
        ),
    ] {
        let options = GetOptions { selection, ..GetOptions::default() };
        let output = terminal.run(async |ctx| get(ctx, &options).await).await;
        output.fails(&format!("error: {problem}\n"));
    }
}

/// K0.2: labels and annotations are set and removed, and existing ones are not changed without `--overwrite`.
#[tokio::test(start_paused = true)]
async fn labels_are_set_and_removed() {
    let mut terminal = Terminal::new().await;
    terminal.has_deployment("web", 1).await;
    for (field, words, line) in [
        (MetadataField::Labels, "a=b", "deployment.apps/web labeled\n"),
        (MetadataField::Labels, "a=b", "deployment.apps/web not labeled\n"),
        (MetadataField::Labels, "a-", "deployment.apps/web unlabeled\n"),
        (MetadataField::Labels, "a-", "label \"a\" not found.\ndeployment.apps/web not labeled\n"),
        (MetadataField::Annotations, "a=b", "deployment.apps/web annotated\n"),
        (MetadataField::Annotations, "nope-", "deployment.apps/web annotated\n"),
    ] {
        let options = label_options(field, &["deploy", "web", words]);
        terminal.run(async |ctx| label_or_annotate(ctx, &options).await).await.is(line);
    }
    let again = label_options(MetadataField::Annotations, &["deploy", "web", "a=c"]);
    terminal.run(async |ctx| label_or_annotate(ctx, &again).await).await.fails(
        "error: --overwrite is false but found the following declared annotation(s): 'a' already has a value (b)\n",
    );
    let listed = LabelAnnotateOptions {
        list: true,
        ..label_options(MetadataField::Labels, &["deploy", "web", "z=1", "y=2"])
    };
    terminal.run(async |ctx| label_or_annotate(ctx, &listed).await).await.is("y=2\nz=1\n");
}

/// K0.2: files can be changed without the server.
#[tokio::test(start_paused = true)]
async fn a_local_file_can_be_changed() {
    let mut terminal = Terminal::new().await;
    let file = terminal.file("cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n");
    let mut options = label_options(MetadataField::Labels, &["a=b"]);
    options.selection = Selection { files: vec![file.clone()], local: true, ..Selection::default() };
    options.printer = printer("yaml", DryRun::No);
    let expected = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  labels:\n    a: b\n  name: cm\n";
    terminal.run(async |ctx| label_or_annotate(ctx, &options).await).await.is(expected);
    let patched = PatchOptions {
        selection: Selection { files: vec![file], local: true, ..Selection::default() },
        patch: "data: {k: v}".to_owned(),
        kind: PatchForm::StrategicMerge,
        subresource: None,
        manager: None,
        printer: printer("jsonpath={.data}", DryRun::No),
    };
    terminal.run(async |ctx| patch(ctx, &patched).await).await.is("{\"k\":\"v\"}");
    assert_eq!(terminal.wire.writes(), []);
}
