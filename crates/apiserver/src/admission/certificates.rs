//! Admission of CertificateSigningRequests: sets the requestor, validates the request, and checks permissions to approve and sign.
//!
//! These are the admission plugins CertificateApproval, CertificateSigning and CertificateSubjectRestriction of Kubernetes, the
//! part of NodeRestriction about requests of nodes, and the part of validation that parses certificates.

use gantry_certificates::{RequestedCertificate, check_certificates, trust_anchor_problems};
use gantry_formats::base64;
use gantry_json::{Value, json};
use gantry_primitives::{FieldError, Timestamp};
use gantry_registry::access::{MASTERS, RequestAttributes, RequestTarget, Verdict};
use gantry_registry::lifecycle::Part;
use gantry_registry::strategies::certificates::signing_request;
use gantry_registry::validation::ValidationReport;
use gantry_schema::kinds::Kind;

use crate::authorization::Caller;
use crate::error::ApiError;
use crate::objects::ObjectRef;

/// The API group of requests and signers.
const GROUP: &str = "certificates.k8s.io";
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";
/// The signers of nodes, which may request certificates for themselves only.
const NODE_SIGNERS: [&str; 2] =
    ["kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"];

fn is_request(kind: &Kind) -> bool {
    kind.group == GROUP && kind.kind == "CertificateSigningRequest"
}

fn is_bundle(kind: &Kind) -> bool {
    kind.group == GROUP && kind.kind == "ClusterTrustBundle"
}

/// Writes the user who makes the request into a new CertificateSigningRequest.
pub(crate) fn set_requestor(kind: &Kind, caller: &Caller, object: &mut Value) {
    if is_request(kind) {
        signing_request::set_requestor(object, &caller.user);
    }
}

/// Sets the times of conditions that a write omitted.
pub(crate) fn set_condition_times(
    kind: &Kind,
    part: Part,
    stored: &Value,
    object: &mut Value,
    now: Timestamp,
) {
    if is_request(kind) && matches!(part, Part::Status | Part::Approval) {
        signing_request::set_condition_times(stored, object, now);
    }
}

/// Adds the errors of the request in a new object to the errors of its other fields.
pub(crate) fn with_request(kind: &Kind, object: &Value, mut report: ValidationReport) -> ValidationReport {
    if is_request(kind)
        && let Err(why) = requested(object).and_then(|requested| requested.verify())
    {
        let wrong = FieldError::invalid("spec.request", &json!(request_text(object)), why);
        let place = report.errors.iter().take_while(|error| error.field.starts_with("metadata")).count();
        report.errors.insert(place, wrong);
    }
    with_anchors(kind, None, object, report)
}

/// Adds the errors of the certificates of a bundle that is new or has changed certificates.
fn with_anchors(
    kind: &Kind,
    stored: Option<&Value>,
    object: &Value,
    mut report: ValidationReport,
) -> ValidationReport {
    let field = "trustBundle";
    if is_bundle(kind) && stored.is_none_or(|stored| stored["spec"][field] != object["spec"][field]) {
        let text = object["spec"][field].as_str().unwrap_or_default();
        let wrong = |why| FieldError::invalid("spec.trustBundle", &json!("<value omitted>"), why);
        report.errors.extend(trust_anchor_problems(text.as_bytes()).into_iter().map(wrong));
    }
    report
}

/// Adds the errors of the certificate in a changed object.
pub(crate) fn with_certificate(
    kind: &Kind,
    stored: &Value,
    object: &Value,
    mut report: ValidationReport,
) -> ValidationReport {
    let certificate = |object: &Value| bytes(&object["status"]["certificate"]);
    if is_request(kind) && stored["status"]["certificate"] != object["status"]["certificate"] {
        let found = certificate(object);
        if !found.is_empty()
            && certificate(stored).is_empty()
            && let Err(why) = check_certificates(&found)
        {
            let wrong = FieldError::invalid("status.certificate", &json!("<certificate data>"), why);
            report.errors.push(wrong);
        }
    }
    with_anchors(kind, Some(stored), object, report)
}

/// Returns 403 for a bundle of a signer for which the caller may not attest.
fn check_bundle(
    caller: &Caller,
    object_ref: ObjectRef<'_>,
    stored: Option<&Value>,
    object: &Value,
) -> Result<(), ApiError> {
    let signer = signer_of(object);
    let is_changed = stored.is_none_or(|stored| stored["spec"] != object["spec"]);
    if !is_bundle(object_ref.kind) || signer.is_empty() || !is_changed || may(caller, "attest", signer) {
        return Ok(());
    }
    Err(ApiError::forbidden(object_ref, format!("user not permitted to attest for signerName {signer:?}")))
}

/// Returns 403 for a valid request that is not allowed: for the administrators' group, or by a node for the certificate of
/// another one.
pub(crate) fn check_create(
    caller: &Caller,
    object_ref: ObjectRef<'_>,
    object: &Value,
) -> Result<(), ApiError> {
    check_bundle(caller, object_ref, None, object)?;
    if !is_request(object_ref.kind) {
        return Ok(());
    }
    let signer = signer_of(object);
    let forbidden = |why: String| Err(ApiError::forbidden(object_ref, why));
    let Ok(requested) = requested(object) else { return Ok(()) };
    if signer == CLIENT_SIGNER && requested.organizations.iter().any(|group| group == MASTERS) {
        return forbidden(format!("use of {CLIENT_SIGNER} signer with {MASTERS} group is not allowed"));
    }
    match caller.node() {
        Some(node)
            if NODE_SIGNERS.contains(&signer) && requested.common_name != format!("system:node:{node}") =>
        {
            forbidden(format!("can only create a node CSR with CN=system:node:{node}"))
        }
        _ => Ok(()),
    }
}

/// Returns 403 if the caller may not approve or sign for the signer of the stored request.
pub(crate) fn check_update(
    caller: &Caller,
    object_ref: ObjectRef<'_>,
    part: Part,
    stored: &Value,
    object: &Value,
) -> Result<(), ApiError> {
    check_bundle(caller, object_ref, Some(stored), object)?;
    let verb = match part {
        Part::Approval => "approve",
        Part::Status if is_status_changed(stored, object) => "sign",
        _ => return Ok(()),
    };
    let signer = signer_of(stored);
    if !is_request(object_ref.kind) || may(caller, verb, signer) {
        return Ok(());
    }
    let why = format!("user not permitted to {verb} requests with signerName {signer:?}");
    Err(ApiError::forbidden(object_ref, why))
}

fn is_status_changed(stored: &Value, object: &Value) -> bool {
    let fields = ["certificate", "conditions"];
    fields.iter().any(|field| stored["status"][*field] != object["status"][*field])
}

/// Whether the caller may do this for the signer, or for all signers of its domain.
fn may(caller: &Caller, verb: &str, signer: &str) -> bool {
    let domain = signer.split('/').next().unwrap_or_default();
    [signer.to_owned(), format!("{domain}/*")].into_iter().any(|name| {
        let target = RequestTarget::Resource {
            group: GROUP.to_owned(),
            resource: "signers".to_owned(),
            subresource: None,
            namespace: None,
            name: Some(name),
        };
        let request = RequestAttributes { verb: verb.to_owned(), target };
        matches!(caller.permissions.authorize(&caller.user, &request), Verdict::Allowed(_))
    })
}

fn signer_of(object: &Value) -> &str {
    object["spec"]["signerName"].as_str().unwrap_or_default()
}

fn request_text(object: &Value) -> &str {
    object["spec"]["request"].as_str().unwrap_or_default()
}

fn requested(object: &Value) -> Result<RequestedCertificate, String> {
    RequestedCertificate::parse(&bytes(&object["spec"]["request"]))
}

/// The bytes of a field, which decoding has checked to be base64.
fn bytes(value: &Value) -> Vec<u8> {
    base64::decode(value.as_str().unwrap_or_default()).unwrap_or_default()
}
