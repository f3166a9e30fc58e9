//! The traits of simulated containers.

use std::fmt;

use super::DurationRange;

/// The behaviour of the containers of an image or a pod; traits that are not set are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Whether the image can be pulled.
    pub pull: Option<Pull>,
    /// How long a pull takes.
    pub pull_seconds: Option<DurationRange>,
    /// How long it takes from the end of the pull until the container runs.
    pub start_seconds: Option<DurationRange>,
    /// Whether it becomes ready.
    pub ready: Option<Ready>,
    /// How long it takes from its start until it would pass a probe.
    pub ready_seconds: Option<DurationRange>,
    /// The interval at which readiness alternates.
    pub flap_seconds: Option<DurationRange>,
    /// How long it runs before it exits without being stopped.
    pub crash_after: Option<DurationRange>,
    /// The percentage of pods whose containers exit without being stopped; all of them if it is not set.
    pub crash_percent: Option<u8>,
    /// The exit code.
    pub exit_code: Option<i32>,
    /// How long it runs before it is killed for using more memory than its limit.
    pub oom_after: Option<DurationRange>,
    /// Whether its startup probe passes.
    pub startup: Option<Ready>,
    /// How long it runs before its liveness probe fails.
    pub liveness_fails_after: Option<DurationRange>,
    /// How long an init container runs before it exits without being stopped.
    pub init_crash_after: Option<DurationRange>,
    /// The code an init container exits with.
    pub init_exit_code: Option<i32>,
    /// How long it takes to exit after the termination signal.
    pub terminate_seconds: Option<DurationRange>,
}

gantry_formats::text_enum! {
    /// Whether an image can be pulled.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Pull {
        /// The pull succeeds.
        Works = "works",
        /// The registry does not have it.
        Fails = "fails",
        /// The image is already on the node.
        Present = "present",
    }

    fn parse(text: &str) -> Option<Self>;
}

gantry_formats::text_enum! {
    /// Whether a container becomes ready.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Ready {
        /// It becomes ready.
        Eventually = "eventually",
        /// It runs and never becomes ready.
        Never = "never",
    }

    fn parse(text: &str) -> Option<Self>;
}

/// An unknown trait or an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidTrait {
    /// No trait has this name.
    Unknown {
        /// The unknown name.
        name: String,
    },
    /// The value is invalid.
    Value {
        /// The trait.
        name: &'static str,
        /// The invalid value.
        value: String,
        /// A description of valid values.
        wanted: &'static str,
    },
}

/// All names, with a description of their values.
const NAMES: [(&str, &str); 15] = [
    ("image-pull", "works, fails or present"),
    ("pull-seconds", SECONDS),
    ("start-seconds", SECONDS),
    ("ready", "eventually or never"),
    ("ready-seconds", SECONDS),
    ("flap-seconds", SECONDS),
    ("crash-after", SECONDS),
    ("crash-percent", PERCENT),
    ("exit-code", CODE),
    ("oom-after", SECONDS),
    ("startup", "eventually or never"),
    ("liveness-fails-after", SECONDS),
    ("init-crash-after", SECONDS),
    ("init-exit-code", CODE),
    ("terminate-seconds", SECONDS),
];
const CODE: &str = "a number from 0 to 255";
const PERCENT: &str = "a number from 0 to 100";
const SECONDS: &str = "a number of seconds such as 2.5, or a range such as 1..3";

impl Traits {
    /// Sets a trait by its name in profiles and annotations:
    ///
    /// | Name | Value | Meaning |
    /// |---|---|---|
    /// | `image-pull` | `works`, `fails`, `present` | whether the image can be pulled, or is on the node already |
    /// | `pull-seconds` | seconds | how long a pull takes |
    /// | `start-seconds` | seconds | from the end of the pull until the container runs |
    /// | `ready` | `eventually`, `never` | whether it becomes ready |
    /// | `ready-seconds` | seconds | from its start until it would pass a probe |
    /// | `flap-seconds` | seconds | the interval at which readiness alternates |
    /// | `crash-after` | seconds | from its start until it exits by itself |
    /// | `crash-percent` | 0 to 100 | the percentage of pods that exit by themselves; default 100 |
    /// | `exit-code` | 0 to 255 | the exit code; default 1 |
    /// | `oom-after` | seconds | from its start until it is killed for using too much memory |
    /// | `startup` | `eventually`, `never` | whether its startup probe passes |
    /// | `liveness-fails-after` | seconds | from its start until its liveness probe fails |
    /// | `init-crash-after` | seconds | from the start of an init container until it exits by itself |
    /// | `init-exit-code` | 0 to 255 | the exit code; default 1 |
    /// | `terminate-seconds` | seconds | from the termination signal until it exits |
    ///
    /// Seconds are a number such as `2.5`, or a range such as `1..3` from which each pod gets its own.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), InvalidTrait> {
        let Some((name, wanted)) = NAMES.into_iter().find(|(known, _)| *known == name) else {
            return Err(InvalidTrait::Unknown { name: name.to_owned() });
        };
        let parsed = match name {
            "image-pull" => assign(&mut self.pull, Pull::parse(value)),
            "pull-seconds" => assign(&mut self.pull_seconds, DurationRange::parse(value)),
            "start-seconds" => assign(&mut self.start_seconds, DurationRange::parse(value)),
            "ready" => assign(&mut self.ready, Ready::parse(value)),
            "ready-seconds" => assign(&mut self.ready_seconds, DurationRange::parse(value)),
            "flap-seconds" => {
                assign(&mut self.flap_seconds, DurationRange::parse(value).filter(DurationRange::is_positive))
            }
            "crash-after" => assign(&mut self.crash_after, DurationRange::parse(value)),
            "crash-percent" => assign(&mut self.crash_percent, percent(value)),
            "exit-code" => assign(&mut self.exit_code, exit_code(value)),
            "oom-after" => assign(&mut self.oom_after, DurationRange::parse(value)),
            "startup" => assign(&mut self.startup, Ready::parse(value)),
            "liveness-fails-after" => assign(&mut self.liveness_fails_after, DurationRange::parse(value)),
            "init-crash-after" => assign(&mut self.init_crash_after, DurationRange::parse(value)),
            "init-exit-code" => assign(&mut self.init_exit_code, exit_code(value)),
            _ => assign(&mut self.terminate_seconds, DurationRange::parse(value)),
        };
        parsed.ok_or_else(|| InvalidTrait::Value { name, value: value.to_owned(), wanted })
    }

    /// Returns these traits, overridden by those that `other` sets.
    #[must_use]
    pub fn overlaid(self, other: &Self) -> Self {
        Self {
            pull: other.pull.or(self.pull),
            pull_seconds: other.pull_seconds.or(self.pull_seconds),
            start_seconds: other.start_seconds.or(self.start_seconds),
            ready: other.ready.or(self.ready),
            ready_seconds: other.ready_seconds.or(self.ready_seconds),
            flap_seconds: other.flap_seconds.or(self.flap_seconds),
            crash_after: other.crash_after.or(self.crash_after),
            crash_percent: other.crash_percent.or(self.crash_percent),
            exit_code: other.exit_code.or(self.exit_code),
            oom_after: other.oom_after.or(self.oom_after),
            startup: other.startup.or(self.startup),
            liveness_fails_after: other.liveness_fails_after.or(self.liveness_fails_after),
            init_crash_after: other.init_crash_after.or(self.init_crash_after),
            init_exit_code: other.init_exit_code.or(self.init_exit_code),
            terminate_seconds: other.terminate_seconds.or(self.terminate_seconds),
        }
    }

    /// Returns the traits that apply to init containers, which do not crash or flap with the pod's main containers.
    #[must_use]
    pub(crate) fn for_init_containers(&self) -> Self {
        Self {
            pull: self.pull,
            pull_seconds: self.pull_seconds,
            crash_after: self.init_crash_after,
            exit_code: self.init_exit_code,
            ..Self::default()
        }
    }
}

fn exit_code(text: &str) -> Option<i32> {
    text.parse::<u8>().ok().map(i32::from)
}

fn percent(text: &str) -> Option<u8> {
    text.parse().ok().filter(|percent| *percent <= 100)
}

fn assign<T>(field: &mut Option<T>, value: Option<T>) -> Option<()> {
    *field = Some(value?);
    Some(())
}

impl fmt::Display for InvalidTrait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name } => {
                let known: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
                write!(f, "{name}: unknown trait; the traits are {}", known.join(", "))
            }
            Self::Value { name, value, wanted } => write!(f, "{name}: {value:?} is not {wanted}"),
        }
    }
}

impl std::error::Error for InvalidTrait {}
