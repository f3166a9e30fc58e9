//! The commands of stories.

use gantry_json::Value;

use super::manifest::{self, change_of};

/// All commands, for `--help`.
pub const USAGE: &str = "\
deployment NAME [replicas=N] [image=I] [surge=N|P%] [unavailable=N|P%] [strategy=Recreate] [deadline=SECONDS|none]
           [history=N|none] [min-ready=SECONDS] [paused=true] [note=KEY:VALUE]
replicaset NAME [replicas=N] [image=I] [app=NAME]      a set that no Deployment owns
apply FILE                                             creates or changes the objects of a manifest
image I | scale N | pause | resume | undo [to SET]     what a user does to the Deployment
change [surge=…] [unavailable=…] [strategy=…] [deadline=…] [history=…] [min-ready=…] [replicas=…] [image=…]
annotate KEY VALUE | label KEY VALUE | label-template KEY VALUE | rollback REVISION
scale-set SET N | label-set SET KEY VALUE              SET counts from 1, in order of creation
label-pod POD KEY VALUE | cost POD N                   POD counts from 1, oldest set first
delete deployment|set|pod [NAME|NUMBER] [background|foreground|orphan]
ready all|each|N [of SET] | unready N [of SET] | fail N
                                                       what nodes report; each: one pod after the other until all are ready
terminate on|off|now                                   whether nodes end terminating pods by themselves, or all of them now
quota N|none                                           how many pods are admitted
wait SECONDS";

/// An action of a user or a kubelet.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Create this Deployment.
    CreateDeployment(Value),
    /// Create this ReplicaSet, which no Deployment owns.
    CreateReplicaSet(Value),
    /// Create or change the objects of this file.
    Apply(String),
    /// Patch the Deployment.
    Change(Value),
    /// Restore the template of another set: the previous one, or this one.
    Undo(Option<usize>),
    /// Patch a set.
    ChangeSet(usize, Value),
    /// Patch a pod.
    ChangePod(usize, Value),
    /// Delete an object by name or number, with a propagation policy.
    Delete(StoryKind, Option<String>, &'static str),
    /// Make this many pods ready, one by one, or all at once; of one set or of all.
    Ready(Option<usize>, Option<usize>),
    /// Make one pod after the other ready until all are.
    ReadyEach,
    /// Make this many pods unready.
    Unready(usize, Option<usize>),
    /// Make this many pods fail.
    Fail(usize),
    /// Whether nodes remove terminating pods without a command.
    Termination(bool),
    /// Remove all terminating pods now.
    Terminate,
    /// Limit the number of pods.
    Quota(Option<u32>),
    /// Advance the time.
    Wait(u64),
}

/// The kinds of object in a story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoryKind {
    /// A Deployment.
    Deployment,
    /// A ReplicaSet.
    ReplicaSet,
    /// A Pod.
    Pod,
}

impl Command {
    /// Parses a line.
    pub fn parse(line: &str) -> Result<Self, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [verb, arguments @ ..] = words.as_slice() else { return Err("an empty line".to_owned()) };
        match (*verb, arguments) {
            ("deployment", [name, options @ ..]) => {
                Ok(Self::CreateDeployment(manifest::deployment(name, &pairs(options)?)?))
            }
            ("replicaset", [name, options @ ..]) => {
                Ok(Self::CreateReplicaSet(manifest::replica_set(name, &pairs(options)?)?))
            }
            ("apply", [file]) => Ok(Self::Apply((*file).to_owned())),
            ("image", [image]) => change_of(&[("image", image)]).map(Self::Change),
            ("scale", [n]) => change_of(&[("replicas", n)]).map(Self::Change),
            ("pause", []) => change_of(&[("paused", "true")]).map(Self::Change),
            ("resume", []) => change_of(&[("paused", "false")]).map(Self::Change),
            ("change", options @ [_, ..]) => change_of(&pairs(options)?).map(Self::Change),
            ("annotate", [key, value]) => Ok(Self::Change(manifest::annotation(key, value))),
            ("label", [key, value]) => Ok(Self::Change(manifest::label(key, value))),
            ("label-template", [key, value]) => Ok(Self::Change(manifest::template_label(key, value))),
            ("rollback", [revision]) => {
                Ok(Self::Change(manifest::annotation(gantry_model::keys::ROLLBACK_TO, revision)))
            }
            ("undo", []) => Ok(Self::Undo(None)),
            ("undo", ["to", set]) => Ok(Self::Undo(Some(number(set)?))),
            ("scale-set", [set, n]) => Ok(Self::ChangeSet(number(set)?, change_of(&[("replicas", n)])?)),
            ("label-set", [set, key, value]) => {
                Ok(Self::ChangeSet(number(set)?, manifest::label(key, value)))
            }
            ("label-pod", [pod, key, value]) => {
                Ok(Self::ChangePod(number(pod)?, manifest::label(key, value)))
            }
            ("cost", [pod, cost]) => {
                Ok(Self::ChangePod(number(pod)?, manifest::deletion_cost(number(cost)?)))
            }
            ("delete", arguments) => delete(arguments),
            ("ready", ["all"]) => Ok(Self::Ready(None, None)),
            ("ready", ["all", "of", set]) => Ok(Self::Ready(None, Some(number(set)?))),
            ("ready", ["each"]) => Ok(Self::ReadyEach),
            ("ready", [n]) => Ok(Self::Ready(Some(number(n)?), None)),
            ("ready", [n, "of", set]) => Ok(Self::Ready(Some(number(n)?), Some(number(set)?))),
            ("unready", [n]) => Ok(Self::Unready(number(n)?, None)),
            ("unready", [n, "of", set]) => Ok(Self::Unready(number(n)?, Some(number(set)?))),
            ("fail", [n]) => Ok(Self::Fail(number(n)?)),
            ("terminate", ["on"]) => Ok(Self::Termination(true)),
            ("terminate", ["off"]) => Ok(Self::Termination(false)),
            ("terminate", ["now"]) => Ok(Self::Terminate),
            ("quota", ["none"]) => Ok(Self::Quota(None)),
            ("quota", [n]) => Ok(Self::Quota(Some(number(n)?))),
            ("wait", [seconds]) => Ok(Self::Wait(number(seconds)?)),
            _ => Err(format!("unknown command `{line}`; the commands are:\n{USAGE}")),
        }
    }
}

fn delete(arguments: &[&str]) -> Result<Command, String> {
    let policy = |word: &str| match word {
        "background" => Some("Background"),
        "foreground" => Some("Foreground"),
        "orphan" => Some("Orphan"),
        _ => None,
    };
    let with_policy = arguments.split_last().and_then(|(last, rest)| Some((rest, policy(last)?)));
    let (arguments, propagation) = with_policy.unwrap_or((arguments, "Background"));
    let kind = match arguments.first() {
        Some(&"deployment") => StoryKind::Deployment,
        Some(&"set") => StoryKind::ReplicaSet,
        Some(&"pod") => StoryKind::Pod,
        _ => return Err("delete what: deployment, set or pod?".to_owned()),
    };
    Ok(Command::Delete(kind, arguments.get(1).map(|&name| name.to_owned()), propagation))
}

fn pairs<'a>(options: &[&'a str]) -> Result<Vec<(&'a str, &'a str)>, String> {
    let pair =
        |option: &&'a str| option.split_once('=').ok_or_else(|| format!("`{option}` should be KEY=VALUE"));
    options.iter().map(pair).collect()
}

pub(super) fn number<T: std::str::FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("`{value}` should be a number"))
}
