//! `gantry completion`: scripts and candidates for shell completion.
//!
//! The shell's script calls `gantry __complete -- WORD…` at each TAB. `request` determines from clap's definitions what to
//! complete, and `cluster_query` queries the cluster where needed. The output is one candidate per line, with a description
//! after a tab, and optionally a line `:nospace` (no space after the candidate) or `:files` (the shell completes files).
//! Nothing is printed on standard error, because it would end up in the prompt.

mod cluster_query;
mod request;

use std::process::ExitCode;

use clap::{CommandFactory as _, ValueEnum};

use crate::command::Gantry;
use crate::output::print;
use request::{CandidateSource, CompletionRequest};

/// The supported shells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// For ~/.bashrc
    Bash,
    /// For a folder of $fpath
    Zsh,
    /// For ~/.config/fish/completions
    Fish,
}

/// A candidate with its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    word: String,
    help: String,
}

impl Shell {
    /// The completion script.
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

/// Prints the candidates for the last of these words.
pub(crate) fn print_candidates(words: &[String]) -> ExitCode {
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

/// The output for the shell: the candidates with the partial word as prefix.
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
