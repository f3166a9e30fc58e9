//! `gantry simulate`: a story from a file, played and printed.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use gantry_sim::story;

/// Plays the story at this path, `-` for standard input.
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

/// A reader that went away is not an error: it has seen what it wanted to see.
fn print(text: &str) -> ExitCode {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(&format!("cannot write: {error}")),
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}

fn fail(message: &str) -> ExitCode {
    // If even this cannot be written, the exit code still tells.
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::FAILURE
}
