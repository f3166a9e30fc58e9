//! Taints of nodes and tolerations of pods.

use k8s_openapi::api::core::v1 as wire;

pub(super) const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
pub(super) const NOT_READY: &str = "node.kubernetes.io/not-ready";
pub(super) const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taint {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    NoSchedule,
    NoExecute,
    PreferNoSchedule,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Toleration {
    /// `None` tolerates every key.
    key: Option<String>,
    matches: Match,
    /// `None` tolerates every effect.
    effect: Option<Effect>,
}

/// How values compare.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Match {
    Any,
    Equal(String),
    Less(i64),
    Greater(i64),
    /// The operator is unknown or its value is not a number.
    Never,
}

impl Taint {
    pub(super) fn new(key: &str, effect: Effect) -> Self {
        Self { key: key.to_owned(), value: String::new(), effect }
    }

    /// `None` for an unknown effect.
    pub(super) fn parse(taint: &wire::Taint) -> Option<Self> {
        let effect = Effect::parse(&taint.effect)?;
        Some(Self { key: taint.key.clone(), value: taint.value.clone().unwrap_or_default(), effect })
    }

    /// Whether it excludes pods; `PreferNoSchedule` only lowers the score.
    pub(super) fn is_hard(&self) -> bool {
        self.effect != Effect::PreferNoSchedule
    }

    pub(super) fn is_tolerated(&self, tolerations: &[Toleration]) -> bool {
        tolerations.iter().any(|toleration| toleration.covers(self))
    }
}

impl Effect {
    fn parse(written: &str) -> Option<Self> {
        match written {
            "NoSchedule" => Some(Self::NoSchedule),
            "NoExecute" => Some(Self::NoExecute),
            "PreferNoSchedule" => Some(Self::PreferNoSchedule),
            _ => None,
        }
    }
}

impl Toleration {
    pub(super) fn parse(toleration: &wire::Toleration) -> Self {
        let text = |field: &Option<String>| field.clone().filter(|text| !text.is_empty());
        let value = toleration.value.clone().unwrap_or_default();
        let matches = match toleration.operator.as_deref() {
            Some("Exists") => Match::Any,
            None | Some("" | "Equal") => Match::Equal(value),
            Some("Lt") => value.parse().map_or(Match::Never, Match::Less),
            Some("Gt") => value.parse().map_or(Match::Never, Match::Greater),
            Some(_) => Match::Never,
        };
        let effect = text(&toleration.effect);
        match effect.as_deref().map(Effect::parse) {
            Some(None) => Self { key: None, matches: Match::Never, effect: None },
            known => Self { key: text(&toleration.key), matches, effect: known.flatten() },
        }
    }

    fn covers(&self, taint: &Taint) -> bool {
        let number = || taint.value.parse::<i64>().ok();
        self.effect.is_none_or(|effect| effect == taint.effect)
            && self.key.as_ref().is_none_or(|key| *key == taint.key)
            && match &self.matches {
                Match::Any => true,
                Match::Equal(value) => *value == taint.value,
                Match::Less(bound) => number().is_some_and(|value| value < *bound),
                Match::Greater(bound) => number().is_some_and(|value| value > *bound),
                Match::Never => false,
            }
    }
}
