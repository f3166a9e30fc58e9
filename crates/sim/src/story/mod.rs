//! Stories: a world driven by lines of text, and what happened printed between them.
//!
//! ```text
//! # The new set is capped by surge, the old one by availability.
//! deployment web replicas=10 surge=3 unavailable=2
//! ready all
//!
//! image nginx:2
//! ----
//! create web-2 size 3
//! scale web-1 10 -> 8
//! …
//! ```
//!
//! Lines that begin with `#` are comments. Consecutive commands form a paragraph, and its result is printed under
//! `----`. Playing a played story again prints the same text, so that a test is a comparison of texts.

mod command;
mod names;
mod player;
mod rendering;

pub use command::{Command, USAGE};
pub use player::Player;

use std::fmt;

use crate::Interleaving;

/// Why a story cannot be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryError {
    /// The line, counted from one.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

/// The line between commands and their result.
const RULE: &str = "----";

/// Plays a story and returns its text with the results.
pub fn play(text: &str) -> Result<String, StoryError> {
    let mut player = Player::new(Interleaving::FixedOrder);
    let mut event_log = String::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        event_log.push_str(line);
        event_log.push('\n');
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let at_line = |problem| StoryError { line: index + 1, problem };
        let command = Command::parse(line).map_err(at_line)?;
        player.play(&command).map_err(at_line)?;
        let paragraph_ends = lines.peek().is_none_or(|(_, next)| next.trim().is_empty() || *next == RULE);
        if paragraph_ends {
            while lines.next_if(|(_, next)| !next.trim().is_empty()).is_some() {}
            event_log.push_str(RULE);
            event_log.push('\n');
            event_log.push_str(&player.record());
        }
    }
    Ok(event_log)
}

impl fmt::Display for StoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for StoryError {}
