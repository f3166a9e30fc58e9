//! `gantry simulate`: runs a story, or the rollouts of manifests, in virtual time.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gantry_json::Value;
use gantry_kubectl::read_manifests;
use gantry_sim::story;

use crate::output::{fail, print};

/// Runs the story at this path, `-` for standard input; or applies manifests one after the other.
pub(crate) fn run(files: &[PathBuf]) -> ExitCode {
    match played(files) {
        Ok(played) => print(&played),
        Err(error) => fail(&error),
    }
}

fn played(files: &[PathBuf]) -> Result<String, String> {
    if files.iter().all(|file| is_manifest(file)) {
        let applied = files.iter().map(|file| format!("apply {}\n\nready each", file.display()));
        let text = applied.collect::<Vec<_>>().join("\n\n");
        return story::play(&text, &|file| objects(Path::new(file))).map_err(|error| error.problem);
    }
    let [file] = files else {
        return Err(
            "one story, or several manifests (.yaml, .yml, .json) can be simulated at a time".to_owned()
        );
    };
    let name = file.display();
    let text = read(file).map_err(|error| format!("cannot read {name}: {error}"))?;
    // Manifests are beside the story that applies them.
    let folder = file.parent().unwrap_or(Path::new(""));
    story::play(&text, &|manifest| objects(&folder.join(manifest)))
        .map_err(|error| format!("{name}: {error}"))
}

fn is_manifest(file: &Path) -> bool {
    file.extension().is_some_and(|end| ["yaml", "yml", "json"].iter().any(|one| end == *one))
}

/// The objects of a manifest.
fn objects(file: &Path) -> Result<Vec<Value>, String> {
    let name = file.display().to_string();
    let manifests =
        read_manifests(&[name], false).map_err(|failure| failure.lines().trim_end().to_owned())?;
    Ok(manifests.into_iter().map(|manifest| manifest.object).collect())
}

fn read(path: &Path) -> io::Result<String> {
    if path.as_os_str() == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    fs::read_to_string(path)
}
