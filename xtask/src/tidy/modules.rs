//! Every Rust file is compiled: some target starts with it, or a `mod` declaration leads to it.
//!
//! Follows `mod x;` to `x.rs` or `x/mod.rs`, `#[path = "…"]`, and declarations inside inline modules. Does not follow
//! `include!`, which this repository does not use.

use super::{Finding, Repository, code};
use crate::tree::Tree;
use std::collections::BTreeSet;

/// A module in another file.
#[derive(Debug, PartialEq, Eq)]
struct Declaration {
    /// Names of the inline modules around it, outermost first.
    inside: Vec<String>,
    name: String,
    /// The file named by a `#[path]` attribute.
    path: Option<String>,
}

/// A file to read declarations from, and the folder of its modules.
struct Reached {
    file: String,
    children: String,
}

/// Finds the files that nothing declares.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let packages = &repository.workspace.packages;
    let roots = packages.iter().flat_map(|package| &package.targets).map(|target| target.root_file.as_str());
    let reached = reachable(&repository.tree, roots);
    let is_ours =
        |path: &str| packages.iter().any(|package| path.starts_with(&format!("{}/", package.folder)));
    let files = repository.tree.with_extension("rs").map(|(path, _)| path);
    let lost = files.filter(|path| is_ours(path) && !reached.contains(*path));
    lost.map(|path| Finding::new(path, 1, "no `mod` leads to this file; declare it or delete it")).collect()
}

fn reachable<'a>(tree: &Tree, roots: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let mut waiting: Vec<Reached> = roots.map(Reached::root).collect();
    let mut seen = BTreeSet::new();
    while let Some(current) = waiting.pop() {
        let Some(text) = tree.text(&current.file).filter(|_| seen.insert(current.file.clone())) else {
            continue;
        };
        waiting.extend(declarations(text).iter().flat_map(|declaration| current.resolve(declaration)));
    }
    seen
}

impl Reached {
    /// A file whose modules are beside it: a target's first file, `mod.rs`, or one named by `#[path]`.
    fn root(file: &str) -> Self {
        Self { file: file.to_owned(), children: folder(file).to_owned() }
    }

    /// The files that a declaration may mean; the tree decides which of them exists.
    fn resolve(&self, declaration: &Declaration) -> Vec<Self> {
        let Declaration { inside, name, path } = declaration;
        if let Some(path) = path {
            // Outside inline modules the attribute counts from the file, inside from the modules' folder.
            let base = if inside.is_empty() { folder(&self.file) } else { &self.children };
            return vec![Self::root(&join(base, inside.iter().map(String::as_str).chain(path.split('/'))))];
        }
        let stem = join(&self.children, inside.iter().chain([name]).map(String::as_str));
        vec![
            Self { file: format!("{stem}.rs"), children: stem.clone() },
            Self { file: format!("{stem}/mod.rs"), children: stem },
        ]
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Joins path segments to a folder, following `.` and `..`.
pub(super) fn join<'a>(folder: &'a str, segments: impl Iterator<Item = &'a str>) -> String {
    let mut joined: Vec<&str> = Vec::new();
    for segment in folder.split('/').chain(segments) {
        match segment {
            "" | "." => {}
            ".." => {
                joined.pop();
            }
            name => joined.push(name),
        }
    }
    joined.join("/")
}

/// Reads the `mod x;` declarations of a file.
fn declarations(source: &str) -> Vec<Declaration> {
    let code = code::only(source);
    let tokens = code::tokens(&code);
    let word = |index: usize| tokens.get(index).map_or("", |(_, word)| word);
    let mut found = Vec::new();
    let mut inline: Vec<(String, usize)> = Vec::new(); // name, and the depth of its braces
    let mut depth = 0_usize;
    let mut path = None;
    for (index, (position, token)) in tokens.iter().enumerate() {
        match *token {
            "path" if word(index.wrapping_sub(1)) == "[" && word(index + 1) == "=" => {
                path = first_string(&source[*position..]);
            }
            "mod" if word(index + 2) == ";" => found.push(Declaration {
                inside: inline.iter().map(|(name, _)| name.clone()).collect(),
                name: word(index + 1).to_owned(),
                path: path.take(),
            }),
            "mod" if word(index + 2) == "{" => inline.push((word(index + 1).to_owned(), depth)),
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                inline.pop_if(|(_, opened_at)| *opened_at == depth);
            }
            _ => {}
        }
    }
    found
}

fn first_string(source: &str) -> Option<String> {
    source.split('"').nth(1).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached<const N: usize>(files: [(&str, &str); N], root: &str) -> Vec<String> {
        reachable(&Tree::of(files), std::iter::once(root)).into_iter().collect()
    }

    #[test]
    fn a_module_is_a_file_beside_its_parent_or_a_folder_with_mod_rs() {
        let files = [
            ("a/src/lib.rs", "pub mod one;\nmod two;"),
            ("a/src/one.rs", "mod deep;"),
            ("a/src/one/deep.rs", ""),
            ("a/src/two/mod.rs", "#[cfg(test)]\nmod tests;"),
            ("a/src/two/tests.rs", ""),
        ];
        let expected =
            ["a/src/lib.rs", "a/src/one.rs", "a/src/one/deep.rs", "a/src/two/mod.rs", "a/src/two/tests.rs"];
        assert_eq!(reached(files, "a/src/lib.rs"), expected);
    }

    #[test]
    fn a_declaration_in_a_comment_or_a_string_is_ignored() {
        let files = [("lib.rs", "// mod one;\nconst X: &str = \"mod one;\";"), ("one.rs", "")];
        assert_eq!(reached(files, "lib.rs"), ["lib.rs"]);
    }

    #[test]
    fn a_path_attribute_counts_from_the_file_and_its_modules_live_beside_it() {
        let files = [
            ("a/src/one.rs", "#[path = \"../extra/x.rs\"]\nmod y;"),
            ("a/extra/x.rs", "mod z;"),
            ("a/extra/z.rs", ""),
        ];
        assert_eq!(reached(files, "a/src/one.rs"), ["a/extra/x.rs", "a/extra/z.rs", "a/src/one.rs"]);
    }

    #[test]
    fn an_inline_module_is_a_folder_until_its_brace_closes() {
        let source = "mod outer { fn f() { if x { } } mod inner; }\nmod after;";
        let found: Vec<_> =
            declarations(source).into_iter().map(|it| (it.inside.join("/"), it.name, it.path)).collect();
        let expected =
            [("outer".to_owned(), "inner".to_owned(), None), (String::new(), "after".to_owned(), None)];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_file_that_nothing_declares_is_a_finding_and_a_target_is_not() {
        use crate::workspace::{Package, Target, Workspace};
        let target =
            |file: &str| Target { name: "x".to_owned(), kind: "test".to_owned(), root_file: file.to_owned() };
        let mut package = Package::using("gantry-a", "crates/a", &[]);
        package.targets = vec![target("crates/a/src/lib.rs"), target("crates/a/tests/story.rs")];
        let repository = Repository {
            tree: Tree::of([
                ("crates/a/src/lib.rs", ""),
                ("crates/a/src/lost.rs", ""),
                ("crates/a/tests/story.rs", ""),
                ("elsewhere/free.rs", ""),
            ]),
            workspace: Workspace { packages: vec![package] },
        };
        let found: Vec<_> = check(&repository).into_iter().map(|finding| finding.path).collect();
        assert_eq!(found, ["crates/a/src/lost.rs"]);
    }
}
