//! Options of requests to delete objects.

use gantry_json::{Value, json};

use crate::{FieldError, Refusal};

/// What happens to the dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They are deleted after it.
    Background,
    /// They are deleted before it.
    Foreground,
    /// They are kept.
    Orphan,
}

/// The options of a request to delete an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// The grace period of a pod.
    pub grace_period_seconds: Option<i64>,
    /// What happens to the dependents.
    pub propagation: Option<Propagation>,
    /// Precondition: the object has this uid.
    pub uid: Option<String>,
    /// Precondition: the object is of this version.
    pub resource_version: Option<String>,
    /// Whether `orphanDependents: false` was sent, which gets a 202 while the object is being deleted.
    pub legacy_background: bool,
    /// Whether nothing is to be stored.
    pub dry_run: bool,
}

impl DeleteOptions {
    /// Parses options from a decoded body.
    pub fn parse(options: &Value) -> Result<Self, Refusal> {
        let legacy = options.get("orphanDependents").and_then(Value::as_bool);
        let policy = options.get("propagationPolicy").filter(|policy| !policy.is_null());
        let mut errors = Vec::new();
        if let (Some(_), Some(policy)) = (legacy, policy) {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            errors.push(FieldError::invalid("propagationPolicy", policy, why));
        }
        let propagation = match policy.map(|policy| (policy, policy.as_str())) {
            None => legacy.map(|orphan| if orphan { Propagation::Orphan } else { Propagation::Background }),
            Some((_, Some("Background"))) => Some(Propagation::Background),
            Some((_, Some("Foreground"))) => Some(Propagation::Foreground),
            Some((_, Some("Orphan"))) => Some(Propagation::Orphan),
            Some((policy, _)) => {
                let supported = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported("propagationPolicy", policy, &supported));
                None
            }
        };
        let dry_run = options.get("dryRun").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if dry_run.iter().any(|stage| stage != "All") {
            errors.push(FieldError::not_supported("dryRun", &json!(dry_run), &["All"]));
        }
        if !errors.is_empty() {
            return Err(Refusal::invalid("DeleteOptions", "meta.k8s.io", "", &errors));
        }
        let precondition = |field: &str| {
            let text = options.pointer(&format!("/preconditions/{field}")).and_then(Value::as_str);
            text.map(str::to_owned)
        };
        Ok(Self {
            grace_period_seconds: options.get("gracePeriodSeconds").and_then(Value::as_i64),
            propagation,
            uid: precondition("uid"),
            resource_version: precondition("resourceVersion"),
            legacy_background: legacy == Some(false),
            dry_run: !dry_run.is_empty(),
        })
    }
}
