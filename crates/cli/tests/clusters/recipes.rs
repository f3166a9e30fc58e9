//! The recipes in docs/testing.md are these files, which are run here.

use std::path::{Path, PathBuf};

use super::running::command_output::CommandOutput;
use super::user_home::{UserHome, text};

#[path = "../clients/tools.rs"]
mod tools;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn recipe(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clusters/recipes").join(name)
}

#[test]
fn the_page_shows_the_recipes_that_are_tested() {
    let page = text(&repository().join("docs/testing.md"));
    let files = [recipe("test_rollout.py"), recipe("rollout.test.cjs")];
    for file in files.iter().chain([&repository().join("crates/cluster/tests/recipe.rs")]) {
        let recipe = text(file);
        // The first line of a Rust file describes the file; the page has a heading instead.
        let shown: Vec<&str> =
            recipe.lines().skip_while(|line| line.starts_with("//!") || line.is_empty()).collect();
        assert!(page.contains(&shown.join("\n")), "docs/testing.md does not show {}", file.display());
    }
}

#[test]
fn the_recipe_for_python_works() {
    let user_home = UserHome::new("python");
    let mut up = user_home.command(env!("CARGO_BIN_EXE_gantry"));
    up.args(["up", "--wait=120s", "--"]).arg(tools::tool("python/bin").join("python3"));
    let output = CommandOutput::from(up.arg(recipe("test_rollout.py")).output().unwrap());
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.err.contains("Ran 1 test"), "{output:?}");
}

#[test]
fn the_recipe_for_javascript_works() {
    let user_home = UserHome::new("javascript");
    let mut up = user_home.command(env!("CARGO_BIN_EXE_gantry"));
    up.env("NODE_PATH", tools::tool("node/node_modules")).args(["up", "--wait=120s", "--", "node", "--test"]);
    let output = CommandOutput::from(up.arg(recipe("rollout.test.cjs")).output().unwrap());
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.out.contains("pass 1"), "{output:?}");
}
