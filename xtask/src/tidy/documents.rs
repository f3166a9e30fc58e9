//! Checks of the Markdown: links lead somewhere, crates are on the map, decisions are listed.

use super::{Finding, Repository, modules, numbered};

const MAP: &str = "ARCHITECTURE.md";
const DECISIONS: &str = "docs/decisions/";

/// Checks links, the map and the index of decisions.
pub(super) fn check(repository: &Repository) -> Vec<Finding> {
    let mut findings = broken_links(repository);
    findings.extend(crates_off_the_map(repository));
    findings.extend(unlisted_decisions(repository));
    findings
}

fn broken_links(repository: &Repository) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repository.tree.with_extension("md") {
        for (line, target) in links(text) {
            if !leads_somewhere(repository, path, &target) {
                let message = format!("the link to `{target}` leads nowhere; fix or drop it");
                findings.push(Finding::new(path, line, message));
            }
        }
    }
    findings
}

fn leads_somewhere(repository: &Repository, from: &str, target: &str) -> bool {
    let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
    let path = target.split(['#', '?']).next().unwrap_or_default();
    if is_elsewhere || path.is_empty() {
        return true;
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let base = if path.starts_with('/') { "" } else { folder };
    repository.tree.exists(&modules::join(base, path.split('/')))
}

/// The targets of `[text](target)` and `[name]: target`, outside code.
fn links(document: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut found = Vec::new();
    for (line, text) in numbered(document) {
        if text.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let prose = without_code(text);
            let inline = prose.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
            let targets =
                inline.chain(definition(&prose)).map(|target| target.trim_matches(['<', '>']).to_owned());
            found.extend(targets.map(|target| (line, target)));
        }
    }
    found
}

fn definition(prose: &str) -> Option<&str> {
    let (name, target) = prose.trim_start().strip_prefix('[')?.split_once("]: ")?;
    (!name.starts_with('^')).then(|| target.split_whitespace().next())?
}

fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

fn crates_off_the_map(repository: &Repository) -> Vec<Finding> {
    let Some(map) = repository.tree.text(MAP) else { return Vec::new() }; // Its absence is found by `edges`.
    let names = repository.workspace.packages.iter().filter(|package| package.folder.starts_with("crates/"));
    let missing = names.filter(|package| {
        let short = package.short_name();
        !map.contains(&format!("`{short}`")) && !map.contains(&format!("`crates/{short}`"))
    });
    missing
        .map(|package| {
            let message = format!("does not mention `{}`; give it a paragraph", package.short_name());
            Finding::new(MAP, 1, message)
        })
        .collect()
}

fn unlisted_decisions(repository: &Repository) -> Vec<Finding> {
    let index_path = format!("{DECISIONS}README.md");
    let index = repository.tree.text(&index_path).unwrap_or_default();
    let pages = repository.tree.with_extension("md").filter_map(|(path, _)| path.strip_prefix(DECISIONS));
    let unlisted = pages.filter(|page| *page != "README.md" && !index.contains(&format!("]({page})")));
    unlisted
        .map(|page| {
            Finding::new(&index_path, 1, format!("does not list `{page}`; add a line that links to it"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;
    use crate::workspace::{Package, Workspace};

    fn repository<const N: usize>(files: [(&str, &str); N]) -> Repository {
        Repository { tree: Tree::of(files), ..Repository::default() }
    }

    fn targets(document: &str) -> Vec<String> {
        links(document).into_iter().map(|(_, target)| target).collect()
    }

    #[test]
    fn links_are_found_in_prose_and_not_in_code() {
        assert_eq!(targets("See [a](a.md), ![b](b.png \"title\") and `[c](c.md)`."), ["a.md", "b.png"]);
        assert_eq!(targets("```\n[a](a.md)\n```\n[b](<b.md>)"), ["b.md"]);
        assert_eq!(targets("[name]: docs/x.md \"Title\"\n[^1]: A footnote."), ["docs/x.md"]);
    }

    #[test]
    fn a_relative_link_starts_at_its_file_and_may_go_up_or_to_a_folder() {
        let text =
            "[a](../README.md#top) [b](decisions) [c](/docs/a.md) [d](https://x.y) [e](#here) [f](README.md)";
        let files = [("README.md", ""), ("docs/a.md", text), ("docs/decisions/README.md", "")];
        let found = broken_links(&repository(files));
        assert_eq!(
            found,
            [Finding::new("docs/a.md", 1, "the link to `README.md` leads nowhere; fix or drop it")]
        );
    }

    #[test]
    fn every_decision_is_in_the_index() {
        let files = [
            ("docs/decisions/README.md", "- [One](0001-one.md)"),
            ("docs/decisions/0001-one.md", ""),
            ("docs/decisions/0002-two.md", ""),
        ];
        let found = unlisted_decisions(&repository(files));
        assert_eq!((found.len(), found[0].message.contains("0002-two.md")), (1, true));
    }

    #[test]
    fn every_crate_is_on_the_map_by_its_own_name() {
        let mut repository = repository([(MAP, "`model` and `simple` things")]);
        let packages = ["model", "sim"].map(|name| Package::using(name, &format!("crates/{name}"), &[]));
        repository.workspace = Workspace { packages: packages.into() };
        let found = crates_off_the_map(&repository);
        assert_eq!((found.len(), found[0].message.contains("`sim`")), (1, true));
    }
}
