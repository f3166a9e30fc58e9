//! Standard output is data, standard error is talk, the exit code says how it went.

use std::io::{self, Write as _};
use std::process::ExitCode;

/// Prints data. A reader that went away is not an error: it has seen what it wanted to see.
pub(crate) fn print(text: &str) -> ExitCode {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(&format!("cannot write: {error}")),
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}

/// Says what went wrong.
pub(crate) fn fail(message: &str) -> ExitCode {
    // If even this cannot be written, the exit code still tells.
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::FAILURE
}

/// Says something that is not data.
pub(crate) fn print_stderr(message: &str) {
    // Nobody may be listening, which changes nothing.
    let _ = writeln!(io::stderr(), "{message}");
}
