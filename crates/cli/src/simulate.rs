//! `gantry simulate`: runs a story in virtual time.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::ExitCode;

use gantry_sim::story;

use crate::output::{fail, print};

/// Runs the story at this path, `-` for standard input.
pub(crate) fn run(path: &Path) -> ExitCode {
    let name = path.display();
    let text = match read(path) {
        Ok(text) => text,
        Err(error) => return fail(&format!("cannot read {name}: {error}")),
    };
    match story::play(&text) {
        Ok(played) => print(&played),
        Err(error) => fail(&format!("{name}: {error}")),
    }
}

fn read(path: &Path) -> io::Result<String> {
    if path.as_os_str() == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    fs::read_to_string(path)
}
