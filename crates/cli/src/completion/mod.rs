//! `gantry completion`: what could be typed next, for shells that ask.
//!
//! A shell's script asks `gantry __complete -- WORD…` at every TAB. `question` says what is meant, from what clap knows;
//! `live` asks the cluster where only the cluster knows. The answer is a word a line, with an explanation behind a tab, and
//! maybe a line `:nospace` (the word goes on) or `:files` (the shell knows files better). Nothing is ever said on
//! standard error: it would stand in somebody's prompt.

mod cluster_query;
mod request;

use std::process::ExitCode;

use clap::{CommandFactory as _, ValueEnum};

use crate::command::Gantry;
use crate::output::print;
use request::{CandidateSource, CompletionRequest};

/// The shells that can be helped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// For ~/.bashrc
    Bash,
    /// For a folder of $fpath
    Zsh,
    /// For ~/.config/fish/completions
    Fish,
}

/// A word that could be typed, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    word: String,
    help: String,
}

impl Shell {
    /// The script to load into the shell.
    pub(crate) fn script(self) -> &'static str {
        match self {
            Self::Bash => include_str!("gantry.bash"),
            Self::Zsh => include_str!("gantry.zsh"),
            Self::Fish => include_str!("gantry.fish"),
        }
    }
}

impl Candidate {
    fn plain(word: impl Into<String>) -> Self {
        Self { word: word.into(), help: String::new() }
    }
}

/// Prints what could stand in place of the last of these words.
pub(crate) fn answer(words: &[String]) -> ExitCode {
    let mut root = Gantry::command();
    root.build();
    let request = CompletionRequest::of(&root, words);
    let candidates = match &request.source {
        CandidateSource::Files => return print(":files\n"),
        CandidateSource::Fixed(candidates) => candidates.clone(),
        CandidateSource::Cluster(query) => cluster_query::candidates(query, &request.connection),
    };
    print(&lines(&request, &candidates))
}

/// What a shell is told: the candidates that begin as what was typed does.
fn lines(request: &CompletionRequest, candidates: &[Candidate]) -> String {
    let CompletionRequest { prefix, partial, .. } = request;
    let fitting: Vec<&Candidate> =
        candidates.iter().filter(|candidate| candidate.word.starts_with(partial)).collect();
    let goes_on = !fitting.is_empty() && fitting.iter().all(|candidate| candidate.word.ends_with(['=', '/']));
    let line = |candidate: &&Candidate| match candidate.help.as_str() {
        "" => format!("{prefix}{}\n", candidate.word),
        help => format!("{prefix}{}\t{help}\n", candidate.word),
    };
    let lines: String = fitting.iter().map(line).collect();
    if goes_on { format!("{lines}:nospace\n") } else { lines }
}
