//! The snapshot of a CertificateSigningRequest, parsed.

use std::sync::Arc;
use std::time::Duration;

use gantry_certificates::{RequestedCertificate, lifetime};
use gantry_decide::certificates::{
    AlternativeName, CertificateSubject, IssuedCertificate, RequestCondition, SigningRequest,
};
use gantry_model::{ObjectKey, Timestamp};
use gantry_runtime::Informer;
use gantry_runtime::informer::Plain;
use k8s_openapi::api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestStatus};

use crate::context::Assembly;

#[derive(Clone, Debug)]
pub(super) struct Caches {
    pub(super) requests: Informer<Plain<CertificateSigningRequest>>,
}

/// A request as it was observed.
#[derive(Clone, Debug)]
pub(super) struct ObservedRequest {
    pub(super) wire: Arc<CertificateSigningRequest>,
    pub(super) requested: Option<RequestedCertificate>,
    pub(super) decided_on: SigningRequest,
}

impl Caches {
    pub(super) fn of(assembly: &mut Assembly<'_>) -> Self {
        Self { requests: assembly.informer() }
    }

    pub(super) fn observe(&self, key: &ObjectKey) -> Option<ObservedRequest> {
        let wire = self.requests.read().get(key).map(|request| Arc::clone(&request.wire))?;
        let requested = RequestedCertificate::parse(&wire.spec.request.0).ok();
        let decided_on = parse(&wire, requested.as_ref());
        Some(ObservedRequest { wire, requested, decided_on })
    }
}

fn parse(wire: &CertificateSigningRequest, requested: Option<&RequestedCertificate>) -> SigningRequest {
    let status = wire.status.as_ref();
    SigningRequest {
        signer: wire.spec.signer_name.clone(),
        requestor: wire.spec.username.clone().unwrap_or_default(),
        usages: wire.spec.usages.iter().flatten().cloned().collect(),
        lifetime: wire
            .spec
            .expiration_seconds
            .map(|seconds| Duration::from_secs(u64::try_from(seconds).unwrap_or(0))),
        subject: requested.map(subject),
        conditions: status.map(conditions).unwrap_or_default(),
        certificate: status.and_then(certificate),
        created: wire.metadata.creation_timestamp.as_ref().map(Timestamp::parse),
    }
}

fn subject(requested: &RequestedCertificate) -> CertificateSubject {
    let alternative_names = [
        (AlternativeName::Dns, requested.dns_names.is_empty()),
        (AlternativeName::Email, requested.emails.is_empty()),
        (AlternativeName::Ip, requested.ip_addresses.is_empty()),
        (AlternativeName::Uri, requested.uris.is_empty()),
    ];
    CertificateSubject {
        common_name: requested.common_name.clone(),
        organizations: requested.organizations.clone(),
        alternative_names: alternative_names
            .into_iter()
            .filter_map(|(kind, is_absent)| (!is_absent).then_some(kind))
            .collect(),
    }
}

fn conditions(status: &CertificateSigningRequestStatus) -> Vec<RequestCondition> {
    let conditions = status.conditions.iter().flatten().map(|condition| RequestCondition {
        kind: condition.type_.clone(),
        is_true: condition.status == "True",
        updated: condition.last_update_time.as_ref().map(Timestamp::parse),
    });
    conditions.collect()
}

fn certificate(status: &CertificateSigningRequestStatus) -> Option<IssuedCertificate> {
    let certificate = status.certificate.as_ref().filter(|certificate| !certificate.0.is_empty())?;
    let ends = lifetime(&certificate.0).map(|lifetime| Timestamp::from_secs(lifetime.ends));
    Some(IssuedCertificate { ends })
}
