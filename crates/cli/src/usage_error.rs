//! Usage errors, with kubectl's messages where it has one.

use std::error::Error as _;
use std::fmt::Write as _;
use std::num::{IntErrorKind, ParseIntError};
use std::process::ExitCode;

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use strsim::osa_distance;

use crate::argv::{self, InvalidBoolean, TokenKind, Value};
use crate::output::{fail, print_stderr};

/// Prints clap's result: help, or a usage error.
pub(crate) fn report(error: &Error, root: &Command, typed: &[String]) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // A closed pipe is not an error.
            let _ = error.print();
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            ExitCode::FAILURE
        }
        _ => {
            print_stderr(&lines(error, root, typed));
            ExitCode::FAILURE
        }
    }
}

/// Prints the error for an invalid boolean value.
pub(crate) fn report_invalid_boolean(wrong: &InvalidBoolean, root: &Command, typed: &[String]) -> ExitCode {
    let InvalidBoolean { flag, value } = wrong;
    let usage = usage(root, typed);
    fail(&format!(
        "invalid argument \"{value}\" for \"{flag}\" flag: strconv.ParseBool: parsing \"{value}\": invalid syntax\n{usage}"
    ))
}

fn lines(error: &Error, root: &Command, typed: &[String]) -> String {
    let about = |kind| error.get(kind).map(text).unwrap_or_default();
    let mut message = match error.kind() {
        ErrorKind::InvalidSubcommand => return unknown_command(error, root, typed),
        ErrorKind::UnknownArgument => unknown_argument(&about(ContextKind::InvalidArg)),
        ErrorKind::InvalidValue if about(ContextKind::InvalidValue).is_empty() => needs_argument(root, typed),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let flag = flag(root, typed, &about(ContextKind::InvalidArg));
            let value = about(ContextKind::InvalidValue);
            format!("error: invalid argument \"{value}\" for \"{flag}\" flag: {}", why(error, &value))
        }
        ErrorKind::MissingRequiredArgument => missing(&about(ContextKind::InvalidArg)),
        _ => {
            let all = error.to_string();
            all.lines().next().unwrap_or_default().to_owned()
        }
    };
    let _ = write!(message, "\n{}", usage(root, typed));
    let near = about(ContextKind::SuggestedArg);
    if !near.is_empty() {
        let _ = write!(message, "\nhint: did you mean {near}?");
    }
    message
}

fn unknown_command(error: &Error, root: &Command, typed: &[String]) -> String {
    let name = error.get(ContextKind::InvalidSubcommand).map(text).unwrap_or_default();
    let tokens = argv::read(root, typed);
    let near = near(argv::command(root, &tokens), &name);
    let path = argv::path(&tokens);
    if path.is_empty() {
        let mut message = format!("error: unknown command \"{name}\" for \"{}\"", root.get_name());
        if !near.is_empty() {
            let _ = write!(message, "\n\nDid you mean this?\n\t{}\n", near.join("\n\t"));
        }
        return message;
    }
    let hint =
        if near.is_empty() { String::new() } else { format!("\nhint: did you mean {}?", near.join(" or ")) };
    let path = path.join(" ");
    format!(
        "error: unknown command \"{name}\"\nSee '{} {path} -h' for help and examples{hint}",
        root.get_name()
    )
}

/// Similar commands: by prefix, or by a small edit distance.
fn near<'c>(command: &'c Command, typed: &str) -> Vec<&'c str> {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let names = shown.map(Command::get_name);
    let edits = if typed.chars().count() < 5 { 1 } else { 2 };
    names.filter(|name| name.starts_with(typed) || osa_distance(name, typed) <= edits).collect()
}

fn unknown_argument(word: &str) -> String {
    match word.strip_prefix('-') {
        None => format!("error: unexpected argument \"{word}\""),
        Some(rest) if rest.starts_with('-') => format!("error: unknown flag: {word}"),
        Some(rest) => {
            let letter = rest.chars().next().unwrap_or_default();
            format!("error: unknown shorthand flag: '{letter}' in {word}")
        }
    }
}

/// The error for the last flag, which lacks its value.
fn needs_argument(root: &Command, typed: &[String]) -> String {
    let tokens = argv::read(root, typed);
    let last = tokens.iter().rev().find_map(|token| match token.kind {
        TokenKind::Flag { value: Value::Missing, .. } => typed.get(token.at.start),
        _ => None,
    });
    let word = last.or(typed.last()).map_or("", String::as_str);
    match word.strip_prefix('-') {
        Some(letters) if !letters.starts_with('-') => {
            let letter = letters.chars().last().unwrap_or_default();
            format!("error: flag needs an argument: '{letter}' in {word}")
        }
        _ => format!("error: flag needs an argument: {}", word.trim_end_matches('=')),
    }
}

fn missing(what: &str) -> String {
    let (first, _) = what.split_once(", ").unwrap_or((what, ""));
    match first.strip_prefix("--") {
        Some(flag) => {
            let name = flag.split([' ', '=']).next().unwrap_or(flag);
            format!("error: required flag(s) \"{name}\" not set")
        }
        None if first.starts_with('<') && !first.contains('|') => {
            format!("error: exactly one {} is required, got 0", first.trim_matches(['<', '>', '.']))
        }
        None => {
            format!("error: one of these is required: {}", what.trim_matches(['<', '>']).replace('|', ", "))
        }
    }
}

/// The reason why a value is invalid, in Go's words for numbers and booleans.
fn why(error: &Error, value: &str) -> String {
    if let Some(number) = error.source().and_then(|source| source.downcast_ref::<ParseIntError>()) {
        let is_too_big = matches!(number.kind(), IntErrorKind::PosOverflow | IntErrorKind::NegOverflow);
        let problem = if is_too_big { "value out of range" } else { "invalid syntax" };
        return format!("strconv.ParseInt: parsing \"{value}\": {problem}");
    }
    if error.source().is_some_and(|source| source.to_string().contains(" is not in ")) {
        return format!("strconv.ParseInt: parsing \"{value}\": value out of range");
    }
    let allowed = error.get(ContextKind::ValidValue).map(text).unwrap_or_default();
    match (allowed.as_str(), error.source()) {
        ("true, false", _) => format!("strconv.ParseBool: parsing \"{value}\": invalid syntax"),
        ("", Some(source)) => source.to_string(),
        ("", None) => "invalid value".to_owned(),
        (allowed, _) => format!("must be one of {allowed}"),
    }
}

/// Converts clap's `--output <FORMAT>` to kubectl's form; a positional argument keeps its name.
fn flag(root: &Command, typed: &[String], shown: &str) -> String {
    let long = shown.strip_prefix("--").map(|rest| rest.split([' ', '=', '[']).next().unwrap_or(rest));
    let tokens = argv::read(root, typed);
    let command = argv::command(root, &tokens);
    let arg = command.get_arguments().find(|arg| arg.get_long().is_some() && arg.get_long() == long);
    arg.map_or_else(|| shown.trim_matches(['<', '>']).to_owned(), argv::shown)
}

fn usage(root: &Command, typed: &[String]) -> String {
    let mut names = vec![root.get_name().to_owned()];
    names.extend(argv::path(&argv::read(root, typed)));
    format!("See '{} --help' for usage.", names.join(" "))
}

fn text(value: &ContextValue) -> String {
    match value {
        ContextValue::String(one) => one.clone(),
        ContextValue::Strings(several) => several.join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::command::Gantry;

    fn message(line: &str) -> String {
        let mut root = Gantry::command();
        root.build();
        let typed: Vec<String> = line.split(' ').skip(1).map(str::to_owned).collect();
        lines(&Gantry::try_parse_from(line.split(' ')).unwrap_err(), &root, &typed)
    }

    /// K4, and kubectl's messages for other usage errors.
    #[test]
    fn usage_errors_are_reported_as_by_kubectl() {
        let see =
            |command: &str, text: &str| format!("error: {text}\nSee 'gantry {command} --help' for usage.");
        let cases = [
            ("get --foo", see("get", "unknown flag: --foo")),
            ("get pods -z", see("get", "unknown shorthand flag: 'z' in -z")),
            ("get pods -o", see("get", "flag needs an argument: 'o' in -o")),
            ("get pods --output", see("get", "flag needs an argument: --output")),
            (
                "rollout undo web --to-revision=abc",
                see(
                    "rollout undo",
                    "invalid argument \"abc\" for \"--to-revision\" flag: strconv.ParseInt: parsing \"abc\": invalid syntax",
                ),
            ),
            (
                "create deployment web -r 99999999999",
                see(
                    "create deployment",
                    "invalid argument \"99999999999\" for \"-r, --replicas\" flag: strconv.ParseInt: parsing \
                     \"99999999999\": value out of range",
                ),
            ),
            (
                "rollout status web --watch=maybe",
                see(
                    "rollout status",
                    "invalid argument \"maybe\" for \"-w, --watch\" flag: strconv.ParseBool: parsing \"maybe\": invalid syntax",
                ),
            ),
            (
                "why web -o yaml",
                see("why", "invalid argument \"yaml\" for \"-o, --output\" flag: must be one of text, json"),
            ),
            ("create namespace", see("create namespace", "exactly one NAME is required, got 0")),
            ("create namespace a b", see("create namespace", "unexpected argument \"b\"")),
        ];
        for (typed, expected) in cases {
            assert_eq!(message(&format!("gantry {typed}")), expected, "{typed}");
        }
    }

    #[test]
    fn misspelled_words_get_a_hint() {
        assert_eq!(
            message("gantry gte pods"),
            "error: unknown command \"gte\" for \"gantry\"\n\nDid you mean this?\n\tget\n"
        );
        assert_eq!(message("gantry xyzzy"), "error: unknown command \"xyzzy\" for \"gantry\"");
        assert_eq!(
            message("gantry rollout stats web"),
            "error: unknown command \"stats\"\nSee 'gantry rollout -h' for help and examples\nhint: did you mean status?"
        );
        assert!(message("gantry get --outptu=yaml").ends_with("for usage.\nhint: did you mean --output?"));
    }

    #[test]
    fn alternatives_of_a_missing_flag_are_named() {
        let message = message("gantry apiserver");
        assert!(message.starts_with("error: one of these is required: --data-dir"), "{message}");
    }
}
