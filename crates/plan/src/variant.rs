//! Variants of a change: the same objects with another strategy.

use std::fmt;
use std::str::FromStr;

use gantry_json::{Value, json};
use gantry_kubectl::Manifest;

/// Another strategy for the Deployments of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// The strategy as written.
    #[default]
    AsWritten,
    /// `Recreate`.
    Recreate,
    /// `RollingUpdate` with other limits; those that are not given stay as written.
    RollingUpdate {
        /// `maxSurge`, such as `1` or `25%`.
        max_surge: Option<String>,
        /// `maxUnavailable`.
        max_unavailable: Option<String>,
    },
}

impl Variant {
    /// The objects with this strategy.
    pub(crate) fn applied_to(&self, mut manifests: Vec<Manifest>) -> Vec<Manifest> {
        for manifest in manifests.iter_mut().filter(|manifest| manifest.object["kind"] == "Deployment") {
            let spec = &mut manifest.object["spec"];
            match self {
                Self::AsWritten => {}
                Self::Recreate => spec["strategy"] = json!({"type": "Recreate"}),
                Self::RollingUpdate { max_surge, max_unavailable } => {
                    let mut limits = match &spec["strategy"]["rollingUpdate"] {
                        limits @ Value::Object(_) => limits.clone(),
                        _ => json!({}),
                    };
                    for (name, limit) in [("maxSurge", max_surge), ("maxUnavailable", max_unavailable)] {
                        if let Some(limit) = limit {
                            limits[name] = number_or_percentage(limit);
                        }
                    }
                    spec["strategy"] = json!({"type": "RollingUpdate", "rollingUpdate": limits});
                }
            }
        }
        manifests
    }
}

fn number_or_percentage(limit: &str) -> Value {
    limit.parse::<i32>().map_or_else(|_| json!(limit), |number| json!(number))
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("recreate") {
            return Ok(Self::Recreate);
        }
        let (mut max_surge, mut max_unavailable) = (None, None);
        for part in text.split(',') {
            let invalid = || format!("{part:?} is not Recreate, maxSurge=LIMIT or maxUnavailable=LIMIT");
            let (name, limit) = part.split_once('=').ok_or_else(invalid)?;
            let digits = limit.strip_suffix('%').unwrap_or(limit);
            if digits.parse::<u32>().is_err() {
                return Err(format!(
                    "{name}: {limit:?} is not a number of pods such as 2, or a percentage such as 25%"
                ));
            }
            match name {
                "maxSurge" => max_surge = Some(limit.to_owned()),
                "maxUnavailable" => max_unavailable = Some(limit.to_owned()),
                _ => return Err(invalid()),
            }
        }
        Ok(Self::RollingUpdate { max_surge, max_unavailable })
    }
}

/// The text as it is written for `--compare`; empty for [`Variant::AsWritten`].
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsWritten => Ok(()),
            Self::Recreate => f.write_str("Recreate"),
            Self::RollingUpdate { max_surge, max_unavailable } => {
                let limits = [("maxSurge", max_surge), ("maxUnavailable", max_unavailable)];
                let given =
                    limits.iter().filter_map(|(name, limit)| Some(format!("{name}={}", limit.as_ref()?)));
                f.write_str(&given.collect::<Vec<_>>().join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_are_parsed_and_printed() {
        for text in ["Recreate", "maxSurge=1", "maxSurge=100%,maxUnavailable=0"] {
            assert_eq!(text.parse::<Variant>().unwrap().to_string(), text);
        }
        assert_eq!("recreate".parse(), Ok(Variant::Recreate));
        let error = |text: &str| text.parse::<Variant>().unwrap_err();
        assert_eq!(
            error("maxSurge=many"),
            "maxSurge: \"many\" is not a number of pods such as 2, or a percentage such as 25%"
        );
        assert_eq!(error("surge=1"), "\"surge=1\" is not Recreate, maxSurge=LIMIT or maxUnavailable=LIMIT");
    }

    #[test]
    fn limits_that_are_not_given_stay_as_in_the_manifest() {
        let object = json!({"kind": "Deployment", "spec": {"strategy": {"rollingUpdate": {"maxSurge": 3, "maxUnavailable": 2}}}});
        let manifest = Manifest { source: "web.yaml".to_owned(), object };
        let variant: Variant = "maxSurge=50%".parse().unwrap();
        let varied = variant.applied_to(vec![manifest]);
        let limits = &varied[0].object["spec"]["strategy"]["rollingUpdate"];
        assert_eq!(*limits, json!({"maxSurge": "50%", "maxUnavailable": 2}));
    }
}
