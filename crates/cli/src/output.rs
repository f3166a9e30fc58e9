//! Data goes to standard output, messages go to standard error.

use std::io::{self, Write as _};
use std::process::ExitCode;

/// Prints to standard output. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> ExitCode {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(&format!("cannot write: {error}")),
        Ok(()) | Err(_) => ExitCode::SUCCESS,
    }
}

/// Prints an error message.
pub(crate) fn fail(message: &str) -> ExitCode {
    // A failed write is ignored; the exit code still reports the failure.
    let _ = writeln!(io::stderr(), "error: {message}");
    ExitCode::FAILURE
}

/// Prints a line to standard error.
pub(crate) fn print_stderr(message: &str) {
    // Write errors are ignored.
    let _ = writeln!(io::stderr(), "{message}");
}
