//! `cargo xtask import`: regenerates the tables of Kubernetes' API from a checkout of Kubernetes, and shows what changes.
//!
//! `served.tsv` selects the kinds in the tables, and `omitted.tsv` lists what is omitted of them. Content that is not
//! in upstream's data is not changed: comments, the behaviour columns of `served.tsv`, the order of roles, and all
//! descriptions, which are our own.

mod discovery;
mod go_types;
mod omitted;
mod openapi;
mod policy;
mod printers;
mod proto;
mod registered;
mod schema;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo;
use crate::console;
use crate::failure::Failure;
use discovery::Resources;
use omitted::Omitted;
use schema::{Selection, Upstream};
use table::{Key, Table};

/// The usage of `import`.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask import PATH [--check]

Regenerate the tables of fields, names in Go, known kinds, merging lists, enumerations, required fields, served resources, columns and
bootstrap roles from a checkout of Kubernetes, and show what changes. Descriptions are not imported. Review the difference, then run
the tests of the crates with tables.

  PATH      The root of the checkout
  --check   Show the difference and change nothing; fail if there is one
";

const FIELDS: (&str, Key) = ("crates/schema/src/schema/fields.tsv", Key::Columns(1));
const LISTS: (&str, Key) = ("crates/schema/src/schema/lists.tsv", Key::Columns(2));
const GO_NAMES: (&str, Key) = ("crates/registry/src/validation/go_names.tsv", Key::Columns(2));
const GO_TYPES: (&str, Key) = ("crates/schema/src/decode/go_types.tsv", Key::Columns(2));
const POINTERS: (&str, Key) = ("crates/model/src/template/pointers.tsv", Key::Columns(1));
const KNOWN: (&str, Key) = ("crates/schema/src/decode/known.tsv", Key::Columns(1));
const COLUMNS: (&str, Key) = ("crates/registry/src/strategies/columns.tsv", Key::Columns(1));
const ENUMS: (&str, Key) = ("crates/openapi/src/enums.tsv", Key::Columns(2));
const OPTIONAL: (&str, Key) = ("crates/openapi/src/optional.tsv", Key::Columns(1));
const REQUIRED: (&str, Key) = ("crates/openapi/src/required.tsv", Key::Columns(1));
const SERVED: (&str, Key) = ("crates/schema/src/kinds/served.tsv", Key::Columns(3));
const SUBRESOURCES: (&str, Key) = ("crates/schema/src/kinds/subresources.tsv", Key::Columns(1));
const ROLES: (&str, Key) = ("crates/apiserver/src/bootstrap/rbac.txt", Key::Role);

/// The message whose pointers, and those of the messages in it, are in `pointers.tsv`.
const TEMPLATE: &str = "core/v1.PodTemplateSpec";

/// Messages of requests and responses of every kind.
const COMMON_MESSAGES: [&str; 2] = ["meta/v1.DeleteOptions", "meta/v1.Status"];

/// The paths of API packages: `generated.proto` beside Go files.
const PACKAGES: [&str; 4] = [
    "staging/src/k8s.io/api",
    "staging/src/k8s.io/apiextensions-apiserver/pkg/apis",
    "staging/src/k8s.io/apimachinery/pkg",
    "staging/src/k8s.io/kube-aggregator/pkg/apis",
];
const OPENAPI: &str = "api/openapi-spec/v3";
const DISCOVERY: &str = "api/discovery";
const PRINTERS: &str = "pkg/printers/internalversion/printers.go";
const POLICY: &str = "plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata";

/// Regenerates the tables, or shows how they would change.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let (checkout, check) = match arguments {
        [path] if !path.starts_with('-') => (Path::new(path), false),
        [path, flag] | [flag, path] if flag == "--check" => (Path::new(path), true),
        [] => return Err(Failure::Usage("the path of a checkout is missing".to_owned())),
        [other, ..] => return Err(Failure::unknown_argument(other)),
    };
    let root = cargo::repository_root()?;
    let import = import(checkout, &root).map_err(Failure::Failed)?;
    let mut differences = 0;
    for (before, after) in &import.tables {
        let Some(difference) = after.difference(before) else { continue };
        console::data(&difference);
        differences += 1;
        if !check {
            write(&root.join(after.path), &after.render()).map_err(Failure::Failed)?;
        }
    }
    for line in &import.stale {
        console::data(&format!("omitted.tsv: upstream has no {line}; remove the line"));
    }
    for (group_version, resources) in &import.unserved {
        console::data(&format!("Not served of {group_version}: {}", resources.join(", ")));
    }
    match (differences + import.stale.len(), check) {
        (0, _) => console::data("The tables are those of the checkout."),
        (_, true) => return Err(Failure::Failed("the tables differ from the checkout".to_owned())),
        (_, false) => console::data(&format!("{differences} tables rewritten")),
    }
    Ok(())
}

/// The result of an import.
struct Import {
    /// The tables before and after.
    tables: Vec<(Table, Table)>,
    /// The resources that are not served, by group and version.
    unserved: BTreeMap<String, Vec<String>>,
    /// Lines of `omitted.tsv` about entries that upstream does not have.
    stale: Vec<String>,
}

fn import(checkout: &Path, root: &Path) -> Result<Import, String> {
    let mut omitted = Omitted::parse(include_str!("omitted.tsv"))?;
    let upstream = read_upstream(checkout)?;
    let mut resources = Resources::new();
    for file in files(&checkout.join(DISCOVERY), "json")? {
        discovery::read(&read(&file)?, &mut resources).map_err(|problem| at(&file, &problem))?;
    }
    let mut roles = Vec::new();
    for file in files(&checkout.join(POLICY), "yaml")? {
        // These are the roles with all features on, which is not the default.
        if !file.to_string_lossy().ends_with("-featuregates.yaml") {
            roles.extend(policy::read(&read(&file)?).map_err(|problem| at(&file, &problem))?);
        }
    }
    let table = |(path, key): (&'static str, Key)| -> Result<Table, String> {
        Ok(Table::parse(path, &read(&root.join(path))?, key))
    };
    let (served_before, subresources_before) = (table(SERVED)?, table(SUBRESOURCES)?);
    let served =
        discovery::served(resources, &upstream.schemas, &served_before, &subresources_before, &mut omitted)?;
    let mut roots = served.messages;
    roots.extend(COMMON_MESSAGES.map(str::to_owned));
    let selection = Selection::new(&upstream, roots, FIELDS.0, &mut omitted)?;
    let template = BTreeSet::from([TEMPLATE.to_owned()]);
    let template = Selection::new(&upstream, template, FIELDS.0, &mut omitted)?;
    let mut columns = printers::read(&read(&checkout.join(PRINTERS))?);
    columns.retain(|kind| !omitted.contains(COLUMNS.0, &kind.key));
    let mut tables = vec![(served_before, served.resources), (subresources_before, served.subresources)];
    for (which, entries) in [
        (FIELDS, selection.fields()),
        (LISTS, selection.lists()?),
        (GO_NAMES, selection.go_names()),
        (GO_TYPES, selection.go_types()),
        (POINTERS, template.pointers()),
        (KNOWN, registered::entries(&upstream.registered, KNOWN.0, &mut omitted)),
        (COLUMNS, columns),
        (ENUMS, selection.enums()),
        (OPTIONAL, selection.required(false)),
        (REQUIRED, selection.required(true)),
    ] {
        let before = table(which)?;
        let after = before.with(entries);
        tables.push((before, after));
    }
    roles.retain(|role| !omitted.contains(ROLES.0, &role.key));
    let before = table(ROLES)?;
    let after = before.with_in_order(roles);
    tables.push((before, after));
    Ok(Import { tables, unserved: served.unserved, stale: omitted.stale() })
}

fn read_upstream(checkout: &Path) -> Result<Upstream, String> {
    let mut upstream = Upstream::default();
    for folder in PACKAGES {
        read_packages(&checkout.join(folder), &mut upstream)?;
    }
    for file in files(&checkout.join(OPENAPI), "json")? {
        upstream.schemas.read(&read(&file)?).map_err(|problem| at(&file, &problem))?;
    }
    Ok(upstream)
}

/// Reads the API packages in a folder and below.
fn read_packages(folder: &Path, upstream: &mut Upstream) -> Result<(), String> {
    let proto = folder.join("generated.proto");
    if proto.exists() {
        let text = read(&proto)?;
        proto::read(&text, &mut upstream.messages).map_err(|problem| at(&proto, &problem))?;
        let package = proto::package(&text).unwrap_or_default();
        for file in files(folder, "go")? {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !name.contains("generated") && !name.ends_with("_test.go") {
                let text = read(&file)?;
                upstream.types.read(&package, &text);
                if name == "register.go" {
                    registered::read(&package, &text, &mut upstream.registered);
                }
            }
        }
    }
    for inner in children(folder)?.into_iter().filter(|path| path.is_dir()) {
        read_packages(&inner, upstream)?;
    }
    Ok(())
}

/// The name of a message in the tables: `apps/v1.Deployment` for `k8s.io.api.apps.v1.Deployment` and for
/// `io.k8s.api.apps.v1.Deployment`. None if it is not one of Kubernetes' API packages.
fn message_name(qualified: &str) -> Option<String> {
    let after = |separator| qualified.split_once(separator).map(|(_, path)| path);
    let path = after(".pkg.apis.").or_else(|| after(".pkg."));
    let path =
        path.or_else(|| qualified.strip_prefix("k8s.io.api.").or(qualified.strip_prefix("io.k8s.api.")))?;
    let (package, name) = path.rsplit_once('.')?;
    Some(format!("{}.{name}", package.replace('.', "/")))
}

/// The files of a folder with this extension, sorted.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = children(folder)?;
    found.retain(|path| path.extension().is_some_and(|found| found == extension) && path.is_file());
    Ok(found)
}

fn children(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| at(folder, &error.to_string()))?;
    let mut paths: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| at(file, &error.to_string()))
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| at(file, &error.to_string()))
}

fn at(file: &Path, problem: &str) -> String {
    format!("{}: {problem}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checkout_must_be_named_and_nothing_else() {
        let is_usage = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            matches!(run(&words), Err(Failure::Usage(_)))
        };
        assert!(is_usage(&[]) && is_usage(&["--check"]) && is_usage(&["a", "b"]));
    }

    #[test]
    fn messages_have_the_names_of_the_tables() {
        let names = [
            ("k8s.io.api.core.v1.Pod", "core/v1.Pod"),
            ("io.k8s.api.core.v1.Pod", "core/v1.Pod"),
            ("k8s.io.apimachinery.pkg.apis.meta.v1.Time", "meta/v1.Time"),
            ("k8s.io.apimachinery.pkg.api.resource.Quantity", "api/resource.Quantity"),
            ("k8s.io.apimachinery.pkg.runtime.RawExtension", "runtime.RawExtension"),
            ("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON", "apiextensions/v1.JSON"),
        ];
        for (qualified, name) in names {
            assert_eq!(message_name(qualified).as_deref(), Some(name));
        }
        assert_eq!(message_name("com.example.v1.Widget"), None);
    }
}
