//! The pure crates stay pure: by their manifests, and by lints that are equal in all of them.
//!
//! Also here: every crate inherits the lints of the workspace, because a crate without that line has no lints.

use super::{Finding, Repository, numbered};
use crate::workspace::{Package, Purpose};

/// The crates without clock, client, async, randomness or I/O.
const PURE: [&str; 12] = [
    "model",
    "decide",
    "check",
    "formats",
    "primitives",
    "cel",
    "schema",
    "patch",
    "managed-fields",
    "openapi",
    "registry",
    "view",
];

/// Crates that would add a clock, a client, async, randomness or logging.
const IMPURE_DEPENDENCIES: &[&str] = &[
    "async-std",
    "chrono",
    "fastrand",
    "futures",
    "futures-util",
    "getrandom",
    "hyper",
    "jiff",
    "kube",
    "log",
    "rand",
    "reqwest",
    "smol",
    "time",
    "tokio",
    "tracing",
];

/// The minimum of paths that the shared `clippy.toml` must forbid.
const FORBIDDEN_PATHS: &[&str] = &[
    "std::time::Instant::now",
    "std::time::SystemTime::now",
    "std::thread::spawn",
    "std::thread::sleep",
    "std::env::var",
    "std::fs::read_to_string",
    "std::collections::HashMap",
    "std::collections::HashSet",
];

/// Checks manifests and lint files.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let packages = &repository.workspace.packages;
    let pure = packages.iter().filter(|package| PURE.contains(&package.short_name()));
    let mut findings: Vec<Finding> = pure.flat_map(impure_dependencies).collect();
    findings.extend(lint_files(repository));
    findings.extend(packages.iter().filter_map(|package| inherited_lints(repository, package)));
    findings
}

fn impure_dependencies(package: &Package) -> Vec<Finding> {
    let product = package.dependencies.iter().filter(|dependency| dependency.purpose == Purpose::Product);
    let impure = product.filter(|dependency| IMPURE_DEPENDENCIES.contains(&dependency.name.as_str()));
    impure
        .map(|dependency| {
            let (crate_name, name) = (package.short_name(), &dependency.name);
            let message =
                format!("`{crate_name}` is pure and may not use `{name}`; pass in what it would bring");
            Finding::new(&format!("{}/Cargo.toml", package.folder), 1, message)
        })
        .collect()
}

/// The copies of `clippy.toml` are equal, and forbid these paths.
fn lint_files(repository: &Repository) -> Vec<Finding> {
    let path = |name: &str| format!("crates/{name}/clippy.toml");
    let model = path(PURE[0]);
    let Some(expected) = repository.tree.text(&model) else {
        return vec![Finding::new(&model, 1, "is missing; it bans clocks, randomness, HashMap and I/O")];
    };
    let forbidden = |banned: &str| expected.contains(&format!("path = \"{banned}\""));
    let permitted = FORBIDDEN_PATHS.iter().filter(|banned| !forbidden(banned));
    let mut findings: Vec<Finding> = permitted
        .map(|banned| Finding::new(&model, 1, format!("does not forbid `{banned}`; put the ban back")))
        .collect();
    for copy in PURE[1..].iter().map(|name| path(name)) {
        let text = repository.tree.text(&copy).unwrap_or_default();
        if text != expected {
            let line = first_difference(expected, text);
            findings.push(Finding::new(&copy, line, format!("differs from {model}; make the copies equal")));
        }
    }
    findings
}

fn first_difference(one: &str, other: &str) -> usize {
    let equal = one.lines().zip(other.lines()).take_while(|(left, right)| left == right).count();
    equal + 1
}

fn inherited_lints(repository: &Repository, package: &Package) -> Option<Finding> {
    let path = format!("{}/Cargo.toml", package.folder);
    let text = repository.tree.text(&path)?;
    let mut below = numbered(text).skip_while(|(_, line)| line.trim() != "[lints]").skip(1);
    let inherits = below.next().is_some_and(|(_, line)| line.trim() == "workspace = true");
    (!inherits).then(|| Finding::new(&path, 1, "does not inherit the lints; add [lints] workspace = true"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;
    use crate::workspace::Workspace;

    fn bans() -> String {
        FORBIDDEN_PATHS.iter().map(|path| ["{ path = \"", path, "\" },\n"].concat()).collect()
    }

    fn of(tree: Tree, packages: Vec<Package>) -> Vec<String> {
        let repository = Repository { tree, workspace: Workspace { packages } };
        check(&repository).iter().map(Finding::to_string).collect()
    }

    /// A tree in which every pure crate has this `clippy.toml`, and `crates/check` possibly another.
    fn copies(text: &str, of_check: &str) -> Tree {
        let paths = PURE.map(|name| format!("crates/{name}/clippy.toml"));
        let copies =
            paths.each_ref().map(|path| (&**path, if path.contains("/check/") { of_check } else { text }));
        Tree::of(copies)
    }

    #[test]
    fn equal_files_that_ban_clocks_are_fine() {
        assert_eq!(of(copies(&bans(), &bans()), vec![]), [""; 0]);
    }

    #[test]
    fn a_differing_copy_is_found_at_the_first_different_line() {
        let bans = bans();
        let softened = bans.replace("std::thread::sleep", "std::thread::park");
        let found = of(copies(&bans, &softened), vec![]);
        assert_eq!(
            found,
            ["crates/check/clippy.toml:4: differs from crates/model/clippy.toml; make the copies equal"]
        );
    }

    #[test]
    fn a_ban_lifted_in_all_copies_is_found() {
        let softened = bans().replace("std::collections::HashMap", "x");
        let found = of(copies(&softened, &softened), vec![]);
        assert_eq!(
            found,
            ["crates/model/clippy.toml:1: does not forbid `std::collections::HashMap`; put the ban back"]
        );
    }

    #[test]
    fn a_pure_crate_may_not_use_a_runtime_but_a_shell_may() {
        let packages = vec![
            Package::using("gantry-decide", "crates/decide", &["tokio"]),
            Package::using("gantry-controllers", "crates/controllers", &["tokio"]),
        ];
        let expected = "crates/decide/Cargo.toml:1: `decide` is pure and may not use `tokio`; \
                        pass in what it would bring";
        assert_eq!(of(copies(&bans(), &bans()), packages), [expected]);
    }

    #[test]
    fn a_crate_without_the_lints_is_found() {
        let tree = |manifest| Tree::of([("crates/cli/Cargo.toml", manifest)]);
        let package = Package::using("gantry", "crates/cli", &[]);
        let finding = |manifest| {
            let repository = Repository { tree: tree(manifest), ..Repository::default() };
            inherited_lints(&repository, &package).is_some()
        };
        assert!(finding("[package]\nname = \"gantry\"\n"));
        assert!(!finding("[package]\n\n[lints]\nworkspace = true\n"));
    }
}
