//! Sessions that define a kind and use its objects: with the kubectl on the `PATH`, the oldest one, and gantry.

use std::io::{BufRead as _, BufReader};
use std::path::Path;

use super::kubectl::Kubectl;
use super::running::InMemory;
use super::{script, tool};

const ANNA: &str = include_str!("anna.yaml");
const SPEC: &[&str] = &["get", "bt", "anna", "-o", "jsonpath={.spec}"];

/// Appendix E, with the current kubectl.
#[test]
fn the_installed_kubectl_works_with_custom_kinds() {
    session(Path::new("kubectl"), true);
}

/// Appendix E, with a kubectl that reads the older documents and validates what it sends itself.
#[test]
fn the_oldest_kubectl_works_with_custom_kinds() {
    session(&tool("kubectl-1.20/usr/bin/kubectl"), true);
}

/// Appendix E, with gantry.
#[test]
fn gantry_works_with_custom_kinds() {
    session(Path::new(env!("CARGO_BIN_EXE_gantry")), false);
}

fn session(binary: &Path, can_edit: bool) {
    let server = InMemory::apiserver();
    let kubectl = Kubectl { binary: binary.to_owned(), server: &server };
    defines(&kubectl);
    creates_and_reads(&kubectl);
    applies(&kubectl);
    patches(&kubectl);
    if can_edit {
        edits(&kubectl);
    }
    reports_errors(&kubectl);
    watches_to_the_end(&kubectl);
}

fn defines(kubectl: &Kubectl<'_>) {
    let definition = script("boats.yaml").display().to_string();
    kubectl.prints(&["get", "namespaces"], "default"); // The cached discovery is outdated afterwards.
    kubectl.prints(&["create", "-f", &definition], "/boats.sea.example.com created");
    let established = ["wait", "--for=condition=Established", "crd/boats.sea.example.com", "--timeout=120s"];
    kubectl.prints(&established, "condition met");
    kubectl.prints(&["get", "crd"], "boats.sea.example.com");
    kubectl.prints(&["api-resources", "--api-group=sea.example.com"], "sea.example.com/v1");
    kubectl.prints(&["explain", "boat.spec.crew"], "How many sail it.");
    kubectl.prints(&["explain", "bt", "--recursive"], "area");
}

fn creates_and_reads(kubectl: &Kubectl<'_>) {
    kubectl.prints_for(&["create", "-f", "-"], ANNA, "boat.sea.example.com/anna created");
    kubectl.prints(&["get", "boats", "anna"], "NAME   CREW   AGE\nanna   3");
    kubectl.prints(&["get", "boats.sea.example.com", "-o", "wide"], "Hamburg");
    kubectl.prints(&["get", "boats.v1.sea.example.com", "-o", "name"], "boat.sea.example.com/anna");
    kubectl.prints(&["get", "all"], "boat.sea.example.com/anna");
    kubectl.prints(&["get", "fleet"], "anna");
    kubectl.prints(&["describe", "boat", "anna"], "Crew:  3");
    kubectl.prints(
        &["get", "boats", "--sort-by", ".spec.crew", "--field-selector", "metadata.name=anna"],
        "anna",
    );
}

/// K1.3: a kind whose lists the client does not know is merged member by member, and its lists are replaced as a whole.
fn applies(kubectl: &Kubectl<'_>) {
    kubectl.prints_for(&["apply", "-f", "-"], ANNA, "boat.sea.example.com/anna configured");
    kubectl.prints_for(&["apply", "-f", "-"], ANNA, "boat.sea.example.com/anna unchanged");
    let labelled = r#"{"metadata":{"labels":{"kept":"yes"}},"spec":{"port":"Kiel"}}"#;
    kubectl.prints(&["patch", "boat", "anna", "--type=merge", "-p", labelled], "patched");
    let smaller = ANNA.replace(", {name: jib}", "");
    let differs = kubectl.run(&["diff", "-f", "-"], &smaller);
    assert!(!differs.is_success && differs.text.contains("-  - name: jib\n"), "{}", differs.text);
    kubectl.prints_for(&["apply", "-f", "-"], &smaller, "boat.sea.example.com/anna configured");
    let spec = r#"{"crew":3,"port":"Kiel","sails":[{"area":20,"name":"main"}]}"#;
    assert_eq!(kubectl.run(SPEC, "").text, spec, "fields of other writers are kept");
    let without = smaller.lines().filter(|line| !line.contains("sails")).collect::<Vec<_>>().join("\n");
    kubectl.prints_for(&["apply", "-f", "-"], &without, "boat.sea.example.com/anna configured");
    assert_eq!(kubectl.run(SPEC, "").text, r#"{"crew":3,"port":"Kiel"}"#);
    kubectl.prints(&["get", "boats", "-l", "kept=yes", "-o", "name"], "boat.sea.example.com/anna");
    on_the_server(kubectl);
}

fn on_the_server(kubectl: &Kubectl<'_>) {
    let apply = |manager: &'static str| ["apply", "--server-side", "--field-manager", manager, "-f", "-"];
    let sail = |name: &str, crew: u32| ANNA.replace("crew: 3", &format!("crew: {crew}")).replace("jib", name);
    kubectl.prints_for(&apply("one"), &sail("jib", 3), "boat.sea.example.com/anna serverside-applied");
    let conflict = kubectl.run(&apply("other"), &sail("spinnaker", 4));
    assert!(!conflict.is_success && conflict.text.contains(".spec.crew"), "{}", conflict.text);
    kubectl.prints_for(
        &apply("other"),
        &sail("spinnaker", 3),
        "boat.sea.example.com/anna serverside-applied",
    );
    let sails = "jsonpath={.spec.sails[*].name}";
    let named = kubectl.run(&["get", "boat", "anna", "-o", sails], "").text;
    assert_eq!(named, "main jib spinnaker", "sails are merged by name");
}

fn patches(kubectl: &Kubectl<'_>) {
    let strategic = kubectl.run(&["patch", "boat", "anna", "-p", r#"{"spec":{"crew":4}}"#], "");
    assert!(!strategic.is_success && strategic.text.contains("merge"), "{}", strategic.text);
    let json = r#"[{"op":"replace","path":"/spec/crew","value":5}]"#;
    kubectl
        .prints(&["patch", "boat", "anna", "--type=json", "-p", json], "boat.sea.example.com/anna patched");
    kubectl.prints(&["label", "boat", "anna", "tier=front"], "boat.sea.example.com/anna labeled");
    kubectl.prints(&["annotate", "boat", "anna", "note=here"], "boat.sea.example.com/anna annotated");
    kubectl.prints(&["scale", "boat", "anna", "--replicas", "6"], "boat.sea.example.com/anna scaled");
    let fields = "jsonpath={.spec.crew} {.metadata.labels.tier} {.metadata.annotations.note}";
    assert_eq!(kubectl.run(&["get", "boat", "anna", "-o", fields], "").text, "6 front here");
    kubectl.prints_for(&["replace", "-f", "-"], ANNA, "boat.sea.example.com/anna replaced");
}

fn edits(kubectl: &Kubectl<'_>) {
    kubectl.prints(&["edit", "boat", "anna"], "boat.sea.example.com/anna edited");
    kubectl.prints(SPEC, "Bremen");
}

fn reports_errors(kubectl: &Kubectl<'_>) {
    let bertha = ANNA.replace("anna", "bertha");
    let wrong = [("crew: 3", "crew: many", "integer"), ("crew: 3", "crow: 3", "crow")];
    for (right, wrong, expected) in wrong {
        let created = kubectl.run(&["create", "-f", "-"], &bertha.replace(right, wrong));
        assert!(!created.is_success && created.text.contains(expected), "{}", created.text);
    }
    let created = kubectl.run(&["create", "-f", "-"], &bertha.replace("crew: 3", "crew: 30"));
    assert!(
        !created.is_success && created.text.contains("should be less than or equal to 20"),
        "{}",
        created.text
    );
}

/// A watch delivers every change, and the deletions when the definition is deleted.
fn watches_to_the_end(kubectl: &Kubectl<'_>) {
    let mut watching = kubectl.start(&["get", "boats", "-w", "--no-headers"]);
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut until = |cells: &str| lines.find(|line| line.split_whitespace().take(2).eq(cells.split(' ')));
    assert!(until("anna 3").is_some());
    kubectl.prints(&["scale", "boat", "anna", "--replicas", "9"], "scaled");
    assert!(until("anna 9").is_some());
    kubectl.prints_for(&["create", "-f", "-"], &ANNA.replace("anna", "bertha"), "created");
    kubectl.prints(&["delete", "boat", "anna"], "boat.sea.example.com \"anna\" deleted");
    kubectl.prints(&["delete", "crd", "boats.sea.example.com"], "\"boats.sea.example.com\" deleted");
    assert!(until("no such line").is_none(), "the watch ends");
    watching.wait().unwrap();
    assert!(!kubectl.run(&["get", "boats"], "").is_success);
}
