//! Standard output is for data, standard error for messages.
//!
//! A closed pipe (`cargo xtask tidy --rules | head`) is not an error, so both ignore a failed write.

use std::io::Write as _;

/// Prints data that the user requested.
pub(crate) fn data(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{}", text.trim_end());
}

/// Prints a message about the work of the command.
pub(crate) fn talk(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", text.trim_end());
}
