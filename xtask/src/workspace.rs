//! The workspace as reported by `cargo metadata`: packages, their dependencies, and the first files of their targets.

use crate::cargo::{self, cargo};
use crate::failure::Failure;
use gantry_json::Value;
use std::path::Path;

/// The packages of this repository.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
}

/// One package of the workspace.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Its folder from the root, e.g. `crates/model`.
    pub(crate) folder: String,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

/// One line of a manifest's dependency tables.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) purpose: Purpose,
}

/// The table of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It is built into the product, or needed to build it.
    Product,
    /// Only tests, benches and examples use it.
    Development,
}

/// One library, binary, test, bench or example.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: String,
    /// Its first file, from the root of the repository.
    pub(crate) root_file: String,
}

impl Workspace {
    /// Reads the workspace at this root with cargo; needs no network and builds nothing.
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        let printed = cargo::output(&mut cargo(
            root,
            &["metadata", "--no-deps", "--format-version", "1", "--offline"],
        ))?;
        Self::parse(&printed)
            .ok_or_else(|| Failure::Failed("the output of `cargo metadata` is not as expected".to_owned()))
    }

    fn parse(metadata: &str) -> Option<Self> {
        let metadata: Value = gantry_json::from_str(metadata).ok()?;
        let root = metadata["workspace_root"].as_str()?;
        let packages = metadata["packages"].as_array()?.iter().map(|package| parse_package(package, root));
        Some(Self { packages: packages.collect::<Option<_>>()? })
    }
}

impl Package {
    /// Its name in ARCHITECTURE.md: the folder's own name.
    pub(crate) fn short_name(&self) -> &str {
        self.folder.rsplit('/').next().unwrap_or(&self.folder)
    }
}

fn parse_package(package: &Value, root: &str) -> Option<Package> {
    let manifest = below(root, package["manifest_path"].as_str()?)?;
    Some(Package {
        name: package["name"].as_str()?.to_owned(),
        folder: manifest.strip_suffix("/Cargo.toml")?.to_owned(),
        dependencies: package["dependencies"]
            .as_array()?
            .iter()
            .map(parse_dependency)
            .collect::<Option<_>>()?,
        targets: package["targets"]
            .as_array()?
            .iter()
            .map(|it| parse_target(it, root))
            .collect::<Option<_>>()?,
    })
}

fn parse_dependency(dependency: &Value) -> Option<Dependency> {
    let purpose = match dependency["kind"].as_str() {
        Some("dev") => Purpose::Development,
        _ => Purpose::Product,
    };
    Some(Dependency { name: dependency["name"].as_str()?.to_owned(), purpose })
}

fn parse_target(target: &Value, root: &str) -> Option<Target> {
    Some(Target {
        name: target["name"].as_str()?.to_owned(),
        kind: target["kind"][0].as_str()?.to_owned(),
        root_file: below(root, target["src_path"].as_str()?)?,
    })
}

fn below(root: &str, path: &str) -> Option<String> {
    Some(path.strip_prefix(root)?.replace('\\', "/").trim_start_matches('/').to_owned())
}

#[cfg(test)]
impl Package {
    /// A package with these product dependencies and no targets.
    pub(crate) fn using(name: &str, folder: &str, product: &[&str]) -> Self {
        let dependency = |name: &&str| Dependency { name: (*name).to_owned(), purpose: Purpose::Product };
        Self {
            name: name.to_owned(),
            folder: folder.to_owned(),
            dependencies: product.iter().map(dependency).collect(),
            targets: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_becomes_folders_purposes_and_root_files() {
        let metadata = r#"{
            "workspace_root": "/here/gantry",
            "packages": [{
                "name": "gantry-model",
                "manifest_path": "/here/gantry/crates/model/Cargo.toml",
                "dependencies": [
                    {"name": "serde", "kind": null},
                    {"name": "cc", "kind": "build"},
                    {"name": "proptest", "kind": "dev"}
                ],
                "targets": [
                    {"name": "gantry_model", "kind": ["lib"], "src_path": "/here/gantry/crates/model/src/lib.rs"}
                ]
            }]
        }"#;
        let workspace = Workspace::parse(metadata).unwrap();
        let package = &workspace.packages[0];
        assert_eq!((package.name.as_str(), package.short_name()), ("gantry-model", "model"));
        let purposes: Vec<_> = package.dependencies.iter().map(|it| (it.name.as_str(), it.purpose)).collect();
        let expected =
            [("serde", Purpose::Product), ("cc", Purpose::Product), ("proptest", Purpose::Development)];
        assert_eq!(purposes, expected);
        assert_eq!(package.targets[0].root_file, "crates/model/src/lib.rs");
    }

    #[test]
    fn something_else_than_metadata_is_refused() {
        assert!(Workspace::parse("{}").is_none() && Workspace::parse("no json").is_none());
    }
}
