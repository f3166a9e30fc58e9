//! Stories: a cluster in virtual time driven by lines of text, with the results printed between them.
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
//! `----`. Playing a printed story again prints the same text, so that a test is a comparison of texts.

mod command;
mod manifest;
mod names;
mod object;
mod player;
mod rendering;
mod steps;

pub use command::{Command, StoryKind, USAGE};
pub use object::is_ready;
pub use player::{Files, Player};

use std::fmt;

use gantry_json::Value;

use crate::simulate;

/// Why a story cannot be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryError {
    /// The line, counted from one.
    pub line: usize,
    /// The problem.
    pub problem: String,
}

/// The line between commands and their result.
const RULE: &str = "----";

/// Plays a story and returns its text with the results. `files` reads the manifests that it applies.
pub fn play(text: &str, files: &Files<'_>) -> Result<String, StoryError> {
    simulate(Player::options(), async |cluster| play_with(&mut Player::new(cluster, files), text).await)
}

/// For stories that apply no manifests.
pub fn no_files(file: &str) -> Result<Vec<Value>, String> {
    Err(format!("{file}: manifests cannot be read here"))
}

async fn play_with(player: &mut Player<'_>, text: &str) -> Result<String, StoryError> {
    let mut output = String::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        output.push_str(line);
        output.push('\n');
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let at_line = |problem| StoryError { line: index + 1, problem };
        let command = Command::parse(line).map_err(at_line)?;
        player.play(&command).await.map_err(at_line)?;
        let paragraph_ends = lines.peek().is_none_or(|(_, next)| next.trim().is_empty() || *next == RULE);
        if paragraph_ends {
            while lines.next_if(|(_, next)| !next.trim().is_empty()).is_some() {}
            output.push_str(RULE);
            output.push('\n');
            output.push_str(&player.record().await.map_err(at_line)?);
        }
    }
    Ok(output)
}

impl fmt::Display for StoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for StoryError {}
