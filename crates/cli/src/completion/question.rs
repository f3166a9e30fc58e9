//! What somebody is about to type: the words so far in, what could come next out. Pure: what only a cluster knows is
//! left as a question to it.

use clap::{Arg, Command, ValueHint};
use gantry_kubectl::Entry;

use super::Candidate;
use crate::words::{self, Meaning, Piece, Value};

/// What could come next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// What of the last word stays as it is.
    pub(super) prefix: String,
    /// What the rest begins with.
    pub(super) begun: String,
    /// What the rest could be.
    pub(super) wanted: Wanted,
    /// The flags that say which cluster is meant.
    pub(super) connection: Vec<String>,
}

/// What a word could be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// One of these.
    OneOf(Vec<Candidate>),
    /// A file.
    Files,
    /// Something that the cluster has.
    Live(Ask),
}

/// What the cluster is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Types; none of these means all.
    Types { only: &'static [&'static str] },
    /// Objects of a type, but those that are there already.
    Names { of: String, but: Vec<String> },
    /// Namespaces.
    Namespaces,
    /// Containers of an object.
    Containers { of: String, name: String },
    /// What the kubeconfig has.
    Entries(Entry),
}

/// Types that roll out.
const ROLLED: &[&str] = &["daemonsets", "deployments", "statefulsets"];
/// Types that have a template of pods.
const TEMPLATED: &[&str] =
    &["daemonsets", "deployments", "replicasets", "replicationcontrollers", "statefulsets"];
/// Types that have a scale.
const SCALED: &[&str] = &["deployments", "replicasets", "replicationcontrollers", "statefulsets"];

impl Question {
    /// What could stand in place of the last of these words.
    pub(super) fn of(root: &Command, words: &[String]) -> Self {
        let (current, before) = words.split_last().map_or(("", words), |(last, rest)| (last.as_str(), rest));
        let pieces = words::read(root, before);
        let command = words::command(root, &pieces);
        let (prefix, begun, wanted) = next(root, command, &pieces, current);
        Self { prefix, begun, wanted, connection: connection(before, &pieces) }
    }
}

/// The part that stays, the part that is begun, and what it could be.
fn next(root: &Command, command: &Command, pieces: &[Piece<'_>], current: &str) -> (String, String, Wanted) {
    let whole = |wanted| (String::new(), current.to_owned(), wanted);
    if let Some(Piece { meaning: Meaning::Flag { arg, value: Value::Missing, .. }, .. }) = pieces.last() {
        return whole(value(arg));
    }
    let is_ended = pieces.iter().any(|piece| matches!(piece.meaning, Meaning::End));
    if current.starts_with('-') && !is_ended {
        let Some((flag, begun)) = current.split_once('=') else { return whole(flags(command)) };
        let flags = command.get_arguments().chain(root.get_arguments());
        let found = flags.into_iter().find(|arg| arg.get_long() == flag.strip_prefix("--"));
        return (format!("{flag}="), begun.to_owned(), found.map_or_else(nothing, value));
    }
    let given: Vec<String> = pieces.iter().filter_map(argument).collect();
    if given.is_empty() && command.has_subcommands() {
        return whole(commands(command));
    }
    let arguments: Vec<&Arg> = command.get_positionals().collect();
    let number = given.len().min(arguments.len().saturating_sub(1));
    match arguments.get(number) {
        None => whole(nothing()),
        Some(arg) if is_ended || arg.is_last_set() => whole(nothing()),
        Some(arg) => match arg.get_id().as_str() {
            "words" => objects(&words::path(pieces).join(" "), &given, current),
            "deployment" => deployment(command.get_name() == "why", &given, current),
            _ => whole(value(arg)),
        },
    }
}

/// `TYPE NAME…` or `TYPE/NAME…`, and what some commands take behind them.
fn objects(command: &str, given: &[String], current: &str) -> (String, String, Wanted) {
    let whole = |wanted| (String::new(), current.to_owned(), wanted);
    let of_one_object = matches!(command, "label" | "annotate" | "patch" | "set image");
    let named = match given {
        [first, ..] if first.contains('/') => first.split_once('/'),
        [] | [_] => None,
        [of, name, ..] => Some((of.as_str(), name.as_str())),
    };
    match (named, given) {
        (Some((of, name)), _) if command == "set image" && !current.contains('=') => {
            whole(Wanted::Live(Ask::Containers { of: of.to_owned(), name: name.to_owned() }))
        }
        (Some(_), _) if of_one_object => whole(nothing()),
        (_, [of, typed @ ..]) if !of.contains('/') => {
            whole(Wanted::Live(Ask::Names { of: of.clone(), but: typed.to_vec() }))
        }
        _ => {
            if let Some((of, name)) = current.split_once('/') {
                return (format!("{of}/"), name.to_owned(), names(of));
            }
            // Several types are joined by commas.
            let at = current.rfind(',').map_or(0, |comma| comma + 1);
            let only = match command {
                command if command.starts_with("rollout") => ROLLED,
                "set image" => TEMPLATED,
                "scale" => SCALED,
                _ => &[],
            };
            (current[..at].to_owned(), current[at..].to_owned(), Wanted::Live(Ask::Types { only }))
        }
    }
}

/// `web`, `deployment/web` or `deployment web`; more of them where a command takes several.
fn deployment(takes_several: bool, given: &[String], current: &str) -> (String, String, Wanted) {
    let whole = |wanted| (String::new(), current.to_owned(), wanted);
    let is_kind = |of: &str| "deployments".starts_with(of) && of.starts_with("deploy");
    let of = given.first().filter(|of| is_kind(of));
    let typed = if of.is_some() { &given[1..] } else { given };
    if !typed.is_empty() && !takes_several {
        return whole(nothing());
    }
    match (of, current.split_once('/')) {
        (None, Some((of, name))) => (format!("{of}/"), name.to_owned(), names(of)),
        (Some(_), Some(_)) => whole(nothing()),
        (of, None) => {
            let of = of.map_or("deployments", String::as_str).to_owned();
            whole(Wanted::Live(Ask::Names { of, but: typed.to_vec() }))
        }
    }
}

fn names(of: &str) -> Wanted {
    Wanted::Live(Ask::Names { of: of.to_owned(), but: Vec::new() })
}

/// The value of a flag or an argument.
fn value(arg: &Arg) -> Wanted {
    let allowed = arg.get_possible_values();
    if !allowed.is_empty() {
        let shown = allowed.iter().filter(|value| !value.is_hide_set());
        let help =
            |help: Option<&clap::builder::StyledStr>| help.map(ToString::to_string).unwrap_or_default();
        return Wanted::OneOf(
            shown
                .map(|value| Candidate { word: value.get_name().to_owned(), help: help(value.get_help()) })
                .collect(),
        );
    }
    let words: &[&str] = match arg.get_id().as_str() {
        "namespace" => return Wanted::Live(Ask::Namespaces),
        "context" => return Wanted::Live(Ask::Entries(Entry::Context)),
        "cluster" => return Wanted::Live(Ask::Entries(Entry::Cluster)),
        "user" => return Wanted::Live(Ask::Entries(Entry::User)),
        "filename" | "patch_file" => return Wanted::Files,
        "output" => &["custom-columns=", "json", "jsonpath=", "name", "wide", "yaml"],
        "dry_run" => &["client", "none", "server"],
        "cascade" => &["background", "foreground", "orphan"],
        "validate" => &["ignore", "strict", "warn"],
        "kind" => &["json", "merge", "strategic"],
        _ if matches!(
            arg.get_value_hint(),
            ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath
        ) =>
        {
            return Wanted::Files;
        }
        _ => &[],
    };
    Wanted::OneOf(words.iter().copied().map(Candidate::plain).collect())
}

fn flags(command: &Command) -> Wanted {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let flags = shown.filter_map(|arg| {
        let word = format!("--{}", arg.get_long()?);
        Some(Candidate { word, help: arg.get_help().map(ToString::to_string).unwrap_or_default() })
    });
    Wanted::OneOf(flags.collect())
}

fn commands(command: &Command) -> Wanted {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let commands = shown.map(|command| Candidate {
        word: command.get_name().to_owned(),
        help: command.get_about().map(ToString::to_string).unwrap_or_default(),
    });
    Wanted::OneOf(commands.collect())
}

fn nothing() -> Wanted {
    Wanted::OneOf(Vec::new())
}

fn argument(piece: &Piece<'_>) -> Option<String> {
    match &piece.meaning {
        Meaning::Argument(word) => Some(word.clone()),
        _ => None,
    }
}

/// The words of the line that say which cluster is meant.
fn connection(words: &[String], pieces: &[Piece<'_>]) -> Vec<String> {
    let flags = pieces.iter().filter(|piece| match &piece.meaning {
        Meaning::Flag { value, is_connection, .. } => *is_connection && *value != Value::Missing,
        _ => false,
    });
    flags.flat_map(|piece| words[piece.at.clone()].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::command::Gantry;

    fn question(line: &str) -> Question {
        let mut root = Gantry::command();
        root.build();
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Question::of(&root, &words)
    }

    fn asked(line: &str) -> Ask {
        match question(line).wanted {
            Wanted::Live(ask) => ask,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn words(line: &str) -> Vec<String> {
        let Wanted::OneOf(candidates) = question(line).wanted else { panic!("{line}") };
        candidates.into_iter().map(|candidate| candidate.word).collect()
    }

    fn named(of: &str) -> Ask {
        Ask::Names { of: of.to_owned(), but: Vec::new() }
    }

    #[test]
    fn commands_come_first_then_types_then_names() {
        assert!(words("").contains(&"get".to_owned()) && !words("").contains(&"__complete".to_owned()));
        assert_eq!(words("rollout ").first().map(String::as_str), Some("watch"));
        assert_eq!(asked("get "), Ask::Types { only: &[] });
        assert_eq!(asked("get deploy we"), named("deploy"));
        assert_eq!(asked("rollout status "), Ask::Types { only: ROLLED });
        assert_eq!(asked("get pods a b"), Ask::Names { of: "pods".into(), but: vec!["a".into()] });
        let slashed = question("rollout undo deploy/we");
        assert_eq!((slashed.prefix.as_str(), slashed.begun.as_str()), ("deploy/", "we"));
        let joined = question("get pods,de");
        assert_eq!((joined.prefix.as_str(), joined.begun.as_str()), ("pods,", "de"));
    }

    #[test]
    fn flags_are_answered_by_what_they_take() {
        assert_eq!(asked("get pods -n "), Ask::Namespaces);
        assert_eq!(asked("get pods --namespace=sh"), Ask::Namespaces);
        assert_eq!(asked("--context "), Ask::Entries(Entry::Context));
        assert_eq!(words("why web -o "), ["text", "json"]);
        assert_eq!(words("delete --cascade="), ["background", "foreground", "orphan"]);
        assert!(words("get --out").contains(&"--output".to_owned()));
        assert_eq!(question("apply -f ").wanted, Wanted::Files);
        assert_eq!(question("store check ").wanted, Wanted::Files);
        assert!(words("get pods -l ").is_empty());
    }

    #[test]
    fn the_cluster_that_the_line_means_is_asked() {
        let asked = question("-n shop get --context=b -w pods --kubeconfig file ");
        assert_eq!(asked.connection, ["-n", "shop", "--context=b", "--kubeconfig", "file"]);
    }

    #[test]
    fn containers_follow_the_object_whose_image_is_set() {
        let containers = || Ask::Containers { of: "deploy".into(), name: "web".into() };
        assert_eq!(asked("set image deploy/web ngi"), containers());
        assert_eq!(asked("set image deploy web "), containers());
        assert!(words("set image deploy/web nginx=ng").is_empty());
    }

    #[test]
    fn a_deployment_may_be_named_alone() {
        assert_eq!(asked("why we"), named("deployments"));
        assert_eq!(asked("rollout watch deployment/we"), named("deployment"));
        assert_eq!(asked("why deploy we"), named("deploy"));
        assert!(words("rollout watch web ").is_empty() && words("label pod a b=").is_empty());
        let others = Ask::Names { of: "deployments".to_owned(), but: vec!["web".to_owned()] };
        assert_eq!(asked("why web "), others);
    }
}
