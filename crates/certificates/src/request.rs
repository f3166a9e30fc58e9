//! Reads requests for certificates.

use std::net::IpAddr;

use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::extensions::{GeneralName, ParsedExtension};
use x509_parser::oid_registry::{OID_SIG_ECDSA_WITH_SHA256, OID_SIG_ECDSA_WITH_SHA384, OID_SIG_ED25519};
use x509_parser::prelude::FromDer as _;
use x509_parser::x509::AttributeTypeAndValue;

use crate::pem;

/// The content of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedCertificate {
    /// The common name of the subject; empty without one.
    pub common_name: String,
    /// The organizations of the subject.
    pub organizations: Vec<String>,
    /// The names of hosts.
    pub dns_names: Vec<String>,
    /// The addresses of hosts.
    pub ip_addresses: Vec<IpAddr>,
    /// The email addresses.
    pub emails: Vec<String>,
    /// The URIs.
    pub uris: Vec<String>,
    pub(crate) der: Vec<u8>,
}

impl RequestedCertificate {
    /// Reads the first PEM block of a text.
    pub fn parse(text: &[u8]) -> Result<Self, String> {
        let block = pem::blocks(text).next().filter(|block| block.label == "CERTIFICATE REQUEST");
        let Some(block) = block else { return Err("PEM block type must be CERTIFICATE REQUEST".to_owned()) };
        let der = block.contents;
        let (rest, parsed) = X509CertificationRequest::from_der(&der)
            .map_err(|_| "x509: malformed certificate request".to_owned())?;
        if !rest.is_empty() {
            return Err("asn1: syntax error: trailing data".to_owned());
        }
        let subject = &parsed.certification_request_info.subject;
        let text = |part: &AttributeTypeAndValue<'_>| part.as_str().unwrap_or_default().to_owned();
        let mut requested = Self {
            // The last one counts, as in Go.
            common_name: subject.iter_common_name().last().map(text).unwrap_or_default(),
            organizations: subject.iter_organization().map(text).collect(),
            dns_names: Vec::new(),
            ip_addresses: Vec::new(),
            emails: Vec::new(),
            uris: Vec::new(),
            der: Vec::new(),
        };
        for extension in parsed.requested_extensions().into_iter().flatten() {
            if let ParsedExtension::SubjectAlternativeName(names) = extension {
                names.general_names.iter().try_for_each(|name| requested.add_name(name))?;
            }
        }
        requested.der = der;
        Ok(requested)
    }

    fn add_name(&mut self, name: &GeneralName<'_>) -> Result<(), String> {
        match name {
            GeneralName::DNSName(name) => self.dns_names.push((*name).to_owned()),
            GeneralName::RFC822Name(name) => self.emails.push((*name).to_owned()),
            GeneralName::URI(name) => self.uris.push((*name).to_owned()),
            GeneralName::IPAddress(bytes) => {
                let four = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
                let address = four.or_else(|_| <[u8; 16]>::try_from(*bytes).map(IpAddr::from));
                let wrong = |_| "x509: cannot parse IP address of length".to_owned();
                self.ip_addresses.push(address.map_err(wrong)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// Verifies that the request is signed with the key that it is about.
    pub fn verify(&self) -> Result<(), String> {
        self.with(|parsed| {
            let algorithm = &parsed.signature_algorithm.algorithm;
            let failure = if [OID_SIG_ECDSA_WITH_SHA256, OID_SIG_ECDSA_WITH_SHA384].contains(algorithm) {
                "x509: ECDSA verification failure"
            } else if *algorithm == OID_SIG_ED25519 {
                "x509: Ed25519 verification failure"
            } else {
                "crypto/rsa: verification error"
            };
            parsed.verify_signature().map_err(|_| failure.to_owned())
        })
    }

    pub(crate) fn with<T>(
        &self,
        use_parsed: impl FnOnce(&X509CertificationRequest<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        let parsed = X509CertificationRequest::from_der(&self.der);
        use_parsed(&parsed.map_err(|_| "x509: malformed certificate request".to_owned())?.1)
    }
}
