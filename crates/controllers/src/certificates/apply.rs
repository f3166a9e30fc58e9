//! Checks permissions by access reviews, signs certificates, and writes the decisions.

use gantry_certificates::{Lifetime, SigningTerms};
use gantry_decide::Wake;
use gantry_decide::certificates::{self, APPROVED, FAILED, Signing};
use gantry_json::{Value, json};
use gantry_model::{Name, Timestamp};
use gantry_runtime::informer::{Plain, Typed as _};
use gantry_runtime::{DeleteParams, NoneIf as _, RequestError, ResourcePath};
use k8s_openapi::ByteString;
use k8s_openapi::api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition};

use super::observe::ObservedRequest;
use super::{ClusterSigner, Requests};

const GROUP: &str = "certificates.k8s.io";

impl Requests {
    /// Approves a request if its requestor has the permission for it; retries if not, because roles may change.
    pub(super) async fn approve(&self, observed: &ObservedRequest) -> Result<Wake, RequestError> {
        let rules = certificates::approval_rules(&observed.decided_on);
        for rule in &rules {
            if self.has_permission(&observed.wire, rule.subresource).await? {
                let approval = condition(APPROVED, "AutoApproved", rule.message, None);
                self.write(&observed.wire, "approval", Some(approval), None).await?;
                return Ok(Wake::OnChange);
            }
        }
        Ok(if rules.is_empty() { Wake::OnChange } else { Wake::Soon })
    }

    async fn has_permission(
        &self,
        request: &CertificateSigningRequest,
        subresource: &str,
    ) -> Result<bool, RequestError> {
        let spec = &request.spec;
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {
                "user": spec.username.clone().unwrap_or_default(), "uid": spec.uid.clone().unwrap_or_default(),
                "groups": spec.groups.clone().unwrap_or_default(), "extra": spec.extra.clone().unwrap_or_default(),
                "resourceAttributes": {
                    "group": GROUP, "version": "*", "resource": "certificatesigningrequests",
                    "subresource": subresource, "verb": "create",
                },
            },
        });
        let path = ResourcePath::path("/apis/authorization.k8s.io/v1/subjectaccessreviews");
        let response: Value = self.context.api.create(&path, &review).await?;
        Ok(response["status"]["allowed"] == true)
    }

    /// Signs a request, or records the reason why it is not signed.
    pub(super) async fn sign(
        &self,
        observed: &ObservedRequest,
        signer: &ClusterSigner,
    ) -> Result<Wake, RequestError> {
        let now = self.context.clock.now();
        let Some(requested) = &observed.requested else { return Ok(Wake::OnChange) };
        match certificates::signing(&observed.decided_on, signer.longest, now) {
            Signing::Nothing => {}
            Signing::Fail(why) => {
                let failed = condition(FAILED, "SignerValidationFailure", &why, Some(now));
                self.write(&observed.wire, "status", Some(failed), None).await?;
            }
            Signing::Sign { begins, ends } => {
                let usages = observed.wire.spec.usages.clone().unwrap_or_default();
                let lifetime = Lifetime { begins: seconds(begins), ends: seconds(ends) };
                match signer.authority.sign(requested, &SigningTerms { usages, lifetime }, seconds(now)) {
                    Ok(certificate) => self.write(&observed.wire, "status", None, Some(certificate)).await?,
                    Err(why) => {
                        let name = observed.wire.metadata.name.as_deref().unwrap_or_default();
                        tracing::warn!(request = name, why, "a certificate could not be signed");
                        return Ok(Wake::Soon);
                    }
                }
            }
        }
        Ok(Wake::OnChange)
    }

    /// Writes a subresource of a request. A request that changed or was deleted is synced again when the cache has the
    /// change.
    async fn write(
        &self,
        request: &CertificateSigningRequest,
        part: &str,
        added: Option<CertificateSigningRequestCondition>,
        certificate: Option<String>,
    ) -> Result<(), RequestError> {
        let mut request = request.clone();
        let name = Name::from(request.metadata.name.clone().unwrap_or_default().as_str());
        let status = request.status.get_or_insert_default();
        if let Some(added) = added {
            status.conditions.get_or_insert_default().push(added);
        }
        if let Some(certificate) = certificate {
            status.certificate = Some(ByteString(certificate.into_bytes()));
        }
        let written = self.context.api.replace::<Value>(&path(&name).part(part), &request).await;
        written.none_if_changed().map(drop)
    }

    pub(super) async fn delete(&self, name: &Name) -> Result<(), RequestError> {
        self.context.api.delete(&path(name), &DeleteParams::default()).await.none_if_absent().map(drop)
    }
}

fn path(name: &Name) -> ResourcePath {
    ResourcePath::object(&Plain::<CertificateSigningRequest>::resource(), None, name)
}

fn condition(
    kind: &str,
    reason: &str,
    message: &str,
    updated: Option<Timestamp>,
) -> CertificateSigningRequestCondition {
    CertificateSigningRequestCondition {
        type_: kind.to_owned(),
        status: "True".to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        last_update_time: updated.map(Timestamp::render),
        last_transition_time: None,
    }
}

fn seconds(at: Timestamp) -> i64 {
    at.as_nanos().div_euclid(1_000_000_000)
}
