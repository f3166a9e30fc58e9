//! Plays the stories in `stories/` and compares the results.
//!
//! `cargo xtask stories` rewrites them, to be reviewed as prose.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::disallowed_methods, reason = "the texts to compare with are files")]

use std::path::PathBuf;

use gantry_sim::story;

const REWRITE: &str = "GANTRY_REWRITE_STORIES";

fn stories() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/stories");
    let mut stories: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    stories.sort();
    stories
}

#[test]
fn every_story_has_its_recorded_outcome() {
    let mut wrong = Vec::new();
    for path in stories() {
        let recorded = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let played =
            story::play(&recorded, &story::no_files).unwrap_or_else(|error| panic!("{name}: {error}"));
        if std::env::var_os(REWRITE).is_some() {
            std::fs::write(&path, &played).unwrap();
        } else if let Some(difference) = first_difference(&recorded, &played) {
            wrong.push(format!("{name}:{difference}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n(`cargo xtask stories` writes the actual results)", wrong.join("\n"));
}

#[test]
fn an_invalid_story_is_reported_with_line_and_reason() {
    for (text, line, problem) in [
        ("# hello\n\nscale 3\n", 3, "there is no deployment yet"),
        ("deployment web replicas=many\n", 1, "`many` should be a number"),
        ("deployment web\nfrobnicate\n", 2, "unknown command `frobnicate`"),
        ("deployment web\nchange colour=red\n", 2, "unknown field `colour=red` of a Deployment"),
        ("deployment web surge=3x\n", 1, "`3x` should be a number"),
        ("deployment web\nscale-set 7 1\n", 2, "there is no set 7"),
    ] {
        let error = story::play(text, &story::no_files).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.problem.contains(problem), "{error}");
    }
}

/// The line number and the two lines where the texts first differ.
fn first_difference(recorded: &str, played: &str) -> Option<String> {
    let (mut recorded_lines, mut played_lines) = (recorded.lines(), played.lines());
    for number in 1.. {
        match (recorded_lines.next(), played_lines.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => {
                let shown = |line: Option<&str>| line.unwrap_or("(the end)").to_owned();
                return Some(format!("{number}\n  recorded: {}\n  played:   {}", shown(a), shown(b)));
            }
        }
    }
    None
}
