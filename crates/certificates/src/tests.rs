//! Requests that are created, read, rejected and signed.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair, SanType};

use super::*;

const NOW: Seconds = 1_767_268_800;
const DAY: Seconds = 24 * 3600;

fn authority() -> (String, RequestSigner) {
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "ca");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.not_before = rcgen::date_time_ymd(2026, 1, 1);
    params.not_after = rcgen::date_time_ymd(2036, 1, 1);
    let certificate = params.self_signed(&key).unwrap().pem();
    let signer = RequestSigner::new(&certificate, &key.serialize_pem()).unwrap();
    (certificate, signer)
}

fn terms(usages: &[&str]) -> SigningTerms {
    SigningTerms {
        usages: usages.iter().map(|usage| (*usage).to_owned()).collect(),
        lifetime: Lifetime { begins: NOW - 300, ends: NOW + DAY },
    }
}

/// A request with several organizations, names and addresses.
fn request_of_a_server() -> RequestedCertificate {
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::OrganizationName, "system:nodes");
    params.distinguished_name.push(DnType::CommonName, "system:node:a");
    params.subject_alt_names = vec![
        SanType::DnsName("a.example".try_into().unwrap()),
        SanType::IpAddress("10.0.0.1".parse().unwrap()),
    ];
    let request = params.serialize_request(&key).unwrap().pem().unwrap();
    RequestedCertificate::parse(request.as_bytes()).unwrap()
}

#[test]
fn a_request_has_subject_names_and_usages() {
    let new = NewRequest::of_client("system:node:a", "system:nodes").unwrap();
    let requested = RequestedCertificate::parse(new.request.as_bytes()).unwrap();
    assert_eq!(requested.common_name, "system:node:a");
    assert_eq!(requested.organizations, ["system:nodes"]);
    assert!(requested.dns_names.is_empty());
    assert_eq!(requested.verify(), Ok(()));
    let again = NewRequest::with_key_pem(&new.key, "system:node:a", "system:nodes").unwrap();
    assert_eq!(again.key, new.key);
}

#[test]
fn a_request_that_was_changed_is_not_signed() {
    let (_, signer) = authority();
    let mut requested = request_of_a_server();
    let last = requested.der.len() - 1;
    requested.der[last] ^= 1;
    assert_eq!(requested.verify(), Err("x509: ECDSA verification failure".to_owned()));
    let refused = signer.sign(&requested, &terms(&["client auth"]), NOW).unwrap_err();
    assert!(refused.contains("ECDSA verification failure"), "{refused}");
}

#[test]
fn a_certificate_has_what_was_requested_and_is_signed_by_the_authority() {
    let (authority, signer) = authority();
    let requested = request_of_a_server();
    let issued = signer
        .sign(&requested, &terms(&["digital signature", "key encipherment", "server auth"]), NOW)
        .unwrap();
    let authority = pem::blocks(authority.as_bytes()).next().unwrap();
    let authority = authority.parse_x509().unwrap();
    let block = pem::blocks(issued.as_bytes()).next().unwrap();
    let certificate = block.parse_x509().unwrap();
    assert_eq!(certificate.verify_signature(Some(authority.public_key())), Ok(()));
    assert_eq!(certificate.issuer().to_string(), "CN=ca");
    assert_eq!(certificate.subject().to_string(), "CN=system:node:a, O=system:nodes");
    assert!(!certificate.is_ca());
    let usage = certificate.key_usage().unwrap().unwrap().value;
    assert!(usage.digital_signature() && usage.key_encipherment() && !usage.key_cert_sign());
    let extended = certificate.extended_key_usage().unwrap().unwrap().value;
    assert!(extended.server_auth && !extended.client_auth);
    let names = certificate.subject_alternative_name().unwrap().unwrap().value;
    assert_eq!(names.general_names.len(), 2);
    assert_eq!(lifetime(issued.as_bytes()), Some(Lifetime { begins: NOW - 300, ends: NOW + DAY }));
    assert_eq!(check_certificates(issued.as_bytes()), Ok(()));
}

#[test]
fn a_certificate_expires_no_later_than_its_authority() {
    let (authority, signer) = authority();
    let end = lifetime(authority.as_bytes()).unwrap().ends;
    let mut long = terms(&["client auth"]);
    long.lifetime.ends = end + DAY;
    let issued = signer.sign(&request_of_a_server(), &long, NOW).unwrap();
    assert_eq!(lifetime(issued.as_bytes()).unwrap().ends, end);
    assert!(signer.sign(&request_of_a_server(), &long, end).is_err());
}

#[test]
fn invalid_usages_and_certificates_are_refused() {
    let (authority, signer) = authority();
    let unknown = signer.sign(&request_of_a_server(), &terms(&["nope"]), NOW).unwrap_err();
    assert_eq!(unknown, "unrecognized usage values: [\"nope\"]");
    let wrong = "PEM block type must be CERTIFICATE REQUEST".to_owned();
    assert_eq!(RequestedCertificate::parse(b"nonsense"), Err(wrong.clone()));
    assert_eq!(RequestedCertificate::parse(authority.as_bytes()), Err(wrong));
    assert_eq!(trust_anchor_problems(authority.as_bytes()), Vec::<String>::new());
    assert_eq!(trust_anchor_problems(b""), ["at least one trust anchor must be provided"]);
    let twice = format!("{authority}{authority}");
    assert_eq!(trust_anchor_problems(twice.as_bytes()), ["duplicate trust anchor (indices [0 1])"]);
    assert_eq!(check_certificates(b"x"), Err("must contain at least one CERTIFICATE PEM block".to_owned()));
}

/// The key of one authority does not match the certificate of another.
#[test]
fn a_key_must_belong_to_its_certificate() {
    let (certificate, _) = authority();
    let other = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap().serialize_pem();
    let refused = RequestSigner::new(&certificate, &other).unwrap_err();
    assert_eq!(refused, "the key does not belong to the certificate");
    assert_eq!(public_key_pin(certificate.as_bytes()).len(), 1);
}

/// The example of Kubernetes' documentation of the ConfigMap has this form.
#[test]
fn a_token_signs_a_text_and_no_other_token_does() {
    let signature = token_signature("kubeconfig", "07401b", "f395accd246ae52d");
    assert!(signature.starts_with("eyJhbGciOiJIUzI1NiIsImtpZCI6IjA3NDAxYiJ9.."), "{signature}");
    assert!(is_signed_by(&signature, "kubeconfig", "07401b", "f395accd246ae52d"));
    assert!(!is_signed_by(&signature, "other", "07401b", "f395accd246ae52d"));
    assert!(!is_signed_by(&signature, "kubeconfig", "07401b", "0000000000000000"));
}
