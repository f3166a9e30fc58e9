//! Tokenizes the command line before clap parses it: commands, flags, and values of flags.
//!
//! kubectl accepts two things that clap does not: connection flags between the names of nested commands, and
//! `--watch=true` for a flag without a value. [`for_clap`] rewrites both.

use std::ffi::OsString;
use std::ops::Range;

use clap::{Arg, ArgAction, Command};

use crate::cluster::HEADING;

/// A token of the command line.
#[derive(Debug)]
pub(crate) struct Token<'c> {
    /// What it is.
    pub(crate) kind: TokenKind<'c>,
    /// Its range of arguments.
    pub(crate) at: Range<usize>,
}

/// The kinds of tokens.
#[derive(Debug)]
pub(crate) enum TokenKind<'c> {
    /// A subcommand of the previous command.
    Command(&'c Command),
    /// A flag.
    Flag {
        arg: &'c Arg,
        value: Value,
        /// Whether it is a connection flag, which is allowed anywhere.
        is_connection: bool,
    },
    /// An unknown flag.
    Unknown,
    /// `--`: everything after it is positional.
    EndOfFlags,
    /// A positional argument.
    Argument(String),
}

/// The value of a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// The flag takes no value.
    None,
    /// The given value.
    Given(String),
    /// The value is missing at the end of the line.
    Missing,
}

/// Tokenizes the arguments, without the program's name. The command must be built.
pub(crate) fn read<'c>(root: &'c Command, words: &[String]) -> Vec<Token<'c>> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    let (mut command, mut is_ended, mut has_argument) = (root, false, false);
    while let Some(word) = words.get(at) {
        let next = words.get(at + 1);
        let (kind, length) = if is_ended || !word.starts_with('-') || word == "-" {
            let found = (!is_ended && !has_argument).then(|| command.find_subcommand(word)).flatten();
            match found {
                Some(found) => (TokenKind::Command(found), 1),
                None => (TokenKind::Argument(word.clone()), 1),
            }
        } else if word == "--" {
            (TokenKind::EndOfFlags, 1)
        } else {
            flag(root, command, word, next)
        };
        match &kind {
            TokenKind::Command(found) => command = found,
            TokenKind::Argument(_) => has_argument = true,
            TokenKind::EndOfFlags => is_ended = true,
            TokenKind::Flag { .. } | TokenKind::Unknown => {}
        }
        tokens.push(Token { kind, at: at..at + length });
        at += length;
    }
    tokens
}

/// The innermost command.
pub(crate) fn command<'c>(root: &'c Command, tokens: &[Token<'c>]) -> &'c Command {
    let commands = tokens.iter().rev().find_map(|token| match token.kind {
        TokenKind::Command(command) => Some(command),
        _ => None,
    });
    commands.unwrap_or(root)
}

/// The names of the commands.
pub(crate) fn path(tokens: &[Token<'_>]) -> Vec<String> {
    let commands = tokens.iter().filter_map(|token| match token.kind {
        TokenKind::Command(command) => Some(command.get_name().to_owned()),
        _ => None,
    });
    commands.collect()
}

/// Rewrites the arguments for clap; fails on an invalid boolean.
pub(crate) fn for_clap(root: &Command, words: Vec<OsString>) -> Result<Vec<OsString>, InvalidBoolean> {
    let texts: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let tokens = read(root, &texts);
    let last_command = tokens.iter().rposition(|token| matches!(token.kind, TokenKind::Command(_)));
    let mut words = words.into_iter();
    let (mut front, mut back) = (words.by_ref().take(1).collect::<Vec<_>>(), Vec::new());
    for (number, token) in tokens.iter().enumerate() {
        let taken = words.by_ref().take(token.at.len());
        match &token.kind {
            TokenKind::Flag { is_connection: true, .. } if last_command.is_some_and(|last| number < last) => {
                front.extend(taken);
            }
            TokenKind::Flag { arg, .. } => {
                let mut taken: Vec<OsString> = taken.collect();
                if let Some(is_set) = boolean(arg, &texts[token.at.start])? {
                    let name = arg.get_long().unwrap_or_default();
                    taken = is_set.then(|| OsString::from(format!("--{name}"))).into_iter().collect();
                }
                back.extend(taken);
            }
            _ => back.extend(taken),
        }
    }
    front.append(&mut back);
    Ok(front)
}

/// A boolean flag with an invalid value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidBoolean {
    pub(crate) flag: String,
    pub(crate) value: String,
}

/// Whether a flag takes a value.
pub(crate) fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// A flag as kubectl names it in errors: `-o, --output`.
pub(crate) fn shown(arg: &Arg) -> String {
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (Some(short), None) => format!("-{short}"),
        (None, Some(long)) => format!("--{long}"),
        (None, None) => arg.get_id().to_string(),
    }
}

/// Parses `--flag=true` of a flag without a value; `None` for all other flags.
fn boolean(arg: &Arg, word: &str) -> Result<Option<bool>, InvalidBoolean> {
    let Some((_, value)) = word.strip_prefix("--").and_then(|word| word.split_once('=')) else {
        return Ok(None);
    };
    if takes_value(arg) {
        return Ok(None);
    }
    match value {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Some(true)),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Some(false)),
        other => Err(InvalidBoolean { flag: shown(arg), value: other.to_owned() }),
    }
}

/// Finds a flag of the command, or a global one.
fn flag<'c>(
    root: &'c Command,
    command: &'c Command,
    word: &str,
    next: Option<&String>,
) -> (TokenKind<'c>, usize) {
    let find = |is: &dyn Fn(&&Arg) -> bool| {
        command.get_arguments().find(|arg| is(arg)).or_else(|| root.get_arguments().find(|arg| is(arg)))
    };
    let (found, value) = match word.strip_prefix("--") {
        Some(long) => {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            (find(&|arg| arg.get_long() == Some(name)), value)
        }
        None => short(word, &find),
    };
    let Some(arg) = found else { return (TokenKind::Unknown, 1) };
    let has_own_word = takes_value(arg) && !arg.is_require_equals_set();
    let (value, length) = match (value, next) {
        (Some(value), _) if takes_value(arg) => (Value::Given(value.to_owned()), 1),
        (None, Some(next)) if has_own_word => (Value::Given(next.clone()), 2),
        (None, None) if has_own_word => (Value::Missing, 1),
        _ => (Value::None, 1),
    };
    let is_connection = arg.get_help_heading() == Some(HEADING);
    (TokenKind::Flag { arg, value, is_connection }, length)
}

/// Parses `-n`, `-nshop`, `-n=shop`, and `-Aw`, of which the last one counts.
fn short<'c, 'w>(
    word: &'w str,
    find: &impl Fn(&dyn Fn(&&Arg) -> bool) -> Option<&'c Arg>,
) -> (Option<&'c Arg>, Option<&'w str>) {
    let letters = &word[1..];
    let mut last = None;
    for (at, letter) in letters.char_indices() {
        let Some(found) = find(&|arg| arg.get_short() == Some(letter)) else { return (None, None) };
        let rest = &letters[at + letter.len_utf8()..];
        if takes_value(found) && !rest.is_empty() {
            return (Some(found), Some(rest.strip_prefix('=').unwrap_or(rest)));
        }
        last = Some(found);
    }
    (last, None)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::command::Gantry;

    fn rewritten(line: &str) -> Result<String, InvalidBoolean> {
        let mut root = Gantry::command();
        root.build();
        let words = line.split(' ').map(OsString::from).collect();
        let words = for_clap(&root, words)?;
        Ok(words.into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn connection_flags_are_accepted_between_commands() {
        let cases = [
            ("gantry rollout -n shop status web", "gantry -n shop rollout status web"),
            ("gantry create --context=a -nb deployment web", "gantry --context=a -nb create deployment web"),
            ("gantry -n a get pods -n b", "gantry -n a get pods -n b"),
            ("gantry get -n rollout status", "gantry get -n rollout status"),
            ("gantry up --token file", "gantry up --token file"),
            ("gantry get pods -- -n x", "gantry get pods -- -n x"),
        ];
        for (typed, read) in cases {
            assert_eq!(rewritten(typed).as_deref(), Ok(read));
        }
    }

    #[test]
    fn boolean_flags_accept_true_and_false() {
        assert_eq!(rewritten("gantry get pods --watch=true").as_deref(), Ok("gantry get pods --watch"));
        assert_eq!(rewritten("gantry get pods --watch=false -A").as_deref(), Ok("gantry get pods -A"));
        assert_eq!(
            rewritten("gantry get pods --output=true").as_deref(),
            Ok("gantry get pods --output=true")
        );
        let wrong = rewritten("gantry get pods --watch=3").unwrap_err();
        assert_eq!((wrong.flag.as_str(), wrong.value.as_str()), ("-w, --watch", "3"));
    }
}
