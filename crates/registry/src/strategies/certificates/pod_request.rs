//! The strategy of PodCertificateRequests: their spec never changes.

use gantry_json::{Value, json};
use gantry_primitives::names::{NameValidator, subdomain};

use super::validate_signer_name;
use crate::defaults::setting::{child, default};
use crate::lifecycle::{Part, keep};
use crate::selector::fields::{self, SelectableFields};
use crate::strategies::KindStrategy;
use crate::table::column::TableColumn;
use crate::table::{Rows, cell, column};
use crate::validation::error_list::{ErrorList, Path, is_set, number, text};
use crate::validation::status;

const COLUMNS: &[TableColumn] = &[
    column::NAME,
    column::text("PodName").text_at("spec.podName"),
    column::text("ServiceAccountName").text_at("spec.serviceAccountName"),
    column::text("NodeName").text_at("spec.nodeName"),
    column::text("SignerName").text_at("spec.signerName"),
    column::text("State").computed(|object, _| {
        json!(
            ["Denied", "Failed", "Issued"]
                .into_iter()
                .find(|kind| cell::has_condition(object, kind, "True"))
                .unwrap_or("Pending")
        )
    }),
    column::text("UnverifiedUserAnnotations").labels_at("spec.unverifiedUserAnnotations"),
];

const UID_MAX_BYTES: usize = 128;
const EXPIRATION_SECONDS_DEFAULT: i64 = 24 * 3600;
const EXPIRATION_SECONDS_MIN: i64 = 3600;
const EXPIRATION_SECONDS_MAX: i64 = 91 * 24 * 3600;
/// Signers of Kubernetes issue certificates for a day at most.
const KUBERNETES_EXPIRATION_SECONDS_MAX: i64 = 24 * 3600;

pub(crate) const STRATEGY: KindStrategy = KindStrategy {
    defaults: |request| {
        if let Some(spec) = child(request, "spec") {
            default(spec, "maxExpirationSeconds", EXPIRATION_SECONDS_DEFAULT);
        }
    },
    initial_status: |_| Some(json!({})),
    prepare: |part, old, new| {
        if let (Part::Status, Some(old)) = (part, old) {
            keep(old, new, "spec");
        }
    },
    validate: |errors, _, old, new| match old {
        None => validate_new(errors, &new["spec"]),
        Some(old) => errors.unchanged(&Path::new("spec"), old["spec"] == new["spec"]),
    },
    validate_status: |errors, _, _, new| {
        status::conditions(errors, crate::validation::error_list::list(&new["status"], "conditions"));
    },
    rows: Rows::new(COLUMNS),
    selectable: SelectableFields::new(&[
        fields::NAME,
        fields::NAMESPACE,
        fields::text("spec.nodeName"),
        fields::text("spec.podName"),
        fields::text("spec.signerName"),
    ]),
    ..KindStrategy::DEFAULT
};

/// Validates the form of a request; whether its key is the requestor's is not verified, because nothing signs it here.
fn validate_new(errors: &mut ErrorList, spec: &Value) {
    let at = Path::new("spec");
    let signer = text(spec, "signerName");
    validate_signer_name(errors, &at.child("signerName"), signer);
    let validator: NameValidator = subdomain;
    for (name, uid) in
        [("podName", "podUID"), ("serviceAccountName", "serviceAccountUID"), ("nodeName", "nodeUID")]
    {
        errors.invalid_text(&at.child(name), text(spec, name), validator(text(spec, name)));
        if text(spec, uid).is_empty() {
            errors.invalid(&at.child(uid), &json!(""), "must not be empty");
        }
        if text(spec, uid).len() > UID_MAX_BYTES {
            errors.too_long(&at.child(uid), UID_MAX_BYTES);
        }
    }
    let Some(seconds) = number(spec, "maxExpirationSeconds") else {
        return errors.required(&at.child("maxExpirationSeconds"), "must be set");
    };
    let is_ours = signer
        .split('/')
        .next()
        .is_some_and(|domain| domain == "kubernetes.io" || domain.ends_with(".kubernetes.io"));
    let most = if is_ours { KUBERNETES_EXPIRATION_SECONDS_MAX } else { EXPIRATION_SECONDS_MAX };
    if !(EXPIRATION_SECONDS_MIN..=most).contains(&seconds) {
        let why = format!("must be in the range [{EXPIRATION_SECONDS_MIN}, {most}]");
        errors.invalid(&at.child("maxExpirationSeconds"), &json!(seconds), why);
    }
    let has_request = is_set(spec, "stubPKCS10Request");
    let has_key = is_set(spec, "pkixPublicKey") && is_set(spec, "proofOfPossession");
    if has_request == has_key {
        let why = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
        errors.invalid_formatted(&at, String::new(), why);
    }
}
