//! What a node has against pods, and what pods do not mind.

use k8s_openapi::api::core::v1 as wire;

/// A node that is not to get new pods.
pub(super) const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// A node that says it is not ready.
pub(super) const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// A node that says nothing any more.
pub(super) const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// Something that keeps pods off a node unless they tolerate it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taint {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) effect: Effect,
}

/// How strongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// No new pods.
    NoSchedule,
    /// Neither new pods nor those that are there.
    NoExecute,
    /// Rather not.
    PreferNoSchedule,
}

/// What a pod does not mind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Toleration {
    /// Every key if there is none.
    key: Option<String>,
    matches: Match,
    /// Every effect if there is none.
    effect: Option<Effect>,
}

/// How values compare.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Match {
    Any,
    Equal(String),
    Less(i64),
    Greater(i64),
    /// The operator is unknown or its value is no number.
    Never,
}

impl Taint {
    pub(super) fn new(key: &str, effect: Effect) -> Self {
        Self { key: key.to_owned(), value: String::new(), effect }
    }

    /// Reads a taint; one with an effect that nobody knows has none.
    pub(super) fn parse(taint: &wire::Taint) -> Option<Self> {
        let effect = Effect::parse(&taint.effect)?;
        Some(Self { key: taint.key.clone(), value: taint.value.clone().unwrap_or_default(), effect })
    }

    /// Whether it keeps pods away, rather than only being disliked.
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
