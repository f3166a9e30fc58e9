//! Standard output is data, standard error is talk.
//!
//! A closed pipe (`cargo xtask tidy --rules | head`) is not an error, so both ignore a failed write.

use std::io::Write as _;

/// Prints what the command was asked for.
pub(crate) fn data(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{}", text.trim_end());
}

/// Prints what the command has to say about its work.
pub(crate) fn talk(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", text.trim_end());
}
