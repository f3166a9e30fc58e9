//! Certificates of clients: everybody may show any, and what one is worth is found out afterwards.
//!
//! A handshake that failed over a certificate would tell the client nothing, and would not let a token speak for it.
//! So the handshake only sees that the client has the key of what it shows; [`shown`] then judges the certificate.

use std::sync::Arc;

use gantry_apiserver::{Identified, Unverified};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

use crate::certificate_user;

/// Lets every certificate through the handshake, as long as its key signs.
#[derive(Debug)]
pub(crate) struct Clients {
    authority: Arc<dyn ClientCertVerifier>,
}

/// What a client's certificate says of it.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    /// There is none, or it names nobody.
    Nothing,
    /// It is of our authority.
    User(Identified),
    /// It is of somebody else's, or out of its time.
    Unverified(Unverified),
}

/// Judges the certificates that a client showed.
pub(crate) fn shown(authority: &dyn ClientCertVerifier, chain: Option<&[CertificateDer<'_>]>) -> Shown {
    let Some((first, others)) = chain.and_then(<[_]>::split_first) else { return Shown::Nothing };
    match authority.verify_client_cert(first, others, UnixTime::now()) {
        Ok(_) => certificate_user::user(first).map_or(Shown::Nothing, |user| Shown::User(Identified(user))),
        Err(error) => {
            tracing::debug!(%error, "a client's certificate is worth nothing here");
            Shown::Unverified(Unverified)
        }
    }
}

impl Clients {
    pub(crate) fn of(authority: Arc<dyn ClientCertVerifier>) -> Self {
        Self { authority }
    }
}

impl ClientCertVerifier for Clients {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.authority.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authority.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authority.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authority.supported_verify_schemes()
    }
}
