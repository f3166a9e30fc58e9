//! The termination message of a container: the file that it wrote, or the end of its log.

use std::path::Path;

/// The maximum length of a message, and of one from a log.
const MESSAGE_MAX: usize = 4096;
const LOG_MAX: usize = 2048;
const LOG_LINES_MAX: usize = 80;

/// Reads the message of a container. `log` is its log, if its policy is to use the end of the log when it failed
/// without a message.
pub(crate) fn message(file: &Path, log: Option<&Path>) -> Option<String> {
    let written = std::fs::read(file).unwrap_or_default();
    let written = String::from_utf8_lossy(&written[..written.len().min(MESSAGE_MAX)]).into_owned();
    if !written.is_empty() {
        return Some(written);
    }
    let log = std::fs::read(log?).ok()?;
    let message = end_of_log(&String::from_utf8_lossy(&log));
    (!message.is_empty()).then_some(message)
}

/// Returns the end of a log in CRI's format, without times and streams.
fn end_of_log(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let text: String = lines[lines.len().saturating_sub(LOG_LINES_MAX)..]
        .iter()
        .filter_map(|line| {
            let mut parts = line.splitn(4, ' ');
            let (_, _, tag) = (parts.next()?, parts.next()?, parts.next()?);
            let content = parts.next().unwrap_or_default();
            Some(if tag.starts_with('P') { content.to_owned() } else { format!("{content}\n") })
        })
        .collect();
    let mut start = text.len().saturating_sub(LOG_MAX);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_is_the_termination_message() {
        let log = "2026-01-01T00:00:00.0Z stdout P one \n2026-01-01T00:00:00.1Z stdout F line\n2026-01-01T00:00:01Z stderr F two\n";
        assert_eq!(end_of_log(log), "one line\ntwo\n");
    }
}
