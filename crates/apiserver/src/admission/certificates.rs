//! Admission of CertificateSigningRequests and ClusterTrustBundles: validates the certificates in them, and checks permissions to
//! approve, sign and attest.
//!
//! These are the admission plugins CertificateApproval, CertificateSigning and CertificateSubjectRestriction of Kubernetes, the
//! part of NodeRestriction about requests of nodes, and the part of validation that parses certificates.

use gantry_certificates::{RequestedCertificate, check_certificates, trust_anchor_problems};
use gantry_formats::base64;
use gantry_json::{Value, json};
use gantry_primitives::FieldError;
use gantry_registry::access::{MASTERS, RequestAttributes, RequestTarget, Verdict};
use gantry_registry::lifecycle::Part;
use gantry_registry::validation::ValidationReport;

use crate::authorization::Caller;
use crate::error::ApiError;
use crate::objects::ObjectRef;

/// The API group of requests and signers.
const GROUP: &str = "certificates.k8s.io";
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";
/// The signers of nodes, which may request certificates for themselves only.
const NODE_SIGNERS: [&str; 2] =
    ["kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"];

/// Adds the errors of the request in a new object to the errors of its other fields, or those of the certificate in a changed one.
pub(super) fn validate_request(stored: Option<&Value>, object: &Value, report: &mut ValidationReport) {
    let Some(stored) = stored else {
        if let Err(why) = requested(object).and_then(|requested| requested.verify()) {
            let wrong = FieldError::invalid("spec.request", &json!(request_text(object)), why);
            let place = report.errors.iter().take_while(|error| error.field.starts_with("metadata")).count();
            report.errors.insert(place, wrong);
        }
        return;
    };
    let certificate = |object: &Value| bytes(&object["status"]["certificate"]);
    if stored["status"]["certificate"] != object["status"]["certificate"] {
        let found = certificate(object);
        if !found.is_empty()
            && certificate(stored).is_empty()
            && let Err(why) = check_certificates(&found)
        {
            let wrong = FieldError::invalid("status.certificate", &json!("<certificate data>"), why);
            report.errors.push(wrong);
        }
    }
}

/// Adds the errors of the certificates of a bundle that is new or has changed certificates.
pub(super) fn validate_bundle(stored: Option<&Value>, object: &Value, report: &mut ValidationReport) {
    let field = "trustBundle";
    if stored.is_none_or(|stored| stored["spec"][field] != object["spec"][field]) {
        let text = object["spec"][field].as_str().unwrap_or_default();
        let wrong = |why| FieldError::invalid("spec.trustBundle", &json!("<value omitted>"), why);
        report.errors.extend(trust_anchor_problems(text.as_bytes()).into_iter().map(wrong));
    }
}

/// Returns 403 for a bundle of a signer for which the caller may not attest.
pub(super) fn check_bundle(
    caller: &Caller,
    object_ref: ObjectRef<'_>,
    stored: Option<&Value>,
    object: &Value,
) -> Result<(), ApiError> {
    let signer = signer_of(object);
    let is_changed = stored.is_none_or(|stored| stored["spec"] != object["spec"]);
    if signer.is_empty() || !is_changed || may(caller, "attest", signer) {
        return Ok(());
    }
    Err(ApiError::forbidden(object_ref, format!("user not permitted to attest for signerName {signer:?}")))
}

/// Returns 403 for a valid request that is not allowed: for the administrators' group, or by a node for the certificate of
/// another one.
pub(super) fn check_new_request(
    caller: &Caller,
    object_ref: ObjectRef<'_>,
    object: &Value,
) -> Result<(), ApiError> {
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
pub(super) fn check_changed_request(
    caller: &Caller,
    object_ref: ObjectRef<'_>,
    part: Part,
    stored: &Value,
    object: &Value,
) -> Result<(), ApiError> {
    let verb = match part {
        Part::Approval => "approve",
        Part::Status if is_status_changed(stored, object) => "sign",
        _ => return Ok(()),
    };
    let signer = signer_of(stored);
    if may(caller, verb, signer) {
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
