//! Determines what can be completed at the end of a command line. Pure: candidates from the cluster are returned as a query.

use clap::{Arg, Command, ValueHint};
use gantry_kubectl::KubeconfigEntry;

use super::Candidate;
use crate::argv::{self, Token, TokenKind, Value};

/// What to complete.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CompletionRequest {
    /// The part of the last word that is kept.
    pub(super) prefix: String,
    /// The partial text to complete.
    pub(super) partial: String,
    /// Where the candidates come from.
    pub(super) source: CandidateSource,
    /// The connection flags.
    pub(super) connection: Vec<String>,
}

/// The source of candidates.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CandidateSource {
    /// A fixed list.
    Fixed(Vec<Candidate>),
    /// Files, completed by the shell.
    Files,
    /// A query to the cluster.
    Cluster(ClusterQuery),
}

/// A query for candidates from the cluster or the kubeconfig.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ClusterQuery {
    /// Resource types; an empty list means all.
    Types { only: &'static [&'static str] },
    /// Objects of a type, except those on the line already.
    Names { of: String, but: Vec<String> },
    /// Namespaces.
    Namespaces,
    /// Containers of an object.
    Containers { of: String, name: String },
    /// Entries of the kubeconfig.
    Entries(KubeconfigEntry),
    /// The clusters of this machine.
    Clusters,
}

/// Types with rollouts.
const ROLLOUT_TYPES: &[&str] = &["daemonsets", "deployments", "statefulsets"];
/// Types with a pod template.
const POD_TEMPLATE_TYPES: &[&str] =
    &["daemonsets", "deployments", "replicasets", "replicationcontrollers", "statefulsets"];
/// Types with a scale subresource.
const SCALABLE_TYPES: &[&str] = &["deployments", "replicasets", "replicationcontrollers", "statefulsets"];

/// Commands whose first argument is a pod, or `TYPE/NAME`.
const POD_COMMANDS: [&str; 4] = ["attach", "exec", "logs", "port-forward"];

impl CompletionRequest {
    /// Determines the candidates for the last of these words.
    pub(super) fn of(root: &Command, words: &[String]) -> Self {
        let (current, before) = words.split_last().map_or(("", words), |(last, rest)| (last.as_str(), rest));
        let tokens = argv::read(root, before);
        let command = argv::command(root, &tokens);
        let (prefix, partial, source) = next(root, command, &tokens, current);
        Self { prefix, partial, source, connection: connection(before, &tokens) }
    }
}

/// The kept prefix, the partial text, and the source of candidates.
fn next(
    root: &Command,
    command: &Command,
    tokens: &[Token<'_>],
    current: &str,
) -> (String, String, CandidateSource) {
    let whole = |source| (String::new(), current.to_owned(), source);
    if let Some(Token { kind: TokenKind::Flag { arg, value: Value::Missing, .. }, .. }) = tokens.last() {
        return whole(value(arg));
    }
    let is_ended = tokens.iter().any(|token| matches!(token.kind, TokenKind::EndOfFlags));
    if current.starts_with('-') && !is_ended {
        let Some((flag, partial)) = current.split_once('=') else { return whole(flags(command)) };
        let flags = command.get_arguments().chain(root.get_arguments());
        let found = flags.into_iter().find(|arg| arg.get_long() == flag.strip_prefix("--"));
        return (format!("{flag}="), partial.to_owned(), found.map_or_else(nothing, value));
    }
    let given: Vec<String> = tokens.iter().filter_map(argument).collect();
    if given.is_empty() && command.has_subcommands() {
        return whole(commands(command));
    }
    let arguments: Vec<&Arg> = command.get_positionals().collect();
    let number = given.len().min(arguments.len().saturating_sub(1));
    match arguments.get(number) {
        None => whole(nothing()),
        Some(arg) if is_ended || arg.is_last_set() => whole(nothing()),
        Some(arg) => match arg.get_id().as_str() {
            "words" if command.get_name() == "cp" => whole(CandidateSource::Files),
            "words" if POD_COMMANDS.contains(&command.get_name()) => pod(command.get_name(), &given, current),
            "words" => objects(&argv::path(tokens).join(" "), &given, current),
            "deployment" => deployment(command.get_name() == "why", &given, current),
            _ => whole(value(arg)),
        },
    }
}

/// `TYPE NAME…` or `TYPE/NAME…`, and the further arguments of some commands.
fn objects(command: &str, given: &[String], current: &str) -> (String, String, CandidateSource) {
    let whole = |source| (String::new(), current.to_owned(), source);
    let of_one_object = matches!(command, "label" | "annotate" | "patch" | "set image");
    let named = match given {
        [first, ..] if first.contains('/') => first.split_once('/'),
        [] | [_] => None,
        [of, name, ..] => Some((of.as_str(), name.as_str())),
    };
    match (named, given) {
        (Some((of, name)), _) if command == "set image" && !current.contains('=') => {
            whole(CandidateSource::Cluster(ClusterQuery::Containers {
                of: of.to_owned(),
                name: name.to_owned(),
            }))
        }
        (Some(_), _) if of_one_object => whole(nothing()),
        (_, [of, typed @ ..]) if !of.contains('/') => {
            whole(CandidateSource::Cluster(ClusterQuery::Names { of: of.clone(), but: typed.to_vec() }))
        }
        _ => {
            if let Some((of, name)) = current.split_once('/') {
                return (format!("{of}/"), name.to_owned(), names(of));
            }
            // Several types are joined by commas.
            let at = current.rfind(',').map_or(0, |comma| comma + 1);
            let only = match command {
                command if command.starts_with("rollout") => ROLLOUT_TYPES,
                "set image" => POD_TEMPLATE_TYPES,
                "scale" => SCALABLE_TYPES,
                _ => &[],
            };
            (
                current[..at].to_owned(),
                current[at..].to_owned(),
                CandidateSource::Cluster(ClusterQuery::Types { only }),
            )
        }
    }
}

/// `web-5d4f` or `deployment/web`, and a container for `logs`.
fn pod(command: &str, given: &[String], current: &str) -> (String, String, CandidateSource) {
    let whole = |source| (String::new(), current.to_owned(), source);
    match (given, current.split_once('/')) {
        ([], Some((of, name))) => (format!("{of}/"), name.to_owned(), names(of)),
        ([], None) => whole(names("pods")),
        ([target], None) if command == "logs" => {
            let (of, name) = target.split_once('/').unwrap_or(("pods", target));
            let (of, name) = (of.to_owned(), name.to_owned());
            whole(CandidateSource::Cluster(ClusterQuery::Containers { of, name }))
        }
        _ => whole(nothing()),
    }
}

/// `web`, `deployment/web` or `deployment web`; more of them where a command takes several.
fn deployment(takes_several: bool, given: &[String], current: &str) -> (String, String, CandidateSource) {
    let whole = |source| (String::new(), current.to_owned(), source);
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
            whole(CandidateSource::Cluster(ClusterQuery::Names { of, but: typed.to_vec() }))
        }
    }
}

fn names(of: &str) -> CandidateSource {
    CandidateSource::Cluster(ClusterQuery::Names { of: of.to_owned(), but: Vec::new() })
}

/// The value of a flag or an argument.
fn value(arg: &Arg) -> CandidateSource {
    let allowed = arg.get_possible_values();
    if !allowed.is_empty() {
        let shown = allowed.iter().filter(|value| !value.is_hide_set());
        let help =
            |help: Option<&clap::builder::StyledStr>| help.map(ToString::to_string).unwrap_or_default();
        return CandidateSource::Fixed(
            shown
                .map(|value| Candidate { word: value.get_name().to_owned(), help: help(value.get_help()) })
                .collect(),
        );
    }
    let words: &[&str] = match arg.get_id().as_str() {
        "namespace" => return CandidateSource::Cluster(ClusterQuery::Namespaces),
        "cluster_name" => return CandidateSource::Cluster(ClusterQuery::Clusters),
        "context" => return CandidateSource::Cluster(ClusterQuery::Entries(KubeconfigEntry::Context)),
        "cluster" => return CandidateSource::Cluster(ClusterQuery::Entries(KubeconfigEntry::Cluster)),
        "user" => return CandidateSource::Cluster(ClusterQuery::Entries(KubeconfigEntry::User)),
        "filename" | "patch_file" => return CandidateSource::Files,
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
            return CandidateSource::Files;
        }
        _ => &[],
    };
    CandidateSource::Fixed(words.iter().copied().map(Candidate::plain).collect())
}

fn flags(command: &Command) -> CandidateSource {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let flags = shown.filter_map(|arg| {
        let word = format!("--{}", arg.get_long()?);
        Some(Candidate { word, help: arg.get_help().map(ToString::to_string).unwrap_or_default() })
    });
    CandidateSource::Fixed(flags.collect())
}

fn commands(command: &Command) -> CandidateSource {
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let commands = shown.map(|command| Candidate {
        word: command.get_name().to_owned(),
        help: command.get_about().map(ToString::to_string).unwrap_or_default(),
    });
    CandidateSource::Fixed(commands.collect())
}

fn nothing() -> CandidateSource {
    CandidateSource::Fixed(Vec::new())
}

fn argument(token: &Token<'_>) -> Option<String> {
    match &token.kind {
        TokenKind::Argument(word) => Some(word.clone()),
        _ => None,
    }
}

/// The connection flags of the line.
fn connection(words: &[String], tokens: &[Token<'_>]) -> Vec<String> {
    let flags = tokens.iter().filter(|token| match &token.kind {
        TokenKind::Flag { value, is_connection, .. } => *is_connection && *value != Value::Missing,
        _ => false,
    });
    flags.flat_map(|token| words[token.at.clone()].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::command::Gantry;

    fn request(line: &str) -> CompletionRequest {
        let mut root = Gantry::command();
        root.build();
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        CompletionRequest::of(&root, &words)
    }

    fn query(line: &str) -> ClusterQuery {
        match request(line).source {
            CandidateSource::Cluster(query) => query,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn words(line: &str) -> Vec<String> {
        let CandidateSource::Fixed(candidates) = request(line).source else { panic!("{line}") };
        candidates.into_iter().map(|candidate| candidate.word).collect()
    }

    fn named(of: &str) -> ClusterQuery {
        ClusterQuery::Names { of: of.to_owned(), but: Vec::new() }
    }

    #[test]
    fn commands_are_completed_then_types_then_names() {
        assert!(words("").contains(&"get".to_owned()) && !words("").contains(&"__complete".to_owned()));
        assert_eq!(words("rollout ").first().map(String::as_str), Some("watch"));
        assert_eq!(query("get "), ClusterQuery::Types { only: &[] });
        assert_eq!(query("get deploy we"), named("deploy"));
        assert_eq!(query("rollout status "), ClusterQuery::Types { only: ROLLOUT_TYPES });
        assert_eq!(query("get pods a b"), ClusterQuery::Names { of: "pods".into(), but: vec!["a".into()] });
        let slashed = request("rollout undo deploy/we");
        assert_eq!((slashed.prefix.as_str(), slashed.partial.as_str()), ("deploy/", "we"));
        let joined = request("get pods,de");
        assert_eq!((joined.prefix.as_str(), joined.partial.as_str()), ("pods,", "de"));
    }

    #[test]
    fn values_of_flags_are_completed_by_type() {
        assert_eq!(query("get pods -n "), ClusterQuery::Namespaces);
        assert_eq!(query("get pods --namespace=sh"), ClusterQuery::Namespaces);
        assert_eq!(query("--context "), ClusterQuery::Entries(KubeconfigEntry::Context));
        assert_eq!(query("up --name "), ClusterQuery::Clusters);
        assert_eq!(words("why web -o "), ["text", "json"]);
        assert_eq!(words("delete --cascade="), ["background", "foreground", "orphan"]);
        assert!(words("get --out").contains(&"--output".to_owned()));
        assert_eq!(request("apply -f ").source, CandidateSource::Files);
        assert_eq!(request("store check ").source, CandidateSource::Files);
        assert!(words("get pods -l ").is_empty());
    }

    #[test]
    fn candidates_are_requested_from_the_cluster_of_the_flags() {
        let query = request("-n shop get --context=b -w pods --kubeconfig file ");
        assert_eq!(query.connection, ["-n", "shop", "--context=b", "--kubeconfig", "file"]);
    }

    #[test]
    fn containers_follow_the_object_whose_image_is_set() {
        let containers = || ClusterQuery::Containers { of: "deploy".into(), name: "web".into() };
        assert_eq!(query("set image deploy/web ngi"), containers());
        assert_eq!(query("set image deploy web "), containers());
        assert!(words("set image deploy/web nginx=ng").is_empty());
    }

    #[test]
    fn a_pod_may_be_named_alone() {
        assert_eq!(query("logs we"), named("pods"));
        assert_eq!(query("exec -it deploy/we"), named("deploy"));
        let containers = |of: &str| ClusterQuery::Containers { of: of.into(), name: "web".into() };
        assert_eq!(
            (query("logs web "), query("logs deploy/web ")),
            (containers("pods"), containers("deploy"))
        );
        assert!(words("port-forward web 80").is_empty());
        assert_eq!(request("cp f").source, CandidateSource::Files);
    }

    #[test]
    fn a_deployment_may_be_named_alone() {
        assert_eq!(query("why we"), named("deployments"));
        assert_eq!(query("rollout watch deployment/we"), named("deployment"));
        assert_eq!(query("why deploy we"), named("deploy"));
        assert_eq!(query("down "), ClusterQuery::Clusters);
        assert_eq!(query("delete-cluster d"), ClusterQuery::Clusters);
        assert!(words("create namespace ").is_empty());
        assert!(words("rollout watch web ").is_empty() && words("label pod a b=").is_empty());
        let others = ClusterQuery::Names { of: "deployments".to_owned(), but: vec!["web".to_owned()] };
        assert_eq!(query("why web "), others);
    }
}
