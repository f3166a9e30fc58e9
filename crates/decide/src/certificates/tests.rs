//! Requests that are approved, signed, rejected and deleted.

use super::*;

const NOW: Timestamp = Timestamp::from_secs(1_000_000);
const HOUR: Duration = Duration::from_secs(3600);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

fn of_node(requestor: &str) -> SigningRequest {
    SigningRequest {
        signer: NODE_CLIENT_SIGNER.to_owned(),
        requestor: requestor.to_owned(),
        usages: ["digital signature", "client auth"].map(str::to_owned).into(),
        lifetime: None,
        subject: Some(CertificateSubject {
            common_name: "system:node:a".to_owned(),
            organizations: vec!["system:nodes".to_owned()],
            ..CertificateSubject::default()
        }),
        conditions: Vec::new(),
        certificate: None,
        created: Some(NOW),
    }
}

fn with(mut request: SigningRequest, kind: &str, updated: Timestamp) -> SigningRequest {
    request.conditions.push(RequestCondition {
        kind: kind.to_owned(),
        is_true: true,
        updated: Some(updated),
    });
    request
}

fn subresources(request: &SigningRequest) -> Vec<&'static str> {
    approval_rules(request).iter().map(|rule| rule.subresource).collect()
}

#[test]
fn a_node_that_joins_needs_another_permission_than_one_that_renews() {
    assert_eq!(subresources(&of_node("system:bootstrap:abcdef")), ["nodeclient"]);
    assert_eq!(subresources(&of_node("system:node:a")), ["selfnodeclient", "nodeclient"]);
    assert_eq!(subresources(&of_node("system:node:b")), ["nodeclient"], "another node's certificate");
}

#[test]
fn only_client_certificates_of_nodes_are_approved_automatically() {
    let changes: [fn(&mut SigningRequest); 6] = [
        |request| request.signer = CLIENT_SIGNER.to_owned(),
        |request| request.subject = None,
        |request| request.subject.as_mut().unwrap().organizations.push("system:masters".to_owned()),
        |request| request.subject.as_mut().unwrap().common_name = "admin".to_owned(),
        |request| _ = request.subject.as_mut().unwrap().alternative_names.insert(AlternativeName::Dns),
        |request| request.usages = ["client auth".to_owned()].into(),
    ];
    for change in changes {
        let mut request = of_node("system:node:a");
        change(&mut request);
        assert_eq!(approval_rules(&request), [], "{request:?}");
    }
    let decided = [APPROVED, DENIED].map(|kind| with(of_node("system:node:a"), kind, NOW));
    assert!(decided.iter().all(|request| approval_rules(request).is_empty()));
}

#[test]
fn a_certificate_is_valid_since_before_now_and_no_longer_than_allowed() {
    let approved = with(of_node("system:node:a"), APPROVED, NOW);
    let begins = NOW.minus(Duration::from_secs(300));
    let ends = NOW.plus(YEAR).minus(Duration::from_secs(300));
    assert_eq!(signing(&approved, YEAR, NOW), Signing::Sign { begins, ends });
    let asking = |lifetime| SigningRequest { lifetime: Some(lifetime), ..approved.clone() };
    let ends_after = |request: &SigningRequest| match signing(request, YEAR, NOW) {
        Signing::Sign { ends, .. } => ends.since(NOW),
        other => panic!("{other:?}"),
    };
    assert_eq!(ends_after(&asking(HOUR)), HOUR, "a short lifetime is not shortened");
    assert_eq!(ends_after(&asking(Duration::from_secs(1))), Duration::from_secs(600));
    assert_eq!(ends_after(&asking(YEAR * 2)) + Duration::from_secs(300), YEAR);
}

#[test]
fn only_approved_requests_are_signed() {
    let request = of_node("system:node:a");
    assert_eq!(signing(&request, YEAR, NOW), Signing::Nothing);
    let denied = with(with(request.clone(), APPROVED, NOW), DENIED, NOW);
    assert_eq!(signing(&denied, YEAR, NOW), Signing::Nothing);
    let failed = with(with(request.clone(), APPROVED, NOW), FAILED, NOW);
    assert_eq!(signing(&failed, YEAR, NOW), Signing::Nothing);
    let mut other = with(request, APPROVED, NOW);
    other.signer = "example.com/other".to_owned();
    assert_eq!(signing(&other, YEAR, NOW), Signing::Nothing);
}

#[test]
fn a_request_against_the_rules_of_its_signer_fails() {
    let refused = |change: fn(&mut SigningRequest)| {
        let mut request = with(of_node("system:node:a"), APPROVED, NOW);
        change(&mut request);
        match signing(&request, YEAR, NOW) {
            Signing::Fail(why) => why,
            other => panic!("{other:?}"),
        }
    };
    let organization = refused(|request| request.subject.as_mut().unwrap().organizations.clear());
    assert_eq!(organization, "subject organization is not system:nodes");
    assert_eq!(
        refused(|request| request.usages.clear()),
        "usages did not match [client auth digital signature key encipherment]"
    );
    assert_eq!(
        refused(|request| request.signer = NODE_SERVING_SIGNER.to_owned()),
        "DNS or IP subjectAltName is required"
    );
    let usage = refused(|request| {
        request.signer = CLIENT_SIGNER.to_owned();
        request.usages.insert("server auth".to_owned());
    });
    assert_eq!(usage, "invalid usage for client certificate: server auth");
}

#[test]
fn requests_are_deleted_after_an_hour_or_a_day() {
    let after = |request: &SigningRequest, hours: u32| cleaning(request, NOW.plus(HOUR * hours + HOUR / 2));
    let pending = of_node("system:node:a");
    assert_eq!(after(&pending, 24), Cleaning::Delete);
    let Cleaning::CheckAfter(rest) = after(&pending, 23) else { panic!("the request is not a day old") };
    assert_eq!(rest, HOUR / 2 + Duration::from_secs(1));
    assert_eq!(after(&with(pending.clone(), DENIED, NOW), 1), Cleaning::Delete);
    let approved = with(pending, APPROVED, NOW);
    assert!(matches!(after(&approved, 1), Cleaning::CheckAfter(_)), "its certificate may still be issued");
    let issued = SigningRequest { certificate: Some(IssuedCertificate { ends: None }), ..approved };
    assert_eq!(after(&issued, 1), Cleaning::Delete);
    let expired = IssuedCertificate { ends: Some(NOW.minus(HOUR)) };
    assert_eq!(cleaning(&SigningRequest { certificate: Some(expired), ..issued }, NOW), Cleaning::Delete);
}
