//! The commands of stories.

use gantry_model::{Limit, Replicas, RollingLimits, Strategy};

use crate::cluster::{DEFAULT_LIMITS, NewDeployment, NewReplicaSet, Propagation, WorkloadKind};

/// All commands, for `--help`.
pub const USAGE: &str = "\
deployment NAME [replicas=N] [image=I] [surge=N|P%] [unavailable=N|P%] [strategy=Recreate] [deadline=SECONDS|none]
           [history=N|none] [min-ready=SECONDS] [paused=true] [note=KEY:VALUE]
replicaset NAME [replicas=N] [image=I] [app=NAME]      a set that no Deployment owns
image I | scale N | pause | resume | undo [to SET]     what a person does to the Deployment
change [surge=…] [unavailable=…] [strategy=…] [deadline=…] [history=…] [min-ready=…] [replicas=…] [image=…]
annotate KEY VALUE | label KEY VALUE | label-template KEY VALUE | rollback REVISION
scale-set SET N | label-set SET KEY VALUE              SET counts from 1, in order of creation
label-pod POD KEY VALUE | cost POD N                   POD counts from 1, oldest set first
delete deployment|set|pod [NAME|NUMBER] [background|foreground|orphan]
ready all|N [of SET] | unready N [of SET] | fail N     what nodes do
reap on|off|now                                        whether terminating pods go by themselves
quota N|none                                           how many pods are admitted
wait SECONDS
drain                                                  ready one pod after the other until all are";

/// An action of a user or a kubelet.
#[derive(Clone, Debug)]
pub enum Command {
    /// Create a Deployment.
    CreateDeployment(Box<NewDeployment>),
    /// Create a ReplicaSet that no Deployment owns.
    CreateReplicaSet(NewReplicaSet),
    /// Change fields of the Deployment.
    Change(Vec<(String, String)>),
    /// Annotate the Deployment.
    Annotate(String, String),
    /// Label the Deployment.
    Label(String, String),
    /// Label the Deployment's template.
    LabelTemplate(String, String),
    /// Restore the template of another set: the previous one, or this one.
    Undo(Option<usize>),
    /// Scale a set by hand.
    ScaleSet(usize, Replicas),
    /// Label a set.
    LabelSet(usize, String, String),
    /// Label a pod.
    LabelPod(usize, String, String),
    /// Annotate a pod with its deletion cost.
    Cost(usize, i32),
    /// Delete an object by name or number.
    Delete(WorkloadKind, Option<String>, Propagation),
    /// Make so many pods ready, one by one, or all at once; of one set or of all.
    Ready(Option<usize>, Option<usize>),
    /// Make so many pods unready.
    Unready(usize, Option<usize>),
    /// Make so many pods fail.
    Fail(usize),
    /// Whether terminating pods are deleted by themselves.
    Reaping(bool),
    /// Delete all terminating pods now.
    Reap,
    /// Limit the number of pods.
    Quota(Option<usize>),
    /// Let time pass.
    Wait(u64),
    /// Make one pod after the other ready until all are.
    Drain,
}

impl Command {
    /// Parses a line.
    pub fn parse(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [verb, arguments @ ..] = words.as_slice() else { return Err("an empty line".to_owned()) };
        match (*verb, arguments) {
            ("deployment", [name, options @ ..]) => {
                Ok(Self::CreateDeployment(Box::new(deployment(name, options)?)))
            }
            ("replicaset", [name, options @ ..]) => Ok(Self::CreateReplicaSet(replica_set(name, options)?)),
            ("image", [image]) => change("image", image),
            ("scale", [n]) => change("replicas", n),
            ("pause", []) => change("paused", "true"),
            ("resume", []) => change("paused", "false"),
            ("change", options @ [_, ..]) => Ok(Self::Change(pairs(options)?)),
            ("annotate", [key, value]) => Ok(Self::Annotate(text(key), text(value))),
            ("label", [key, value]) => Ok(Self::Label(text(key), text(value))),
            ("label-template", [key, value]) => Ok(Self::LabelTemplate(text(key), text(value))),
            ("rollback", [revision]) => {
                Ok(Self::Annotate(gantry_model::keys::ROLLBACK_TO.to_owned(), text(revision)))
            }
            ("undo", []) => Ok(Self::Undo(None)),
            ("undo", ["to", set]) => Ok(Self::Undo(Some(number(set)?))),
            ("scale-set", [set, n]) => Ok(Self::ScaleSet(number(set)?, count(n)?)),
            ("label-set", [set, key, value]) => Ok(Self::LabelSet(number(set)?, text(key), text(value))),
            ("label-pod", [pod, key, value]) => Ok(Self::LabelPod(number(pod)?, text(key), text(value))),
            ("cost", [pod, cost]) => Ok(Self::Cost(number(pod)?, number(cost)?)),
            ("delete", arguments) => delete(arguments),
            ("ready", ["all"]) => Ok(Self::Ready(None, None)),
            ("ready", ["all", "of", set]) => Ok(Self::Ready(None, Some(number(set)?))),
            ("ready", [n]) => Ok(Self::Ready(Some(number(n)?), None)),
            ("ready", [n, "of", set]) => Ok(Self::Ready(Some(number(n)?), Some(number(set)?))),
            ("unready", [n]) => Ok(Self::Unready(number(n)?, None)),
            ("unready", [n, "of", set]) => Ok(Self::Unready(number(n)?, Some(number(set)?))),
            ("fail", [n]) => Ok(Self::Fail(number(n)?)),
            ("reap", ["on"]) => Ok(Self::Reaping(true)),
            ("reap", ["off"]) => Ok(Self::Reaping(false)),
            ("reap", ["now"]) => Ok(Self::Reap),
            ("quota", ["none"]) => Ok(Self::Quota(None)),
            ("quota", [n]) => Ok(Self::Quota(Some(number(n)?))),
            ("wait", [seconds]) => Ok(Self::Wait(number(seconds)?)),
            ("drain", []) => Ok(Self::Drain),
            _ => Err(format!("`{line}` is no command; these are:\n{USAGE}")),
        }
    }
}

/// Makes one change of a Deployment: `deployment web surge=3`, `change surge=3`.
pub(super) fn apply(draft: &mut NewDeployment, key: &str, value: &str) -> Result<(), String> {
    match key {
        "replicas" => draft.replicas = count(value)?,
        "image" => value.clone_into(&mut draft.image),
        "surge" => draft.strategy = rolling(RollingLimits { surge: limit(value)?, ..limits(draft) }),
        "unavailable" => {
            draft.strategy = rolling(RollingLimits { unavailable: limit(value)?, ..limits(draft) });
        }
        "strategy" if value == "Recreate" => draft.strategy = Strategy::Recreate,
        "strategy" if value == "RollingUpdate" => draft.strategy = rolling(limits(draft)),
        "deadline" => draft.progress_deadline_seconds = unless_none(value, number)?,
        "history" => draft.revision_history_limit = unless_none(value, count)?,
        "min-ready" => draft.min_ready_seconds = number(value)?,
        "paused" => draft.paused = value == "true",
        "note" => {
            let (key, value) = value.split_once(':').ok_or("a note is KEY:VALUE")?;
            draft.annotations.insert(key.to_owned(), value.to_owned());
        }
        _ => return Err(format!("`{key}={value}` is nothing a Deployment has; see\n{USAGE}")),
    }
    Ok(())
}

fn change(key: &str, value: &str) -> Result<Command, String> {
    let change = format!("{key}={value}");
    Ok(Command::Change(pairs(&[change.as_str()])?))
}

fn deployment(name: &str, options: &[&str]) -> Result<NewDeployment, String> {
    let mut draft = NewDeployment::new(name);
    for option in options {
        let (key, value) = pair(option)?;
        apply(&mut draft, key, value)?;
    }
    Ok(draft)
}

fn replica_set(name: &str, options: &[&str]) -> Result<NewReplicaSet, String> {
    let mut draft = NewReplicaSet {
        name: name.to_owned(),
        app: name.to_owned(),
        replicas: Replicas::from(1),
        image: "nginx:1".to_owned(),
    };
    for option in options {
        match pair(option)? {
            ("replicas", value) => draft.replicas = count(value)?,
            ("image", value) => value.clone_into(&mut draft.image),
            ("app", value) => value.clone_into(&mut draft.app),
            (key, _) => return Err(format!("`{key}` is nothing a set is given here; see\n{USAGE}")),
        }
    }
    Ok(draft)
}

fn delete(arguments: &[&str]) -> Result<Command, String> {
    let policy = |word: &str| match word {
        "background" => Some(Propagation::Background),
        "foreground" => Some(Propagation::Foreground),
        "orphan" => Some(Propagation::Orphan),
        _ => None,
    };
    let with_policy = arguments.split_last().and_then(|(last, rest)| Some((rest, policy(last)?)));
    let (arguments, propagation) = with_policy.unwrap_or((arguments, Propagation::Background));
    let kind = match arguments.first() {
        Some(&"deployment") => WorkloadKind::Deployment,
        Some(&"set") => WorkloadKind::ReplicaSet,
        Some(&"pod") => WorkloadKind::Pod,
        _ => return Err("delete what: deployment, set or pod?".to_owned()),
    };
    Ok(Command::Delete(kind, arguments.get(1).map(|name| text(name)), propagation))
}

/// The limits of a Deployment, or the defaults.
fn limits(draft: &NewDeployment) -> RollingLimits {
    match draft.strategy {
        Strategy::RollingUpdate(Ok(limits)) => limits,
        Strategy::RollingUpdate(Err(_)) | Strategy::Recreate | Strategy::Unknown(_) => DEFAULT_LIMITS,
    }
}

fn rolling(limits: RollingLimits) -> Strategy {
    Strategy::RollingUpdate(Ok(limits))
}

fn limit(value: &str) -> Result<Limit, String> {
    match value.strip_suffix('%') {
        Some(percent) => number(percent).map(Limit::Percent),
        None => number(value).map(Limit::Count),
    }
}

fn pairs(options: &[&str]) -> Result<Vec<(String, String)>, String> {
    options.iter().map(|option| pair(option).map(|(key, value)| (text(key), text(value)))).collect()
}

fn pair(option: &str) -> Result<(&str, &str), String> {
    option.split_once('=').ok_or_else(|| format!("`{option}` should be KEY=VALUE"))
}

fn unless_none<T>(value: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    if value == "none" { Ok(None) } else { read(value).map(Some) }
}

fn count(value: &str) -> Result<Replicas, String> {
    number::<u16>(value).map(Replicas::from)
}

fn number<T: std::str::FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("`{value}` should be a number"))
}

fn text(word: &str) -> String {
    word.to_owned()
}
